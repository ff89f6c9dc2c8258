r"""The one exception of this package that is not about a wrong argument."""


class VerificationError(Exception):
    """Mathematics that does not hold, or that could not be proved where a proof is needed.

    >>> from shuffle_sym.papers.engine import claim
    >>> claim(1, "=", 2, "one is two")
    Traceback (most recent call last):
    shuffle_sym.algebra.errors.VerificationError: one is two: cannot prove 1 = 2
    """
