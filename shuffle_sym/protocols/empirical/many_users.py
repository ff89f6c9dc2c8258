r"""`shuffled`: an audit of a whole pipeline, from its runs with n users."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.protocols.empirical.costs import cheapest_delta, named_inputs, shuffled_event, visible
from shuffle_sym.protocols.empirical.events import Floats, Messages, Score
from shuffle_sym.protocols.empirical.looks import QUARTER, Looks, Progress, look, looks_at
from shuffle_sym.protocols.empirical.one_user import as_messages
from shuffle_sym.protocols.empirical.readings import Matches, Reading, reading_of
from shuffle_sym.protocols.empirical.results import ShuffledAudit

_FEWEST = 40
_SMALLEST_PIECE = 50


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
        say: called with one sentence before anything is run: how much will be, and what it can show.

    The two datasets are those that attain the lower end of ``Shuffle(R, n).epsilon(delta)``. With all others at x, the
    likelihood ratio of a multiset of messages y_1, …, y_n is exactly

    .. math:: \frac{\sum_i R(x_0)(y_i)/R(x)(y_i)}{\sum_i R(x_1)(y_i)/R(x)(y_i)},

    for any of the n may be the message of the user who differs. (With two messages the others may have two inputs; then
    both this and the ratio of the multiset rise with one count, so they have the same events.) The event that it is
    above a threshold is valid against any pipeline; the threshold is chosen on a part of the runs, see
    `empirical.looks`. The same ratio of the first message alone shows that nothing was shuffled, for the user who
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
    if limit < _FEWEST:
        raise ValueError(f"most must be at least {_FEWEST} runs, got {limit}")
    arguments.numeric_only(R.free_symbols | R.input_count.free_symbols, "an audit")
    reading = reading_of(R, matches)
    target = cheapest_delta(R, n) if delta is None else arguments.delta_target(delta)
    plan = Plan(R, n, target, Shuffle(R, n).epsilon(target), level, looks_at(limit // 2, _SMALLEST_PIECE))
    if say:
        say(str(plan))
    return plan.audit(run, reading, () if seed is None else (np.random.default_rng(seed),), progress or iter)


@dataclass(frozen=True)
class Plan:
    """What will be audited, and how: n users of R against the certified interval of ε at δ, on the two datasets that
    attain its lower end."""

    R: Randomizer
    n: int
    delta: float
    certified: Interval
    beta: float
    looks: Looks

    @property
    def runs(self) -> int:
        """How many there are of each dataset, if nothing is decided before."""
        return self.looks.pieces * self.looks.piece

    @property
    def inputs(self) -> tuple[int, int, int]:
        return named_inputs(self.certified.lower_by)

    def __str__(self) -> str:
        claim = self.certified.upper
        p, q = shuffled_event(decomposition.dataset(self.R, *self.inputs), self.n, claim)
        more = visible(p, q, self.runs * (QUARTER - 1) // QUARTER, claim, self.delta, self.beta)
        return (
            f"At most {self.runs:,} runs of {self.n} users on each of two datasets, looked at up to {self.looks.count} "
            f"times: enough to see an eps of {claim + more:.3g} in place of {claim:.3g} at delta = {self.delta:.3g} in "
            "nine of ten audits."
        )

    def audit(
        self, run: Callable[..., Any], reading: Reading, extra: tuple[Any, ...], progress: Progress
    ) -> ShuffledAudit:
        """Run the pipeline and look."""
        datasets, claim = self.certified.lower_by, self.certified.upper
        # All places; that of the user who differs, if nothing was shuffled; and one that the first piece shows.
        scores = [InPlaces(0, slice(0, self.n)), InPlaces(1, slice(0, 1))]

        def draw(size: int) -> tuple[Messages, Messages]:
            logs = [
                _log_likelihoods(reading, _runs(run, X, size, extra, reading), self.n, self.inputs)
                for X in (datasets.X0, datasets.X1)
            ]
            if len(scores) == 2:  # the first piece, which is never one that is tested
                ratios = (one[0] - one[1] for one in np.maximum(logs, -50.0))  # cut, so that means exist
                scores.append(InPlaces(2, most_telling_places(*ratios)))
            first, second = (
                np.stack([_multiset_scores(one[:, :, score.places]) for score in scores], axis=1) for one in logs
            )
            return first, second

        # The threshold that is best against R is of no use against a pipeline whose other users have other noise.
        above = rounding.above(self.delta)
        seen = look(draw, lambda *_: scores, None, self.looks, claim, above, self.beta, progress)
        return ShuffledAudit(
            self.R, self.delta, self.beta, seen.bound, claim, self.n, self.certified, datasets, len(seen.first)
        )


def _runs(run: Callable[..., Any], X: tuple[Any, ...], size: int, extra: tuple[Any, ...], reading: Reading) -> Messages:
    """The messages of so many runs on a dataset, one run after the other."""
    answers = []
    for _ in range(size):
        messages = np.asarray(run(list(X), *extra))
        if messages.ndim < 1 or len(messages) != len(X):
            raise ValueError(f"run must return {len(X)} messages, one for each user, got shape {messages.shape}")
        answers.append(messages)
    return as_messages(np.concatenate(answers), "run(X)", reading)


class InPlaces(Score):
    """The likelihood ratio of the messages in some places of a run, kept as a column of the scores of runs."""

    def __init__(self, column: int, places: slice) -> None:
        self.column, self.places = column, places

    def __call__(self, messages: Messages) -> Floats:
        return np.asarray(messages[:, self.column])

    def words(self, threshold: float, swapped: bool) -> str:
        where = f"{self.places.start} … {self.places.stop - 1} point to the {'second' if swapped else 'first'} dataset"
        return f"runs whose messages in places {where}, log-likelihood ratio {'≤' if swapped else '≥'} {threshold:.3g}"


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


def _log_likelihoods(reading: Reading, messages: Messages, n: int, inputs: tuple[int, int, int]) -> Floats:
    """log R(x)(y) of each message for x0, x1 and the input of all others; a row for each run."""
    return np.stack([reading.log_likelihoods(messages, x).reshape(-1, n) for x in inputs])


def _multiset_scores(logs: Floats) -> Floats:
    r"""The logarithm of the likelihood ratio of each run, x0 against x1, all others x, from those of its messages.

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
