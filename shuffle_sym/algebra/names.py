r"""Names of a module: they are imported when somebody asks for them; for a mistyped name the nearest one is suggested.

SymPy, SciPy and python-flint take longer to import than most questions take to answer. A package whose names come
`later` costs nothing until a name is asked for (PEP 562).
"""

import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from importlib import import_module
from threading import RLock, current_thread, main_thread
from typing import Any

#: What the package stands on, in the order in which it is imported: one by one, so that no interrupt waits for all.
_LIBRARIES = ("mpmath", "numpy", "flint", "sympy", "scipy")

#: Held while the names of the package itself are imported: of two threads that import modules and the packages around
#: them in different orders, Python gives one a module that is not finished. Our own modules import nothing by these
#: names, so a thread that waits here holds no module that another one waits for.
_ONE_THREAD = RLock()


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """The end of an error message: the known word that is nearest to the mistyped ``text``, if one is near.

    A number in the text is taken as it is typed: Lemma 62 is not what somebody meant who asked for Lemma 99.

    >>> did_you_mean("kkr", ["krr", "oue"]), did_you_mean("gauss", ["krr", "oue"])
    ("; did you mean 'krr'?", '')
    >>> did_you_mean("lemma99", ["lemma62"]), did_you_mean("lema62", ["lemma61", "lemma62"])
    ('', "; did you mean 'lemma62'?")
    """
    from difflib import get_close_matches  # only a mistake needs it

    number = _digits(text)
    plain = {word.lower(): word for word in known if _digits(word) == number or not number}
    near = get_close_matches(text.lower(), plain, n=1)
    return f"; did you mean {plain[near[0]]!r}?" if near else ""


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that a module does not have; it names the known one that is near, if one is.

    >>> print(missing("a.b", "lema11", ["lemma11"]))
    module 'a.b' has no attribute 'lema11'; did you mean 'lemma11'?
    """
    # With the name alone, and without the module, Python adds no second suggestion of its own.
    return AttributeError(f"module {module!r} has no attribute {name!r}{did_you_mean(name, known)}", name=name)


def whole(name: str) -> Any:
    """The module with this name, imported. An interrupt, or another signal that Python handles, waits until that is
    done: SymPy cannot be imported after an import of it was cut short, nor can a module that has registered names.

    >>> whole("fractions").__name__
    'fractions'
    """
    if name in sys.modules or current_thread() is not main_thread():  # no other thread is interrupted
        return import_module(name)
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    held = [number for number, handler in handlers.items() if callable(handler)]
    waiting: list[int] = []
    try:
        for number in held:
            signal.signal(number, lambda number, _: waiting.append(number))
        return import_module(name)
    finally:
        for number in held:
            signal.signal(number, handlers[number])
        for arrived in waiting:
            signal.raise_signal(arrived)


def module(package: str, name: str) -> Any:
    """The module with this name in a package, imported; None if there is none.

    >>> module("shuffle_sym.algebra", "interval").__name__, module("shuffle_sym.algebra", "intervals")
    ('shuffle_sym.algebra.interval', None)
    """
    if name.startswith("_"):  # Python and its tools ask for names such as __wrapped__
        return None
    try:
        return whole(f"{package}.{name}")
    except ModuleNotFoundError as refusal:
        if refusal.name != f"{package}.{name}":  # what is missing is something that the module needs
            raise
        return None


def later(package: str, **homes: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    r"""``__getattr__`` and ``__dir__`` of a package: a name is imported when somebody asks for it.

    ``homes`` is name → module that the name is imported from; the modules of the package are names as well.

    >>> attribute, names = later("shuffle_sym.algebra", Interval="shuffle_sym.algebra.interval")
    >>> attribute("Interval").__module__, "interval" in names()
    ('shuffle_sym.algebra.interval', True)
    """

    def attribute(name: str) -> Any:
        with _ONE_THREAD if homes else nullcontext():
            for library in _LIBRARIES if homes and not name.startswith("_") else ():
                whole(library)
            value = getattr(whole(homes[name]), name) if name in homes else module(package, name)
        if value is None:
            raise missing(package, name, names())
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        from pkgutil import iter_modules  # it takes as long to import as this package

        inside = vars(sys.modules[package])
        own = (found.name for found in iter_modules(inside["__path__"]) if not found.name.startswith("_"))
        return sorted({*inside.get("__all__", ()), *own})

    return attribute, names
