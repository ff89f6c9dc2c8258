r"""Any finite randomizer, from its matrix."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments, cards, field, latex
from shuffle_sym.model.randomizer import OutputClass, Randomizer

# Rows of doubles that were computed, not typed, miss 1 by round-off; a row that misses by more is a mistake.
_ROUND_OFF = sp.Rational(1, 10**12)

_SHOWN = 6  # inputs and messages of a matrix that a card shows


class MatrixRandomizer(Randomizer):
    """A randomizer given by Pr[R(x) = y]; made by `from_matrix`."""

    def __init__(
        self, rows: Sequence[Sequence[sp.Expr]], bindings: field.Bindings, messages: Sequence[Hashable] | None = None
    ) -> None:
        self._rows = tuple(tuple(row) for row in rows)
        self.bindings = bindings
        self.messages = tuple(range(len(self._rows[0])) if messages is None else messages)
        self.input_count = sp.Integer(len(rows))

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        return tuple(
            OutputClass(f"y = {y}", tuple(column[x] for x in inputs), column)
            for y, column in enumerate(zip(*self._rows, strict=True))
            if any(e != 0 for e in column)
        )

    def rows(self) -> tuple[tuple[sp.Expr, ...], ...]:
        return self._rows

    def __repr__(self) -> str:
        if type(self) is not MatrixRandomizer:  # a definition of its own is shown with its own arguments
            return super().__repr__()
        numbered = self.messages == tuple(range(len(self.messages)))
        return f"from_matrix({self.matrix().tolist()}{'' if numbered else f', messages={list(self.messages)}'})"

    def _facts(self) -> list[tuple[str, str]]:
        inputs, messages = len(self._rows), len(self._rows[0])
        matrix = [("Pr[R(x) = y]", cards.value(self.matrix))] if max(inputs, messages) <= _SHOWN else []
        return [("inputs, messages", f"{inputs}, {messages}"), *matrix]

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle R = {latex.formula(self.matrix())}$"


def from_matrix(P: Iterable[Iterable[Any]], messages: Sequence[Hashable] | None = None) -> MatrixRandomizer:
    r"""The randomizer with :math:`\Pr[R(x) = y] = P[x][y]`.

    Arguments:
        P: rows of probabilities, one row for each input: floats, fractions, SymPy expressions or text such as "3/4";
            a list of rows, an array, a SymPy matrix or a pandas DataFrame. Symbols need a range in which the signs of
            all entries can be proved (`ss.parameter`).
        messages: names of the messages, one for each column, if users with other randomizers send some of them too;
            0, 1, 2, … if left out.

    Floats are read as the decimals that they print as. A row that contains a float and misses 1 by no more than
    1e-12 is divided by its exact sum (`matrix()` shows what is analysed); any other row must sum to 1 exactly.

    >>> R = from_matrix([[0.7, 0.3], [0.2, 0.8]])
    >>> R.eps0, R.gamma
    (log(7/2), 1/2)
    """
    table = P.to_numpy() if hasattr(P, "to_numpy") else P  # a table of pandas is rows of numbers, too
    rows_of_P = table.tolist() if isinstance(table, (sp.MatrixBase, np.ndarray)) else table
    if isinstance(P, (str, bytes)) or not isinstance(rows_of_P, Iterable):
        raise TypeError(f"P must be a matrix, rows of probabilities, got {P!r}")
    given: list[list[Any]] = []
    for x, row in enumerate(rows_of_P):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise TypeError(f"P[{x}] must be a row of probabilities, got {row!r}")
        given.append(list(row))
    if len(given) < 2:
        raise ValueError(f"P must have at least two rows, one for each input, got {len(given)}")
    for x, row in enumerate(given):
        if len(row) != len(given[0]) or not row:
            raise ValueError(
                f"P must be rectangular and not empty: row {x} has {len(row)} entries, row 0 has {len(given[0])}"
            )
    exact = [[arguments.exact_number(e, f"P[{x}][{y}]") for y, e in enumerate(row)] for x, row in enumerate(given)]
    flat, bindings = field.rational_form(e for row in exact for e in row)
    width = len(exact[0])
    rows = []
    for x, row in enumerate(given):
        forms = [field.simplest(e) for e in flat[x * width : (x + 1) * width]]
        for y, e in enumerate(forms):
            if not field.is_nonnegative(e, bindings):
                raise ValueError(f"P[{x}][{y}] must be non-negative, got {row[y]}")
        total = field.simplest(sum(forms))
        if not field.is_zero(total - 1, bindings):
            floats = (float, np.floating, mpmath.mpf)
            inexact = any(e.has(sp.Float) if isinstance(e, sp.Basic) else isinstance(e, floats) for e in row)
            if not (inexact and total.is_Rational and abs(total - 1) <= _ROUND_OFF):
                shown = field.substitute(total, bindings)
                close = f" = {float(shown)}" if not (shown.free_symbols or shown.is_Integer) else ""
                what = f"the probabilities of all messages of input {x}"
                raise ValueError(f"row {x} of P, {what}, must sum to 1, got the sum {shown}{close}")
            forms = [field.simplest(e / total) for e in forms]
        rows.append(forms)
    if messages is not None and (len(messages) != width or len(set(messages)) != width):
        raise ValueError(f"messages must have {width} different names, one for each column of P, got {list(messages)}")
    return MatrixRandomizer(rows, bindings, messages)


class DiscreteLaplace(MatrixRandomizer):
    r"""x + two-sided geometric noise for x = 0, …, k − 1, moved into that range: a step is e^(ε0/(k − 1)) times less
    likely than none (Ghosh et al. 2009). Messages beyond an end say no more than the end does, so that nothing is lost.

    Arguments: the number of inputs ``k``; local privacy level ``eps0``, a symbol if it is left out.

    >>> DiscreteLaplace(k=3, eps0=2 * sp.log(2)).matrix()
    Matrix([
    [2/3, 1/6, 1/6],
    [1/3, 1/3, 1/3],
    [1/6, 1/6, 2/3]])
    """

    def __init__(self, k: int, eps0: Any = None) -> None:
        self.k = count = arguments.positive_integer(k, "k", 2)
        self.parameter = e = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
        r = sp.exp(-e / (count - 1))
        flat = [
            r ** abs(x - y) / (1 + r) * (1 if y in (0, count - 1) else 1 - r)
            for x in range(count)
            for y in range(count)
        ]
        forms, bindings = field.rational_form(flat)
        simple = [field.simplest(p) for p in forms]
        super().__init__([simple[x * count : (x + 1) * count] for x in range(count)], bindings)
