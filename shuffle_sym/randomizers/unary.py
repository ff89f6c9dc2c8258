r"""Randomizers that send d bits, one for each input, and randomise every bit independently."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.matching import Independent, Matches


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

    def idealised(self) -> RAPPOR:
        return RAPPOR(sp.oo, self.eps0)


class OUE(UnaryEncoding):
    r"""Optimised unary encoding: the input's bit is set with probability 1/2, every other bit with probability
    :math:`1/(t+1)` (Wang et al. 2017).

    Arguments: ``d`` inputs (``sp.oo`` as in the published tables), local privacy level ``eps0``; symbols if left out.

    >>> OUE(d=sp.oo, eps0=sp.log(3)).gamma
    2/3
    """

    def __init__(self, d: Any = None, eps0: Any = None) -> None:
        self.bindings = {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}
        self.ratio, self.mu = field.t, 1 / (field.t + 1)
        self._set_inputs(d)

    def idealised(self) -> OUE:
        return OUE(sp.oo, self.eps0)
