"""The body of a callified function: FUNCTIONs and calls substituted, markers resolved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.callify.arguments import SEVERAL_DEVICES, NewFunction
from tgdialect.lowering.callify.outlining import Outliner, function_for
from tgdialect.lowering.callify.scan import ScanMemory, row_of, rows_of, scan_kernel
from tgdialect.ops import tg
from tgdialect.ops.dtypes import UI8
from tgdialect.ops.views import views_of
from tgdialect.transforms.substitution import Substitution, called_function


class Callifier(Substitution):
    """The rebuilding of one function on memory."""

    def __init__(
        self, function: FuncOp, device: str, outliner: Outliner, *, has_state: bool = True
    ) -> None:
        """`has_state` says whether BUFFERs are arguments, not memory of one call."""
        self.outliner = outliner
        self.has_state = has_state
        self.new = NewFunction(function, device, has_state=has_state)
        self.block = self.new.block
        super().__init__(function, self.new.builder)
        self.values.update(self.new.add_arguments())
        self.results: dict[SSAValue, tg.BufferOp] = {}
        """Results of outlined functions, and the buffers that they are in."""
        self.called: tg.FunctionOp | None = None
        """The call that `keep` is about."""

    def run(self) -> FuncOp:
        self.convert(self.function.body.block)
        self.store_results()
        self.builder.location = self.function.location
        self.collect_effects()
        return self.new.finish()

    # -- outlining

    def is_kept(self, op: Operation) -> bool:
        if isinstance(op, FuncCallOp | tg.CallOp):
            return self.is_outlined_call(op)
        return isinstance(op, tg.ScanOp) or (
            isinstance(op, tg.FunctionOp) and self.outliner.is_outlined(op)
        )

    def is_outlined_call(self, op: FuncCallOp | tg.CallOp) -> bool:
        """Whether `called` gets the FUNCTION to outline for a call of a function."""
        callee = called_function(op)
        if callee is None or not self.outliner.is_called_often(callee):
            return False
        function = function_for(op, callee, [self.values[operand] for operand in op.operands])
        if self.outliner.can_be_called(function):
            self.called = function
            return True
        function.erase()
        return False

    def keep(self, op: Operation) -> None:
        """CALL the function that a FUNCTION, SCAN or function has become."""
        match op:
            case tg.ScanOp():
                self.scan(op)
            case tg.FunctionOp():
                arguments = {argument: self.values[argument] for argument in op.arguments}
                self.tuples[op.result] = self.outlined(op, arguments)
            case _:
                function = self.called
                assert function is not None
                results = self.outlined(function, {v: v for v in function.arguments})
                function.erase()
                if isinstance(op, FuncCallOp):
                    self.values.update(zip(op.results, results, strict=True))
                else:
                    self.tuples[op.results[0]] = results

    def outlined(
        self, op: tg.FunctionOp, values: Mapping[SSAValue, SSAValue]
    ) -> Sequence[SSAValue]:
        """CALL the function that a FUNCTION has become, with memory for its results; returns these.

        `values` has each argument as the new function has it.
        """
        # The function, which takes each argument once.
        unique = {value: slot for slot, value in enumerate(values)}
        slots = [unique[argument] for argument in op.arguments]
        callee = self.outliner.function(op.body.clone(), slots, self.function, self.callified)
        arguments = [*(self.as_memory(values[a]) for a in unique), *self.data_of(callee)]
        buffers = [
            self.new_buffer(tg.tensor(argument))
            for argument in callee.args
            if "tg.output" in tg.argument_attributes(argument)
        ]
        # The CALL, and the results AFTER it.
        operands = [*arguments, *(b.result for b in buffers)]
        call = self.builder.put(tg.CallOp(callee.sym_name.data, operands, tg.VOID))
        results = [self.builder.put(tg.AfterOp(b, [call])) for b in buffers]
        self.results.update(zip(results, buffers, strict=True))
        return results

    def data_of(self, callee: FuncOp) -> list[SSAValue]:
        """The values passed to a function for its BINARYs: they are arguments of this one."""
        given = (
            (tg.argument_attributes(a).get("tg.data"), tg.tensor(a).element_type)
            for a in callee.args
        )
        return [self.new.data(data, t) for data, t in given if isinstance(data, tg.DataAttr)]

    def scan(self, op: tg.ScanOp) -> None:
        """CALL the kernel that a SCAN has become, on stacks of its states."""
        memory = ScanMemory(op)
        body = op.body.clone()
        last = body.block.last_op
        assert isinstance(last, tg.TupleOp)
        tg.OpBuilder.before(last).insert(tg.TupleOp([last.values[i] for i in memory.outputs]))
        body.block.erase_op(last)
        slots = range(len(op.arguments))
        callee = self.outliner.function(body, slots, self.function, self.callified)
        # The stacks of the states with the first ones, and memory for the other results.
        given = [self.values[argument] for argument in op.arguments]
        count = op.states.data
        buffers = [self.rows(value, memory.rows(i)) for i, value in enumerate(given[:count])]
        stacks: list[SSAValue] = []
        for state, (buffer, value) in enumerate(zip(buffers, given[:count], strict=True)):
            first = row_of(self.builder, buffer.result, memory.first(state))
            filled = self.builder.put(tg.StoreOp(first, value))
            stacks.append(self.builder.put(tg.AfterOp(buffer, [filled])))
        outs = {i: self.rows(op.results_of_body[i], op.steps.data) for i in memory.outputs[count:]}
        others = [
            v if v.type == tg.tensor_type(tg.INDEX) else self.as_memory(v) for v in given[count:]
        ]
        data = self.data_of(callee)
        operands = [*stacks, *others, *data, *(buffer.result for buffer in outs.values())]
        if op.is_while is not None:
            operands.append(self.as_memory(self.counter()))
        # The CALL, and the results AFTER it.
        name = self.outliner.new_name(
            f"{self.function.sym_name.data}_scan", len(self.outliner.scans)
        )
        types = [tg.tensor(operand) for operand in operands]
        kernel = scan_kernel(name, memory, callee.sym_name.data, types, len(data))
        self.outliner.scans.append(kernel)
        call = self.builder.put(tg.CallOp(name, operands, tg.VOID))
        left = [self.builder.put(tg.AfterOp(value, [call])) for value in operands]
        results = [self.last_row(memory, left, state) for state in range(count)]
        for position in range(count, len(op.results_of_body)):
            if position in outs:
                value = left[operands.index(outs[position].result)]
                self.results[value] = outs[position]
            else:
                state, first = memory.stacked_states[position]
                value = rows_of(self.builder, left[state], first, op.steps.data)
            results.append(value)
        self.tuples[op.result] = results

    def last_row(self, memory: ScanMemory, left: Sequence[SSAValue], state: int) -> SSAValue:
        """A state after the last step."""
        put = self.builder.put
        if memory.op.is_while is None:
            return row_of(self.builder, left[state], memory.last(state))
        even, odd = (row_of(self.builder, left[state], row) for row in (0, 1))
        bit = put(tg.AndOp(put(tg.ReshapeOp(left[-1], ())), put(tg.ConstOp(1, tg.I32))))
        return put(tg.WhereOp(put(tg.CmpNeOp(bit, put(tg.ConstOp(0, tg.I32)))), odd, even))

    def counter(self) -> SSAValue:
        """The number of steps before the first."""
        return self.builder.put(tg.ReshapeOp(self.builder.put(tg.ConstOp(0, tg.I32)), (1,)))

    def rows(self, like: SSAValue, count: int) -> tg.BufferOp:
        """New memory for several values like one."""
        row = self.new.memory_type(like)
        shape = (count, *row.get_shape())
        return self.new_buffer(tg.tensor_type(row.element_type, shape, tg.place_of(row)))

    def callified(self, function: FuncOp) -> FuncOp:
        return Callifier(function, self.new.device, self.outliner, has_state=False).run()

    def as_memory(self, value: SSAValue) -> SSAValue:
        """An argument of a call: memory as it is, any other value stored in a new buffer."""
        if tg.is_storage(value):
            return value
        buffer = self.new_buffer(self.new.memory_type(value))
        return self.builder.put(tg.AfterOp(buffer, [self.builder.put(tg.StoreOp(buffer, value))]))

    def new_buffer(self, type: TensorType[Attribute]) -> tg.BufferOp:
        return self.builder.insert(tg.BufferOp(next(self.builder.free_slots), type))

    # -- the body

    def convert_op(self, op: Operation) -> None:
        """Rebuild one op on the new values."""
        match op:
            case tg.SinkOp():
                return
            case tg.BufferOp() if not self.has_state or isinstance(op.parent_op(), tg.FunctionOp):
                dims = [self.values[dim] for dim in op.dims]
                type = self.new.memory_type(op.result)
                self.append(op, tg.BufferOp(next(self.builder.free_slots), type, dims))
            case tg.ParamOp() | tg.BufferOp():
                # Those of the function itself are arguments.
                if op.result not in self.values:
                    raise self.error(f"a function that is called holds no {op.name}", op)
                if op.dims:
                    dims = [self.values[dim] for dim in op.dims]
                    self.values[op.result] = self.new.sized(op, self.values[op.result], dims)
            case tg.BinaryDataOp():
                self.values[op.result] = self.new.data(op.data, UI8)
            case tg.BitcastOp() if (data := self.data_as(op)) is not None:
                self.values[op.result] = data
            case tg.DetachOp() | tg.ContiguousBackwardOp():
                self.values[op.result] = self.values[op.source]
            case tg.CopyOp() | tg.LoadOp() if isinstance(tg.place(op.result).device, tuple):
                raise self.error(SEVERAL_DEVICES, op)
            case tg.CopyOp() if self.is_anywhere(op):
                self.values[op.result] = self.values[op.source]
            case tg.ContiguousOp() | tg.CopyOp():
                self.append(op, tg.LoadOp(self.values[op.source]))
            case tg.LoadOp():
                alt = None if op.alt is None else self.values[op.alt]
                gate = None if op.gate is None else self.values[op.gate]
                self.append(op, tg.LoadOp(self.values[op.buffer], alt, gate))
            case tg.ResizeOp() | tg.WindowOp() if any(self.is_data(v) for v in op.operands[1:]):
                raise self.error(
                    "an extent or offset is computed from data: only arithmetic on index "
                    "arguments is compiled",
                    op,
                )
            case tg.TgOp() if not op.regions:
                self.append(op, op.rebuild([self.values[v] for v in op.operands]))
            case _:
                raise self.error(f"{op.name} does not belong in a tensor program", op)

    def data_as(self, op: tg.BitcastOp) -> SSAValue | None:
        """A BITCAST of a BINARY, or of a part of it, as a view of an argument of the new dtype: a
        load of such an element is one load. None for any other, and one of misaligned bytes."""
        value, views = views_of(self.values[op.source])
        dtype, row = op.dtype, tg.dtype_row(op.dtype)
        if (contents := self.new.contents.get(value)) is None or dtype in (tg.BOOL, tg.INDEX):
            return None
        start = 0
        for view in views:
            match view:
                case tg.ReshapeOp():
                    pass
                case tg.ShrinkOp() if (
                    not view.operands[1:] and len(tg.integers(view, "offsets")) == 1
                ):
                    start += tg.integers(view, "offsets")[0]
                case _:
                    return None
        start *= tg.dtype_of(value).itemsize
        shape = tg.tensor(op.result).get_shape()
        if start % row.itemsize or contents.nbytes % row.itemsize:
            if not isinstance(file := contents.data, tg.FileData):
                return None
            # Where bytes of a file are in memory is the business of who maps it.
            contents = tg.DataAttr(file.part(start, math.prod(shape) * row.itemsize))
            start = 0
        first, flat = start // row.itemsize, (math.prod(shape),)
        data = self.new.data(contents, dtype)
        if tg.tensor(data).get_shape() != flat:
            data = self.builder.put(tg.ShrinkOp(data, [first], flat))
        return data if shape == flat else self.builder.put(tg.ReshapeOp(data, shape))

    def is_anywhere(self, op: tg.CopyOp) -> bool:
        """Whether a COPY is of a constant, which is computed where it is needed as well."""
        constant = self.values[op.source].owner
        return isinstance(constant, tg.ConstOp) and not isinstance(constant.value, tg.InvalidAttr)

    def is_data(self, index: SSAValue) -> bool:
        """Whether an index scalar is computed from memory, which places it on a device."""
        return self.values[index].type != index.type

    def append(self, old: Operation, new: tg.TgOp) -> None:
        self.values[old.results[0]] = self.builder.put(new)

    # -- effects

    def store_results(self) -> None:
        """STORE each result in an argument. What an outlined function returns is made there."""
        for number, value in enumerate(self.returned):
            made = value.owner if isinstance(value, OpResult) else self.function
            self.builder.location = made.location
            value = self.new.returned(value)
            out = self.new.add_result(value, number)
            if (buffer := self.results.pop(value, None)) is not None:
                buffer.result.replace_all_uses_with(out)
                buffer.detach()
            else:
                self.builder.insert(tg.StoreOp(out, value))

    def collect_effects(self) -> None:
        """A SINK of every effect that no other op waits for."""
        for op in reversed(ops_of(self.block)):
            if isinstance(op, tg.AfterOp) and not op.result.uses:
                self.block.erase_op(op)
        roots = [
            op.results[0]
            for op in ops_of(self.block)
            if op.results and op.results[0].type == tg.VOID and not op.results[0].uses
        ]
        self.builder.insert(tg.SinkOp(roots))
