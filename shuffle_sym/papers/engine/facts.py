r"""Facts: relations between formulas that later lines may use: definitions, hypotheses, laws, general theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.engine import prover
from shuffle_sym.papers.engine.assumptions import Condition, Conditions, conditions, implied
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Random, is_random
from shuffle_sym.papers.engine.values import denominators, needed, put_in

if TYPE_CHECKING:
    from shuffle_sym.papers.engine.chains import Line

#: Relations, those of conditions among them, and how they are drawn.
SIGNS = {"=": "=", "<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">"}
RELATIONS = tuple(SIGNS)[:3]


@dataclass(frozen=True, eq=False, repr=False)
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
    def rests_on(self) -> tuple[Fact, ...]:
        """What it is an instance of, its lines and what they use, and for a cited lemma what that rests on."""
        return (self.root, *self.lines, *self.uses)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that show it, in the order in which they are read."""
        return ()

    @cached_property
    def held(self) -> frozenset[Any]:
        """The symbols and named functions for which nothing else may be put in: a hypothesis that this rests on speaks
        of them, or a name in it is defined through them."""
        below = foundations(self)
        stated = [fact for fact in not_discharged(self) if isinstance(fact, (Supposed, Applied))]
        names = set().union(names_in(self), *(names_in(fact) for fact in stated if isinstance(fact, Supposed)))
        held = set().union(*(fact._speaks_of() for fact in stated))
        definitions = [fact for fact in below if isinstance(fact, Given)]
        while used := [one for one in definitions if one.name in names]:
            definitions = [one for one in definitions if one not in used]
            held |= set().union(*(one._speaks_of() for one in used))
            names |= set().union(*map(names_in, used))
        return frozenset(held)

    def _speaks_of(self) -> set[Any]:
        return set()

    @cached_property
    def poles(self) -> frozenset[sp.Expr]:
        """Formulas that it divides by, itself or on the way to it, and that are not known to differ from 0."""
        own = (one for side in (self.left, self.right) for one in denominators(side))
        return frozenset(own).union(*(fact.poles for fact in self.rests_on if fact is not self))

    def poles_at(self, values: Mapping[sp.Expr, sp.Expr]) -> frozenset[sp.Expr]:
        """The formulas that it divides by, with values put in for symbols; raises where one becomes 0."""
        poles = frozenset(put_in(one, values) for one in self.poles) if values else self.poles
        if 0 in poles:
            raise VerificationError(f"{self.words!r} divides by 0 for {dict(values)}")
        return poles

    def at(self, values: Mapping[Any, Any]) -> Instance:
        """This fact with values put in for some of its symbols, or named functions, all at once. What is not known of
        them, but is assumed of the symbols, becomes a condition."""
        chosen = {symbol: sp.sympify(value) for symbol, value in values.items()}
        for symbol, value in chosen.items():
            if value != symbol and (name_of(symbol) in self.held or not isinstance(symbol, (sp.Symbol, AppliedUndef))):
                raise VerificationError(f"{self.words!r} is shown for this {symbol} only, not for {value}")
        needs = needed(chosen)
        for one in needs:  # of a function for all arguments, which a condition on one argument is not
            arguments = set().union(*(f.free_symbols for f in chosen if not f.is_Symbol))
            if one.free_symbols & arguments and not implied(one, ()):
                raise VerificationError(f"{self.words!r} with {chosen} needs {one} for all of them")
        self.poles_at(chosen)
        left, right = (put_in(side, chosen) for side in (self.left, self.right))
        under = [put_in(one, chosen) for one in self.under]
        if sp.false in under:
            raise VerificationError(f"{self.words!r} needs {', '.join(map(str, self.under))}, which fails for {chosen}")
        return Instance(left, self.relation, right, self.words, (*conditions(under), *needs), of=self,
                        values=tuple(chosen.items()))  # fmt: skip

    def fixing(self, *symbols: sp.Symbol) -> Fixed:
        """This fact for any arguments of its left side, except for these symbols, which stay as they are."""
        return Fixed(self.left, self.relation, self.right, self.words, self.under, of=self, fixed=symbols)

    def relational(self) -> str:
        """The relation in one line of text."""
        return f"{self.left} {self.relation} {self.right}"

    @property
    def formula(self) -> str:
        """The relation as a formula between dollars."""
        return f"${latex.formula(self.left)} {SIGNS[self.relation]} {latex.formula(self.right)}$"

    def __repr__(self) -> str:
        return latex.in_text(f"<{self.formula}: {self.words}>")

    def _repr_markdown_(self) -> str:
        shown = import_module("shuffle_sym.papers.engine.shown")  # which knows facts itself
        return f"{shown.in_cell(shown.Row(0, self))}<br>{latex.in_markdown(shown.label(self))}"


