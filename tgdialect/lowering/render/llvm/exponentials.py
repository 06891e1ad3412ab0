"""EXP2, EXP and GATE on CPUs that scale by a power of two in one instruction, look numbers up in
registers, and estimate reciprocals."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import FixedBitwidthType, FloatAttr, IntegerType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.llvm_dialect.intrinsics import RoundEvenOp, SMaxOp, SMinOp
from tgdialect.llvm_dialect.values import PoisonOp
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import (
    element_of,
    is_vector,
    lanes_of,
    number_literal,
    vector_literal,
    vector_of,
)
from tgdialect.ops import tg
from tgdialect.targets.cpu import look_up, reciprocal_estimate, register_lanes, scaling
from tgdialect.transforms.float_format import FORMATS


def exp2(e: LLVMEmitter, x: SSAValue) -> SSAValue:
    """2^x of f32 or f64 within 1 ulp, subnormals included; special values as C99.

    x = n + r with an integer n and |r| <= 1/2, and a polynomial in r is scaled by 2^n. r of an
    infinite x is NaN, and the scaled result is 0 or infinite all the same. The recipe of
    `transforms/transcendental.py` has the same polynomial, and needs bounds of x, integers and a
    second scale for subnormal results: 17 instructions instead of 10.
    """
    form = FORMATS["f32" if element_of(x.type) == tg.F32 else "f64"]
    n = e.float(RoundEvenOp, x)
    r = e.float(llvm.FSubOp, x, n)
    return _scaled(e, _polynomial(e, (1.0, *form.exp2_tail), r), n)


def exp(e: LLVMEmitter, x: SSAValue) -> SSAValue:
    """e^x, as `exp2`: r = x - n ln 2, with ln 2 as a sum of two floats.

    Of f32, n is a multiple of 1/16, and what is not an integer in it gives a power that is looked
    up: r is smaller, and the polynomial has degree 3 instead of 6. Within 1 ulp.

    For a huge x the rest r is not small. A polynomial that is infinite then would not be scaled to
    0, so that x has a lower bound; one of odd degree may be negative, so that it has an upper one.
    """
    is_looked_up = element_of(x.type) == tg.F32
    form = FORMATS["f32" if is_looked_up else "f64"]
    low = e.number(-4.0 * form.bias, x.type)
    x = e.select(e.compare("olt", x, low), low, x)
    if is_looked_up or len(form.exp_tail) % 2 == 0:
        high = e.number(4.0 * form.bias, x.type)
        x = e.select(e.compare("ogt", x, high), high, x)
    if is_looked_up:
        steps, n = _steps(e, x)
        power = _looked_up(e, _POWERS[::2], steps, x.type)
        p = _exp_minus_1(e, _rest(e, x, n))
        return _scaled(e, e.float(llvm.FMAOp, power, p, power), n)
    n = e.float(RoundEvenOp, e.float(llvm.FMulOp, x, e.number(form.log2_e[0], x.type)))
    r = _rest(e, x, n)
    return _scaled(e, _polynomial(e, (1.0, 1.0, *form.exp_tail), r), n)


def gate(e: LLVMEmitter, x: SSAValue, t: SSAValue, lost: SSAValue | None = None) -> SSAValue:
    """x / (1 + e^-(t + lost)) of f32 for |t| <= 71, as `transforms/logistic.py` computes it.

    e^-(t + lost) = S (1 + p) with a power S that is looked up, and p has what its rounding lost.
    The divisor is the rounded sum of S and 1, and a small rest. Its reciprocal is an estimate of 14
    bits, which the residual of the quotient makes as good as an exact one.
    """
    minus_t = e.float(llvm.FNegOp, t)
    steps, n = _steps(e, minus_t)
    low = _looked_up(e, _POWERS[1::2], steps, t.type)
    if lost is not None:
        low = e.float(llvm.FSubOp, low, lost)
    first, second = (e.number(-part, t.type) for part in FORMATS["f32"].ln_2)
    low = e.float(llvm.FMAOp, n, second, low)
    p = _exp_minus_1(e, e.float(llvm.FAddOp, e.float(llvm.FMAOp, n, first, minus_t), low))
    # The bits of S are those of a power between 1 and 2, and the integer in n in the exponent.
    bits = [_bits(power) - (k << _STEP_POSITION) for k, power in enumerate(_POWERS[::2])]
    exponent = e.binary(llvm.ShlOp, steps, e.number(_STEP_POSITION, steps.type))
    s_bits = e.binary(llvm.AddOp, _looked_up(e, bits, steps, steps.type), exponent)
    # Positive floats are in the order of their bits, which more units of a processor compare.
    one_bits = e.number(_bits(1.0), steps.type)
    in_order = (e.emit(kind, (s_bits, one_bits), steps.type) for kind in (SMinOp, SMaxOp))
    s, less, greater = (e.emit(llvm.BitcastOp, (value,), t.type) for value in (s_bits, *in_order))
    rounded = e.float(llvm.FAddOp, s, e.number(1.0, t.type))
    lost_of_sum = e.float(llvm.FSubOp, less, e.float(llvm.FSubOp, rounded, greater))
    small = e.float(llvm.FMAOp, s, p, lost_of_sum)
    inverse = _reciprocal_estimate(e, e.float(llvm.FAddOp, rounded, small))
    quotient = e.float(llvm.FMulOp, x, inverse)
    surplus = e.float(llvm.FMAOp, quotient, rounded, e.float(llvm.FNegOp, x))
    surplus = e.float(llvm.FMAOp, quotient, small, surplus)
    return e.float(llvm.FMAOp, e.float(llvm.FNegOp, inverse), surplus, quotient)  # -0 stays -0.


def _polynomial(e: LLVMEmitter, coefficients: Sequence[float], x: SSAValue) -> SSAValue:
    """The sum of coefficients times powers of x, from the 0th on."""
    *rest, power = (e.number(c, x.type) for c in coefficients)
    for coefficient in reversed(rest):
        power = e.float(llvm.FMAOp, power, x, coefficient)
    return power


def _steps(e: LLVMEmitter, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The multiple of 1/16 that is next to x log2 e, of f32: an integer that has its sixteenths in
    the lower bits, and the multiple itself."""
    form = FORMATS["f32"]
    shift = e.number(form.to_integer / _STEPS, x.type)
    shifted = e.float(llvm.FMAOp, x, e.number(form.log2_e[0], x.type), shift)
    steps = e.emit(llvm.BitcastOp, (shifted,), vector_of(i32, lanes_of(x.type)))
    return steps, e.float(llvm.FSubOp, shifted, shift)


