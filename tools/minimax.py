"""Derive the polynomial tables of `tgdialect/transforms/coefficients.json`, and those of
`frontend/functions.py` and `lowering/render/llvm/exponentials.py`.

Needs mpmath. Each table is the minimax polynomial of a relative error, found with Remez's
exchange from Chebyshev nodes, and rounded to the format. Prints every table with the relative
error that is left after rounding.

    python tools/minimax.py
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from mpmath import mp, mpf

from tgdialect.frontend.functions import ERFINV_NEAR, LGAMMA_CENTER, LGAMMA_NEAR
from tgdialect.transforms.error_function import (
    CENTER,
    FACTOR,
    GELU_CENTER,
    GELU_POLE,
    GELU_SCALE,
    GELU_SHIFT,
    POLE,
    SHIFT,
)
from tgdialect.transforms.float_format import FORMATS
from tgdialect.transforms.transcendental import NEAR, NEAR_FACTOR

Function = Callable[[mpf], mpf]

GRID = 800
SMALLEST = mpf(2) ** -60
"""Stands for 0 at the end of an interval whose weight vanishes there."""


@dataclass(frozen=True)
class Approximation:
    """A polynomial on [low, high] that minimises |weight * (function - polynomial)|.

    `digits` are the significand bits of the format of the coefficients; `weight` > 0. `is_refined`
    says that each coefficient makes up for the rounding of the ones before it.
    """

    name: str
    function: Function
    weight: Function
    low: mpf
    high: mpf
    degree: int
    digits: int
    is_refined: bool = False


def evaluate(coefficients: list[mpf], x: mpf) -> mpf:
    return mp.polyval(coefficients[::-1], x)


def extrema(errors: list[mpf]) -> list[int]:
    """The index of the largest error in each run of errors of one sign."""
    found: list[int] = []
    for i, error in enumerate(errors):
        if not found or (errors[found[-1]] > 0) != (error > 0):
            found.append(i)
        elif abs(error) > abs(errors[found[-1]]):
            found[-1] = i
    return found


def remez(job: Approximation) -> list[mpf]:
    """The coefficients, lowest degree first, before they are rounded."""
    count = job.degree + 2
    middle, half = (job.low + job.high) / 2, (job.high - job.low) / 2
    nodes = [middle - half * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    grid = [middle - half * mp.cos(mp.pi * i / GRID) for i in range(GRID + 1)]
    values = [(x, job.function(x), job.weight(x)) for x in grid]
    for _ in range(20):
        rows = [
            [*(x**power for power in range(job.degree + 1)), (-1) ** i / job.weight(x)]
            for i, x in enumerate(nodes)
        ]
        right = [job.function(x) for x in nodes]
        *coefficients, level = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
        errors = [w * (f - evaluate(coefficients, x)) for x, f, w in values]
        if max(abs(error) for error in errors) < abs(level) * mpf("1.01"):
            return coefficients
        indices = extrema(errors)
        while len(indices) > count:
            indices.pop(0 if abs(errors[indices[0]]) < abs(errors[indices[-1]]) else -1)
        if len(indices) < count:
            raise ValueError(f"{job.name}: {len(indices)} extrema, {count} needed")
        nodes = [grid[i] for i in indices]
    raise ValueError(f"{job.name}: the exchange does not settle")


def refined(job: Approximation) -> list[mpf]:
    """Rounded coefficients, each of which makes up for the rounding of those of lower degree: the
    rest is fitted again, by least squares."""
    count = 4 * job.degree + 24
    middle, half = (job.low + job.high) / 2, (job.high - job.low) / 2
    nodes = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    weights = [job.weight(x) for x in nodes]
    left = [w * job.function(x) for x, w in zip(nodes, weights, strict=True)]
    found: list[mpf] = []
    for degree in range(job.degree + 1):
        rows = mp.matrix(
            [
                [w * x**power for power in range(degree, job.degree + 1)]
                for x, w in zip(nodes, weights, strict=True)
            ]
        )
        best = mp.lu_solve(rows.T * rows, rows.T * mp.matrix(left))[0]
        found.append(rounded(best, job.digits))
        left = [y - row * found[-1] for y, row in zip(left, rows[:, 0], strict=True)]
    return found


def rounded(value: mpf, digits: int) -> mpf:
    with mp.workprec(digits):
        return +value


def remaining_error(job: Approximation, coefficients: list[mpf]) -> mpf:
    points = [job.low + (job.high - job.low) * (i + mpf(1) / 2) / GRID for i in range(GRID)]
    return max(abs(job.weight(x) * (job.function(x) - evaluate(coefficients, x))) for x in points)


def exp2_tail(x: mpf) -> mpf:
    """(2^x - 1) / x."""
    return mp.ln(2) if x == 0 else mp.expm1(x * mp.ln(2)) / x


def exp_tail(x: mpf) -> mpf:
    """(e^x - 1 - x) / x^2."""
    return mp.hyp1f1(1, 3, x) / 2


def log_tail(f: mpf) -> mpf:
    """(log(1 + f) - f) / f^2."""
    return -mp.hyp2f1(1, 2, 3, -f) / 2


def sine_tail(z: mpf) -> mpf:
    """(sin(r)/r - 1) / r^2 with z = r^2."""
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def cosine_tail(z: mpf) -> mpf:
    """(cos(r) - 1 + r^2 / 2) / r^4 with z = r^2."""
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def atanh_tail(w: mpf) -> mpf:
    """(3 atanh(s)/s - 3 - s^2) / s^4 with w = s^2."""
    s = mp.sqrt(w)
    return (3 * mp.atanh(s) / s - 3 - w) / w**2


def erf_near(z: mpf) -> mpf:
    """erf(x)/x - 1 with z = x^2."""
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erf_far(x: mpf) -> mpf:
    """log2(1 - erf x) / x."""
    return mp.log(mp.erfc(x), 2) / x


def erfc_ratio(t: mpf) -> mpf:
    """The quotient F of ERFC, in units of `FACTOR`, with t = x / (x + POLE) - CENTER."""
    s = t + CENTER
    x = POLE * s / (1 - s)
    return mp.erfc(x) * mp.exp(x * x) * (x + SHIFT) / FACTOR


def erfc_tail(t: mpf) -> mpf:
    """(F(t) - F(0)) / t."""
    t = t or SMALLEST
    return (erfc_ratio(t) - erfc_ratio(mpf(0))) / t


def erfc_excess(largest: float, digits: int) -> mpf:
    """The largest x^2 - h^2 of ERFC, where h is x without the lower half of its digits."""
    return 2 * largest * mpf(2) ** (math.frexp(largest)[1] - digits // 2)


def gelu_ratio(t: mpf) -> mpf:
    """The quotient G of GELU, with t = x / (x + GELU_POLE) - GELU_CENTER."""
    s = t + GELU_CENTER
    x = GELU_POLE * s / (1 - s)
    return mp.erfc(x / mp.sqrt(2)) / 2 * mp.exp(x * x / 2) * (GELU_SCALE * x + GELU_SHIFT)


def gelu_tail(t: mpf) -> mpf:
    """(G(t) - G(0)) / t."""
    t = t or SMALLEST
    return (gelu_ratio(t) - gelu_ratio(mpf(0))) / t


def tanh_tail(z: mpf) -> mpf:
    """(tanh(x)/x - 1) / x^2 with z = x^2."""
    x = mp.sqrt(z)
    return (mp.tanh(x) / x - 1) / z


def asin_tail(z: mpf) -> mpf:
    """(asin(x)/x - 1) / x^2 with z = x^2."""
    x = mp.sqrt(z)
    return (mp.asin(x) / x - 1) / z


def erfinv_tail(z: mpf) -> mpf:
    """(erfinv(x)/x - sqrt(pi)/2) / x^2 with z = x^2."""
    x = mp.sqrt(z)
    return (mp.erfinv(x) / x - mp.sqrt(mp.pi) / 2) / z


def erfinv_far(w: mpf) -> mpf:
    """erfinv(1 - e^(-w^2))."""
    return mp.findroot(lambda y: mp.log(mp.erfc(y)) + w * w, w)


def lgamma_ratio(t: mpf) -> mpf:
    """lgamma(x) / ((x - 1)(x - 2)) with t = (x - LGAMMA_CENTER) / (x + LGAMMA_CENTER)."""
    x = LGAMMA_CENTER * (1 + t) / (1 - t)
    x = x + SMALLEST if x in (1, 2) else x
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def stirling_rest(v: mpf) -> mpf:
    """x times what Stirling's formula lacks of lgamma(x), with v = 1 / x^2."""
    x = 1 / mp.sqrt(v)
    known = (x - mpf(1) / 2) * (mp.log(x) - 1) + (mp.log(2 * mp.pi) - 1) / 2
    return x * (mp.loggamma(x) - known)


