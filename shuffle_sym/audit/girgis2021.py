r"""Claims of Girgis et al. 2021."""

from __future__ import annotations

from shuffle_sym.audit.claims import Paper

PAPER = Paper("girgis2021", "Girgis et al. 2021")
