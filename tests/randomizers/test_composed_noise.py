"""Continuous noise with finite randomizers, sampled, in parallel and jointly: exact fractions from both sides."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.accounting.bounds import DropOutOfNoise
from shuffle_sym.model import products
from shuffle_sym.model.comonotone import from_transform
from shuffle_sym.model.gparv import Ratio

q = sp.Rational
INPUTS = [q(0), q(1, 2), q(1)]
NOISE = ss.Laplace(eps0=2 * sp.log(2))  # at multiples of 1/2 its distribution is rational
BINARY = ss.BinaryRR(eps0=sp.log(3))


def cells(input_: sp.Rational) -> list[sp.Rational]:
    """Probabilities of cells of messages that end at multiples of 1/2: Pr[y < z] = 4^(z − x)/2 below x."""
    ends = [q(k, 2) for k in range(-1, 4)]
    below = [q(4) ** (z - input_) / 2 if z <= input_ else 1 - q(4) ** (input_ - z) / 2 for z in ends]
    return [b - a for a, b in pairwise([q(0), *below, q(1)])]


def thirds(input_: int) -> list[sp.Rational]:
    """Probabilities of messages below 0, between 0 and 1, and above 1."""
    first, *between, last = cells(q(input_))
    return [first + between[0], sum(between[1:-1]), between[-1] + last]


def sampled(input_: sp.Rational) -> list[sp.Rational]:
    return [*(p / 4 for p in cells(input_)), q(3, 4)]


def parallel(input_: sp.Rational) -> list[sp.Rational]:
    rounded = [(1 - input_) * a + input_ * b for a, b in zip((q(3, 4), q(1, 4)), (q(1, 4), q(3, 4)), strict=True)]
    return [*(p / 3 for p in cells(input_)), *(2 * p / 3 for p in rounded)]


CASES = {
    "sampled": (ss.Sampled(NOISE, "1/4"), [sampled(z) for z in INPUTS]),
    "parallel": (ss.Parallel([NOISE, BINARY], weights=["1/3", "2/3"]), [parallel(z) for z in INPUTS]),
    "joint": (
        ss.Joint(NOISE, BINARY),
        [
            [p * r for p, r in product(cells(z), row)]
            for z in (q(0), q(1))
            for row in ((q(3, 4), q(1, 4)), (q(1, 4), q(3, 4)))
        ],
    ),
    "joint, both continuous": (
        ss.Joint(NOISE, NOISE),
        [[p * r for p, r in product(cells(z), cells(z))] for z in (0, 1)],
    ),
    "a cube": (
        ss.Joint(NOISE, NOISE, NOISE),
        [[sp.prod(p) for p in product(*map(thirds, corner))] for corner in ((0, 0, 0), (1, 1, 1), (0, 1, 1))],
    ),
}


@pytest.mark.parametrize(("R", "rows"), CASES.values(), ids=CASES.keys())
def test_real_datasets_in_cells_respect_the_upper_end(R, rows):
    assert all(sum(row) == 1 for row in rows)
    finite = ss.from_matrix(rows)
    for n, alpha in ((2, q(6, 5)), (3, q(11, 10)))[: 2 if len(rows[0]) < 10 else 1]:
        worst = ss.ground_truth.worst_pair(finite, n, alpha).delta
        answer = ss.Shuffle(R, n).delta(sp.log(alpha))
        assert worst <= answer.upper
        assert 0 < answer.lower <= answer.upper


@pytest.mark.parametrize(("R", "rows"), CASES.values(), ids=CASES.keys())
def test_no_pair_of_inputs_in_cells_has_a_blanket_above_the_bound(R, rows):
    c = [min(column) for column in zip(*rows, strict=True)]
    assert float(R.gamma) <= sum(c)
    for n, eps in ((1, 0.2), (5, 0.1), (400, 0.1)):
        bound = ss.Shuffle(ss.decomposition.blankets(R), n).delta(eps, rtol=1e-2).upper
        for x0, x1 in permutations(range(len(rows)), 2):
            D = ss.model.Decomposition(rows[x0], rows[x1], c)
            assert shuffled_laws(D, n).delta(eps, rtol=1e-2).lower <= bound


def test_opposite_corners_of_a_square_are_above_all_pairs_in_convex_order():
    rows = {x: [p * r for p, r in product(*map(cells, x))] for x in product(INPUTS, repeat=2)}
    c = [min(column) for column in zip(*rows.values(), strict=True)]
    alpha = q(6, 5)
    values = {pair: [(p - alpha * r) / m for p, r, m in zip(*map(rows.get, pair), c, strict=True)]
              for pair in product(rows, repeat=2)}  # fmt: skip

    def above(pair, level):
        return sum(m * max(v - level, 0) for v, m in zip(values[pair], c, strict=True))

    def is_largest(pair):  # between two of its values its own is linear, and the others are convex
        worst = {level: above(pair, level) for level in values[pair]}
        return all(above(other, level) <= worst[level] for other in values for level in worst)

    low, high = INPUTS[0], INPUTS[-1]
    assert is_largest(((low, low), (high, high)))
    assert is_largest(((low, high), (high, low)))
    assert not is_largest(((low, low), (low, high)))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_drop_out_bound_of_sampled_laplace_noise_is_above_exact_values(n):
    R, finite = ss.Sampled(NOISE, "1/4"), ss.from_matrix([sampled(z) for z in INPUTS])
    assert DropOutOfNoise(R, n)._gamma <= float(R.gamma) <= DropOutOfNoise(R, n)._gamma + 1e-15
    for alpha in (q(1), q(11, 10), q(3, 2)):
        bound = DropOutOfNoise(R, n).at([Ratio(alpha=alpha)], None)[0][0]
        assert bound.method != "none"
        for x0, x1, other in ((0, 2, 0), (0, 2, 1), (0, 2, 2), (2, 0, 2), (1, 2, 0), (0, 1, 2)):
            others = (other,) * (n - 1)
            assert ss.ground_truth.delta(finite, (x0, *others), (x1, *others), alpha) <= bound.value


def test_sampled_laplace_noise_is_bounded_nearly_as_its_worst_datasets_are():
    answer = ss.Shuffle(ss.Sampled(ss.Laplace(1), 0.1), 10_000).epsilon(1e-6)
    assert answer.upper_by == "drop-out"
    assert answer.upper <= 1.01 * answer.lower


SMOOTH = {
    "sampled Laplace": (ss.Sampled(ss.Laplace(1), 0.3), [(ss.Laplace(1), q(3, 10))], [1], [1], q(7, 10)),
    "sampled Gaussian": (ss.Sampled(ss.Gaussian(2), 0.5), [(ss.Gaussian(2), q(1, 2))], [1], [1], q(1, 2)),
    "three parts": (
        ss.Parallel([ss.Laplace(1), ss.Gaussian(1), BINARY], weights=["1/2", "1/4", "1/4"]),
        [(ss.Laplace(1), q(1, 2)), (ss.Gaussian(1), q(1, 4))],
        [q(3, 4), q(1, 4)],
        [q(1, 4), q(3, 4)],
        q(1, 4),
    ),
}


@pytest.mark.parametrize(("R", "parts", "first", "last", "weight"), SMOOTH.values(), ids=SMOOTH.keys())
@pytest.mark.parametrize(("n", "eps"), [(500, 0.05)])
def test_the_blanket_of_a_mixture_is_between_its_cells(R, parts, first, last, weight, n, eps):
    def mixture(side: str):
        a, b, c = ([weight * p for p in masses] for masses in (first, last, map(min, zip(first, last, strict=True))))
        for noise, w in parts:
            D = getattr(noise, side)(48, 1e-9)
            for own, masses in ((a, D.a), (b, D.b), (c, D.c)):
                own += [w * m for m in masses]
        return ss.Shuffle(ss.model.Decomposition(a, b, c), n).delta(eps, rtol=1e-3)

    answer = ss.Shuffle(ss.decomposition.blanket(R), n).delta(eps, rtol=1e-3)
    assert mixture("lower").lower <= answer.upper
    assert answer.lower <= mixture("upper").upper
    assert mixture("upper").upper <= 1.02 * answer.upper


def at_points(atoms: list[tuple[sp.Rational, sp.Rational]], null: Any = 0) -> list[list[sp.Rational]]:
    """a, b, c of a law (X, mass) and its copy, which falls as it grows, and of messages that tell the inputs apart."""
    D = from_transform([(Fraction(k), Fraction(v)) for k, v in atoms], Fraction(1, 2), "a part")
    assert sum(D.b) == 1
    assert null == sum(a for a, c in zip(D.a, D.c, strict=True) if c == 0)
    return [list(column) for column in (D.a, D.b, D.c)]


BOUNDED = at_points([(q(3, 2), q(1, 4)), (q(4), q(0))])
SKEWED = at_points([(q(5, 4), q(2, 5)), (q(7, 4), q(1, 4)), (q(9), q(0))])
UNBOUNDED = at_points([(q(2), q(1, 5)), (q(6), q(1, 50))], null=q(1, 50))
PRODUCTS = {
    "one part": [SKEWED],
    "alike": [BOUNDED] * 4,
    "not alike": [BOUNDED, SKEWED, SKEWED],
    "some told apart": [UNBOUNDED, BOUNDED, UNBOUNDED],
}


def excess(laws, alpha: sp.Rational, k: sp.Rational) -> sp.Rational:
    """The integral of [a − αb − kc]_+: larger for all k if G is larger in convex order."""
    return sum(max(a - alpha * b - k * c, q(0)) for a, b, c in zip(*laws, strict=True))


@pytest.mark.parametrize("parts", PRODUCTS.values(), ids=PRODUCTS.keys())
@pytest.mark.parametrize("most", [40, 3000])
def test_a_product_on_a_lattice_is_above_the_product_and_counted_messages_are_below(parts, most):
    exact = [[sp.prod(masses) for masses in product(*columns)] for columns in zip(*parts, strict=True)]
    above, below = products.above(parts, most), products.below(parts, most)
    assert sum(above[0]) == sum(above[1]) == sum(below[0]) == sum(below[1]) == 1
    assert max(len(above[0]), len(below[0])) <= most + 2
    rounded = q(1, 2**150)
    for alpha, k in product(
        (q(1, 2), q(1), q(5, 4), q(6)), (q(-40), q(-6), q(-1), q(-1, 3), q(0), q(1, 9), q(2), q(30))
    ):
        smaller, true, larger = (excess(laws, alpha, k) for laws in (below, exact, above))
        assert smaller <= true + rounded <= larger + 2 * rounded
        if most == 3000:
            assert larger - smaller <= q(1, 100) * (1 + abs(k))


def test_noise_alone_is_a_joint_of_one_part():
    one, other = (ss.Shuffle(ss.decomposition.blankets(R), 1_000).delta(0.1) for R in (NOISE, ss.Joint(NOISE)))
    assert one.lower <= other.upper <= 1.01 * one.upper


def test_one_user_with_ten_attributes_is_between_two_kinds_of_randomised_response():
    """Below 0 and above 1 messages of Laplace noise are e^ε0 times as likely for one end; those between tell less than
    that, which is an upper bound, and to count them as nothing, with probability (1 − e^(−ε0))/2, is a lower one."""
    R = ss.Joint(*[ss.Laplace("1/50")] * 10)
    t, nothing = math.exp(1 / 50), -math.expm1(-1 / 50) / 2

    def distance(d: int) -> float:
        """The total variation between the corners of d attributes, each randomised by randomised response."""
        at = [math.comb(d, i) * t**i / (1 + t) ** d for i in range(d + 1)]
        return sum(max(a - b, 0.0) for a, b in zip(at, reversed(at), strict=True))

    below = sum(math.comb(10, j) * nothing ** (10 - j) * (1 - nothing) ** j * distance(j) for j in range(11))
    answer = ss.Shuffle(R, 1).delta(0)
    assert below <= answer.upper <= 1.001 * distance(10)
    assert 0.999 * below <= answer.lower <= distance(10)


@pytest.mark.parametrize(
    "R", [ss.Joint(*[ss.Laplace("1/5")] * 10), ss.Joint(*[ss.Gaussian(3)] * 3, BINARY)], ids=["ten", "four"]
)
def test_many_attributes_are_bounded_by_the_blanket(R):
    answer = ss.Shuffle(R, 10_000).epsilon(1e-6)
    assert (answer.upper_by, len(answer.lower_by.alike.x0)) == ("blanket", len(R.parts))
    # Every other user counts for a share γ of one, at least.
    assert answer.lower <= answer.upper <= 1.05 * answer.lower / float(R.gamma) ** 0.5


def test_everybody_who_is_sampled_for_certain_is_the_noise_itself():
    assert ss.Sampled(NOISE, 1) is NOISE
    small, large = (ss.Shuffle(ss.Sampled(NOISE, r), 500).delta(0.05) for r in (0.1, 0.9))
    assert small.upper < large.lower


def test_blanket_masses_are_added_or_multiplied():
    assert ss.Sampled(NOISE, "1/2").gamma == q(3, 4)  # 1/2 · 1/2 + 1/2
    joint = ss.Joint(NOISE, ss.KRR(k=3, eps0=sp.log(3)))
    assert (joint.gamma, joint.eps0) == (q(3, 10), sp.log(3) + 2 * sp.log(2))


@pytest.mark.parametrize("R", [ss.Joint(NOISE, NOISE, NOISE), ss.Joint(NOISE, BINARY)], ids=str)
def test_nothing_is_lost_from_the_largest_loss_on_and_little_before_it(R):
    at_the_end, before = ss.Shuffle(R, 10).delta([R.eps0, R.eps0 - q(1, 1000)])
    assert at_the_end.lower == at_the_end.upper == 0
    assert 0 < before.upper <= 1 / 1000  # 1 − exp(−1/1000) at most: a loss is never larger than ε0


def test_composed_noise_is_a_value():
    for R, _ in CASES.values():
        assert pickle.loads(pickle.dumps(R)) == R
        assert str(R.parts[0]) in repr(R)


REFUSED = [
    (
        lambda: ss.Parallel([NOISE, ss.KRR(k=3, eps0=1)], weights=["1/2", "1/2"]),
        ValueError,
        "two inputs that a symmetry exchanges",
    ),
    (lambda: ss.Parallel([NOISE, BINARY], weights=["1/2", "1/4"]), ValueError, "sum to 1"),
    (lambda: ss.Parallel([NOISE, 3], weights=["1/2", "1/2"]), TypeError, r"parts\[1\] must be a randomizer"),
    (
        lambda: ss.Parallel([NOISE, ss.randomizers.PiecewiseMechanism(1)], weights=["1/2", "1/2"]),
        ValueError,
        "same inputs",
    ),
    (lambda: ss.Sampled(ss.Joint(NOISE, BINARY), 0.5), ValueError, "must not be a Joint"),
    (lambda: ss.Joint(*[NOISE] * 101), ValueError, "at most 100 parts"),
    (lambda: ss.Joint(NOISE, ss.randomizers.DiscreteLaplace(k=6, eps0=1)), ValueError, "pairs of inputs"),
    (lambda: ss.Joint(NOISE, "krr"), TypeError, r"parts\[1\] must be a randomizer"),
    (lambda: ss.Sampled(NOISE, 1.5), ValueError, "q must be"),
    (lambda: ss.Shuffle(ss.Sampled(ss.Laplace(), 0.5), 10).delta(0.1), TypeError, "symbolic"),
]


@pytest.mark.parametrize(("make", "error", "words"), REFUSED)
def test_what_is_not_covered_is_refused_at_once(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_what_rounding_misses_of_a_product_is_moved_up(monkeypatch):
    """With masses of few bits most of the product is missed; what is left is above the product in fractions."""
    levels = [(Fraction(3, 2), Fraction(1, 5)), (Fraction(5, 2), Fraction(0))]
    D = from_transform(levels, Fraction(3, 5), "three levels")
    laws = D.a, D.b, D.c
    triples = [list(zip(*laws, strict=True))] * 3
    exact = [tuple(math.prod(values) for values in zip(*choice, strict=True)) for choice in product(*triples)]
    monkeypatch.setattr(products, "_UNIT", 2**7)
    monkeypatch.setattr(products, "_MASS_BITS", 7)
    rough = list(zip(*products.above([laws] * 3, 10**6), strict=True))
    assert [sum(column) for column in zip(*rough, strict=True)][:2] == [1, 1]
    gap = 0
    for alpha, k in product((1, q(11, 10), 2), (-9, -1, q(-1, 3), 0, q(1, 4), 1, 4, 12)):
        one, other = (sum(max(a - alpha * b - k * c, 0) for a, b, c in atoms) for atoms in (exact, rough))
        assert one <= other * (1 + q(1, 10**50))
        gap = max(gap, other - one)
    assert gap > q(1, 100)  # it was seen
