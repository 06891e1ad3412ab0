"""KERNEL as a call: of a `tg.kernel` if its body has loops, of a function if it has shapes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
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
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.numbering import symbols
from tgdialect.ops.properties import integer, is_memory, known_index, tensor
from tgdialect.ops.views import memory_of

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

    def launch(self, op: framework.KernelOp, builder: OpBuilder) -> Mapping[SSAValue, SSAValue]:
        """Call a KERNEL; returns what to wait for, for each argument that it writes."""
        names = [each.text.data for each in op.walk() if isinstance(each, framework.NameOp)]
        name = self._unique(names[0] if names else op.label.data)
        lists = [each for each in op.body.block.ops if isinstance(each, tg.LinearOp)]
        ops = list((lists[0] if lists else op).body.block.ops)
        if lists or any(isinstance(each, LoopBegin | indexing.IndexOp) for each in ops):
            return self._call_kernel(name, op, ops, builder)
        return self._call_function(name, op, builder)

    def _unique(self, name: str) -> str:
        """The name, or the name and a number."""
        wanted, number = name, 0
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name

    def _insert(self, symbol: Operation, op: framework.KernelOp) -> None:
        around: Operation = op
        while around.parent is not self.module.body.block:
            parent = around.parent_op()
            assert parent is not None
            around = parent
        symbol.location = op.location
        Rewriter.insert_op(symbol, InsertPoint.before(around))

    # -- kernels with loops ----------------------------------------------------------------------

    def _call_kernel(
        self, name: str, op: framework.KernelOp, ops: Sequence[Operation], builder: OpBuilder
    ) -> Mapping[SSAValue, SSAValue]:
        buffers = op.buffers
        slots = sorted(
            integer(each, "slot") or 0 for each in ops if isinstance(each, old.DefineGlobalOp)
        )
        variables = [each for each in ops if isinstance(each, framework.DefineVarOp)]
        bound = _bound_values(op)
        with errors_at(op):
            kernel = upgrade_kernel(name, ops, reduces=self.reduces)
        self._insert(kernel, op)
        viewer = Viewer(builder)
        arguments = [
            viewer.reshaped(buffers[slot], tensor(param.result).get_shape())
            for slot, param in zip(slots, kernel.params, strict=False)
        ]
        for variable in variables:
            value = known_index(bound[variable.symbol.data])
            assert value is not None
            arguments.append(builder.index_constant(value))
        call = builder.put(tg.CallOp(name, arguments))
        return dict.fromkeys(buffers, call)

    # -- kernels with shapes ---------------------------------------------------------------------

    def _call_function(
        self, name: str, op: framework.KernelOp, builder: OpBuilder
    ) -> Mapping[SSAValue, SSAValue]:
        buffers = op.buffers
        arguments = [*buffers, *_bound_values(op).values()]
        function, outputs = _function(name, op, self.launch)
        self._insert(function, op)
        results = function.function_type.outputs
        call = builder.put(tg.CallOp(name, arguments, tg.TupleType(results)))
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
    ops = list(op.body.block.ops)
    types = [*(buffer.type for buffer in op.buffers)]
    types += [value.type for value in _bound_values(op).values()]
    block = Block(arg_types=types)
    for each in ops:
        each.detach()
    block.add_ops(ops)
    builder = OpBuilder(InsertPoint.at_start(block), op.location)
    memory = [argument for argument in block.args if is_memory(argument)]
    bound = dict(zip(_bound_values(op), block.args[len(memory) :], strict=True))
    # What is stored is returned, a gate after its value.
    outputs: list[_Output] = []
    returned: list[SSAValue] = []
    for store in [each for each in ops if isinstance(each, old.StoreOp)]:
        if not all(isinstance(use.operation, _SAID) for use in store.result.uses):
            message = "a kernel with shapes does not read what it has stored"
            raise locate(PassFailedException(message), store)
        access = access_of(store)
        target = memory_of(access.buffer)
        if not isinstance(target.owner, old.DefineGlobalOp):
            message = f"a kernel with shapes stores to a DEFINE_GLOBAL, not to {producer(target)}"
            raise locate(PassFailedException(message), store)
        view = None if access.position is None else access.position.owner
        if view is not None and not isinstance(view, indexing.ViewOp):
            raise locate(PassFailedException("a kernel with shapes stores through a VIEW"), store)
        views = (ViewAttr.of(tensor(store.value).get_shape()),) if view is None else views_of(view)
        returned.append(store.value)
        if store.gate is not None:
            returned.append(store.gate)
        outputs.append(_Output(target.owner.slot.data, views, store.gate is not None))
    if not outputs:
        raise locate(PassFailedException(f"kernel {name} writes nothing"), op)
    block.add_op(ReturnOp(*returned))
    for each in reversed(ops):
        if isinstance(each, _SAID):
            each.detach()
            each.erase()
    # DEFINE_GLOBALs and variables are the arguments.
    for each in list(block.ops):
        if isinstance(each, old.DefineGlobalOp):
            argument = memory[each.slot.data]
            shape = tensor(each.result).get_shape()
            wanted = tensor(argument).get_shape() if DYNAMIC_INDEX in shape else shape
            _replace(each, argument, wanted, builder)
        elif isinstance(each, framework.DefineVarOp):
            _replace(each, bound[each.symbol.data], (), builder)
    rest = list(block.ops)
    GraphUpgrade(builder, launch).rewrite(rest)
    last = block.last_op
    assert isinstance(last, ReturnOp)
    inputs = [argument.type for argument in block.args]
    results = [value.type for value in last.arguments]
    function = FuncOp(name, (inputs, results), Region(block), visibility="private")
    return function, outputs


def _replace(op: Operation, argument: SSAValue, shape: Sequence[int], builder: OpBuilder) -> None:
    """Let an argument, in a shape, take the place of the op that stands for it."""
    (result,) = op.results
    argument.name_hint = argument.name_hint or result.name_hint
    builder.move_before(op)
    if result.first_use is not None:
        result.replace_all_uses_with(Viewer(builder).reshaped(argument, shape))
    op.detach()
    op.erase()
