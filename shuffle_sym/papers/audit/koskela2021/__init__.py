r"""Claims of Koskela et al. 2021: the full paper, and the workshop version where it differs."""

from __future__ import annotations

from shuffle_sym.papers.audit.claims import Paper
from shuffle_sym.papers.audit.koskela2021 import clones, comparisons, rounds, views

PAPER = Paper("koskela2021", "Koskela et al. 2021").include(rounds.PART, views.PART, clones.PART, comparisons.PART)
