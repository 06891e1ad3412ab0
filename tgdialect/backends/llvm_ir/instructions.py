"""Operations of the `llvm` dialect as LLVM IR instructions: a table of functions, and of the names
of the instructions or intrinsics that each of them writes, which are its argument.

The function returns the instruction without `%result =`. Terminators are in `functions.py`, which
knows the blocks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, FastMathAttr, OverflowAttr
from xdsl.dialects.utils import EnumAttribute, FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.str_enum import StrEnum

from tgdialect.backends.llvm_ir.values import Names, quoted, symbol_text
from tgdialect.llvm_dialect.assembly import ATOMIC_ORDERINGS
from tgdialect.llvm_dialect.atomics import ATOMIC_RMW_KINDS

# ---- Attributes ------------------------------------------------------------------------------

_OVERFLOW = ("", "nsw ", "nuw ", "nuw nsw ")
_CALLING_CONVENTIONS = {
    "ccc": "",
    "amdgpu_kernelcc": "amdgpu_kernel ",
    "ptx_devicecc": "ptx_device ",
    "ptx_kernelcc": "ptx_kernel ",
    "spir_funccc": "spir_func ",
    "spir_kernelcc": "spir_kernel ",
}
"""The calling conventions that LLVM IR spells differently from the dialect."""

_fast_math_texts: dict[frozenset[FastMathFlag], str] = {
    frozenset(): "",
    frozenset(FastMathFlag): "fast ",
}


def fast_math(op: Operation) -> str:
    flags = op.properties.get("fastmathFlags")
    if not isinstance(flags, FastMathAttr):
        return ""
    if (text := _fast_math_texts.get(flags.data)) is None:
        text = "".join(f"{flag.value} " for flag in FastMathFlag if flag in flags.data)
        _fast_math_texts[flags.data] = text
    return text


def overflow(op: Operation) -> str:
    flags = op.properties.get("overflowFlags")
    if isinstance(flags, IntegerAttr):
        return _OVERFLOW[flags.value.data]
    return _OVERFLOW[flags.to_int()] if isinstance(flags, OverflowAttr) else ""


def calling_convention(op: Operation) -> str:
    convention = op.properties.get("CConv")
    if not isinstance(convention, llvm.CallingConventionAttr):
        return ""
    name = convention.cconv_name
    return _CALLING_CONVENTIONS.get(name, f"{name} ")


def has(op: Operation, name: str) -> bool:
    return name in op.properties or name in op.attributes


def integer(op: Operation, name: str, default: int = 0) -> int:
    """The value of an integer property; xDSL's parsers leave some of them in the attributes."""
    value = op.properties.get(name) or op.attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else default


def integers(op: Operation, name: str) -> Sequence[int]:
    value = op.properties[name]
    assert isinstance(value, DenseArrayBase)
    return tuple(map(int, value.iter_values()))


def string(op: Operation, name: str) -> str:
    value = op.properties[name]
    assert isinstance(value, StringAttr)
    return value.data


LOOP_MARK = "!llvm.loop !unrolled"
"""A placeholder for the metadata of a branch whose loop is to be unrolled, until the loops of the
module have numbers."""


Writer = Callable[[Names, Operation, str], str]


class InstructionRow(NamedTuple):
    """How to write an operation: a function, and the spelling that it is given."""

    write: Writer
    spelling: str


# ---- Arithmetic, comparison and conversion ---------------------------------------------------


def _binary(flag: Callable[[Operation], str]) -> Writer:
    """An operation on two values of one type, with flags after its name."""

    def write(names: Names, op: Operation, spelling: str) -> str:
        lhs, rhs = op.operands
        return f"{spelling} {flag(op)}{names.typed[lhs]}, {names.name[rhs]}"

    return write


def _flag(name: str, text: str) -> Callable[[Operation], str]:
    """The text of a flag that an operation may have."""
    return lambda op: text if op.properties.get(name) is not None else ""


