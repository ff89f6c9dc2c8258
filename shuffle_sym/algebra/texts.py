r"""Numbers that were written as text, read exactly: ``"log(3)"``, ``"3/4"``, ``"1e-6"``."""

import ast
import math
from operator import add, mul, neg, pos, sub, truediv
from typing import Any

import sympy as sp

_FUNCTIONS: dict[str, Any] = {"log": sp.log, "exp": sp.exp, "sqrt": sp.sqrt, "abs": sp.Abs}
_CONSTANTS = {"pi": sp.pi, "E": sp.E, "oo": sp.oo}
_SIGNS: dict[type, Any] = {ast.USub: neg, ast.UAdd: pos}
_OPERATORS: dict[type, Any] = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv}
_MOST_BITS = 100_000  # nobody means a power with more digits than this


def read(text: str, name: str, *symbols: str) -> sp.Expr:
    r"""The number that ``text`` writes down, as an exact SymPy number; ``name`` is what an error calls it.

    Decimals are read as they stand; + − * / ** and log, exp, sqrt, abs, pi, E, oo and the ``symbols`` may be used.

    >>> read("0.1", "eps"), read("log(3)", "eps0"), read("1e-6", "delta"), read("exp(-abs(y - x))", "f", "x", "y")
    (1/10, log(3), 1/1000000, exp(-Abs(x - y)))
    """
    names = {**_CONSTANTS, **{symbol: sp.Symbol(symbol) for symbol in symbols}}
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body, text.strip(), names)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, RecursionError, MemoryError):
        value = None
    if symbols and value is None:
        raise ValueError(f"{name} must be a formula in {' and '.join(symbols)} such as exp(-abs(y - x)), got {text!r}")
    if not symbols and (value is None or value.is_extended_real is not True):
        raise ValueError(f"{name} must be a number such as 4, 0.1, 1e-6, 1/3 or log(3), got {text!r}")
    return value


def rows(text: str, name: str) -> list[list[str]]:
    """The entries of a matrix such as ``0.7 0.3; 1/5, 4/5``, each of them a number."""
    typed = [row.replace(",", " ").split() for row in text.split(";")]
    return [[str(read(entry, f"{name}[{x}][{y}]")) for y, entry in enumerate(row)] for x, row in enumerate(typed)]


def _value(node: ast.expr, text: str, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return _literal(node, text)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        return _SIGNS[type(node.op)](_value(node.operand, text, names))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, text, names), _value(node.right, text, names)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        (argument,) = node.args
        return _FUNCTIONS[node.func.id](_value(argument, text, names))
    raise ValueError(f"{text!r} is not a number")


def _literal(node: ast.Constant, text: str) -> sp.Rational:
    written = (ast.get_source_segment(text, node) or "").replace("_", "")
    if written.isdecimal():
        return sp.Integer(node.value)
    if not isinstance(node.value, float):
        raise ValueError(f"{text!r} is not a number")  # 0x10 is not 16: nobody types a number like that here
    mantissa = written.lower().split("e")[0]
    if not math.isfinite(node.value) or (node.value == 0 and any(digit in "123456789" for digit in mantissa)):
        raise ValueError(f"{text!r} is out of range")
    return sp.Rational(written)


def _power(base: Any, exponent: Any) -> Any:
    bits = int(base.p).bit_length() + int(base.q).bit_length() if base.is_Rational else 0
    if not exponent.is_Rational or bits * abs(exponent) > _MOST_BITS:
        raise ValueError("this power is not a number of a reasonable size")
    return base**exponent
