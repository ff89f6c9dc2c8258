r"""Any continuous randomizer, from its density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, zeros
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import Continuous, x, y

_ROUND_OFF = 1e-25  # what the integral of a density may miss 1 by: far more than it is enclosed to, far less than shows


class NoiseOfDensity(AddedNoise):
    """Noise given by its density; made by `from_density`."""

    def __init__(self, density: sp.Expr, inputs: tuple[sp.Expr, sp.Expr], clip: tuple[sp.Expr, sp.Expr] | None) -> None:
        self.density, self.inputs, self.clip = density, inputs, clip

    def __repr__(self) -> str:
        more = "" if self.clip is None else f", clip={self.clip}"
        return f"from_density({self.density}, inputs={self.inputs}{more})"


def from_density(
    density: Any, inputs: Sequence[Any], *, clip: Sequence[Any] | None = None, x: Any = None, y: Any = None
) -> Continuous:
    r"""The randomizer that sends y with the given density if its input is x; everything else is derived from it.

    Arguments:
        density: a SymPy formula in x and y, made of smooth functions, Abs, Min, Max and Piecewise. Further
            symbols must have a range (`ss.parameter`), and answers need numbers for them.
        inputs: the least and the greatest input.
        clip: two places; messages beyond them are moved to the nearer one.
        x: the symbol of the input, if it has another name.
        y: the symbol of the message, if it has another name.

    The density must be that of noise that is added to the input, and log-concave. It is checked that it is positive and
    integrates to 1. ε0, γ, and what is above all pairs of inputs are derived: the pair of the two end inputs if the
    noise is symmetric, a finite pair of laws if not.

    >>> x, y = sp.symbols("x y")
    >>> from_density(sp.exp(-2 * sp.Abs(y - x)), inputs=(0, 1)).eps0
    2
    """
    formula = _formula(density, x, y)
    ends = _two_numbers(inputs, "inputs")
    R = NoiseOfDensity(formula, ends, None if clip is None else _two_numbers(clip, "clip"))
    _check_noise(R)
    return R


def _formula(density: Any, own_x: Any, own_y: Any) -> sp.Expr:
    """The density in the symbols of the model; a symbol without a range is refused."""
    if not isinstance(density, sp.Expr):
        raise TypeError(f"density must be a SymPy formula in x and y, got {density!r}")
    density = density.xreplace({e: sp.Rational(str(e)) for e in density.atoms(sp.Float)})
    moved: dict[sp.Symbol, sp.Symbol] = {}
    for given, symbol in ((own_x, x), (own_y, y)):
        names = {str(symbol)} if given is None else {str(given)}
        moved |= {s: symbol for s in density.free_symbols if str(s) in names and not isinstance(s, Parameter)}
    density = density.subs(moved)
    for symbol in sorted(density.free_symbols - {x, y}, key=str):
        if not isinstance(symbol, Parameter):
            raise ValueError(
                "density must have the symbols x and y and parameters with a range, such as "
                f"ss.parameter({str(symbol)!r}, 1, 2), got the symbol {symbol}"
            )
    if y not in density.free_symbols:
        raise ValueError(f"density must depend on the message y, got {density}")
    return density


def _two_numbers(ends: Any, name: str) -> tuple[sp.Expr, sp.Expr]:
    if isinstance(ends, (str, bytes)) or not isinstance(ends, Sequence) or len(ends) != 2:
        raise TypeError(f"{name} must be two numbers, the least and the greatest, got {ends!r}")
    low, high = (arguments.exact_number(end, f"{name}[{i}]") for i, end in enumerate(ends))
    if low.free_symbols or high.free_symbols or zeros.sign(high - low) != 1:
        raise ValueError(f"{name} must be two numbers, the second one larger, got {ends!r}")
    return low, high


def _check_noise(R: AddedNoise) -> None:
    """Refuse a density that does not integrate to 1, and whatever is not derived."""
    added = R.added
    if R.free_symbols:
        total = sum(sp.integrate(piece.formula, (added.variable, piece.left, piece.right)) for piece in added.pieces)
        if sp.simplify(total - 1) != 0:
            raise ValueError(f"density must integrate to 1 over y for every value of its parameters, got {total}")
        return
    total = added.total()
    with balls.precision(160):
        if not abs(total - 1) < arb(_ROUND_OFF):
            raise ValueError(
                f"density must integrate to 1 over y, got {float(total):.12g}, off by {float(total - 1):.3g}"
            )
