"""The quick form of the fuzzer, and that it notices what is wrong; ``make fuzz`` runs the long one."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import pytest
import sympy as sp
from flint import arb
from scipy.stats import norm

import shuffle_sym as ss
from checks.fuzz import definitions, inputs, noise, oracle, questions, runs, sums
from checks.fuzz.judges import Level, Users, Value, exactly, exponential, notices
from shuffle_sym.algebra.interval import Interval

Q = Fraction
THREE = definitions.responses(3)(arb(3))
A, B = [Q(3, 4), Q(1, 4)], [Q(1, 4), Q(3, 4)]


@pytest.fixture(autouse=True)
def little_time(monkeypatch):
    monkeypatch.setattr(runs, "_LONG", 0.02)
    monkeypatch.setattr(runs, "_SHORT", 0.02)


def asked(seed, kinds, functions, *, planted=False):
    """A tally of some subjects of each kind, each asked by each function."""
    tally = runs.Tally()
    for kind in kinds:
        rng = random.Random(f"{seed} {kind.__name__}")
        subject = kind(rng)
        for name in functions:
            for question in questions.questions(subject, rng, name):
                runs.compare(question, tally, planted=planted)
    return tally


# -- the oracle


def test_brute_force_has_the_published_value_of_3_rr():
    # Su et al.'s formula by hand: 2552/15625 is the docstring of Shuffle, from exact fractions.
    value = oracle.blankets(THREE, 5).divergence(oracle.ball(Q(6, 5)))
    assert value.overlaps(oracle.ball(Q(2552, 15625)))
    assert value.rel_accuracy_bits() > 250


def test_one_user_has_the_local_curve():
    local = oracle.all_datasets([A, B], 1)
    for alpha in (Q(1, 2), Q(1), Q(2), Q(4)):
        by_hand = sum(max(p - alpha * q, Q(0)) for p, q in zip(A, B, strict=True))
        assert local.divergence(oracle.ball(alpha)).overlaps(oracle.ball(by_hand))


def test_binomial_sums_agree_with_polynomials():
    for n in (1, 2, 7, 40):
        for c, rest in (([Q(1, 4), Q(3, 4)], Q(0)), ([Q(1, 4), Q(1, 3)], Q(5, 12))):
            exact, summed = oracle.shuffled(A, B, c, rest, n), sums.TwoAtoms(A, B, c, n, rest=rest != 0)
            for alpha in map(oracle.ball, (Q(1, 2), Q(9, 10), Q(1), Q(11, 10), Q(5, 2), Q(3))):
                assert exact.divergence(alpha).overlaps(summed.divergence(alpha))
                assert summed.divergence(alpha).rad() < 1e-60


def test_an_integral_with_two_corrections_encloses_the_sum_term_by_term(monkeypatch):
    pair, alpha = sums.TwoAtoms(A, B, [Q(1, 4), Q(3, 4)], 10**6, rest=False), oracle.ball(Q(1002, 1000))
    by_terms = pair.divergence(alpha)
    monkeypatch.setattr(sums, "_MOST_TERMS", 10)
    by_integral = pair.divergence(alpha)
    assert by_integral.rad() > 1000 * by_terms.rad()
    assert by_integral.contains(by_terms)
    assert by_integral.rad() < 1e-6 * by_integral.mid()


def test_two_rounds_are_all_pairs_of_outcomes():
    one = oracle.shuffled(A, B, B, Q(0), 2)
    two, alpha = one.composed(2), oracle.ball(Q(3, 2))
    by_hand = arb(0)
    for p, q in zip(one.p, one.q, strict=True):
        for r, s in zip(one.p, one.q, strict=True):
            by_hand += (p * r - alpha * q * s).max(arb(0))
    assert two.divergence(alpha).overlaps(by_hand)


def test_rounds_whose_weights_do_not_fit_into_memory_are_not_asked_about():
    scale = 2**1100
    pair = oracle.Outcomes([(3, scale - 5), (scale - 3, 5)], (scale, scale))
    assert pair.composed(2) is not None
    assert pair.composed(4096) is None


# -- what is drawn and asked


def test_a_sample_of_every_kind_holds():
    tally = asked(42, inputs.KINDS, ["hockey_stick", "delta"])
    assert tally.failed == {}
    assert tally.substantive >= 50


def test_a_sample_of_every_function_holds_and_every_shift_is_noticed():
    tally = asked(11, [inputs.atoms, inputs.catalogue_law], questions.FUNCTIONS, planted=True)
    assert tally.failed == {}
    compared, substantive, planted, noticed = (sum(column) for column in zip(*tally.counts.values(), strict=True))
    assert compared >= substantive >= 50
    assert planted == noticed >= 100


def test_the_same_seed_and_number_give_the_same_case():
    first, second = (
        [question.text(list(islice(question.items, 3))) for question in questions.questions(inputs.atoms(rng), rng)]
        for rng in (random.Random("5 9"), random.Random("5 9"))
    )
    assert first == second != []


@pytest.mark.parametrize(("side", "end"), [("UPPER END BELOW", "upper"), ("LOWER END ABOVE", "lower")])
def test_an_answer_on_the_wrong_side_is_a_line_that_shows_it(monkeypatch, side, end):
    right = ss.Shuffle.hockey_stick

    def shifted(self, alpha, **options):
        def moved(answer):
            step = answer.width * (1 + 1e-9) + 1e-15 * answer.upper
            step = -step if end == "upper" else step
            return Interval(max(answer.lower + step, 0.0), max(answer.upper + step, 0.0))

        return [moved(answer) for answer in right(self, alpha, **options)]

    monkeypatch.setattr(ss.Shuffle, "hockey_stick", shifted)
    tally = asked(3, [inputs.atoms], ["hockey_stick"])
    ((kind, number),) = ((kind, number) for kind, number in tally.failed.items() if side in kind)
    assert number == tally.substantive
    line = tally.failures[kind][0]
    (again,) = eval(line, {"ss": ss, "sp": sp})
    assert f"# {again!r}" in line


def test_refusals_are_no_failures_and_other_errors_are(monkeypatch):
    def refuse(error):
        def hockey_stick(self, alpha, **options):
            raise error("rtol = 1e-9 is more than 17 points give")

        return hockey_stick

    monkeypatch.setattr(ss.Shuffle, "hockey_stick", refuse(ValueError))
    refused = asked(3, [inputs.atoms], ["hockey_stick"])
    (kind,) = refused.refusals
    assert kind.endswith("rtol = # is more than # points give")
    assert refused.failed == {}
    monkeypatch.setattr(ss.Shuffle, "hockey_stick", refuse(RuntimeWarning))
    (failed,) = asked(3, [inputs.atoms], ["hockey_stick"]).failed
    assert failed.endswith("RuntimeWarning")


def test_ends_are_judged_by_what_they_are_of():
    third = Value(oracle.ball(Q(1, 3)), oracle.ball(Q(1, 3)))
    assert not third.low_wrong(1 / 3)  # the double is below a third
    assert third.high_wrong(1 / 3)
    assert third.low_wrong(0.3333333333333334)
    pair = oracle.all_datasets([A, B], 1)  # δ(ε) = 1/4 at e^ε = 2

    def delta(eps):
        return pair.divergence(exponential(eps))

    level = Level(Q(1, 4), delta, delta)
    assert not level.high_wrong(0.6931471805599454)
    assert level.high_wrong(0.6931471805599452)
    assert not level.low_wrong(0.6931471805599452)
    assert level.low_wrong(0.6931471805599454)
    users = Users(Q(21, 200), lambda n: oracle.ball(Q(1, n)))  # ten are enough
    assert not users.high_wrong(10)
    assert users.high_wrong(9)
    assert not users.low_wrong(10)
    assert users.low_wrong(12)
    assert notices(users, 10, 10) == (True, True)
    assert notices(third, 0.25, 0.5) == (True, True)
    assert notices(third, 0.25, Fraction(1, 3) - Fraction(1, 2**40)) == (True, False)
    tiny = Decimal("1e-1000000")  # at once, though no fraction of a few digits is so small
    assert Value(exactly(tiny), exactly(tiny)).low_wrong(2 * tiny)


# -- runs


def _counted(number):
    return runs.Tally(counts={"delta, auto": [number, 1, 0, 0]})


def test_a_run_goes_on_where_it_ended(tmp_path):
    path, state = tmp_path / "deep" / "state.json", runs.State()
    runs.run(state, 0.3, 1, _counted, partial(runs.save, path, "seed 1", state))
    again = runs.load(path, "seed 1")
    assert again == state
    assert again.next > 1
    before = again.next
    runs.run(again, 0.3, 1, _counted, lambda: None)
    assert again.next > before
    assert again.tally.counts["delta, auto"][:2] == [again.next * (again.next - 1) // 2, again.next]
    assert runs.load(path, "seed 2") == runs.State()


def test_cases_that_end_out_of_order_are_done_once():
    state = runs.State()
    for number in (1, 2, 0, 5):
        state.done(number, _counted(number))
    assert (state.next, state.ahead) == (3, [5])


@pytest.mark.parametrize(("sigma", "eps"), [("1.5", 14.4), ("3.9", 8.0), ("0.5", 1.0)])
def test_the_oracle_of_gaussian_noise_is_the_double_integral_of_the_definition_also_far_out(sigma, eps):
    s, alpha, h = float(sigma), math.exp(eps), 0.02
    middle = 0.5 - eps * s**2  # where p_0 = α p_1
    y = np.arange(middle / s - 4, 9, h) * s + h / 3
    p, q = norm.pdf(y / s) / s, norm.pdf((y - 1) / s) / s
    c, more = np.minimum(p, q), p - alpha * q
    gamma = 2 * norm.cdf(-1 / (2 * s))
    both = sum(np.maximum(x * c + z * more, 0).sum() for x, z in zip(more, c, strict=True)) * (h * s) ** 2 / 2
    alone = (1 - gamma) * (norm.cdf(middle / s) - alpha * norm.cdf((middle - 1) / s))
    found = noise.Gaussian(sigma).divergence(exponential(Fraction(str(eps))))
    assert found.rel_accuracy_bits() > 45
    assert float(found) == pytest.approx(both + alone, rel=2e-3, abs=0)


def test_the_oracle_is_not_asked_about_more_users_than_fit_into_memory():
    for number in range(30):
        drawn = inputs.atoms(random.Random(f"users {number}"))
        assert drawn.at is not None
        assert drawn.n <= drawn.most_users
        assert math.comb(drawn.most_users + len(drawn.at(1).weights) - 1, drawn.most_users) < 10**5
