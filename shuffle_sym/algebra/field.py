r"""The field everything is written in: rational functions of :math:`t = e^{\varepsilon_0}` and of sizes such as k.

A formula is an expression in these symbols together with *bindings*, what each symbol stands for
(``{t: exp(4)}``). In this form equality is decided by algebra, and one formula is evaluated on fractions and on
enclosures (and so to mpmath numbers and doubles with a known error). Exponentials appear only in the bindings.

A sign is never guessed: it is proved for all values of the symbols, or decided by an enclosure that excludes
zero, or a zero is proved by algebra; otherwise the question is refused.
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from itertools import count

import mpmath
import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, precise, quotients, rounding, zeros
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.quotients import NotRationalError
from shuffle_sym.algebra.rationals import rational
from shuffle_sym.algebra.symbols import Irrational, Parameter, range_of

t: sp.Symbol = Parameter("t", 1)  # e^{eps0}
s: sp.Symbol = Parameter("s", 1)  # e^{eps0 / 2}
k: sp.Symbol = Parameter("k", 2, integer=True)  # alphabet size
d: sp.Symbol = Parameter("d", 2, integer=True)  # number of inputs
alpha = sp.Symbol("alpha", positive=True)  # e^{eps}
eps0 = sp.Symbol("epsilon_0", nonnegative=True)
_number = sp.Dummy()  # stands for a whole constant that is enclosed as it is

Bindings = Mapping[sp.Symbol, sp.Expr]


# ---------------------------------------------------------------------------------------------- symbols


@lru_cache(maxsize=8192)
def simplest(expr: sp.Expr) -> sp.Expr:
    """The canonical form of a rational function: equal formulas become identical."""
    if expr.is_Rational or expr.is_Symbol:
        return expr
    try:
        return quotients.quotient(expr).as_expr()
    except NotRationalError:
        return sp.cancel(expr)


#: The symbols of a formula; SymPy would look for them again and again.
_symbols_of = lru_cache(maxsize=8192)(lambda expr: frozenset(expr.free_symbols))


def symbols_of(exprs: Iterable[sp.Expr]) -> set[sp.Symbol]:
    """The symbols that occur in formulas."""
    return set().union(*map(_symbols_of, exprs))


def substitute(expr: sp.Expr, bindings: Bindings) -> sp.Expr:
    """The formula as a reader wants it: with e^{eps0} instead of t."""
    return expr.xreplace(dict(bindings)) if expr.free_symbols else expr


def used(bindings: Bindings, exprs: Iterable[sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """The bindings of symbols that occur."""
    occurring = symbols_of(exprs)
    return {symbol: value for symbol, value in bindings.items() if symbol in occurring}


def free_symbols(exprs: Iterable[sp.Expr], bindings: Bindings) -> set[sp.Symbol]:
    """The symbols that are left when what is bound has been put in."""
    return symbols_of(bindings.get(symbol, symbol) for symbol in symbols_of(exprs))


def rational_form(
    exprs: Iterable[sp.Expr], taken: Iterable[sp.Symbol] = ()
) -> tuple[tuple[sp.Expr, ...], dict[sp.Symbol, sp.Expr]]:
    r"""Write expressions as rational functions, with a symbol, none of those ``taken``, bound to each irrational part.

    Exponentials whose exponents are multiples of each other become powers of one symbol. Expressions that differ only
    in the numbers in their exponents become the same formula with other bindings, so that what is proved or compiled
    for one serves the other.

    >>> (form,), bindings = rational_form([sp.exp(-sp.Symbol("x")) + sp.exp(sp.Symbol("x") / 2)])
    >>> form.is_rational_function(), list(bindings.values())
    (True, [exp(x/2)])
    """
    exprs = tuple(sp.sympify(e) for e in exprs)
    if all(map(quotients.is_rational, exprs)):
        return exprs, {}
    taken = symbols_of(exprs) | set(taken)
    free = (symbol for i in count() if (symbol := Irrational(f"r{i}", -sp.oo)) not in taken)
    rewriting = zeros.Rewriting(exprs, partial(next, free))
    forms = tuple(map(rewriting.rewrite, exprs))
    return forms, {symbol: e for e, symbol in rewriting.names.items()}


# ---------------------------------------------------------------------------------------------- signs


@lru_cache(maxsize=4096)
def _range(symbol: sp.Symbol, value: sp.Expr) -> quotients.Range:
    """What ``symbol``, bound to ``value``, is never below and never above, None where nothing is known."""
    low, high = range_of(symbol)
    if isinstance(symbol, Parameter) and not value.free_symbols:
        # Refuse a number outside the range of its symbol: proofs rely on that range.
        with balls.LOCK, balls.workprec(zeros.FIRST_BITS):
            number = balls.value(value)
            # An enclosure decides without a difference, in which SymPy would write out a number such as 2^(10^9).
            above = low is None or number >= balls.ball(low) or zeros.sign(value - low) >= 0
            below = high is None or number <= balls.ball(high) or zeros.sign(high - value) >= 0
        if not (above and below):
            raise ValueError(f"{symbol} must be a number in {symbol.least} … {symbol.greatest}, got {value}")
    least, most = range_of(value) if value.is_Symbol else (None, None)
    at_least_one = sp.Integer(1) if isinstance(value, sp.exp) and value.exp.is_nonnegative else None
    constant, rest = value.as_coeff_Add()
    shifted = constant if constant.is_Rational and rest.is_nonnegative else None
    lows = [end for end in (low, least, at_least_one, shifted) if end is not None]
    return max(lows, default=None), min((end for end in (high, most) if end is not None), default=None)


def proves_nonnegative(expr: sp.Expr, bindings: Bindings) -> bool:
    r"""Whether ``expr >= 0`` is *proved* for all values of its symbols (t >= 1, k >= 2, …).

    Sufficient, not necessary: see `quotients.proved_sign`.

    >>> proves_nonnegative((t - 1) / (t + k - 1), {}), proves_nonnegative(t - 2, {})
    (True, False)
    """
    try:
        symbols = quotients.quotient(expr).symbols
    except NotRationalError:
        (expr,), irrational = rational_form([expr], bindings)
        bindings = {**bindings, **irrational}
        symbols = quotients.quotient(expr).symbols
    ranges = {symbol: _range(symbol, bindings.get(symbol, symbol)) for symbol in symbols}
    if quotients.proved_sign(expr, tuple(ranges.values())) == 1:
        return True
    fixed = [symbol for symbol in symbols if not bindings.get(symbol, symbol).free_symbols]
    if not fixed or len(fixed) == len(symbols):
        return False  # no number among the symbols, or nothing else: then `sign` decides
    for symbol in fixed:
        ((low, high),) = enclosures((symbol,), bindings, 64)
        ranges[symbol] = sp.Rational(low), sp.Rational(high)
    return quotients.proved_sign(expr, tuple(ranges.values())) == 1


def sign(expr: sp.Expr, bindings: Bindings) -> int:
    """The sign of a number, decided: by an enclosure that excludes 0, or by a proof that it is 0."""
    return signs((expr,), bindings)[0]


def signs(exprs: Iterable[sp.Expr], bindings: Bindings) -> tuple[int, ...]:
    """The signs of several numbers, decided as by `sign`."""
    forms = tuple(simplest(e) for e in exprs)
    with balls.LOCK, balls.workprec(zeros.FIRST_BITS):
        enclosed = _balls(forms, bindings)
    return tuple(
        1 if x > 0 else -1 if x < 0 else zeros.sign(substitute(e, bindings))
        for e, x in zip(forms, enclosed, strict=True)
    )


def is_zero(expr: sp.Expr, bindings: Bindings) -> bool:
    """Whether a formula is 0 for all values of its free symbols, or a number is; decided by algebra.

    >>> is_zero(sp.sqrt(6) - sp.sqrt(2) * sp.sqrt(3), {}), is_zero(t - 1, {})
    (True, False)
    """
    simple = simplest(expr)
    if simple.is_Rational:
        return bool(simple == 0)
    return not free_symbols((simple,), bindings) and sign(simple, bindings) == 0


def at_least(x: sp.Expr, y: sp.Expr) -> bool:
    """Whether x >= y, decided exactly: equality counts, a rounding error does not; y may be infinite."""
    if y in (sp.oo, -sp.oo):
        return y is not sp.oo
    with balls.LOCK, balls.workprec(zeros.FIRST_BITS):
        gap = balls.value(x) - balls.value(y)
    if gap > 0 or gap < 0:
        return bool(gap > 0)
    return zeros.sign(sp.exp(x) - y.args[0] if isinstance(y, sp.log) else x - y) >= 0


def is_nonnegative(expr: sp.Expr, bindings: Bindings) -> bool:
    """Proved for all values of the free symbols, or decided where there are none; refused otherwise."""
    if proves_nonnegative(expr, bindings):
        return True
    if not free_symbols((expr,), bindings):
        return sign(expr, bindings) >= 0
    if proves_nonnegative(-expr, bindings):
        return bool(simplest(expr) == 0)
    raise VerificationError(_undecided(expr, bindings))


def _undecided(expr: sp.Expr, bindings: Bindings) -> str:
    """Why a sign could not be proved: where it changes, if that depends on one symbol, and which ranges to give it."""
    form, shown = quotients.quotient(rational_form([expr], bindings)[0][0]), substitute(expr, bindings)
    if set(form.symbols) == shown.free_symbols and len(form.symbols) == 1:
        (symbol,) = form.symbols
        low, high = range_of(symbol)
        product = sp.Poly(sp.prod(sp.fraction(form.as_expr())), symbol)
        places = product.intervals(eps=sp.Rational(1, 1000), inf=low, sup=high)
        low, high = -sp.oo if low is None else low, sp.oo if high is None else high
        if inside := [(a, b) for (a, b), times in places if times % 2 and low < a and b < high]:
            at = [f"at {symbol} = {a}" if a == b else f"between {symbol} = {a} and {symbol} = {b}" for a, b in inside]
            edges = [_typed(end) for end in (low, *sum(inside, ()), high)]
            pieces = [f'ss.parameter("{symbol}", {a}, {b})' for a, b in zip(edges[::2], edges[1::2], strict=True)]
            return (
                f"{shown} changes sign {' and '.join(at)}, inside the range ({low}, {high}) of {symbol}. "
                f"Narrow it: {' or '.join(pieces)}."
            )
    return (
        f"Could not prove that {shown} has one sign for all values of its symbols. Narrow their ranges, as in "
        'ss.parameter("p", 0, 1), or ss.parameter("t", 1) for t = e^eps0, or give the symbols values.'
    )


def _typed(end: sp.Expr) -> str:
    """An end of a range as it is typed."""
    return str(end) if end.is_Integer else f'"{end}"' if end.is_Rational else str(end).replace("oo", "sp.oo")


def minimum(exprs: Iterable[sp.Expr], bindings: Bindings) -> sp.Expr:
    """The expression that is proved to be the smallest for all values of the free symbols.

    >>> minimum([t, sp.Integer(1)], {})
    1
    """
    candidates = tuple(dict.fromkeys(simplest(e) for e in exprs))
    if all(e.is_Rational for e in candidates):
        return min(candidates, key=rational)
    return _minimum(candidates, tuple(used(bindings, candidates).items()))


@lru_cache(maxsize=4096)
def _minimum(candidates: tuple[sp.Expr, ...], bound: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> sp.Expr:
    best, bindings = candidates[0], dict(bound)
    for other in candidates[1:]:
        # A proof for all values is cheaper than a decision for one; where the two are equal, either will do.
        if proves_nonnegative(best - other, bindings) or not is_nonnegative(other - best, bindings):
            best = other
    return best


def maximum(exprs: Iterable[sp.Expr], bindings: Bindings) -> sp.Expr:
    """The expression that is proved to be the largest for all values of the free symbols."""
    return -minimum([-e for e in exprs], bindings)


# ---------------------------------------------------------------------------------------------- numbers


def fractions(exprs: Iterable[sp.Expr], bindings: Bindings) -> tuple[Fraction, ...] | None:
    """Exact values, None if a binding is irrational."""
    exprs = tuple(exprs)
    values = {symbol: bindings.get(symbol, symbol) for symbol in symbols_of(exprs)}
    if not all(v.is_Rational for v in values.values()):
        return None
    numbers = {symbol: Fraction(int(v.p), int(v.q)) for symbol, v in values.items()}
    return tuple(
        Fraction(int(e.p), int(e.q)) if e.is_Rational else quotients.quotient(e).at(numbers, Fraction(1)) for e in exprs
    )


def _balls(exprs: Iterable[sp.Expr], bindings: Bindings) -> list[arb]:
    """Enclosures with the bits of the surrounding `balls.precision`."""
    exprs = tuple(exprs)
    values = {symbol: balls.value(bindings.get(symbol, symbol)) for symbol in symbols_of(exprs)}
    enclosed = []
    for e in exprs:
        try:
            enclosed.append(balls.ball(e) if e.is_Rational else quotients.quotient(e).at(values, arb(1)))
        except NotRationalError:
            enclosed.append(balls.value(e, values))
    return enclosed


def numbers(exprs: Iterable[sp.Expr], bindings: Bindings, bits: int) -> tuple[arb, ...]:
    """Balls with a relative radius of at most 2^-bits; exact zeros are zeros."""
    exprs = tuple(exprs)
    enclosed: dict[int, arb] = {}
    working = bits + 64
    while len(enclosed) < len(exprs):
        if working > zeros.LAST_BITS + bits:
            raise VerificationError(f"cannot evaluate to {bits} bits; is an expression zero in disguise?")
        missing = [i for i in range(len(exprs)) if i not in enclosed]
        with balls.LOCK, balls.workprec(working):
            for i, x in zip(missing, _balls([exprs[i] for i in missing], bindings), strict=True):
                if balls.is_right_to(bits, x):
                    enclosed[i] = x
                elif x.is_finite() and x.contains(0) and sign(exprs[i], bindings) == 0:
                    enclosed[i] = arb(0)
        working *= 2
    return tuple(enclosed[i] for i in range(len(exprs)))


def enclosures(exprs: Iterable[sp.Expr], bindings: Bindings, bits: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """Rational bounds of numbers with a relative width of at most 2^-bits; exact zeros stay zeros."""
    exprs = tuple(exprs)
    exact = fractions(exprs, bindings)
    if exact is not None:
        return tuple((v, v) for v in exact)
    return tuple(ends for x in numbers(exprs, bindings, bits + 1) if (ends := balls.ends(x)) is not None)


def not_above(number: sp.Expr) -> float:
    """The largest double that is not above a constant."""
    return -not_below(-number)


def not_below(number: sp.Expr) -> float:
    """The smallest double that is not below a constant, or inf."""
    if number is sp.oo:
        return math.inf
    # The formula is enclosed as it stands: as one quotient, (1 + e)^(10^6) would be a polynomial of that degree.
    ((_, high),) = enclosures((_number,), {_number: number}, 60)
    return rounding.up(high)


def mp_numbers(exprs: Iterable[sp.Expr], bindings: Bindings, digits: int) -> tuple[mpmath.mpf, ...]:
    """mpmath numbers, right to ``digits`` digits, whatever the global precision is."""
    return tuple(precise.middle(x, digits + 5) for x in numbers(exprs, bindings, int(digits * 3.3220) + 4))


def floats(exprs: Iterable[sp.Expr], bindings: Bindings) -> npt.NDArray[np.float64]:
    """Doubles with a relative error of at most `rounding.FLOAT_ERROR`; a number that no double holds is refused."""
    return balls.doubles(numbers(exprs, bindings, 60))
