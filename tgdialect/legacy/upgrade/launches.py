"""KERNEL as a call: of a `tg.kernel` if its body has loops, of a function if it has shapes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import errors_at, locate
from tgdialect.legacy.attributes import ViewAttr
from tgdialect.legacy.ops import framework, indexing
from tgdialect.legacy.ops import memory as old
from tgdialect.legacy.ops.control import LoopBegin
from tgdialect.legacy.rules import producer
from tgdialect.legacy.table import views_of
from tgdialect.legacy.upgrade.graphs import GraphUpgrade, LaunchKernel
from tgdialect.legacy.upgrade.kernel import upgrade_kernel
from tgdialect.legacy.upgrade.loops import access_of
from tgdialect.legacy.upgrade.views import Viewer
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol, symbols

_SAID = framework.NameOp | old.StoreOp | tg.GroupOp | tg.SinkOp
"""Ops of a kernel that its function says otherwise: with a name and results."""


class _Output(NamedTuple):
    """A STORE at the end of a kernel with shapes: its argument, and the views that it goes
    through."""

    slot: int
    views: Sequence[ViewAttr]
    is_gated: bool


class Launches:
    """Calls the kernels of a module, which become symbols of it."""

    def __init__(self, module: ModuleOp, *, reduces: bool) -> None:
        """`reduces` says whether loops of kernels that reduce become REDUCEs."""
        self.module = module
        self.reduces = reduces
        self.taken = symbols(module)

    def launch(self, op: framework.KernelOp, builder: tg.OpBuilder) -> Mapping[SSAValue, SSAValue]:
        """Call a KERNEL; returns what to wait for, for each argument that it writes."""
        names = [each.text.data for each in op.walk() if isinstance(each, framework.NameOp)]
        name = wanted = names[0] if names else op.label.data
        if name in self.taken:
            name = next_symbol(wanted, 1, self.taken)
        self.taken.add(name)
        lists = [each for each in op.body.block.ops if isinstance(each, tg.LinearOp)]
        ops = list((lists[0] if lists else op).body.block.ops)
        if lists or any(isinstance(each, LoopBegin | indexing.IndexOp) for each in ops):
            return self._call_kernel(name, op, ops, builder)
        return self._call_function(name, op, builder)

    def _insert(self, symbol: Operation, op: Operation) -> None:
        symbol.location, around = op.location, op
        while around.parent is not self.module.body.block:
            parent = around.parent_op()
            assert parent is not None
            around = parent
        Rewriter.insert_op(symbol, InsertPoint.before(around))

    # -- kernels with loops ----------------------------------------------------------------------

    def _call_kernel(
        self, name: str, op: framework.KernelOp, ops: Sequence[Operation], builder: tg.OpBuilder
    ) -> Mapping[SSAValue, SSAValue]:
        slots = sorted(each.slot.data for each in ops if isinstance(each, old.DefineGlobalOp))
        variables = [each.symbol.data for each in ops if isinstance(each, framework.DefineVarOp)]
        bound = _bound_values(op)
        with errors_at(op):
            kernel = upgrade_kernel(name, ops, reduces=self.reduces)
        self._insert(kernel, op)
        viewer = Viewer(builder)
        arguments = [
            viewer.reshaped(op.buffers[slot], tg.tensor(param.result).get_shape())
            for slot, param in zip(slots, kernel.params, strict=False)
        ]
        values = [tg.known_index(bound[variable]) for variable in variables]
        arguments += [builder.index_constant(value) for value in values if value is not None]
        return dict.fromkeys(op.buffers, builder.put(tg.CallOp(name, arguments)))

    # -- kernels with shapes ---------------------------------------------------------------------

    def _call_function(
        self, name: str, op: framework.KernelOp, builder: tg.OpBuilder
    ) -> Mapping[SSAValue, SSAValue]:
        buffers, bound = op.buffers, _bound_values(op)
        function, outputs = _function(name, op, self.launch)
        self._insert(function, op)
        results = function.function_type.outputs
        call = builder.put(tg.CallOp(name, [*buffers, *bound.values()], tg.TupleType(results)))
        values = iter([builder.put(tg.GetTupleOp(call, i)) for i in range(len(results))])
        effects: dict[SSAValue, list[SSAValue]] = defaultdict(list)
        for output in outputs:
            buffer = buffers[output.slot]
            location = Viewer(builder, writes=True).viewed(buffer, output.views)
            value = next(values)
            gate = next(values) if output.is_gated else None
            effects[buffer].append(builder.put(tg.StoreOp(location, value, gate)))
        return {
            buffer: stores[0] if len(stores) == 1 else builder.put(tg.GroupOp(stores))
            for buffer, stores in effects.items()
        }


def _bound_values(op: framework.KernelOp) -> Mapping[str, SSAValue]:
    """The values that the BINDs among the sources give variables, by their names."""
    bound: dict[str, SSAValue] = {}
    for argument in op.arguments:
        if isinstance(bind := argument.owner, framework.BindOp):
            variable = bind.variable.owner
            assert isinstance(variable, framework.DefineVarOp)
            bound[variable.symbol.data] = bind.value
    return bound


def _function(
    name: str, op: framework.KernelOp, launch: LaunchKernel
) -> tuple[FuncOp, list[_Output]]:
    """The function of the values that a kernel stores, of the memory that it reads."""
    values, block = _bound_values(op), op.body.block
    ops = list(block.ops)
    op.body.detach_block(block)
    memory = [block.insert_arg(buffer.type, slot) for slot, buffer in enumerate(op.buffers)]
    bound = {key: block.insert_arg(v.type, len(block.args)) for key, v in values.items()}
    builder = tg.OpBuilder(InsertPoint.at_start(block), op.location)
    # Stored values are returned, a gate after its value.
    outputs: list[_Output] = []
    returned: list[SSAValue] = []
    for store in [each for each in ops if isinstance(each, old.StoreOp)]:
        access = access_of(store)
        target = tg.memory_of(access.buffer)
        view = None if access.position is None else access.position.owner
        with errors_at(store):
            if not all(isinstance(use.operation, _SAID) for use in store.result.uses):
                raise PassFailedException("a kernel with shapes does not read what it has stored")
            if not isinstance(target.owner, old.DefineGlobalOp):
                rule = "a kernel with shapes stores to a DEFINE_GLOBAL, not to "
                raise PassFailedException(f"{rule}{producer(target)}")
            if not isinstance(view, indexing.ViewOp | None):
                raise PassFailedException("a kernel with shapes stores through a VIEW")
        views = (
            (ViewAttr.of(tg.tensor(store.value).get_shape()),) if view is None else views_of(view)
        )
        returned.append(store.value)
        if store.gate is not None:
            returned.append(store.gate)
        outputs.append(_Output(target.owner.slot.data, views, store.gate is not None))
    if not outputs:
        raise locate(PassFailedException(f"kernel {name} writes nothing"), op)
    block.add_op(ReturnOp(*returned))
    for each in reversed(ops):
        if isinstance(each, _SAID):
            Rewriter.erase_op(each)
    # DEFINE_GLOBALs and variables are the arguments.
    for each in list(block.ops):
        if isinstance(each, old.DefineGlobalOp):
            argument = memory[each.slot.data]
            shape = tg.tensor(each.result).get_shape()
            wanted = tg.tensor(argument).get_shape() if DYNAMIC_INDEX in shape else shape
            _replace(each, argument, wanted, builder)
        elif isinstance(each, framework.DefineVarOp):
            _replace(each, bound[each.symbol.data], (), builder)
    GraphUpgrade(builder, launch).rewrite(list(block.ops))
    last = block.last_op
    assert isinstance(last, ReturnOp)
    types = block.arg_types, [value.type for value in last.arguments]
    return FuncOp(name, types, Region(block), visibility="private"), outputs


def _replace(
    op: Operation, argument: SSAValue, shape: Sequence[int], builder: tg.OpBuilder
) -> None:
    """Let an argument, in a shape, take the place of the op that stands for it."""
    (result,) = op.results
    argument.name_hint = argument.name_hint or result.name_hint
    builder.move_before(op)
    if result.first_use is not None:
        result.replace_all_uses_with(Viewer(builder).reshaped(argument, shape))
    Rewriter.erase_op(op)
