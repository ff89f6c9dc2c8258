r"""Budgets: how many rounds an (ε, δ) allows, and an accountant that is stepped, saved and loaded."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

import shuffle_sym.randomizers as randomizers
from shuffle_sym.accounting.rounds import Mechanism, compose
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import RTOL, Interval
from shuffle_sym.model.randomizer import LocalRandomizer
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.randomizers.matrix import MatrixRandomizer

_MOST_ROUNDS = 2**40
_FORMAT, _OLDER = "shuffle_sym budget 2", "shuffle_sym budget 1"  # 1 has randomizers with numbers only, and no steps

Spent = Sequence[tuple[Mechanism, int]]


def rounds_allowed(M: Any, eps: Any, delta: Any, *, rtol: Any = RTOL) -> Interval:
    r"""The largest number of rounds of ``M`` that are (ε, δ)-DP together: an `Interval` of whole numbers.

    ``lower`` rounds are allowed for certain, by the bound for all datasets; it is 0 if that bound allows none. With
    more than ``upper`` rounds two datasets miss the target ``eps``, ``delta``. ``rtol`` is that of the δ that decide.

    >>> import shuffle_sym as ss
    >>> M = ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000)
    >>> k = rounds_allowed(M, eps=5, delta=1e-6)
    >>> M.compose(int(k.lower)).delta(5).upper <= 1e-6 < M.compose(int(k.upper) + 1).delta(5).lower
    True
    """
    return _rounds_left([], M, eps, delta, rtol)


def _rounds_left(spent: Spent, M: Any, eps: Any, delta: Any, rtol: Any) -> Interval:
    """How many rounds of M are allowed after what was spent."""
    number, target = arguments.central_epsilon(eps), arguments.delta_target(delta)
    tolerance = arguments.relative_tolerance(rtol)
    decided: dict[int, bool | None] = {0: True}

    def meets(rounds: int) -> bool | None:
        if rounds not in decided:
            decided[rounds] = compose([*spent, (M, rounds)]).meets(number, target, rtol=tolerance)
        return decided[rounds]

    compose([*spent, (M, 1)])  # refuses what cannot be composed
    if M.max_loss == 0:
        raise ValueError(
            f"M must have a privacy loss, got {M!r}: it reveals nothing, and any number of rounds is allowed"
        )
    if spent:
        decided[0] = compose(spent).meets(number, target, rtol=tolerance)
        if decided[0] is False:
            raise ValueError(
                f"eps = {number} at delta = {target:g} is already spent: {compose(spent).epsilon(target)} so far"
            )
    too_many = 1
    while meets(too_many) is not False:
        too_many *= 4
        if too_many > _MOST_ROUNDS:
            raise ValueError(f"eps = {number} at delta = {target:g} is not spent by {_MOST_ROUNDS} rounds of {M!r}")
    allowed = max(rounds for rounds, met in decided.items() if met or not rounds)
    certain, _ = last_that_holds(lambda rounds: meets(rounds) is True, allowed, too_many)
    _, missed = last_that_holds(lambda rounds: meets(rounds) is not False, certain, too_many)
    return Interval(certain, missed - 1, "rounds_allowed")


class Budget:
    r"""The rounds of shuffled randomizers that were spent so far, one after the other.

    Rounds may be chosen in the light of earlier ones; how many there are may not (the number of rounds of each
    mechanism is taken as fixed in advance).

    >>> import shuffle_sym as ss
    >>> B = Budget()
    >>> B.spend(ss.Shuffle(ss.KRR(k=4, eps0=2), n=1_000), rounds=4)
    >>> B.spend(ss.Shuffle(ss.KRR(k=3, eps0=1), n=500))
    >>> B.rounds, B.spent(1e-6).upper < 1.5
    (5, True)
    >>> Budget.from_json(B.to_json()) == B
    True
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Any, int]] = []

    @property
    def parts(self) -> tuple[tuple[Any, int], ...]:
        """The mechanisms and how many rounds of each, in the order in which they first came."""
        return tuple(self._parts)

    @property
    def rounds(self) -> int:
        """How many rounds were spent so far."""
        return sum(count for _, count in self._parts)

    def spend(self, M: Any, rounds: Any = 1) -> None:
        """Add ``rounds`` rounds of ``M``. What cannot be composed with the earlier rounds is refused and not added."""
        count = arguments.positive_integer(rounds, "rounds")
        compose([*self._parts, (M, count)])
        for i, (other, before) in enumerate(self._parts):
            if other is M or _same(other, M):
                self._parts[i] = (other, before + count)
                return
        self._parts.append((M, count))

    def spent(self, delta: Any, *, rtol: Any = RTOL) -> Interval:
        """Bounds of the ε of all rounds so far at this ``delta``, about ``rtol`` apart."""
        arguments.delta_target(delta)
        if not self._parts:
            return Interval(0.0, 0.0)
        answer: Interval = compose(self._parts).epsilon(delta, rtol=rtol)
        return answer

    def left(self, M: Any, eps: Any, delta: Any, *, rtol: Any = RTOL) -> Interval:
        """How many more rounds of M the target (ε, δ) allows: an `Interval` of whole numbers, with
        ``rtol`` as in `rounds_allowed`. A target that was missed already is refused."""
        return _rounds_left(self._parts, M, eps, delta, rtol)

    def to_json(self) -> str:
        """Everything, exactly: randomizers by name and parameters, which may be matrices and other randomizers; groups
        and batches. A decomposition, a density or a class of one's own is refused."""
        entries = [{**_written(M), "rounds": count} for M, count in self._parts]
        return json.dumps({"format": _FORMAT, "spent": entries}, indent=1)

    @staticmethod
    def from_json(text: str) -> Budget:
        """A budget from the ``text`` that `to_json` wrote."""
        try:
            saved = json.loads(text)
        except (TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"text must be JSON that Budget.to_json wrote, got {str(text)[:60]!r}") from error
        if not isinstance(saved, dict) or saved.get("format") not in (_FORMAT, _OLDER):
            version = saved.get("format") if isinstance(saved, dict) else saved
            raise ValueError(f"text must have the format {_FORMAT!r}, got {version!r}")
        budget = Budget()
        for entry in saved.get("spent", ()):
            budget.spend(_read(entry), entry.get("rounds"))
        return budget

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget) or len(self._parts) != len(other._parts):
            return False
        pairs = zip(self._parts, other._parts, strict=True)
        return all(one[1] == two[1] and _same(one[0], two[0]) for one, two in pairs)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Budget({', '.join(f'{count} x {M!r}' for M, count in self._parts)})"


