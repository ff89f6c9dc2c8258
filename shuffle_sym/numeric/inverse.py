r"""ε(δ) from certified values of δ(ε)."""

from __future__ import annotations

import math
from collections.abc import Callable

from shuffle_sym.interval import Interval

LARGEST_EPS = 700.0  # e^700 is near the end of the doubles
_MAX_STEPS = 200


def smallest_epsilon(
    delta_at: Callable[[float, float], Interval], target: float, rtol: float, max_loss: float
) -> Interval:
    r"""Bounds on the smallest ε with δ(ε) <= target, for a δ(ε) that does not increase.

    ``delta_at(eps, rtol)`` returns certified bounds of δ. The upper end satisfies δ(upper) <= target for certain,
    the lower end δ(lower) > target (or is 0); ``max_loss`` is an ε at which δ is exactly 0, or inf.
    """
    at_zero = delta_at(0.0, rtol)
    if at_zero.upper <= target:
        return Interval(0.0, 0.0)
    low, high = 0.0, max_loss
    log_target, delta_rtol = math.log(target), max(rtol, 0.02)
    # sqrt(log δ(0) − log δ(ε)) is nearly a straight line in ε: interpolate in it.
    height = math.sqrt(max(math.log(at_zero.upper) - log_target, 1e-12))
    points = [(0.0, 0.0)]
    guess = 2.5 * at_zero.upper * math.sqrt(2) * height
    side = 1
    for _ in range(_MAX_STEPS):
        if high < math.inf and high - low <= rtol * high:
            return Interval(low, high)
        x = _inside(guess * (1 + side * 0.4 * rtol), low, high)
        found = delta_at(x, delta_rtol)
        if found.upper <= target:
            high = x
        elif found.lower > target:
            low = x
        else:
            delta_rtol /= 4
        if x >= LARGEST_EPS and high > x:
            raise ValueError(
                f"delta = {target:g} is not reached by any eps <= {LARGEST_EPS:g}: "
                f"there delta(eps) is still at least {found.lower:.6g}"
            )
        middle = max((found.lower + found.upper) / 2, 5e-324)
        points.append((x, math.sqrt(max(math.log(at_zero.upper) - math.log(middle), 0.0))))
        guess, side = _interpolated(points, height), (-1 if high - guess < guess - low else 1)
    raise ValueError(f"eps for delta = {target:g} is known only to [{low:.6g}, {high:.6g}]; ask for a larger rtol")


def _inside(x: float, low: float, high: float) -> float:
    """x, moved into the open bracket if it left it; the middle of the bracket if x is no help."""
    high = min(high, 2 * LARGEST_EPS)
    if low < x < high:
        return min(x, LARGEST_EPS)
    return min(low + (high - low) / 2, LARGEST_EPS) if high < 2 * LARGEST_EPS else min(2 * low + 1, LARGEST_EPS)


def _interpolated(points: list[tuple[float, float]], height: float) -> float:
    """Where the line through the two points nearest to ``height`` reaches it."""
    (x0, y0), (x1, y1) = sorted(points, key=lambda p: abs(p[1] - height))[:2]
    return x0 + (height - y0) * (x1 - x0) / (y1 - y0) if y1 != y0 else x0
