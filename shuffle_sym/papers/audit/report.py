r"""Running the audit: every verdict recomputed, shown as a table, compared with the recorded one."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

from shuffle_sym.papers.audit import balle2019, girgis2021, koskela2021, su2025
from shuffle_sym.papers.audit.claims import VERDICTS, Claim, Paper, Result

PAPERS: tuple[Paper, ...] = (koskela2021.PAPER, su2025.PAPER, balle2019.PAPER, girgis2021.PAPER)
RECORD = "verdicts.json"


def claims() -> tuple[Claim, ...]:
    """All claims, paper by paper.

    >>> len(claims()) >= 123
    True
    """
    return tuple(claim for paper in PAPERS for claim in paper.claims)


def recorded() -> dict[str, str]:
    """Id → verdict, as the audit found it when it was last recorded.

    >>> recorded()["K-Thm10"]
    'false'
    """
    text = resources.files("shuffle_sym.papers.audit").joinpath(RECORD).read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


class Markdown(str):
    """Text that a notebook shows as Markdown."""

    def _repr_markdown_(self) -> str:
        return str(self)


def _escaped(text: str) -> str:
    """Without the signs that mean something in Markdown; formulas have underscores and bars."""
    for sign in ("\\", "_", "*", "|"):
        text = text.replace(sign, "\\" + sign)
    return text.replace("<", "&lt;")


def summary() -> Markdown:
    """How many claims of each paper have which verdict, from the record.

    >>> print(summary().splitlines()[0])
    | paper | holds | holds if | misprint | false | open | claims |
    """
    verdicts = recorded()
    lines = [f"| paper | {' | '.join(VERDICTS)} | claims |", "|" + "---|" * (len(VERDICTS) + 2)]
    found = {paper.title: [verdicts[claim.id] for claim in paper.claims if claim.id in verdicts] for paper in PAPERS}
    found["all"] = list(verdicts.values())
    for title, column in found.items():
        counts = " | ".join(str(column.count(verdict)) for verdict in VERDICTS)
        lines.append(f"| {title} | {counts} | {len(column)} |")
    return Markdown("\n".join(lines))


@dataclass(frozen=True)
class Audit:
    """The results of one run.

    >>> found = run(["K-ratio", "K-LemB1"])
    >>> [(result.id, result.verdict) for result in found]
    [('K-ratio', 'holds if'), ('K-LemB1', 'holds')]
    """

    results: tuple[Result, ...]

    def __iter__(self) -> Any:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, id: str) -> Result:
        for result in self.results:
            if result.id == id:
                return result
        raise KeyError(f"id must be one of the examined claims, got {id!r}")

    @cached_property
    def counts(self) -> dict[str, int]:
        """Verdict → number of claims."""
        found = Counter(result.verdict for result in self.results)
        return {verdict: found[verdict] for verdict in VERDICTS}

    def changed(self) -> dict[str, tuple[str | None, str]]:
        """Id → (recorded verdict, verdict now), where the two differ."""
        before = recorded()
        return {r.id: (before.get(r.id), r.verdict) for r in self.results if before.get(r.id) != r.verdict}

    def to_json(self) -> str:
        rows = [
            {
                "id": r.id,
                "source": r.claim.source,
                "statement": r.claim.statement,
                "verdict": r.verdict,
                "evidence": [{"passes": c.passes, "kind": c.kind, "finding": c.finding} for c in r.evidence.checks],
            }
            for r in self.results
        ]
        return json.dumps(rows, ensure_ascii=False, indent=1)

    def to_markdown(self) -> str:
        lines = ["| id | verdict | claim | evidence |", "|---|---|---|---|"]
        for r in self.results:
            evidence = " ".join(f"*{c.kind}*: {_escaped(c.finding)}." for c in r.evidence.checks)
            cells = (_escaped(r.id), f"**{r.verdict}**", _escaped(r.claim.statement), evidence)
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
        lines.append(", ".join(f"{verdict}: {count}" for verdict, count in self.counts.items()))
        return "\n".join(lines)

    def listed(self) -> Markdown:
        """Claim by claim: the verdict, what the paper says, and what was found, with the kind of evidence."""
        lines = []
        for r in self.results:
            lines.append(f"- **{_escaped(r.id)}**: *{r.verdict}*. Claimed: {_escaped(r.claim.statement)}.")
            lines.extend(f"    - *{c.kind}*: {_escaped(c.finding)}." for c in r.evidence.checks)
        return Markdown("\n".join(lines))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def run(
    ids: Sequence[str] | None = None,
    *,
    quick: bool = False,
    progress: Callable[[Iterable[Claim]], Iterable[Claim]] | None = None,
) -> Audit:
    """Examine all claims (or those named in ``ids``; with ``quick`` all but the slow ones) and collect the verdicts.

    ``progress`` wraps the claims, as `tqdm.auto.tqdm` does.

    >>> run(["K-ratio"])["K-ratio"].verdict
    'holds if'
    """
    chosen = claims()
    if ids is not None:
        unknown = sorted(set(ids) - {claim.id for claim in chosen})
        if unknown:
            raise ValueError(f"ids must name claims of the audit, got {unknown[0]!r}; audit.claims() lists them")
        chosen = tuple(claim for claim in chosen if claim.id in set(ids))
    if quick:
        chosen = tuple(claim for claim in chosen if not claim.slow)
    results = []
    for claim in chosen if progress is None else progress(chosen):
        start = time.perf_counter()
        evidence = claim.examine()
        results.append(Result(claim, evidence, time.perf_counter() - start))
    return Audit(tuple(results))
