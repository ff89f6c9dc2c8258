"""Every derivation built again with one of its definitions or lines changed: a changed one must not be built.

python -m checks.derivations [NAME ...]
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import sympy as sp

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers import derivations
from shuffle_sym.papers.engine import chains
from shuffle_sym.papers.engine.chains import Line
from shuffle_sym.papers.engine.derivation import Derivation
from shuffle_sym.papers.engine.facts import Law


def changed_lines(d: Derivation) -> Iterator[tuple[str, bool]]:
    """Each line with a wrong right side, shown again: what it says, and whether it was refused."""
    for line in d.all_lines:
        if line.status == "checked":
            continue
        yield f"{line.relational()}  with another right side", refused(line, wrong(line))


def wrong(line: Line) -> sp.Expr:
    """A right side that cannot be right: one more, or one less than the left side may be at most."""
    return {"=": line.right + 1, "<=": line.left - 1, ">=": line.left + 1}[line.relation]


def refused(line: Line, right: sp.Expr, reasons: tuple[Any, ...] | None = None) -> bool:
    """Whether a line with this right side, or with these reasons, cannot be built."""
    try:
        chains.mutated(line, right, reasons)
    except VerificationError:
        return True
    return False


def changed_definitions(d: Derivation) -> Iterator[tuple[str, bool]]:
    """Each definition with another right side: one of the equations that use it must fail."""
    for block in d.given:
        if isinstance(block, Law):
            continue
        other = replace(block, right=block.right + 1)
        users = [line for line in d.all_lines if line.relation == "=" and any(use is block for use in line.uses)]
        broken = [
            refused(line, line.right, tuple(other if reason is block else reason for reason in line.reasons))
            for line in users
        ]
        if users:
            yield f"{block.relational()}  defined differently", any(broken)


def rebuilt(name: str) -> Iterator[tuple[str, bool]]:
    """The whole derivation built again with its i-th line made wrong, for every i."""
    build = inspect.unwrap(derivations.ALL[name])
    original, made = chains.equals, 0
    modules = [module for module in list(sys.modules.values()) if getattr(module, "equals", None) is original]

    def spoil(target: int) -> int:
        """Builds with the equation of this number made wrong; returns how many there were."""
        nonlocal made
        made = 0

        def equals(right: Any, words: str, *reasons: Any) -> Any:
            nonlocal made
            made += 1
            return original(sp.sympify(right) + 1 if made == target else right, words, *reasons)

        for module in modules:
            module.equals = equals  # type: ignore[attr-defined]
        try:
            build()
        finally:
            for module in modules:
                module.equals = original  # type: ignore[attr-defined]
        return made

    for target in range(1, spoil(0) + 1):
        try:
            spoil(target)
            yield f"equation {target} of the builder", False
        except VerificationError:
            yield f"equation {target} of the builder", True


def main(names: list[str]) -> int:
    """Run all three, and print the counts and what survived, derivation by derivation."""
    survived, count = 0, 0
    for name in names or list(derivations.ALL):
        d = derivations.ALL[name]()
        changes = [*changed_lines(d), *changed_definitions(d), *rebuilt(name)]
        lost = [what for what, noticed in changes if not noticed]
        print(f"{name}: {len(changes)} changes", *(f"  not noticed: {what}" for what in lost), sep="\n", flush=True)
        survived, count = survived + len(lost), count + len(changes)
    print(f"{count} changes, {survived} not noticed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
