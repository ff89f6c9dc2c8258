r"""The audit: statements of the papers, each with a verdict that is recomputed from evidence."""

from shuffle_sym.papers.audit.claims import Check, Claim, Evidence, Result
from shuffle_sym.papers.audit.report import PAPERS, Audit, claims, recorded, run, summary

__all__ = ["PAPERS", "Audit", "Check", "Claim", "Evidence", "Result", "claims", "recorded", "run", "summary"]
