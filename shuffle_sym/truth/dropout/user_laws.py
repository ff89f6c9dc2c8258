r"""The laws of G that the drop-out bound is made of, in fractions: one for each input of another user."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.gparv import LawOfG
from shuffle_sym.model.randomizer import Randomizer

Matrix = tuple[tuple[Fraction, ...], ...]


def laws(R: Randomizer, x0: int, x1: int, alpha: Any) -> list[LawOfG]:
    r"""The law of G_x for every input x, in fractions; ``null`` holds s_x. A message that is impossible under x0 and x1
    is the value 0.

    >>> import shuffle_sym as ss, sympy as sp
    >>> [[str(v) for v in law.values] for law in laws(ss.KRR(k=3, eps0=sp.log(3)), 0, 1, 2)]
    [['-5', '-1', '1/3'], ['-5/3', '-1', '1'], ['-5', '-1/3', '1']]
    """
    matrix, ratio = matrix_of(R), fraction(arguments.ratio(alpha), "alpha")
    x0, x1 = R.input(x0, "x0"), R.input(x1, "x1")
    arguments.different(x0, x1)
    w = [p - ratio * q for p, q in zip(matrix[x0], matrix[x1], strict=True)]
    return [_law(w, row) for row in matrix]


def _law(w: Sequence[Fraction], row: Sequence[Fraction]) -> LawOfG:
    """G = w/R(x) on the messages that R(x) = ``row`` can send, and what it can not."""
    possible = [(gain / p, p) for gain, p in zip(w, row, strict=True) if p]
    null = [gain for gain, p in zip(w, row, strict=True) if not p and gain > 0]
    values, probabilities = zip(*possible, strict=True)
    return _tidy(LawOfG(values, probabilities, null))


def fraction(value: Any, name: str) -> Fraction:
    """A rational number of any kind; others are refused."""
    number = arguments.exact_number(value, name)
    if not number.is_Rational:
        raise ValueError(f"{name} must be a rational number, because exact values are fractions, got {number}")
    return Fraction(int(number.p), int(number.q))


def matrix_of(R: Randomizer) -> Matrix:
    """Pr[R(x) = y] as fractions."""
    if not isinstance(R, Randomizer):
        raise TypeError(f"R must be a randomizer with finitely many messages, got {R!r}")
    arguments.numeric_only(R.free_symbols, "the exact drop-out bound")
    if not R.input_count.is_Integer:
        raise ValueError(f"R must have finitely many inputs, got {R!r}")
    return _matrix(R)


@lru_cache(maxsize=64)
def _matrix(R: Randomizer) -> Matrix:
    rows = R.rows()
    entries = field.fractions([e for row in rows for e in row], R.bindings)
    if entries is None:
        raise ValueError(f"R must have rational probabilities, as with eps0 = sp.log(3), got {R!r}")
    width = len(rows[0])
    return tuple(tuple(entries[x * width : (x + 1) * width]) for x in range(len(rows)))


def _tidy(law: LawOfG) -> LawOfG:
    """Equal values added up, impossible ones left out, in ascending order; one number for the null messages."""
    atoms: dict[Fraction, Fraction] = {}
    for value, probability in zip(law.values, law.probabilities, strict=True):
        if probability:
            atoms[value] = atoms.get(value, Fraction(0)) + probability
    if sum(atoms.values()) != 1:
        raise ValueError(f"the probabilities of G must sum to 1, got {sum(atoms.values())}")
    values, probabilities = zip(*sorted(atoms.items()), strict=True)
    return LawOfG(values, probabilities, (sum(law.null, Fraction(0)),))


def scaled(law: LawOfG, factor: Fraction) -> LawOfG:
    """The law of a multiple of G, null messages included."""
    return _tidy(LawOfG([factor * v for v in law.values], law.probabilities, [factor * s for s in law.null]))


def stop_loss(law: LawOfG, k: Fraction) -> Fraction:
    r""":math:`T_x(k) = E[G_x - k]_+ + s_x = \sum_y [w(y) - k R(x)(y)]_+`."""
    terms = (p * (v - k) for v, p in zip(law.values, law.probabilities, strict=True) if v > k)
    return sum(terms, sum(law.null, Fraction(0)))


def pruned(candidates: Sequence[LawOfG]) -> list[LawOfG]:
    r"""Laws without those that another one makes superfluous: x may go if :math:`T_x(k) \le T_{x'}(k)` for all k.

    Let S' be the sum over the other chairs of S: N Φ(S) is the mean of :math:`T_x(-S')` plus their s, so x' instead of
    x does not lower it; the means of G need not agree. T is piecewise linear with corners at the values of G and slope
    −1 below the smallest: comparing at the values of both decides.

    >>> import shuffle_sym as ss, sympy as sp
    >>> R = ss.BLH(d=4, eps0=sp.log(3))  # one law for the inputs 2 and 3
    >>> len(laws(R, 0, 1, 1)), len(pruned(laws(R, 0, 1, 1)))
    (4, 3)
    """
    corners = sorted({v for law in candidates for v in law.values})
    # One law for each T: equal ones must not make one another superfluous.
    by_heights = {tuple(stop_loss(law, k) for k in corners): law for law in candidates}

    def superfluous(heights: tuple[Fraction, ...]) -> bool:
        higher = (other for other in by_heights if other != heights)
        return any(all(a <= b for a, b in zip(heights, other, strict=True)) for other in higher)

    return [law for heights, law in by_heights.items() if not superfluous(heights)]


def extreme_laws(t: Fraction, alpha: Fraction) -> list[LawOfG]:
    r"""The laws of G = U − αV that suffice for every ε0-LDP randomizer, t = e^ε0 (Theorem 5).

    U = R(x0)/R(x) and V = R(x1)/R(x) have mean 1 under R(x) and lie in the hexagon 1/t ≤ U, V, U/V ≤ t. Moving each
    point to the corners enlarges G in convex order, and laws on six points with given means are mixtures of laws with
    at most three atoms. The 20 triples of corners give five laws, and pruning leaves those of 2-RR with all others x0,
    of 2-RR with all others x1, and of 3-RR with all others a third input.

    >>> len(extreme_laws(Fraction(3), Fraction(2))), len(pruned(extreme_laws(Fraction(3), Fraction(2))))
    (5, 3)
    """
    one = Fraction(1)
    corners = [(1 / t, 1 / t), (one, 1 / t), (t, one), (t, t), (one, t), (1 / t, one)]
    if t == 1:
        return [LawOfG((1 - alpha,), (one,), (Fraction(0),))]
    extreme = []
    for triple in combinations(corners, 3):
        masses = _barycentric(triple)
        if min(masses) >= 0:
            extreme.append(_tidy(LawOfG([u - alpha * v for u, v in triple], masses, ())))
    return list(dict.fromkeys(extreme))


def _barycentric(triangle: Sequence[tuple[Fraction, Fraction]]) -> list[Fraction]:
    """The weights of three points whose mean is (1, 1)."""
    (a, b), (c, d), (e, f) = ((u - 1, v - 1) for u, v in triangle)
    areas = [c * f - d * e, e * b - f * a, a * d - b * c]
    return [area / sum(areas) for area in areas]
