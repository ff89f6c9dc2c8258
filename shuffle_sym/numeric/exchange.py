r"""Whether the largest mean positive part is that of equal terms: a certificate in doubles.

Laws G_x with values of both signs and the same mean <= 0; \* one of them; variances τ² and η_x, all >= 0; Z normal. If
the condition below holds for all x ≠ \*, then for every choice of N laws

.. math:: \mathbb E\Bigl[\sum_{i=1}^N G_{x_i}\Bigr]_+
          \;\le\; \mathbb E\Bigl[\sum_{i=1}^N G_*^{(i)} + \sqrt{\tau^2 + N\eta_*}\; Z\Bigr]_+ .

*Proof.* Independent normal terms do not make the left side smaller (Jensen): one with variance τ², and for every term
with the law of G_x one with variance η_x. Such a term and its own normal one add up to X_x, with the moment generating
function M_x(s) = E e^{sG_x} e^{η_x s²/2}, κ_x = log M_x. It is enough that no exchange of one X_x for X_* lowers the
mean positive part. In a sum whose other N − 1 terms have the product ΠM of transforms, it changes it by

.. math:: -\frac1\pi \int_0^\infty \operatorname{Re}\bigl[\Pi M(s)\, q_x(s)\, e^{\tau^2 s^2/2}\bigr] du, \qquad
          q_x(s) = \frac{M_x(s) - M_*(s)}{s^2}, \quad s = \lambda + iu,

for every λ > 0, and for every real λ because q_x has no pole: the means are the same. Σκ' of the others increases; its
zero is in Λ = [min λ_x, max λ_x], λ_x the zero of κ_x'. Let λ be the centre of the cell of Λ that has it, h half the
width of the cell. Then |Σκ'(λ)| <= (N − 1) h max κ'' over the cell, and κ'' grows by a factor of at most e^{h·range} in
it: |κ_x'''| <= range·κ_x'' for G_x, and a normal term adds η_x to κ'' and nothing to κ'''. Let
ζ_x = e^{−iuκ_x'(λ)} M_x(s)/M_x(λ) and −q_x = a + ib. The factors ζ of the others, the rotation by uΣκ'(λ) and that of
e^{τ²s²/2} turn q_x by an angle of at most Θ, so that

.. math:: \operatorname{Re}[\Pi M q_x e^{\tau^2 s^2/2}] \le \Pi M(\lambda)\, e^{\tau^2(\lambda^2 - u^2)/2} B A, \qquad
          \Theta = (N-1) \bigl(\max_x |\arg \zeta_x| + u h \max \kappa''\bigr) + \tau^2 |\lambda| u,

where B = |b| sin Θ − a cos Θ if a > 0 and Θ < π/2, B = |q_x| if not, A = (min |ζ_x|)^{N−1} if B < 0 and
(max |ζ_x|)^{N−1} if not. So ∫ e^{−τ²u²/2} B A du <= 0 is enough. ∎

The condition fails for η = 0 where variances are the same: a(0) = 0. In the normal limit an η_* of ρ²/(3N) variances is
enough for two laws with skewnesses ±ρ. The integral is bounded from above by cells of u, for all N from N1 to N2
(min |ζ| to N2 − 1, max |ζ| to N1 − 1, Θ with N2). In a cell of width H a function is within H²/8 times its largest
second derivative of its chord: V for ζ_x and 2V for |ζ_x|², V the tilted variance of X_x. q_x is E[X² ∫_0^1 (1 − t)
e^{tsX} dt] of X_x minus that of X_*, because the means are the same; the second derivative of each is at most 1/12 of
the larger one of E X⁴ and E[X⁴ e^{λX}], because E[X⁴ e^{tλX}] is convex in t.
"""

from __future__ import annotations

import math

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.transforms import Array, Complex, _moments, _Tilted, expm1

_ROUNDS = 4
_MOST_WORK = 2**16  # nodes times centres times values
_HOPELESS = 60.0  # twice what smaller cells can make good: what is against it over what is for it
_STEP, _BULK, _GROWTH = 0.08, 4.0, 1.08  # equal cells up to so many standard deviations, growing ones beyond
_TURN = 0.2  # half a cell of Λ, in standard deviations
_MOST_CENTRES = 40
_LARGEST_EXPONENT = 600.0
_NEXT_TO_0 = 1e-9  # zeros of κ' are known to within this over the largest value, at least
_MARGIN = 1e-9  # more than what round-off in sums of positive terms can be


def same_means(values: Array, probabilities: Array) -> bool:
    """Whether the means of all rows are the same as far as doubles can tell."""
    means, sizes = (probabilities * values).sum(axis=1), (probabilities * np.abs(values)).sum(axis=1)
    errors = (3 * FLOAT_ERROR + (values.shape[1] + 4) * UNIT_ROUNDOFF) * sizes
    return bool((np.abs(means - means[0]) <= errors + errors[0]).all())


