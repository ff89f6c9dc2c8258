r"""Many rounds, of one shuffled randomizer or of several: bracketed by composing the two pairs of each profile.

Rényi divergences of one round, which add up over rounds, are those of its profile, too.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import sympy as sp
from flint import fmpq

from shuffle_sym.accounting import cards
from shuffle_sym.accounting.fourier import FourierAccountant
from shuffle_sym.accounting.pld import PrivacyLossDistribution
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.risk import Risk
from shuffle_sym.accounting.sampling import BudgetSpentError, Progress, Sampling, Side, no_progress
from shuffle_sym.algebra import VERSION, arguments, field, rounding
from shuffle_sym.algebra.interval import RTOL, Interval

MAX_POINTS = 20_000
_ROUGH = 0.2  # tolerance of a profile that is made to see how large a δ is
_SHARE = 0.35  # of the tolerance that a profile may use up at first
_ROUGHEST = 0.02  # tolerance that first profiles are made for: rougher ones take as long and serve fewer questions
_OF_PROFILES = 0.01  # tolerance of profiles of many rounds: a finer one takes more time, a rougher one is wider
_OWN_SHARE = 0.125  # of the tolerance, for the accountant of rounds at either end
_MOST_TRIES = 5
_LEAST_AT_FIRST = 1e-11
_SMALLEST = 1e-250  # doubles and the accountant of rounds do not go much farther


Parts = Sequence[tuple[PrivacyLossDistribution, int]]


class Mechanism(Protocol):
    """A mechanism that can be composed: one round whose privacy loss is bracketed by two distributions."""

    @property
    def both_directions(self) -> bool:
        """Whether both directions of the neighbouring relation have the same curve."""

    @property
    def closes(self) -> bool:
        """Whether sharper profiles make the interval as narrow as one likes; no for a mechanism."""

    @property
    def max_loss(self) -> sp.Expr:
        """The largest loss."""

    def loss_distributions(
        self, rtol: float, least: float, max_points: int, progress: Progress
    ) -> tuple[PrivacyLossDistribution, PrivacyLossDistribution]:
        """Two distributions of the loss: the round dominates the first and is dominated by the second."""

    def rdp(self, order: Any, *, rtol: Any = RTOL) -> Any:
        """The Rényi divergence of one order, or a list of them for a list of orders."""


class Composition:
    r"""Independent rounds, ``parts`` of (mechanism, count), made by `compose`; ``max_points``, ``progress`` as there.

    The upper end bounds *adaptive* composition of the rounds, too: the upper curve of a round is not below D_α of any
    two neighbouring datasets, for every α > 0, and so it is whatever the earlier rounds gave (Koskela et al. 2021,
    Theorem 7). The lower end is for the same two datasets in every round.

    >>> import shuffle_sym as ss
    >>> ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000).compose(4).epsilon(1e-6).relative_width < 1e-3
    True
    """

    def __init__(self, parts: Sequence[tuple[Mechanism, int]], max_points: int, progress: Progress) -> None:
        self.parts = tuple(parts)
        self.max_points, self.progress = max_points, progress
        self._accountants: dict[tuple[float, float], tuple[FourierAccountant, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_accountants": {}}  # what was computed is not sent along

    @property
    def rounds(self) -> int:
        """How many rounds there are in all."""
        return sum(count for _, count in self.parts)

    @property
    def asked(self) -> bool:
        """Whether a question was answered, so that profiles are at hand."""
        return bool(self._accountants)

    @property
    def closes(self) -> bool:
        """Whether a smaller tolerance makes the interval as narrow as one likes."""
        return all(M.closes for M, _ in self.parts)

    @property
    def max_loss(self) -> sp.Expr:
        """The ε from which on δ is exactly 0."""
        return sp.Add(*(count * M.max_loss for M, count in self.parts))

    def delta(self, eps: Any, *, rtol: Any = RTOL) -> Any:
        r"""Certified bounds of δ(ε) after all rounds (below 1e-250: from 0 to an upper end).

        For pairs of laws they are within ``rtol`` of each other. For a mechanism each end is computed about as sharply,
        but for a share, about a tenth, of what the two are apart. One `Interval` for one ε, a list of them for a list.
        """
        asked, tolerance = arguments.each(eps, "eps", arguments.central_epsilon), arguments.relative_tolerance(rtol)
        return arguments.each(asked, "eps", lambda number: self._delta(number, tolerance))

    def _delta(self, number: sp.Expr, rtol: float) -> Interval:
        if field.at_least(number, self.max_loss):
            return Interval(0.0, 0.0, "profile")
        least, finest = _LEAST_AT_FIRST, _first(rtol)
        # From there on it is not known that δ is above 0, and the upper end is the measure: see `StatedMechanism`.
        attained = sp.Add(*(count * getattr(M, "attained_loss", M.max_loss) for M, count in self.parts))
        for _ in range(_MOST_TRIES):
            lower, upper = self._ends(number, rtol, finest, least)
            if upper - lower <= rtol * upper or upper < _SMALLEST:
                return Interval(lower, upper, "profile")
            size = upper if field.at_least(number, attained) else lower
            if self.rounds * least > rtol * max(size, 1e-280) / 20:
                least = self._least(rtol * (size or self._about(number)))
            elif not self.closes:
                return Interval(lower, upper, "profile")
            if lower and self.closes:  # else it was seen only that the profiles ended too early
                finest = sharper(finest, rtol, (upper - lower) / upper)
        raise self._refusal(rtol, f"delta in {Interval(lower, upper)}")

    def _ends(self, eps: sp.Expr, rtol: float, finest: float, least: float) -> tuple[float, float]:
        """Bounds of δ(ε) from profiles of that tolerance that go on down to ``least``."""
        answers = [accountant.delta(eps, rtol=rtol * _OWN_SHARE) for accountant in self._pair(finest, least)]
        return answers[0].lower, answers[-1].upper

    def meets(self, eps: Any, delta: Any, *, rtol: Any = RTOL) -> bool | None:
        """Whether all rounds together are (ε, δ)-DP: True and False are certain, None is not decided by profiles of
        the tolerance ``rtol``.

        >>> import shuffle_sym as ss
        >>> ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000).compose(4).meets(1, 1e-6)
        True
        """
        number, target = arguments.central_epsilon(eps), _target(delta)
        tolerance = arguments.relative_tolerance(rtol)
        if field.at_least(number, self.max_loss):
            return True
        lower, upper = self._ends(number, tolerance, _first(tolerance), self._least(tolerance * target))
        return True if upper <= target else False if lower > target else None

    def _least(self, width: float) -> float:
        """Values of the profiles that do not matter for a δ that is to be known to within this."""
        return _power_of_ten(width / self.rounds / 100)

    def _about(self, eps: sp.Expr) -> float:
        """A rough lower bound of a δ that is far below what the first profiles show."""
        least, lower = _LEAST_AT_FIRST, 0.0
        while not lower and least > 1e-280:
            least = _power_of_ten(least**3)
            lower = self._pair(_ROUGH, least)[0].delta(eps, rtol=0.5).lower
        return max(lower, 1e-280)

    def epsilon(self, delta: Any, *, rtol: Any = RTOL) -> Any:
        r"""Certified bounds of the smallest ε with δ(ε) <= ``delta`` after all rounds.

        δ(upper) <= ``delta`` for certain. For pairs of laws they are within ``rtol`` of each other (near 0: of the ε
        over which δ falls). For a mechanism each end is computed about as sharply, but for a share, about a tenth, of
        what the two are apart. One `Interval` for one δ, a list of them for a list.
        """
        asked, tolerance = arguments.each(delta, "delta", _target), arguments.relative_tolerance(rtol)
        return arguments.each(asked, "delta", lambda target: self._epsilon(target, tolerance))

    def _epsilon(self, target: float, rtol: float) -> Interval:
        # All that is left out is at most rtol of δ, and much less of ε, since log δ falls steeply.
        least, finest = _power_of_ten(rtol * target / self.rounds), _first(rtol)
        for _ in range(_MOST_TRIES):
            accountants = self._pair(finest, least)
            answers = [accountant.epsilon(target, rtol=rtol * _OWN_SHARE) for accountant in accountants]
            lower, upper = answers[0].lower, min(answers[-1].upper, field.not_below(self.max_loss))
            size = max(upper, accountants[-1].delta(0, rtol=0.1).lower)
            if upper - lower <= rtol * size or not self.closes:
                return Interval(lower, upper, "profile")
            finest = sharper(finest, rtol, (upper - lower) / size)
        raise self._refusal(rtol, f"eps in {Interval(lower, upper)}")

    def profile(self, *, rtol: Any = _OF_PROFILES, least_delta: Any = 1e-12) -> PrivacyProfile:
        r"""δ(ε) after all rounds at every ε, bracketed by two curves down to ``least_delta``, as `Shuffle.profile`.

        Each curve is precise to about ``rtol``.

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000).compose(4)
        >>> profile = M.profile()
        >>> profile.delta(0).lower <= M.delta(0).lower <= M.delta(0).upper <= profile.delta(0).upper
        True
        """
        tolerance, least = arguments.relative_tolerance(rtol), arguments.open_unit(least_delta, "least_delta")
        sampling = Sampling(tolerance, ((1.0, least),), self.max_points, self.progress)
        accountants = self._pair(_first(tolerance), self._least(tolerance * least))
        brackets = [sampling.bracket(_side(one.parts), _side(_reversed(one.parts))) for one in accountants]
        about = {"made by": f"shuffle_sym {VERSION}", "source": repr(self), "rtol": float(f"{tolerance:.6g}")}
        return PrivacyProfile(brackets[0], brackets[-1], about)

    def risk(self) -> Risk:
        """What all rounds together mean for one person, see `accounting.Risk`.

        >>> import shuffle_sym as ss
        >>> one = ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000)
        >>> one.risk().advantage.upper < one.compose(4).risk().advantage.lower
        True
        """
        return Risk(self.profile())

    def rdp(self, order: Any, *, rtol: Any = RTOL) -> Any:
        r"""Bounds of the Rényi divergence of order λ > 1 of all rounds: that of each, times its count.

        One `Interval` for one order, a list of them for a list; their relative width is about ``rtol``.
        """
        answers = [M.rdp(order, rtol=rtol) for M, _ in self.parts]
        many = isinstance(answers[0], list)
        sums = [self._weighted(ends) for ends in (zip(*answers, strict=True) if many else [answers])]
        return sums if many else sums[0]

    def _weighted(self, ends: Sequence[Interval]) -> Interval:
        """The sum of one interval for each part, times its count."""
        counts = [count for _, count in self.parts]
        lower = sum(count * Fraction(e.lower) for count, e in zip(counts, ends, strict=True))
        upper = sum(count * Fraction(e.upper) for count, e in zip(counts, ends, strict=True))
        # Of the exact sums, one rounding each.
        return Interval(max(rounding.below(float(lower)), 0.0), rounding.above(float(upper)), "profile")

    def _pair(self, rtol: float, least: float) -> tuple[FourierAccountant, ...]:
        """The accountants of the lower and of the upper end; only one, where each round is known by its exact law."""
        key = (rtol, least)
        if key not in self._accountants:
            plds = [M.loss_distributions(rtol, least, self.max_points, self.progress) for M, _ in self.parts]
            sides = (0,) if all(below is above for below, above in plds) else (0, 1)
            self._accountants[key] = tuple(
                FourierAccountant([(pair[side], count) for pair, (_, count) in zip(plds, self.parts, strict=True)])
                for side in sides
            )
        return self._accountants[key]

    def _refusal(self, rtol: float, reached: str) -> ValueError:
        return ValueError(
            f"rtol = {rtol:g} over {self.rounds} rounds needs finer profiles than {_MOST_TRIES} refinements give; "
            f"ask for a larger rtol (reached so far: {reached})"
        )

    def __repr__(self) -> str:
        return f"Composition({', '.join(f'{count} x {M!r}' for M, count in self.parts)})"

    def _repr_html_(self) -> str:
        return cards.of_composition(self)


def _side(parts: Parts) -> Side:
    """One direction of rounds with these losses, where a profile of all of them takes its values from."""
    accountant = FourierAccountant(parts)

    def evaluate(alphas: Sequence[fmpq], rtol: float) -> list[Interval]:
        return [accountant.delta(sp.log(sp.Rational(int(alpha.p), int(alpha.q))), rtol=rtol) for alpha in alphas]

    return Side(evaluate, None)


def _reversed(parts: Parts) -> Parts:
    return [(pld.reversed(), count) for pld, count in parts]


def compose(parts: Sequence[Any], *, max_points: Any = MAX_POINTS, progress: Progress | None = None) -> Composition:
    r"""Different mechanisms one after the other, such as ``[(M1, 100), (M2, 16), M3]``, as one `Composition`.

    Each of the ``parts`` is a mechanism, or a pair of a mechanism and its number of rounds. A mechanism is a `Shuffle`,
    or a guarantee that others state (`accounting.StatedMechanism`). ``progress`` is called on the batches of points at
    which profiles are evaluated, as `tqdm.auto.tqdm` is; no profile has more than ``max_points`` points.

    >>> import shuffle_sym as ss
    >>> two = ss.compose([ss.Shuffle(ss.BinaryRR(eps0=1), n=100), (ss.Shuffle(ss.KRR(k=3, eps0=2), n=50), 3)])
    >>> two.rounds
    4
    """
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        raise TypeError(f"parts must be a list of Shuffle or (Shuffle, rounds), got {parts!r}")
    if not parts:
        raise ValueError("parts must not be empty: give at least one mechanism to compose")
    counted = []
    for part in parts:
        M, count = part if isinstance(part, tuple) and len(part) == 2 else (part, 1)
        if not hasattr(M, "loss_distributions"):
            raise TypeError(f"parts must hold Shuffle or (Shuffle, rounds), got {part!r}")
        counted.append((M, arguments.positive_integer(count, "rounds")))
    _refuse_mixed([M for M, _ in counted])
    limit = arguments.positive_integer(max_points, "max_points")
    return Composition(counted, limit, no_progress if progress is None else progress)


def _target(delta: Any) -> float:
    target = arguments.delta_target(delta)
    if target < _SMALLEST:
        raise ValueError(f"delta must be at least {_SMALLEST:g} for rounds from profiles, got {delta!r}")
    return target


def _refuse_mixed(mechanisms: list[Mechanism]) -> None:
    """A bound for one direction and one for both do not compose to a guarantee for either reading."""
    one_way = [M for M in mechanisms if not M.both_directions]
    if one_way and len(one_way) < len(mechanisms):
        other = next(M for M in mechanisms if M.both_directions)
        raise ValueError(
            f"parts must have one neighbouring relation: {one_way[0]!r} is for x0 against x1 only, {other!r} for both "
            "directions; compose the randomizer itself, or decompositions in one direction"
        )


def sharper(rtol: float, wanted: float, reached: float) -> float:
    """A smaller profile tolerance; the width of the answer is roughly proportional to it."""
    return rtol * min(max(0.6 * wanted / reached, 1 / 64), 1 / 2)


def _first(rtol: float) -> float:
    """The tolerance of the profile that an answer with this one is tried with first."""
    return float(f"{min(rtol, _ROUGHEST) * _SHARE:.6g}")  # an rtol that was rounded down is the same one


def _power_of_ten(x: float) -> float:
    """x, rounded down to a power of 10³ times 1e-11 that is at most that: profiles are made for few of them, and used
    again."""
    steps = math.ceil((math.log10(_LEAST_AT_FIRST) - math.log10(max(x, 1e-290))) / 3 - 1e-9)
    return _LEAST_AT_FIRST * 1e-3 ** max(steps, 0)


# -- Rényi divergences of one round

_MOST_REFINEMENTS = 8
_ROUGH_FOR_MOMENTS = 0.02  # tolerance of a profile that is made to see how large a Rényi moment is


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
    fine = max(rtol / 2, _ROUGH_FOR_MOMENTS)
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
