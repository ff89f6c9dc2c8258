r"""The catalogue by name: which randomizers there are and what each one takes, read off their constructors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import shuffle_sym.randomizers as randomizers
from shuffle_sym.algebra import field
from shuffle_sym.algebra.names import did_you_mean
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import LocalRandomizer

Source = LocalRandomizer | Decomposition
Maker = Callable[..., Source]


@cache
def makers() -> Mapping[str, Maker]:
    r"""Name in small letters → what makes it: randomizers that take numbers, ``any`` for all randomizers with one ε0,
    and the clones, which are analyses of all of them.

    >>> [name for name in makers() if name.startswith(("any", "k", "clones"))]
    ['any', 'krr', 'clones', 'clones_koskela', 'clones_shared']
    """
    entries: dict[str, Maker] = {"any": _any}
    for name in sorted(randomizers.__all__, key=str.lower):
        maker: Any = getattr(randomizers, name)
        if isinstance(maker, type) and _takes_numbers(maker) and maker is not randomizers.AnyRandomizer:
            entries[name.lower()] = maker
    for name in decomposition.__all__:
        analysis = getattr(decomposition, name)
        # What is not its own reversal says nothing about the other direction.
        if inspect.isfunction(analysis) and parameters(analysis) == ("eps0",):
            D = analysis()
            if D.reversed() == D:
                entries[name] = analysis
    return entries


def _any(eps0: Any = None) -> randomizers.AnyRandomizer:
    """Every randomizer with this ε0 that all users share."""
    return randomizers.AnyRandomizer(field.eps0 if eps0 is None else eps0)


def _takes_numbers(maker: Any) -> bool:
    """Numbers may be left out and stay symbols, or are called k or eps0; other randomizers, or a matrix, not."""
    taken = inspect.signature(maker).parameters
    return all(one.default is None or name in ("k", "eps0") for name, one in taken.items())


def parameters(maker: Maker) -> tuple[str, ...]:
    """The names of the parameters that the ``maker`` of a randomizer takes, in order.

    >>> parameters(randomizers.SubsetSelection)
    ('d', 'w', 'eps0')
    """
    return tuple(inspect.signature(maker).parameters)


@cache
def all_parameters() -> tuple[str, ...]:
    """The names of all parameters that an entry can take.

    >>> sorted(all_parameters())
    ['K', 'd', 'eps0', 'g', 'k', 'left', 'right', 'sigma', 'w']
    """
    return tuple(dict.fromkeys(name for maker in makers().values() for name in parameters(maker)))


def find(name: str) -> tuple[str, Maker]:
    """The entry with this name; capitals, - and _ do not matter. Nothing is guessed: a beginning gets a hint.

    >>> find("binary-rr")[0], find("clones")[0]
    ('binaryrr', 'clones')
    """
    known = makers()
    key = {_plain(entry): entry for entry in known}.get(_plain(name))
    if key is None:
        meant = " or ".join(repr(entry) for entry in known if _plain(name) and _plain(entry).startswith(_plain(name)))
        hint = f"; did you mean {meant}?" if meant else did_you_mean(name, known)
        raise ValueError(f"randomizer must be one of {', '.join(known)}, got {name!r}{hint}")
    return key, known[key]


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def arguments_for(name: str, given: Mapping[str, Any], *, free: tuple[str, ...] = ()) -> dict[str, Any]:
    """The arguments of the entry ``name`` out of all that were given; one too many or too few is refused.

    ``free`` may be missing: they are asked about, or stay symbols.

    >>> arguments_for("krr", {"k": 10, "eps0": 4, "d": None})
    {'k': 10, 'eps0': 4}
    """
    key, maker = find(name)
    takes = parameters(maker)
    listed = ", ".join(takes)
    for parameter, value in given.items():
        if value is not None and parameter not in takes:
            hint = did_you_mean(parameter, {*takes, "n", "rounds"})
            raise ValueError(f"{parameter} is not a parameter of {key}, which takes {listed}; got {value}{hint}")
    for parameter in takes:
        if given.get(parameter) is None and parameter not in free:
            raise ValueError(f"{parameter} must be given: {key} takes {listed}")
    return {parameter: given[parameter] for parameter in takes if given.get(parameter) is not None}


def build(name: str, given: Mapping[str, Any]) -> Source:
    """A randomizer (or clones) from its name and its numbers, as they were ``given``.

    >>> build("krr", {"k": 10, "eps0": 4})
    KRR(k=10, eps0=4)
    """
    return find(name)[1](**arguments_for(name, given))
