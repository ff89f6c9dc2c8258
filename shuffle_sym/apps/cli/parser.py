r"""What can be typed: commands, options and their help."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import Any, NoReturn

import shuffle_sym
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.accounting.sources import METHODS
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.cli import commands, completion
from shuffle_sym.apps.cli.answers import Answer

PROGRAM = "shuffle-sym"
_RTOL = str(inspect.signature(Shuffle.delta).parameters["rtol"].default)
_KRR = "--randomizer krr --k 10 --eps0 4"

#: Examples by command: the help shows them, and the tests run them.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "epsilon": (
        f"{_KRR} --n 10000 --delta 1e-6",
        "--randomizer clones --eps0 'log(3)' --n 1000 10000 --delta 1e-6 --rounds 16 --json",
        "--matrix '0.7 0.3; 0.2 0.8' --n 1000 --delta 1e-6 --at-most 0.5",
        f"{_KRR} --q 0.1 --n 10000 --delta 1e-6",
    ),
    "delta": (f"{_KRR} --n 10000 --eps 0.2 0.4", "--randomizer laplace --eps0 1 --n 1000 --eps 1/10 --rtol 0.01"),
    "explain": (f"{_KRR} --n 10000 --delta 1e-6", "--randomizer any --eps0 1 --n 1000 --eps 0.2 --json"),
    "calibrate": ("--randomizer krr --k 10 --n 10000 --eps 1 --delta 1e-6",),
    "users": (f"{_KRR} --eps 1 --delta 1e-6",),
    "compose": ("--mechanism 'clones eps0=1 n=10000 rounds=10' --mechanism 'binaryrr eps0=2 n=5000' --delta 1e-6",),
    "rdp": ("--randomizer krr --k 10 --eps0 4 --n 10000 --order 2 8",),
    "derive": ("", "lemma52", "gparv_table --randomizer krr --latex"),
    "audit": ("--quick",),
    "bench": ("--n 1e4 1e9 --repeat 3",),
    "completion": ("bash",),
}


class OneLineParser(ArgumentParser):
    """An error is one line; with an option or a command that was mistyped it names the one that is near."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As usual; what is left over at the end is an error here, where the options are known."""
        options, rest = super().parse_known_args(args, namespace)
        if rest:
            unknown = next((word for word in rest if word.startswith("--")), rest[0])
            hint = catalogue.did_you_mean(unknown, self._option_string_actions)
            self.error(f"{unknown} is not an option{hint}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        joined = f"{message} See" if message.endswith("?") else f"{message}; see"
        self.exit(2, f"{PROGRAM}: {joined} {self.prog} --help\n")


def parser() -> OneLineParser:
    """The whole command line."""
    top = OneLineParser(
        prog=PROGRAM,
        description="How private are shuffled reports? The upper end holds for all neighbouring datasets (one user's "
        "input is replaced): report it. The lower end is attained by two of these datasets.",
        epilog=_examples(*((name, examples[0]) for name, examples in EXAMPLES.items()))
        + "\n\nexit codes: 0 an answer, 1 a check failed, 2 wrong input",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"{PROGRAM} {shuffle_sym.__version__}")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="command")

    def command(name: str, run: Callable[[Any], Answer], about: str) -> ArgumentParser:
        added = subparsers.add_parser(
            name,
            help=about,
            description=about,
            epilog=_examples(*((name, example) for example in EXAMPLES[name])),
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        added.set_defaults(run=run)
        shown = added.add_mutually_exclusive_group()
        shown.add_argument("--json", action="store_true", help="one JSON object in place of a table")
        shown.add_argument("--csv", action="store_true", help="comma-separated values, all digits")
        return added

    asked = command("epsilon", commands.epsilon, "smallest epsilon at delta")
    _several(asked, "--delta", "failure probability")
    _one_round_or_more(asked)
    asked = command("delta", commands.delta, "delta at epsilon")
    _several(asked, "--eps", "central epsilon")
    _one_round_or_more(asked)
    asked = command("explain", commands.explain, "what every bound and every attack says, paper by paper")
    _randomizer(asked)
    asked.add_argument("--n", required=True, help="number of users")
    asked.add_argument("--delta", help="failure probability: asks for epsilon")
    asked.add_argument("--eps", help="central epsilon: asks for delta")
    _rtol(asked)
    asked = command("calibrate", commands.calibrated, "largest eps0, or least sigma, that meets a target (eps, delta)")
    _randomizer(asked, matrix=False, required=True)
    _several(asked, "--n", "number of users")
    _target(asked)
    asked = command("users", commands.users, "smallest number of users that meets a target (eps, delta)")
    _randomizer(asked)
    _target(asked)
    asked = command("compose", commands.compose, "different mechanisms one after the other")
    form = "such as 'krr k=10 eps0=4 n=10000 rounds=100'; may be given several times"
    asked.add_argument("--mechanism", action="append", required=True, metavar="TEXT", help=form)
    _several(asked, "--delta", "failure probability: asks for epsilon", required=False)
    _several(asked, "--eps", "central epsilon: asks for delta", required=False)
    _rtol(asked)
    asked = command("rdp", commands.rdp, "Rényi divergence of an order > 1")
    _randomizer(asked)
    _several(asked, "--n", "number of users")
    _several(asked, "--order", "order of the divergence")
    _rtol(asked)
    asked = command("derive", commands.derive, "a derivation, line by line; without a name, the list of all")
    asked.add_argument("name", nargs="?", help="name of the derivation")
    asked.add_argument("--latex", action="store_true", help="as an align environment for a paper")
    _randomizer(asked, matrix=False)
    asked = command("audit", commands.audit, "verdicts on the papers' statements, recomputed")
    asked.add_argument("ids", nargs="*", help="claims to examine; all if none is named")
    asked.add_argument("--quick", action="store_true", help="leave out the slow ones")
    asked = command("bench", commands.bench, "cost of one delta and one epsilon on this machine")
    _randomizer(asked)
    _several(asked, "--n", "number of users", required=False, default=["10000", "1000000", "1000000000"])
    asked.add_argument("--delta", default="1e-6", help="default %(default)s")
    asked.add_argument("--repeat", default="11", help="default %(default)s")
    asked = command(
        "completion", lambda given: Answer("", text=completion.script(top, given.shell)), "script for tab completion"
    )
    asked.add_argument("shell", choices=completion.SHELLS, help='for the start-up file of your shell: eval "$(…)"')
    return top


def _examples(*pairs: tuple[str, str]) -> str:
    return "examples:\n" + "\n".join(f"  {PROGRAM} {name} {example}".rstrip() for name, example in pairs)


def _several(asked: ArgumentParser, name: str, about: str, *, required: bool = True, default: Any = None) -> None:
    asked.add_argument(name, nargs="+", required=required, default=default, help=f"{about}; one or more")


def _randomizer(asked: ArgumentParser, *, matrix: bool = True, required: bool = False) -> None:
    group = asked.add_argument_group("randomizer", "Numbers are read exactly: 4, 0.1, 1/3, 1e-6, log(3).")
    named = ", ".join(f"{name}({', '.join(catalogue.parameters(make))})" for name, make in catalogue.makers().items())
    group.add_argument("--randomizer", required=required, metavar="NAME", help=named)
    for parameter in catalogue.all_parameters():
        group.add_argument(f"--{parameter}", metavar="NUMBER")
    if matrix:
        group.add_argument("--matrix", metavar="ROWS", help="a randomizer of your own: '0.7 0.3; 0.2 0.8'")


def _one_round_or_more(asked: ArgumentParser) -> None:
    _randomizer(asked)
    asked.add_argument("--q", metavar="NUMBER", help="probability that a user takes part, default 1")
    _several(asked, "--n", "number of users")
    _several(asked, "--rounds", "number of rounds, default 1", required=False, default=["1"])
    asked.add_argument("--method", choices=METHODS, default="auto", help="method for one round; default %(default)s")
    asked.add_argument("--at-most", metavar="NUMBER", help="exit with code 1 if an upper end is larger")
    _rtol(asked)


def _target(asked: ArgumentParser) -> None:
    _several(asked, "--eps", "central epsilon")
    _several(asked, "--delta", "failure probability")
    _rtol(asked)


def _rtol(asked: ArgumentParser) -> None:
    asked.add_argument("--rtol", default=_RTOL, help="relative tolerance of each end, default %(default)s")
