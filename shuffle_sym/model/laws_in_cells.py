r"""Laws of G = A − αB for every α, in doubles: certain to be above those that they stand for."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError

Array = npt.NDArray[np.float64]

_RIGHT_TO = 60  # bits of a number that becomes a double
_SHARES = 2.0**40  # 1 minus a multiple of one over this is exact


class Raised(NamedTuple):
    """A law whose values were raised by more than their rounding: its mean is no longer that of the others."""

    values: Array
    probabilities: Array


@dataclass(frozen=True)
class LawsInCells:
    """Laws of G = A − αB for every α, a row each.

    For each cell of messages: two A and B, of which the larger G is the upper end of the range, two of which the
    smaller one is the lower end, the means of A and B, and the mass. ``rest`` is the mass at 0.
    """

    a: Array  # axes: upper or lower end, which of two, law, cell
    b: Array
    means: Array  # axes: A or B, law, cell
    mass: Array
    rest: Array
    room: float  # by which values are raised, relative to A + αB: more than their rounding
    lost: float = 0.0  # not below what counts by itself

    def at(self, alpha: float) -> list[Raised]:
        """Values and probabilities of each law at one α >= 1: pairs of inputs are covered for these only."""
        if not alpha >= 1:
            raise VerificationError(f"these laws are proved to be above all others for alpha >= 1, got {alpha!r}")
        room = self.room * (self.a + alpha * self.b)
        ends = self.a - alpha * self.b + room
        high, low = ends[0].max(axis=0), ends[1].min(axis=0)
        mean = self.means[0] - alpha * self.means[1] + self.room * (self.means[0] + alpha * self.means[1])
        least = low - 2 * room[1].max(axis=0)
        reach = high - 2 * room[0].max(axis=0) - least
        share = np.divide(mean - least, reach, out=np.ones_like(mean), where=reach > 0)
        share = np.clip(np.ceil(share * _SHARES) / _SHARES, 0.0, 1.0)
        values = np.concatenate([high, low, np.zeros_like(self.rest)], axis=1)
        masses = np.concatenate([self.mass * share, self.mass * (1 - share), self.rest], axis=1)
        return [Raised(*law) for law in zip(values, masses, strict=True)]


def doubles(numbers: list[arb]) -> Array:
    """The doubles nearest to numbers, with relative errors of at most half of FLOAT_ERROR."""
    if not all(number.is_zero() or balls.is_right_to(_RIGHT_TO, number) for number in numbers):
        raise VerificationError("the masses of cells of messages must have more digits than a double")
    return balls.doubles(numbers)
