r"""Closed forms are evaluated with 40 digits and rounded up: what is returned is still a bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import sympy as sp

DIGITS = 40


def evaluated(formula: Callable[..., mpmath.mpf], *arguments: Any) -> float:
    """``formula`` of exact SymPy numbers, as a double that is not below it."""
    with mpmath.workdps(DIGITS):
        value = formula(*(number(x) for x in arguments))
        return up(value)


def number(x: Any) -> Any:
    """An exact SymPy number as an mpmath one; everything else as it is."""
    return mpmath.mpf(sp.Float(sp.N(x, DIGITS), DIGITS)._mpf_) if isinstance(x, sp.Expr) else x


def up(value: mpmath.mpf) -> float:
    double = float(value)
    return math.nextafter(double, math.inf) if mpmath.mpf(double) <= value else double
