"""Operations of the `llvm` dialect as LLVM IR instructions: a table of functions, and of the names
of the instructions that each of them writes, which are its argument.

The function returns the instruction without `%result =`. Terminators are in `functions.py`, which
knows the blocks.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.llvm import GEP_USE_SSA_VAL
from xdsl.ir import Operation

from tgdialect.backends.llvm_ir.attributes import fast_math, has, integer, integers, overflow
from tgdialect.backends.llvm_ir.calls import CALLS, InstructionRow, Writer
from tgdialect.backends.llvm_ir.values import Names, quoted
from tgdialect.llvm_dialect.assembly import ATOMIC_ORDERINGS
from tgdialect.llvm_dialect.atomics import ATOMIC_RMW_KINDS

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


def _all_typed(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling} {', '.join([names.typed[operand] for operand in op.operands])}"


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
    ordering = integer(op, "ordering")
    return ("atomic ", _scope(op) + f" {ATOMIC_ORDERINGS[ordering]}") if ordering else ("", "")


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
    operands = iter([names.typed[operand] for operand in op.operands])
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
    ordering = ATOMIC_ORDERINGS[integer(op, "ordering")]
    return f"{operands}{_scope(op)} {ordering}{_alignment(op)}"


def _compare_exchange(names: Names, op: Operation, spelling: str) -> str:
    weak = "weak " if has(op, "weak") else ""
    operands = _all_typed(names, op, f"{spelling} {weak}{_volatile(op)}".rstrip())
    success = ATOMIC_ORDERINGS[integer(op, "success_ordering")]
    failure = ATOMIC_ORDERINGS[integer(op, "failure_ordering")]
    return f"{operands}{_scope(op)} {success} {failure}{_alignment(op)}"


def _fence(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling}{_scope(op)} {ATOMIC_ORDERINGS[integer(op, 'ordering')]}"


# ---- The table -------------------------------------------------------------------------------

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
    **CALLS,
}
"""How to write each operation that is neither a constant nor a terminator."""
