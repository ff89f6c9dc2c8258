r"""From the definition of a randomizer to its GPARV table, one line for each class of messages."""

from __future__ import annotations

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.derivations.engine import Derivation, Step


def gparv_table(R: Randomizer, x0: int | None = None, x1: int | None = None) -> Derivation:
    r"""The row of `R` in the table of GPARVs (Su et al. 2025, Table 1), derived from the definition of R.

    >>> import shuffle_sym as ss
    >>> gparv_table(ss.KRR()).result
    1 - alpha
    """
    D = decomposition.blanket(R, x0, x1)
    G = D.gparv
    live = [atom for atom in D.atoms if atom.c != 0]
    steps = []
    for atom, value in zip(live, G.forms, strict=False):
        held = sp.Mul(sp.Add(atom.a, -field.alpha * atom.b, evaluate=False), 1 / atom.c, evaluate=False)
        steps.append(Step(held, value, f"value of G on the messages of class ${atom.label}$"))
    covered = sp.Add(*(atom.c for atom in live), evaluate=False)
    steps.append(Step(1 - covered, D.beta_form, "probability of 0: what the blanket does not cover"))
    steps.append(Step(sp.Add(*G.masses, evaluate=False), sp.Integer(1), "the probabilities sum to 1"))
    products = [sp.Mul(v, p, evaluate=False) for v, p in zip(G.forms, G.masses, strict=True) if v != 0]
    mean = field.simplest(sum(products))
    steps.append(Step(sp.Add(*products, evaluate=False), mean, "the mean of G"))
    return Derivation(f"GPARV of {R!r}", "Su et al. 2025, Definition 10", tuple(steps))
