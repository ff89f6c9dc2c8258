r"""Symbols that carry their range: what a proof may use of a symbol is part of the symbol, never of its name."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments


class Parameter(sp.Symbol):  # type: ignore[misc]
    r"""A real symbol between ``least`` and ``greatest``, both included. Equal are those of one name *and* one range.

    >>> Parameter("p", 0, 1) == Parameter("p", 0, 1), Parameter("p", 0, 1) == Parameter("p", 0, 2)
    (True, False)
    """

    __slots__ = ("greatest", "least")

    least: sp.Expr
    greatest: sp.Expr

    def __new__(cls, name: str, least: Any = 0, greatest: Any = sp.oo, integer: bool = False) -> "Parameter":
        low, high = sp.sympify(least), sp.sympify(greatest)
        assumptions: dict[str, bool] = {"integer": True} if integer else {}
        if low.is_nonnegative:
            assumptions["positive" if low.is_positive else "nonnegative"] = True
        elif high.is_nonpositive:
            assumptions["negative" if high.is_negative else "nonpositive"] = True
        assumptions.setdefault("real", True)
        # Not Symbol's own constructor: its cache knows names and assumptions only, and would mix up two ranges.
        symbol: Parameter = sp.Symbol.__xnew__(cls, name, **assumptions)
        symbol.least, symbol.greatest = low, high
        return symbol

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.least, self.greatest, bool(self.is_integer)), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.least, self.greatest)

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        """The place of a symbol in a printed sum: that of every other symbol."""
        return sp.Symbol.class_key()  # type: ignore[no-any-return]

    def renamed(self, name: str) -> "Parameter":
        """A parameter with the same range and another name."""
        return type(self)(name, self.least, self.greatest, bool(self.is_integer))


class Irrational(Parameter):
    """Stands for an irrational part of a formula; no symbol of a user is equal to it, whatever its name."""

    __slots__ = ()


def parameter(name: Any, least: Any = 0, greatest: Any = sp.oo, *, integer: bool = False) -> Parameter:
    r"""A symbol with a range, for formulas whose signs are to be proved for every value in it.

    Arguments:
        name: how it is written.
        least: the smallest value it may take, a rational number.
        greatest: the largest value it may take, a rational number or ``sp.oo``.
        integer: whether it only takes whole numbers.

    A matrix with a probability p of at most 1/9 in it, in place of a number:

    >>> import shuffle_sym as ss
    >>> p = ss.parameter("p", 0, sp.Rational(1, 9))
    >>> ss.from_matrix([[1 - p, p], [p, 1 - p]]).gamma
    2*p
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a text such as 'p', got {name!r}")
    low = arguments.exact_number(least, "least")
    high = sp.oo if greatest is sp.oo else arguments.exact_number(greatest, "greatest")
    for end, called in ((low, "least"), (high, "greatest")):
        if not (end.is_Rational or end is sp.oo):
            raise ValueError(f"{called} must be a rational number, got {end}")
    if not low < high:
        raise ValueError(f"greatest must be above least = {low}, got {high}")
    return Parameter(name, low, high, integer)


def range_of(symbol: sp.Symbol) -> tuple[sp.Expr | None, sp.Expr | None]:
    """The least and the greatest value of a symbol, from its range or its assumptions; None where nothing is known."""
    if isinstance(symbol, Parameter):
        return (None if symbol.least is -sp.oo else symbol.least, None if symbol.greatest is sp.oo else symbol.greatest)
    return (sp.Integer(0) if symbol.is_nonnegative else None), (sp.Integer(0) if symbol.is_nonpositive else None)
