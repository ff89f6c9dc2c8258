r"""Audits: `local`, of a local randomizer from messages of two inputs, and `shuffled`, of a pipeline from its runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments, field, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.randomizer import LocalRandomizer, Randomizer
from shuffle_sym.protocols.empirical.costs import cheapest_delta, named_inputs
from shuffle_sym.protocols.empirical.readings import (
    Columns,
    Disagreement,
    Matches,
    Reading,
    disagreements,
    likelihood,
    reading_of,
)
from shuffle_sym.protocols.empirical.statistics import (
    QUARTER,
    Bound,
    Event,
    Floats,
    Looks,
    Messages,
    Progress,
    Score,
    best_event,
    frequencies,
    look,
    looks_at,
    value,
)

_FEWEST_MESSAGES, _FEWEST_RUNS = 100, 40


# ----------------------------------------------------------------------------------------- results


@dataclass(frozen=True)
class Audit:
    """The parts that both kinds of audit share: the largest bound with its event and its estimate, the claim that it is
    compared with, the confidence.

    ``lower`` is a lower bound on ε at ``delta``, and ``disagreements`` are messages that do not come as often as they
    should. A sound implementation is convicted, or has a disagreement, with probability at most ``beta`` in all.
    """

    R: Any
    delta: float
    beta: float
    bound: Bound
    claim: float | None

    @property
    def lower(self) -> float:
        return self.bound.lower

    @property
    def convicted(self) -> bool:
        """Whether the implementation is less private than claimed."""
        return self.claim is not None and self.lower > self.claim

    def _least(self, name: str) -> str:
        at = f" at delta = {self.delta:g}" if self.delta else ""
        return f"with confidence {100 * (1 - self.beta):g} % {name} is at least {_shown(self.lower)}{at}"


def _shown(lower: float) -> str:
    return Interval(lower, lower).shown[0]


@dataclass(frozen=True)
class LocalAudit(Audit):
    """The evidence of ``sizes`` messages of two ``inputs`` about R and its ``claim``; `local` explains the other parts.

    >>> import shuffle_sym as ss
    >>> audit = ss.empirical.local([0] * 80 + [1] * 20, [0] * 20 + [1] * 80, R=ss.BinaryRR(eps0=3))
    >>> audit.verdict, audit.consistent, 0 < audit.lower < audit.bound.estimate
    ('other messages', False, True)
    """

    inputs: tuple[Any, Any]
    sizes: tuple[int, int]
    disagreements: tuple[Disagreement, ...] | None

    @property
    def consistent(self) -> bool | None:
        """Whether all messages come as often as R says, as far as these samples show; None if no R was given."""
        return None if self.disagreements is None else not self.disagreements

    @property
    def verdict(self) -> str:
        """One of "convicted", "other messages" (not those of R, no violation seen), "no violation seen", "no claim"."""
        if self.convicted:
            return "convicted"
        if self.disagreements:
            return "other messages"
        return "no claim" if self.claim is None else "no violation seen"

    def __str__(self) -> str:
        least = self._least("eps0")
        if self.convicted:
            of = f" of {self.R!r}" if self.R is not None else " claimed"
            start = f"Convicted: {least}, more than the {self.claim:.4g}{of}."
        elif self.claim is None:
            start = f"{least[0].upper()}{least[1:]}."
        else:
            start = f"No violation seen: {least}, and at most {self.claim:.4g} is claimed."
        rates = [f"{hits / size:.4g}" for hits, size in zip(self.bound.hits, self.bound.sizes, strict=True)]
        own, other = reversed(self.inputs) if self.bound.swapped else self.inputs
        seen = f"Best event: {self.bound.event}, a share of {rates[0]} from input {own} and {rates[1]} from {other}."
        drawn = f"{self.sizes[0]:,} and {self.sizes[1]:,} messages were looked at."
        agreement = {None: "", True: f" They are consistent with {self.R!r}."}.get(self.consistent)
        if self.disagreements:
            agreement = f" They are not those of {self.R!r}: {self.disagreements[0]}."
        return f"{start} {seen} {drawn}{agreement}"


@dataclass(frozen=True)
class ShuffledAudit(Audit):
    """The evidence of runs on two ``datasets`` about n users of R, from `shuffled`. ``certified`` is the interval of ε
    at ``delta`` that `Shuffle` gives: a sound implementation stays below its upper end.

    >>> import shuffle_sym as ss
    >>> audit = ss.empirical.shuffled(lambda X: sorted(X), ss.BinaryRR(eps0=1), n=2)  # it forgot the noise
    >>> audit.verdict, audit.runs, str(audit)[:44]
    ('convicted', 780, 'Convicted: with confidence 95 % eps is at le')
    """

    n: int
    certified: Interval
    datasets: Any
    runs: int

    @property
    def verdict(self) -> str:
        """One of "convicted" and "no violation seen"."""
        return "convicted" if self.convicted else "no violation seen"

    def __str__(self) -> str:
        lower, upper = self.certified.shown
        start = "Convicted" if self.convicted else "No violation seen"
        known = f"{self.n} users of {self.R!r}, shuffled, have"
        said = f"{known} at most {upper}" if self.convicted else f"{known} between {lower} and {upper}"
        seen = f"{self.runs:,} runs on each of two datasets were looked at: {self.datasets}."
        return f"{start}: {self._least('eps')}; {said}. Best event: {self.bound.event}. {seen}"


# ----------------------------------------------------------------------------------------- one user


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
        say: called with one sentence before anything is drawn: how much will be at most.

    Two events are tested: the most revealing one of ``R``, and one that is chosen on a quarter of the messages and
    tested on the others, at looks that share ``beta`` (see `empirical.statistics` for the proof). Half of ``beta`` is
    for the bound and half for the agreement with ``R``. Arrays are looked at once.

    >>> import numpy as np, shuffle_sym as ss
    >>> R = ss.KRR(k=3, eps0=1)
    >>> sloppy = lambda x, rng: x if rng.random() < 0.6 else int(rng.integers(3))  # it should be 0.364
    >>> audit = ss.empirical.local(sloppy, R=R, seed=1)
    >>> audit.verdict, audit.lower > 1, sum(audit.sizes) < 20_000
    ('convicted', True, True)
    """
    target = arguments.exact_number(delta, "delta")
    target = 0.0 if target == 0 else rounding.above(arguments.open_unit(delta, "delta"))
    level, claim = arguments.open_unit(beta, "beta"), _claim(R, eps0, target)
    if matches is not None and not isinstance(R, Randomizer):
        raise ValueError(
            f"matches must be left out for R = {R!r}: it says how messages of a randomizer with matches are read"
        )
    reading = reading_of(R, matches) if isinstance(R, Randomizer) else None
    pair = _inputs(R, reading, inputs)
    draw, looks = _draw(sample0, sample1, pair, reading, arguments.positive_integer(most, "most"), seed)
    share = level / 2 if reading else level
    if say:
        say(looks.plan("messages of each of two inputs"))
    known = [likelihood(reading, *pair)] if reading else []
    fixed = Event(known[0], reading.most(*pair), swapped=False) if reading else None

    def choose(first: Messages, second: Messages, level: float) -> Event:
        """By scores that are fitted to one half of the messages, at thresholds chosen on the other."""
        middle, center = len(first) // 2, len(second) // 2
        scores = [*known, frequencies(first[:middle], second[:center])]
        if first.ndim == 1 and first.dtype.kind in "iuf":
            scores += [value(1.0), value(-1.0)]
        return best_event(scores, first[middle:], second[center:], claim, target, level)

    bound, first, second = look(draw, choose, fixed, looks, claim, target, share, progress or iter)
    wrong = disagreements(reading, pair, (first, second), looks.count, level - share) if reading else None
    return LocalAudit(R, target, level, bound, claim, pair, (len(first), len(second)), wrong)


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
        return float(Shuffle(R, 1).epsilon(rounding.below(delta)).upper)
    return math.inf if R.eps0 is sp.oo else field.not_below(R.eps0)


