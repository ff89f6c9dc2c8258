r"""What the explorer shows, without its widgets: `View` describes lines of Python, and its numbers are their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import escape
from typing import Any

import shuffle_sym
from shuffle_sym.algebra import texts
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.apps import catalogue, numbers, svg
from shuffle_sym.apps.explorer.expressions import MIN, SP, SS, Expression, literal, name, number
from shuffle_sym.apps.plots import COLOURS
from shuffle_sym.model.randomizer import Randomizer

RTOL = 0.01  # an eye sees no less
ROUNDS_RTOL, ROUNDS_CURVE_RTOL = 0.02, 0.2  # of ε and of δ after several rounds: on the chart, thinner than the line
#: What is drawn only when the sliders have come to rest, if there are several rounds: each takes as long as M itself.
LATE = ("clones", "shared", "blanket")
_POINTS, _ROUNDS_POINTS = 7, 5
_GREY = "#808080"
_R = name("R")
Definitions = tuple[tuple[str, Expression], ...]
#: Letter → its name, what it is, colour, and the end that counts; the largest ε usually first.
_MECHANISMS = {
    "C": ("clones", "holds for every randomizer with this ε₀", COLOURS[1], "upper"),
    "S": ("shared", "clones if all users have one randomizer with this ε₀", COLOURS[5], "upper"),
    "B": ("blanket", "the privacy blanket of this randomizer alone", COLOURS[2], "upper"),
    "M": ("certified", "this randomizer: below two datasets, above all of them", COLOURS[0], "both"),
}


def live() -> tuple[str, ...]:
    """The randomizers that are fast enough to be live: those with finitely many messages.

    >>> "krr" in live(), "gaussian" in live()
    (True, False)
    """
    makers: Mapping[str, Any] = catalogue.makers()
    return tuple(name for name, make in makers.items() if isinstance(make, type) and issubclass(make, Randomizer))


@dataclass(frozen=True)
class Settings:
    """What the sliders and fields say; numbers are texts, read exactly.

    >>> Settings(n="1000").parameters
    {'k': '10', 'eps0': '4'}
    """

    randomizer: str = "krr"
    parameters: Mapping[str, str] = field(default_factory=lambda: {"k": "10", "eps0": "4"})
    n: str = "10000"
    delta: str = "1e-6"
    rounds: str = "1"


@dataclass(frozen=True)
class Line:
    """One analysis: its name, what it is, and how Python asks it for ε and for δ at some ε.

    >>> [line.name for line in View(Settings()).lines]
    ['Feldman', 'Bennett', 'clones', 'shared', 'blanket', 'certified']
    """

    name: str
    about: str
    colour: str
    #: The names that are asked, each with what makes it, in order.
    made_by: Definitions
    epsilon: Expression
    #: None where δ at ε is not cheap: then one point is drawn.
    delta: Callable[[Any], Expression] | None
    #: Which end counts: "both" of what is true of the mechanism, "upper" for a bound.
    end: str = "upper"
    #: A closed form is dashed, and may say nothing for some settings.
    closed: bool = False


class View:
    """The numbers, the chart and the code for some settings; lines named in ``skip`` are left open.

    >>> import sympy as sp
    >>> view = View(Settings(randomizer="binaryrr", parameters={"eps0": "log(3)"}, n="1", delta="1/4"))
    >>> sp.log(2) in view.answers["certified"]       # one user: δ = (3 − α)/4
    True
    """

    def __init__(self, settings: Settings, skip: Collection[str] = ()) -> None:
        self.settings = settings
        self._skip = frozenset(skip)
        self._n = number(settings.n, "n")
        self._delta = number(settings.delta, "delta")
        self._rounds = number(settings.rounds, "rounds")
        #: Whether there are several rounds.
        self.many = texts.read(settings.rounds, "rounds") != 1
        known, _ = catalogue.find(settings.randomizer)
        if known not in live():
            raise ValueError(f"randomizer must be one of {', '.join(live())} to be live, got {known}")
        self._source = _maker(known, settings.parameters)
        self._eps0 = number(settings.parameters["eps0"], "eps0")
        self.R: Any = _evaluated((("R", self._source),), _R)

    # -- the lines of Python

    @cached_property
    def mechanisms(self) -> dict[str, Expression]:
        """Letter → what makes it: M itself, C and S its clones, B its blanket."""
        sources = {"C": SS.decomposition.clones(self._eps0), "S": SS.decomposition.clones_shared(self._eps0)}
        sources |= {"B": SS.decomposition.blanket(_R), "M": _R}
        one_round = {letter: SS.Shuffle(source, n=self._n) for letter, source in sources.items()}
        return {
            letter: M.compose(self._rounds) if self.many else M
            for letter, M in one_round.items()
            if _MECHANISMS[letter][0] not in self._skip
        }

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What is compared, the largest ε usually first."""
        lines = [
            self._closed_form("Feldman", "feldman2020_thm31", "Theorem 3.1 (Feldman et al. 2020)", COLOURS[3], False),
            self._closed_form("Bennett", "balle2019_bennett", "Bennett (Balle et al. 2019)", _GREY, True),
        ]
        for letter, (title, what, colour, end) in _MECHANISMS.items():
            made = self.mechanisms.get(letter)
            made_by = (("R", self._source), *([(letter, made)] if made else []))
            lines.append(Line(title, what, colour, made_by, *self._questions(name(letter)), end))
        return tuple(lines)

    def _questions(self, M: Expression) -> tuple[Expression, Callable[[Any], Expression]]:
        """How a mechanism is asked for ε, and for δ at some ε."""
        rtol, curve_rtol = (ROUNDS_RTOL, ROUNDS_CURVE_RTOL) if self.many else (RTOL, RTOL)
        return M.epsilon(self._delta, rtol=rtol), lambda eps: M.delta(eps, rtol=curve_rtol)

    def _closed_form(self, title: str, function: str, about: str, colour: str, with_delta: bool) -> Line:
        """A bound for every randomizer with this ε0; several rounds by basic composition, rounds × (ε, δ/rounds)."""
        bound: Expression = getattr(SS.bounds, function)
        rounds, setting = self._rounds, (self._eps0, self._n)

        def delta(eps: Any) -> Expression:
            if not self.many:
                return bound.delta(*setting, eps)
            return MIN(1.0, rounds * bound.delta(*setting, literal(eps) / rounds))

        about, epsilon = f"closed form, {about}", bound(*setting, self._delta)
        if self.many:
            share = SP.S(str(texts.read(self.settings.delta, "delta"))) / rounds
            epsilon = SS.bounds.basic_composition(bound(*setting, share), share, rounds)[0]
            about += ", basic composition"
        made_by = (("R", self._source),)
        return Line(title, about, colour, made_by, epsilon, delta if with_delta else None, closed=True)

    @cached_property
    def code(self) -> str:
        """Python that reproduces the table (``answers``) and the curves (``curves``) to the last digit."""
        made = "\n".join(f"{letter} = {python.code}" for letter, python in self.mechanisms.items())
        asked = [line for line in self.lines if line.name in self.answers]
        answers = "".join(f"    {line.name!r}: {line.epsilon.code},\n" for line in asked)
        curves = "".join(
            f"    {line.name!r}: [{line.delta(name('eps')).code} for eps in "
            f"{'grid' if self.points(line) is self.grid else self.points(line)}],\n"
            for line in self.lines
            if line.name in self.curves and line.delta
        )
        return (
            f"import shuffle_sym as ss\nimport sympy as sp\n\nR = {self._source.code}\n{made}\n\n"
            f"answers = {{\n{answers}}}\ngrid = {self.grid}\ncurves = {{\n{curves}}}\n"
        )

    # -- their values

    @cached_property
    def _asked(self) -> dict[str, Any]:
        """Name → ε at δ, or the refusal of a theorem that says nothing here."""
        asked: dict[str, Any] = {}
        for line in self.lines:
            if line.name in self._skip:
                continue
            try:
                asked[line.name] = self._value(line, line.epsilon)
            except ValueError as refusal:
                if not line.closed:
                    raise
                asked[line.name] = refusal
        return asked

    def _value(self, line: Line, expression: Expression) -> Any:
        """Profiles remember what they were asked, and the last digits depend on it: for each δ they are new, as they
        are where the code is run."""
        return _evaluated(line.made_by, expression, self._delta.code if self.many else "")

    @property
    def answers(self) -> dict[str, Any]:
        """Name → ε at δ: an `Interval`, or a number for a closed form."""
        return {title: answer for title, answer in self._asked.items() if not isinstance(answer, ValueError)}

    @cached_property
    def grid(self) -> list[float]:
        """Few ε, the same ones for settings that are near: what was computed for one serves the other."""
        ends = [_end(answer, "upper") for title, answer in self.answers.items() if title in ("certified", "clones")]
        rounds = int(texts.read(self.settings.rounds, "rounds"))
        local = float(texts.read(self.settings.parameters["eps0"], "eps0")) * rounds
        beyond = 1.0 if self.many else 1.3
        right = svg.nice_above(min(beyond * max(ends, default=local), local) or 1.0)
        return [round(right * i / (_POINTS - 1), 9) for i in range(_POINTS)]

    def points(self, line: Line) -> list[float]:
        """The ε at which a curve is evaluated; after several rounds not beyond its answer, where δ takes long."""
        answer = self.answers.get(line.name)
        if not self.many or not isinstance(answer, Interval):
            return self.grid
        step = svg.nice_above(answer.upper) / (_ROUNDS_POINTS - 1) if answer.upper else 1.0
        return [round(step * i, 9) for i in range(_ROUNDS_POINTS) if step * i < answer.lower]

    @cached_property
    def curves(self) -> dict[str, list[Any]]:
        """Name → δ at its points."""
        curves: dict[str, list[Any]] = {}
        for line in self.lines:
            if line.delta is not None and line.name not in self._skip:
                with suppress(ValueError):
                    curves[line.name] = [self._value(line, line.delta(eps)) for eps in self.points(line)]
        return curves

    # -- how it looks

    @property
    def chart(self) -> str:
        """The curves as SVG; after several rounds each one ends at δ."""
        level = float(texts.read(self.settings.delta, "delta"))
        frame = svg.Frame(self.grid[-1], 10.0 ** (math.floor(math.log10(level)) - (1 if self.many else 3)))
        # The bracket, a broad line, lies under those that may touch it.
        lines = sorted(self.lines, key=lambda line: line.end != "both")
        drawn = [self._curve(line, level) for line in lines if line.name in {*self.curves, *self.answers}]
        return svg.chart(frame, drawn, level, "central ε", "δ(ε)")

    def _curve(self, line: Line, level: float) -> svg.Curve:
        values, answer = self.curves.get(line.name), self.answers.get(line.name)
        if values is None:
            return svg.Curve(line.name, line.colour, [_end(answer, "upper")], [level])

        points = self.points(line)

        def path(end: str) -> tuple[list[float], list[float]]:
            xs, ys = points, [_end(value, end) for value in values]
            if points is self.grid or not _end(answer, end) > max(xs, default=-1.0):
                return xs, ys
            return [*xs, _end(answer, end)], [*ys, level]  # there the answer is: ε at this δ

        xs, ends = path("upper")
        lower = path("lower") if line.end == "both" else None
        dash, width = "5 3" if line.closed else "", 7 if line.end == "both" else 2
        return svg.Curve(line.name, line.colour, xs, ends, lower, dash, width)

    @property
    def table(self) -> str:
        """ε at δ for every line, as HTML."""
        rows = "".join(
            f"<tr><td style='border-left:6px solid {line.colour};padding:4px 16px 4px 8px'>{escape(line.name)}</td>"
            f"<td style='text-align:right;padding-right:16px'>{escape(self._shown(line))}</td>"
            f"<td style='text-align:left'>{escape(self._about(line))}</td></tr>"
            for line in self.lines
        )
        head = (
            f"<tr><th></th><th>ε at δ = {escape(self.settings.delta)}</th><th style='text-align:left'>what it is</th>"
        )
        return f"<table>{head}</tr>{rows}</table>"

    def _about(self, line: Line) -> str:
        """What the line is and, of the mechanism, where its ends come from."""
        answer = self._asked.get(line.name)
        if line.end != "both" or not isinstance(answer, Interval) or answer.upper_by is None:
            return line.about
        return f"{line.about}; upper end: {answer.upper_by}, lower end: {answer.lower_by}"

    def _shown(self, line: Line) -> str:
        if line.name in self._skip:
            return "…"
        answer = self._asked[line.name]
        if isinstance(answer, ValueError):
            return "says nothing here"
        if isinstance(answer, Interval):
            lower, upper = numbers.shown(answer)
            return f"{lower} … {upper}" if line.end == "both" else f"≤ {upper}"
        return f"≤ {numbers.shown(Interval(answer, answer))[1]}"

    def __repr__(self) -> str:
        return f"View({self.settings})"

    def _repr_html_(self) -> str:
        return f"{self.chart}{self.table}"


def _maker(randomizer: str, parameters: Mapping[str, str]) -> Expression:
    """What makes R."""
    given = catalogue.arguments_for(randomizer, parameters)
    made_by = catalogue.find(randomizer)[1].__name__
    maker: Expression = getattr(SS if made_by in shuffle_sym.__all__ else SS.randomizers, made_by)
    return maker(**{key: number(text, key) for key, text in given.items()})


def _end(value: Any, end: str) -> float:
    return float(getattr(value, end)) if isinstance(value, Interval) else float(value)


@lru_cache(maxsize=64)
def _namespace(definitions: Definitions, apart: str) -> dict[str, Any]:
    """The values of all names; where R is made in the same way, it is the same object and remembers what it derived."""
    *before, (last, made) = definitions
    names = _namespace(tuple(before), "") if before else {}
    return {**names, last: made.value(names)}


@lru_cache(maxsize=4096)
def _evaluated(definitions: Definitions, expression: Expression, apart: str = "") -> Any:
    """The value of an expression; what is asked ``apart`` shares no mechanism with what is not."""
    return expression.value(_namespace(definitions, apart))