def certified(
    values: Array, probabilities: Array, pads: Array, star: int, smoothing: float, terms: tuple[int, int]
) -> bool:
    """Whether the exchange is certain for all numbers of terms from ``terms[0]`` >= 2 to ``terms[1]``.

    Args:
        values: a row for each law, as doubles with relative errors of at most FLOAT_ERROR; the true means are the same.
        probabilities: of the values, in the same shape; rows may be filled up with zeros.
        pads: the variances η_x, one for each law.
        star: the row of the law that takes the place of the others.
        smoothing: the variance τ².
        terms: the smallest and the largest number of terms.
    """
    span = rates(values, probabilities, pads)
    if span is None or terms[0] < 2 or not same_means(values, probabilities):
        return False
    if len(values) == 1:
        return True
    means = (probabilities * values).sum(axis=1, keepdims=True)
    spread = float(((probabilities * (values - means) ** 2).sum(axis=1) + pads).max())
    cells = max(math.ceil((span[1] - span[0]) * math.sqrt(terms[1] * spread) / (2 * _TURN)), 1)
    if cells > _MOST_CENTRES:
        return False
    half = (span[1] - span[0]) / (2 * cells) * (1 + 1e-9)
    centres = span[0] + half * (2 * np.arange(float(cells)) + 1)
    return _all_negative(_Bounds(values, probabilities, pads, star, smoothing, terms, centres, half))


def _all_negative(bounds: _Bounds) -> bool:
    """Whether all integrals are certain to be negative, by smaller and smaller cells where they are not."""
    others = np.arange(bounds.g.shape[1]) != bounds.star
    u = bounds.nodes()
    at = bounds.at(u)
    ratios: Array = np.array(math.inf)
    for _ in range(_ROUNDS):
        parts = bounds.parts(u, at)[:, :, others]
        gain = -np.minimum(parts, 0.0).sum(axis=0)
        loss = np.maximum(parts, 0.0).sum(axis=0)
        if (loss < (1 - _MARGIN) * gain).all():
            return True
        # Smaller cells help less and less: not at all if another step like the last one would not be enough.
        before, ratios = ratios, loss / np.maximum(gain, np.maximum(loss / 1e6, 1e-300))
        if (2 * ratios > 1 + np.minimum(before, _HOPELESS)).any():
            return False
        # Cells that weigh more against it than their share of what is for it
        split = np.flatnonzero((parts[:-1] > 0.25 / len(u) * gain).any(axis=(1, 2)))
        if not len(split) or (len(u) + 3 * len(split)) * bounds.g.size > _MOST_WORK:
            return False
        fresh = (u[split, None] + np.diff(u)[split, None] * np.array([0.25, 0.5, 0.75])).ravel()
        order = np.argsort(np.concatenate([u, fresh]), kind="stable")
        at = [np.concatenate([old, new])[order] for old, new in zip(at, bounds.at(fresh), strict=True)]
        u = np.concatenate([u, fresh])[order]
    return False


def rates(values: Array, probabilities: Array, pads: Array) -> tuple[float, float] | None:
    """An interval that is certain to have the zeros of all κ_x'; None if a mean is positive or there is none."""
    if (values.max(axis=1) <= 0).any() or (values.min(axis=1) >= 0).any():
        return None
    with np.errstate(divide="ignore"):
        log_p = np.log(probabilities)
    sizes = np.abs(values).max(axis=1)
    low, high = -_NEXT_TO_0 / sizes, _LARGEST_EXPONENT / sizes
    rate = np.zeros(len(values))
    for _ in range(20):  # Newton's method, inside a bracket
        mean, variance, _ = _moments(rate, values, log_p)
        mean, variance = mean + pads * rate, variance + pads
        low, high = np.where(mean < 0, rate, low), np.where(mean < 0, high, rate)
        step = -mean / np.maximum(variance, 1e-290)
        rate = np.where((low <= rate + step) & (rate + step <= high), rate + step, (low + high) / 2)
        if (np.abs(step) < 1e-7 * rate + _NEXT_TO_0 / sizes).all():
            break
    wider = 2 * _NEXT_TO_0 / float(sizes.min())
    ends = float(rate.min()) * (1 - 1e-6) - wider, float(rate.max()) * (1 + 1e-6) + wider
    if ends[1] * float(sizes.max()) > _LARGEST_EXPONENT:
        return None
    for end, sign in zip(ends, (-1, 1), strict=True):
        one = _Tilted(values, probabilities, np.full(len(values), end), FLOAT_ERROR, FLOAT_ERROR)
        means = (one.q * values).sum(axis=1) + pads * end
        if not (sign * means > one.drift + 8 * UNIT_ROUNDOFF * pads * abs(end)).all():
            return None
    return ends


