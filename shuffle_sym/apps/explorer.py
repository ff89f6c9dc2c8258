r"""The explorer: sliders over live curves, a table of the numbers, and the lines of Python that reproduce them.

A `View` writes down what is asked as lines of Python: its code is these lines, and its numbers are their values. `app`
puts widgets around a `View`; everything else works without them.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import io
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from html import escape
from operator import mul, truediv
from typing import Any

import sympy as sp
from matplotlib import rc_context
from matplotlib.figure import Figure

import shuffle_sym
from shuffle_sym.accounting.risk import in_words
from shuffle_sym.algebra import arguments, cards, rounding, texts
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.plots.style import COLOURS, on_paper
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.randomizer import Randomizer

__all__ = ["LATE", "App", "Line", "Settings", "View", "app", "exported", "late", "live"]

#: What can be on the chart, by what runs along it: the button, and the labels of the axes.
CHARTS = {
    "eps": ("δ(ε)", "central ε", "δ(ε)"),
    "n": ("ε(n)", "users n", "ε at δ = {delta}"),
    "rounds": ("ε(rounds)", "rounds", "ε at δ = {delta}"),
    "level": ("ε₀ or σ for a target ε", "target ε at δ = {delta}", "{level}"),
}
#: Randomizers that are typed in: what they take, and what that is at first.
TYPED = {
    "matrix": {"rows": "0.7 0.2 0.1; 0.2 0.6 0.2; 0.1 0.2 0.7"},
    "density": {"density": "exp(-2*abs(y - x))", "least": "0", "greatest": "1"},
}
#: What is drawn only when the sliders have come to rest, in this order: together it takes longer than M itself.
LATE = ("Feldman", "Bennett", "blanket", "clones", "shared")

# ------------------------------------------------------------------------------------------------- what is asked for


@dataclass(frozen=True, repr=False)
class Settings:
    """What the sliders and fields say; numbers are texts, read exactly. ``parameters`` are those of the randomizer.

    ``other``, with ``other_parameters``, is a second randomizer, which a ``share`` of the users has; 0 compares the
    two. Each user takes part with probability ``q``. On the horizontal axis is ``over``: "eps", "n", "rounds", or
    "level" for the ε of a target.

    >>> Settings(n="1000").parameters, Settings(n="1000")
    ({'k': '10', 'eps0': '4'}, Settings(n='1000'))
    """

    randomizer: str = "krr"
    parameters: Mapping[str, str] = field(default_factory=lambda: {"k": "10", "eps0": "4"})
    n: str = "10000"
    delta: str = "1e-6"
    rounds: str = "1"
    other: str = ""
    other_parameters: Mapping[str, str] = field(default_factory=dict)
    share: str = "0"
    q: str = "1"
    over: str = "eps"

    def __repr__(self) -> str:
        """What differs from where the explorer starts."""
        start, own = ({f.name: getattr(x, f.name) for f in fields(x)} for x in (Settings(), self))
        return f"Settings({', '.join(f'{key}={value!r}' for key, value in own.items() if value != start[key])})"

    @property
    def many(self) -> bool:
        """Whether there may be several rounds."""
        return self.over == "rounds" or texts.read(self.rounds, "rounds") != 1

    @property
    def grouped(self) -> bool:
        """Whether some users have one randomizer and some the other."""
        return bool(self.other) and texts.read(self.share, "share") != 0

    @property
    def axis(self) -> str:
        """What runs along the axis; of a level, the number that makes the randomizer more or less private."""
        level = {"eps0", "sigma"} & {*self.parameters}
        if arguments.one_of(self.over, "over", CHARTS) == "level" and not level:
            raise ValueError(f"over must not be 'level': {self.randomizer} has no eps0 or sigma to choose")
        if self.over == "n" and self.grouped:
            raise ValueError("over must not be 'n' for two groups of users")
        return level.pop() if self.over == "level" else self.over


def live() -> tuple[str, ...]:
    """The randomizers of the catalogue, and those that are typed in.

    >>> {"krr", "gaussian", "matrix", "density"} <= {*live()}, "clones" in live()
    (True, False)
    """
    makers: Mapping[str, Any] = catalogue.makers()
    kinds = (Randomizer, Continuous)
    return (*(name for name, make in makers.items() if isinstance(make, type) and issubclass(make, kinds)), *TYPED)


def late(settings: Settings) -> tuple[str, ...]:
    """What is drawn only when sliders with these ``settings`` rest, because it takes longer than a move may.

    >>> late(Settings()), "certified" in late(Settings("laplace", {"eps0": "2"}))
    (('other', 'Feldman', 'Bennett', 'blanket', 'clones', 'shared'), True)
    """
    noise = _is_noise(settings.randomizer)
    if not (settings.many or settings.grouped or noise):
        return ("other", *LATE)
    # The blanket of noise, or of several rounds, is quicker than all datasets.
    blanket_is_quick = not settings.many if noise else settings.over == "eps"
    return ("certified", "other", *(name for name in LATE if name != "blanket" or not blanket_is_quick))


def _is_noise(randomizer: str) -> bool:
    """Whether a message can be any number: then the two ends of the mechanism take longer than a move may."""
    if randomizer in ("", *TYPED):
        return randomizer == "density"
    return issubclass(catalogue.find(randomizer)[1], Continuous)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------- lines of Python


def _number(text: str, called: str) -> str:
    """How Python writes a number that was typed; the package reads a text as exactly what it says.

    >>> [_number(text, "x") for text in ("0.1", "1e4", "log(3)", "1/3")]
    ['0.1', '10000', "'log(3)'", "'1/3'"]
    """
    exact = texts.read(text, called)
    written = str(exact) if exact.is_Integer else repr(float(exact))
    is_exact = exact.is_Rational and exact >= 0 and sp.Rational(written) == exact
    return written if is_exact else repr(str(exact))


def _made(randomizer: str, given: Mapping[str, str], free: str) -> str:
    """The call that makes a randomizer; the parameter that is ``free`` is a gap."""
    if (known := randomizer if randomizer in TYPED else catalogue.find(randomizer)[0]) not in live():
        raise ValueError(f"randomizer must be one of {', '.join(live())}, got {known}")
    if randomizer in TYPED and {*given} != {*TYPED[randomizer]}:
        raise ValueError(f"{randomizer} takes {', '.join(TYPED[randomizer])}, got {', '.join(given)}")
    if randomizer == "matrix":
        return f"ss.from_matrix({texts.rows(given['rows'], 'matrix')})"
    if randomizer == "density":
        texts.read(given["density"], "density", "x", "y")
        formula = ast.unparse(ast.parse(given["density"].strip(), mode="eval"))  # without what is no formula
        ends = ", ".join(_number(given[end], end) for end in ("least", "greatest"))
        return f"ss.from_density(ss.algebra.texts.read({formula!r}, 'density', 'x', 'y'), inputs=[{ends}])"
    maker = catalogue.find(randomizer)[1].__name__
    taken = catalogue.arguments_for(randomizer, given).items()
    written = ", ".join(f"{key}={'{axis}' if key == free else _number(text, key)}" for key, text in taken)
    return f"{'ss' if maker in shuffle_sym.__all__ else 'ss.randomizers'}.{maker}({written})"


_KNOWN = {"ss": shuffle_sym, "min": min, "max": max}
#: All that a line may ask for, beside the randomizers of the catalogue.
_WORDS = (
    "Shuffle", "Sampled", "from_matrix", "from_density", "randomizers", "algebra", "texts", "read", "decomposition",
    "blanket", "clones", "clones_shared", "bounds", "feldman2020_thm31", "balle2019_bennett", "basic_composition",
    "compose", "epsilon", "delta", "upper", "eps0",
)  # fmt: skip
_OPERATORS: dict[type, Any] = {ast.Mult: mul, ast.Div: truediv}


@lru_cache(maxsize=8192)
def _value(code: str) -> Any:
    """The value of a line that a `View` wrote: some calls of the package with numbers and texts, and nothing else.

    Every part of a line is kept: what two lines have in common is made once, and remembers what it derived.

    >>> _value("ss.Shuffle(ss.BinaryRR(eps0=1), n=1).epsilon(0.9).upper * 3"), _value("ss.algebra.names")
    Traceback (most recent call last):
    ValueError: only calls of the package are read, got ss.algebra.names
    """
    match ast.parse(code, mode="eval").body:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name) if name in _KNOWN:
            return _KNOWN[name]
        case ast.Attribute(value=owner, attr=name) if name in _WORDS or name.lower() in catalogue.makers():
            return getattr(_part(owner), name)
        case ast.Subscript(value=owner, slice=index):
            return _part(owner)[_part(index)]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_part(left), _part(right))
        case ast.List(elts=parts):
            return [_part(x) for x in parts]
        case ast.Tuple(elts=parts):
            return tuple(_part(x) for x in parts)
        case ast.Call(func=function, args=args, keywords=named):
            return _part(function)(*map(_part, args), **{str(each.arg): _part(each.value) for each in named})
    raise ValueError(f"only calls of the package are read, got {code}")


def _part(node: ast.expr) -> Any:
    return _value(ast.unparse(node))


#: An eye sees no less; the two ends of noise are further apart; of δ after several rounds, thinner than the line.
_RTOL, _COARSE_RTOL, _NOISE_RTOL, _ROUNDS_RTOL = 0.01, 0.02, 0.1, 0.2
_POINTS, _SLOW_POINTS, _MOVING_POINTS = 11, 5, 2  # of a curve δ(ε): more of them take longer than a move may


@dataclass(frozen=True)
class Line:
    """One analysis: its name, how it is drawn, what it is ``about``, and how Python writes it, with names in braces.

    >>> [line.name for line in View(Settings()).lines]
    ['Feldman', 'Bennett', 'clones', 'shared', 'blanket', 'certified']
    """

    name: str
    letter: str  #: of a mechanism; a bound has none, is dashed, and may say nothing somewhere
    colour: str
    about: str
    source: str  #: what is shuffled or, of a bound, its ε at a δ
    delta: str = ""  #: of a bound, its δ at an ε where that is cheap; if not, one point is drawn

    @property
    def ends(self) -> tuple[str, ...]:
        """Which ends count: both of what is true of a mechanism, the upper one of a bound."""
        return ("upper", "lower") if self.letter in ("M", "N") else ("upper",)


_FELDMAN, _BENNETT = "Theorem 3.1 (Feldman et al. 2020)", "Bennett (Balle et al. 2019)"
_TRUE = "two datasets attain the lower end, the upper end holds for all"
_SHARED = "clones if all users have one randomizer with this ε₀"
#: What is compared, the largest ε usually first.
_LINES = (
    Line("Feldman", "", COLOURS[3], f"closed form, {_FELDMAN}", "ss.bounds.feldman2020_thm31({eps0}, {n}, {share})"),
    Line(
        "Bennett",
        "",
        "#808080",
        f"closed form, {_BENNETT}",
        "ss.bounds.balle2019_bennett({eps0}, {n}, {share})",
        "ss.bounds.balle2019_bennett.delta({eps0}, {n}, {part})",
    ),
    Line("simple", "", "#A0622D", "one round; of two groups, each without the messages of the other", "{alone}"),
    Line("clones", "C", COLOURS[1], "holds for every randomizer with this ε₀", "ss.decomposition.clones({eps0})"),
    Line("shared", "S", COLOURS[5], _SHARED, "ss.decomposition.clones_shared({eps0})"),
    Line("blanket", "B", COLOURS[2], "the privacy blanket of this randomizer alone", "ss.decomposition.blanket({R})"),
    Line("certified", "M", COLOURS[0], f"this randomizer: {_TRUE}", "{R}"),
    Line("other", "N", COLOURS[4], f"the other randomizer: {_TRUE}", "{O}"),
)


class View:
    """The numbers, the chart and the code for some settings; lines named in ``skip`` are left open.

    >>> view = View(Settings(randomizer="binaryrr", parameters={"eps0": "log(3)"}, n="1", delta="1/4"))
    >>> sp.log(2) in view.answers["certified"]       # one user: δ = (3 − α)/4
    True
    """

    def __init__(self, settings: Settings, skip: Collection[str] = ()) -> None:
        self.settings, self.skip, self.axis = settings, frozenset(skip), settings.axis
        self.swept, many, grouped = self.axis != "eps", settings.many, settings.grouped
        arguments.between_0_and_1(settings.delta, "delta")
        typed = {**settings.parameters, **{name: getattr(settings, name) for name in ("delta", "n", "rounds")}}
        #: Where the settings are on the horizontal axis, if it is not that of ε.
        self.here = _number(typed[self.axis], self.axis) if self.swept else "0"
        self.now = float(texts.read(self.here.strip("'"), self.axis))
        #: Name → what is put in its place, which may contain the names before it.
        numbers = {name: _number(typed[name], name) for name in ("delta", "n", "rounds")}
        self._names = {name: "{axis}" if name == self.axis else text for name, text in numbers.items()}
        exact = f"ss.algebra.texts.read('{texts.read(settings.delta, 'delta')}', 'delta')"
        self._names["share"] = f"{exact} / {{rounds}}" if many else "{delta}"
        self._names["part"] = "{axis} / {rounds}" if many else "{axis}"
        self._names["R"] = self._made(settings.randomizer, settings.parameters)
        if settings.other:
            self._names["O"] = self._made(settings.other, settings.other_parameters)
        self.R: Any = _value(self._filled("{R}"))
        self.noise = _is_noise(settings.randomizer) or _is_noise(settings.other)
        #: How sharp ε is, where not as sharp as every answer is; δ is as sharp, or sharp enough for a chart.
        self._rtol = _COARSE_RTOL if many else _NOISE_RTOL if self.noise else _COARSE_RTOL if self.swept else None
        self._names["eps0"] = "{R}.eps0"
        if settings.q == "1" and "eps0" in settings.parameters:
            self._names["eps0"] = "{axis}" if self.axis == "eps0" else _number(typed["eps0"], "eps0")
        n = int(texts.read(settings.n, "n"))
        size = int(n * texts.read(settings.share, "share"))
        groups = [("{R}", n - size), ("{O}", size)] if grouped else [("{R}", "{n}")]
        ends = [f"ss.Shuffle({R}, n={m}).epsilon({{share}}, rtol={_COARSE_RTOL}).upper" for R, m in groups]
        self._names["alone"] = f"max({', '.join(ends)})" if grouped else ends[0]
        both = f"[{', '.join(f'({R}, {m})' for R, m in groups)}]"
        for line in (line for line in self.lines if line.letter):
            shuffled = f"ss.Shuffle({both if grouped else f'{line.source}, n={{n}}'})"
            self._names[line.letter] = shuffled + ".compose({rounds})" if many else shuffled

    def _made(self, randomizer: str, parameters: Mapping[str, str]) -> str:
        R, q = _made(randomizer, parameters, self.axis), self.settings.q
        return R if texts.read(q, "q") == 1 else f"ss.Sampled({R}, q={_number(q, 'q')})"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What is compared, the largest ε usually first."""
        many, grouped, noise = self.settings.many, self.settings.grouped, _is_noise(self.settings.randomizer)
        # The blanket needs a pair of inputs that is the worst, clones an ε0 that is finite and that of all users.
        one_pair = isinstance(self.R, Continuous) or len(self.R.pairs()) == 1
        every = not grouped and self.R.eps0.is_finite is not False
        wanted = {
            **dict.fromkeys(("Feldman", "Bennett", "clones"), every),
            "shared": every and not self.swept,
            # Where neither M nor its blanket is quick, there is a bound that is.
            "simple": grouped or (many and (self.swept or not one_pair or self.noise)),
            "blanket": one_pair and not grouped and (not self.swept or (noise and not many)),
            "other": bool(self.settings.other) and not grouped,
        }
        return tuple(line for line in _LINES if wanted.get(line.name, True))

    # -- lines of Python

    def _epsilon(self, line: Line) -> str:
        """How a line is asked for ε; several rounds of a bound by basic composition."""
        if line.letter:
            return f"{{{line.letter}}}.epsilon({{delta}}{f', rtol={self._rtol}' if self._rtol else ''})"
        composed = f"ss.bounds.basic_composition({line.source}, {{share}}, {{rounds}})[0]"
        return composed if self.settings.many else line.source

    def _along_axis(self, line: Line) -> str:
        """How a line is asked for what is drawn: δ at ε, or ε where something else runs along the axis."""
        if self.swept:
            return self._epsilon(line)
        if line.letter:
            rtol = _ROUNDS_RTOL if self.settings.many and len(line.ends) == 1 else self._rtol or _RTOL
            return f"{{{line.letter}}}.delta({{axis}}, rtol={rtol})"
        return f"min(1.0, {{rounds}} * {line.delta})" if line.delta and self.settings.many else line.delta

    def _filled(self, question: str, at: str = "", letters: bool = False) -> str:
        """A question with all names filled in, or with ``letters`` for what has one, ``at`` some place on the axis."""
        names = {"axis": at or self.here}
        for name, meant in self._names.items():
            names[name] = name if letters and len(name) == 1 and name.isupper() else meant.format_map(names)
        return question.format_map(names)

    @property
    def code(self) -> str:
        """Python that reproduces the table (``answers``) and the curves (``curves``) to the last digit."""
        written = partial(self._filled, at=self.axis, letters=not self.swept)
        asked = [line for line in self.lines if line.name in self.answers]
        used = ["R", "O", *(line.letter for line in asked)]
        made = [f"{name} = {written(meant)}\n" for name, meant in self._names.items() if name in used]
        made = [f"{self.axis} = {self.here}\n"] if self.swept else made
        answers = [f"    {line.name!r}: {written(self._epsilon(line))},\n" for line in asked]
        curves = [
            f"    {line.name!r}: [{written(self._along_axis(line))} for {self.axis} in "
            f"{'grid' if self.points(line) is self.grid else self.points(line)}],\n"
            for line in self.lines
            if line.name in self.curves
        ]
        return (
            "import shuffle_sym as ss\n"
            f"# The explorer as it is here: explorer.app(explorer.{self.settings!r})\n\n"
            f"{''.join(made)}\n"
            f"answers = {{\n{''.join(answers)}}}\ngrid = {self.grid}\ncurves = {{\n{''.join(curves)}}}\n"
        )

    # -- the values of these lines

    def _ask(self, question: str, at: str = "") -> Any:
        """The answer, or the refusal of a theorem that says nothing there."""
        try:
            return _value(self._filled(question, at))
        except ValueError as refusal:
            return refusal

    @cached_property
    def asked(self) -> dict[str, Any]:
        """Name → ε at δ, or the refusal of a theorem that says nothing here."""
        asked = {line: self._ask(self._epsilon(line)) for line in self.lines if line.name not in self.skip}
        for line, answer in asked.items():
            if line.letter and isinstance(answer, ValueError):
                raise answer
        return {line.name: answer for line, answer in asked.items()}

    @property
    def answers(self) -> dict[str, Any]:
        """Name → ε at δ: an `Interval`, or a number for a closed form."""
        return {title: answer for title, answer in self.asked.items() if not isinstance(answer, ValueError)}

    @cached_property
    def grid(self) -> list[Any]:
        """Few places on the axis, the same for settings that are near: what was computed for one serves the other."""
        if self.swept:
            places, here = _places(self.axis, self.now), int(self.now) if self.now.is_integer() else self.now
            return sorted({places[0], here, places[-1]}) if self.skip else places
        ends = {name: end(answer, "upper") for name, answer in self.answers.items()}
        # A bound that is much wider may leave the chart.
        shown = [ends[name] for name in ("certified", "other", "clones") if name in ends] or [*ends.values()]
        return _steps(1.3 * max(shown) or 1.0, _POINTS)

    def points(self, line: Line) -> list[Any]:
        """Where a ``line`` is asked: at few ε while sliders move, not beyond the answer where δ takes long."""
        answer, few = self.answers.get(line.name), bool(self.skip) or self.settings.grouped
        if self.swept or not (few or self.settings.many or self.noise) or not isinstance(answer, Interval):
            return self.grid
        places = _steps(answer.upper or 1.0, _SLOW_POINTS)[: _MOVING_POINTS if few else None]
        return [eps for eps in places if eps < answer.lower]

    @cached_property
    def curves(self) -> dict[str, list[Any]]:
        """Name → δ at its points, or ε where something else than ε runs along the axis."""
        curves = {
            line.name: [self._ask(self._along_axis(line), repr(at)) for at in self.points(line)]
            for line in self.lines
            if line.name in self.answers and self._along_axis(line)
        }
        # A theorem that says nothing at some place is left out.
        return {name: curve for name, curve in curves.items() if not any(isinstance(x, ValueError) for x in curve)}

    # -- how it looks

    @property
    def _answer_first(self) -> list[Line]:
        """The lines; on the chart, the bands that come first lie under what may touch them."""
        return sorted(self.lines, key=lambda line: len(line.ends), reverse=True)

    @property
    def chart(self) -> str:
        """The picture, as HTML."""
        return cards.image(_picture(self, "svg").decode())

    @property
    def table(self) -> str:
        """ε at δ for every line, as HTML; the answer comes first."""
        rows = ""
        for line in self._answer_first:
            said, about = _row(self, line)
            rows += (
                f"<tr><td style='border-left:6px solid {line.colour};padding:4px 16px 4px 8px'>{line.name}</td>"
                f"<td style='text-align:right;padding-right:16px;white-space:nowrap'>{said}</td>"
                f"<td style='text-align:left'>{escape(about)}</td></tr>"
            )
        head = f"<th></th><th>ε at δ = {escape(self.settings.delta)}</th><th style='text-align:left'>what it is</th>"
        table = f"<table><tr>{head}</tr>{rows}</table>"
        if self.swept or not self.curves.get("certified"):
            return table
        # Half of δ at ε = 0, where a curve begins, is added to a guess.
        right = min(rounding.above((1 + end(self.curves["certified"][0], "upper")) / 2), 1.0)
        return f"{table}<p>For one person: {in_words(right)}</p>"

    def __repr__(self) -> str:
        return f"View({self.settings})"

    def _repr_html_(self) -> str:
        return f"{self.chart}{self.table}"


