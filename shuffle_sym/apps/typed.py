r"""Numbers that were typed, on a command line or into a field: read exactly, and nothing else is evaluated."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import sympy as sp

_FUNCTIONS = {"log": sp.log, "exp": sp.exp, "sqrt": sp.sqrt}
_CONSTANTS = {"pi": sp.pi, "E": sp.E, "oo": sp.oo}
_MOST_BITS = 100_000  # a power with more digits than this was not meant


def number(text: str, name: str) -> sp.Expr:
    r"""The number that ``text`` writes down, as an exact SymPy number.

    Decimals are read as they stand; + − * / ** and log, exp, sqrt, pi, E and oo may be used.

    >>> number("0.1", "eps"), number("log(3)", "eps0"), number("1e-6", "delta"), number("10_000", "n")
    (1/10, log(3), 1/1000000, 10000)
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
        value = _value(tree.body, text.strip())
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, RecursionError, MemoryError):
        value = None
    if value is None or value.is_extended_real is not True:
        raise ValueError(f"{name} must be a number such as 4, 0.1, 1e-6, 1/3 or log(3), got {text!r}")
    return value


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Constant):
        return _literal(node, text)
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _value(node.operand, text)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        return _combined(node.op, _value(node.left, text), _value(node.right, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        (argument,) = node.args
        return _FUNCTIONS[node.func.id](_value(argument, text))
    raise ValueError(f"{text!r} is not a number")


def _literal(node: ast.Constant, text: str) -> sp.Rational:
    written = (ast.get_source_segment(text, node) or "").replace("_", "")
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        return sp.Integer(node.value)
    if not isinstance(node.value, float):
        raise ValueError(f"{text!r} is not a number")
    mantissa = written.lower().split("e")[0]
    if not math.isfinite(node.value) or (node.value == 0 and any(digit in "123456789" for digit in mantissa)):
        raise ValueError(f"{text!r} is out of range")
    return sp.Rational(written)


def _combined(operator: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Div):
        return left / right
    if isinstance(operator, ast.Pow):
        if not right.is_Rational or (left.is_Rational and _bits(left) * abs(right) > _MOST_BITS):
            raise ValueError("this power is not a number of a reasonable size")
        return left**right
    raise ValueError("only + - * / ** are understood")


def _bits(rational: sp.Rational) -> int:
    return int(rational.p).bit_length() + int(rational.q).bit_length()


def meant(text: str, known: Iterable[str]) -> str:
    """The end of an error message, if one of the known words is near to what was typed.

    >>> meant("kkr", ["krr", "oue"]), meant("gauss", ["krr", "oue"])
    ("; did you mean 'krr'?", '')
    """
    plain = {word.lower(): word for word in known}
    near = get_close_matches(text.lower(), plain, n=1)
    return f"; did you mean {plain[near[0]]!r}?" if near else ""


def code(text: str, name: str) -> str:
    """The same number as Python writes it: decimals as they stand (the package reads them as typed), else SymPy.

    >>> code("0.1", "eps"), code("1e4", "n"), code("log(3)", "eps0"), code("1/3", "delta")
    ('0.1', '10000', 'sp.log(sp.Integer(3))', 'sp.Rational(1, 3)')
    """
    value = number(text, name)
    if value.is_Integer:
        return str(value)
    try:
        if sp.Rational(str(float(text))) == value:
            return text.strip()
    except ValueError:
        pass
    return re.sub(r"\b([A-Za-z]\w*)", r"sp.\1", sp.srepr(value))
