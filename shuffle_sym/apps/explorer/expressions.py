r"""Python expressions that are shown and computed: both follow from one description, and no text is ever run.

An `Expression` is built by writing down what it says, attribute by attribute and call by call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

import shuffle_sym
from shuffle_sym.algebra import texts

Names = Mapping[str, Any]


@dataclass(frozen=True)
class Expression:
    """``code`` is how Python writes it, ``value(names)`` what it is where these names are defined.

    >>> M = SS.Shuffle(name("R"), n=10).compose(3)
    >>> M.code
    'ss.Shuffle(R, n=10).compose(3)'
    >>> (name("x").real * 2 / 3).value({"x": 6.0})
    4.0
    """

    code: str
    value: Callable[[Names], Any] = field(compare=False, repr=False)

    def __getattr__(self, attribute: str) -> Expression:
        if attribute.startswith("_"):  # asked for by Python itself
            raise AttributeError(attribute)
        return Expression(f"{self.code}.{attribute}", lambda names: getattr(self.value(names), attribute))

    def __call__(self, *positional: Any, **named: Any) -> Expression:
        args, kwargs = [literal(x) for x in positional], {key: literal(x) for key, x in named.items()}
        written = [x.code for x in args] + [f"{key}={x.code}" for key, x in kwargs.items()]

        def value(names: Names) -> Any:
            function, given = self.value(names), [x.value(names) for x in args]
            return function(*given, **{key: x.value(names) for key, x in kwargs.items()})

        return Expression(f"{self.code}({', '.join(written)})", value)

    def __getitem__(self, index: int) -> Expression:
        return Expression(f"{self.code}[{index}]", lambda names: self.value(names)[index])

    def __mul__(self, other: Any) -> Expression:
        by = literal(other)
        return Expression(f"{self.code} * {by.code}", lambda names: self.value(names) * by.value(names))

    def __sub__(self, other: Any) -> Expression:
        less = literal(other)
        return Expression(f"{self.code} - {less.code}", lambda names: self.value(names) - less.value(names))

    def __truediv__(self, other: Any) -> Expression:
        by = literal(other)
        return Expression(f"{self.code} / {by.code}", lambda names: self.value(names) / by.value(names))


def name(which: str) -> Expression:
    """A name that is defined elsewhere."""
    return Expression(which, lambda names: names[which])


def literal(constant: Any) -> Expression:
    """A number or a text as Python writes it; an expression stays what it is, also within lists.

    >>> literal([("a", name("x"))]).code
    "[('a', x)]"
    """
    if isinstance(constant, (list, tuple)):
        parts, make = [literal(x) for x in constant], type(constant)
        ends = "[]" if make is list else "()"
        return Expression(
            f"{ends[0]}{', '.join(x.code for x in parts)}{ends[1]}", lambda names: make(x.value(names) for x in parts)
        )
    return constant if isinstance(constant, Expression) else Expression(repr(constant), lambda names: constant)


def number(text: str | Expression, called: str) -> Expression:
    """A number that was typed: decimals as they stand (the package reads them as typed), else a SymPy number; an
    expression stays what it is.

    >>> [number(text, "x").code for text in ("0.1", "1e4", "log(3)", "1/3")]
    ['0.1', '10000', 'sp.log(sp.Integer(3))', 'sp.Rational(1, 3)']
    """
    if isinstance(text, Expression):
        return text
    exact = texts.read(text, called)
    if exact.is_Integer:
        return literal(int(exact))
    try:
        if sp.Rational(str(float(text))) == exact:
            return Expression(text.strip(), lambda names: float(text))
    except ValueError:
        pass
    return Expression(re.sub(r"\b([A-Za-z]\w*)", r"sp.\1", sp.srepr(exact)), lambda names: exact)


SS = Expression("ss", lambda names: shuffle_sym)
SP = Expression("sp", lambda names: sp)
MIN = Expression("min", lambda names: min)
INT = Expression("int", lambda names: int)
