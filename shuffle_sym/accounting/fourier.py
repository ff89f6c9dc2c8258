r"""The Fourier accountant: many rounds, from privacy loss distributions (Koskela et al. 2021, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from shuffle_sym.accounting.pld import PrivacyLossDistribution
from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import RTOL, Interval, outward
from shuffle_sym.algebra.rounding import above, below
from shuffle_sym.numeric.composed_losses import ComposedLaw, Tilt, Transform
from shuffle_sym.numeric.losses import Losses, LossGrid
from shuffle_sym.numeric.search import smallest_epsilon

MAX_BYTES = 2**30
_BYTES_A_POINT = 64  # law, transform, its power, and the weights that read δ off
_FEWEST_POINTS = 2**10
_MOST_GUESSES = 6
_SPACINGS = (1e-12, 2.0)
_FINER = 10  # powers of 2 between the coarse grids of different parts, at most
_SMALLEST = 1e-260  # below this what is left out is seen: from 0 to an upper end is all that is told
_MOST_AT_FIRST = 2**20
_REUSED = 8  # a transform that is larger by up to this factor is used again
_TAILS = (1e-20, 1e-40, 1e-80, 1e-160, 1e-270)
ROUNDINGS = ("split", "outward")


class FourierAccountant:
    r"""δ(ε) and ε(δ) after many rounds, from the privacy loss distribution of one.

    ``pld`` is one privacy loss distribution, or a list of them, or of pairs (pld, count): what makes up one round.

    ``L`` and ``m`` are those of the published algorithm: a grid of m points on [−L, L). Without them both are chosen,
    and refined until the interval is as narrow as asked for. ``rounding="split"`` keeps the masses of every outcome
    under P and Q and has a quadratic error; ``"outward"`` is Lemma 6 as published: losses rounded up for the upper end
    and down for the lower.

    >>> import shuffle_sym as ss
    >>> one = ss.accounting.ShuffledPLD(ss.decomposition.clones(4), n=10_000)
    >>> FourierAccountant(one).epsilon(1e-6, rounds=16).upper < 2.7
    True
    """

    def __init__(
        self,
        pld: PrivacyLossDistribution | Sequence[Any],
        L: Any = None,
        m: Any = None,
        *,
        rounding: str = "split",
        max_bytes: Any = MAX_BYTES,
    ) -> None:
        self.parts = _parts(pld)
        self.rounding = arguments.one_of(rounding, "rounding", ROUNDINGS)
        self.max_bytes = arguments.positive_integer(max_bytes, "max_bytes")
        self.L = None if L is None else arguments.positive(L, "L")
        self.m = None if m is None else arguments.even(m, "m")
        if (L is None) != (m is None):
            raise ValueError(f"L and m must be given together or not at all, got L = {L}, m = {m}")
        if self.m is not None and self.L is not None:
            self._refuse_too_large(self.m)
            if not _SPACINGS[0] <= 2 * self.L / self.m <= _SPACINGS[1]:
                raise ValueError(
                    f"L and m must make a spacing 2L/m between {_SPACINGS[0]:g} and {_SPACINGS[1]:g}, "
                    f"got L = {L}, m = {m}: {2 * self.L / self.m:.3g}"
                )
        self._forget()

    def _forget(self) -> None:
        self._prepared: dict[Any, _Rounds] = {}
        self._grids: dict[Any, LossGrid] = {}
        self._capped: dict[Any, list[LossGrid]] = {}
        self._transforms: dict[Any, Transform] = {}
        self._laws: dict[Any, ComposedLaw] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("parts", "rounding", "max_bytes", "L", "m")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    # -- the two questions

    def delta(self, eps: Any, rounds: Any = 1, *, rtol: Any = RTOL) -> Any:
        r"""Certified bounds of δ(ε) after ``rounds`` rounds; a list of them for a list of rounds.

        No wider than ``rtol`` of the upper end, unless L and m (or the ``tail`` of a pld) are given: then the width is
        what it is. Below 1e-260 it reaches from 0 to an upper end.
        """
        number = arguments.central_epsilon(eps)
        rtol = arguments.relative_tolerance(rtol)

        def answer(count: int) -> Interval:
            largest = self._max_loss(count)
            if field.at_least(number, largest):
                return Interval(0.0, 0.0, "fourier")
            return self._delta(float(number), count, rtol)

        return self._for_each(rounds, answer)

    def epsilon(self, delta: Any, rounds: Any = 1, *, rtol: Any = RTOL) -> Any:
        """Certified bounds of the smallest ε with δ(ε) <= ``delta`` after ``rounds`` rounds, ``rtol`` wide."""
        target = arguments.delta_target(delta)
        rtol = arguments.relative_tolerance(rtol)
        return self._for_each(rounds, lambda count: self._epsilon(target, count, rtol))

    def _for_each(self, rounds: Any, answer: Callable[[int], Interval]) -> Any:
        counts = arguments.each(rounds, "rounds", lambda count: arguments.positive_integer(count, "rounds"))
        # From many rounds to few: the transform of the widest window serves them all.
        different = sorted(set(counts) if isinstance(counts, list) else {counts}, reverse=True)
        answers = {count: answer(count) for count in different}
        return arguments.each(counts, "rounds", answers.__getitem__)

    def _epsilon(self, target: float, rounds: int, rtol: float) -> Interval:
        largest = self._max_loss(rounds)
        if field.at_least(sp.Integer(0), largest):
            return Interval(0.0, 0.0, "fourier")
        ceiling = math.inf if largest is sp.oo else above(float(largest))
        answer = smallest_epsilon(
            lambda eps, delta_rtol: self._delta(eps, rounds, delta_rtol),
            target,
            rtol,
            ceiling,
            sharpens=self.m is None,
        )
        return Interval(answer.lower, answer.upper, "fourier")

    # -- how

    def _max_loss(self, rounds: int) -> sp.Expr:
        """The ε from which on δ is exactly 0."""
        return sp.Add(*(rounds * count * pld.max_loss for pld, count in self.parts))

    def _rounds(self, rounds: int, tail: float, spacing: float | None = None) -> _Rounds:
        key = (rounds, tail)
        if key not in self._prepared:
            losses = [pld.losses(tail) for pld, _ in self.parts]
            counts = [rounds * count for _, count in self.parts]
            self._prepared = _with(self._prepared, key, _Rounds(losses, counts, spacing, self.rounding))
        return self._prepared[key]

    def _delta(self, eps: float, rounds: int, rtol: float) -> Interval:
        if self.m is not None and self.L is not None:
            return self._on_given_grid(eps, rounds, rtol, self.L, self.m)
        answer = Interval(0.0, 1.0, "fourier")
        for tail in _TAILS:
            prepared = self._rounds(rounds, tail)
            if not prepared.has_finite_part or prepared.largest <= eps:
                answer = prepared.without_finite_part()
                if answer.width <= rtol * answer.upper:
                    break
                continue  # what was left out may exceed ε
            question = _Question(prepared, eps, rtol)
            if tail > _TAILS[-1] and prepared.left_out > 0.1 * rtol * math.exp(question.log_delta):
                continue  # it would be seen
            answer = self._refined(question)
            if answer.width <= rtol * answer.upper:
                break
        return answer

    def _refined(self, question: _Question) -> Interval:
        """Halve the spacing until the interval is narrow enough, or what was left out makes up most of it."""
        eps, rtol, rounds = question.eps, question.rtol, question.rounds
        spacing, lower, upper, blurred = 0.0, 0.0, math.inf, 0
        while True:
            low_end, high_end = question.tilt.window(question.theta)
            low_end, high_end = min(low_end, eps), max(high_end, eps)
            if not spacing:
                at_first = 2.0 ** math.floor(math.log2((high_end - low_end) / _MOST_AT_FIRST))
                spacing = min(max(question.first_spacing, at_first), rounds.coarsest)
            low = math.floor(low_end / spacing) - 2
            size = 2 ** math.ceil(math.log2(max(high_end / spacing - low + 4, _FEWEST_POINTS)))
            reached = f"{(upper - lower) / upper:.2g}" if upper < math.inf else "nothing yet"
            if blurred == 3:
                raise ValueError(f"rtol = {rtol:g} is more than doubles can give (reached so far: {reached})")
            self._refuse_too_large(size, f"; ask for a larger rtol than {rtol:g} (reached so far: {reached})")
            grids = self._grids_of(question, spacing, "split")
            answer = self._ends(question, grids, low, self._size(grids, question.theta, size))
            blurred += answer.upper > upper * (1 + rtol / 4)
            lower, upper = max(lower, answer.lower), min(upper, answer.upper)
            if upper - lower <= max(rtol * upper, 2 * rounds.left_out) or upper < _SMALLEST:
                return Interval(lower, upper, "fourier")
            if not question.smaller_than_guessed(upper):
                spacing /= 2

    def _on_given_grid(self, eps: float, rounds: int, rtol: float, L: float, m: int) -> Interval:
        spacing = 2 * L / m
        prepared = self._rounds(rounds, _TAILS[1], spacing)
        if not prepared.has_finite_part or prepared.largest <= eps:
            return prepared.without_finite_part()
        question, ends = _Question(prepared, eps, rtol), []
        for rounding in ("split",) if self.rounding == "split" else ("down", "up"):
            grids = self._grids_of(question, spacing, rounding)
            ends.append(self._ends(question, grids, -(m // 2), m))
        return Interval(ends[0].lower, ends[-1].upper, "fourier")

    def _ends(self, question: _Question, grids: list[LossGrid], low: int, size: int) -> Interval:
        rounds, eps, theta = question.rounds, question.eps, question.theta
        key = (tuple(grids), rounds, theta, low, size)
        if key not in self._laws:
            transforms = [self._transform(grid, theta, size) for grid in grids]
            counted = list(zip(transforms, rounds.counts, strict=True))
            self._laws = _with(self._laws, key, ComposedLaw(counted, question.tilt, low, size))
        law, rounding = self._laws[key], grids[0].rounding
        lower = 0.0 if rounding == "up" else law.lower(above(eps), question.log_beyond)
        upper = 1.0 if rounding == "down" else law.upper(below(eps))
        lost = rounds.lost([grid.dropped for grid in grids])
        return outward(rounds.infinite + lower, lost + upper)

    def _grids_of(self, question: _Question, spacing: float, rounding: str) -> list[LossGrid]:
        whole = [self._grid(p, spacing, rounding) for p in question.rounds.losses]
        caps = question.caps
        if all(cap == math.inf for cap in caps):
            return whole
        key = (tuple(whole), caps)
        if key not in self._capped:
            self._capped = _with(self._capped, key, [g.capped(cap) for g, cap in zip(whole, caps, strict=True)])
        return self._capped[key]

    def _grid(self, losses: Losses, spacing: float, rounding: str) -> LossGrid:
        key = (losses, spacing, rounding)
        if key not in self._grids:
            self._refuse_too_large(
                math.ceil((losses.largest - losses.least) / spacing), "; ask for a larger rtol, or give L and m"
            )
            self._grids = _with(self._grids, key, LossGrid(losses, spacing, rounding))
        return self._grids[key]

    def _size(self, grids: list[LossGrid], theta: float, least: int) -> int:
        """At least ``least``; that of a transform that exists already, if it is not much larger."""
        for grid, at, size in self._transforms:
            if grid is grids[0] and at == theta and least <= size <= _REUSED * least:
                return int(size)
        return least

    def _transform(self, grid: LossGrid, theta: float, size: int) -> Transform:
        key = (grid, theta, size)
        if key not in self._transforms:
            self._transforms = _with(self._transforms, key, Transform.of(grid, theta, size))
        return self._transforms[key]

    def _refuse_too_large(self, m: int, advice: str = "") -> None:
        if m * _BYTES_A_POINT > self.max_bytes:
            fits = self.max_bytes // _BYTES_A_POINT // 2 * 2
            raise ValueError(
                f"a grid of m = {m} points needs {m * _BYTES_A_POINT} bytes, more than max_bytes = {self.max_bytes}; "
                f"m <= {fits} would fit" + advice
            )

    def __repr__(self) -> str:
        return f"FourierAccountant({self.parts!r})"


class _Rounds:
    """The losses of all rounds at one cut-off tail, what they lose at every ε, and tilts that suit them."""

    def __init__(self, losses: list[Losses], counts: list[int], spacing: float | None, rounding: str) -> None:
        self.losses, self.counts, self.copies = losses, counts, sum(counts)
        self.infinite = self._some_round([p.infinite_bounds[0] for p in losses])
        self.left_out = self.lost([0.0] * len(losses)) - self.infinite
        self.has_finite_part = all(p.count for p in losses)
        self.largest = sum(c * (p.largest + 2 * p.loss_error) for c, p in zip(counts, losses, strict=True))
        self._tilts: dict[Any, Tilt] = {}
        if self.has_finite_part:
            # The coarse laws bound those on finer grids that contain theirs: a given spacing, or powers of 2.
            unit, least = spacing or 1.0, 0 if spacing else -1000
            powers = [max(math.ceil(math.log2(p.coarse_spacing / unit)), least) for p in losses]
            # A part that does not spread must not make all grids fine.
            powers = [max(power, max(powers) - _FINER) for power in powers]
            self.coarsest = unit * 2.0 ** min(powers)
            self.rounded_by = spacing if spacing and rounding == "outward" else 0.0
            self.coarse = [p.coarse(unit * 2.0**power) for p, power in zip(losses, powers, strict=True)]

    def tilt(self, caps: tuple[float, ...]) -> Tilt:
        if caps not in self._tilts:
            laws = [(g.capped(cap), c) for g, cap, c in zip(self.coarse, caps, self.counts, strict=True)]
            self._tilts = _with(self._tilts, caps, Tilt(laws, self.rounded_by))
        return self._tilts[caps]

    def lost(self, dropped: Sequence[float]) -> float:
        """What counts as δ(∞) in the upper end: impossible under Q, left out, or dropped."""
        masses = [p.infinite_bounds[1] + p.neglected + x for p, x in zip(self.losses, dropped, strict=True)]
        return self._some_round(masses)

    def _some_round(self, masses: list[float]) -> float:
        """1 − Π(1 − mass)^count: some round has such an outcome."""
        logs = [math.log1p(-x) if x < 1 else -math.inf for x in masses]
        return -math.expm1(math.fsum(c * x for c, x in zip(self.counts, logs, strict=True)))

    def without_finite_part(self) -> Interval:
        """No sum of finite losses exceeds ε."""
        return outward(self.infinite, self.lost([0.0] * len(self.losses)), "fourier")


class _Question:
    """One ε and tolerance: about how large δ is, the θ to tilt by, and the spacing to begin with.

    How large δ is, is a guess; nothing relies on it but the width of the answer.
    """

    def __init__(self, rounds: _Rounds, eps: float, rtol: float) -> None:
        self.rounds, self.eps, self.rtol = rounds, eps, rtol
        self.log_delta = 0.0
        self._guess()

    def _guess(self) -> None:
        """Drop losses that are too rare to matter for the δ guessed so far, tilt what is left, and guess again."""
        rounds, caps = self.rounds, (math.inf,) * len(self.rounds.losses)
        for _ in range(_MOST_GUESSES):
            self._caps, tilt = caps, rounds.tilt(caps)
            self.saddle_point = tilt.saddle_point(self.eps)
            log_finite = max(tilt.log_delta(self.eps, self.saddle_point), -690.0)
            self.log_delta = min(self.log_delta, max(log_finite, math.log(rounds.infinite + 1e-300)))
            rare = 1e-3 * self.rtol * math.exp(self.log_delta) / rounds.copies
            caps = tuple(grid.cap_for(rare) for grid in rounds.coarse)
            empty = sum(c * cap for c, cap in zip(rounds.counts, caps, strict=True)) <= self.eps
            # Losses that are rounded cannot be dropped: the coarse laws are split, and bound the split ones only.
            if empty or rounds.rounded_by or caps == self._caps:
                break
        # What the lower end loses to changes of sign is about θ(1 + θ)v² of the finite part of δ.
        allowed = self.rtol * math.exp(min(self.log_delta - log_finite, 600.0)) / 4
        v = math.sqrt(allowed / (max(self.saddle_point, 1e-3) * (1 + self.saddle_point)))
        terms = math.sqrt(-rounds.copies * self.log_beyond / 2)
        # A spacing that no grid has, where v underflows: what is then refused says so.
        self.first_spacing = min(2.0 ** math.floor(math.log2(min(max(v, 1e-150), 1.0) / terms)), rounds.coarsest)

    @property
    def untilted(self) -> bool:
        """An untilted law serves every ε and every number of rounds, but its round-off is seen in a δ near 1e-13."""
        return math.log(self.rtol) + self.log_delta > math.log(1e-10)

    @property
    def theta(self) -> float:
        return 0.0 if self.untilted else self.saddle_point

    @property
    def caps(self) -> tuple[float, ...]:
        return (math.inf,) * len(self._caps) if self.untilted else self._caps

    @property
    def tilt(self) -> Tilt:
        return self.rounds.tilt(self.caps)

    @property
    def log_beyond(self) -> float:
        """The log of what the far changes of sign may cost: nothing that is seen."""
        return math.log(1e-3 * self.rtol) + self.log_delta

    def smaller_than_guessed(self, upper: float) -> bool:
        """Whether δ turned out to be much smaller than the saddle point said; then the guess is corrected."""
        log_upper = math.log(max(upper, 1e-300))
        if log_upper >= self.log_delta - 1:
            return False
        self.log_delta = log_upper
        self._guess()
        return True


def _with(known: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    """``known`` and one more; the oldest go."""
    return {**dict(list(known.items())[-7:]), key: value}


def _parts(pld: Any) -> list[tuple[PrivacyLossDistribution, int]]:
    if isinstance(pld, PrivacyLossDistribution):
        return [(pld, 1)]
    if not isinstance(pld, Sequence) or isinstance(pld, str) or not pld:
        raise TypeError(f"pld must be a privacy loss distribution or a list of them, got {pld!r}")
    parts = []
    for entry in pld:
        one, count = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, 1)
        if not isinstance(one, PrivacyLossDistribution):
            raise TypeError(f"pld must hold privacy loss distributions or pairs (pld, count), got {entry!r}")
        parts.append((one, arguments.positive_integer(count, "count")))
    return parts
