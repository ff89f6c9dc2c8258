r"""The explorer without its widgets: `View` describes lines of Python, and its numbers are their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Any

from shuffle_sym.algebra import arguments, cards, texts
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.apps import svg
from shuffle_sym.apps.explorer import drawing
from shuffle_sym.apps.explorer.expressions import MAX, MIN, SP, SS, Expression, literal, made, name, noise, number
from shuffle_sym.apps.plots import COLOURS
from shuffle_sym.model.continuous import Continuous

RTOL, SWEEP_RTOL, NOISE_RTOL = 0.01, 0.03, 0.1  # an eye sees no less; the two ends of noise are further apart
ROUNDS_RTOL, ROUNDS_CURVE_RTOL = 0.02, 0.2  # of ε and of δ after several rounds: on the chart, thinner than the line
#: What is drawn only when the sliders have come to rest: together it takes longer than M itself.
LATE = ("Feldman", "Bennett", "clones", "shared", "blanket")
_POINTS, _SLOW_POINTS, _MOVING_POINTS = 7, 5, 2
_GREY, _BROWN = "#808080", "#A0622D"
_R = name("R")
Definitions = tuple[tuple[str, Expression], ...]
#: Letter → its name, what it is, colour, and the end that counts; the largest ε usually first.
_MECHANISMS = {
    "C": ("clones", "holds for every randomizer with this ε₀", COLOURS[1], "upper"),
    "S": ("shared", "clones if all users have one randomizer with this ε₀", COLOURS[5], "upper"),
    "B": ("blanket", "the privacy blanket of this randomizer alone", COLOURS[2], "upper"),
    "M": (
        "certified",
        "this randomizer: two datasets attain the lower end, the upper end holds for all",
        COLOURS[0],
        "both",
    ),
    "N": (
        "other",
        "the other randomizer: two datasets attain the lower end, the upper end holds for all",
        COLOURS[4],
        "both",
    ),
}
#: The name of a closed form, the function, what it is, its colour, and whether it says δ at ε.
_CLOSED_FORMS = (
    ("Feldman", "feldman2020_thm31", "Theorem 3.1 (Feldman et al. 2020)", COLOURS[3], False),
    ("Bennett", "balle2019_bennett", "Bennett (Balle et al. 2019)", _GREY, True),
)
#: What can be on the chart, by the name of what is on its horizontal axis.
CHARTS = {"eps": "δ(ε)", "n": "ε(n)", "rounds": "ε(rounds)", "level": "ε₀ or σ for a target ε"}


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
    def level(self) -> str:
        """The one number that makes the randomizer more or less private: ε0 or σ."""
        if found := {"eps0", "sigma"} & {*self.parameters}:
            return found.pop()
        raise ValueError(f"over must not be 'level': {self.randomizer} has no eps0 or sigma to choose")

    @property
    def grouped(self) -> bool:
        """Whether some users have one randomizer and some the other."""
        return bool(self.other) and texts.read(self.share, "share") != 0


def late(settings: Settings) -> tuple[str, ...]:
    """What is drawn only when sliders with these ``settings`` rest, because it takes longer than a move may.

    >>> late(Settings()), "certified" in late(Settings("laplace", {"eps0": "2"}))
    (('Feldman', 'Bennett', 'clones', 'shared', 'blanket', 'other'), True)
    """
    one_round = settings.over != "rounds" and texts.read(settings.rounds, "rounds") == 1
    if one_round and not settings.grouped and not noise(settings.randomizer):
        return (*LATE, "other")
    # The blanket of noise, or of several rounds, is quicker than all datasets.
    blanket = one_round if noise(settings.randomizer) else settings.over == "eps"
    return (*(LATE[:-1] if blanket else LATE), "other", "certified")


@dataclass(frozen=True)
class Line:
    """One analysis: its name, what it is ``about``, how it is drawn, and how Python asks it for ε and for δ at some ε.

    >>> [line.name for line in View(Settings()).lines]
    ['Feldman', 'Bennett', 'clones', 'shared', 'blanket', 'certified']
    """

    name: str
    about: str
    colour: str
    letter: str  # of the mechanism that is asked; a closed form has none, is dashed, and may say nothing somewhere
    epsilon: Expression
    delta: Callable[[Any], Expression] | None  # None where δ at ε is not cheap: then one point is drawn
    end: str = "upper"  # which end counts: "both" of what is true of the mechanism, "upper" for a bound


class View:
    """The numbers, the chart and the code for some settings; lines named in ``skip`` are left open.

    >>> import sympy as sp
    >>> view = View(Settings(randomizer="binaryrr", parameters={"eps0": "log(3)"}, n="1", delta="1/4"))
    >>> sp.log(2) in view.answers["certified"]       # one user: δ = (3 − α)/4
    True
    """

    def __init__(self, settings: Settings, skip: Collection[str] = ()) -> None:
        self.settings = settings
        self.skip = frozenset(skip)
        arguments.one_of(settings.over, "over", CHARTS)
        arguments.between_0_and_1(settings.delta, "delta")
        #: Whether there may be several rounds.
        self.many = settings.over == "rounds" or texts.read(settings.rounds, "rounds") != 1
        self._delta = number(settings.delta, "delta")
        #: What runs along the horizontal axis, if it is not ε, and what it is now.
        self._free: tuple[str, str] | None = None
        if settings.over == "level":
            self._free = settings.level, settings.parameters[settings.level]
        elif settings.over != "eps":
            self._free = settings.over, getattr(settings, settings.over)
        self._n, self._rounds = (self._setting(key, getattr(settings, key)) for key in ("n", "rounds"))
        self._randomizers: Definitions = (("R", self._made(settings.randomizer, settings.parameters)),)
        if settings.other:
            self._randomizers += (("O", self._made(settings.other, settings.other_parameters)),)
        self.R: Any = _evaluated(self._made_by(""), _R)
        self._eps0 = _R.eps0
        if settings.q == "1" and "eps0" in settings.parameters:
            self._eps0 = self._setting("eps0", settings.parameters["eps0"])
        #: The blanket needs a pair of inputs that is the worst, clones an ε0 that is finite and that of all users.
        self._one_pair = isinstance(self.R, Continuous) or len(self.R.pairs()) == 1
        self._bounded = not settings.grouped and self.R.eps0.is_finite is not False

    def _setting(self, called: str, text: str) -> Expression:
        return name(called) if self._free and self._free[0] == called else number(text, called)

    def _made(self, randomizer: str, parameters: Mapping[str, str]) -> Expression:
        running = {key: name(key) for key in parameters if self._free and self._free[0] == key}
        R = made(randomizer, {**parameters, **running})
        return R if texts.read(self.settings.q, "q") == 1 else SS.Sampled(R, q=number(self.settings.q, "q"))

    # -- the lines of Python

    @cached_property
    def _all(self) -> dict[str, Expression]:
        """Letter → what makes it: M itself, C and S its clones, B its blanket, N the mechanism to compare it with."""
        of, eps0 = SS.decomposition, self._eps0
        sources = {"M": _R, "N": name("O"), "B": of.blanket(_R), "C": of.clones(eps0), "S": of.clones_shared(eps0)}
        quick, swept = noise(self.settings.randomizer) and not self.many, self._free is not None
        wanted = {"M": True, "N": bool(self.settings.other), "B": self._one_pair and (quick or not swept)}
        wanted |= {"C": self._bounded, "S": self._bounded and not swept}
        one_round = {letter: SS.Shuffle(sources[letter], n=self._n) for letter in sources if wanted[letter]}
        if self.settings.grouped:
            if self.settings.over == "n":
                raise ValueError("over must not be 'n' for two groups of users")
            one_round = {"M": SS.Shuffle([(_R, self._sizes[0]), (name("O"), self._sizes[1])])}
        return {letter: M.compose(self._rounds) if self.many else M for letter, M in one_round.items()}

    @property
    def _sizes(self) -> tuple[int, int]:
        """How many users have R, and how many the other randomizer."""
        n = int(texts.read(self.settings.n, "n"))
        size = int(n * texts.read(self.settings.share, "share"))
        return n - size, size

    @cached_property
    def mechanisms(self) -> dict[str, Expression]:
        """Those that are not left open."""
        return {key: self._all[key] for key in _MECHANISMS if key in self._all and _MECHANISMS[key][0] not in self.skip}

    def _made_by(self, letter: str, at: Any = None) -> Definitions:
        """The names that a line needs, in order; what runs is ``at`` some place, or where it is now."""
        names = [*self._randomizers]
        if self._free is not None:
            running = number(*self._free[::-1]) if at is None else literal(at)
            names.insert(0 if self.settings.over == "level" else len(names), (self._free[0], running))
        return (*names, *([(letter, self.mechanisms[letter])] if letter else []))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What is compared, the largest ε usually first."""
        lines = [self._closed_form(*row) for row in _CLOSED_FORMS] if self._bounded else []
        # Where neither M nor its blanket is quick, there is a bound that is.
        if self.settings.grouped or (
            self.many and (self._free or not self._one_pair or noise(self.settings.randomizer))
        ):
            lines.append(self._simple())
        for letter, (title, what, colour, end) in _MECHANISMS.items():
            if letter in self._all:
                lines.append(Line(title, what, colour, letter, *self._questions(letter), end))
        return tuple(lines)

    @property
    def _rtol(self) -> float:
        if noise(self.settings.randomizer) or noise(self.settings.other):
            return NOISE_RTOL
        return RTOL if self._free is None else SWEEP_RTOL

    def _questions(self, letter: str) -> tuple[Expression, Callable[[Any], Expression]]:
        """How a mechanism is asked for ε, and for δ at some ε."""
        rtol = curve_rtol = self._rtol
        if self.many:  # one profile of M serves ε and its curve; those of a single pair go on until they are sharp
            rtol, curve_rtol = ROUNDS_RTOL, ROUNDS_RTOL if letter in "MN" else ROUNDS_CURVE_RTOL
        M = name(letter)
        # A single answer for a finite randomizer has the precision that every answer has.
        given = {} if rtol == RTOL else {"rtol": rtol}
        return M.epsilon(self._delta, **given), lambda eps: M.delta(eps, rtol=curve_rtol)

    def _closed_form(self, title: str, function: str, about: str, colour: str, with_delta: bool) -> Line:
        """A bound for every randomizer with this ε0; several rounds by basic composition, rounds × (ε, δ/rounds)."""
        bound: Expression = getattr(SS.bounds, function)
        rounds, setting = self._rounds, (self._eps0, self._n)

        def delta(eps: Any) -> Expression:
            if not self.many:
                return bound.delta(*setting, eps)
            return MIN(1.0, rounds * bound.delta(*setting, literal(eps) / rounds))

        epsilon, how = self._composed(lambda share: bound(*setting, share))
        return Line(title, f"closed form, {about}{how}", colour, "", epsilon, delta if with_delta else None)

    def _simple(self) -> Line:
        """A bound for M that is quick: one round of M or, of two groups, of each by itself."""
        grouped = self.settings.grouped
        crowds = [(_R, self._n)] if not grouped else [*zip((_R, name("O")), self._sizes, strict=True)]

        def bound(share: Expression) -> Expression:
            ends = [SS.Shuffle(R, n=n).epsilon(share, rtol=self._rtol).upper for R, n in crowds]
            return ends[0] if len(ends) == 1 else MAX(*ends)

        epsilon, how = self._composed(bound)
        about = f"{'one group, without the messages of the other' if grouped else 'one round'}{how}"
        return Line("simple", about, _BROWN, "", epsilon, None)

    def _composed(self, bound: Callable[[Expression], Expression]) -> tuple[Expression, str]:
        """ε at δ of a bound for one round, and in words how several rounds are composed."""
        if not self.many:
            return bound(self._delta), ""
        share = SP.S(str(texts.read(self.settings.delta, "delta"))) / self._rounds
        return SS.bounds.basic_composition(bound(share), share, self._rounds)[0], ", basic composition"

    @cached_property
    def code(self) -> str:
        """Python that reproduces the table (``answers``) and the curves (``curves``) to the last digit."""
        asked = [line for line in self.lines if line.name in (self.answers if self._free is None else self.curves)]
        answers = "".join(f"    {line.name!r}: {line.epsilon.code},\n" for line in asked)
        made = [f"{letter} = {python.code}\n" for letter, python in (*self._randomizers, *self.mechanisms.items())]
        again = f"# The explorer as it is here: explorer.app(explorer.{self.settings!r})"
        head = f"import shuffle_sym as ss\nimport sympy as sp\n{again}\n\n"
        if self._free is not None:
            return head + self._code_of_sweep(made, answers)
        curves = "".join(
            f"    {line.name!r}: [{line.delta(name('eps')).code} for eps in "
            f"{'grid' if self.points(line) is self.grid else self.points(line)}],\n"
            for line in self.lines
            if line.name in self.curves and line.delta
        )
        return f"{head}{''.join(made)}\nanswers = {{\n{answers}}}\ngrid = {self.grid}\ncurves = {{\n{curves}}}\n"

    def _code_of_sweep(self, made: list[str], answers: str) -> str:
        """Python that asks for ε at every place on the horizontal axis, by a function of what runs along it."""
        assert self._free is not None
        called, now = self._free[0], number(*self._free[::-1])
        outside = 0 if self.settings.over == "level" else len(self._randomizers)
        inside = "".join(f"    {line}" for line in made[outside:])
        asked = answers.replace("    ", "        ")
        return (
            f"{''.join(made[:outside])}\ndef ask({called}):\n{inside}    return {{\n{asked}    }}\n\n"
            f"answers = ask({now.code})\ngrid = {self.grid}\nrows = [ask({called}) for {called} in grid]\n"
            "curves = {line: [row[line] for row in rows] for line in answers}\n"
        )

    # -- their values

    @cached_property
    def asked(self) -> dict[str, Any]:
        """Name → ε at δ, or the refusal of a theorem that says nothing here."""
        asked: dict[str, Any] = {}
        for line in self.lines:
            if line.name in self.skip:
                continue
            try:
                asked[line.name] = self._value(line, line.epsilon)
            except ValueError as refusal:
                if line.letter:
                    raise
                asked[line.name] = refusal
        return asked

    def _value(self, line: Line, expression: Expression, at: Any = None) -> Any:
        return _evaluated(self._made_by(line.letter, at), expression)

    @property
    def answers(self) -> dict[str, Any]:
        """Name → ε at δ: an `Interval`, or a number for a closed form."""
        return {title: answer for title, answer in self.asked.items() if not isinstance(answer, ValueError)}

    @cached_property
    def grid(self) -> list[float]:
        """Few places on the axis, the same for settings that are near: what was computed for one serves the other."""
        if self._free is not None:
            places = _places(self._free[0], self.now)
            here = int(self.now) if self.now.is_integer() else self.now
            some = [here] if noise(self.settings.randomizer) else sorted({places[0], here, places[-1]})
            return some if self.skip else places
        shown: tuple[str, ...] = ("certified", "clones") if self._bounded else ("certified", "blanket", "other")
        shown = shown if {*shown} & {*self.answers} else ("simple",)
        ends = [drawing.end(answer, "upper") for title, answer in self.answers.items() if title in shown]
        rounds = int(texts.read(self.settings.rounds, "rounds"))
        local = float(self.R.eps0) * rounds if self._bounded else math.inf
        beyond = 1.0 if self.many else 1.3
        right = svg.nice_above(min(beyond * max(ends, default=min(local, 1.0)), local) or 1.0)
        return [round(right * i / (_POINTS - 1), 9) for i in range(_POINTS)]

    def points(self, line: Line) -> list[float]:
        """The ε at which a ``line`` is evaluated: few while sliders move, not beyond the answer where δ takes long."""
        answer, few = self.answers.get(line.name), bool(self.skip) or self.settings.grouped
        slow = few or self.many or noise(self.settings.randomizer) or noise(self.settings.other)
        if self._free is not None or not slow or not isinstance(answer, Interval):
            return self.grid
        step = svg.nice_above(answer.upper) / (_SLOW_POINTS - 1) if answer.upper else 1.0
        return [round(step * i, 9) for i in range(_MOVING_POINTS if few else _SLOW_POINTS) if step * i < answer.lower]

    @cached_property
    def curves(self) -> dict[str, list[Any]]:
        """Name → δ at its points, or ε where something else than ε runs along the axis."""
        curves: dict[str, list[Any]] = {}
        for line in self.lines:
            if self._free is not None and line.name in self.answers:
                with suppress(ValueError):  # a theorem that says nothing at some place is left out
                    curves[line.name] = [self._value(line, line.epsilon, at) for at in self.grid]
            elif self._free is None and line.delta is not None and line.name not in self.skip:
                with suppress(ValueError):
                    curves[line.name] = [self._value(line, line.delta(eps)) for eps in self.points(line)]
        return curves

    # -- how it looks

    @property
    def now(self) -> float:
        """Where the settings are on the horizontal axis, if it is not that of ε."""
        assert self._free is not None
        return float(texts.read(*self._free[::-1]))

    chart, table = property(lambda self: svg.chart(*drawing.drawn(self))), property(drawing.table)

    def __repr__(self) -> str:
        return f"View({self.settings})"

    def _repr_html_(self) -> str:
        return f"{cards.image(self.chart)}{self.table}"


def _places(over: str, now: float) -> list[Any]:
    """Where ε is asked for along an axis: users by decades, rounds by powers of two, a level around where it is."""
    if over == "n":
        middle = max(3, round(math.log10(now)))
        return [10**i for i in range(middle - 2, middle + 3)]
    if over == "rounds":
        return [2**i for i in range(max(3, math.ceil(math.log2(now))) + 1)]
    shares = (1, 1.25, 1.5, 2, 3) if over == "sigma" else (0.5, 0.75, 1, 1.25, 1.5)  # little noise takes long
    return [float(f"{now * share:.3g}") for share in shares]


@lru_cache(maxsize=64)
def _namespace(definitions: Definitions) -> dict[str, Any]:
    """The values of all names; where R is made in the same way, it is the same object and remembers what it derived."""
    *before, (last, made) = definitions
    names = _namespace(tuple(before)) if before else {}
    return {**names, last: made.value(names)}


@lru_cache(maxsize=4096)
def _evaluated(definitions: Definitions, expression: Expression) -> Any:
    """The value of an expression."""
    return expression.value(_namespace(definitions))
