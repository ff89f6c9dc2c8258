r"""The four pictures of the README, made by the package: ``make gallery`` writes them to ``gallery/``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import sympy as sp

import shuffle_sym as ss
from shuffle_sym.apps import plots
from shuffle_sym.model import decomposition
from shuffle_sym.papers import bounds
from shuffle_sym.papers.balle2019.bounds import thm31_gamma as gamma
from shuffle_sym.papers.tools import krr

FOLDER = Path(__file__).resolve().parent.parent / "gallery"
DELTA = 1e-6
LEAST = 1e-12  # the smallest δ that is drawn
SHARP = 110  # dots per inch


def analyses():
    """What the analysis is worth: δ(ε) of one randomizer."""
    R, n, eps = ss.BLH(d=10, eps0=4), 10_000, plots.steps(0, 0.6, 13)
    ax = plots.axes("central ε", "δ(ε)", logy=True)
    ax.set(title="Binary local hashing, ε₀ = 4, ten thousand users", ylim=(LEAST, 1))
    plots.bracket(ax, eps, [ss.Shuffle(decomposition.clones(4), n).delta(e) for e in eps], "clones", plots.COLOURS[1])
    bennett = [bounds.balle2019_bennett.delta(4, n, e) for e in eps]
    ax.plot(eps, bennett, "--", color=plots.COLOURS[3])
    plots.name_at_end(ax, eps[-1], bennett[-1], "Bennett", plots.COLOURS[3])
    blanket = {e: ss.Shuffle(decomposition.blanket(R), n).delta(e) for e in eps}
    answers = {e: ss.Shuffle(R, n).delta(e) for e in eps}
    # The two ends of the answer are close: a thin line on a broad one shows both.
    curves = [
        ("blanket", {e: delta.upper for e, delta in blanket.items()}, plots.COLOURS[4], 1.5),
        ("all datasets", {e: delta.upper for e, delta in answers.items()}, plots.COLOURS[0], 6),
        ("two datasets", {e: delta.lower for e, delta in answers.items()}, plots.COLOURS[2], 1.5),
    ]
    for name, curve, colour, width in curves:
        xs = [e for e, delta in curve.items() if delta > LEAST]
        ax.plot(xs, [curve[e] for e in xs], color=colour, linewidth=width)
        plots.name_at_end(ax, xs[-1], curve[xs[-1]], name, colour)
    return ax


def randomizers():
    """Which randomizer hides best at the same ε₀."""
    users = [round(n) for n in plots.spaced(1e3, 1e8, 11)]
    kinds = {
        "clones": decomposition.clones(4),
        "10-RR": ss.KRR(k=10, eps0=4),
        "2-RR": ss.BinaryRR(eps0=4),
        "BLH": ss.BLH(d=64, eps0=4),
        "1000-RR": ss.KRR(k=1000, eps0=4),
    }
    mechanisms = {name: [ss.Shuffle(source, n) for n in users] for name, source in kinds.items()}
    ax = plots.epsilon_curves(mechanisms, DELTA)
    ax.set(title="The same ε₀ = 4, very different after shuffling", ylabel="central ε at δ = 10⁻⁶")
    return ax


def rounds():
    """Many rounds, certified, against composing one round's (ε, δ) and against the clones."""
    R, n, counts = ss.BLH(d=10, eps0=4), 10**5, [1, 2, 4, 8, 16, 32, 64]
    mechanism, clones = ss.Shuffle(R, n), ss.Shuffle(decomposition.clones(4), n)
    single = mechanism.epsilon(1e-8).upper
    ax = plots.axes("number of rounds", "central ε at δ = 10⁻⁶", logx=True, logy=True)
    ways = {
        "basic composition": lambda c: bounds.basic_composition(single, 1e-8, c)[0],
        "optimal composition": lambda c: bounds.optimal_composition_epsilon(single, 1e-8, c, DELTA),
    }
    for (name, way), colour in zip(ways.items(), plots.COLOURS[1:], strict=False):
        ax.plot(counts, [way(c) for c in counts], "--", color=colour, label=f"{name} of (ε, 10⁻⁸)")
    plots.name_lines(ax)
    plots.bracket(ax, counts, [clones.compose(c).epsilon(DELTA) for c in counts], "clones", plots.COLOURS[3])
    plots.bracket(ax, counts, [mechanism.compose(c).epsilon(DELTA) for c in counts], "certified", plots.COLOURS[0])
    ax.set(title="Binary local hashing, 100,000 users, ε₀ = 4", xticks=counts, xticklabels=counts)
    ax.minorticks_off()
    return ax


def calibration():
    """What a sharper analysis buys: the ε₀ that every user may spend."""
    users = [round(n) for n in plots.spaced(1e3, 1e7, 9)]
    ax = plots.axes("number of users n", "largest ε₀ for (1, 10⁻⁶)-DP", logx=True)
    ways = {
        "BLH": partial(ss.BLH, 10),
        "10-RR": partial(ss.KRR, 10),
        "clones": decomposition.clones,
    }
    for (name, make), colour in zip(ways.items(), plots.COLOURS, strict=False):
        levels = [ss.calibrate(make, n, 1, DELTA, rtol=0.01).lower for n in users]
        ax.plot(users, levels, color=colour, label=name)
    forms = {
        "Bennett": lambda n: bounds.balle2019_bennett.eps0(n, 1, DELTA),
        "Theorem 3.1, k = 10": lambda n: float(krr(10, sp.Rational(gamma(10, n, 1, DELTA))).eps0),
    }
    for (name, bound), colour in zip(forms.items(), plots.COLOURS[3:5], strict=False):
        plots.where_it_holds(ax, users, bound, color=colour, ls="--", label=name)
    plots.name_lines(ax)
    ax.set(title="How much each user may reveal, by analysis")
    return ax


PICTURES = {"analyses": analyses, "randomizers": randomizers, "rounds": rounds, "calibration": calibration}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        path = FOLDER / f"{name}.png"
        ax = draw()
        ax.figure.savefig(path, dpi=SHARP, metadata={"Software": None})
        plots.close(ax)
        print(f"{path.relative_to(FOLDER.parent)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
