r"""What SymPy can show for all values of the symbols: two formulas are equal, or one is at most the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from itertools import product

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.field import proves_nonnegative, rational_form, simplest
from shuffle_sym.algebra.symbols import range_of
from shuffle_sym.papers.engine import quantities, sums
from shuffle_sym.papers.engine.assumptions import Conditions, put
from shuffle_sym.papers.engine.binomial import by_binomial_theorem, by_gamma_functions
from shuffle_sym.papers.engine.points import differ_at_a_point
from shuffle_sym.papers.engine.quantities import Least, Mean, Positive

_LONG = 10**9
_MOST_POSITIVE = 3
#: Functions that do not fall; a line with a logarithm is refused where that is not real.
_RISING = (sp.exp, sp.log, Positive, Mean)
#: What is a number with a known sign at best, whatever its arguments.
_OPAQUE = (AppliedUndef, quantities.Divergence)


def equal(before: sp.Expr, after: sp.Expr, given: Conditions = ()) -> str | None:
    """Why two formulas are equal, in words; None if that is not shown."""
    if before == after:
        return "the same"
    if before.has(Mean) and _collected(sp.expand(quantities.linear(before) - quantities.linear(after))) == 0:
        return "the mean is linear"  # before a sum is taken by the binomial theorem
    if before.has(sp.Sum) and sums.in_one(before) == sums.in_one(after):
        return "sums are exchanged"
    if before.has(sp.Sum) and after.has(sp.Sum) and _is_zero(quantities.linear(sums.by_ends(before - after))):
        return "sums are cut, joined or shifted"
    if differ_at_a_point(put(before, given), put(after, given)):
        return None  # at once: what follows would look for seconds
    # Where there are cases, the conditions say which of them is meant.
    split = bool(given) and (before.has(sp.Piecewise) or after.has(sp.Piecewise))
    evidence = None if split else _equal(before, after)
    if evidence is None and given:
        evidence = _equal(put(before, given), put(after, given))
        evidence = evidence or _equal(put(before, given, signs=False), put(after, given, signs=False))
    return evidence


def at_most(before: sp.Expr, after: sp.Expr, given: Conditions = ()) -> str | None:
    """Why a formula is at most another one, in words; None if that is not shown."""
    before, after = put(before, given), put(after, given)
    return None if differ_at_a_point(before, after, at_most=True) else _at_most(before, after)


# ------------------------------------------------------------------------------------------------- equality


def _equal(before: sp.Expr, after: sp.Expr) -> str | None:
    left, right = (_worked_out(side) for side in (before, after))
    if not (is_finite(left) and is_finite(right)):
        return None
    difference = _collected(left - right)
    if difference == 0:
        return "both work out to the same"
    if _is_zero(difference):
        return "the difference cancels"
    if _inside(left, right, _equal):
        return "equal term by term"
    if difference.has(sp.Sum) and _is_zero(quantities.linear(sums.by_ends(left - right))):
        return "sums are cut, joined or shifted"
    if differ_at_a_point(left, right):
        return None  # at once: what follows would look for seconds
    if left.has(sp.binomial, sp.factorial, sp.gamma):
        # `simplify` would try for seconds, and not show it.
        return by_gamma_functions(left, right, (sp.Sum, sp.Integral, Mean, Positive, *_OPAQUE))
    if right != 0 and sp.powsimp(sp.powsimp(left / right, force=False)) == 1:
        return "the powers cancel"
    return "the difference simplifies to 0" if vanishes(difference.rewrite(sp.erf)) else None


def is_finite(expr: sp.Expr) -> bool:
    """Whether nothing infinite or undefined is left, except as the end of a range: such a thing equals nothing."""
    if not expr.has(sp.oo, -sp.oo, sp.zoo, sp.nan):
        return True
    return not isinstance(expr, (sp.core.numbers.Infinity, sp.core.numbers.NegativeInfinity)) and all(
        is_finite(part) for part in (expr.args[:1] if isinstance(expr, (ExprWithLimits, sp.Limit)) else expr.args)
    )


def _is_zero(difference: sp.Expr) -> bool:
    (form,), _ = rational_form([difference])
    return bool(form.is_rational_function() and simplest(form) == 0)


@lru_cache(maxsize=4096)
def _worked_out(expr: sp.Expr, one_sign: bool = True, shift: bool = True) -> sp.Expr:
    """Sums, integrals, limits and derivatives taken where SymPy can; what is held in a normal form. With ``one_sign``
    only one of [u]_+ and [−u]_+ is written; with ``shift`` all sums count from 0."""
    expr = by_binomial_theorem(expr)
    expr = _evaluated(by_binomial_theorem(expr.replace(sums.is_sum, sums.from_zero)) if shift else expr)
    expr = expr.replace(lambda e: isinstance(e, Least), lambda e: _smallest(e.args))
    if expr.has(sp.Sum):
        expr = sums.nested(expr.replace(sums.is_sum, sums.with_own_index).replace(sums.is_sum, sums.in_fixed_order))
    expr = expr.replace(lambda e: isinstance(e, Positive), lambda e: _homogeneous(e.args[0], one_sign))
    if expr.has(sp.Sum):  # a positive part may have let go of factors
        expr = sums.nested(expr).replace(sums.is_sum, sums.with_index_by_height)
    return quantities.linear(expr) if expr.has(Mean) else expr


def _smallest(candidates: tuple[sp.Expr, ...]) -> sp.Expr:
    """The formula that is shown to be at most every other one; the smallest of them, held, if that is not shown.

    >>> x, y = sp.symbols("x y", nonnegative=True)
    >>> _smallest((x + 1, x, x + y)), _smallest((x, y))
    (x, min(x, y))
    """
    for one in candidates:
        if all(one == other or _at_most(one, other) for other in candidates):
            return one
    return Least(*candidates)


def _evaluated(expr: sp.Expr) -> sp.Expr:
    """What SymPy can evaluate, except for sums over named functions: it looks for seconds for a closed form of them."""
    if sums.is_sum(expr) and expr.function.has(sp.gamma):
        return expr
    if isinstance(expr, sp.Sum) and any(len(limit) == 3 and limit[1] - limit[2] == 1 for limit in expr.limits):
        return sp.Integer(0)  # nothing is added
    if isinstance(expr, sp.Sum) and len(expr.limits) == 1 and expr.limits[0][1:2] == expr.limits[0][2:]:
        index, only, _ = expr.limits[0]
        return _evaluated(sums.apart(expr.function, only.free_symbols).subs(index, only))
    if isinstance(expr, sp.Sum) and expr.function.has(AppliedUndef, Positive, Mean, quantities.Divergence, sp.Indexed):
        return sp.Sum(_evaluated(expr.function), *expr.limits)
    if expr.has(sp.Sum) and not isinstance(expr, (sp.Sum, sp.Derivative, sp.Integral, sp.Limit, sp.Subs)):
        return expr.func(*(_evaluated(part) for part in expr.args)) if expr.args else expr
    if isinstance(expr, sp.Derivative) and sums.is_sum(expr.expr):
        return expr.doit(deep=False)  # term by term
    # Nor does it know integrals of named functions, or with logarithms in an exponent.
    held = {one: sp.Dummy() for one in expr.atoms(sp.Integral) if one.function.has(AppliedUndef, sp.log)}
    return expr.xreplace(held).doit().xreplace({name: one for one, name in held.items()})


def _homogeneous(inside: sp.Expr, one_sign: bool) -> sp.Expr:
    """[fx]_+ with the factors f ≥ 0 taken out."""
    parts = sp.Mul.make_args(sp.factor_terms(sp.together(inside)) if inside.is_Add else inside)
    outside = [part for part in parts if part.is_nonnegative and not (part.is_Rational and part == 0)]
    within = sp.Mul(*(part for part in parts if part not in outside))
    numerator, denominator = sp.fraction(within)
    if denominator != 1 and denominator.is_positive:
        outside, within = [*outside, 1 / denominator], numerator
    if within.is_Add:
        within = sp.expand(within)
    if is_nonnegative(-within):
        return sp.Integer(0)
    if is_nonnegative(within):
        return sp.Mul(*outside, within)
    if one_sign and within.could_extract_minus_sign():  # of u and −u one is written: [u]_+ = u + [−u]_+
        return sp.Mul(*outside, within + Positive(-within))
    return sp.Mul(*outside, Positive(within))


def _collected(expr: sp.Expr) -> sp.Expr:
    """Sums over the same range as one sum, whose terms may cancel."""
    alike_sums: dict[sp.Sum, list[sp.Expr]] = {}
    rest = []
    for term in sp.Add.make_args(sp.expand_mul(expr)):
        factors = sp.Mul.make_args(term)
        totals = [part for part in factors if sums.is_sum(part)]
        others = sp.Mul(*(part for part in factors if not sums.is_sum(part)))
        if len(totals) != 1:
            rest.append(term)
            continue
        # Over one index of the range for all of them, which occurs nowhere else.
        alike = next((one for one in alike_sums if sums.same_range(one, totals[0])), None) or sums.with_own_index(
            totals[0]
        )
        alike_sums.setdefault(alike, []).append(others * sums.over(totals[0], alike))
    if not alike_sums:
        return expr
    for alike, functions in alike_sums.items():
        inside = sp.Add(*functions)
        if _equal(inside, sp.Integer(0)) is None:
            rest.append(sp.Sum(inside, *alike.limits))
    return sp.Add(*rest)


def _inside(left: sp.Expr, right: sp.Expr, shows: Callable[[sp.Expr, sp.Expr], str | None]) -> bool:
    """Whether two held things of one kind, with one argument or over one range, are related as their insides are."""
    if sums.is_sum(left) and sums.is_sum(right):
        alike = sums.with_own_index(left)
        same = sums.same_range(alike, right) and (shows is _equal or goes_up(left))
        return same and shows(sums.over(left, alike), sums.over(right, alike)) is not None
    if left.is_Mul and right.is_Mul:
        common = [part for part in left.args if part in right.args and part.is_nonnegative]
        rest = [sp.Mul(*(part for part in side.args if part not in common)) for side in (left, right)]
        if common and _inside(rest[0], rest[1], shows):
            return True
    if isinstance(left, _RISING) and left.func == right.func and len(left.args) == 1:
        return shows(left.args[0], right.args[0]) is not None
    return _factors_are(left, right, shows)


def _factors_are(left: sp.Expr, right: sp.Expr, shows: Callable[[sp.Expr, sp.Expr], str | None]) -> bool:
    """Whether two products, or powers with one exponent, are related as what differs in them is."""
    if left.is_Pow and right.is_Pow and left.exp == right.exp and left.exp.is_nonnegative:
        ordered = shows is _equal or left.base.is_nonnegative or is_nonnegative(left.base)
        return ordered and shows(left.base, right.base) is not None
    if left.is_Pow and right.is_Pow and left.exp == right.exp and (-left.exp).is_nonnegative:
        return bool(right.base.is_positive) and shows(right.base, left.base) is not None
    ours, theirs = sp.Mul.make_args(left), sp.Mul.make_args(right)
    common = [part for part in ours if part in theirs]
    if not common or not all(shows is _equal or part.is_nonnegative or is_nonnegative(part) for part in common):
        return False
    rests = (sp.Mul(*(part for part in side if part not in common)) for side in (ours, theirs))
    return shows(*rests) is not None


def vanishes(difference: sp.Expr) -> bool:
    """Whether SymPy simplifies a formula to 0. On the way it evaluates numbers, and takes two that agree in many digits
    for equal: a formula with long numbers is not decided like this.

    >>> vanishes(sp.log(1 + sp.Rational(1, 10**40)) - sp.log(1 + sp.Rational(3, 10**40)))
    False
    """
    short = all(max(abs(number.p), number.q) < _LONG for number in difference.atoms(sp.Rational))
    held = difference.has(sp.Float, sp.Sum, Mean, Positive, quantities.Divergence)
    held = held or any(one.base == 0 for one in difference.atoms(sp.Pow))  # 0^x is 1 for x = 0
    return short and not held and bool(sp.simplify(difference) == 0)


# ------------------------------------------------------------------------------------------------- order


def _at_most(before: sp.Expr, after: sp.Expr) -> str | None:
    if isinstance(before, Mean) and _inside(before, after, _at_most):
        return "for every value of the random variables"
    if _integrands_in_order(before, after):
        return "term by term"
    signs = (False, True) if before.has(Positive) or after.has(Positive) else (False,)
    shifts = (False, True) if before.has(sp.Sum) or after.has(sp.Sum) else (False,)
    ways = (_ordered(before, after, one_sign, shift) for one_sign in signs for shift in shifts)
    evidence = next((evidence for evidence in ways if evidence), None)
    if evidence is None and before.has(sp.Sum) and after.has(sp.Sum) and is_nonnegative(_collected(after - before)):
        return "term by term"  # which a closed form of the sums may hide
    return evidence


def _ordered(before: sp.Expr, after: sp.Expr, one_sign: bool, shift: bool) -> str | None:
    if before.has(Positive) and not before.has(sp.Sum) and _inside(before, after, _at_most):
        return "term by term"
    left, right = (_worked_out(side, one_sign, shift) for side in (before, after))
    if is_nonnegative(_collected(right - left)):
        return "all coefficients of the difference have one sign"
    if _inside(left, right, _at_most):
        return "term by term"
    held = sorted(left.atoms(Positive), key=str)
    if held and len(held) <= _MOST_POSITIVE and not left.has(Mean, sp.Sum):
        # A positive part is one of two numbers: it is enough to look at both.
        ways = product(*(((part, sp.Integer(0)), (part, part.args[0])) for part in held))
        if all(is_nonnegative(right - left.xreplace(dict(way))) for way in ways):
            return "for both values of each positive part"
    lower = (left.args[0], sp.Integer(0)) if isinstance(left, Positive) else (left,)
    if all(_below_positive_parts(one, right) for one in lower):
        return "no formula is above its positive part"
    if right.has(Positive):
        rest = sums.own_function("rest", nonnegative=True, real=True)
        above = right.replace(lambda e: isinstance(e, Positive), lambda e: e.args[0] + rest(e.args[0]))
        if is_nonnegative(_collected(_worked_out(above, one_sign) - left)):
            return "[x]_+ is not below x"
    return None


def _below_positive_parts(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether a formula is at most the right side with each [x]_+ there replaced by x or 0, which are never above it.

    >>> x, y = sp.symbols("x y", real=True)
    >>> at_most(Positive(x + y), Positive(x) + Positive(y)), at_most(Positive(x), Positive(x) - Positive(y))
    ('for both values of each positive part', None)
    """
    right = sp.expand(right)
    held = sorted(right.atoms(Positive), key=str)
    if len(held) > _MOST_POSITIVE + 1:
        return False
    for part in held:
        factor = right.coeff(part)
        if (right - factor * part).expand().has(part) or not is_nonnegative(factor):
            return False
    choices = product(*((part.args[0], sp.Integer(0)) for part in held))
    return any(is_nonnegative(right.xreplace(dict(zip(held, chosen, strict=True))) - left) for chosen in choices)


