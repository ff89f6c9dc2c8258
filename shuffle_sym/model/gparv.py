r"""The generalised privacy amplification random variable (GPARV) of a decomposition.

:math:`G = (a_j - \alpha b_j)/c_j` with probability :math:`c_j`, and 0 with probability :math:`\beta`. The divergence of
the shuffled pair is one expectation of a sum of n independent copies (Su et al. 2025, Definition 10 and
Theorem 9; the atoms with c = 0 are ours), see `shuffle_sym.truth.exact`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments, field, latex

Bounds = tuple[Fraction, Fraction]
Dyadic = tuple[int, int]  # (m, e) stands for m·2^e, within 2^-_DYADIC_BITS of what it is for

_DYADIC_BITS = 120
_LOST_BITS = 50  # so many may cancel in a difference of two dyadics: 2^(50 − 118) is nothing next to a double


@dataclass(frozen=True)
class Ratio:
    r"""The argument :math:`\alpha = e^{\varepsilon} > 0` of a hockey-stick divergence, given as α or as ε.

    >>> Ratio(eps=sp.log(2)).alpha, Ratio(alpha=sp.Rational(1, 3)).inverse().log
    (2, 1.098612288668109...)
    """

    number: sp.Expr
    is_log: bool

    def __init__(self, *, alpha: sp.Expr | None = None, eps: sp.Expr | None = None) -> None:
        object.__setattr__(self, "number", eps if alpha is None else alpha)
        object.__setattr__(self, "is_log", alpha is None)

    @cached_property
    def alpha(self) -> sp.Expr:
        return sp.exp(self.number) if self.is_log else self.number

    @cached_property
    def eps(self) -> sp.Expr:
        return self.number if self.is_log else sp.log(self.number)

    def inverse(self) -> Ratio:
        return Ratio(eps=-self.number) if self.is_log else Ratio(alpha=1 / self.number)

    @cached_property
    def below_one(self) -> bool:
        return bool(self.number < (0 if self.is_log else 1))

    @property
    def less_than_one_by(self) -> float:
        """1 − α for an α < 1, with a relative error of at most `field.FLOAT_ERROR`."""
        gap = difference((1, 0), (self.dyadic, (1, 0)))
        return float(field.floats((1 - field.alpha,), {field.alpha: self.alpha})[0]) if gap is None else gap

    def __float__(self) -> float:
        """α with a relative error of at most `field.FLOAT_ERROR`, if a normal double holds it."""
        m, e = self.dyadic
        extra = max(m.bit_length() - 64, 0)
        return math.ldexp(float(m >> extra), e + extra)

    @cached_property
    def log(self) -> float:
        """ε as a double, to within a few units in the last place of 1 + |ε|."""
        m, e = self.dyadic
        bits = m.bit_length()
        return math.log(m / (1 << bits)) + (bits + e) * math.log(2)

    @cached_property
    def dyadic(self) -> Dyadic:
        """α with a relative error of at most 2^-120."""
        number = self.number
        if not number.is_Rational:
            ((low, _),) = field.enclosures((field.alpha,), {field.alpha: self.alpha}, _DYADIC_BITS + 4)
            return _dyadic(low)
        p, q = int(number.p), int(number.q)
        if not self.is_log:
            return _dyadic(Fraction(p, q))
        # The error of a rational ε, times ε, is that of α.
        bits = _DYADIC_BITS + 40 + (p // q).bit_length()
        _, m, e, _ = mpmath.libmp.mpf_exp(mpmath.libmp.from_rational(p, q, bits), bits)
        return int(m), int(e)


def _dyadic(number: Fraction) -> Dyadic:
    """A fraction >= 0, rounded down."""
    p, q = number.numerator, number.denominator
    shift = _DYADIC_BITS + 4 + q.bit_length() - p.bit_length()
    return (p << shift if shift >= 0 else p >> -shift) // q, -shift


def difference(a: Dyadic, product: Sequence[Dyadic]) -> float | None:
    r"""a − xy as a double with a relative error of at most `field.FLOAT_ERROR`; None where too much cancels, or where
    no normal double holds it.
    """
    (m, e), (x, x_e), (y, y_e) = a, *product
    xy, xy_e = x * y, x_e + y_e
    if not m and not xy:
        return 0.0
    if m and xy and abs(e - xy_e) > 4096:
        return None
    least = min(e, xy_e) if m and xy else (e if m else xy_e)
    m, xy = (m << (e - least) if m else 0), (xy << (xy_e - least) if xy else 0)
    gap = m - xy
    size = abs(gap).bit_length()
    if size < max(m, xy).bit_length() - _LOST_BITS or not -1000 < size + least < 1000:
        return None
    # Down to 64 bits, which is nothing next to the rounding of the double.
    extra = max(size - 64, 0)
    return math.ldexp(float(gap >> extra), least + extra)


@dataclass(frozen=True)
class Law:
    r"""The law of G at one α in numbers of one kind: fractions, mpmath numbers, or arrays of doubles.

    ``null`` holds the positive ones among :math:`a_j - \alpha b_j` of the atoms with c = 0; their sum is added to the
    divergence. As doubles, each entry has a relative error of at most `field.FLOAT_ERROR`.
    """

    values: Any
    probabilities: Any
    null: Any


@dataclass(frozen=True)
class Gparv:
    r"""The law of G as a table, symbolic in α and in whatever the randomizer leaves symbolic.

    ``ratios`` are the pairs (a/c, b/c) and ``masses`` their probabilities c; the value 0 with probability β is the last
    one. ``null_masses`` are the pairs (a, b) of the atoms with c = 0: :math:`[a - \alpha b]_+` is added as it is.

    >>> import shuffle_sym as ss
    >>> ss.KRR().gparv().mean()
    1 - alpha
    """

    ratios: tuple[tuple[sp.Expr, sp.Expr], ...]
    masses: tuple[sp.Expr, ...]
    null_masses: tuple[tuple[sp.Expr, sp.Expr], ...]
    bindings: field.Bindings

    # -- symbols

    @cached_property
    def forms(self) -> tuple[sp.Expr, ...]:
        """The values of G in the symbols of the field."""
        return tuple(field.simplest(a - field.alpha * b) for a, b in self.ratios)

    @property
    def values(self) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(e, self.bindings) for e in self.forms)

    @property
    def probabilities(self) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(e, self.bindings) for e in self.masses)

    @property
    def null(self) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(a - field.alpha * b, self.bindings) for a, b in self.null_masses)

    def mean(self) -> sp.Expr:
        r"""E[G], which is 1 − α when there are no null atoms."""
        total = sum((v * p for v, p in zip(self.forms, self.masses, strict=True)), sp.Integer(0))
        return field.substitute(field.simplest(total), self.bindings)

    # -- numbers, all from the same formulas

    @cached_property
    def _pairs(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        return (*self.ratios, *self.null_masses)

    @cached_property
    def _formulas(self) -> tuple[sp.Expr, ...]:
        formulas = (*(e for pair in self._pairs for e in pair), *self.masses)
        arguments.numeric_only(field.free_symbols(formulas, self.bindings), "a number")
        return formulas

    @cached_property
    def _exact(self) -> tuple[Fraction, ...] | None:
        return field.fractions(self._formulas, self.bindings)

    @cached_property
    def _known(self) -> dict[int, tuple[Bounds, ...]]:
        return {}

    def _bounds(self, bits: int) -> tuple[Bounds, ...]:
        """Bounds of all formulas; few precisions are ever asked for, each is computed once."""
        if bits not in self._known:
            self._known[bits] = field.enclosures(self._formulas, self.bindings, bits)
        return self._known[bits]

    def _gaps(self, alpha: sp.Expr, bits: int) -> list[Bounds]:
        """Bounds of a − αb for all pairs, with a relative width of at most 2^-bits; exact zeros are zeros."""
        working = bits + 64
        while True:
            ((least, most),) = field.enclosures((field.alpha,), {field.alpha: alpha}, working)
            known = self._bounds(working)
            gaps = []
            for i, pair in enumerate(self._pairs):
                (a_low, a_high), (b_low, b_high) = known[2 * i : 2 * i + 2]
                low, high = a_low - most * b_high, a_high - least * b_low
                if low <= 0 <= high and low != high:
                    form, bindings = pair[0] - field.alpha * pair[1], {**self.bindings, field.alpha: alpha}
                    low, high = (Fraction(0),) * 2 if field.sign(form, bindings) == 0 else (low, high)
                gaps.append((low, high))
            if all(high - low <= min(abs(low), abs(high)) / 2**bits for low, high in gaps):
                return gaps
            working *= 2

    def exact(self, alpha: sp.Expr, digits: int) -> Law:
        """Fractions if everything is rational, mpmath numbers with ``digits`` digits otherwise."""
        count = len(self.ratios)
        if self._exact is not None and alpha.is_Rational:
            ratio = Fraction(int(alpha.p), int(alpha.q))
            gaps = [self._exact[2 * i] - ratio * self._exact[2 * i + 1] for i in range(len(self._pairs))]
            masses: tuple[Any, ...] = self._exact[2 * len(self._pairs) :]
            return Law(tuple(gaps[:count]), masses, tuple(v for v in gaps[count:] if v > 0))
        bits = int(digits * 3.3220) + 4
        numbers = [low for low, _ in (*self._gaps(alpha, bits), *self._bounds(bits)[2 * len(self._pairs) :])]
        with mpmath.workdps(digits + 5):
            values = tuple(mpmath.mpf(v.numerator) / v.denominator for v in numbers)
        null = values[count : len(self._pairs)]
        return Law(values[:count], values[len(self._pairs) :], tuple(v for v in null if v > 0))

    @cached_property
    def _dyadics(self) -> tuple[tuple[Dyadic, Dyadic], ...]:
        known = [_dyadic(low) for low, _ in self._bounds(124)[: 2 * len(self._pairs)]]
        return tuple(zip(known[::2], known[1::2], strict=True))

    @cached_property
    def _float_masses(self) -> Any:
        return field.as_doubles(low for low, _ in self._bounds(124)[2 * len(self._pairs) :])

    def floats(self, alpha: sp.Expr) -> Law:
        """Arrays of doubles."""
        law = self.floats_at([Ratio(alpha=alpha)])
        return Law(law.values[0], law.probabilities, law.null[0])

    def floats_at(self, ratios: Sequence[Ratio]) -> Law:
        """Arrays of doubles; ``values`` and ``null`` have a row for each α."""
        count = len(self.ratios)
        gaps = np.array([self._float_gaps(ratio) for ratio in ratios]).reshape(len(ratios), len(self._pairs))
        return Law(gaps[:, :count], self._float_masses, np.maximum(gaps[:, count:], 0.0))

    def _float_gaps(self, ratio: Ratio) -> Any:
        gaps = [difference(a, (ratio.dyadic, b)) for a, b in self._dyadics]
        if None in gaps:  # next to a zero of G, or one: decided by as many bits as it takes
            return field.as_doubles(low for low, _ in self._gaps(ratio.alpha, 60))
        return gaps

    # -- as text

    def __repr__(self) -> str:
        rows = ", ".join(f"{v}: {p}" for v, p in zip(self.values, self.probabilities, strict=True))
        return f"Gparv({rows})" + (f" + null {self.null}" if self.null_masses else "")

    def _repr_latex_(self) -> str:
        rows = [("G", *self.forms), (r"\Pr", *self.masses)]
        null = [r"\text{null: }" + latex.formula(a - field.alpha * b) for a, b in self.null_masses]
        return latex.table(rows, notes=[*null, r"\alpha = e^{\varepsilon}", *latex.where(self.bindings)])
