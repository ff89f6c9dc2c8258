r"""The audit: statements of the papers, each with a verdict that is recomputed from evidence.

``python -m shuffle_sym.papers.audit`` recomputes every verdict and fails if one differs from the record; ``--record``
writes the evidence to the record, ``--quick`` leaves the slow claims out, ``--json`` prints JSON.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from shuffle_sym.algebra import arguments, latex
from shuffle_sym.algebra.cards import Markdown, table
from shuffle_sym.papers import FOLDERS
from shuffle_sym.papers.claims import VERDICTS, Check, Claim, Evidence, Result

__all__ = ["PAPERS", "Audit", "Check", "Claim", "Evidence", "Paper", "Result"]
__all__ += ["claims", "on_record", "recorded", "run", "summary"]

RECORD = "evidence.json"


@dataclass(frozen=True)
class Paper:
    """The claims of one paper (``key``, ``title``), in its order, and the folder with the record of their verdicts.

    >>> [paper.key for paper in PAPERS]
    ['koskela2021', 'su2025', 'balle2019', 'girgis2021']
    """

    key: str
    title: str
    folder: Path
    claims: tuple[Claim, ...]

    @staticmethod
    def of(folder: ModuleType) -> "Paper":
        """Reads the ``claims.py`` of a paper's folder."""
        path = Path(str(folder.__file__)).parent
        return Paper(path.name, folder.TITLE, path, tuple(import_module(f"{folder.__name__}.claims").claim))


_FOLDERS = [import_module(f"shuffle_sym.papers.{name}") for name in FOLDERS]
PAPERS = tuple(Paper.of(folder) for folder in _FOLDERS if find_spec(f"{folder.__name__}.claims"))


def claims() -> tuple[Claim, ...]:
    """All claims, paper by paper.

    >>> len(claims()) >= 123
    True
    """
    return tuple(claim for paper in PAPERS for claim in paper.claims)


def _evidence() -> dict[str, Evidence]:
    """Id → evidence, as the audit found it when it was last recorded."""
    found: dict[str, Any] = {}
    for paper in PAPERS:
        text = (paper.folder / RECORD).read_text(encoding="utf-8")
        found |= json.loads(text, object_hook=lambda entry: Check(**entry) if "finding" in entry else entry)
    return {id: Evidence(**entry) for id, entry in found.items()}


def recorded() -> dict[str, str]:
    """Id → verdict, from the evidence that was last recorded.

    >>> recorded()["K-Thm10"]
    'false'
    """
    return {id: evidence.verdict for id, evidence in _evidence().items()}


def on_record(ids: Sequence[str]) -> "Audit":
    """The claims with these ``ids`` and the evidence that was last recorded; nothing is examined.

    >>> on_record(["K-Thm10"])["K-Thm10"].evidence.printed.kind
    'counterexample'
    """
    evidence = _evidence()
    return Audit(tuple(Result(claim, evidence[claim.id], 0.0) for claim in _chosen(ids)))


class Html(str):
    """Text that a notebook shows as HTML."""

    def __repr__(self) -> str:
        return f"Html({self[:20]!r}…)"

    def _repr_html_(self) -> str:
        return str(self)


def _escaped(text: str) -> str:
    """Without the signs that mean something in Markdown; formulas have underscores and bars."""
    for sign in ("\\", "_", "*", "|"):
        text = text.replace(sign, "\\" + sign)
    return text.replace("<", "&lt;")


def _findings(evidence: Evidence) -> list[tuple[str, str]]:
    """The kinds of evidence with what was found, and what is to be known of the page."""
    found = [(check.kind, check.finding) for check in evidence.checks]
    if evidence.page:
        how, _, why = evidence.page.partition(": ")
        found.append((how, why))
    return found


def summary() -> Markdown:
    """How many claims of each paper have which verdict, from the record.

    >>> print(summary().splitlines()[0])
    | paper | holds | holds if | misprint | misprint or misread | not reproduced | false | open | claims |
    """
    verdicts = recorded()
    lines = [f"| paper | {' | '.join(VERDICTS)} | claims |", "|" + "---|" * (len(VERDICTS) + 2)]
    columns = {paper.title: [verdicts[claim.id] for claim in paper.claims if claim.id in verdicts] for paper in PAPERS}
    columns["all"] = list(verdicts.values())
    for title, column in columns.items():
        counts = " | ".join(str(column.count(verdict)) for verdict in VERDICTS)
        lines.append(f"| {title} | {counts} | {len(column)} |")
    return Markdown("\n".join(lines))


