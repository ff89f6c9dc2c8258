"""Randomizers with a million or a thousand million inputs: what they cost, and what they answer."""

import pickle
import subprocess
import sys
from itertools import pairwise

import mpmath
import pytest
import sympy as sp
from flint import arb

import shuffle_sym as ss
from shuffle_sym.algebra import balls
from shuffle_sym.randomizers import BlockHadamard

LARGE = [
    ss.KRR(k=10**9, eps0=4),
    ss.SubsetSelection(d=10**9, w=10**8, eps0=4),
    ss.OUE(d=10**6, eps0=4),
    ss.OUE(d=10**9, eps0=sp.log(3)),
    ss.RAPPOR(d=10**6, eps0=4),
    ss.BLH(d=10**9, eps0=4),
    ss.OLH(g=10**9, d=10**6, eps0=sp.log(3)),
    ss.HadamardResponse(K=2**30, eps0=4),
    BlockHadamard(B=10**6, b=2**20, eps0=4),
    ss.Sampled(ss.OUE(d=10**6, eps0=4), q="1/2"),
    ss.Parallel([ss.HadamardResponse(K=2**20, eps0=4), ss.KRR(k=2**20 - 1, eps0=4)], weights=["1/2", "1/2"]),
    ss.Joint(ss.KRR(k=10**6, eps0=2), ss.OUE(d=10**6, eps0=2)),
]

# What is asked of each in a process of its own, which may take 3 GB: a refusal of memory ends it.
ASKED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
import pickle, re, shuffle_sym as ss
from pathlib import Path
for R in pickle.load(sys.stdin.buffer):
    M = ss.Shuffle(R, 2)
    print(M.epsilon(1e-6), M.delta(0.5), R.gamma, R.blanket(), R.gparv(*R.pairs()[0]))
    print(ss.Shuffle(R, 100).epsilon(1e-6), R.eps0, R.free_symbols)
    for refused in (R.matrix, lambda: M.exact(2)):
        try:
            refused()
            raise SystemExit("a matrix that nobody can list was listed")
        except ValueError as refusal:
            assert "more than 262144 probabilities" in str(refusal), refusal
