r"""Fingerprints of functions that another process can compare: of the compiled code and of every value that it reads.

A name alone does not tell functions apart: every lambda has the same one, and one lambda gives other results once a
variable that it captured, a constant of its module or a function that it calls has changed. Values are taken apart as
for pickling, so an object is its class and its attributes; a class is also its functions and attributes, unless it
is installed. What is installed (this package, too) and what is built in is compared by name.
"""

import copyreg
import dis
import hashlib
import os
import pickle
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

_PLACES = ("/site-packages/", "/dist-packages/", f"{sysconfig.get_path('stdlib')}/", f"{Path(__file__).parent.parent}/")
_ATOMS = (type(None), type(...), bool, int, float, complex, str, bytes)
_HEAP_TYPE = 1 << 9  # the flag of classes that are made while Python runs


def of(fn: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The name of a function, and a digest of each part of it by a name that its author knows.

    >>> K = 3
    >>> def f(n): return K * n
    >>> name, before = of(f)
    >>> K = 4
    >>> [part for part, digest in of(f)[1].items() if digest != before[part]] == [f"{f.__module__}.K"]
    True
    """
    name = _name(fn if hasattr(fn, "__qualname__") else type(fn))
    parts = _Parts()
    try:
        parts.add(name, fn)
    except Exception as error:
        part, value = parts.at[-1]
        raise ValueError(
            f"path needs a function that can be told from others, got fn = {name}: it uses {part}, a "
            f"{type(value).__name__}, which cannot be compared with that of an earlier run ({error}). Make it inside "
            "fn, or leave path out."
        ) from error
    return name, parts.digests


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{value.__qualname__}"


def _installed(file: str | None) -> bool:
    return file is not None and any(place in file.replace(os.sep, "/") for place in (*_PLACES, "<frozen "))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Parts:
    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.at: list[tuple[str, Any]] = []  # the part that is looked at, and those that it is a part of
        self.seen: dict[
            int, tuple[Any, str]
        ] = {}  # by identity, with the value: a freed one would pass its identity on

    def add(self, part: str, value: Any) -> None:
        self.at.append((part, value))
        text = self.text(value)
        # Several functions may have one name, as lambdas do.
        self.digests[part] = _digest(self.digests.get(part, "") + text)
        self.at.pop()

    def text(self, value: Any) -> str:
        """The same text for the same value, in every process."""
        if type(value) in _ATOMS:
            return f"{type(value).__name__} {value!r}"
        if id(value) not in self.seen:
            self.seen[id(value)] = value, f"value {len(self.seen)}"  # what a value that contains itself finds
            self.seen[id(value)] = value, _digest(self._text(value))
        return self.seen[id(value)][1]

    def _text(self, value: Any) -> str:
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, CodeType):
            names = value.co_names, value.co_varnames, value.co_freevars, value.co_flags
            counts = value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount
            compiled = value.co_code, value.co_exceptiontable, names, counts
            return f"{compiled} {self._texts(value.co_consts)}"
        if type(value) in (list, tuple):
            return f"{type(value).__name__} {self._texts(value)}"
        if type(value) in (set, frozenset):  # in an order of their own in every process
            return f"{type(value).__name__} {sorted(self._texts(value))}"
        if type(value) is dict:
            return f"dict {self._texts(value)} {self._texts(value.values())}"
        reduce = copyreg.dispatch_table.get(type(value))
        reduced: Any = reduce(value) if reduce else value.__reduce_ex__(4)
        if isinstance(reduced, str):  # a global name, of a built-in function or of a function that keeps its results
            wrapped = getattr(value, "__wrapped__", None)
            return f"{reduced} {pickle.dumps(value, 4) if wrapped is None else self.text(wrapped)!r}"
        made, arguments, state, *items = [*reduced, None, None, None][:5]
        if isinstance(state, Mapping):  # results that an object keeps come and go
            kept = {key for key in state if isinstance(getattr(type(value), str(key), None), cached_property)}
            state = {key: entry for key, entry in state.items() if key not in kept}
        return str(self._texts([type(value), made, arguments, state, *(part and list(part) for part in items)]))

    def _texts(self, values: Any) -> list[str]:
        return [self.text(value) for value in values]

    def _function(self, function: FunctionType) -> str:
        code, name = function.__code__, _name(function)
        if _installed(code.co_filename):
            return name
        self.add(name, [code, function.__defaults__, function.__kwdefaults__, vars(function)])
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.add(f"{variable} in {name}", ... if cell == CellType() else cell.cell_contents)
        steps = list(_steps(code))
        attributes = {step.argval for step in steps if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
        for variable in sorted({step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}):
            if variable in function.__globals__:
                self._global(f"{function.__module__}.{variable}", function.__globals__[variable], attributes)
        return name

    def _global(self, name: str, value: Any, attributes: set[str]) -> None:
        """A global variable; of a module that is not installed what the code names of it."""
        self.add(name, value)
        builtin = not isinstance(value, ModuleType) or value.__name__ in sys.builtin_module_names
        if not builtin and not _installed(getattr(value, "__file__", None)):
            for attribute in sorted(attributes & set(vars(value))):
                self._global(f"{value.__name__}.{attribute}", vars(value)[attribute], attributes - {attribute})

    def _class(self, cls: type) -> str:
        name = _name(cls)
        if not cls.__flags__ & _HEAP_TYPE or _installed(getattr(sys.modules.get(cls.__module__), "__file__", None)):
            return name
        bases = self._texts(cls.__bases__)
        for attribute, value in vars(cls).items():
            value = getattr(value, "__func__", value) if isinstance(value, (staticmethod, classmethod)) else value
            value = value.fget if isinstance(value, property) else value
            value = value.func if isinstance(value, cached_property) else value
            if isinstance(value, FunctionType) or not (attribute.startswith("__") or attribute == "_abc_impl"):
                self.add(f"{name}.{attribute}", value)
        return f"{name} {bases}"


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    """The instructions of a function and of those inside it."""
    yield from dis.get_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _steps(constant)
