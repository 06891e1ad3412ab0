"""`tg-split-collectives`: a function of its own for what is computed between collectives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from typing_extensions import TypeIs
from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.shard import CollectiveCommunicationOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.symbols import own_functions
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import UNKNOWN, lasting_hint, locate
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.source import parameters
from tgdialect.shard_dialect import AllSliceOp
from tgdialect.transforms.shard.factors import is_reshape
from tgdialect.transforms.shard.grids import DEVICES, WORLD, Grid, grids_of
from tgdialect.transforms.shard.lower import INPUTS

_RANK = "rank"
"""The name of the PARAM that says which device of a grid the program runs on."""


@dataclass(frozen=True)
class SplitCollectivesPass(ModulePass):
    """Turn each function with collectives into calls of private functions, and collectives.

    A private function has what has to be computed for the next collective, or for the results, so
    that a collective starts as early as possible. Views and constants are computed where they are
    used. What only some devices compute is called with their names, `{tg.devices = ["A"]}`.
    """

    name = "tg-split-collectives"

    rank: int | None = None
    """The number of the device that the program is for. By default it is an argument, a PARAM of
    the name `rank`."""

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        split_collectives(op, self.rank)


def split_collectives(module: builtin.ModuleOp, rank: int | None = None) -> None:
    """Apply the pass."""
    grids = grids_of(module)
    if not grids:
        return
    if rank is not None and rank not in range(count := len(grids[WORLD].devices)):
        raise PassFailedException(f"rank {rank} is none of the {count} devices")
    for function in list(own_functions(module)):
        if INPUTS in function.attributes:
            _Split(module, function, grids, rank).run()


@dataclass(eq=False)
class _Part:
    """The computation between two collectives, on some devices.

    Attributes:
        devices: the devices that compute it; None is all.
        ops: in the order of the program.
        results: the values that others use.
    """

    devices: frozenset[str] | None
    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])
    results: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])


class _Split:
    """The splitting of one function.

    First each op is assigned to a part, then the results of each part are found, then the parts are
    made.
    """

    def __init__(
        self, module: builtin.ModuleOp, function: FuncOp, grids: dict[str, Grid], rank: int | None
    ) -> None:
        self.module, self.function, self.grids, self.rank = module, function, grids, rank
        self.world = frozenset(grids[WORLD].devices)
        self.order = {op: i for i, op in enumerate(function.body.block.ops)}
        self.validity = Validity()
        self.steps: list[_Part | Operation] = []
        """Parts and collectives in their order."""
        self.part_of: dict[Operation, _Part] = {}
        self.forced: dict[SSAValue, _Part] = {}
        """The part that a view is computed in, as the operand of a collective or as a result."""
        self.devices: dict[SSAValue, frozenset[str] | None] = {}
        self._readers: dict[SSAValue, list[Operation]] = {}
        # The function that remains.
        block = Block(arg_types=function.body.block.arg_types)
        self.builder = tg.OpBuilder.at_end(block, function.location)
        self.values: dict[SSAValue, SSAValue] = dict(zip(function.args, block.args, strict=True))
        self.ranks: dict[str, SSAValue] = {}
        self.taken = symbols(module)

    def run(self) -> None:
        body = self.function.body.block
        self._find_devices(body)
        for op in body.ops:
            if isinstance(op, CollectiveCommunicationOp) and not isinstance(op, AllSliceOp):
                self._assign([op.operands[0]])
                self.steps.append(op)
            elif isinstance(op, ReturnOp):
                self._assign(
                    [*op.operands, *(s.result for s in body.ops if isinstance(s, tg.StoreOp))]
                )
                self.steps.append(op)
        for step in self.steps:
            self._find_results(step)
        self._emit()

    # -- devices

    def _find_devices(self, body: Block) -> None:
        """For each value, the devices that can compute it; None is all."""
        inputs = cast("builtin.ArrayAttr[Attribute]", self.function.attributes[INPUTS])
        values = [*body.args, *(p.result for p in parameters(body))]
        for value, where in zip(values, inputs, strict=True):
            assert isinstance(where, tg.PlaceAttr)
            self.devices[value] = self._named(where.device)
        for op in body.ops:
            for result in op.results:
                if is_exchange(op):
                    own = self._named(tg.place(result).device)
                    grid = self.grids[op.grid.string_value()]
                    self.devices[result] = own or self._named(grid.devices)
                elif result not in self.devices:
                    self.devices[result] = self._common(op, result)

    def _common(self, op: Operation, result: SSAValue) -> frozenset[str] | None:
        sets = [self.devices[operand] for operand in op.operands]
        if tg.is_tensor(result.type):
            sets.append(self._named(tg.place(result).device))
        common = frozenset(self.world).intersection(*(s for s in sets if s is not None))
        if not common:
            raise locate(PassFailedException("no device has all operands"), op)
        return self._named(tuple(common))

    def _named(self, device: tg.Device) -> frozenset[str] | None:
        """Some devices; None for all, and for one that each device has."""
        found = frozenset((device,) if isinstance(device, str) else device or ())
        return None if not found.intersection(self.world) or found == self.world else found

    # -- from ops to parts

    def is_cheap(self, value: SSAValue) -> bool:
        """Whether a value is computed where it is used: a view, a constant, an extent, or what has
        invalid cells, which memory would make 0."""
        op = value.owner
        if isinstance(op, Block | tg.ParamOp | tg.BufferOp | tg.StoreOp) or is_exchange(op):
            return False
        if isinstance(
            op, AllSliceOp | tg.ConstOp | tg.VConstOp | tg.AfterOp | tg.GroupOp | tg.SinkOp
        ):
            return True
        if isinstance(op, tg.MovementOp) and not isinstance(op, tg.IndexOp | tg.BitcastOp):
            return True
        if not isinstance(op, tg.IndexOp) and isinstance(
            tg.memory_of(value).owner, tg.BinaryDataOp
        ):
            return True  # A BITCAST of data is a view, too.
        return value.type == tg.tensor_type(tg.INDEX) or not self.validity[value]

    def _assign(self, wanted: Sequence[SSAValue]) -> None:
        """Assign what is not computed yet, for some values, to new parts."""
        missing: dict[Operation, None] = {}
        walk = tg.Walk(map(self._kept, wanted))
        views = [v for v in walk.seen if v not in self.forced and self._is_view(v)]
        for value in walk:
            op = value.owner
            if not isinstance(op, Operation) or not self._is_computed(op) or op in self.part_of:
                continue
            if not self.is_cheap(value):
                missing[op] = None
                if isinstance(op, tg.StoreOp):
                    walk.add(self._readers_before(op))
                if isinstance(op, tg.FunctionOp | tg.ScanOp):  # Its elements leave, not the tuple.
                    walk.add(user.results[0] for user in tg.users_of(op))
            walk.add(op.operands)
        parts: dict[frozenset[str] | None, _Part] = {}

        def part(devices: frozenset[str] | None) -> _Part:
            return parts.setdefault(devices, _Part(devices))

        for op in sorted(missing, key=self.order.__getitem__):
            self.part_of[op] = part(self.devices[op.results[0]])
            self.part_of[op].ops[op] = None
        for view in views:
            self.forced[view] = part(self.devices[view])
            self.forced[view].results[view] = None
        # Values go from all devices to some, not back.
        self.steps += sorted(parts.values(), key=lambda p: -len(p.devices or self.world))

    @staticmethod
    def _is_computed(op: Operation) -> bool:
        """Whether a part can have an op: not a collective, nor what the function is given."""
        return not is_exchange(op) and not isinstance(op, tg.ParamOp | tg.BufferOp)

    def _readers_before(self, store: tg.StoreOp) -> Iterator[SSAValue]:
        """Reads of the old contents of a STORE's memory; they must execute before the STORE."""
        memory = tg.memory_of(store.buffer)
        if memory not in self._readers:
            found: list[Operation] = []
            walk = tg.Walk([memory])
            for location in walk:
                uses = (use.operation for use in location.uses)
                for op in uses:
                    if not isinstance(op, tg.AfterOp | tg.StoreOp | ReturnOp):
                        found.append(op)
                        walk.add(result for result in op.results[:1] if tg.is_memory(result))
            self._readers[memory] = found
        for op in self._readers[memory]:
            if self.order[op] < self.order[store] and op.results:
                yield from (r for r in op.results if not self.is_cheap(r))

    def _kept(self, value: SSAValue) -> SSAValue:
        """The value of the remaining function that a value is a RESHAPE of, which costs nothing
        there."""
        while is_reshape(op := value.owner):
            if tg.is_memory(value):
                break
            value = op.source
        return value

    def _is_view(self, value: SSAValue) -> bool:
        """Whether a value is computed as it is, to be the operand of a collective or a result."""
        return value.type != tg.VOID and (
            tg.is_memory(value) or (self.is_cheap(value) and isinstance(value.owner, Operation))
        )

    # -- the results of parts

    def _find_results(self, step: _Part | Operation) -> None:
        if isinstance(step, _Part):
            outside = self._outside(step)
        else:
            kept = (self._kept(value) for value in step.operands)
            outside = [value for value in kept if value not in self.forced]
        for value in outside:
            op = value.owner
            if isinstance(op, Operation) and op in self.part_of:
                self.part_of[op].results[value] = None

    def _outside(self, part: _Part) -> list[SSAValue]:
        """The values that a part is given: inputs, results of collectives and of other parts."""
        result: dict[SSAValue, None] = {}
        views = [v for v in part.results if self.forced.get(v) is part]
        walk = tg.Walk([o for op in part.ops for o in op.operands] + views)
        for value in walk:
            op = value.owner
            if isinstance(op, Operation) and op in part.ops:
                continue
            if self.is_cheap(value):
                assert isinstance(op, Operation)
                walk.add(op.operands)
                if isinstance(op, AllSliceOp) and self.rank is None:
                    result[self._rank(op)] = None
            elif value.type != tg.VOID:
                result[value] = None
        for value in list(result):
            result.update((d, None) for d in tg.shape_of(value) if isinstance(d, SSAValue))
        # Extents come first, since arguments refer to them.
        return sorted(result, key=lambda v: v.type != tg.tensor_type(tg.INDEX))

    # -- making them

    def _rank(self, op: AllSliceOp) -> SSAValue:
        """The PARAM of the device's number in a grid, the same in both functions."""
        grid = op.grid.string_value()
        if grid not in self.ranks:
            name = _RANK if grid == WORLD else f"{_RANK}_{grid}"
            slot = len(parameters(self.function.body.block)) + len(self.ranks)
            type = tg.tensor_type(tg.INDEX)
            last = len(self.grids[grid].devices) - 1
            param = tg.ParamOp(slot, type, name=name, min=0, max=last)
            param.result.name_hint = lasting_hint(name)
            self.ranks[grid] = param.result
            self.values[param.result] = param.result
        return self.ranks[grid]

    def _emit(self) -> None:
        old, block = self.function, self.builder.block
        # The new function is in the module while it is made, so that calls find what they call.
        name, visibility = old.sym_name.data, old.sym_visibility
        new_function = FuncOp(name, ((), ()), Region(block), visibility, arg_attrs=old.arg_attrs)
        self.module.body.block.insert_op_before(new_function, old)
        for op in old.body.block.ops:
            if isinstance(op, tg.ParamOp | tg.BufferOp):
                new = op.rebuild([self.values[d] for d in op.dims])
                new.attributes.update(op.attributes)
                self.values[op.result] = self.builder.put(new)
        for rank in self.ranks.values():
            self.builder.put(rank.owner)  # pyright: ignore
        for step in self.steps:
            if isinstance(step, _Part):
                self._put_part(step)
                continue
            self.builder.location = step.location
            operands = [self._main(value) for value in step.operands]
            new = step.clone(dict(zip(step.operands, operands, strict=True)))
            self.builder.insert(new)
            for before, after in zip(step.results, new.results, strict=True):
                self.values[before] = after
        returned = block.last_op
        assert isinstance(returned, ReturnOp)
        results = [v.type for v in returned.operands]
        new_function.function_type = builtin.FunctionType.from_lists(block.arg_types, results)
        new_function.location = old.location
        new_function.attributes.update(old.attributes)
        inputs = cast("builtin.ArrayAttr[Attribute]", old.attributes[INPUTS])
        grids = (builtin.SymbolRefAttr(grid) for grid in self.ranks)
        new_function.attributes[INPUTS] = builtin.ArrayAttr([*inputs, *grids])
        self.module.body.block.erase_op(old, safe_erase=False)

    def _main(self, value: SSAValue) -> SSAValue:
        """A value in the new function: what a part or a collective gives, or a RESHAPE of it."""
        if value not in self.values:
            op = value.owner
            assert isinstance(op, Operation)
            source = self._main(op.operands[0])
            extents = tg.shape_of(value)
            shape = [self._main(d) if isinstance(d, SSAValue) else d for d in extents]
            self.values[value] = self.builder.put(tg.ReshapeOp(source, shape))  # pyright: ignore
        return self.values[value]

    def _put_part(self, part: _Part) -> None:
        """The function of a part, and its call."""
        given = self._outside(part)
        block = Block(arg_types=[value.type for value in given])
        inner: dict[SSAValue, SSAValue] = dict(zip(given, block.args, strict=True))
        for value, argument in inner.items():
            argument.name_hint = value.name_hint
        function = FuncOp(
            next_symbol(f"{self.function.sym_name.data}_part", 0, self.taken),
            builtin.FunctionType.from_lists(block.arg_types, []),
            Region(block),
            "private",
            arg_attrs=builtin.ArrayAttr(
                builtin.DictionaryAttr(_attributes(value, given)) for value in given
            ),
        )
        self.taken.add(function.sym_name.data)
        first = next(iter(part.ops), None) or next(iter(part.results)).owner
        function.location = first.location if isinstance(first, Operation) else UNKNOWN
        parent = self.builder.block.parent_op()
        assert parent is not None
        self.module.body.block.insert_op_before(function, parent)
        # The body.
        builder = tg.OpBuilder.at_end(block)
        for op in part.ops:
            self._cloned(op.results[0], part, inner, builder)
        results = list(part.results)
        found = [self._cloned(value, part, inner, builder) for value in results]
        builder.insert(ReturnOp(*found))
        types = [value.type for value in found]
        function.function_type = builtin.FunctionType.from_lists(block.arg_types, types)
        # The call.
        call = CallOp(function.sym_name.data, [self._main(v) for v in given], types)
        call.location = function.location
        if part.devices is not None:
            names = [d for d in self.grids[WORLD].devices if d in part.devices]
            call.attributes[DEVICES] = builtin.ArrayAttr(builtin.StringAttr(name) for name in names)
        self.builder.insert(call)
        self.values.update(zip(results, call.results, strict=True))

    def _cloned(
        self, value: SSAValue, part: _Part, known: dict[SSAValue, SSAValue], builder: tg.OpBuilder
    ) -> SSAValue:
        """A value computed in the body of a part."""

        def operands(value: SSAValue) -> list[SSAValue]:
            return [o for o in reversed(tg.operands_of(value)) if self._is_here(o, part)]

        def rebuilt(value: SSAValue) -> SSAValue:
            op = value.owner
            assert isinstance(op, tg.TgOp | AllSliceOp)
            builder.location = op.location
            new = [known[o] for o in operands(value)[::-1]]
            if isinstance(op, AllSliceOp):
                return self._sliced(op, new[0], known, builder)
            if isinstance(op, tg.AfterOp) and len(new) == 1:
                return new[0]
            made = op.rebuild(new)
            made.attributes.update(op.attributes)
            return builder.put(made)

        return tg.computed(value, known, operands, rebuilt)

    def _is_here(self, value: SSAValue, part: _Part) -> bool:
        """Whether a part waits for a value: an effect of another part has happened by then."""
        if value.type != tg.VOID:
            return True
        op = value.owner
        if isinstance(op, tg.GroupOp):
            return any(self._is_here(o, part) for o in op.operands)
        return op in part.ops

    def _sliced(
        self,
        op: AllSliceOp,
        value: SSAValue,
        known: dict[SSAValue, SSAValue],
        builder: tg.OpBuilder,
    ) -> SSAValue:
        """The device's own part of a value: a SHRINK at its number times the extent."""
        axis = op.slice_axis.value.data
        grid = self.grids[op.grid.string_value()]
        static = tg.tensor(op.result).get_shape()
        shape = [known[d] if isinstance(d, SSAValue) else d for d in tg.shape_of(op.input)]
        shape[axis] = extent = static[axis]
        start: list[int | SSAValue] = [0] * len(shape)
        if self.rank is None:
            size = builder.index_constant(extent)
            start[axis] = builder.put(tg.MulOp(known[self._rank(op)], size))
        else:
            device = self.grids[WORLD].devices[self.rank]
            start[axis] = grid.devices.index(device) * extent if device in grid.devices else 0
        return builder.put(tg.ShrinkOp(value, start, shape))


