r"""Users who take part with some probability; a user who stays away sends a message that says nothing."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.randomizer import Family, OutputClass, Randomizer
from shuffle_sym.randomizers.composed import Parallel
from shuffle_sym.randomizers.composed_noise import ParallelNoise


class _Silence(Randomizer):
    """One message, the same for all inputs."""

    symmetric = True

    def __init__(self, input_count: sp.Expr) -> None:
        self.input_count, self.bindings = input_count, {}

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        one = sp.Integer(1)
        return (OutputClass(r"\text{void}", (one,) * len(inputs), (one,)),)

    def rows(self) -> list[list[sp.Expr]]:
        arguments.numeric_only(self.input_count.free_symbols, "the matrix")
        return [[sp.Integer(1)]] * int(self.input_count)


class Sampled(Parallel):
    r"""Each user takes part with probability q, independently of everybody else, and sends a void message otherwise
    (Poisson sampling).

    Arguments: a randomizer ``R``, finite or continuous, the probability ``q`` in (0, 1], a number or a symbol.

    It is a local randomizer in its own right, and nothing about it is approximate: with the void message the blanket
    is q inf_x R(x) + (1 − q) void, with the mass γ' = qγ + 1 − q, and neighbours differ in one user's input, whether
    or not that user takes part. The shuffled messages show how many took part, because void messages are counted, too:
    both ends of an answer of ``Shuffle(Sampled(R, q), n)`` are about that. If the size of the batch is hidden (by
    padding, say), less is revealed, and the upper end still holds.

    For m of n users drawn without replacement see `Shuffle.sampled_from`.

    >>> from shuffle_sym.randomizers import KRR
    >>> Sampled(KRR(k=3, eps0=sp.log(3)), q="1/2").gamma  # 3/5 · 1/2 + 1/2
    4/5
    """

    def __new__(cls, R: Any = None, q: Any = None, **named: Any) -> Any:
        if isinstance(R, Continuous):
            return R if (rate := _rate(q)) == 1 else SampledNoise(R, rate)
        return super().__new__(cls, **named)

    def __init__(self, R: Any, q: Any) -> None:
        if not isinstance(R, Randomizer):
            known = "; Shuffle(AnyRandomizer(eps0), n) holds for sampled users, too, but gains nothing from sampling"
            raise TypeError(f"R must be one randomizer, got {R!r}{known if isinstance(R, Family) else ''}")
        self.R, self.q = R, _rate(q)
        everybody = self.q == 1
        silence = _Silence(R.input_count)
        super().__init__([R] if everybody else [R, silence], [1] if everybody else [self.q, 1 - self.q])

    def pairs(self) -> tuple[tuple[int, int], ...]:
        return self.R.pairs()

    def __repr__(self) -> str:
        return f"Sampled({self.R!r}, q={self.q})"


class SampledNoise(ParallelNoise):
    """Continuous noise of users who take part with probability q."""

    def __init__(self, R: Continuous, q: sp.Expr) -> None:
        self.R, self.q = R, q
        super().__init__([R, _Silence(sp.Integer(2))], [q, 1 - q])

    def __repr__(self) -> str:
        return f"Sampled({self.R!r}, q={self.q})"


def _rate(q: Any) -> sp.Expr:
    """A probability in (0, 1]; of a symbol it has to be known."""
    number = arguments.exact_number(q, "q")
    if not number.free_symbols:
        arguments.share(q, "q")
        return number
    (form,), bindings = field.rational_form([number])
    if not (field.proves_nonnegative(form, bindings) and field.proves_nonnegative(1 - form, bindings)):
        raise ValueError(f'q must be known to be in (0, 1], as ss.parameter("q", 0, 1) is, got {q!r}')
    return number
