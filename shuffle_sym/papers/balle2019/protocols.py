r"""What the protocols of Balle et al. 2019 estimate and how well, as derivations."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.randomizers import KRR

half = sp.Rational(1, 2)
n, i = sp.symbols("n i", positive=True, integer=True)
c, gamma = sp.symbols("c gamma", positive=True)
#: Values 0 … k are sent, and k may be 1.
k = Parameter("k", 1, integer=True)
x = sp.Symbol("x", nonnegative=True)
cell, rest = sp.symbols("j f", nonnegative=True)  # kx = j + f, and f is rounded at random

MEAN_OF_NOISE = sp.Sum(i / (k + 1), (i, 0, k))
SQUARE_OF_NOISE = sp.Sum(i**2 / (k + 1), (i, 0, k))
#: A rounded value and its square, on average; then those of a message.
ROUNDED, ROUNDED_SQUARE = (1 - rest) * cell + rest * (cell + 1), (1 - rest) * cell**2 + rest * (cell + 1) ** 2
FIRST_MOMENT = (1 - gamma) * ROUNDED + gamma * MEAN_OF_NOISE
SECOND_MOMENT = (1 - gamma) * ROUNDED_SQUARE + gamma * SQUARE_OF_NOISE
#: Var[y/k] of one message, exactly; f is the part of kx after the point.
MESSAGE_VARIANCE = (
    (1 - gamma) * rest * (1 - rest) / k**2 + gamma * (1 - gamma) * (x - half) ** 2 + gamma * (k + 2) / (12 * k)
)
#: Its supremum over x for γk <= 1, and for γk >= 1 without the middle term.
WORST_VARIANCE = gamma * (1 - gamma) / 4 + (1 - gamma * k) ** 2 / (4 * k**2) + gamma * (k + 2) / (12 * k)

first, second = sp.symbols("S_1 S_2", nonnegative=True)
#: What is reported for Var[y/k], from the mean S_1 of y/k and the mean S_2 of its square.
SAFE_VARIANCE = (
    gamma * (second - first)
    + gamma * (1 - gamma) * (2 * k + 1) / (6 * k)
    + gamma**2 / 4
    + (1 - gamma) ** 2 / (4 * k**2)
)

p, q, N, users, C = sp.symbols("p q N n C", positive=True)
#: The estimated count; its variance and the estimate of that are these over (p − q)².
COUNT = (C - users * q) / (p - q)
MATCH_VARIANCE = N * p * (1 - p) + (users - N) * q * (1 - q)
FOUND_VARIANCE = (users - C) * p * q + C * (1 - p) * (1 - q)


@derivation("The estimated sum is unbiased", "Balle et al. 2019, Theorem 4.1")
def sum_unbiased() -> Steps:
    r"""The analyzer of Algorithm 3 is unbiased (Balle et al. 2019, Theorem 4.1): a message y of a user with kx = j + f
    has :math:`E[y] = (1-\gamma)kx + \gamma k/2`, γ = c(k + 1)/n.

    >>> sum_unbiased().result
    c*(k + 1)/2
    """
    mean = sp.Symbol("w", positive=True)
    unbiased = sp.Subs((mean - gamma / 2) / (1 - gamma), mean, FIRST_MOMENT / k)
    return (
        Step(ROUNDED, cell + rest, "randomised rounding keeps the mean: kx"),
        Step(MEAN_OF_NOISE, k / 2, "a uniform value"),
        Step(FIRST_MOMENT, (1 - gamma) * (cell + rest) + gamma * k / 2, "one message"),
        Step(unbiased, (cell + rest) / k, "one message, without bias: x"),
        Step(
            sp.Subs(n * gamma / 2, gamma, c * (k + 1) / n),
            c * (k + 1) / 2,
            "what n of them take off: that of Algorithm 3",
        ),
    )


@derivation("Variance of one message", "Balle et al. 2019, Theorem 4.1")
def sum_variance() -> Steps:
    r"""The exact variance of one message, and that the bound of Theorem 4.1 (Balle et al. 2019) follows from it:

    .. math:: V[y/k] = (1-\gamma)\frac{f(1-f)}{k^2} + \gamma(1-\gamma)\bigl(x - \tfrac12\bigr)^2
              + \gamma\frac{k+2}{12k} \le \frac{1-\gamma}{4k^2} + \frac\gamma2.

    The MSE of the sum is :math:`\sum_i V[y_i/k]/(1-\gamma)^2`: users are independent and the estimate is unbiased.

    >>> sum_variance().result
    1/(2*(g + 1)) + (1 - 1/(g + 1))/(4*k**2)
    """
    off, room, g = sp.symbols("h v g", nonnegative=True)  # f = 1/2 + h, (x − 1/2)² = 1/4 − v, γ = 1/(1 + g)
    share, quarter = 1 / (1 + g), sp.Rational(1, 4)
    variance = (SECOND_MOMENT - FIRST_MOMENT**2) / k**2
    noise = share * (k + 2) / (12 * k)
    exact = (1 - share) * (quarter - off**2) / k**2 + share * (1 - share) * (quarter - room) + noise
    return (
        Step(SQUARE_OF_NOISE, k * (2 * k + 1) / 6, "the square of a uniform value"),
        Step(ROUNDED_SQUARE, (cell + rest) ** 2 + rest * (1 - rest), "the square of a rounded value"),
        Step(variance.subs(cell, k * x - rest), MESSAGE_VARIANCE, "the variance, with kx = j + f"),
        Step(
            exact,
            (1 - share) / (4 * k**2) + share / 2,
            "the print is above it (f = 1/2 + h, (x - 1/2)² = 1/4 - v, γ = 1/(1 + g))",
            "<=",
        ),
    )


@derivation("The worst input of the sum", "sharpens Balle et al. 2019, Theorem 4.1")
def sum_worst_case() -> Steps:
    r"""The worst input, exactly: sup V[y/k] is :math:`\frac{\gamma(1-\gamma)}{4} + \frac{[1-\gamma k]_+^2}{4k^2} +
    \gamma\frac{k+2}{12k}`, at x = f/k with f = (1 − γk)/(2(1 − γ)), or at x = 0 if γk >= 1.

    In a cell nearer to 1/2 the rounding costs the same and the rest less, so the first cell is the worst. The part that
    is spent on noise is γ/3 for large k, where the paper has γ/2.

    >>> sum_worst_case().result
    1/3
    """
    best = (1 - gamma * k) / (2 * (1 - gamma))
    part = rest * (1 - rest) / k**2 + gamma * (half - rest / k) ** 2
    over, g = sp.symbols("o g", nonnegative=True)  # γk = 1 + o, γ = 1/(1 + g)
    return (
        Step(
            part,
            gamma / 4 + (1 - gamma * k) ** 2 / (4 * k**2 * (1 - gamma)) - (1 - gamma) / k**2 * (rest - best) ** 2,
            "the first cell: what depends on f, as a square",
        ),
        Step((1 - gamma) * sp.Subs(part, rest, best) + gamma * (k + 2) / (12 * k), WORST_VARIANCE, "at the best f"),
        Step(
            sp.cancel(part.subs({k: (1 + over) * (1 + g), gamma: 1 / (1 + g)})),
            1 / (1 + g) / 4,
            "for γk = 1 + o ≥ 1 it is largest at f = 0",
            "<=",
        ),
        Step(
            sp.Limit((half / 2 + (k + 2) / (12 * k)), k, sp.oo), sp.Rational(1, 3), "the factor of γ for γ → 0, large k"
        ),
    )


@derivation("The standard error of a sum", "for Balle et al. 2019, Algorithm 3")
def sum_standard_error() -> Steps:
    r"""The standard error to report with a sum: with S_1 and S_2 the means of y/k and (y/k)² over the messages,

    .. math:: \hat V = \gamma(S_2 - S_1) + \gamma(1-\gamma)\frac{2k+1}{6k} + \frac{\gamma^2}{4}
              + \frac{(1-\gamma)^2}{4k^2}

    is positive, and its mean is the mean of V[y/k] over the users and at most 1/(4k²) more: what rounding adds cannot
    be told from the messages, so all that it can add is counted.

    >>> sum_standard_error().proved
    True
    """
    mean, square = FIRST_MOMENT / k, SECOND_MOMENT / k**2
    off, room, g = sp.symbols("h v g", nonnegative=True)  # f = 1/2 + h, S_2 − S_1 = v − 1/4, γ = 1/(1 + g)
    safe = sp.Subs(SAFE_VARIANCE, (first, second), (mean, square)).doit().subs(cell, k * x - rest)
    too_much = (1 - gamma) ** 2 * (rest - half) ** 2 / k**2
    share = 1 / (1 + g)
    return (
        Step(safe, MESSAGE_VARIANCE + too_much, "one user's share of the mean, with kx = j + f"),
        Step(
            (1 - share) ** 2 * off**2 / k**2,
            (1 - share) ** 2 * (off**2 + room) / k**2,
            "what is too much: (f - 1/2)² is at most 1/4 (γ = 1/(1 + g))",
            "<=",
        ),
        Step(
            share * (1 - share) / 12,
            SAFE_VARIANCE.subs(second, first + room - sp.Rational(1, 4)).subs(gamma, share),
            "it is positive: y² - y ≥ -1/4",
            "<=",
        ),
    )


@derivation("The best precision", "Balle et al. 2019, Theorem 4.1")
def optimal_k() -> Steps:
    r"""The k that makes the bound on the MSE smallest: :math:`(n/c)^{1/3}` for the published bound (Balle et al. 2019,
    Theorem 4.1), :math:`(3n/2c)^{1/3}` for the exact worst case, whose value is then
    :math:`\frac12\sqrt[3]{3/2}\,c^{2/3} n^{1/3}`, up to the factor 1/(1 − γ)² and lower powers of n.

    >>> optimal_k().result
    2**(2/3)*3**(1/3)*c**(2/3)*n**(1/3)/4
    """
    size = sp.Symbol("k", positive=True)
    printed = 1 / (4 * size**2) + c * (size + 1) / (2 * users)
    exact = 1 / (4 * size**2) + c * (size + 1) / (3 * users)
    third = sp.Rational(1, 3)
    at = (3 * users / (2 * c)) ** third
    return (
        Step(sp.Derivative(printed, size), c / (2 * users) - 1 / (2 * size**3), "the slope of the print's bound"),
        Step(sp.Subs(c / (2 * users) - 1 / (2 * size**3), size, (users / c) ** third), sp.Integer(0), "it vanishes"),
        Step(sp.Derivative(exact, size), c / (3 * users) - 1 / (2 * size**3), "the slope of the exact one"),
        Step(sp.Subs(c / (3 * users) - 1 / (2 * size**3), size, at), sp.Integer(0), "it vanishes"),
        Step(
            sp.Subs(users * (exact - c / (3 * users)), size, at),
            half * (3 * half) ** third * c ** (2 * third) * users**third,
            "the MSE there, without the constant c/3",
        ),
    )


@derivation(
    "A lower bound on the error of every protocol", "Balle et al. 2019, Lemmas 4.3 and 4.5, Theorem 4.2, corrected"
)
def theorem42() -> Steps:
    r"""What Theorem 4.2 says in numbers (Balle et al. 2019, corrected): for every k, an (ε, δ)-DP single-message
    protocol for sums has :math:`\mathrm{MSE} \ge \min\bigl\{\frac{n}{8k^2e^\varepsilon} - \frac{1-2\delta}{8k},
    \frac{1}{48}\bigl(k - \frac1k\bigr)\bigl(\frac12 - \delta\bigr)\bigr\}`.

    The unit interval has k cells. By Lemma 4.5 each cell is of one of two kinds: its own input leaves it with
    probability at least e^-ε/2 (S of them), or every input enters it with probability at least d/n, d = 1/2 − δ (T of
    them). What enters the T cells is counted first, whole. Inputs of the S cells leave with e^-ε/2, at most kd/n of
    which is in that count; the rest costs at least 1/(4k²). The print leaves the term (1 − 2δ)/(8k) out: it puts "one
    of two" (Lemma 4.5) into the smaller of both (Lemma 4.4), which needs both.

    >>> theorem42().proved
    True
    """
    at = sp.Symbol("m", positive=True, integer=True)
    v, w, room = sp.symbols("v w d", nonnegative=True)
    centre = (k + 1) / 2
    alpha = field.alpha
    squares = sp.Sum((i - at) ** 2, (i, 1, k))
    return (
        Step((1 + v) ** 2 / 4, (1 + v - half) ** 2, "Lemma 4.3: (u - 1/2)² ≥ u²/4 for u = 1 + v", "<="),
        Step(squares, (k**3 - k) / 12 + k * (at - centre) ** 2, "Lemma 4.3: smallest in the middle"),
        Step(
            (1 - (at + 1) * w),
            (1 - at * w) * (1 - w),
            "Lemma 4.5: by induction (1 - z/n)^n ≥ 1 - z, so p ≥ (1/2 - δ)/n",
            "<=",
        ),
        Step(
            n / k * k * (1 / (2 * alpha) - k * room / n) / (4 * k**2),
            n / (8 * k**2 * alpha) - room / (4 * k),
            "k cells of the first kind: left with e^-ε/2, less kd/n, d = 1/2 - δ",
        ),
        Step(
            n * k * (1 - 1 / k**2) * (room / n) / 48,
            (k - 1 / k) * room / 48,
            "k cells of the second kind: entered from afar with probability d/n",
        ),
        Step(
            (w + v) * room,
            w * room + v * (room + at),
            "S cells of one kind and T of the other: at least k = S + T times the smaller share",
            "<=",
        ),
    )


@derivation("Counts, and the standard error to report with them", "Balle et al. 2019, Algorithm 1; Wang et al. 2017")
def frequency_estimate() -> Steps:
    r"""Counts from messages that match the own input with probability p and any other one with q: C of n messages match
    an input that N users have.

    :math:`\hat N = (C - nq)/(p - q)` is unbiased, its variance is :math:`[Np(1-p) + (n-N)q(1-q)]/(p-q)^2`, exactly, and
    :math:`[(n-C)pq + C(1-p)(1-q)]/(p-q)^2` is an unbiased estimate of that variance which is never negative: its root
    is the standard error to report. For k-RR that answers randomly with probability γ, p − q = 1 − γ and q = γ/k.

    >>> frequency_estimate().result
    k/(k + t - 1)
    """
    others = sp.Symbol("o", nonnegative=True)  # n − C
    P, Q = sp.symbols("u v", nonnegative=True)  # p = 1/(1 + u), q = 1/(1 + v)
    mean = N * p + (users - N) * q
    krr = KRR()
    hit, miss = (krr.likelihood(match) * krr.mu for match in (True, False))
    share = field.k / (field.t + field.k - 1)
    return (
        Step(sp.Subs(COUNT, C, mean), N, "N users match with p, the others with q"),
        Step(
            sp.Subs(MATCH_VARIANCE, N, COUNT), FOUND_VARIANCE, "the variance (times (p - q)²) with the estimate for N"
        ),
        Step(sp.Subs(FOUND_VARIANCE, C, mean), MATCH_VARIANCE, "its mean is the variance"),
        Step(
            sp.Integer(0),
            FOUND_VARIANCE.subs(users, C + others).subs({p: 1 / (1 + P), q: 1 / (1 + Q)}),
            "it is not negative (n = C + o, p = 1/(1 + u), q = 1/(1 + v))",
            "<=",
        ),
        Step(hit - miss, 1 - share, "k-RR: p - q = 1 - γ"),
        Step(field.k * miss, share, "k-RR: q = γ/k"),
    )
