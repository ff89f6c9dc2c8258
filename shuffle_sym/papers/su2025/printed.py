r"""Tables 1 and 2 of Su et al. 2025, as printed, and the comparison with what the definitions give.

The printed entries are facts about the paper, kept for this comparison only; nothing else in the package uses them.
"""

from dataclasses import dataclass

import sympy as sp

from shuffle_sym.algebra import field, latex
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.randomizers import BLH, KRR, OUE, RAPPOR, HadamardResponse

t, s, k, alpha = field.t, field.s, field.k, field.alpha

#: The values of G at the head of Table 1, in t and α.
VALUES = (1 - alpha * t, t - alpha * t, 1 - alpha, sp.Integer(0), t - alpha)

_QUARTER = 1 / (2 * (t + 1))
TABLE_1: dict[str, tuple[sp.Expr, ...]] = {
    "$k$-RR": (1 / (t + k - 1), sp.Integer(0), (k - 2) / (t + k - 1), (t - 1) / (t + k - 1), 1 / (t + k - 1)),
    "BLH": (_QUARTER, _QUARTER, _QUARTER, (t - 1) / (t + 1), _QUARTER),
    "RAPPOR": (1 / (s + 1) ** 2, 1 / (s * (s + 1) ** 2), 1 / (s + 1) ** 2, 1 - 1 / s, 1 / (s + 1) ** 2),
    "OUE": (_QUARTER, 1 / (2 * t * (t + 1)), t / (2 * (t + 1)), (1 - 1 / t) / 2, _QUARTER),
    "HR": (_QUARTER, _QUARTER, _QUARTER, (t - 1) / (t + 1), _QUARTER),
}

#: p, q, r of the five-component form in Appendix B.
TABLE_2: dict[str, tuple[sp.Expr, ...]] = {
    "BLH": (_QUARTER, _QUARTER, _QUARTER),
    "RAPPOR": (1 / (s + 1) ** 2, 1 / (s * (s + 1) ** 2), 1 / (s + 1) ** 2),
    "OUE": (_QUARTER, 1 / (2 * t * (t + 1)), t / (2 * (t + 1))),
    "HR": (_QUARTER, _QUARTER, _QUARTER),
}


def idealised(name: str) -> Randomizer:
    """The randomizer of a row, with infinitely many inputs as the tables assume (k-RR: k inputs)."""
    rows: dict[str, Randomizer] = {"$k$-RR": KRR(), "BLH": BLH(sp.oo), "RAPPOR": RAPPOR(sp.oo), "OUE": OUE(sp.oo)}
    return HadamardResponse() if name == "HR" else rows[name]


@dataclass(frozen=True)
class Entry:
    """One entry of a printed table beside the derived one."""

    row: str
    column: str
    printed: sp.Expr
    derived: sp.Expr

    @property
    def equal(self) -> bool:
        """Decided by `cancel`, for all values of the symbols."""
        return bool(field.simplest(self.printed - self.derived) == 0)


def _derived(name: str) -> dict[sp.Expr, sp.Expr]:
    """Value of G → probability, in the table's symbols; for HR the limit of many columns."""
    R = idealised(name)
    G = R.gparv()
    to_table = {s**2: t} if name == "RAPPOR" else {}
    masses = {}
    for value, mass in zip(G.forms, G.masses, strict=True):
        if isinstance(R, HadamardResponse):
            mass = sp.limit(mass, R.K, sp.oo)
        masses[field.simplest(value.subs(to_table))] = field.simplest(mass)
    return masses


def table_1() -> tuple[Entry, ...]:
    """Every printed entry of Table 1 with the derived one."""
    entries = []
    for name, printed in TABLE_1.items():
        derived = _derived(name)
        for value, entry in zip(VALUES, printed, strict=True):
            mass = derived.get(field.simplest(value), sp.Integer(0))
            entries.append(Entry(name, latex.formula(value), field.simplest(entry), mass))
    return tuple(entries)


def table_2() -> tuple[Entry, ...]:
    r"""p, q, r of Table 2: the probabilities of :math:`t - \alpha`, :math:`t - \alpha t` and :math:`1 - \alpha`."""
    entries = []
    for name, printed in TABLE_2.items():
        derived = _derived(name)
        for letter, value, entry in zip("pqr", (t - alpha, t - alpha * t, 1 - alpha), printed, strict=True):
            entries.append(Entry(name, letter, field.simplest(entry), derived[field.simplest(value)]))
    return tuple(entries)


class Comparison(tuple[Entry, ...]):
    """Entries that show themselves as the two tables; where print and derivation differ, both are shown."""

    def _repr_latex_(self) -> str:
        tables = []
        for columns in (VALUES, tuple("pqr")):
            heads = [latex.formula(value) for value in columns]
            rows: list[tuple[str, ...]] = [("", *heads)]
            for name in dict.fromkeys(entry.row for entry in self):
                cells = {entry.column: _cell(entry) for entry in self if entry.row == name}
                if heads[0] in cells:
                    rows.append((latex.text(name), *(cells[head] for head in heads)))
            tables.append(latex.table(rows).strip("$"))
        note = r"t = e^{\varepsilon_0},\quad s = e^{\varepsilon_0/2},\quad \alpha = e^{\varepsilon}"
        return r"$\begin{gathered} " + r" \\[12pt] ".join([*tables, note]) + r" \end{gathered}$"


def _cell(entry: Entry) -> str:
    printed, derived = (latex.formula(sp.factor(e)) for e in (entry.printed, entry.derived))
    if entry.equal:
        return derived
    return rf"\color{{#D55E00}}{{{printed}\ \text{{printed}},\ {derived}\ \text{{derived}}}}"


def compare() -> Comparison:
    r"""Tables 1 and 2, entry by entry. One probability of RAPPOR is printed wrong, in both:

    >>> [(entry.row, entry.column) for entry in compare() if not entry.equal]
    [('RAPPOR', '1 - \\alpha'), ('RAPPOR', 'r')]
    """
    return Comparison((*table_1(), *table_2()))
