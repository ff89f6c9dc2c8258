r"""The one shape of Rényi bounds: the divergence of order λ of n shuffled ε0-LDP messages, from above or from below."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

import sympy as sp

from shuffle_sym.accounting import analyses, rdp
from shuffle_sym.accounting.analyses import Analysis, finite_eps0
from shuffle_sym.algebra import arguments, field
from shuffle_sym.papers import registry
from shuffle_sym.papers.rounded import number, up

_MAX_ORDER = 10_000_000
_BEYOND = f"eps0 must be larger for this bound in doubles: the best order is above {_MAX_ORDER}"


@dataclass(frozen=True)
class Users:
    """n users of every ε0-LDP randomizer, in the numbers of a bound in doubles."""

    n: int
    eps0: float
    exact_eps0: sp.Expr

    @staticmethod
    def of(eps0: Any, n: Any) -> "Users":
        """``n`` users of every ``eps0``-LDP randomizer; refuses an ε0 that bounds in doubles cannot take."""
        exact = arguments.local_epsilon(eps0)
        arguments.numeric_only(exact.free_symbols, "a bound")
        users, level = arguments.users(n), float(exact)
        if level > 300 or (level < 1e-15 and exact != 0):
            raise ValueError(f"eps0 must be 0 or between 1e-15 and 300 for a bound in doubles, got {level:g}")
        return Users(users, level, exact)


def integer(order: Any) -> int:
    """An integer order λ >= 2 that bounds in doubles can take."""
    power = arguments.integer_order(order)
    if power > _MAX_ORDER:
        raise ValueError(f"order must be at most {_MAX_ORDER} here, got {power}")
    return power


class RenyiBound:
    r"""A bound on the Rényi divergence of order λ of n shuffled messages of every ε0-LDP randomizer.

    Made from the formula, a function of (users, order) and of the bound's own options, if it has some. ``side`` is
    ``"upper"`` for a bound that no ε0-LDP randomizer exceeds and ``"lower"`` for one that some randomizer reaches.
    λ is an integer unless the bound is for ``real_orders``; `accounting.rdp.interpolated` gives real orders. With a
    ``title``, what follows for (ε, δ) is one of the bounds that `Shuffle.analyses` lists; ``source`` says where it is
    from.

    >>> import shuffle_sym as ss
    >>> sorted(name for name, bound in ss.bounds.ALL.items() if getattr(bound, "side", None) == "lower")
    ['girgis2021_cor35', 'girgis2021_thm34']
    """

    __name__: str
    __signature__: inspect.Signature

    def __init__(
        self,
        formula: Callable[..., float],
        side: str = "upper",
        real_orders: bool = False,
        title: str = "",
        source: str = "",
    ) -> None:
        update_wrapper(self, formula)
        asked, own = (list(inspect.signature(f).parameters.values()) for f in (self.__call__, formula))
        self.__signature__ = inspect.Signature([*asked[:3], *own[2:]])
        self._formula, self.side, self.real_orders = formula, side, real_orders
        registry.bound(self)
        if title:
            analyses.add(Analysis(title, source, "upper", analyses.SHARED, self._epsilon, self._delta))

    def curve(self, eps0: Any, n: Any) -> rdp.RenyiCurve:
        """The bound for n users and ε0 as a function of the order, for `rdp`. Above 10^7, where doubles end, an upper
        bound is infinite and a lower one stays: a best order of 10^7 says that larger ones may be better.

        >>> import shuffle_sym as ss
        >>> best = ss.rdp.epsilon(ss.bounds.girgis2021_thm36.curve(0.1, 10**6), 1e-6)
        >>> round(best.value, 6), best.order > 10_000
        (0.000246, True)
        """

        def at(order: Any) -> float:
            if order <= _MAX_ORDER or self.real_orders:
                return self(eps0, n, order)
            return math.inf if self.side == "upper" else self(eps0, n, _MAX_ORDER)

        return at

    def _epsilon(self, R: Any, n: int, delta: Any, rtol: float) -> float:
        """ε at δ by the best integer order; shuffling is post-processing, so ε0 is one as well."""
        eps0 = finite_eps0(R)
        best = rdp.epsilon(self.curve(eps0, n), delta)
        # Divergences grow with the order: larger ones gain less than log(1/δ)/λ.
        if best.order == _MAX_ORDER and -math.log(delta) > 1e-3 * _MAX_ORDER * best.value:
            raise ValueError(_BEYOND)
        return min(best.value, up(number(eps0)))

    def _delta(self, R: Any, n: int, eps: Any, rtol: float) -> float:
        """δ at ε by the best integer order."""
        eps0 = finite_eps0(R)
        if field.at_least(arguments.central_epsilon(eps), eps0):
            return 0.0
        best = rdp.delta(self.curve(eps0, n), eps)
        if best.order == _MAX_ORDER:
            raise ValueError(_BEYOND)
        return best.value

    def __call__(self, eps0: Any, n: Any, order: Any, *options: Any, **named: Any) -> float:
        """The bound for ``n`` users of every ``eps0``-LDP randomizer at the order λ; options are the bound's own."""
        users, power = Users.of(eps0, n), float(arguments.order(order)) if self.real_orders else integer(order)
        return self._formula(users, power, *options, **named)

    def __reduce__(self) -> str:
        """Pickled as the name it has in its module."""
        return self.__name__

    def __repr__(self) -> str:
        return f"{self.__module__.removesuffix('.bounds')}.{self.__name__}"


def renyi_bound(**how: Any) -> Callable[[Callable[..., float]], RenyiBound]:
    """Makes a `RenyiBound` of the formula below it; the arguments are those of `RenyiBound`."""
    return lambda formula: RenyiBound(formula, **how)
