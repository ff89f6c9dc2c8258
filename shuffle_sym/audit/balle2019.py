r"""Claims of Balle et al. 2019."""

from __future__ import annotations

from shuffle_sym.audit.claims import Paper

PAPER = Paper("balle2019", "Balle et al. 2019")
