"""The program that is reduced, with the inputs of its entry, and what steps do to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, ModuleOp, NoneAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import (
    ConstantLike,
    IsTerminator,
    MemoryEffectKind,
    SymbolOpInterface,
    SymbolTable,
    get_effects,
)

from tgdialect.actions.execution import Evaluate, has_tg
from tgdialect.diagnostics import verify_module
from tgdialect.lowering.verify import verify_level
from tgdialect.ops import tg
from tgdialect.ops.arguments import ARENAS
from tgdialect.ops.source import parameters

_HARMLESS = {MemoryEffectKind.READ, MemoryEffectKind.ALLOC, MemoryEffectKind.FREE}

_NOT_COUNTED = (
    *(ModuleOp, FuncOp, ReturnOp),
    *(tg.KernelOp, tg.ProgramOp, tg.LinearOp, tg.SinkOp),
)


class Inapplicable(Exception):
    """A change that this program does not allow."""


@dataclass
class Reducible:
    """A module, the name of its entry, and the inputs of that: None if they are not known.

    `level` is the one of the lowering that the module has to keep, None for other dialects.
    `evaluate` runs it, to find the values that take the place of what is cut off.
    """

    module: ModuleOp
    entry: str | None = None
    inputs: list[Any] | None = None
    level: str | None = None
    evaluate: Evaluate | None = None

    def clone(self) -> Reducible:
        """A copy, which may be changed. Arrays are shared: a change replaces them."""
        inputs = None if self.inputs is None else [*self.inputs]
        return Reducible(self.module.clone(), self.entry, inputs, self.level, self.evaluate)

    @property
    def function(self) -> FuncOp:
        """The entry, if it is a function of one block that returns. Raises `Inapplicable`."""
        found = SymbolTable.lookup_symbol(self.module, self.entry) if self.entry else None
        if not isinstance(found, FuncOp) or len(found.body.blocks) != 1:
            raise Inapplicable
        return found

    @property
    def end(self) -> ReturnOp:
        """The return of the entry. Raises `Inapplicable`."""
        if not isinstance(end := self.function.body.block.last_op, ReturnOp):
            raise Inapplicable
        return end

    # -- the signature of the entry ----------------------------------------------------------------

    def input_position(self, argument: BlockArgument) -> int | None:
        """Which input an argument of the entry takes; None if it is allocated by each call."""
        if _is_allocated(argument):
            return None
        return sum(not _is_allocated(a) for a in argument.block.args[: argument.index])

    def parameter_position(self, slot: int) -> int:
        """Which input a PARAM of the entry takes: they come after the arguments, by their slots."""
        block = self.function.body.block
        before = parameters(block)[:slot]
        given = [op for op in before if "tg.computed" not in op.attributes]
        return sum(not _is_allocated(a) for a in block.args) + len(given)

    def add_argument(
        self, type: Attribute, value: Any, attributes: dict[str, Attribute] | None = None
    ) -> BlockArgument:
        """A new last argument of the entry but for arenas, which takes `value` if it is an
        input."""
        function, block = self.function, self.function.body.block
        given = _argument_attributes(function)
        index = sum(ARENAS.isdisjoint(each.data) for each in given)
        argument = block.insert_arg(type, index)
        given.insert(index, DictionaryAttr(attributes or {}))
        function.arg_attrs = ArrayAttr(given)
        position = self.input_position(argument)
        if self.inputs is not None and position is not None:
            self.inputs.insert(position, value)
        return argument

    def drop_argument(self, argument: BlockArgument) -> None:
        """Remove an argument of the entry that has no uses, with its input."""
        function, index = self.function, argument.index
        given = _argument_attributes(function)
        if argument.uses or any("tg.computed" in a.data for a in given):
            raise Inapplicable
        if any(index in (tg.dims_attribute(a.data) or ()) for a in given):
            raise Inapplicable
        position = self.input_position(argument)
        if self.inputs is not None and position is not None:
            del self.inputs[position]
        argument.block.erase_arg(argument)
        del given[index]
        function.arg_attrs = ArrayAttr([_renumbered(a, index) for a in given])

    def set_results(self, values: Sequence[SSAValue]) -> None:
        """Let the entry return other values."""
        self.end.operands = values
        self.function.properties.pop("res_attrs", None)

    def recorded(self, values: Sequence[SSAValue]) -> list[Any]:
        """The values of SSA values of the entry, when it runs on the inputs; zeros if there are
        none. Raises `Inapplicable` if it does not run."""
        if self.inputs is None or self.evaluate is None or self.entry is None:
            return [None] * len(values)
        mapping: dict[SSAValue, SSAValue] = {}
        probe = Reducible(self.module.clone(mapping), self.entry)
        probe.set_results([mapping[value] for value in values])
        probe.finish()
        try:
            return self.evaluate(probe.module, self.entry, self.inputs)[: len(values)]
        except Exception as error:
            raise Inapplicable from error

    # -- whether it is a candidate -----------------------------------------------------------------

    def finish(self) -> None:
        """Erase what is dead, and make the types of functions those of their bodies."""
        _close_no_others(self.module)
        for op in reversed([*self.module.walk()]):
            if is_dead(op):
                op.detach()
                op.erase()
        for op in self.module.walk():
            if isinstance(op, FuncOp) and op.body.blocks:
                ends = [b.last_op for b in op.body.blocks if isinstance(b.last_op, ReturnOp)]
                inputs = [argument.type for argument in op.body.blocks[0].args]
                outputs = [v.type for v in ends[0].operands] if ends else op.function_type.outputs
                op.function_type = op.function_type.from_lists(inputs, [*outputs])
                if op.arg_attrs is not None and not any(a.data for a in op.arg_attrs):
                    op.arg_attrs = None

    def verify(self) -> None:
        """Raise unless the module is valid, at its level, and reads no memory that has no contents,
        or is not aligned: passes may change these."""
        verify_module(self.module)
        if any(map(_is_undefined, self.module.ops)):
            raise Inapplicable
        if self.level is not None and has_tg(self.module):
            verify_level(self.module, self.level)

    def weight(self) -> tuple[float, ...]:
        """How large the program is; a step has to lower it. First of all the ops count."""
        ops = [op for op in self.module.walk() if not isinstance(op, ModuleOp | ReturnOp)]
        types = [value.type for op in ops for value in _values(op)]
        tensors = [type for type in types if tg.is_tensor(type)]
        static = [[1 if d < 0 else d for d in type.get_shape()] for type in tensors]
        return (
            len(ops),
            len(types) + sum(len(op.operands) for op in self.module.walk()),
            sum(math.prod(shape) for shape in static) + sum(map(len, static)),
            sum(_dtype_weight(type.element_type) for type in tensors)
            + sum(type.encoding != NoneAttr() for type in tensors),
            sum(len(op.attributes) + len(op.properties) + _own_weight(op) for op in ops),
            sum(map(constant_weight, ops)),
            sum(map(_array_weight, self.inputs or ())),
        )

    def count(self) -> int:
        """The ops that are counted in reports: those that hold others and returns are not."""
        return sum(not isinstance(op, _NOT_COUNTED) for op in self.module.walk())


def _is_undefined(function: Operation) -> bool:
    """Whether a CALL of a LINEAR reads a BUFFER, or a part of an arena, that none before it writes,
    or such a part begins at no multiple of its elements."""
    if not isinstance(function, FuncOp) or function.is_declaration:
        return False
    written = set[_Part]()
    for call in function.walk():
        if isinstance(call, tg.BitcastOp) and _is_misaligned(call):
            return True
        callee = isinstance(call, tg.CallOp) and SymbolTable.lookup_symbol(call, call.callee)
        if not isinstance(call, tg.CallOp) or not isinstance(callee, tg.ProgramOp):
            continue
        stores = (op for op in callee.walk() if isinstance(op, tg.StoreOp | tg.AtomicAddOp))
        params = [tg.memory_of(op.operands[0]).owner for op in stores]
        slots = {param.slot.data for param in params if isinstance(param, tg.ParamOp)}
        parts = [_part_of(argument) for argument in call.arguments]
        only_read = [part for slot, part in enumerate(parts) if slot not in slots]
        if any(_has_no_contents(part[0]) and part not in written for part in only_read):
            return True
        written |= {parts[slot] for slot in slots}
    return False


_Part = tuple[SSAValue, int]
"""A memory, and where a part of it begins, in elements."""


def _part_of(view: SSAValue) -> _Part:
    """The memory of a view; of an arena the part."""
    memory = tg.memory_of(view)
    while view is not memory and isinstance(view.owner, Operation):
        op, view = view.owner, view.owner.operands[0]
        if isinstance(op, tg.ShrinkOp) and view is memory and _has_no_contents(memory):
            return memory, tg.integers(op, "offsets")[-1]
    return memory, 0


def _is_misaligned(view: tg.BitcastOp) -> bool:
    """Whether a view is of bytes from an offset on that is no multiple of its elements' size."""
    part = view.source.owner
    if not isinstance(part, tg.ShrinkOp) or tg.dtype_of(view.source).itemsize != 1:
        return False
    offset = tg.integers(part, "offsets")[-1]
    return offset > 0 and offset % tg.dtype_of(view.result).itemsize > 0


