r"""Does a program do what its definition says? Lower bounds on ε from samples, and whether a claim is refuted.

`local` looks at messages of two inputs, `shuffled` at runs of a whole pipeline, `cost` says how many it takes. The
stated confidence assumes that calls are independent of one another: a generator with the same seed in each call, or a
cache between calls, is not noticed.
"""

from shuffle_sym.protocols.empirical.audits import LocalAudit, ShuffledAudit, local, shuffled
from shuffle_sym.protocols.empirical.costs import Cost, cost
from shuffle_sym.protocols.empirical.readings import Disagreement
from shuffle_sym.protocols.empirical.statistics import Bound

__all__ = ["Bound", "Cost", "Disagreement", "LocalAudit", "ShuffledAudit", "cost", "local", "shuffled"]
