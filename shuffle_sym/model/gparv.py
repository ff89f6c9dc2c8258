r"""The generalised privacy amplification random variable (GPARV) of a decomposition.

:math:`G = (a_j - \alpha b_j)/c_j` with probability :math:`c_j`, and 0 with probability :math:`\beta`. The divergence of
the shuffled pair is one expectation of a sum of n independent copies (Su et al. 2025, Definition 10 and
Theorem 9; the atoms with c = 0 are ours), see `shuffle_sym.truth.exact`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, field, latex, precise
from shuffle_sym.algebra.compiled import NumpyFunction
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model.equality import Uncached

_BITS = 128  # of what becomes a double: half of them may cancel in a difference


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

    def from_one(self) -> Ratio:
        """This one, if α >= 1: what is proved for these α only is not told of others."""
        if self.below_one:
            raise VerificationError(f"this is proved for alpha >= 1 only, and was asked for alpha = {self.alpha}")
        return self

    @property
    def less_than_one_by(self) -> float:
        """1 − α for an α < 1, with a relative error of at most `rounding.FLOAT_ERROR`."""
        return float(field.numbers((1 - field.alpha,), {field.alpha: self.alpha}, 60)[0])

    def __float__(self) -> float:
        """α with a relative error of at most `rounding.FLOAT_ERROR`, if a normal double holds it."""
        return float(self.ball)

    @cached_property
    def log(self) -> float:
        """ε as a double, to within a few units in the last place of 1 + |ε|."""
        with balls.LOCK, balls.workprec(_BITS):
            return float(self.ball.log())

    def at_least(self, loss: sp.Expr) -> bool:
        """Whether ε is at least a number, decided exactly; the number may be infinite."""
        if loss is sp.oo:
            return False
        with balls.LOCK, balls.workprec(_BITS):
            gap = self.ball.log() - balls.value(loss)
        return bool(gap > 0) if gap > 0 or gap < 0 else field.at_least(self.eps, loss)

    @cached_property
    def ball(self) -> arb:
        """α with a relative radius of at most 2^-120."""
        return self.to_bits(_BITS - 8)

    def to_bits(self, bits: int) -> arb:
        """α with a relative radius of at most 2^-bits."""
        if isinstance(self.number, sp.Rational):
            with balls.LOCK, balls.workprec(bits + 64 + int(abs(self.number)).bit_length()):
                return balls.ball(self.number).exp() if self.is_log else balls.ball(self.number)
        return field.numbers((field.alpha,), {field.alpha: self.alpha}, bits)[0]


@dataclass(frozen=True)
class LawOfG:
    r"""The law of G at one α in numbers of one kind: fractions, mpmath numbers, arrays of doubles; or functions of α.

    ``null`` holds the positive ones among :math:`a_j - \alpha b_j` of the atoms with c = 0; their sum is added to the
    divergence. As doubles, each entry has a relative error of at most `rounding.FLOAT_ERROR`.
    """

    values: Any
    probabilities: Any
    null: Any


@dataclass(frozen=True)
class Gparv(Uncached):
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
        arguments.numeric_only(field.free_symbols(formulas, self.bindings), "a numerical answer")
        return formulas

    @cached_property
    def _exact(self) -> tuple[Fraction, ...] | None:
        return field.fractions(self._formulas, self.bindings)

    @cached_property
    def _known(self) -> dict[int, tuple[arb, ...]]:
        return {}

    def _balls(self, bits: int) -> tuple[arb, ...]:
        """Enclosures of all formulas; few precisions are ever asked for, each is computed once."""
        if bits not in self._known:
            self._known[bits] = field.numbers(self._formulas, self.bindings, bits)
        return self._known[bits]

    def _gaps(self, ratio: Ratio, bits: int) -> list[arb]:
        """a − αb for all pairs, with a relative radius of at most 2^-bits; exact zeros are zeros."""
        gaps: dict[int, arb] = {}
        working = bits + 64
        while len(gaps) < len(self._pairs):
            alpha, formulas = ratio.ball if working <= _BITS else ratio.to_bits(working), self._balls(working)
            with balls.LOCK, balls.workprec(working):
                for i, (a, b) in enumerate(self._pairs):
                    if i not in gaps:
                        gap = formulas[2 * i] - alpha * formulas[2 * i + 1]
                        if balls.is_right_to(bits, gap):
                            gaps[i] = gap
                        elif gap.contains(0) and self._is_zero(a, b, ratio):
                            gaps[i] = arb(0)
            working *= 2
        return [gaps[i] for i in range(len(self._pairs))]

    def _is_zero(self, a: sp.Expr, b: sp.Expr, ratio: Ratio) -> bool:
        return field.sign(a - field.alpha * b, {**self.bindings, field.alpha: ratio.alpha}) == 0

    def fractions(self, alpha: sp.Expr) -> LawOfG | None:
        """Fractions, None if something is irrational."""
        if self._exact is None or not alpha.is_Rational:
            return None
        count, pairs, ratio = len(self.ratios), len(self._pairs), Fraction(int(alpha.p), int(alpha.q))
        gaps = [self._exact[2 * i] - ratio * self._exact[2 * i + 1] for i in range(pairs)]
        return LawOfG(tuple(gaps[:count]), self._exact[2 * pairs :], tuple(v for v in gaps[count:] if v > 0))

    def exact(self, alpha: sp.Expr, digits: int) -> LawOfG:
        """Fractions if everything is rational, mpmath numbers with ``digits`` digits otherwise."""
        if (rational := self.fractions(alpha)) is not None:
            return rational
        law = self.balls(Ratio(alpha=alpha), int(digits * 3.3220) + 4)
        parts = (law.values, law.probabilities, law.null)
        return LawOfG(*(tuple(precise.middle(x, digits + 5) for x in part) for part in parts))

    def balls(self, ratio: Ratio, bits: int) -> LawOfG:
        """Balls with relative radii of at most 2^-bits; exact zeros are zeros."""
        gaps, count = self._gaps(ratio, bits), len(self.ratios)
        masses = self._balls(bits)[2 * len(self._pairs) :]
        return LawOfG(tuple(gaps[:count]), masses, tuple(v for v in gaps[count:] if v > 0))

    @cached_property
    def _float_masses(self) -> Any:
        return balls.doubles(self._balls(_BITS)[2 * len(self._pairs) :])

    def floats(self, alpha: sp.Expr) -> LawOfG:
        """Arrays of doubles."""
        law = self.floats_at([Ratio(alpha=alpha)])
        return LawOfG(law.values[0], law.probabilities, law.null[0])

    def floats_at(self, ratios: Sequence[Ratio]) -> LawOfG:
        """Arrays of doubles; ``values`` and ``null`` have a row for each α."""
        count = len(self.ratios)
        rows = [balls.doubles(self._gaps(ratio, _BITS - 64)) for ratio in ratios]
        gaps = np.array(rows).reshape(len(ratios), len(self._pairs))
        return LawOfG(gaps[:, :count], self._float_masses, np.maximum(gaps[:, count:], 0.0))

    def numpy(self) -> LawOfG:
        """NumPy functions of α and of what is left symbolic: one for each value, probability and null atom.

        >>> import shuffle_sym as ss
        >>> first = ss.BinaryRR().gparv().numpy().values[0]
        >>> first, round(float(first(alpha=2, epsilon_0=np.log(3))), 12)
        (G_0(alpha, epsilon_0), 1.0)
        """
        columns = {"G": self.values, "p": self.probabilities, "null": self.null}
        others = {symbol for column in columns.values() for e in column for symbol in e.free_symbols} - {field.alpha}
        symbols, doc = (field.alpha, *sorted(others, key=str)), "The law of G: values G, probabilities p, null atoms."
        return LawOfG(
            *(
                tuple(NumpyFunction(e, symbols, f"{name}_{i}", doc, log=False) for i, e in enumerate(column))
                for name, column in columns.items()
            )
        )

    # -- as text

    def __repr__(self) -> str:
        rows = ", ".join(f"{v}: {p}" for v, p in zip(self.values, self.probabilities, strict=True))
        return f"Gparv({rows})" + (f" + null {self.null}" if self.null_masses else "")

    def _repr_latex_(self) -> str:
        rows = [("G", *self.forms), (r"\Pr", *self.masses)]
        null = [r"\text{null: }" + latex.formula(a - field.alpha * b) for a, b in self.null_masses]
        return latex.table(rows, notes=[*null, r"\alpha = e^{\varepsilon}", *latex.where(self.bindings)])
