r"""The drop-out bound: what its proof computes. How the steps make a proof is said at `truth.dropout`."""

import sympy as sp

from shuffle_sym.papers.derivation import Step, Steps, derivation


@derivation("The drop-out bound, with four users", "ours")
def drop_out() -> Steps:
    r"""The computations behind the drop-out bound: others A, B, C; B is asked first and stays, then A or C drops out.

    The empty chair is uniform because a user drops out with the message y with probability c(y), whatever the input.
    The inferences between the lines (data processing, a common law in both worlds, convexity) are not checked here.

    >>> drop_out().proved
    True
    """
    r_A, r_C, u_A, u_C, v_A, v_C = sp.symbols("r_A r_C u_A u_C v_A v_C", positive=True)
    alpha, gamma, m, x = sp.symbols("alpha gamma m x", positive=True)
    i, k, rest = sp.symbols("i k r", nonnegative=True)
    worlds = [(at_A * r_C + at_C * r_A) / 2 for at_A, at_C in ((u_A, u_C), (v_A, v_C))]
    chairs = ((u_A - alpha * v_A) / r_A + (u_C - alpha * v_C) / r_C) / 2
    return (
        Step(
            (worlds[0] - alpha * worlds[1]) / (r_A * r_C),
            chairs,
            "user 1 on chair A or C: w over the law of the chair, averaged; its positive part is Φ",
        ),
        Step(
            gamma + gamma * (1 - gamma) + gamma * (1 - gamma) ** 2 + (1 - gamma) ** 3,
            sp.Integer(1),
            "first, second or third of the others, or nobody drops out",
        ),
        Step(
            (i + k + 1 + rest) / (k + 1 + rest),
            1 + i / (1 + rest),
            "(n - a)/(n - j) with j = a + i, b = j + k, n = b + 1 + r: at most 1 + (j - a)/(n - b)",
            "<=",
        ),
        Step(x * m**2 + x**2 * m + x**3, x * (m**3 - x**3) / (m - x), "the sum over three places, in one factor"),
    )