def _steps(least: float, count: int) -> list[float]:
    """So many steps from 0 to the next round number."""
    scale = 10.0 ** math.floor(math.log10(least))
    last = scale * next(digit for digit in (1, 1.5, 2, 3, 5, 7, 10) if digit * scale >= least * (1 - 1e-12))
    return [round(last * i / (count - 1), 9) for i in range(count)]


def _places(axis: str, now: float) -> list[Any]:
    """Where ε is asked for along an axis: users by decades, rounds by powers of two, a level around where it is."""
    if axis == "n":
        middle = max(3, round(math.log10(now)))
        return [10**i for i in range(middle - 2, middle + 3)]
    if axis == "rounds":
        return [2**i for i in range(max(3, math.ceil(math.log2(now))) + 1)]
    shares = (1, 1.25, 1.5, 2, 3) if axis == "sigma" else (0.5, 0.75, 1, 1.25, 1.5)  # little noise takes long
    return [float(f"{now * share:.3g}") for share in shares]


# ------------------------------------------------------------------------------------------------ chart and table


def end(value: Any, which: str) -> float:
    """One end of an interval; a number is both of its ends."""
    return float(getattr(value, which)) if isinstance(value, Interval) else float(value)


def _row(view: View, line: Line) -> tuple[str, str]:
    """What a line says, and what it is; of the mechanism, also where its ends come from."""
    answer, about = view.asked.get(line.name), line.about
    if not line.letter and view.settings.many:
        about += ", basic composition"
    if answer is None:
        return "…", about
    if isinstance(answer, ValueError):
        return "says nothing here", f"{about}: {answer}"
    answer = answer if isinstance(answer, Interval) else Interval(answer, answer)
    lower, upper = answer.shown
    if len(line.ends) == 1:
        return f"≤ {upper}", about
    why = f"; upper end: {answer.upper_by}, lower end: {answer.lower_by}" if answer.upper_by else ""
    return f"{lower} … {upper}", about + why


