"""Functions that call kernels: a listing has a kernel only."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.diagnostics import lasting_hint
from tgdialect.ops import tg
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.views import memory_of

_CPU = tg.PlaceAttr.of("CPU", tg.AddrSpace.GLOBAL)


def calling_function(kernel: tg.KernelOp, name: str) -> FuncOp:
    """A function that calls a kernel once.

    Its arguments are the parameters that the kernel reads, in their order, then as `tg.output`
    those that it only writes. A parameter that is read and written is an argument, whose memory
    changes.
    """
    params = kernel.params
    read = {memory_of(op.buffer) for op in kernel.body.block.ops if isinstance(op, tg.LoadOp)}
    written = {memory_of(op.buffer) for op in kernel.body.block.ops if isinstance(op, tg.StoreOp)}
    outputs = [p for p in params if p.result in written and p.result not in read]
    inputs = [p for p in params if p not in outputs]
    order = [*inputs, *outputs]
    block = Block(arg_types=[_argument_type(param) for param in order])
    values: dict[tg.ParamOp, SSAValue] = {}
    for param, value in zip(order, block.args, strict=True):
        symbol = None if param.symbol is None else lasting_hint(param.symbol.data)
        value.name_hint = param.result.name_hint or symbol or f"data{param.slot.data}"
        values[param] = value
    builder = OpBuilder.at_end(block, kernel.location)
    call = builder.put(tg.CallOp(kernel.sym_name.data, [values[param] for param in params]))
    builder.put(tg.SinkOp((call,)))
    builder.insert(ReturnOp())
    function = FuncOp(
        name,
        FunctionType.from_lists([value.type for value in block.args], []),
        Region(block),
        arg_attrs=ArrayAttr(DictionaryAttr(_attributes(p, p in outputs)) for p in order),
    )
    function.location = kernel.location
    return function


def _argument_type(param: tg.ParamOp) -> Attribute:
    type = param.result.type
    assert is_tensor(type)
    if type.element_type == INDEX and not type.get_shape():
        return type
    return tensor_type(type.element_type, type.get_shape(), _CPU)


def _attributes(param: tg.ParamOp, is_output: bool) -> Mapping[str, Attribute]:
    """The attributes of the argument for a parameter (`ops/arguments.py`)."""
    if is_output:
        return {"tg.output": UnitAttr()}
    bounds = {"tg.min": param.min, "tg.max": param.max}
    attributes: dict[str, Attribute] = {
        key: IntegerAttr(bound.data, INDEX) for key, bound in bounds.items() if bound is not None
    }
    if param.symbol is not None:
        attributes["tg.name"] = StringAttr(param.symbol.data)
    return attributes