# Of this program alone: what getrusage tells is that of the process it was started from, where that had more.
print(int(re.search(r"VmHWM:(.*) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def test_large_randomizers_answer_or_are_refused_in_little_memory():
    given = pickle.dumps(LARGE)
    done = subprocess.run([sys.executable, "-c", ASKED], input=given, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()[-1000:]
    *answers, megabytes = done.stdout.decode().splitlines()
    assert len(answers) == 2 * len(LARGE)
    assert int(megabytes) < 200  # all of them together, most of it the libraries


@pytest.mark.parametrize("R", LARGE, ids=repr)
def test_what_a_reader_sees_of_a_large_randomizer_is_short(R):
    shown = [repr(R), str(R.gamma), sp.latex(R.gamma), repr(R.gparv(*R.pairs()[0])), R.blanket()._repr_latex_()]
    assert all(len(text) < 4000 for text in shown)
    assert pickle.loads(pickle.dumps(R)) == R
    assert pickle.loads(pickle.dumps(R.gamma)) == R.gamma


INDEPENDENT = [make(d=d, eps0=4) for make in (ss.OUE, ss.RAPPOR, ss.BLH) for d in (3, 10, 500, 5000, 10**6)]


@pytest.mark.parametrize("R", INDEPENDENT, ids=repr)
def test_the_blanket_of_many_bits_has_the_divergence_of_the_formula_with_fifty_digits(R):
    mp = mpmath.MPContext()
    mp.dps = 50
    t = mp.exp(4)
    mu = {ss.OUE: 1 / (t + 1), ss.RAPPOR: 1 / (mp.exp(2) + 1), ss.BLH: mp.mpf(1) / 2}[type(R)]
    every, alpha = mu ** int(R.d), mp.mpf(3) / 2
    scale = 1 + (t - 1) * mu
    # A message matches x0 or not and x1 or not; that it matches all d inputs has a blanket t times as high.
    atoms = [(1 - alpha, every * t / scale)]
    for first in (True, False):
        for second in (True, False):
            reference = (mu if first else 1 - mu) * (mu if second else 1 - mu) - (every if first and second else 0)
            atoms.append(((t if first else 1) - alpha * (t if second else 1), reference / scale))
    gamma = mp.fsum(mass for _, mass in atoms)
    atoms.append((mp.mpf(0), 1 - gamma))
    # Two users: half the positive part of a sum of two values of G.
    delta = mp.fsum(p * q * max(x + y, 0) for x, p in atoms for y, q in atoms) / 2
    with balls.LOCK, balls.workprec(200):
        assert abs(float(balls.value(R.gamma) - arb(str(gamma)))) < 1e-45
    answer = ss.Shuffle(ss.decomposition.blanket(R, 0, 1), 2).delta(sp.log(sp.Rational(3, 2)), rtol=1e-9)
    assert answer.lower <= delta <= answer.upper
    assert answer.upper <= answer.lower * (1 + 1e-9)


@pytest.mark.parametrize("make", [ss.OUE, ss.RAPPOR, ss.BLH])
def test_more_inputs_give_larger_bounds_up_to_those_of_infinitely_many(make):
    few, many, all_of_them = (ss.Shuffle(make(d=d, eps0=2), 20).delta(0.5, rtol=1e-6) for d in (3, 10**6, sp.oo))
    assert few.lower <= many.upper
    assert (many.lower, many.upper) == pytest.approx((all_of_them.lower, all_of_them.upper), rel=1e-12)
    with balls.LOCK, balls.workprec(400):
        gammas = [balls.value(make(d=d, eps0=2).gamma) for d in (3, 10, 100, sp.oo)]
    assert all(one > other for one, other in pairwise(gammas))


def test_a_huge_power_is_enclosed_and_never_written_out():
    power = balls.HugePower(sp.Rational(3, 2), sp.Integer(10**9))
    for bits in (64, 400):
        with balls.LOCK, balls.workprec(bits):
            log = balls.value(power).log()
            exact = 10**9 * (balls.ball(sp.Rational(3, 2)).log())
            assert log.overlaps(exact)
    assert str(1 / power**2) == "((3/2)**1000000000)**(-2)"
    assert sp.latex(power) == r"\left(\frac{3}{2}\right)^{1000000000}"
    assert (power - 1) / power > sp.Rational(1, 2)
    assert pickle.loads(pickle.dumps(power)) == power
    mp = mpmath.MPContext()
    mp.dps = 60
    assert mp.almosteq(mp.mpf(str(sp.N(power, 50))), mp.mpf(1.5) ** 10**9, rel_eps=mp.mpf(10) ** -48)


def test_two_attributes_with_ten_values_have_nine_kinds_of_others_and_a_bound_below_the_blanket():
    R = ss.Joint(ss.KRR(k=10, eps0=1), ss.KRR(k=10, eps0=1))
    for x0, x1 in R.pairs():
        assert len(R.kinds(x0, x1)) <= 9
        every = {ss.decomposition.dataset(R, x0, x1, x) for x in range(100)}
        assert {ss.decomposition.dataset(R, x0, x1, x) for x in R.kinds(x0, x1)} == every
    answer = ss.Shuffle(R, 10_000).delta(0.03)
    assert answer.upper < max(ss.Shuffle(D, 10_000).delta(0.03).lower for D in ss.decomposition.blankets(R))


@pytest.mark.parametrize(
    "R",
    [
        ss.OLH(g=10**9, d=3, eps0=1),  # one function has all hash values already
        ss.Joint(*[ss.KRR(k=300, eps0=1)] * 3),  # each part could be listed
        ss.SubsetSelection(d=40, w=20, eps0=1),
        ss.OUE(d=sp.oo, eps0=1),
    ],
    ids=repr,
)
def test_a_matrix_with_too_many_entries_is_refused_before_any_work(R):
    with pytest.raises(ValueError, match="more than 262144 probabilities"):
        R.matrix()


def test_pairs_of_inputs_that_no_symmetry_makes_alike_are_not_listed_if_they_are_too_many():
    R = ss.Parallel([ss.HadamardResponse(K=2**20, eps0=1)] * 2, weights=["1/2", "1/2"])
    with pytest.raises(ValueError, match=r"1048575 inputs, more than 4194304 pairs .* take fewer inputs"):
        ss.Shuffle(R, 10).epsilon(1e-6)


def test_groups_with_one_law_of_messages_have_its_symmetries():
    few, many = (
        ss.Shuffle([(ss.HadamardResponse(K=K, eps0=level), 50) for level in (2, 1)]).delta(0.5) for K in (16, 2**30)
    )
    assert few.lower <= many.upper
