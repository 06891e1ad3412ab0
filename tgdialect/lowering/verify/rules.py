"""The rules of levels: functions of an op that raise VerifyException where it breaks the rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.analysis.ranges import is_expanded
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.arguments import (
    ALLOCATED,
    ANY_RESULT,
    ARENAS,
    ARGUMENT_ATTRIBUTES,
    argument_attributes,
    data_attribute,
    dims_attribute,
    integer_attribute,
)
from tgdialect.ops.base import verify_tensor
from tgdialect.ops.call import lost_effect
from tgdialect.ops.dtypes import BOOL, INDEX, dtype_row
from tgdialect.ops.properties import integers, is_memory, place, tensor, tensor_type

Rule = Callable[[Operation], None]

# -- ops in a body --------------------------------------------------------------------------------


def _values(op: Operation) -> list[SSAValue]:
    """The results that are neither memory nor void."""
    return [r for r in op.results if isinstance(r.type, TensorType) and not is_memory(r)]


def values_are_scalars(op: Operation) -> None:
    for value in _values(op):
        if tensor(value).get_shape():
            raise VerifyException(f"a value has shape () at this level, not {value.type}")


def values_are_vectors(op: Operation) -> None:
    for value in _values(op):
        shape = tensor(value).get_shape()
        if isinstance(op, tg.StackOp | tg.PermuteOp) and len(shape) == 2:
            continue  # Vectors that are transposed, or joined.
        if len(shape) > 1 and not isinstance(op, tg.WmmaOp):
            raise VerifyException(f"a value is a scalar or a vector at this level: {value.type}")


def stacks_are_moved(op: Operation) -> None:
    """A STACK of vectors is transposed, joined or indexed; nothing computes with it."""
    for operand in op.operands:
        if not isinstance(operand.owner, tg.StackOp | tg.PermuteOp):
            continue
        shape = tensor(operand).get_shape()
        if len(shape) != 2:
            continue
        match op:
            case tg.PermuteOp() if list(integers(op, "order")) == [1, 0]:
                rows, lanes = shape
                if rows & (rows - 1) or (lanes % rows and rows % lanes):
                    raise VerifyException(
                        "vectors are transposed by interleaving at this level: their number is a "
                        "power of two, and a multiple of their lanes or a divisor, but these are "
                        f"{rows} of {lanes}"
                    )
            case tg.PermuteOp() | tg.ReshapeOp() | tg.IndexOp():
                pass
            case _:
                raise VerifyException(f"{op.name} of a STACK of vectors: only of one vector")


def nothing_is_invalid(op: Operation) -> None:
    if isinstance(op, tg.ConstOp) and isinstance(op.value, tg.InvalidAttr):
        raise VerifyException("nothing is invalid at this level")


def index_is_complete(op: Operation) -> None:
    if isinstance(op, tg.IndexOp) and tensor(op.result).get_shape():
        rank = len(tensor(op.source).get_shape())
        raise VerifyException(f"{len(op.indices)} indices into a buffer of {rank} axes")


def index_is_flat(op: Operation) -> None:
    if isinstance(op, tg.IndexOp) and is_memory(op.source):
        rank = len(tensor(op.source).get_shape())
        if rank != 1 or len(op.indices) != 1:
            raise VerifyException(f"memory is indexed by one flat index, not {rank} axes of it")


def reduces_over_ranges(op: Operation) -> None:
    if isinstance(op, tg.ReduceOp) and op.axes.get_values():
        raise VerifyException("a REDUCE goes over ranges at this level, not over axes")


def reduces_over_axes(op: Operation) -> None:
    if isinstance(op, tg.ReduceOp) and op.ranges:
        raise VerifyException("a REDUCE goes over axes at this level, not over ranges")


def ranges_are_loops(op: Operation) -> None:
    if isinstance(op, tg.RangeOp) and is_expanded(op):
        kind, number = op.axis_type.data, op.axis.data
        raise VerifyException(f"{kind} range {number} is shape at this level")


def stores_are_not_gated(op: Operation) -> None:
    gate = op.gate if isinstance(op, tg.StoreOp) else None
    if gate is not None and not tensor(gate).get_shape():
        raise VerifyException("a gated STORE is inside an IF at this level")


# -- functions ------------------------------------------------------------------------------------


def is_one_block_on_tensors(op: Operation) -> None:
    """A function's body is one block, and its arguments are tensors of the dialect."""
    assert isinstance(op, FuncOp)
    if len(op.body.blocks) != 1:
        raise VerifyException(f"@{op.sym_name.data} has {len(op.body.blocks)} blocks, not one")
    for number, type in enumerate(op.function_type.inputs):
        if not isinstance(type, TensorType):
            raise VerifyException(f"argument {number} is {type}, not a ranked tensor")
        try:
            verify_tensor(cast(TensorType[Attribute], type))
        except VerifyException as error:
            raise VerifyException(f"argument {number}: {error}") from None


