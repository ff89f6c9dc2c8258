r"""What a derivation must not say: one name in two meanings, contradicting hypotheses, a division by 0."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.engine.assumptions import contradict, implied
from shuffle_sym.papers.engine.chains import Line
from shuffle_sym.papers.engine.facts import Fact, Given, Instance, Law, Supposed
from shuffle_sym.papers.engine.quantities import Divergence
from shuffle_sym.papers.engine.values import put_in


def says(fact: Fact, hypothesis: Supposed) -> bool:
    """Whether a fact says what a lemma supposes, for all symbols for which it is supposed."""
    if (fact.left, fact.right) != (hypothesis.left, hypothesis.right):
        return False
    symbols = hypothesis.left.free_symbols | hypothesis.right.free_symbols
    everywhere = fact is hypothesis or not (fact.held - hypothesis.held) & symbols
    holds = all(implied(one, hypothesis.under) for one in fact.under)
    return everywhere and holds and fact.relation in ("=", hypothesis.relation) and not isinstance(fact, Instance)


def refuse_two_meanings(definitions: Sequence[Given], blocks: Sequence[Fact], title: str) -> None:
    """Raise if a name is defined in two ways, here or in a lemma, and no block says that they are equal."""
    for number, one in enumerate(definitions):
        for other in definitions[number + 1 :]:
            pairs = _rights(one, other) if one.name == other.name else []
            joined = any({block.left, block.right} == set(pair) for block in blocks for pair in pairs)
            if pairs and not joined and all(pair[0] != pair[1] for pair in pairs):
                raise VerificationError(f"{title}: two definitions: {one.relational()}, and {other.relational()}")


def refuse_nonsense(blocks: Sequence[Fact], lines: Sequence[Line], title: str) -> None:
    """Raise if hypotheses and definitions contradict each other, so far as linear arithmetic sees it, or if an equation
    says that something is 0 by which a line divides."""
    orders = {"=": sp.Eq, "<=": sp.Le, ">=": sp.Ge}
    plain = [one for one in blocks if isinstance(one, (Supposed, Given)) and not one.under and not isinstance(one, Law)]
    plain = [one for one in plain if not one.left.has(Divergence, sp.Sum) and not one.right.has(sp.Sum)]
    if contradict([orders[one.relation](one.left, one.right, evaluate=False) for one in plain]):
        raise VerificationError(
            f"{title}: no numbers are as they are supposed and defined: {'; '.join(one.relational() for one in plain)}"
        )
    everywhere = (one for one in blocks if one.relation == "=" and not one.under and not isinstance(one, Law))
    equations = [(one.left, one.right) for one in everywhere if one.left.is_Symbol]
    for line in lines:
        for pole in line.poles:
            if sp.expand(pole.subs(equations)) == 0:
                raise VerificationError(f"{title}: {line.words!r} divides by {pole}, which is 0")


def _rights(one: Given, other: Given) -> list[tuple[sp.Expr, sp.Expr]]:
    """The right sides of two definitions of a name with the arguments of the first, and with those of the second."""
    if isinstance(one.left, Divergence) and one.left != other.left:
        return [(one.left, other.left)]
    if not isinstance(one.left, AppliedUndef):
        return [(one.right, other.right)]
    there = put_in(other.right, dict(zip(other.left.args, one.left.args, strict=True)))
    here = put_in(one.right, dict(zip(one.left.args, other.left.args, strict=True)))
    return [(one.right, there), (here, other.right)]


def joins(block: Fact, definitions: Sequence[Given]) -> bool:
    """Whether a block says that two definitions of one name are equal."""
    pairs = [(a, b) for n, a in enumerate(definitions) for b in definitions[n + 1 :] if a.name == b.name]
    return any({block.left, block.right} == set(pair) for a, b in pairs for pair in _rights(a, b))


def refuse_known_name(block: Given, known: Sequence[Fact], title: str) -> None:
    """Raise if a definition is of a name that a block before it knows, other than a hypothesis, or of itself."""
    name = block.left if isinstance(block.left, Divergence) else block.name
    for fact in known:
        for side in (fact.left, fact.right):
            names = side.free_symbols | {e.func for e in side.atoms(AppliedUndef)} | side.atoms(Divergence)
            if name in names and not isinstance(fact, Supposed):
                raise VerificationError(f"{title}: {name} is defined after it was used: {fact.relational()}")
    if block.right.has(name):
        raise VerificationError(f"{title}: {name} is defined through itself")