def exported(view: View, kind: str) -> bytes:
    """The chart of a ``view`` as the ``kind`` "svg" or "pdf", or its numbers as "csv".

    >>> from shuffle_sym.apps import explorer
    >>> exported(explorer.View(explorer.Settings(n="1000")), "csv").splitlines()[1]
    b'line,eps,lower,upper'
    """
    if arguments.one_of(kind, "kind", ("svg", "pdf", "csv")) != "csv":
        return _picture(view, kind)
    rows = [f"# {view.settings!r}", f"line,{view.settings.over},lower,upper"]
    for line in view.lines:
        for at, value in zip(view.points(line), view.curves.get(line.name, ()), strict=False):
            lower = end(value, "lower") if "lower" in line.ends else ""
            rows.append(f"{line.name},{at},{lower},{end(value, 'upper')}")
    return ("\n".join(rows) + "\n").encode()


def _picture(view: View, kind: str) -> bytes:
    written, same_each_time = io.BytesIO(), {"Date": None} if kind == "svg" else None
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "explorer"}):  # letters are letters, which is smaller
        drawn(view).figure.savefig(written, format=kind, metadata=same_each_time)
    return written.getvalue()


def drawn(view: View) -> Any:
    """The axes of the chart: a band for what has two ends, a line or a dot for a bound, and where the settings are."""
    ax = on_paper(Figure(figsize=(7.9, 4.0)).add_axes((0.09, 0.13, 0.66, 0.84)))
    over, delta = view.settings.over, float(texts.read(view.settings.delta, "delta"))
    names = {"delta": view.settings.delta, "level": {"eps0": "ε₀"}.get(view.axis, "σ")}
    _, xlabel, ylabel = (text.format_map(names) for text in CHARTS[over])
    ax.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if over == "n" else "linear")
    ax.set(yscale="linear" if over == "level" else "log")
    if over == "eps":
        below = 1 if view.settings.many or view.noise else 3  # decades: such curves end at δ
        ax.minorticks_off()  # most of the time of a picture
        ax.set(xlim=(0, view.grid[-1]), ylim=(10.0 ** (math.floor(math.log10(delta)) - below), 1))
    (ax.axvline if over in ("n", "rounds") else ax.axhline)(view.now or delta, color="#333", lw=0.8, ls=":")
    for line in view._answer_first:
        # A dot that is off the chart is not in its legend either.
        if line.name in view.answers and (
            view.curves.get(line.name) or end(view.answers[line.name], "upper") <= view.grid[-1]
        ):
            _draw(ax, view, line, delta)
    ax.figure.legend(loc="upper left", bbox_to_anchor=(0.76, 0.98), frameon=False)
    return ax


