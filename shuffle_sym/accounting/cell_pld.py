r"""Privacy loss distributions from two NumPy functions of a cell: the logarithms of P/Q and of P."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.accounting.pld import PrivacyLossDistribution
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.compiled import NumpyFunction
from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.model.cells import Cells
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.numeric.binomial import bernstein_reach
from shuffle_sym.numeric.histograms import BLOCK
from shuffle_sym.numeric.losses import Losses, Outcomes

_MAX_CELLS = 4 * 10**7
_LEAST_MASS = 1e-290  # smaller ones are left out, and counted: doubles lose their digits
_SUMS = 1e-12  # more than the relative error of adding up masses
_EXP = 16 * UNIT_ROUNDOFF
_LARGEST_ERROR = 1e-3


class CellPLD(PrivacyLossDistribution):
    r"""The privacy loss of a pair (P, Q) that two functions of a cell describe.

    Arguments:
        log_ratio: the logarithm of P/Q at cells; inf where Q is 0.
        log_mass: the logarithm of P at cells; −inf where P is 0.
        cells: the arguments of both functions by name: arrays with one entry for each cell, or numbers.
        error: a bound of the absolute error of both, not needed for functions that know theirs (`NumpyFunction`).
        left_out: a bound of the P-mass of all other cells; without it, what the masses lack of 1.

    That both functions describe one pair of distributions to within ``error`` is assumed. What can be seen is checked:
    no cell twice, neither P nor Q above 1 in total. What is left out is added to the upper end.

    >>> coin = {"heads": np.array([1.0, 0.0])}  # P = (3/4, 1/4), Q = (1/4, 3/4)
    >>> loss, log_p = lambda heads: np.log(3) * (2 * heads - 1), lambda heads: np.log((1 + 2 * heads) / 4)
    >>> CellPLD(loss, log_p, coin, error=1e-15).losses(tail=1e-20).count
    2
    """

    def __init__(
        self,
        log_ratio: Callable[..., Any],
        log_mass: Callable[..., Any],
        cells: Mapping[str, Any],
        *,
        error: Any = None,
        left_out: Any = None,
    ) -> None:
        self._accept(log_ratio, log_mass, cells)
        self._error = None if error is None else arguments.positive(error, "error")
        if self._error is not None and self._error > _LARGEST_ERROR:
            raise ValueError(f"error must be at most {_LARGEST_ERROR:g} (of logarithms), got {error}")
        self._left_out = None if left_out is None else arguments.open_unit(left_out, "left_out")
        if len(np.unique(np.stack(list(self._arrays.values())), axis=1).T) < self.count:
            raise ValueError(f"cells must be different from each other, got some of the {self.count} twice")

    def _accept(self, log_ratio: Callable[..., Any], log_mass: Callable[..., Any], cells: Mapping[str, Any]) -> None:
        self.log_ratio, self.log_mass, self.cells = log_ratio, log_mass, dict(cells)
        for name, function in (("log_ratio", log_ratio), ("log_mass", log_mass)):
            wanted = _named(function, without_default=True)
            if not set(wanted) <= set(cells):
                raise ValueError(f"cells must have an entry for each argument of {name}, {wanted}, got {list(cells)}")
        self._arrays = {name: np.asarray(x) for name, x in cells.items() if np.ndim(x)}
        if len({x.shape for x in self._arrays.values()}) != 1 or any(x.ndim != 1 for x in self._arrays.values()):
            raise ValueError(f"cells must hold equally long lists, got {[(k, np.shape(x)) for k, x in cells.items()]}")
        self.count = len(next(iter(self._arrays.values())))
        self.max_loss: sp.Expr = sp.oo
        self._known: Losses | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": None}  # what was computed is not sent along

    def losses(self, tail: float) -> Losses:
        if self._known is None:
            self._known = Losses(self._blocks)
        return self._known

    def _blocks(self) -> Iterator[Outcomes]:
        masses, others, error = [], [], 0.0
        for start in range(0, self.count, BLOCK):
            cells = {k: x[start : start + BLOCK] for k, x in self._arrays.items()}
            block = self._block({**self.cells, **cells})
            masses += [float(np.sum(block.masses)), block.infinite]
            others.append(float(np.sum(block.masses * np.exp(-block.losses))))
            error = max(error, block.mass_error + block.loss_error + _SUMS)
            yield block
        total = math.fsum(masses)
        for name, law, mass in (("log_mass", "P", total), ("log_ratio", "Q", math.fsum(others))):
            if mass * (1 - error) > 1:
                raise ValueError(f"{name} must describe distributions, got {law} with the total probability {mass!r}")
        missing = max(1 - total * (1 - error), 0.0)
        if self._left_out is not None and total * (1 + error) + self._left_out < 1:
            raise ValueError(f"left_out must be at least {1 - total:.3g}, what masses lack of 1, got {self._left_out}")
        missing = missing if self._left_out is None else self._left_out
        yield Outcomes(np.zeros(0), np.zeros(0), 0.0, missing, 0.0, 0.0)

    def _block(self, cells: Mapping[str, Any]) -> Outcomes:
        logs, log_error = self._at(self.log_mass, cells, np.ones(1, dtype=bool))
        possible = logs > -np.inf
        losses, loss_error = self._at(self.log_ratio, cells, possible)
        if np.any(losses == -np.inf):
            raise ValueError("log_ratio must be above -inf where log_mass is, got -inf: P/Q is 0 where P is not")
        masses, finite = np.exp(logs[possible]), losses < np.inf
        seen = masses >= _LEAST_MASS
        kept, mass_error = seen & finite, math.expm1(_largest(log_error[possible])) + _EXP
        rare = float(np.sum(masses[~seen]) + np.sum(~seen) * 1e-300) * (1 + mass_error + _SUMS)
        infinite = float(np.sum(masses[seen & ~finite]))
        return Outcomes(losses[kept], masses[kept], infinite, rare, mass_error, _largest(loss_error[kept]))

    def _at(self, function: Callable[..., Any], cells: Mapping[str, Any], kept: Any) -> tuple[Any, Any]:
        """The values of a function at some of the cells, and bounds of their errors."""
        size = len(next(x for k, x in cells.items() if k in self._arrays))
        kept = np.broadcast_to(kept, size)
        names = [name for name in _named(function) if name in cells]
        given = {name: cells[name][kept] if name in self._arrays else cells[name] for name in names}
        if self._error is None and isinstance(function, NumpyFunction):
            values, errors = function.with_error(**given)
        else:
            values, errors = function(**given), np.nan if self._error is None else self._error
        shape = (int(np.sum(kept)),)
        if np.shape(values) not in (shape, ()) or np.any(np.isnan(values)):
            raise ValueError(f"{function!r} must give a number for each of {shape[0]} cells, got {values!r}")
        if not np.all(np.isfinite(errors)):
            raise ValueError(f"error must bound the absolute error of {function!r}, which does not know its own here")
        return np.broadcast_to(values, shape), np.broadcast_to(errors, shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.log_ratio!r}, {self.log_mass!r}, {self.count} cells)"


class CompiledPLD(CellPLD):
    r"""The privacy loss of a decomposition D with n users from its compiled formulas (`shuffle_sym.model.cells.Cells`).

    For `clones_koskela` these are Lemma 11 and (6.7), (6.8) of Koskela et al. 2021. Cells outside a box have a P-mass
    of at most ``tail``: under W each count is binomial (Bernstein's inequality), and P is at most W · max a/c.
    `ShuffledPLD` has the same law by recurrences: smaller windows, more kinds of messages.

    >>> import shuffle_sym as ss
    >>> CompiledPLD(ss.decomposition.clones_koskela(4), n=10_000).log_mass
    log_law(h1, h2, n)
    """

    def __init__(self, D: Any, n: Any, *, tail: Any = 1e-40) -> None:
        if not isinstance(D, Decomposition) or len(D.gparv.masses) < 2:
            raise TypeError(f"D must be a Decomposition with two kinds of messages or more, got {D!r}")
        arguments.numeric_only(D.free_symbols, "the privacy loss distribution")
        self.decomposition, self.n = D, arguments.users(n)
        self._error, self._left_out = None, arguments.open_unit(tail, "tail")
        counts = sp.symbols(f"h1:{len(D.gparv.masses)}", integer=True, nonnegative=True)
        formulas = Cells(D, counts)
        lows, shape = _box(D, self.n, self._left_out)
        if math.prod(shape) > _MAX_CELLS:
            raise ValueError(
                f"n = {n} needs {math.prod(shape):.2g} cells, more than {_MAX_CELLS:.1g}; "
                "take a larger tail, or ShuffledPLD"
            )
        places = np.indices(shape).reshape(len(shape), -1)
        places = places[:, np.sum(places, axis=0) <= self.n - sum(lows)]
        cells = {count.name: low + x for count, low, x in zip(counts, lows, places, strict=True)}
        self._accept(formulas.log_ratio(), formulas.log_law(), {**cells, "n": self.n})
        self.max_loss = D.max_loss

    def reversed(self) -> CompiledPLD:
        """The privacy loss of (Q, P)."""
        return CompiledPLD(self.decomposition.reversed(), self.n, tail=self._left_out)


def _box(D: Decomposition, n: int, tail: float) -> tuple[list[int], list[int]]:
    """The least value of each count but the last, and how many values it takes."""
    masses = D.floats
    largest = float(np.max(masses.a / masses.c)) * (1 + 1e-9)
    shares = [*masses.c, masses.beta][: len(D.gparv.masses) - 1]
    log_tail = math.log(tail / max(largest, 1.0) / max(len(shares), 1))
    lows, sizes = [], []
    for share in shares:
        middle = math.floor(n * share)
        # One more on each side, for the floor of the mean and the share as a double.
        reach = bernstein_reach(n, float(share), log_tail) + 1
        lows.append(max(middle - reach, 0))
        sizes.append(min(middle + reach, n) - lows[-1] + 1)
    return lows, sizes


def _named(function: Callable[..., Any], without_default: bool = False) -> list[str]:
    """The names of the arguments of a function, or of those that have no default."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if not without_default or p.default is p.empty]


def _largest(errors: Any) -> float:
    """The largest of some bounds, 0 if there are none."""
    return float(np.max(errors, initial=0.0))
