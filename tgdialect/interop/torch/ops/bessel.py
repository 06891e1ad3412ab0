"""ATen's Bessel and Airy functions.

Near 0 they are power series, whose terms are known; where those cancel, they have the form of
Hankel's asymptotic series, with polynomials in the place of the divergent ones (Abramowitz & Stegun
9.1, 9.2, 9.6, 9.7, 10.4). All compute in f64. The polynomials interpolate values of mpmath at
Chebyshev points.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Table, in_f64

aten = torch.ops.aten

_NEAR, _TERMS = 4.0, 20
"""Below `_NEAR` the series of J and Y have terms of at most 4, so that two bits cancel, and those
after `_TERMS` are below 2^-60."""
_NEAR_I, _TERMS_I, _FAR_TERMS_I = 20.0, 40, 28
"""The terms of the series of I are of one sign. Beyond `_NEAR_I` its asymptotic series, cut after
`_FAR_TERMS_I`, has an error of 2^-55."""
_EULER = 0.5772156649015329
"""Euler's constant."""


def _harmonic(n: int) -> Fraction:
    return sum((Fraction(1, k) for k in range(1, n + 1)), Fraction(0))


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """The polynomial with these coefficients, the constant one first."""
    return x._polynomial(coefficients)


def _series(x: Tensor, order: int, sign: int, terms: int) -> Tensor:
    """J (sign -1) or I (sign 1) of an order."""
    half = x * 0.5
    found = polynomial(
        half * half,
        [sign**k / (math.factorial(k) * math.factorial(k + order)) for k in range(terms)],
    )
    return found * half if order else found


def _logarithmic(x: Tensor, order: int, sign: int) -> Tensor:
    """The series with harmonic numbers that pi / 2 Y (sign -1) and K (sign 1) have beside the term
    of the logarithm."""
    half = x * 0.5
    weights = [
        _harmonic(k) if order == 0 else (_harmonic(k) + _harmonic(k + 1)) / 2 for k in range(_TERMS)
    ]
    found = polynomial(
        half * half,
        [
            float(sign**k * weight / (math.factorial(k) * math.factorial(k + order)))
            for k, weight in enumerate(weights)
        ],
    )
    return found * half if order else found


def _logarithm(x: Tensor) -> Tensor:
    return (x * 0.5).log() + _EULER


