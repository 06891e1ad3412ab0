"""EXP2 and EXP on CPUs that scale by a power of two in one instruction."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import SSAValue

from tgdialect.llvm_dialect import PoisonOp, RoundEvenOp
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import element_of, is_vector, lanes_of, vector_of
from tgdialect.ops.dtypes import F32
from tgdialect.targets.cpu import scaling
from tgdialect.transforms.float_format import FORMATS


def exp2(e: LLVMEmitter, x: SSAValue) -> SSAValue:
    """2^x of f32 or f64 within 1 ulp, subnormals included; special values as C99.

    x = n + r with an integer n and |r| <= 1/2, and a polynomial in r is scaled by 2^n. r of an
    infinite x is NaN, and the scaled result is 0 or infinite all the same. The recipe of
    `transforms/transcendental.py` has the same polynomial, and needs bounds of x, integers and a
    second scale for subnormal results: 17 instructions instead of 10.
    """
    form = FORMATS["f32" if element_of(x.type) == F32 else "f64"]
    n = e.float(RoundEvenOp, x)
    r = e.float(llvm.FSubOp, x, n)
    *rest, last = (e.number(c, x.type) for c in (1.0, *form.exp2_tail))
    power = last
    for coefficient in reversed(rest):
        power = e.float(llvm.FMAOp, power, r, coefficient)
    return _scaled(e, power, n, form.width)


def exp(e: LLVMEmitter, x: SSAValue) -> SSAValue:
    """e^x, as `exp2`: r = x - n ln 2, with ln 2 as a sum of two floats.

    r is not small for a huge x, and the polynomial may be infinite, which scaled by a power below
    1 it should not be: x has a bound below 0. That of f64, of odd degree, may also be negative.
    """
    form = FORMATS["f32" if element_of(x.type) == F32 else "f64"]
    low = e.number(-4.0 * form.bias, x.type)
    x = e.select(e.compare_floats("olt", x, low), low, x)
    if len(form.exp_tail) % 2 == 0:
        high = e.number(4.0 * form.bias, x.type)
        x = e.select(e.compare_floats("ogt", x, high), high, x)
    n = e.float(RoundEvenOp, e.float(llvm.FMulOp, x, e.number(form.log2_e[0], x.type)))
    r = x
    for part in form.ln_2:
        r = e.float(llvm.FMAOp, n, e.number(-part, x.type), r)
    *rest, last = (e.number(c, x.type) for c in (1.0, 1.0, *form.exp_tail))
    power = last
    for coefficient in reversed(rest):
        power = e.float(llvm.FMAOp, power, r, coefficient)
    return _scaled(e, power, n, form.width)


def _scaled(e: LLVMEmitter, x: SSAValue, n: SSAValue, bits: int) -> SSAValue:
    """x * 2^n, a register at a time."""
    if not is_vector(x.type):
        lanes = scaling(bits, 1).lanes
        return e.lane(_scaled(e, e.splat(x, lanes), e.splat(n, lanes), bits), 0)
    lanes = lanes_of(x.type)
    how = scaling(bits, lanes)
    type = vector_of(element_of(x.type), how.lanes)
    masked = e.emit(PoisonOp, (), type)
    mask = e.number(-1, IntegerType(how.mask_bits))
    further = [e.number(number, i32) for number in how.further]
    parts: list[SSAValue] = []
    for first in range(0, lanes, how.lanes):
        x_part, n_part = x, n
        if lanes != how.lanes:  # Lanes behind the last are the last again.
            some = [min(lane, lanes - 1) for lane in range(first, first + how.lanes)]
            x_part, n_part = e.shuffle(x, x, some), e.shuffle(n, n, some)
        parts.append(e.intrinsic(how.name, (x_part, n_part, masked, mask, *further), type))
    whole = e.joined(parts)
    return whole if lanes_of(whole.type) == lanes else e.shuffle(whole, whole, range(lanes))
