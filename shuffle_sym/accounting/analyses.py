r"""All bounds and attacks for n users of a randomizer, side by side.

A table holds the analyses. Ours are added here; a paper adds its own in its folder, with `add`.
The papers are imported when somebody asks for `every` analysis, and never for an answer about a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

import sympy as sp

from shuffle_sym.accounting.attacks import datasets_of, gaussian_delta, gaussian_epsilon
from shuffle_sym.accounting.bounds import drop_out
from shuffle_sym.accounting.mechanism import Mechanism
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.sources import MaxOverPairs, PairOfLaws, Source
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Family
from shuffle_sym.truth.two_messages import TwoMessages, has_two_messages

#: What the value of an analysis is → how it is written in front of the number.
KINDS = {"upper": "≤", "lower": "≥", "approximation": "≈"}

GIVEN, SHARED = "the randomizer given", "every ε0-LDP randomizer that all users share"
OR_DATA_FIRST = f"{SHARED}; different ones if the data are shuffled first"

Answer = Interval | float
#: ε or δ of n users of R: a function of R, n, the δ or ε that is given, and the width that is asked for.
Question = Callable[[Any, int, Any, float], Answer]


@dataclass(frozen=True)
class Analysis:
    """One way, with a ``name``, to bound or estimate how private n users of a randomizer are.

    ``kind`` is ``"upper"`` for a bound that holds for all neighbouring datasets, ``"lower"`` for two datasets that
    attain it, and ``"approximation"`` for an estimate that is no bound. ``source`` says who found it and ``assumes``
    for whom it holds; ``one_randomizer`` says whether all users must share one randomizer, or may have different ones
    if the data are shuffled first. ``epsilon(R, n, delta, rtol)`` and ``delta(R, n, eps, rtol)`` answer; where the
    analysis does not apply they raise an error that says why.

    >>> sorted({analysis.kind for analysis in every()})
    ['approximation', 'upper']
    """

    name: str
    source: str
    kind: str
    assumes: str
    epsilon: Question
    delta: Question
    one_randomizer: bool = True

    def row(self, R: Any, n: int, given: str, value: Any, rtol: float) -> Row:
        """What it says about n users of R, within ``rtol``; ``given``, "delta" or "eps", has this ``value``."""
        try:
            if self.one_randomizer and isinstance(R, Family) and R.data_shuffled_first:
                raise ValueError("all users must share one randomizer")
            answer = (self.epsilon if given == "delta" else self.delta)(R, n, value, rtol)
        except (ValueError, TypeError) as refusal:
            return Row(self.name, self.source, self.kind, self.assumes, None, str(refusal))
        if isinstance(answer, Interval):
            answer = answer.lower if self.kind == "lower" else answer.upper
        return Row(self.name, self.source, self.kind, self.assumes, float(answer))


@dataclass(frozen=True)
class Row:
    """The ``value`` of ε or δ by one `Analysis`, or None and the reason why it does not apply.

    >>> import shuffle_sym as ss
    >>> row = ss.Shuffle(ss.BinaryRR(eps0=1), n=500).analyses(delta=1e-6).row("Erlingsson")
    >>> row.value, row.refusal
    (None, 'n must be at least 1000 for this theorem, got 500')
    """

    name: str
    source: str
    kind: str
    assumes: str
    value: float | None
    refusal: str = ""

    @property
    def shown(self) -> str:
        """The value with six digits, rounded to the safe side, behind ≤, ≥ or ≈."""
        if self.value is None:
            return "says nothing"
        lower, upper = str(Interval(self.value, self.value)).strip("[]").split(", ")
        return f"{KINDS[self.kind]} {lower if self.kind == 'lower' else upper}"

    def cells(self) -> tuple[str, str, str, str]:
        """Value, analysis, source, and what it holds for or why it says nothing."""
        return self.shown, self.name, self.source, self.refusal or self.assumes


@dataclass(frozen=True)
class Analyses:
    """The value that every analysis gives, in ``rows``: the largest first; those that do not apply come last.

    ``question`` is in words; ``answer`` is that of the mechanism: the best of the bounds and of the attacks.

    >>> import shuffle_sym as ss
    >>> found = ss.Shuffle(ss.KRR(k=3, eps0=1), n=1000).analyses(eps=0.1)
    >>> [row.name for row in found.rows if row.kind == "lower"][0]
    '0 against 1, all others 2'
    """

    mechanism: str
    question: str
    answer: Interval
    rows: tuple[Row, ...]

    def row(self, name: str) -> Row:
        """The row of the analysis with this name."""
        named = {row.name: row for row in self.rows}
        return named[arguments.one_of(name, "name", named)]

    @property
    def bounds(self) -> tuple[Row, ...]:
        """The rows that have a value."""
        return tuple(row for row in self.rows if row.value is not None)

    @property
    def title(self) -> str:
        return f"{self.mechanism}: {self.question} is in {self.answer}"

    @property
    def _symbol(self) -> str:
        return self.question.split()[0]

    def __str__(self) -> str:
        table = [(self._symbol, "analysis", "source", "holds for"), *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        def line(cells: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag} style='text-align:left'>{escape(c)}</{tag}>" for c in cells) + "</tr>"

        head = line((self._symbol, "analysis", "source", "holds for"), "th")
        rows = "".join(line(row.cells(), "td") for row in self.rows)
        return f"<table><caption>{escape(self.title)}</caption>{head}{rows}</table>"


#: Name → analysis that was added so far; attacks on datasets of their own come with each randomizer.
TABLE: dict[str, Analysis] = {}


def every() -> tuple[Analysis, ...]:
    """All analyses, ours and those of all papers.

    >>> {"blanket", "clones", "Erlingsson"} <= {analysis.name for analysis in every()}
    True
    """
    import_module("shuffle_sym.papers.everything")  # by its name: this room imports nothing of a later one
    return tuple(TABLE.values())


def add(analysis: Analysis) -> Analysis:
    """Puts an analysis into the table that `Shuffle.analyses` shows.

    >>> add(TABLE["blanket"])
    Traceback (most recent call last):
        ...
    ValueError: name must be new: there is an analysis called 'blanket' already
    """
    if analysis.name in TABLE:
        raise ValueError(f"name must be new: there is an analysis called {analysis.name!r} already")
    arguments.one_of(analysis.kind, "kind", KINDS)
    TABLE[analysis.name] = analysis
    return analysis


def by_laws(
    name: str,
    source: str,
    assumes: str,
    laws: Callable[[Any, int], Source],
    *,
    kind: str = "upper",
    one_randomizer: bool = True,
) -> Analysis:
    """An analysis whose values are those of a pair of laws, or of several: ``laws(R, n)``.

    >>> from shuffle_sym.accounting.sources import PairOfLaws
    >>> import shuffle_sym as ss
    >>> clones = by_laws("c", "", "", lambda R, n: PairOfLaws(ss.decomposition.clones(R.eps0), n))
    >>> sp.Rational(1, 4) in clones.delta(ss.BinaryRR(eps0=sp.log(3)), 1, sp.log(2), 1e-3)  # (3 − 2)/(3 + 1)
    True
    """

    def epsilon(R: Any, n: int, delta: Any, rtol: float) -> Interval:
        return laws(R, n).epsilon(arguments.delta_target(delta), rtol, "auto")

    def delta(R: Any, n: int, eps: Any, rtol: float) -> Interval:
        (answer,) = laws(R, n).hockey_sticks([Ratio(eps=arguments.central_epsilon(eps))], rtol)
        return answer

    return Analysis(name, source, kind, assumes, epsilon, delta, one_randomizer)


def of_every_randomizer(
    name: str, source: str, clones: Callable[[Any], Decomposition], *, one_randomizer: bool = True
) -> Analysis:
    """An analysis of all ε0-LDP randomizers by a decomposition that depends on ε0 alone.

    >>> import shuffle_sym as ss
    >>> of_every_randomizer("c", "", ss.decomposition.clones, one_randomizer=False).assumes
    'every ε0-LDP randomizer that all users share; different ones if the data are shuffled first'
    """
    assumes = SHARED if one_randomizer else OR_DATA_FIRST
    return by_laws(
        name, source, assumes, lambda R, n: PairOfLaws(clones(finite_eps0(R)), n), one_randomizer=one_randomizer
    )


def finite_eps0(R: Any) -> sp.Expr:
    """ε0 of a randomizer for a theorem about all ε0-LDP ones, which has nothing to say where it is infinite.

    >>> import shuffle_sym as ss
    >>> finite_eps0(ss.KRR(k=3, eps0=sp.log(2)))
    log(2)
    """
    if R.eps0 is sp.oo:
        raise ValueError(f"eps0 must be finite, but {R!r} is not ε0-LDP for any ε0")
    return R.eps0


# -- the table for one mechanism


def table(mechanism: Mechanism, given: str, value: Any, rtol: float) -> Analyses:
    """What every analysis says about a mechanism; ``given`` is "delta" or "eps", the argument that has this value."""
    R, n = mechanism.R, mechanism.n
    if given == "delta":
        answer = mechanism.epsilon(arguments.delta_target(value), rtol, "auto")
    else:
        (answer,) = mechanism.hockey_sticks([Ratio(eps=arguments.central_epsilon(value))], rtol)
    rows = [analysis.row(R, n, given, value, rtol) for analysis in (*every(), *_attacks(R, n))]
    rows.sort(key=lambda row: (row.value is None, -(row.value or 0.0)))
    exact = arguments.exact_number(value, given)
    shown = f"{float(exact):g}" if exact.is_Rational else str(exact)
    question = f"ε at δ = {shown}" if given == "delta" else f"δ at ε = {shown}"
    return Analyses(f"Shuffle({R!r}, n={n})", question, answer, tuple(rows))


def _attacks(R: Any, n: int) -> list[Analysis]:
    """Two neighbouring datasets each, those that the lower ends of all answers come from."""
    datasets = datasets_of(R, n)

    def of(law: Source) -> Any:
        return lambda R, n: law

    return [
        by_laws(str(neighbours), _OURS, "these two datasets", of(law), kind="lower", one_randomizer=False)
        for neighbours, law in datasets.pairs
    ]


# -- the analyses of this package

_OURS = "this package"
_MOST_USERS = 2_000  # that all datasets of two messages are tried for: about 0.2 s


def _blanket(R: Any, n: int) -> Source:
    if isinstance(R, Family):
        raise ValueError(f"the blanket needs one randomizer, got {R!r}; for all of them take the clones")
    return Noise(R, n) if isinstance(R, Continuous) else MaxOverPairs(decomposition.blankets(R), n)


def _local(R: Any, n: int) -> Source:
    """One user; 2-RR is the worst of all randomizers then."""
    return PairOfLaws(R.worst_alone(), 1) if isinstance(R, Family) else _blanket(R, 1)


def _drop_out(equal: bool) -> Any:
    def bound(R: Any, n: int) -> Source:
        return drop_out(R, n, equal=equal)

    return bound


def _two_messages(R: Any, n: int) -> TwoMessages:
    if not has_two_messages(R):
        raise ValueError("R must have two messages: only then all datasets can be tried")
    if n > _MOST_USERS:
        raise ValueError(f"n must be at most {_MOST_USERS} for all datasets to be tried at once, got {n}")
    return TwoMessages(R, n)


def _two_epsilon(R: Any, n: int, delta: Any, rtol: float) -> Interval:
    return _two_messages(R, n).epsilon(delta, rtol=rtol)


def _two_delta(R: Any, n: int, eps: Any, rtol: float) -> Interval:
    return _two_messages(R, n).delta(eps)


def _chi(R: Any, n: int) -> float:
    return float(max(neighbours.alike.chi for neighbours, _ in datasets_of(R, n).pairs))


def _normal_epsilon(R: Any, n: int, delta: Any, rtol: float) -> float:
    return gaussian_epsilon(_chi(R, n), n, arguments.delta_target(delta))


def _normal_delta(R: Any, n: int, eps: Any, rtol: float) -> float:
    return gaussian_delta(_chi(R, n), n, float(sp.sympify(eps)))


for _analysis in (
    by_laws("local randomizer", "post-processing", GIVEN, _local, one_randomizer=False),
    by_laws("blanket", "Balle et al. 2019; Su et al. 2025", GIVEN, _blanket),
    by_laws("drop-out", _OURS, GIVEN, _drop_out(equal=False)),
    by_laws("drop-out, equal others", _OURS, GIVEN, _drop_out(equal=True)),
    Analysis("all datasets", _OURS, "upper", "two messages", _two_epsilon, _two_delta),
    Analysis("normal limit", _OURS, "approximation", "n → ∞: no bound", _normal_epsilon, _normal_delta, False),
):
    add(_analysis)