def _draw(ax: Any, view: View, line: Line, delta: float) -> None:
    """A line of the chart, or a dot; a curve δ(ε) that is asked for only up to its answer ends there, at ``delta``."""
    paths, values = [], view.curves.get(line.name, [])
    for which in line.ends:
        answer = end(view.answers[line.name], which)
        path = [(x, end(value, which)) for x, value in zip(view.points(line), values, strict=False)]
        if not view.swept and (not path or answer > path[-1][0]):
            path.append((answer, delta))
        paths.append([point[::-1] if view.settings.over == "level" else point for point in path])
        style = {"lw": 2.5 if len(line.ends) == 2 else 1.5, "ls": "-" if line.letter else "--"}
        label = line.name if which == "upper" else None
        ax.plot(
            *zip(*paths[-1], strict=True), label=label, color=line.colour, marker="o" if len(path) == 1 else "", **style
        )
    if len(paths) == 2:
        ax.fill(*zip(*paths[0], *paths[1][::-1], strict=True), color=line.colour, alpha=0.3, lw=0)


# -------------------------------------------------------------------------------------------------------- widgets

_REST = 0.05  # seconds without a move: then the sliders have come to rest
#: Where a randomizer starts; sizes that are not named: 16.
_START = {"eps0": "4", "sigma": "1", "left": "1", "right": "2", "k": "10", "g": "4", "w": "4"}
#: Sliders: what they are called and where they begin (less noise than that takes seconds).
_SLIDERS = {"eps0": ("ε₀", 0.1), "sigma": ("σ", 0.8), "left": ("left", 0.1), "right": ("right", 0.1)}
_WIDE = {"style": {"description_width": "90px"}, "layout": {"width": "96%"}}


