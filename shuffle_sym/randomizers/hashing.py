r"""Randomizers that send a random hash function and a randomised hash of the input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.matching import Independent, Matches

_g: sp.Symbol = Parameter("g", 2, integer=True)


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
        self.bindings = {field.t: sp.exp(arguments.local_epsilon(field.eps0 if eps0 is None else eps0))}
        size = self.g
        if self.g.free_symbols:
            size, self.bindings = _g, self.bindings | ({_g: self.g} if self.g != _g else {})
        self.ratio, self.mu = field.t, 1 / size
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

    def idealised(self) -> OLH:
        return OLH(self.g, sp.oo, self.eps0)


class BLH(OLH):
    r"""Binary local hashing: `OLH` with g = 2, ``d`` inputs and local privacy level ``eps0``.

    >>> BLH(d=2, eps0=sp.log(3)).gamma, BLH(d=sp.oo, eps0=sp.log(3)).gamma
    (3/4, 1/2)
    """

    def __init__(self, d: Any = None, eps0: Any = None) -> None:
        super().__init__(g=2, d=d, eps0=eps0)

    def idealised(self) -> BLH:
        return BLH(sp.oo, self.eps0)
