r"""LaTeX and text as people write formulas: shared by everything that shows itself."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.str import StrPrinter

#: Characters that plain LaTeX does not know, and how it writes them.
_ASCII = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "Δ": r"\Delta", "ε": r"\varepsilon", "λ": r"\lambda",
    "μ": r"\mu", "ν": r"\nu", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "Φ": r"\Phi", "χ": r"\chi",
    "ψ": r"\psi", "Ψ": r"\Psi", "ω": r"\omega", "Γ": r"\Gamma", "θ": r"\theta", "Θ": r"\Theta", "π": r"\pi",
    "Σ": r"\Sigma", "∑": r"\sum", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "∞": r"\infty", "→": r"\to", "↦": r"\mapsto",
    "∈": r"\in", "∉": r"\notin", "−": "-", "·": r"\cdot", "×": r"\times", "…": r"\dots", "‖": r"\|", "√": r"\surd",
    "²": "^2", "³": "^3", "⁴": "^4", "ⁿ": "^n", "½": r"\tfrac12", "∫": r"\int",
    "∏": r"\prod", "∪": r"\cup", "∩": r"\cap", "⊂": r"\subset", "⟨": r"\langle", "⟩": r"\rangle", "ξ": r"\xi",
    "η": r"\eta", "κ": r"\kappa", "Λ": r"\Lambda", "±": r"\pm", "≈": r"\approx", "′": "'", "ζ": r"\zeta",
    "∂": r"\partial", "∧": r"\wedge", "∨": r"\vee",
}  # fmt: skip
_ASCII |= {index: f"_{digit}" for digit, index in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_LETTERS = "".join(c for c in _ASCII if c.isalpha())  # what may have an index: ε0, but not −1
_PLAIN = {"“": "``", "”": "''", "’": "'", "‘": "`", "–": "--", "—": "---", "é": r"\'e", "ó": r"\'o", "ö": r"\"o"}
_SPECIAL = {
    "<": "$<$", ">": "$>$", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}  # fmt: skip
#: Brackets that are as tall as a matrix: a browser stretches characters only if it has a font for mathematics.
_BRACKETS = '<mtable style="border:solid;border-width:0 1.5px;border-radius:0.5em;padding:0 0.3em">'
#: Commands that take no room, and those that take more than one letter's.
_NO_ROOM = {"left", "right", "displaystyle", "bigl", "bigr", "Bigl", "Bigr", "limits", "mathbb", "text", "mathrm"}
_WIDE = {"log": 3, "exp": 3, "operatorname": 2, "min": 3, "max": 3, "le": 2, "ge": 2, "int": 2, "quad": 2, "qquad": 4}


class _Ordered:
    """Sums as people write them: what is added first, what is taken away after it."""

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        terms = super()._as_ordered_terms(expr, order=order)  # type: ignore[misc]
        return sorted(terms, key=lambda term: term.could_extract_minus_sign())


class _Latex(_Ordered, LatexPrinter):  # type: ignore[misc]
    once = staticmethod(sp.cacheit(lambda expr: _Latex().doprint(expr)))  # a derivation is shown in several ways


class _MathML(_Ordered, MathMLPresentationPrinter):  # type: ignore[misc]
    pass


class _Text(_Ordered, StrPrinter):  # type: ignore[misc]
    pass


def formula(expr: Any) -> str:
    r"""One formula; ε is drawn as ``\varepsilon`` as in the papers, text is left as it is.

    >>> n, a, b = sp.symbols("n a b")
    >>> formula(n - a - b)
    'n - a - b'
    """
    if isinstance(expr, str):
        return expr
    drawn = str(_Latex.once(expr)).replace(r"\epsilon", r"\varepsilon")
    # MathJax copies all that follows a control space, and refuses to copy more than 5,000 characters.
    return re.sub(r"(?<!\\)\\ ", r"\\;", drawn)


def mathml(expr: Any) -> str:
    r"""One formula as presentation MathML, which browsers set without a script.

    >>> mathml(sp.exp(sp.Symbol("x")))
    '<msup><mi>e</mi><mi>x</mi></msup>'
    """
    written = str(_MathML({"mat_delim": ""}).doprint(expr))
    return written.replace("&ExponentialE;", "e").replace("<mtable>", _BRACKETS)


def plain(expr: Any) -> str:
    """One formula as text, with what is taken away at the end of a sum.

    >>> n, a, b = sp.symbols("n a b")
    >>> plain(n - a - b)
    'n - a - b'
    """
    return str(_Text().doprint(expr))


_INDEX = re.compile(r"\b([^\W\d_])_(\w+)|_")


def text(words: str) -> str:
    r"""Words between formulas; a part between dollars is a formula, and so is a letter with an index.

    >>> text("A_0 and B")
    '\\text{}A_{0}\\text{ and B}'
    """
    parts = words.split("$")
    return "".join(part if i % 2 else _text(part) for i, part in enumerate(parts) if part)


def _text(words: str) -> str:
    return rf"\text{{{_INDEX.sub(_between_texts, words)}}}"


def _between_texts(match: re.Match[str]) -> str:
    # An underscore breaks the text of one renderer, and an escaped one shows its backslash in another.
    formula = rf"{match[1]}_{{{match[2]}}}" if match[1] else r"\_"
    return rf"}}{formula}\text{{"


def ascii_words(words: str) -> str:
    r"""Words for a LaTeX paper in ASCII: Greek letters and signs become formulas, what is special is escaped.

    >>> ascii_words("γ ≤ 1, $x^2$ & 5 %"), ascii_words("ε0 at −1"), ascii_words("√2 and √π")
    ('$\\gamma$ $\\le$ 1, $x^2$ \\& 5 \\%', '$\\varepsilon _{0}$ at $-1$', '$\\sqrt{2}$ and $\\sqrt{\\pi }$')
    """
    parts = words.split("$")
    return "".join(f"${_letters(part)}$" if i % 2 else _escaped(part) for i, part in enumerate(parts))


def _letters(part: str) -> str:
    return "".join(_ASCII.get(c, _PLAIN.get(c, c)) + (" " if _ASCII.get(c, "").startswith("\\") else "") for c in part)


def _escaped(part: str) -> str:
    # A run of signs and letters with an index is one formula: ε0, x_1.
    def sign(match: re.Match[str]) -> str:
        inner = re.sub(r"√(?:\(([^)]*)\)|(\d+|\w))", lambda root: rf"\sqrt{{{root[1] or root[2]}}}", match.group())
        inner = re.sub(rf"(?<=[{_LETTERS}])(\d)", r"_{\1}", inner)
        inner = re.sub(
            r"\^\(([^)]*)\)|\^(-\([^)]*\)|[^\s]+)$", lambda power: f"^{{{power.group(1) or power.group(2)}}}", inner
        )
        return f"${_letters(inner).strip()}$"

    signs = "".join(_ASCII)
    pattern = re.compile(
        r"\[[^\]]*\]_\+|[A-Za-z]?√(?:\d+|\([^)]*\)|\w)|−\d+|(?<![A-Za-z])[A-Za-z]\^(?:-?\([^)]*\)|[^\s,;.)]+)"
        rf"|[A-Za-z]?[{re.escape(signs)}]+\d?|(?<![A-Za-z])[A-Za-z]'?_(?:\d|[a-z]\b|\{{[^}}]*\}})"
    )
    out, end = [], 0
    for match in pattern.finditer(part):
        out += [_specials(part[end : match.start()]), sign(match)]
        end = match.end()
    return "".join([*out, _specials(part[end:])])


def _specials(part: str) -> str:
    return "".join(_SPECIAL.get(c, _PLAIN.get(c, c)) for c in part)


# ---------------------------------------------------------------------------------------------- long formulas


def width(tex: str) -> float:
    r"""About how many letters wide a formula is: a fraction as its wider part, an index as seven tenths.

    >>> width(r"\frac{a + b}{c}"), width(r"x^{2}")
    (4.0, 1.7)
    """
    return sum(_widths(list(re.findall(r"\\[A-Za-z]+|\\.|[{}^_]|[^\s{}^_\\]", tex))))


def _widths(tokens: list[str]) -> Iterator[float]:
    while tokens:
        token = tokens.pop(0)
        if token in (r"\frac", r"\binom", r"\tfrac", r"\dfrac"):
            yield max(sum(_widths(_group(tokens))), sum(_widths(_group(tokens))))
        elif token in ("^", "_"):
            yield 0.7 * sum(_widths(_group(tokens)))
        elif token == r"\begin" or token == r"\end":
            _group(tokens)
        elif token in "{}" or token.lstrip("\\") in _NO_ROOM or token in (r"\,", r"\;", r"\ ", r"\!"):
            continue
        elif token.startswith("\\"):
            yield _WIDE.get(token[1:], 1)
        else:
            yield 2.0 if token in "+-=<>" else 1.0  # there is space around a sign


def _group(tokens: list[str]) -> list[str]:
    """The next token, or the next group in braces, taken off the list."""
    if not tokens or tokens[0] != "{":
        return [tokens.pop(0)] if tokens else []
    depth, inside = 0, []
    while tokens:
        token = tokens.pop(0)
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0:
            break
        inside.append(token)
    return inside[1:]


def broken(expr: Any, limit: float) -> list[str]:
    r"""A formula in lines of about ``limit`` letters: broken before + and −, between factors, around a long quotient.

    >>> x, y = sp.symbols("x y")
    >>> broken(x**2 + y**2, 100), broken(x**2 + y**2, 4)
    (['x^{2} + y^{2}'], ['x^{2}', '+ y^{2}'])
    """
    whole = formula(expr)
    if isinstance(expr, str) or width(whole) <= limit:
        return [whole]
    if expr.is_Add:
        return _packed(_signed_terms(expr, limit), limit)
    if expr.is_Mul:
        above, below = sp.fraction(expr, exact=True)
        if below != 1 and width(formula(below)) > limit / 4:
            top, bottom = broken(above, limit - 2), broken(below, limit - 4)
            return [*_bracketed(top), *_bracketed(bottom, r"\big/ ")]
        parts = [
            _bracketed(broken(part, limit - 2))
            if part.is_Add
            else [formula(part)]
            if part.is_Mul
            else broken(part, limit)
            for part in _factors(expr)
        ]
        return _packed([piece for part in parts for piece in part], limit)
    if isinstance(expr, sp.Sum):
        sign = formula(sp.Sum(sp.Symbol("X"), *expr.limits)).removesuffix("X")
        first, *rest = _bracketed(broken(expr.function, limit - 6))
        return [sign + first, *rest]
    if isinstance(expr, (sp.log, sp.exp)):
        name, inside = ("log", expr.args[0]) if isinstance(expr, sp.log) else ("exp", expr.exp)
        first, *rest = _bracketed(broken(inside, limit - 4))
        return [rf"\{name}{first}", *rest]
    if isinstance(expr, (sp.Max, sp.Min)):
        *before_last, last = (broken(part, limit - 4) for part in sp.ordered(expr.args))
        listed = [line for part in before_last for line in (*part[:-1], part[-1] + ",")] + last
        return _bracketed(listed, r"\max" if isinstance(expr, sp.Max) else r"\min")
    if isinstance(expr, sp.Tuple):
        return _bracketed(_packed([f"{formula(part)}," for part in expr[:-1]] + [formula(expr[-1])], limit))
    if hasattr(expr, "around"):  # a mean or a positive part
        before, inside, after = expr.around
        lines = broken(inside, limit - 4)
        return [before + lines[0], *lines[1:-1], lines[-1] + after] if len(lines) > 1 else [whole]
    return [whole]


def _factors(expr: sp.Expr) -> list[sp.Expr]:
    """The factors of a product; what is below the line stays one quotient with the numbers."""
    plain_ones = [part for part in expr.args if not (part.is_Add or part.is_Function or isinstance(part, sp.Sum))]
    others = [part for part in expr.args if part not in plain_ones]
    return ([sp.Mul(*plain_ones)] if plain_ones else []) + others


def _bracketed(lines: list[str], before: str = "") -> list[str]:
    return [before + r"\bigl(" + lines[0], *lines[1:-1], lines[-1] + r"\bigr)"] if len(lines) > 1 else [
        before + r"\left(" + lines[0] + r"\right)"
    ]  # fmt: skip


def _signed_terms(expr: sp.Expr, limit: float) -> list[str]:
    first, *rest = _Latex()._as_ordered_terms(expr)
    drawn = broken(first, limit)
    for term in rest:
        negative = term.could_extract_minus_sign()
        inner = -term if negative else term
        head, *tail = _bracketed(broken(inner, limit - 4)) if inner.is_Add else broken(inner, limit - 2)
        drawn += [("- " if negative else "+ ") + head, *tail]
    return drawn


def _packed(pieces: list[str], limit: float) -> list[str]:
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if width(lines[-1]) + width(piece) <= limit and r"\bigr" not in lines[-1]:
            lines[-1] += " " + piece
        else:
            lines.append(piece)
    return lines


# ---------------------------------------------------------------------------------------------- tables


def table(rows: Sequence[Sequence[Any]], notes: Iterable[str] = ()) -> str:
    """An array with a heading column, and what its letters stand for below it."""
    columns = "c|" + "c" * (len(rows[0]) - 1)
    body = r" \\[4pt] ".join(" & ".join(r"\displaystyle " + formula(cell) for cell in row) for row in rows)
    # `gathered` lets the notes stand below the array.
    lines = [rf"\begin{{array}}{{{columns}}} {body} \end{{array}}"]
    if notes := tuple(notes):
        lines.append(r",\quad ".join(notes))
    return r"$\displaystyle \begin{gathered} " + r" \\[6pt] ".join(lines) + r" \end{gathered}$"


def where(bindings: Mapping[sp.Symbol, sp.Expr]) -> list[str]:
    """``t = e^4`` for every symbol that stands for something else."""
    return [f"{formula(s)} = {formula(e)}" for s, e in bindings.items() if s != e]
