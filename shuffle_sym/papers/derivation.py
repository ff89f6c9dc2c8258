r"""A derivation is data: lines that SymPy has checked when they were written down."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.field import proves_nonnegative, rational_form, simplest
from shuffle_sym.papers import registry

Grid = Mapping[sp.Symbol, Sequence[Any]]
RELATIONS = {"=": "=", "<=": r"\le"}
_LONG = 10**9


@dataclass(frozen=True)
class Step:
    r"""``before`` relation ``after``, the rule that was applied, and whether it is *proved* or *checked*.

    An equation is proved if SymPy shows the difference to be zero for all values of the symbols: as a rational function
    (`cancel`), through Γ functions (`gammasimp`; a sum of terms with Γ functions by dividing all of them by one), or
    after `simplify`. Sums over binomial coefficients are first taken by the binomial theorem, which SymPy states only
    for some values of the symbols. An inequality is proved if the difference has non-negative coefficients in the
    symbols less their least values. Where SymPy proves nothing, a ``grid`` of exact values must be given; then the step
    is *checked*, on that grid and nowhere else. A step that fails both raises.

    >>> x = sp.Symbol("x")
    >>> Step((x + 1) ** 2, x**2 + 2 * x + 1, "expand").status
    'proved'
    """

    before: sp.Expr
    after: sp.Expr
    rule: str
    relation: str = "="
    grid: Grid | None = None
    status: str = field(init=False)
    evidence: str = field(init=False)

    def __post_init__(self) -> None:
        prove = _prove_equal if self.relation == "=" else _prove_at_most
        evidence = prove(self.before, self.after)
        if evidence is None and self.grid is not None:
            _check_on_grid(self)
            ranges = ", ".join(f"{symbol} in {list(values)}" for symbol, values in self.grid.items())
            object.__setattr__(self, "status", "checked")
            object.__setattr__(self, "evidence", f"exact for {ranges}")
            return
        if evidence is None:
            raise VerificationError(f"{self.rule}: cannot prove {self.before} {self.relation} {self.after}")
        object.__setattr__(self, "status", "proved")
        object.__setattr__(self, "evidence", evidence)

    def __str__(self) -> str:
        return f"{self.before} {self.relation} {self.after}    [{self.rule}; {self.status}: {self.evidence}]"

    def _formula(self) -> str:
        return rf"{latex.formula(self.before)} \;{RELATIONS[self.relation]}\; {latex.formula(self.after)}"

    def _repr_latex_(self) -> str:
        words = latex.text(f"{self.rule}  ({self.status})")
        return rf"$\displaystyle {self._formula()} \qquad {words}$"


def _prove_equal(before: sp.Expr, after: sp.Expr) -> str | None:
    left, right = (_by_binomial_theorem(side).doit() for side in (before, after))
    difference = left - right
    (form,), _ = rational_form([difference])
    if form.is_rational_function() and simplest(form) == 0:
        return "the difference cancels"
    if right != 0 and sp.gammasimp((left / right).rewrite(sp.gamma)) == 1:
        return "the ratio is 1 by gammasimp"
    if difference.has(sp.binomial, sp.factorial, sp.gamma):
        # `simplify` would try for seconds, and not show it.
        return "the terms, divided by one of them, cancel" if _terms_cancel(difference) else None
    return "the difference simplifies to 0" if _vanishes(difference.rewrite(sp.erf)) else None


def _vanishes(difference: sp.Expr) -> bool:
    """Whether SymPy simplifies a formula to 0. On the way it evaluates numbers, and takes two that agree in many digits
    for equal: a formula with long numbers is not decided like this.

    >>> _vanishes(sp.log(1 + sp.Rational(1, 10**40)) - sp.log(1 + sp.Rational(3, 10**40)))
    False
    """
    short = all(max(abs(number.p), number.q) < _LONG for number in difference.atoms(sp.Rational))
    return short and not difference.has(sp.Float) and bool(sp.simplify(difference) == 0)


def _terms_cancel(difference: sp.Expr) -> bool:
    r"""Whether a sum of hypergeometric terms is 0: divided by one of them they are rational functions, which `cancel`.

    >>> m, n = sp.symbols("m n", integer=True, positive=True)
    >>> _terms_cancel(n * sp.binomial(n, m) - (m + 1) * sp.binomial(n, m + 1) - m * sp.binomial(n, m))
    True
    """
    numerator = sp.fraction(sp.together(difference))[0]
    terms = sp.Add.make_args(sp.expand_mul(numerator))
    ratios = (sp.gammasimp((term / terms[0]).rewrite(sp.gamma)) for term in terms)
    total = sp.Add(*(sp.powsimp(ratio) for ratio in ratios))
    return bool(total.is_rational_function() and simplest(total) == 0)


def _by_binomial_theorem(expr: sp.Expr) -> sp.Expr:
    r"""Every sum of the form :math:`\sum_{i=0}^N \binom Ni f_0 r^i`, r free of i, becomes :math:`f_0 (1 + r)^N`.

    That the rest f of the summand is geometric is *shown*: f(i + 1)/f(i) is free of i. N must be known to be a
    non-negative integer. Of nested sums the inner one is taken first; other sums are left as they are.

    >>> i, N = sp.symbols("i N", integer=True, nonnegative=True)
    >>> _by_binomial_theorem(sp.Sum(sp.binomial(N, i) * 3**i * 2 ** (N - i), (i, 0, N)))
    5**N
    """

    def take(total: sp.Sum) -> sp.Expr:
        (i, *ends), *outer = total.limits
        if len(ends) != 2 or ends[0] != 0 or not (ends[1].is_integer and ends[1].is_nonnegative):
            return total
        N = ends[1]
        f = total.function / sp.binomial(N, i)
        one_plus_r = sp.cancel(1 + sp.powsimp(f.subs(i, i + 1) / f))
        if one_plus_r.has(i):
            return total
        value = sp.powsimp(f.subs(i, 0) * one_plus_r**N, combine="base")
        value = value.replace(lambda e: e.is_Pow and e.exp == N, lambda e: sp.cancel(e.base) ** N)
        return take(sp.Sum(value, *outer)) if outer else value

    return expr.replace(lambda e: isinstance(e, sp.Sum), take)


def _prove_at_most(before: sp.Expr, after: sp.Expr) -> str | None:
    (form,), bindings = rational_form([after.doit() - before.doit()])
    return "coefficients of one sign" if proves_nonnegative(form, bindings) else None


def _check_on_grid(step: Step) -> None:
    points: list[dict[sp.Symbol, Any]] = [{}]
    for symbol, values in (step.grid or {}).items():
        points = [{**point, symbol: sp.sympify(value)} for point in points for value in values]
    for point in points:
        left, right = (sp.simplify(e.subs(point).doit()) for e in (step.before, step.after))
        holds = left == right or _vanishes(left - right) if step.relation == "=" else bool(left <= right)
        if not holds:
            raise VerificationError(f"{step.rule}: fails at {point}: {left} against {right}")


Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Derivation:
    """Steps that were checked one by one; a wrong one cannot be built.

    It shows itself in a notebook, `step` shows one line, `walk` goes through them, `numeric` makes a function of the
    last line.

    >>> x = sp.Symbol("x")
    >>> square = Derivation("a square", "any school", (Step((x + 1) ** 2, x**2 + 2 * x + 1, "expand"),))
    >>> square.result, square.proved, len(square)
    (x**2 + 2*x + 1, True, 1)
    """

    title: str
    source: str
    steps: Steps

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("steps must not be empty")

    @property
    def result(self) -> sp.Expr:
        """The right side of the last line."""
        return self.steps[-1].after

    @property
    def proved(self) -> bool:
        """Whether every step is proved; a step that is only checked is enough to say no."""
        return all(step.status == "proved" for step in self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def step(self, number: int) -> Step:
        """The line with this number, counted from 1 as they are shown."""
        if not 1 <= number <= len(self.steps):
            raise ValueError(f"number must be an integer in 1 … {len(self.steps)}, got {number}")
        return self.steps[number - 1]

    def numeric(self) -> Callable[..., Any]:
        """The last line as a NumPy function; its arguments are the free symbols in alphabetical order."""
        symbols = sorted(self.result.free_symbols, key=str)
        from sympy.codegen.rewriting import optimize, optims_c99  # slow to import

        # expm1 and log1p where they keep digits that exp and log lose.
        function: Callable[..., Any] = sp.lambdify(
            symbols, optimize(self.result, optims_c99), modules=["numpy", "scipy"]
        )
        return function

    def walk(self) -> Any:
        """Buttons that go through the lines (ipywidgets); without ipywidgets all lines are printed."""
        try:
            import ipywidgets
            from IPython.display import display
        except ImportError:
            print(self)
            return None
        number = ipywidgets.BoundedIntText(value=1, min=1, max=len(self), description="step")
        back, on = ipywidgets.Button(description="back"), ipywidgets.Button(description="next")
        back.on_click(lambda _: setattr(number, "value", max(1, number.value - 1)))
        on.on_click(lambda _: setattr(number, "value", min(len(self), number.value + 1)))
        line = ipywidgets.Output()

        def show(change: Any = None) -> None:
            line.clear_output(wait=True)
            with line:
                display(self.step(number.value))

        number.observe(show, "value")
        show()
        return ipywidgets.VBox([ipywidgets.HBox([back, number, on]), line])

    def __str__(self) -> str:
        lines = [f"{self.title}  ({self.source})"]
        return "\n".join(lines + [f"  ({i}) {step}" for i, step in enumerate(self.steps, 1)])

    def _repr_latex_(self) -> str:
        head = rf"\textbf{{{self.title.replace('_', chr(92) + '_')}}}\quad{latex.text(f'({self.source})')}"
        lines = [
            rf"({i})\quad {latex.text(f'{step.rule}  ({step.status})')} \\[2pt] \qquad \displaystyle {step._formula()}"
            for i, step in enumerate(self.steps, 1)
        ]
        return r"$\begin{array}{l} " + r" \\[8pt] ".join([head, *lines]) + r" \end{array}$"


Arguments = ParamSpec("Arguments")


def derivation(title: str, source: str) -> Callable[[Callable[Arguments, Steps]], Callable[Arguments, Derivation]]:
    """Makes of the function below it, which returns the steps, one that builds the derivation, and registers that.

    ``source`` is where the statement stands: author, year, number.

    >>> import shuffle_sym as ss
    >>> ss.derivations.lemma53 is ss.papers.balle2019.lemma53
    True
    """

    def register(steps: Callable[Arguments, Steps]) -> Callable[Arguments, Derivation]:
        @wraps(steps)
        def build(*given: Arguments.args, **named: Arguments.kwargs) -> Derivation:
            return Derivation(title, source, steps(*given, **named))

        return registry.derivation(build)

    return register
