r"""Claims of Su et al. 2025."""

from __future__ import annotations

from shuffle_sym.audit.claims import Paper

PAPER = Paper("su2025", "Su et al. 2025")
