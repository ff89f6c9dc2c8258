r"""What is asked of a subject: a text for the package, and for each answer how it is judged."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb, ctx

from checks.fuzz import definitions
from checks.fuzz.inputs import Subject
from checks.fuzz.judges import Judge, Level, Users, Value, exponential
from checks.fuzz.oracle import BITS, Pair, all_datasets, ball, shuffled
from checks.fuzz.points import alphas, epsilons, number, targets
from shuffle_sym.numeric.methods import METHODS

_RTOLS = (0.3, 0.1, 0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12)
_PROFILE_RTOLS = (0.1, 0.03, 0.01, 1e-3)
_MANY, _SOME = 12_000, 40  # arguments of one question, by what the truth costs


class Item(NamedTuple):
    """One argument, how its answer is judged, and whether there is anything to be wrong about."""

    text: str
    judge: Judge
    substantive: bool


@dataclass(frozen=True)
class Question:
    """A text with a place for the arguments, which gives a list of intervals, one for each."""

    function: str
    method: str
    form: str
    items: Iterable[Item]  # as many as there is time for
    rtol: float = math.inf  # that the width of every answer must keep
    cap: float = math.inf  # above which no end may be
    sharp: bool = True

    def text(self, items: Sequence[Item]) -> str:
        return self.form.replace("@", ", ".join(item.text for item in items))


def _value(subject: Subject, alpha: arb, wrap: Callable[[arb], arb] = lambda x: x) -> tuple[Value, bool]:
    below = subject.below.divergence(alpha)
    above = below if subject.sharp else subject.above.divergence(alpha) if subject.above else None
    with ctx.workprec(BITS):
        more = bool(below > (1 - alpha).max(arb(0))) and subject.n > 1
        return Value(wrap(below), None if above is None else wrap(above)), more


def _shuffle(subject: Subject) -> str:
    return f"ss.Shuffle({subject.source}, {subject.n})"


def _each(subject: Subject, call: str, maker: str = "") -> str:
    return f"[{call} for M in [{_shuffle(subject)}{maker}] for x in [@]]"


def _count(subject: Subject, many: int = _MANY) -> int:
    return many if subject.cheap else min(_SOME, many) if subject.law else 4


# -- the functions


def _method(subject: Subject, rng: random.Random) -> tuple[str, float, int]:
    """A method, an rtol that it may be asked for, and how many arguments."""
    count = _count(subject)
    if subject.kind == "noise":
        return "auto", rng.choice(_RTOLS[:8]), 3
    if not subject.law:
        return "auto", rng.choice(_RTOLS[:8]), 40 if subject.cheap else 6
    method = rng.choice(("auto", "auto", "auto", "contour", *METHODS, "exact"))
    if method == "fft":
        return method, rng.choice(_RTOLS[: 5 if subject.n < 30 else 2]), min(count, 100)
    if method == "exact":
        return (method, 1e-3, count) if subject.n <= 40 else ("auto", 1e-3, count)
    return method, rng.choice(_RTOLS if method != "contour" else _RTOLS[:10]), count


def hockey_stick(subject: Subject, rng: random.Random) -> Question:
    method, rtol, count = _method(subject, rng)
    items = (Item(number(alpha), *_value(subject, ball(alpha))) for alpha in alphas(subject, rng, count))
    form = f"{_shuffle(subject)}.hockey_stick([@], rtol={rtol}, method={method!r})"
    kept = rtol if subject.law and method != "exact" else math.inf
    return Question("hockey_stick", method, form, items, rtol=kept, cap=1.0, sharp=subject.sharp)


def delta(subject: Subject, rng: random.Random) -> Question:
    method, rtol, count = _method(subject, rng)
    items = (Item(eps.text, *_value(subject, eps.alpha)) for eps in epsilons(subject, rng, count))
    form = f"{_shuffle(subject)}.delta([@], rtol={rtol}, method={method!r})"
    kept = rtol if subject.law and method != "exact" else math.inf
    return Question("delta", method, form, items, rtol=kept, cap=1.0, sharp=subject.sharp)


def digits(subject: Subject, rng: random.Random) -> Question | None:
    if subject.kind in ("any randomizer", "noise"):
        return None  # a family or a continuous law has no exact value, and that is a TypeError
    wanted = rng.choice((5, 20, 40, 100))
    some = alphas(subject, rng, min(_count(subject), 10))
    items = (Item(number(alpha), *_value(subject, ball(alpha))) for alpha in some)
    form = f"{_shuffle(subject)}.hockey_stick([@], digits={wanted})"
    return Question("hockey_stick", "digits", form, items, rtol=2.0 * 10.0**-wanted, cap=1.0, sharp=subject.sharp)


def log_delta(subject: Subject, rng: random.Random) -> Question:
    def log(value: arb) -> arb:
        return value.log() if value > 0 else arb.neg_inf() if value == 0 else arb(0, arb.pos_inf())

    items = []
    for eps in epsilons(subject, rng, 30 if subject.cheap else 2):
        items.append(Item(eps.text, *_value(subject, eps.alpha, log)))
    call = f"M.log_delta(x, rtol={rng.choice(_RTOLS[:9])})"
    return Question("log_delta", "contour", _each(subject, call), items, sharp=subject.sharp)


def epsilon(subject: Subject, rng: random.Random) -> Question:
    method, rtol, _ = _method(subject, rng)
    rtol = max(rtol, 1e-5)
    items = [_level(subject.below, subject.above, *target) for target in targets(subject, rng, _few(subject))]
    call = f"M.epsilon(x, rtol={rtol}, method={method!r})"
    has_all = bool(subject.losses) and subject.kind.startswith("two atoms")
    cap = math.log1p(float(max(subject.losses) - 1)) if has_all else math.inf  # losses may be close to 1
    return Question("epsilon", method, _each(subject, call), items, cap=cap, sharp=subject.sharp)


def _few(subject: Subject) -> int:
    return 12 if subject.cheap else 1 if subject.kind == "noise" else 2


def _level(below: Pair, above: Pair | None, text: str, target: Fraction) -> Item:
    def at(pair: Pair) -> Callable[[Any], arb]:
        return lambda eps: pair.divergence(exponential(eps))

    judge = Level(target, at(below), at(above) if above is not None else None)
    # At ε = 0 the target must not be met: otherwise the answer is 0.
    return Item(text, judge, bool(below.divergence(arb(1)) > ball(target)))


def profile(subject: Subject, rng: random.Random) -> Question:
    rtol, least = rng.choice(_PROFILE_RTOLS), rng.choice((1e-6, 1e-12, 1e-12, 1e-40, 1e-200))
    maker = f".profile(rtol={rtol}, least_delta={least})"
    if rng.random() < 0.3:
        few = 10 if subject.kind != "noise" else 1
        levels = [_level(subject.below, subject.above, *target) for target in targets(subject, rng, few)]
        return Question("profile", "epsilon", _each(subject, "M.epsilon(x)", maker), levels, sharp=subject.sharp)
    some = alphas(subject, rng, min(_count(subject), 400))
    items = (Item(f"sp.log({number(alpha)})", *_value(subject, ball(alpha))) for alpha in some)
    return Question("profile", "delta", _each(subject, "M.delta(x)", maker), items, sharp=subject.sharp)


def rdp(subject: Subject, rng: random.Random) -> Question | None:
    if not subject.cheap or len(subject.below.ratios) > 400 or math.inf in subject.below.ratios:
        return None
    chosen = []
    for _ in range(3):
        order = Fraction(rng.choice(("2", "3", "3/2", "11/10", "17/3", "8", "20", "64", "1001/1000")))
        value = subject.below.renyi(ball(order))
        if not value.is_finite():
            return None
        above = value if subject.sharp else None
        chosen.append(Item(number(order), Value(value, above), bool(value > 0) and subject.n > 1))
    rtol = rng.choice(_PROFILE_RTOLS)
    form = f"{_shuffle(subject)}.rdp([@], rtol={rtol})"
    return Question("rdp", "profile", form, chosen, rtol=rtol if subject.law else math.inf, sharp=subject.sharp)


def compose(subject: Subject, rng: random.Random) -> Question | None:
    rounds = rng.choice((1, 2, 2, 3, 4, 8, 16, 64, 500, 4096))
    if not subject.cheap or subject.source.startswith("ss.decomposition.blankets"):
        return None
    pair = subject.below.composed(rounds)
    if pair is None or not subject.sharp:
        return None
    rtol = rng.choice(_PROFILE_RTOLS)
    maker = f".compose({rounds})"
    if rng.random() < 0.5:
        scaled = [_level(pair, pair, *target) for target in targets(subject, rng, 5, pair)]
        call = f"M.epsilon(x, rtol={rtol})"
        return Question("compose", "epsilon", _each(subject, call, maker), scaled, sharp=subject.law)
    items = []
    for _ in range(12 if subject.law else 3):
        ratio = rng.choice([ratio for ratio in pair.ratios if 1e-60 < ratio < 1e60] or [1.0])
        eps = abs(math.log(ratio)) * rng.choice((1.0, rng.random()))
        alpha = exponential(Fraction(repr(eps)))
        value = pair.divergence(alpha)
        items.append(Item(repr(eps), Value(value, value), bool(value > 0) and subject.n > 1))
    call = f"M.delta(x, rtol={rtol})"
    kept = rtol if subject.law else math.inf
    return Question("compose", "delta", _each(subject, call, maker), items, rtol=kept, sharp=subject.law)


def users_needed(subject: Subject, rng: random.Random) -> Question | None:
    if subject.at is None or subject.n > 10_000:
        return None
    at = subject.at
    items = []
    largest = subject.most_users if subject.law else subject.n + 1
    for eps in epsilons(subject, rng, 2):
        target = float(subject.below.divergence(eps.alpha).mid()) * rng.choice((1, 1.01, 0.9))
        if not 1e-290 < target < 1:
            continue

        def value(n: int, alpha: arb = eps.alpha) -> arb:
            if n > largest:
                return arb(0, 1)  # too much to know
            return at(n).divergence(alpha)

        exact = Fraction(repr(target))
        known = bool(at(1).divergence(eps.alpha) > ball(exact))
        items.append(Item(f"({eps.text}, {target!r})", Users(exact, value), known))
    call = f"ss.users_needed({subject.source}, *x, rtol={rng.choice((0.1, 0.01, 1e-3))})"
    return Question("users_needed", "auto", f"[{call} for x in [@]]", items, sharp=False) if items else None


def calibrate(subject: Subject, rng: random.Random) -> Question | None:
    """The largest ε0 for a target, of a randomizer of the catalogue, whatever the subject is."""
    definition = rng.choice(definitions.CATALOGUE[:5])
    n = rng.randint(1, 4)
    of_law = rng.random() < 0.5

    def at(eps0: Any, alpha: arb) -> arb:
        rows = definition.rows(exponential(Fraction(eps0)))
        pair = shuffled(rows[0], rows[1], rows[1], Fraction(0), n) if of_law else all_datasets(rows, n)
        return pair.divergence(alpha)

    eps = round(rng.uniform(0, 2), 2)
    alpha = exponential(Fraction(str(eps)))
    target = float(at(round(rng.uniform(0.1, 4) + eps, 3), alpha).mid())
    if not 1e-250 < target < 1:
        return None
    made = definition.text.format("e")
    made = f"ss.decomposition.dataset({made}, 0, 1, 1)" if of_law else made
    judge = Level(Fraction(repr(target)), lambda e: at(e, alpha), lambda e: at(e, alpha), falls=False)
    call = f"ss.calibrate(lambda e: {made}, *x, rtol={rng.choice((0.03, 1e-3))})"
    items = [Item(f"({n}, {eps}, {target!r})", judge, n > 1)]
    return Question("calibrate", "law" if of_law else "mechanism", f"[{call} for x in [@]]", items)


#: What is asked, and how often of a law and of a mechanism.
FUNCTIONS: dict[str, tuple[Callable[[Subject, random.Random], Question | None], float, float]] = {
    "hockey_stick": (hockey_stick, 0.3, 0.5),
    "delta": (delta, 0.3, 0.4),
    "digits": (digits, 0.1, 0.05),
    "log_delta": (log_delta, 0.5, 0.4),
    "epsilon": (epsilon, 1.0, 0.8),
    "profile": (profile, 0.5, 0.2),
    "rdp": (rdp, 0.4, 0.3),
    "compose": (compose, 0.4, 0.2),
    "users_needed": (users_needed, 0.3, 0.4),
    "calibrate": (calibrate, 0.1, 0.2),
}


#: What can be asked where the truth is known at one α only.
AT_ONE_RATIO = ("hockey_stick", "delta", "digits", "log_delta")


def questions(subject: Subject, rng: random.Random, only: str | None = None) -> list[Question]:
    """Some questions about a subject; with ``only``, one of that function."""
    chosen = []
    for name, (ask, of_law, of_mechanism) in FUNCTIONS.items():
        if subject.alphas and name not in AT_ONE_RATIO:
            continue
        often = (of_law if subject.law else of_mechanism) if only is None else float(name == only)
        times = int(often) + (rng.random() < often % 1)
        # Each with numbers of its own: how many arguments there is time for must not change the next question.
        own = [random.Random(rng.getrandbits(64)) for _ in range(times)]
        chosen += [question for each in own if (question := ask(subject, each)) is not None]
    return chosen