def _has_no_contents(memory: SSAValue) -> bool:
    """Whether memory is a BUFFER of a function, or an arena."""
    if not isinstance(memory, BlockArgument):
        return isinstance(memory.owner, tg.BufferOp)
    return not ARENAS.isdisjoint(tg.argument_attributes(memory))


def _is_allocated(argument: BlockArgument) -> bool:
    return not tg.ALLOCATED.isdisjoint(tg.argument_attributes(argument))


def _argument_attributes(function: FuncOp) -> list[DictionaryAttr]:
    given = [*function.arg_attrs] if function.arg_attrs else []
    return given or [DictionaryAttr({}) for _ in function.body.block.args]


def _renumbered(attributes: DictionaryAttr, removed: int) -> DictionaryAttr:
    """Attributes of an argument after another one was removed, whose positions come before."""
    dims = tg.dims_attribute(attributes.data)
    if not dims:
        return attributes
    moved = DenseArrayBase.from_list(i64, [d - (d > removed) for d in dims])
    return DictionaryAttr({**attributes.data, "tg.dims": moved})


def _close_no_others(module: ModuleOp) -> None:
    """Let ENDs and REDUCEs of graphs close no RANGEs that what they are on does not depend on."""
    known: dict[SSAValue, frozenset[tg.RangeOp]] = {}
    for op in [*module.walk()]:
        if not isinstance(op, tg.EndOp | tg.ReduceOp) or not op.ranges or op.parent is None:
            continue
        if isinstance(op.parent_op(), tg.LinearOp):
            continue
        body = op.operands[0]
        is_open = {r.result for r in tg.dependent_ranges(body, known)}
        if kept := [r for r in op.ranges if r in is_open]:
            op.operands = [body, *kept]
        elif isinstance(op, tg.EndOp) or not tg.integers(op, "axes"):
            op.results[0].replace_all_uses_with(body)
            op.detach()
            op.erase()
        else:
            op.operands = [body]


