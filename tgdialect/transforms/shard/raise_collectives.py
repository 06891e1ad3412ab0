"""`tg-raise-collectives`: compositions of exchanges, repetitions and reductions, as one collective.

| composition | collective |
|---|---|
| `all_to_all` of one part, repeated for each device | `all_gather` |
| `scatter` of one part, repeated for each device | `broadcast` |
| `all_slice` of one part, repeated for each device | none |
| REDUCE over what `all_to_all` has joined | `reduce_scatter` |
| REDUCE over what `gather` has joined | `reduce` |
| `all_gather` of a `reduce_scatter` | `all_reduce` |
| `all_slice` of an `all_reduce` | `reduce_scatter` |
| a collective of a RESHAPE | RESHAPE of the collective |

Movements between the ops are no matter: they are compared as layouts (`factors.py`). The last rule
leaves fewer steps to execute between collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.shard import (
    AllReduceOp,
    BroadcastOp,
    CollectiveCommunicationOp,
    GatherOp,
    ReduceOp,
    ReductionKind,
    ScatterOp,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from tgdialect.analysis.symbols import own_functions
from tgdialect.diagnostics import noted
from tgdialect.ops import tg
from tgdialect.shard_dialect import AllGatherOp, AllSliceOp, AllToAllOp, ReduceScatterOp
from tgdialect.transforms.shard.collectives import JOINED, REDUCTIONS, SPLIT, collective
from tgdialect.transforms.shard.factors import (
    AxisFactor,
    Layout,
    chain_of,
    emit,
    is_plain,
    is_reshape,
    layout_in,
    leaves,
)
from tgdialect.transforms.shard.grids import Grid, grids_of

KINDS = {reduction: kind for kind, reduction in REDUCTIONS.items()}
"""The kind of REDUCE of each reduction that a collective may have."""


@dataclass(frozen=True)
class RaiseCollectivesPass(ModulePass):
    """Replace compositions of collectives by collectives that move the same cells once.

    Takes what `tg-lower-shards` makes. Raised collectives send no more bytes than the textbook
    algorithms of each.
    """

    name = "tg-raise-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise_collectives(op)


def raise_collectives(module: ModuleOp) -> None:
    """Apply the pass."""
    grids = grids_of(module)
    if not grids:
        return
    for function in own_functions(module):
        # Sources come first, so that an `all_gather` sees the `reduce_scatter` that was raised.
        for op in list(function.body.block.ops):
            _raise(op, grids)


def _raise(op: Operation | Block, grids: dict[str, Grid]) -> None:
    """Replace an op by a collective, and that one by another, as long as a rule does."""
    while isinstance(op, Operation) and op.parent is not None:
        rule = _RULES.get(type(op))
        new = None if rule is None else rule(op, grids)
        if rule is None or new is None:
            return
        noted(rule.__name__, op)
        _replace(op, new)
        op = chain_of(new)[-1].owner


def _replace(op: Operation, new: SSAValue) -> None:
    """Replace an op by a value, and erase it and what only it has used."""
    new.name_hint = new.name_hint or op.results[0].name_hint
    op.results[0].replace_all_uses_with(new)
    dead = [op]
    while dead:
        each = dead.pop()
        operands = [o.owner for o in each.operands]
        if each.parent is not None and is_trivially_dead(each):
            each.parent.erase_op(each)
            dead += [o for o in operands if isinstance(o, Operation)]


def _is_used_once(values: Sequence[SSAValue]) -> bool:
    """Whether nothing but the end of a chain is made of its values."""
    return all(len(list(value.uses)) == 1 for value in values)


def _layout(chain: Sequence[SSAValue], source: Layout) -> Layout | None:
    """The layout of the first value of a chain; None if a factor of it is repeated."""
    layout = layout_in(chain, source)
    is_plain = layout is not None and not any(f.is_repeated for a in layout.axes for f in a)
    return layout if is_plain else None


# -- one part, repeated for each device ----------------------------------------------------------


def _one_part(value: SSAValue, axis: int, grid: Grid, builder: tg.OpBuilder) -> SSAValue | None:
    """The part along an axis of a value whose parts for all devices are equal; None for others."""
    chain = chain_of(value)
    if not is_plain(value) or len(grid.devices) == 1:
        return None
    source = Layout.of(tg.tensor(chain[-1]).get_shape())
    layout = layout_in(chain, source)
    lead = None if layout is None else layout.leading(axis, len(grid.devices))
    if layout is None or lead is None or not all(f.is_repeated for f in lead):
        return None
    return emit(builder, chain[-1], source, layout.without(lead))


def _raise_parts(
    op: AllToAllOp | ScatterOp | AllSliceOp, grids: dict[str, Grid]
) -> SSAValue | None:
    """A collective that gives each device a part, if all parts are equal."""
    grid, builder = _grid(op, grids), tg.OpBuilder.before(op)
    part = _one_part(op.input, _axis(op, SPLIT), grid, builder)
    if part is None or isinstance(op, AllSliceOp):
        return part
    if isinstance(op, AllToAllOp):
        new = collective(AllGatherOp, part, grid, joined=_axis(op, JOINED))
    else:
        new = collective(BroadcastOp, part, grid, root=_root(op))
    return builder.put(new)


# -- REDUCE over what a collective has joined ----------------------------------------------------


def _raise_reduction(op: tg.ReduceOp, grids: dict[str, Grid]) -> SSAValue | None:
    chain = chain_of(op.source)
    joined = chain[-1].owner
    if not isinstance(joined, AllToAllOp | GatherOp) or op.ordered is not None or op.ranges:
        return None
    if not is_plain(op.source) or not _is_used_once(chain):
        return None
    # The factor of the devices, and those that are reduced.
    grid = _grid(joined, grids)
    source = Layout.of(tg.tensor(joined.result).get_shape())
    devices = source.leading(_axis(joined, JOINED), len(grid.devices))
    layout = _layout(chain, source)
    if layout is None or devices is None:
        return None
    axes = op.axes.get_values()
    reduced = [f for axis in axes for f in layout.axes[axis]]
    devices = leaves(devices)
    if not all(f in reduced for f in devices):
        return None
    # Reduce what is the device's own first, so that less is sent: the whole axes of which all
    # factors are reduced anyway.
    builder, kind, value = tg.OpBuilder.before(op), op.kind.data, joined.input
    own, rest = source.without(devices), layout.without(devices)
    reduced = [f for axis in axes for f in rest.axes[axis]]
    split = _axis(joined, SPLIT) if isinstance(joined, AllToAllOp) else None
    whole = [i for i, axis in enumerate(own.axes) if axis and i != split and {*axis} <= {*reduced}]
    if whole:
        gone = [f for axis in whole for f in own.axes[axis]]
        value = builder.put(tg.ReduceOp(kind, value, whole))
        own, rest = own.without(gone), rest.without(gone)
    if isinstance(joined, AllToAllOp):
        new = collective(ReduceScatterOp, value, grid, split=split, reduction=kind)
    else:
        root = _root(joined)
        device = grid.devices[root]
        new = collective(ReduceOp, value, grid, reduction=kind, root=root, device=device)
    moved = emit(builder, builder.put(new), own, rest)
    if any(rest.axes[axis] for axis in axes):
        moved = builder.put(tg.ReduceOp(kind, moved, axes))
    return moved


# -- pairs of collectives ------------------------------------------------------------------------


def _raise_all_gather(op: AllGatherOp, grids: dict[str, Grid]) -> SSAValue | None:
    chain = chain_of(op.input)
    scattered = chain[-1].owner
    if not isinstance(scattered, ReduceScatterOp) or scattered.grid != op.grid:
        return _reshaped_later(op, grids)
    if not is_plain(op.input) or not _is_used_once(chain):
        return None
    grid = _grid(op, grids)
    # The axes of what is reduced, of which the scattered one begins with the devices.
    source = Layout.of(tg.tensor(scattered.result).get_shape())
    if (layout := _layout(chain, source)) is None:
        return None
    devices = AxisFactor(len(grid.devices))
    whole, gathered = source.axes, layout.axes
    whole[_axis(scattered, SPLIT)].insert(0, devices)
    gathered[_axis(op, JOINED)].insert(0, devices)
    if (kind := _kind(scattered)) is None:
        return None
    builder = tg.OpBuilder.before(op)
    reduced = builder.put(collective(AllReduceOp, scattered.input, grid, reduction=kind))
    return emit(builder, reduced, Layout(whole), Layout(gathered))


def _raise_all_slice(op: AllSliceOp, grids: dict[str, Grid]) -> SSAValue | None:
    if (part := _raise_parts(op, grids)) is not None:
        return part
    chain = chain_of(op.input)
    reduced = chain[-1].owner
    if not isinstance(reduced, AllReduceOp) or reduced.grid != op.grid:
        return None
    if not is_plain(op.input) or not _is_used_once(chain) or (kind := _kind(reduced)) is None:
        return None
    source = Layout.of(tg.tensor(reduced.result).get_shape())
    if (layout := _layout(chain, source)) is None:
        return None
    builder = tg.OpBuilder.before(op)
    value = emit(builder, reduced.input, source, layout)
    axis, grid = _axis(op, SPLIT), _grid(op, grids)
    return builder.put(collective(ReduceScatterOp, value, grid, split=axis, reduction=kind))


# -- collectives of a RESHAPE --------------------------------------------------------------------


def _reshaped_later(op: CollectiveCommunicationOp, grids: dict[str, Grid]) -> SSAValue | None:
    """RESHAPE of the collective of what `op`'s operand is a RESHAPE of; None if its operand is
    none, or its axis begins where none of the source begins."""
    operand = op.operands[0]
    source = _before_reshapes(operand)
    if source is operand or not is_plain(source):
        return None
    shape, result = list(tg.tensor(source).get_shape()), tg.tensor(op.results[0])
    properties = dict(op.properties)
    joins = isinstance(op, AllGatherOp)
    names = JOINED if joins else SPLIT
    if (name := names.get(type(op))) is not None:
        parts = len(_grid(op, grids).devices)
        outer = prod(tg.tensor(operand).get_shape()[: _axis(op, names)])
        at = [
            axis
            for axis, extent in enumerate(shape)
            if prod(shape[:axis]) == outer and (joins or extent % parts == 0)
        ]
        if not at:
            return None
        axis = at[-1]
        shape[axis] = shape[axis] * parts if joins else shape[axis] // parts
        properties[name] = IntegerAttr.from_index_int_value(axis)
    builder = tg.OpBuilder.before(op)
    type_ = TensorType(result.element_type, shape, result.encoding)
    moved = type(op).create(operands=[source], result_types=[type_], properties=properties)
    return builder.put(tg.ReshapeOp(builder.put(moved), result.get_shape()))


def _without_reshape(op: tg.ReshapeOp | tg.PermuteOp, grids: dict[str, Grid]) -> SSAValue | None:
    """The value before RESHAPEs that end in the shape in which they began."""
    source = _before_reshapes(op.result)
    return source if source is not op.result and source.type == op.result.type else None


def _before_reshapes(value: SSAValue) -> SSAValue:
    """The source of a chain of RESHAPEs, and of PERMUTEs that move only axes of extent 1."""
    while is_reshape(op := value.owner):
        value = op.source
    return value


# -- properties ----------------------------------------------------------------------------------


def _grid(op: CollectiveCommunicationOp, grids: dict[str, Grid]) -> Grid:
    return grids[op.grid.string_value()]


def _axis(op: CollectiveCommunicationOp, names: Mapping[type[Operation], str]) -> int:
    return op.properties[names[type(op)]].value.data  # pyright: ignore


def _root(op: ScatterOp | GatherOp) -> int:
    return op.root.get_values()[0]


def _kind(op: AllReduceOp | ReduceScatterOp) -> tg.ReduceKind | None:
    return KINDS.get(ReductionKind(op.reduction.data))


_RULES: dict[type[Operation], Callable[[Any, dict[str, Grid]], SSAValue | None]] = {
    AllReduceOp: _reshaped_later,
    AllGatherOp: _raise_all_gather,
    AllSliceOp: _raise_all_slice,
    AllToAllOp: _raise_parts,
    BroadcastOp: _reshaped_later,
    tg.PermuteOp: _without_reshape,
    tg.ReduceOp: _raise_reduction,
    ReduceScatterOp: _reshaped_later,
    tg.ReshapeOp: _without_reshape,
    ScatterOp: _raise_parts,
}
"""The rule of each op that a composition ends with."""
