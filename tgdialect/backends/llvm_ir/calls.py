"""Calls and intrinsics of the `llvm` dialect as LLVM IR: one table row per operation."""

from collections.abc import Callable, Iterable, Sequence
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
from tgdialect.backends.llvm_ir.constants import quoted, symbol_text
from tgdialect.backends.llvm_ir.names import Names

Writer = Callable[[Names, Operation, str], str]


class InstructionRow(NamedTuple):
    """How to write an operation: a function, and the spelling that it is given."""

    write: Writer
    spelling: str


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
    return _call_text(names, op, callee, [names.typed[operand] for operand in op.operands])


def _elementwise(names: Names, op: Operation, spelling: str) -> str:
    result = op.results[0].type
    arguments = ", ".join([names.typed[operand] for operand in op.operands])
    return (
        f"call {fast_math(op)}{names.type(result)} @{spelling}.{names.suffix(result)}({arguments})"
    )


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
        arguments = [names.typed[operand] for operand in op.operands]
        return _intrinsic(names, op, spelling, overloads, arguments)

    return write


def _memcpy(names: Names, op: Operation, spelling: str) -> str:
    arguments = [names.typed[operand] for operand in op.operands]
    return _intrinsic(names, op, spelling, op.operands, [*arguments, _volatile(op)])


def _memset(names: Names, op: Operation, spelling: str) -> str:
    pointer, _, length = op.operands
    arguments = [names.typed[operand] for operand in op.operands]
    return _intrinsic(names, op, spelling, (pointer, length), [*arguments, _volatile(op)])


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
    return _call_text(names, op, f"@{spelling}", [names.typed[operand] for operand in op.operands])


def _keyword(op: Operation, name: str) -> str:
    """The keyword of a property that is one of an enumeration."""
    value = op.properties[name]
    assert isinstance(value, EnumAttribute)
    return str(cast("EnumAttribute[StrEnum]", value).data)


def _cp_async(names: Names, op: Operation, spelling: str) -> str:
    is_partial = ".s" if len(op.operands) > 2 else ""
    name = f"@{spelling}.{_keyword(op, 'modifier')}.shared.global.{integer(op, 'size')}{is_partial}"
    return _call_text(names, op, name, [names.typed[operand] for operand in op.operands])


def _cp_async_wait(names: Names, op: Operation, spelling: str) -> str:
    return _call_text(names, op, f"@{spelling}", [f"i32 {integer(op, 'n')}"])


def _shuffle(names: Names, op: Operation, spelling: str) -> str:
    name = f"@{spelling}.{_keyword(op, 'kind')}.{names.suffix(op.results[0].type)}"
    return _call_text(names, op, name, [names.typed[operand] for operand in op.operands])


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

CALLS: dict[str, InstructionRow] = {
    # Calls
    "llvm.call": InstructionRow(_call, "call"),
    "llvm.call_intrinsic": InstructionRow(_call_intrinsic, "call"),
    "llvm.inline_asm": InstructionRow(_inline_assembly, "asm"),
    # Intrinsics
    "llvm.intr.masked.load": InstructionRow(_masked_load, "llvm.masked.load"),
    "llvm.intr.masked.store": InstructionRow(_masked_store, "llvm.masked.store"),
    "llvm.intr.memcpy": InstructionRow(_memcpy, "llvm.memcpy"),
    "llvm.intr.memset": InstructionRow(_memset, "llvm.memset"),
    "llvm.intr.prefetch": InstructionRow(_prefetch, "llvm.prefetch"),
    "llvm.intr.stacksave": InstructionRow(_stack_save, "llvm.stacksave"),
    "llvm.intr.stackrestore": InstructionRow(_overloaded(0), "llvm.stackrestore"),
    **{
        f"llvm.intr.{name}": InstructionRow(_elementwise, f"llvm.{name}")
        for name in _ELEMENTWISE_INTRINSICS
    },
    **{
        f"llvm.intr.vector.reduce.{name}": InstructionRow(
            _overloaded(0), f"llvm.vector.reduce.{name}"
        )
        for name in _VECTOR_REDUCTIONS
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
    "llvm.intr.vector.reduce.fadd": InstructionRow(_overloaded(1), "llvm.vector.reduce.fadd"),
    "llvm.intr.vector.reduce.fmul": InstructionRow(_overloaded(1), "llvm.vector.reduce.fmul"),
}