def is_dead(op: Operation) -> bool:
    """Whether an op has no uses and no effect but to read, or to get memory."""
    if op.parent is None or not op.results or any(r.uses for r in op.results):
        return False
    if isinstance(op, tg.ParamOp) or op.has_trait(IsTerminator) or op.has_trait(SymbolOpInterface):
        return False
    if op.has_trait(tg.PureInGraph):  # Of which a LINEAR keeps those without uses.
        return True
    effects = get_effects(op)
    return effects is not None and all(effect.kind in _HARMLESS for effect in effects)


def is_constant(op: Operation) -> bool:
    """Whether an op is a constant, which costs nothing where it stands."""
    return op.has_trait(ConstantLike)


def drop(op: Operation) -> None:
    """Erase an op with what depends on nothing else. Raises `Inapplicable` if a result is used."""
    for result in op.results:
        if result.type == tg.VOID:
            drop_edge(result)
    if op.parent is None or any(r.uses for r in op.results) or op.has_trait(IsTerminator):
        raise Inapplicable
    op.detach()
    op.erase()


def drop_edge(edge: SSAValue) -> None:
    """Take an edge of order from the ops that wait for it. Those that wait for nothing else go."""
    for use in [*edge.uses]:
        user = use.operation
        rest = [operand for operand in user.operands if operand is not edge]
        if isinstance(user, tg.AfterOp) and len(rest) == 1:
            replace(user.results[0], rest[0])
        elif not isinstance(user, tg.SinkOp) and (
            not isinstance(user, tg.AfterOp | tg.GroupOp) or not rest
        ):
            drop(user)
            continue
        if user.parent is not None:
            user.operands = rest


def replace(value: SSAValue, other: SSAValue) -> None:
    """Use another value in place of one. Raises `Inapplicable` if there is nothing to do."""
    if value is other or not value.uses:
        raise Inapplicable
    value.replace_all_uses_with(other)


def blocks_of(module: ModuleOp) -> Iterator[Block]:
    """The blocks of all ops in a module, the outer ones first."""
    for op in module.walk():
        for region in op.regions:
            yield from region.blocks


def _values(op: Operation) -> Iterable[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _dtype_weight(dtype: Attribute) -> int:
    """How unusual a dtype is: f32, i32, index and bool are not."""
    return 0 if dtype in (tg.F32, tg.I32, tg.INDEX, tg.BOOL) else 1


def _own_weight(op: Operation) -> int:
    """The OptOps of a kernel."""
    return len(op.opts) if isinstance(op, tg.SinkOp) and op.opts is not None else 0


def constant_weight(op: Operation) -> float:
    """How far the number of a constant is from 0 and 1."""
    if isinstance(op, tg.BinaryDataOp):
        return 1.0 if np.any(op.data.array) else 0.0
    value = op.properties.get("value")
    number = getattr(getattr(value, "value", value), "data", None)
    return number_weight(number) if isinstance(number, int | float) else 0.0


def number_weight(number: float) -> float:
    """0 for 0, 1 for 1; more for a number of more digits."""
    if not math.isfinite(number):
        return 1e3
    return min(len(repr(number).lstrip("-")) + (number < 0) + min(abs(number), 1.0), 100.0)


def _array_weight(value: Any) -> float:
    """How many different numbers an input has, and how long they are."""
    array = np.asarray(value)
    if array.size == 0 or array.dtype.kind not in "biufV":
        return 0.0
    numbers = np.unique(array.astype(np.float64) if array.dtype.kind in "fV" else array)
    return float(len(numbers)) + sum(number_weight(float(n)) for n in numbers[:64]) / 100
