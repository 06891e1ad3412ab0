"""The f32 and f64 formats: where their fields are, and the polynomials that exponentials and
logarithms use.

The coefficients come from `tools/minimax.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tgdialect.transforms.recipe import Dtype, RecipeValue, V


@dataclass(frozen=True, kw_only=True, slots=True)
class FloatFormat:
    """An IEEE 754 format, the integers that hold its bits, and its polynomials.

    Coefficients are lowest degree first, each exact in the format.
    """

    dtype: Dtype
    signed: Dtype
    unsigned: Dtype
    precision: int
    """Significand bits with the hidden one."""
    bias: int
    exp2_tail: tuple[float, ...]
    """(2^r - 1) / r on [-1/2, 1/2]."""
    exp_tail: tuple[float, ...]
    """(e^r - 1 - r) / r^2 for |r| <= ln 2 / 2."""
    log2_tail: tuple[float, ...]
    """(log2(1 + f) - f log2 e) / f^2 for 1 + f in [sqrt(1/2), sqrt(2)]."""
    log_tail: tuple[float, ...]
    """(log(1 + f) - f) / f^2 there."""
    near_log_tail: tuple[float, ...]
    """The same for the narrower interval of SOFTPLUS."""
    minus_log_of_near_factor: float
    """Of the NEAR_FACTOR of SOFTPLUS."""
    log10_tail: tuple[float, ...]
    """(log10(1 + f) - f log10 e) / f^2 there."""
    log2_e: tuple[float, float]
    """log2 e, rounded, and the rest."""
    ln_2: tuple[float, float]
    """ln 2 as a sum; an exponent times the first is exact."""
    log10_e: tuple[float, float]
    """log10 e, rounded, and the rest."""
    log10_2: tuple[float, float]
    """log10 2 as a sum; an exponent times the first is exact."""
    atanh_tail: tuple[float, ...]
    """(3 atanh(s)/s - 3 - s^2) / s^4 in s^2, for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)."""
    two_thirds_log2_e: tuple[float, float, float]
    """2 / (3 ln 2), then split into a head of at most `precision` / 2 bits and the rest."""
    root_half_bits: int
    """The bit pattern of sqrt(1/2)."""
    inverse_root_bits: int
    """The number from which half a bit pattern is subtracted for a first estimate of 1/sqrt(x)."""
    inverse_root_steps: int
    """Newton's steps that bring the estimate to full precision."""

    @property
    def stored(self) -> int:
        """Significand bits without the hidden one: the position of the exponent."""
        return self.precision - 1

    @property
    def least_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def to_integer(self) -> float:
        """Adding this rounds |x| < 2^(stored - 1) to an integer, in the low bits of the sum."""
        return 1.5 * 2.0**self.stored

    @property
    def raised(self) -> float:
        """The exponent by which results are raised that may be subnormal, before they are rounded:
        the product with the power of two is rounded once."""
        return 2.0**self.exponent_bits / 4

    @property
    def exponent_bits(self) -> int:
        return (self.bias + 1).bit_length()

    @property
    def width(self) -> int:
        return self.precision + self.exponent_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)

    @property
    def head_mask(self) -> int:
        """Keeps the sign, the exponent and the upper half of the significand's bits."""
        low = (self.precision + 1) // 2
        return 2 * self.sign_bit - (1 << low)


F32 = FloatFormat(
    dtype="f32",
    signed="i32",
    unsigned="ui32",
    precision=24,
    bias=127,
    exp2_tail=(  # relative error of 2^r: 2^-25.9
        0.6931471824645996,
        0.24022647738456726,
        0.055503323674201965,
        0.00961843691766262,
        0.0013398873852565885,
        0.0001535336923552677,
    ),
    exp_tail=(  # relative error of e^r: 2^-28.0
        0.4999999403953552,
        0.1666652113199234,
        0.04166838899254799,
        0.008368716575205326,
        0.0013814601115882397,
    ),
    log2_tail=(  # 2^-28.9
        -0.7213475108146667,
        0.48089802265167236,
        -0.3606741428375244,
        0.2885710299015045,
        -0.24046392738819122,
        0.20511779189109802,
        -0.1790000945329666,
        0.17169447243213654,
        -0.1684495210647583,
        0.09702177345752716,
    ),
    log_tail=(  # 2^-27.6
        -0.49999988079071045,
        0.33333325386047363,
        -0.25001582503318787,
        0.2000197321176529,
        -0.16609083116054535,
        0.1418183147907257,
        -0.13242995738983154,
        0.12904402613639832,
        -0.07621721178293228,
    ),
    near_log_tail=(  # 2^-28.5
        -0.5,
        0.33333417773246765,
        -0.2500019669532776,
        0.19990700483322144,
        -0.16641105711460114,
        0.14570558071136475,
        -0.13442179560661316,
        0.08894798904657364,
    ),
    minus_log_of_near_factor=0.5151481032371521,
    log10_tail=(  # 2^-27.6
        -0.21714718639850616,
        0.14476484060287476,
        -0.10858075320720673,
        0.08686461299657822,
        -0.07212511450052261,
        0.06164192780852318,
        -0.05761875957250595,
        0.05576128512620926,
        -0.03251124918460846,
    ),
    log2_e=(1.4426950216293335, 1.925963033500011e-08),
    ln_2=(0.693145751953125, 1.428606765330187e-06),
    log10_e=(0.4342944920063019, -1.0103049952192578e-08),
    log10_2=(0.301025390625, 4.605039066518657e-06),
    atanh_tail=(  # 2^-38.6 of log2
        0.5999999642372131,
        0.42857810854911804,
        0.3327752351760864,
        0.2920173108577728,
    ),
    two_thirds_log2_e=(0.9617967009544373, 0.961669921875, 0.00012677205086220056),
    root_half_bits=0x3F3504F3,
    inverse_root_bits=0x5F3759DF,
    inverse_root_steps=3,
)

