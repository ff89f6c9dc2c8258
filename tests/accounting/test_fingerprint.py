"""What tells one function from another: whatever could change its result changes a digest."""

from __future__ import annotations

import functools
import itertools
import json
import os
import subprocess
import sys
import threading
from types import ModuleType

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import fingerprint

MODULE = """
import functools, itertools, dataclasses, enum
import numpy as np, sympy as sp, mpmath
import shuffle_sym as ss
K = 3
TABLE = {"a": [1, 2], "b": {"x", "y", "z"}}
ARRAY = np.arange(3.0)
R = ss.KRR(k=4, eps0=1)
M = ss.Shuffle(R, 100)
SYMBOL = sp.Symbol("x", positive=True) ** 2
NUMBER = mpmath.mpf(3) / 7
def helper(n):
    return deeper(n) + 1
def deeper(n):
    return n * 2
@functools.lru_cache
def remembered(n):
    return n * 5
@dataclasses.dataclass
class Model:
    scale: int = 2
    def __call__(self, n):
        return self.scaled(n)
    def scaled(self, n):
        return self.scale * n
    @staticmethod
    def still(n):
        return n
    @property
    def size(self):
        return 7
    @functools.cached_property
    def kept(self):
        return 9
class Part(Model):
    pass
class Colour(enum.Enum):
    RED = 1
MODEL = Part()
def f(n, shift=0, *, factor=1):
    inner = lambda m: helper(m) + K
    found = inner(n) + remembered(n) + MODEL(n) + MODEL.size + MODEL.kept + Model.still(n)
    assert n in {"u", "v", 1, 2, 3} or n
    return found + shift, factor, TABLE, ARRAY, R, M, SYMBOL, NUMBER, Colour.RED
"""


def made(text: str, name: str = "theirs") -> ModuleType:
    """A module without a file, so that there is no source to be read either."""
    module = ModuleType(name)
    exec(compile(text, "<string>", "exec", dont_inherit=True), vars(module))
    return module


def parts(text: str = MODULE) -> dict[str, str]:
    before = sys.modules.get("theirs")
    sys.modules["theirs"] = module = made("")
    try:
        exec(compile(text, "<string>", "exec", dont_inherit=True), vars(module))
        return fingerprint.of(module.f)[1]
    finally:
        del sys.modules["theirs"]
        assert before is None


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("K = 3", "K = 4", "theirs.K"),
        ("K = 3", "K = 3.0", "theirs.K"),
        ('"a": [1, 2]', '"a": [1, 3]', "theirs.TABLE"),
        ('"y", "z"', '"y", "w"', "theirs.TABLE"),
        ("np.arange(3.0)", "np.arange(3.0) + 1e-16", "theirs.ARRAY"),
        ("np.arange(3.0)", "np.arange(3)", "theirs.ARRAY"),
        ("ss.KRR(k=4, eps0=1)", "ss.KRR(k=4, eps0=2)", "theirs.R"),
        ("ss.Shuffle(R, 100)", "ss.Shuffle(R, 101)", "theirs.M"),
        ("positive=True", "negative=True", "theirs.SYMBOL"),
        ("mpmath.mpf(3) / 7", "mpmath.mpf(3) / 8", "theirs.NUMBER"),
        ("deeper(n) + 1", "deeper(n) + 2", "theirs.helper"),
        ("n * 2", "n * 3", "theirs.deeper"),
        ("n * 5", "n * 6", "theirs.remembered"),
        ("scale: int = 2", "scale: int = 3", "theirs.MODEL"),
        ("self.scale * n", "self.scale + n", "theirs.Model.scaled"),
        ("        return n\n", "        return -n\n", "theirs.Model.still"),
        ("return 7", "return 8", "theirs.Model.size"),
        ("return 9", "return 10", "theirs.Model.kept"),
        ("class Part(Model):", "class Part(Model, object):", None),
        ("RED = 1", "RED = 2", "theirs.Colour.RED"),
        ("shift=0", "shift=1", "theirs.f"),
        ("factor=1", "factor=2", "theirs.f"),
        ("helper(m) + K", "helper(m) - K", "theirs.f"),
        ('"u", "v"', '"u", "w"', "theirs.f"),
        ("helper(m)", "deeper(m)", "theirs.f"),
    ],
)
def test_a_change_of_code_or_of_a_value_that_it_reads_is_seen_and_named(old, new, part):
    assert MODULE.count(old) >= 1
    before, after = parts(), parts(MODULE.replace(old, new, 1))
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert part in changed if part else changed
    assert any(name.startswith(part or "") for name in changed)


