r"""The analyses as decompositions: blanket, real datasets, adversaries, clones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model.decomposition.core import Component, Decomposition
from shuffle_sym.model.equality import kept

if TYPE_CHECKING:
    from shuffle_sym.model.randomizer import OutputClass, Randomizer

_FEW_INPUTS = 3


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


def _from_classes(R: Randomizer, classes: Iterable[OutputClass], c: Iterable[sp.Expr], title: str) -> Decomposition:
    classes = tuple(classes)
    return Decomposition(
        [y.masses[0] for y in classes],
        [y.masses[1] for y in classes],
        list(c),
        labels=[y.label for y in classes],
        bindings=R.bindings,
        title=title,
    )


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
    return _from_classes(R, classes, [y.floor(R.bindings) for y in classes], title)


@kept
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
    exact = {R.input(x, "an input in weights"): _probability(w, f"weights[{x}]") for x, w in weights.items()}
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


def _probability(weight: Any, name: str) -> sp.Rational:
    """A rational number >= 0, also as text: ``"1/2"``."""
    number = arguments.exact_number(weight, name)
    if not number.is_Rational or number < 0:
        raise ValueError(f"{name} must be a rational number >= 0, got {weight!r}")
    return number


def _mixed(R: Randomizer, pair: tuple[int, int], weights: Mapping[int, sp.Rational], title: str) -> Decomposition:
    support = [x for x, w in weights.items() if w != 0]
    inputs = (*pair, *support)
    # Classes of messages are written down for few named inputs; with more of them every message is its own class.
    if len(set(inputs)) <= _FEW_INPUTS:
        columns = [(y.label, y.masses) for y in R.classes(*inputs)]
    else:
        arguments.numeric_only(R.free_symbols, "a mixture of several inputs")
        columns = _distinct(zip(*(row for row in _rows(R, inputs)), strict=True))
    c = [sum(weights[x] * e for x, e in zip(support, masses[2:], strict=True)) for _, masses in columns]
    # Not 1 − β: messages that are impossible under x0 and x1 belong to β as well.
    if not field.is_zero(sum(c) - 1, R.bindings):
        raise VerificationError(f"{R!r}: the probabilities of inputs {support} do not sum to 1")
    return Decomposition(
        [masses[0] for _, masses in columns],
        [masses[1] for _, masses in columns],
        c,
        labels=[label for label, _ in columns],
        bindings=R.bindings,
        title=title,
    )


def _rows(R: Randomizer, inputs: tuple[int, ...]) -> list[Sequence[sp.Expr]]:
    rows = R.rows()
    return [rows[x] for x in inputs]


def _distinct(columns: Iterable[tuple[sp.Expr, ...]]) -> list[tuple[str, tuple[sp.Expr, ...]]]:
    """Equal messages together, before anything is proved about them."""
    counted = Counter(tuple(field.simplest(e) for e in column) for column in columns)
    return [(f"y_{{{i}}}", tuple(count * e for e in column)) for i, (column, count) in enumerate(counted.items())]


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
    return Decomposition(
        [*(y.masses[0] - floor for y, floor in zip(classes, floors, strict=True)), drawn],
        [*(y.masses[1] - floor for y, floor in zip(classes, floors, strict=True)), drawn],
        [*floors, sp.Integer(0)],
        labels=[*(y.label for y in classes), r"\text{blanket}"],
        bindings=R.bindings,
        title="strong adversary",
    )


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


# ---------------------------------------------------------------------------------- decompositions of every ε0-LDP R


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
