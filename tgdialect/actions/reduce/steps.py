"""The steps that any dialect allows. Each lists changes of a program, the most useful first.

A change is called on the program that it was listed for, after others of its list were: it raises
`Inapplicable`, or anything else, if these have left nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OptionalDef
from xdsl.traits import IsTerminator, SymbolOpInterface, SymbolTable

from tgdialect.actions.reduce.program import (
    Inapplicable,
    Reducible,
    blocks_of,
    drop,
    is_constant,
    replace,
)
from tgdialect.ops import tg
from tgdialect.ops.walk import Walk

_DEPTH, _WIDTH = 4, 8
"""How many ops behind a value one of its type is looked for, and how many values beside each other.
Larger: more candidates; smaller: a pair of conversions stays."""

Change = Callable[[], None]
Changes = Sequence[Change]


def _ops(program: Reducible) -> Iterator[Operation]:
    """The ops that compute something, from the last to the first."""
    for op in reversed([*program.module.walk()]):
        if not isinstance(op, ModuleOp) and not op.has_trait(SymbolOpInterface):
            yield op


def _used_results(program: Reducible) -> Iterator[SSAValue]:
    """The values of ops that others use, and that may be another value of the same type."""
    for op in _ops(program):
        if not isinstance(op, tg.ParamOp | tg.BufferOp | tg.RangeOp):
            yield from (r for r in op.results if r.uses and r.type != tg.VOID)


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and is_constant(value.owner)


# -- whole symbols ---------------------------------------------------------------------------------


def symbols(program: Reducible) -> Changes:
    """Drop functions and kernels, with the calls of them that return nothing."""

    def without(symbol: Operation, name: str) -> None:
        for op in [*program.module.walk()]:
            refers = any(
                isinstance(p, SymbolRefAttr) and p.string_value() == name
                for p in op.properties.values()
            )
            if refers and op.parent is not None:
                drop(op)
        symbol.detach()
        symbol.erase()

    found: list[Change] = []
    for op in reversed([*program.module.ops]):
        trait = op.get_trait(SymbolOpInterface)
        name = None if trait is None else trait.get_sym_attr_name(op)
        if name is not None and name.data != program.entry:
            found.append(partial(without, op, name.data))
    return found


# -- results, and the beginning and the end of the entry -------------------------------------------


def results(program: Reducible) -> Changes:
    """Drop results of the entry."""
    end = program.end

    def without(value: SSAValue) -> None:
        kept = [*end.operands]
        kept.remove(value)
        if not kept:
            raise Inapplicable
        program.set_results(kept)

    return [partial(without, value) for value in reversed([*end.operands])]


def _crossing(block: Block, count: int, used: Sequence[Operation]) -> list[SSAValue]:
    """The values of the first `count` ops of a block that some of the others use."""
    before = [op for number, op in enumerate(block.ops) if number < count]
    after = set(used)
    return [
        result
        for op in before
        if not is_constant(op)
        for result in op.results
        if result.type != tg.VOID
        and any(_ancestor(u.operation, block) in after for u in result.uses)
    ]


def _ancestor(op: Operation, block: Block) -> Operation | None:
    """The op of a block in which another one is."""
    return block.find_ancestor_op_in_block(op)


def _cut(ops: Sequence[Operation], count: int) -> int:
    """A place to cut at or after `count`, not between a tuple and the values taken from it."""
    while count < len(ops) and isinstance(ops[count], tg.GetTupleOp):
        count += 1
    return count


def beginnings(program: Reducible) -> Changes:
    """End the entry early: it returns the values that the rest would use. The shortest first."""
    count = len([*program.function.body.block.ops]) - 1
    return [partial(end_at, program, n) for n in range(1, count)]


def end_at(program: Reducible, count: int) -> None:
    """Let the entry give what those after its first `count` ops would use: return it, or store it
    where all results are memory."""
    block, end = program.function.body.block, program.end
    ops = [*block.ops][:-1]
    count = _cut(ops, count)
    values = _crossing(block, count, [*ops[count:], end])
    if not values:
        raise Inapplicable
    if program.level != "function":
        program.set_results(values)
    for op in reversed(ops[count:]):
        drop(op)
    if program.level == "function":
        _store_results(program, [value for value in values if not tg.is_memory(value)])


def _store_results(program: Reducible, values: Sequence[SSAValue]) -> None:
    """Store values in new results of the entry, and keep all effects that nothing waits for."""
    put = tg.OpBuilder.before(program.end).put
    for value in values:
        type = _argument_type(program, value.type)
        put(tg.StoreOp(program.add_argument(type, None, {"tg.output": UnitAttr()}), value))
    block = program.function.body.block
    edges = [r for op in block.ops for r in op.results if r.type == tg.VOID and not r.uses]
    put(tg.SinkOp(edges))


def endings(program: Reducible) -> Changes:
    """Begin the entry late: values of before are arguments. The shortest first."""
    count = len([*program.function.body.block.ops]) - 1
    return [partial(begin_at, program, n) for n in range(count - 1, 0, -1)]


def begin_at(program: Reducible, count: int) -> None:
    """Let arguments take the place of what the first `count` ops of the entry compute."""
    block, end = program.function.body.block, program.end
    ops = [*block.ops][:-1]
    count = _cut(ops, count)
    rest = {*ops[count:], end}
    as_arguments(program, _crossing(block, count, [*rest]), rest)
    for op in reversed(ops[:count]):
        if not (is_constant(op) or isinstance(op, tg.ParamOp | tg.BufferOp)):
            drop(op)


def as_arguments(
    program: Reducible, values: Sequence[SSAValue], users: set[Operation] | None = None
) -> None:
    """Let new arguments take the place of values, for some users: with what the values are."""
    block = program.function.body.block
    for value, number in zip(values, program.recorded(values), strict=True):
        argument = program.add_argument(_argument_type(program, value.type), number)
        value.replace_uses_with_if(
            argument, lambda use: users is None or _ancestor(use.operation, block) in users
        )


def _argument_type(program: Reducible, type: Attribute) -> Attribute:
    """The type of an argument for a value: memory, where all arguments are."""
    if not tg.is_tensor(type):
        if type == tg.VOID or isinstance(type, tg.TupleType):
            raise Inapplicable
        return type
    place = tg.place_of(type)
    if program.level not in (None, "tensor") and place.addrspace is None:
        place = tg.PlaceAttr.of(place.device, tg.AddrSpace.GLOBAL, place.axis)
        return tg.tensor_type(type.element_type, type.get_shape(), place)
    return type


def arguments(program: Reducible) -> Changes:
    """Drop arguments of the entry that nothing uses."""
    args = [*program.function.body.block.args]
    return [partial(program.drop_argument, a) for a in reversed(args) if not a.uses]


def equal_arguments(program: Reducible) -> Changes:
    """Use the first argument of a type in place of others."""
    args = [*program.function.body.block.args]
    first = {a.type: a for a in reversed(args)}
    return [partial(replace, a, first[a.type]) for a in args if a.uses and first[a.type] is not a]


# -- single ops ------------------------------------------------------------------------------------


def unused(program: Reducible) -> Changes:
    """Drop ops that have an effect, but whose results nothing needs."""
    kept = (tg.SinkOp, tg.ParamOp, tg.LinearOp)
    return [
        partial(drop, op)
        for op in _ops(program)
        if not (op.has_trait(IsTerminator) or isinstance(op, kept))
        and not any(r.uses for r in op.results if r.type != tg.VOID)
    ]


def values_as_arguments(program: Reducible) -> Changes:
    """Let arguments take the place of values, with what the values are."""
    block = program.function.body.block
    values = [v for v in _used_results(program) if v.owner.parent is block and not _is_constant(v)]
    return [partial(as_arguments, program, [v]) for v in values]


def operands(program: Reducible) -> Changes:
    """Replace values by operands of their ops, or of the ops of these."""
    return [
        partial(replace, result, operand)
        for result in _used_results(program)
        for operand in _nearest(result)
    ]


def _nearest(value: SSAValue) -> Sequence[SSAValue]:
    """The nearest values of the same type that a value is computed of."""
    level: Sequence[SSAValue] = [value]
    for _ in range(_DEPTH):
        level = [o for v in level if isinstance(v.owner, Operation) for o in v.owner.operands]
        if found := [operand for operand in level if operand.type == value.type]:
            return found
        level = level[:_WIDTH]
    return ()


def leaves(program: Reducible) -> Changes:
    """Replace values by the first value of the same type in their block."""
    found: list[Change] = []
    for block in blocks_of(program.module):
        first: dict[Attribute, SSAValue] = {}
        changes: list[Change] = []
        for value in [*block.args, *(r for op in block.ops for r in op.results)]:
            leaf = first.setdefault(value.type, value)
            is_argument = isinstance(value.owner, Block)
            if leaf is not value and not is_argument and value.uses and value.type != tg.VOID:
                changes.append(partial(replace, value, leaf))
        found += reversed(changes)
    return found


def constants(program: Reducible, number: int) -> Changes:
    """Replace values by a constant."""

    def constant(value: SSAValue) -> None:
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is None:
            raise Inapplicable
        ops = constant_ops(value, number)
        owner.parent.insert_ops_before(ops, owner)
        replace(value, ops[-1].results[0])

    values = (v for v in _used_results(program) if not _is_constant(v))
    return [partial(constant, value) for value in values]


def constant_ops(value: SSAValue, number: int) -> list[Operation]:
    """Ops that make a number of the type of a value. Raises `Inapplicable`."""
    type = value.type
    owner = value.owner
    is_tg = isinstance(owner, tg.TgOp)
    if is_tg and tg.is_tensor(type) and not tg.is_memory(value):
        ops: list[Operation] = [tg.ConstOp(number, type.element_type)]
        if shape := tg.shape_of(value):
            ops.append(tg.ReshapeOp(ops[-1].results[0], [1] * len(shape)))
            ops.append(tg.ExpandOp(ops[-1].results[0], shape))
        return ops
    if isinstance(type, IntegerType | IndexType):
        return [arith.ConstantOp(IntegerAttr[Any](number, cast(IndexType, type)))]
    if isinstance(type, AnyFloat):
        return [arith.ConstantOp(FloatAttr(float(number), type))]
    if not is_tg and tg.is_tensor(type) and type.has_static_shape():
        data = [float(number) if isinstance(type.element_type, AnyFloat) else number]
        splat = DenseIntOrFPElementsAttr.from_list(cast(Any, type), data)
        return [arith.ConstantOp(splat, type)]
    raise Inapplicable


# -- regions ---------------------------------------------------------------------------------------


def inlined(program: Reducible) -> Changes:
    """Put the bodies of FUNCTIONs, calls, conditionals and loops in their place, executed once."""
    found: list[Change] = []
    for op in _ops(program):
        if isinstance(op, tg.FunctionOp):
            found.append(partial(_inline_function, op))
        elif isinstance(op, func.CallOp):
            found.append(partial(_inline_call, op))
        elif not isinstance(op, tg.TgOp):
            found += [partial(_inline_region, op, i) for i in range(len(op.regions))]
    return found


def _inline_function(op: tg.FunctionOp) -> None:
    block, end = op.body.block, op.body.block.last_op
    assert isinstance(end, tg.TupleOp)
    for param in [o for o in block.ops if isinstance(o, tg.ParamOp)]:
        param.result.replace_all_uses_with(op.arguments[param.slot.data])
        drop(param)
    for use in [*op.result.uses]:
        assert isinstance(use.operation, tg.GetTupleOp)
        use.operation.result.replace_all_uses_with(end.values[use.operation.index.data])
        drop(use.operation)
    _splice(op, block)


def _inline_call(op: func.CallOp) -> None:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, func.FuncOp) or len(callee.body.blocks) != 1:
        raise Inapplicable
    _inline_block(op, callee.body.clone().block)


def _inline_region(op: Operation, number: int) -> None:
    region = op.regions[number]
    if len(region.blocks) != 1:
        raise Inapplicable
    _inline_block(op, region.block)


def _inline_block(op: Operation, block: Block) -> None:
    """Put a block in the place of an op: its last arguments are the last operands, as in a loop,
    and others the first operand of their type."""
    end = block.last_op
    if end is None or [v.type for v in end.operands] != [*op.result_types]:
        raise Inapplicable
    for distance, argument in enumerate(reversed(block.args), 1):
        given = [*op.operands[-distance:][:1], *op.operands]
        argument.replace_all_uses_with(next(v for v in given if v.type == argument.type))
    for result, value in zip(op.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    _splice(op, block)


def _splice(op: Operation, block: Block) -> None:
    """Move all ops of a block but the last before an op, which goes."""
    around = op.parent
    assert around is not None
    for inner in [*block.ops][:-1]:
        inner.detach()
        around.insert_op_before(inner, op)
    op.detach()
    op.erase()


def branches(program: Reducible) -> Changes:
    """Take one way of each conditional branch. Blocks that nothing leads to go."""

    def way(op: cf.ConditionalBranchOp, block: Block, values: Sequence[SSAValue]) -> None:
        assert op.parent is not None
        op.parent.insert_op_before(cf.BranchOp(block, *values), op)
        op.detach()
        op.erase()
        for region in [r for each in program.module.walk() for r in each.regions]:
            _tidy(region)

    found: list[Change] = []
    for op in _ops(program):
        if isinstance(op, cf.ConditionalBranchOp):
            found.append(partial(way, op, op.else_block, op.else_arguments))
            found.append(partial(way, op, op.then_block, op.then_arguments))
    return found


def _tidy(region: Region) -> None:
    """Erase blocks that the first one does not lead to, and join a block with its only successor,
    of which it is the only predecessor."""
    if len(region.blocks) < 2:
        return
    reached = Walk([region.blocks[0]])
    for block in reached:
        reached.add(block.last_op.successors if block.last_op is not None else ())
    for block in reversed([b for b in region.blocks if b not in reached.seen]):
        region.erase_block(block, safe_erase=False)
    for block in [*region.blocks]:
        while isinstance(end := block.last_op, cf.BranchOp) and end.successor is not block:
            after = end.successor
            if (
                sum(b.last_op is not None and after in b.last_op.successors for b in region.blocks)
                > 1
            ):
                break
            for argument, value in zip(after.args, end.operands, strict=True):
                argument.replace_all_uses_with(value)
            end.detach()
            end.erase()
            for op in [*after.ops]:
                op.detach()
                block.add_op(op)
            region.erase_block(after, safe_erase=False)


# -- what is written on ops ------------------------------------------------------------------------


_KEPT = ("opts", "value", "target")
"""Properties that other steps are about, and what says that a kernel has gates."""


def attributes(program: Reducible) -> Changes:
    """Drop attributes that nothing requires."""

    def without(attributes: dict[str, Attribute], name: str) -> None:
        del attributes[name]

    found: list[Change] = []
    for op in program.module.walk():
        found += [partial(without, op.attributes, name) for name in op.attributes]
        if isinstance(op, IRDLOperation):
            known = op.get_irdl_definition().properties
            found += [
                partial(without, op.properties, name)
                for name in op.properties
                if isinstance(known.get(name), OptionalDef) and name not in _KEPT
            ]
    return found


def numbers(program: Reducible, wanted: Callable[[float], float]) -> Changes:
    """Replace the numbers of constants by those that `wanted` makes of them."""
    found: list[Change] = []
    for op in _ops(program):
        if isinstance(op, tg.ConstOp) and not isinstance(op.value, tg.InvalidAttr):
            found.append(partial(_set_number, op, wanted))
        elif isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
            found.append(partial(_set_arith, op, wanted))
    return found


def _set_number(op: tg.ConstOp, wanted: Callable[[float], float]) -> None:
    old = tg.number(op.value)
    new = wanted(old)
    if new == old:
        raise Inapplicable
    op.value = tg.number_attribute(new, tg.tensor(op.result).element_type)


def _set_arith(op: arith.ConstantOp, wanted: Callable[[float], float]) -> None:
    match op.value:
        case IntegerAttr() as old:
            new: Attribute = IntegerAttr(int(wanted(old.value.data)), old.type)
        case FloatAttr() as old:
            new = FloatAttr(float(wanted(old.value.data)), old.type)
        case _:
            raise Inapplicable
    if new == op.value:
        raise Inapplicable
    op.properties["value"] = new


def rounded(array: Any) -> Any:
    """The numbers of an array without fractions, and small ones."""
    return np.clip(np.trunc(np.nan_to_num(array.astype(np.float64))), -9, 9)


def inputs(program: Reducible, wanted: Callable[[Any], Any]) -> Changes:
    """Replace the numbers of inputs by those that `wanted` makes of an array."""
    arrays = program.inputs or []

    def change(position: int) -> None:
        old = arrays[position]
        with np.errstate(all="ignore"):
            new = np.asarray(wanted(np.asarray(old)), np.asarray(old).dtype)
        arrays[position] = new.reshape(np.shape(old))

    return [partial(change, position) for position in range(len(arrays))]
