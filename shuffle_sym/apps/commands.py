r"""The commands: each reads what was typed, asks the package, and returns an answer, as a table for people or as JSON
for programs."""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import re
import shlex
import statistics
import timeit
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from typing import Any

import sympy as sp
from tqdm import tqdm

from shuffle_sym.accounting.inverses import calibrate, users_needed
from shuffle_sym.accounting.rounds import compose as composed
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.accounting.sources import METHODS
from shuffle_sym.algebra import latex, texts
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.names import did_you_mean
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.cli import PROGRAM, parser
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.randomizers import Sampled, from_matrix

#: A bar on a terminal, for what takes longer than a second.
_progress = partial(tqdm, delay=1, leave=False, disable=None)
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

# -------------------------------------------------------------------------------------------------------------- answers


@dataclass
class Answer:
    """Rows of a table, a sentence for people, and whether a check failed. A row may hold one `Interval`."""

    title: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""
    failed: bool = False
    #: Shown to people in place of the table.
    text: str | None = None
    #: The names of the two ends of an interval, the lower one first.
    ends: tuple[str, str] = ("lower", "upper")

    def for_people(self) -> str:
        body = table(self.rows, self.ends) if self.text is None else self.text
        return "\n".join(part for part in (self.title if self.text is None else "", body, self.note) if part)

    def for_programs(self, command: str) -> str:
        """One JSON object: intervals with all their digits, other numbers as they were typed."""
        rows = [flat(row, self.ends) for row in self.rows]
        whole = {"command": command, "title": self.title, "rows": rows, "note": self.note, "ok": not self.failed}
        return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False)

    def for_tables(self) -> str:
        """Comma-separated values: a line of names, then a line for each row, intervals with all their digits."""
        rows = [flat(row, self.ends) for row in self.rows]
        written = io.StringIO()
        names = list(dict.fromkeys(key for row in rows for key in row))
        table = csv.DictWriter(written, names, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        return written.getvalue().rstrip("\n")


def flat(row: Mapping[str, Any], ends: tuple[str, str], *, for_people: bool = False) -> dict[str, Any]:
    """A row with an `Interval` in five columns: its ends, its method, and why the ends are where they are. People see
    six digits, rounded outward, and no reasons where there are none."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if not isinstance(value, Interval):
            flat[key] = value
            continue
        lower, upper = value.shown if for_people else (float(value.lower), float(value.upper))
        flat |= {ends[0]: lower, ends[1]: upper, "method": value.method or ("" if for_people else None)}
        reasons = {f"{ends[1]}_by": value.upper_by, f"{ends[0]}_by": value.lower_by}
        flat |= {key: reason and str(reason) for key, reason in reasons.items() if reason or not for_people}
    return flat


def table(rows: Iterable[Mapping[str, Any]], ends: tuple[str, str] = ("lower", "upper")) -> str:
    """Aligned columns: numbers to the right, words to the left; what a row does not have stays empty. The two ends of
    an interval are called ``ends``.

    >>> print(table([{"n": 5, "what": "a"}, {"n": 10, "what": "bcd"}]))
     n  what
     5  a
    10  bcd
    """
    shown = [{key: str(value) for key, value in flat(row, ends, for_people=True).items()} for row in rows]
    if not shown:
        return "(nothing)"
    columns = dict.fromkeys(key for cells in shown for key in cells)
    shown = [{key: cells.get(key, "") for key in columns} for cells in shown]
    widths = {key: max(len(key), *(len(cells[key]) for cells in shown)) for key in columns}
    words = {key for key in widths if key.endswith("_by") or not all(c[key][:1] in "0123456789-+." for c in shown)}
    return "\n".join(
        "  ".join(line[k].ljust(w) if k in words else line[k].rjust(w) for k, w in widths.items()).rstrip()
        for line in [{key: key for key in widths}, *shown]
    )


# ------------------------------------------------------------------------------------------------------------- commands


def at_every_n(given: Namespace, argument: str, question: str, pair: str) -> Answer:
    """ε at δ, or δ at ε."""
    source = _source(given)
    source = source if given.q is None else Sampled(source, texts.read(given.q, "q"))
    rtol = texts.read(given.rtol, "rtol")
    rows, answers = [], []
    for n, rounds in product(given.n, given.rounds):
        M, count = Shuffle(source, texts.read(n, "n")), texts.read(rounds, "rounds")
        if count == 1:
            ask = partial(getattr(M, question), rtol=rtol, method=given.method)
        elif given.method == "auto":
            ask = partial(getattr(M.compose(count, progress=_progress), question), rtol=rtol)
        else:
            raise ValueError(f"method must be 'auto' for more than one round, got {given.method!r}")
        for value in getattr(given, argument):
            answers.append(ask(texts.read(value, argument)))
            rows.append({"n": M.n, argument: value, "rounds": int(count), question: answers[-1]})
    answer = Answer(f"{_title(given, source)}, shuffled: {question}", rows)
    if len(rows) == 1:
        shown = pair.format(at=getattr(given, argument)[0], upper=answers[0].shown[1])
        answer.note = f"The shuffled messages are {shown}-DP."
    if given.at_most is not None:
        answer.failed = bool(max(interval.upper for interval in answers) > texts.read(given.at_most, "at-most"))
        answer.note = f"Every upper end is at most {given.at_most}: {'NO' if answer.failed else 'yes'}."
    return answer


def explain(given: Namespace) -> Answer:
    """What every bound and every attack says about one mechanism."""
    M = Shuffle(_source(given), texts.read(given.n, "n"))
    asked = {name: texts.read(text, name) for name in ("delta", "eps") if (text := getattr(given, name)) is not None}
    found = M.analyses(**asked, rtol=texts.read(given.rtol, "rtol"))
    rows = [{**asdict(row), "refusal": row.refusal or None} for row in found.rows]
    return Answer(found.title, rows, text=f"{found}\n\n{_in_words(found.answer)}")


def _in_words(answer: Interval) -> str:
    """What an answer means, which analysis gave it, and which datasets attain the lower end."""
    lower, upper = answer.shown
    return (
        f"Report {upper}: it holds for every two datasets that differ in one user's input (by {answer.upper_by}). No "
        f"proof can give less than {lower}: two such datasets attain it ({answer.lower_by}). A smaller rtol may narrow "
        "the interval. What remains is a gap in the theory, not in the computation."
    )


def calibrated(given: Namespace) -> Answer:
    """The largest ε0, or the least σ, that meets a target."""
    name, maker = catalogue.find(given.randomizer)
    level = "sigma" if "sigma" in catalogue.parameters(maker) else "eps0"
    if level not in catalogue.parameters(maker):
        raise ValueError(f"randomizer must have an eps0 or a sigma, got {name}")
    if getattr(given, level) is not None:
        raise ValueError(f"{level} is what is looked for and must not be given, got {getattr(given, level)}")
    fixed = catalogue.arguments_for(name, _parameters(given), free=(level,))
    find = partial(_least_sigma if level == "sigma" else calibrate, lambda value: maker(**fixed, **{level: value}))
    rtol = texts.read(given.rtol, "rtol")
    rows = [{**t, level: find(**_numbers(t), rtol=rtol)} for t in _targets(given, "n", "eps", "delta")]
    shown = "".join(f", {key} = {value}" for key, value in fixed.items())
    most, ends = ("least", ("fails", "meets")) if level == "sigma" else ("largest", ("meets", "fails"))
    note = (
        f"Use the {level} under 'meets': it meets the target for all neighbouring datasets. With the one under 'fails' "
        "two neighbouring datasets miss it."
    )
    return Answer(f"{name}{shown}, shuffled: the {most} {level}", rows, note, ends=ends)


def _least_sigma(make: Callable[[Any], Any], **target: Any) -> Interval:
    """A search for 1/σ, which grows as ε0 does; the σ that is analysed is the double that is shown."""
    met = calibrate(lambda inverse: make(sp.Rational(1 / float(inverse))), **target)
    return Interval(1 / met.upper, 1 / met.lower, met.method, lower_by=met.upper_by, upper_by=met.lower_by)


def users(given: Namespace) -> Answer:
    """The smallest n that meets a target."""
    source, rtol = _source(given), texts.read(given.rtol, "rtol")
    rows = [{**t, "n": users_needed(source, **_numbers(t), rtol=rtol)} for t in _targets(given, "eps", "delta")]
    return Answer(f"{_title(given, source)}, shuffled: the smallest n", rows, "The upper end is enough for certain.")


def compose(given: Namespace) -> Answer:
    """Different mechanisms one after the other."""
    if (given.eps is None) == (given.delta is None):
        raise ValueError("eps or delta must be given, one of the two")
    rtol = texts.read(given.rtol, "rtol")
    accountant = composed([_mechanism(text) for text in given.mechanism], progress=_progress)
    argument, question = ("delta", "epsilon") if given.eps is None else ("eps", "delta")
    ask = partial(getattr(accountant, question), rtol=rtol)
    rows = [{argument: value, question: ask(texts.read(value, argument))} for value in getattr(given, argument)]
    return Answer(" + ".join(given.mechanism) + f": {question}", rows)


def rdp(given: Namespace) -> Answer:
    """Rényi divergences."""
    source, rtol = _source(given), texts.read(given.rtol, "rtol")
    rows = []
    for target in _targets(given, "n", "order"):
        n, order = _numbers(target).values()
        rows.append({**target, "rdp": Shuffle(source, n).rdp(order, rtol=rtol)})
    return Answer(f"{_title(given, source)}, shuffled: Rényi divergence", rows)


def derive(given: Namespace) -> Answer:
    """One derivation, line by line; without a name the list of them."""
    from shuffle_sym.papers import derivations  # no other command needs all papers

    table = derivations.gparv_table.__name__
    known: dict[str, Callable[..., Any]] = {**derivations.ALL, table: derivations.gparv_table}
    if given.name is None:
        return Answer("Derivations", [{"name": name, "what": _summary(make)} for name, make in known.items()])
    if given.name not in known:
        hint = did_you_mean(given.name, known)
        raise ValueError(f"name must be one that 'shuffle-sym derive' lists, got {given.name!r}{hint}")
    about = []
    if given.name == table:
        if given.randomizer is None:
            raise ValueError(f"randomizer must be given for {table}, such as krr")
        name, maker = catalogue.find(given.randomizer)
        about = [maker(**catalogue.arguments_for(name, _parameters(given), free=catalogue.all_parameters()))]
    derivation = known[given.name](*about)
    rows = [
        {"line": i, "status": line.kind, "says": latex.in_text(line.formula), "why": latex.in_text(line.words)}
        for i, line in enumerate(derivation, 1)
    ]
    return Answer(latex.in_text(derivation.title), rows, text=derivation.to_latex() if given.latex else str(derivation))


def audit(given: Namespace) -> Answer:
    """Verdicts on the papers' statements, recomputed; one that differs from the record is a failure."""
    run = importlib.import_module("shuffle_sym.papers.audit").run
    results = run(given.ids or None, quick=given.quick, progress=_progress)
    rows = [{"id": r.id, "verdict": r.verdict, "statement": latex.in_text(r.claim.statement)} for r in results]
    changed = results.changed()
    note = [", ".join(f"{verdict}: {count}" for verdict, count in results.counts.items())]
    note += [f"CHANGED {key}: recorded {before}, now {now}" for key, (before, now) in changed.items()]
    return Answer("Verdicts", rows, "\n".join(note), failed=bool(changed))


def bench(given: Namespace) -> Answer:
    """Milliseconds for one certified δ and one ε, on this machine."""
    unnamed = given.randomizer is None and given.matrix is None and not _parameters(given)
    source = catalogue.build("krr", {"k": 10, "eps0": 4}) if unnamed else _source(given)
    repeat, level = texts.read(given.repeat, "repeat"), texts.read(given.delta, "delta")
    if not (repeat.is_Integer and repeat >= 1):
        raise ValueError(f"repeat must be an integer >= 1, got {given.repeat}")
    rows = []
    for n in given.n:
        M = Shuffle(source, texts.read(n, "n"))
        eps = M.epsilon(level)
        # Another ε each time: nothing comes from a cache.
        one = _milliseconds(M.delta, [eps.upper * (1 + i / 1000) for i in range(int(repeat))])
        inverse = _milliseconds(M.epsilon, [level] * int(repeat))
        rows.append({"n": M.n, "ms for delta": one, "ms for epsilon": inverse, "epsilon": eps})
    note = f"Medians of {repeat} on this machine; the ends are those of epsilon at delta = {given.delta}."
    return Answer(f"{_title(given, source)}, shuffled: cost", rows, note)


def completion(given: Namespace) -> Answer:
    """The script for bash or zsh."""
    (added,) = [action for action in parser()._actions if isinstance(action, _SubParsersAction)]
    cases = ""
    for name, command in added.choices.items():
        command.complete()
        words = [word for action in command._actions for word in action.option_strings if word.startswith("--")]
        cases += f'            {name}) words="{" ".join(words)}" ;;\n'
    script = _SCRIPT.format(
        program=PROGRAM,
        shell=given.shell,
        first="autoload -U +X bashcompinit && bashcompinit\n" if given.shell == "zsh" else "",
        randomizers=" ".join(catalogue.makers()),
        cases=cases.rstrip(),
        commands=" ".join(added.choices),
    )
    return Answer("", text=script)


def _targets(given: Namespace, *names: str) -> Iterator[dict[str, str]]:
    """Every combination of the values that were given for these options, as texts."""
    for values in product(*(getattr(given, name) for name in names)):
        yield dict(zip(names, values, strict=True))


def _numbers(target: Mapping[str, str]) -> dict[str, Any]:
    return {name: texts.read(text, name) for name, text in target.items()}


def _milliseconds(call: Callable[[Any], Any], arguments: Sequence[Any]) -> float:
    calls = map(call, arguments)
    seconds = timeit.repeat(partial(next, calls), number=1, repeat=len(arguments))
    return round(1e3 * statistics.median(seconds), 3)


def _mechanism(text: str) -> tuple[Shuffle, Any]:
    """``krr k=10 eps0=4 n=10000 rounds=100``"""
    name, *pairs = shlex.split(text) or [""]
    if not all("=" in pair for pair in pairs):
        raise ValueError(f"mechanism must look like 'krr k=10 eps0=4 n=10000 rounds=100', got {text!r}")
    values = _numbers(dict(pair.split("=", 1) for pair in pairs))
    if "n" not in values:
        raise ValueError(f"mechanism must name the number of users, as n=10000, got {text!r}")
    n, rounds = values.pop("n"), values.pop("rounds", 1)
    return Shuffle(catalogue.build(name, values), n), rounds


def _summary(make: Callable[..., Any]) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join((inspect.getdoc(make) or "").split("\n\n")[0].split())
    paragraph = re.sub(r":math:`([^`]*)`", lambda formula: latex.in_text(f"${formula[1]}$"), paragraph)
    return paragraph if len(paragraph) <= 100 else paragraph[:97] + "…"


def _parameters(given: Namespace) -> dict[str, Any]:
    texts = {name: getattr(given, name) for name in catalogue.all_parameters()}
    return _numbers({name: text for name, text in texts.items() if text is not None})


def _source(given: Namespace) -> Any:
    if given.matrix is None:
        if given.randomizer is None:
            raise ValueError(f"randomizer must be given, one of {', '.join(catalogue.makers())}; or a matrix")
        return catalogue.build(given.randomizer, _parameters(given))
    if given.randomizer is not None or _parameters(given):
        raise ValueError("matrix must be given without a randomizer and its parameters")
    return from_matrix(texts.rows(given.matrix, "matrix"))


def _title(given: Namespace, source: Any) -> str:
    if not isinstance(source, Decomposition):
        return repr(source)
    name, _ = catalogue.find(given.randomizer)
    return f"{name}({', '.join(f'{key}={value}' for key, value in _parameters(given).items())})"


# ------------------------------------------------------------------------------------------------------- options


def _several(about: str, **given: Any) -> dict[str, Any]:
    """An option with one value or more."""
    return {"nargs": "+", "required": "default" not in given, "help": f"{about}; one or more", **given}


_DEFAULT = "default %(default)s"
_RTOL = str(inspect.signature(Shuffle.delta).parameters["rtol"].default)
_TOLERANCE = {"--rtol": {"default": _RTOL, "help": f"relative tolerance of each end, {_DEFAULT}"}}
_USERS = {"--n": _several("number of users")}
_TARGET = {"--eps": _several("central epsilon"), "--delta": _several("failure probability"), **_TOLERANCE}
_ROUNDS: dict[str, dict[str, Any]] = {
    "--q": {"metavar": "NUMBER", "help": "probability that a user takes part, default 1"},
    **_USERS,
    "--rounds": _several("number of rounds, default 1", default=["1"]),
    "--method": {"choices": METHODS, "default": "auto", "help": f"method for one round; {_DEFAULT}"},
    "--at-most": {"metavar": "NUMBER", "help": "exit with code 1 if an upper end is larger"},
    **_TOLERANCE,
}
_FORM = "such as 'krr k=10 eps0=4 n=10000 rounds=100'; may be given several times"
#: Command → what runs it, and its options but for those of a randomizer.
_OPTIONS: dict[str, tuple[Callable[[Namespace], Answer], dict[str, dict[str, Any]]]] = {
    "epsilon": (
        partial(at_every_n, argument="delta", question="epsilon", pair="({upper}, {at})"),
        {"--delta": _several("failure probability"), **_ROUNDS},
    ),
    "delta": (
        partial(at_every_n, argument="eps", question="delta", pair="({at}, {upper})"),
        {"--eps": _several("central epsilon"), **_ROUNDS},
    ),
    "explain": (
        explain,
        {
            "--n": {"required": True, "help": "number of users"},
            "--delta": {"help": "failure probability: asks for epsilon"},
            "--eps": {"help": "central epsilon: asks for delta"},
            **_TOLERANCE,
        },
    ),
    "calibrate": (calibrated, {**_USERS, **_TARGET}),
    "users": (users, _TARGET),
    "compose": (
        compose,
        {
            "--mechanism": {"action": "append", "required": True, "metavar": "TEXT", "help": _FORM},
            "--delta": _several("failure probability: asks for epsilon", default=None),
            "--eps": _several("central epsilon: asks for delta", default=None),
            **_TOLERANCE,
        },
    ),
    "rdp": (rdp, {**_USERS, "--order": _several("order of the divergence"), **_TOLERANCE}),
    "derive": (
        derive,
        {
            "name": {"nargs": "?", "help": "name of the derivation"},
            "--latex": {"action": "store_true", "help": "as an align environment for a paper"},
        },
    ),
    "audit": (
        audit,
        {
            "ids": {"nargs": "*", "help": "claims to examine; all if none is named"},
            "--quick": {"action": "store_true", "help": "leave out the slow ones"},
        },
    ),
    "bench": (
        bench,
        {
            "--n": _several("number of users", default=["10000", "1000000", "1000000000"]),
            "--delta": {"default": "1e-6", "help": _DEFAULT},
            "--repeat": {"default": "11", "help": _DEFAULT},
        },
    ),
    "completion": (
        completion,
        {"shell": {"choices": ("bash", "zsh"), "help": 'for the start-up file of your shell: eval "$(…)"'}},
    ),
}
_WITHOUT_RANDOMIZER, _WITHOUT_MATRIX = ("compose", "audit", "completion"), ("calibrate", "derive")


def complete(command: ArgumentParser, name: str) -> None:
    """Adds the options of the ``command`` of this name."""
    run, options = _OPTIONS[name]
    command.set_defaults(run=run)
    for option, given in options.items():
        command.add_argument(option, **given)
    if name in _WITHOUT_RANDOMIZER:
        return
    group = command.add_argument_group("randomizer", "Numbers are read exactly: 4, 0.1, 1/3, 1e-6, log(3).")
    named = ", ".join(f"{name}({', '.join(catalogue.parameters(make))})" for name, make in catalogue.makers().items())
    group.add_argument("--randomizer", required=name == "calibrate", metavar="NAME", help=named)
    for parameter in catalogue.all_parameters():
        group.add_argument(f"--{parameter}", metavar="NUMBER")
    if name not in _WITHOUT_MATRIX:
        group.add_argument("--matrix", metavar="ROWS", help="a randomizer of your own: '0.7 0.3; 0.2 0.8'")
