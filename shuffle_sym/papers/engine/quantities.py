r"""What derivations speak of beside formulas: means, positive parts, divergences, random variables, named functions."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.core.function import UndefinedFunction


class Random(sp.Symbol):  # type: ignore[misc]
    r"""A random variable: a mean is taken over it, and over nothing else.

    >>> sp.latex(Random("G_1 + … + G_n"))
    'G_{1} + \\dots + G_{n}'
    """

    __slots__ = ()

    def _latex(self, printer: Any, exp: Any = None) -> str:
        if " " not in self.name:
            return str(printer._print_Symbol(self))
        return re.sub(r"_(\w+)", r"_{\1}", self.name.replace("…", r"\dots"))


class Positive(sp.Function):  # type: ignore[misc]
    r"""The positive part :math:`[x]_+ = \max(x, 0)`. Numbers are evaluated, formulas are held.

    >>> Positive(sp.Rational(-1, 2)), Positive(sp.Symbol("x"))
    (0, [x]_+)
    """

    nargs = 1
    is_real = True
    is_nonnegative = True

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """The value at a rational number."""
        return sp.Max(x, 0) if x.is_Rational else None

    @property
    def around(self) -> tuple[str, sp.Expr, str]:
        """What stands before it, the inside, and what stands behind it, for a formula that is broken into lines."""
        return r"\bigl[", self.args[0], r"\bigr]_{+}"

    def _latex(self, printer: Any, exp: Any = None) -> str:
        base = rf"\left[{printer._print(self.args[0])}\right]_{{+}}"
        return base if exp is None else rf"{base}^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        return f"[{printer._print(self.args[0])}]_+"


class Mean(sp.Function):  # type: ignore[misc]
    r"""The mean :math:`\mathbb E[x]` over the `Random` symbols in x. It is linear, and monotone.

    >>> X = Random("X")
    >>> linear(Mean(3 * X + 1))
    3*E[X] + 1
    """

    nargs = 1
    is_real = True

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        return True if self.args[0].is_positive else None

    @property
    def around(self) -> tuple[str, sp.Expr, str]:
        """What stands before it, the inside, and what stands behind it, for a formula that is broken into lines."""
        if isinstance(self.args[0], Positive):
            before, inside, after = self.args[0].around
            return rf"\mathbb{{E}}{before}", inside, after
        return r"\mathbb{E}\bigl[", self.args[0], r"\bigr]"

    def _latex(self, printer: Any, exp: Any = None) -> str:
        base = rf"\mathbb{{E}}\left[{printer._print(self.args[0])}\right]"
        if isinstance(self.args[0], Positive):  # E[x]_+, as the papers write it
            base = rf"\mathbb{{E}}{printer._print(self.args[0])}"
        return base if exp is None else rf"{base}^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        inner = printer._print(self.args[0])
        return f"E{inner}" if isinstance(self.args[0], Positive) else f"E[{inner}]"


class Least(sp.Function):  # type: ignore[misc]
    r"""The smallest of several formulas. It is held; the prover takes the one that it can show to be the smallest.

    >>> x = sp.Symbol("x")
    >>> Least(x, x + 1)
    min(x, x + 1)
    """

    is_real = True

    @classmethod
    def eval(cls, *args: sp.Expr) -> None:
        """Nothing is evaluated; the smallest of no formulas is refused."""
        if not args:
            raise ValueError("Least must have at least one formula")

    def _eval_is_nonnegative(self) -> bool | None:
        return True if all(part.is_nonnegative for part in self.args) else None

    def _latex(self, printer: Any, exp: Any = None) -> str:
        inside = ", ".join(map(printer._print, self.args))
        base = rf"\min\left({inside}\right)"
        return base if exp is None else rf"{base}^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        return f"min({', '.join(map(printer._print, self.args))})"


class Divergence(sp.Function):  # type: ignore[misc]
    r"""The hockey-stick divergence :math:`D_\alpha(P \| Q)`; the arguments are α, P and Q, two named laws."""

    nargs = 3
    is_real = True
    is_nonnegative = True

    def _latex(self, printer: Any, exp: Any = None) -> str:
        order, P, Q = map(printer._print, self.args)
        return rf"D_{{{order}}}({P} \,\|\, {Q})"

    def _sympystr(self, printer: Any) -> str:
        order, P, Q = map(printer._print, self.args)
        return f"D_{order}({P} || {Q})"


def quantity(name: str, latex: str | None = None, **assumptions: bool) -> UndefinedFunction:
    r"""A named function, such as the probability of a cell: ``P = quantity("P", nonnegative=True)``, then ``P(a, b)``.

    ``latex`` is how it is drawn, with ``{0}``, ``{1}``, … for its arguments; braces of LaTeX are doubled in it.

    >>> R = quantity("R", r"R({0})({1})", nonnegative=True)
    >>> sp.latex(R(*sp.symbols("x y")))
    'R(x)(y)'
    """
    # Not `sp.Function`: it keeps one class for a name, and the last way of drawing it would be that of all others.
    function = UndefinedFunction(name, **assumptions)
    if latex is not None:
        function._kwargs = {**function._kwargs, "latex": latex}  # equal are those that are drawn alike

        def drawn(self: Any, printer: Any, exp: Any = None) -> str:
            base = latex.format(*map(printer._print, self.args))
            return base if exp is None else rf"\left({base}\right)^{{{exp}}}"

        function._latex = drawn
    return function


def is_random(expr: sp.Expr) -> bool:
    """Whether a random variable occurs outside of every mean."""
    if isinstance(expr, Mean):
        return False
    return isinstance(expr, Random) or any(is_random(part) for part in expr.args)


def linear(expr: sp.Expr) -> sp.Expr:
    """The expression with constants taken out of means, and means of sums as sums of means."""
    return expr.replace(lambda e: isinstance(e, Mean), lambda e: _mean(e.args[0]))


def _mean(inside: sp.Expr) -> sp.Expr:
    terms = sp.Add.make_args(sp.expand(inside))
    total = []
    for term in terms:
        parts = sp.Mul.make_args(term)
        fixed = [part for part in parts if not is_random(part)]
        moving = [part for part in parts if is_random(part)]
        total.append(sp.Mul(*fixed, _of_product(moving)))
    return sp.Add(*total)


def _of_product(moving: list[sp.Expr]) -> sp.Expr:
    """The mean of a product; of a finite sum it is the sum of the means."""
    sums = [part for part in moving if isinstance(part, sp.Sum) and not part.has(sp.oo)]
    if len(sums) == 1 and not any(is_random(end) for limit in sums[0].limits for end in limit[1:]):
        rest = sp.Mul(*(part for part in moving if part is not sums[0]))
        if not rest.has(*(limit[0] for limit in sums[0].limits)):
            return sp.Sum(_mean(rest * sums[0].function), *sums[0].limits)
    return Mean(sp.Mul(*moving)) if moving else sp.Integer(1)