F64 = FloatFormat(
    dtype="f64",
    signed="i64",
    unsigned="ui64",
    precision=53,
    bias=1023,
    exp2_tail=(  # relative error of 2^r: 2^-55.0
        0.6931471805599453,
        0.2402265069591013,
        0.055504108664820084,
        0.009618129107594119,
        0.001333355814677454,
        0.0001540353045711294,
        1.5252733493207057e-05,
        1.3215435281876094e-06,
        1.0178199538516241e-07,
        7.073783321245594e-09,
        4.4347762929112983e-10,
    ),
    exp_tail=(  # 2^-56.4
        0.5000000000000011,
        0.16666666666666413,
        0.041666666666530155,
        0.008333333333494484,
        0.001388888894363076,
        0.00019841269506535816,
        2.480149309808479e-05,
        2.7557586409790352e-06,
        2.763024869643957e-07,
        2.5000050561425933e-08,
    ),
    log2_tail=(  # 2^-55.5
        -0.7213475204444817,
        0.48089834696299005,
        -0.3606737602222131,
        0.28853900817687755,
        -0.24044917348640232,
        0.20609929168672772,
        -0.18033687978400287,
        0.16029943968015173,
        -0.14426951131464033,
        0.13115446848773946,
        -0.12022474919076054,
        0.11096759593793161,
        -0.1030371641419016,
        0.09630610824386411,
        -0.09045864602052715,
        0.08390994733097706,
        -0.0768072863419698,
        0.07818455171190217,
        -0.09067238674740023,
        0.08222225919361902,
        -0.034960074474424674,
    ),
    log_tail=(  # 2^-56.3
        -0.5,
        0.33333333333333487,
        -0.24999999999998077,
        0.19999999999936569,
        -0.16666666667006894,
        0.1428571429480571,
        -0.12499999977325939,
        0.1111111046596362,
        -0.10000000500850408,
        0.09090935005011479,
        -0.08333344593510224,
        0.07691687625789254,
        -0.0714199198178514,
        0.0667543073999353,
        -0.06270115544639851,
        0.058161943413400266,
        -0.053238753974396764,
        0.05419340158244824,
        -0.06284930922860142,
        0.05699212713932607,
        -0.02423247705411317,
    ),
    near_log_tail=(  # 2^-56.3
        -0.49999999999999983,
        0.33333333333334825,
        -0.25000000000015216,
        0.1999999999930782,
        -0.16666666662160007,
        0.14285714393539783,
        -0.12500000624504873,
        0.11111103331276687,
        -0.09999953835177493,
        0.09091192416839375,
        -0.08335245694791453,
        0.07687529287036116,
        -0.07098875062638263,
        0.06678959349979041,
        -0.06759400814455127,
        0.06498883953351509,
        -0.03580128548885692,
    ),
    minus_log_of_near_factor=0.515148103276672,
    log10_tail=(  # 2^-59.0
        -0.21714724095162594,
        0.14476482730108456,
        -0.10857362047579933,
        0.08685889638039365,
        -0.0723824136528725,
        0.062042068880937794,
        -0.05428681007270325,
        0.048254939702007386,
        -0.04342945330160213,
        0.039481428796532804,
        -0.03619117822980706,
        0.03340451964151538,
        -0.03101851870749249,
        0.02899280257905561,
        -0.0272192157884376,
        0.02523457612361401,
        -0.023174102278970526,
        0.0237056966817703,
        -0.027256765759938975,
        0.024288970346840508,
        -0.010159795306207354,
    ),
    log2_e=(1.4426950408889634, 2.0355273740931033e-17),
    ln_2=(0.6931471805601177, -1.7239444525614835e-13),
    log10_e=(0.4342944819032518, 1.098319650216765e-17),
    log10_2=(0.3010299956640665, -8.532344317057107e-14),
    atanh_tail=(  # 2^-67.4 of log2
        0.5999999999999996,
        0.4285714285716765,
        0.3333333332630903,
        0.2727272830494275,
        0.2307683534251797,
        0.2000447474421596,
        0.17512255854480915,
        0.17983285701435564,
    ),
    two_thirds_log2_e=(0.9617966939259756, 0.9617966860532761, 7.872699542894897e-09),
    root_half_bits=0x3FE6A09E667F3BCD,
    inverse_root_bits=0x5FE6EB50C7B537A9,
    inverse_root_steps=4,
)

FORMATS: dict[str, FloatFormat] = {"f32": F32, "f64": F64}


def format_of(x: RecipeValue[V]) -> FloatFormat:
    return FORMATS[x.dtype]
