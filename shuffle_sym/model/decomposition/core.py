r"""Decompositions (a, b, c): the one object that carries every analysis of a shuffled randomizer.

.. math:: R(x_0) = \sum_j a_j Q_j, \quad R(x_1) = \sum_j b_j Q_j, \quad
          R(x_i) = \sum_j c_j Q_j + \beta\,(\text{rest of user } i), \quad \beta = 1 - \sum_j c_j

(Su et al. 2025, Definition 7). It is ordered: it bounds :math:`D_\alpha(\,x_0 \,\|\, x_1)`, and `reversed` gives the
other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import sympy as sp

from shuffle_sym.algebra import arguments, field, latex
from shuffle_sym.algebra.rationals import ZERO, rational
from shuffle_sym.model import gparv
from shuffle_sym.model.equality import Uncached


class Component(NamedTuple):
    """One component Q_j: its probability under x0, under x1, and in the part that all other users share.

    >>> Decomposition(a=[1, 0], b=["1/2", "1/2"], c=[1, 0]).atoms[0]
    Component(label='Q_{0}', a=1, b=1/2, c=1)
    """

    label: str
    a: sp.Expr
    b: sp.Expr
    c: sp.Expr


@dataclass(frozen=True)
class Numbers:
    """The masses a, b, c and β (``beta``) as numbers of one kind: fractions, mpmath numbers, or arrays of doubles.

    >>> Decomposition(a=["3/4", "1/4"], b=["1/4", "3/4"], c=["1/4", "1/4"]).exact().beta
    Fraction(1, 2)
    """

    a: Any
    b: Any
    c: Any
    beta: Any


class Decomposition(Uncached):
    r"""Masses ``a``, ``b``, ``c`` of the components, validated, with proportional components merged.

    ``a``, ``b`` and ``c`` are probabilities of the components: under x0, under x1, and in the part that all other users
    share.

    Arguments: equally long sequences ``a``, ``b``, ``c`` of numbers, SymPy expressions or text such as "3/4";
    ``labels`` of the components in LaTeX; ``bindings``, what symbols in the masses stand for; a ``title``.

    a and b sum to 1, c to at most 1, nothing is negative; with free symbols each of these is proved or refused. An atom
    with c = 0 (a *null atom*) is allowed. Components with equal ratios a : b : c are merged, and those with a = b = 0
    go into β, which loses nothing.

    >>> D = Decomposition(a=["3/4", "1/4"], b=["1/4", "3/4"], c=["1/4", "1/4"])
    >>> D.a, D.b, D.c, D.beta
    ((3/4, 1/4), (1/4, 3/4), (1/4, 1/4), 1/2)
    """

    def __init__(
        self,
        a: Sequence[Any],
        b: Sequence[Any],
        c: Sequence[Any],
        *,
        labels: Sequence[str] | None = None,
        bindings: field.Bindings | None = None,
        title: str = "decomposition",
    ) -> None:
        for name, masses in (("a", a), ("b", b), ("c", c)):
            if isinstance(masses, str) or not hasattr(masses, "__len__"):
                raise TypeError(f"{name} must be a sequence of masses, got {masses!r}")
        if not len(a) == len(b) == len(c) or not len(a):
            raise ValueError(f"a, b and c must be equally long and not empty, got lengths {len(a)}, {len(b)}, {len(c)}")
        labels = [rf"Q_{{{j}}}" for j in range(len(a))] if labels is None else labels
        if len(labels) != len(a):
            raise ValueError(f"labels must have one entry for each of the {len(a)} masses, got {len(labels)}")
        names = [f"{name}[{j}]" for name in "abc" for j in range(len(a))]
        given = [arguments.exact_number(e, name) for e, name in zip((*a, *b, *c), names, strict=True)]
        forms, irrational = field.rational_form(given, taken=bindings or {})
        self.bindings: field.Bindings = field.used({**(bindings or {}), **irrational}, forms)
        plain = all(e.is_Rational for e in forms)
        # A zero in disguise decides whether an atom is a null atom: it must be a plain zero from here on.
        forms = forms if plain else _with_plain_zeros(forms, self.bindings)
        m = len(a)
        self.title = title
        _validate(forms[:m], forms[m : 2 * m], forms[2 * m :], self.bindings)
        atoms = tuple(map(Component, labels, forms[:m], forms[m : 2 * m], forms[2 * m :]))
        self.atoms = _grouped(atoms, rational) if plain else _merged(atoms)
        self.beta_form = field.simplest(1 - _sum(atom.c for atom in self.atoms))

    # -- symbolic view

    def _column(self, name: str) -> tuple[sp.Expr, ...]:
        return tuple(field.substitute(getattr(atom, name), self.bindings) for atom in self.atoms)

    @property
    def a(self) -> tuple[sp.Expr, ...]:
        """Probabilities of the components under x0."""
        return self._column("a")

    @property
    def b(self) -> tuple[sp.Expr, ...]:
        """Probabilities of the components under x1."""
        return self._column("b")

    @property
    def c(self) -> tuple[sp.Expr, ...]:
        """Probabilities of the components in the part that all other users share."""
        return self._column("c")

    @property
    def beta(self) -> sp.Expr:
        """The probability with which another user sends from no component."""
        return field.substitute(self.beta_form, self.bindings)

    @cached_property
    def free_symbols(self) -> set[sp.Symbol]:
        return field.free_symbols((e for atom in self.atoms for e in atom[1:]), self.bindings)

    @cached_property
    def _max_ratio(self) -> sp.Expr:
        if any(atom.b == 0 for atom in self.atoms if atom.a != 0):
            return sp.oo
        return field.maximum((atom.a / atom.b for atom in self.atoms if atom.b != 0), self.bindings)

    @cached_property
    def max_loss(self) -> sp.Expr:
        r"""The largest loss, log max a/b (``oo`` if a component is impossible under x1).

        From there on δ(ε) is exactly 0.
        """
        return sp.log(field.substitute(self._max_ratio, self.bindings))

    def has_no_loss_above(self, ratio: gparv.Ratio) -> bool:
        """Whether the ε of ``ratio`` is at or above the largest loss, decided exactly."""
        return ratio.at_least(self.max_loss)

    @cached_property
    def gparv(self) -> gparv.Gparv:
        """The random variable G of this decomposition."""
        live = [atom for atom in self.atoms if atom.c != 0]
        ratios = [(field.simplest(atom.a / atom.c), field.simplest(atom.b / atom.c)) for atom in live]
        masses = [atom.c for atom in live]
        if self.beta_form != 0:
            ratios.append((sp.Integer(0), sp.Integer(0)))
            masses.append(self.beta_form)
        null = tuple((atom.a, atom.b) for atom in self.atoms if atom.c == 0)
        return gparv.Gparv(tuple(ratios), tuple(masses), null, self.bindings)

    def reversed(self) -> Decomposition:
        """The same components with x0 and x1 exchanged."""
        return self._reversed

    @cached_property
    def _reversed(self) -> Decomposition:
        # What was proved for this order of the inputs holds for the other one.
        other = object.__new__(Decomposition)
        other.title, other.bindings, other.beta_form = f"{self.title}, reversed", self.bindings, self.beta_form
        other.atoms = tuple(Component(d.label, d.b, d.a, d.c) for d in self.atoms)
        return other

    # -- exact and float views of the same formulas

    @property
    def forms(self) -> tuple[sp.Expr, ...]:
        """a, b, c and β in the symbols of the field."""
        arguments.numeric_only(self.free_symbols, "a number")
        _, a, b, c = zip(*self.atoms, strict=True)
        return (*a, *b, *c, self.beta_form)

    def _numbers(self, values: Any) -> Numbers:
        m = len(self.atoms)
        return Numbers(values[:m], values[m : 2 * m], values[2 * m : 3 * m], values[-1])

    def exact(self, digits: int = 50) -> Numbers:
        """Fractions if all masses are rational, mpmath numbers with ``digits`` digits otherwise."""
        forms = self.forms
        known = field.fractions(forms, self.bindings)
        return self._numbers(field.mp_numbers(forms, self.bindings, digits) if known is None else known)

    @cached_property
    def floats(self) -> Numbers:
        """Arrays of doubles, each with a relative error of at most `rounding.FLOAT_ERROR`."""
        return self._numbers(field.floats(self.forms, self.bindings))

    # -- as a value

    @cached_property
    def _key(self) -> tuple[frozenset[Any], frozenset[Any]]:
        # Components with equal masses have been merged: a set of them loses none.
        return frozenset(atom[1:] for atom in self.atoms), frozenset(self.bindings.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decomposition) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Decomposition(a={list(self.a)}, b={list(self.b)}, c={list(self.c)})"

    def _repr_latex_(self) -> str:
        rows = [
            (r"\text{" + self.title + "}", *(d.label for d in self.atoms)),
            ("a", *(d.a for d in self.atoms)),
            ("b", *(d.b for d in self.atoms)),
            ("c", *(d.c for d in self.atoms)),
        ]
        return latex.table(rows, notes=[rf"\beta = {latex.formula(self.beta_form)}", *latex.where(self.bindings)])


def _grouped(atoms: tuple[Component, ...], simplest: Callable[[Any], Any]) -> tuple[Component, ...]:
    """One atom for each ratio a : b : c; atoms without mass under x0 and x1 tell nothing and go into β."""
    groups: dict[tuple[Any, ...], list[Component]] = {}
    for atom in atoms:
        masses = [simplest(e) for e in atom[1:]]
        if any(e != 0 for e in masses[:2]):
            scale = next(e for e in reversed(masses) if e != 0)
            groups.setdefault(tuple(simplest(e / scale) for e in masses), []).append(atom)
    return tuple(
        Component(
            r",\,".join(atom.label for atom in group),
            *(field.simplest(_sum(column)) for column in zip(*(atom[1:] for atom in group), strict=True)),
        )
        for group in groups.values()
    )


_merged = lru_cache(maxsize=512)(lambda atoms: _grouped(atoms, field.simplest))


def _sum(terms: Iterable[sp.Expr]) -> sp.Expr:
    """A sum; that of many fractions without SymPy, which takes long for it."""
    exprs = list(terms)
    if len(exprs) == 1 or not all(e.is_Rational for e in exprs):
        return sp.Add(*exprs)
    total = sum(map(rational, exprs), ZERO)
    return sp.Rational(int(total.p), int(total.q))


def _with_plain_zeros(forms: tuple[sp.Expr, ...], bindings: field.Bindings) -> tuple[sp.Expr, ...]:
    if field.free_symbols(forms, bindings):
        return tuple(sp.Integer(0) if field.is_zero(e, bindings) else e for e in forms)
    return tuple(e if sign else sp.Integer(0) for e, sign in zip(forms, field.signs(forms, bindings), strict=True))


def _validate(a: Sequence[sp.Expr], b: Sequence[sp.Expr], c: Sequence[sp.Expr], bindings: field.Bindings) -> None:
    def shown(e: sp.Expr) -> sp.Expr:
        return field.substitute(e, bindings)

    for name, masses in (("a", a), ("b", b), ("c", c)):
        for j, mass in enumerate(masses):
            if not (mass.p >= 0 if mass.is_Rational else field.is_nonnegative(mass, bindings)):
                raise ValueError(f"{name}[{j}] must be non-negative, got {shown(mass)}")
        total = _sum(masses)
        if name == "c":
            if not field.is_nonnegative(1 - total, bindings):
                raise ValueError(f"c must sum to at most 1, got the sum {shown(field.simplest(total))}")
        elif not field.is_zero(total - 1, bindings):
            raise ValueError(f"{name} must sum to 1, got the sum {shown(field.simplest(total))}")
