r"""Names of a module: imported when somebody asks for them, and the nearest one where somebody mistyped one.

SymPy, SciPy and python-flint take longer to import than most questions take to answer. A package whose names come
`later` costs nothing until a name is asked for (PEP 562).
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """The end of an error message: the known word that is nearest to the mistyped ``text``, if one is near.

    >>> did_you_mean("kkr", ["krr", "oue"]), did_you_mean("gauss", ["krr", "oue"])
    ("; did you mean 'krr'?", '')
    """
    from difflib import get_close_matches  # only a mistake needs it

    plain = {word.lower(): word for word in known}
    near = get_close_matches(text.lower(), plain, n=1)
    return f"; did you mean {plain[near[0]]!r}?" if near else ""


def missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that a module does not have; it names the known one that is near, if one is.

    >>> print(missing("a.b", "lema11", ["lemma11"]))
    module 'a.b' has no attribute 'lema11'; did you mean 'lemma11'?
    """
    # With the name alone, and without the module, Python adds no second suggestion of its own.
    return AttributeError(f"module {module!r} has no attribute {name!r}{did_you_mean(name, known)}", name=name)


def modules(package: str) -> set[str]:
    """The modules that lie in a package, by their names in it, whether they are imported or not.

    >>> "interval" in modules("shuffle_sym.algebra")
    True
    """
    from pkgutil import iter_modules  # it takes as long to import as this package

    return {found.name for found in iter_modules(sys.modules[package].__path__) if found.name[0] != "_"}


def later(package: str, homes: Mapping[str, str] | None = None) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    r"""``__getattr__`` and ``__dir__`` of a package: a name is imported when somebody asks for it.

    ``homes`` is name → module that the name is imported from; the modules of the package are names as well.

    >>> attribute, names = later("shuffle_sym.algebra", {"Interval": "shuffle_sym.algebra.interval"})
    >>> attribute("Interval").__module__, "interval" in names()
    ('shuffle_sym.algebra.interval', True)
    """

    def attribute(name: str) -> Any:
        if homes and name in homes:
            value = getattr(import_module(homes[name]), name)
        elif not name.startswith("_") and name in modules(package):
            value = import_module(f"{package}.{name}")
        else:
            raise missing(package, name, names())
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*getattr(sys.modules[package], "__all__", ()), *modules(package)})

    return attribute, names