def _same(M: Any, other: Any) -> bool:
    """Whether two mechanisms are the same by definition: users, randomizers, and whom or which batch is asked about."""
    return isinstance(M, Shuffle) and type(M) is type(other) and bool(M.__reduce__() == other.__reduce__())


def _catalogue() -> Mapping[str, Any]:
    """Randomizers that are given by numbers, matrices and other randomizers, by name."""
    named = {name: getattr(randomizers, name) for name in randomizers.__all__}
    return {name: maker for name, maker in named.items() if isinstance(maker, type) or maker is randomizers.from_matrix}


def _written(M: Any) -> dict[str, Any]:
    """A mechanism as JSON has it, if it is the same when it is read again."""
    try:
        source, n, steps = M.__reduce__()[1]
        users = _saved(source) if n else {"groups": [{**_saved(R), "n": count} for R, count in source]}
        entry: dict[str, Any] = json.loads(json.dumps({**users, "n": n, "steps": steps}))
        if isinstance(M, Shuffle) and _same(_read(entry), M):
            return entry
    except (TypeError, ValueError, AttributeError):
        pass  # what it has cannot be written
    known = ", ".join(_catalogue())
    raise ValueError(f"{M!r} cannot be saved: only users of {known} can, by name and parameters without symbols")


def _saved(value: Any) -> Any:
    """A randomizer or a parameter of one as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_saved(each) for each in value]
    if not isinstance(value, LocalRandomizer):
        return value if isinstance(value, bool) else str(value)
    if type(value) is MatrixRandomizer:
        matrix = _saved(value.matrix().tolist())
        return {"randomizer": "from_matrix", "parameters": {"P": matrix, "messages": value.messages}}
    # Another class of the same name is not equal to what is read; what stayed a symbol was left out.
    given = {key: getattr(value, key) for key in inspect.signature(type(value)).parameters}
    kept = {key: _saved(one) for key, one in given.items() if not (one is None or isinstance(one, sp.Symbol))}
    return {"randomizer": type(value).__name__, "parameters": kept}


def _read(entry: Any) -> Shuffle:
    saved = entry if isinstance(entry, dict) else {}
    groups = saved.get("groups")
    source = [(_loaded(part), part.get("n")) for part in groups] if isinstance(groups, list) else _loaded(entry)
    M = Shuffle(source, saved.get("n"))
    for name, argument in saved.get("steps", ()):
        M = getattr(M, arguments.one_of(name, "a step", ("group", "sampled_from")))(argument)
    return M


def _loaded(entry: Any, key: str = "") -> Any:
    """What `_saved` gave."""
    if isinstance(entry, list) and key != "messages":
        return [_loaded(each, key) for each in entry]
    if key and not isinstance(entry, dict):
        return arguments.exact_number(entry, key) if isinstance(entry, str) else entry
    saved = entry if isinstance(entry, dict) else {}
    maker, parameters = _catalogue().get(str(saved.get("randomizer"))), saved.get("parameters")
    if maker is None or not isinstance(parameters, dict) or not {*parameters} <= {*inspect.signature(maker).parameters}:
        known = ", ".join(_catalogue())
        raise ValueError(f"a saved randomizer must be one of {known} with its parameters, got {entry!r}")
    given = {name: _loaded(value, name) for name, value in parameters.items()}
    return maker(*given.get("parts", ())) if maker is randomizers.Joint else maker(**given)
