"""Global variables of the `llvm` dialect as LLVM IR."""

from xdsl.dialects import llvm
from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.llvm_ir.attributes import integer
from tgdialect.backends.llvm_ir.constants import attribute_text, quoted, symbol_text
from tgdialect.backends.llvm_ir.functions import UNNAMED_ADDRESSES, VISIBILITIES
from tgdialect.backends.llvm_ir.names import Names
from tgdialect.backends.llvm_ir.types import type_text


def global_line(op: llvm.GlobalOp) -> str:
    """A definition, or a declaration if an external variable has no initializer.

    Any other variable without an initializer holds `undef`, as a GPU's shared memory must.
    """
    linkage = op.linkage.linkage.data
    initializer = _initializer(op)
    if initializer is None and linkage not in ("external", "extern_weak"):
        initializer = "undef"
    words = (
        "" if linkage == "external" and initializer is not None else linkage,
        VISIBILITIES[integer(op, "visibility_")].rstrip(),
        "thread_local" if op.thread_local_ is not None else "",
        UNNAMED_ADDRESSES[integer(op, "unnamed_addr")],
        f"addrspace({space})" if (space := op.addr_space.value.data) else "",
        "constant" if op.constant is not None else "global",
        type_text(op.global_type),
        initializer or "",
    )
    section = f", section {quoted(op.section.data.encode())}" if op.section is not None else ""
    alignment = f", align {op.alignment.value.data}" if op.alignment is not None else ""
    return f"{symbol_text(op.sym_name.data)} = {' '.join(filter(None, words))}{section}{alignment}"


def _initializer(op: llvm.GlobalOp) -> str | None:
    if op.value is not None:
        return attribute_text(op.value, op.global_type)
    if op.body.first_block is None:
        return None
    names = Names()
    *constants, last = op.body.block.ops
    for constant in constants:
        names.define_results(constant)
    value = last.operands[0] if isinstance(last, llvm.ReturnOp) and last.operands else None
    if value is None or names.name[value].startswith("%"):
        raise LLVMTranslationException(
            f"the initializer of '{op.sym_name.data}' must return a constant operation's result"
        )
    return names.name[value]
