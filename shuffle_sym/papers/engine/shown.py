r"""How a derivation is shown: as text, in a notebook, in Markdown, and as LaTeX for a paper. One page, four dresses."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shuffle_sym.algebra import latex
from shuffle_sym.papers.engine.assumptions import Conditions
from shuffle_sym.papers.engine.chains import Cases, Line, Parts
from shuffle_sym.papers.engine.derivation import Cited
from shuffle_sym.papers.engine.facts import Applied, Fact, Given

if TYPE_CHECKING:
    from shuffle_sym.papers.engine.derivation import Blocks, Derivation

SIGNS = {"=": "=", "<=": r"\le", ">=": r"\ge"}
TEX = {"==": "=", "<=": r"\le", ">=": r"\ge", "<": "<", ">": ">"}
TEXT_SIGNS = {"=": "=", "<=": "≤", ">=": "≥", "<": "<", ">": ">", "==": "="}
SCREEN, PAPER = 92.0, 44.0  # letters in a line of a notebook, and of an article
_WORDS = 112  # narrower letters: those of words in a notebook


@dataclass(frozen=True)
class Row:
    """One numbered line, the word of the heading before it ("for", "case" or nothing) with its conditions, and whether
    it goes on from the last one."""

    number: int
    fact: Fact
    word: str = ""
    under: Conditions = ()
    continued: bool = False

    @property
    def heading(self) -> str:
        """The heading as text: ``case b = 0``."""
        return f"{self.word} {conditions_in_words(self.under)}" if self.word else ""

    @property
    def heading_with_formulas(self) -> str:
        """The heading as words with formulas between dollars."""
        return f"{self.word} {conditions_in_words(self.under, formulas=True)}" if self.word else ""


def rows(d: Derivation) -> list[Row]:
    """All numbered lines with their headings, as they are read."""
    return [Row(number, *entry) for number, entry in enumerate(_ordered(d.blocks), 1)]


def _ordered(blocks: Blocks, word: str = "", said: Conditions = ()) -> Iterator[tuple[Fact, str, Conditions, bool]]:
    for block in blocks:
        if isinstance(block, Cases):
            own = tuple(branch for branch in block.branches if not any(branch is one for one in blocks))
            for branch in own:
                yield from _ordered((branch,), "case", block.under)
        elif isinstance(block, Parts):
            continue
        elif isinstance(block, Line) or not block.lines:
            yield block, word, _besides(block.under, said) if word else (), False
        else:
            heading = word or ("for" if block.under else "")
            for number, line in enumerate(block.lines):
                yield line, *((heading, _besides(block.under, said)) if number == 0 else ("", ())), number > 0


def _besides(under: Conditions, said: Conditions) -> Conditions:
    """The conditions that were not said already; all of them if nothing is left."""
    return tuple(one for one in under if one not in said) or under


def conditions_in_words(under: Conditions, formulas: bool = False) -> str:
    """Conditions as they are read, ``b = 0, a > 0``, or as formulas between dollars."""
    if formulas:
        return ", ".join(f"${latex.formula(one.lhs)} {TEX[one.rel_op]} {latex.formula(one.rhs)}$" for one in under)
    return ", ".join(f"{latex.plain(one.lhs)} {TEXT_SIGNS[one.rel_op]} {latex.plain(one.rhs)}" for one in under)


def why(fact: Fact) -> str:
    """The justification of a line in one sentence: proved, checked or by a theorem with its hypotheses."""
    if isinstance(fact, Cited):
        return f"{fact.words}; {fact.derivation.established}" if fact.derivation else fact.words
    if not isinstance(fact, Line):
        return fact.words
    theorems = [one.root for one in fact.uses if isinstance(one.root, Applied)]
    needs = "; ".join(f"{one.words} ({one.status})" for theorem in theorems for one in theorem.hypotheses)
    used = ", ".join(dict.fromkeys(one.root.words for one in fact.uses if not isinstance(one.root, Applied)))
    parts = [f"{fact.status}: {fact.evidence}"]
    parts += [f"it needs: {needs}"] if needs else []
    parts += [f"with: {used}"] if used else []
    return "; ".join(parts)


def label(fact: Fact) -> str:
    """The short words beside a line."""
    if isinstance(fact, Line):
        return f"{fact.words} ({fact.status})" if fact.words else f"({fact.status})"
    said = ": ".join(part for part in (fact.kind, fact.words) if part)
    said += f", for {conditions_in_words(fact.under)}" if fact.under else ""
    granted = fact.granted if isinstance(fact, Given) else ()
    return f"{said}; taken for granted: {conditions_in_words(granted)}" if granted else said


# ------------------------------------------------------------------------------------------------- text


def text(d: Derivation, last: int | None = None, reasons: bool = True) -> str:
    """The derivation as text, up to a line; ``reasons`` also says how each line is shown."""
    page = [f"{d.title}  ({d.source})"]
    page += [f"  {latex.plain(symbol)}: {meaning}" for symbol, meaning in d.where.items()]
    for row in rows(d)[:last]:
        if row.heading:
            page.append(f"{row.heading}:")
        left = "" if row.continued else latex.plain(row.fact.left) + " "
        line = f"{left}{TEXT_SIGNS[row.fact.relation]} {latex.plain(row.fact.right)}"
        indent = "      " if row.continued else "  "
        page.append(f"{indent}({row.number}) {line}    [{label(row.fact)}]")
        if reasons and isinstance(row.fact, (Line, Cited)):
            page.append(f"            {why(row.fact)}")
    if last is None:
        page.append(f"so: {statement(d)}    [{d.established}]")
        page += [f"    taken for granted: {conditions_in_words(d.granted)}"] if d.granted else []
    return "\n".join(page)


def statement(d: Derivation) -> str:
    """What is shown, in one line of text."""
    parts = []
    for fact in d.statement:
        under = f" for {conditions_in_words(fact.under)}" if fact.under else ""
        sign = TEXT_SIGNS[fact.relation]
        parts.append(f"{latex.plain(fact.left)} {sign} {latex.plain(fact.right)}{under}")
    return "; ".join(parts)


# ------------------------------------------------------------------------------------------------- formulas


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


def alone(fact: Fact) -> str:
    """One line by itself as a formula for a notebook, its words beside it, or below where they do not fit."""
    drawn, words = pieces(Row(0, fact), SCREEN), _words(label(fact))
    if len(drawn) == len(words) == 1 and latex.width(drawn[0]) + len(label(fact)) < SCREEN:
        return rf"${drawn[0]}\qquad {words[0]}$"
    return _array([*(rf"\displaystyle {piece}" for piece in drawn), *words])


def _array(lines: list[str]) -> str:
    return r"$\begin{array}{l} " + r" \\[6pt] ".join(lines) + r" \end{array}$"


def in_notebook(d: Derivation, last: int | None = None) -> str:
    """The derivation as one formula for a notebook, up to a line."""
    bold, source = d.title.replace("_", r"}\_\textbf{"), _words(f"({d.source})")  # an underscore is no text
    title = rf"\textbf{{{bold}}}"
    lines = [rf"{title}\quad {source[0]}"] if len(d.title + d.source) < _WORDS else [title, *source]
    lines += [rf"{latex.formula(symbol)}:\; {latex.text(meaning)}" for symbol, meaning in d.where.items()]
    for row in rows(d)[:last]:
        if row.heading:
            lines.append(latex.text(f"{row.heading_with_formulas}:"))
        first, *others = _words(label(row.fact))
        lines += [rf"({row.number})\quad {first}", *(rf"\qquad {more}" for more in others)]
        indent = r"\qquad\quad " if row.continued else r"\qquad "
        lines += [rf"{indent}\displaystyle {piece}" for piece in pieces(row, SCREEN)]
    if last is None:
        lines += _words(f"What is shown is {d.established}.")
    return _array(lines)


def _words(words: str) -> list[str]:
    """Words in lines that fit on a screen; formulas among them are not broken."""
    return [latex.text(line) for line in ([words] if "$" in words else textwrap.wrap(words, _WORDS))] or [""]


def to_markdown(d: Derivation) -> str:
    """The derivation in Markdown: formulas between dollars, one numbered line below the other."""
    page = [f"### {d.title}", "", f"*{d.source}*", ""]
    page += [f"- ${latex.formula(symbol)}$: {meaning}" for symbol, meaning in d.where.items()] + [""]
    for row in rows(d):
        if row.heading:
            page += [f"**{row.word}** {conditions_in_words(row.under, formulas=True)}", ""]
        body = r" \\ ".join(f"& {piece}" for piece in pieces(row, SCREEN))
        aligned = rf"\begin{{aligned}} {body} \end{{aligned}} \tag{{{row.number}}}"
        page += [f"({row.number}) {label(row.fact)}", "", f"$${aligned}$$", ""]
    return "\n".join([*page, f"So, {d.established}: {statement(d)}.", ""])


def to_latex(d: Derivation) -> str:
    r"""The derivation as an ``align`` environment: numbered lines, ASCII only; it needs ``amsmath``, ``amssymb``."""
    head = f"% {latex.ascii_words(d.title)} ({latex.ascii_words(d.source)})"
    meanings = [f"${latex.formula(symbol)}$ is {latex.ascii_words(words)}" for symbol, words in d.where.items()]
    entries = [rf"\intertext{{Here {', '.join(meanings)}.}}" + "\n"] if meanings else []
    for row in rows(d):
        words = latex.ascii_words(label(row.fact))
        heading = latex.ascii_words(f"{row.heading_with_formulas}: ") if row.word else ""
        drawn = pieces(row, PAPER)
        # All lines start at one place: a long left side beside a long right one would run off the page.
        indent = r"\quad " if row.continued else ""
        body = " \\notag \\\\\n".join(f"&{indent}{piece}" for piece in drawn) + rf" \tag{{{row.number}}}"
        entries.append(rf"\intertext{{{heading}{words}:}}" + "\n" + body + " \\\\\n")
    body = "".join(entries).removesuffix(" \\\\\n")
    return f"{head}\n\\begin{{align}}\n{body}\n\\end{{align}}\n"