def approximations() -> list[Approximation]:
    half = mpf(1) / 2
    # A little more than pi/4, for the argument reduction rounds its quotient.
    eighth_turn = (mp.pi / 4 * mpf("1.0001")) ** 2
    low, high = mp.sqrt(half) - 1, mp.sqrt(2) - 1
    near_high = mp.exp(mpf(NEAR))
    widest = (high / (2 + high)) ** 2
    degrees = {24: (5, 4, 9, 8, 2, 2, 3, 6, 7, 9), 53: (10, 9, 20, 20, 5, 5, 7, 11, 16, 22)}
    found: list[Approximation] = []
    for digits, (exp2, exp, log2, log, sine, cosine, atanh, near, far, ratio) in degrees.items():
        near_log = 7 if digits == 24 else 16
        form = FORMATS["f32" if digits == 24 else "f64"]
        underflow, gelu_underflow = form.erfc_underflow, form.gelu_underflow
        found += [
            Approximation(
                f"EXP2, {digits} bits",
                exp2_tail,
                lambda x: (abs(x) + SMALLEST) / mpf(2) ** x,
                -half,
                half,
                exp2,
                digits,
            ),
            Approximation(
                f"EXP, {digits} bits",
                exp_tail,
                lambda x: (x * x + SMALLEST) / mp.exp(x),
                -mp.ln(2) / 2 * mpf("1.0001"),
                mp.ln(2) / 2 * mpf("1.0001"),
                exp,
                digits,
            ),
            Approximation(
                f"LOG2, {digits} bits",
                lambda f: log_tail(f) / mp.ln(2),
                lambda f: (f * f + SMALLEST) * mp.ln(2) / (abs(mp.log1p(f)) + SMALLEST),
                low,
                high,
                log2,
                digits,
            ),
            Approximation(
                f"LOG, {digits} bits",
                log_tail,
                lambda f: (f * f + SMALLEST) / (abs(mp.log1p(f)) + SMALLEST),
                low,
                high,
                log,
                digits,
            ),
            Approximation(
                f"LOG of SOFTPLUS, {digits} bits",
                log_tail,
                lambda f: (f * f + SMALLEST) / (abs(mp.log1p(f)) + SMALLEST),
                NEAR_FACTOR * (1 + near_high) - 1,
                near_high,
                near_log,
                digits,
                is_refined=True,
            ),
            Approximation(
                f"LOG10, {digits} bits",
                lambda f: log_tail(f) / mp.ln(10),
                lambda f: (f * f + SMALLEST) * mp.ln(10) / (abs(mp.log1p(f)) + SMALLEST),
                low,
                high,
                log,
                digits,
                is_refined=True,
            ),
            Approximation(
                f"SINE, {digits} bits",
                sine_tail,
                lambda z: z / (1 + z * sine_tail(z)),
                SMALLEST,
                eighth_turn,
                sine,
                digits,
            ),
            Approximation(
                f"COSINE, {digits} bits",
                cosine_tail,
                lambda z: z * z / mp.cos(mp.sqrt(z)),
                SMALLEST,
                eighth_turn,
                cosine,
                digits,
            ),
            Approximation(
                f"ATANH, {digits} bits",
                atanh_tail,
                lambda w: w * w / 3,
                SMALLEST,
                widest,
                atanh,
                digits,
            ),
            Approximation(
                f"ERF up to 1, {digits} bits",
                erf_near,
                lambda z: 1 / (1 + erf_near(z)),
                SMALLEST,
                mpf(1),
                near,
                digits,
            ),
            Approximation(
                f"ERF from 1, {digits} bits",
                erf_far,
                lambda x: x * mp.erfc(x) * mp.ln(2),
                mpf(1),
                mpf(4 if digits == 24 else 6),
                far,
                digits,
            ),
            Approximation(
                f"ERFC, {digits} bits; F(0) is {float(rounded(erfc_ratio(mpf(0)), digits))!r}",
                erfc_tail,
                lambda t: (abs(t) + SMALLEST) / erfc_ratio(t),
                -mpf(CENTER),
                underflow / (underflow + mpf(POLE)) - CENTER,
                ratio,
                digits,
                is_refined=True,
            ),
            Approximation(
                f"EXP of ERFC, {digits} bits",
                lambda r: FACTOR * exp_tail(-r),
                lambda r: (r * r + SMALLEST) * mp.exp(r) / FACTOR,
                -mp.ln(2) / 2 * mpf("1.0001"),
                mp.ln(2) / 2 * mpf("1.0001") + erfc_excess(underflow, digits),
                exp,
                digits,
                is_refined=True,
            ),
            Approximation(
                f"GELU, {digits} bits; G(0) is {float(rounded(gelu_ratio(mpf(0)), digits))!r}",
                gelu_tail,
                lambda t: (abs(t) + SMALLEST) / gelu_ratio(t),
                -mpf(GELU_CENTER),
                gelu_underflow / (gelu_underflow + mpf(GELU_POLE)) - GELU_CENTER,
                ratio,
                digits,
                is_refined=True,
            ),
            Approximation(
                f"EXP of GELU, {digits} bits",
                exp_tail,
                lambda u: (u * u + SMALLEST) / mp.exp(u),
                -mp.ln(2) / 2 * mpf("1.0001") - erfc_excess(gelu_underflow, digits) / 2,
                mp.ln(2) / 2 * mpf("1.0001"),
                5 if digits == 24 else 9,
                digits,
                is_refined=True,
            ),
        ]
    near = mpf(ERFINV_NEAR) ** 2
    least, most = (mpf(x) for x in LGAMMA_NEAR)
    low, high = ((x - LGAMMA_CENTER) / (x + LGAMMA_CENTER) for x in (least, most))
    found += [
        Approximation(
            "ERFINV up to ERFINV_NEAR",
            erfinv_tail,
            lambda z: z / (mp.sqrt(mp.pi) / 2 + z * erfinv_tail(z)),
            SMALLEST,
            near,
            13,
            53,
        ),
        Approximation(
            "ERFINV beyond, not relative",
            erfinv_far,
            lambda w: mpf(1),
            mp.sqrt(-mp.log(1 - mpf(ERFINV_NEAR))),
            mp.sqrt(53 * mp.ln(2)),
            11,
            53,
        ),
        Approximation(
            "LGAMMA in LGAMMA_NEAR",
            lgamma_ratio,
            lambda t: 1 / lgamma_ratio(t),
            low,
            high,
            22,
            53,
            is_refined=True,
        ),
        Approximation(
            "LGAMMA beyond",
            stirling_rest,
            lambda v: mp.sqrt(v) / mp.loggamma(1 / mp.sqrt(v)),
            SMALLEST,
            1 / most**2,
            11,
            53,
        ),
        Approximation(
            "TANH up to 1",
            tanh_tail,
            lambda z: z / (1 + z * tanh_tail(z)),
            SMALLEST,
            mpf(1),
            6,
            24,
        ),
        Approximation(
            "ASIN up to 1/2",
            asin_tail,
            lambda z: z / (1 + z * asin_tail(z)),
            SMALLEST,
            half**2,
            12,
            53,
        ),
        Approximation(
            "EXP of a sixteenth of ln 2, 24 bits",
            exp_tail,
            lambda x: (x * x + SMALLEST) / mp.exp(x),
            -mp.ln(2) / 32 * mpf("1.0001"),
            mp.ln(2) / 32 * mpf("1.0001"),
            1,
            24,
        ),
    ]
    return found


def main() -> int:
    mp.prec = 400
    for job in approximations():
        coefficients = (
            refined(job) if job.is_refined else [rounded(c, job.digits) for c in remez(job)]
        )
        left = float(mp.log(remaining_error(job, coefficients), 2))
        print(f"{job.name}: relative error 2^{left:.1f}")
        for coefficient in coefficients:
            print(f"    {float(coefficient)!r},")
    return 0


if __name__ == "__main__":
    sys.exit(main())
