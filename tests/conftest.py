"""Shared randomizers, and Hypothesis strategies that are exact in and exact out."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import shuffle_sym as ss

settings.register_profile(
    "project", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("project")

PAPERS = ("tests/papers/", "shuffle_sym/papers/")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """File by file, but all tests of the papers in one process: there a derivation is built once for all of them."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class PapersTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "papers" if nodeid.startswith(PAPERS) else super()._split_scope(nodeid)

    return PapersTogether(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The papers first: begun last, they would keep one process busy while the other has nothing left to do."""
    items.sort(key=lambda item: not item.nodeid.startswith(PAPERS))


FINITE = {
    "2-RR": ss.BinaryRR(eps0=sp.log(3)),
    "3-RR": ss.KRR(k=3, eps0=sp.log(2)),
    "5-RR": ss.KRR(k=5, eps0=sp.log(4)),
    "2-RR, eps0 = 1": ss.BinaryRR(eps0=1),
    "subset selection": ss.SubsetSelection(d=4, w=2, eps0=sp.log(3)),
    "RAPPOR": ss.RAPPOR(d=3, eps0=2 * sp.log(2)),
    "RAPPOR, 2 bits": ss.RAPPOR(d=2, eps0=2 * sp.log(2)),
    "OUE": ss.OUE(d=3, eps0=sp.log(3)),
    "BLH": ss.BLH(d=3, eps0=sp.log(3)),
    "OLH": ss.OLH(g=3, d=2, eps0=sp.log(2)),
    "Hadamard": ss.HadamardResponse(K=4, eps0=sp.log(3)),
    "discrete Laplace": ss.randomizers.DiscreteLaplace(k=3, eps0=2 * sp.log(2)),
    "joint": ss.Joint(ss.BinaryRR(eps0=sp.log(2)), ss.KRR(k=3, eps0=sp.log(3))),
    "parallel": ss.Parallel([ss.KRR(k=3, eps0=sp.log(3)), ss.BLH(d=3, eps0=sp.log(2))], weights=[0.25, 0.75]),
    "sampled": ss.Sampled(ss.KRR(k=3, eps0=sp.log(3)), q=0.25),
    "lopsided": ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]),
    "wide": ss.from_matrix([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]),
    "tall": ss.from_matrix([[0.5, 0.5], [0.4, 0.6], [0.25, 0.75]]),
}


def shuffled_laws(source, n: int) -> ss.Shuffle:
    """n users as a pair of laws: of a decomposition, or of the blanket of a randomizer (the worst of its pairs)."""
    laws = source if isinstance(source, (ss.model.Decomposition, tuple)) else ss.decomposition.blankets(source)
    return ss.Shuffle(laws, n)


@pytest.fixture(params=FINITE.values(), ids=FINITE.keys())
def randomizer(request: pytest.FixtureRequest) -> ss.Randomizer:
    """Every finite randomizer obeys the same laws."""
    R: ss.Randomizer = request.param
    return R


def masses(size: int) -> st.SearchStrategy[list[sp.Rational]]:
    """Probability vectors with entries of very different sizes, zeros among them."""
    entry = st.sampled_from([0, 1, 2, 7, 30, 1000]).flatmap(lambda scale: st.integers(0, 9).map(lambda i: scale * i))
    return st.lists(entry, min_size=size, max_size=size).filter(any).map(lambda w: [sp.Rational(x, sum(w)) for x in w])


@st.composite
def decompositions(draw: st.DrawFn, largest: int = 5) -> ss.model.Decomposition:
    """Any decomposition: null atoms, atoms impossible under x0 or x1, β = 0 and β = 1 included."""
    size = draw(st.integers(1, largest))
    covered = draw(st.sampled_from([sp.Rational(i, 8) for i in range(9)]))
    c = [covered * e for e in draw(masses(size))]
    return ss.model.Decomposition(draw(masses(size)), draw(masses(size)), c)


alphas = st.sampled_from([1, 1, 2, 3, 10]).flatmap(
    lambda top: st.integers(0, 99).map(lambda i: sp.Rational(1) + sp.Rational((top - 1) * 100 + i, 100))
)


def literal_moment(pair: Mapping[Any, tuple[Fraction, Fraction]], order: int) -> Fraction:
    """The moment of P/Q under Q, E_Q[(P/Q)^λ] of {outcome: (P, Q)}, outcome by outcome."""
    return sum((x**order / y ** (order - 1) for x, y in pair.values() if x), Fraction(0))
