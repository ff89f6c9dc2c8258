r"""The paper that the claims of this folder are about."""

from shuffle_sym.papers.audit.claims import Paper

PAPER = Paper("balle2019", "Balle et al. 2019")