def _integrands_in_order(before: sp.Expr, after: sp.Expr) -> bool:
    """Whether both are integrals over the same range, from below to above, of integrands in this order."""
    if not isinstance(before, sp.Integral) or not isinstance(after, sp.Integral) or before.limits != after.limits:
        return False
    for symbol, *ends in before.limits:
        least, most = range_of(symbol)
        inside = len(ends) == 2 and (least is None or (ends[0] - least).is_extended_nonnegative) and most is None
        if not inside or not (ends[1] - ends[0]).is_extended_nonnegative:
            return False
    return _at_most(before.function, after.function) is not None


@lru_cache(maxsize=4096)
def is_nonnegative(expr: sp.Expr) -> bool:
    """Whether a formula is shown not to be negative. Sums, means and powers of what is not negative are not either."""
    names: dict[sp.Expr, sp.Symbol] = {}

    def named(held: sp.Expr) -> sp.Symbol:
        if held not in names:
            if sums.is_sum(held):
                low = goes_up(held) and is_nonnegative(held.function)
            else:
                inside = not isinstance(held, (*_OPAQUE, sp.binomial)) and is_nonnegative(held.args[0])
                low = bool(held.is_nonnegative) or inside or _counts(held)
            whole = bool(held.is_integer and held.is_positive)
            known = {"integer": True, "positive": True} if whole else {"nonnegative": True} if low else {"real": True}
            names[held] = sp.Dummy(**known)
        return names[held]

    expr = expr.replace(lambda e: isinstance(e, (sp.Sum, Mean, sp.binomial, *_OPAQUE)) or _is_power(e), named)
    if ((expr.is_number or not expr.is_Add) and expr.is_nonnegative) or _has_sign(expr):  # SymPy is slow with sums
        return True
    # [u]_+ is u and something that is not negative, ⌊u⌋ is u without such a thing, and a whole n > 0 is at least 1.
    more: dict[tuple[str, sp.Expr], sp.Symbol] = defaultdict(lambda: sp.Dummy(nonnegative=True))
    wider = expr.replace(Positive, lambda u: u + more["positive part", u]).replace(
        sp.floor, lambda u: u - more["floor", u]
    )
    whole = [one for one in wider.free_symbols if one.is_integer and one.is_positive and range_of(one)[0] == 0]
    wider = wider.xreplace({one: 1 + more["whole", one] for one in whole})
    return wider != expr and _has_sign(wider)