def in_formulas(under: Conditions) -> str:
    """Conditions as formulas between dollars."""
    return ", ".join(f"${latex.formula(one.lhs)} {SIGNS[one.rel_op]} {latex.formula(one.rhs)}$" for one in under)


def name_of(expr: sp.Expr) -> Any:
    """The symbol itself, or the named function without its arguments."""
    return expr.func if isinstance(expr, AppliedUndef) else expr


def names_in(fact: Fact) -> set[Any]:
    """The symbols and named functions that occur in a fact."""
    sides = (fact.left, fact.right, *fact.under)
    return set().union(*(side.free_symbols | {e.func for e in side.atoms(AppliedUndef)} for side in sides))


def foundations(fact: Fact) -> list[Fact]:
    """The fact itself and everything that it was shown with."""
    seen: dict[int, Fact] = {}
    open_ = [fact]
    while open_:
        one = open_.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            open_ += one.rests_on
    return list(seen.values())


def not_discharged(fact: Fact) -> list[Fact]:
    """What a fact rests on, less the hypotheses that a theorem discharges, unless they are used beside it as well."""
    seen: dict[tuple[int, frozenset[int]], Fact] = {}
    open_: list[tuple[Fact, frozenset[int]]] = [(fact, frozenset())]
    while open_:
        one, done = open_.pop()
        if isinstance(one, Applied):
            done |= {id(hypothesis) for hypothesis in one.discharges}
        if id(one) not in done and (id(one), done) not in seen:
            seen[id(one), done] = one
            open_ += [(below, done) for below in one.rests_on]
    return list({id(one): one for one in seen.values()}.values())


def meaning(fact: Fact) -> list[Fact]:
    """What says what a fact is about: the definitions of its names, and of the names in these, the hypotheses, and the
    theorems with hypotheses in words."""
    below = not_discharged(fact)
    names, said = names_in(fact), []
    definitions = [one for one in below if isinstance(one, Given)]
    while used := [one for one in definitions if one.name in names and one not in said]:
        said += used
        names = names.union(*map(names_in, used))
    words = [one for one in below if isinstance(one, Applied) and any(h.fact is None for h in one.hypotheses)]
    return [*said, *(one for one in below if isinstance(one, Supposed)), *words]


