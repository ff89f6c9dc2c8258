r"""The literature, one folder a paper: closed forms, derivations, claims with verdicts. What the papers share lies
beside the folders; `derivations`, `bounds` and `audit` show what is in all of them."""

from shuffle_sym.papers import balle2019, erlingsson2019, feldman2020, girgis2021, koskela2021, ours, su2025

#: In the order in which reports show them.
FOLDERS = (koskela2021, su2025, balle2019, girgis2021, feldman2020, erlingsson2019, ours)

__all__ = ["FOLDERS", "balle2019", "erlingsson2019", "feldman2020", "girgis2021", "koskela2021", "ours", "su2025"]
