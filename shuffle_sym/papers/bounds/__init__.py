r"""Closed-form bounds from the literature, one file a paper, for comparison. Each is rounded up, and refuses where its
theorem says nothing."""

from shuffle_sym.papers.bounds.amplification import Amplification
from shuffle_sym.papers.bounds.balle2019 import (
    balle2019_bennett,
    balle2019_cor531,
    balle2019_hoeffding,
    balle2019_thm31,
    balle2019_thm31_delta,
    balle2019_thm31_eps0,
    balle2019_thm31_gamma,
    balle2019_thm42,
    balle2019_thm53,
)
from shuffle_sym.papers.bounds.composition import (
    advanced_composition,
    basic_composition,
    optimal_composition,
    optimal_composition_epsilon,
    poisson_subsampled,
    strong_composition,
)
from shuffle_sym.papers.bounds.erlingsson2019 import erlingsson2019
from shuffle_sym.papers.bounds.feldman2020 import feldman2020_thm31, feldman2020_thm31_delta
from shuffle_sym.papers.bounds.girgis2021 import (
    girgis2021_best_gamma,
    girgis2021_cor32,
    girgis2021_cor35,
    girgis2021_eq9,
    girgis2021_thm31,
    girgis2021_thm33,
    girgis2021_thm34,
    girgis2021_thm36,
)

__all__ = [
    "Amplification",
    "advanced_composition",
    "balle2019_bennett",
    "balle2019_cor531",
    "balle2019_hoeffding",
    "balle2019_thm31",
    "balle2019_thm31_delta",
    "balle2019_thm31_eps0",
    "balle2019_thm31_gamma",
    "balle2019_thm42",
    "balle2019_thm53",
    "basic_composition",
    "erlingsson2019",
    "feldman2020_thm31",
    "feldman2020_thm31_delta",
    "girgis2021_best_gamma",
    "girgis2021_cor32",
    "girgis2021_cor35",
    "girgis2021_eq9",
    "girgis2021_thm31",
    "girgis2021_thm33",
    "girgis2021_thm34",
    "girgis2021_thm36",
    "optimal_composition",
    "optimal_composition_epsilon",
    "poisson_subsampled",
    "strong_composition",
]