def _hankel(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """J and Y of arguments of at least `_NEAR`."""
    inverse = x.reciprocal()
    t = (inverse * inverse) * (2 * _NEAR * _NEAR) - 1
    p, q = polynomial(t, _HANKEL_P[order]), polynomial(t, _HANKEL_Q[order]) * inverse
    sine, cosine = x.sin(), x.cos()
    together, apart = cosine + sine, sine - cosine
    scale = (x * math.pi).rsqrt()
    if order == 0:
        return (p * together - q * apart) * scale, (p * apart + q * together) * scale
    return (p * apart + q * together) * scale, (q * apart - p * together) * scale


def _j(x: Tensor, order: int) -> Tensor:
    magnitude = x.abs()
    is_near = magnitude < _NEAR
    near = _series(is_near.where(magnitude, 1), order, -1, _TERMS)
    found = is_near.where(near, _hankel(is_near.where(_NEAR, magnitude), order)[0])
    return (x < 0).where(-found, found) if order else found


def _y(x: Tensor, order: int) -> Tensor:
    is_near = x < _NEAR
    low = is_near.where(x, 1)
    near = _logarithm(low) * _series(low, order, -1, _TERMS) - _logarithmic(low, order, -1)
    if order:
        near = near - low.reciprocal()
    far = _hankel(is_near.where(_NEAR, x), order)[1]
    found = is_near.where(near * (2 / math.pi), far)
    return _of_positive(x, found, -math.inf)


def _of_positive(x: Tensor, found: Tensor, pole: float) -> Tensor:
    """Values of functions with a pole at 0, which have none below."""
    return (x < 0).where(math.nan, (x == 0).where(pole, found))


def _i(x: Tensor, order: int, *, is_scaled: bool) -> Tensor:
    """I, times exp(-|x|) if scaled."""
    magnitude = x.abs()
    is_near = magnitude < _NEAR_I
    low, high = is_near.where(magnitude, 1), is_near.where(_NEAR_I, magnitude)
    near = _series(low, order, 1, _TERMS_I)
    factors, coefficients = Fraction(1), [1.0]
    for k in range(1, _FAR_TERMS_I):
        factors *= Fraction((2 * k - 1) ** 2 - 4 * order**2, 8 * k)
        coefficients.append(float(factors))
    far = polynomial(high.reciprocal(), coefficients) * (high * (2 * math.pi)).rsqrt()
    if is_scaled:
        near = near * (-low).exp()
    else:
        half = (high * 0.5).exp()  # The exponential may overflow where the function does not.
        far = far * half * half
    found = is_near.where(near, far)
    return (x < 0).where(-found, found) if order else found


def _k(x: Tensor, order: int, *, is_scaled: bool) -> Tensor:
    """K, times exp(x) if scaled."""
    is_near = x < 1
    low, high = is_near.where(x, 1), is_near.where(1, x)
    logarithm = _logarithm(low) * _series(low, order, 1, _TERMS)
    rest = _logarithmic(low, order, 1)
    near = low.reciprocal() + logarithm - rest if order else rest - logarithm
    far = polynomial(high.reciprocal() * 2 - 1, _K[order]) * high.rsqrt()
    if is_scaled:
        near = near * low.exp()
    else:
        far = far * (-high).exp()
    return _of_positive(x, is_near.where(near, far), math.inf)


_AIRY_FAR, _AIRY_BELOW, _AIRY_TERMS = 2.0, -3.0, 16
"""Where the function is its Maclaurin series, of two series of `_AIRY_TERMS`: four bits cancel."""


def _angle(x: Any) -> Any:
    """2/3 x^(3/2)."""
    return x * x**0.5 * (2 / 3)


def _airy_ai(x: Tensor) -> Tensor:
    is_far, is_below = x > _AIRY_FAR, x < _AIRY_BELOW
    middle = (is_far | is_below).where(0, x)
    a, b = Fraction(1), Fraction(1)
    of_one, of_x = [1.0], [1.0]
    for k in range(1, _AIRY_TERMS):
        a, b = a / ((3 * k - 1) * 3 * k), b / (3 * k * (3 * k + 1))
        of_one.append(float(a))
        of_x.append(float(b))
    cube = middle * middle * middle
    near = polynomial(cube, of_one) * _AI_0 - polynomial(cube, of_x) * middle * _AI_SLOPE_0
    high = is_far.where(x, _AIRY_FAR)
    angle = _angle(high)
    ratio = angle.reciprocal() * _angle(_AIRY_FAR)
    far = polynomial(ratio * 2 - 1, _AIRY) * high.sqrt().rsqrt() * (-angle).exp()
    low = is_below.where(-x, -_AIRY_BELOW)
    angle = _angle(low)
    ratio = angle.reciprocal() * _angle(-_AIRY_BELOW)
    t = ratio * ratio * 2 - 1
    sine, cosine = angle.sin(), angle.cos()
    p, q = polynomial(t, _AIRY_P), polynomial(t, _AIRY_Q) / angle
    below = (p * (sine + cosine) - q * (cosine - sine)) * math.sqrt(0.5) * low.sqrt().rsqrt()
    found = is_far.where(far, is_below.where(below, near))
    return x.isinf().where(math.nan, found)  # As PyTorch has it.


def _spherical_j0(x: Tensor) -> Tensor:
    is_small = x.abs() < 0.5
    low, high = is_small.where(x, 0), is_small.where(1, x)
    series = polynomial(low * low, [(-1) ** k / math.factorial(2 * k + 1) for k in range(8)])
    return is_small.where(series, x.isinf().where(0, high.sin() / high))


BESSEL: Table = in_f64(
    {
        aten.i0.default: lambda x: _i(x, 0, is_scaled=False),
        aten.special_i0e.default: lambda x: _i(x, 0, is_scaled=True),
        aten.special_i1.default: lambda x: _i(x, 1, is_scaled=False),
        aten.special_i1e.default: lambda x: _i(x, 1, is_scaled=True),
        aten.special_modified_bessel_i0.default: lambda x: _i(x, 0, is_scaled=False),
        aten.special_modified_bessel_i1.default: lambda x: _i(x, 1, is_scaled=False),
        aten.special_modified_bessel_k0.default: lambda x: _k(x, 0, is_scaled=False),
        aten.special_modified_bessel_k1.default: lambda x: _k(x, 1, is_scaled=False),
        aten.special_scaled_modified_bessel_k0.default: lambda x: _k(x, 0, is_scaled=True),
        aten.special_scaled_modified_bessel_k1.default: lambda x: _k(x, 1, is_scaled=True),
        aten.special_bessel_j0.default: lambda x: _j(x, 0),
        aten.special_bessel_j1.default: lambda x: _j(x, 1),
        aten.special_bessel_y0.default: lambda x: _y(x, 0),
        aten.special_bessel_y1.default: lambda x: _y(x, 1),
        aten.special_airy_ai.default: _airy_ai,
        aten.special_spherical_bessel_j0.default: _spherical_j0,
    }
)

_AI_0, _AI_SLOPE_0 = 0.355028053887817239, 0.258819403792806798
"""Ai(0) and -Ai'(0)."""
_HANKEL_P0 = (
    *(0.9978986884929594, -0.002016182192123368, 7.630461547368617e-05, -7.323875174418167e-06),
    *(1.154068441669996e-06, -2.480911645963268e-07, 6.601854224472527e-08),
    *(-2.0531435985069195e-08, 7.1936864963597096e-09, -2.7816201756179802e-09),
    *(1.1594905692245926e-09, -4.66427981190347e-10, 2.0783122357435266e-10),
    *(-2.2386535631207602e-10, 1.3435002108411637e-10, 1.3658345180918387e-10),
    *(-1.0014951570614422e-10, -1.7371053022033214e-10, 1.1977934758828958e-10),
    *(8.95718396939368e-11, -6.245004522978595e-11, -2.531511425959028e-11, 1.7362687683708138e-11),
)
"""P of the Hankel form of order 0 in 32 / x^2 - 1, with a relative error of 2^-53.9."""
_HANKEL_Q0 = (
    *(-0.12289474867730815, 0.001950370365081673, -0.00013272996483206737, 1.750930513530116e-05),
    *(-3.396092355405132e-06, 8.481645096309219e-07, -2.532959007973864e-07, 8.64408963587844e-08),
    *(-3.271543238308738e-08, 1.3408499498589404e-08, -5.888071863933327e-09),
    *(2.945437211233494e-09, -1.4852484164567801e-09, 1.0519933699571234e-10),
    *(6.139408797957318e-11, 1.368651728750483e-09, -9.643158342254667e-10),
    *(-1.4896466426393694e-09, 1.0930345505109367e-09, 1.3352609844985072e-09),
    *(-9.67344471856006e-10, -6.396153504987826e-10, 4.6405425625551205e-10),
    *(1.5025165991383453e-10, -1.0801209204709796e-10),
)
"""x Q of the Hankel form of order 0 in 32 / x^2 - 1, with a relative error of 2^-52.3."""
_HANKEL_P1 = (
    *(1.0035374816893905, 0.003425880491231174, -0.00010089592960828894, 8.951372507002794e-06),
    *(-1.3574884602962786e-06, 2.8524934251554124e-07, -7.476118088522204e-08),
    *(2.2997183583102665e-08, -7.990852680183258e-09, 3.0690437410349925e-09),
    *(-1.2723485809937983e-09, 5.11258935580274e-10, -2.2725057589935245e-10),
    *(2.398534721112608e-10, -1.4338685600906303e-10, -1.4363723361631235e-10),
    *(1.0538183875704598e-10, 1.8377868034844365e-10, -1.2657864797305052e-10),
    *(-9.466464750162724e-11, 6.594347380416135e-11, 2.6794000011925667e-11),
    -1.835784540043727e-11,
)
"""P of the Hankel form of order 1 in 32 / x^2 - 1, with a relative error of 2^-52.2."""
_HANKEL_Q1 = (
    *(0.37202223118492495, -0.002784866653331783, 0.00016669755371793817, -2.086333599498066e-05),
    *(3.932579288433791e-06, -9.645691484311e-07, 2.844695562961943e-07, -9.618221555170298e-08),
    *(3.614121829585717e-08, -1.4729215673338367e-08, 6.4377404438193704e-09),
    *(-3.2000274531649297e-09, 1.6069396016445342e-09, -1.3080536871026595e-10),
    *(-5.471805153240396e-11, -1.4454100246034716e-09, 1.0168166573041218e-09),
    *(1.5670312918008213e-09, -1.1491883738412434e-09, -1.4063391404029127e-09),
    *(1.0180288653518812e-09, 6.735650045776829e-10, -4.883271990384492e-10),
    *(-1.5836097634956847e-10, 1.1374905890154454e-10),
)
"""x Q of the Hankel form of order 1 in 32 / x^2 - 1, with a relative error of 2^-52.6."""
_K0 = (
    *(1.1901571834152027, -0.052279011491757815, 0.00806738654837646, -0.0019084014862549323),
    *(0.000569239888071041, -0.00019727982151060316, 7.608266876993985e-05, -3.181478532361619e-05),
    *(1.4181438734805009e-05, -6.659255387847134e-06, 3.267660229031733e-06),
    *(-1.6632563954211314e-06, 8.615308067039192e-07, -4.631497497824284e-07),
    *(3.157082012666388e-07, -1.8798921780075736e-07, -9.48666769646887e-08, 8.250536185290395e-08),
    *(4.587240239818765e-07, -3.336853793275968e-07, -7.261567971800021e-07, 5.353669405614478e-07),
    *(9.14598109250296e-07, -6.718701210881975e-07, -7.865960043326464e-07, 5.779135428976599e-07),
    *(4.574182615615955e-07, -3.3557820589409827e-07, -1.5957778044808175e-07),
    *(1.1694322027882922e-07, 2.615966984471053e-08, -1.9114064072754094e-08),
)
"""sqrt(x) e^x K0(x) in 2 / x - 1, with a relative error of 2^-52.6."""
_K1 = (
    *(1.4615569735231244, 0.1879789065457187, -0.01585285456598806, 0.003112006645603092),
    *(-0.0008443927410758253, 0.0002760388409426186, -0.00010227196388846232),
    *(4.1523137243087766e-05, -1.8092612665926288e-05, 8.342834958953014e-06),
    *(-4.0329228462429105e-06, 2.0272397584928273e-06, -1.0404064824844836e-06),
    *(5.543798063523467e-07, -3.688799303916287e-07, 2.1759799265517333e-07, 9.614027603325258e-08),
    *(-8.574556153653085e-08, -5.009267961434374e-07, 3.636083908547871e-07, 7.891296819841184e-07),
    *(-5.811655322772845e-07, -9.95141923525979e-07, 7.300929605704825e-07, 8.558027770114144e-07),
    *(-6.279736495108733e-07, -4.97888516897262e-07, 3.647992504961002e-07, 1.737529550394376e-07),
    *(-1.271668162414002e-07, -2.850932126969143e-08, 2.0802812688029366e-08),
)
"""sqrt(x) e^x K1(x) in 2 / x - 1, with a relative error of 2^-53.0."""
_AIRY = (
    *(0.2774908024616546, -0.004122380595849502, 0.000398656774894242, -6.427592277546157e-05),
    *(1.3671255972854182e-05, -3.4851092970000373e-06, 1.01210869012592e-06),
    *(-3.2469806268876807e-07, 1.1275870321826479e-07, -4.1787333372265864e-08),
    *(1.6350555679286985e-08, -6.703583973495447e-09, 2.8767752852310022e-09),
    *(-1.2748728684460198e-09, 5.391131528589943e-10, -2.477176290308128e-10),
    *(2.045508094451775e-10, -1.092870280527352e-10, -6.138253861666073e-11, 4.030132017639652e-11),
    *(8.619345102982277e-11, -5.157389908606557e-11, -3.59343441423715e-11, 2.1856160390342e-11),
    *(9.947223528977599e-12, -5.948475707310906e-12),
)
"""x^(1/4) e^z Ai(x) with z = 2/3 x^(3/2), in 2 z(2) / z - 1, with a relative error of 2^-52.4."""
_AIRY_P = (
    *(0.563364438752024, -0.000783940561206559, 3.6061166708063965e-05, -4.118923455751197e-06),
    *(7.532189071188649e-07, -1.841627730191628e-07, 5.4878599606696016e-08),
    *(-1.888267876168024e-08, 7.239081121934334e-09, -3.026921532493174e-09),
    *(1.4164158993920697e-09, -6.881867332799047e-10, 1.387875006406454e-10),
    *(-3.2176615925880633e-11, 4.996828924704538e-10, -3.5202678347523763e-10),
    *(-5.546439787825175e-10, 4.1263180692203793e-10, 5.359371296763299e-10),
    *(-3.9251524416294633e-10, -2.7005688322985843e-10, 1.9820332033601302e-10),
    *(6.671998332629216e-11, -4.848787577102578e-11),
)
"""P of x^(1/4) Ai(-x) = P sin(z + pi/4) - Q/z cos(z + pi/4), in 2 (z(3) / z)^2 - 1, with a
relative error of 2^-52.2."""
_AIRY_Q = (
    *(0.03837637776598893, -0.0007307121569454332, 6.032593072595095e-05, -9.393492943526582e-06),
    *(2.099705870938909e-06, -5.931982273318176e-07, 1.9753812754731769e-07),
    *(-7.431640073690292e-08, 3.072935450614825e-08, -1.3768619574846988e-08),
    *(6.549906881968572e-09, -2.8893289839594e-09, 1.4179571239246355e-09, -2.2453072433779046e-09),
    *(1.5392327716152976e-09, 3.019304343976984e-09, -2.384021415099981e-09),
    *(-5.738472421352424e-09, 4.409350144092827e-09, 6.391848298602801e-09),
    *(-4.9294239650640584e-09, -4.7659626260536515e-09, 3.664184026574209e-09),
    *(2.0544976758021662e-09, -1.5776705716026031e-09, -4.1077127741125714e-10),
    3.1390468720774935e-10,
)
"""Q of the same, with a relative error of 2^-51.1."""
_HANKEL_P, _HANKEL_Q, _K = (_HANKEL_P0, _HANKEL_P1), (_HANKEL_Q0, _HANKEL_Q1), (_K0, _K1)
