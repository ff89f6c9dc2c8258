r"""The one shape of closed forms: δ(ε) of shuffled messages, and from it ε(δ) and ε0(ε, δ)."""

import inspect
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

import sympy as sp

from shuffle_sym.accounting import analyses
from shuffle_sym.accounting.analyses import Analysis, finite_eps0
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.papers import registry
from shuffle_sym.papers.rounded import MP, Mpf, down, number, up

_PRECISION, _TINY = 1e-10, 1e-300
_SAYS_NOTHING = 60.0  # stands for the logarithm of an excess that is not known
# 40 digits are carried and n is below 2^53: what is lost in n·log(…) is far below this.
_SLACK = MP.mpf(10) ** -20
_LARGEST_EPS0 = 600.0


def excess(value: Any, target: Any) -> float:
    """About log(value/target), and never of the wrong sign: at most 0 if and only if value <= target."""
    size = abs(math.log(value) - math.log(target)) if value > 0 else _SAYS_NOTHING
    return -size if value <= target else max(min(size, _SAYS_NOTHING), _TINY)


def last_that_holds(excess_at: Callable[[float], float], good: float, bad: float) -> float:
    """Between a point where ``excess_at`` is at most 0 and one where it is above 0: where it still is at most 0, within
    1e-10 (relative). Brent's method finds about where; what it finds is checked, and moved until it holds."""
    from scipy import optimize  # it takes as long to import as the rest of this package

    near = optimize.brentq(excess_at, good, bad, xtol=_TINY, rtol=_PRECISION / 8, maxiter=2000)
    step = math.copysign(_PRECISION / 4 * near, good - bad)
    while abs(step) < abs(good - near) and excess_at(near + step) > 0:
        step *= 2
    return near + step if abs(step) < abs(good - near) else good


@dataclass(frozen=True)
class EveryRandomizer:
    """All randomizers that are ε0-LDP."""

    eps0: sp.Expr


def every_randomizer(eps0: Any) -> EveryRandomizer:
    """What a theorem for every ε0-LDP randomizer is asked about: a number ε0."""
    level = arguments.local_epsilon(eps0)
    arguments.numeric_only(level.free_symbols, "a bound")
    return EveryRandomizer(level)


