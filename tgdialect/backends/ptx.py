"""The kernels of a module as PTX, which the driver of a GPU assembles when it loads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from tgdialect.backends.asm import assembly_language
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_machine import Machine
from tgdialect.gpu_dialect import gpu
from tgdialect.gpu_dialect.target import ChipAttr
from tgdialect.lowering.render.gpu import render_symbols
from tgdialect.ops.walk import ops_of
from tgdialect.targets import Target


@dataclass(frozen=True)
class KernelIr:
    """Kernels as modules of LLVM IR, and the machine that generates code of them."""

    machine: Machine
    language: str
    """The language of the assembly, as `SourceOp` names it."""
    texts: Mapping[str, str]
    """By the names of the kernels, which are those of the programs in `SOURCE`
    (`lowering/render/names.py`). Each has a module of its own: what a kernel takes in the object
    cache and in the memory of the device does not depend on the other kernels of its program."""


def kernel_ir(module: ModuleOp, target: Target) -> KernelIr:
    """The programs of a module at level `planned` as kernels in LLVM IR; the module stays as it is.

    Raises PassFailedException for what the dialects cannot express.
    """
    rendered = render_symbols(ops_of(module.body.block), target)
    device = next(op for op in rendered if isinstance(op, gpu.ModuleOp))
    chip = next(t for t in (device.targets or ()) if isinstance(t, ChipAttr))
    texts: dict[str, str] = {}
    parts: list[Operation] = []
    for op in ops_of(device.body.block):
        op.detach()
        parts.append(op)
        if isinstance(op, llvm.FuncOp):  # After the variables of its workgroup.
            name = op.sym_name.data
            texts[name] = llvm_ir(gpu.ModuleOp(name, [chip], Region(Block(parts))))
            parts = []
    machine = Machine(chip.triple, chip.chip, chip.features)
    return KernelIr(machine, assembly_language(chip), texts)
