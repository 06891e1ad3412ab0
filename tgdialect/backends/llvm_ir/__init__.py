"""From the `llvm` dialect to LLVM IR, as text.

`llvm_ir` walks a module once and builds strings: LLVM reads text several times faster than a
Python library builds the same module call by call. In reading order:

* `values.py`: text of types, constants and the values of a function;
* `instructions.py`: flags, and a table with a row for each operation;
* `functions.py`: signatures, blocks, phis and terminators; global variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.target import Target

from tgdialect.backends.llvm_ir.functions import function_lines, global_line
from tgdialect.backends.llvm_ir.instructions import LOOP_MARK
from tgdialect.backends.llvm_ir.values import quoted
from tgdialect.diagnostics import errors_at, locate
from tgdialect.lowering.levels import level_of, stages_to_run

if TYPE_CHECKING:
    from tgdialect.gpu_dialect import gpu

_MODULE_ATTRIBUTES = {
    "llvm.data_layout": "target datalayout",
    "llvm.target_triple": "target triple",
}
_METADATA = {"!nontemporal !0": "!0 = !{i32 1}", "!invariant.load !1": "!1 = !{}"}
"""The metadata nodes to which marks on loads and stores refer."""


def llvm_ir(module: ModuleOp | gpu.ModuleOp) -> str:
    """The LLVM IR of a module, or of a `gpu.module`, of `llvm.func` and `llvm.mlir.global`.

    The text is for any LLVM from 19 on; intrinsics are declared by LLVM as it reads them. The
    module must be verified. Raises LLVMTranslationException, naming the operation, type or
    attribute, for what LLVM IR (or this translation) does not have.
    """
    lines: list[str] = []
    for name, keyword in _MODULE_ATTRIBUTES.items():
        if isinstance(value := module.attributes.get(name), StringAttr):
            lines.append(f"{keyword} = {quoted(value.data.encode())}")
    for op in module.body.block.ops:
        match op:
            case llvm.FuncOp():
                with errors_at(op):
                    lines += function_lines(op)
            case llvm.GlobalOp():
                with errors_at(op):
                    lines.append(global_line(op))
            case _:
                message = f"'{op.name}' in a module has no translation to LLVM IR"
                raise locate(LLVMTranslationException(f"{message}{_hint(module, op)}"), op)
    text = "\n".join(lines) + "\n"
    nodes = [node for mark, node in _METADATA.items() if mark in text]
    # Each loop has a node of its own, which refers to itself.
    first, *others = text.split(LOOP_MARK)
    for number, rest in enumerate(others, len(_METADATA) + 1):
        first += f"!llvm.loop !{number}{rest}"
        nodes.append(f"!{number} = distinct !{{!{number}, !{len(_METADATA)}}}")
    if others:
        nodes.append(f'!{len(_METADATA)} = !{{!"llvm.loop.unroll.full"}}')
    return first + "".join(f"{node}\n" for node in nodes)


def _hint(module: ModuleOp | gpu.ModuleOp, op: Operation) -> str:
    """The hint of the error about an op that cannot be translated: how to lower or print it."""
    if op.name == "gpu.module":
        return ": print it by the target of its assembly, which --help lists"
    ours = [each for each in module.walk() if each.name.startswith("tg.")]
    sources = (each.properties.get("language") for each in ours if each.name == "tg.source")
    if isinstance(language := next(sources, None), StringAttr):
        return f", and the module has sources in {language.data}: print them by -t {language.data}"
    level = level_of(module) if isinstance(module, ModuleOp) and ours else None
    if level is not None:
        return f", and the module is at level {level}: {stages_to_run(level, 'llvm')}"
    return ": lower it to the llvm dialect first"


@dataclass(frozen=True)
class LlvmIrTarget(Target):
    """Writes a module of the `llvm` dialect as LLVM IR."""

    name = "llvm"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(llvm_ir(module))
