r"""Shuffled mechanisms in Flower: its ``PrivacyAccountant`` protocol (flwr >= 1.35). Copy this file into your project.

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

import shuffle_sym as ss
from shuffle_sym.accounting import StatedMechanism
from shuffle_sym.algebra import arguments, rounding

_BACKEND = "shuffle_sym, replace-one"


class ShuffleAccountant:
    """An accountant for Flower's strategies: ``accountant=ShuffleAccountant(config, {"votes": M})``.

    Args:
        config: Flower's ``PrivacyConfig``.
        shuffled: names of shuffled mechanisms, each `Shuffle` of a randomizer; ``compose("votes")`` counts a round.
        rtol: how sharply answers are computed; they are the upper ends of certified intervals.

    ``compose`` and ``would_exceed`` take a ``GaussianPrivacyEvent`` of Flower, or a name.
    """

    def __init__(self, config: Any, shuffled: Mapping[str, Any] | None = None, *, rtol: Any = 1e-3) -> None:
        self.config, self._shuffled = config, dict(shuffled or {})
        for name, M in self._shuffled.items():
            if not isinstance(M, ss.Shuffle) or M.closes:
                raise TypeError(f"shuffled[{name!r}] must be Shuffle of a randomizer, got {M!r}")
        self._rtol = arguments.relative_tolerance(rtol)
        self._releases: list[tuple[Any, int]] = []  # a name or a noise multiplier, and how often

    @property
    def num_releases(self) -> int:
        return sum(count for _, count in self._releases)

    def compose(self, event: Any, count: int = 1) -> None:
        self._releases.append(self._release(event, count))

    def get_epsilon(self, delta: float) -> float:
        return self._upper("epsilon", arguments.delta_target(delta), self._releases)

    def get_delta(self, epsilon: float) -> float:
        return self._upper("delta", epsilon, self._releases)

    def get_privacy_spent(self, delta: float | None = None) -> Any:
        from flwr.serverapp import PrivacySpent

        target = self.config.target_delta if delta is None else delta
        return PrivacySpent(self.get_epsilon(target), target, self.num_releases, _BACKEND)

    def would_exceed(self, event: Any, max_epsilon: float | None = None, count: int = 1) -> bool:
        limit = self.config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise ValueError("max_epsilon must be given here or in the PrivacyConfig")
        return self._upper("epsilon", self.config.target_delta, [*self._releases, self._release(event, count)]) > limit

    def state_dict(self) -> dict[str, object]:
        return {"backend": _BACKEND, "shuffled": self._named(), "releases": [list(one) for one in self._releases]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state.get("backend") != _BACKEND or state.get("shuffled") != self._named():
            raise ValueError(f"state must be of {_BACKEND!r} with the mechanisms {self._named()}, got {state!r}")
        self._releases = [self._release(event, count) for event, count in state["releases"]]

    def _named(self) -> dict[str, str]:
        return {name: repr(M) for name, M in self._shuffled.items()}

    def _release(self, event: Any, count: Any) -> tuple[Any, int]:
        times = arguments.positive_integer(count, "count")
        if isinstance(event, str):
            return arguments.one_of(event, "event", self._shuffled), times
        return arguments.positive(getattr(event, "noise_multiplier", event), "noise_multiplier"), times

    def _upper(self, question: str, at: float, releases: list[tuple[Any, int]]) -> float:
        parts: list[Any] = [(self._shuffled[name], count) for name, count in releases if isinstance(name, str)]
        squares = sum(4 * count / Fraction(noise) ** 2 for noise, count in releases if not isinstance(noise, str))
        if squares:
            parts.append(StatedMechanism.gaussian(math.sqrt(rounding.up(squares)) * (1 + 4 * rounding.UNIT_ROUNDOFF)))
        return float(getattr(ss.compose(parts), question)(at, rtol=self._rtol).upper) if parts else 0.0
