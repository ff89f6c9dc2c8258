r"""Randomizers in which a message either matches an input or does not.

Draw a message from a reference law in which it matches any given input with probability :math:`\mu`; under input x the
messages that match x are t times as likely. Normalised,

.. math:: \frac{R(x)(y)}{\text{ref}(y)} = \frac{t \text{ or } 1}{1 + (t - 1)\mu}.

k-RR, subset selection, RAPPOR, OUE, local hashing and Hadamard response are all of this kind. They differ in
:math:`\mu` and in how the matches with several inputs go together, and in nothing else.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any, Self

import sympy as sp

from shuffle_sym.algebra import arguments, balls, cards, field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.randomizer import MOST_ENTRIES, OutputClass, Randomizer

Matches = tuple[bool, ...]
_POWERS = tuple(Parameter(f"u{named}", 1) for named in range(4))
_WRITTEN_BITS = 2**13  # a power with more stays one: larger d cost no more, and Python prints no number of 2^14 bits


class Matching(Randomizer):
    """A definition gives the ratio t, μ, the joint law of the matches, and the list of messages where it is short."""

    ratio: sp.Expr = field.t
    mu: sp.Expr

    @abstractmethod
    def joint(self, inputs: tuple[int, ...], matches: Matches) -> sp.Expr:
        """The reference probability that a message matches exactly these among the different ``inputs``."""

    def universal(self, named: int) -> sp.Expr:
        """The reference probability that a message matches *all* inputs, of which ``named`` have names."""
        return sp.Integer(0)

    @abstractmethod
    def messages(self) -> Iterator[tuple[sp.Expr, Matches]]:
        """Every message: its reference probability, and which inputs it matches."""

    def likelihood(self, match: bool) -> sp.Expr:
        """R(x)(y)/ref(y) for a message y that matches x, or does not."""
        return (self.ratio if match else sp.Integer(1)) / (1 + (self.ratio - 1) * self.mu)

    def _facts(self) -> list[tuple[str, str]]:
        ratio, mu = (field.substitute(e, self.bindings) for e in (self.ratio, self.mu))
        likelier = cards.value(lambda: ratio)
        return [
            ("inputs", cards.value(lambda: self.input_count)),
            ("messages", f"those that match the input are {likelier} times as likely"),
            ("a match by chance", cards.value(lambda: mu)),
        ]

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        named = tuple(dict.fromkeys(inputs))
        likelihoods = {match: self.likelihood(match) for match in (True, False)}
        classes = []
        for matches in product((True, False), repeat=len(named)):
            weight, everyone = self.joint(named, matches), sp.Integer(0)
            own = dict(zip(named, matches, strict=True))
            given = [own[x] for x in inputs]
            if all(matches):
                everyone = self.universal(len(named))
                classes.append(_scaled_class(r"\text{matches all}", everyone, likelihoods, given, (True,)))
            # All inputs have a name, or some other input may match or not match.
            reached = (True, False) if len(named) != self.input_count else matches
            matched = ",".join(str(x) for x in named if own[x])
            label = rf"\{{{matched}\}}" if matched else r"\emptyset" if named else r"\text{any}"
            classes.append(_scaled_class(label, weight - everyone, likelihoods, given, reached))
        return tuple(y for y in classes if y.range[0] != 0)

    def rows(self) -> list[list[sp.Expr]]:
        arguments.numeric_only(self.input_count.free_symbols, "the matrix")
        hit, miss = self.likelihood(True), self.likelihood(False)
        # Look at one message more than there may be, and at none where one has too many inputs.
        most = int(MOST_ENTRIES / self.input_count)
        messages = list(islice(self.messages(), most + 1)) if most else []
        if not 0 < len(messages) <= most:
            raise self._too_long()
        scaled = [(weight * hit, weight * miss, matches) for weight, matches in messages]
        return [[hit if matches[x] else miss for hit, miss, matches in scaled] for x in range(int(self.input_count))]


def _scaled_class(
    label: str, weight: sp.Expr, likelihoods: dict[bool, sp.Expr], given: Iterable[bool], reached: Iterable[bool]
) -> OutputClass:
    mass = {match: field.simplest(weight) * likelihood for match, likelihood in likelihoods.items()}
    return OutputClass(label, tuple(mass[match] for match in given), tuple(mass[match] for match in reached))


class Independent(Matching):
    r"""Matches with different inputs are independent under the reference law, for d inputs; d may be ∞.

    All d match with probability :math:`\mu^d`: there the blanket is t times higher than elsewhere. With d = ∞ (what the
    published tables assume) that part is gone, and the bound is a little larger.
    """

    symmetric = True

    def _set_inputs(self, d: Any) -> None:
        r"""Bind :math:`u_m = \mu^{-(d-m)} \ge 1`, so that :math:`\mu^d = \mu^m/u_m` is a short formula for every d."""
        self.d = self.input_count = sp.oo if d is sp.oo else arguments.size(field.d if d is None else d, "d", 2)
        if self.d is not sp.oo:
            base = field.substitute(1 / self.mu, self.bindings)
            huge = base.is_Rational and self.d.is_Integer and self.d * sp.log(base.p, 2) > _WRITTEN_BITS
            power = balls.HugePower if huge else sp.Pow
            self.bindings = {**self.bindings, **{u: power(base, self.d - m) for m, u in enumerate(_POWERS)}}

    def joint(self, inputs: tuple[int, ...], matches: Matches) -> sp.Expr:
        hits = sum(matches)
        return self.mu**hits * (1 - self.mu) ** (len(matches) - hits)

    def universal(self, named: int) -> sp.Expr:
        if self.input_count is sp.oo:
            return sp.Integer(0)
        return self.mu**named / (1 if self.input_count == named else _POWERS[named])

    def idealised(self) -> Self:
        """The same randomizer with infinitely many inputs, as in the published tables."""
        return type(self)(**{**self._given(), "d": sp.oo})

    def finite_gain(self) -> sp.Expr:
        r"""How much larger γ is than that of the idealised randomizer: :math:`(t-1)\mu^d/(1+(t-1)\mu)`."""
        gain = self.universal(0) * (self.likelihood(True) - self.likelihood(False))
        return field.substitute(gain, self.bindings)
