r"""Privacy loss distributions: of a shuffled decomposition, or of any two finite distributions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import fmpq

from shuffle_sym.accounting.convex import HockeyStickCurve
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.rationals import ZERO, rational
from shuffle_sym.model.decomposition import Decomposition, blanket
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.histograms import CUTS, Histograms
from shuffle_sym.numeric.losses import Losses, LossGrid, Outcomes

_MAX_CELLS = 2e8
_LEAST_TAIL = 1e-270
_GRID_TAIL = 1e-20
_MAX_GRID = 1e8


class PrivacyLossDistribution(ABC):
    r"""The law of :math:`\log P(V)/Q(V)` for V drawn from P, for an ordered pair (P, Q) of finite distributions.

    >>> one = PairPLD([sp.Rational(3, 4), sp.Rational(1, 4)], [sp.Rational(1, 4), sp.Rational(3, 4)])
    >>> isinstance(one, PrivacyLossDistribution), one.losses(tail=1e-20).count
    (True, 2)
    """

    #: The largest loss (``oo`` if some outcome is impossible under Q): from there on δ is exactly 0.
    max_loss: sp.Expr

    @abstractmethod
    def losses(self, tail: float) -> Losses:
        """The outcomes, as doubles; a P-mass of about ``tail`` may be left out, and how much is stated."""

    def reversed(self) -> PrivacyLossDistribution:
        """The privacy loss of (Q, P)."""
        raise NotImplementedError(f"{self!r} does not know the privacy loss of (Q, P)")

    def to_dp_accounting(self, value_discretization_interval: Any = 1e-4) -> Any:
        r"""The same as a ``PrivacyLossDistribution`` of Google's dp_accounting, which must be installed.

        Every outcome is split between two points of a grid, ``value_discretization_interval`` apart, so that its
        masses under P and Q stay, and the result dominates; both directions are exported ("remove", "add"). What that
        package does with it afterwards has its own round-off, which is not certified.
        """
        spacing = arguments.positive(value_discretization_interval, "value_discretization_interval")
        try:
            from dp_accounting.pld import privacy_loss_distribution as other
        except ImportError:
            raise ImportError(
                "to_dp_accounting needs Google's package: pip install 'shuffle-sym[interop]' (or dp-accounting)"
            ) from None
        (masses, infinite), (masses_back, infinite_back) = (_on_grid(one, spacing) for one in (self, self.reversed()))
        return other.PrivacyLossDistribution.create_from_rounded_probability(
            masses, infinite, spacing, True, masses_back, infinite_back, symmetric=False
        )


class ShuffledPLD(PrivacyLossDistribution):
    r"""The privacy loss of the reduction pair of ``source``, a decomposition or a randomizer's blanket, with n users.

    A histogram h has the loss :math:`\log \frac{\sum_j h_j a_j/c_j}{\sum_j h_j b_j/c_j}` and, with W the multinomial
    law of (c, β), the P-mass :math:`W(h) \cdot \frac1n \sum_j h_j a_j/c_j`. For `clones_koskela` this is
    Lemma 11 and (6.7) of Koskela et al. 2021.

    ``cut`` chooses the windows: ``"binomial"`` (the exact tail) or ``"hoeffding"`` (their Section 6.2, much wider).
    ``tail`` fixes the mass that may be left out; without it the accountant chooses.

    >>> import shuffle_sym as ss
    >>> ShuffledPLD(ss.decomposition.clones(sp.log(3)), n=10).max_loss
    log(3)
    """

    def __init__(self, source: Decomposition | Randomizer, n: Any, *, tail: Any = None, cut: str = "binomial") -> None:
        if isinstance(source, Randomizer):
            pairs = source.pairs()
            if len(pairs) != 1:
                raise ValueError(
                    f"source must have one pair of inputs up to symmetry, got {source!r} with {len(pairs)}; "
                    "give the decomposition of one pair, such as decomposition.blanket(R, x0, x1)"
                )
            source = blanket(source, *pairs[0])
        if not isinstance(source, Decomposition):
            raise TypeError(f"source must be a Decomposition or a randomizer, got {source!r}")
        self.decomposition, self.n = source, arguments.users(n)
        arguments.numeric_only(source.free_symbols, "the privacy loss distribution")
        self.tail = None if tail is None else arguments.open_unit(tail, "tail")
        self.cut = arguments.one_of(cut, "cut", CUTS)
        self.max_loss = source.max_loss
        self._known: dict[float, Losses] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}  # what was computed is not sent along

    def losses(self, tail: float) -> Losses:
        tail = max(tail if self.tail is None else self.tail, _LEAST_TAIL)
        if tail not in self._known:
            self._known[tail] = self._enumerated(tail)
        return self._known[tail]

    def _histograms(self, tail: float) -> Histograms | None:
        """Of the messages that other users send, too; None if the differing user sends none of these under x0."""
        masses = self.decomposition.floats
        live = masses.c > 0
        # Quotients of doubles: FLOAT_ERROR each, and a rounding.
        u, v, p = masses.a[live] / masses.c[live], masses.b[live] / masses.c[live], masses.c[live]
        if masses.beta > 0:
            u, v, p = np.append(u, 0.0), np.append(v, 0.0), np.append(p, masses.beta)
        largest = float(np.max(u, initial=0.0))
        return Histograms(u, v, p, self.n, tail / max(largest, 1.0), self.cut) if largest else None

    def cell_count(self, tail: float = 1e-20) -> float:
        """About how many outcomes there are, without those that have a P-mass of ``tail`` together."""
        histograms = self._histograms(tail)
        return histograms.cell_count() if histograms else 0.0

    def _enumerated(self, tail: float) -> Losses:
        histograms = self._histograms(tail)
        if histograms is None:
            return Losses(self._null_outcomes)
        self._refuse_too_many(histograms)
        largest = float(np.max(histograms.u))

        def blocks() -> Iterator[Outcomes]:
            yield from self._null_outcomes()
            for block in histograms.blocks():
                shares = block.probabilities * block.first_sums / self.n
                impossible = block.second_sums == 0
                seen = (shares > 0) & ~impossible
                losses = np.log(block.first_sums[seen] / block.second_sums[seen])
                # A sum over all histograms outside is at most the largest u times their probability.
                outside = block.outside * largest * (1 + 1e-12)
                infinite = float(np.sum(shares[impossible]))
                yield Outcomes(losses, shares[seen], infinite, outside, 2 * block.error, 2 * block.sums_error)

        return Losses(blocks)

    def _refuse_too_many(self, histograms: Histograms) -> None:
        cells = histograms.cell_count()
        if cells > _MAX_CELLS:
            raise ValueError(
                f"n = {self.n} with {len(histograms.p)} kinds of messages needs about {cells:.1g} cells, "
                f"more than {_MAX_CELLS:.1g}; clones(eps0) has three kinds, and a larger tail= fewer cells"
            )

    def _null_outcomes(self) -> Iterator[Outcomes]:
        """Messages that only the differing user sends: one outcome each, whatever the others do."""
        masses = self.decomposition.floats
        null = (masses.c == 0) & (masses.a > 0)
        a, b = masses.a[null], masses.b[null]
        error = 4 * (rounding.FLOAT_ERROR + rounding.UNIT_ROUNDOFF)
        yield Outcomes(np.log(a[b > 0] / b[b > 0]), a[b > 0], float(np.sum(a[b == 0])), 0.0, error, error)

    def reversed(self) -> ShuffledPLD:
        """The privacy loss of (Q, P)."""
        return ShuffledPLD(self.decomposition.reversed(), self.n, tail=self.tail, cut=self.cut)

    def __repr__(self) -> str:
        return f"ShuffledPLD({self.decomposition.title}, n={self.n})"


class PairPLD(PrivacyLossDistribution):
    """The privacy loss of two distributions that are given outcome by outcome.

    ``P`` and ``Q`` are equally long sequences, or mappings from outcomes to masses. Fractions must sum to 1; doubles
    must do so up to their roundings, and are divided by their sum.

    >>> from fractions import Fraction as F
    >>> PairPLD({"a": F(3, 4), "b": F(1, 4)}, {"a": F(1, 4), "b": F(3, 4)}).max_loss
    log(3)
    """

    def __init__(self, P: Any, Q: Any) -> None:
        names, p, q = _outcomes(P, Q)
        for name, masses in (("P", p), ("Q", q)):
            for key, mass in zip(names, masses, strict=True):
                if not 0 <= mass <= 1:
                    raise ValueError(f"{name} must hold masses between 0 and 1, got {mass} for outcome {key!r}")
            _refuse_not_normalised(name, masses)
        # The pair is what was given, divided by its sums: those of doubles are off by their roundings.
        p, q = _normalised(p), _normalised(q)
        self.p, self.q = p, q
        with_mass = [(x, y) for x, y in zip(p, q, strict=True) if x > 0]
        self._finite = [(x, y) for x, y in with_mass if y > 0]
        self._infinite = sum((Fraction(x) for x, y in with_mass if y == 0), Fraction(0))
        ratio = max((Fraction(x) / Fraction(y) for x, y in self._finite), default=Fraction(1))
        self.max_loss = sp.oo if self._infinite else sp.log(sp.Rational(ratio.numerator, ratio.denominator))
        self._losses: Losses | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_losses": None}  # what was computed is not sent along

    @staticmethod
    def from_pair(pair: Mapping[Any, tuple[Any, Any]]) -> PairPLD:
        """The privacy loss of a ``pair`` {outcome: (P, Q)}, as `truth.exact` writes pairs."""
        return PairPLD({y: p for y, (p, _) in pair.items()}, {y: q for y, (_, q) in pair.items()})

    def losses(self, tail: float) -> Losses:
        if self._losses is None:
            self._losses = _exact_losses(self._finite, self._infinite)
        return self._losses

    def reversed(self) -> PairPLD:
        return PairPLD(self.q, self.p)

    def __repr__(self) -> str:
        return f"PairPLD({len(self.p)} outcomes)"


class CurvePLD(PrivacyLossDistribution):
    """The privacy loss of the pair that belongs to a hockey-stick curve.

    >>> from fractions import Fraction as F
    >>> from shuffle_sym.accounting.convex import curve_through
    >>> CurvePLD(curve_through([(0, 1), (F(1, 3), F(2, 3)), (3, 0)])).max_loss
    log(3)
    """

    def __init__(self, curve: HockeyStickCurve) -> None:
        self.curve = curve
        largest = curve.vertices[-1][0]
        self.max_loss = sp.oo if curve.infinite != 0 else sp.log(sp.Rational(int(largest.p), int(largest.q)))
        self._losses: Losses | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_losses": None}  # what was computed is not sent along

    def losses(self, tail: float) -> Losses:
        if self._losses is None:
            masses = [(outcome.alpha * outcome.q, outcome.q) for outcome in self.curve.outcomes if outcome.alpha != 0]
            self._losses = _exact_losses(masses, self.curve.infinite)
        return self._losses

    def reversed(self) -> CurvePLD:
        """The privacy loss of (Q, P)."""
        return CurvePLD(self.curve.reversed())

    def __repr__(self) -> str:
        return f"CurvePLD({len(self.curve.outcomes)} outcomes)"


def _on_grid(one: PrivacyLossDistribution, spacing: float) -> tuple[dict[int, float], float]:
    """Point of the grid → P-mass, and what counts as an infinite loss."""
    losses = one.losses(_GRID_TAIL)
    cells = (losses.largest - losses.least) / spacing if losses.count else 0.0
    if cells > _MAX_GRID:
        raise ValueError(
            f"value_discretization_interval = {spacing:g} needs {cells:.2g} points, more than {_MAX_GRID:.1g}; "
            "take a larger one"
        )
    grid = LossGrid(losses, spacing, "split")
    places = np.nonzero(grid.masses > 0)[0]
    masses = {grid.first + int(i): float(grid.masses[i]) for i in places}
    return masses, losses.infinite_bounds[1] + losses.neglected


def _exact_losses(outcomes: Sequence[tuple[Any, Any]], infinite: Any) -> Losses:
    """The losses of outcomes with rational masses P, Q > 0, and the P-mass that is impossible under Q."""
    # What no double holds with all its digits is left out, and counted.
    least = rational(_LEAST_TAIL)
    exact = [(rational(x), rational(y)) for x, y in outcomes]
    kept = [(x, y) for x, y in exact if x > least]
    logs = np.array([log_ratio(x / y) for x, y in kept])
    masses = np.array([float(x) for x, _ in kept])
    neglected = rounding.above(float(sum((x for x, _ in exact if x <= least), ZERO)))
    neglected = neglected if len(kept) < len(exact) else 0.0
    loss_error = 8 * rounding.UNIT_ROUNDOFF * float(np.max(np.abs(logs), initial=0.0))
    block = Outcomes(logs, masses, float(infinite), neglected, 4 * rounding.UNIT_ROUNDOFF, loss_error)
    return Losses(lambda: (block,))


def log_ratio(ratio: fmpq) -> float:
    """The logarithm to within 8 roundings of its own size, whatever the size of numerator and denominator."""
    if 1 < 2 * ratio < 4:
        return math.log1p(float(ratio - 1))
    power = int(ratio.p).bit_length() - int(ratio.q).bit_length()
    return math.log(float(ratio / fmpq(2) ** power)) + power * math.log(2)


def _outcomes(P: Any, Q: Any) -> tuple[list[Any], list[Any], list[Any]]:
    if isinstance(P, Mapping) and isinstance(Q, Mapping):
        names = list(dict.fromkeys([*P, *Q]))
        return names, [_mass(P.get(y, 0), "P") for y in names], [_mass(Q.get(y, 0), "Q") for y in names]
    for name, side in (("P", P), ("Q", Q)):
        if isinstance(side, (str, Mapping)) or not isinstance(side, (Sequence, np.ndarray)) or not len(side):
            raise TypeError(f"{name} must be a sequence of masses (or P and Q both mappings), got {side!r}")
    if len(P) != len(Q):
        raise ValueError(f"P and Q must be equally long, got lengths {len(P)} and {len(Q)}")
    return list(range(len(P))), [_mass(x, "P") for x in P], [_mass(x, "Q") for x in Q]


def _normalised(masses: Sequence[Any]) -> list[Fraction]:
    exact = [Fraction(x) for x in masses]
    total = sum(exact)
    return exact if total == 1 else [x / total for x in exact]


def _mass(value: Any, name: str) -> Any:
    if isinstance(value, (float, np.floating)) and math.isfinite(value):
        return float(value)  # as it is: masses that were computed are not decimals that were typed
    number = arguments.exact_number(value, name)
    if not number.is_Rational:
        raise TypeError(f"{name} must hold fractions or doubles, got {value!r}")
    return Fraction(int(number.p), int(number.q))


def _refuse_not_normalised(name: str, masses: Sequence[Any]) -> None:
    total = sum(map(Fraction, masses), Fraction(0))
    room = Fraction(len(masses) * 4 * rounding.UNIT_ROUNDOFF) if any(isinstance(m, float) for m in masses) else 0
    if abs(total - 1) > room:
        raise ValueError(f"{name} must sum to 1, got the sum {float(total)!r} (off by {float(total - 1):.3g})")
