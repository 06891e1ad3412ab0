"""The steps that know the ops of `tg`: loops, parameters, memory, shapes and dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolOpInterface

from tgdialect.actions.reduce.program import Inapplicable, Reducible, blocks_of, drop, replace
from tgdialect.actions.reduce.steps import Change, Changes
from tgdialect.ops import tg
from tgdialect.ops.arguments import ARENAS
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.properties import result_type
from tgdialect.ops.source import parameters as parameter_ops

Tensor = TensorType[Attribute]


def _ops(program: Reducible) -> list[Operation]:
    return [*program.module.walk()]


# -- kernels ---------------------------------------------------------------------------------------


def ranges(program: Reducible) -> Changes:
    """Let loops run once: the iterator is 0, and no END or REDUCE closes it."""

    def once(loop: tg.RangeOp) -> None:
        block, result = loop.parent, loop.result
        assert block is not None
        zero = tg.ConstOp(0, tg.INDEX)
        block.insert_op_before(zero, loop)
        for use in [*result.uses]:
            user = use.operation
            rest = [operand for operand in user.operands if operand is not result]
            if isinstance(user, tg.EndOp | tg.ReduceOp):
                whole = len(rest) == 1 and not getattr(user, "axes", None)
                if whole and isinstance(user, tg.ReduceOp):
                    replace(user.result, rest[0])
                    drop(user)
                    continue
                if whole:
                    _bypass(user, rest[0])
                    continue
                user.operands = rest
            elif isinstance(user, tg.AfterOp):
                if len(rest) == 1:
                    replace(user.result, rest[0])
                else:
                    user.operands = rest
        result.replace_all_uses_with(zero.result)
        drop(loop)

    return [partial(once, op) for op in reversed(_ops(program)) if isinstance(op, tg.RangeOp)]


def _bypass(end: Operation, body: SSAValue) -> None:
    """Let what waits for an END wait for its body; what waits for two edges of one op is alike."""
    end.results[0].replace_all_uses_with(body)
    end.detach()
    end.erase()


def opts(program: Reducible) -> Changes:
    """Drop OptOps of kernels."""

    def without(sink: tg.SinkOp, opt: Attribute) -> None:
        assert sink.opts is not None
        sink.opts = ArrayAttr([each for each in sink.opts if each is not opt])

    sinks = [op for op in _ops(program) if isinstance(op, tg.SinkOp) and op.opts is not None]
    return [partial(without, s, opt) for s in sinks for opt in reversed([*(s.opts or ())])]


def parameters(program: Reducible) -> Changes:
    """Drop PARAMs that nothing uses from kernels and FUNCTIONs, with the arguments of calls."""
    found: list[Change] = []
    for op in _ops(program):
        if isinstance(op, tg.KernelOp | tg.ProgramOp | tg.FunctionOp):
            block = op.body.block
            block = op.linear.body.block if isinstance(op, tg.ProgramOp) else block
            params = [p for p in block.ops if isinstance(p, tg.ParamOp)]
            used = {p.slot.data for p in params if p.result.uses}
            slots = {p.slot.data for p in params} - used
            found += [partial(_without_slot, program, op, block, slot) for slot in sorted(slots)]
    return found[::-1]


def entry_parameters(program: Reducible) -> Changes:
    """Make arguments of the entry of its PARAMs: other steps drop and change these."""
    params = parameter_ops(program.function.body.block)
    return [
        partial(_as_argument, program, op) for op in params if "tg.computed" not in op.attributes
    ]


def _as_argument(program: Reducible, param: tg.ParamOp) -> None:
    block, slot = program.function.body.block, param.slot.data
    value = None if program.inputs is None else program.inputs.pop(program.parameter_position(slot))
    bounds = {"tg.min": param.min, "tg.max": param.max}
    given = {name: IntegerAttr(n.data, tg.INDEX) for name, n in bounds.items() if n is not None}
    argument = program.add_argument(param.result.type, value, {**given})
    argument.name_hint = param.result.name_hint
    for other in [op for op in block.ops if isinstance(op, tg.ParamOp)]:
        if other.slot.data == slot:
            other.result.replace_all_uses_with(argument)
            drop(other)
        elif other.slot.data > slot:
            other.slot = tg.NumberAttr.of(other.slot.data - 1)


def _without_slot(program: Reducible, owner: Operation, block: Block, slot: int) -> None:
    for param in [p for p in block.ops if isinstance(p, tg.ParamOp)]:
        if param.slot.data == slot:
            param.detach()
            param.erase()
        elif param.slot.data > slot:
            param.slot = tg.NumberAttr.of(param.slot.data - 1)
    callers = [owner]
    if (trait := owner.get_trait(SymbolOpInterface)) is not None:
        name = trait.get_sym_attr_name(owner)
        callers = [
            op
            for op in program.module.walk()
            if isinstance(callee := op.properties.get("callee"), SymbolRefAttr)
            and name is not None
            and callee.string_value() == name.data
        ]
    for caller in callers:
        caller.operands = [v for i, v in enumerate(caller.operands) if i != slot]


def outputs(program: Reducible) -> Changes:
    """Make results of the BUFFERs of the entry and of the parts of its arenas, so that what is
    computed of them can go."""

    def output(memory: SSAValue) -> None:
        argument = program.add_argument(memory.type, None, {"tg.output": UnitAttr()})
        replace(memory, argument)

    def is_part(op: Operation) -> bool:
        source = op.operands[0] if isinstance(op, tg.MovementOp) else None
        is_argument = isinstance(source, BlockArgument)
        return is_argument and not ARENAS.isdisjoint(tg.argument_attributes(source))

    ops = program.function.body.block.ops
    buffers = (op for op in ops if (isinstance(op, tg.BufferOp) and not op.dims) or is_part(op))
    return [partial(output, op.results[0]) for op in buffers]


def versions(program: Reducible) -> Changes:
    """Read and write memory as it was before some effects, of which nothing depends then."""
    return [
        partial(replace, op.result, op.buffer)
        for op in reversed(_ops(program))
        if isinstance(op, tg.AfterOp)
    ]


def stored_values(program: Reducible) -> Changes:
    """Use the value that was stored last in a memory in place of one that is loaded from it."""
    found: list[Change] = []
    for block in blocks_of(program.module):
        stored: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        for op in block.ops:
            if isinstance(op, tg.StoreOp):
                stored[tg.memory_of(op.buffer), op.value.type] = op.value
            elif isinstance(op, tg.LoadOp):
                value = stored.get((tg.memory_of(op.buffer), op.result.type))
                if value is not None and op.result.uses:
                    found.append(partial(replace, op.result, value))
    return found[::-1]


def stored_operands(program: Reducible) -> Changes:
    """Store an operand of what a kernel stores, of another dtype, which its memory has then."""
    return [
        partial(_store, program, op, operand)
        for op in reversed(_ops(program))
        if isinstance(op, tg.StoreOp) and isinstance(op.value.owner, Operation)
        for operand in op.value.owner.operands
        if tg.is_tensor(operand.type)
        and operand.type != op.value.type
        and _type(operand).get_shape() == _type(op.value).get_shape()
    ]


def _store(program: Reducible, store: tg.StoreOp, value: SSAValue) -> None:
    param = tg.memory_of(store.buffer).owner
    kernel = store.parent_op()
    kernel = kernel.parent_op() if isinstance(kernel, tg.LinearOp) else kernel
    if not isinstance(param, tg.ParamOp) or not isinstance(kernel, tg.KernelOp | tg.ProgramOp):
        raise Inapplicable
    memory, dtype = param.result, _type(value).element_type
    for use in [*memory.uses]:
        if isinstance(view := use.operation, tg.BitcastOp):
            view.result.replace_all_uses_with(memory)
            drop(view)
    values: list[SSAValue] = [memory]
    for op in _ops(program):
        if isinstance(op, tg.CallOp) and op.callee.string_value() == kernel.sym_name.data:
            values.append(op.arguments[param.slot.data])
    for each in values:
        old = _type(each)
        new = tg.tensor_type(dtype, old.get_shape(), tg.place_of(old))
        if isinstance(each, BlockArgument):
            _convert_input(program, each, new)
        elif each is not memory:
            raise Inapplicable
        _set_type(each, new)
    store.operands = [store.buffer, value, *store.operands[2:]]
    _retype(program, lambda type: type, lambda _: None)


def bypasses(program: Reducible) -> Changes:
    """Let what waits for a STORE, a CALL or an END wait for what that waits for."""

    def bypass(op: Operation) -> None:
        edges = [operand for operand in op.operands if operand.type == tg.VOID]
        if len(edges) != 1:
            raise Inapplicable
        _bypass(op, edges[0])

    kinds = (tg.EndOp, tg.GroupOp, tg.BarrierOp)
    return [partial(bypass, op) for op in reversed(_ops(program)) if isinstance(op, kinds)]


def gates(program: Reducible) -> Changes:
    """Drop the gates of loads and stores."""

    def ungated(op: tg.LoadOp | tg.StoreOp) -> None:
        assert op.parent is not None
        if isinstance(op, tg.StoreOp):
            new: tg.LoadOp | tg.StoreOp = tg.StoreOp(op.buffer, op.value)
        else:
            new = tg.LoadOp(op.buffer)
        op.parent.insert_op_before(new, op)
        op.results[0].replace_all_uses_with(new.results[0])
        op.detach()
        op.erase()

    gated = [op for op in _ops(program) if isinstance(op, tg.LoadOp | tg.StoreOp) and op.gate]
    return [partial(ungated, op) for op in gated]


def splats(program: Reducible) -> Changes:
    """Let the bytes of BINARYs be zeros."""

    def zero(op: tg.BinaryDataOp) -> None:
        op.data = tg.DataAttr(bytes(op.data.nbytes))

    return [partial(zero, op) for op in _ops(program) if isinstance(op, tg.BinaryDataOp)]


# -- shapes and dtypes -----------------------------------------------------------------------------


def extents(program: Reducible) -> Changes:
    """Give all axes of an extent, and loops of that length, another extent.

    Either all multiples of a number are divided by it, or one extent alone becomes 1 or half.
    """
    found = {d for v in _tensors(program) for d in _type(v).get_shape() if d > 1}
    changes: list[Change] = []
    for extent in sorted(found, reverse=True):
        divided = {d: d // extent for d in found if d % extent == 0}
        for mapping in (divided, {extent: 1}, {extent: extent // 2}, {extent: extent - 1}):
            changes.append(partial(_resize, program, mapping))
    if found:
        changes.insert(0, partial(_resize, program, dict.fromkeys(found, 1)))
    return changes


def _resize(program: Reducible, extent: Mapping[int, int]) -> None:
    def convert(type: Tensor) -> Tensor:
        shape = tuple(extent.get(d, d) for d in type.get_shape())
        return tg.tensor_type(type.element_type, shape, tg.place_of(type))

    def adapt(op: Operation) -> None:
        if isinstance(op, tg.ConstOp) and tg.tensor(op.result).element_type == tg.INDEX:
            if not isinstance(op.value, tg.InvalidAttr) and (n := tg.number(op.value)) in extent:
                op.value = tg.number_attribute(extent[int(n)], tg.INDEX)
        elif isinstance(op, tg.VConstOp):
            values = tg.integers(op, "values")
            op.values = tg.VConstOp(values[: extent.get(len(values))]).values
        elif isinstance(op, tg.ResizeOp | tg.WindowOp):
            shape = [extent.get(d, d) for d in tg.integers(op, "shape")]
            op.shape = DenseArrayBase.from_list(i64, shape)
        if isinstance(op, tg.ShrinkOp):
            sizes = zip(_type(op.source).get_shape(), tg.integers(op, "shape"), strict=True)
            last = [source - size for source, size in sizes]
            offsets = [min(o, n) for o, n in zip(tg.integers(op, "offsets"), last, strict=True)]
            op.offsets = DenseArrayBase.from_list(i64, offsets)

    _retype(program, convert, adapt)


def scalars(program: Reducible) -> Changes:
    """Make scalars of all arrays of one element, or drop an axis of extent 1 of all that have as
    many."""
    changes: list[Change] = [partial(_without_axes, program, None)]
    ranks = {len(_type(v).get_shape()) for v in _tensors(program)}
    for rank in sorted(ranks, reverse=True):
        changes += [partial(_without_axes, program, (rank, axis)) for axis in range(rank)]
    return changes


def _without_axes(program: Reducible, of: tuple[int, int] | None) -> None:
    def convert(type: Tensor) -> Tensor:
        shape = type.get_shape()
        if of is None:
            kept = () if all(d == 1 for d in shape) else shape
        else:
            rank, axis = of
            is_one = len(shape) == rank and shape[axis] == 1
            kept = (*shape[:axis], *shape[axis + 1 :]) if is_one else shape
        return tg.tensor_type(type.element_type, kept, tg.place_of(type))

    def adapt(op: Operation) -> None:
        if isinstance(op, tg.VConstOp) and not convert(_type(op.result)).get_shape():
            assert op.parent is not None
            number = tg.ConstOp(tg.integers(op, "values")[0], tg.INDEX)
            op.parent.insert_op_before(number, op)
            op.result.replace_all_uses_with(number.result)
            drop(op)
        if not isinstance(op, tg.MovementOp | tg.ReduceOp) or (
            isinstance(op, tg.ReduceOp) and not tg.integers(op, "axes")
        ):
            return
        source, result = op.operands[0], op.results[0]
        wanted = convert(_type(result))
        if _type(source) == wanted:
            result.replace_all_uses_with(source)
            drop(op)
        elif isinstance(op, tg.ReduceOp):
            raise Inapplicable
        elif isinstance(op, tg.ResizeOp):
            op.shape = DenseArrayBase.from_list(i64, wanted.get_shape())
        elif isinstance(op, tg.IndexOp) and of is not None and of[1] < len(op.indices):
            indices = [v for i, v in enumerate(op.indices) if i != of[1]]
            op.operands = [source, *indices]

    _retype(program, convert, adapt)


def dtypes(program: Reducible) -> Changes:
    """Compute in f32 and i32 instead of in wider, narrower and unsigned dtypes."""
    found = dict.fromkeys(_type(v).element_type for v in _tensors(program))
    changes: list[Change] = []
    for dtype in found:
        if dtype in tg.DTYPES and dtype not in (tg.F32, tg.I32, tg.INDEX, tg.BOOL):
            wanted = tg.F32 if tg.DTYPES[dtype].is_float else tg.I32
            changes.append(partial(compute_in, program, dtype, wanted))
    return changes


def compute_in(program: Reducible, old: Attribute, new: Attribute) -> None:
    """Convert all values and constants of a dtype to another one, with the inputs of arguments."""

    def convert(type: Tensor) -> Tensor:
        dtype = new if type.element_type == old else type.element_type
        return tg.tensor_type(dtype, type.get_shape(), tg.place_of(type))

    def adapt(op: Operation) -> None:
        if isinstance(op, tg.ConstOp) and tg.tensor(op.result).element_type == old:
            op.value = tg.number_attribute(tg.number(op.value), new)
        for name, attribute in op.properties.items():
            if attribute == old:
                op.properties[name] = new

    _retype(program, convert, adapt)


def places(program: Reducible) -> Changes:
    """Let values be on no device, and arguments be no memory."""

    def convert(type: Tensor) -> Tensor:
        return tg.tensor_type(type.element_type, type.get_shape())

    return [partial(_retype, program, convert, lambda _: None)]


def _tensors(program: Reducible) -> Iterable[SSAValue]:
    """The values of static shape."""
    for op in program.module.walk():
        yield from (r for r in op.results if tg.is_tensor(r.type))
    for block in blocks_of(program.module):
        yield from (a for a in block.args if tg.is_tensor(a.type))


def _type(value: SSAValue) -> Tensor:
    assert tg.is_tensor(value.type)
    return value.type


def _retype(
    program: Reducible, convert: Callable[[Tensor], Tensor], adapt: Callable[[Operation], None]
) -> None:
    """Convert the types of all leaves, adapt the attributes of ops, and infer the other types."""
    for block in blocks_of(program.module):
        for argument in block.args:
            if tg.is_tensor(argument.type):
                _convert_input(program, argument, convert(argument.type))
                _set_type(argument, convert(argument.type))
    for op in _ops(program):
        if _is_erased(op) or op.name.startswith(("builtin.", "func.")):
            continue
        adapt(op)
        if _is_erased(op):
            continue
        for result in op.results:
            if not isinstance(op, tg.TgOp) or tg.is_type_written(op):
                if tg.is_tensor(result.type):
                    _set_type(result, convert(result.type))
            elif not op.regions:
                _set_type(result, result_type(op))
    for op in reversed(_ops(program)):
        # A region is behind its op in a walk.
        if isinstance(op, tg.TgOp) and op.regions and op.results:
            _set_type(op.results[0], result_type(op))


def _is_erased(op: Operation) -> bool:
    return op.parent is None


def _set_type(value: SSAValue, type: Attribute) -> None:
    value._type = type  # pyright: ignore  # xDSL makes a new value, which op classes of ours do not expect.


def _convert_input(program: Reducible, argument: BlockArgument, type: Tensor) -> None:
    """Let the input of an argument of the entry have a new type."""
    if program.inputs is None or argument.block is not program.function.body.block:
        return
    if (position := program.input_position(argument)) is None:
        return
    if (old := program.inputs[position]) is None:
        return
    array, shape = np.asarray(old), type.get_shape()
    if len(shape) == array.ndim:
        array = array[tuple(slice(None if d < 0 else d) for d in shape)]
    elif array.size == math.prod(shape):
        array = array.reshape(shape)
    row: Any = tg.DTYPES[type.element_type]
    with np.errstate(all="ignore"):
        program.inputs[position] = np.array(array).astype(numpy_dtype(row))
