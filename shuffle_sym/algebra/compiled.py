r"""NumPy functions of exact formulas, in logarithms where counts occur, each value with a bound of its error.

Compiled as they stand, formulas with binomial coefficients are inf/inf from n = 171 on. Here a product of factorials
and of powers with counts in their exponents is brought to multinomial probabilities, in Loader's saddle point form:
with :math:`\mu_j = N c_j` and :math:`D(x, \mu) = x \log(x/\mu) + \mu - x \ge 0`,

.. math:: \log \frac{N!}{h_1! \cdots h_m!} c_1^{h_1} \cdots c_m^{h_m}
          = \sigma(N) - \sum_{j:\, h_j > 0} \sigma(h_j) - \sum_j D(h_j, \mu_j), \qquad
          \sigma(x) = \log x! - x \log x + x.

Differences of log Γ lose ten of sixteen digits at N = 10⁶. Here a wrong last digit of c_j costs only |h_j − μ_j| units
in the last place, because the shares sum to 1 by assumption and not by rounding: logarithms are right to about 1e-13 at
n = 10⁶.

A part of a formula computes a number and a bound of its error: `value_part` a value and its *relative* error,
`log_part` the logarithm of a formula that is not negative and its *absolute* error. With u = 2⁻⁵³, a sum, product or
quotient of doubles costs u of what it is made of, and a sum of terms of both signs is as bad as it is, and says so. nan
stands for an error that nobody bounded: that of formulas in numbers other than counts and exact constants.
"""

import inspect
import keyword
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, field
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.algebra.symbols import range_of

Array = npt.NDArray[np.float64]
Values = Mapping[sp.Symbol, Any]
Known = tuple[Any, Any]  # numbers, and bounds of their errors
Part = Callable[[Values], Known]
Power = tuple[sp.Expr, sp.Expr]  # base, exponent

MAX_COUNT = 2**40  # sums of a few counts are exact in doubles
_MAX_TERMS = 10**8
_FIRST_OF_SERIES = 16  # from here on Stirling's series is right to 2e-16
_LOG_ROUNDINGS = 8  # of a logarithm of NumPy, whose fast versions may be off by four units in the last place
_NOT_COMPILED = (sp.Integral, sp.Derivative, sp.Subs, sp.Indexed, sp.core.function.AppliedUndef)

# ---- Multinomial probabilities ---------------------------------------------------------------------------------------

with balls.LOCK, balls.workprec(128):
    #: log k! less Stirling's formula for k = 1 … 15, and a 0 for k = 0.
    _STIRLING_ERRORS = np.array([0.0] + [
        float(arb(k + 1).lgamma() - (k + arb(0.5)) * arb(k).log() + k - (2 * arb.pi()).log() / 2)
        for k in range(1, _FIRST_OF_SERIES)
    ])  # fmt: skip


def log_multinomial(counts: Sequence[Any], shares: Sequence[Any], share_error: float = 0.0) -> tuple[Array, Array]:
    r"""The logarithm of N!/(h_1! h_2! …) · Π c_j^h_j with N the sum of the ``counts`` h_j, and a bound of its absolute
    error; the logarithm is −inf if a count is negative, nan if N is.

    ``counts`` are whole numbers (arrays or numbers), ``shares`` numbers c_j ≥ 0 that sum to 1, ``share_error`` is the
    error of each of them, relative to it.

    D(x, μ) is computed as μ((1 + w) log(1 + w) − w), w = (x − μ)/μ. An error of μ by the factor 1 + e moves D by
    e|x − μ|; w has two roundings, and dD/dw is μ log(1 + w); the logarithm and the products round x log(1 + w), and the
    sums round terms that are at most x|log(1 + w)| + |x − μ|. The rest is of the size of log N.

    >>> float(np.exp(log_multinomial((1, 1, 0), (0.5, 0.25, 0.25))[0]).round(12))
    0.25
    """
    h = np.stack(np.broadcast_arrays(*(np.asarray(count, dtype=float) for count in counts)))
    total = h.sum(axis=0)
    log: Any = _log_factorial_excess(np.maximum(total, 0.0))
    error: Any = 32.0 * (len(shares) + 1) * (1 + np.log1p(np.maximum(total, 0.0)))
    for x, share in zip(np.maximum(h, 0.0), shares, strict=True):
        deviance, log_ratio = _deviance(x, total * share)
        gap, size = np.abs(x - total * share), np.abs(log_ratio)
        moved = gap * (share_error / UNIT_ROUNDOFF + 2 + (2 + size) * 2)
        rounded = (_LOG_ROUNDINGS + 8 + 2 * len(shares)) * (x * size + gap)
        log, error = log - _log_factorial_excess(x) - deviance, error + moved + rounded
    log = np.where(total < 0, np.nan, np.where((h < 0).any(axis=0), -np.inf, log))
    return log, UNIT_ROUNDOFF * np.asarray(error)


