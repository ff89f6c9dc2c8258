r"""Shuffled mechanisms in OpenDP, which must be installed and have its features "contrib" and "honest-but-curious" on.

OpenDP takes our word for what a measurement of ours costs ("honest but curious"): the upper ends of our intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import RTOL


def privacy_profile(mechanism: Shuffle, *, rtol: Any = RTOL) -> Any:
    """OpenDP's ``PrivacyProfile`` of n shuffled users: its ``delta`` and ``epsilon`` hold for all neighbours, which
    differ in one user's input. ``rtol`` is how sharply our profile is sampled."""
    curve = _of_a_randomizer(mechanism).profile(rtol=rtol)
    return _opendp().new_privacy_profile(lambda eps: curve.delta(eps).upper)


def measurement(mechanism: Shuffle, run: Callable[[list[Any]], Any], delta: Any, T: Any = int) -> Any:
    """An OpenDP measurement that runs a pipeline on n users, and costs (ε, δ) for a change of one of them.

    The price is that of n shuffled users, so that any other number of inputs is refused: fewer users hide less.

    Args:
        mechanism: all users of ``Shuffle(R, n)``, or of groups; it says what n is, and what ε is at δ.
        run: from a list of n inputs to what the shuffler lets out.
        delta: the δ of the fixed pair (ε, δ).
        T: the type of an input, as OpenDP names it.
    """
    target = arguments.delta_target(delta)
    if not _of_a_randomizer(mechanism).of_all_users:
        raise ValueError(f"mechanism must be about all users, not about a batch or one group, got {mechanism!r}")
    cost = (float(mechanism.epsilon(target).upper), target)
    dp = _opendp()

    def price(changes: int) -> tuple[float, float]:
        if changes > 1:
            raise ValueError(f"d_in must be 0 or 1, the number of users whose input changes, got {changes}")
        return cost if changes else (0.0, 0.0)

    def run_on_all(inputs: list[Any]) -> Any:
        if len(inputs) != mechanism.n:
            raise ValueError(
                f"the price is that of n = {mechanism.n} users: give one input for each, not {len(inputs)}"
            )
        return run(inputs)

    domain = dp.vector_domain(dp.atom_domain(T=T), size=mechanism.n)
    return dp.m.make_user_measurement(
        domain, dp.hamming_distance(), dp.fixed_smoothed_max_divergence(), function=run_on_all, privacy_map=price
    )


def _of_a_randomizer(mechanism: Any) -> Shuffle:
    if not isinstance(mechanism, Shuffle) or mechanism.closes:
        raise TypeError(f"mechanism must be Shuffle of a randomizer, got {mechanism!r}")
    return mechanism


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ImportError("this needs OpenDP: pip install opendp") from None
    return dp
