r"""What the explorer is set to, and the lines of Python that make the randomizers it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import shuffle_sym
from shuffle_sym.algebra import texts
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.explorer.expressions import SP, SS, Expression, number
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.randomizer import Randomizer

#: Randomizers that are typed in: their parameters, and what these are at first.
TYPED = {
    "matrix": {"rows": "0.7 0.2 0.1; 0.2 0.6 0.2; 0.1 0.2 0.7"},
    "density": {"density": "exp(-2*abs(y - x))", "least": "0", "greatest": "1"},
}
#: What can be on the chart, by the name of what is on its horizontal axis.
CHARTS = {"eps": "δ(ε)", "n": "ε(n)", "rounds": "ε(rounds)", "level": "ε₀ or σ for a target ε"}


def live() -> tuple[str, ...]:
    """The randomizers of the catalogue, and those that are typed in.

    >>> {"krr", "gaussian", "matrix", "density"} <= {*live()}, "clones" in live()
    (True, False)
    """
    makers: Mapping[str, Any] = catalogue.makers()
    kinds = (Randomizer, Continuous)
    return (*(name for name, make in makers.items() if isinstance(make, type) and issubclass(make, kinds)), *TYPED)


def noise(randomizer: str) -> bool:
    """Whether a message can be any number: then the two ends of the mechanism take longer than a move may.

    >>> noise("laplace"), noise("density"), noise("krr"), noise("")
    (True, True, False, False)
    """
    if randomizer in ("", *TYPED):
        return randomizer == "density"
    return issubclass(catalogue.find(randomizer)[1], Continuous)  # type: ignore[arg-type]


def parameters(randomizer: str) -> tuple[str, ...]:
    """What a randomizer takes, in order.

    >>> parameters("oue"), parameters("matrix")
    (('d', 'eps0'), ('rows',))
    """
    return tuple(TYPED[randomizer]) if randomizer in TYPED else catalogue.parameters(catalogue.find(randomizer)[1])


def made(randomizer: str, given: Mapping[str, Any]) -> Expression:
    """The call that makes a randomizer; a parameter may be an expression already.

    >>> made("krr", {"k": "10", "eps0": "log(3)"}).code
    'ss.KRR(k=10, eps0=sp.log(sp.Integer(3)))'
    >>> made("density", TYPED["density"]).code
    "ss.from_density(sp.sympify('exp(-2*Abs(x - y))'), inputs=['0', '1'])"
    """
    if randomizer in TYPED:
        if {*given} != {*TYPED[randomizer]}:
            raise ValueError(f"{randomizer} takes {', '.join(TYPED[randomizer])}, got {', '.join(given)}")
        if randomizer == "matrix":
            return SS.from_matrix(catalogue.rows(given["rows"]))
        formula = texts.formula(given["density"], "density", "x", "y")
        return SS.from_density(SP.sympify(str(formula)), inputs=[given["least"], given["greatest"]])
    known = catalogue.find(randomizer)[0]
    if known not in live():
        raise ValueError(f"randomizer must be one of {', '.join(live())}, got {known}")
    maker = catalogue.find(randomizer)[1].__name__
    call: Expression = getattr(SS if maker in shuffle_sym.__all__ else SS.randomizers, maker)
    return call(**{key: number(text, key) for key, text in catalogue.arguments_for(randomizer, given).items()})


@dataclass(frozen=True)
class Settings:
    """What the sliders and fields say; numbers are texts, read exactly.

    Arguments:
        randomizer: a name of the catalogue, ``"matrix"`` or ``"density"``.
        parameters: what it takes.
        n, delta, rounds: the users, the δ of the table, the number of rounds.
        other: a second randomizer, for comparison or for a second group of users.
        other_parameters: what it takes.
        share: the part of the users who have the second randomizer; 0 compares the two.
        q: the probability with which each user takes part.
        over: what is on the horizontal axis, ``"eps"``, ``"n"``, ``"rounds"`` or ``"level"`` (the ε of a target).

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
        """What differs from where the explorer starts, so that it fits into a line of code."""
        changed = [f for f in fields(self) if getattr(self, f.name) != getattr(_START, f.name)]
        return f"Settings({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    @property
    def level(self) -> str:
        """The one number that makes the randomizer more or less private: ε0 or σ."""
        for name in ("eps0", "sigma"):
            if name in self.parameters:
                return name
        raise ValueError(f"over must be another one than 'level': {self.randomizer} has no eps0 or sigma to choose")

    @property
    def grouped(self) -> bool:
        """Whether some users have one randomizer and some the other."""
        return bool(self.other) and texts.read(self.share, "share") != 0

    def sampled(self, R: Expression) -> Expression:
        """A randomizer that takes part with probability q."""
        return R if texts.read(self.q, "q") == 1 else SS.Sampled(R, q=number(self.q, "q"))


_START = Settings()
