"""The rules of levels: functions of an op that raise VerifyException where it breaks the rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.analysis.ranges import is_expanded
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.arguments import ARENAS, ARGUMENT_ATTRIBUTES
from tgdialect.ops.base import verify_tensor
from tgdialect.ops.call import lost_effect
from tgdialect.ops.expressions import is_expression, parsed

Rule = Callable[[Any], None]
"""The rule of an op, which those of functions know to be a `func.func`."""

# -- ops in a body --------------------------------------------------------------------------------


def _values(op: Operation) -> list[SSAValue]:
    """The results that are neither memory nor void."""
    return [r for r in op.results if isinstance(r.type, TensorType) and not tg.is_memory(r)]


def values_are_scalars(op: Operation) -> None:
    for value in _values(op):
        if tg.tensor(value).get_shape():
            raise VerifyException(f"a value has shape () at this level, not {value.type}")


def values_are_vectors(op: Operation) -> None:
    for value in _values(op):
        shape = tg.tensor(value).get_shape()
        if isinstance(op, tg.StackOp | tg.PermuteOp) and len(shape) == 2:
            continue  # Vectors that are transposed, or joined.
        if len(shape) > 1 and not isinstance(op, tg.WmmaOp):
            raise VerifyException(f"a value is a scalar or a vector at this level: {value.type}")


def stacks_are_moved(op: Operation) -> None:
    """A STACK of vectors is transposed, joined or indexed; nothing computes with it."""
    for operand in op.operands:
        if not isinstance(operand.owner, tg.StackOp | tg.PermuteOp):
            continue
        shape = tg.tensor(operand).get_shape()
        if len(shape) != 2:
            continue
        match op:
            case tg.PermuteOp() if list(tg.integers(op, "order")) == [1, 0]:
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
    if isinstance(op, tg.IndexOp) and tg.tensor(op.result).get_shape():
        rank = len(tg.tensor(op.source).get_shape())
        raise VerifyException(f"{len(op.indices)} indices into a buffer of {rank} axes")


def index_is_flat(op: Operation) -> None:
    if isinstance(op, tg.IndexOp) and tg.is_memory(op.source):
        rank = len(tg.tensor(op.source).get_shape())
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
    if gate is not None and not tg.tensor(gate).get_shape():
        raise VerifyException("a gated STORE is inside an IF at this level")


# -- functions ------------------------------------------------------------------------------------


def _of_each_argument(misfits: Callable[[FuncOp, BlockArgument], Iterator[str]]) -> Rule:
    """The rule of a function whose arguments have no misfits: texts that an error has behind the
    number of the argument. The first one is raised."""

    def rule(op: FuncOp) -> None:
        for argument in op.args:
            for misfit in misfits(op, argument):
                raise VerifyException(f"argument {argument.index}{misfit}")

    return rule


def is_one_block(op: FuncOp) -> None:
    if len(op.body.blocks) != 1:
        raise VerifyException(f"@{op.sym_name.data} has {len(op.body.blocks)} blocks, not one")


@_of_each_argument
def arguments_are_tensors(_: FuncOp, argument: BlockArgument) -> Iterator[str]:
    """The arguments of a function are tensors of the dialect."""
    if not tg.is_tensor(argument.type):
        yield f" is {argument.type}, not a ranked tensor"
    try:
        verify_tensor(tg.tensor(argument))
    except VerifyException as error:
        yield f": {error}"


@_of_each_argument
def argument_attributes_are_typed(op: FuncOp, argument: BlockArgument) -> Iterator[str]:
    """The attributes of `ops/arguments.py` are what they are documented to be."""
    attributes = tg.argument_attributes(argument)
    for name, kind in ARGUMENT_ATTRIBUTES.items():
        value = attributes.get(name)
        if value is not None and not isinstance(value, kind):
            yield f": {name} is {value}, of another kind"
    type = tg.tensor(argument)
    is_index, is_constant = type == tg.tensor_type(tg.INDEX), "tg.constant" in attributes
    if is_constant and is_index:
        yield ": an index scalar is not {tg.constant}"
    # `tg.donated` names a result, or any; constants and sizes have no memory to give.
    if (donated := tg.integer_attribute(attributes, "tg.donated")) is not None:
        if is_index or is_constant:
            yield f": {'a constant' if is_constant else 'an index scalar'} is not {{tg.donated}}"
        marks = {"tg.output", "tg.result"}
        stored = sum(not marks.isdisjoint(tg.argument_attributes(a)) for a in op.args)
        if not tg.ANY_RESULT <= donated < (count := len(op.function_type.outputs) + stored):
            yield f": tg.donated is {donated}, of {count} results"
    # The bytes of `tg.data` are the whole contents of a constant.
    dtype, shape = type.element_type, type.get_shape()
    if (data := tg.data_attribute(attributes)) is not None:
        if not is_constant:
            yield ": {tg.data} is {tg.constant}, too"
        if dtype in (tg.BOOL, tg.INDEX) or DYNAMIC_INDEX in shape:
            yield f": {type} has no {{tg.data}}"
        if (nbytes := tg.dtype_row(dtype).itemsize * math.prod(shape)) != len(data):
            yield f": tg.data has {len(data)} bytes, and {type} has {nbytes}"
    low, high = (tg.integer_attribute(attributes, name) for name in ("tg.min", "tg.max"))
    if low is not None and high is not None and low > high:
        yield f": tg.min {low} is greater than tg.max {high}"
    # `tg.computed` names index arguments before this one, so that no value depends on itself.
    if (text := tg.computed_attribute(attributes)) is not None:
        before = [a.type == tg.tensor_type(tg.INDEX) for a in op.args[: argument.index]]
        if not is_index:
            yield ": {tg.computed} is for index scalars alone"
        if not is_expression(parsed(text), lambda i: i < len(before) and before[i]):
            yield f": tg.computed is {text!r}, no expression in index arguments before it"
    if (dims := tg.dims_attribute(attributes)) is not None:
        if len(dims) != (dynamic := shape.count(DYNAMIC_INDEX)):
            yield f": tg.dims has {len(dims)} entries for {dynamic} dynamic axes"
        for position in dims:
            if not 0 <= position < len(op.args) or op.args[position].type != tg.tensor_type(
                tg.INDEX
            ):
                yield f": tg.dims says {position}, which is no index argument"


@_of_each_argument
def marks_no_argument(_: FuncOp, argument: BlockArgument) -> Iterator[str]:
    """No argument carries an attribute that callify or plan adds."""
    if marks := tg.ALLOCATED.intersection(tg.argument_attributes(argument)):
        yield f" is marked {min(marks)}, which callify adds"


@_of_each_argument
def arguments_are_memory(_: FuncOp, argument: BlockArgument) -> Iterator[str]:
    """Global memory on a device, or index scalars."""
    where = tg.place(argument)
    is_memory = where.addrspace is tg.AddrSpace.GLOBAL and where.device is not None
    if argument.type != tg.tensor_type(tg.INDEX) and not is_memory:
        yield f" is {argument.type}, neither an index scalar nor global memory on a device"


def results_are_tensors(op: FuncOp) -> None:
    """The results of a function are tensors, and no tuples or effects."""
    for number, type in enumerate(op.function_type.outputs):
        if not tg.is_tensor(type):
            raise VerifyException(f"result {number} is {type}, not a ranked tensor")


def returns_nothing(op: FuncOp) -> None:
    if op.function_type.outputs:
        raise VerifyException("a function returns nothing at this level: results are arguments")


def has_one(name: str) -> Rule:
    """The body of a function holds exactly one op of a name."""

    def rule(op: FuncOp) -> None:
        if (count := sum(each.name == name for each in op.body.block.ops)) != 1:
            raise VerifyException(f"the body of a function has one {name}, not {count}")

    return rule


def sink_needs_all(op: FuncOp) -> None:
    """The SINK of a function needs all CALLs: the others would not be executed."""
    if (lost := lost_effect(op.body.block)) is not None:
        raise locate(VerifyException(f"the SINK does not need this {lost.name}"), lost)


def ends_in_sink(op: Operation) -> None:
    last = op.body.block.last_op if isinstance(op, tg.LinearOp) else None
    if last is not None and not isinstance(last, tg.SinkOp):
        raise VerifyException("the tg.linear of a program ends in its tg.sink")


def arenas_are_last(op: FuncOp) -> None:
    """Only arenas come after the first `{tg.workspace}` or `{tg.persistent}`."""
    attributes = op.arg_attrs or ArrayAttr[DictionaryAttr]([])
    marks = [ARENAS.intersection(each.data) for each in attributes]
    if (arenas := list(map(bool, marks))) != sorted(arenas):
        mark = min(next(filter(None, marks)))
        raise VerifyException(f"a {{{mark}}} argument comes after all others")
