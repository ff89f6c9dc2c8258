"""The one exception of this package that is not about an argument."""


class VerificationError(Exception):
    """Mathematics that does not hold, or that could not be proved where a proof is needed."""