class Amplification:
    r"""A bound :math:`\delta(\varepsilon_0, n, \varepsilon)` on n shuffled ε0-LDP messages, and its two inverses.

    Made from the formula, a function of (source, n, ε) with 0 < ε < ε0 that gives δ with 40 digits; it may exceed 1.
    Where the theorem says nothing it gives 1, or raises ``ValueError``. ε >= ε0 gives 0, and no ε is above ε0:
    shuffling is post-processing. Every number is rounded to the safe side: δ and ε up, ε0 down.

    ``read`` makes the formula's source of what a caller gives: an ε0, or a randomizer whose own numbers are used.
    ``refuse(source, n)`` raises where the theorem is about something else. ``solved(source, n, delta)`` is ε in closed
    form where there is one; it raises where the theorem does not reach δ. ``ends_at`` is an ε0 that the theorem does
    not reach. With a ``title``, the bound is one of those that `Shuffle.analyses` lists; ``source`` says where it is
    from, and ``one_randomizer`` whether all users must share one randomizer, or the
    places may have different ones if the data are shuffled first.

    >>> import shuffle_sym as ss
    >>> isinstance(ss.bounds.balle2019_hoeffding, Amplification)
    True
    """

    __name__: str
    __signature__: inspect.Signature

    def __init__(
        self,
        formula: Callable[[Any, int, Mpf], Mpf],
        read: Callable[[Any], Any] = every_randomizer,
        refuse: Callable[[Any, int], None] | None = None,
        solved: Callable[[Any, int, sp.Expr], float] | None = None,
        ends_at: float | None = None,
        title: str = "",
        source: str = "",
        one_randomizer: bool = True,
    ) -> None:
        update_wrapper(self, formula)
        self.__signature__ = inspect.signature(self.__call__)
        self._formula, self._read, self._refuse, self._solved, self._ends_at = formula, read, refuse, solved, ends_at
        registry.bound(self)
        if title:
            every = read is every_randomizer
            assumes = (analyses.SHARED if one_randomizer else analyses.OR_DATA_FIRST) if every else analyses.GIVEN
            asked = finite_eps0 if every else lambda R: R
            analyses.add(
                Analysis(
                    title,
                    source,
                    "upper",
                    assumes,
                    lambda R, n, delta, rtol: self.epsilon(asked(R), n, delta),
                    lambda R, n, eps, rtol: self.delta(asked(R), n, eps),
                    one_randomizer,
                )
            )

    def delta(self, source: Any, n: Any, eps: Any) -> float:
        """δ at ``eps``, at most 1, of ``n`` users of ``source``: an ε0 or, where the bound takes them, a randomizer."""
        users, exact_eps = arguments.users(n), arguments.central_epsilon(eps)
        return self._delta(self._known(source, users), users, exact_eps)

    def _known(self, source: Any, n: int) -> Any:
        """What the formula needs of the source, with its ``eps0``; refuses what the theorem is not about."""
        known = self._read(source)
        if self._refuse is not None:
            self._refuse(known, n)
        return known

    def _delta(self, source: Any, n: int, eps: sp.Expr) -> float:
        if eps >= source.eps0:
            return 0.0
        if eps == 0:
            return 1.0
        value = self._formula(source, n, number(eps)) * (1 + _SLACK)
        return 1.0 if value >= 1 else up(value)

    def epsilon(self, source: Any, n: Any, delta: Any) -> float:
        """The smallest ε with δ(ε) <= ``delta`` for n users of ``source``, within 1e-10 (relative); ε0 at most."""
        users, target = arguments.users(n), arguments.between_0_and_1(delta, "delta")
        known = self._known(source, users)
        eps0 = up(number(known.eps0))
        if eps0 == 0:
            return 0.0
        if self._solved is not None:
            return min(eps0, self._solved(known, users, target))
        return last_that_holds(lambda eps: excess(self._delta(known, users, sp.Rational(eps)), target), eps0, 0.0)

    def __call__(self, source: Any, n: Any, delta: Any) -> float:
        """The bound on ε, as `epsilon` gives it."""
        return self.epsilon(source, n, delta)

    def eps0(self, n: Any, eps: Any, delta: Any, make: Callable[[sp.Expr], Any] | None = None) -> float:
        """The largest ε0 with δ(ε) <= ``delta`` for n users, within 1e-10 (relative), for every randomizer or, with
        ``make``, for ``make(eps0)``. It is at least ε."""
        users, exact_eps = arguments.users(n), arguments.central_epsilon(eps)
        target = arguments.between_0_and_1(delta, "delta")
        if make is not None and not callable(make):
            raise TypeError(f"make must be a function from eps0 to a randomizer, got {make!r}")
        least = down(number(exact_eps))
        if least <= 0:
            raise ValueError(f"eps must be > 0 to be met with some eps0, got {eps!r}")

        def missing(level: float) -> float:
            if level <= least:
                return -_SAYS_NOTHING
            if self._ends_at is not None and level >= self._ends_at:
                return _SAYS_NOTHING
            exact = sp.Rational(level)
            return self._missing(self._known(exact if make is None else make(exact), users), users, exact_eps, target)

        if self._ends_at is not None:
            last = rounding.below(self._ends_at)
            if least >= last or missing(last) <= 0:
                return max(least, last)
        bad = 2 * least
        while missing(bad) <= 0:
            least, bad = bad, 2 * bad
            if bad > _LARGEST_EPS0:
                raise ValueError(f"every eps0 up to {least:g} meets the target: there is no largest one to return")
        return last_that_holds(missing, least, bad)

    def _missing(self, source: Any, n: int, eps: sp.Expr, delta: sp.Expr) -> float:
        """At most 0 where the theorem, solved for δ or for ε, shows (ε, δ)-DP; else by about how much it does not."""
        found = [_SAYS_NOTHING]
        with suppress(ValueError):
            found.append(excess(self._delta(source, n, eps), delta))
        with suppress(ValueError):
            if self._solved is not None:
                found.append(excess(sp.Rational(self._solved(source, n, delta)), eps))
        return min(found)

    def __reduce__(self) -> str:
        """Pickled as the name it has in its module."""
        return self.__name__

    def __repr__(self) -> str:
        return f"{self.__module__.removesuffix('.bounds')}.{self.__name__}"


def amplification(**how: Any) -> Callable[[Callable[[Any, int, Mpf], Mpf]], Amplification]:
    """Makes an `Amplification` of the formula below it; the arguments are those of `Amplification`."""
    return lambda formula: Amplification(formula, **how)
