r"""Claims of Koskela et al. 2021."""

from __future__ import annotations

from shuffle_sym.audit.claims import Paper

PAPER = Paper("koskela2021", "Koskela et al. 2021")
