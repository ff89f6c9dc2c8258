r"""Tables 1 and 2 of Su et al. 2025, each row from the definition of its randomizer, and what they take for granted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import sympy as sp

from shuffle_sym.algebra import field, latex
from shuffle_sym.model import decomposition
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import OutputClass, Randomizer
from shuffle_sym.papers.engine.chains import Chain, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, Derivation, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given
from shuffle_sym.papers.engine.quantities import Least, quantity
from shuffle_sym.papers.su2025.notation import SOURCE, alpha, t


class Named(sp.Symbol):  # type: ignore[misc]
    """A symbol that is drawn in its own way, such as a probability Pr[G = v], which keeps its ``value`` v."""

    __slots__ = ("drawn", "value")

    drawn: str
    value: sp.Expr | None

    def __new__(cls, name: str, drawn: str, value: sp.Expr | None = None) -> Named:
        symbol: Named = sp.Symbol.__xnew__(cls, name, real=True)
        symbol.drawn, symbol.value = drawn, value
        return symbol

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.drawn, self.value), {}

    def _latex(self, printer: Any) -> str:
        return self.drawn


def _probability(value: sp.Expr) -> Named:
    return Named(f"Pr[G = {latex.code(value)}]", rf"\Pr[G = {latex.formula(value)}]", value)


@dataclass(frozen=True)
class Row:
    """One class of messages as lines of a derivation: its masses, its infimum and, unless that is 0, the value of G."""

    blocks: Blocks
    infimum: Fact
    value: Chain | None


@dataclass(frozen=True)
class Reference:
    """The reference law of a randomizer in which messages match inputs, as lines of a derivation."""

    R: Matching
    scale: sp.Symbol
    blocks: Blocks

    @classmethod
    def of(cls, R: Matching) -> Reference:
        mu, scale = sp.Symbol("mu", positive=True), sp.Symbol("N", positive=True)
        match = given(mu, R.mu, "a message of the reference law matches an input with this probability")
        whole = given(
            scale,
            1 + (R.ratio - 1) * mu,
            r"messages that match are $e^{\varepsilon_0}$ times as likely: divide by the sum of all",
        )
        return cls(R, scale, (match, whole))

    def weight(self, y: OutputClass, hit: bool) -> sp.Expr:
        """The reference probability of a class of which it is known whether it matches x_0."""
        return field.simplest(y.masses[0] / self.R.likelihood(hit))


def _in_words(label: str) -> str:
    """What a class is called in a line of text."""
    named = {
        r"\text{matches all}": "messages that match every input",
        r"\{0,1\}": "messages that match $x_0$ and $x_1$",
        r"\{0\}": "messages that match $x_0$ only",
        r"\{1\}": "messages that match $x_1$ only",
        r"\emptyset": "messages that match neither $x_0$ nor $x_1$",
    }
    part, _, drawn = label.rpartition(r"{:}\,")
    words = named.get(drawn, f"${drawn}$")
    return f"part {part}: {words}" if part else words


def _masses(
    number: int, y: OutputClass, inputs: tuple[int, int], reference: Reference | None
) -> tuple[Blocks, list[Any]]:
    """Definitions of a_j, b_j (and of w_j), and the values that the probability of the class takes over all inputs."""
    a, b, w = (sp.Symbol(f"{letter}_{number}", nonnegative=True) for letter in "abw")
    words = f"class {number}, {_in_words(y.label)}"
    if reference is None:
        under = given(a, y.masses[0], f"{words}: probability under $x_0$")
        return (under, given(b, y.masses[1], "and under $x_1$")), list(dict.fromkeys(y.range))
    t, N = reference.R.ratio, reference.scale
    every = r"\text" in y.label
    hits = [every or str(x) in re.findall(r"\d+", y.label) for x in inputs]
    size = given(w, reference.weight(y, hits[0]), f"{words}: probability under the reference law")
    a_form, b_form = (w * (t if hit else 1) / N for hit in hits)
    under = given(a, a_form, "$x_0$ matches" if hits[0] else "$x_0$ does not match")
    other = given(b, b_form, "$x_1$ matches" if hits[1] else "$x_1$ does not match")
    hit_here, miss_here = (field.simplest(w * reference.R.likelihood(hit)) for hit in (True, False))
    reached = {field.simplest(e / y.masses[0] * (w * reference.R.likelihood(hits[0]))) for e in y.range}
    values = [form for form, value in ((w * t / N, hit_here), (w / N, miss_here)) if value in reached]
    return (size, under, other), values


def _row(number: int, y: OutputClass, R: Randomizer, inputs: tuple[int, int], reference: Reference | None) -> Row:
    c, g = sp.Symbol(f"c_{number}", nonnegative=True), sp.Symbol(f"g_{number}", real=True)
    masses, reached = _masses(number, y, inputs, reference)
    shared = reference.blocks[::-1] if reference else ()
    floor = field.simplest(y.floor(R.bindings))
    smallest = Least(*reached) if len(reached) > 1 else reached[0]
    words = "the infimum over all inputs: " + ("some match, some do not" if reference else "the smallest of these")
    lowest = given(c, smallest, words if len(reached) > 1 else "the same for every input")
    infimum: Fact = lowest
    sizes = masses[: 1 if reference else 0]
    if smallest != floor:
        infimum = chain(c, equals(floor, f"the infimum of class {number}", lowest, *sizes, *shared))
    own = (lowest,) if infimum is lowest else (lowest, infimum)
    if floor == 0:
        return Row((*sizes, *own), infimum, None)
    quotient = given(g, (masses[-2].left - alpha * masses[-1].left) / c, "the definition of $G$")
    value = field.simplest((y.masses[0] - alpha * y.masses[1]) / floor)
    shown = chain(g, equals(value, f"the value of $G$ on class {number}", quotient, infimum, *masses[::-1], *shared))
    return Row((*masses, *own, quotient, shown), infimum, shown)


def _total(
    name: Named, combine: Callable[..., sp.Expr], facts: Sequence[Fact], said: str, words: str
) -> tuple[Fact, Chain]:
    """What is made of some facts: its definition from their left sides, and its value from their right sides."""
    defined = given(name, combine(*(fact.left for fact in facts)), said)
    value = field.simplest(combine(*(fact.right for fact in facts)))
    return defined, chain(name, equals(value, words, defined, *facts))


def gparv_table(R: Randomizer, x0: int | None = None, x1: int | None = None) -> Derivation:
    r"""The law of G of the blanket of `R`, derived from the definition of R: a row of Table 1 of Su et al. 2025.

    Each class of messages has its masses under x_0 and x_1, its infimum over all inputs and its value of G; the
    statement is the probability of every value, and the mean.

    Arguments: a randomizer ``R`` and two inputs, ``x0`` and ``x1``, which may be left out where all pairs are alike.

    >>> import shuffle_sym as ss
    >>> table = gparv_table(ss.KRR())
    >>> for fact in table.statement:
    ...     print(fact.left, "=", fact.right)
    Pr[G = t - alpha] = 1/(k + t - 1)
    Pr[G = 1 - alpha*t] = 1/(k + t - 1)
    Pr[G = 1 - alpha] = (k - 2)/(k + t - 1)
    Pr[G = 0] = (t - 1)/(k + t - 1)
    E[G] = 1 - alpha
    """
    inputs = decomposition._pair(R, x0, x1)
    reference = Reference.of(R) if isinstance(R, Matching) else None
    classes = [y for y in R.classes(*inputs) if any(field.simplest(mass) != 0 for mass in y.masses)]
    rows = [_row(number, y, R, inputs, reference) for number, y in enumerate(classes, 1)]
    groups: dict[sp.Expr, list[Row]] = {}
    for row in rows:
        if row.value is not None:
            groups.setdefault(row.value.right, []).append(row)
    shown = []
    for value, group in groups.items():
        classes_of = ", ".join(row.infimum.left.name.partition("_")[2] for row in group)
        words = "the infima, added" if len(group) > 1 else "its infimum"
        said = f"$G$ has this value on class {classes_of}"
        shown.append(_total(_probability(value), sp.Add, [row.infimum for row in group], said, words))
    infima, zero = [row.infimum for row in rows], _probability(sp.Integer(0))
    said = "what the blanket does not cover"
    shown.append(_total(zero, lambda *covered: 1 - sp.Add(*covered), infima, said, r"$1 - \gamma$"))
    facts = [fact for row in rows if row.value for fact in (row.infimum, row.value)]
    name = Named("E[G]", r"\mathbb{E}[G]")
    shown.append(
        _total(
            name, lambda *pairs: sp.Add(*map(mul, pairs[::2], pairs[1::2])), facts, "class by class", "the mean of $G$"
        )
    )
    blocks = [*(reference.blocks if reference else ()), *(block for row in rows for block in row.blocks)]
    blocks += [fact for pair in shown for fact in pair]
    where = {
        symbol: f"${latex.formula(value)}$"
        for symbol, value in field.used(R.bindings, [f for y in classes for f in y.range]).items()
    }
    return Derivation(
        f"$G$ of `{R!r}`", f"{SOURCE}, Definition 10 and Table 1", (*blocks, parts(*(chained for _, chained in shown))),
        where, "gparv_table",
    )  # fmt: skip


def five_components(R: Matching) -> Derivation:
    r"""p, q, r of the five-component form of R, from the law of G: a row of Table 2 of Su et al. 2025 (Appendix B).

    >>> from shuffle_sym.randomizers import RAPPOR
    >>> [fact.right for fact in five_components(RAPPOR(d=sp.oo)).statement]
    [1/(s**2 + 2*s + 1), 1/(s**3 + 2*s**2 + s), s/(s**2 + 2*s + 1), 1]
    """
    if not isinstance(R, Matching):
        raise TypeError(f"R must be a randomizer whose messages match inputs, such as RAPPOR(d=sp.oo), got {R!r}")
    table, t = gparv_table(R), R.ratio
    places = {fact.left: number for number, fact in enumerate(table.statement)}
    components = {"p": (t - alpha, "(tp, p, p)"), "q": (t - alpha * t, "(tq, tq, q)"), "r": (1 - alpha, "(r, r, r)")}
    blocks: list[Fact] = []
    shown: list[Fact] = []
    for letter, (value, masses) in components.items():
        cited = cite(lambda: table, part=places[_probability(field.simplest(value))])
        name = given(
            sp.Symbol(letter), cited.left, f"the component with masses ${masses}$ under $x_0$, $x_1$ and in everyone"
        )
        shown.append(chain(name.left, equals(cited.right, "its probability in the table", name, cited)))
        blocks += [name, cited, shown[-1]]
    p, q, r = (fact.left for fact in shown)
    shown.append(chain(t * p + p + t * q + r, equals(1, "$R(x_0)$ sums to 1", *shown)))
    return Derivation(
        f"Five components of `{R!r}`", f"{SOURCE}, Appendix B and Table 2", (*blocks, shown[-1], parts(*shown)),
        table.where, "five_components",
    )  # fmt: skip


d, sigma = field.d, sp.Symbol("sigma", positive=True)


@derivation(
    "From $d$ inputs to infinitely many", f"{SOURCE}, Tables 1 and 2",
    where={sigma: r"$1/\mu - 1$, where $\mu = 1/(1 + \sigma)$ is the probability that a reference message matches "
                  r"an input",
           d: "the number of inputs"},
)  # fmt: skip
def idealised_limit() -> Blocks:
    r"""With d → ∞ the mass γ of the blanket of RAPPOR, OUE and BLH becomes that of the published tables, 1/s,
    (t + 1)/2t and 2/(t + 1), and so does that of Hadamard response with K → ∞ columns: what is lost is t − 1 times the
    reference probability, :math:`\mu^d` or 1/K, of a message that matches all inputs.

    >>> [fact.right for fact in idealised_limit().statement[1:]]
    [1/s, (t + 1)/(2*t), 2/(t + 1), 2/(t + 1)]
    """
    gamma, mu = quantity("gamma", nonnegative=True), 1 / (1 + sigma)
    scale = 1 + (t - 1) * mu
    defined = given(
        gamma(d, sigma, t),
        (1 - mu**d) / scale + mu**d * t / scale,
        r"the infimum is $t/N$ for messages that match all $d$ inputs, and $1/N$ for all others, $N = 1 + (t - 1)\mu$",
    )
    gain = chain(gamma(d, sigma, t), equals((1 + sigma) / (sigma + t) * (1 + (t - 1) * mu**d), "gathered", defined))
    limit = chain(
        sp.Limit(gain.right, d, sp.oo), equals((1 + sigma) / (sigma + t), "no message matches infinitely many inputs")
    )
    rows = []
    for name, row in (
        ("RAPPOR", {sigma: field.s, t: field.s**2}),
        ("OUE", {sigma: t}),
        ("BLH", {sigma: sp.Integer(1)}),
    ):
        here = limit.at(row)
        rows.append(chain(here.left, equals(field.simplest(here.right), rf"{name}, with its $\mu$", here)))
    columns = sp.Symbol("K", positive=True)
    hadamard = chain(
        sp.Limit((1 - 1 / columns) * 2 / (t + 1) + 2 * t / (columns * (t + 1)), columns, sp.oo),
        equals(2 / (t + 1), r"Hadamard response, $\mu = 1/2$: one of its $K$ columns matches all inputs"),
    )
    return defined, gain, limit, *rows, hadamard, parts(gain, *rows, hadamard)