def _inputs(R: Any, reading: Reading | None, inputs: Any) -> tuple[Any, Any]:
    if inputs is None and isinstance(reading, Columns):  # the pair with the largest likelihood ratio of a message
        pairs = [(x0, x1) for x0 in range(len(reading.probabilities)) for x1 in range(len(reading.probabilities))]
        return max((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: reading.most(*pair))
    if inputs is None:
        return R.pairs()[0] if reading else (0, 1)
    if not isinstance(inputs, (tuple, list)) or len(inputs) != 2:
        raise ValueError(f"inputs must be two inputs, got {inputs!r}")
    first, second = inputs
    if isinstance(R, Randomizer):
        first, second = R.input(first, "inputs[0]"), R.input(second, "inputs[1]")
    if first == second:
        raise ValueError(f"inputs must be two different inputs, got {inputs!r}")
    return first, second


def _draw(
    sample0: Any, sample1: Any, inputs: tuple[Any, Any], reading: Reading | None, most: int, seed: int | None
) -> tuple[Callable[[int], tuple[Messages, Messages]], Looks]:
    """A function that draws so many messages of both inputs, and when they are looked at."""
    if callable(sample0):
        if sample1 is not None:
            raise ValueError("sample1 must be left out if sample0 is a function: it is called with both inputs")
        if most < _FEWEST_MESSAGES:
            raise ValueError(f"most must be at least {_FEWEST_MESSAGES} messages, got {most}")
        extra = () if seed is None else (np.random.default_rng(seed),)

        def drawn(size: int) -> tuple[Messages, Messages]:
            first, second = (
                _as_messages([sample0(x, *extra) for _ in range(size)], f"sample0({x!r})", reading) for x in inputs
            )
            return first, second

        return drawn, looks_at(most // 2)
    if sample1 is None:
        raise ValueError("sample1 must be given if sample0 holds messages: those of the other input")
    arrays = [_as_messages(sample, name, reading, 8) for name, sample in (("sample0", sample0), ("sample1", sample1))]
    if arrays[0].shape[1:] != arrays[1].shape[1:]:
        raise ValueError(f"sample0 and sample1 must hold messages of one kind, got {[a.shape for a in arrays]}")
    rng = np.random.default_rng(0 if seed is None else seed)
    # In whatever order they were saved, both parts are then samples.
    parts = [np.split(array[rng.permutation(len(array))], [len(array) // QUARTER]) for array in arrays]
    pieces = iter(zip(*parts, strict=True))
    return lambda _: next(pieces), Looks(1, min(len(array) for array in arrays) // 2)


def _as_messages(messages: Any, name: str, reading: Reading | None, least: int = 1) -> Messages:
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


# ----------------------------------------------------------------------------------------- a pipeline


def shuffled(
    run: Callable[..., Any],
    R: Randomizer,
    n: Any,
    *,
    delta: Any = None,
    beta: Any = 0.05,
    most: Any = 50_000,
    matches: Matches | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], Any] | None = None,
) -> ShuffledAudit:
    r"""A lower bound on ε at δ of a whole pipeline from its runs, against the certified one of ``Shuffle(R, n)``.

    Args:
        run: a function from a list of ``n`` inputs to the ``n`` messages, in the order in which they are let out. That
            order is audited, too: sort the messages where it is not let out.
        R: the local randomizer that every user should have.
        n: the number of users.
        delta: ε is bounded at this δ. By default half of the certified δ(0), where a violation shows with the fewest
            runs; the ε that you report at δ = 1e-6 is on the same curve.
        beta: the probability with which a sound pipeline may be convicted.
        most: how many times the pipeline is run at most, on both datasets together.
        matches: as in `local`.
        seed: the function is called with a ``numpy.random.Generator`` of this seed as its second argument.
        progress: wraps the pieces in which runs are made, as tqdm does.
        say: called with one sentence before anything is run: how much will be at most.

    The two datasets are those that attain the lower end of ``Shuffle(R, n).epsilon(delta)``. With all others at x, the
    likelihood ratio of a multiset of messages y_1, …, y_n is exactly

    .. math:: \frac{\sum_i R(x_0)(y_i)/R(x)(y_i)}{\sum_i R(x_1)(y_i)/R(x)(y_i)},

    for any of the n may be the message of the user who differs. (With two messages the others may have two inputs; then
    both this and the ratio of the multiset rise with one count, so they have the same events.) The event that it is
    above a threshold is valid against any pipeline; the threshold is chosen on a part of the runs, see
    `empirical.statistics`. The same ratio of the first message alone shows that nothing was shuffled, for the user who
    differs is the first one; that of messages in places chosen on the first piece of the runs shows another fixed order
    or a shuffle in small batches. Not seen is a shuffler that hides the place of this user and not of the others, such
    as a rotation: on these two datasets it does no harm.

    >>> import numpy as np, shuffle_sym as ss
    >>> pipeline = lambda X, rng: rng.permutation(np.where(rng.random(len(X)) < 0.27, rng.integers(0, 2, len(X)), X))
    >>> audit = ss.empirical.shuffled(pipeline, ss.BinaryRR(eps0=1), n=20, seed=1)  # it should be 0.538
    >>> audit.verdict, audit.lower > audit.certified.upper
    ('convicted', True)
    >>> unshuffled = lambda X, rng: np.where(rng.random(len(X)) < 0.538, rng.integers(0, 2, len(X)), X)
    >>> ss.empirical.shuffled(unshuffled, ss.BinaryRR(eps0=1), n=20, seed=1).bound.event.split(",")[0]
    'runs whose messages in places 0 … 0 point to the first dataset'
    """
    n, level, limit = arguments.users(n), arguments.open_unit(beta, "beta"), arguments.positive_integer(most, "most")
    if not callable(run):
        raise TypeError(f"run must be a function from n inputs to n messages, got {run!r}")
    if not isinstance(R, Randomizer):
        raise TypeError(f"R must be a randomizer with finitely many messages, got {R!r}")
    if limit < _FEWEST_RUNS:
        raise ValueError(f"most must be at least {_FEWEST_RUNS} runs, got {limit}")
    arguments.numeric_only(R.free_symbols | R.input_count.free_symbols, "an audit")
    reading, extra = reading_of(R, matches), () if seed is None else (np.random.default_rng(seed),)
    target = cheapest_delta(R, n) if delta is None else arguments.delta_target(delta)
    certified, looks = Shuffle(R, n).epsilon(target), looks_at(limit // 2, 50)  # a run is dearer than a message
    datasets, claim, inputs = certified.lower_by, certified.upper, named_inputs(certified.lower_by)
    if say:
        say(looks.plan(f"runs of {n} users on each of two datasets"))
    # All places; that of the user who differs, if nothing was shuffled; and some that the first piece shows.
    places = [slice(0, n), slice(0, 1)]

    def draw(size: int) -> tuple[Messages, Messages]:
        """Scores of so many runs on each dataset, a column for each of the places."""
        logs = []
        for X in (datasets.X0, datasets.X1):
            messages = _runs(run, X, size, extra, reading)
            logs.append(np.stack([reading.log_likelihoods(messages, x).reshape(-1, n) for x in inputs]))
        if len(places) == 2:  # the first piece, which is never one that is tested
            of_runs = (one[0] - one[1] for one in np.maximum(logs, -50.0))  # cut, so that means exist
            places.append(most_telling_places(*of_runs))
        first, second = (np.stack([multiset_scores(one[:, :, part]) for part in places], axis=1) for one in logs)
        return first, second

    def choose(first: Messages, second: Messages, level: float) -> Event:
        scores = [_of_places(column, part) for column, part in enumerate(places)]
        return best_event(scores, first, second, claim, above, level)

    # The threshold that is best against R is of no use against a pipeline whose other users have other noise.
    above = rounding.above(target)
    bound, first, _ = look(draw, choose, None, looks, claim, above, level, progress or iter)
    return ShuffledAudit(R, target, level, bound, claim, n, certified, datasets, len(first))


def _runs(run: Callable[..., Any], X: tuple[Any, ...], size: int, extra: tuple[Any, ...], reading: Reading) -> Messages:
    """The messages of so many runs on a dataset, one run after the other."""
    answers = []
    for _ in range(size):
        messages = np.asarray(run(list(X), *extra))
        if messages.ndim < 1 or len(messages) != len(X):
            raise ValueError(f"run must return {len(X)} messages, one for each user, got shape {messages.shape}")
        answers.append(messages)
    return _as_messages(np.concatenate(answers), "run(X)", reading)


def _of_places(column: int, places: slice) -> Score:
    """The likelihood ratio of the messages in some places of a run, kept as a column of the scores of runs."""

    def words(threshold: float, swapped: bool) -> str:
        where = f"{places.start} … {places.stop - 1} point to the {'second' if swapped else 'first'} dataset"
        return f"runs whose messages in places {where}, log-likelihood ratio {'≤' if swapped else '≥'} {threshold:.3g}"

    return Score(lambda scores: np.asarray(scores[:, column]), words)


def most_telling_places(first: Floats, second: Floats) -> slice:
    """Neighbouring places, 1, 2, 4, … of them, in which the scores of runs of two laws, one row a run, differ by the
    most standard deviations; the first place if that is what chance gives. Only a choice.

    >>> most_telling_places(np.array([[0, 9.0, 1], [1, 8, 0]]), np.array([[1, 0.0, 0], [0, 1, 1]]))
    slice(1, 2, None)
    """
    n = first.shape[1]
    means = np.append(0.0, np.cumsum(first.mean(axis=0) - second.mean(axis=0)))
    spreads = np.append(1e-12, np.cumsum(first.var(axis=0) / len(first) + second.var(axis=0) / len(second)))
    best, places = 1 + math.sqrt(2 * math.log(2 * n)), slice(0, 1)  # 2n normal variables are hardly above it
    for width in (1 << i for i in range((n - 1).bit_length())):
        deviations = (means[width:] - means[:-width]) / np.sqrt(np.maximum(spreads[width:] - spreads[:-width], 1e-12))
        start = int(np.argmax(deviations))
        if deviations[start] > best:
            best, places = float(deviations[start]), slice(start, start + width)
    return places


def multiset_scores(logs: Floats) -> Floats:
    r"""The logarithm of the likelihood ratio of each run, x0 against x1, all others x, from log R(x)(y) of its messages
    for x0, x1 and x.

    A message that x never sends is that of the user who differs; then only such messages count.
    """
    first, second, others = logs
    alien = np.isneginf(others)
    strange = alien.any(axis=1, keepdims=True)
    base = np.where(alien, 0.0, others)
    sums = [np.logaddexp.reduce(np.where(strange & ~alien, -np.inf, logs - base), axis=1) for logs in (first, second)]
    with np.errstate(invalid="ignore"):
        scores: Floats = np.nan_to_num(sums[0] - sums[1], nan=0.0, posinf=np.inf, neginf=-np.inf)
    return scores
