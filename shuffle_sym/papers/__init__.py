r"""The literature, one folder a paper: closed forms, derivations, claims with verdicts. What the papers share lies
beside the folders; `derivations`, `bounds` and `audit` show what is in all of them. Each is imported when somebody asks
for it."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later

#: In the order in which reports show them.
FOLDERS = ("koskela2021", "su2025", "balle2019", "girgis2021", "feldman2020", "erlingsson2019", "ours")

__all__ = ["FOLDERS", *FOLDERS]

if TYPE_CHECKING:
    from shuffle_sym.papers import balle2019 as balle2019
    from shuffle_sym.papers import erlingsson2019 as erlingsson2019
    from shuffle_sym.papers import feldman2020 as feldman2020
    from shuffle_sym.papers import girgis2021 as girgis2021
    from shuffle_sym.papers import koskela2021 as koskela2021
    from shuffle_sym.papers import ours as ours
    from shuffle_sym.papers import su2025 as su2025
else:
    __getattr__, __dir__ = later(__name__)