class App:
    """The widgets, at first with ``settings``; ``controls`` holds them by name, ``view`` is what they show.

    A value that makes no sense is named in red and leaves the last picture where it was.

    >>> app = App(Settings(randomizer="binaryrr", parameters={"eps0": "1"}, n="1000"))
    >>> sorted(app.controls), list(app.parameters)
    (['delta', 'n', 'other', 'over', 'q', 'randomizer', 'rounds', 'share'], ['eps0'])
    >>> app.controls["n"].value = 100.0
    >>> "n=100)" in app.code.value
    True
    """

    def __init__(self, settings: Settings | None = None) -> None:
        import ipywidgets as make

        first = settings or Settings()
        self.view = View(first)
        self._waiting: asyncio.TimerHandle | None = None
        log = {"base": 10, "readout_format": ".1e", **_WIDE}
        charts = [(title, name) for name, (title, *_) in CHARTS.items()]
        others = [("none", ""), *((name, name) for name in live())]
        self.controls: dict[str, Any] = {
            "randomizer": make.Dropdown(options=live(), value=first.randomizer, description="randomizer", **_WIDE),
            "other": make.Dropdown(options=others, value=first.other, description="compare with", **_WIDE),
            "n": make.FloatLogSlider(float(first.n), min=1, max=9, step=0.05, description="users n", **log),
            "delta": make.FloatLogSlider(float(first.delta), min=-12, max=-1, step=0.25, description="δ", **log),
            "rounds": make.IntSlider(int(first.rounds), 1, 64, description="rounds", **_WIDE),
            "q": make.FloatSlider(float(first.q), min=0.05, max=1, step=0.05, description="participation", **_WIDE),
            "share": make.FloatSlider(float(first.share), min=0, max=0.95, step=0.05, description="mix in", **_WIDE),
            "over": make.ToggleButtons(options=charts, value=first.over, style={"button_width": "auto"}),
        }
        #: The fields that were needed so far, of the randomizer and of the other one.
        self._fields: dict[str, dict[str, Any]] = {"randomizer": {}, "other": {}}
        self._boxes = {which: make.VBox() for which in self._fields}
        for which, values in (("randomizer", first.parameters), ("other", first.other_parameters)):
            self._fields[which] = {name: self._field(name, text) for name, text in values.items()}
        self.chart, self.table, self.message, self.links = (make.HTML() for _ in range(4))
        self.code = make.Textarea(layout={"width": "100%", "height": "260px"})
        self.export = make.Button(description="export", tooltip="the chart as SVG and PDF, the numbers as CSV")
        left = [box for which in self._fields for box in (self.controls[which], self._boxes[which])]
        right = [self.controls[name] for name in ("n", "delta", "rounds", "q", "share")]
        head = make.HBox([make.VBox(side, layout={"width": "50%"}) for side in (left, right)])
        ways_out = make.HBox([self.export, self.links])
        copy = make.Accordion([self.code], titles=("copy as code",))
        shown = [head, self.controls["over"], self.message, self.chart, self.table, ways_out, copy]
        self.box = make.VBox(shown)
        self._update()
        self.export.on_click(self._link)
        for control in self.controls.values():
            control.observe(self._update, "value")

    def _field(self, name: str, text: str) -> Any:
        """A slider for ε0 or σ, and a field for everything else that some randomizer takes."""
        import ipywidgets as make

        if name in TYPED["matrix"] | TYPED["density"]:
            field = make.Text(text, description=name, continuous_update=False, **_WIDE)
        elif name in _SLIDERS:
            (title, least), now = _SLIDERS[name], float(texts.read(text, name))
            field = make.FloatSlider(now, min=least, max=8, step=0.1, description=title, **_WIDE)
        else:
            field = make.IntText(int(text), description=name, **_WIDE)
        field.observe(self._update, "value")
        return field

    def _shown_fields(self, which: str) -> dict[str, Any]:
        """The fields for what the randomizer, or the other one, takes."""
        name, fields = self.controls[which].value, self._fields[which]
        taken = TYPED.get(name) or dict.fromkeys(catalogue.parameters(catalogue.find(name)[1]) if name else ())
        for parameter in taken:
            if parameter not in fields:
                fields[parameter] = self._field(parameter, taken[parameter] or _START.get(parameter, "16"))
        return {parameter: fields[parameter] for parameter in taken}

    parameters = property(lambda self: self._shown_fields("randomizer"))
    other_parameters = property(lambda self: self._shown_fields("other"))

    @property
    def settings(self) -> Settings:
        """What the controls say, with as many digits as they show."""
        said: dict[str, Any] = {name: _text(widget.value) for name, widget in self.controls.items()}
        said |= {
            "n": str(int(float(f"{self.controls['n'].value:.3g}"))),
            "delta": f"{self.controls['delta'].value:.3g}",
        }
        mine, others = (
            {name: _text(x.value) for name, x in own.items()} for own in (self.parameters, self.other_parameters)
        )
        return Settings(**said, parameters=mine, other_parameters=others)

    def _update(self, _: Any = None) -> None:
        """What is fast at once; what is not when the sliders rest, which only a kernel can wait for."""
        if self._waiting is not None:
            self._waiting.cancel()
        for which, box in self._boxes.items():
            box.children = list(self._shown_fields(which).values())
        self.controls["share"].disabled = not self.controls["other"].value
        self._add(late(self.settings), _REST)

    def _add(self, left_open: Collection[str], pause: float = 0.01) -> None:
        """Show all lines but those left open, then add these one at a time; a slider moved meanwhile stops the rest."""
        if not self._show(left_open) or not left_open:
            return
        fewer = [name for name in left_open if name in [line.name for line in self.view.lines]][1:]
        try:
            self._waiting = asyncio.get_running_loop().call_later(pause, self._add, fewer)
        except RuntimeError:
            self._show()

    def _show(self, skip: Collection[str] = ()) -> bool:
        try:
            view = View(self.settings, skip)
            chart, table, code = view.chart, view.table, view.code
        except (ValueError, TypeError, ArithmeticError) as refusal:
            self.message.value = f"<b style='color:#D55E00'>{escape(str(refusal))}</b>"
            return False
        self.view, self.message.value, self.links.value = view, "", ""
        self.chart.value, self.table.value, self.code.value = chart, table, code
        return True

    def _link(self, _: Any) -> None:
        """Files to download, made when they are asked for."""
        self.links.value = ""
        for kind in ("svg", "pdf", "csv"):
            data = f"data:application/octet-stream;base64,{base64.b64encode(exported(self.view, kind)).decode()}"
            self.links.value += f"<a download='explorer.{kind}' href='{data}'>explorer.{kind}</a>&emsp;"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        # A notebook that has not run yet shows the chart and the table.
        pictures = {"text/html": View(self.settings)._repr_html_(), "text/plain": repr(self.view)}
        display({**self.box._repr_mimebundle_(), **pictures}, raw=True)


def _text(value: Any) -> str:
    """A number with six digits; texts as they are."""
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


app = App
