r"""The analyses of this package in the table of all, and the table for one mechanism."""

from typing import Any

import sympy as sp

from shuffle_sym.accounting import analyses
from shuffle_sym.accounting.analyses import Analyses, Analysis
from shuffle_sym.accounting.attacks import datasets_of, gaussian_delta, gaussian_epsilon
from shuffle_sym.accounting.bounds import drop_out
from shuffle_sym.accounting.mechanism import Mechanism
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.sources import MaxOverPairs, PairOfLaws, Source
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Family
from shuffle_sym.truth.two_messages import TwoMessages, has_two_messages

_OURS = "this package"
_MOST_USERS = 2_000  # that all datasets of two messages are tried for: about 0.2 s


def table(mechanism: Mechanism, given: str, value: Any, rtol: float) -> Analyses:
    """What every analysis says about a mechanism; ``given`` is "delta" or "eps", the argument that has this value."""
    R, n = mechanism.R, mechanism.n
    if given == "delta":
        answer = mechanism.epsilon(arguments.delta_target(value), rtol, "auto")
    else:
        (answer,) = mechanism.hockey_sticks([Ratio(eps=arguments.central_epsilon(value))], rtol)
    rows = [analysis.row(R, n, given, value, rtol) for analysis in (*analyses.every(), *_attacks(R, n))]
    rows.sort(key=lambda row: (row.value is None, -(row.value or 0.0)))
    exact = arguments.exact_number(value, given)
    shown = f"{float(exact):g}" if exact.is_Rational else str(exact)
    question = f"ε at δ = {shown}" if given == "delta" else f"δ at ε = {shown}"
    return Analyses(f"Shuffle({R!r}, n={n})", question, answer, tuple(rows))


def _attacks(R: Any, n: int) -> list[Analysis]:
    """Two neighbouring datasets each, those that the lower ends of all answers come from."""
    datasets = datasets_of(R, n)

    def of(law: Source) -> Any:
        return lambda R, n: law

    return [
        analyses.by_laws(str(neighbours), _OURS, "these two datasets", of(law), kind="lower", one_randomizer=False)
        for neighbours, law in datasets.pairs
    ]


def _blanket(R: Any, n: int) -> Source:
    if isinstance(R, Family):
        raise ValueError(f"the blanket needs one randomizer, got {R!r}; for all of them take the clones")
    return Noise(R, n) if isinstance(R, Continuous) else MaxOverPairs(decomposition.blankets(R), n)


def _local(R: Any, n: int) -> Source:
    """One user; 2-RR is the worst of all randomizers then."""
    return PairOfLaws(R.worst_alone(), 1) if isinstance(R, Family) else _blanket(R, 1)


def _drop_out(equal: bool) -> Any:
    def bound(R: Any, n: int) -> Source:
        return drop_out(R, n, equal=equal)

    return bound


def _two_messages(R: Any, n: int) -> TwoMessages:
    if not has_two_messages(R):
        raise ValueError("R must have two messages: only then all datasets can be tried")
    if n > _MOST_USERS:
        raise ValueError(f"n must be at most {_MOST_USERS} for all datasets to be tried at once, got {n}")
    return TwoMessages(R, n)


def _two_epsilon(R: Any, n: int, delta: Any, rtol: float) -> Interval:
    return _two_messages(R, n).epsilon(delta, rtol=rtol)


def _two_delta(R: Any, n: int, eps: Any, rtol: float) -> Interval:
    return _two_messages(R, n).delta(eps)


def _chi(R: Any, n: int) -> float:
    return float(max(neighbours.alike.chi for neighbours, _ in datasets_of(R, n).pairs))


def _normal_epsilon(R: Any, n: int, delta: Any, rtol: float) -> float:
    return gaussian_epsilon(_chi(R, n), n, arguments.delta_target(delta))


def _normal_delta(R: Any, n: int, eps: Any, rtol: float) -> float:
    return gaussian_delta(_chi(R, n), n, float(sp.sympify(eps)))


for _analysis in (
    analyses.by_laws("local randomizer", "post-processing", analyses.GIVEN, _local, one_randomizer=False),
    analyses.by_laws("blanket", "Balle et al. 2019; Su et al. 2025", analyses.GIVEN, _blanket),
    analyses.by_laws("drop-out", _OURS, analyses.GIVEN, _drop_out(equal=False)),
    analyses.by_laws("drop-out, equal others", _OURS, analyses.GIVEN, _drop_out(equal=True)),
    Analysis("all datasets", _OURS, "upper", "two messages", _two_epsilon, _two_delta),
    Analysis("normal limit", _OURS, "approximation", "n → ∞: no bound", _normal_epsilon, _normal_delta, False),
):
    analyses.add(_analysis)
