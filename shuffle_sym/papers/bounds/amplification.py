r"""What a closed form of amplification can be asked: δ(ε), and by one root finder ε(δ) and ε0(ε, δ)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.bounds.moments import Moments
from shuffle_sym.papers.bounds.rounding import DIGITS, number, up

_PRECISION = 1e-10
# 40 digits are carried and n is below 2^53: what is lost in n·log(…) is far below this.
_SLACK = mpmath.mpf(10) ** -20
_LARGEST_EPS0 = 600.0


def last_that_holds(holds: Callable[[float], bool], good: float, bad: float) -> float:
    """Between a point where ``holds`` is true and one where it is not: where it still is, within 1e-10 (relative)."""
    while abs(good - bad) > _PRECISION * max(abs(good), abs(bad)):
        middle = (good + bad) / 2
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


class Amplification(ABC):
    r"""A bound :math:`\delta(\varepsilon_0, n, \varepsilon)` on n shuffled ε0-LDP messages, and its two inverses.

    Where a randomizer can be given instead of ε0, its own range and moments are used. ε >= ε0 gives 0: shuffling is
    post-processing. Every number is rounded to the safe side: δ and ε up, ε0 down.

    >>> import shuffle_sym as ss
    >>> isinstance(ss.bounds.balle2019_hoeffding, Amplification)
    True
    """

    name: str

    @abstractmethod
    def _value(self, moments: Moments, n: int, eps: mpmath.mpf) -> mpmath.mpf:
        """δ at 0 < ε < ε0, with 40 digits; may exceed 1."""

    def _check(self, moments: Moments, n: int) -> None:
        """Refuse what the theorem does not speak about; most speak about everything."""
        return

    def _read(self, source: Any) -> Moments:
        return Moments.of(source)

    def delta(self, source: Any, n: Any, eps: Any) -> float:
        """δ at ε, at most 1."""
        moments, n = self._read(source), arguments.users(n)
        exact_eps = arguments.central_epsilon(eps)
        self._check(moments, n)
        return self._delta(moments, n, exact_eps)

    def _delta(self, moments: Moments, n: int, eps: sp.Expr) -> float:
        if eps >= moments.eps0:
            return 0.0
        if eps == 0:
            return 1.0
        with mpmath.workdps(DIGITS):
            value = self._value(moments, n, number(eps)) * (1 + _SLACK)
            return 1.0 if value >= 1 else up(value)

    def __call__(self, source: Any, n: Any, delta: Any) -> float:
        """The smallest ε with δ(ε) <= ``delta``, within 1e-10 (relative); ε0 where nothing is gained."""
        moments, n, target = self._read(source), arguments.users(n), arguments.between_0_and_1(delta, "delta")
        self._check(moments, n)
        with mpmath.workdps(DIGITS):
            eps0 = up(number(moments.eps0))
        if eps0 == 0 or moments.eps0 == 0:
            return 0.0
        return last_that_holds(lambda eps: self._delta(moments, n, sp.Rational(eps)) <= target, eps0, 0.0)

    def eps0(self, n: Any, eps: Any, delta: Any, make: Callable[[sp.Expr], Any] | None = None) -> float:
        """The largest ε0 with δ(ε) <= ``delta``, within 1e-10 (relative), for every randomizer or, with ``make``, for
        ``make(eps0)``. It is at least ε."""
        n, exact_eps = arguments.users(n), arguments.central_epsilon(eps)
        target = arguments.between_0_and_1(delta, "delta")
        if make is not None and not callable(make):
            raise TypeError(f"make must be a function from eps0 to a randomizer, got {make!r}")
        with mpmath.workdps(DIGITS):
            least = -up(-number(exact_eps))
        if least <= 0:
            raise ValueError(f"eps must be > 0 to be met with some eps0, got {eps!r}")

        def holds(level: float) -> bool:
            exact = sp.Rational(level)
            if level <= least:
                return True
            moments = self._read(exact if make is None else make(exact))
            self._check(moments, n)
            return bool(self._delta(moments, n, exact_eps) <= target)

        return self._search(holds, least)

    def _search(self, holds: Callable[[float], bool], least: float) -> float:
        bad = 2 * least
        while holds(bad):
            least, bad = bad, 2 * bad
            if bad > _LARGEST_EPS0:
                raise ValueError(f"every eps0 up to {least:g} meets the target: there is no largest one to return")
        return last_that_holds(holds, least, bad)

    def __repr__(self) -> str:
        return f"bounds.{self.name}"
