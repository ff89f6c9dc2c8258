r"""Claims of the papers, and verdicts that are computed from evidence.

A verdict is never written down: it follows from checks that are run.

===================  ============================================================================================
holds                the statement as printed passes: proved, or exact on every case of a stated range
holds if             it fails as printed, and passes under a condition that the text leaves out
misprint             it fails as printed, and another form, close to it, passes
misprint or misread  the same, and the scan of the page, from which the paper was read as text, may be to blame
not reproduced       it fails with all that was tried, and what it is compared with is not in print
false                it fails, and nothing close to it holds
open                 it was neither refuted nor proved
===================  ============================================================================================

A claim is data: where it stands, what it says, and the tests of it and of its repair. A *test* is run when the claim is
examined and gives a `Check`: `proved`, `on_grid`, `counterexample`, `identity` and `at_most` make tests, `confirmed`
and `all_of` join some, and any function without arguments that returns a `Check` is one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib import import_module
from itertools import product
from operator import eq
from typing import Any, ParamSpec, TypeVar

import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.enclosures import BITS, below
from shuffle_sym.papers.engine import claim as line

Test = Callable[[], "Check"]
#: Several values of an argument of a predicate, or a function that gives them when a claim is examined.
Axis = Iterable[Any] | Callable[[], Iterable[Any]]
P = ParamSpec("P")
Tested = TypeVar("Tested", bound=Callable[[], Any])

VERDICTS = ("holds", "holds if", "misprint", "misprint or misread", "not reproduced", "false", "open")
#: How a check was made; a proof is for all values, a grid and a counterexample are exact, the rest are what they say.
#: "Measured" compares times within one run: true of this program on this machine.
KINDS = ("proved", "exact grid", "counterexample", "certified floats", "searched", "measured")


@dataclass(frozen=True)
class Check:
    """Whether it holds (``passes``; None: not decided), the ``kind`` of evidence, and what was seen, the ``finding``.

    It stands for a test that was run: called, it is what it is.

    >>> Check(True, "exact grid", "1 + 1 = 2 (1 cases)").passes
    True
    """

    passes: bool | None
    kind: str
    finding: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise VerificationError(f"kind must be one of {KINDS}, got {self.kind!r}")

    def __call__(self) -> "Check":
        return self


# ------------------------------------------------------------------------------------------------ tests that are data


def makes_test(check: Callable[P, Check]) -> Callable[P, Test]:
    """Of a function that checks something: one that takes the same arguments, and checks when its result is called."""

    @wraps(check)
    def later(*args: P.args, **named: P.kwargs) -> Test:
        return partial(check, *args, **named)

    return later


@makes_test
def proved(*derivations: Any, finding: str) -> Check:
    """Lines are checked while they are built; they count as a proof if none was only checked on a grid. The general
    theorems that they rest on are named. ``derivations`` are functions that build them, or lines."""
    built = [derivation() if callable(derivation) else derivation for derivation in derivations]
    lines = [line for derivation in built for line in derivation]
    checked = [line for line in lines if getattr(line, "status", "") == "checked"]
    checked += [line for derivation in built for line in getattr(derivation, "checked", ())]
    theorems = dict.fromkeys(one.name for derivation in built for one in getattr(derivation, "by", ()))
    by = f", by {', '.join(theorems)}" if theorems else ""
    return Check(True, "exact grid" if checked else "proved", f"{finding} ({len(lines)} steps{latex.in_text(by)})")


def cases(*axes: Axis, only: Callable[..., bool] | None = None) -> Iterator[tuple[Any, ...]]:
    """Every choice of one value of each axis, those of the first axis slowest; ``only`` says which are kept. A value
    that is a tuple is several arguments.

    >>> list(cases([(1, 2), (3, 4)], "ab", only=lambda i, j, letter: letter == "a"))
    [(1, 2, 'a'), (3, 4, 'a')]
    """
    for chosen in product(*(axis() if callable(axis) else axis for axis in axes)):
        case = tuple(part for value in chosen for part in (value if isinstance(value, tuple) else (value,)))
        if only is None or only(*case):
            yield case


def _at_most(left: Any, right: Any) -> bool:
    in_balls = isinstance(left, arb) or isinstance(right, arb)
    return not below(right, left) if in_balls else bool(left <= right)


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "<=": _at_most}


def _failure(statement: Callable[..., Any], says: str, tried: Iterable[tuple[Any, ...]]) -> tuple[int, Any]:
    """How many cases were tried, and the first one in which the statement fails, with its sides if it has two."""
    count = 0
    for case in tried:
        count += 1
        found = statement(*case)
        sides = found if isinstance(found, tuple) else ()
        if not (_RELATIONS[says](*sides) if sides else found):
            return count, (*case, *sides)
    return count, None


@makes_test
def on_grid(
    statement: Callable[..., Any],
    *axes: Axis,
    finding: str,
    says: str = "<=",
    only: Callable[..., bool] | None = None,
    kind: str = "exact grid",
) -> Check:
    """Exact on every case of the axes (see `cases`), or the first one that fails as a counterexample. The ``statement``
    is a predicate, or gives the left and the right side of what it ``says``: "<=" or "=". Comparisons of floats with
    known ends are of the ``kind`` "certified floats"."""
    count, failed = _failure(statement, says, cases(*axes, only=only))
    if failed is not None:
        return Check(False, kind.replace("exact grid", "counterexample"), f"{finding}: fails at {failed}")
    if not count:
        raise VerificationError(f"{finding}: a grid without cases shows nothing")
    return Check(True, kind, f"{finding} ({count} cases)")


@makes_test
def counterexample(
    statement: Callable[..., Any],
    *axes: Axis,
    told: Callable[..., str],
    says: str = "<=",
    only: Callable[..., bool] | None = None,
) -> Check:
    """The first case in which the statement fails, as in `on_grid`; without axes there is one case, without arguments.
    ``told`` is given the case and both sides. If no case fails nothing is decided."""
    count, failed = _failure(statement, says, cases(*axes, only=only))
    if failed is not None:
        return Check(False, "counterexample", told(*failed))
    return Check(None, "searched", f"none of {count} cases fails")


@makes_test
def identity(left: sp.Expr, right: sp.Expr, finding: str) -> Check:
    """Whether two formulas are equal for all values of their symbols. Not proved is not refuted: that takes values at
    which they differ."""
    try:
        if left != right:
            line(left, "=", right, finding)
    except VerificationError:
        symbols = sorted((left - right).free_symbols, key=str)
        for start in range(2, 6):
            values = dict(zip(symbols, (sp.Integer(start + i) for i in range(len(symbols))), strict=True))
            if sp.simplify((left - right).subs(values).doit()).is_zero is False:
                return Check(False, "counterexample", f"{finding}: {left} is not {right} at {values}")
        return Check(None, "searched", f"{finding}: {left} = {right} is neither proved nor refuted")
    return Check(True, "proved", finding)


@makes_test
def at_most(left: sp.Expr, right: sp.Expr, finding: str) -> Check:
    """Whether one formula is at most another for all values of their symbols (None if SymPy does not prove it)."""
    try:
        line(left, "<=", right, finding)
    except VerificationError:
        return Check(None, "searched", f"{finding}: {left} <= {right} is not proved")
    return Check(True, "proved", finding)


@makes_test
def all_of(*tests: Test) -> Check:
    """Several tests that all have to pass: the first one that does not, or all of them, known as the weakest is."""
    checks = [each() for each in tests]
    for check in checks:
        if check.passes is not True:
            return check
    weakest = max((check.kind for check in checks), key=KINDS.index)
    return Check(True, weakest, "; ".join(check.finding for check in checks))


@makes_test
def confirmed(main: Test, *also: Test) -> Check:
    """A test, and further ones of the same thing: known as the first is, and only if all pass."""
    checks = [each() for each in (main, *also)]
    failing = [check for check in checks if check.passes is not True]
    return replace((failing or checks)[0], finding="; ".join(check.finding for check in checks))


# ------------------------------------------------------------------------------- checks, in a function that is a test


def first(*axes: Axis, only: Callable[..., bool]) -> tuple[Any, ...]:
    """The first of the `cases`. Raises if there is none."""
    for case in cases(*axes, only=only):
        return case
    raise VerificationError("no case of the search fails")


def refuted(fails: bool, finding: str) -> Check:
    """One exact case in which the statement is wrong; ``fails`` says whether it really is."""
    return Check(not fails, "counterexample", finding)


def certified(passes: bool, finding: str) -> Check:
    """A comparison of certified intervals, or of an interval with an exact number."""
    return Check(passes, "certified floats", finding)


def fact(test: Test) -> str:
    """What a test found that a finding relies on; one that does not pass raises."""
    check = test()
    return seen(check.passes is True, f"{check.finding} [{check.kind}]")


def seen(holds: bool, text: str) -> str:
    """A further fact that a finding tells, as text; raises if it is none."""
    if not holds:
        raise VerificationError(f"not a fact: {text}")
    return text


# ---------------------------------------------------------------------------------------- claims, and their verdicts


@dataclass(frozen=True)
class Evidence:
    """The check of the statement as printed and, where that fails, of a form or a condition that repairs it.

    A corrected form comes with the reason why the page was read rightly (``well_read``) or why the scan of it may be to
    blame (``misread``). ``not_in_print`` names what a comparison needs and the paper does not print.

    >>> wrong, right = Check(False, "counterexample", "1 + 1 = 3"), Check(True, "proved", "1 + 1 = 2")
    >>> Evidence(wrong).verdict, Evidence(wrong, corrected=right, well_read="it stands there twice").verdict
    ('false', 'misprint')
    """

    printed: Check
    corrected: Check | None = None
    condition: Check | None = None
    well_read: str = ""
    misread: str = ""
    not_in_print: str = ""

    def __post_init__(self) -> None:
        if bool(self.well_read) + bool(self.misread) != (self.corrected is not None):
            raise VerificationError("a correction must say either why the page was well_read or how it may be misread")

    @property
    def verdict(self) -> str:
        if self.printed.passes is None:
            return "open"
        if self.printed.passes:
            return "holds"
        misprint = "misprint or misread" if self.misread else "misprint"
        for check, verdict in ((self.corrected, misprint), (self.condition, "holds if")):
            if check is not None:
                if check.passes is not True:
                    raise VerificationError(f"the repair does not hold either: {check.finding}")
                return verdict
        return "not reproduced" if self.not_in_print else "false"

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(check for check in (self.printed, self.corrected, self.condition) if check is not None)

    @property
    def page(self) -> str:
        """What is known about how the page was read, and why; empty if nothing is."""
        told = {"well read": self.well_read, "perhaps misread": self.misread, "not in print": self.not_in_print}
        return "".join(f"{how}: {why}" for how, why in told.items() if why)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper: ``id``, ``source`` (where it stands), ``statement`` in our words; ``examine()`` tests it.

    A ``slow`` one takes more than a second or two; the quick audit leaves it out. Its ``module`` holds it among its
    `Claims`.

    >>> from shuffle_sym.papers import audit
    >>> next(claim.source for claim in audit.claims() if claim.id == "K-ratio")
    'full 204; workshop 66'
    """

    id: str
    source: str
    statement: str
    examine: Callable[[], Evidence]
    slow: bool = False
    module: str = ""

    def __reduce__(self) -> tuple[Callable[[str, str], "Claim"], tuple[str, str]]:
        """Pickled as the name that it has in its module: tests have no names."""
        return _claimed, (self.module, self.id)


