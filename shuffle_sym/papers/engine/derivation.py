r"""A derivation is a proof that can be stepped through: definitions, cited lemmas and chains, down to its statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any, NoReturn, ParamSpec

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.cards import Markdown
from shuffle_sym.algebra.compiled import NumpyFunction
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers import registry
from shuffle_sym.papers.engine.assumptions import Condition
from shuffle_sym.papers.engine.chains import Cases, Chain, Line, Parts
from shuffle_sym.papers.engine.consistency import joins, refuse_known_name, refuse_nonsense, refuse_two_meanings, says
from shuffle_sym.papers.engine.facts import Applied, Fact, Given, Instance, Law, Supposed, names_in, not_discharged

Blocks = tuple[Fact, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Cited(Fact):
    """The statement of another derivation, or one part of it."""

    derivation: Derivation | None = None
    fact: Fact | None = None

    @property
    def kind(self) -> str:
        return "lemma"

    @property
    def supposed(self) -> tuple[Supposed, ...]:
        """The hypotheses of the lemma, which must be shown, or supposed again, where it is cited."""
        return self.derivation.supposed if self.derivation else ()

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        return (*super().rests_on, *((self.fact,) if self.fact else ()))


_BLOCKS = (Given, Law, Supposed, Line, Chain, Cases, Parts, Cited)


@dataclass(frozen=True, eq=False, repr=False)
class Derivation:
    """The ``blocks`` of a proof with its ``title`` and ``source``, in the order of reading; the last is the statement.

    Refused are: a line that is not shown, one that uses a fact which does not stand before it, a definition of a name
    that was known already, and a block that nothing after it uses. A hypothesis of a lemma that no block before it says
    is supposed again: it becomes a block before the lemma.

    >>> from shuffle_sym.papers.engine import chain, equals
    >>> x = sp.Symbol("x")
    >>> square = Derivation("a square", "any school", (chain((x + 1) ** 2, equals(x**2 + 2 * x + 1, "expand")),))
    >>> square.result, square.proved, len(square)
    (x**2 + 2*x + 1, True, 1)
    """

    title: str
    source: str
    blocks: Blocks
    where: Mapping[sp.Basic, str] = field(default_factory=dict)
    name: str = ""

    def __reduce__(self) -> NoReturn:
        # SymPy evaluates conditions again when they are read, and would lose those that a symbol implies.
        raise TypeError(f"{self.title}: a derivation is built where it is needed, not sent: call its function there")

    def __post_init__(self) -> None:
        if not self.blocks:
            raise ValueError("blocks must not be empty")
        object.__setattr__(self, "blocks", tuple(_with_hypotheses(self.blocks)))
        object.__setattr__(self, "where", MappingProxyType(dict(self.where)))
        for words in dict.fromkeys([self.title, self.source, *self.where.values(), *_words(self.blocks)]):
            latex.refuse_bare(words)
        refuse_two_meanings(self.definitions, self.blocks, self.title)
        known: list[Fact] = []
        for block in self.blocks:
            if type(block) not in _BLOCKS:
                raise TypeError(
                    f"{self.title}: a block must be a definition, hypothesis, lemma or chain, got {block!r}"
                )
            for fact in _below(block):
                if not _stands(fact, known):
                    raise VerificationError(
                        f"{self.title}: {block.words!r} uses {fact.words!r}, which is not before it"
                    )
            if isinstance(block, Given):
                refuse_known_name(block, known, self.title)
            known.append(block)
            if isinstance(block, Cases):
                known += block.branches
        self._refuse_unused()
        refuse_nonsense(self.blocks, self.all_lines, self.title)

    def _refuse_unused(self) -> None:
        needed, open_ = set(), [self.blocks[-1]]
        while open_:
            fact = open_.pop()
            if id(fact) not in needed:
                needed.add(id(fact))
                open_ += [used.root for used in fact.uses] + list(fact.uses)
                open_ += list(getattr(fact, "branches", ()))
                for one in fact.supposed if isinstance(fact, Cited) else ():
                    open_ += [block for block in self.blocks if says(block, one)]
        definitions = self.definitions
        needed |= {id(block) for block in self.blocks if joins(block, definitions)}
        for block in self.blocks:
            if id(block) not in needed:
                raise VerificationError(f"{self.title}: nothing uses {block.words!r}: {block.relational()}")

    # -- what it says

    @property
    def statement(self) -> tuple[Fact, ...]:
        """What is shown: one relation, or several parts."""
        last = self.blocks[-1]
        return last.members if isinstance(last, Parts) else (last,)

    @property
    def result(self) -> sp.Expr:
        """The right side of the statement, of its last part if there are several."""
        return self.statement[-1].right

    @property
    def given(self) -> tuple[Given, ...]:
        """The definitions."""
        return tuple(block for block in self.blocks if isinstance(block, Given))

    @property
    def supposed(self) -> tuple[Supposed, ...]:
        """The hypotheses of the statement; those of a lemma are among them, unless they are shown."""
        discharged = [fact for theorem in self.by for fact in theorem.discharges]
        still = not_discharged(self.blocks[-1]) if discharged else []
        blocks = (block for block in self.blocks if isinstance(block, Supposed))
        return tuple(one for one in blocks if not _stands(one, discharged) or _stands(one, still))

    @property
    def definitions(self) -> tuple[Given, ...]:
        """The definitions, here and, of names that occur here, in the lemmas."""
        known = [one for lemma in self.lemmas for one in lemma.definitions]
        names, found = set().union(*map(names_in, self.blocks)), list(self.given)
        while more := [one for one in known if one.name in names and not _stands(one, found)]:
            found += dict.fromkeys(more)
            names = names.union(*map(names_in, more))
        return tuple(found)

    @property
    def granted(self) -> tuple[Condition, ...]:
        """What was declared of defined names, such as that they are not negative, and is not shown: hypotheses, too."""
        own = (one for definition in self.definitions for one in definition.granted)
        return tuple(dict.fromkeys([*own, *(one for lemma in self.lemmas for one in lemma.granted)]))

    @property
    def lemmas(self) -> tuple[Derivation, ...]:
        """The derivations that are cited, each once."""
        cited = (block.derivation for block in self.blocks if isinstance(block, Cited))
        return tuple(dict.fromkeys(d for d in cited if d is not None))

    # -- what it rests on

    @property
    def by(self) -> tuple[Applied, ...]:
        """The general theorems that are applied, here and in the lemmas, with their hypotheses."""
        own = [fact for fact in _everything(self.blocks) if isinstance(fact, Applied)]
        return tuple(dict.fromkeys([*own, *(one for lemma in self.lemmas for one in lemma.by)]))

    @property
    def checked(self) -> tuple[Line, ...]:
        """The lines that are checked on a grid and not proved, here and in the lemmas."""
        own = [line for line in _all_lines(self.blocks) if line.status == "checked"]
        return (*own, *(line for lemma in self.lemmas for line in lemma.checked))

    @property
    def proved(self) -> bool:
        """Whether SymPy shows every line, for all values of the symbols, and no general theorem is needed."""
        return not self.by and not self.checked

    @property
    def established(self) -> str:
        """In one line: what the statement rests on."""
        if self.proved:
            return "proved"
        names = ", ".join(dict.fromkeys(one.name for one in self.by))
        grids = f"{len(self.checked)} line(s) checked on a grid" if self.checked else ""
        return latex.in_text("; ".join(part for part in ("proved, by " + names if names else "", grids) if part))

    # -- its lines

    @property
    def lines(self) -> tuple[Fact, ...]:
        """Everything that is shown with a number: definitions, hypotheses, cited lemmas and lines, as they are read."""
        return tuple(_numbered(self.blocks))

    @property
    def all_lines(self) -> tuple[Line, ...]:
        """Every line that is shown, those of the hypotheses of general theorems included."""
        return tuple(_all_lines(self.blocks))

    def line(self, number: int) -> Fact:
        """The line with this number, counted from 1 as they are shown."""
        if not 1 <= number <= len(self):
            raise ValueError(f"number must be an integer in 1 … {len(self)}, got {number}")
        return self.lines[number - 1]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.lines)

    # -- ways out

    def __repr__(self) -> str:
        return f"<{latex.in_text(f'{self.title} ({self.source})')}: {len(self)} lines, {self.established}>"

    def __str__(self) -> str:
        return str(_shown().text(self))

    def _repr_markdown_(self) -> str:
        return str(_shown().page(self))

    def show(self, definitions: bool = True) -> Markdown:
        """The page that a notebook shows; without ``definitions`` it leaves out what a page before it has told."""
        return Markdown(_shown().page(self, definitions=definitions))

    def to_markdown(self) -> str:
        """The page that a notebook shows: Markdown, with formulas between dollars."""
        return self._repr_markdown_()

    def to_latex(self, document: bool = False) -> str:
        r"""An ``align`` environment with numbered lines, in ASCII, for a paper that loads amsmath and amssymb; with
        ``document`` an article of its own."""
        return str(_shown().to_latex(self, document))

    def numpy(self, log: bool | None = None, bindings: Any = None) -> NumpyFunction:
        """The right side of the statement as a NumPy function of its symbols, in alphabetical order.

        Arguments: ``log``, whether it returns the logarithm, which it does by itself where counts occur; ``bindings``,
        exact values of symbols, with which the function also bounds its round-off.
        """
        bound = dict(bindings or {})
        symbols = sorted(self.result.free_symbols - set(bound), key=str)
        name = self.name or "derived"
        return NumpyFunction(self.result, symbols, name, latex.in_text(f"{self.title} ({self.source})."), log, bound)

    def walk(self, plain: bool = False) -> Any:
        """Goes through the lines with buttons (ipywidgets). ``plain`` returns a `PlainWalk`, the same as text."""
        walking = import_module("shuffle_sym.papers.engine.walk")
        return walking.PlainWalk(self) if plain else walking.buttons(self)


def _shown() -> Any:
    return import_module("shuffle_sym.papers.engine.shown")  # which knows derivations itself


def _numbered(blocks: Blocks) -> Iterator[Fact]:
    for block in blocks:
        if isinstance(block, Cases):
            yield from _numbered(tuple(branch for branch in block.branches if branch not in blocks))
        elif isinstance(block, (Parts, Instance)):
            continue
        elif block.lines:
            yield from block.lines
        else:
            yield block


def _all_lines(blocks: Blocks) -> Iterator[Line]:
    for fact in _everything(blocks):
        yield from (fact,) if isinstance(fact, Line) else ()


def _everything(blocks: Blocks) -> list[Fact]:
    """All facts of the blocks: they, their lines, the theorems and the hypotheses that these use."""
    seen: dict[int, Fact] = {}
    open_: list[Fact] = list(blocks)
    while open_:
        fact = open_.pop(0)
        if id(fact) not in seen:
            seen[id(fact)] = fact
            open_ += [*fact.lines, *fact.uses, *(used.root for used in fact.uses), *getattr(fact, "branches", ())]
    return list(seen.values())


def _words(blocks: Blocks) -> Iterator[str]:
    """Everything that is said in words beside the lines, or of the hypotheses of a theorem."""
    for fact in _everything(blocks):
        yield fact.words
        for one in fact.hypotheses if isinstance(fact, Applied) else ():
            yield from (one.words, one.checked)


def _below(block: Fact) -> list[Fact]:
    """What a block uses, through theorems and lines that stand in no place of their own."""
    used: list[Fact] = []
    for fact in block.uses:
        root = fact.root
        used += [root] if not isinstance(root, (Applied, Line)) else _below(root)
    return used


def _stands(fact: Fact, known: Sequence[Fact]) -> bool:
    return any(fact is one for one in known)


def _with_hypotheses(blocks: Sequence[Fact]) -> list[Fact]:
    """The blocks, with what the lemmas suppose before them, where no block before them says it."""
    all_: list[Fact] = []
    used = [(use.root, fact) for fact in _everything(tuple(blocks)) for use in fact.uses]
    for block in blocks:
        users = [fact for root, fact in used if root is block]
        for one in block.supposed if isinstance(block, Cited) else ():
            met = users and all(isinstance(user, Applied) and _stands(one, user.discharges) for user in users)
            if not met and not any(says(before, one) for before in all_):
                all_.append(one)
        if not _stands(block, all_):
            all_.append(block)
    return all_


def cite(build: Callable[..., Derivation], part: int | None = None) -> Cited:
    """The statement of another derivation as a block of this one; ``part`` counts its parts from 0."""
    derivation = build()
    facts = derivation.statement
    if part is None and len(facts) > 1:
        raise ValueError(f"part must say which of the {len(facts)} parts of {derivation.title!r} is cited")
    fact = facts[part or 0]
    words = f"{derivation.title} ({derivation.source})"
    return Cited(fact.left, fact.relation, fact.right, words, fact.under, derivation=derivation, fact=fact)


Arguments = ParamSpec("Arguments")


def derivation(
    title: str, source: str, where: Mapping[Any, str] | None = None
) -> Callable[[Callable[Arguments, Blocks]], Callable[Arguments, Derivation]]:
    """Makes of the function below it, which returns the blocks, one that builds the derivation, and registers that.

    ``source`` is where the statement stands: author, year, number; ``where`` says what the symbols mean.

    >>> import shuffle_sym as ss
    >>> ss.derivations.lemma53 is ss.papers.balle2019.lemma53
    True
    """

    def register(blocks: Callable[Arguments, Blocks]) -> Callable[Arguments, Derivation]:
        @wraps(blocks)
        def build(*given: Arguments.args, **named: Arguments.kwargs) -> Derivation:
            return Derivation(title, source, blocks(*given, **named), dict(where or {}), blocks.__name__)

        # A derivation without arguments is always the same: it is built once, and lemmas are cited for nothing.
        if signature(blocks).parameters:
            return registry.derivation(build)
        return registry.derivation(wraps(blocks)(lru_cache(maxsize=1)(build)))  # type: ignore[return-value]

    return register
