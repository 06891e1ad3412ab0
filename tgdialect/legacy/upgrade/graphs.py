"""Programs on tensors: the ops of a function, and values on several devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import errors_at, locate, noted
from tgdialect.legacy.base import LegacyOp
from tgdialect.legacy.ops import compute, framework, indexing, vectors
from tgdialect.legacy.ops import memory as old
from tgdialect.legacy.table import device_of, views_of
from tgdialect.legacy.upgrade.arithmetic import Arithmetic
from tgdialect.legacy.upgrade.loops import access_of
from tgdialect.legacy.upgrade.views import Viewer, all_of, filled, zeros_like
from tgdialect.ops import movement, tg

LaunchKernel = Callable[[framework.KernelOp, tg.OpBuilder], Mapping[SSAValue, SSAValue]]
"""Calls a kernel; returns, for each argument that it writes, what to wait for."""


class GraphUpgrade:
    """Rewrites the ops of a block in place.

    The method for an op is `on_` and its name; ops without one are those of kernels.

    What an op becomes replaces its result. Ops that only tell others something (DEVICE, UNIQUE, a
    VIEW without a source, INDEX) stay until the end, when all ops of tg_legacy are erased.
    """

    def __init__(self, builder: tg.OpBuilder, launch: LaunchKernel) -> None:
        self.builder = builder
        self.launch = launch
        self.arithmetic = Arithmetic(builder, MinMax(), index_vectors=False)
        self.buffers: dict[int, SSAValue] = {}
        """The memory of each UNIQUE."""
        self.launched: dict[SSAValue, Mapping[SSAValue, SSAValue]] = {}
        """For each KERNEL, the effect to wait for to see each of the arguments that it writes."""
        self.variables: dict[str, int] = {}
        """The slots of variables."""

    def rewrite(self, ops: Sequence[Operation]) -> None:
        """Rewrite those of some ops, in the order of the block, that are of tg_legacy."""
        old_ops = [op for op in ops if isinstance(op, LegacyOp)]
        for op in old_ops:
            self.builder.move_before(op)
            rule = getattr(self, f"on_{op.name.removeprefix('tg_legacy.')}", None)
            if rule is None:
                message = f"{op.name} belongs in a kernel, not in a program on tensors"
                raise locate(PassFailedException(message), op)
            noted(rule.__name__, op)
            with errors_at(op):
                new = rule(op)
            if new is not None:
                _replace(op, new)
        for op in reversed(old_ops):
            Rewriter.erase_op(op)

    def put(self, op: Operation) -> SSAValue:
        return self.builder.put(op)

    # -- values ----------------------------------------------------------------------------------

    def pure(self, op: LegacyOp) -> SSAValue:
        for operand in op.operands:
            self.arithmetic.values[operand] = operand
        self.arithmetic.rewrite(op)
        return self.arithmetic.values[op.results[0]]

    on_noop = on_custom = on_customi = on_vconst = on_gep = on_vectorize = on_cat = pure
    on_alu = on_idiv = on_mod = on_fdiv = pure

    def on_const(self, op: vectors.ConstOp) -> SSAValue:
        value = filled(self.builder, tg.ConstOp(op.value), tg.tensor(op.result).get_shape())
        return self._on(value, tg.place(op.result).device, clone=False)

    def on_reduce_axis(self, op: compute.ReduceAxisOp) -> SSAValue:
        return self.put(tg.ReduceOp(op.kind.data, op.source, tg.integers(op, "axes")))

    def on_pad(self, op: indexing.PadOp) -> SSAValue:
        offsets = [pair.data[0].data for pair in op.pairs]
        shape, dtype = tg.tensor(op.result).get_shape(), tg.tensor(op.result).element_type
        value = self._on(op.source, None, clone=False)
        return self.put(movement.PadOp(value, offsets, shape, tg.number_attribute(0, dtype)))

    def on_shrink(self, op: indexing.ShrinkOp) -> SSAValue:
        offsets = [pair.data[0].data for pair in op.pairs]
        value = self._on(op.source, None, clone=False)
        return self.put(movement.ShrinkOp(value, offsets, tg.tensor(op.result).get_shape()))

    def on_define_var(self, op: framework.DefineVarOp) -> None:
        """A PARAM, where it is used without a BIND, which refers to the DEFINE_VAR."""
        if all(isinstance(use.operation, framework.BindOp) for use in op.result.uses):
            return
        slot = self.variables.setdefault(op.symbol.data, len(self.variables))
        low, high = op.min.data, op.max.data
        param = tg.ParamOp(slot, tg.tensor(op.result), name=op.symbol.data, min=low, max=high)
        _replace(op, self.put(param), but_for=framework.BindOp)

    def on_bind(self, op: framework.BindOp) -> None:
        """The value; a KERNEL finds the variable's name at the BIND."""
        _replace(op, op.value, but_for=framework.KernelOp)

    def on_view(self, op: indexing.ViewOp) -> None:
        """Movements, for all but VALID, which refers to the VIEW."""
        if op.source is not None and op.device is None:
            viewed = Viewer(self.builder).viewed(op.source, views_of(op))
            _replace(op, viewed, but_for=indexing.ValidOp)

    def on_valid(self, op: indexing.ValidOp) -> SSAValue:
        assert isinstance(op.view.owner, indexing.ViewOp)
        return Viewer(self.builder).valid(views_of(op.view.owner))

    # -- devices ---------------------------------------------------------------------------------

    def on_copy(self, op: framework.CopyOp) -> SSAValue:
        return self._on(op.source, device_of(op.device), clone=op.is_clone is not None)

    def _on(self, value: SSAValue, device: tg.Device, *, clone: bool) -> SSAValue:
        """A value on a device. Data that is there already is copied only for a clone."""
        if device is not None and (tg.place(value).device != device or clone):
            return self.put(tg.CopyOp(value, device, clone=clone))
        return self.put(tg.LoadOp(value)) if tg.is_memory(value) else value

    def on_multi(self, op: framework.MultiOp) -> SSAValue:
        """Shards come together on the first device, and are distributed again as one tensor."""
        devices = tg.place(op.result).device
        assert isinstance(devices, tuple)
        axis = tg.integer(op, "axis")
        # A shard that holds no data is zeros.
        shards = [
            self._on(each if real else zeros_like(self.builder, each), devices[0], clone=False)
            for each, real in zip(op.shards, op.flags.get_values(), strict=True)
        ]
        if axis is None:
            return self._replicated(shards[0], devices)
        stack = self.put(movement.StackOp(shards))
        whole = self.put(tg.CopyOp(stack, devices))
        # Axis 0 is that of the devices: to where it is split, and into the axis there.
        rank = len(tg.tensor(whole).get_shape())
        order = (*range(1, axis + 1), 0, *range(axis + 1, rank))
        if axis:
            whole = self.put(movement.PermuteOp(whole, order))
        return self.put(movement.ReshapeOp(whole, tg.tensor(op.result).get_shape()))

    def _replicated(self, value: SSAValue, devices: tuple[str, ...]) -> SSAValue:
        """The same value on all devices, as the specification's broadcast."""
        shape = tg.tensor(value).get_shape()
        row = Viewer(self.builder).reshaped(value, (1, *shape))
        rows = self.put(movement.ExpandOp(row, (len(devices), *shape)))
        return self.put(tg.ReplicatedOp(self.put(tg.CopyOp(rows, devices)), 0))

    # -- memory ----------------------------------------------------------------------------------

    def on_buffer(self, op: old.BufferOp) -> SSAValue:
        id = tg.integer(op.unique.owner, "id") if isinstance(op.unique.owner, Operation) else None
        assert id is not None
        known = self.buffers.get(id)
        if known is None:
            known = self.buffers[id] = self.on_empty(op)
        elif known.type != op.result.type:
            raise PassFailedException(f"UNIQUE {id} is {known.type} already, not {op.result.type}")
        return known

    def on_empty(self, op: old.BufferOp | framework.EmptyOp) -> SSAValue:
        return self.put(tg.BufferOp(next(self.builder.free_slots), tg.tensor(op.result)))

    def on_buffer_view(self, op: old.BufferViewOp) -> SSAValue:
        return self.put(movement.ShrinkOp(op.buffer, (op.offset.data,), (op.size.data,)))

    def on_load(self, op: old.LoadOp) -> SSAValue:
        location, gate = self._accessed(op)
        if gate is None:
            return self.put(tg.LoadOp(location))
        # Where the gate is false, a LOAD that gives no other value gives 0.
        other = zeros_like(self.builder, op.result) if op.alt is None else op.alt
        return self.put(tg.LoadOp(location, other, gate))

    def on_store(self, op: old.StoreOp) -> SSAValue:
        location, gate = self._accessed(op)
        return self.put(tg.StoreOp(location, op.value, gate))

    def _accessed(self, op: old.LoadOp | old.StoreOp) -> tuple[SSAValue, SSAValue | None]:
        """The memory that an access reads or writes, and its gate."""
        access = access_of(op)
        buffer, position = access.buffer, access.position
        if op.dependencies:
            buffer = self.put(tg.AfterOp(buffer, op.dependencies))
        if position is not None and isinstance(view := position.owner, indexing.ViewOp):
            viewer = Viewer(self.builder, writes=isinstance(op, old.StoreOp))
            buffer = viewer.viewed(buffer, views_of(view))
        elif access.lanes > 1:
            raise PassFailedException("a vector at a position belongs in a kernel")
        elif position is not None:
            buffer = self.put(movement.IndexOp(buffer, (position,)))
        return buffer, all_of(self.builder, access.conditions)

    def on_assign(self, op: framework.AssignOp) -> SSAValue:
        if (written := self.launched.get(op.value)) is not None:
            effect = written.get(op.target)
            if effect is None:
                raise PassFailedException("the KERNEL does not write the target of this ASSIGN")
        else:
            effect = self.put(tg.StoreOp(op.target, op.value))
        return self.put(tg.AfterOp(op.target, (effect,)))

    def on_kernel(self, op: framework.KernelOp) -> None:
        self.launched[op.result] = self.launch(op, self.builder)

    def nothing(self, op: Operation) -> None:
        """An op that is read where it is used."""

    on_device = on_unique = on_name = on_index = nothing


def _replace(op: Operation, new: SSAValue, *, but_for: type[Operation] | None = None) -> None:
    """Let what an op becomes take its place, but for the users of a type that refer to the op."""
    new.name_hint = new.name_hint or op.results[0].name_hint
    op.results[0].replace_uses_with_if(
        new, lambda use: but_for is None or not isinstance(use.operation, but_for)
    )
