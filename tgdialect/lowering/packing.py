"""Packed copies of what kernels get for parameters: kernels that run before store them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.lowering.kernel_memory import buffer_type
from tgdialect.lowering.passed_memory import calls_by_callee, filled_memory
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.source import parameters

SymbolT = TypeVar("SymbolT", bound=tg.KernelOp | tg.ProgramOp)
PackingT = TypeVar("PackingT", bound=tg.KernelOp | tg.ProgramOp)


class Packing(NamedTuple):
    """A packed copy of what a kernel gets for a parameter: that of a slot. A kernel that a STAGE
    has made stores it before."""

    slot: int
    dtype: str
    """The name of its dtype."""
    shape: tuple[int, ...]


def packing_name(kernel: tg.KernelOp | tg.ProgramOp, slot: int) -> str:
    """A name that no symbol of the module has."""
    module, name = kernel.parent_op(), f"{kernel.sym_name.data}_prepack_{slot}"
    taken = symbols(module) if isinstance(module, ModuleOp) else set[str]()
    return next_symbol(name, 1, taken) if name in taken else name


def declared_packing(
    kernel: tg.KernelOp | tg.ProgramOp, packings: Sequence[Packing]
) -> Mapping[tg.KernelOp | tg.ProgramOp, Packing]:
    """New kernels that stand for those that STAGEs of a kernel have made in another process: they
    read and write the same. The kernel itself stays as it is."""
    types = {param.slot.data: tg.tensor(param.result) for param in parameters(kernel.body.block)}
    found: dict[tg.KernelOp | tg.ProgramOp, Packing] = {}
    for packing in packings:
        block = Block()
        put = tg.OpBuilder.at_end(block, kernel.location).put
        packed = packed_type(packing)
        result, source = put(tg.ParamOp(0, packed)), put(tg.ParamOp(1, types[packing.slot]))
        types[packing.slot] = packed
        put(tg.SinkOp([put(tg.StoreOp(result, put(tg.LoadOp(source))))]))
        made = tg.KernelOp(packing_name(kernel, packing.slot), Region(block))
        made.location = kernel.location
        tg.OpBuilder.before(kernel).insert(made)
        found[made] = packing
    return found


def pass_packed(kernels: Mapping[SymbolT, Mapping[PackingT, Packing]]) -> None:
    """Pass to each CALL of some kernels packed copies of its arguments. With each kernel are given
    those that store the copies, which are called before."""
    packed = [kernel for kernel, prepacked in kernels.items() if prepacked]
    module = packed[0].parent_op() if packed else None
    if module is None:
        return
    assert isinstance(module, ModuleOp)
    calls = calls_by_callee(module, [kernel.sym_name.data for kernel in packed])
    slots: dict[Block, Iterator[int]] = {}
    for kernel in packed:
        for packing, what in kernels[kernel].items():
            made: dict[SSAValue, SSAValue] = {}
            for call in calls[kernel.sym_name.data]:
                source = call.arguments[what.slot]
                if source not in made:
                    symbol, type = packing.sym_name.data, packed_type(what)
                    made[source] = filled_memory(call, symbol, [source], type, (), slots)
                call.operands[what.slot] = made[source]


def packed_type(packing: Packing) -> TensorType[Attribute]:
    """The type of the parameter for a packed copy."""
    return buffer_type(tg.TYPES[packing.dtype], packing.shape, tg.AddrSpace.GLOBAL)