def test_comments_places_in_the_file_and_values_that_are_not_read_change_nothing():
    assert parts("# a comment\n\nUNUSED = object()\nimport threading\nLOCK = threading.Lock()\n" + MODULE) == parts()


def test_use_changes_nothing():
    sys.modules["theirs"] = module = made("")
    try:
        exec(compile(MODULE, "<string>", "exec"), vars(module))
        before = fingerprint.of(module.f)
        for n in range(1, 100):  # the interpreter rewrites code that runs often
            module.f(n)
        module.M.epsilon(1e-5)
        assert module.R.gamma > 0  # is kept in R
        assert fingerprint.of(module.f) == before
    finally:
        del sys.modules["theirs"]


def test_another_process_finds_the_same_whatever_the_order_of_its_sets():
    code = (
        "import json, sys, types\nfrom shuffle_sym.accounting import fingerprint\n"
        "sys.modules['theirs'] = module = types.ModuleType('theirs')\n"
        f"exec({MODULE!r}, vars(module))\nprint(json.dumps(fingerprint.of(module.f)[1]))"
    )
    here = parts()
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout
    assert json.loads(printed) == here


def counted(k):
    return lambda n: n * k


def pair(k):
    return [counted(k), counted(k + 1)]


class Call:
    def __init__(self, k):
        self.k = k

    def __call__(self, n):
        return self.k * n

    def method(self, n):
        return self.k + n


def marked(k):
    def function(n):
        return n * function.k

    function.k = k
    return function


def in_a_module(k):
    theirs = ModuleType("theirs")
    theirs.scale = lambda n: counted(k)(n)
    return eval("lambda n: theirs.scale(n)", {"theirs": theirs})


@pytest.mark.parametrize(
    "make",
    [
        counted,
        Call,
        marked,
        in_a_module,
        lambda k: Call(k).method,
        lambda k: functools.partial(divmod, k),
        lambda k: functools.partial(counted(k)),
        lambda k: functools.partial(print, sep=str(k)),
        lambda k: functools.lru_cache(counted(k)),
        lambda k: functools.wraps(len)(counted(k)),
        lambda k: lambda n, m=k: n,
        lambda k: lambda n, *, m=k: n,
        lambda k: lambda n: pair(k),
        lambda k: [k].index,
        lambda k: np.vectorize(counted(k)),
        lambda k: ss.Shuffle(ss.KRR(k=k + 2, eps0=1), 100).delta,
        lambda k: sp.Lambda(sp.Symbol("n"), sp.Symbol("n") + k),
        lambda k: eval(f"lambda n: n + {k}", {}),
        lambda k: type("Made", (), {"__call__": counted(k)})(),
        lambda k: type("Made", (), {"__call__": lambda self, n: self.K, "K": k})(),
        lambda k: (np.sin, np.cos)[k],
        lambda k: (abs, len)[k],
        lambda k: eval("lambda n: np.sin(n) * K", {"np": np, "K": mpmath.mpf(k)}),
        lambda k: eval("lambda n: K", {"K": float("nan") if k else None}),
    ],
)
def test_functions_with_one_name_and_different_values_are_told_apart_and_equal_ones_are_not(make):
    assert fingerprint.of(make(0)) == fingerprint.of(make(0))
    assert fingerprint.of(make(0)) != fingerprint.of(make(1))


def test_functions_that_call_each_other_and_values_that_hold_themselves_come_to_an_end():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    loop = []
    loop.append(loop)
    assert set(fingerprint.of(even)[1]) > {f"{__name__}.{name.__qualname__}" for name in (even, odd)}
    fingerprint.of(lambda n: loop)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (threading.Lock(), "lock"),
        (itertools.takewhile(bool, (n for n in [])), "takewhile"),
        (np.frompyfunc(abs, 1, 1), "ufunc"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_its_name(value, what):
    with pytest.raises(ValueError, match=rf"path needs a function .* uses value in .*, a {what}, which cannot") as told:
        fingerprint.of(lambda n: value)
    assert "leave path out" in str(told.value)
