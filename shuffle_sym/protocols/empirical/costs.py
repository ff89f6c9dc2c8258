r"""How many samples an audit needs: said before it starts. An estimate, and no bound.

An event with probabilities p and q is seen to be above a claim ε once the Clopper–Pearson limits of its counts are:
roughly, if :math:`\log\frac{p - \delta}{q} - \varepsilon` is some five times its standard deviation
:math:`\sqrt{\frac{p(1 - p)}{N (p - \delta)^2} + \frac{1 - q}{N q}}`. So N grows with the inverse square of the
violation, and with 1/q: small δ are expensive, because what shows at a small δ is rare. After shuffling p and q differ
by about :math:`1/\sqrt n`, and so does the excess of a broken pipeline over a sound one: N grows with n, and every run
takes n messages.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy import special

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.protocols.empirical.statistics import QUARTER, looks_at
from shuffle_sym.protocols.encodings import number

_SHIFT = 0.9  # of each standard deviation, in the unlucky direction: together about nine of ten audits


@dataclass(frozen=True)
class Cost:
    """How many samples of each of two laws convict an implementation in about nine of ten audits.

    A sample is a message, or a run of ``n`` users; ``p`` and ``q`` are the probabilities of the event that shows that ε
    is ``truth`` and not ``claim``.

    >>> str(Cost(500, p=0.8, q=0.2, claim=1.0, truth=1.39, n=None))[:41]
    'About 500 messages of each of two inputs:'
    """

    samples: int
    p: float
    q: float
    claim: float
    truth: float
    n: int | None

    def __str__(self) -> str:
        what = "messages of each of two inputs" if self.n is None else f"runs of {self.n} users on each of two datasets"
        return (
            f"About {self.samples:,} {what}: the event that shows it has the probabilities {self.p:.3g} and "
            f"{self.q:.3g}, and eps is {self.truth:.4g} in place of {self.claim:.4g}."
        )


def expected_bound(p: float, q: float, size: int, delta: float, beta: float) -> float:
    """The bound that ``size`` samples of each law give in about nine of ten audits, for one event
    whose bounds at all looks together have the level β."""
    level = beta / 2 / looks_at(size).count
    hits = max(size * p - _SHIFT * math.sqrt(size * p * (1 - p)), 0.0)
    others = min(size * q + _SHIFT * math.sqrt(size * q * (1 - q)) + 0.5, size - 0.5)
    low = float(special.betaincinv(max(hits, 1e-9), size - hits + 1, level))
    high = float(special.betaincinv(others + 1, size - others, 1 - level))
    return math.log((low - delta) / high) if low > delta else -math.inf


def samples_needed(p: float, q: float, claim: float, delta: float, beta: float) -> int:
    """The least number of samples of each law whose expected bound is above the claim, to 2 %.

    >>> p = [1 / (1 + math.exp(-eps)) for eps in (1.2, 1.1)]
    >>> samples_needed(p[1], 1 - p[1], 1.0, 0.0, 0.05) > 3 * samples_needed(p[0], 1 - p[0], 1.0, 0.0, 0.05)
    True
    """

    def too_few(size: int) -> bool:
        return expected_bound(p, q, size, delta, beta) <= claim

    low, high = 16, 32
    while too_few(high):
        low, high = high, 2 * high
        if high > 2**50:
            raise ValueError(
                f"more than {2**50:.0g} samples would be needed, because the claim {claim:g} is hardly exceeded"
            )
    while high - low > 0.02 * low:
        middle = (low + high) // 2
        low, high = (middle, high) if too_few(middle) else (low, middle)
    return high


def most_revealing(R: Randomizer, x0: int, x1: int, delta: float = 0.0) -> tuple[float, float]:
    r"""The probabilities of the event with the largest :math:`\log((p - \delta)/q)`, for one user with x0 or x1."""
    masses = [[number(R, e) for e in y.masses] for y in R.classes(x0, x1)]
    masses.sort(key=lambda pair: -pair[0] / pair[1] if pair[1] else -math.inf)
    p, q = np.cumsum(masses, axis=0).T
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(p > delta, np.log(np.maximum(p - delta, 1e-300)) - np.log(q), -np.inf)
    # Of events that are alike the largest: those with proportional masses.
    best = int(np.flatnonzero(logs >= np.max(logs) - 1e-9)[-1])
    return float(p[best]), float(q[best])


def named_inputs(datasets: Any) -> tuple[int, int, int]:
    """The two inputs of the user who differs, and the one that most of the others have."""
    x0, *others = datasets.X0
    return x0, datasets.X1[0], Counter(others).most_common(1)[0][0] if others else x0


def cheapest_delta(R: Randomizer, n: int) -> float:
    r"""Half of δ(0), to two digits: where a violation shows with nearly the fewest runs.

    In the normal limit with :math:`\varepsilon = z\mu` a change of μ moves δ by :math:`\varphi(z)`, and the standard
    deviation of what is measured is :math:`\sqrt{2\Phi(z)\Phi(-z)}`. Their quotient is largest at z = 0, where ε is 0
    and says nothing, and 4 % less at z = 1/2, where δ is half as large.

    >>> import shuffle_sym as ss
    >>> cheapest_delta(ss.BinaryRR(eps0=1), 100)
    0.021
    """
    if R.eps0 is sp.oo:
        raise ValueError(
            f"delta must be given: some message of {R!r} is impossible for another input, so no ε meets a small delta"
        )
    half = Shuffle(R, n).delta(0, rtol=0.01).lower / 2
    if half < 1e-12:
        raise ValueError(
            f"delta must be given: neighbouring datasets of n = {n} users of {R!r} hardly differ, and no audit sees it"
        )
    return float(f"{half:.2g}")


def shuffled_event(D: decomposition.Decomposition, n: int, eps: float) -> tuple[float, float]:
    r"""P and Q of the event that the loss is above ε, from the curve: :math:`Q = -D'_\alpha`, :math:`P = D_\alpha +
    \alpha Q`."""
    alpha = math.exp(eps)
    step = 0.02 * max(alpha - 1, Shuffle(D, n).delta(0, rtol=0.01).upper)  # relative to where the curve bends
    near = Shuffle(D, n).hockey_stick([alpha - step, alpha, alpha + step], rtol=1e-6)
    q = (near[0].upper - near[2].upper) / (2 * step)
    return near[1].upper + alpha * q, q


def cost(
    R: Randomizer, broken: Randomizer, n: Any = None, *, delta: Any = None, beta: Any = 0.05, inputs: Any = None
) -> Cost:
    r"""How many samples it takes to see that an implementation runs ``broken`` and not ``R``, in nine of ten audits.

    Without ``n`` one user is audited (messages of two inputs, as `local` does), with ``n`` the whole pipeline (runs on
    two datasets, as `shuffled` does). ``delta`` is 0 or what `shuffled` would take if left out, ``beta`` as there.

    >>> import shuffle_sym as ss
    >>> ss.empirical.cost(ss.BinaryRR(eps0=1), ss.BinaryRR(eps0=1.2)).samples < 10_000
    True
    """
    for name, randomizer in (("R", R), ("broken", broken)):
        if not isinstance(randomizer, Randomizer):
            raise TypeError(f"{name} must be a randomizer with finitely many messages, got {randomizer!r}")
        arguments.numeric_only(randomizer.free_symbols, name)
    level = arguments.open_unit(beta, "beta")
    x0, x1 = inputs if inputs is not None else R.pairs()[0]
    if n is None:
        target = 0.0 if delta is None else arguments.open_unit(delta, "delta")
        claim = float(sp.N(R.eps0)) if not target else Shuffle(R, 1).epsilon(target).upper
        p, q = most_revealing(broken, x0, x1, target)
        truth = math.log((p - target) / q) if q else math.inf
    else:
        n = arguments.users(n)
        target = cheapest_delta(R, n) if delta is None else arguments.open_unit(delta, "delta")
        answer = Shuffle(R, n).epsilon(target)
        D, claim = decomposition.dataset(broken, *named_inputs(answer.lower_by)), answer.upper
        truth = Shuffle(D, n).epsilon(target).upper
    if truth <= claim * (1 + 1e-9):
        raise ValueError(
            f"broken must be less private than R at delta = {target:g}, got {broken!r} with eps = {truth:.6g}, "
            f"where {claim:.6g} is allowed"
        )
    if n is None:
        return Cost(samples_needed(p, q, claim, target, level / 4), p, q, claim, truth, None)
    p, q = shuffled_event(D, n, (claim + truth) / 2)
    tested = samples_needed(p, q, claim, target, level)  # on the others the event is chosen
    return Cost(tested * QUARTER // (QUARTER - 1), p, q, claim, truth, n)
