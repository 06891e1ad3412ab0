"""The pass: each function by itself, and the functions that are outlined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.symbols import own_functions
from tgdialect.diagnostics import SHAPES, kept_facts, locate
from tgdialect.lowering.callify.function import Callifier
from tgdialect.lowering.callify.outlining import Outliner
from tgdialect.lowering.levels import LoweringPass
from tgdialect.ops import tg
from tgdialect.transforms.choose_sorts import choose_sorts
from tgdialect.transforms.reroll import reroll


@dataclass(frozen=True)
class CallifyPass(LoweringPass):
    """Turn each function on tensors into one stateless function on memory.

    BUFFERs, PARAMs, BINARYs and results become arguments. FUNCTIONs are substituted, or become
    functions of their own that CALLs refer to. Markers and COPYs are resolved.
    """

    name = "tg-callify"
    level_before = "tensor"
    level_after = "function"

    device: str | None = None
    """The device of all memory of the result, whatever the program names. By default the one that
    it names, or `CPU`."""
    target: str | None = None
    """The target that sorts are for (`tg-choose-sorts`), by default that of the module."""

    def lower(self, module: ModuleOp) -> None:
        choose_sorts(module, self.target)
        reroll(module)
        # Functions of other dialects cannot call those whose results become arguments.
        functions = list(own_functions(module))
        for symbol in module.ops:
            if isinstance(symbol, FuncOp) and symbol not in functions:
                _check_calls(symbol, functions)
        device = self.device or _only_device(functions)
        # Private functions are substituted where they are called. Outlined FUNCTIONs become
        # functions.
        outliner = Outliner(module)
        entries = [f for f in functions if f.sym_visibility != StringAttr("private")]
        with kept_facts(SHAPES):
            converted = [Callifier(f, device, outliner).run() for f in entries]
        for old, new in zip(entries, converted, strict=True):
            module.body.block.insert_op_before(new, old)
        for old in functions:
            old.detach()
        for outlined in (*outliner.scans, *outliner.functions.values()):
            module.body.block.add_op(outlined)
        for function in own_functions(module):
            _check_written(function)


def _only_device(functions: Sequence[FuncOp]) -> str:
    """The device that functions name. Raises PassFailedException where a second one is named."""
    named: str | None = None
    seen = set[Attribute]()
    for op in (op for function in functions for op in function.walk()):
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for type in {value.type for value in (*arguments, *op.results)} - seen:
            seen.add(type)
            device = tg.place_of(type).device if tg.is_tensor(type) else None
            if isinstance(device, str) and device != (named := named or device):
                message = (
                    f"this is on {device}, and other values are on {named}: tg-lower-shards makes "
                    "a program of each device, tg-callify{device=NAME} one of all"
                )
                raise locate(PassFailedException(message), op)
    return named or "CPU"


def _check_calls(foreign: FuncOp, functions: Sequence[FuncOp]) -> None:
    """Raise PassFailedException where a function of other dialects calls one that is callified."""
    for op in foreign.walk():
        if isinstance(op, FuncCallOp) and SymbolTable.lookup_symbol(op, op.callee) in functions:
            name = op.callee.string_value()
            message = f"@{name} is called by a function of other dialects, and will take its"
            raise locate(PassFailedException(f"{message} results as arguments"), op)


def _check_written(function: FuncOp) -> None:
    """Raise PassFailedException where the program writes an argument that is constant, or one whose
    memory a result may take."""
    marks: dict[SSAValue, str] = {
        argument: name
        for argument in function.args
        for name in ("tg.constant", "tg.donated")
        if name in tg.argument_attributes(argument)
    }
    for access in accesses(function.body.block.ops) if marks else ():
        if access.writes and (mark := marks.get(access.memory)) is not None:
            message = f"an argument that is {{{mark}}} is written"
            raise locate(PassFailedException(message), access.op)