def _rest(e: LLVMEmitter, x: SSAValue, n: SSAValue) -> SSAValue:
    """x - n ln 2, rounded twice."""
    for part in FORMATS["f32" if element_of(x.type) == tg.F32 else "f64"].ln_2:
        x = e.float(llvm.FMAOp, n, e.number(-part, x.type), x)
    return x


def _exp_minus_1(e: LLVMEmitter, r: SSAValue) -> SSAValue:
    """e^r - 1 for |r| <= ln 2 / 32, with an error of 2^-29 of e^r."""
    second, third = (e.number(c, r.type) for c in _STEP_TAIL)
    curve = e.float(llvm.FMAOp, r, third, second)
    return e.float(llvm.FMAOp, e.float(llvm.FMulOp, r, r), curve, r)


def _bits(number: float) -> int:
    """The bits of an f32."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    return bits


def _looked_up(
    e: LLVMEmitter, table: Sequence[float], place: SSAValue, type: Attribute
) -> SSAValue:
    """For each lane one of 16 numbers of 32 bits, by the lower four bits of its place."""
    element = element_of(type)
    numbers = cast("Sequence[FloatAttr]", [number_literal(number, element) for number in table])

    def found(place: SSAValue) -> SSAValue:
        lanes = lanes_of(place.type)
        register = vector_of(element, lanes)
        first, *rest = (
            e.constant(vector_literal(part, register))
            for part in (numbers[:lanes], numbers[lanes:])
            if part
        )
        name = look_up(lanes, is_float=element == tg.F32)
        return e.intrinsic(name, (first, place, *rest), register)

    return _by_registers(e, found, place, least=256)


def _reciprocal_estimate(e: LLVMEmitter, x: SSAValue) -> SSAValue:
    """1 / x of f32, within 2^-14 of it."""

    def estimate(x: SSAValue) -> SSAValue:
        name, mask_bits = reciprocal_estimate(lanes_of(x.type))
        mask = e.number(-1, IntegerType(mask_bits))
        return e.intrinsic(name, (x, e.emit(PoisonOp, (), x.type), mask), x.type)

    return _by_registers(e, estimate, x)


def _scaled(e: LLVMEmitter, x: SSAValue, n: SSAValue) -> SSAValue:
    """x * 2^n, rounded once."""
    bits = cast(FixedBitwidthType, element_of(x.type)).bitwidth

    def scale(x: SSAValue, n: SSAValue) -> SSAValue:
        name, mask_bits, further = scaling(bits, lanes_of(x.type))
        masked, mask = e.emit(PoisonOp, (), x.type), e.number(-1, IntegerType(mask_bits))
        return e.intrinsic(name, (x, n, masked, mask, *(e.number(f, i32) for f in further)), x.type)

    return _by_registers(e, scale, x, n)


def _by_registers(
    e: LLVMEmitter, instruction: Callable[..., SSAValue], *values: SSAValue, least: int = 128
) -> SSAValue:
    """The result of an instruction on registers, for values of any number of lanes: those behind
    the last are the last again. A register has at least so many bits."""
    lanes = lanes_of(values[0].type)
    bits = cast(FixedBitwidthType, element_of(values[0].type)).bitwidth
    width = register_lanes(bits, lanes, least)
    if not is_vector(values[0].type):
        return e.lane(instruction(*(e.splat(value, width) for value in values)), 0)
    parts: list[SSAValue] = []
    for first in range(0, lanes, width):
        some = [min(lane, lanes - 1) for lane in range(first, first + width)]
        whole = lanes == width
        parts.append(instruction(*(v if whole else e.shuffle(v, v, some) for v in values)))
    result = e.joined(parts)
    return result if lanes_of(result.type) == lanes else e.shuffle(result, result, range(lanes))


_STEPS = 16
"""The powers of two between 1 and 2 that are looked up: as many as a register has lanes. With twice
as many, the polynomial would have degree 3 as well."""
_STEP_POSITION = 23 - 4
"""The bits of the mantissa of an f32 behind the four that a step changes."""
_STEP_TAIL = 0.5000161528587341, 0.166667178273201
"""(e^r - 1 - r) / r^2 for |r| <= ln 2 / 32, with an error of e^r of 2^-29.2."""
_POWERS = (
    *(1.0, 0.0, 1.0442737340927124, 4.6285471455576044e-08),
    *(1.0905077457427979, -1.199215748926008e-08, 1.1387885808944702, 4.7297820771063925e-08),
    *(1.1892070770263672, 3.1934181521364735e-08, 1.2418577671051025, 3.621057231839586e-08),
    *(1.2968395948410034, -3.0990722876822474e-08, 1.3542555570602417, -7.475213337215791e-09),
    *(1.4142135381698608, 1.7114270889351246e-08, 1.4768261909484863, -3.047683350132502e-08),
    *(1.5422108173370361, 5.233334210430485e-09, 1.610490322113037, 6.10759176566944e-09),
    *(1.6817928552627563, -1.4719605978541495e-08, 1.7562521696090698, -5.258795177098818e-09),
    *(1.8340080976486206, -6.128259677495862e-09, 1.9152065515518188, 5.140609271592211e-09),
)
"""2^(k/16) for k below 16, each rounded to f32, and the logarithm of 2^(k/16) divided by that."""

EXPONENTIALS: Mapping[type[Operation], Callable[..., SSAValue]] = {
    tg.Exp2Op: exp2,
    tg.ExpOp: exp,
    tg.GateOp: gate,
}
"""By an op: what computes it of the emitter and its operands."""
