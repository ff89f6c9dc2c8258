r"""From a source of divergences to a curve: where its values come from, and Rényi divergences of what was sampled."""

import math
from collections.abc import Callable, Sequence

import sympy as sp
from flint import fmpq

from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.rounds import MAX_POINTS, sharper
from shuffle_sym.accounting.sampling import BudgetSpentError, Sampling, Side
from shuffle_sym.accounting.sources import Source
from shuffle_sym.algebra import field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rationals import rational
from shuffle_sym.model.gparv import Ratio

_MOST_REFINEMENTS = 8
_ROUGH = 0.02  # tolerance of a profile that is made to see how large a Rényi moment is


def side(source: Source) -> Side:
    """Where the values of one direction of a profile come from."""
    ceiling = None
    if source.max_loss is not sp.oo:
        ((_, largest),) = field.enclosures((field.alpha,), {field.alpha: sp.exp(source.max_loss)}, 64)
        ceiling = rational(largest)

    def evaluate(alphas: Sequence[fmpq], rtol: float) -> list[Interval]:
        ratios = [Ratio(alpha=sp.Rational(int(alpha.p), int(alpha.q))) for alpha in alphas]
        return source.hockey_sticks(ratios, rtol)

    return Side(evaluate, ceiling, rational(source.impossible))


def renyi(
    profile_of: Callable[[Sampling], PrivacyProfile],
    orders: list[sp.Expr],
    rtol: float,
    max_loss: float,
    delta_at_0: float,
) -> list[Interval]:
    """Rényi divergences from one profile for all orders, refined until each interval is narrow enough.

    ``max_loss`` is the largest loss, ``delta_at_0`` a lower bound of δ(0).
    """
    powers = [float(order) for order in orders]
    # What may be left out of the moment less 1, which is at least λ(λ − 1)δ(0)²/2: little, and less of a small one.
    share = rtol / (40 * max_loss)
    least = dict.fromkeys(powers, share * delta_at_0**2)
    fine = max(rtol / 2, _ROUGH)
    for _ in range(_MOST_REFINEMENTS):
        levels = tuple((power, min(max(bound, 1e-290), 1e290)) for power, bound in least.items())
        try:
            profile = profile_of(Sampling(fine, levels, MAX_POINTS))
        except BudgetSpentError as refusal:
            raise ValueError(
                f"order = {max(powers):g} is too much for a profile of {MAX_POINTS} points: values of delta that "
                f"no double holds would count; orders up to about {600 / max_loss:.0f} do not need them"
            ) from refusal
        sampled = [PrivacyProfile(profile.below, profile.below, {}).rdp(order) for order in orders]
        widest = max(answer.relative_width for answer in sampled)
        if widest <= rtol:
            return [profile.rdp(order) for order in orders]
        for power, interval in zip(powers, sampled, strict=True):
            moment = math.expm1(min((power - 1) * interval.lower, 600.0))
            least[power] = share * moment / (power * (power - 1))
        # At first only how large the moments are was to be seen.
        fine = rtol / 2 if fine > rtol / 2 else sharper(fine, rtol, widest)
    raise ValueError(
        f"rtol = {rtol:g} at these orders is more than a profile of {MAX_POINTS} points gives; "
        f"ask for a larger rtol (reached so far: {widest:.2g})"
    )