def _float_unary(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling} {fast_math(op)}{names.typed[op.operands[0]]}"


def _integer_predicate(op: Operation) -> str:
    return f"{llvm.ALL_ICMP_FLAGS[integer(op, 'predicate')].value} "


def _float_predicate(op: Operation) -> str:
    predicate = llvm.ALL_FCMP_FLAGS[integer(op, "predicate")].value.lstrip("_")
    return f"{fast_math(op)}{predicate} "


def _cast(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling} {names.typed[op.operands[0]]} to {names.type(op.results[0].type)}"


def _truncate(names: Names, op: Operation, spelling: str) -> str:
    return _cast(names, op, f"{spelling} {overflow(op)}".rstrip())


def _zero_extend(names: Names, op: Operation, spelling: str) -> str:
    return _cast(names, op, f"{spelling} nneg" if has(op, "nonNeg") else spelling)


def _typed(names: Names, op: Operation) -> list[str]:
    """The operands of an operation, each after its type."""
    return [names.typed[operand] for operand in op.operands]


def _all_typed(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling} {', '.join(_typed(names, op))}"


def _select(names: Names, op: Operation, spelling: str) -> str:
    return _all_typed(names, op, f"{spelling} {fast_math(op)}".rstrip())


# ---- Vectors and aggregates ------------------------------------------------------------------


def _shuffle_vector(names: Names, op: Operation, spelling: str) -> str:
    mask = integers(op, "mask")
    lanes = ", ".join([f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in mask])
    text = f"<{lanes}>" if any(mask) else "zeroinitializer"
    return f"{_all_typed(names, op, spelling)}, <{len(mask)} x i32> {text}"


def _at_position(names: Names, op: Operation, spelling: str) -> str:
    position = "".join([f", {index}" for index in integers(op, "position")])
    return f"{_all_typed(names, op, spelling)}{position}"


# ---- Memory ----------------------------------------------------------------------------------


def _alignment(op: Operation) -> str:
    value = integer(op, "alignment")
    return f", align {value}" if value else ""


def _atomic(op: Operation) -> tuple[str, str]:
    """The text of an atomic access before and after its operands."""
    return ("atomic ", _scope(op) + _ordering(op)) if integer(op, "ordering") else ("", "")


def _ordering(op: Operation, name: str = "ordering") -> str:
    return f" {ATOMIC_ORDERINGS[integer(op, name)]}"


def _scope(op: Operation) -> str:
    scope = op.properties.get("syncscope")
    return f" syncscope({quoted(scope.data.encode())})" if isinstance(scope, StringAttr) else ""


def _volatile(op: Operation) -> str:
    return "volatile " if has(op, "volatile_") else ""


def _access_metadata(op: Operation) -> str:
    """`llvm_ir` (`__init__.py`) ends a module with the two metadata nodes."""
    nontemporal = ", !nontemporal !0" if has(op, "nontemporal") else ""
    return nontemporal + (", !invariant.load !1" if has(op, "invariant") else "")


def _load(names: Names, op: Operation, spelling: str) -> str:
    before, after = _atomic(op)
    return (
        f"{spelling} {before}{_volatile(op)}{names.type(op.results[0].type)}, "
        f"{names.typed[op.operands[0]]}{after}{_alignment(op)}{_access_metadata(op)}"
    )


def _store(names: Names, op: Operation, spelling: str) -> str:
    before, after = _atomic(op)
    value, pointer = op.operands
    return (
        f"{spelling} {before}{_volatile(op)}{names.typed[value]}, {names.typed[pointer]}"
        f"{after}{_alignment(op)}{_access_metadata(op)}"
    )


def _alloca(names: Names, op: Operation, spelling: str) -> str:
    space = names.type(op.results[0].type).removeprefix("ptr")
    count = names.typed[op.operands[0]]
    addrspace = f",{space}" if space else ""
    element = names.type(op.properties["elem_type"])
    return f"{spelling} {element}, {count}{_alignment(op)}{addrspace}"


