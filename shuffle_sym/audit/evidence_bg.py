r"""Tools for the evidence on Balle et al. and Girgis et al.: enclosures, small laws, checks joined.

A number is enclosed in an interval of 50 digits, in a context of its own; `below` answers only where the intervals do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp
from mpmath.ctx_iv import MPIntervalContext

from shuffle_sym.audit.claims import Check
from shuffle_sym.derivations.engine import Derivation, Step
from shuffle_sym.errors import VerificationError

IV = MPIntervalContext()
IV.dps = 50

Law = Mapping[Any, Fraction]
Case = TypeVar("Case")
Histogram = tuple[int, ...]


def fraction(value: Any) -> Fraction:
    """A rational number of SymPy or Python as a Fraction."""
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sp.Rational) else Fraction(value)


def enclosed(value: Any) -> Any:
    """An interval around a rational number; an interval stays as it is."""
    if isinstance(value, IV.mpf):
        return value
    exact = fraction(value)
    return IV.mpf(exact.numerator) / exact.denominator


def below(left: Any, right: Any) -> bool:
    """Whether left < right, for rational numbers and intervals; raises where the intervals overlap."""
    found = enclosed(left) < enclosed(right)
    if found is None:
        raise VerificationError(f"50 digits do not tell {left} from {right}")
    return bool(found)


def shown(value: Any, digits: int = 4) -> str:
    """The middle of an interval, or a rational number, as a decimal."""
    return f"{float(enclosed(value).mid):.{digits}g}"


def together(main: Check, *also: Check) -> Check:
    """One check of several: it passes if all do, and is of the kind of the first that does not, or of the main one."""
    failing = [check for check in (main, *also) if check.passes is not True]
    return replace((failing or [main])[0], finding="; ".join(check.finding for check in (main, *also)))


def certified(passes: bool, finding: str) -> Check:
    """A comparison of certified ends."""
    return Check(passes, "certified floats", finding)


def searched(cases: Iterable[Case], fails: Callable[[Case], bool], finding: Callable[[Case], str]) -> Check:
    """The first case in which the statement fails, as a counterexample; if there is none, nothing is decided."""
    count = 0
    for case in cases:
        count += 1
        if fails(case):
            return Check(False, "counterexample", finding(case))
    return Check(None, "searched", f"none of {count} cases fails")


def steps(title: str, source: str, *lines: Step) -> Derivation:
    """A short proof that only the audit needs."""
    return Derivation(title, source, lines)


# ------------------------------------------------------------------------------------------------ small laws, literally


def shuffled(laws: Sequence[Sequence[Fraction]]) -> dict[Histogram, Fraction]:
    """The histogram of independent messages, one from each law."""
    cells = len(laws[0])
    found: dict[Histogram, Fraction] = {(0,) * cells: Fraction(1)}
    for law in laws:
        following: dict[Histogram, Fraction] = {}
        for h, mass in found.items():
            for y, p in enumerate(law):
                if p:
                    more = (*h[:y], h[y] + 1, *h[y + 1 :])
                    following[more] = following.get(more, Fraction(0)) + mass * p
        found = following
    return found


def rows(R: Any) -> list[list[Fraction]]:
    """The law of every input of a rational randomizer."""
    matrix = R.matrix()
    return [[fraction(matrix[x, y]) for y in range(matrix.cols)] for x in range(matrix.rows)]


def stick(P: Law, Q: Law, alpha: Fraction) -> Fraction:
    """D_α of two laws on the same outcomes."""
    return sum((max(p - alpha * Q.get(h, Fraction(0)), Fraction(0)) for h, p in P.items()), Fraction(0))


def moment(P: Law, Q: Law, order: int) -> Fraction:
    """E_Q[(P/Q)^λ], outcome by outcome, for an integer λ."""
    return sum((p**order / Q[h] ** (order - 1) for h, p in P.items() if p), Fraction(0))


def mixed(parts: Iterable[tuple[Fraction, Law]]) -> dict[Any, Fraction]:
    """The mixture of laws with these weights."""
    found: dict[Any, Fraction] = {}
    for weight, law in parts:
        for outcome, mass in law.items():
            found[outcome] = found.get(outcome, Fraction(0)) + weight * mass
    return found


def positive_part(law: Sequence[tuple[Fraction, Fraction]], count: int) -> Fraction:
    """E[X_1 + … + X_count]_+ for independent copies of a variable with these (value, probability)."""
    sums: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
    for _ in range(count):
        following: dict[Fraction, Fraction] = {}
        for total, mass in sums.items():
            for value, probability in law:
                following[total + value] = following.get(total + value, Fraction(0)) + mass * probability
        sums = following
    return sum((total * mass for total, mass in sums.items() if total > 0), Fraction(0))


def convex_positive_part() -> Derivation:
    """[Σ w_i x_i]_+ ≤ Σ w_i [x_i]_+, with each x as the difference of its positive and negative parts."""
    p, q, v, w, s = sp.symbols("p q v w s", nonnegative=True)
    return steps(
        "The positive part is convex",
        "used for every f-divergence of hockey-stick type",
        Step(p * (v - w) + q * (s - 0), p * v + q * s, "where the mean is positive: leave the negative part out", "<="),
        Step(sp.Integer(0), p * v + q * s, "where it is not", "<="),
    )
