r"""What the papers' folders hold, by name: a derivation or a closed form is registered where it is written."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from shuffle_sym.algebra.names import missing, whole
from shuffle_sym.algebra.names import module as module_of

Thing = TypeVar("Thing", bound=Callable[..., Any])

#: Name → derivation, for all that need no argument.
DERIVATIONS: dict[str, Callable[..., Any]] = {}
#: Name → closed form; one that a folder holds has the folder's name in front, as in ``balle2019_hoeffding``.
BOUNDS: dict[str, Callable[..., Any]] = {}


def derivation(build: Thing) -> Thing:
    """Registers a function that builds a `Derivation` and needs no argument, under its name."""
    return _add(DERIVATIONS, build.__name__, build)


def bound(form: Thing) -> Thing:
    """Registers a closed form: a function, or an object of one of the shapes, which have the name of their formula.

    >>> import shuffle_sym as ss
    >>> ss.papers.balle2019.hoeffding is ss.bounds.balle2019_hoeffding is BOUNDS["balle2019_hoeffding"]
    True
    """
    folder = _folder(form)
    return _add(BOUNDS, f"{folder}_{form.__name__}" if folder else form.__name__, form)


def _add(table: dict[str, Callable[..., Any]], name: str, thing: Thing) -> Thing:
    if name in table:
        raise ValueError(f"name must be new: {name!r} of {thing.__module__} is one of {table[name].__module__} already")
    table[name] = thing
    return thing


def _folder(thing: Callable[..., Any]) -> str:
    """The folder in which something is written; empty if it lies beside the folders."""
    _, _, rest = thing.__module__.partition("papers.")
    folder, dot, _ = rest.partition(".")
    return folder if dot else ""


def contents(folder: str) -> dict[str, Callable[..., Any]]:
    """Name → derivation or closed form that is written in this folder, such as ``"balle2019"``; imports all of it."""
    package = whole(f"shuffle_sym.papers.{folder}")
    for part in package.MODULES:
        whole(f"{package.__name__}.{part}")
    forms = {name.removeprefix(f"{folder}_"): form for name, form in BOUNDS.items() if _folder(form) == folder}
    return forms | {name: build for name, build in DERIVATIONS.items() if _folder(build) == folder}


def shown(module: str, table: dict[str, Callable[..., Any]] | None = None) -> Any:
    """``__getattr__`` and ``__dir__`` of a module that shows a ``table``, or of a folder, which shows its modules and
    what is written in those that its ``MODULES`` names."""

    def things() -> dict[str, Callable[..., Any]]:
        return contents(module.rpartition(".")[2]) if table is None else table

    def attribute(name: str) -> Any:
        if table is None and (inside := module_of(module, name)) is not None:
            return inside
        # Python and its tools ask for names such as __wrapped__, and must not import a folder for that.
        known = {} if name.startswith("_") else things()
        if name in known:
            return known[name]
        raise missing(module, name, known)

    def names() -> list[str]:
        return sorted({*things(), *sys.modules[module].__all__})

    return attribute, names
