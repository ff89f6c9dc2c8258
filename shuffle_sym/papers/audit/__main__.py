r"""``python -m shuffle_sym.papers.audit``: every verdict recomputed; fails if one differs from the record.

``--record`` writes the verdicts to the record, ``--quick`` leaves the slow claims out, ``--json`` prints JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tqdm.auto import tqdm

from shuffle_sym.papers.audit.report import RECORD, claims, recorded, run


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m shuffle_sym.papers.audit", description="the audit of the papers")
    parser.add_argument("ids", nargs="*", help="claims to examine; all without")
    parser.add_argument("--quick", action="store_true", help="leave out the slow claims")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--record", action="store_true", help="write the verdicts to the record")
    chosen = parser.parse_args(argv)
    audit = run(chosen.ids or None, quick=chosen.quick, progress=tqdm)
    print(audit.to_json() if chosen.json else audit.to_markdown())
    if chosen.record:
        # What was not examined keeps its verdict; what is no longer a claim goes.
        known = {**recorded(), **{result.id: result.verdict for result in audit}}
        verdicts = {claim.id: known[claim.id] for claim in claims() if claim.id in known}
        Path(__file__).with_name(RECORD).write_text(json.dumps(verdicts, indent=1) + "\n", encoding="utf-8")
        return 0
    changed = audit.changed()
    for id, (before, now) in changed.items():
        print(f"CHANGED: {id} was {before!r} and is {now!r}", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
