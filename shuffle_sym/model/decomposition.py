r"""Decompositions (a, b, c): the one object that carries every analysis of a shuffled randomizer, and the analyses:
blanket, real datasets, adversaries, clones.

.. math:: R(x_0) = \sum_j a_j Q_j, \quad R(x_1) = \sum_j b_j Q_j, \quad
          R(x_i) = \sum_j c_j Q_j + \beta\,(\text{rest of user } i), \quad \beta = 1 - \sum_j c_j

(Su et al. 2025, Definition 7). It is ordered: it bounds :math:`D_\alpha(\,x_0 \,\|\, x_1)`, and `reversed` gives the
other direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp

from shuffle_sym.algebra import arguments, field, latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.rationals import ZERO, rational
from shuffle_sym.model import gparv
from shuffle_sym.model.equality import Uncached, cached_by_value

if TYPE_CHECKING:
    from shuffle_sym.model.randomizer import Randomizer

__all__ = [
    "Component", "Decomposition", "Numbers", "blanket", "blankets", "clones", "clones_koskela", "clones_one_sided",
    "clones_shared", "dataset", "in_batch", "mixture", "strong", "weak",
]  # fmt: skip

_FEW_INPUTS = 3  # of which the classes of messages are written down; with more of them every message is its own class


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
        if not plain:
            # A zero in disguise decides whether an atom is a null atom: it must be a plain zero from here on.
            forms = tuple(sp.Integer(0) if field.is_zero(e, self.bindings) else e for e in forms)
        m = len(a)
        self.title = title
        self._validate(forms[:m], forms[m : 2 * m], forms[2 * m :])
        atoms = tuple(map(Component, labels, forms[:m], forms[m : 2 * m], forms[2 * m :]))
        self.atoms = _grouped(atoms, rational) if plain else _merged(atoms)
        self.beta_form = field.simplest(1 - _sum(atom.c for atom in self.atoms))

    def _validate(self, *columns: Sequence[sp.Expr]) -> None:
        for name, masses in zip("abc", columns, strict=True):
            for j, mass in enumerate(masses):
                if not (mass.p >= 0 if mass.is_Rational else field.is_nonnegative(mass, self.bindings)):
                    raise ValueError(f"{name}[{j}] must be non-negative, got {field.substitute(mass, self.bindings)}")
            total = _sum(masses)
            within = field.is_nonnegative if name == "c" else field.is_zero
            if not within(1 - total, self.bindings):
                wanted = "at most 1" if name == "c" else "1"
                shown = field.substitute(field.simplest(total), self.bindings)
                raise ValueError(f"{name} must sum to {wanted}, got the sum {shown}")

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
        arguments.numeric_only(self.free_symbols, "a numerical answer")
        _, a, b, c = zip(*self.atoms, strict=True)
        return (*a, *b, *c, self.beta_form)

    def _numbers(self, values: Any) -> Numbers:
        m = len(self.atoms)
        return Numbers(values[:m], values[m : 2 * m], values[2 * m : 3 * m], values[-1])

    def exact(self, digits: int = 50) -> Numbers:
        """Fractions if all masses are rational, mpmath numbers with ``digits`` digits otherwise."""
        forms = self.forms
        fractions = field.fractions(forms, self.bindings)
        return self._numbers(field.mp_numbers(forms, self.bindings, digits) if fractions is None else fractions)

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


# ---- Blankets, datasets and views of one randomizer ------------------------------------------------------------------


def _pair(R: Randomizer, x0: int | None, x1: int | None) -> tuple[int, int]:
    if not hasattr(R, "classes"):
        raise TypeError(f"R must be one randomizer, such as KRR(k=3, eps0=1), got {R!r}")
    if x0 is None and x1 is None:
        pairs = R.pairs()
        if len(pairs) != 1:
            raise ValueError(f"x0 and x1 must be given: {R!r} has {len(pairs)} ordered pairs of inputs that differ")
        return pairs[0]
    pair = (R.input(x0, "x0"), R.input(x1, "x1"))
    arguments.different(*pair)
    return pair


def blanket(R: Randomizer, x0: int | None = None, x1: int | None = None) -> Decomposition:
    r"""The privacy blanket: :math:`c(y) = \inf_x R(x)(y)` (Balle et al. 2019, §5; Su et al. 2025, Theorem 7).

    An upper bound on the divergence of all datasets in which one user has x0 or x1, and the best that any
    decomposition gives (Su et al. 2025, Theorem 6).

    Arguments: a randomizer ``R`` and two inputs, ``x0`` and ``x1``, which may be left out if all pairs give the same.
    The blanket of continuous noise has no finite list of components; it is for the inputs 0 and 1.

    >>> import shuffle_sym as ss
    >>> blanket(ss.KRR(k=3, eps0=sp.log(3))).c
    (1/5, 1/5, 1/5)
    """
    if hasattr(R, "noise_blankets") and x0 is None and x1 is None:
        made = R.noise_blankets()
        if len(made) != 1:
            raise ValueError(f"{R!r} has {len(made)} blankets, which ss.decomposition.blankets(R) lists")
        return made[0]  # type: ignore[no-any-return]
    return _blanket(R, _pair(R, x0, x1), "blanket")


def _blanket(R: Randomizer, pair: tuple[int, int], title: str) -> Decomposition:
    classes = R.classes(*pair)
    a, b = ([y.masses[i] for y in classes] for i in (0, 1))
    labels, floors = [y.label for y in classes], [y.floor(R.bindings) for y in classes]
    return Decomposition(a, b, floors, labels=labels, bindings=R.bindings, title=title)


@cached_by_value
def blankets(R: Randomizer) -> tuple[Decomposition, ...]:
    """Blanket decompositions of R, one for each pair of inputs that differs from the others, cached: they do not depend
    on n. ``Shuffle(blankets(R), n)`` is the largest of their divergences.

    >>> import shuffle_sym as ss
    >>> len(blankets(ss.KRR(k=3, eps0=1))), len(blankets(ss.from_matrix([[0.5, 0.5], [0.25, 0.75]])))
    (1, 2)
    """
    if hasattr(R, "noise_blankets"):
        return R.noise_blankets()  # type: ignore[no-any-return]
    return tuple(dict.fromkeys(blanket(R, x0, x1) for x0, x1 in R.pairs()))


def dataset(R: Randomizer, x0: int, x1: int, x2: int) -> Decomposition:
    r"""All other users have x2: :math:`c = R(x_2)`, and the divergence is that of two real datasets
    (Su et al. 2025, Theorem 10): a lower bound on the privacy loss.

    Arguments: a randomizer ``R``, the two inputs ``x0``, ``x1`` of one user, the input ``x2`` of all others.

    >>> import shuffle_sym as ss
    >>> dataset(ss.KRR(k=3, eps0=sp.log(3)), 0, 1, 2).c
    (1/5, 1/5, 3/5)
    """
    pair = _pair(R, x0, x1)
    x2 = R.input(x2, "x2")
    return _mixed(R, pair, {x2: sp.Integer(1)}, f"dataset, others {x2}")


def mixture(R: Randomizer, x0: int, x1: int, weights: Any) -> Decomposition:
    r"""The input of every other user is drawn from ``weights``, {input: probability}: :math:`c = \sum_x w_x R(x)`.

    Its divergence is a *lower* bound on the privacy loss: some pair of real datasets, in which the others have inputs
    with positive weight, is at least as bad. Proof. Let :math:`P_X, Q_X` be the shuffled messages if the others have
    X and the first user has x0 or x1. With X drawn from :math:`w^{n-1}`, the messages of the others are n − 1
    independent draws from c, so the reduction pair of (R(x0), R(x1), c) is
    :math:`\mathbb E_X P_X,\ \mathbb E_X Q_X`. As :math:`D_\alpha` is jointly convex (a sum of positive parts of linear
    functions), :math:`D_\alpha(\mathbb E P_X \| \mathbb E Q_X) \le \mathbb E\, D_\alpha(P_X \| Q_X) \le \max_X
    D_\alpha(P_X \| Q_X)`. Which X it is may depend on α, and the proof does not name it; with one weight 1 there is
    only one (`dataset`).

    >>> import shuffle_sym as ss
    >>> mixture(ss.KRR(k=3, eps0=sp.log(3)), 0, 1, {0: "1/2", 2: "1/2"}).c
    (2/5, 1/5, 2/5)
    """
    pair = _pair(R, x0, x1)
    if not isinstance(weights, Mapping) or not weights:
        raise TypeError(f"weights must map inputs to probabilities, such as {{2: 1}}, got {weights!r}")
    exact = {R.input(x, "an input in weights"): arguments.exact_number(w, f"weights[{x}]") for x, w in weights.items()}
    for x, weight in exact.items():
        if not weight.is_Rational or weight < 0:
            raise ValueError(f"weights[{x}] must be a rational number >= 0, got {weights[x]!r}")
    if sum(exact.values()) != 1:
        raise ValueError(f"weights must sum to 1, got the sum {sum(exact.values())}")
    shown = ", ".join(f"{x}: {w}" for x, w in exact.items())
    return _mixed(R, pair, exact, f"mixture, others {shown}")


def in_batch(D: Decomposition, q: sp.Expr) -> Decomposition:
    r"""A batch drawn without replacement, in which the differing user is with probability q, among others who all have
    one input: a' = qa + (1 − q)c, b' = qb + (1 − q)c with the a, b and c of their `dataset`.

    Without the differing user a batch of m holds one more of the others: in its place is a user who sends from c. So
    the divergence of D' with m users is exactly that of the two datasets. What D counts as β is a message here, too.

    >>> import shuffle_sym as ss
    >>> in_batch(dataset(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 0), sp.Rational(1, 2)).b
    (1/2, 1/2)
    """
    rest = [Component(r"\text{other}", sp.Integer(0), sp.Integer(0), D.beta_form)] if D.beta_form != 0 else []
    atoms = [*D.atoms, *rest]
    a, b = ([q * mass + (1 - q) * atom.c for mass, atom in ((getattr(e, side), e) for e in atoms)] for side in "ab")
    labels = [atom.label for atom in atoms]
    return Decomposition(
        a, b, [atom.c for atom in atoms], labels=labels, bindings=D.bindings, title=f"{D.title}, in a batch"
    )


def _mixed(R: Randomizer, pair: tuple[int, int], weights: Mapping[int, sp.Rational], title: str) -> Decomposition:
    support = [x for x, w in weights.items() if w != 0]
    inputs = (*pair, *support)
    if len(set(inputs)) <= _FEW_INPUTS:
        columns = [(y.label, y.masses) for y in R.classes(*inputs)]
    else:
        arguments.numeric_only(R.free_symbols, "a mixture of several inputs")
        rows = R.rows()
        # Put equal messages together before anything is proved about them.
        counted = Counter(tuple(map(field.simplest, column)) for column in zip(*(rows[x] for x in inputs), strict=True))
        columns = [(f"y_{{{i}}}", tuple(m * e for e in column)) for i, (column, m) in enumerate(counted.items())]
    a, b = ([masses[i] for _, masses in columns] for i in (0, 1))
    c = [sum(weights[x] * e for x, e in zip(support, masses[2:], strict=True)) for _, masses in columns]
    # Not 1 − β: messages that are impossible under x0 and x1 belong to β as well.
    if not field.is_zero(sum(c) - 1, R.bindings):
        raise VerificationError(f"{R!r}: the probabilities of inputs {support} do not sum to 1")
    return Decomposition(a, b, c, labels=[label for label, _ in columns], bindings=R.bindings, title=title)


def strong(R: Randomizer, x0: int | None = None, x1: int | None = None) -> Decomposition:
    r"""The view of the strong adversary A_s (Koskela et al. 2021, Definition 8; Balle et al. 2019, Theorem 3.1):
    it also sees *which* users, including the one whose input differs, drew their message from the blanket.

    If the differing user did (mass γ), the view says nothing: a null atom. If not, the message comes from what x0 or x1
    has above the blanket, hidden among the blanket messages of the others. For k-RR:
    a = (1 − γ, 0, γ), b = (0, 1 − γ, γ), c = (γ/k, γ/k, 0), that is, for α >= 1,
    :math:`D_\alpha = (1-\gamma)\,\mathbb E[1 - \alpha N_2/N_1]_+`.

    Arguments: a randomizer ``R`` and two inputs, ``x0`` and ``x1``, which may be left out where all pairs are alike.

    >>> import shuffle_sym as ss
    >>> D = strong(ss.KRR(k=3, eps0=sp.log(3)))
    >>> D.a, D.b, D.c
    ((2/5, 0, 3/5), (0, 2/5, 3/5), (1/5, 1/5, 0))
    """
    x0, x1 = _pair(R, x0, x1)
    classes = R.classes(x0, x1)
    floors = [y.floor(R.bindings) for y in classes]
    drawn = field.simplest(sum(floors))
    a, b = ([*(y.masses[i] - floor for y, floor in zip(classes, floors, strict=True)), drawn] for i in (0, 1))
    labels = [*(y.label for y in classes), r"\text{blanket}"]
    return Decomposition(a, b, [*floors, sp.Integer(0)], labels=labels, bindings=R.bindings, title="strong adversary")


def weak(R: Randomizer, x0: int | None = None, x1: int | None = None) -> Decomposition:
    r"""The view of the weak adversary A_w on k-RR (Koskela et al. 2021, Definition 9 and Theorem 10, corrected): it
    sees which of the *other* users answered randomly. The joint law of (N1, N2, B) is the blanket's reduction pair.

    Arguments: `KRR` as ``R`` and two inputs, ``x0`` and ``x1``, which may be left out.

    >>> import shuffle_sym as ss
    >>> R = ss.KRR(k=3, eps0=sp.log(3))
    >>> weak(R) == blanket(R)
    True
    """
    pair = _pair(R, x0, x1)
    if not R.is_krr:
        raise ValueError(
            f"R must be k-ary randomized response (KRR), got {R!r}; the view of the weak adversary is defined for k-RR "
            "only. For any other R take blanket(R), which also tells which other users sent from the blanket"
        )
    return _blanket(R, pair, "weak adversary")


# ---- Decompositions of every ε0-LDP randomizer -----------------------------------------------------------------------


def clones(eps0: Any = None) -> Decomposition:
    r"""The standard clone: an upper bound for every ε0-LDP randomizer that all users share (Su et al. 2025, Theorem 2).

    Feldman et al. 2020 prove it for different randomizers, too, if the *data* are shuffled first and the i-th
    randomizer is applied to the i-th datum. If users keep randomizers of their own and only messages are shuffled it is
    false: a clone needs that the *other* users' randomizers send what user 1 may send.
    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> D = clones(sp.log(3))
    >>> D.a, D.b, D.c
    ((3/4, 1/4), (1/4, 3/4), (1/6, 1/6))
    """
    t = field.t
    return _from_eps0(eps0, *_two_rr(t), c=[1 / (2 * t), 1 / (2 * t)], title="standard clone")


def clones_shared(eps0: Any = None) -> Decomposition:
    r"""An upper bound for every ε0-LDP randomizer that all users share: the blanket of 2-RR, below the standard clone.

    Feldman, McMillan and Talwar (arXiv 2208.04591) proposed the stronger clone for users who choose randomizers of
    their own; their erratum keeps it for a restricted class, and Su et al. 2025 leave its generic form (1) open. This
    is (1) for every randomizer that all users share, proved for every n (`derivations.stronger_clone_generic`). Shvets
    2026 (arXiv 2603.21197) shows that 2-RR is extremal if all others have one of the two inputs of the differing user.
    Here it is extremal among *blankets*, which bound all datasets; of the mechanisms, 3-RR is the worst in the limit of
    many users if ε0 >= log 2, and `AnyRandomizer` has the smaller bound.
    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> clones_shared(sp.log(3)).c
    (1/4, 1/4)
    """
    t = field.t
    return _from_eps0(eps0, *_two_rr(t), c=[1 / (t + 1), 1 / (t + 1)], title="clones of a shared randomizer")


def clones_koskela(eps0: Any = None) -> Decomposition:
    r"""The pair of Koskela et al. 2021, Section 6: P = (A + Δ, C − A), Q = (A, C − A + Δ), with q = t/(t + 1), p = 1/t.

    Where Δ = 0 the differing user sends nothing that is counted, here a third component. It is above `clones`.
    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> D = clones_koskela(sp.log(3))
    >>> D.a, D.b, D.c
    ((3/4, 0, 1/4), (0, 3/4, 1/4), (1/6, 1/6, 2/3))
    """
    t = field.t
    q, p = t / (t + 1), 1 / t
    return _from_eps0(eps0, a=[q, 0, 1 - q], b=[0, q, 1 - q], c=[p / 2, p / 2, 1 - p], title="clones of Koskela et al.")


def clones_one_sided(eps0: Any = None) -> Decomposition:
    r"""Every other user is a double of the differing user with x1, with probability 1/t: c = b/t (Girgis et al. 2021,
    Theorem 3.6). An upper bound for every ε0-LDP randomizer, in this direction: R(x0), R(x1) is 2-RR, post-processed.
    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> D = clones_one_sided(sp.log(3))
    >>> D.a, D.b, D.c
    ((3/4, 1/4), (1/4, 3/4), (1/12, 1/4))
    """
    t = field.t
    a, b = _two_rr(t)
    return _from_eps0(eps0, a, b, c=[mass / t for mass in b], title="one-sided clones")


def _two_rr(t: sp.Expr) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """2-RR under its two inputs: every ε0-LDP pair R(x0), R(x1) is this, post-processed."""
    keep, flip = t / (t + 1), 1 / (t + 1)
    return [keep, flip], [flip, keep]


def _from_eps0(eps0: Any, a: list[Any], b: list[Any], c: list[Any], title: str) -> Decomposition:
    level = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
    return Decomposition(a, b, c, bindings={field.t: sp.exp(level)}, title=title)
