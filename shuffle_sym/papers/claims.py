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
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

import sympy as sp

from shuffle_sym.algebra import balls, latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.enclosures import BITS
from shuffle_sym.papers.engine import claim as line

T = TypeVar("T")

VERDICTS = ("holds", "holds if", "misprint", "misprint or misread", "not reproduced", "false", "open")
#: How a check was made; a proof is for all values, a grid and a counterexample are exact, the rest are what they say.
KINDS = ("proved", "exact grid", "counterexample", "certified floats", "searched", "measured")


@dataclass(frozen=True)
class Check:
    """Whether it holds (``passes``; None: not decided), the ``kind`` of evidence, and what was seen, the ``finding``.

    >>> Check(True, "exact grid", "1 + 1 = 2 (1 cases)").passes
    True
    """

    passes: bool | None
    kind: str
    finding: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise VerificationError(f"kind must be one of {KINDS}, got {self.kind!r}")


def proved(*derivations: Any, finding: str) -> Check:
    """Lines are checked while they are built; they count as a proof if none was only checked on a grid. The general
    theorems that they rest on are named."""
    lines = [line for derivation in derivations for line in derivation]
    checked = [line for line in lines if getattr(line, "status", "") == "checked"]
    checked += [line for derivation in derivations for line in getattr(derivation, "checked", ())]
    theorems = dict.fromkeys(one.name for derivation in derivations for one in getattr(derivation, "by", ()))
    by = f", by {', '.join(theorems)}" if theorems else ""
    return Check(True, "exact grid" if checked else "proved", f"{finding} ({len(lines)} steps{latex.in_text(by)})")


def _of(function: Callable[..., T], case: Any) -> T:
    return function(*case) if isinstance(case, tuple) else function(case)


def on_grid(cases: Iterable[Any], holds: Callable[..., bool], *, finding: str) -> Check:
    """Exact on every case, or the first one that fails as a counterexample. Here and below, a case that is a tuple is
    given to the function as its arguments."""
    count = 0
    for case in cases:
        count += 1
        if not _of(holds, case):
            return Check(False, "counterexample", f"{finding}: fails at {case}")
    if not count:
        raise VerificationError(f"{finding}: a grid without cases shows nothing")
    return Check(True, "exact grid", f"{finding} ({count} cases)")


def refuted(fails: bool, finding: str) -> Check:
    """One exact case in which the statement is wrong; ``fails`` says whether it really is."""
    return Check(not fails, "counterexample", finding)


def certified(passes: bool, finding: str) -> Check:
    """A comparison of certified intervals, or of an interval with an exact number."""
    return Check(passes, "certified floats", finding)


def measured(passes: bool, finding: str) -> Check:
    """A comparison of times within one run: true of this program on this machine."""
    return Check(passes, "measured", finding)


def all_of(*checks: Check) -> Check:
    """Several checks that all have to pass: the first one that does not, or all of them, known as the weakest is."""
    for check in checks:
        if check.passes is not True:
            return check
    weakest = max((check.kind for check in checks), key=KINDS.index)
    return Check(True, weakest, "; ".join(check.finding for check in checks))


def confirmed(main: Check, *also: Check) -> Check:
    """A check, and further ones on the same thing: known as the first is, and only if all pass."""
    joined = "; ".join(check.finding for check in (main, *also))
    failing = [check for check in (main, *also) if check.passes is not True]
    return replace((failing or [main])[0], finding=joined)


def searched(cases: Iterable[Any], fails: Callable[..., bool], finding: Callable[..., str]) -> Check:
    """The first case in which the statement fails, as a counterexample; if there is none, nothing is decided."""
    count = 0
    for case in cases:
        count += 1
        if _of(fails, case):
            return Check(False, "counterexample", _of(finding, case))
    return Check(None, "searched", f"none of {count} cases fails")


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


def at_most(left: sp.Expr, right: sp.Expr, finding: str) -> Check:
    """Whether one formula is at most another for all values of their symbols (None if SymPy does not prove it)."""
    try:
        line(left, "<=", right, finding)
    except VerificationError:
        return Check(None, "searched", f"{finding}: {left} <= {right} is not proved")
    return Check(True, "proved", finding)


def first(cases: Iterable[T], fails: Callable[..., bool], what: str) -> T:
    """The first case that fails: the smallest one, if the cases come in that order. Raises if there is none."""
    for case in cases:
        if _of(fails, case):
            return case
    raise VerificationError(f"{what}: no case of the search fails")


def fact(check: Check) -> str:
    """What a check found that a finding relies on; a check that does not pass raises."""
    return seen(check.passes is True, f"{check.finding} [{check.kind}]")


def seen(holds: bool, text: str) -> str:
    """A further fact that a finding tells, as text; raises if it is none."""
    if not holds:
        raise VerificationError(f"not a fact: {text}")
    return text


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

    A ``slow`` one takes more than a second or two; the quick audit leaves it out.

    >>> from shuffle_sym.papers import audit
    >>> next(claim.source for claim in audit.claims() if claim.id == "K-ratio")
    'full 204; workshop 66'
    """

    id: str
    source: str
    statement: str
    examine: Callable[[], Evidence]
    slow: bool = False


#: Module of claims → what it claims, in the order in which it is written there.
REGISTERED: dict[str, list[Claim]] = {}


def claim(
    id: str, source: str, statement: str, *, slow: bool = False
) -> Callable[[Callable[[], Evidence | Check]], Callable[[], Evidence]]:
    """Registers the function below it as the examination of one claim of the paper in whose folder it is written.

    It returns the check of the statement as printed, or the `Evidence` where there is a repair.
    """

    def register(examine: Callable[[], Evidence | Check]) -> Callable[[], Evidence]:
        if any(known.id == id for part in REGISTERED.values() for known in part):
            raise ValueError(f"id must be new, got {id!r} twice")

        latex.refuse_bare(statement)

        @wraps(examine)
        def examined() -> Evidence:
            with balls.LOCK, balls.workprec(BITS):  # whatever is enclosed on the way
                evidence = examine()
            return Evidence(evidence) if isinstance(evidence, Check) else evidence

        REGISTERED.setdefault(examine.__module__, []).append(Claim(id, source, statement, examined, slow))
        return examined

    return register


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