def is_exchange(op: Operation) -> TypeIs[CollectiveCommunicationOp]:
    """Whether devices exchange data by an op: not by ALL_SLICE, which takes what each has."""
    return isinstance(op, CollectiveCommunicationOp) and not isinstance(op, AllSliceOp)


def _attributes(value: SSAValue, given: Sequence[SSAValue]) -> dict[str, Attribute]:
    """The attributes of the argument of a part that stands for a value."""
    attributes: dict[str, Attribute] = {}
    op = value.owner
    if isinstance(value, BlockArgument):
        attributes.update(tg.argument_attributes(value))
        attributes.pop("tg.donated", None)  # It may be split, and needed after this part.
    elif isinstance(op, tg.ParamOp):
        for name, bound in (("tg.min", op.min), ("tg.max", op.max)):
            if bound is not None:
                attributes[name] = builtin.IntegerAttr(bound.data, tg.INDEX)
        if op.symbol is not None:
            attributes["tg.name"] = op.symbol
        if (constant := op.attributes.get("tg.constant")) is not None:
            attributes["tg.constant"] = constant
    dims = [d for d in tg.shape_of(value) if not isinstance(d, int)]
    if not all(d in given for d in dims):
        where = op if isinstance(op, Operation) else op.parent_op()
        message = "the dynamic dimensions of arguments and PARAMs are index arguments themselves"
        assert where is not None
        raise locate(PassFailedException(message), where)
    if dims:
        attributes["tg.dims"] = builtin.DenseArrayBase.from_list(
            builtin.i64, [given.index(d) for d in dims]
        )  # pyright: ignore
    return attributes
