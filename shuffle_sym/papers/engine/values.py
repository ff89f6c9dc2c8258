r"""Values for symbols: what must hold of them, how they are put into a formula, and which values an index takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.symbols import range_of
from shuffle_sym.papers.engine.assumptions import Condition, Conditions, implied
from shuffle_sym.papers.engine.quantities import Mean, Random, is_random
from shuffle_sym.papers.engine.sums import apart

#: What SymPy may know of a symbol beside its range.
_KINDS = ("integer", "even", "odd", "prime", "composite", "rational", "irrational", "noninteger")


def needed(values: Mapping[sp.Expr, sp.Expr]) -> Conditions:
    """What is left to show for these values to be what their symbols, or named functions, are assumed to be. Raises
    where a value is not: not whole, not real, infinite, or out of range.

    >>> n = sp.Symbol("n", integer=True, nonnegative=True)
    >>> needed({n: n + 1}), needed({n: n - 1})
    ((), (n - 1 >= 0,))
    >>> needed({n: sp.Rational(1, 2)})
    Traceback (most recent call last):
    ...
    shuffle_sym.algebra.errors.VerificationError: n must be integer, which 1/2 is not shown to be
    """
    left: list[Condition] = []
    for symbol, value in values.items():
        if value == symbol:
            continue
        for kind in _KINDS:
            if getattr(symbol, f"is_{kind}") and not getattr(value, f"is_{kind}"):
                raise VerificationError(f"{symbol} must be {kind}, which {value} is not shown to be")
        # Formulas are real unless they are known not to be: named functions are not always declared.
        if value.is_real is False or value.has(sp.zoo, sp.nan, sp.I):
            raise VerificationError(f"{symbol} must be a real number, got {value}")
        for large, small, strict in [*_range_conditions(symbol, value), *_real_conditions(value)]:
            if not (large - small).is_positive and (strict or not (large - small).is_nonnegative):
                one = (sp.Gt if strict else sp.Ge)(large, small, evaluate=False)
                if (large - small).is_negative or (strict and large == small):
                    raise VerificationError(f"{symbol} is replaced by {value}, which needs {one}")
                left.append(one)
    return tuple(left)


def _range_conditions(symbol: sp.Expr, value: sp.Expr) -> list[tuple[sp.Expr, sp.Expr, bool]]:
    """The larger side, the smaller side and whether they differ, for both ends of the range of a symbol."""
    least, most = range_of(symbol)
    strict = [bool(sign and end == 0) for sign, end in ((symbol.is_positive, least), (symbol.is_negative, most))]
    low = [(value, least, strict[0])] if least is not None else []
    return low + ([(most, value, strict[1])] if most is not None else [])


def _real_conditions(value: sp.Expr) -> list[tuple[sp.Expr, sp.Expr, bool]]:
    """What a formula needs in order to be real: no root of a negative number, and no logarithm of one."""
    roots = [one.base for one in value.atoms(sp.Pow) if not one.exp.is_integer]
    logs = [one.args[0] for one in value.atoms(sp.log)]
    inside = [one for one in (*roots, *logs) if not one.free_symbols <= value.free_symbols and not one.is_positive]
    if inside:
        raise VerificationError(f"a formula must be real for every index, which {value} is not shown to be")
    zero = sp.Integer(0)
    return [(one, zero, False) for one in roots] + [(one, zero, True) for one in logs]


def put_in(expr: Any, values: Mapping[sp.Expr, sp.Expr]) -> Any:
    """The formula with values put in, none of which is caught by an index or by a mean: f(i), where i is put in, is f
    for every argument."""
    functions = {one: value for one, value in values.items() if not one.is_Symbol}
    free = (value.free_symbols - (set() if one.is_Symbol else one.free_symbols) for one, value in values.items())
    expr = apart(expr, set().union(*free))
    for one, value in functions.items():
        expr = expr.replace(one.func, lambda *args, one=one, value=value: _function_at(one, value, args))
    symbols = {one: value for one, value in values.items() if one.is_Symbol}
    _refuse_caught(expr, symbols)
    expr = expr.subs(symbols, simultaneous=True) if symbols else expr
    if expr.has(sp.nan, sp.zoo, sp.I):
        raise VerificationError(f"a formula must be defined for what is put in, got {expr} for {values}")
    return expr


def _function_at(function: AppliedUndef, value: sp.Expr, args: Sequence[sp.Expr]) -> sp.Expr:
    """What stands for a named function, at arguments that must be what its own ones are assumed to be."""
    chosen = dict(zip(function.args, args, strict=True))
    if missing := needed(chosen):
        raise VerificationError(f"{function} is replaced at {', '.join(map(str, args))}, which needs {missing[0]}")
    return put_in(value, chosen)


def _refuse_caught(expr: Any, values: Mapping[sp.Symbol, sp.Expr]) -> None:
    """Raise if a random variable stands for a fixed number over which no mean is taken: E[uX] = uE[X] says nothing
    about E[XX]."""
    random = {one for one, value in values.items() if is_random(value) and not isinstance(one, Random)}
    for mean in expr.atoms(Mean) if random else ():
        if caught := random & mean.free_symbols:
            raise VerificationError(f"{caught.pop()} must not be random in {mean}: the mean is not taken over it")


#: Functions that are infinite somewhere: one over them is 0 there, and is no harm itself.
_INFINITE = (sp.factorial, sp.gamma, sp.loggamma, sp.polygamma, sp.zeta, sp.tan, sp.cot, sp.sec, sp.csc)


@lru_cache(maxsize=4096)
def denominators(expr: sp.Expr) -> frozenset[sp.Expr]:
    """What a formula divides by, free of the indices in it, and not known to differ from 0; (k − 1)! divides by one
    over it."""
    powers = {one for one in expr.atoms(sp.Pow) if not one.exp.is_nonnegative and not one.base.is_nonzero}
    divided = {one.base for one in powers if not isinstance(one.base, (sp.factorial, sp.gamma))}  # which are never 0
    if expr.has(*_INFINITE):
        harmless = {one: sp.Dummy() for one in powers if isinstance(one.base, _INFINITE)}
        divided |= {1 / one for one in expr.xreplace(harmless).atoms(*_INFINITE) if not one.is_positive}
    return frozenset(one for one in divided if one.free_symbols <= expr.free_symbols)


# ------------------------------------------------------------------------------------------------- indices


def refuse_indices(expr: sp.Expr, given: Conditions) -> None:
    """Raise unless every index of a sum, a product or an integral is, on its whole range, what it is assumed to be. A
    sum whose last index is before its first one is a difference, and goes up from the one after the last."""
    for total in expr.atoms(ExprWithLimits):
        discrete, known = not isinstance(total, sp.Integral), given
        for number, (index, *ends) in reversed(list(enumerate(total.limits))):
            if any(end.has(*(limit[0] for limit in total.limits[: number + 1])) for end in ends):
                raise VerificationError(f"an index must not occur in its own range, got {total}")
            if not _takes(index, ends, discrete, known):
                raise VerificationError(f"the index {index} of {total} is not what it is assumed to be")
            known += tuple(limit_conditions(index, ends, known))


def _takes(index: sp.Symbol, ends: Sequence[sp.Expr], discrete: bool, known: Conditions) -> bool:
    """Whether an index may take all values of its range; of those that are whole every one, even or odd."""
    least, most = range_of(index)
    kept = ("real", "integer", "positive", "nonnegative", "nonpositive")
    plain = sp.Dummy(**{name: True for name in kept if getattr(index, f"is_{name}")})
    if index.assumptions0 != plain.assumptions0 or is_random(index):
        return False
    strict = discrete and least == 0 and index.is_positive
    for end in (ends[0], ends[1] + 1) if discrete and len(ends) == 2 else ends[:1]:
        fits = least is None or end is sp.oo
        fits = fits or implied((sp.Gt if strict else sp.Ge)(end, least, evaluate=False), known)
        if not fits or (discrete and index.is_integer and not end.is_integer and end is not sp.oo):
            return False
    highest = (ends[1], ends[0] - 1) if discrete and len(ends) == 2 else ends
    return most is None or (bool(ends) and all(implied(sp.Ge(most, end, evaluate=False), known) for end in highest))


def limit_conditions(index: sp.Symbol, ends: Sequence[sp.Expr], known: Conditions) -> list[Condition]:
    """That an index is in its range, for a sum that goes up; in one that may be a difference nothing is known of it."""
    if len(ends) != 2 or not (ends[1] is sp.oo or implied(sp.Ge(ends[1] + 1, ends[0], evaluate=False), known)):
        return []
    low = [sp.Ge(index, ends[0], evaluate=False)]
    return low if ends[1] is sp.oo else [*low, sp.Ge(ends[1], index, evaluate=False)]
