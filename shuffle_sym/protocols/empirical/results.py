r"""Results of an audit: they cannot be changed, and print in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.protocols.empirical.agreement import Disagreement
from shuffle_sym.protocols.empirical.events import Bound


@dataclass(frozen=True)
class Audit:
    """The parts that both kinds of audit share: the largest bound, the claim it is compared with, the confidence.

    ``lower`` is a lower bound on ε at ``delta``, and ``disagreements`` are messages that do not come as often as they
    should. A sound implementation is convicted, or has a disagreement, with probability at most ``beta`` in all.
    """

    R: Any
    delta: float
    beta: float
    bound: Bound
    claim: float | None

    @property
    def lower(self) -> float:
        return self.bound.lower

    @property
    def estimate(self) -> float:
        """The point estimate of what ``lower`` bounds, for the event that was tested."""
        return self.bound.estimate

    @property
    def interval(self) -> Interval:
        """The confidence interval of the estimate. Its upper end bounds no ε: another event may reveal more."""
        return self.bound.interval

    @property
    def convicted(self) -> bool:
        """Whether the implementation is less private than claimed."""
        return self.claim is not None and self.lower > self.claim

    def _confidence(self) -> str:
        return f"with confidence {100 * (1 - self.beta):g} %"


@dataclass(frozen=True)
class LocalAudit(Audit):
    """The evidence of ``sizes`` messages of two ``inputs`` about R and its ``claim``; `local` explains the other parts.

    >>> import shuffle_sym as ss
    >>> audit = ss.empirical.local([0] * 80 + [1] * 20, [0] * 20 + [1] * 80, R=ss.BinaryRR(eps0=3))
    >>> audit.verdict, audit.consistent, 0 < audit.lower < audit.estimate
    ('other messages', False, True)
    """

    inputs: tuple[Any, Any]
    sizes: tuple[int, int]
    disagreements: tuple[Disagreement, ...] | None

    @property
    def consistent(self) -> bool | None:
        """Whether all messages come as often as R says, as far as these samples show; None if no R was given."""
        return None if self.disagreements is None else not self.disagreements

    @property
    def verdict(self) -> str:
        """One of "convicted", "other messages" (not those of R, no violation seen), "no violation seen", "no claim"."""
        if self.convicted:
            return "convicted"
        if self.disagreements:
            return "other messages"
        return "no claim" if self.claim is None else "no violation seen"

    def __str__(self) -> str:
        at = f" at delta = {self.delta:g}" if self.delta else ""
        least = f"{self._confidence()} eps0 is at least {Interval(self.lower, self.lower).shown[0]}{at}"
        of = f" of {self.R!r}" if self.R is not None else ""
        if self.convicted:
            start = f"Convicted: {least}, more than the {self.claim:.4g}{of or ' claimed'}."
        elif self.claim is None:
            start = f"{least[0].upper()}{least[1:]}."
        else:
            start = f"No violation seen: {least}, and at most {self.claim:.4g} is claimed."
        rates = [f"{hits / size:.4g}" for hits, size in zip(self.bound.hits, self.bound.sizes, strict=True)]
        own, other = reversed(self.inputs) if self.bound.swapped else self.inputs
        seen = f"Best event: {self.bound.event}, a share of {rates[0]} from input {own} and {rates[1]} from {other}."
        drawn = f"{self.sizes[0]:,} and {self.sizes[1]:,} messages were looked at."
        return " ".join([start, seen, drawn, *self._agreement()])

    def _agreement(self) -> list[str]:
        if self.disagreements is None:
            return []
        if not self.disagreements:
            return [f"They are consistent with {self.R!r}."]
        return [f"They are not those of {self.R!r}: {self.disagreements[0]}."]


@dataclass(frozen=True)
class ShuffledAudit(Audit):
    """The evidence of runs on two ``datasets`` about n users of R, from `shuffled`. ``certified`` is the interval of ε
    at ``delta`` that `Shuffle` gives: a sound implementation stays below its upper end.

    >>> import shuffle_sym as ss
    >>> audit = ss.empirical.shuffled(lambda X: sorted(X), ss.BinaryRR(eps0=1), n=2)  # it forgot the noise
    >>> audit.verdict, audit.runs, str(audit)[:44]
    ('convicted', 780, 'Convicted: with confidence 95 % eps is at le')
    """

    n: int
    certified: Interval
    datasets: Any
    runs: int

    @property
    def verdict(self) -> str:
        """One of "convicted" and "no violation seen"."""
        return "convicted" if self.convicted else "no violation seen"

    def __str__(self) -> str:
        lower, _ = Interval(self.lower, self.lower).shown
        least = f"{self._confidence()} eps is at least {lower} at delta = {self.delta:g}"
        known = f"{self.n} users of {self.R!r}, shuffled,"
        if self.convicted:
            start = f"Convicted: {least}; {known} have at most {self.certified.shown[1]}."
        else:
            start = f"No violation seen: {least}; {known} have between {self.certified.shown[0]} and "
            start += f"{self.certified.shown[1]}."
        seen = f"{self.runs:,} runs on each of two datasets were looked at: {self.datasets}."
        return f"{start} Best event: {self.bound.event}. {seen}"
