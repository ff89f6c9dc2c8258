r"""The command line ``shuffle-sym``: the questions of the package with the names and defaults of its Python calls.

Exit codes: 0 for an answer, 1 for a check that failed, 2 for an input that is wrong (one line says why).
"""

from shuffle_sym.apps.cli.main import main
from shuffle_sym.apps.cli.parser import EXAMPLES

__all__ = ["EXAMPLES", "main"]
