r"""`Shuffle`: n users, a shuffler in between, and how private the result is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from flint import fmpq

from shuffle_sym.accounting import cards, groups
from shuffle_sym.accounting.analyses import Analyses, table
from shuffle_sym.accounting.batches import Batch
from shuffle_sym.accounting.mechanism import Crowd, Mechanism
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.pld import CurvePLD, PrivacyLossDistribution, ShuffledPLD
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.risk import Risk
from shuffle_sym.accounting.rounds import MAX_POINTS, compose, renyi
from shuffle_sym.accounting.sampling import Progress, Sampling, Side, no_progress
from shuffle_sym.accounting.sources import METHODS, MaxOverPairs, PairOfLaws, Source, ratio_at
from shuffle_sym.algebra import VERSION, arguments, field, rounding
from shuffle_sym.algebra.interval import RTOL, Interval, hinted
from shuffle_sym.algebra.rationals import rational
from shuffle_sym.model.continuous import NoiseBlanket
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import LocalRandomizer, Randomizer
from shuffle_sym.numeric.transforms import NotSharpError
from shuffle_sym.randomizers.composed import message_space

_FINEST_RTOL = 8 * rounding.UNIT_ROUNDOFF
_SLACK = 3.0  # of the tolerance of curves, in rounds of a mechanism: ε moves by about two thirds of that
_NOTHING = 0.99  # relative width of an answer that says nothing
_FEW_OUTCOMES = 1e6  # histograms that are enumerated rather than sampled


class Shuffle:
    r"""The shuffled messages of ``n`` users who all have the randomizer ``source``.

    Users in groups are a list, ``Shuffle([(R1, n1), (R2, n2), …])``. Two datasets are neighbours if they differ in the
    input of one user. The upper end of an answer holds for all neighbours, and two of them attain its lower end. For
    groups the answer is about the worst user of any group; `group` asks about one. If ``source`` is a decomposition,
    an answer is about that pair of distributions alone, in its own direction.

    >>> import shuffle_sym as ss
    >>> ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).exact(sp.Rational(6, 5))
    2552/15625
    """

    def __init__(self, source: Any, n: Any = None) -> None:
        self._in_groups = isinstance(source, list)
        self.source, self._analysed = _read(source, n)
        self.n = self._analysed.n
        self._steps: tuple[tuple[str, Any], ...] = ()
        self._profiles: dict[Sampling, PrivacyProfile] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (*self._arguments, self._steps)  # what was computed is not sent along

    def _changed(self, source: Source, step: str, argument: int) -> Shuffle:
        """A mechanism of these users of which another question is asked: of a batch, or of one group."""
        other = Shuffle(*self._arguments)
        other._analysed, other._steps = source, (*self._steps, (step, argument))
        return other

    @property
    def _arguments(self) -> tuple[Any, int | None]:
        return (list(self.source), None) if self._in_groups else (self.source, self.n)

    # -- other users

    def group(self, i: Any) -> Shuffle:
        r"""A mechanism of these users whose answers are about a user of group ``i`` (from 0), who differs.

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle([(ss.KRR(k=10, eps0=1), 5_000), (ss.KRR(k=10, eps0=4), 5_000)])
        >>> M.group(0).epsilon(1e-6).upper < M.group(1).epsilon(1e-6).lower
        True
        """
        if self._steps or not self._in_groups:
            raise TypeError(f"group(i) is for users in groups, Shuffle([(R1, n1), (R2, n2), …]), got {self!r}")
        number = arguments.member(i, "i", sp.Integer(len(self.source)))
        whole = self._analysed
        one = whole.of(self.source[number][0]) if isinstance(whole, groups.Groups) else whole
        return self._changed(one, "group", number)

    def sampled_from(self, n: Any) -> Shuffle:
        r"""These users are a batch, drawn without replacement from ``n`` users; neighbouring datasets of all n differ
        in the input of one of them. For users who take part independently of one another see `Sampled`.

        Blanket and drop-out bound hold for the messages of a batch, which has the differing user in it or not (the
        proof is in `accounting.batches`). For continuous noise the interval is wider.

        >>> import shuffle_sym as ss
        >>> ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=2).sampled_from(4).exact(sp.Rational(11, 10))
        17/125
        """
        users = arguments.users(n)
        if not isinstance(self._analysed, Mechanism) or self._in_groups:
            raise TypeError(f"sampled_from(n) is for users with one randomizer who are all shuffled, got {self!r}")
        if users < self.n:
            raise ValueError(f"n must be at least {self.n}, the users in a batch, got {n!r}")
        return self if users == self.n else self._changed(Batch(self._analysed, users), "sampled_from", users)

    def without(self, m: Any) -> Any:
        r"""The mechanism without ``m`` of its users, who give their messages away, stay silent or are absent.

        One mechanism for one m, a list for a list: ``[M.epsilon(1e-6) for M in M.without(range(0, 1_000, 100))]``.
        This is the worst case, whoever they are, and with whatever probabilities up to m users stay away, as long as
        that depends neither on inputs nor on messages. Proof: reveal who stays away. By joint convexity, δ is at most a
        mean over the sets of users left, and it grows as users leave (forgetting the message of a known user is
        post-processing).

        >>> import shuffle_sym as ss
        >>> M = ss.Shuffle(ss.BinaryRR(eps0=1), n=100)
        >>> M.without([0, 10])
        [Shuffle(BinaryRR(eps0=1), n=100), Shuffle(BinaryRR(eps0=1), n=90)]

        For users in groups, m says how many of each group, as in ``M.without((10, 0))``.
        """
        if self._in_groups:
            return _fewer(self.source, m)
        return arguments.each(m, "m", self._without)

    def _without(self, m: Any) -> Shuffle:
        count = arguments.integer_from_0(m, "m")
        if count >= self.n:
            raise ValueError(f"m must be below n = {self.n}: one user at least is left, got {m!r}")
        if self._steps:
            raise TypeError(f"without(m) is for users with one randomizer who are all shuffled, got {self!r}")
        return Shuffle(self.source, self.n - count)

    @property
    def decompositions(self) -> tuple[Decomposition, ...]:
        """The decompositions that are analysed: one, or one for each pair of inputs up to symmetry."""
        return self._analysed.decompositions()

    @property
    def max_loss(self) -> sp.Expr:
        """The largest loss; δ(ε) is exactly 0 from there on."""
        return self._analysed.max_loss

    def exact(self, alpha: Any = None, digits: int = 50, *, eps: Any = None) -> sp.Rational | mpmath.mpf:
        r"""The divergence D_α itself, at α = e^ε > 0 or at ε >= 0: a ``Rational`` where everything is rational, else an
        ``mpf`` with ``digits`` good digits (compute with it in an mpmath context of as many). For small n: the cost
        grows like a power of n.
        """
        if (alpha is None) == (eps is None):
            raise ValueError("alpha or eps must be given, one of the two")
        ratio = arguments.ratio(alpha) if eps is None else sp.exp(arguments.central_epsilon(eps))
        return self._analysed.exact(ratio, arguments.positive_integer(digits, "digits"))

    def delta(self, eps: Any, *, rtol: float = RTOL, method: str = "auto", digits: int | None = None) -> Any:
        r"""Certified bounds of δ(ε), each computed to within ``rtol`` (below 1e-305: from 0 to an upper end).

        One `Interval` for one ε >= 0, a list of them for a list or an array. For a pair of laws it is no wider than
        ``rtol``; for a mechanism the attack and the bound may be farther apart. ``method``: ``"contour"``, the contour
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
        """Bounds of δ(ε) within ``rtol``, of what gives the lower (``side`` "attack") or the upper ends ("bound")."""
        source: Source = getattr(self._analysed, side)
        (answer,) = source.hockey_sticks([Ratio(eps=eps)], rtol)
        return answer

    def hockey_stick(self, alpha: Any, *, rtol: float = RTOL, method: str = "auto", digits: int | None = None) -> Any:
        r"""Certified bounds of the divergence D_α for any α > 0, of which δ(ε) is the part from α = e^ε = 1 on.

        One `Interval` for one α, a list for a list; ``rtol``, ``method`` and ``digits`` are those of `delta`. Below
        1 it is :math:`D_\alpha(P\|Q) = 1 - \alpha + \alpha D_{1/\alpha}(Q\|P)`, the other direction.

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
            answers = self._analysed.on_either_side(ratios, rtol, method)
            for answer in answers:
                self._refuse_wide(answer, rtol)
        return answers if many else hinted(answers[0], "this is not below the largest loss, from which on δ is 0")

    def _refuse_wide(self, answer: Interval, rtol: float) -> None:
        """Both ends of an answer about a pair of laws are within ``rtol`` of each other, or there is no answer."""
        if self.closes and answer.width > rtol * answer.upper >= rtol * rounding.SMALLEST:
            so_far = f"; {answer.relative_width:.2g} was reached" if answer.relative_width < _NOTHING else ""
            raise NotSharpError(
                f"bounds within a relative {rtol:.2g} of each other at n = {self.n} are more than doubles can give"
                f"{so_far}: ask for a larger rtol; digits=… in place of rtol has any accuracy if n is small"
            )

    def log_delta(self, eps: Any, *, rtol: float = RTOL) -> Any:
        r"""Certified bounds of log δ(ε), by the contour integral: also where δ is far below the smallest double.

        One `Interval` for one ε, a list of them for a list. ``rtol`` is that of δ, as in `delta`; log 0 is −inf.

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

        One `Interval` for one δ, a list of them for a list. Each end is computed to within ``rtol`` (near 0: of the ε
        over which δ falls), and for a pair of laws the two are no farther apart. ``method`` as in `delta`.
        """
        targets = arguments.each(delta, "delta", arguments.delta_target)
        rtol = arguments.relative_tolerance(rtol)
        arguments.one_of(method, "method", METHODS)
        arguments.numeric_only(_symbols(self.source), "a numerical answer")
        answers = arguments.each(targets, "delta", lambda target: self._epsilon(target, rtol, method))
        return hinted(answers, f"δ(0) is at most {delta} already; for δ at an ε ask delta(eps=…)")

    def _epsilon(self, target: float, rtol: float, method: str) -> Interval:
        refused = f"delta = {target:g} at n = {self.n}: delta(eps) is not known sharply enough to find eps; "
        try:
            answer = self._analysed.epsilon(target, rtol, method)
        except NotSharpError as refusal:
            if method == "auto":
                raise
            raise NotSharpError(f"{refused}leave method out") from refusal
        if self.closes and answer.width > rtol * max(answer.upper, 1.0):
            inside = answer.lower + min(answer.width, 1.0) / 2
            (delta,) = self._analysed.hockey_sticks([ratio_at(inside)], rtol, method)
            if delta.width > rtol * delta.upper:  # else only doubles near the target are not closer
                raise NotSharpError(f"{refused}ask for a larger rtol, or a larger delta")
        return answer

    def analyses(self, *, delta: Any = None, eps: Any = None, rtol: float = RTOL) -> Analyses:
        r"""ε at ``delta``, or δ at ``eps``, by every bound and every attack, including those of the papers.

        Each value is within ``rtol`` of what its analysis gives. `apps.plots.analyses` draws the table.

        >>> import shuffle_sym as ss
        >>> found = ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000).analyses(delta=1e-6)
        >>> [found.row(name).shown for name in ("clones", "blanket")]
        ['≤ 0.601150', '≤ 0.380640']
        """
        if (delta is None) == (eps is None):
            raise ValueError("delta or eps must be given, one of the two")
        if not isinstance(self._analysed, Crowd):
            raise TypeError(f"analyses is for n users of a randomizer, got {self!r}, which is one analysis itself")
        if not isinstance(self._analysed, Mechanism) or self._in_groups:
            raise TypeError(f"analyses is for n users with one randomizer who are all shuffled, got {self!r}")
        tolerance = arguments.relative_tolerance(rtol)
        return table(self._analysed, *(("delta", delta) if eps is None else ("eps", eps)), tolerance)

    # -- the whole curve, and many rounds

    @property
    def closes(self) -> bool:
        """Whether a smaller ``rtol`` makes answers as narrow as one likes: for a pair of laws, not for a mechanism."""
        return not isinstance(self._analysed, Crowd)

    @property
    def of_all_users(self) -> bool:
        """Whether answers are about any of the n users and about nobody else; not so for a batch, or for one group."""
        return not self._steps

    @property
    def both_directions(self) -> bool:
        """Whether both directions have the same curve; yes for a randomizer, because all its pairs are analysed."""
        return self._analysed.reversed() is self._analysed

    def _sides(self) -> tuple[Side, Side]:
        """Where certified values of either direction come from.

        Of a mechanism those of one pair of neighbouring datasets: a curve for the worst of several, each at its own α,
        would not be that of rounds of any.
        """
        source = self._analysed
        forward = source.attack.best if isinstance(source, Crowd) else source
        backward = forward.reversed()
        front = _side(forward)
        return (front, front) if backward is forward else (front, _side(backward))

    def profile(
        self,
        *,
        rtol: Any = RTOL,
        least_delta: Any = 1e-12,
        max_points: Any = MAX_POINTS,
        progress: Progress | None = None,
    ) -> PrivacyProfile:
        r"""δ(ε) at every ε, bracketed by two curves that are convex in α = e^ε, down to ``least_delta``.

        For a pair of laws they are within ``rtol`` of each other, farther out within :math:`1 + 2\log(\delta(0)/
        \delta(\varepsilon))` times that; where noise hides hardly anybody, the lower one may be farther off next to the
        largest loss. Each has at most ``max_points`` points. ``progress`` wraps batches of points, as tqdm does.

        >>> import shuffle_sym as ss
        >>> ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).profile().ends_at_zero
        True
        """
        levels = ((1.0, arguments.open_unit(least_delta, "least_delta")),)
        tolerance, limit = arguments.relative_tolerance(rtol), arguments.positive_integer(max_points, "max_points")
        return self._profile(Sampling(tolerance, levels, limit, progress or no_progress))

    def _profile_that_serves(self, sampling: Sampling) -> PrivacyProfile:
        """A profile that is at least as good as that, if one is at hand."""
        kept = self._profiles.items()
        return next((one for known, one in kept if known.serves(sampling)), None) or self._profile(sampling)

    def _profile(self, sampling: Sampling) -> PrivacyProfile:
        if sampling in self._profiles:
            return self._profiles[sampling]
        about = {
            "made by": f"shuffle_sym {VERSION}",
            "source": repr(self.source),
            "n": self.n,
            **dict(self._steps),
            "rtol": float(f"{sampling.rtol:.6g}"),
            "least that counts, as (order, value)": [list(level) for level in sampling.levels],
        }
        above = None if self.closes else _side(self._analysed.bound)
        profile = PrivacyProfile(*sampling.brackets(*self._sides(), above), about)
        self._profiles = {**dict(list(self._profiles.items())[-7:]), sampling: profile}
        return profile

    def risk(self, rounds: Any = 1) -> Risk:
        """What the shuffled messages of all ``rounds`` mean for one person, see `accounting.Risk`; printed, in words.

        >>> import shuffle_sym as ss
        >>> sp.Rational(3, 4) in ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), n=1).risk().success("1/2")
        True
        """
        count = arguments.positive_integer(rounds, "rounds")
        return Risk(self.profile()) if count == 1 else self.compose(count).risk()

    def rdp(self, order: Any, *, rtol: Any = RTOL) -> Any:
        r"""Certified bounds of the Rényi divergence of order λ > 1, from curves that are precise to ``rtol``.

        One `Interval` for one order, a list of them for a list. From the profile: :math:`\mathbb E_Q[(P/Q)^\lambda] = 1
        + \lambda(\lambda-1) \int \alpha^{\lambda-2} (D_\alpha - [1-\alpha]_+)\, d\alpha`. A profile that was made
        before is used again if it is good enough, so that last digits may differ. Refused where a loss is unbounded.

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
            raise ValueError(
                f"order = {order}: {self!r} has an unbounded loss, and its profile bounds no Rényi divergence"
            )
        answers = [Interval(0.0, 0.0, "profile")] * len(powers)
        if powers and self.max_loss != 0:
            largest, at_0 = field.not_below(self.max_loss), self.delta(0, rtol=0.1).lower
            answers = renyi(self._profile_that_serves, powers, tolerance, largest, at_0)
        return answers if many else answers[0]

    def compose(self, rounds: Any, *, max_points: Any = MAX_POINTS, progress: Progress | None = None) -> Any:
        r"""``rounds`` independent rounds; `shuffle_sym.compose` puts different ones together.

        One `Composition` for one number, a list of them for a list; ``max_points``, ``progress`` as for `profile`.

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
        """Two privacy loss distributions: the analysed pair dominates the first and is dominated by the second. Both
        are the pair itself if it has few outcomes, else ends of the `profile` down to δ = ``least``, with ``rtol``,
        ``max_points`` and ``progress``."""
        if isinstance(self.source, Decomposition):
            one = ShuffledPLD(self.source, self.n)
            if one.cell_count() <= _FEW_OUTCOMES:
                return one, one
        slack = 1.0 if self.closes else _SLACK
        profile = self._profile(Sampling(rtol, ((1.0, least),), max_points, progress, slack))
        # A loss that is large and rare would make the grid of all rounds long.
        lower, upper = profile.lower.shortened(least, above=False), profile.upper.shortened(least, above=True)
        return CurvePLD(lower), CurvePLD(upper)

    def __repr__(self) -> str:
        steps = "".join(f".{name}({argument})" for name, argument in self._steps)
        users = list(self.source) if self._in_groups else f"{self.source!r}, n={self.n}"
        return f"Shuffle({users})" + steps

    def _repr_html_(self) -> str:
        return cards.of_mechanism(self)


def _again(source: Any, n: int | None, steps: Sequence[tuple[str, Any]]) -> Shuffle:
    """What a pickle says how to make."""
    M = Shuffle(source, n)
    for name, argument in steps:
        M = getattr(M, name)(argument)
    return M


def _at_most_0(log: Interval) -> Interval:
    """The logarithm of a number that is at most 1."""
    return log if log.upper <= 0 else replace(log, lower=min(log.lower, 0.0), upper=0.0)


def _side(source: Source) -> Side:
    """Where the values of one direction of a profile come from."""
    ceiling = None
    if source.max_loss is not sp.oo:
        ((_, largest),) = field.enclosures((field.alpha,), {field.alpha: sp.exp(source.max_loss)}, 64)
        ceiling = rational(largest)

    def evaluate(alphas: Sequence[fmpq], rtol: float) -> list[Interval]:
        ratios = [Ratio(alpha=sp.Rational(int(alpha.p), int(alpha.q))) for alpha in alphas]
        return source.hockey_sticks(ratios, rtol)

    return Side(evaluate, ceiling, rational(source.impossible))


# -- what a mechanism is made from


def _read(source: Any, n: Any) -> tuple[Any, Source]:
    """The source (users of one randomizer, users in groups as a tuple of pairs, or a pair of laws) and the object that
    analyses it; a wrong source is refused."""
    if isinstance(source, list):
        if n is not None:
            raise ValueError(f"n must be left out: groups have their own numbers of users, got n = {n!r}")
        parts = _groups(source)
        return parts, _of_parts(parts)
    entries = source if isinstance(source, tuple) and source else (source,)
    laws = all(isinstance(entry, (Decomposition, NoiseBlanket)) for entry in entries)
    if not laws and not isinstance(source, LocalRandomizer):
        hint = "; it comes first, then n: Shuffle(R, n)" if isinstance(n, LocalRandomizer) else ""
        hint = f"; give it its parameters: {source.__name__}(…)" if isinstance(source, type) else hint
        raise TypeError(f"source must be a randomizer or a Decomposition, got {source!r}{hint}")
    return source, _source(source, arguments.users(n))


def _symbols(source: Any) -> set[sp.Symbol]:
    """The symbols that are left in a source that was read."""
    entries = source if isinstance(source, tuple) else (source,)
    each = (entry[0] if isinstance(entry, tuple) else entry for entry in entries)
    return set().union(*(entry.free_symbols for entry in each))


def _source(given: Any, n: int) -> Source:
    """n users of a randomizer are a mechanism, those of a decomposition a pair of laws."""
    if isinstance(given, tuple) and len(given) == 1:
        given = given[0]
    if isinstance(given, tuple):
        return MaxOverPairs(given, n)
    if isinstance(given, Decomposition):
        return PairOfLaws(given, n)
    return Noise(given.noise, n) if isinstance(given, NoiseBlanket) else Mechanism(given, n)


def _groups(given: Sequence[Any]) -> tuple[tuple[Randomizer, int], ...]:
    """A list of (randomizer, number of users), checked."""
    if not given:
        raise ValueError("groups must not be empty: give at least one (randomizer, number of users)")
    parts = []
    for i, part in enumerate(given):
        if not isinstance(part, (tuple, list)) or len(part) != 2 or not isinstance(part[0], Randomizer):
            raise TypeError(
                f"groups[{i}] must be a pair (randomizer with finitely many messages, number of users), got {part!r}"
            )
        parts.append((part[0], arguments.positive_integer(part[1], f"the users of groups[{i}]")))
    first = parts[0][0]
    for i, (R, _) in enumerate(parts):
        if message_space(R) != message_space(first):
            raise ValueError(
                f"groups must have one message space: {R!r} of groups[{i}] does not send the messages of {first!r}; "
                "name them, with ss.from_matrix(P, messages=[…]) for each group and the same names in all"
            )
    return tuple(parts)


def _of_parts(parts: Sequence[tuple[Randomizer, int]]) -> Mechanism | groups.Groups:
    """Users in groups; groups with one randomizer are one group, and one group is a mechanism as every other."""
    merged: dict[Randomizer, int] = {}
    for R, count in parts:
        merged[R] = merged.get(R, 0) + count
    if len(merged) == 1:
        ((R, count),) = merged.items()
        return Mechanism(R, count)
    return groups.Groups(list(merged.items()))


def _fewer(parts: Sequence[tuple[Randomizer, int]], m: Any) -> Any:
    """The mechanism of these groups without m[g] users of each; a list of such for a list."""
    rows = m.tolist() if isinstance(m, np.ndarray) else m
    if isinstance(rows, list) and all(isinstance(row, (tuple, list)) for row in rows):
        return [_fewer(parts, tuple(row)) for row in rows]
    if not isinstance(rows, (tuple, list)) or len(rows) != len(parts):
        example = ("10", *("0",) * (len(parts) - 1))
        raise ValueError(
            f"m must say how many users of each of the {len(parts)} groups, as ({', '.join(example)}), got {m!r}"
        )
    left = []
    for g, (count, (R, users)) in enumerate(zip(rows, parts, strict=True)):
        number = arguments.integer_from_0(count, f"m[{g}]")
        if number > users:
            raise ValueError(f"m[{g}] must be at most {users}, the users of groups[{g}], got {count!r}")
        left.append((R, users - number))
    if not any(users for _, users in left):
        raise ValueError(f"m must leave at least one user, got {m!r}")
    return Shuffle([part for part in left if part[1]])
