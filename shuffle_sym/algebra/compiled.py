r"""NumPy functions of exact formulas, in logarithms where counts occur.

Compiled as they stand, formulas with binomial coefficients are inf/inf from n = 171 on. Here a product of factorials
and of powers with counts in their exponents is brought to multinomial probabilities (`counts.log_multinomial`), whose
logarithms are right to about 1e-13 at n = 10⁶, and every value comes with a bound of its error (`log_forms`).
"""

import inspect
import keyword
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.log_forms import Values, has_counts, log_part, value_part
from shuffle_sym.algebra.symbols import range_of

MAX_COUNT = 2**40  # sums of a few counts are exact in doubles
_NOT_COMPILED = (sp.Integral, sp.Derivative, sp.Subs, sp.Indexed, sp.core.function.AppliedUndef)


class NumpyFunction:
    r"""An exact formula as a function of numbers and arrays; `numpy_function` makes one.

    ``function.error(…)`` bounds the absolute error of the value at the same arguments; it is nan where no bound is
    known: for a symbol that is not a count, ``bindings`` with its exact value give one. ``function.log`` says whether
    the value is the logarithm, ``function.expr`` is the formula.
    """

    def __init__(
        self, expr: sp.Expr, symbols: Sequence[sp.Symbol], name: str, doc: str, log: bool | None, bindings: Values
    ) -> None:
        self.expr, self.symbols, self.bindings = sp.sympify(expr), tuple(symbols), dict(bindings)
        _refuse(self.expr, self.symbols, self.bindings)
        self.log = has_counts(self.expr) if log is None else log
        self._given = (expr, symbols, name, doc, log, bindings)
        self.__name__, names = name, [s.name + "_" * keyword.iskeyword(s.name) for s in self.symbols]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(label, kind) for label in names])
        what = "The natural logarithm of" if self.log else "The value of"
        rows = [f"    {label}: {_range_in_words(s)}" for label, s in zip(names, self.symbols, strict=True)]
        where = [f"with {symbol} = {value}" for symbol, value in self.bindings.items()]
        self.__doc__ = "\n".join([doc, "", what, "", f"    {self.expr}", "", *where, "Arguments:", *rows])
        made_of = self.expr.rewrite(sp.factorial)
        self._part = log_part(made_of, self.bindings) if self.log else value_part(self.expr, self.bindings)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.with_error(*args, **named)[0]

    def error(self, *args: Any, **named: Any) -> Any:
        """A bound of the absolute error of the value at these arguments, nan where none is known."""
        return self.with_error(*args, **named)[1]

    def with_error(self, *args: Any, **named: Any) -> tuple[Any, Any]:
        """The value, and a bound of its absolute error."""
        given = self.__signature__.bind(*args, **named).arguments.values()
        arrays = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in given)) if self.symbols else []
        values = dict(zip(self.symbols, arrays, strict=True))
        _refuse_values(values)
        with np.errstate(all="ignore"):
            value, error = self._part(values)
            error = error if self.log else np.abs(value) * error
        shape = arrays[0].shape if arrays else ()
        value, error = (np.broadcast_to(np.asarray(x, dtype=float), shape).copy()[()] for x in (value, error))
        _refuse_undefined(self.expr, values, value)
        return value, error

    def __reduce__(self) -> tuple[Any, Any]:
        return type(self), self._given

    def __repr__(self) -> str:
        return f"{self.__name__}{self.__signature__}"


def numpy_function(
    expr: sp.Expr, symbols: Sequence[sp.Symbol], name: str, doc: str, log: bool | None = None, bindings: Any = None
) -> NumpyFunction:
    r"""A NumPy function of an exact formula: of its logarithm if factorials, sums or powers with a count as exponent
    occur in it; ``log`` decides otherwise.

    Arguments: ``symbols`` in the order of the arguments; ``name`` and first line ``doc`` of the function; ``bindings``,
    exact values of further symbols, such as ``{t: sp.exp(4)}``. Integer symbols are counts: whole numbers ≥ 0.

    >>> n, k = sp.symbols("n k", integer=True, nonnegative=True)
    >>> log_mass = numpy_function(sp.binomial(n, k) / 2**n, (n, k), "log_mass", "Heads in n tosses of a coin.")
    >>> round(float(log_mass(10**6, 500_000)), 12), log_mass
    (-7.133546881627, log_mass(n, k))
    """
    return NumpyFunction(expr, symbols, name, doc, log, bindings or {})


def _refuse(expr: sp.Expr, symbols: tuple[sp.Symbol, ...], bindings: field.Bindings) -> None:
    if not isinstance(expr, sp.Expr):
        raise TypeError(f"expr must be a SymPy expression, got {expr!r}")
    if expr.has(sp.Float):
        raise ValueError(f"expr must be exact, got the Float {min(expr.atoms(sp.Float))} ; write sp.Rational(1, 10)")
    if expr.has(sp.I, sp.nan, sp.zoo) or expr.is_extended_real is False:
        raise ValueError(f"expr must be real, got {expr}")
    if expr.has(*_NOT_COMPILED):
        found = ", ".join(sorted({type(e).__name__ for e in expr.atoms(*_NOT_COMPILED)}))
        raise ValueError(f"expr must be made of numbers, symbols and functions, got {found} in it; try expr.doit()")
    names = [symbol.name for symbol in symbols]
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
        raise ValueError(f"symbols must have different names that can name arguments, got {names}")
    missing = sorted(expr.free_symbols - {*symbols, *bindings}, key=str)
    if missing:
        raise ValueError(f"symbols must name every symbol of expr (or bindings give it a value), missing: {missing}")


def _range_in_words(symbol: sp.Symbol) -> str:
    low, high = range_of(symbol)
    kind = "a whole number" if symbol.is_integer else "a number"
    return kind + ("" if low is None else f" >= {low}") + ("" if high is None else f" <= {high}")


def _refuse_values(values: Values) -> None:
    """What the formula assumes of its symbols: whole numbers that doubles hold, and ranges."""
    for symbol, given in values.items():
        low, high = range_of(symbol)
        wrong = ~np.isfinite(given)
        if symbol.is_integer:
            wrong |= (given != np.floor(given)) | (np.abs(given) > MAX_COUNT)
        wrong |= (given < (-np.inf if low is None else float(low))) | (
            given > (np.inf if high is None else float(high))
        )
        if np.any(wrong):
            raise ValueError(f"{symbol} must be {_range_in_words(symbol)}, got {given[wrong].flat[0]:g}")


def _refuse_undefined(expr: sp.Expr, values: Values, result: Any) -> None:
    wrong = np.isnan(result)
    if np.any(wrong):
        where = ", ".join(f"{symbol} = {given[wrong].flat[0]:g}" for symbol, given in values.items())
        raise ValueError(f"{expr} is not a real number >= 0 there, or not defined: {where}")
