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
from shuffle_sym.apps import catalogue
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.randomizer import Randomizer

Names = Mapping[str, Any]
#: Randomizers that are typed in: what they take, and what that is at first.
TYPED = {
    "matrix": {"rows": "0.7 0.2 0.1; 0.2 0.6 0.2; 0.1 0.2 0.7"},
    "density": {"density": "exp(-2*abs(y - x))", "least": "0", "greatest": "1"},
}


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

    def __truediv__(self, other: Any) -> Expression:
        by = literal(other)
        return Expression(f"{self.code} / {by.code}", lambda names: self.value(names) / by.value(names))


def name(which: str) -> Expression:
    """A name that is defined elsewhere."""
    return Expression(which, lambda names: names[which])


def literal(constant: Any) -> Expression:
    """A number or a text as Python writes it; an expression stays what it is, also within lists."""
    if isinstance(constant, (list, tuple)):
        parts, shown = [literal(x) for x in constant], "[{}]" if isinstance(constant, list) else "({})"
        code = shown.format(", ".join(x.code for x in parts))
        return Expression(code, lambda names: type(constant)(x.value(names) for x in parts))
    return constant if isinstance(constant, Expression) else Expression(repr(constant), lambda names: constant)


def number(text: str | Expression, called: str) -> Expression:
    """A number that was typed: decimals as they stand (the package reads them as typed), else a SymPy number.

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
MIN, MAX = Expression("min", lambda names: min), Expression("max", lambda names: max)


def live() -> tuple[str, ...]:
    """The randomizers of the catalogue, and those that are typed in.

    >>> {"krr", "gaussian", "matrix", "density"} <= {*live()}, "clones" in live()
    (True, False)
    """
    makers: Mapping[str, Any] = catalogue.makers()
    kinds = (Randomizer, Continuous)
    return (*(name for name, make in makers.items() if isinstance(make, type) and issubclass(make, kinds)), *TYPED)


def noise(randomizer: str) -> bool:
    """Whether a message can be any number: then the two ends of the mechanism take longer than a move may."""
    if randomizer in ("", *TYPED):
        return randomizer == "density"
    return issubclass(catalogue.find(randomizer)[1], Continuous)  # type: ignore[arg-type]


def made(randomizer: str, given: Mapping[str, Any]) -> Expression:
    """The call that makes a randomizer; a parameter may be an expression already."""
    if (known := randomizer if randomizer in TYPED else catalogue.find(randomizer)[0]) not in live():
        raise ValueError(f"randomizer must be one of {', '.join(live())}, got {known}")
    if randomizer in TYPED and {*given} != {*TYPED[randomizer]}:
        raise ValueError(f"{randomizer} takes {', '.join(TYPED[randomizer])}, got {', '.join(given)}")
    if randomizer == "matrix":
        return SS.from_matrix(texts.rows(given["rows"], "matrix"))
    if randomizer == "density":
        formula = SP.sympify(str(texts.read(given["density"], "density", "x", "y")))
        return SS.from_density(formula, inputs=[given["least"], given["greatest"]])
    maker = catalogue.find(randomizer)[1].__name__
    call: Expression = getattr(SS if maker in shuffle_sym.__all__ else SS.randomizers, maker)
    return call(**{key: number(text, key) for key, text in catalogue.arguments_for(randomizer, given).items()})
