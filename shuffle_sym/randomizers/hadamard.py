r"""Hadamard response."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.matching import Matches, Matching

_K: sp.Symbol = Parameter("K", 4, integer=True)


class HadamardResponse(Matching):
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
        self.bindings = {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}
        if self.K.free_symbols and self.K != _K:
            self.bindings[_K] = self.K
        self._size = _K if self.K.free_symbols else self.K
        self.ratio, self.mu = field.t, sp.Rational(1, 2)
        self.input_count = self.K - 1

    def pairs(self) -> tuple[tuple[int, int], ...]:
        # The invertible linear maps on row numbers take every ordered pair of rows to every other one.
        return ((0, 1),)

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        arguments.numeric_only(self.K.free_symbols, "the list of inputs")
        return _kinds(1, int(self.K), x0, x1)

    def joint(self, inputs: tuple[int, ...], matches: Matches) -> sp.Expr:
        return _parity_law([x + 1 for x in inputs], matches)

    def universal(self, named: int) -> sp.Expr:
        return 1 / self._size

    def messages(self) -> Iterator[tuple[sp.Expr, Matches]]:
        K = int(self.K)
        for y in range(K):
            yield sp.Rational(1, K), tuple((row & y).bit_count() % 2 == 0 for row in range(1, K))


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
        self.bindings = {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}
        self.ratio, self.mu, self.input_count = field.t, 1 / (2 * self.B), self.B * (self.b - 1)

    def place(self, x: int) -> tuple[int, int]:
        """The block of the input x, and its row there."""
        return x // (int(self.b) - 1), x % (int(self.b) - 1) + 1

    def pairs(self) -> tuple[tuple[int, int], ...]:
        # Linear maps on the rows of a block, and permutations of blocks: two inputs of one block, or of two.
        return ((0, 1), (0, int(self.b) - 1)) if self.b > 2 else ((0, 1),)

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        return _kinds(int(self.B), int(self.b), x0, x1)

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


def _kinds(B: int, b: int, x0: int, x1: int) -> list[int]:
    """Inputs by their block and row: linear maps of a block that keep one row or two, and so their sum, take every
    further row to every other one; blocks without x0 and x1 may be exchanged."""
    (block0, row0), (block1, row1) = (divmod(x, b - 1) for x in (x0, x1))
    row0, row1 = row0 + 1, row1 + 1
    # The first input of each kind is among these: at most two blocks and three rows of a block are kinds of their own.
    rows = [row for row in {1, 2, 3, 4, row0 ^ row1} if 0 < row < b]
    places = sorted((block, row) for block in {0, 1, 2, block0, block1} if block < B for row in rows)
    firsts: dict[tuple[bool, ...], int] = {}
    for block, row in places:
        if (x := block * (b - 1) + row - 1) not in (x0, x1):
            is_sum = block == block0 == block1 and row == row0 ^ row1
            firsts.setdefault((block == block0, block == block1, is_sum), x)
    return [x0, x1, *firsts.values()]


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
