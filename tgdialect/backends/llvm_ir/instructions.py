"""Operations of the `llvm` dialect as LLVM IR instructions: one table row per operation.

A row is a function and a spelling, its argument. The function returns the instruction without
`%result =`. Terminators are in `functions.py`, which knows the blocks.
"""

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.llvm import GEP_USE_SSA_VAL
from xdsl.ir import Operation

from tgdialect.backends.llvm_ir.attributes import fast_math, has, integer, integers, overflow
from tgdialect.backends.llvm_ir.calls import CALLS, InstructionRow
from tgdialect.backends.llvm_ir.constants import quoted
from tgdialect.backends.llvm_ir.names import Names
from tgdialect.llvm_dialect.assembly import ATOMIC_ORDERINGS
from tgdialect.llvm_dialect.atomics import ATOMIC_RMW_KINDS

# ---- Arithmetic, comparison and conversion ---------------------------------------------------


def _plain_binary(names: Names, op: Operation, spelling: str) -> str:
    lhs, rhs = op.operands
    return f"{spelling} {names.typed[lhs]}, {names.name[rhs]}"


def _overflow_binary(names: Names, op: Operation, spelling: str) -> str:
    lhs, rhs = op.operands
    return f"{spelling} {overflow(op)}{names.typed[lhs]}, {names.name[rhs]}"


def _exact_binary(names: Names, op: Operation, spelling: str) -> str:
    exact = "exact " if op.properties.get("isExact") is not None else ""
    lhs, rhs = op.operands
    return f"{spelling} {exact}{names.typed[lhs]}, {names.name[rhs]}"


def _or(names: Names, op: Operation, spelling: str) -> str:
    disjoint = "disjoint " if op.properties.get("isDisjoint") is not None else ""
    lhs, rhs = op.operands
    return f"{spelling} {disjoint}{names.typed[lhs]}, {names.name[rhs]}"


def _float_binary(names: Names, op: Operation, spelling: str) -> str:
    lhs, rhs = op.operands
    return f"{spelling} {fast_math(op)}{names.typed[lhs]}, {names.name[rhs]}"


def _float_unary(names: Names, op: Operation, spelling: str) -> str:
    return f"{spelling} {fast_math(op)}{names.typed[op.operands[0]]}"


def _integer_compare(names: Names, op: Operation, spelling: str) -> str:
    lhs, rhs = op.operands
    predicate = llvm.ALL_ICMP_FLAGS[integer(op, "predicate")].value
    return f"{spelling} {predicate} {names.typed[lhs]}, {names.name[rhs]}"


def _float_compare(names: Names, op: Operation, spelling: str) -> str:
    lhs, rhs = op.operands
    predicate = llvm.ALL_FCMP_FLAGS[integer(op, "predicate")].value.lstrip("_")
    return f"{spelling} {fast_math(op)}{predicate} {names.typed[lhs]}, {names.name[rhs]}"


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

INSTRUCTIONS: dict[str, InstructionRow] = {
    # Integers
    "llvm.add": InstructionRow(_overflow_binary, "add"),
    "llvm.sub": InstructionRow(_overflow_binary, "sub"),
    "llvm.mul": InstructionRow(_overflow_binary, "mul"),
    "llvm.shl": InstructionRow(_overflow_binary, "shl"),
    "llvm.udiv": InstructionRow(_exact_binary, "udiv"),
    "llvm.sdiv": InstructionRow(_exact_binary, "sdiv"),
    "llvm.lshr": InstructionRow(_exact_binary, "lshr"),
    "llvm.ashr": InstructionRow(_exact_binary, "ashr"),
    "llvm.urem": InstructionRow(_plain_binary, "urem"),
    "llvm.srem": InstructionRow(_plain_binary, "srem"),
    "llvm.and": InstructionRow(_plain_binary, "and"),
    "llvm.xor": InstructionRow(_plain_binary, "xor"),
    "llvm.or": InstructionRow(_or, "or"),
    "llvm.icmp": InstructionRow(_integer_compare, "icmp"),
    # Floats
    "llvm.fadd": InstructionRow(_float_binary, "fadd"),
    "llvm.fsub": InstructionRow(_float_binary, "fsub"),
    "llvm.fmul": InstructionRow(_float_binary, "fmul"),
    "llvm.fdiv": InstructionRow(_float_binary, "fdiv"),
    "llvm.frem": InstructionRow(_float_binary, "frem"),
    "llvm.fneg": InstructionRow(_float_unary, "fneg"),
    "llvm.fcmp": InstructionRow(_float_compare, "fcmp"),
    # Conversions
    "llvm.trunc": InstructionRow(_truncate, "trunc"),
    "llvm.zext": InstructionRow(_zero_extend, "zext"),
    "llvm.sext": InstructionRow(_cast, "sext"),
    "llvm.fptrunc": InstructionRow(_cast, "fptrunc"),
    "llvm.fpext": InstructionRow(_cast, "fpext"),
    "llvm.fptosi": InstructionRow(_cast, "fptosi"),
    "llvm.fptoui": InstructionRow(_cast, "fptoui"),
    "llvm.sitofp": InstructionRow(_cast, "sitofp"),
    "llvm.uitofp": InstructionRow(_cast, "uitofp"),
    "llvm.bitcast": InstructionRow(_cast, "bitcast"),
    "llvm.ptrtoint": InstructionRow(_cast, "ptrtoint"),
    "llvm.inttoptr": InstructionRow(_cast, "inttoptr"),
    "llvm.addrspacecast": InstructionRow(_cast, "addrspacecast"),
    # Selection, vectors and aggregates
    "llvm.select": InstructionRow(_select, "select"),
    "llvm.freeze": InstructionRow(_all_typed, "freeze"),
    "llvm.insertelement": InstructionRow(_all_typed, "insertelement"),
    "llvm.extractelement": InstructionRow(_all_typed, "extractelement"),
    "llvm.shufflevector": InstructionRow(_shuffle_vector, "shufflevector"),
    "llvm.insertvalue": InstructionRow(_at_position, "insertvalue"),
    "llvm.extractvalue": InstructionRow(_at_position, "extractvalue"),
    # Memory
    "llvm.load": InstructionRow(_load, "load"),
    "llvm.store": InstructionRow(_store, "store"),
    "llvm.alloca": InstructionRow(_alloca, "alloca"),
    "llvm.getelementptr": InstructionRow(_get_element_pointer, "getelementptr"),
    "llvm.atomicrmw": InstructionRow(_atomic_rmw, "atomicrmw"),
    "llvm.cmpxchg": InstructionRow(_compare_exchange, "cmpxchg"),
    "llvm.fence": InstructionRow(_fence, "fence"),
    **CALLS,
}
"""How to write each operation that is neither a constant nor a terminator."""
