r"""`Shuffle`: n users, a shuffler in between, and how private the result is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from importlib import metadata
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym.accounting import divergences
from shuffle_sym.accounting.divergences import METHODS, SHARPENED
from shuffle_sym.accounting.pld import CurvePLD, PrivacyLossDistribution, ShuffledPLD
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.rounds import MAX_POINTS, Composition, compose, finer
from shuffle_sym.accounting.sampling import BudgetSpentError, Progress, Sampling, Side, no_progress
from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import Interval, decimal_end
from shuffle_sym.model import decomposition
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.inverse import smallest_epsilon
from shuffle_sym.truth import exact

_FINEST_RTOL = 8 * field.UNIT_ROUNDOFF
_FEW_OUTCOMES = 1e6  # histograms that are enumerated rather than sampled
_MOST_REFINEMENTS = 8
_ROUGH = 0.02  # tolerance of a profile that is made to see how large a Rényi moment is


class Shuffle:
    r"""The shuffled messages of n users.

    Given a randomizer: its privacy blanket, and the worst of all ordered pairs (x0, x1); then δ(ε) holds for every
    pair of neighbouring datasets, in both directions. Given a decomposition: that one, in its own direction.

    >>> import shuffle_sym as ss
    >>> ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).exact(sp.Rational(6, 5))
    2552/15625
    """

    def __init__(self, source: Randomizer | Decomposition | Continuous, n: Any) -> None:
        if not isinstance(source, (Randomizer, Decomposition, Continuous)):
            raise TypeError(f"source must be a randomizer or a Decomposition, got {source!r}")
        self.n = arguments.users(n)
        self.source = source
        self._profiles: list[tuple[Sampling, PrivacyProfile]] = []

    @cached_property
    def decompositions(self) -> tuple[Decomposition, ...]:
        """What is analysed: one decomposition, or one for each pair of inputs that is different from the others."""
        if isinstance(self.source, Decomposition):
            return (self.source,)
        if isinstance(self.source, Continuous):
            raise TypeError(
                f"{self.source!r} is continuous; for exact values take a discretisation from either side, "
                "R.lower(cells) and R.upper(cells)"
            )
        return decomposition.blankets(self.source)

    @cached_property
    def max_loss(self) -> sp.Expr:
        """The largest loss; δ(ε) is exactly 0 from there on."""
        if isinstance(self.source, Continuous):
            return self.source.eps0
        return sp.Max(*(D.max_loss for D in self._numeric()))

    @cached_property
    def _analysed(self) -> divergences.Analysed:
        if isinstance(self.source, Continuous):
            return divergences.Noise(self.source, self.n)
        return divergences.Blankets(self._numeric(), self.n)

    def _numeric(self) -> tuple[Decomposition, ...]:
        for D in self.decompositions:
            arguments.numeric_only(D.free_symbols, "a number")
        return self.decompositions

    def exact(self, alpha: Any, digits: int = 50) -> sp.Rational | mpmath.mpf:
        r"""The divergence D_α itself, α = e^ε > 0: a ``Rational`` where everything is rational, else an ``mpf`` with
        ``digits`` good digits (compute with it inside ``mpmath.workdps``). For small n: the cost grows like a power
        of n.
        """
        a, digits = arguments.ratio(alpha), arguments.positive_integer(digits, "digits")
        found = (exact.divergence(D, self.n, a, digits) for D in self._numeric())
        return max(found, key=lambda value: arguments.exact_number(value, "value"))

    def delta(self, eps: Any, *, rtol: float = 1e-3, method: str = "auto", digits: int | None = None) -> Any:
        r"""Certified bounds of δ(ε), no wider than ``rtol`` of the upper end (below 1e-305: from 0 to an upper end).

        One `Interval` for one ε >= 0, a list of them for a list or an array. ``method``: ``"contour"`` is the contour
        integral, which costs the same for every n; ``"binomial"`` sums binomial tails, where G has one positive and one
        negative value (2-RR, clones); ``"fft"`` is the mean-preserving lattice; ``"exact"`` the exact sum (small n);
        ``"fft-published"`` Algorithm 4 of Su et al. 2025 as printed, whose width is what it is. ``"auto"`` takes the
        cheapest of the first three that meets ``rtol``, and the exact sum if it is short and none does; ``.method`` of
        the interval says which. No method changes the truth, only the width.

        With ``digits``, the exact sum in place of doubles: two ``Decimal`` ends within 10^-digits of each other. It
        costs a power of n; what is too much is refused, with the largest n that is not.

        >>> import shuffle_sym as ss
        >>> print(ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).delta(sp.log(6) - sp.log(5), digits=20))  # 2552/15625
        [0.1633279999999999999999, 0.1633280000000000000001]
        """
        return self._for_each(eps, "eps", lambda e: Ratio(eps=arguments.central_epsilon(e)), rtol, method, digits)

    def hockey_stick(self, alpha: Any, *, rtol: float = 1e-3, method: str = "auto", digits: int | None = None) -> Any:
        r"""Certified bounds of the divergence D_α for any α > 0, of which δ(ε) is the part from α = e^ε = 1 on.

        One `Interval` for one α, a list of them for a list or an array; the other arguments are those of `delta`. Below
        1 it is :math:`D_\alpha(P\|Q) = 1 - \alpha + \alpha D_{1/\alpha}(Q\|P)`, from the pair in the other
        direction.

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5)
        >>> [M.exact(a) in found for a, found in zip((0.5, 1, 2), M.hockey_stick([0.5, 1, 2]))]
        [True, True, True]
        """
        return self._for_each(alpha, "alpha", lambda a: Ratio(alpha=arguments.ratio(a)), rtol, method, digits)

    def _for_each(
        self, given: Any, name: str, read: Callable[[Any], Ratio], rtol: Any, method: str, digits: int | None
    ) -> Any:
        many = isinstance(given, (list, tuple, range, np.ndarray))
        if isinstance(given, np.ndarray) and given.ndim != 1:
            raise ValueError(f"{name} must be a number or a sequence of numbers, got an array of shape {given.shape}")
        ratios = [read(number) for number in given] if many else [read(given)]
        rtol, method = arguments.relative_tolerance(rtol), arguments.one_of(method, "method", METHODS)
        if digits is not None:
            digits = arguments.positive_integer(digits, "digits")
            if method not in ("auto", "exact"):
                raise ValueError(f'method must be "auto" or "exact" where digits are asked for, got {method!r}')
            found = [self._to_digits(ratio, digits) for ratio in ratios]
        elif rtol < _FINEST_RTOL:
            raise ValueError(
                f"rtol must be at least {_FINEST_RTOL:.2g}, more than doubles can give, got {rtol:g}; for small n "
                f"digits={math.ceil(-math.log10(rtol))} in place of rtol has that accuracy"
            )
        else:
            found = divergences.at_every_alpha(self._analysed, ratios, rtol, method)
        return found if many else found[0]

    def _to_digits(self, ratio: Ratio, digits: int) -> Interval:
        """By the exact sum; the ends are decimals, rounded outward."""
        for D in self._numeric():
            if self.n > (most := exact.most_users(D)):
                raise ValueError(
                    f"digits = {digits} takes the exact sum, which ends in time up to n = {most} for this "
                    f"decomposition, got n = {self.n}; delta(eps, rtol=…) has an answer in doubles for every n"
                )
        ends = []
        for D in self._numeric():
            value = arguments.exact_number(exact.divergence(D, self.n, ratio.alpha, digits + 3), "value")
            off = sp.Rational(1, 10 ** (digits + 3))  # of an mpf; nothing, in fact, of a fraction
            ends.append([decimal_end(value * (1 + side * off), digits + 2, side) for side in (-1, 1)])
        return Interval(max(low for low, _ in ends), max(high for _, high in ends), "exact")

    def log_delta(self, eps: Any, *, rtol: float = 1e-3) -> Interval:
        r"""Certified bounds of log δ(ε), by the contour integral: also where δ is far below the smallest double.

        The bounds of δ itself are no wider than ``rtol`` of the upper one; log 0 is −inf.

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=1), 0, 1, 0), n=2000)
        >>> float(mpmath.log(M.exact(sp.E))) in M.log_delta(1)
        True
        """
        ratio = Ratio(eps=arguments.central_epsilon(eps))
        rtol = arguments.relative_tolerance(rtol)
        ends = [divergences.log_delta(D, self.n, ratio, rtol) for D in self._numeric()]
        return Interval(max(e[0] for e in ends), max(e[1] for e in ends), "contour")

    def epsilon(self, delta: Any, *, rtol: float = 1e-3, method: str = "auto") -> Interval:
        r"""Certified bounds of the smallest ε with δ(ε) <= ``delta``: δ(upper) <= ``delta`` for certain.

        They are within ``rtol`` of each other (near 0: of the ε over which δ falls); with ``method="fft-published"``,
        whose δ is not sharp, as close as it allows.
        """
        target = arguments.delta_target(delta)
        rtol = arguments.relative_tolerance(rtol)
        arguments.one_of(method, "method", METHODS)
        if not isinstance(self.source, Continuous):
            self._numeric()
        ceiling = math.inf if self.max_loss is sp.oo else math.nextafter(float(self.max_loss), math.inf)
        used: dict[str | None, None] = {}

        def delta_at(eps: float, delta_rtol: float) -> Interval:
            (found,) = divergences.at_every_alpha(
                self._analysed, [Ratio(eps=arguments.central_epsilon(eps))], delta_rtol, method
            )
            used[found.method] = None
            return found

        found = smallest_epsilon(
            delta_at,
            target,
            rtol,
            ceiling,
            sharpens=method in SHARPENED,
        )
        return Interval(found.lower, found.upper, "+".join(name for name in used if name and name != "auto") or method)

    # -- the whole curve, and many rounds

    @cached_property
    def both_directions(self) -> bool:
        """Whether the two directions are alike: for a randomizer, whose pairs are all analysed, they are."""
        return not isinstance(self.source, Decomposition) or self.source == self.source.reversed()

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
        """Certified values of either direction; they stay, so that a finer profile begins where this one ends."""
        forward = self._side()
        if self.both_directions or not isinstance(self.source, Decomposition):
            return forward, forward
        return forward, Shuffle(self.source.reversed(), self.n)._side()

    def _side(self) -> Side:
        ceiling = None
        if self.max_loss is not sp.oo:
            ((_, ceiling),) = field.enclosures((field.alpha,), {field.alpha: sp.exp(self.max_loss)}, 64)
        impossible = (
            0.0 if isinstance(self.source, Continuous) else max(_impossible(D, self.n) for D in self._numeric())
        )
        return Side(self._at_alphas, ceiling, Fraction(impossible))

    def _at_alphas(self, alphas: Sequence[Fraction], rtol: float) -> list[Interval]:
        found: list[Interval] = self.hockey_stick(list(alphas), rtol=rtol)
        return found

    def profile(
        self,
        *,
        rtol: Any = 1e-3,
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
            "made by": f"shuffle_sym {metadata.version('shuffle-sym')}",
            "source": repr(self.source),
            "n": self.n,
            "rtol": float(f"{sampling.rtol:.6g}"),
            "counts from (order, value)": [list(level) for level in sampling.levels],
        }
        found = PrivacyProfile(sampling.bracket(*self._sides), about)
        self._profiles = [*self._profiles[-7:], (sampling, found)]
        return found

    def rdp(self, order: Any, *, rtol: Any = 1e-3) -> Any:
        r"""Certified bounds of the Rényi divergence of order λ > 1 of the analysed pair, no wider than ``rtol``.

        One `Interval` for one order, a list of them for a list. From the profile: :math:`\mathbb E_Q[(P/Q)^\lambda] = 1
        + \lambda(\lambda-1) \int \alpha^{\lambda-2} (D_\alpha - [1-\alpha]_+)\, d\alpha`. Refused where a loss is
        unbounded.

        >>> import shuffle_sym as ss
        >>> R = ss.BinaryRR(eps0=sp.log(3))
        >>> moment = ss.exact.renyi_moment(ss.decomposition.blanket(R), 4, 2)
        >>> float(ss.exact.renyi_divergence(moment, 2)) in ss.Shuffle(R, n=4).rdp(2)
        True
        """
        many = isinstance(order, (list, tuple, range, np.ndarray))
        powers = [arguments.order(each) for each in order] if many else [arguments.order(order)]
        tolerance = arguments.relative_tolerance(rtol)
        if self.max_loss is sp.oo:
            raise ValueError(f"order = {order}: {self!r} has an unbounded loss, so there is no bound here")
        found = [Interval(0.0, 0.0, "profile")] * len(powers)
        if powers and self.max_loss != 0:
            found = self._renyi(powers, tolerance)
        return found if many else found[0]

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
            found = [profile.rdp(order) for order in orders]
            widest = max(interval.relative_width for interval in found)
            if widest <= rtol:
                return found
            for power, interval in zip(powers, found, strict=True):
                moment = math.expm1(min((power - 1) * interval.lower, 600.0))
                least[power] = share * moment / (power * (power - 1))
            # At first only how large the moments are was to be seen.
            fine = rtol / 2 if fine > rtol / 2 else finer(fine, rtol, widest)
        raise ValueError(
            f"rtol = {rtol:g} at these orders is more than a profile of {MAX_POINTS} points gives; "
            f"ask for a larger rtol (reached so far: {widest:.2g})"
        )

    def compose(self, rounds: Any, *, max_points: Any = MAX_POINTS, progress: Progress | None = None) -> Composition:
        r"""``rounds`` independent rounds; `shuffle_sym.compose` puts different ones together.

        >>> import shuffle_sym as ss
        >>> ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000).compose(16).rounds
        16
        """
        return compose([(self, rounds)], max_points=max_points, progress=progress)

    def loss_distributions(
        self, rtol: float, least: float, max_points: int, progress: Progress
    ) -> tuple[PrivacyLossDistribution, PrivacyLossDistribution]:
        """One that is dominated by the analysed pair and one that dominates it: the pair itself, if it has few
        outcomes."""
        if not isinstance(self.source, Continuous) and len(self._numeric()) == 1:
            one = ShuffledPLD(self.decompositions[0], self.n)
            if one.cell_count() <= _FEW_OUTCOMES:
                return one, one
        profile = self._profile(Sampling(rtol, ((1.0, least),), max_points, progress))
        # A loss that is large and rare would make the grid of all rounds long.
        lower, upper = profile.lower, profile.upper
        cut = Fraction(least)
        return CurvePLD(lower.shortened(cut, above=False)), CurvePLD(upper.shortened(cut, above=True))

    def __repr__(self) -> str:
        return f"Shuffle({self.source!r}, n={self.n})"


def _impossible(D: Decomposition, n: int) -> float:
    """A lower bound of the probability under x0 of what is impossible under x1: a message that only x0 sends, and from
    all others messages that do not tell."""
    masses = D.floats
    only = (masses.b == 0) & (masses.a > 0)
    alone, among = float(np.sum(masses.a[only & (masses.c == 0)])), only & (masses.c > 0)
    silent = float(np.sum(masses.c[masses.b == 0])) + float(masses.beta)
    hidden = float(np.sum(masses.a[among])) * min(silent, 1.0) ** (n - 1)
    return max((alone + hidden) * (1 - (n + len(masses.a)) * 16 * field.FLOAT_ERROR), 0.0)
