r"""The pair of a decomposition with n users, cell by cell: formulas that derivations end in and accountants compile.

A cell says how many of the n messages are of each kind: :math:`h = (h_1, \dots, h_m)`. With W the multinomial law of
the masses c, :math:`A = \sum_j h_j a_j/c_j` and :math:`B = \sum_j h_j b_j/c_j` (Su et al. 2025, Theorem 10),

.. math:: P(h) = W(h)\,\frac{A}{n}, \qquad Q(h) = W(h)\,\frac{B}{n}, \qquad \frac{P(h)}{Q(h)} = \frac AB.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.compiled import NumpyFunction
from shuffle_sym.model.decomposition import Decomposition, clones_koskela

a, b = sp.symbols("a b", integer=True, nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)
order = sp.Symbol("lambda", integer=True, nonnegative=True)


@dataclass(frozen=True)
class Cells:
    r"""The formulas of a decomposition without null atoms; ``counts`` are the symbols of all kinds but the last, whose
    count is n less the others.

    >>> clone_cells().ratio
    (2*a*t*(t - 1) - a - b + n)/(-a + 2*b*t*(t - 1) - b + n)
    """

    decomposition: Decomposition
    counts: tuple[sp.Symbol, ...]

    def __post_init__(self) -> None:
        D = self.decomposition
        if any(atom.c == 0 for atom in D.atoms):
            raise ValueError(f"D must not have a component that no other user sends (c = 0), got {D!r}")
        if len(self.counts) != len(D.gparv.masses) - 1:
            raise ValueError(f"counts must be {len(D.gparv.masses) - 1} symbols, got {self.counts}")

    @cached_property
    def histogram(self) -> tuple[sp.Expr, ...]:
        """h: how many messages are of each kind."""
        return (*self.counts, n - sp.Add(*self.counts))

    @cached_property
    def sums(self) -> tuple[sp.Expr, sp.Expr]:
        """A/s and B/s, where s = b/c of the last kind, or 1 if that is 0."""
        first, second = (
            sp.Add(*(h * sp.factor(field.simplest(u / self._scale)) for h, u in zip(self.histogram, side, strict=True)))
            for side in zip(*self.decomposition.gparv.ratios, strict=True)
        )
        return first, second

    @property
    def _scale(self) -> sp.Expr:
        return self.decomposition.gparv.ratios[-1][1] or sp.Integer(1)

    @property
    def ratio(self) -> sp.Expr:
        """P/Q at a cell. It is infinite where the denominator is 0."""
        first, second = self.sums
        return first / second

    @cached_property
    def _weight(self) -> sp.Expr:
        ways = sp.factorial(n) / sp.Mul(*map(sp.factorial, self.histogram))
        exponents: dict[sp.Expr, sp.Expr] = {}
        for c, h in zip(self.decomposition.gparv.masses, self.histogram, strict=True):
            exponents[c] = exponents.get(c, sp.Integer(0)) + h
        return ways * sp.Mul(*(sp.factor(c) ** exponent for c, exponent in exponents.items()))

    @cached_property
    def law(self) -> sp.Expr:
        """P at a cell: for every cell, also those that are impossible under Q."""
        return self._weight * sp.factor(self._scale) * self.sums[0] / n

    @cached_property
    def other_law(self) -> sp.Expr:
        """Q at a cell."""
        return self._weight * sp.factor(self._scale) * self.sums[1] / n

    @cached_property
    def moment(self) -> sp.Expr:
        r"""The Rényi moment :math:`\mathbb E_Q[(P/Q)^\lambda] = \mathbb E_P[(P/Q)^{\lambda - 1}]`, over all cells."""
        ends = [(count, 0, n - sp.Add(*self.counts[:i])) for i, count in enumerate(self.counts)]
        return sp.Sum(self.law * self.ratio ** (order - 1), *reversed(ends))

    # -- the same as NumPy functions; a symbol that the decomposition binds to a number is no argument

    def _compiled(self, name: str, what: str, expr: sp.Expr, *arguments: sp.Symbol) -> NumpyFunction:
        bindings = {s: e for s, e in self.decomposition.bindings.items() if not e.free_symbols}
        others = sorted(expr.free_symbols - {*arguments, *bindings}, key=str)
        doc = f"{what}: {self.decomposition.title}."
        return NumpyFunction(expr, (*arguments, *others), name, doc, log=True, bindings=bindings)

    def log_ratio(self) -> NumpyFunction:
        """The logarithm of `ratio`: the privacy loss of a cell.

        >>> round(float(clone_cells().log_ratio()(a=3, b=1, n=10, t=2)), 12)  # 3 users against 1, the others at 1/4
        0.587786664902
        """
        return self._compiled("log_ratio", "The privacy loss of a cell", self.ratio, *self.counts, n)

    def log_law(self) -> NumpyFunction:
        """The logarithm of `law`: how likely a cell is under P."""
        return self._compiled("log_law", "The probability of a cell under P", self.law, *self.counts, n)

    def log_moment(self) -> NumpyFunction:
        """The logarithm of `moment`: λ − 1 times the Rényi divergence."""
        return self._compiled("log_moment", "The Rényi moment", self.moment, n, order)


@lru_cache
def clone_cells() -> Cells:
    r"""The pair of Koskela et al. 2021, Section 6, with t = e^{ε0} > 1 as a symbol: cells (a, b) with a + b ≤ n.

    ``clone_cells().ratio`` is the ratio of Lemma 11 for every cell: (6.5) for b > 0, (6.6) for b = 0 < a < n, 1 at the
    origin, infinite at (n, 0) only. ``clone_cells().law`` is (6.7) for a > 0 and (6.8) for a = 0.
    """
    return Cells(clones_koskela(), (a, b))
