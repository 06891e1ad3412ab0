"""Operations of the `llvm` dialect as LLVM IR instructions: one table row per operation.

A row is a function and a spelling, its argument. The function returns the instruction without
`%result =`. Terminators are in `functions.py`, which knows the blocks.
"""

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.llvm import GEP_USE_SSA_VAL
from xdsl.ir import Operation

from tgdialect.backends.llvm_ir.attributes import fast_math, has, integer, integers, overflow
from tgdialect.backends.llvm_ir.calls import CALLS, Row
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

INSTRUCTIONS: dict[str, Row] = {
    # Integers
    "llvm.add": Row(_overflow_binary, "add"),
    "llvm.sub": Row(_overflow_binary, "sub"),
    "llvm.mul": Row(_overflow_binary, "mul"),
    "llvm.shl": Row(_overflow_binary, "shl"),
    "llvm.udiv": Row(_exact_binary, "udiv"),
    "llvm.sdiv": Row(_exact_binary, "sdiv"),
    "llvm.lshr": Row(_exact_binary, "lshr"),
    "llvm.ashr": Row(_exact_binary, "ashr"),
    "llvm.urem": Row(_plain_binary, "urem"),
    "llvm.srem": Row(_plain_binary, "srem"),
    "llvm.and": Row(_plain_binary, "and"),
    "llvm.xor": Row(_plain_binary, "xor"),
    "llvm.or": Row(_or, "or"),
    "llvm.icmp": Row(_integer_compare, "icmp"),
    # Floats
    "llvm.fadd": Row(_float_binary, "fadd"),
    "llvm.fsub": Row(_float_binary, "fsub"),
    "llvm.fmul": Row(_float_binary, "fmul"),
    "llvm.fdiv": Row(_float_binary, "fdiv"),
    "llvm.frem": Row(_float_binary, "frem"),
    "llvm.fneg": Row(_float_unary, "fneg"),
    "llvm.fcmp": Row(_float_compare, "fcmp"),
    # Conversions
    "llvm.trunc": Row(_truncate, "trunc"),
    "llvm.zext": Row(_zero_extend, "zext"),
    "llvm.sext": Row(_cast, "sext"),
    "llvm.fptrunc": Row(_cast, "fptrunc"),
    "llvm.fpext": Row(_cast, "fpext"),
    "llvm.fptosi": Row(_cast, "fptosi"),
    "llvm.fptoui": Row(_cast, "fptoui"),
    "llvm.sitofp": Row(_cast, "sitofp"),
    "llvm.uitofp": Row(_cast, "uitofp"),
    "llvm.bitcast": Row(_cast, "bitcast"),
    "llvm.ptrtoint": Row(_cast, "ptrtoint"),
    "llvm.inttoptr": Row(_cast, "inttoptr"),
    "llvm.addrspacecast": Row(_cast, "addrspacecast"),
    # Selection, vectors and aggregates
    "llvm.select": Row(_select, "select"),
    "llvm.freeze": Row(_all_typed, "freeze"),
    "llvm.insertelement": Row(_all_typed, "insertelement"),
    "llvm.extractelement": Row(_all_typed, "extractelement"),
    "llvm.shufflevector": Row(_shuffle_vector, "shufflevector"),
    "llvm.insertvalue": Row(_at_position, "insertvalue"),
    "llvm.extractvalue": Row(_at_position, "extractvalue"),
    # Memory
    "llvm.load": Row(_load, "load"),
    "llvm.store": Row(_store, "store"),
    "llvm.alloca": Row(_alloca, "alloca"),
    "llvm.getelementptr": Row(_get_element_pointer, "getelementptr"),
    "llvm.atomicrmw": Row(_atomic_rmw, "atomicrmw"),
    "llvm.cmpxchg": Row(_compare_exchange, "cmpxchg"),
    "llvm.fence": Row(_fence, "fence"),
    **CALLS,
}
"""How to write each operation that is neither a constant nor a terminator."""
