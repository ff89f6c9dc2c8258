r"""The paper that the claims of this folder are about."""

from shuffle_sym.papers.audit.claims import Paper

PAPER = Paper("girgis2021", "Girgis et al. 2021")
