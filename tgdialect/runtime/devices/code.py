"""Code for the programs of a module at level `planned`: text, or the assembly of a GPU."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tgdialect.backends.ptx import kernel_ir
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.render.names import SOURCE
from tgdialect.lowering.render.stage import default_output
from tgdialect.ops import tg
from tgdialect.runtime.codegen import CodeGenerator
from tgdialect.targets import Target
from tgdialect.targets.attribute import target_of


def give_code(module: ModuleOp, render: RenderPass) -> None:
    """Give each program of a module at level `planned` its SOURCE.

    `tg-render` would leave the dialect for the `gpu` dialect, with `gpu.launch_func`s in place of
    the CALLs: for such a target the programs get assembly, and the functions stay.

    Raises PassFailedException and LLVMTranslationException for what there is no code for.
    """
    target = target_of(module)
    if default_output(target) == "gpu":
        _assemble(module, target)
    else:
        render.lower(module)


def _assemble(module: ModuleOp, target: Target) -> None:
    kernels = kernel_ir(module, target)
    with CodeGenerator(kernels.machine.assembly) as generator:
        coming = {name: generator.submit(text) for name, text in kernels.texts.items()}
        codes = {name: code.result() for name, code in coming.items()}
    for program in module.ops:
        if isinstance(program, tg.ProgramOp) and not program.calls:
            source = tg.SourceOp(codes[SOURCE.symbol(program.sym_name.data)], kernels.language)
            source.location = program.location
            program.body.block.insert_op_after(source, program.linear)
