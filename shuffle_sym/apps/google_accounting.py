r"""Shuffled mechanisms among the events of Google's dp_accounting, which must be installed.

Its accountant composes them with central mechanisms (Gaussian noise, sampling, …) under the replace-one relation, the
one that a shuffled mechanism has here. What is handed over dominates every pair of neighbouring datasets; what that
package does with it afterwards has its own round-off, which is not certified.
"""

from __future__ import annotations

from typing import Any

import attr
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import RTOL


def _mechanism(_: Any, __: Any, value: Any) -> None:
    if not isinstance(value, Shuffle) or value.closes:
        raise TypeError(
            f"mechanism must be Shuffle of a randomizer, so that its bound holds for all neighbours, got {value!r}"
        )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ShuffleDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """The shuffled messages of n users, one round: ``mechanism`` is `Shuffle` of a randomizer, and its profile is
    sampled within ``rtol``.

    >>> import shuffle_sym as ss
    >>> event = ShuffleDpEvent(ss.Shuffle(ss.BinaryRR(eps0=1), n=20), rtol=0.05)
    >>> accountant = ShuffleAccountant().compose(event, 4).compose(dp_event.GaussianDpEvent(noise_multiplier=5.0))
    >>> 0 < accountant.get_epsilon(1e-6) < 5
    True
    """

    mechanism: Any = attr.ib(validator=_mechanism)
    rtol: float = RTOL


class ShuffleAccountant(pld_privacy_accountant.PLDAccountant):  # type: ignore[misc]
    """dp_accounting's PLD accountant, for replace-one neighbours, that knows `ShuffleDpEvent`; ``value_discretization_\
interval`` is the spacing of its grid of losses.

    >>> ShuffleAccountant().supports(dp_event.GaussianDpEvent(1.0))
    True
    """

    _pld: Any

    def __init__(self, value_discretization_interval: Any = 1e-4) -> None:
        spacing = arguments.positive(value_discretization_interval, "value_discretization_interval")
        super().__init__(privacy_accountant.NeighboringRelation.REPLACE_ONE, spacing)
        self._spacing = spacing

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        if not isinstance(event, ShuffleDpEvent):
            return super()._maybe_compose(event, count, do_compose)
        if do_compose:
            dominating = event.mechanism.profile(rtol=event.rtol).as_pld("upper").to_dp_accounting(self._spacing)
            self._pld = self._pld.compose(dominating.self_compose(count))
        return None
