r"""LaTeX and text as people write formulas: shared by everything that shows itself.

Words with formulas have their formulas between dollars, as in ``the distribution of $Q_1$``. A terminal, a cell of a
Markdown table and a paper each have their own way to show them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

#: Commands of LaTeX and what a terminal shows for each.
_SAID = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "Theta": "Θ", "kappa": "κ", "lambda": "λ", "Lambda": "Λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "Pi": "Π",
    "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "phi": "φ", "varphi": "φ", "Phi": "Φ", "chi": "χ", "psi": "ψ",
    "Psi": "Ψ", "omega": "ω", "Gamma": "Γ", "zeta": "ζ", "sum": "Σ", "prod": "∏", "int": "∫", "infty": "∞", "le": "≤",
    "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "in": "∈", "notin": "∉", "to": "→",
    "cdot": "·", "times": "×", "dots": "…", "ldots": "…", "|": "‖", "Vert": "‖", "vert": "|", "mid": "|", "sim": "~",
    "wedge": "∧", "vee": "∨", "partial": "∂", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "{": "{",
    "}": "}", "emptyset": "∅", "cup": "∪", "cap": "∩", "subset": "⊂", "langle": "⟨", "rangle": "⟩", "pm": "±",
    "approx": "≈", "ell": "ℓ", "prime": "′", "circ": "∘", "Omega": "Ω",
    ",": " ", ";": " ", ":": " ", " ": " ", "quad": " ", "qquad": " ", "!": "",
    "\\": "; ", "%": "%", "_": "_",
    "log": "log", "exp": "exp", "min": "min", "max": "max", "inf": "inf", "sup": "sup", "lim": "lim", "Pr": "Pr",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "coth": "coth", "sin": "sin", "cos": "cos", "erf": "erf",
}  # fmt: skip
#: Commands that change how something is drawn and not what it says.
_SILENT = set(
    [
        "left",
        "right",
        "displaystyle",
        "textstyle",
        "limits",
        "big",
        "bigl",
        "bigr",
        "Big",
        "Bigl",
        "Bigr",
        "mathbb",
        "mathbf",
        "mathcal",
        "boldsymbol",
        "substack",
    ]
)
_ACCENTS = {"bar": "\u0304", "tilde": "\u0303", "hat": "\u0302", "underline": "\u0332"}
_RAISED = str.maketrans("0123456789+−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")
_LOWERED = str.maketrans("0123456789+−", "₀₁₂₃₄₅₆₇₈₉₊₋")
#: What belongs between dollars: a power, an index, a relation, a Greek letter, a command.
_BARE = re.compile(r"[\^\\{}=<>≤≥≠∈√∞∧²³⁴ⁿ₀-₉Α-ω−]|(?<![A-Za-z])[A-Za-z]'?_|[)\]]_")
#: What MathJax refuses or leaves out: a power in text, two indices of one thing, one of nothing, an argument too few.
_BROKEN = re.compile(
    r"\\(?:text|mathrm|operatorname)\s*\{[^{}]*[\^_]|([\^_])(?:\{[^{}]*\}|\\[A-Za-z]+|[^\s{}\\])\s*\1"
    r"|[\^_]\s*(?:[\^_}&]|$)|\\(?:frac|sqrt|binom)\s*(?:[}&]|$)|\\(?:frac|binom)\s*(?:\{[^{}]*\}|\w)\s*(?:[}&]|$)"
    r"|(?<!\\)[%#]|^\s*$|^(?!.*\\begin).*(?<!\\)&"
)
#: Characters of words that are special in LaTeX, or not ASCII, and how LaTeX writes them.
_ESCAPED = str.maketrans({
    "“": "``", "”": "''", "’": "'", "‘": "`", "–": "--", "—": "---", "…": r"\dots{}", "é": r"\'e", "ó": r"\'o",
    "ö": r"\"o", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_",
})  # fmt: skip
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
    drawn = str(_Latex.once(expr)).replace(r"\epsilon", r"\varepsilon").replace("_{infinity}", r"_{\infty}")
    # MathJax copies all that follows a control space, and refuses to copy more than 5,000 characters.
    return re.sub(r"(?<!\\)\\ ", r"\\;", drawn)


def code(expr: Any) -> str:
    """One formula as a program writes it, with what is taken away at the end of a sum.

    >>> n, a, b = sp.symbols("n a b")
    >>> code(n - 2 * a - b)
    'n - 2*a - b'
    """
    return str(_Text().doprint(expr))


def plain(expr: Any) -> str:
    """One formula as text that people read.

    >>> n, a, b = sp.symbols("n a beta_1")
    >>> plain((n - 2 * a) / b**2)
    '(n − 2 a)/β₁²'
    """
    return in_text(f"${formula(expr)}$")


# ----------------------------------------------------------------------------------------- words with formulas


def refuse_bare(words: str) -> None:
    r"""Raise unless every formula in some words stands between dollars, and is one that can also be read as text.

    >>> refuse_bare("the distribution of $Q_1$")
    >>> refuse_bare("the distribution of Q_1")
    Traceback (most recent call last):
    ...
    ValueError: words must have their formulas between dollars, got 'Q_' outside of them in 'the distribution of Q_1'
    """
    parts = re.sub("`[^`]*`", "", words).split("$")
    if len(parts) % 2 == 0:
        raise ValueError(f"words must have a dollar before and after each formula, got an odd number in {words!r}")
    for part in parts[::2]:
        if bare := _BARE.search(part):
            raise ValueError(
                f"words must have their formulas between dollars, got {bare[0]!r} outside of them in {words!r}"
            )
    in_text(words)


def _by_parts(words: str, outside: Callable[[str], str], inside: Callable[[str], str]) -> str:
    return "".join(inside(part) if i % 2 else outside(part) for i, part in enumerate(words.split("$")))


def in_text(words: str) -> str:
    r"""Words with formulas as a terminal shows them; an unknown symbol is refused.

    >>> in_text(r"at least $e^{-\varepsilon_0}$, where $\frac{a + b}{2 c} \le \left[u\right]_{+}$")
    'at least e^(−ε₀), where (a + b)/(2 c) ≤ [u]₊'
    """
    return _by_parts(words, str, _read)


def in_markdown(words: str) -> str:
    r"""Words with formulas for a cell of a table in Markdown, where a bar ends the cell.

    >>> print(in_markdown("where $|x| < 1$"))
    where $\vert x\vert   \lt  1$
    """

    def without_bars(tex: str) -> str:
        for sign, name in ((r"\|", r"\Vert "), ("|", r"\vert "), ("<", r" \lt "), (">", r" \gt ")):
            tex = tex.replace(sign, name)
        return f"${tex}$"

    return _by_parts(words, str, without_bars)


def in_paper(words: str) -> str:
    r"""Words with formulas for LaTeX, in ASCII.

    >>> print(in_paper("Rényi: 5 % of $x_1$"))
    R\'enyi: 5 \% of $x_1$
    """
    return _by_parts(words.replace("`", ""), lambda part: part.translate(_ESCAPED), "${}$".format)


def text(words: str) -> str:
    r"""Words with formulas as a part of a formula.

    >>> text("$k$-RR")
    'k\\text{-RR}'
    """
    return _by_parts(words, lambda part: rf"\text{{{part}}}" if part else "", str)


_NO_SUM = re.compile(r"−?(?:[^()\[\]+−]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])*")
_WHOLE = re.compile(r"\d+|\w['₀-₉⁰-⁹¹²³ⁿ]*(\([^()]*\))?|\([^()]*\)|(Pr|E)\[[^\[\]]*\]")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|[^\\\s]")


def _read(tex: str) -> str:
    """A formula as a line of text."""
    signs = [
        re.findall(r"\\.[a-z]*|[{}]", tex).count(sign) for sign in ("{", r"\left", r"\begin", "}", r"\right", r"\end")
    ]
    if not tex.isascii() or _BROKEN.search(tex) or signs[:3] != signs[3:]:
        raise ValueError(f"a formula must be LaTeX that MathJax draws, in ASCII, its braces in pairs, got {tex!r}")
    said = re.sub(r"\s+", " ", _say(_TOKEN.findall(tex)))
    return re.sub(r"(?<=[(\[⌊⌈]) | (?=[)\],;⌋⌉])", "", said).strip()


def _say(tokens: list[str]) -> str:
    said = ""
    while tokens:
        token = tokens.pop(0)
        name = token.removeprefix("\\")
        if token == "{":
            tokens.insert(0, token)
            said += _say(_group(tokens))
        elif token in "^_":
            said += _script(token, _argument(tokens))
        elif name in ("frac", "tfrac", "dfrac"):
            said += f"{_held(_argument(tokens), _NO_SUM)}/{_held(_argument(tokens))} "
        elif name in ("binom", "tbinom"):
            said += f"binom({_argument(tokens)}, {_argument(tokens)})"
        elif name == "sqrt":
            said += f"√{_held(_argument(tokens))}"
        elif name in ("text", "mathrm", "operatorname"):
            said += "".join(_group(tokens))
        elif name in ("begin", "end"):
            said += "{" if (_argument(tokens), name) == ("cases", "begin") else ""
        elif name in _ACCENTS:
            said += _argument(tokens) + _ACCENTS[name]
        elif not token.startswith("\\"):
            said += {"-": "−", "&": " ", "*": "·"}.get(token, token)
        elif name in _SILENT:
            del tokens[: tokens[:1] == ["."]]  # a bracket that is not drawn
        elif name in _SAID:
            said += _SAID[name]
        else:
            raise ValueError(f"a formula must be written with symbols that are known, got {token!r}")
    return said


def _argument(tokens: list[str]) -> str:
    while tokens and tokens[0].isspace():
        tokens.pop(0)
    return re.sub(r"\s+", " ", _say(_group(tokens))).strip()


def _held(part: str, whole: str | re.Pattern[str] = _WHOLE) -> str:
    """A part of a formula in brackets, unless it is whole without them."""
    return part if re.fullmatch(whole, part) else f"({part})"


def _script(sign: str, part: str) -> str:
    part = re.sub(r"^− ", "−", part)
    small = part.translate(_RAISED if sign == "^" else _LOWERED)
    if not any(c in part for c in small) and part:
        return small
    return f"{sign}{part}" if len(part) == 1 or re.fullmatch(r"\w[₀-₉]*|\w+", part) else f"{sign}({part})"


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
            return [*_bracketed(broken(above, limit - 2)), *_bracketed(broken(below, limit - 4), r"\big/ ")]
        # What is below the line stays one quotient with the numbers.
        apart = [part for part in expr.args if part.is_Add or part.is_Function or isinstance(part, sp.Sum)]
        together = [part for part in expr.args if part not in apart]
        pieces = [formula(sp.Mul(*together))] if together else []
        for part in apart:
            pieces += _bracketed(broken(part, limit - 2)) if part.is_Add else broken(part, limit)
        return _packed(pieces, limit)
    if isinstance(expr, (sp.Sum, sp.log, sp.exp)):
        if isinstance(expr, sp.Sum):
            before, inside = formula(sp.Sum(sp.Symbol("X"), *expr.limits)).removesuffix("X"), expr.function
        else:
            before, inside = (r"\log", expr.args[0]) if isinstance(expr, sp.log) else (r"\exp", expr.exp)
        return _bracketed(broken(inside, limit - (6 if isinstance(expr, sp.Sum) else 4)), before)
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