@dataclass(frozen=True)
class Audit:
    """The results of one run.

    >>> [(result.id, result.verdict) for result in run(["K-ratio", "K-LemB1"])]
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
        numbers = Counter(result.verdict for result in self.results)
        return {verdict: numbers[verdict] for verdict in VERDICTS}

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
                "page": r.evidence.page,
                "evidence": [{"passes": c.passes, "kind": c.kind, "finding": c.finding} for c in r.evidence.checks],
            }
            for r in self.results
        ]
        return json.dumps(rows, ensure_ascii=False, indent=1)

    def to_markdown(self) -> str:
        lines = ["| id | verdict | claim | evidence |", "|---|---|---|---|"]
        for r in self.results:
            found = " ".join(f"*{kind}*: {_escaped(finding)}." for kind, finding in _findings(r.evidence))
            cells = (_escaped(r.id), f"**{r.verdict}**", latex.in_markdown(r.claim.statement), found)
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
        lines.append(", ".join(f"{verdict}: {count}" for verdict, count in self.counts.items()))
        return "\n".join(lines)

    def only(self, paper: str | None = None, verdict: str | None = None) -> "Audit":
        """The results for one paper, such as "su2025", with one verdict, such as "false", or both.

        >>> len(run(["K-ratio", "K-LemB1"]).only(verdict="holds"))
        1
        """
        ids = {each.key: {claim.id for claim in each.claims} for each in PAPERS}
        wanted = ids[arguments.one_of(paper, "paper", ids)] if paper is not None else set().union(*ids.values())
        verdicts = VERDICTS if verdict is None else (arguments.one_of(verdict, "verdict", VERDICTS),)
        return Audit(tuple(r for r in self.results if r.id in wanted and r.verdict in verdicts))

    def listed(self) -> Html:
        """A table of the claims, with their verdicts and what the paper says; what was found unfolds below it."""
        rows: list[tuple[str, ...]] = [
            ("<b>claim</b>", "<b>verdict</b>", "<b>what the paper says; a click shows why</b>")
        ]
        for r in self.results:
            found = "".join(f"<li><i>{escape(kind)}</i>: {escape(what)}.</li>" for kind, what in _findings(r.evidence))
            told = f"<details><summary>{escape(r.claim.statement, quote=False)}</summary><ul>{found}</ul></details>"
            cells = (f"<b>{escape(r.id)}</b>", f"<i>{r.verdict}</i>", told)
            rows.append(cells)
        return Html(table(rows))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def _chosen(ids: Sequence[str]) -> tuple[Claim, ...]:
    if unknown := sorted(set(ids) - {claim.id for claim in claims()}):
        raise ValueError(f"ids must name claims of the audit, got {unknown[0]!r}; audit.claims() lists them")
    return tuple(claim for claim in claims() if claim.id in set(ids))


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
    chosen = claims() if ids is None else _chosen(ids)
    if quick:
        chosen = tuple(claim for claim in chosen if not claim.slow)
    results = []
    for claim in chosen if progress is None else progress(chosen):
        start = time.perf_counter()
        evidence = claim.examine()
        results.append(Result(claim, evidence, time.perf_counter() - start))
    return Audit(tuple(results))


def record(audit: Audit) -> None:
    """Writes the evidence to the papers' records. What was not examined keeps its own; what is no longer a claim goes.
    What is empty is left out."""
    known = {**_evidence(), **{result.id: result.evidence for result in audit}}
    for paper in PAPERS:
        entries = {claim.id: asdict(known[claim.id]) for claim in paper.claims if claim.id in known}
        told = {id: {name: value for name, value in entry.items() if value} for id, entry in entries.items()}
        text = json.dumps(told, ensure_ascii=False, indent=1)
        (paper.folder / RECORD).write_text(text + "\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """The command line of the audit; 1 if a verdict differs from the record."""
    from tqdm.auto import tqdm

    parser = argparse.ArgumentParser(prog="python -m shuffle_sym.papers.audit", description="the audit of the papers")
    parser.add_argument("ids", nargs="*", help="claims to examine; all without")
    parser.add_argument("--quick", action="store_true", help="leave out the slow claims")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--record", action="store_true", help="write the evidence to the record")
    chosen = parser.parse_args(argv)
    audit = run(chosen.ids or None, quick=chosen.quick, progress=tqdm)
    print(audit.to_json() if chosen.json else audit.to_markdown())
    if chosen.record:
        record(audit)
        return 0
    changed = audit.changed()
    for id, (before, now) in changed.items():
        print(f"CHANGED: {id} was {before!r} and is {now!r}", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
