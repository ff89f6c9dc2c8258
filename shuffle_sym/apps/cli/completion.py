r"""Words that a shell can complete: commands, options and randomizers, in a script that is read at its start."""

from __future__ import annotations

from argparse import _SubParsersAction

from shuffle_sym.apps import catalogue
from shuffle_sym.apps.cli.parser import OneLineParser

SHELLS = ("bash", "zsh")
_SCRIPT = """\
# To complete words of {program}: eval "$({program} completion {shell})"
{first}_shuffle_sym() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words
    case $before in
        --randomizer) words="{randomizers}" ;;
        *) case ${{COMP_WORDS[1]}} in
{cases}
            *) words="{commands}" ;;
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _shuffle_sym {program}
"""


def script(parser: OneLineParser, shell: str) -> str:
    """The script for bash or zsh.

    >>> from shuffle_sym.apps.cli.parser import parser
    >>> "--randomizer) words=" in script(parser(), "bash")
    True
    """
    (added,) = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    for each in added.choices.values():
        each.complete()
    options = {
        name: [word for action in each._actions for word in action.option_strings if word.startswith("--")]
        for name, each in added.choices.items()
    }
    return _SCRIPT.format(
        program=parser.prog,
        shell=shell,
        first="autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else "",
        randomizers=" ".join(catalogue.makers()),
        cases="\n".join(f'            {name}) words="{" ".join(words)}" ;;' for name, words in options.items()),
        commands=" ".join(options),
    )
