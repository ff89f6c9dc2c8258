"""Messages that are sent by themselves: what is a probability and a message, and what is refused."""

from __future__ import annotations

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.model.continuous import is_linear
from shuffle_sym.model.continuous import x as input_
from shuffle_sym.model.continuous import y as message
from shuffle_sym.randomizers import ClippedGaussian, DuchiMechanism, HybridMechanism, PiecewiseMechanism

x, y, w = sp.symbols("x y w")
half, q = sp.Rational(1, 2), sp.Rational
TENT = sp.Piecewise((x, x < half), (1 - x, True)) / 4
WINDOW = sp.Piecewise((q(9, 10), (x > q(1, 3)) & (x < half)), (half, True))

REFUSED = {
    "moves with x": (half, {x: half}, "must be a number"),
    "moves with x, alone": (0, {x: half, 0: half}, "must be a number"),
    "is y": (0, {y: half, 0: half}, "must be a number"),
    "undeclared": (0, {w: half, 0: half}, "must be a number"),
    "no number": (0, {sp.nan: half, 0: half}, "finite number"),
    "infinite": (0, {sp.oo: half, 0: half}, "finite number"),
    "imaginary": (0, {sp.I: half, 0: half}, "real number"),
    "one message, two spellings": (0, {sp.log(4): (1 + x) / 4, 2 * sp.log(2): (3 - x) / 4}, "different messages"),
    "a float and a fraction": (half, {half: (1 + x) / 8, 0.5: (3 - x) / 8}, "different messages"),
    "a window in x": (0, {0: WINDOW, 1: 1 - WINDOW}, "linear in x"),
    "a tent in x": (half, {0: q(1, 4) + TENT, 1: q(1, 4) - TENT}, "linear in x"),
    "a tent, smoothly": (0, {0: half + sp.atan(sp.tan(x)) / 4, 1: half - sp.atan(sp.tan(x)) / 4}, "linear in x"),
    "negative": (0, {0: 1 - 2 * x, 1: 2 * x}, r"atoms\[0\] must not be negative"),
    "not 1": (0, {0: 1 - x, 1: x / 2}, "add up to 1, got 1/2 = 0.5, off by -0.5 at x = 1"),
    "depends on y": (half, {0: y / 2}, "must not depend on y"),
    "nothing": (0, {}, "density must not be 0"),
    "nobody at one end": (half, {0: (1 - x) / 2, 1: x / 2}, "no finite eps0"),
}


@pytest.mark.parametrize(("density", "atoms", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_message_or_no_probability_is_refused(density, atoms, words):
    with pytest.raises(ValueError, match=words):
        ss.from_density(density, inputs=(0, 1), outputs=None if density == 0 else (0, 1), atoms=atoms)


def test_messages_are_numbers_however_they_are_written():
    one, other = (ss.from_density(0, inputs=(0, 1), atoms={a: (1 + x) / 3, 2: (2 - x) / 3}) for a in (0.5, half))
    assert one == other


def test_a_second_derivative_that_is_0_is_not_linear():
    for formula in (sp.Abs(input_), sp.floor(input_), sp.atan(sp.tan(input_)), sp.Max(input_, 0), input_**2):
        assert not is_linear(formula)
    assert is_linear(sp.expand((input_ + 1) * sp.exp(2)))
    assert is_linear(sp.Integer(0))


@pytest.mark.parametrize(
    "R", [PiecewiseMechanism(eps0=1), HybridMechanism(eps0=2), ClippedGaussian(sigma=1), ss.Laplace(eps0=1)], ids=repr
)
def test_the_blanket_is_a_formula_with_the_mass_gamma(R):
    assert float(sp.integrate(R.blanket(), (message, -sp.oo, sp.oo))) == pytest.approx(float(R.gamma), rel=1e-12)


def test_the_blanket_of_clipped_noise_has_no_message_beyond_the_ends():
    blanket = ClippedGaussian(sigma=1).blanket()
    assert blanket.subs(message, 5) == blanket.subs(message, -1) == 0
    assert {atom.args[0] for atom in blanket.atoms(sp.DiracDelta)} == {message, message - 1}


FALLING = ss.from_density(1 - x * (y - half) / 2, inputs=(0, 1), outputs=(0, 1))


@pytest.mark.parametrize("R", [ss.randomizers.TruncatedLaplace(eps0=1), FALLING], ids=["rising", "falling"])
def test_the_blanket_of_ordered_messages_is_below_all_densities(R):
    for place in (q(1, 10), half, q(4, 5)):
        least = min(float(R.density.subs({input_: z, message: place})) for z in (0, q(1, 3), half, q(3, 4), 1))
        assert 0 <= least - float(R.blanket().subs(message, place)) <= 2e-9 * least


def test_for_small_eps0_the_hybrid_mechanism_is_that_of_duchi():
    # The piecewise mechanism has the larger variance at x = 0, with s = e^(ε0/2).
    def piecewise_is_worse(eps0):
        s = sp.exp(sp.Rational(eps0) / 2)
        return bool((s + 3) / (3 * (s - 1) ** 2) >= ((s**2 + 1) / (s**2 - 1)) ** 2)

    for eps0 in ("1/10", "1/2", "0.609", "0.6093", "0.6094", "0.61", "1", "3"):
        expected = DuchiMechanism if piecewise_is_worse(eps0) else HybridMechanism
        assert type(HybridMechanism(eps0=eps0)) is expected
    assert type(HybridMechanism()) is HybridMechanism


def test_messages_that_do_not_depend_on_the_input_tell_nothing():
    R = ss.from_density(1, inputs=(0, 1), outputs=(0, 1))
    assert ss.Shuffle(ss.decomposition.blanket(R), 10).delta(0.1).upper == 0
    assert ss.Shuffle(R, 10).epsilon(1e-6).upper == 0
