r"""How a derivation is shown: as a page of a notebook, as text, as LaTeX. One list of rows, shown three ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shuffle_sym.algebra import latex
from shuffle_sym.papers.engine.assumptions import Conditions
from shuffle_sym.papers.engine.chains import Cases, Line, Parts
from shuffle_sym.papers.engine.derivation import Cited
from shuffle_sym.papers.engine.facts import SIGNS, Applied, Fact, Given, Supposed, in_formulas

if TYPE_CHECKING:
    from shuffle_sym.papers.engine.derivation import Blocks, Derivation

#: Letters in a formula of a notebook and of an article. More do not fit beside the reason; fewer cost lines.
SCREEN, PAPER = 56.0, 44.0
_HEAD = ["", "| line | formula | reason |", "|:--|:--|:--|"]
_DOCUMENT = (
    "\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\allowdisplaybreaks\n\\begin{document}\n",
    "\\end{document}\n",
)


@dataclass(frozen=True)
class Row:
    """One numbered line, the heading before it ("for" or "case" with conditions, or nothing), and whether it goes on
    from the last one."""

    number: int
    fact: Fact
    heading: str = ""
    continued: bool = False


def rows(d: Derivation) -> list[Row]:
    """All numbered lines with their headings, as they are read."""
    return [Row(number, *entry) for number, entry in enumerate(_ordered(d.blocks), 1)]


def _ordered(blocks: Blocks, word: str = "", said: Conditions = ()) -> Iterator[tuple[Fact, str, bool]]:
    for block in blocks:
        if isinstance(block, Cases):
            own = tuple(branch for branch in block.branches if not any(branch is one for one in blocks))
            for branch in own:
                yield from _ordered((branch,), "case", block.under)
        elif isinstance(block, Parts):
            continue
        elif isinstance(block, Line) or not block.lines:
            yield block, _heading(word, block.under, said), False
        else:
            heading = _heading(word or ("for" if block.under else ""), block.under, said)
            for number, line in enumerate(block.lines):
                yield line, heading if number == 0 else "", number > 0


def _heading(word: str, under: Conditions, said: Conditions) -> str:
    """A word and the conditions that were not said already; all of them if nothing is left."""
    return f"{word} {in_formulas(tuple(one for one in under if one not in said) or under)}" if word else ""


# ------------------------------------------------------------------------------- words with formulas between dollars


def why(fact: Fact) -> str:
    """How a line is shown, in one sentence: proved, checked or by a theorem with its hypotheses."""
    if isinstance(fact, Cited):
        return f"{fact.words}; {fact.derivation.established}" if fact.derivation else fact.words
    if not isinstance(fact, Line):
        return label(fact)
    theorems = [one.root for one in fact.uses if isinstance(one.root, Applied)]
    needs = "; ".join(f"{one.words} ({one.status})" for theorem in theorems for one in theorem.hypotheses)
    used = ", ".join(dict.fromkeys(one.root.words for one in fact.uses if not isinstance(one.root, Applied)))
    parts = [f"{fact.status}: {fact.evidence}"]
    parts += [f"it needs: {needs}"] if needs else []
    parts += [f"with: {used}"] if used else []
    return "; ".join(parts)


def label(fact: Fact) -> str:
    """The reason beside a line."""
    if isinstance(fact, Line):
        status = {"proved": "", "checked": "checked on a grid, not proved"}.get(fact.status, fact.status)
        name = status.removeprefix("by ")
        return status if name == fact.words else f"{fact.words} ({name})" if name else fact.words
    condition = f", for {in_formulas(fact.under)}" if fact.under else ""
    if isinstance(fact, Given):
        granted = f"; assuming {in_formulas(fact.granted)}" if fact.granted else ""
        return ": ".join(part for part in ("by definition", fact.words) if part) + condition + granted
    word = "assuming " if isinstance(fact, Supposed) else "by the lemma: " if isinstance(fact, Cited) else ""
    return word + fact.words + condition


def conclusion(d: Derivation) -> str:
    """What the statement rests on, and what was assumed on the way."""
    names = ", ".join(dict.fromkeys(one.name for one in d.by))
    proved = f"Every line is proved{f', with general theorems: {names}' if names else ''}"
    grids = f"; {len(d.checked)} of them are checked on a grid of values only" if d.checked else ""
    assumed = [f"({row.number})" for row in rows(d) if isinstance(row.fact, Supposed)]
    assumed += [in_formulas(d.granted)] if d.granted else []
    return f"{proved}{grids}." + (f" Assumptions: {', '.join(assumed)}." if assumed else "")


def _where(fact: Fact) -> str:
    return f"for {in_formulas(fact.under)}" if fact.under else ""


def meanings(d: Derivation) -> list[str]:
    """What each symbol means."""
    return [f"${latex.formula(symbol)}$: {meaning}" for symbol, meaning in d.where.items()]


# -------------------------------------------------------------------------------------------------- three ways to show


def text(d: Derivation, last: int | None = None, reasons: bool = True) -> str:
    """The derivation as text, up to a line; ``reasons`` also says how each line is shown."""
    page = [f"{d.title} ({d.source})", *(f"  {one}" for one in meanings(d))]
    for row in rows(d)[:last]:
        page += [f"{row.heading}:"] if row.heading else []
        left = "" if row.continued else f"${latex.formula(row.fact.left)}$ "
        line = f"{left}${SIGNS[row.fact.relation]} {latex.formula(row.fact.right)}$"
        page.append(f"{'      ' if row.continued else '  '}({row.number}) {line}    [{label(row.fact)}]")
        if reasons and isinstance(row.fact, (Line, Cited)):
            page.append(f"            {why(row.fact)}")
    if last is None:
        page += [f"So {'; '.join(f'{fact.formula} {_where(fact)}'.strip() for fact in d.statement)}.", conclusion(d)]
    return "\n".join(map(latex.in_text, page))


def pieces(row: Row, limit: float) -> list[str]:
    """The formula of a line in pieces that fit: the left side, unless it goes on, then the sign and the right side."""
    fact, sign = row.fact, SIGNS[row.fact.relation]
    right = latex.broken(fact.right, limit - 4)
    first = f"{sign} {right[0]}"
    rest = [rf"\quad {piece}" for piece in right[1:]]
    if row.continued:
        return [first, *rest]
    left = latex.broken(fact.left, limit)
    if len(left) == 1 and latex.width(left[0]) + latex.width(right[0]) + 3 <= limit:
        return [f"{left[0]} {first}", *rest]
    return [*left, first, *rest]


def in_cell(row: Row) -> str:
    """The formula of a line for a cell of a table, piece below piece."""
    return "<br>".join(latex.in_markdown(rf"$\displaystyle {piece}$") for piece in pieces(row, SCREEN))


def page(d: Derivation, last: int | None = None, definitions: bool = True) -> str:
    """The derivation for a notebook, in Markdown: symbols and definitions folded, then a table with a row a line. Up to
    a ``last`` line if there is one, which is not hidden."""
    folded = [f"- {latex.in_markdown(one)}" for one in meanings(d)]
    given: list[str] = []
    table: list[str] = []
    for row in rows(d)[:last]:
        defined = isinstance(row.fact, Given) and row.number != last
        where = given if defined else table
        where += [f"| | {latex.in_markdown(row.heading)}: | |"] if row.heading else []
        where.append(f"| ({row.number}) | {in_cell(row)} | {latex.in_markdown(label(row.fact))} |")
    folded += [*_HEAD, *given] if given else []
    page = [f"**{d.title}** ({d.source})"]
    if folded and definitions:
        page += ["", "<details><summary>Symbols and definitions</summary>", "", *folded, "", "</details>"]
    if last is None:
        table += [f"| so | {in_cell(Row(0, fact))} | {latex.in_markdown(_where(fact))} |" for fact in d.statement]
    page += [*_HEAD, *table] if table else []
    return "\n".join([*page, *(["", latex.in_markdown(conclusion(d))] if last is None else [])])


def to_latex(d: Derivation, document: bool = False) -> str:
    r"""The derivation as an ``align`` environment: numbered lines, ASCII only; it needs ``amsmath``, ``amssymb``.
    ``document`` puts an article around it."""
    head = f"\\noindent\\textbf{{{latex.in_paper(d.title)}}} ({latex.in_paper(d.source)})"
    entries = [rf"\intertext{{{latex.in_paper(one)}}}" + "\n" for one in meanings(d)]
    for row in rows(d):
        words = latex.in_paper(": ".join(part for part in (row.heading, label(row.fact)) if part))
        # All lines start at one place: a long left side beside a long right one would run off the page.
        indent = r"\quad " if row.continued else ""
        body = " \\notag \\\\\n".join(f"&{indent}{piece}" for piece in pieces(row, PAPER)) + rf" \tag{{{row.number}}}"
        entries.append(rf"\intertext{{{words}:}}" + "\n" + body + " \\\\\n")
    body = "".join(entries).removesuffix(" \\\\\n")
    page = f"{head}\n\\begin{{align}}\n{body}\n\\end{{align}}\n{latex.in_paper(conclusion(d))}\n"
    return page.join(_DOCUMENT) if document else page
