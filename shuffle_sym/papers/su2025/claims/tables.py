r"""Su et al. 2025, Tables 1 and 2 and Appendix B: the laws of G of five randomizers."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model.decomposition import Decomposition, blanket
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.claims import Check, Evidence, all_of, claim, fact, identity, on_grid, refuted
from shuffle_sym.papers.enclosures import below, enclosed, exp
from shuffle_sym.papers.su2025 import printed
from shuffle_sym.papers.tools import F, exact, fraction, level
from shuffle_sym.randomizers import BLH, KRR, OUE, RAPPOR, HadamardResponse

t, s, k, alpha = field.t, field.s, field.k, field.alpha
FLAT = field.simplest(1 - alpha)
RAPPOR_R = "both tables have the same entry; the authors' program has the right one"
#: The smallest finite versions of what the tables take with infinitely many inputs (HR: with infinitely many columns).
SMALL: dict[str, Randomizer] = {
    "BLH": BLH(d=2, eps0=level(2)),
    "OUE": OUE(d=2, eps0=level(2)),
    "HR": HadamardResponse(K=4, eps0=level(2)),
}


def _from_table(name: str) -> Decomposition:
    """The five-component form with p, q, r of Table 2, as printed, at t = 2."""
    p, q, r = (entry.subs({t: 2}) for entry in printed.TABLE_2[name])
    return Decomposition([2 * p, p, 2 * q, r], [p, 2 * p, 2 * q, r], [p, p, q, r])


def _entries(name: str, table: int) -> list[printed.Entry]:
    entries = printed.table_1() if table == 1 else printed.table_2()
    return [entry for entry in entries if entry.row == name]


def _in_the_limit(name: str, table: int) -> Check:
    """All entries of a row against the definition, for all ε0."""
    wrong = [entry for entry in _entries(name, table) if not entry.equal]
    finding = f"Table {table}, {name}: all entries for all ε0, if there are infinitely many inputs"
    return Check(not wrong, "counterexample" if wrong else "proved", finding)


def _mass_at_flat(R: Randomizer) -> F:
    """Pr[G = 1 − e^ε] of the blanket."""
    G = R.gparv()
    masses = dict(zip(G.forms, G.probabilities, strict=True))
    return fraction(masses[FLAT])


def _finite(name: str, table: int) -> Check:
    """The entry for 1 − e^ε at the smallest finite size, t = 2."""
    column = (2, "1 − e^ε") if table == 1 else (2, "r")
    row = (printed.TABLE_1 if table == 1 else printed.TABLE_2)[name]
    entry, mass = fraction(row[column[0]].subs({t: 2})), _mass_at_flat(SMALL[name])
    size = "K = 4" if name == "HR" else "d = 2"
    return refuted(entry != mass, f"{name}, {size}, t = 2: {column[1]} has {mass}, the table says {entry}")


def _still_a_bound(name: str) -> str:
    return fact(
        on_grid(
            [(n, F(a)) for n in (1, 2, 3) for a in (F(1), F(5, 4), F(3, 2))],
            lambda *case: exact(blanket(SMALL[name]), *case) <= exact(_from_table(name), *case),
            finding="with finitely many inputs the decomposition of the table gives a bound, not the optimal one",
        )
    )


def _row(name: str) -> Evidence:
    finite = _finite(name, 1)
    return Evidence(
        Check(finite.passes, finite.kind, f"{finite.finding}; {_still_a_bound(name)}"), condition=_in_the_limit(name, 1)
    )


@claim(
    "S-Table1-kRR",
    "585",
    r"Table 1, $k$-RR: probabilities 1, 0, $k - 2$, $t - 1$, 1 over "
    r"$e^{\varepsilon_0+k} - 1$",
)
def table1_krr() -> Evidence:
    level_, size = F(3), 2
    total = enclosed(level_ + size - 1) / (enclosed(level_) * exp(size) - 1)
    return Evidence(
        refuted(below(total, 1), f"t = {level_}, k = {size}: the row sums to 4/(3e² − 1)"),
        corrected=Check(
            all(entry.equal for entry in _entries("k-RR", 1)),
            "proved",
            "with the denominator e^ε0 + k − 1 all five entries are right, for all k and ε0",
        ),
        misread="+ k may have slipped into the exponent: Example 4.1 and the authors' program have e^ε0 + k − 1",
    )


@claim("S-Table1-BLH", "586", "Table 1, BLH: $1/(2(t + 1))$ four times and $(t - 1)/(t + 1)$")
def table1_blh() -> Evidence:
    return _row("BLH")


@claim(
    "S-Table1-RAPPOR",
    "587",
    r"Table 1, RAPPOR: $1/(s + 1)^2$ for $1 - e^{\varepsilon}$ and both outer values, $1/(s(s + 1)^2)$, "
    r"$1 - 1/s$; $s = e^{\varepsilon_0/2}$",
)
def table1_rappor() -> Evidence:
    row = printed.TABLE_1["RAPPOR"]
    total = fraction(sp.Add(*row).subs({s: 2}))
    return Evidence(
        refuted(total != 1, f"s = 2 (ε0 = 2 log 2): the row sums to {total}"), corrected=_rappor(1), well_read=RAPPOR_R
    )


def _rappor(table: int) -> Check:
    wrong = [entry for entry in _entries("RAPPOR", table) if not entry.equal]
    derived = [entry.derived for entry in _entries("RAPPOR", table)]
    p, q, r = (derived[i] for i in ((0, 1, 2) if table == 2 else (4, 1, 2)))
    right = identity(
        r, s / (s + 1) ** 2, f"the entry for {'r' if table == 2 else '1 − e^ε'} is s/(s + 1)², the others stand"
    )
    one = identity(s**2 * p + p + s**2 * q + r, sp.Integer(1), "R(x_0) sums to 1, with infinitely many inputs")
    only = Check(len(wrong) == 1, "proved", "it is the only wrong entry of the row")
    return all_of(right, one, only)


@claim("S-Table1-OUE", "588", "Table 1, OUE")
def table1_oue() -> Evidence:
    return _row("OUE")


@claim("S-Table1-HR", "589", "Table 1, HR")
def table1_hr() -> Evidence:
    return _row("HR")


@claim("S-Table2-RAPPOR", "761", "Table 2, RAPPOR: $p = 1/(s + 1)^2$, $q = 1/(s(s + 1)^2)$, $r = 1/(s + 1)^2$")
def table2_rappor() -> Evidence:
    p, q, r = (fraction(entry.subs({s: 2})) for entry in printed.TABLE_2["RAPPOR"])
    total = 4 * p + p + 4 * q + r
    return Evidence(
        refuted(total != 1, f"s = 2, t = 4: R(x_0) = tpQ_0 + pQ_1 + tqQ_2 + rQ_3 sums to {total}"),
        corrected=_rappor(2),
        well_read=RAPPOR_R,
    )


@claim("S-Table2-BLH/OUE/HR", "760, 762, 763", "Table 2, BLH, OUE and HR: $p$, $q$, $r$ of the optimal decomposition")
def table2_others() -> Evidence:
    finite = _finite("BLH", 2)
    return Evidence(finite, condition=all_of(*(_in_the_limit(name, 2) for name in ("BLH", "OUE", "HR"))))


@claim(
    "S-AppB",
    "785-791",
    "the optimal decompositions have five components: $(tp, p, p)$, $(p, tp, p)$, $(tq, tq, q)$, $(r, r, "
    "r)$ and the rest",
)
def appendix_b() -> Check:
    five = {field.simplest(value) for value in printed.VALUES}

    def fits(R: Randomizer) -> bool:
        G = R.gparv()
        to_t = {s**2: t} if isinstance(R, RAPPOR) else {}
        masses = {field.simplest(value.subs(to_t)): mass for value, mass in zip(G.forms, G.masses, strict=True)}
        top, bottom = (masses[field.simplest(value)] for value in (t - alpha, 1 - alpha * t))
        return set(masses) <= five and field.simplest(top - bottom) == 0

    randomizers = (KRR(), BLH(), RAPPOR(), OUE(), HadamardResponse())
    wrong = [R for R in randomizers if not fits(R)]
    return Check(
        not wrong,
        "counterexample" if wrong else "proved",
        "G of k-RR, BLH, RAPPOR, OUE and HR takes these five values and no other, for any number of inputs and all ε0",
    )
