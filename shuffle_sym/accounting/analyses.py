r"""All bounds and attacks for n users of a randomizer, side by side.

A table holds the analyses. Ours are added in `accounting.own_analyses`; a paper adds its own in its folder, with `add`.
The papers are imported when somebody asks for `every` analysis, and never for an answer about a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

import sympy as sp

from shuffle_sym.accounting.sources import PairOfLaws, Source
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Family

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
