r"""The Fourier accountant: many rounds, from privacy loss distributions (Koskela et al. 2021, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from shuffle_sym.accounting.pld import PrivacyLossDistribution
from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import RTOL, Interval, outward
from shuffle_sym.algebra.rounding import above
from shuffle_sym.numeric.composed_losses import GivenGrid
from shuffle_sym.numeric.inversion import SMALLEST, Inversion, LossSum
from shuffle_sym.numeric.losses import Losses, multiplied_out
from shuffle_sym.numeric.search import last_that_holds, smallest_epsilon

MAX_BYTES = 2**30
_BYTES_A_POINT = 64  # law, transform, its power, and the weights that read δ off
_SPACINGS = (1e-12, 2.0)
_FEWEST_CELLS, _MOST_CELLS = 2**12, 2**17  # of the losses of one round; fewer outcomes are taken as they are
_FEW_BITS = 16  # 2^16 outcomes are added up one by one
_LARGEST_EPS = 1e9
_TAILS = (1e-20, 1e-40, 1e-80, 1e-160, 1e-270)
ROUNDINGS = ("split", "outward")


class FourierAccountant:
    r"""δ(ε) and ε(δ) after many rounds, from the privacy loss distribution of one.

    ``pld`` is one privacy loss distribution, or a list of them, or of pairs (pld, count): what makes up one round.

    The transform of the loss is inverted by an integral along a line in the complex plane, on which the losses stay
    where they are; the cost does not grow with the number of rounds (`numeric.inversion` has the proof). Few outcomes
    are added up one by one instead.

    ``L`` and ``m`` ask for the published algorithm: a grid of m points on [−L, L), of at most ``max_bytes``.
    ``rounding="split"`` keeps the masses of every outcome under P and Q and has a quadratic error; ``"outward"`` is
    Lemma 6 as published: losses rounded up for the upper end and down for the lower.

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

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("parts", "rounding", "max_bytes", "L", "m")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    # -- the two questions

    def delta(self, eps: Any, rounds: Any = 1, *, rtol: Any = RTOL) -> Any:
        r"""Certified bounds of δ(ε) after ``rounds`` rounds; a list of them for a list of rounds.

        The interval is no wider than ``rtol`` of the upper end. With L and m (or the ``tail`` of a pld) given, the
        width depends on the grid and is not controlled. Below 1e-260 the interval reaches from 0 to an upper end.
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
            start=self._rounds(rounds, _TAILS[0]).epsilon_about(target),
            largest=_LARGEST_EPS,
        )
        return Interval(answer.lower, answer.upper, "fourier")

    # -- how

    def _max_loss(self, rounds: int) -> sp.Expr:
        """The ε from which on δ is exactly 0."""
        return sp.Add(*(rounds * count * pld.max_loss for pld, count in self.parts))

    def _rounds(self, rounds: int, tail: float) -> _Rounds:
        key = (rounds, tail)
        prepared = self._prepared.get(key)
        if prepared is None:
            losses = [pld.losses(tail) for pld, _ in self.parts]
            prepared = _Rounds(losses, [rounds * count for _, count in self.parts])
            self._prepared = {**dict(list(self._prepared.items())[-7:]), key: prepared}
        return prepared

    def _delta(self, eps: float, rounds: int, rtol: float) -> Interval:
        if self.m is not None and self.L is not None:
            return self._on_given_grid(eps, rounds, rtol, self.L, self.m)
        answer = Interval(0.0, 1.0, "fourier")
        for tail in _TAILS:
            prepared = self._rounds(rounds, tail)
            if tail > _TAILS[-1] and prepared.left_out > 0.1 * rtol * prepared.about(eps):
                continue  # it would be seen
            answer = prepared.delta(eps, rtol)
            if answer.width <= rtol * answer.upper or answer.upper < SMALLEST:
                return answer
            if prepared.left_out < 0.5 * answer.width:  # else a smaller tail makes it narrower
                raise ValueError(
                    f"rtol = {rtol:g} at eps = {eps:g} after {prepared.copies} rounds is more than doubles can give; "
                    f"reached so far: {answer} (a relative width of {answer.relative_width:.2g})"
                )
        return answer

    def _on_given_grid(self, eps: float, rounds: int, rtol: float, L: float, m: int) -> Interval:
        prepared = self._rounds(rounds, _TAILS[1])
        if prepared.largest <= eps:
            return prepared.with_finite_part(0.0, 0.0)
        if prepared.grid is None:
            for losses in prepared.losses:
                self._refuse_too_large(math.ceil((losses.largest - losses.least) * m / (2 * L)))
            prepared.grid = GivenGrid(prepared.losses, prepared.counts, 2 * L / m, m, self.rounding == "outward")
        return prepared.with_finite_part(*prepared.grid.ends(eps, rtol))

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
    """The losses of all rounds at one cut-off tail, and what they lose at every ε."""

    def __init__(self, losses: list[Losses], counts: list[int]) -> None:
        self.losses, self.counts, self.copies = losses, counts, sum(counts)
        self.infinite = self._some_round([p.infinite_bounds[0] for p in losses])
        self.lost = self._some_round([p.infinite_bounds[1] + p.neglected for p in losses])
        self.left_out = self.lost - self.infinite
        finite = all(p.count for p in losses)
        ends = (c * (p.largest + 2 * p.loss_error) for c, p in zip(counts, losses, strict=True))
        self.largest = sum(ends) if finite else -math.inf
        #: All outcomes of all rounds, if they are few: their sum needs no transform.
        few = finite and sum(c * math.log2(p.count) for c, p in zip(counts, losses, strict=True)) <= _FEW_BITS
        self.few = losses[0] if self.copies == 1 else multiplied_out(losses, counts) if few else None
        self.grid: GivenGrid | None = None
        self._inversions: dict[int, tuple[Inversion, Inversion]] = {}

    def _some_round(self, masses: list[float]) -> float:
        """1 − Π(1 − mass)^count: some round has such an outcome."""
        logs = [math.log1p(-x) if x < 1 else -math.inf for x in masses]
        return -math.expm1(math.fsum(c * x for c, x in zip(self.counts, logs, strict=True)))

    def with_finite_part(self, lower: float, upper: float) -> Interval:
        return outward(self.infinite + lower, self.lost + upper, "fourier")

    def about(self, eps: float) -> float:
        """A rough estimate of δ."""
        if self.largest <= eps:
            return self.infinite
        law = self._both(_FEWEST_CELLS)[0].law
        return self.infinite + math.exp(max(law.log_delta(eps, law.saddle_point(eps)), -690.0))

    def epsilon_about(self, target: float) -> float:
        """About where δ reaches the target."""
        high = 1.0
        while self.about(high) > target and high < min(self.largest, _LARGEST_EPS):
            high *= 2
        return last_that_holds(lambda eps: self.about(eps) > target, 0.0, high, rtol=1e-3)[1]

    def delta(self, eps: float, rtol: float) -> Interval:
        """Bounds within ``rtol``, or what was reached."""
        if self.largest <= eps:
            return self.with_finite_part(0.0, 0.0)
        if self.few is not None:
            lower, upper = self.few.divergence(eps)
            return self.with_finite_part(lower, upper + (self.few.neglected if self.copies > 1 else 0.0))
        cells, answer = _FEWEST_CELLS, Interval(0.0, 1.0, "fourier")
        while True:
            dominated, dominating = self._both(cells)
            first = dominated.ends(eps, rtol / 2, self.infinite)
            second = first if dominated is dominating else dominating.ends(eps, rtol / 2, self.infinite)
            found = self.with_finite_part(first.lower, second.upper)
            answer = Interval(max(answer.lower, found.lower), min(answer.upper, found.upper), "fourier")
            gap = second.upper - first.upper
            if answer.width <= rtol * answer.upper or gap <= 0.1 * answer.width or cells >= _MOST_CELLS:
                return answer
            # The error of cells goes with the square of their width.
            cells = min(cells * 2 ** math.ceil(math.log2(gap / (0.3 * rtol * second.upper)) / 2 + 0.1), _MOST_CELLS)

    def _both(self, cells: int) -> tuple[Inversion, Inversion]:
        """A sum that is dominated and one that dominates: the same, if the outcomes are few."""
        if cells not in self._inversions:
            few = [one.count <= cells for one in self.losses]
            pairs = [
                (one.together(),) * 2 if f else one.in_cells(cells) for one, f in zip(self.losses, few, strict=True)
            ]
            dominated, dominating = (
                Inversion(LossSum([(pair[side], c) for pair, c in zip(pairs, self.counts, strict=True)]))
                for side in (0, 1)
            )
            self._inversions[cells] = (dominated, dominated if all(few) else dominating)
        return self._inversions[cells]


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
