r"""`local`: an audit of a local randomizer, from messages of two inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments, balls, rounding
from shuffle_sym.model.randomizer import LocalRandomizer, Randomizer
from shuffle_sym.protocols.empirical.agreement import disagreements
from shuffle_sym.protocols.empirical.costs import most_revealing, visible
from shuffle_sym.protocols.empirical.events import Coordinates, Event, Frequencies, Messages, Score, Value
from shuffle_sym.protocols.empirical.looks import QUARTER, Fit, Looks, Progress, look, looks_at
from shuffle_sym.protocols.empirical.readings import Columns, Likelihood, Matches, Reading, reading_of
from shuffle_sym.protocols.empirical.results import LocalAudit

Draw = Callable[[int], tuple[Messages, Messages]]
_FEWEST = 100


def local(
    sample0: Any,
    sample1: Any = None,
    *,
    R: Any = None,
    eps0: Any = None,
    inputs: tuple[Any, Any] | None = None,
    delta: Any = 0,
    beta: Any = 0.05,
    most: Any = 200_000,
    matches: Matches | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], Any] | None = None,
) -> LocalAudit:
    r"""A lower bound on the ε0 of an implementation from its messages, with confidence 1 − ``beta``, and a verdict.

    Args:
        sample0: a function from an input to one message; or messages of one input, as an array or a list.
        sample1: messages of the other input; left out if ``sample0`` is a function.
        R: what the implementation should be. Messages are then checked: numbers for k-RR and Hadamard response, rows
            of bits for RAPPOR, OUE and subset selection, numbers of columns for `from_matrix`.
        eps0: the claim, where no ``R`` is given. With neither there is a bound and no verdict.
        inputs: the two inputs; by default a worst pair of ``R``, or 0 and 1.
        delta: the bound is on ε0 at this δ.
        beta: the probability with which a sound implementation may be accused wrongly.
        most: how many messages a function is asked for at most, of both inputs together.
        matches: for a randomizer whose messages match inputs or do not: a function (messages, x) that returns which of
            the messages match x, where messages look otherwise, and for hashing.
        seed: the function is called with a ``numpy.random.Generator`` of this seed as its second argument. Arrays are
            brought into a random order with it.
        progress: wraps the pieces in which messages are drawn, as tqdm does.
        say: called with one sentence before anything is drawn: how much will be, and what it can show.

    Two events are tested: the most revealing one of ``R``, and one that is chosen on a quarter of the messages and
    tested on the others, at looks that share ``beta`` (see `empirical.looks` for the proof). Half of ``beta`` is for
    the bound and half for the agreement with ``R``. Arrays are looked at once.

    >>> import numpy as np, shuffle_sym as ss
    >>> R = ss.KRR(k=3, eps0=1)
    >>> sloppy = lambda x, rng: x if rng.random() < 0.6 else int(rng.integers(3))  # it should be 0.364
    >>> audit = ss.empirical.local(sloppy, R=R, seed=1)
    >>> audit.verdict, audit.lower > 1, sum(audit.sizes) < 20_000
    ('convicted', True, True)
    """
    target, level = _target(delta), arguments.open_unit(beta, "beta")
    claim = _claim(R, eps0, target)
    if matches is not None and not isinstance(R, Randomizer):
        raise ValueError(
            f"matches must be left out for R = {R!r}: it says how messages of a randomizer with matches are read"
        )
    reading = reading_of(R, matches) if isinstance(R, Randomizer) else None
    pair = _inputs(R, reading, inputs)
    draw, looks = _draw(sample0, sample1, pair, reading, arguments.positive_integer(most, "most"), seed)
    share = level / 2 if reading else level
    if say:
        say(_announced(R, pair, looks, claim, target, share))
    fixed = Event(Likelihood(reading, *pair), reading.most_revealing(*pair), swapped=False) if reading else None
    seen = look(draw, _scores(reading, pair), fixed, looks, claim, target, share, progress or iter)
    wrong = None
    if reading:
        wrong = disagreements(reading, pair, (seen.first, seen.second), looks.count, level - share)
    return LocalAudit(R, target, level, seen.bound, claim, pair, (len(seen.first), len(seen.second)), wrong)


def _target(delta: Any) -> float:
    """δ as a double that is not below it, 0 allowed."""
    number = arguments.exact_number(delta, "delta")
    return 0.0 if number == 0 else rounding.above(arguments.open_unit(delta, "delta"))


def _claim(R: Any, eps0: Any, delta: float) -> float | None:
    """The largest ε0 at δ that is claimed, rounded up."""
    if R is not None and eps0 is not None:
        raise ValueError(f"eps0 must be left out where R says it, got eps0 = {eps0!r} and R = {R!r}")
    if R is None:
        return None if eps0 is None else float(rounding.above(float(arguments.local_epsilon(eps0))))
    if not isinstance(R, LocalRandomizer):
        raise TypeError(f"R must be a randomizer or None, got {R!r}")
    arguments.numeric_only(R.free_symbols, "an audit")
    if delta:
        upper: float = Shuffle(R, 1).epsilon(rounding.below(delta)).upper
        return upper
    if R.eps0 is sp.oo:
        return float("inf")
    with balls.LOCK, balls.workprec(64):
        return balls.upper(balls.value(R.eps0))


def _inputs(R: Any, reading: Reading | None, inputs: Any) -> tuple[Any, Any]:
    if inputs is None:
        if isinstance(reading, Columns):
            return _worst_pair(reading)
        return R.pairs()[0] if reading else (0, 1)
    if not isinstance(inputs, (tuple, list)) or len(inputs) != 2:
        raise ValueError(f"inputs must be two inputs, got {inputs!r}")
    first, second = inputs
    if isinstance(R, Randomizer):
        first, second = R.input(first, "inputs[0]"), R.input(second, "inputs[1]")
    if first == second:
        raise ValueError(f"inputs must be two different inputs, got {inputs!r}")
    return first, second


def _worst_pair(reading: Columns) -> tuple[int, int]:
    """The inputs with the largest likelihood ratio of a message; only a choice."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(reading.probabilities)
        gaps = np.nan_to_num(logs[:, None] - logs[None], nan=0.0, posinf=np.inf, neginf=-np.inf).max(axis=2)
    np.fill_diagonal(gaps, -np.inf)
    x0, x1 = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    return int(x0), int(x1)


