"""Every derivation built again with one of its definitions or lines changed: a changed one must not be built.

python -m checks.derivations [NAME ...] [--state FILE]

With a state file what was done is kept, and a run that was interrupted goes on where it stopped; when the package has
changed since, it starts again.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import sympy as sp

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers import derivations
from shuffle_sym.papers.engine import chains, prover
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
        broken = (
            refused(line, line.right, tuple(other if reason is block else reason for reason in line.reasons))
            for line in users
        )
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


def remember_what_was_shown() -> None:
    """Let the prover keep its answers: a derivation that is built again is shown anew from its changed line on only."""
    for name in ("equal", "at_most", "is_nonnegative", "is_positive", "vanishes"):
        setattr(prover, name, lru_cache(maxsize=20_000)(getattr(prover, name)))


def package_digest() -> str:
    """A digest of the sources of the package and of this check: what was found holds for these only."""
    root = Path(__file__).parents[1]
    files = [Path(__file__), *sorted((root / "shuffle_sym").rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def done_before(state: Path | None) -> dict[str, list[Any]]:
    """The number of changes and those that were not noticed, of each derivation that the state file holds."""
    if state is None or not state.exists():
        return {}
    kept = json.loads(state.read_text())
    return dict(kept["done"]) if kept["digest"] == package_digest() else {}


def main(names: list[str], state: Path | None) -> int:
    """Run all three, and print the counts and what survived, derivation by derivation."""
    remember_what_was_shown()
    done, digest = done_before(state), package_digest()
    for name in names:
        if name not in done:
            d = derivations.ALL[name]()
            changes = [*changed_lines(d), *changed_definitions(d), *rebuilt(name)]
            done[name] = [len(changes), [what for what, noticed in changes if not noticed]]
            if state is not None:
                state.write_text(json.dumps({"digest": digest, "done": done}, indent=1))
        count, lost = done[name]
        print(f"{name}: {count} changes", *(f"  not noticed: {what}" for what in lost), sep="\n", flush=True)
    survived = sum(len(done[name][1]) for name in names)
    print(f"{len(names)} derivations, {sum(done[name][0] for name in names)} changes, {survived} not noticed")
    return 1 if survived else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="derivations, all of them unless some are named")
    parser.add_argument("--state", type=Path, help="a file that keeps what was done")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.names if name not in derivations.ALL]:
        parser.error(f"NAME must be a derivation, got {', '.join(unknown)}")
    sys.exit(main(chosen.names or list(derivations.ALL), chosen.state))