def _get_element_pointer(names: Names, op: Operation, spelling: str) -> str:
    flags = integer(op, "noWrapFlags")
    inbounds = has(op, "inbounds") or flags & 1
    no_wrap = "inbounds " if inbounds else "nusw " if flags & 2 else ""
    if flags & 4:
        no_wrap += "nuw "
    operands = iter(_typed(names, op))
    pointer = next(operands)
    indices = "".join(
        [
            f", {next(operands)}" if index == GEP_USE_SSA_VAL else f", i32 {index}"
            for index in integers(op, "rawConstantIndices")
        ]
    )
    return f"{spelling} {no_wrap}{names.type(op.properties['elem_type'])}, {pointer}{indices}"


def _atomic_rmw(names: Names, op: Operation, spelling: str) -> str:
    kind = ATOMIC_RMW_KINDS[integer(op, "bin_op")].lstrip("_")
    operands = _all_typed(names, op, f"{spelling} {_volatile(op)}{kind}")
    return f"{operands}{_scope(op)}{_ordering(op)}{_alignment(op)}"


def _compare_exchange(names: Names, op: Operation, spelling: str) -> str:
    weak = "weak " if has(op, "weak") else ""
    operands = _all_typed(names, op, f"{spelling} {weak}{_volatile(op)}".rstrip())
    orderings = _ordering(op, "success_ordering") + _ordering(op, "failure_ordering")
    return f"{operands}{_scope(op)}{orderings}{_alignment(op)}"


def _fence(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling}{_scope(op)}{_ordering(op)}"


# ---- Calls and intrinsics --------------------------------------------------------------------


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
    return _call_text(names, op, symbol_text(op.intrin.data), _typed(names, op))


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
        arguments = *_typed(names, op), _volatile_argument(op)
        return _intrinsic(names, op, spelling, [op.operands[i] for i in overloads], arguments)

    return write


def _volatile_argument(op: Operation) -> str:
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


# ---- The table -------------------------------------------------------------------------------

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

_CALLS: Mapping[str, InstructionRow] = {
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

_WRITERS: Sequence[tuple[Writer, Sequence[str]]] = (
    # Integers
    (_binary(overflow), ("add", "sub", "mul", "shl")),
    (_binary(_flag("isExact", "exact ")), ("udiv", "sdiv", "lshr", "ashr")),
    (_binary(_flag("isDisjoint", "disjoint ")), ("or",)),
    (_binary(lambda op: ""), ("urem", "srem", "and", "xor")),
    (_binary(_integer_predicate), ("icmp",)),
    # Floats
    (_binary(fast_math), ("fadd", "fsub", "fmul", "fdiv", "frem")),
    (_float_unary, ("fneg",)),
    (_binary(_float_predicate), ("fcmp",)),
    # Conversions
    (_truncate, ("trunc",)),
    (_zero_extend, ("zext",)),
    (_cast, ("sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp")),
    (_cast, ("bitcast", "ptrtoint", "inttoptr", "addrspacecast")),
    # Selection, vectors and aggregates
    (_select, ("select",)),
    (_all_typed, ("freeze", "insertelement", "extractelement")),
    (_shuffle_vector, ("shufflevector",)),
    (_at_position, ("insertvalue", "extractvalue")),
    # Memory
    (_load, ("load",)),
    (_store, ("store",)),
    (_alloca, ("alloca",)),
    (_get_element_pointer, ("getelementptr",)),
    (_atomic_rmw, ("atomicrmw",)),
    (_compare_exchange, ("cmpxchg",)),
    (_fence, ("fence",)),
)

INSTRUCTIONS: Mapping[str, InstructionRow] = {
    **{f"llvm.{name}": InstructionRow(write, name) for write, names in _WRITERS for name in names},
    **_CALLS,
}
"""How to write each operation that is neither a constant nor a terminator."""