def argument_attributes_are_typed(op: Operation) -> None:
    """The attributes of `ops/arguments.py` are what they are documented to be."""
    assert isinstance(op, FuncOp)
    for number, argument in enumerate(op.args):
        attributes = argument_attributes(argument)
        for name, kind in ARGUMENT_ATTRIBUTES.items():
            value = attributes.get(name)
            if value is not None and not isinstance(value, kind):
                raise VerifyException(f"argument {number}: {name} is {value}, of another kind")
        if "tg.constant" in attributes and argument.type == tensor_type(INDEX):
            raise VerifyException(f"argument {number}: an index scalar is not {{tg.constant}}")
        _verify_donated(op, number, argument)
        _verify_data(number, argument)
        low, high = (integer_attribute(attributes, name) for name in ("tg.min", "tg.max"))
        if low is not None and high is not None and low > high:
            raise VerifyException(f"argument {number}: tg.min {low} is greater than tg.max {high}")
        dims = dims_attribute(attributes)
        if dims is None:
            continue
        dynamic = tensor(argument).get_shape().count(DYNAMIC_INDEX)
        if len(dims) != dynamic:
            raise VerifyException(
                f"argument {number}: tg.dims has {len(dims)} entries for {dynamic} dynamic axes"
            )
        for position in dims:
            if not 0 <= position < len(op.args) or op.args[position].type != tensor_type(INDEX):
                raise VerifyException(
                    f"argument {number}: tg.dims says {position}, which is no index argument"
                )


def _verify_donated(function: FuncOp, number: int, argument: BlockArgument) -> None:
    """`tg.donated` names a result, or any; constants and sizes have no memory to give."""
    attributes = argument_attributes(argument)
    if (donated := integer_attribute(attributes, "tg.donated")) is None:
        return
    if argument.type == tensor_type(INDEX) or "tg.constant" in attributes:
        kind = "a constant" if "tg.constant" in attributes else "an index scalar"
        raise VerifyException(f"argument {number}: {kind} is not {{tg.donated}}")
    marks = {"tg.output", "tg.result"}
    stored = sum(not marks.isdisjoint(argument_attributes(a)) for a in function.args)
    count = len(function.function_type.outputs) + stored
    if not ANY_RESULT <= donated < count:
        raise VerifyException(f"argument {number}: tg.donated is {donated}, of {count} results")


def _verify_data(number: int, argument: BlockArgument) -> None:
    """The bytes of `tg.data` are the whole contents of a constant."""
    attributes = argument_attributes(argument)
    if (data := data_attribute(attributes)) is None:
        return
    type = tensor(argument)
    dtype, shape = type.element_type, type.get_shape()
    if "tg.constant" not in attributes:
        raise VerifyException(f"argument {number}: {{tg.data}} is {{tg.constant}}, too")
    if dtype in (BOOL, INDEX) or DYNAMIC_INDEX in shape:
        raise VerifyException(f"argument {number}: {type} has no {{tg.data}}")
    if (nbytes := dtype_row(dtype).itemsize * math.prod(shape)) != len(data):
        message = f"argument {number}: tg.data has {len(data)} bytes, and {type} has {nbytes}"
        raise VerifyException(message)


def marks_no_argument(op: Operation) -> None:
    """No argument carries an attribute that callify or plan adds."""
    assert isinstance(op, FuncOp)
    for number, argument in enumerate(op.args):
        if marks := ALLOCATED.intersection(argument_attributes(argument)):
            raise VerifyException(f"argument {number} is marked {min(marks)}, which callify adds")


def arguments_are_memory(op: Operation) -> None:
    """Global memory on a device, or index scalars."""
    assert isinstance(op, FuncOp)
    for number, argument in enumerate(op.args):
        if argument.type == tensor_type(INDEX):
            continue
        where = place(argument)
        if where.addrspace is not tg.AddrSpace.GLOBAL or where.device is None:
            raise VerifyException(
                f"argument {number} is {argument.type}, neither an index scalar nor global memory "
                "on a device"
            )


def returns_nothing(op: Operation) -> None:
    assert isinstance(op, FuncOp)
    if op.function_type.outputs:
        raise VerifyException("a function returns nothing at this level: results are arguments")


def has_one(name: str) -> Rule:
    """The body of a function holds exactly one op of a name."""

    def rule(op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if (count := sum(each.name == name for each in op.body.block.ops)) != 1:
            raise VerifyException(f"the body of a function has one {name}, not {count}")

    return rule


def sink_needs_all(op: Operation) -> None:
    """The SINK of a function needs all CALLs: the others would not be executed."""
    assert isinstance(op, FuncOp)
    if (lost := lost_effect(op.body.block)) is not None:
        raise locate(VerifyException(f"the SINK does not need this {lost.name}"), lost)


def ends_in_sink(op: Operation) -> None:
    last = op.body.block.last_op if isinstance(op, tg.LinearOp) else None
    if last is not None and not isinstance(last, tg.SinkOp):
        raise VerifyException("the tg.linear of a program ends in its tg.sink")


def arenas_are_last(op: Operation) -> None:
    """Only arenas come after the first `{tg.workspace}` or `{tg.persistent}`."""
    assert isinstance(op, FuncOp)
    attributes = op.arg_attrs or ArrayAttr[DictionaryAttr]([])
    marks = [ARENAS.intersection(each.data) for each in attributes]
    if (arenas := list(map(bool, marks))) != sorted(arenas):
        mark = min(next(filter(None, marks)))
        raise VerifyException(f"a {{{mark}}} argument comes after all others")