def _draw(
    sample0: Any, sample1: Any, inputs: tuple[Any, Any], reading: Reading | None, most: int, seed: int | None
) -> tuple[Draw, Looks]:
    if callable(sample0):
        if sample1 is not None:
            raise ValueError("sample1 must be left out if sample0 is a function: it is called with both inputs")
        if most < _FEWEST:
            raise ValueError(f"most must be at least {_FEWEST} messages, got {most}")
        extra = () if seed is None else (np.random.default_rng(seed),)

        def drawn(size: int) -> tuple[Messages, Messages]:
            first, second = (
                as_messages([sample0(x, *extra) for _ in range(size)], f"sample0({x!r})", reading) for x in inputs
            )
            return first, second

        return drawn, looks_at(most // 2)
    if sample1 is None:
        raise ValueError("sample1 must be given if sample0 holds messages: those of the other input")
    arrays = [as_messages(sample, name, reading, 8) for name, sample in (("sample0", sample0), ("sample1", sample1))]
    if arrays[0].shape[1:] != arrays[1].shape[1:]:
        raise ValueError(f"sample0 and sample1 must hold messages of one kind, got {[a.shape for a in arrays]}")
    rng = np.random.default_rng(0 if seed is None else seed)
    # In whatever order they were saved, both parts are then samples.
    parts = [np.split(array[rng.permutation(len(array))], [len(array) // QUARTER]) for array in arrays]
    pieces = iter(zip(*parts, strict=True))
    return lambda _: next(pieces), Looks(1, min(len(array) for array in arrays) // 2)


def as_messages(messages: Any, name: str, reading: Reading | None, least: int = 1) -> Messages:
    """Messages as an array, checked."""
    try:
        array = np.asarray(messages)
    except ValueError:
        raise ValueError(f"{name} must be messages of one shape, got different ones") from None
    if array.ndim not in (1, 2) or array.dtype == object:
        raise ValueError(f"{name} must be numbers, texts or rows of numbers, got an array of shape {array.shape}")
    if len(array) < least:
        raise ValueError(f"{name} must hold at least {least} messages, got {len(array)}")
    return reading.check(array, name) if reading else array


def _scores(reading: Reading | None, inputs: tuple[Any, Any]) -> Fit:
    """What may tell two samples apart: the likelihood ratio of R if it is known, and what the samples say."""

    def fit(first: Messages, second: Messages) -> list[Score]:
        scores: list[Score] = [Likelihood(reading, *inputs)] if reading else []
        if first.ndim == 2:
            return [*scores, Coordinates(first, second)]
        if first.dtype.kind in "iuf":
            scores += [Value(), Value(-1.0)]
        return [*scores, Frequencies(first, second)]

    return fit


def _announced(R: Any, inputs: tuple[Any, Any], looks: Looks, claim: float | None, delta: float, beta: float) -> str:
    size = looks.pieces * looks.piece
    start = f"At most {size:,} messages of each of two inputs, looked at up to {looks.count} times"
    if claim is None or not isinstance(R, Randomizer) or not np.isfinite(claim):
        return f"{start}."
    p, q = most_revealing(R, *inputs, delta)
    more = visible(p, q, size, claim, delta, beta / 2)
    return f"{start}: enough to see an eps0 of {claim + more:.3g} in place of {claim:.3g} in nine of ten audits."
