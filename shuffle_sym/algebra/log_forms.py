r"""Parts of a compiled formula: what they compute from the values of the symbols, with a bound of the error.

`value_part` gives a value and its *relative* error, `log_part` the logarithm of a formula that is not negative and its
*absolute* error. With u = 2⁻⁵³, a sum, product or quotient of doubles costs u of what it is made of, and a sum of terms
of both signs is as bad as it is, and says so. nan stands for an error that nobody bounded: that of formulas in numbers
other than counts and exact constants.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.counts import LOG_ROUNDINGS, log_factorial, log_multinomial, log_multinomial_error
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF

Values = Mapping[sp.Symbol, Any]
Part = Callable[[Values], tuple[Any, Any]]
Power = tuple[sp.Expr, sp.Expr]  # base, exponent
_MAX_TERMS = 10**8


def counts_in(expr: sp.Expr) -> set[sp.Symbol]:
    """The integer symbols of a formula."""
    return {symbol for symbol in expr.free_symbols if symbol.is_integer}


def has_counts(expr: sp.Expr) -> bool:
    """Whether there are factorials, sums, or powers with a count in the exponent: what overflows for many users."""
    powers = expr.atoms(sp.Pow, sp.exp)
    return expr.has(sp.binomial, sp.factorial, sp.gamma, sp.Sum) or any(counts_in(power.exp) for power in powers)


def value_part(expr: sp.Expr, bindings: field.Bindings) -> Part:
    """The value and its relative error; ``bindings`` are the exact values of some symbols."""
    free = expr.free_symbols - set(bindings)
    if not free:
        number = float(field.floats((expr,), bindings)[0])
        return lambda values: (number, 0.0 if expr.is_Integer and abs(expr) < 2**53 else FLOAT_ERROR)
    if all(symbol.is_integer for symbol in free):
        if _is_count(expr):
            return _lambdified(expr, free, 0.0)  # whole numbers below 2^53: no rounding
        if expr.is_Add:
            terms = sp.Add.make_args(expr)
            whole = sp.Add(*(term for term in terms if _is_count(term)))
            rest = [term for term in terms if not _is_count(term)]
            return _sum_of([value_part(e, bindings) for e in (whole, *rest) if e != 0])
        if expr.is_Mul:
            return _product_of([value_part(e, bindings) for e in expr.args])
        if expr.is_Pow and expr.exp.is_Integer:
            return _integer_power(value_part(expr.base, bindings), int(expr.exp))
    return _lambdified(field.substitute(expr, bindings), free, np.nan)


def log_part(expr: sp.Expr, bindings: field.Bindings) -> Part:
    """The logarithm of a formula that is not negative, and its absolute error."""
    if isinstance(expr, sp.Sum):
        return _log_of_sum(expr, bindings)
    if expr.is_Add and has_counts(expr):
        return _log_add([log_part(term, bindings) for term in expr.args])
    factorials: Counter[sp.Expr] = Counter()
    powers, plain, parts = [], sp.Integer(1), []
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if isinstance(base, sp.factorial) and exponent.is_Integer:
            factorials[base.args[0]] += int(exponent)
        elif has_counts(base):
            parts.append(_times(log_part(base, bindings), value_part(exponent, bindings)))
        elif counts_in(exponent) or (counts_in(base) and exponent not in (1, -1)):
            powers.append((base, exponent))
        else:
            plain *= factor
    groups, alone = _multinomials(factorials)
    shares, others, rest = _shared_out(powers, [h for _, group in groups for h in group])
    for base, exponent in others:
        log = _log_of(base, bindings, even=bool(exponent.is_even))
        parts.append(_times(log, value_part(exponent, bindings)))
    for total, group in groups:
        masses, shares = shares[: len(group)], shares[len(group) :]
        scale = field.simplest(sp.Add(*masses))
        parts.append(_log_multinomial(group, [field.simplest(mass / scale) for mass in masses], bindings))
        parts += [_times(_log_of(scale, bindings), value_part(total, bindings))] if scale != 1 else []
    for x, count in alone.items():
        parts.append(_times(_log_factorial(x), value_part(sp.Integer(count), bindings)))
    plain *= rest
    return _total([*parts, _log_of(plain, bindings)] if plain != 1 or not parts else parts)


# ------------------------------------------------------------------------------------------------ formulas


def _is_count(expr: sp.Expr) -> bool:
    """Whether a formula is a sum of integer symbols with small integer coefficients: doubles hold its values."""
    terms = (term.as_coeff_Mul() for term in sp.Add.make_args(expr))
    return all(c.is_Integer and abs(c) < 2**10 and (e == 1 or (e.is_Symbol and e.is_integer)) for c, e in terms)


def _multinomials(factorials: Counter[sp.Expr]) -> tuple[list[tuple[sp.Expr, tuple[sp.Expr, ...]]], Counter[sp.Expr]]:
    """Factorials above the line with those below it whose arguments sum to theirs, and what is left of the others."""
    for x in factorials:
        if not _is_count(sp.expand(x)):
            raise ValueError(f"expr must have factorials of counts only, got the factorial of {x}")
    left, groups = Counter(factorials), []
    for total in [x for x, count in factorials.items() if count > 0 for _ in range(count)]:
        below = [x for x, count in left.items() if count < 0 for _ in range(-count)]
        sizes = (group for size in range(1, len(below) + 1) for group in combinations(below, size))
        group = next((group for group in sizes if sp.expand(sp.Add(*group) - total) == 0), None)
        if group is not None:
            groups.append((total, group))
            left.update([*group])
            left[total] -= 1
    return groups, Counter({x: count for x, count in left.items() if count})


def _shared_out(powers: list[Power], forms: Sequence[sp.Expr]) -> tuple[list[sp.Expr], list[Power], sp.Expr]:
    r"""Powers as :math:`\prod_j c_j^{h_j}`, h_j the ``forms``: the c_j, the powers that are none, a constant factor."""
    shares, others, rest = [sp.Integer(1) for _ in forms], [], sp.Integer(1)
    for base, exponent in powers:
        solution = None if counts_in(base) else _in_terms_of(exponent, forms)
        if solution is None:
            others.append((base, exponent))
        else:
            shares = [share * base**x for share, x in zip(shares, solution, strict=False)]
            rest *= base ** solution[-1]
    return shares, others, rest


def _in_terms_of(exponent: sp.Expr, forms: Sequence[sp.Expr]) -> list[sp.Expr] | None:
    """Numbers x with exponent = x_1 form_1 + x_2 form_2 + … + x_0 (the last entry), None if there are none."""
    unknowns = [sp.Dummy() for _ in range(len(forms) + 1)]
    gap = sp.expand(exponent - sp.Add(*(x * h for x, h in zip(unknowns, [*forms, 1], strict=True))))
    symbols = sorted(counts_in(exponent).union(*map(counts_in, forms)), key=str)
    equations = [gap.coeff(symbol) for symbol in symbols]
    equations.append(gap.subs(dict.fromkeys(symbols, 0)))
    if any(counts_in(e) for e in equations):
        return None  # a product of counts
    for solution in sp.linsolve(equations, unknowns):
        *numbers, rest = (x.subs(dict.fromkeys(unknowns, 0)) for x in solution)
        # Equal counts share equally: that is where the probability of the two together is largest.
        equal = [[x for x, other in zip(numbers, forms, strict=True) if other == h] for h in forms]
        return [*(sp.Add(*same) / len(same) for same in equal), rest]
    return None


# ------------------------------------------------------------------------------------------------ values


def _lambdified(expr: sp.Expr, symbols: set[sp.Symbol], error: float) -> Part:
    from sympy.codegen.rewriting import optimize, optims_c99  # slow to import

    order = sorted(symbols, key=str)
    # expm1 and log1p where they keep digits that exp and log lose.
    function = sp.lambdify(order, optimize(expr, optims_c99), modules=["numpy", "scipy"])
    return lambda values: (function(*(values[symbol] for symbol in order)), error)


def _sum_of(parts: list[Part]) -> Part:
    def part(values: Values) -> tuple[Any, Any]:
        known = [one(values) for one in parts]
        total, size = sum(x for x, _ in known), sum(np.abs(x) for x, _ in known)
        made = sum(np.abs(x) * e for x, e in known) + (len(known) - 1) * UNIT_ROUNDOFF * size
        return total, np.where(made == 0, 0.0, made / np.abs(total))

    return part


def _product_of(parts: list[Part]) -> Part:
    def part(values: Values) -> tuple[Any, Any]:
        value, error = 1.0, -UNIT_ROUNDOFF
        for one in parts:
            x, e = one(values)
            value, error = value * x, error + e + error * e + UNIT_ROUNDOFF
        return value, error

    return part


def _integer_power(base: Part, exponent: int) -> Part:
    def part(values: Values) -> tuple[Any, Any]:
        x, e = base(values)
        return x ** float(exponent), np.expm1(abs(exponent) * _log_error(e)) + LOG_ROUNDINGS * UNIT_ROUNDOFF

    return part


# ------------------------------------------------------------------------------------------------ logarithms


def _log_error(error: Any) -> Any:
    """How far a logarithm may be off if the number is, by this share of what was computed."""
    return -np.log1p(-np.minimum(error, 1.0))


def _size(log: Any) -> Any:
    """What is rounded: infinities are not."""
    return np.where(np.isfinite(log), np.abs(log), 0.0)


def _log_multinomial(group: Sequence[sp.Expr], shares: Sequence[sp.Expr], bindings: field.Bindings) -> Part:
    counts, masses = ([value_part(e, bindings) for e in column] for column in (group, shares))

    def part(values: Values) -> tuple[Any, Any]:
        h, known = [one(values)[0] for one in counts], [one(values) for one in masses]
        c = [x for x, _ in known]
        return log_multinomial(h, c), log_multinomial_error(h, c, sum(e for _, e in known))

    return part


def _log_of(expr: sp.Expr, bindings: field.Bindings, even: bool = False) -> Part:
    """The logarithm of a value, or of its absolute value if an ``even`` power is meant."""
    one, rest = expr.as_coeff_Add()
    exact = all(symbol.is_integer for symbol in expr.free_symbols - set(bindings))
    log, inner = (np.log1p, rest) if one == 1 and not exact else (np.log, expr)
    value = value_part(inner, bindings)

    def part(values: Values) -> tuple[Any, Any]:
        x, e = value(values)
        y = log(np.abs(x) if even else x)
        return y, _log_error(e) + LOG_ROUNDINGS * UNIT_ROUNDOFF * _size(y)

    return part


def _log_factorial(x: sp.Expr) -> Part:
    argument = value_part(x, {})
    return lambda values: log_factorial(argument(values)[0])


def _times(log: Part, exponent: Part) -> Part:
    def part(values: Values) -> tuple[Any, Any]:
        (x, e), (y, f) = log(values), exponent(values)
        return np.where(y == 0, 0.0, y * x), np.abs(y) * (e + f * (_size(x) + e))

    return part


def _total(logs: list[Part]) -> Part:
    """The logarithm of a product from those of its factors. Where one factor is 0, and none infinite, so is the
    product: outside of its range a binomial coefficient is 0, whatever it is multiplied with."""

    def part(values: Values) -> tuple[Any, Any]:
        known = [one(values) for one in logs]
        zero, infinite = (sum(x == end for x, _ in known) for end in (-np.inf, np.inf))
        total, size = sum(x for x, _ in known), sum(_size(x) for x, _ in known)
        error = sum(e for _, e in known) + (len(known) + 1) * UNIT_ROUNDOFF * size
        return np.where((zero > 0) & (infinite == 0), -np.inf, total), error * (1 + 1e-9)

    return part


def _log_add(parts: list[Part]) -> Part:
    def part(values: Values) -> tuple[Any, Any]:
        known = [one(values) for one in parts]
        logs, errors = (np.stack(np.broadcast_arrays(*column)) for column in zip(*known, strict=True))
        return _log_total(logs, errors)

    return part


def _log_of_sum(expr: sp.Sum, bindings: field.Bindings) -> Part:
    *inner, (index, *ends) = expr.limits
    term = log_part(sp.Sum(expr.function, *inner) if inner else expr.function, bindings)
    low, high = (value_part(end, bindings) for end in ends)

    def part(values: Values) -> tuple[Any, Any]:
        points = np.broadcast(*values.values()) if values else np.broadcast(0)
        results = np.empty((2, points.size))
        for i, point in enumerate(points):
            at = dict(zip(values, point, strict=True)) if values else {}
            first, last = float(low(at)[0]), float(high(at)[0])
            if last - first > _MAX_TERMS:
                raise ValueError(f"{expr} has {last - first + 1:.3g} terms, more than {_MAX_TERMS:.3g}; take fewer")
            logs, errors = term({**at, index: np.arange(first, last + 1)})
            results[:, i] = _log_total(*np.broadcast_arrays(logs, errors))
        return results[0].reshape(points.shape), results[1].reshape(points.shape)

    return part


def _log_total(logs: Any, errors: Any) -> tuple[Any, Any]:
    """log of the sum of exponentials over the first axis; an error counts as much as its term."""
    top = np.max(logs, axis=0, initial=-np.inf)
    if not np.any(top > -np.inf):
        return top, np.zeros_like(top)
    weights = np.where(logs > -np.inf, np.exp(logs - top), 0.0)
    total = np.sum(weights, axis=0)
    moved = np.sum(weights * np.where(weights > 0, np.expm1(errors), 0.0), axis=0) / np.where(total > 0, total, 1.0)
    value = top + np.log(total)
    rounded = UNIT_ROUNDOFF * (len(logs) + 2 * LOG_ROUNDINGS * (1 + _size(top)))
    return value, _log_error(moved) + rounded
