r"""Sums: cut, joined, shifted and exchanged, and a normal form in which equal ones are the same."""

from __future__ import annotations

from collections.abc import Collection

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import UndefinedFunction

_WRITTEN_OUT = 16


def by_ends(expr: sp.Expr) -> sp.Expr:
    r"""Every sum :math:`\sum_{i=a}^b f(i)` with T(b + 1) − T(a), where T(i + 1) − T(i) = f(i) and T is a name for all
    sums of this f. For a whole number k, T(k) is T(0) and the first k terms. SymPy's sums with b < a − 1 are
    differences as well (Karr's convention), so this holds for all ends.

    >>> i, n = sp.symbols("i n", integer=True, nonnegative=True)
    >>> f = sp.Function("f")
    >>> by_ends(sp.Sum(f(i), (i, 0, n)) - sp.Sum(f(i), (i, 2, n)) - f(0) - f(1))
    0
    >>> by_ends(sp.Sum(f(i), (i, 0, n)) - sp.Sum(f(i + 1), (i, -1, n - 1)))
    0
    """
    known: list[tuple[sp.Symbol, sp.Expr, sp.Expr, sp.Expr, sp.Function]] = []

    def written(total: sp.Sum) -> sp.Expr:
        if len(total.limits) != 1 or len(total.limits[0]) != 3 or total.limits[0].has(sp.oo):
            return total  # an infinite one has no last term, and its T may have a limit
        i, first, last = total.limits[0]
        factor, f = total.function.as_independent(i, as_Add=False)
        for j, g, start, end, T in known:
            for shift in dict.fromkeys((sp.Integer(0), start - first, end - last, end + 1 - first, start - 1 - last)):
                if g.subs(j, i + shift) == f:
                    return factor * (_at(T, g, j, last + 1 + shift) - _at(T, g, j, first + shift))
        T = own_function(f"T_{len(known)}", real=True)
        known.append((i, f, first, last, T))
        return factor * (_at(T, f, i, last + 1) - _at(T, f, i, first))

    return sp.expand(sp.sympify(expr).replace(lambda e: isinstance(e, sp.Sum), written))


def _at(T: sp.Function, f: sp.Expr, i: sp.Symbol, end: sp.Expr) -> sp.Expr:
    if end.is_Integer and 0 < end <= _WRITTEN_OUT:
        return T(sp.Integer(0)) + sp.Add(*(f.subs(i, k) for k in range(int(end))))
    if end.is_Integer and -_WRITTEN_OUT <= end < 0:
        return T(sp.Integer(0)) - sp.Add(*(f.subs(i, k) for k in range(int(end), 0)))
    return T(sp.expand(end))


def in_one(expr: sp.Expr) -> sp.Expr:
    """A sum of sums over ranges that do not depend on each other as one sum, with its ranges in alphabetical order: two
    finite sums may be exchanged.

    >>> i, j, n = sp.symbols("i j n", integer=True, positive=True)
    >>> f = sp.Function("f")
    >>> rows, columns = sp.Sum(sp.Sum(f(i, j), (j, 1, n)), (i, 1, n)), sp.Sum(sp.Sum(f(i, j), (i, 1, n)), (j, 1, n))
    >>> in_one(rows) == in_one(columns)
    True
    """
    return sp.sympify(expr).replace(lambda e: isinstance(e, sp.Sum), _one_sum)


def _one_sum(total: sp.Sum) -> sp.Sum:
    limits: list[sp.Tuple] = list(total.limits)
    parts = sp.Mul.make_args(total.function)
    inner = next((part for part in parts if isinstance(part, sp.Sum)), None)
    if inner is None:
        return sp.Sum(total.function, *sorted(limits, key=str)) if _apart(limits) else total
    rest = sp.Mul(*(part for part in parts if part is not inner))
    together = [*limits, *inner.limits]
    if not _apart(together) or rest.has(*(limit[0] for limit in inner.limits)):
        return total
    return sp.Sum(rest * inner.function, *sorted(together, key=str))


def _apart(limits: list[sp.Tuple]) -> bool:
    """Whether ranges are finite, have an index each, and none depends on the index of another one."""
    indices = [limit[0] for limit in limits]
    ends = sp.Tuple(*(end for limit in limits for end in limit[1:]))
    return len(set(indices)) == len(indices) and not ends.has(*indices) and not ends.has(sp.oo)


# ------------------------------------------------------------------------------------------------- normal form


def is_sum(expr: sp.Expr) -> bool:
    return isinstance(expr, sp.Sum)


class Own(sp.Symbol):  # type: ignore[misc]
    """A symbol of the engine itself, such as an index or a slack; none of a derivation equals it, whatever its name."""

    __slots__ = ()


def own_function(name: str, **assumptions: bool) -> UndefinedFunction:
    """A named function of the engine itself; none of a derivation is equal to it, whatever its name."""
    function = UndefinedFunction(name, **assumptions)
    function._kwargs = {**function._kwargs, "own": True}  # SymPy compares these
    return function


def apart(expr: sp.Expr, symbols: Collection[sp.Symbol]) -> sp.Expr:
    """The expression with other indices in place of these symbols, which then may be put into it.

    >>> i, n = sp.symbols("i n", integer=True)
    >>> apart(i + sp.Sum(i * n, (i, 1, 2)), {i}).subs(n, i).doit()
    4*i
    """

    def renamed(total: ExprWithLimits) -> ExprWithLimits:
        fresh = {one[0]: sp.Dummy(one[0].name, **one[0].assumptions0) for one in total.limits if one[0] in symbols}
        return total.func(total.function.xreplace(fresh), *(limit.xreplace(fresh) for limit in total.limits))

    def clashes(e: sp.Basic) -> bool:
        return isinstance(e, ExprWithLimits) and any(limit[0] in symbols for limit in e.limits)

    return expr.replace(clashes, renamed) if symbols else expr


