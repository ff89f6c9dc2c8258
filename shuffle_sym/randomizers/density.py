r"""Any continuous randomizer, from its density."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, zeros
from shuffle_sym.algebra.pieces import refuse_jumps
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import Continuous, proved_sign
from shuffle_sym.model.continuous import x as model_x
from shuffle_sym.model.continuous import y as model_y
from shuffle_sym.model.ordered import Ordered
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.model.steps import Steps, checked_sum, in_words
from shuffle_sym.randomizers.matrix import from_matrix

_FEW_MESSAGES, _LARGEST_LOSS = 1e-9, 12
_ROUND_OFF = 1e-25  # what the integral of a density may miss 1 by: far more than it is enclosed to, far less than shows


class _OfDensity(Continuous):
    """What `from_density` makes: shown as the call that makes it."""

    def __repr__(self) -> str:
        more = {name: getattr(self, name, None) for name in ("clip", "atoms")}
        shown = {"inputs": self.inputs} | ({} if self.outputs == Continuous.outputs else {"outputs": self.outputs})
        shown |= {name: value for name, value in more.items() if value}
        return f"from_density({self.density}, {', '.join(f'{name}={value}' for name, value in shown.items())})"


class NoiseOfDensity(_OfDensity, AddedNoise):
    """Noise given by its density."""

    def __init__(self, density: sp.Expr, inputs: tuple[sp.Expr, sp.Expr], clip: tuple[sp.Expr, sp.Expr] | None) -> None:
        self.density, self.inputs, self.clip = density, inputs, clip


class StepsOfDensity(_OfDensity, Steps):
    """Levels and single messages."""


class OrderedDensity(_OfDensity, Ordered):
    """Messages that grow with the input."""


def from_density(
    density: Any,
    inputs: Sequence[Any],
    outputs: Sequence[Any] | None = None,
    *,
    atoms: Mapping[Any, Any] | None = None,
    clip: Sequence[Any] | None = None,
    x: Any = None,
    y: Any = None,
) -> Continuous | Randomizer:
    r"""The randomizer that sends y with the given density if its input is x; everything else is derived from it.

    Arguments:
        density: a SymPy formula in x and y, made of smooth functions, Abs, Min, Max and Piecewise. Further symbols must
            have a range (`ss.parameter`), and answers need numbers for them. 0 if all messages are ``atoms``.
        inputs: the least and the greatest input.
        outputs: the least and the greatest message; all numbers if it is left out.
        atoms: single messages that have a probability, {message: probability}, each linear in x.
        clip: two numbers; a message beyond them is moved to the nearer one.
        x: the symbol of the input, if it has another name.
        y: the symbol of the message, if it has another name.

    This covers log-concave noise that is added to the input, clipped or not, and, with ``outputs``, densities that are
    constant between bends, with atoms, and smooth ones whose ratios are monotone in y. The density must be positive and
    integrate to 1, which is checked; ε0, γ, and a bound for all pairs of inputs are derived. Every other density is
    refused, and the message says what is missing.

    >>> x, y = sp.symbols("x y")
    >>> from_density(sp.exp(-2 * sp.Abs(y - x)), inputs=(0, 1)).eps0
    2
    >>> near = sp.Piecewise((3, (y >= x / 2) & (y <= (x + 1) / 2)), (1, True)) / 2
    >>> from_density(near, inputs=(0, 1), outputs=(0, 1)).gamma
    1/2
    """
    ends, formula = _two_numbers(inputs, "inputs"), _formula(density, x, y)
    if outputs is not None or atoms is not None:
        if clip is not None:
            raise ValueError(f"clip must be left out where outputs or atoms are given, got {clip!r}")
        return _between(formula, ends, outputs, _read_atoms(atoms or {}, x, y))
    if not formula.has(model_y):
        raise ValueError(f"density must depend on the message y, got {formula}")
    R = NoiseOfDensity(formula, ends, None if clip is None else _two_numbers(clip, "clip"))
    _check_noise(R)
    return R


def _between(
    density: sp.Expr, inputs: tuple[sp.Expr, sp.Expr], outputs: Sequence[Any] | None, atoms: dict[sp.Expr, sp.Expr]
) -> Continuous | Randomizer:
    """Messages between two numbers, or single ones."""
    if density == 0:
        # Single messages alone: a matrix with a row for each of the two end inputs. Every R(x) is a mixture of R at the
        # two ends, with weights that are linear in x. The divergence of two datasets is convex in the mixture of each
        # user, so no dataset is worse than those in which all users are at the ends.
        if not atoms:
            raise ValueError("density must not be 0 without atoms: nothing would be sent")
        for end in inputs:
            if proved_sign((total := checked_sum(atoms, end)) - 1):
                raise ValueError(f"the probabilities of atoms must add up to 1, got {in_words(total)} at x = {end}")
        return from_matrix([[probability.subs(model_x, end) for probability in atoms.values()] for end in inputs])
    if outputs is None:
        raise ValueError("outputs must be given with atoms: two numbers, the least and the greatest message")
    steps = StepsOfDensity(density, inputs, _two_numbers(outputs, "outputs", symbols=True), atoms)
    if not steps.is_constant:
        if atoms:
            raise ValueError(f"density must be constant between its bends if atoms are given, got {density}")
        arguments.numeric_only(steps.free_symbols, "a density that is not constant between its bends")
    R: Steps | Ordered = steps if steps.is_constant else OrderedDensity(density, inputs, steps.outputs)
    R.check()
    return R


def _read_atoms(atoms: Any, own_x: Any, own_y: Any) -> dict[sp.Expr, sp.Expr]:
    """Messages, which are different numbers, and the formulas of their probabilities."""
    if not isinstance(atoms, Mapping):
        raise TypeError(f"atoms must map messages to probabilities, such as {{0: x/2}}, got {atoms!r}")
    read: dict[sp.Expr, sp.Expr] = {}
    for given, probability in atoms.items():
        message = arguments.exact_number(given, "a message of atoms")
        if not all(isinstance(symbol, Parameter) for symbol in message.free_symbols):
            raise ValueError(
                f"a message of atoms must be a number, possibly with parameters that have a range, got {given}; one "
                "that moves with the input would tell inputs apart, and there would be no finite eps0"
            )
        if message.is_extended_real is not True:
            raise ValueError(f"a message of atoms must be a real number, got {given}")
        for other in read:
            if message == other or (not (message - other).free_symbols and zeros.sign(message - other) == 0):
                raise ValueError(f"atoms must be different messages, and {given} is {other}: add their probabilities")
        read[message] = _formula(probability, own_x, own_y, f"atoms[{given}]")
    return read


def _formula(density: Any, own_x: Any, own_y: Any, name: str = "density") -> sp.Expr:
    """A formula in the symbols of the model; a symbol without a range is refused."""
    density = sp.sympify(density) if isinstance(density, (int, float)) else density
    if not isinstance(density, sp.Expr):
        raise TypeError(f"{name} must be a SymPy formula in x and y, got {density!r}")
    density = density.xreplace({e: sp.Rational(str(e)) for e in density.atoms(sp.Float)})
    refuse_jumps(density, name)
    names = [str(symbol if own is None else own) for own, symbol in ((own_x, model_x), (own_y, model_y))]
    if names[0] == names[1]:
        raise ValueError(f"x and y must be symbols with different names, got {names[0]} for both")
    to = dict(zip(names, (model_x, model_y), strict=True))
    moved = {s: to[str(s)] for s in density.free_symbols if str(s) in to and not isinstance(s, Parameter)}
    _refuse_undeclared(density.free_symbols - set(moved), f"{name} must have the symbols {' and '.join(names)} and")
    return density.xreplace(moved)


def _refuse_undeclared(symbols: set[sp.Symbol], wanted: str) -> None:
    for symbol in sorted(symbols, key=str):
        if not isinstance(symbol, Parameter):
            example = f"ss.parameter({str(symbol)!r}, 1, 2)"
            raise ValueError(f"{wanted} parameters with a range, such as {example}, got the symbol {symbol}")


def _two_numbers(ends: Any, name: str, *, symbols: bool = False) -> tuple[sp.Expr, sp.Expr]:
    if isinstance(ends, (str, bytes)) or not isinstance(ends, Sequence) or len(ends) != 2:
        raise TypeError(f"{name} must be two numbers, the least and the greatest, got {ends!r}")
    low, high = (arguments.exact_number(end, f"{name}[{i}]") for i, end in enumerate(ends))
    if symbols and (low.free_symbols or high.free_symbols):
        _refuse_undeclared(low.free_symbols | high.free_symbols, f"{name} must be two numbers, or formulas in")
        return low, high
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
    if R.clip is not None:
        R.check_clip()
    with balls.LOCK, balls.workprec(160):
        if R.clip is None and not added.symmetric and R.eps0 is sp.oo:
            # Refuse ratios that are so large where few messages are that no bound over all pairs has a value.
            width = balls.value(R.width)
            for side in (added, added.mirrored):
                place = side.quantile(_FEW_MESSAGES)
                loss = float((side.at(place) / side.at(place - width)).log())
                if not loss < _LARGEST_LOSS:
                    words = f"the loss is unbounded, and {loss:.3g} where one message in {1 / _FEW_MESSAGES:.0e} is"
                    raise ValueError(f"density must not decrease so fast on one side: {words}; give clip=(a, b)")
        total = added.total()
        if not abs(total - 1) < arb(_ROUND_OFF):
            raise ValueError(
                f"density must integrate to 1 over y, got {float(total):.12g}, off by {float(total - 1):.3g}"
            )
