r"""Shuffled mechanisms in Flower: its ``PrivacyAccountant`` protocol (flwr >= 1.35), which must be installed.

Flower's strategies hand an accountant one Gaussian release after the other. This one composes them with shuffled
mechanisms, and certifies the sum. All numbers are for *one client's data replaced*, whatever the configuration says:
shuffled mechanisms have no other neighbours. An update that is clipped to C then changes a sum by up to 2C, so that a
release with the noise multiplier σ is a Gaussian mechanism with μ = 2/σ, twice what it is for a client who comes or
goes. Sampling of clients counts as no amplification, which is a bound: a client who is not sampled changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from shuffle_sym.accounting.rounds import Composition, compose
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.accounting.stated import StatedMechanism
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.interval import RTOL

_BACKEND = "shuffle_sym, replace-one"


class ShuffleAccountant:
    """An accountant for Flower's strategies: ``accountant=ShuffleAccountant(config, {"votes": M})``.

    Args:
        config: Flower's ``PrivacyConfig``.
        shuffled: names of shuffled mechanisms, each `Shuffle` of a randomizer; ``compose("votes")`` counts a round.
        rtol: how sharply answers are computed.

    ``compose`` and ``would_exceed`` take a ``GaussianPrivacyEvent`` of Flower, or a name.
    """

    def __init__(self, config: Any, shuffled: Mapping[str, Shuffle] | None = None, *, rtol: Any = RTOL) -> None:
        self._config, self._shuffled = config, dict(shuffled or {})
        for name, M in self._shuffled.items():
            if not isinstance(M, Shuffle) or M.closes:
                raise TypeError(f"shuffled[{name!r}] must be Shuffle of a randomizer, got {M!r}")
        self._rtol = arguments.relative_tolerance(rtol)
        self._releases: list[tuple[str | float, int]] = []

    @property
    def config(self) -> Any:
        return self._config

    @property
    def num_releases(self) -> int:
        return sum(count for _, count in self._releases)

    def compose(self, event: Any, count: int = 1) -> None:
        """Count a release, ``count`` times."""
        self._releases.append(self._release(event, count))

    def get_epsilon(self, delta: float) -> float:
        """ε at δ for one client replaced: the upper end of a certified interval."""
        return self._epsilon(delta, self._releases)

    def get_delta(self, epsilon: float) -> float:
        """δ at ε for one client replaced: the upper end of a certified interval."""
        together = self._together(self._releases)
        return together.delta(epsilon, rtol=self._rtol).upper if together else 0.0

    def get_privacy_spent(self, delta: float | None = None) -> Any:
        """Flower's ``PrivacySpent``, at the δ of the configuration if none is given."""
        from flwr.serverapp import PrivacySpent

        target = self._config.target_delta if delta is None else delta
        return PrivacySpent(self.get_epsilon(target), target, self.num_releases, _BACKEND)

    def would_exceed(self, event: Any, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether ε would be above ``max_epsilon`` (that of the configuration, if none is given) with this release."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise ValueError("max_epsilon must be given here or in the PrivacyConfig")
        return self._epsilon(self._config.target_delta, [*self._releases, self._release(event, count)]) > limit

    def state_dict(self) -> dict[str, object]:
        """What was released, as JSON can hold it."""
        return {"backend": _BACKEND, "shuffled": self._named(), "releases": [list(one) for one in self._releases]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` said, with the same shuffled mechanisms."""
        if state.get("backend") != _BACKEND or state.get("shuffled") != self._named():
            raise ValueError(f"state must be of {_BACKEND!r} with the mechanisms {self._named()}, got {state!r}")
        self._releases = [self._release(event, count) for event, count in state["releases"]]

    def _named(self) -> dict[str, str]:
        return {name: repr(M) for name, M in self._shuffled.items()}

    def _release(self, event: Any, count: Any) -> tuple[str | float, int]:
        times = arguments.positive_integer(count, "count")
        if isinstance(event, str):
            return arguments.one_of(event, "event", self._shuffled), times
        noise = getattr(event, "noise_multiplier", event)
        if isinstance(noise, bool) or not isinstance(noise, (int, float)):
            names = list(self._shuffled)
            raise TypeError(f"event must be Flower's GaussianPrivacyEvent or one of {names}, got {event!r}")
        return arguments.positive(noise, "noise_multiplier"), times

    def _together(self, releases: list[tuple[str | float, int]]) -> Composition | None:
        parts = [(self._shuffled[name], count) for name, count in releases if isinstance(name, str)]
        squares = sum(4 * count / Fraction(noise) ** 2 for noise, count in releases if not isinstance(noise, str))
        if squares:
            mu = math.sqrt(rounding.up(squares)) * (1 + 4 * rounding.UNIT_ROUNDOFF)
            parts.append((StatedMechanism.gaussian(mu), 1))
        return compose(parts) if parts else None

    def _epsilon(self, delta: float, releases: list[tuple[str | float, int]]) -> float:
        target, together = arguments.delta_target(delta), self._together(releases)
        return float(together.epsilon(target, rtol=self._rtol).upper) if together else 0.0