def is_positive(expr: sp.Expr) -> bool:
    """Whether a formula is shown to be positive: by SymPy, factor by factor, or as an integral of what is positive."""
    if expr.is_positive:
        return True
    if expr.is_Mul or (expr.is_Pow and expr.exp.is_real):
        return all(map(is_positive, expr.args if expr.is_Mul else expr.args[:1]))
    if expr.is_Add:  # at least 1, or one is positive and the others are not negative
        if any(map(is_positive, expr.args)) and all(is_positive(one) or is_nonnegative(one) for one in expr.args):
            return True
        return is_nonnegative(expr - 1)
    if isinstance(expr, sp.Integral) and all(len(limit) == 3 for limit in expr.limits):
        up = all((last - first).is_extended_positive for _, first, last in expr.limits)
        return up and is_positive(expr.function)
    return False


def _counts(expr: sp.Expr) -> bool:
    """Whether this is a binomial coefficient that counts subsets; SymPy does not say that it is not negative."""
    counts = isinstance(expr, sp.binomial) and expr.args[0].is_integer and expr.args[1].is_integer
    return bool(counts and expr.args[0].is_nonnegative)


def goes_up(total: sp.Sum) -> bool:
    """Whether the last index of a sum is never before its first one, except that there may be no term."""
    ends = [limit[1:] for limit in total.limits]
    return all(len(end) == 2 and (end[1] is sp.oo or is_nonnegative(end[1] - end[0] + 1)) for end in ends)


def _has_sign(expr: sp.Expr) -> bool:
    (form,), bindings = rational_form([expr])
    try:
        return proves_nonnegative(form, bindings)
    except ZeroDivisionError:
        return False


def _is_power(expr: sp.Expr) -> bool:
    """Whether this is a power such as (1 − γ)^n, of whose base SymPy does not know the sign."""
    return bool(
        expr.is_Pow and expr.exp.free_symbols and not isinstance(expr, sp.exp) and expr.base.is_nonnegative is None
    )


# ------------------------------------------------------------------------------------------------- by other means


def telescopes(before: sp.Expr, after: sp.Expr, certificate: sp.Expr, given: Conditions = ()) -> str | None:
    """Why a sum has this value: its terms are the differences of a ``certificate``, one formula in the index."""
    if not isinstance(before, sp.Sum) or len(before.limits) != 1:
        return None
    i, first, last = before.limits[0]
    steps = equal(before.function, certificate.subs(i, i + 1) - certificate, given)
    ends = equal(certificate.subs(i, last + 1) - certificate.subs(i, first), after, given)
    return f"the terms are differences of ${latex.formula(certificate)}$" if steps and ends else None