@dataclass(frozen=True, eq=False, repr=False)
class Instance(Fact):
    """A fact with values put in for its symbols."""

    of: Fact | None = None
    values: tuple[tuple[sp.Expr, sp.Expr], ...] = ()

    @cached_property
    def poles(self) -> frozenset[sp.Expr]:
        return self.of.poles_at(dict(self.values)) if self.of else frozenset()

    @property
    def root(self) -> Fact:
        return self.of.root if self.of else self

    @property
    def uses(self) -> tuple[Fact, ...]:
        return (self.root,)


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Instance):
    """A fact that may be used with other arguments, except for some of them, which stay as they are."""

    fixed: tuple[sp.Symbol, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Given(Fact):
    """A definition: the name on the left is new. What is ``granted`` was declared of the name, such as that it is not
    negative, and is not shown of the right side: it is a hypothesis."""

    granted: Conditions = ()

    @property
    def kind(self) -> str:
        return "given"

    @property
    def name(self) -> Any:
        """The symbol or the function that is defined; of a divergence it is that of two laws, at every order."""
        return ("divergence", *self.left.args[1:]) if isinstance(self.left, Divergence) else name_of(self.left)

    def _speaks_of(self) -> set[Any]:
        arguments = {one for f in self.left.atoms(AppliedUndef) for one in f.free_symbols}
        if isinstance(self.left, Divergence):
            arguments |= self.left.args[0].free_symbols
        return names_in(self) - arguments


@dataclass(frozen=True, eq=False, repr=False)
class Supposed(Fact):
    """A hypothesis of the statement. It is read for all arguments of the functions in it and for all values of the
    symbols ``for_all``; other symbols are the ones of the statement."""

    for_all: tuple[sp.Symbol, ...] = ()

    @property
    def kind(self) -> str:
        return "suppose"

    def _speaks_of(self) -> set[Any]:
        functions = self.left.atoms(AppliedUndef) | self.right.atoms(AppliedUndef)
        free = {one for f in functions for one in f.free_symbols if not isinstance(one, Random)}
        return names_in(self) - free - set(self.for_all)


def given(left: Any, right: Any, words: str = "", under: Any = ()) -> Given:
    """A definition, ``left`` = ``right``. The name on the left is a symbol or a function of symbols that nothing before
    it knows; it may be used with any arguments. A divergence, as the sum that it is, is a name, too."""
    name = sp.sympify(left)
    plain = isinstance(name, AppliedUndef) and len(set(name.args)) == len(name.args)
    held = isinstance(name, Divergence)
    if not (name.is_Symbol or held or (plain and all(part.is_Symbol for part in name.args))):
        raise ValueError(f"left must be a new symbol, or a new function of different symbols, got {left}")
    if is_random(sp.sympify(right)) and not is_random(name):
        raise VerificationError(f"{words}: {name} must be a Random, since it is defined as {right}")
    definition = Given(name, "=", right, words, conditions(under))
    granted = _not_shown(name, definition.right, definition.under)
    named = [
        one.func(*(name if side == definition.right else side for side in one.args), evaluate=False) for one in granted
    ]
    return replace(definition, granted=tuple(named))


def _not_shown(name: sp.Expr, value: sp.Expr, under: Conditions) -> list[Condition]:
    """What a name is declared to be, such as not negative, and is not shown of its value."""
    return [one for one in needed({name: value}) if not _is_shown(one, under)]


def _is_shown(one: Condition, under: Conditions) -> bool:
    """Whether a sign is shown by linear arithmetic or by the prover, of cases one by one."""
    pieces = [side for side in one.args if isinstance(side, sp.Piecewise)]
    if pieces:
        return all(_is_shown(one.func(*(value if side in pieces else side for side in one.args), evaluate=False), under)
                   for value, _ in pieces[0].args)  # fmt: skip
    if implied(one, under) or (isinstance(one, sp.Gt) and prover.is_positive(one.lhs - one.rhs)):
        return True
    return isinstance(one, sp.Ge) and prover.at_most(one.rhs, one.lhs, under) is not None


@dataclass(frozen=True, eq=False, repr=False)
class Law(Given):
    """The law of a random variable: values with their probabilities, which are shown to sum to 1. A value with an index
    stands for one value at each index; then ``total`` is the fact that says what the probabilities sum to."""

    total: Fact | None = None

    @property
    def uses(self) -> tuple[Fact, ...]:
        return (self.total,) if self.total else ()

    def mean(self, of: Callable[[sp.Expr], sp.Expr]) -> Instance:
        """What the law says of one mean: E f(X) = Σ p f(v)."""
        inside = sp.sympify(of(self.left))
        if caught := inside.free_symbols & {limit[0] for _, _, *limits in self.right for limit in limits}:
            raise VerificationError(f"{self.words}: {caught.pop()} is an index of the law, and must not be in {inside}")
        terms = ((mass * put_in(inside, {self.left: value}), limits) for value, mass, *limits in self.right)
        total = sp.Add(*(_over(term, *limits) for term, limits in terms))
        if is_random(total):
            raise VerificationError(f"{self.words}: the law of {self.left} says nothing about {inside}")
        return Instance(Mean(inside), "=", total, self.words, self.under, of=self)


def _over(term: sp.Expr, *limits: sp.Tuple) -> sp.Expr:
    return sp.Sum(term, *limits) if limits else term


def law(variable: Random, values: Mapping[Any, Any], words: str, under: Any = (), total: Fact | None = None) -> Law:
    """The law of a random variable as a definition: value → probability, or value → (probability, (index, first, last))
    for a value at each index; ``total`` is then the fact that the sum of all of them is 1.

    >>> from shuffle_sym.algebra.symbols import Parameter
    >>> X, p = Random("X"), Parameter("p", 0, 1)
    >>> law(X, {1: p, 0: 1 - p}, "a coin").mean(lambda x: x**2).right
    p
    """
    if not isinstance(variable, Random):
        raise TypeError(f"variable must be a Random, got {variable!r}")
    pairs = sp.Tuple(*(sp.Tuple(v, *(mass if isinstance(mass, tuple) else (mass,))) for v, mass in values.items()))
    under = conditions(under)
    whole = sp.Add(*(_over(mass, *limits) for _, mass, *limits in pairs))
    said = total is not None and (total.left, total.relation, total.right, total.under) == (whole, "=", 1, under)
    if not said and (total is not None or prover.equal(whole, sp.Integer(1), under) is None):
        raise VerificationError(f"{words}: the probabilities must sum to 1, got {whole}")
    for value, mass, *limits in pairs:
        if limits and (sp.Tuple(*limits).has(sp.oo) or not prover.goes_up(sp.Sum(mass, *limits))):
            raise VerificationError(f"{words}: an index must go up, to a last value, got {limits}")
        if missing := _not_shown(variable, value, under):
            raise VerificationError(f"{words}: {variable} is declared to be what {value} is not: {missing[0]}")
        if prover.at_most(sp.Integer(0), mass, under) is None:
            raise VerificationError(f"{words}: a probability must not be negative, got {mass}")
    return Law(variable, "=", pairs, words, under, total=total)


def suppose(
    left: Any, relation: str, right: Any, words: str, under: Any = (), for_all: Sequence[sp.Symbol] = ()
) -> Supposed:
    """A hypothesis of the statement, such as ε0-LDP, as a relation between formulas: for all arguments of the functions
    in it and for all values of the symbols ``for_all``, and for no other symbols.

    >>> c = sp.Symbol("c", positive=True)
    >>> suppose(c, "<=", 1, "a small number").at({c: 2})
    Traceback (most recent call last):
    ...
    shuffle_sym.algebra.errors.VerificationError: 'a small number' is shown for this c only, not for 2
    """
    return Supposed(left, relation, right, words, conditions(under), for_all=tuple(for_all))


class Hypothesis(NamedTuple):
    """What a general theorem needs, in words, and how it is known: from a fact, by an exact check, or as stated."""

    words: str
    fact: Fact | None = None
    checked: str = ""

    @property
    def status(self) -> str:
        return "shown" if self.fact is not None else f"checked {self.checked}" if self.checked else "stated"


@dataclass(frozen=True, eq=False, repr=False)
class Applied(Fact):
    """A general theorem with its hypotheses, instantiated: what it says here. What it ``discharges`` was supposed for
    its sake, such as the statement in a step of an induction."""

    name: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    discharges: tuple[Fact, ...] = ()

    @property
    def uses(self) -> tuple[Fact, ...]:
        return tuple(one.fact for one in self.hypotheses if one.fact is not None)

    def _speaks_of(self) -> set[Any]:
        """The laws, random variables and functions of which a hypothesis speaks in words."""
        if all(one.fact is not None for one in self.hypotheses):
            return set()
        laws = {law for side in (self.left, self.right) for one in side.atoms(Divergence) for law in one.args[1:]}
        return {
            one for one in names_in(self) if not isinstance(one, sp.Symbol) or isinstance(one, Random) or one in laws
        }
