r"""Inequalities over a box, decided by branch and bound.

On a box with the middle m and the half widths r a smooth f is at least :math:`f(m) - \sum_i r_i \max |f_i|`, the
derivatives :math:`f_i` enclosed over the box (the mean value form): off by the square of the width, where f over balls
is off by the width. A box on which that does not decide is halved, along the side that matters most.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError

_BITS = 64
MOST_BOXES = 8_000

Point = dict[sp.Symbol, Fraction]
Box = tuple[tuple[Fraction, Fraction], ...]


class _Form:
    """A smooth formula over boxes."""

    def __init__(self, formula: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        self.value = balls.compiled(formula, *symbols)
        self.slopes: list[Callable[..., arb]] = [balls.compiled(sp.diff(formula, s), *symbols) for s in symbols]

    def least(self, box: Box) -> tuple[arb, list[arb]]:
        """A number that the formula is nowhere below (its lower end), and what each side costs."""
        whole = [balls.ball(low).union(balls.ball(high)) for low, high in box]
        middle = [balls.ball((low + high) / 2) for low, high in box]
        radii = [balls.ball((high - low) / 2) for low, high in box]
        costs = [abs(slope(*whole)) * radius for slope, radius in zip(self.slopes, radii, strict=True)]
        return self.value(*middle) - sum(costs, arb(0)), costs


def counterexample(
    formulas: Sequence[sp.Expr],
    box: Mapping[sp.Symbol, tuple[Fraction, Fraction]],
    least: Fraction,
    most: int = MOST_BOXES,
) -> Point | None:
    """None if everywhere in the box one of the smooth formulas, at least, is not below ``least``: that is then proved.
    Else a point at which all of them are below. Where ``most`` boxes do not decide, it is refused.

    >>> z = sp.Symbol("z", real=True)
    >>> unit = {z: (Fraction(0), Fraction(1))}
    >>> counterexample([z * (1 - z)], unit, Fraction(-1, 10**6)) is None
    True
    >>> counterexample([z, Fraction(1, 2) - z], unit, Fraction(3, 10)) is None
    False
    """
    symbols = tuple(box)
    bound = balls.ball(least)
    with balls.LOCK, balls.workprec(_BITS):
        forms = [_Form(sp.sympify(formula), symbols) for formula in formulas]
        waiting = deque([tuple(box.values())])  # the largest first: what is below anywhere is met soon
        for _ in range(most):
            if not waiting:
                return None
            here = waiting.popleft()
            bounds = [form.least(here) for form in forms]
            if any(low >= bound for low, _ in bounds):
                continue
            middle = [(low + high) / 2 for low, high in here]
            if all(form.value(*map(balls.ball, middle)) < bound for form in forms):
                return dict(zip(symbols, middle, strict=True))
            # The formula that is nearest to deciding says where to cut.
            waiting += _halves(here, max(bounds, key=lambda found: balls.lower(found[0]))[1])
    raise VerificationError(f"{most} boxes do not decide whether {' or '.join(map(str, formulas))} is at least {least}")


def _halves(box: Box, costs: Sequence[arb]) -> list[Box]:
    """The box halved along the side that costs most."""
    sizes = [(balls.upper(cost), high - low) for cost, (low, high) in zip(costs, box, strict=True)]
    side = sizes.index(max(sizes))
    low, high = box[side]
    return [(*box[:side], ends, *box[side + 1 :]) for ends in ((low, (low + high) / 2), ((low + high) / 2, high))]
