r"""Shapes of proof that several papers share, and how they are declared."""

from collections.abc import Callable
from typing import Any

import sympy as sp
from sympy.core.function import UndefinedFunction

from shuffle_sym.algebra import field
from shuffle_sym.papers.engine.chains import Chain, Link, at_least, at_most, chain, equals
from shuffle_sym.papers.engine.derivation import Cited, Derivation, cite
from shuffle_sym.papers.engine.facts import Fact, Law, law
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity

#: The legend of t, the ratio that ε0-LDP allows.
LEVEL = {field.t: r"$e^{\varepsilon_0}$"}


def quantities(names: str, latex: str | None = None, **assumptions: bool) -> tuple[UndefinedFunction, ...]:
    r"""Named functions that are declared alike; an asterisk in ``latex`` stands for the name of each.

    >>> import sympy as sp
    >>> P, Q = quantities("P Q", r"\Pr[* = {0}]", nonnegative=True)
    >>> sp.latex(Q(sp.Symbol("i")))
    '\\Pr[Q = i]'
    """
    return tuple(quantity(name, latex and latex.replace("*", name), **assumptions) for name in names.split())


def by(words: str, fact: Fact) -> Link:
    """The next line of a chain: what a theorem, a lemma or a definition says of what stands there, as it says it."""
    link = {"=": equals, "<=": at_most, ">=": at_least}[fact.relation]
    return link(fact.right, words, fact)


def shown_by(words: str, fact: Fact, under: Any = ()) -> Chain:
    """A chain of one line: what a theorem says."""
    return chain(fact.left, by(words, fact), under=under)


def cite_parts(build: Callable[..., Derivation], *parts: int) -> tuple[Cited, ...]:
    """Several parts of the statement of another derivation, counted from 0, each as a block of its own."""
    return tuple(cite(build, part) for part in parts)


# ------------------------------------------------------------------------------------------------- convex order

#: Two laws, G and H, of which H is larger in convex order if E[H − x]_+ is at least E[G − x]_+ at every level x.
G, H, x = Random("G"), Random("H"), sp.Symbol("x", real=True)


def above_level(u: sp.Expr) -> sp.Expr:
    """[u − x]_+."""
    return Positive(u - x)


def below_level(u: sp.Expr) -> sp.Expr:
    """[x − u]_+."""
    return Positive(x - u)


def itself(u: sp.Expr) -> sp.Expr:
    """u, for the mean of a law."""
    return u


def law_from_table(variable: Random, table: Any, words: str) -> Law:
    """The law of G from its table: the G of a randomizer or of a decomposition."""
    return law(variable, dict(zip(table.forms, table.masses, strict=True)), words)


def reflected(means: Fact, below: Fact) -> Chain:
    """E[G − x]_+ ≤ E[H − x]_+ from equal means and E[x − G]_+ ≤ E[x − H]_+, because [u]_+ = u + [−u]_+."""
    return chain(
        Mean(above_level(G)),
        equals(Mean(G) - x + Mean(below_level(G)), "$[u]_+ = u + [-u]_+$"),
        at_most(Mean(H) - x + Mean(below_level(H)), "equal means, and the other side", means, below),
        equals(Mean(above_level(H)), "$[u]_+ = u + [-u]_+$"),
        under=below.under,
    )
