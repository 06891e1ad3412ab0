"""CUSTOM and CUSTOMFUNCTION in LLVM: intrinsics, and functions of the host."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.custom import CallSignature
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter, call
from tgdialect.lowering.render.llvm.types import register_type
from tgdialect.ops import tg

BUILTINS = {
    "__builtin_popcount": "llvm.ctpop.i32",
    "__builtin_popcountll": "llvm.ctpop.i64",
    **{f"__builtin_bswap{bits}": f"llvm.bswap.i{bits}" for bits in (16, 32, 64)},
}
"""Builtin functions of C compilers that are an intrinsic."""

INTRINSICS = {
    **dict.fromkeys(("ctpop", "bswap", "bitreverse"), (1, False)),
    **dict.fromkeys(("smax", "smin", "umax", "umin"), (2, False)),
    **dict.fromkeys(("sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"), (2, False)),
    **dict.fromkeys(("fshl", "fshr"), (3, False)),
    **dict.fromkeys(("sqrt", "fabs", "floor", "ceil", "trunc"), (1, True)),
    **dict.fromkeys(("rint", "nearbyint", "round", "roundeven", "canonicalize"), (1, True)),
    **dict.fromkeys(("copysign", "minnum", "maxnum", "minimum", "maximum"), (2, True)),
    "fma": (3, True),
}
"""Intrinsics that a CUSTOM may call, on operands of the dtype of the result: how many they take,
and whether these are floats. LLVM may end the process for a wrong one."""


def is_intrinsic(name: str) -> bool:
    """Whether a function is an intrinsic of LLVM, and none of the process."""
    return name.startswith("llvm.") or name in BUILTINS


def custom(
    f: LLVMEmitter, op: tg.CustomOp, operands: Sequence[SSAValue], *, on_host: bool
) -> SSAValue | None:
    """The call that the code of a CUSTOM is."""
    if (found := op.call) is None:
        raise PassFailedException(
            f"the code {op.fmt.data!r} is for C-like outputs: here it has to be a call like "
            '"f({0})", or a function that is registered for it (custom=, tg-run --custom)'
        )
    values = [operands[number] for number in found.order]
    dtypes = [tg.dtype_of(op.arguments[number]) for number in found.order]
    result = None if isinstance(op.result.type, tg.VoidType) else tg.dtype_of(op.result)
    name = BUILTINS.get(found.name, found.name)
    if name.startswith("llvm."):
        return _intrinsic(f, name, values, [*dtypes, *(() if result is None else (result,))])
    if not on_host:
        raise PassFailedException(
            f"this output has no function {name!r}: it has intrinsics of LLVM, as llvm.ctpop.i32"
        )
    return call_function(f, name, values, dtypes, result)


def call_host(
    f: LLVMEmitter, name: str, signature: CallSignature, arguments: Sequence[SSAValue]
) -> SSAValue | None:
    """Call a function of the host by its name."""
    numbers = [
        None if argument.shape is not None else tg.DTYPES[tg.TYPES[argument.dtype]]
        for argument in signature.arguments
    ]
    result = None if signature.result is None else tg.DTYPES[tg.TYPES[signature.result]]
    dtypes = [*numbers, *[tg.DTYPES[tg.INDEX]] * signature.extents]
    return call_function(f, name, arguments, dtypes, result)


def call_function(
    f: LLVMEmitter,
    name: str,
    arguments: Sequence[SSAValue],
    dtypes: Sequence[tg.DType | None],
    result: tg.DType | None,
) -> SSAValue | None:
    """Call a function of the process as C does; a dtype is None for a pointer."""
    pairs = list(zip(arguments, dtypes, strict=True))
    passed = [v if dtype is None else _extended(f, v, dtype) for v, dtype in pairs]
    type = None if result is None else i8 if result.is_bool else _c_type(result)
    f.declare(name, [value.type for value in passed], type)
    made = f.insert(call(name, passed, type))
    if result is None:
        return None
    value = made.results[0]
    return f.compare("ne", value, f.number(0, i8)) if result.is_bool else value


def _c_type(dtype: tg.DType) -> Attribute:
    if dtype.is_float and dtype.bits < 32:
        raise PassFailedException(
            f"a function of C takes and gives no {dtype.name}: CAST it to f32"
        )
    return register_type(dtype)


def _extended(f: LLVMEmitter, value: SSAValue, dtype: tg.DType) -> SSAValue:
    """A number as it is passed: integers of fewer than 32 bits are extended."""
    if _c_type(dtype) and (dtype.is_float or dtype.bits >= i32.bitwidth):
        return value
    return f.emit(llvm.SExtOp if dtype.low < 0 else llvm.ZExtOp, (value,), i32)


def _intrinsic(
    f: LLVMEmitter, name: str, operands: Sequence[SSAValue], dtypes: Sequence[tg.DType]
) -> SSAValue:
    """A call of an intrinsic. `dtypes` are those of the operands and of the result."""
    base, _, suffix = name.removeprefix("llvm.").rpartition(".")
    if base not in INTRINSICS:
        there_are = ", ".join(INTRINSICS)
        raise PassFailedException(f"CUSTOM cannot call {name}; of intrinsics it can: {there_are}")
    count, is_float = INTRINSICS[base]
    is_right = (len(operands), len(dtypes)) == (count, count + 1) and all(
        f"{'f' if is_float else 'i'}{dtype.bits}" == suffix
        and dtype.is_float == is_float
        and not dtype.is_bool
        for dtype in dtypes
    )
    if not is_right or suffix == "f8" or (base, suffix) == ("bswap", "i8"):
        given = ", ".join(dtype.name for dtype in dtypes)
        raise PassFailedException(
            f"llvm.{base} takes {count} {'floats' if is_float else 'integers'} and gives one, of "
            f"the dtype in its name: got {name} of {given}"
        )
    return f.intrinsic(name, operands, register_type(dtypes[-1]))
