r"""Randomizers whose message is a set of inputs of fixed size: k-ary randomized response and subset selection."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field, latex
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.matching import Matches, Matching

_w: sp.Symbol = Parameter("w", 1, integer=True)
_rest: sp.Symbol = Parameter("r", 1, integer=True)


class SubsetSelection(Matching):
    r"""A set of w of the d inputs; sets that contain the input are :math:`t = e^{\varepsilon_0}` times as likely
    (Ye and Barg 2018).

    Arguments: ``d`` inputs, sets of ``w`` of them, local privacy level ``eps0``; those left out stay symbols. The match
    probability is w/d, and a set never matches all inputs.

    >>> SubsetSelection(d=5, w=2, eps0=sp.log(3)).gamma
    5/9
    """

    symmetric = True

    def __init__(self, d: Any = None, w: Any = None, eps0: Any = None) -> None:
        self.input_count = self.d = arguments.size(field.d if d is None else d, "d", 2)
        self.w = arguments.size(_w if w is None else w, "w", 1)
        if arguments.decided(self.w < self.input_count) is False:
            raise ValueError(f"w must be an integer in 1 … d - 1 = {self.input_count - 1}, got {w}")
        self.bindings = {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}
        self.ratio = field.t
        # Written in w and r = d − w >= 1, so that proofs know that w < d.
        if self.input_count.free_symbols or self.w.free_symbols:
            self._size, self._left = _w, _rest
            self.bindings |= {_rest: self.input_count - self.w} | ({_w: self.w} if self.w != _w else {})
        else:
            self._size, self._left = self.w, self.input_count - self.w
        self.mu = self._size / (self._size + self._left)

    def joint(self, inputs: tuple[int, ...], matches: Matches) -> sp.Expr:
        hits, m = sum(matches), len(matches)
        chosen = _falling(self._size, hits) * _falling(self._left, m - hits)
        return chosen / _falling(self._size + self._left, m)

    def messages(self) -> Iterator[tuple[sp.Expr, Matches]]:
        inputs, weight = range(int(self.input_count)), 1 / sp.binomial(self.input_count, self.w)
        for subset in map(set, combinations(inputs, int(self.w))):
            yield weight, tuple(x in subset for x in inputs)


def _falling(x: sp.Expr, count: int) -> sp.Expr:
    """x (x − 1) … (x − count + 1)."""
    return sp.Mul(*(x - i for i in range(count)))


class KRR(SubsetSelection):
    r"""k-ary randomized response on {0, …, k − 1}: the input with probability :math:`t/(t + k - 1)`,
    every other message with :math:`1/(t + k - 1)`, :math:`t = e^{\varepsilon_0}` (Balle et al. 2019, §3.1).

    Arguments: ``k`` inputs, local privacy level ``eps0``; those left out stay symbols. (Subset selection with w = 1.)

    >>> KRR(k=10, eps0=sp.log(3)).gamma, KRR().gamma, KRR().eps0
    (5/6, k/(k + exp(epsilon_0) - 1), epsilon_0)
    """

    is_krr = True

    def __init__(self, k: Any = None, eps0: Any = None) -> None:
        self.k = size = arguments.size(field.k if k is None else k, "k", 2)
        super().__init__(d=size, w=1, eps0=eps0)
        if size.free_symbols:
            # k itself is the better letter here, and proofs know that k >= 2.
            self.bindings = {field.t: self.bindings[field.t]} | ({field.k: size} if size != field.k else {})
            self._size, self._left, self.mu = sp.Integer(1), field.k - 1, 1 / field.k

    def _repr_latex_(self) -> str:
        k = latex.formula(self.input_count)
        return (
            rf"$\displaystyle R(x)(y) = \frac{{1}}{{t + {k} - 1}}"
            r" \begin{cases} t & y = x \\ 1 & y \ne x \end{cases}"
            rf", \quad x, y \in \{{0, \ldots, {k} - 1\}}, \quad t = {latex.formula(self.bindings[field.t])}$"
        )


class BinaryRR(KRR):
    r"""Binary randomized response: the input bit is kept with probability :math:`t/(t+1)`.

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> BinaryRR(eps0=sp.log(3)).matrix()
    Matrix([
    [3/4, 1/4],
    [1/4, 3/4]])
    """

    def __init__(self, eps0: Any = None) -> None:
        super().__init__(k=2, eps0=eps0)
