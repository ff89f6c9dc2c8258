r"""Binomial coefficients: sums that the binomial theorem takes, and formulas that are equal by gamma functions."""

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.field import rational_form, simplest

_FEW = 300  # operations, above which `gammasimp` factors for minutes


def by_binomial_theorem(expr: sp.Expr) -> sp.Expr:
    r"""Every sum of the form :math:`\sum_{i=0}^N \binom Ni f_0 r^i`, r free of i, becomes :math:`f_0 (1 + r)^N`.

    That the rest f of the summand is geometric is *shown*: f(i + 1)/f(i) is free of i. N must be known to be a
    non-negative integer. A sum over all but a few of these i is the whole one less the others. Of nested sums the inner
    one is taken first; sums of other forms are left as they are.

    >>> i, N = sp.symbols("i N", integer=True, nonnegative=True)
    >>> by_binomial_theorem(sp.Sum(sp.binomial(N, i) * 3**i * 2 ** (N - i), (i, 0, N)))
    5**N
    >>> by_binomial_theorem(sp.Sum(sp.binomial(N, i + 1), (i, 0, N - 1)))
    2**N - 1
    """

    def take(total: sp.Sum) -> sp.Expr:
        (i, *ends), *outer = total.limits
        value = _whole_binomial_sum(total.function, i, *ends) if len(ends) == 2 else None
        if value is None:
            return total
        return take(sp.Sum(value, *outer)) if outer else value

    def term_by_term(total: sp.Sum) -> sp.Expr:
        # What is unknown is left in a sum of its own.
        terms = sp.Add.make_args(sp.expand_mul(total.function)) if total.function.has(AppliedUndef) else ()
        return sp.Add(*(take(sp.Sum(term, *total.limits)) for term in terms)) if len(terms) > 1 else take(total)

    return expr.replace(lambda e: isinstance(e, sp.Sum) and e.has(sp.binomial), term_by_term)


def _whole_binomial_sum(term: sp.Expr, i: sp.Symbol, first: sp.Expr, last: sp.Expr) -> sp.Expr | None:
    """The sum of one geometric sequence times binom(N, i + shift), by the binomial theorem; None for other terms."""
    for coefficient in sorted(term.atoms(sp.binomial), key=str):
        N, shift = coefficient.args[0], coefficient.args[1] - i
        before, beyond = first + shift, N - last - shift
        if not (N.is_integer and N.is_nonnegative and shift.is_Integer and before.is_Integer and beyond.is_Integer):
            continue
        f = (term / coefficient).subs(i, i - shift)
        one_plus_r = sp.cancel(1 + sp.powsimp(f.subs(i, i + 1) / f))
        if one_plus_r.has(i):
            continue
        value = sp.powsimp(f.subs(i, 0) * one_plus_r**N, combine="base")
        value = value.replace(lambda e, N=N: e.is_Pow and e.exp == N, lambda e, N=N: sp.cancel(e.base) ** N)
        # Beyond 0 … N the coefficient is 0; what is missing inside is taken away.
        missing = [sp.Integer(m) for m in range(before)] + [N - m for m in range(beyond)]
        return value - sp.Add(*(sp.binomial(N, m) * f.subs(i, m) for m in missing))
    return None


# ------------------------------------------------------------------------------------------------- equality


def by_gamma_functions(left: sp.Expr, right: sp.Expr, held: tuple[type, ...]) -> str | None:
    """Why two formulas with binomial coefficients are equal; what is ``held`` is taken as it is."""
    names: dict[sp.Expr, sp.Symbol] = {}
    left, right = (
        side.replace(lambda e: isinstance(e, held), lambda e: names.setdefault(e, sp.Dummy(real=True)))
        for side in (left, right)
    )
    if not (left - right).has(sp.binomial, sp.factorial, sp.gamma):
        return None
    if not all(one.args[0].is_nonnegative or one.args[1].is_nonnegative for one in (left - right).atoms(sp.binomial)):
        return None  # binom(-1, -1) is 0, and by gamma functions binom(-1, 0), which is 1
    if right != 0 and (left / right).count_ops() < _FEW:
        ratio = sp.gammasimp((left / right).rewrite(sp.gamma))
        if 1 in (ratio, sp.powsimp(sp.powdenest(sp.expand_power_base(ratio)))):
            return "the ratio is 1 by gammasimp"
    return "the terms, divided by one of them, cancel" if _terms_cancel(left - right) else None


def _terms_cancel(difference: sp.Expr) -> bool:
    r"""Whether a sum of hypergeometric terms is 0: divided by one of them they are rational functions, which `cancel`.

    >>> m, n = sp.symbols("m n", integer=True, positive=True)
    >>> _terms_cancel(n * sp.binomial(n, m) - (m + 1) * sp.binomial(n, m + 1) - m * sp.binomial(n, m))
    True
    """
    numerator = sp.fraction(sp.together(difference))[0]
    terms = sp.Add.make_args(sp.expand_mul(numerator))
    ratios = (sp.gammasimp((term / terms[0]).rewrite(sp.gamma)) for term in terms)
    (total,), _ = rational_form([sp.Add(*(sp.powsimp(ratio) for ratio in ratios))])
    return bool(total.is_rational_function() and simplest(total) == 0)
