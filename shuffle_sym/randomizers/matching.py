r"""Randomizers in which a message matches an input or does not: k-RR, subsets, bits, hashes, Hadamard response.

What they have in common is in `shuffle_sym.model.matching`; here is how likely a match is, and how the matches with
several inputs go together.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field, latex
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.matching import Independent, Matches, Matching

_w: sp.Symbol = Parameter("w", 1, integer=True)
_rest: sp.Symbol = Parameter("r", 1, integer=True)
_g: sp.Symbol = Parameter("g", 2, integer=True)
_K: sp.Symbol = Parameter("K", 4, integer=True)


def _level(eps0: Any) -> dict[sp.Symbol, sp.Expr]:
    """What t stands for; a symbol if ε0 is left out."""
    return {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}


# ---- Sets of inputs --------------------------------------------------------------------------------------------------


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
        self.bindings = _level(eps0)
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


# ---- One bit for each input ------------------------------------------------------------------------------------------


class UnaryEncoding(Independent):
    """Bit x is set with a larger probability than the others, which are set with probability μ; y matches x if its
    bit x is set."""

    def messages(self) -> Iterator[tuple[sp.Expr, Matches]]:
        d = int(self.input_count)
        for bits in product((True, False), repeat=d):
            yield self.joint(tuple(range(d)), bits), bits


class RAPPOR(UnaryEncoding):
    r"""Every bit of the one-hot input is kept with probability :math:`s/(s+1)`, :math:`s = e^{\varepsilon_0/2}`
    (Erlingsson et al. 2014).

    Arguments: ``d`` inputs (``sp.oo`` as in the published tables), local privacy level ``eps0``; symbols if left out.

    >>> RAPPOR(d=sp.oo, eps0=2 * sp.log(2)).gamma
    1/2
    """

    def __init__(self, d: Any = None, eps0: Any = None) -> None:
        level = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
        self.bindings = {field.s: sp.exp(level / 2)}
        self.ratio, self.mu = field.s**2, 1 / (field.s + 1)
        self._set_inputs(d)


class OUE(UnaryEncoding):
    r"""Optimised unary encoding: the input's bit is set with probability 1/2, every other bit with probability
    :math:`1/(t+1)` (Wang et al. 2017).

    Arguments: ``d`` inputs (``sp.oo`` as in the published tables), local privacy level ``eps0``; symbols if left out.

    >>> OUE(d=sp.oo, eps0=sp.log(3)).gamma
    2/3
    """

    def __init__(self, d: Any = None, eps0: Any = None) -> None:
        self.bindings = _level(eps0)
        self.mu = 1 / (field.t + 1)
        self._set_inputs(d)


# ---- Hashes ----------------------------------------------------------------------------------------------------------


class OLH(Independent):
    r"""Local hashing: a uniformly random function h from the d inputs to g values, and g-ary randomized response on
    h(x) (Wang et al. 2017). The message (h, z) matches the inputs with h(x) = z; the family is that of *all* functions.

    Arguments: ``g`` hash values, ``d`` inputs (``sp.oo`` as in the published tables), local privacy level ``eps0``;
    those left out stay symbols.

    >>> OLH(g=4, d=sp.oo, eps0=sp.log(3)).gamma
    2/3
    """

    def __init__(self, g: Any = None, d: Any = None, eps0: Any = None) -> None:
        self.g = arguments.size(_g if g is None else g, "g", 2)
        self.bindings, self.mu = _level(eps0), 1 / self.g
        if self.g.free_symbols:
            self.bindings, self.mu = self.bindings | ({_g: self.g} if self.g != _g else {}), 1 / _g
        self._set_inputs(d)

    def messages(self) -> Iterator[tuple[sp.Expr, Matches]]:
        arguments.numeric_only(self.g.free_symbols, "the matrix")
        g, d = int(self.g), int(self.input_count)
        weight = sp.Rational(1, g ** (d + 1))
        for function in range(g**d):  # its values are the digits; itertools.product would list all g first
            hashes, rest = [], function
            for _ in range(d):
                rest, value = divmod(rest, g)
                hashes.append(value)
            for z in range(g):
                yield weight, tuple(value == z for value in reversed(hashes))


class BLH(OLH):
    r"""Binary local hashing: `OLH` with g = 2, ``d`` inputs and local privacy level ``eps0``.

    >>> BLH(d=2, eps0=sp.log(3)).gamma, BLH(d=sp.oo, eps0=sp.log(3)).gamma
    (3/4, 1/2)
    """

    def __init__(self, d: Any = None, eps0: Any = None) -> None:
        super().__init__(g=2, d=d, eps0=eps0)


# ---- Columns of Hadamard matrices ------------------------------------------------------------------------------------


class BlockHadamard(Matching):
    r"""Hadamard response in ``B`` >= 2 blocks of ``b`` columns, b a power of two, both numbers; local privacy level
    ``eps0``, a symbol if it is left out. It is the general one, for large ε0 (Acharya, Sun and Zhang 2019).

    The message y = b · block + column; the b − 1 inputs of a block are the rows of the b × b Hadamard matrix but the
    first. A message matches the inputs of its block whose row has +1 in its column. What holds for these B (b − 1)
    inputs holds for fewer, too.

    >>> BlockHadamard(B=2, b=4, eps0=sp.log(3)).gamma
    2/3
    """

    def __init__(self, B: Any = 2, b: Any = 4, eps0: Any = None) -> None:
        self.B, self.b = arguments.size(B, "B", 2), arguments.size(b, "b", 2)
        arguments.numeric_only(self.B.free_symbols | self.b.free_symbols, "the list of blocks")
        if int(self.b).bit_count() != 1:
            raise ValueError(f"b must be a power of two, at least 2, got {b}")
        self.bindings = _level(eps0)
        self.mu, self.input_count = 1 / (2 * self.B), self.B * (self.b - 1)

    def place(self, x: int) -> tuple[int, int]:
        """The block of the input x, and its row there."""
        return x // (int(self.b) - 1), x % (int(self.b) - 1) + 1

    def pairs(self) -> tuple[tuple[int, int], ...]:
        # Linear maps on the rows of a block, and permutations of blocks: two inputs of one block, or of two.
        return ((0, 1), (0, int(self.b) - 1)) if self.b > 2 else ((0, 1),)

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        # Inputs by their block and row: linear maps of a block that keep one row or two, and so their sum, take every
        # further row to every other one; blocks without x0 and x1 may be exchanged.
        arguments.numeric_only(self.b.free_symbols, "the list of inputs")
        b, (block0, row0), (block1, row1) = int(self.b), self.place(x0), self.place(x1)
        # The first input of each kind is among these: two blocks at most, and three rows of a block, have own kinds.
        rows = [row for row in {1, 2, 3, 4, row0 ^ row1} if 0 < row < b]
        places = sorted((block, row) for block in {0, 1, 2, block0, block1} if block < self.B for row in rows)
        firsts: dict[tuple[bool, ...], int] = {}
        for block, row in places:
            if (x := block * (b - 1) + row - 1) not in (x0, x1):
                is_sum = block == block0 == block1 and row == row0 ^ row1
                firsts.setdefault((block == block0, block == block1, is_sum), x)
        return [x0, x1, *firsts.values()]

    def joint(self, inputs: tuple[int, ...], matches: Matches) -> sp.Expr:
        """The mean over blocks: none of the inputs of other blocks matches."""
        named = [(*self.place(x), match) for x, match in zip(inputs, matches, strict=True)]
        blocks = {block for block, _, _ in named}
        total = sp.Integer(0) if any(matches) else self.B - len(blocks)
        for block in blocks:
            if not any(match for own, _, match in named if own != block):
                here = [(row, match) for own, row, match in named if own == block]
                total += _parity_law([row for row, _ in here], tuple(match for _, match in here))
        return total / self.B

    def messages(self) -> Iterator[tuple[sp.Expr, Matches]]:
        places = [self.place(x) for x in range(int(self.input_count))]
        for block, column in product(range(int(self.B)), range(int(self.b))):
            matches = tuple(own == block and (row & column).bit_count() % 2 == 0 for own, row in places)
            yield 1 / (self.B * self.b), matches


class HadamardResponse(BlockHadamard):
    r"""A column of the K × K Hadamard matrix; columns with +1 in row x + 1 are t times as likely (Acharya et al. 2019).

    Arguments: ``K``, a power of two, at least 4; local privacy level ``eps0``; those left out stay symbols.

    Inputs are 0 … K − 2 (row 0 is all +1 and carries no input). The message y matches x if the binary numbers x + 1 and
    y have an even number of common ones. Column 0 is all +1: it matches every input.

    >>> HadamardResponse(K=4, eps0=sp.log(3)).gamma
    3/4
    """

    def __init__(self, K: Any = None, eps0: Any = None) -> None:
        self.K = arguments.size(_K if K is None else K, "K", 4)
        if not self.K.free_symbols and int(self.K).bit_count() != 1:
            raise ValueError(f"K must be a power of two, at least 4, got {K}")
        self.B, self.b = sp.Integer(1), self.K
        self.bindings, self._size = _level(eps0), self.K
        if self.K.free_symbols:
            self.bindings, self._size = self.bindings | ({_K: self.K} if self.K != _K else {}), _K
        self.mu, self.input_count = sp.Rational(1, 2), self.K - 1

    def place(self, x: int) -> tuple[int, int]:
        return 0, x + 1

    def pairs(self) -> tuple[tuple[int, int], ...]:
        # The invertible linear maps on row numbers take every ordered pair of rows to every other one.
        return ((0, 1),)

    def universal(self, named: int) -> sp.Expr:
        return 1 / self._size


def _parity_law(rows: Sequence[int], matches: Matches) -> sp.Expr:
    """The parities of rows with a random column: uniform over the values that their sums allow."""
    pivots: list[tuple[int, bool]] = []  # rows in echelon form, and the parity that was asked for
    for named, match in zip(rows, matches, strict=True):
        row, odd = named, not match
        for pivot, pivot_odd in pivots:
            if row ^ pivot < row:
                row, odd = row ^ pivot, odd ^ pivot_odd
        if row:
            pivots = sorted([*pivots, (row, odd)], reverse=True)
        elif odd:
            return sp.Integer(0)
    return sp.Rational(1, 2 ** len(pivots))
