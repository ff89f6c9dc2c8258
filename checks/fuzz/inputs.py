r"""What is drawn: decompositions and randomizers, easy and hard, with the pairs that their answers must agree with."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb, ctx

from checks.fuzz import definitions, noise
from checks.fuzz.masses import inside, law, losses, masses, random_weights, strings, text_of
from checks.fuzz.oracle import BITS, Largest, Mass, Outcomes, Pair, all_datasets, ball, blankets, remainder, shuffled
from checks.fuzz.sums import TwoAtoms

_MOST_OUTCOMES = 4_000
_MOST_BITS = 40_000_000  # of all outcomes together
_MOST_PAIRS = 160  # of datasets
_FEW_PAIRS = 40
_LAWS = "ss.decomposition."


@dataclass(frozen=True)
class Subject:
    """Something shuffled: the text of its source, n, and the pairs below and above which no answer may lie.

    ``below`` and ``above`` are one object where the truth is known. ``scale`` is the ε over which δ falls, about,
    ``losses`` are exact ratios a/b; if ``alphas`` are given the truth is known only there.
    """

    kind: str
    source: str
    n: int
    below: Pair
    above: Pair | None
    scale: float
    losses: tuple[Fraction, ...] = ()
    alphas: tuple[Fraction, ...] = ()
    law: bool = True
    #: The same for any other number of users, where that is known.
    at: Callable[[int], Pair] | None = None
    most_users: int = 10**6  # that it may be asked about

    @property
    def sharp(self) -> bool:
        return self.below is self.above

    @property
    def cheap(self) -> bool:
        """Whether a divergence costs microseconds."""
        pairs = self.below.pairs if isinstance(self.below, Largest) else (self.below,)
        return len(pairs) < _FEW_PAIRS and all(isinstance(pair, Outcomes) for pair in pairs)


def _scale(a: Sequence[Any], b: Sequence[Any], c: Sequence[Any], n: int) -> float:
    """The standard deviation of the sum of G over n, at α = 1; at most the largest loss."""
    triples = [(float(p), float(q), float(r)) for p, q, r in zip(a, b, c, strict=True)]
    spread = sum((p - q) ** 2 / r for p, q, r in triples if r > 0)
    largest = max((abs(math.log(p / q)) for p, q, _ in triples if p > 0 and q > 0), default=1.0)
    return min(math.sqrt(spread / n), max(largest, 1e-9)) or max(largest, 1e-9)


def _most_users(size: int, bits: int, most: int) -> int:
    """The largest n whose outcomes fit."""
    n = 1
    while n < most:
        outcomes = math.comb(n + size, size)
        if outcomes > _MOST_OUTCOMES or outcomes * n * bits > _MOST_BITS:
            break
        n += 1
    return n


# -- decompositions


def atoms(rng: random.Random) -> Subject:
    """One to six atoms of every size, few users, exact."""
    size = rng.choice((1, 2, 2, 2, 3, 3, 3, 4, 5, 6))
    a, b, c = masses(rng, size)
    bits = max(math.lcm(*(mass.denominator for mass in column)).bit_length() for column in (a, b, c))
    most = _most_users(size, bits, rng.choice((2, 6, 20, 60, 200)))
    n = rng.randint(1 if rng.random() < 0.05 else min(2, most), most)
    rest = 1 - sum(c, Fraction(0))

    def at(users: int) -> Pair:
        return shuffled(a, b, c, rest, users)

    pair = at(n)
    users = _most_users(size, bits, 400)
    return Subject("atoms", text_of(a, b, c), n, pair, pair, _scale(a, b, c, n), losses(a, b), at=at, most_users=users)


def two_atoms(rng: random.Random) -> Subject:
    """Two atoms without a rest, up to 10^15 users."""
    bits = rng.choice((1, 1, 1, 2, 6, 12))
    p, q, r = (inside(rng, bits) for _ in range(3))
    while p == q:
        q = inside(rng, bits)
    if rng.random() < 0.3:  # a real dataset: all others have one of the two inputs
        r = q
    n = int(10 ** rng.uniform(0.4, rng.choice((3, 5, 8, 15))))
    a, b, c = ([mass, 1 - mass] for mass in (p, q, r))

    def at(users: int) -> Pair:
        return TwoAtoms(a, b, c, users, rest=False)

    pair = at(n)
    return Subject("two atoms", text_of(a, b, c), n, pair, pair, _scale(a, b, c, n), losses(a, b), at=at)


def two_atoms_and_rest(rng: random.Random) -> Subject:
    """Two atoms with a rest, up to 30,000 users."""
    p, q, r = (inside(rng, rng.choice((1, 1, 3))) for _ in range(3))
    while p == q:
        q = inside(rng, 1)
    covered = rng.choice((Fraction(1, 1000), Fraction(rng.randint(1, 9), 10), Fraction(999, 1000)))
    n = int(10 ** rng.uniform(0.4, rng.choice((2.5, 3.5, 4.5))))
    a, b, c = [p, 1 - p], [q, 1 - q], [covered * r, covered * (1 - r)]

    def at(users: int) -> Pair:
        return TwoAtoms(a, b, c, users, rest=True)

    pair = at(n)
    return Subject("two atoms and a rest", text_of(a, b, c), n, pair, pair, _scale(a, b, c, n), losses(a, b), at=at)


def hidden_two(rng: random.Random) -> Subject:
    """Three to six atoms whose G has only two values at one α: its truth is that of two atoms, for any n."""
    n = int(10 ** rng.uniform(0.5, rng.choice((3, 7, 15))))
    while True:
        size = rng.randint(3, 6)
        c, b = (law([Fraction(rng.randint(1, 30)) for _ in range(size)]) for _ in range(2))
        group = [True, False] + [rng.random() < 0.5 for _ in range(size - 2)]
        inside = sum(mass for mass, mine in zip(c, group, strict=True) if mine)
        # a = α b + c g, with g the same in each group and Σ a = 1
        off = Fraction(rng.randint(1, 10**6), 10**6) * Fraction(2, max(math.isqrt(n), 1))
        alpha, high = 1 + off, Fraction(rng.randint(1, 9), 10)
        low = (1 - alpha - inside * high) / (1 - inside)
        a = [alpha * q + r * (high if mine else low) for q, r, mine in zip(b, c, group, strict=True)]
        if min(a) >= 0:
            break

    def summed(column: Sequence[Fraction]) -> list[Mass]:
        mine = sum((mass for mass, member in zip(column, group, strict=True) if member), Fraction(0))
        return [mine, sum(column, Fraction(0)) - mine]

    pair = TwoAtoms(summed(a), summed(b), summed(c), n, rest=False)
    return Subject("hidden two", text_of(a, b, c), n, pair, pair, _scale(a, b, c, n), alphas=(alpha,))


# -- the catalogue


def _exp(level: definitions.Level) -> arb:
    with ctx.workprec(BITS + 64):
        return level.value.exp()


def catalogue_law(rng: random.Random) -> Subject:
    """A blanket, a dataset or the clones with an irrational ε0."""
    level = definitions.level(rng)
    t, choice = _exp(level), rng.random()
    definition = rng.choice(definitions.CATALOGUE[:7])
    R, rows = definition.text.format(level.text), definition.rows(t)
    if choice < 0.35:
        n = _few_users(rng, len(rows[0]), 12)
        pair: Pair = blankets(rows, n)
        first = [ball(mass) for mass in rows[0]], [ball(mass) for mass in rows[1]]
        return Subject("catalogue law", f"{_LAWS}blankets({R})", n, pair, pair, _scale(*first, first[1], n))
    if choice < 0.7:
        x2 = rng.randrange(len(rows))
        n = _few_users(rng, len(rows[0]), 25)
        pair = shuffled(rows[0], rows[1], rows[x2], Fraction(0), n)
        scale = _scale(rows[0], rows[1], rows[x2], n)
        return Subject("catalogue law", f"{_LAWS}dataset({R}, 0, 1, {x2})", n, pair, pair, scale)
    name = rng.choice(("clones", "clones_koskela"))
    a, b, c = getattr(definitions, name)(t)
    n = _few_users(rng, len(a), 40)
    rest: Mass = remainder(c) if name == "clones" else Fraction(0)
    pair = shuffled(a, b, c, rest, n)
    return Subject("catalogue law", f"{_LAWS}{name}({level.text})", n, pair, pair, _scale(a, b, c, n))


def _few_users(rng: random.Random, messages: int, most: int) -> int:
    return rng.randint(2, max(_most_users(messages, 900, most), 2))


# -- mechanisms


def _brute(rng: random.Random, rows: Sequence[Sequence[Mass]], most: int) -> int:
    """A number of users for which all datasets can be compared."""
    inputs, messages, n = len(rows), len(rows[0]), 2
    while n < most:
        pairs = math.comb(n + inputs - 1, n) * inputs * (inputs - 1)
        if pairs > _MOST_PAIRS or pairs * math.comb(n + messages, messages) > 60_000:
            break
        n += 1
    return rng.randint(2, n)


def matrix(rng: random.Random) -> Subject:
    """A random matrix and all its datasets: dense, with zeros, nearly deterministic, nearly equal."""
    inputs, width = rng.choice((2, 2, 3)), rng.choice((2, 2, 3, 3, 4))
    base = random_weights(rng, width)
    style = rng.choice(("any", "any", "near", "sharp"))
    rows: list[list[Fraction]] = []
    for x in range(inputs):
        weights = random_weights(rng, width)
        if style == "near":
            weights = [weight * (100 + rng.randint(0, 9)) for weight in base]
        elif style == "sharp":
            weights = [Fraction(rng.randint(1, 9)) for _ in range(width)]
            weights[x % width] = Fraction(10 ** rng.randint(2, 20))
        rows.append(law(weights))
    n = _brute(rng, rows, 8)
    text = f"ss.from_matrix([{', '.join(map(strings, rows))}])"
    return _mechanism("matrix", text, rows, n)


def catalogue(rng: random.Random) -> Subject:
    """A randomizer of the catalogue and all its datasets."""
    level = definitions.level(rng)
    definition = rng.choice((*definitions.CATALOGUE[:7], *definitions.CATALOGUE))
    rows = definition.rows(_exp(level))
    return _mechanism("catalogue", definition.text.format(level.text), rows, _brute(rng, rows, 8))


def _mechanism(kind: str, source: str, rows: Sequence[Sequence[Mass]], n: int) -> Subject:
    """Brute force over all datasets, of so many users and of one more or less."""
    at = cache(lambda users: all_datasets(rows, users))
    pair = at(n)
    return Subject(kind, source, n, pair, pair, _scale(rows[0], rows[1], rows[1], n), law=False, at=at)


def two_messages(rng: random.Random) -> Subject:
    """2-RR or a 2 × 2 matrix with many users: datasets with equal others from below, the blanket from above."""
    if rng.random() < 0.5:
        level = definitions.level(rng, 20.0)
        rows, text = definitions.responses(2)(_exp(level)), f"ss.BinaryRR(eps0={level.text})"
    else:
        p, q = inside(rng, 2), inside(rng, 2)
        q = q if q != p else p / 2
        rows = [[p, 1 - p], [q, 1 - q]]
        text = f"ss.from_matrix([{strings([p, 1 - p])}, {strings([q, 1 - q])}])"
    n = int(10 ** rng.uniform(0.5, rng.choice((3, 4, 9, 15))))
    below = Largest([TwoAtoms(rows[x], rows[1 - x], rows[y], n, rest=False) for x in (0, 1) for y in (0, 1)])
    above: Pair | None = None
    if n <= 2_000:
        c = [ball(rows[0][y]).min(ball(rows[1][y])) for y in (0, 1)]
        above = Largest([TwoAtoms(rows[x], rows[1 - x], c, n, rest=True) for x in (0, 1)])
    scale = _scale(rows[0], rows[1], rows[1], n)
    return Subject("two messages", text, n, below, above, scale, law=False)


def any_randomizer(rng: random.Random) -> Subject:
    """Every randomizer with one ε0: 2-RR and 3-RR are among them, the clones of a shared one are above."""
    level = definitions.level(rng, 20.0)
    t, n = _exp(level), rng.randint(2, 5)
    two, three = definitions.responses(2)(t), definitions.responses(3)(t)
    below = Largest([*all_datasets(two, n).pairs, *all_datasets(three, n).pairs])
    scale = _scale(two[0], two[1], two[1], n)
    return Subject("any randomizer", f"ss.AnyRandomizer(eps0={level.text})", n, below, None, scale, law=False)


def noise_blanket(rng: random.Random) -> Subject:
    """The blanket of Laplace noise, two users or many, or of Gaussian noise, two users: by integrals."""
    if rng.random() < 0.2:
        sigma = f"{rng.uniform(0.4, 4):.2g}"
        pair: Pair = noise.Gaussian(sigma)
        source, n, scale = f"ss.Gaussian(sigma=sp.Rational('{sigma}'))", 2, 1 / float(sigma)
    else:
        eps0 = f"{rng.uniform(0.3, 5):.3g}"
        n = rng.choice((2, int(10 ** rng.uniform(2, 7))))
        pair = noise.Laplace(eps0, n)
        if not noise.known(pair):
            n = 2
            pair = noise.Laplace(eps0, n)
        spread = math.expm1(float(eps0)) ** 2 * math.exp(-float(eps0))
        source, scale = f"ss.Laplace(eps0=sp.Rational('{eps0}'))", min(math.sqrt(spread / n), float(eps0))
    return Subject("noise", f"{_LAWS}blanket({source})", n, pair, pair, scale)


#: What is drawn, and how often.
KINDS: dict[Callable[[random.Random], Subject], int] = {
    atoms: 90,
    two_atoms: 8,
    two_atoms_and_rest: 3,
    hidden_two: 8,
    catalogue_law: 20,
    matrix: 20,
    catalogue: 20,
    two_messages: 3,
    any_randomizer: 1,
    noise_blanket: 2,
}


def subject(rng: random.Random) -> Subject:
    (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
    return kind(rng)
