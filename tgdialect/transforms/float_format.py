"""The f32 and f64 formats: where their fields are, and the polynomials that EXP2, LOG2 and POW use.

The coefficients come from `tools/minimax.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tgdialect.transforms.recipe import Dtype, V, Value


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
    log2_tail: tuple[float, ...]
    """log2(1 + f) / f for 1 + f in [sqrt(1/2), sqrt(2)]."""
    atanh_tail: tuple[float, ...]
    """(3 atanh(s)/s - 3 - s^2) / s^4 in s^2, for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)."""
    two_thirds_log2_e: tuple[float, float, float]
    """2 / (3 ln 2), then split into a head of at most `precision` / 2 bits and the rest."""
    root_half_bits: int
    """The bit pattern of sqrt(1/2)."""
    inverse_root_bits: int
    """What to subtract half a bit pattern from for a first estimate of 1/sqrt(x)."""
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
    log2_tail=(  # 2^-25.7
        1.4426950216293335,
        -0.7213473320007324,
        0.4808982312679291,
        -0.3606966435909271,
        0.2885673940181732,
        -0.23961739242076874,
        0.20460069179534912,
        -0.19106292724609375,
        0.18617461621761322,
        -0.10994874686002731,
    ),
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
    log2_tail=(  # 2^-54.7
        1.4426950408889634,
        -0.7213475204444818,
        0.48089834696299105,
        -0.36067376022220776,
        0.28853900817668765,
        -0.24044917348694234,
        0.20609929170284935,
        -0.18033687976307672,
        0.16029943893241047,
        -0.14426951143594427,
        0.13115448892083056,
        -0.12022476415556438,
        0.11096726137463543,
        -0.10303666426763257,
        0.09630925048332992,
        -0.09046573425273588,
        0.08389576359810202,
        -0.07675858431900491,
        0.07819146659943646,
        -0.09080402669609644,
        0.08233658577439401,
        -0.03496866975028998,
    ),
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


def format_of(x: Value[V]) -> FloatFormat:
    return FORMATS[x.dtype]
