r"""k-ary randomized response."""

from __future__ import annotations

from typing import Any

import sympy as sp

from shuffle_sym import arguments, field
from shuffle_sym.randomizer import OutputClass, Randomizer

_UNNAMED = (-1, -2)  # two inputs that nobody named; nothing loops over the k − 2 of them


class KRR(Randomizer):
    r"""k-ary randomized response on {0, …, k − 1}: the input with probability :math:`t/(t + k - 1)`,
    every other message with :math:`1/(t + k - 1)`, :math:`t = e^{\varepsilon_0}` (Balle et al. 2019, §3.1).

    Parameters left out stay symbols.

    >>> KRR(k=10, eps0=sp.log(3)).gamma, KRR().gamma, KRR().eps0
    (5/6, k/(k + exp(epsilon_0) - 1), epsilon_0)
    """

    symmetric = True

    def __init__(self, k: Any = None, eps0: Any = None) -> None:
        size = arguments.size(field.k if k is None else k, "k", 2)
        # A number goes into the formulas; an expression is bound, so that proofs know that k >= 2.
        self.k = field.k if size.free_symbols else size
        self.bindings = {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}
        if size.free_symbols and size != field.k:
            self.bindings[field.k] = size
        self.input_count = size

    def probability(self, x: int, y: int) -> sp.Expr:
        """Pr[R(x) = y]: the definition."""
        return (field.t if x == y else sp.Integer(1)) / (field.t + self.k - 1)

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        named = tuple(dict.fromkeys(inputs))
        sizes = {**dict.fromkeys(named, sp.Integer(1)), _UNNAMED[0]: self.k - len(named)}
        return tuple(
            OutputClass(
                f"y = {y}" if y in named else r"\text{other } y" if named else r"\text{every } y",
                tuple(size * self.probability(x, y) for x in inputs),
                tuple(size * self.probability(x, y) for x in (*named, *_UNNAMED)),
            )
            for y, size in sizes.items()
            if size != 0
        )

    def rows(self) -> list[list[sp.Expr]]:
        arguments.numeric_only(self.input_count.free_symbols, "the matrix")
        inputs = range(int(self.input_count))
        return [[self.probability(x, y) for y in inputs] for x in inputs]

    def __repr__(self) -> str:
        return f"KRR(k={self.input_count}, eps0={self.eps0})"

    def _repr_latex_(self) -> str:
        k = sp.latex(self.k)
        t = sp.latex(self.bindings[field.t]).replace(r"\epsilon", r"\varepsilon")
        return (
            rf"$\displaystyle R(x)(y) = \frac{{1}}{{t + {k} - 1}}"
            r" \begin{cases} t & y = x \\ 1 & y \ne x \end{cases}"
            rf", \quad x, y \in \{{0, \ldots, {k} - 1\}}, \quad t = {t}$"
        )


class BinaryRR(KRR):
    r"""Binary randomized response: the input bit is kept with probability :math:`t/(t+1)`.

    >>> BinaryRR(eps0=sp.log(3)).matrix()
    Matrix([
    [3/4, 1/4],
    [1/4, 3/4]])
    """

    def __init__(self, eps0: Any = None) -> None:
        super().__init__(k=2, eps0=eps0)

    def __repr__(self) -> str:
        return f"BinaryRR(eps0={self.eps0})"
