r"""The argument of `Shuffle`, read and checked: users of one randomizer, users in groups, or a pair of laws."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.accounting import groups
from shuffle_sym.accounting.mechanism import Mechanism
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.sources import MaxOverPairs, PairOfLaws, Source
from shuffle_sym.algebra import arguments
from shuffle_sym.model.continuous import NoiseBlanket
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import LocalRandomizer, Randomizer
from shuffle_sym.randomizers.composed import message_space


def read(source: Any, n: Any) -> tuple[Any, Source]:
    """The source (groups of users as a tuple of pairs) and the object that analyses it; a wrong source is refused."""
    if isinstance(source, list):
        if n is not None:
            raise ValueError(f"n must be left out: groups have their own numbers of users, got n = {n!r}")
        parts = _groups(source)
        return parts, _of_parts(parts)
    entries = source if isinstance(source, tuple) and source else (source,)
    laws = all(isinstance(entry, (Decomposition, NoiseBlanket)) for entry in entries)
    if not laws and not isinstance(source, LocalRandomizer):
        hint = "; it comes first, then n: Shuffle(R, n)" if isinstance(n, LocalRandomizer) else ""
        hint = f"; give it its parameters: {source.__name__}(…)" if isinstance(source, type) else hint
        raise TypeError(f"source must be a randomizer or a Decomposition, got {source!r}{hint}")
    return source, _source(source, arguments.users(n))


def symbols(source: Any) -> set[sp.Symbol]:
    """The symbols that are left in a source that was read."""
    entries = source if isinstance(source, tuple) else (source,)
    each = (entry[0] if isinstance(entry, tuple) else entry for entry in entries)
    return set().union(*(entry.free_symbols for entry in each))


def _source(given: Any, n: int) -> Source:
    """n users of a randomizer are a mechanism, those of a decomposition a pair of laws."""
    if isinstance(given, tuple) and len(given) == 1:
        given = given[0]
    if isinstance(given, tuple):
        return MaxOverPairs(given, n)
    if isinstance(given, Decomposition):
        return PairOfLaws(given, n)
    return Noise(given.noise, n) if isinstance(given, NoiseBlanket) else Mechanism(given, n)


def _groups(given: Sequence[Any]) -> tuple[tuple[Randomizer, int], ...]:
    """A list of (randomizer, number of users), checked."""
    if not given:
        raise ValueError("groups must not be empty: give at least one (randomizer, number of users)")
    parts = []
    for i, part in enumerate(given):
        if not isinstance(part, (tuple, list)) or len(part) != 2 or not isinstance(part[0], Randomizer):
            raise TypeError(
                f"groups[{i}] must be a pair (randomizer with finitely many messages, number of users), got {part!r}"
            )
        parts.append((part[0], arguments.positive_integer(part[1], f"the users of groups[{i}]")))
    first = parts[0][0]
    for i, (R, _) in enumerate(parts):
        if message_space(R) != message_space(first):
            raise ValueError(
                f"groups must have one message space: {R!r} of groups[{i}] does not send the messages of {first!r}; "
                "name them, with ss.from_matrix(P, messages=[…]) for each group and the same names in all"
            )
    return tuple(parts)


def _of_parts(parts: Sequence[tuple[Randomizer, int]]) -> Mechanism | groups.Groups:
    """Users in groups; groups with one randomizer are one group, and one group is a mechanism as every other."""
    merged: dict[Randomizer, int] = {}
    for R, count in parts:
        merged[R] = merged.get(R, 0) + count
    if len(merged) == 1:
        ((R, count),) = merged.items()
        return Mechanism(R, count)
    return groups.Groups(list(merged.items()))


def fewer(parts: Sequence[tuple[Randomizer, int]], m: Any, made: Callable[[Any], Any]) -> Any:
    """The groups without m[g] users of each; a list of such for a list."""
    rows = m.tolist() if isinstance(m, np.ndarray) else m
    if isinstance(rows, list) and all(isinstance(row, (tuple, list)) for row in rows):
        return [fewer(parts, tuple(row), made) for row in rows]
    if not isinstance(rows, (tuple, list)) or len(rows) != len(parts):
        example = ("10", *("0",) * (len(parts) - 1))
        raise ValueError(
            f"m must say how many users of each of the {len(parts)} groups, as ({', '.join(example)}), got {m!r}"
        )
    left = []
    for g, (count, (R, users)) in enumerate(zip(rows, parts, strict=True)):
        number = arguments.integer_from_0(count, f"m[{g}]")
        if number > users:
            raise ValueError(f"m[{g}] must be at most {users}, the users of groups[{g}], got {count!r}")
        left.append((R, users - number))
    if not any(users for _, users in left):
        raise ValueError(f"m must leave at least one user, got {m!r}")
    return made([part for part in left if part[1]])
