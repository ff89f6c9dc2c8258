r"""Facts: relations between formulas that later lines may use: definitions, hypotheses, laws, general theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.engine import prover
from shuffle_sym.papers.engine.assumptions import Conditions, conditions
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Random

if TYPE_CHECKING:
    from shuffle_sym.papers.engine.chains import Line

RELATIONS = ("=", "<=", ">=")


@dataclass(frozen=True, eq=False)
class Fact:
    """``left`` relation ``right``, under conditions on the symbols. Facts are compared by identity: a line names the
    very ones that it uses."""

    left: sp.Expr
    relation: str
    right: sp.Expr
    words: str = ""
    under: Conditions = ()

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"relation must be one of {', '.join(RELATIONS)}, got {self.relation!r}")
        object.__setattr__(self, "left", sp.sympify(self.left))
        object.__setattr__(self, "right", sp.sympify(self.right))
        object.__setattr__(self, "under", conditions(self.under))

    @property
    def kind(self) -> str:
        """What kind of line it is shown as: a definition, a hypothesis, a lemma, or how a line is shown."""
        return ""

    @property
    def root(self) -> Fact:
        """The fact that this one is an instance of; itself if it is none."""
        return self

    @property
    def uses(self) -> tuple[Fact, ...]:
        """The facts that this one was shown with."""
        return ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that show it, in the order in which they are read."""
        return ()

    def at(self, values: Mapping[Any, Any]) -> Instance:
        """This fact with values put in for some of its symbols, all at once."""
        put_in = {symbol: sp.sympify(value) for symbol, value in values.items()}
        left, right = (side.subs(put_in, simultaneous=True) for side in (self.left, self.right))
        under = tuple(one.subs(put_in, simultaneous=True) for one in self.under)
        return Instance(left, self.relation, right, self.words, conditions(under), of=self)

    def fixing(self, *symbols: sp.Symbol) -> Fixed:
        """This fact for any arguments of its left side, except for these symbols, which stay as they are."""
        return Fixed(self.left, self.relation, self.right, self.words, self.under, of=self, fixed=symbols)

    def relational(self) -> str:
        """The relation in one line of text."""
        return f"{self.left} {self.relation} {self.right}"


@dataclass(frozen=True, eq=False)
class Instance(Fact):
    """A fact with values put in for its symbols."""

    of: Fact | None = None

    @property
    def root(self) -> Fact:
        return self.of.root if self.of else self

    @property
    def uses(self) -> tuple[Fact, ...]:
        return (self.root,)


@dataclass(frozen=True, eq=False)
class Fixed(Instance):
    """A fact that may be used with other arguments, except for some of them, which stay as they are."""

    fixed: tuple[sp.Symbol, ...] = ()


@dataclass(frozen=True, eq=False)
class Given(Fact):
    """A definition: the name on the left is new."""

    @property
    def kind(self) -> str:
        return "given"


@dataclass(frozen=True, eq=False)
class Supposed(Fact):
    """A hypothesis of the statement."""

    @property
    def kind(self) -> str:
        return "suppose"


def given(left: Any, right: Any, words: str = "", under: Any = ()) -> Given:
    """A definition, ``left`` = ``right``. The name on the left is a symbol or a function of symbols that nothing before
    it knows; it may be used with any arguments. A divergence or a mean, as the sum that it is, is a name, too."""
    name = sp.sympify(left)
    plain = isinstance(name, AppliedUndef) and len(set(name.args)) == len(name.args)
    held = isinstance(name, (Divergence, Mean))
    if not (name.is_Symbol or held or (plain and all(part.is_Symbol for part in name.args))):
        raise ValueError(f"left must be a new symbol, or a new function of different symbols, got {left}")
    return Given(name, "=", right, words, conditions(under))


@dataclass(frozen=True, eq=False)
class Law(Given):
    """The law of a random variable: finitely many values with their probabilities, which are shown to sum to 1."""

    def mean(self, of: Callable[[sp.Expr], sp.Expr]) -> Instance:
        """What the law says of one mean: E f(X) = Σ p f(v)."""
        total = sp.Add(*(mass * of(value) for value, mass in self.right))
        return Instance(Mean(of(self.left)), "=", total, self.words, self.under, of=self)


def law(variable: Random, values: Mapping[Any, Any], words: str, under: Any = ()) -> Law:
    """The law of a random variable as a definition: value → probability.

    >>> X, p = Random("X"), sp.Symbol("p")
    >>> law(X, {1: p, 0: 1 - p}, "a coin").mean(lambda x: x**2).right
    p
    """
    pairs = sp.Tuple(*(sp.Tuple(sp.sympify(value), sp.sympify(mass)) for value, mass in values.items()))
    needed = conditions(under)
    if prover.equal(sp.Add(*(mass for _, mass in pairs)), sp.Integer(1), needed) is None:
        raise VerificationError(f"{words}: the probabilities must sum to 1, got {[str(mass) for _, mass in pairs]}")
    return Law(variable, "=", pairs, words, needed)


def suppose(left: Any, relation: str, right: Any, words: str, under: Any = ()) -> Supposed:
    """A hypothesis of the statement, such as ε0-LDP, as a relation between formulas."""
    return Supposed(left, relation, right, words, conditions(under))


class Hypothesis(NamedTuple):
    """What a general theorem needs, in words, and how it is known: from a fact, by an exact check, or as stated."""

    words: str
    fact: Fact | None = None
    checked: str = ""

    @property
    def status(self) -> str:
        return "shown" if self.fact is not None else f"checked {self.checked}" if self.checked else "stated"


@dataclass(frozen=True, eq=False)
class Applied(Fact):
    """A general theorem with its hypotheses, instantiated: what it says here. What it ``discharges`` was supposed for
    its sake, such as the statement in a step of an induction."""

    name: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    discharges: tuple[Fact, ...] = ()

    @property
    def uses(self) -> tuple[Fact, ...]:
        return tuple(one.fact for one in self.hypotheses if one.fact is not None)
