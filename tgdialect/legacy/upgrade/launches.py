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

from tgdialect.diagnostics import locate
from tgdialect.legacy.attributes import ViewAttr
from tgdialect.legacy.ops import framework, indexing
from tgdialect.legacy.ops import memory as old
from tgdialect.legacy.ops.control import LoopBegin
from tgdialect.legacy.table import views_of
from tgdialect.legacy.upgrade.accesses import access_of
from tgdialect.legacy.upgrade.graphs import GraphUpgrade
from tgdialect.legacy.upgrade.kernel import upgrade_kernel
from tgdialect.legacy.upgrade.views import Viewer
from tgdialect.ops.attributes import TupleType
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import CallOp, GetTupleOp
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.numbering import symbols
from tgdialect.ops.ordering import GroupOp, LinearOp, SinkOp
from tgdialect.ops.properties import integer, is_memory, known_index, tensor
from tgdialect.ops.views import memory_of

_SAID = old.DefineGlobalOp | framework.DefineVarOp | framework.NameOp | old.StoreOp | SinkOp
"""Ops of a kernel that its function says otherwise: with arguments, a name and results."""


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
        names = (each for each in op.body.block.ops if isinstance(each, framework.NameOp))
        named = next(names, None)
        name = self._unique(op.label.data if named is None else named.text.data)
        lists = [each for each in op.body.block.ops if isinstance(each, LinearOp)]
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
        kernel = upgrade_kernel(name, ops, reduces=self.reduces)
        self._insert(kernel, op)
        viewer = Viewer(builder)
        arguments = [
            viewer.reshaped(buffers[slot], tensor(param.result).get_shape())
            for slot, param in zip(slots, kernel.params, strict=False)
        ]
        for variable in variables:
            value = bound.get(variable.symbol.data)
            if value is None:
                raise locate(
                    PassFailedException(f"no BIND gives {variable.symbol} a value"), variable
                )
            arguments.append(builder.index_constant(known_index(value) or 0))
        call = builder.put(CallOp(name, arguments))
        return dict.fromkeys(buffers, call)

    # -- kernels with shapes ---------------------------------------------------------------------

    def _call_function(
        self, name: str, op: framework.KernelOp, builder: OpBuilder
    ) -> Mapping[SSAValue, SSAValue]:
        buffers = op.buffers
        arguments = [*buffers, *_bound_values(op).values()]
        function, outputs = _function(name, op)
        self._insert(function, op)
        results = function.function_type.outputs
        call = builder.put(CallOp(name, arguments, TupleType(results)))
        values = iter([builder.put(GetTupleOp(call, i)) for i in range(len(results))])
        effects: dict[SSAValue, list[SSAValue]] = defaultdict(list)
        for output in outputs:
            buffer = buffers[output.slot]
            location = Viewer(builder, writes=True).viewed(buffer, output.views)
            value = next(values)
            gate = next(values) if output.is_gated else None
            effects[buffer].append(builder.put(StoreOp(location, value, gate)))
        return {
            buffer: stores[0] if len(stores) == 1 else builder.put(GroupOp(stores))
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


def _function(name: str, op: framework.KernelOp) -> tuple[FuncOp, list[_Output]]:
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
    # DEFINE_GLOBALs and variables are the arguments.
    for each in ops:
        if isinstance(each, old.DefineGlobalOp):
            argument = memory[each.slot.data]
            shape = tensor(each.result).get_shape()
            wanted = tensor(argument).get_shape() if DYNAMIC_INDEX in shape else shape
            each.result.replace_all_uses_with(Viewer(builder).reshaped(argument, wanted))
        elif isinstance(each, framework.DefineVarOp):
            if each.symbol.data not in bound:
                raise locate(PassFailedException(f"no BIND gives {each.symbol} a value"), each)
            each.result.replace_all_uses_with(bound[each.symbol.data])
    # What is stored is returned, a gate after its value.
    outputs: list[_Output] = []
    returned: list[SSAValue] = []
    for store in [each for each in ops if isinstance(each, old.StoreOp)]:
        access = access_of(store)
        slot = next(i for i, m in enumerate(memory) if m is memory_of(access.buffer))
        view = None if access.position is None else access.position.owner
        if view is not None and not isinstance(view, indexing.ViewOp):
            raise locate(PassFailedException("a kernel with shapes stores through a VIEW"), store)
        views = (ViewAttr.of(tensor(store.value).get_shape()),) if view is None else views_of(view)
        returned.append(store.value)
        if store.gate is not None:
            returned.append(store.gate)
        outputs.append(_Output(slot, views, store.gate is not None))
    if not outputs:
        raise locate(PassFailedException(f"kernel {name} writes nothing"), op)
    block.add_op(ReturnOp(*returned))
    for each in reversed(ops):
        if isinstance(each, _SAID):
            each.detach()
            each.erase()
    rest = list(block.ops)
    GraphUpgrade(builder, _refuse_kernel).rewrite(rest)
    last = block.last_op
    assert isinstance(last, ReturnOp)
    inputs = [argument.type for argument in block.args]
    results = [value.type for value in last.arguments]
    function = FuncOp(name, (inputs, results), Region(block), visibility="private")
    return function, outputs


def _refuse_kernel(op: framework.KernelOp, builder: OpBuilder) -> Mapping[SSAValue, SSAValue]:
    raise locate(PassFailedException("a KERNEL calls no other"), op)
