r"""What long checks have in common: comparisons, how many of each kind were made, and which failed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

from tqdm.auto import tqdm

_PROCESSES = 2


class Comparison(NamedTuple):
    """One comparison: what kind it is, whether it holds, and all that is needed to do it again."""

    kind: str
    holds: bool
    detail: str


class Report:
    """The number of comparisons of each kind, and those that failed."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.violations: list[Comparison] = []

    def add(self, comparisons: Iterable[Comparison]) -> Report:
        """Count these comparisons."""
        for comparison in comparisons:
            self.counts[comparison.kind] += 1
            if not comparison.holds:
                self.violations.append(comparison)
        return self

    def __str__(self) -> str:
        lines = [f"VIOLATION of {kind}: {detail}" for kind, _, detail in self.violations]
        lines += [f"{number:9,}  {kind}" for kind, number in sorted(self.counts.items())]
        return "\n".join([*lines, f"{self.counts.total():9,}  comparisons, {len(self.violations)} violations"])


def run(title: str, check: Callable[[Any], Iterable[Comparison]], cases: Sequence[Any]) -> Report:
    """The comparisons that ``check`` makes of each case, on two processes; ``check`` is a function of a module.

    Args:
        title: what is printed before the counts.
        check: from a case to its comparisons.
        cases: what is checked.
    """
    start, report = time.perf_counter(), Report()
    with ProcessPoolExecutor(_PROCESSES) as pool:
        jobs = [pool.submit(_listed, check, case) for case in cases]
        for job in tqdm(jobs, desc=title, unit="case"):
            report.add(job.result())
    print(f"{title}\n{report}, {time.perf_counter() - start:.0f} s", flush=True)
    return report


def _listed(check: Callable[[Any], Iterable[Comparison]], case: Any) -> list[Comparison]:
    return list(check(case))
