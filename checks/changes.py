r"""The changes of which mutants are made: a comparison, a sign, a term or a factor dropped, min for max, up for down, a
rounding error set to 0. Statements about rounding are weighted more; commands, which people read, are left alone."""

from __future__ import annotations

import ast
import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

# A term with such a name may be 0; statements with such words are changed more often.
_ERROR = re.compile(r"slack|rounding|roundoff|(^|_)errors?$|^off|outside|alias|truncat|left_out|neglect|dropped|shift|"
                    r"beyond|cut_off|tiny|smallest|^_small$", re.IGNORECASE)  # fmt: skip
_HEAVY = re.compile(_ERROR.pattern + r"|\bu\b|\de-\d|tail|moved|ceil|floor|\b(up|down|below|above|lower|upper)\b", re.I)
_SWAPS = {"min": "max", "minimum": "maximum", "ceil": "floor", "up": "down", "above": "below", "upper": "lower"}
_SWAPS |= {b: a for a, b in _SWAPS.items()}
_FLIPPED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.Gt, ast.LtE], ast.LtE: [ast.GtE, ast.Lt], ast.Gt: [ast.Lt, ast.GtE], ast.GtE: [ast.LtE, ast.Gt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq],
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the text of its line, the expression before and after, and where that is."""

    file: str
    line: int
    function: str  # the qualified name of the innermost function that it is in, empty outside of all
    text: str
    kind: str
    before: str
    after: str
    span: tuple[int, int]  # in bytes
    weight: float

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.span[0]] + f"({self.after})".encode() + source[self.span[1] :]

    def place(self, seed: int) -> float:
        """Mutants are taken in this order: by chance, heavy ones sooner, and no edit elsewhere changes it."""
        name = f"{seed}|{self.file}|{self.text}|{self.before}|{self.after}".encode()
        chance = (int.from_bytes(hashlib.sha256(name).digest()[:6], "big") + 1) / 2**48
        return -math.log(chance) / self.weight

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  →  {self.after}"


def mutants_of(file: str, source: str) -> list[Mutant]:
    """All mutants of one file.

    >>> [m.after for m in mutants_of("x.py", "y = max(a, 0) + error")]
    ['max(a, 0) - error', 'max(a, 0)', 'error', 'min(a, 0)', '0.0']
    """
    lines, code = source.splitlines(), source.encode()
    starts = [0, *accumulate(len(line.encode()) for line in source.splitlines(keepends=True))]
    found, tree = [], ast.parse(source)
    functions = list(_named(tree, ""))  # inner ones after outer ones
    for statement, node in _expressions(tree):
        for kind, after in _changes(statement, node):
            whole: ast.stmt | ast.expr = node if hasattr(statement, "body") else statement
            first, last = whole.lineno, whole.end_lineno or whole.lineno
            weight = 4.0 if _HEAVY.search("\n".join(lines[first - 1 : last])) else 1.0
            weight *= 0.5 if kind == "comparison with ties" else 1.0
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            before, text = " ".join(code[start:end].decode().split()), lines[node.lineno - 1].strip()
            around = [name for name, f in functions if f.lineno <= node.lineno <= (f.end_lineno or 0)]
            function = around[-1] if around else ""
            found.append(Mutant(file, node.lineno, function, text, kind, before, after, (start, end), weight))
    return found


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function with its qualified name."""
    for child in ast.iter_child_nodes(node):
        inside = prefix
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            inside = f"{prefix}{child.name}."
            if isinstance(child, ast.FunctionDef):
                yield inside[:-1], child
                inside += "<locals>."
        yield from _named(child, inside)


def _expressions(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Every expression with its innermost statement: no messages, defaults, annotations, decorators or commands.

    What a class defines beside its methods is left out, too: a class that is loaded already would not change.
    """
    stack: list[tuple[Any, ast.AST]] = [(None, tree)]
    while stack:
        statement, node = stack.pop()
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments)) or _is_command(node):
            continue
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.expr):
            yield statement, node
        skipped = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
        skipped |= set(map(id, getattr(node, "decorator_list", [])))
        children = [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
        if isinstance(node, ast.ClassDef):
            children = [child for child in children if isinstance(child, (ast.FunctionDef, ast.ClassDef))]
        stack.extend((statement, child) for child in reversed(children))


def _is_command(node: ast.AST) -> bool:
    """What prints on a command line, and whether it is one: people read it."""
    guard = (
        isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and ast.unparse(node.test.left) == "__name__"
    )
    return guard or (isinstance(node, ast.FunctionDef) and node.name == "main")


def _changes(statement: ast.stmt, node: ast.expr) -> Iterator[tuple[str, str]]:
    """What an expression may become: the kind of the change, and the new expression."""
    text = ast.unparse
    added = isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub))
    if added and node is statement.value:  # type: ignore[attr-defined]
        yield "sign", f"-({text(node)})"
        yield "term dropped", f"0 * ({text(node)})"
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _FLIPPED:
            for new, kind in zip(_FLIPPED[type(op)], ("comparison", "comparison with ties"), strict=False):
                yield kind, text(ast.Compare(left, [new()], [right]))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if not _is_text(left, right):
            plus = isinstance(op, ast.Add)
            yield "sign", text(ast.BinOp(left, ast.Sub() if plus else ast.Add(), right))
            yield "term dropped", text(left)
            yield "term dropped", text(right if plus else ast.UnaryOp(ast.USub(), right))
            if isinstance(right, ast.Constant) and right.value in (1, 2, 3):  # more are room that was left
                yield "one more", text(ast.BinOp(left, op, ast.Constant(right.value + 1)))
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=ast.BinOp(left=ast.Constant(value=1))):
            yield "factor dropped", text(left)
        case ast.BinOp(left=ast.BinOp(left=ast.Constant(value=1)), op=ast.Mult(), right=right):
            yield "factor dropped", text(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "sign", text(operand)
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _SWAPS:
            yield "other way", text(ast.Call(ast.Name(_SWAPS[name]), node.args, node.keywords))
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()) if name in _SWAPS:
            yield "other way", text(ast.Attribute(value, _SWAPS[name]))
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()) if _ERROR.search(name):
            yield "slack dropped", "0.0"
        case ast.Constant(value=float(value)) if 0 < value < 1e-6:
            yield "slack dropped", "0.0"


def _is_text(*terms: ast.expr) -> bool:
    texts = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    return any(isinstance(term, texts) or isinstance(getattr(term, "value", 0), str) for term in terms)
