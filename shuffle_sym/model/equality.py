r"""Equality by type and definition: what `__init__` set, never how an object prints."""

from collections.abc import Callable
from functools import cached_property, lru_cache, wraps
from typing import Any, TypeVar

import sympy as sp

Result = TypeVar("Result")


def cached_by_value(function: Callable[..., Result]) -> Callable[..., Result]:
    """A function whose results are kept for the last arguments; with one that cannot be hashed, such as a randomizer
    with an array among its attributes, it is computed each time.

    >>> cached_by_value(len)([1, 2])
    2
    """
    cached = lru_cache(maxsize=64)(function)

    @wraps(function)
    def answer(*args: Any) -> Result:
        try:
            hash(args)
        except TypeError:
            return function(*args)
        return cached(*args)

    return answer


class Uncached:
    """Objects that are sent to another process without their cached results, some of which cannot be."""

    def __getstate__(self) -> dict[str, Any]:
        is_cached = {name: isinstance(getattr(type(self), name, None), cached_property) for name in vars(self)}
        return {name: value for name, value in vars(self).items() if not is_cached[name]}


class ByDefinition(Uncached):
    """Objects are equal if their types are the same and their attributes are; cached results take no part.

    One with an attribute that cannot be hashed, such as an array, is equal to itself only, and nothing is cached.
    """

    def _definition(self) -> dict[str, Any]:
        slots = (name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ()))
        return Uncached.__getstate__(self) | {name: getattr(self, name) for name in slots if hasattr(self, name)}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, ByDefinition):
            return False
        try:
            return bool(_frozen(self._definition()) == _frozen(other._definition()))
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash((type(self), _frozen(self._definition())))


def _frozen(value: Any) -> Any:
    """The value as something that can be hashed; 1, 1.0 and True are kept apart."""
    if isinstance(value, dict):
        return frozenset((_frozen(key), _frozen(entry)) for key, entry in value.items())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(map(_frozen, value))
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_frozen, value))
    hash(value)  # a TypeError if it cannot be
    return value if isinstance(value, (sp.Basic, str)) else (type(value), value)
