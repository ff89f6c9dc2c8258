r"""`Shuffle`: n users, a shuffler in between, and how private the result is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import mpmath
import sympy as sp
from flint import fmpq

from shuffle_sym.accounting.analyses import Analyses
from shuffle_sym.accounting.mechanism import Mechanism
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.own_analyses import table
from shuffle_sym.accounting.pld import CurvePLD, PrivacyLossDistribution, ShuffledPLD
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.rounds import MAX_POINTS, compose, sharper
from shuffle_sym.accounting.sampling import BudgetSpentError, Progress, Sampling, Side, no_progress
from shuffle_sym.accounting.sources import METHODS, PairOfLaws, Source, Worst
from shuffle_sym.algebra import VERSION, arguments, field, rounding
from shuffle_sym.algebra.interval import RTOL, Interval
from shuffle_sym.algebra.rationals import rational
from shuffle_sym.model.continuous import NoiseBlanket
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import LocalRandomizer

_FINEST_RTOL = 8 * rounding.UNIT_ROUNDOFF
_FEW_OUTCOMES = 1e6  # histograms that are enumerated rather than sampled
_MOST_REFINEMENTS = 8
_ROUGH = 0.02  # tolerance of a profile that is made to see how large a Rényi moment is


class Shuffle:
    r"""The shuffled messages of n users.

    Given a randomizer, this is a mechanism: neighbouring datasets differ in the input of one user, the upper end of an
    answer holds for all of them and the lower end is attained by two. Given a decomposition, it is that pair of laws,
    in its own direction; both ends are about it.

    >>> import shuffle_sym as ss
    >>> ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).exact(sp.Rational(6, 5))
    2552/15625
    """

    def __init__(self, source: Any, n: Any) -> None:
        parts = source if isinstance(source, tuple) and source else (source,)
        laws = all(isinstance(part, (Decomposition, NoiseBlanket)) for part in parts)
        if not laws and not isinstance(source, LocalRandomizer):
            raise TypeError(f"source must be a randomizer or a Decomposition, got {source!r}")
        self.n = arguments.users(n)
        self.source = source
        self._analysed = _source(source, self.n)
        self._profiles: list[tuple[Sampling, PrivacyProfile]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.n)  # what was computed is not sent along

    @property
    def decompositions(self) -> tuple[Decomposition, ...]:
        """What is analysed: one decomposition, or one for each pair of inputs that is different from the others."""
        return self._analysed.decompositions()

    @property
    def max_loss(self) -> sp.Expr:
        """The largest loss; δ(ε) is exactly 0 from there on."""
        return self._analysed.max_loss

    def exact(self, alpha: Any, digits: int = 50) -> sp.Rational | mpmath.mpf:
        r"""The divergence D_α itself, α = e^ε > 0: a ``Rational`` where everything is rational, else an ``mpf`` with
        ``digits`` good digits (compute with it in an mpmath context of as many). For small n: the cost grows like a
        power of n.
        """
        return self._analysed.exact(arguments.ratio(alpha), arguments.positive_integer(digits, "digits"))

    def delta(self, eps: Any, *, rtol: float = RTOL, method: str = "auto", digits: int | None = None) -> Any:
        r"""Certified bounds of δ(ε), no wider than ``rtol`` of the upper end (below 1e-305: from 0 to an upper end).

        One `Interval` for one ε >= 0, a list of them for a list or an array. ``method``: ``"contour"`` is the contour
        integral, which costs the same for every n; ``"binomial"`` sums binomial tails, where G has one positive and one
        negative value (2-RR, clones); ``"fft"`` is the mean-preserving lattice; ``"exact"`` the exact sum (small n).
        ``"auto"`` takes the cheapest of the first three that meets ``rtol``, and the exact sum if it is short and none
        does; ``.method`` of the interval says which. No method changes the truth, only the width.

        With ``digits``, the exact sum in place of doubles: two ``Decimal`` ends within 10^-digits of each other. It
        costs a power of n; what is too much is refused, with the largest n that is not.

        >>> import shuffle_sym as ss
        >>> print(ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).delta(sp.log(6) - sp.log(5), digits=20))  # 2552/15625
        [0.1633279999999999999999, 0.1633280000000000000001]
        """
        return self._for_each(eps, "eps", self._ratio, rtol, method, digits)

    def one_sided(self, side: str, eps: sp.Expr, rtol: float) -> Interval:
        """δ(ε) of what the ``"below"`` or the ``"above"`` ends come from, both of its own ends within ``rtol``."""
        source: Source = getattr(self._analysed, side)
        (answer,) = source.from_one([Ratio(eps=eps)], rtol, "auto")
        return answer

    def hockey_stick(self, alpha: Any, *, rtol: float = RTOL, method: str = "auto", digits: int | None = None) -> Any:
        r"""Certified bounds of the divergence D_α for any α > 0, of which δ(ε) is the part from α = e^ε = 1 on.

        One `Interval` for one α, a list of them for a list or an array; the other arguments are those of `delta`. Below
        1 it is :math:`D_\alpha(P\|Q) = 1 - \alpha + \alpha D_{1/\alpha}(Q\|P)`, from the pair in the other
        direction.

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5)
        >>> [M.exact(a) in answer for a, answer in zip((0.5, 1, 2), M.hockey_stick([0.5, 1, 2]))]
        [True, True, True]
        """
        return self._for_each(alpha, "alpha", lambda a: Ratio(alpha=arguments.ratio(a)), rtol, method, digits)

    def _for_each(
        self, given: Any, name: str, read: Callable[[Any], Ratio], rtol: Any, method: str, digits: int | None
    ) -> Any:
        asked = arguments.each(given, name, read)
        many = isinstance(asked, list)
        ratios = asked if many else [asked]
        rtol, method = arguments.relative_tolerance(rtol), arguments.one_of(method, "method", METHODS)
        if digits is not None:
            digits = arguments.positive_integer(digits, "digits")
            if method not in ("auto", "exact"):
                raise ValueError(f'method must be "auto" or "exact" where digits are asked for, got {method!r}')
            answers = [self._analysed.to_digits(ratio, digits) for ratio in ratios]
        elif rtol < _FINEST_RTOL:
            raise ValueError(
                f"rtol must be at least {_FINEST_RTOL:.2g}, more than doubles can give, got {rtol:g}; for small n "
                f"digits={math.ceil(-math.log10(rtol))} in place of rtol has that accuracy"
            )
        else:
            answers = self._analysed.hockey_sticks(ratios, rtol, method)
        return answers if many else answers[0]

    def log_delta(self, eps: Any, *, rtol: float = RTOL) -> Any:
        r"""Certified bounds of log δ(ε), by the contour integral: also where δ is far below the smallest double.

        One `Interval` for one ε, a list of them for a list. The bounds of δ itself are no wider than ``rtol`` of the
        upper one; log 0 is −inf.

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=1), 0, 1, 0), n=2000)
        >>> float(mpmath.log(M.exact(sp.E))) in M.log_delta(1)
        True
        """
        ratios, tolerance = arguments.each(eps, "eps", self._ratio), arguments.relative_tolerance(rtol)
        return arguments.each(ratios, "eps", lambda ratio: _at_most_0(self._analysed.log_delta(ratio, tolerance)))

    @staticmethod
    def _ratio(eps: Any) -> Ratio:
        return Ratio(eps=arguments.central_epsilon(eps))

    def epsilon(self, delta: Any, *, rtol: float = RTOL, method: str = "auto") -> Any:
        r"""Certified bounds of the smallest ε with δ(ε) <= ``delta``: δ(upper) <= ``delta`` for certain.

        One `Interval` for one δ, a list of them for a list. The ends are within ``rtol`` of each other (near 0: of the
        ε over which δ falls). ``method`` as in `delta`.
        """
        targets = arguments.each(delta, "delta", arguments.delta_target)
        rtol = arguments.relative_tolerance(rtol)
        arguments.one_of(method, "method", METHODS)
        sources = self.source if isinstance(self.source, tuple) else (self.source,)
        arguments.numeric_only(set().union(*(source.free_symbols for source in sources)), "a number")
        return arguments.each(targets, "delta", lambda target: self._analysed.epsilon(target, rtol, method))

    def analyses(self, *, delta: Any = None, eps: Any = None, rtol: float = RTOL) -> Analyses:
        r"""What every bound and every attack says: ε at ``delta``, or δ at ``eps``; of papers those in `ss.papers`.

        Each value is within ``rtol`` of what its analysis gives. `apps.plots.analyses` draws the table.

        >>> import shuffle_sym as ss
        >>> found = ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000).analyses(delta=1e-6)
        >>> [found.row(name).shown for name in ("clones", "blanket")]
        ['≤ 0.601150', '≤ 0.380640']
        """
        if (delta is None) == (eps is None):
            raise ValueError("delta or eps must be given, one of the two")
        if not isinstance(self._analysed, Mechanism):
            raise TypeError(f"analyses are of a randomizer with n users, got {self!r}, which is one analysis itself")
        tolerance = arguments.relative_tolerance(rtol)
        return table(self._analysed, *(("delta", delta) if eps is None else ("eps", eps)), tolerance)

    # -- the whole curve, and many rounds

    @property
    def closes(self) -> bool:
        """Whether answers get as narrow as one likes: for a pair of laws. Of a mechanism the truth is bracketed."""
        return not isinstance(self._analysed, Mechanism)

    @property
    def both_directions(self) -> bool:
        """Whether the two directions are alike: for a randomizer, whose pairs are all analysed, they are."""
        return self._analysed.reversed() is self._analysed

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
        """Certified values of either direction; they stay, so that a sharper profile begins where this one ends.

        Of a mechanism those of one pair of neighbouring datasets: a curve for the worst of several, each at its own α,
        would not be that of rounds of any.
        """
        analysed = self._analysed
        forward = analysed.below.best if isinstance(analysed, Mechanism) else analysed
        backward = forward.reversed()
        front = _side(forward)
        return (front, front) if backward is forward else (front, _side(backward))

    @cached_property
    def _side_above(self) -> Side:
        """Upper ends of the mechanism, for all datasets and both directions."""
        return _side(self._analysed.above)

    def profile(
        self,
        *,
        rtol: Any = RTOL,
        least_delta: Any = 1e-12,
        max_points: Any = MAX_POINTS,
        progress: Progress | None = None,
    ) -> PrivacyProfile:
        r"""δ(ε) at every ε, bracketed by two curves that are convex in α = e^ε, down to ``least_delta``.

        They are within ``rtol`` of each other, farther out within :math:`1 + 2\log(\delta(0)/\delta(\varepsilon))`
        times that: fine where the curve bends, coarse elsewhere. ``progress`` wraps batches of points, as tqdm does.

        >>> import shuffle_sym as ss
        >>> ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).profile().ends_at_zero
        True
        """
        tolerance, least = arguments.relative_tolerance(rtol), arguments.open_unit(least_delta, "least_delta")
        limit = arguments.positive_integer(max_points, "max_points")
        return self._profile(Sampling(tolerance, ((1.0, least),), limit, progress or no_progress))

    def _profile(self, sampling: Sampling) -> PrivacyProfile:
        for known, profile in self._profiles:
            if known.serves(sampling):
                return profile
        about = {
            "made by": f"shuffle_sym {VERSION}",
            "source": repr(self.source),
            "n": self.n,
            "rtol": float(f"{sampling.rtol:.6g}"),
            "counts from (order, value)": [list(level) for level in sampling.levels],
        }
        below = above = sampling.bracket(*self._sides)
        if isinstance(self._analysed, Mechanism):
            above = sampling.above(self._side_above, self._sides[0])
        profile = PrivacyProfile(below, above, about)
        self._profiles = [*self._profiles[-7:], (sampling, profile)]
        return profile

    def rdp(self, order: Any, *, rtol: Any = RTOL) -> Any:
        r"""Certified bounds of the Rényi divergence of order λ > 1 of the analysed pair, no wider than ``rtol``.

        One `Interval` for one order, a list of them for a list. From the profile: :math:`\mathbb E_Q[(P/Q)^\lambda] = 1
        + \lambda(\lambda-1) \int \alpha^{\lambda-2} (D_\alpha - [1-\alpha]_+)\, d\alpha`. Refused where a loss is
        unbounded.

        >>> import shuffle_sym as ss
        >>> R = ss.BinaryRR(eps0=sp.log(3))
        >>> (worst,) = ss.ground_truth.worst_moments(R, 4, [2])
        >>> float(ss.truth.exact.renyi_divergence(worst.moment, 2)) in ss.Shuffle(R, n=4).rdp(2)
        True
        """
        asked = arguments.each(order, "order", arguments.order)
        many = isinstance(asked, list)
        powers = asked if many else [asked]
        tolerance = arguments.relative_tolerance(rtol)
        if self.max_loss is sp.oo:
            raise ValueError(f"order = {order}: {self!r} has an unbounded loss, so there is no bound here")
        answers = [Interval(0.0, 0.0, "profile")] * len(powers)
        if powers and self.max_loss != 0:
            answers = self._renyi(powers, tolerance)
        return answers if many else answers[0]

    def _renyi(self, orders: list[sp.Expr], rtol: float) -> list[Interval]:
        """From one profile for all orders, refined until each interval is narrow enough."""
        powers = [float(order) for order in orders]
        # What may be left out of the moment less 1, which is at least λ(λ − 1)δ(0)²/2: little, and less of a small one.
        share = rtol / (40 * float(self.max_loss))
        least = dict.fromkeys(powers, share * self.delta(0, rtol=0.1).lower ** 2)
        fine = max(rtol / 2, _ROUGH)
        for _ in range(_MOST_REFINEMENTS):
            levels = tuple((power, min(max(bound, 1e-290), 1e290)) for power, bound in least.items())
            try:
                profile = self._profile(Sampling(fine, levels, MAX_POINTS))
            except BudgetSpentError as refusal:
                raise ValueError(
                    f"order = {max(powers):g} is too much for a profile of {MAX_POINTS} points: values of delta that "
                    f"no double holds would count; orders up to about {600 / float(self.max_loss):.0f} do not need them"
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

    def compose(self, rounds: Any, *, max_points: Any = MAX_POINTS, progress: Progress | None = None) -> Any:
        r"""``rounds`` independent rounds; `shuffle_sym.compose` puts different ones together.

        One `Composition` for one number of rounds, a list of them for a list.

        >>> import shuffle_sym as ss
        >>> ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000).compose(16).rounds
        16
        """
        counts = arguments.each(rounds, "rounds", lambda count: arguments.positive_integer(count, "rounds"))
        return arguments.each(
            counts, "rounds", lambda count: compose([(self, count)], max_points=max_points, progress=progress)
        )

    def loss_distributions(
        self, rtol: float, least: float, max_points: int, progress: Progress
    ) -> tuple[PrivacyLossDistribution, PrivacyLossDistribution]:
        """One that is dominated by the analysed pair and one that dominates it: the pair itself, if it has few
        outcomes."""
        if isinstance(self.source, Decomposition):
            one = ShuffledPLD(self.source, self.n)
            if one.cell_count() <= _FEW_OUTCOMES:
                return one, one
        profile = self._profile(Sampling(rtol, ((1.0, least),), max_points, progress))
        # A loss that is large and rare would make the grid of all rounds long.
        lower, upper = profile.lower.shortened(least, above=False), profile.upper.shortened(least, above=True)
        return CurvePLD(lower), CurvePLD(upper)

    def __repr__(self) -> str:
        return f"Shuffle({self.source!r}, n={self.n})"


def _at_most_0(log: Interval) -> Interval:
    """The logarithm of a number that is at most 1."""
    return log if log.upper <= 0 else replace(log, lower=min(log.lower, 0.0), upper=0.0)


def _source(given: Any, n: int) -> Source:
    """n users of a randomizer are a mechanism, those of a decomposition a pair of laws."""
    if isinstance(given, tuple) and len(given) == 1:
        given = given[0]
    if isinstance(given, tuple):
        return Worst(given, n)
    if isinstance(given, Decomposition):
        return PairOfLaws(given, n)
    return Noise(given.noise, n) if isinstance(given, NoiseBlanket) else Mechanism(given, n)


def _side(source: Source) -> Side:
    """Where the values of one direction of a profile come from."""
    ceiling = None
    if source.max_loss is not sp.oo:
        ((_, largest),) = field.enclosures((field.alpha,), {field.alpha: sp.exp(source.max_loss)}, 64)
        ceiling = rational(largest)

    def evaluate(alphas: Sequence[fmpq], rtol: float) -> list[Interval]:
        ratios = [Ratio(alpha=sp.Rational(int(alpha.p), int(alpha.q))) for alpha in alphas]
        return source.hockey_sticks(ratios, rtol, "auto")

    return Side(evaluate, ceiling, rational(source.impossible))