def _claimed(module: str, id: str) -> Claim:
    claims: Claims = import_module(module).claim
    return next(claim for claim in claims if claim.id == id)


class Claims(list[Claim]):
    """The claims of one paper in its order, which its ``module`` holds as ``claim``. Called, it adds one: where it
    stands, the statement, the tests of what is printed (several as in `confirmed`), and the repair as in `Evidence`.

    >>> claim = Claims("__main__")
    >>> claim("X-1", "12", "$1 + 1 = 3$", Check(False, "counterexample", "it is 2"))
    >>> claim[0].examine().verdict
    'false'
    """

    def __init__(self, module: str) -> None:
        super().__init__()
        self.module = module

    def __call__(self, id: str, source: str, statement: str, *printed: Test, **repair: Any) -> None:
        self.by(id, source, statement, **repair)(confirmed(*printed))

    def by(
        self,
        id: str,
        source: str,
        statement: str,
        *,
        corrected: Test | None = None,
        condition: Test | None = None,
        slow: bool = False,
        **page: str,
    ) -> Callable[[Tested], Tested]:
        """The same, with the function below it as the test of what is printed. It returns the whole `Evidence` where
        the repair needs what it has computed."""
        latex.refuse_bare(statement)
        if any(known.id == id for known in self):
            raise ValueError(f"id must be new, got {id!r} twice")

        def add(test: Tested) -> Tested:
            def examine() -> Evidence:
                with balls.LOCK, balls.workprec(BITS):  # whatever is enclosed on the way
                    printed = test()
                    if isinstance(printed, Evidence):
                        return printed
                    return Evidence(printed, corrected and corrected(), condition and condition(), **page)

            self.append(Claim(id, source, statement, examine, slow, self.module))
            return test

        return add


@dataclass(frozen=True)
class Result:
    """An examined claim: its ``evidence``, found in so many ``seconds``.

    >>> from shuffle_sym.papers import audit
    >>> audit.run(["K-ratio"])["K-ratio"].evidence.printed.kind
    'counterexample'
    """

    claim: Claim
    evidence: Evidence
    seconds: float

    @property
    def id(self) -> str:
        return self.claim.id

    @property
    def verdict(self) -> str:
        return self.evidence.verdict
