r"""Claims of Su et al. 2025."""

from __future__ import annotations

from shuffle_sym.papers.audit.claims import Paper
from shuffle_sym.papers.audit.su2025 import compositions, datasets, decompositions, gparv, tables

PAPER = Paper("su2025", "Su et al. 2025").include(
    decompositions.PART, gparv.PART, tables.PART, datasets.PART, compositions.PART
)
