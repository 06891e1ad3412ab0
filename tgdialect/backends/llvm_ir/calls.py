"""Calls and intrinsics of the `llvm` dialect as LLVM IR: one table row per operation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.dialects import llvm
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.str_enum import StrEnum

from tgdialect.backends.llvm_ir.attributes import (
    calling_convention,
    fast_math,
    has,
    integer,
    string,
)
from tgdialect.backends.llvm_ir.values import Names, quoted, symbol_text

Writer = Callable[[Names, Operation, str], str]


class InstructionRow(NamedTuple):
    """How to write an operation: a function, and the spelling that it is given."""

    write: Writer
    spelling: str


def _typed(names: Names, op: Operation) -> list[str]:
    """The operands of an operation, each after its type."""
    return [names.typed[operand] for operand in op.operands]


def _call_text(
    names: Names, op: Operation, callee: str, arguments: Sequence[str], convention: str = ""
) -> str:
    result = names.type(op.results[0].type) if op.results else "void"
    return f"call {fast_math(op)}{convention}{result} {callee}({', '.join(arguments)})"


def _call(names: Names, op: Operation, spelling: str) -> str:
    assert isinstance(op, llvm.CallOp)
    if op.op_bundle_operands:
        raise LLVMTranslationException("'llvm.call' with operand bundles is not supported")
    arguments = [names.typed[argument] for argument in op.args]
    if op.callee is not None:
        callee = symbol_text(op.callee.string_value())
    else:
        callee = names.name[op.args[0]]
        del arguments[0]
    if op.var_callee_type is not None:
        # A variadic callee is called by its function type: the result's type, then this.
        inputs = [*map(names.type, op.var_callee_type.inputs), "..."]
        callee = f"({', '.join(inputs)}) {callee}"
    kind = op.TailCallKind.data.value
    tail = "" if kind == "none" else f"{kind} "
    return tail + _call_text(names, op, callee, arguments, calling_convention(op))


def _call_intrinsic(names: Names, op: Operation, spelling: str) -> str:
    """LLVM declares the intrinsic and adds the suffix of its overload, if that is left out."""
    assert isinstance(op, llvm.CallIntrinsicOp)
    if op.op_bundle_operands:
        raise LLVMTranslationException(f"'{op.name}' with operand bundles is not supported")
    arguments = [names.typed[argument] for argument in op.operands]
    return _call_text(names, op, symbol_text(op.intrin.data), arguments)


def _inline_assembly(names: Names, op: Operation, spelling: str) -> str:
    flags = "sideeffect " if has(op, "has_side_effects") else ""
    flags += "alignstack " if has(op, "is_align_stack") else ""
    flags += "inteldialect " if integer(op, "asm_dialect") == 1 else ""
    text, constraints = string(op, "asm_string"), string(op, "constraints")
    callee = f"asm {flags}{quoted(text.encode())}, {quoted(constraints.encode())}"
    return _call_text(names, op, callee, _typed(names, op))


def _elementwise(names: Names, op: Operation, spelling: str) -> str:
    result = op.results[0].type
    return _call_text(names, op, f"@{spelling}.{names.suffix(result)}", _typed(names, op))


def _intrinsic(
    names: Names,
    op: Operation,
    spelling: str,
    overloads: Iterable[SSAValue],
    arguments: Sequence[str],
) -> str:
    """A call of an intrinsic that is overloaded on the types of some values."""
    suffixes = [names.suffix(value.type) for value in overloads]
    return _call_text(names, op, f"@{'.'.join([spelling, *suffixes])}", arguments)


def _overloaded(*operands: int) -> Writer:
    """An intrinsic overloaded on the types of those operands."""

    def write(names: Names, op: Operation, spelling: str) -> str:
        overloads = [op.operands[index] for index in operands]
        return _intrinsic(names, op, spelling, overloads, _typed(names, op))

    return write


def _block(*overloads: int) -> Writer:
    """An intrinsic on blocks of memory, overloaded on the types of those operands."""

    def write(names: Names, op: Operation, spelling: str) -> str:
        arguments = *_typed(names, op), _volatile(op)
        return _intrinsic(names, op, spelling, [op.operands[i] for i in overloads], arguments)

    return write


def _volatile(op: Operation) -> str:
    return "i1 true" if integer(op, "isVolatile") else "i1 false"


def _masked_load(names: Names, op: Operation, spelling: str) -> str:
    pointer, mask, pass_through = op.operands
    alignment = f"i32 {integer(op, 'alignment')}"
    arguments = names.typed[pointer], alignment, names.typed[mask], names.typed[pass_through]
    return _intrinsic(names, op, spelling, (pass_through, pointer), arguments)


def _masked_store(names: Names, op: Operation, spelling: str) -> str:
    value, pointer, mask = op.operands
    alignment = f"i32 {integer(op, 'alignment')}"
    arguments = names.typed[value], names.typed[pointer], alignment, names.typed[mask]
    return _intrinsic(names, op, spelling, (value, pointer), arguments)


def _prefetch(names: Names, op: Operation, spelling: str) -> str:
    numbers = [f"i32 {integer(op, name)}" for name in ("rw", "hint", "cache")]
    arguments = [names.typed[op.operands[0]], *numbers]
    return _intrinsic(names, op, spelling, op.operands, arguments)


def _stack_save(names: Names, op: Operation, spelling: str) -> str:
    return _intrinsic(names, op, spelling, op.results, ())


def _named(names: Names, op: Operation, spelling: str) -> str:
    """An intrinsic that is not overloaded."""
    return _call_text(names, op, f"@{spelling}", _typed(names, op))


def _keyword(op: Operation, name: str) -> str:
    """The keyword of a property that is one of an enumeration."""
    value = op.properties[name]
    assert isinstance(value, EnumAttribute)
    return str(cast("EnumAttribute[StrEnum]", value).data)


def _cp_async(names: Names, op: Operation, spelling: str) -> str:
    is_partial = ".s" if len(op.operands) > 2 else ""
    name = f"@{spelling}.{_keyword(op, 'modifier')}.shared.global.{integer(op, 'size')}{is_partial}"
    return _call_text(names, op, name, _typed(names, op))


def _cp_async_wait(names: Names, op: Operation, spelling: str) -> str:
    return _call_text(names, op, f"@{spelling}", [f"i32 {integer(op, 'n')}"])


def _shuffle(names: Names, op: Operation, spelling: str) -> str:
    name = f"@{spelling}.{_keyword(op, 'kind')}.{names.suffix(op.results[0].type)}"
    return _call_text(names, op, name, _typed(names, op))


_SPECIAL_REGISTERS = {
    "nvvm.read.ptx.sreg.ctaid": "llvm.nvvm.read.ptx.sreg.ctaid",
    "nvvm.read.ptx.sreg.tid": "llvm.nvvm.read.ptx.sreg.tid",
    "rocdl.workgroup.id": "llvm.amdgcn.workgroup.id",
    "rocdl.workitem.id": "llvm.amdgcn.workitem.id",
}
_ELEMENTWISE_INTRINSICS = (
    *("ceil", "copysign", "cos", "exp", "exp2", "fabs", "floor", "fma", "fmuladd", "log", "log2"),
    *("maximum", "maxnum", "minimum", "minnum", "nearbyint", "pow", "rint", "round", "roundeven"),
    *("sin", "sqrt", "trunc", "fshl", "fshr", "smax", "smin", "umax", "umin"),
)
_VECTOR_REDUCTIONS = (
    *("add", "and", "mul", "or", "smax", "smin", "umax", "umin", "xor"),
    *("fmax", "fmaximum", "fmin", "fminimum"),
)

_INTRINSICS: Mapping[str, Writer] = {
    "masked.load": _masked_load,
    "masked.store": _masked_store,
    "memcpy": _block(0, 1, 2),
    "memset": _block(0, 2),
    "prefetch": _prefetch,
    "stacksave": _stack_save,
    "stackrestore": _overloaded(0),
    **dict.fromkeys(_ELEMENTWISE_INTRINSICS, _elementwise),
    **{f"vector.reduce.{name}": _overloaded(0) for name in _VECTOR_REDUCTIONS},
    **{f"vector.reduce.{name}": _overloaded(1) for name in ("fadd", "fmul")},
}
"""By the name after `llvm.intr.` in the dialect, and after `llvm.` in LLVM IR."""

CALLS: Mapping[str, InstructionRow] = {
    # Calls
    "llvm.call": InstructionRow(_call, "call"),
    "llvm.call_intrinsic": InstructionRow(_call_intrinsic, "call"),
    "llvm.inline_asm": InstructionRow(_inline_assembly, "asm"),
    # Intrinsics
    **{
        f"llvm.intr.{name}": InstructionRow(write, f"llvm.{name}")
        for name, write in _INTRINSICS.items()
    },
    # GPUs
    "nvvm.barrier0": InstructionRow(_named, "llvm.nvvm.barrier0"),
    "nvvm.cp.async.shared.global": InstructionRow(_cp_async, "llvm.nvvm.cp.async"),
    "nvvm.cp.async.commit.group": InstructionRow(_named, "llvm.nvvm.cp.async.commit.group"),
    "nvvm.cp.async.wait.group": InstructionRow(_cp_async_wait, "llvm.nvvm.cp.async.wait.group"),
    "nvvm.shfl.sync": InstructionRow(_shuffle, "llvm.nvvm.shfl.sync"),
    "rocdl.ds_bpermute": InstructionRow(_named, "llvm.amdgcn.ds.bpermute"),
    "rocdl.mbcnt.hi": InstructionRow(_named, "llvm.amdgcn.mbcnt.hi"),
    "rocdl.mbcnt.lo": InstructionRow(_named, "llvm.amdgcn.mbcnt.lo"),
    "rocdl.s.barrier": InstructionRow(_named, "llvm.amdgcn.s.barrier"),
    **{
        f"{name}.{axis}": InstructionRow(_named, f"{intrinsic}.{axis}")
        for name, intrinsic in _SPECIAL_REGISTERS.items()
        for axis in "xyz"
    },
}