def _log_factorial_excess(x: Array) -> Array:
    """log x! − x log x + x, which is about log(2πx)/2; 0 at x = 0."""
    positive = np.maximum(x, 1.0)
    y = 1 / positive**2
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - y / 1188) * y) * y) * y) / positive
    small = positive < _FIRST_OF_SERIES
    stirling = np.where(small, _STIRLING_ERRORS[np.where(small, positive, 0).astype(int)], series)
    return np.where(x > 0, stirling + 0.5 * np.log(2 * np.pi * positive), 0.0)


def _deviance(x: Array, mean: Any) -> tuple[Array, Array]:
    """x log(x/μ) + μ − x, and log(x/μ) (0 where x is 0)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        w = (x - mean) / mean
        log = np.where(x > 0, np.log1p(w), 0.0)
        # x > 0 and μ = 0: impossible. x = 0 and μ = 0: nothing.
        inside = np.where(mean > 0, mean * ((1 + w) * log - w), np.inf)
    return np.where(x > 0, inside, mean), log


# ---- Parts of a formula ----------------------------------------------------------------------------------------------


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
            whole = sp.Add(*(term for term in expr.args if _is_count(term)))
            rest = [term for term in expr.args if not _is_count(term)]
            return _made_by(_sum, *(value_part(e, bindings) for e in (whole, *rest) if e != 0))
        if expr.is_Mul:
            return _made_by(_product, *(value_part(e, bindings) for e in expr.args))
        if expr.is_Pow and expr.exp.is_Integer:
            exponent = int(expr.exp)
            return _made_by(lambda base: _whole_power(base, exponent), value_part(expr.base, bindings))
    return _lambdified(field.substitute(expr, bindings), free, np.nan)


def log_part(expr: sp.Expr, bindings: field.Bindings) -> Part:
    """The logarithm of a formula that is not negative, and its absolute error."""
    if isinstance(expr, sp.Sum):
        return _log_of_sum(expr, bindings)
    if expr.is_Add and _has_counts(expr):
        return _made_by(_log_add, *(log_part(term, bindings) for term in expr.args))
    # Sort the factors: factorials, powers with counts, and the rest, whose logarithm is taken as it is.
    factorials: Counter[sp.Expr] = Counter()
    powers, plain, parts = [], sp.Integer(1), []
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if isinstance(base, sp.factorial) and exponent.is_Integer:
            factorials[base.args[0]] += int(exponent)
        elif _has_counts(base):
            parts.append(_made_by(_log_power, log_part(base, bindings), value_part(exponent, bindings)))
        elif _counts_in(exponent) or (_counts_in(base) and exponent not in (1, -1)):
            powers.append((base, exponent))
        else:
            plain *= factor
    groups, alone = _multinomials(factorials)
    shares, others, rest = _shared_out(powers, [h for _, group in groups for h in group])
    for total, group in groups:
        masses, shares = shares[: len(group)], shares[len(group) :]
        scale = field.simplest(sp.Add(*masses))
        columns = (*group, *(field.simplest(mass / scale) for mass in masses))
        parts.append(_made_by(_log_multinomial, *(value_part(e, bindings) for e in columns)))
        others += [(scale, total)] if scale != 1 else []
    for base, exponent in others:
        log = _log_of(base, bindings, even=bool(exponent.is_even))
        parts.append(_made_by(_log_power, log, value_part(exponent, bindings)))
    for x, count in alone.items():
        parts.append(_made_by(_log_power, _made_by(_log_factorial, value_part(x, {})), value_part(count, {})))
    plain *= rest
    return _made_by(_log_product, *parts, *([_log_of(plain, bindings)] if plain != 1 or not parts else []))


def _made_by(rule: Callable[..., Known], *parts: Part) -> Part:
    """A part that applies a rule to what other parts compute."""
    return lambda values: rule(*(part(values) for part in parts))


def _counts_in(expr: sp.Expr) -> set[sp.Symbol]:
    """The integer symbols of a formula."""
    return {symbol for symbol in expr.free_symbols if symbol.is_integer}


def _has_counts(expr: sp.Expr) -> bool:
    """Whether there are factorials, sums, or powers with a count in the exponent: what overflows for many users."""
    powers = expr.atoms(sp.Pow, sp.exp)
    return expr.has(sp.binomial, sp.factorial, sp.gamma, sp.Sum) or any(_counts_in(power.exp) for power in powers)


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
    for total in (+factorials).elements():
        below = [*(-left).elements()]
        sizes = (group for size in range(1, len(below) + 1) for group in combinations(below, size))
        group = next((group for group in sizes if sp.expand(sp.Add(*group) - total) == 0), None)
        if group is not None:
            groups.append((total, group))
            left.update([*group])
            left[total] -= 1
    return groups, Counter({x: sp.Integer(count) for x, count in left.items() if count})


def _shared_out(powers: list[Power], forms: Sequence[sp.Expr]) -> tuple[list[sp.Expr], list[Power], sp.Expr]:
    r"""Powers as :math:`\prod_j c_j^{h_j}`, h_j the ``forms``: the c_j, the powers that are none, a constant factor."""
    shares, others, rest = [sp.Integer(1) for _ in forms], [], sp.Integer(1)
    for base, exponent in powers:
        solution = None if _counts_in(base) else _in_terms_of(exponent, forms)
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
    polynomial = gap.as_poly(*_counts_in(exponent).union(*map(_counts_in, forms)))
    if polynomial is None or polynomial.total_degree() > 1:
        return None  # a product of counts
    for solution in sp.linsolve(polynomial.coeffs(), unknowns):
        *numbers, rest = (x.subs(dict.fromkeys(unknowns, 0)) for x in solution)
        # Equal counts share equally: that is where the probability of the two together is largest.
        equal = [[x for x, other in zip(numbers, forms, strict=True) if other == h] for h in forms]
        return [*(sp.Add(*same) / len(same) for same in equal), rest]
    return None


def _lambdified(expr: sp.Expr, symbols: set[sp.Symbol], error: float) -> Part:
    from sympy.codegen.rewriting import optimize, optims_c99  # slow to import

    order = sorted(symbols, key=str)
    # expm1 and log1p where they keep digits that exp and log lose.
    function = sp.lambdify(order, optimize(expr, optims_c99), modules=["numpy", "scipy"])
    return lambda values: (function(*(values[symbol] for symbol in order)), error)


def _log_of(expr: sp.Expr, bindings: field.Bindings, even: bool = False) -> Part:
    """The logarithm of a value, or of its absolute value if an ``even`` power is meant."""
    constant, rest = expr.as_coeff_Add()
    exact = all(symbol.is_integer for symbol in expr.free_symbols - set(bindings))
    log, inner = (np.log1p, rest) if constant == 1 and not exact else (np.log, expr)

    def logarithm(value: Known) -> Known:
        x, e = value
        y = log(np.abs(x) if even else x)
        return y, _log_error(e) + _LOG_ROUNDINGS * UNIT_ROUNDOFF * _size(y)

    return _made_by(logarithm, value_part(inner, bindings))


def _log_of_sum(expr: sp.Sum, bindings: field.Bindings) -> Part:
    *inner, (index, *ends) = expr.limits
    term = log_part(sp.Sum(expr.function, *inner) if inner else expr.function, bindings)
    low, high = (value_part(end, bindings) for end in ends)

    def part(values: Values) -> Known:
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


# ---- Rules: from numbers and their errors to another one -------------------------------------------------------------


def _log_error(error: Any) -> Any:
    """How far a logarithm may be off if the number is, by this share of what was computed."""
    return -np.log1p(-np.minimum(error, 1.0))


def _size(log: Any) -> Any:
    """What is rounded: infinities are not."""
    return np.where(np.isfinite(log), np.abs(log), 0.0)


def _sum(*terms: Known) -> Known:
    total, size = sum(x for x, _ in terms), sum(np.abs(x) for x, _ in terms)
    made = sum(np.abs(x) * e for x, e in terms) + (len(terms) - 1) * UNIT_ROUNDOFF * size
    return total, np.where(made == 0, 0.0, made / np.abs(total))


def _product(*factors: Known) -> Known:
    value, error = 1.0, -UNIT_ROUNDOFF
    for x, e in factors:
        value, error = value * x, error + e + error * e + UNIT_ROUNDOFF
    return value, error


def _whole_power(base: Known, exponent: int) -> Known:
    x, e = base
    return x ** float(exponent), np.expm1(abs(exponent) * _log_error(e)) + _LOG_ROUNDINGS * UNIT_ROUNDOFF


def _log_multinomial(*terms: Known) -> Known:
    """From the counts, and as many shares after them."""
    numbers, half = [x for x, _ in terms], len(terms) // 2
    return log_multinomial(numbers[:half], numbers[half:], sum(e for _, e in terms[half:]))


def _log_factorial(count: Known) -> Known:
    """log x!; +inf where x is negative."""
    whole = np.maximum(np.asarray(count[0], dtype=float), 0.0)
    main = whole * np.log(np.maximum(whole, 1.0))
    log = np.where(np.asarray(count[0]) < 0, np.inf, main - whole + _log_factorial_excess(whole))
    return log, 2 * _LOG_ROUNDINGS * UNIT_ROUNDOFF * (1 + main + whole)


def _log_power(log: Known, exponent: Known) -> Known:
    (x, e), (y, f) = log, exponent
    return np.where(y == 0, 0.0, y * x), np.abs(y) * (e + f * (_size(x) + e))


def _log_product(*logs: Known) -> Known:
    """The logarithm of a product from those of its factors. Where one factor is 0, and none infinite, so is the
    product: outside of its range a binomial coefficient is 0, whatever it is multiplied with."""
    zero, infinite = (sum(x == end for x, _ in logs) for end in (-np.inf, np.inf))
    total, size = sum(x for x, _ in logs), sum(_size(x) for x, _ in logs)
    error = sum(e for _, e in logs) + (len(logs) + 1) * UNIT_ROUNDOFF * size
    return np.where((zero > 0) & (infinite == 0), -np.inf, total), error * (1 + 1e-9)


def _log_add(*terms: Known) -> Known:
    return _log_total(*(np.stack(np.broadcast_arrays(*column)) for column in zip(*terms, strict=True)))


def _log_total(logs: Any, errors: Any) -> Known:
    """log of the sum of exponentials over the first axis; an error counts as much as its term."""
    top = np.max(logs, axis=0, initial=-np.inf)
    if not np.any(top > -np.inf):
        return top, np.zeros_like(top)
    weights = np.where(logs > -np.inf, np.exp(logs - top), 0.0)
    total = np.sum(weights, axis=0)
    moved = np.sum(weights * np.where(weights > 0, np.expm1(errors), 0.0), axis=0) / np.where(total > 0, total, 1.0)
    rounded = UNIT_ROUNDOFF * (len(logs) + 2 * _LOG_ROUNDINGS * (1 + _size(top)))
    return top + np.log(total), _log_error(moved) + rounded


# ---- Functions -------------------------------------------------------------------------------------------------------


class NumpyFunction:
    r"""A NumPy function of an exact formula: of its logarithm if factorials, sums or powers with a count as exponent
    occur in it; ``log`` decides otherwise.

    Arguments: ``symbols`` in the order of the arguments; ``name`` and first line ``doc`` of the function; ``bindings``,
    exact values of further symbols, such as ``{t: sp.exp(4)}``. Integer symbols are counts: whole numbers ≥ 0.

    ``function.error(…)`` bounds the absolute error of the value at the same arguments; it is nan where no bound is
    known: for a symbol that is not a count, ``bindings`` with its exact value give one. ``function.log`` says whether
    the value is the logarithm, ``function.expr`` is the formula.

    >>> n, k = sp.symbols("n k", integer=True, nonnegative=True)
    >>> log_mass = NumpyFunction(sp.binomial(n, k) / 2**n, (n, k), "log_mass", "Heads in n tosses of a coin.")
    >>> round(float(log_mass(10**6, 500_000)), 12), log_mass
    (-7.133546881627, log_mass(n, k))
    """

    def __init__(
        self,
        expr: sp.Expr,
        symbols: Sequence[sp.Symbol],
        name: str,
        doc: str,
        log: bool | None = None,
        bindings: Values | None = None,
    ) -> None:
        self.expr, self.symbols, self.bindings = sp.sympify(expr), tuple(symbols), dict(bindings or {})
        self._refuse_formula()
        self.log = _has_counts(self.expr) if log is None else log
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

    def _refuse_formula(self) -> None:
        expr, names = self.expr, [symbol.name for symbol in self.symbols]
        if not isinstance(expr, sp.Expr):
            raise TypeError(f"expr must be a SymPy expression, got {expr!r}")
        if expr.has(sp.Float):
            raise ValueError(
                f"expr must be exact, got the Float {min(expr.atoms(sp.Float))} ; write sp.Rational(1, 10)"
            )
        if expr.has(sp.I, sp.nan, sp.zoo) or expr.is_extended_real is False:
            raise ValueError(f"expr must be real, got {expr}")
        if expr.has(*_NOT_COMPILED):
            found = ", ".join(sorted({type(e).__name__ for e in expr.atoms(*_NOT_COMPILED)}))
            raise ValueError(f"expr must be made of numbers, symbols and functions, got {found} in it; try expr.doit()")
        if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
            raise ValueError(f"symbols must have different names that can name arguments, got {names}")
        if missing := sorted(expr.free_symbols - {*self.symbols, *self.bindings}, key=str):
            raise ValueError(
                f"symbols must name every symbol of expr (or bindings give it a value), missing: {missing}"
            )

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
        # Refuse what the symbols cannot be: counts are whole numbers that doubles hold, and there are ranges.
        for symbol, numbers in values.items():
            low, high = (end if end is None else float(end) for end in range_of(symbol))
            wrong = ~np.isfinite(numbers)
            if symbol.is_integer:
                wrong |= (numbers != np.floor(numbers)) | (np.abs(numbers) > MAX_COUNT)
            wrong |= (numbers < (-np.inf if low is None else low)) | (numbers > (np.inf if high is None else high))
            if np.any(wrong):
                raise ValueError(f"{symbol} must be {_range_in_words(symbol)}, got {numbers[wrong].flat[0]:g}")
        with np.errstate(all="ignore"):
            value, error = self._part(values)
            error = error if self.log else np.abs(value) * error
        shape = arrays[0].shape if arrays else ()
        value, error = (np.broadcast_to(np.asarray(x, dtype=float), shape).copy()[()] for x in (value, error))
        undefined = np.isnan(value)
        if np.any(undefined):
            where = ", ".join(f"{symbol} = {numbers[undefined].flat[0]:g}" for symbol, numbers in values.items())
            raise ValueError(f"{self.expr} is not a real number >= 0 there, or not defined: {where}")
        return value, error

    def __reduce__(self) -> tuple[Any, Any]:
        return type(self), self._given

    def __repr__(self) -> str:
        return f"{self.__name__}{self.__signature__}"


def _range_in_words(symbol: sp.Symbol) -> str:
    low, high = range_of(symbol)
    kind = "a whole number" if symbol.is_integer else "a number"
    return kind + ("" if low is None else f" >= {low}") + ("" if high is None else f" <= {high}")
