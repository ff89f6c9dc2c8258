r"""The paper that the claims of this folder are about."""

from shuffle_sym.audit.claims import Paper

PAPER = Paper("girgis2021", "Girgis et al. 2021")
