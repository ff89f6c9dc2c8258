r"""The generalised privacy amplification random variable (GPARV) of a decomposition.

:math:`G = (a_j - \alpha b_j)/c_j` with probability :math:`c_j`, and 0 with probability :math:`\beta`. The divergence of
the shuffled pair is one expectation of a sum of n independent copies (Su et al. 2025, Definition 10 and
Theorem 9; the atoms with c = 0 are ours), see `shuffle_sym.exact`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from shuffle_sym import arguments, field, latex

if TYPE_CHECKING:
    from shuffle_sym.decomposition import Decomposition


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

    ``null`` holds :math:`a_j - \alpha b_j` of the atoms with :math:`c_j = 0`: their positive parts are added to the
    divergence as they are.

    >>> import shuffle_sym as ss
    >>> ss.KRR().gparv().mean()
    1 - alpha
    """

    forms: tuple[sp.Expr, ...]
    masses: tuple[sp.Expr, ...]
    null_forms: tuple[sp.Expr, ...]
    bindings: field.Bindings

    @property
    def values(self) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(e, self.bindings) for e in self.forms)

    @property
    def probabilities(self) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(e, self.bindings) for e in self.masses)

    @property
    def null(self) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(e, self.bindings) for e in self.null_forms)

    def mean(self) -> sp.Expr:
        r"""E[G], which is 1 − α when there are no null atoms."""
        total = sum((v * p for v, p in zip(self.forms, self.masses, strict=True)), sp.Integer(0))
        return field.substitute(field.simplest(total), self.bindings)

    # -- numbers, all from the same compiled formulas

    def _law(self, evaluate: Callable[[Sequence[sp.Expr], field.Bindings], Any], alpha: sp.Expr) -> Law:
        bindings = {**self.bindings, field.alpha: alpha}
        forms = (*self.forms, *self.masses, *self.null_forms)
        arguments.numeric_only(field.free_symbols(forms, bindings), "a number")
        numbers, m = evaluate(forms, bindings), len(self.forms)
        return Law(numbers[:m], numbers[m : 2 * m], tuple(v for v in numbers[2 * m :] if v > 0))

    def exact(self, alpha: sp.Expr, digits: int) -> Law:
        """Fractions if everything is rational, mpmath numbers with ``digits`` digits otherwise."""

        def evaluate(forms: Sequence[sp.Expr], bindings: field.Bindings) -> Any:
            known = field.fractions(forms, bindings)
            return field.mp_numbers(forms, bindings, digits) if known is None else known

        return self._law(evaluate, alpha)

    def floats(self, alpha: sp.Expr) -> Law:
        """Arrays of doubles."""
        return self._law(field.floats, alpha)

    # -- as text

    def __repr__(self) -> str:
        rows = ", ".join(f"{v}: {p}" for v, p in zip(self.values, self.probabilities, strict=True))
        return f"Gparv({rows})" + (f" + null {self.null}" if self.null_forms else "")

    def _repr_latex_(self) -> str:
        rows = [("G", *self.forms), (r"\Pr", *self.masses)]
        null = [r"\text{null: }" + latex.formula(e) for e in self.null_forms]
        return latex.table(rows, notes=[*null, r"\alpha = e^{\varepsilon}", *latex.where(self.bindings)])


def of(decomposition: Decomposition) -> Gparv:
    """The GPARV of a decomposition."""
    live = [atom for atom in decomposition.atoms if atom.c != 0]
    forms = [field.simplest((atom.a - field.alpha * atom.b) / atom.c) for atom in live]
    masses = [atom.c for atom in live]
    if decomposition.beta_form != 0:
        forms.append(sp.Integer(0))
        masses.append(decomposition.beta_form)
    null = [field.simplest(atom.a - field.alpha * atom.b) for atom in decomposition.atoms if atom.c == 0]
    return Gparv(tuple(forms), tuple(masses), tuple(null), decomposition.bindings)