def bound_elsewhere(expr: sp.Expr) -> set[sp.Symbol]:
    """The symbols over which derivatives and limits in a formula are taken: they depend on values nearby."""
    named = set().union(*(set(one.variables) for one in expr.atoms(sp.Derivative, sp.Subs)))
    return named | {one.args[1] for one in expr.atoms(sp.Limit)}


def with_own_index(total: sp.Sum) -> sp.Sum:
    """The sum over indices that occur nowhere else."""
    own = {limit[0]: sp.Dummy(**limit[0].assumptions0) for limit in total.limits}
    return sp.Sum(total.function.xreplace(own), *(limit.xreplace(own) for limit in total.limits))


def with_index_by_height(total: sp.Sum) -> sp.Sum:
    """The sum over an index named by how deep the sums in it are nested. Sums around it are higher, those in it are
    lower, so that no name is taken; sums that differ in the names of their indices become the same."""
    height, named = _height(total.function), {}
    for number, (index, *_) in enumerate(total.limits):
        named[index] = Own(f"index_{height + number}", **index.assumptions0)
    return sp.Sum(total.function.xreplace(named), *(limit.xreplace(named) for limit in total.limits))


def from_zero(total: sp.Sum) -> sp.Sum:
    """A sum that counts from 0: sums of the same terms are the same, wherever they start to count."""
    function, limits = total.function, list(total.limits)
    for number, (index, *ends) in enumerate(limits):
        if len(ends) == 2 and ends[0].is_Integer and index.is_integer and ends[0] != 0:
            fresh = sp.Dummy(index.name, integer=True, nonnegative=True)
            function = function.subs(index, fresh + ends[0])
            limits = [sp.Tuple(one[0], *(end.subs(index, fresh + ends[0]) for end in one[1:])) for one in limits]
            limits[number] = sp.Tuple(fresh, 0, ends[1] - ends[0])
    return sp.Sum(function, *limits)


def in_fixed_order(total: sp.Sum) -> sp.Expr:
    """Finite sums over ranges that do not depend on each other, in the order of the names of their ends."""
    terms = sp.Add.make_args(sp.expand_mul(total.function)) if total.function.has(sp.Sum) else ()
    if len(terms) > 1:
        return sp.Add(*(in_fixed_order(sp.Sum(term, *total.limits)) for term in terms))
    factors = sp.Mul.make_args(total.function)
    inner = [part for part in factors if is_sum(part)]  # their indices occur nowhere else
    function = sp.Mul(*(part.function if is_sum(part) else part for part in factors))
    limits = [*(limit for one in inner for limit in one.limits), *total.limits]
    indices = [one[0] for one in limits]
    apart = len(indices) > 1 and not any(one[1:].has(*indices, sp.oo) for one in limits)
    return sp.Sum(function, *sorted(limits, key=lambda one: str(one[1:]))) if apart else total


def _height(expr: sp.Expr) -> int:
    if isinstance(expr, sp.Sum):
        return len(expr.limits) + _height(expr.function)
    return max((_height(part) for part in expr.args), default=0)


def nested(expr: sp.Expr) -> sp.Expr:
    """Sums over several indices as sums over one each, with everything taken out that does not depend on the index.

    >>> i, j = sp.symbols("i j", integer=True)
    >>> f, g = sp.symbols("f g", cls=sp.Function)
    >>> nested(sp.Sum(f(i) * g(j), (i, 1, 5), (j, 1, 3)))
    Sum(f(i), (i, 1, 5))*Sum(g(j), (j, 1, 3))
    """

    def taken_apart(total: sp.Sum) -> sp.Expr:
        inside = total.function
        for limit in total.limits:
            inside = _taken_out(inside, limit) if len(limit) == 3 else sp.Sum(inside, limit)
        return inside

    return expr.replace(is_sum, taken_apart)


def _taken_out(inside: sp.Expr, limit: sp.Tuple) -> sp.Expr:
    index, first, last = limit
    if limit.has(sp.oo):  # a sum that converges may be one of two that do not
        fixed, moving = inside.as_independent(index, as_Add=False)
        return fixed * sp.Sum(moving, limit)
    whole = []
    for term in sp.Add.make_args(sp.expand_mul(inside)):
        factors = sp.Mul.make_args(term)
        fixed = [part for part in factors if index not in part.free_symbols]
        moving = [part for part in factors if index in part.free_symbols]
        whole.append(sp.Mul(*fixed, sp.Sum(sp.Mul(*moving), limit) if moving else last - first + 1))
    return sp.Add(*whole)


def same_range(one: sp.Sum, other: sp.Sum) -> bool:
    own = dict(zip((limit[0] for limit in other.limits), (limit[0] for limit in one.limits), strict=False))
    return bool(one.limits == tuple(limit.xreplace(own) for limit in other.limits))


def over(total: sp.Sum, alike: sp.Sum) -> sp.Expr:
    """The terms of a sum in the indices of another one with the same range."""
    own = {limit[0]: other[0] for limit, other in zip(total.limits, alike.limits, strict=True)}
    return total.function.xreplace(own)
