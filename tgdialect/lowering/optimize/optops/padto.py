"""PADTO: a range padded to a multiple; iterations past the end are masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.ranges import is_expanded
from tgdialect.lowering.matrix_products import is_zero, product_of
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError, NoChangeError, padded_extent
from tgdialect.lowering.recomputation import computed_again, renumber
from tgdialect.ops import tg


def padto(axes: Axes, axis: int, multiple: int, where: str = "") -> None:
    """Pad a range to the next multiple; iterations past the end are masked. A multiple stays as it
    is, and the kernel does not record the OptOp.

    before -> after:
        padto 0, 16:  range 0 loop to 100 -> range 0 loop to 112
    and a dynamic extent n becomes `(n + 15) / 16 * 16`, of which SPLIT makes parts.
    A STORE is gated by `i < 100`, and a REDUCE takes its identity elsewhere. LOADs are of the last
    iteration that there is, or gated where vectors may lie along the range: where neighbouring
    iterations load neighbouring cells, and store such, or reduce. With `clamp` these are not:
    vectors lie along another range. On a grid, LOADs of memory that the kernel writes are gated,
    since another workgroup may be writing the cell, and those of LOCAL buffers, since they may
    become registers.

    With `zero`, as TC pads for instructions that read LOCAL memory, both factors of a product are
    gated and 0 past the end, in whatever order they lie. A sum of such products has no mask: the
    instruction, which adds up all that has been copied, computes it.
    """
    range = axes[axis]
    extent = tg.known_index(range.bound)
    axes.check_no_fragment(range)
    if is_expanded(range):
        raise IllegalOptError(f"range {axis} is {range.axis_type.data}")
    if padded_extent(range) is not None:
        raise IllegalOptError(f"range {axis} is padded already")
    axes.check_unordered(range)
    if axes.is_multiple(range, multiple):
        to = "" if extent is None else f" to {extent}"
        raise NoChangeError(f"range {axis}{to} is a multiple of {multiple} already")
    axes.check_bounds_none(range)
    if axes.has_atomics(range):
        raise IllegalOptError(f"an ATOMICADD is in range {axis}, and cannot be gated")
    gated: list[tg.LoadOp] = []
    stored = [axes.strides(store.buffer).get(range) for store in axes.stores(range)]
    has_vectors = range not in axes.ends or 1 in stored
    if has_vectors and where != "clamp":
        gated = [a for a in axes.reads(range) if axes.strides(a.buffer).get(range) == 1]
    if extent is None and not axes.target.is_grid:
        # `peel.py` drops gates, which are linear in the index, and no clamps.
        gated = [load for load in axes.reads(range) if axes.depends_on_index(load.buffer, range)]
    if where == "zero":
        gated += [load for load in _factors(axes, range) if load not in gated]
    if axes.target.is_grid:
        gated += [load for load in _of_others(axes, range) if load not in gated]
    padded = multiple if extent is None else -(-extent // multiple) * multiple
    if padded > tg.DTYPES[tg.INDEX].high:
        raise IllegalOptError(f"range {axis} to {padded} has more iterations than an index counts")
    axes.check_work_items(range, range.axis_type.data, padded)
    _pad(axes, range, multiple, gated)


def _factors(axes: Axes, range: tg.RangeOp) -> Sequence[tg.LoadOp]:
    """The LOADs that are factors of a sum of products, and that the index of a range moves."""
    products = [product_of(op.source) for op in axes.ops if isinstance(op, tg.ReduceOp)]
    factors = [factor.owner for product in products if product for factor in product[:2]]
    loads = [op for op in factors if isinstance(op, tg.LoadOp)]
    return [load for load in loads if axes.depends_on_index(load.buffer, range)]


def _of_others(axes: Axes, range: tg.RangeOp) -> Iterator[tg.LoadOp]:
    """The LOADs in the loop of a range of parameters that it writes, and of LOCAL buffers. With a
    gate, a work item that reads cells of its own reads no other's, so that these cells of a LOCAL
    buffer may be registers."""
    written = {tg.memory_of(store.buffer) for store in axes.stores(range)}
    for load in axes.reads(range):
        memory, space = tg.memory_of(load.buffer), tg.place(load.buffer).addrspace
        is_local = isinstance(memory.owner, tg.BufferOp) and space is tg.AddrSpace.LOCAL
        if is_local or (isinstance(memory.owner, tg.ParamOp) and memory in written):
            yield load


def _pad(axes: Axes, range: tg.RangeOp, multiple: int, gated: Sequence[tg.LoadOp]) -> None:
    stores = [store for store in axes.stores(range) if not _is_own(axes, store, range)]
    put, extent, dtype = tg.OpBuilder.before(range).put, range.bound, tg.tensor(range.bound)
    known = tg.known_index(extent)
    numbers = (1, multiple) if known is None else (known - 1, -(-known // multiple) * multiple)
    last, bound = (put(tg.ConstOp(n, dtype.element_type)) for n in numbers)
    if known is None:
        one, part = last, bound
        last = put(tg.SubOp(extent, one))
        bound = put(tg.MulOp(put(tg.IDivOp(put(tg.AddOp(last, part)), part)), part))
    range.operands = (bound,)
    inside = tg.OpBuilder.after(range)
    gate = inside.put(tg.CmpLtOp(range.result, extent))
    clamped = inside.put(tg.WhereOp(gate, range.result, last))
    if known is not None or axes.target.is_grid:
        renumber(range, clamped, gate.owner, clamped.owner)
    zero = [op for op in axes.reductions.get(range, ()) if _adds_zero(op, gated)]
    for load in gated:
        _gate_load(load, gate, range.result, clamped)
    for store in stores:
        _gate_store(store, gate, range.result, clamped)
    for op in axes.reductions.get(range, ()):
        if op not in zero:
            dtype = tg.tensor(op.source).element_type
            builder = tg.OpBuilder.before(op)
            neutral = builder.put(tg.ConstOp(tg.identity(op.kind.data, tg.DTYPES[dtype]), dtype))
            op.operands[0] = builder.put(tg.WhereOp(gate, op.source, neutral))
    axes.changed()


def _adds_zero(op: tg.ReduceOp, gated: Sequence[tg.LoadOp]) -> bool:
    """Whether a REDUCE adds 0 where LOADs are gated: products of two of them, which give 0 there.
    0 times anything else may be NaN."""
    product = product_of(op.source) if op.kind.data is tg.ReduceKind.ADD else None
    return product is not None and all(
        isinstance(load := factor.owner, tg.LoadOp)
        and load in gated
        and (load.gate is None or (load.alt is not None and is_zero(load.alt)))
        for factor in product[:2]
    )


def _is_own(axes: Axes, store: tg.StoreOp, range: tg.RangeOp) -> bool:
    """Whether a STORE is to a buffer that each iteration of a range has for itself: one past the
    end reads what it has stored, and nothing comes of it."""
    memory = tg.memory_of(store.buffer).owner
    is_private = isinstance(memory, tg.BufferOp) and axes.is_private(memory, range)
    return is_private and not axes.depends_on_index(store.buffer, range)


def _gate_load(load: tg.LoadOp, gate: SSAValue, index: SSAValue, clamped: SSAValue) -> None:
    """A LOAD with a gate, at the index that is not clamped."""
    builder = tg.OpBuilder.before(load)
    location = computed_again(builder, load.buffer, {clamped: index})
    if load.gate is not None and load.alt is not None:
        alt, gate = load.alt, builder.put(tg.AndOp(load.gate, gate))
    else:
        alt = builder.put(tg.ConstOp(0, tg.tensor(load.result).element_type))
    new = builder.put(tg.LoadOp(location, alt, gate))
    new.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(new)
    load.detach()
    load.erase()


def _gate_store(store: tg.StoreOp, gate: SSAValue, index: SSAValue, clamped: SSAValue) -> None:
    """A gate for a STORE, and the index that is not clamped for its location."""
    builder = tg.OpBuilder.before(store)
    location = computed_again(builder, store.buffer, {clamped: index})
    if store.gate is not None:
        gate = builder.put(tg.AndOp(store.gate, gate))
    store.operands = (location, store.value, gate)
