r"""The generalised privacy amplification random variable (GPARV) of a decomposition.

:math:`G = (a_j - \alpha b_j)/c_j` with probability :math:`c_j`, and 0 with probability :math:`\beta`. The divergence of
the shuffled pair is one expectation of a sum of n independent copies (Su et al. 2025, Definition 10 and
Theorem 9; the atoms with c = 0 are ours), see `shuffle_sym.exact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym import arguments, field, latex

Bounds = tuple[Fraction, Fraction]


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

    def floats(self, alpha: sp.Expr) -> Law:
        """Arrays of doubles."""
        count = len(self.ratios)
        gaps = field.as_doubles(low for low, _ in self._gaps(alpha, 60))
        masses = field.as_doubles(low for low, _ in self._bounds(124)[2 * len(self._pairs) :])
        return Law(gaps[:count], masses, np.maximum(gaps[count:], 0.0))

    # -- as text

    def __repr__(self) -> str:
        rows = ", ".join(f"{v}: {p}" for v, p in zip(self.values, self.probabilities, strict=True))
        return f"Gparv({rows})" + (f" + null {self.null}" if self.null_masses else "")

    def _repr_latex_(self) -> str:
        rows = [("G", *self.forms), (r"\Pr", *self.masses)]
        null = [r"\text{null: }" + latex.formula(a - field.alpha * b) for a, b in self.null_masses]
        return latex.table(rows, notes=[*null, r"\alpha = e^{\varepsilon}", *latex.where(self.bindings)])
