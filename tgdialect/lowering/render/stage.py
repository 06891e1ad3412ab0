"""The pass: programs and the function that calls them leave for another language."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.symbols import SIGNATURE, is_foreign
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.render.llvm import render_symbols
from tgdialect.lowering.render.names import OBJECT
from tgdialect.lowering.signature import signature_attribute
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target, state_in_builtin
from tgdialect.targets.cpu import CPU


@dataclass(frozen=True)
class RenderPass(LoweringPass):
    """Turn programs and functions into `llvm.func`s and a `gpu.module`, or give programs a SOURCE.

    In the `llvm` dialect memory is a pointer, an index an i64. The `tg.signature` of a function
    keeps the types of its arguments. Vectors bypass the caches where a result is larger than
    `cache`. `tg.target` becomes a dictionary of builtin attributes, which upstream's tools can
    parse. A SOURCE is text in a C-like language; everything else stays as it is. Options override
    the module's `tg.target` and are written to it.
    """

    name = "tg-render"
    level_before = "planned"
    level_after = "llvm"

    target: str | None = None
    """The kind of machine."""
    cache: int | None = None
    """The size of the last-level cache in bytes; that of this machine if nothing says it."""
    output: str | None = None
    """`llvm`, `gpu`, or the language of the SOURCEs: `c`, `opencl`, `cuda` or `metal`. The target's
    own unless given."""

    def lower(self, module: ModuleOp) -> None:
        target = settle_target(module, self.target, llc=self.cache)
        output = self.output or default_output(target)
        # Renderers for other machines than a CPU are imported when used: start-up is quicker.
        if output in ("llvm", "gpu"):
            _render_dialect(module, output, target)
        else:
            from tgdialect.lowering.render.source import language_named, render_sources

            render_sources(module, language_named(output), target)


def default_output(target: Target) -> str:
    """The output of `tg-render` for a target."""
    _, _, chip = target.name.partition(":")
    return "gpu" if chip else "llvm" if target.name == CPU.name else target.name


def _render_dialect(module: ModuleOp, output: str, target: Target) -> None:
    if (output == "gpu") != (default_output(target) == "gpu"):
        raise PassFailedException(f"the target {target.name} has no output {output}")
    symbols = [symbol for symbol in module.ops if not is_foreign(symbol)]
    # Functions of the host are declared where they are called.
    declared = [symbol for symbol in symbols if isinstance(symbol, tg.CustomFunctionOp)]
    symbols = [symbol for symbol in symbols if symbol not in declared]
    signatures = {
        OBJECT.symbol(symbol.sym_name.data): signature_attribute(symbol)
        for symbol in symbols
        if isinstance(symbol, FuncOp)
    }
    if output == "gpu":
        from tgdialect.lowering.render import gpu

        rendered = gpu.render_symbols(symbols, target)
        module.attributes[gpu.CONTAINER_MODULE] = UnitAttr()
    else:
        rendered = render_symbols(symbols, symbols, target)
    for op in rendered:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data in signatures:
            op.attributes[SIGNATURE] = signatures[op.sym_name.data]
    for symbol in (*symbols, *declared):
        module.body.block.erase_op(symbol)
    module.body.block.add_ops(rendered)
    state_in_builtin(module)