class _Bounds:
    """e^{−τ²u²/2} B A in cells of u: arrays have an axis for u, one for the centres λ and one for the laws x."""

    def __init__(
        self,
        values: Array,
        probabilities: Array,
        pads: Array,
        star: int,
        smoothing: float,
        terms: tuple[int, int],
        centres: Array,
        half: float,
    ) -> None:
        count, shape = len(values), (len(centres), len(values))
        self.star, self.smoothing, self.terms, self.centres, self.pads = star, smoothing, terms, centres, pads
        g, p = np.tile(values, (len(centres), 1)), np.tile(probabilities, (len(centres), 1))
        c = np.repeat(centres, count)
        one = _Tilted(g, p, c, FLOAT_ERROR, FLOAT_ERROR)
        self.g, self.q = (np.reshape(a, (*shape, -1)) for a in (g, one.q))
        u, lam = UNIT_ROUNDOFF, centres[:, None]
        normal = pads * lam**2 / 2
        self.log_phi = np.reshape(one.log_phi, shape) + normal
        self.log_error = np.reshape(one.log_error, shape) + 8 * u * (np.abs(self.log_phi) + normal)
        self.drift = np.reshape(one.drift, shape) + 64 * u * np.sqrt(pads)
        self.mean = (self.q * self.g).sum(axis=2)  # of the bounded part: that of the normal one is known, η_x λ
        # As in `dropout`: about any point, with all errors, and never below the variance.
        about = (self.q * (self.g - self.mean[:, :, None]) ** 2).sum(axis=2) + pads
        self.variance = (1 + 1e-9) * about + 1e-14 * (self.g**2).max(axis=2)
        spans = values.max(axis=1) - values.min(axis=1)
        self.turn = half * self.variance * np.exp(1.01 * half * spans)  # h max κ''
        fourth = self._fourth_moments(np.zeros_like(lam), probabilities)
        tilted = self._fourth_moments(lam, self.q) * np.exp(self.log_phi)
        self.bend = 1.01 / 12 * np.maximum(fourth, tilted)
        # Moments of X at λ = 0, the second and the third, and sizes for their round-off
        signed, sizes = (
            np.array([(probabilities * g**k).sum(axis=1) for k in (1, 2, 3)]) for g in (values, abs(values))
        )
        self.moments, self.sizes = (np.array([m[1] + pads, m[2] + 3 * pads * m[0]]) for m in (signed, sizes))

    def _fourth_moments(self, rates: Array, weights: Array) -> Array:
        """E X⁴ for the sum X of a term with these probabilities and a normal one with mean η_x λ and variance η_x."""
        squares = (self.g + (self.pads * rates)[:, :, None]) ** 2
        pads = self.pads[:, None]
        moments: Array = (weights * (squares * (squares + 6 * pads) + 3 * pads**2)).sum(axis=2)
        return moments

    def nodes(self) -> Array:
        unit = 1 / math.sqrt(self.terms[1] * float(self.variance.max()))
        end = 9.0 / math.sqrt(self.smoothing) if self.smoothing > 0 else 1e4 * unit
        bulk = _STEP * np.arange(round(_BULK / _STEP) + 1)
        count = max(math.ceil(math.log(max(end / unit / bulk[-1], 1.0)) / math.log(_GROWTH)), 1)
        nodes: Array = unit * np.concatenate([bulk, bulk[-1] * _GROWTH ** np.arange(1, count + 1)])
        return nodes

    def at(self, u: Array) -> list[Array]:
        """At nodes: |ζ|² − 1, ζ (real and imaginary part), −(M_x − M_*)/s² (the same), the error of that."""
        y = u[:, None, None]
        x = y[..., None] * (self.g / 2)
        sines = np.sin(x)
        real = -2 * (sines * sines * self.q).sum(axis=3)
        imaginary = 2 * (sines * np.cos(x) * self.q).sum(axis=3)
        damped = np.exp(-self.pads / 2 * y**2)
        excess = (real * (2 + real) + imaginary**2) * damped**2 + np.expm1(-self.pads * y**2)
        cosine, sine = np.cos(y * self.mean) * damped, np.sin(y * self.mean) * damped
        centred = (1 + real) * cosine + imaginary * sine, imaginary * cosine - (1 + real) * sine
        return [excess, *centred, *self._quotients(y, real + 1j * imaginary)]

    def _quotients(self, y: Array, ratios: Complex) -> tuple[Array, Array, Array]:
        """−(M_x − M_*)/s² and its error, from M_x(s)/M_x(λ) − 1 of the bounded parts."""
        lam, u, star = self.centres[:, None], UNIT_ROUNDOFF, slice(self.star, self.star + 1)
        s = lam + 1j * y
        z = np.asarray(self.pads * (lam * y * 1j - y**2 / 2), dtype=complex)
        normal, phi, grown = expm1(z), np.exp(self.log_phi), np.expm1(self.log_phi)
        growth = grown + phi * (ratios * (1 + normal) + normal)  # M_x(s) − 1
        error = 1.01 * phi * (self.log_error + self.drift * y + 64 * u * np.abs(z))
        error = error + 32 * u * (np.abs(growth) + np.abs(grown))
        size = np.maximum(np.abs(s), 1e-150)
        quotient = (growth[:, :, star] - growth) / np.where(size > 1e-150, s * s, 1.0)
        off = (error + error[:, :, star]) / size**2 + 16 * u * np.abs(quotient)
        # Next to s = 0, two terms of the series: what is left is at most |s|²/24 times the larger fourth moment.
        second, third = (self.moments[:, star] - self.moments)[:, None]
        series = second / 2 + s * third / 6
        second, third = (32 + 2 * self.g.shape[2]) * u * (self.sizes[:, star] + self.sizes)[:, None]
        remainder = 1.01 * (size**2 * (self.bend + self.bend[:, star]) / 2 + second + size * third)
        near = (remainder < off) | (size < 1e-100)  # at 0 there is no quotient
        quotient = np.where(near, series, quotient)
        return quotient.real, quotient.imag, np.where(near, remainder, off)

    def parts(self, u: Array, at: list[Array]) -> Array:
        """Upper bounds of the integrals over the cells, for each centre and each law."""
        excess, real, imaginary, q_real, q_imaginary, q_error = at
        width, end, start = (a[:, None, None] for a in (np.diff(u), u[1:], u[:-1]))
        drift = 4 * self.drift * end  # of what is computed at nodes
        rise = width**2 * self.variance / 8 * (1 + 1e-9) + drift
        least = _lower(excess) - 2 * rise
        most = np.minimum(_upper(excess) + 2 * rise, 0.0)
        fewest, largest = self.terms[0] - 1, self.terms[1] - 1
        low = largest / 2 * np.log1p(np.maximum(least, -1 + UNIT_ROUNDOFF)).min(axis=2, keepdims=True)
        low = np.where(least.min(axis=2, keepdims=True) > -1, low, -math.inf)
        high = fewest / 2 * np.log1p(np.maximum(most, -1 + UNIT_ROUNDOFF)).max(axis=2, keepdims=True)
        angle = _angle(_lower(real) - rise, _upper(np.abs(imaginary)) + rise).max(axis=2, keepdims=True)
        spin = (self.turn + 2 * self.drift).max(axis=1)[:, None]
        theta = largest * (angle + end * spin) + self.smoothing * np.abs(self.centres[:, None]) * end
        theta = np.minimum(theta * (1 + 1e-12), math.pi)
        q_rise = width**2 / 8 * (self.bend + self.bend[:, self.star, None]) + _upper(q_error)
        tops = np.exp(self.log_phi) * (1 + 1e-9)
        tops = tops + tops[:, self.star, None]
        crude = tops / np.maximum(self.centres[:, None] ** 2 + start**2, 1e-300)
        modulus = np.minimum(_upper(np.hypot(q_real, q_imaginary)) + q_rise, crude)
        a, b = _lower(q_real) - q_rise, _upper(np.abs(q_imaginary)) + q_rise
        for_it, against = a * (np.cos(theta) - 1e-12), b * (np.sin(theta) + 1e-12)
        bound = np.where((a > 0) & (theta < 1.57), np.minimum(against - for_it, modulus), modulus)
        # e^{τ²λ²/2} is common to all.
        least, most = low - self.smoothing / 2 * end**2, high - self.smoothing / 2 * start**2
        integrals: Array = width * bound * np.exp(np.where(bound < 0, least, most))
        # Beyond the last node: C <= 1, |ζ| <= 1, e^{−τ²u²/2}/u²
        rest = tops / u[-1] * math.exp(-self.smoothing / 2 * u[-1] ** 2)
        return np.concatenate([integrals, 1.01 * rest[None]])


def _lower(a: Array) -> Array:
    smaller: Array = np.minimum(a[:-1], a[1:])
    return smaller


def _upper(a: Array) -> Array:
    larger: Array = np.maximum(a[:-1], a[1:])
    return larger


def _angle(real: Array, imaginary: Array) -> Array:
    """The largest argument of numbers with a real part of at least ``real`` and |imaginary part| at most this; or π."""
    positive = real > 0
    angles: Array = np.where(positive, np.arctan2(imaginary, np.where(positive, real, 1.0)), math.pi)
    return angles
