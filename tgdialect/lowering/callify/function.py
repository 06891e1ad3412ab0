"""The body of a callified function: FUNCTIONs and calls substituted, markers resolved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import noted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.callify.arguments import SEVERAL_DEVICES, NewFunction
from tgdialect.lowering.callify.outlining import Outliner, function_for
from tgdialect.lowering.callify.scan import AxisExtent, Row, Rows, ScanMemory, scan_kernel
from tgdialect.ops import tg
from tgdialect.ops.dtypes import UI8
from tgdialect.ops.source import parameters
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
        noted("scan", op)
        memory, count = ScanMemory(op), op.states.data
        rows, slots = Rows(self.builder.insertion_point, op.location), range(len(op.arguments))
        given = [self.values[argument] for argument in op.arguments]
        steps = rows.extent(memory.steps(), given)
        if not op.sequences.data and not isinstance(steps, int) and MinMax()[steps].lo < 0:
            raise self.error("the number of steps may be negative: give it a `min` of 0", op)
        callee = self.outliner.function(_body(op, memory), slots, self.function, self.callified)
        # The stacks of the states with the first ones, and memory for the other results.
        buffers = {
            i: self.memory(value, memory.stack(i), given) for i, value in enumerate(given[:count])
        }
        operands: list[SSAValue] = []
        for state, buffer in buffers.items():
            first = rows.row(buffer.result, steps if memory.is_backwards(state) else 0)
            operands.append(self.filled(buffer, first, given[state]))
        shapes = [memory.stack(state) for state in buffers]
        for slot, value in enumerate(given[count:], count):
            is_index = value.type == tg.tensor_type(tg.INDEX)
            operands.append(value if is_index else self.as_memory(value))
            shapes.append(memory.argument(slot))
        data = self.data_of(callee)
        outs = {
            i: self.memory(op.results_of_body[i], memory.stacked(i), given)
            for i in memory.outputs[count:]
        }
        operands += data
        for buffer in outs.values():
            zeros = op.is_while is not None
            operands.append(self.zeros(buffer) if zeros else buffer.result)
        shapes += [[AxisExtent(e) for e in tg.tensor(value).get_shape()] for value in data]
        shapes += [memory.stacked(i) for i in outs]
        if op.is_while is not None:
            operands.append(self.as_memory(self.counter()))
            shapes.append([AxisExtent(1)])
        # The CALL, and the results AFTER it.
        name = self.outliner.new_name(
            f"{self.function.sym_name.data}_scan", len(self.outliner.scans)
        )
        types = [_parameter_type(v, s) for v, s in zip(operands, shapes, strict=True)]
        if op.is_while is not None:
            # An index that is loaded is on no device if its memory names none.
            types[-1] = tg.tensor_type(tg.I32, (1,), tg.PlaceAttr.of(None, tg.AddrSpace.GLOBAL))
        kernel = scan_kernel(
            name, memory, callee.sym_name.data, list(zip(types, shapes, strict=True)), len(data)
        )
        self.outliner.scans.append(kernel)
        call = self.builder.put(tg.CallOp(name, operands, tg.VOID))
        left = [self.builder.put(tg.AfterOp(v, [call])) if tg.is_memory(v) else v for v in operands]
        results = [self.last_row(rows, memory, left, state, steps) for state in range(count)]
        written = iter(left[len(given) + len(data) :])
        for position in range(count, len(op.results_of_body)):
            if position in outs:
                value = next(written)
                self.results[value] = outs[position]
            else:
                state, first = memory.stacked_states[position]
                value = rows.rows(left[state], first, steps)
            results.append(value)
        self.tuples[op.result] = results

    def last_row(
        self, rows: Rows, memory: ScanMemory, left: Sequence[SSAValue], state: int, steps: Row
    ) -> SSAValue:
        """A state after the last step."""
        put = self.builder.put
        if memory.op.is_while is None:
            is_odd = None if state in memory.kept else rows.is_odd(steps)
            last = is_odd if is_odd is not None else 0 if memory.is_backwards(state) else steps
            return rows.row(left[state], last)
        even, odd = (rows.row(left[state], row) for row in (0, 1))
        bit = put(tg.AndOp(put(tg.ReshapeOp(left[-1], ())), put(tg.ConstOp(1, tg.I32))))
        return put(tg.WhereOp(put(tg.CmpNeOp(bit, put(tg.ConstOp(0, tg.I32)))), odd, even))

    def counter(self) -> SSAValue:
        """The number of steps before the first."""
        return self.builder.put(tg.ReshapeOp(self.builder.put(tg.ConstOp(0, tg.I32)), (1,)))

    def memory(
        self, like: SSAValue, shape: Sequence[AxisExtent], arguments: Sequence[SSAValue]
    ) -> tg.BufferOp:
        """New memory of a shape, with the dtype of a value."""
        rows = Rows(self.builder.insertion_point, self.builder.location)
        extents = [rows.extent(extent, arguments) for extent in shape]
        static = tuple(e if isinstance(e, int) else DYNAMIC_INDEX for e in extents)
        row = self.new.memory_type(like)
        type = tg.tensor_type(row.element_type, static, tg.place_of(row))
        return self.new_buffer(type, [e for e in extents if not isinstance(e, int)])

    def filled(self, buffer: tg.BufferOp, part: SSAValue, value: SSAValue) -> SSAValue:
        """A buffer after a part of it got a value."""
        return self.builder.put(tg.AfterOp(buffer, [self.builder.put(tg.StoreOp(part, value))]))

    def zeros(self, buffer: tg.BufferOp) -> SSAValue:
        """A buffer full of zeros."""
        put, shape = self.builder.put, tg.shape_of(buffer.result)
        zero = put(tg.ConstOp(0, tg.tensor(buffer.result).element_type))
        one = put(tg.ReshapeOp(zero, [1] * len(shape)))
        return self.filled(buffer, buffer.result, put(tg.ExpandOp(one, shape)))

    def callified(self, function: FuncOp) -> FuncOp:
        return Callifier(function, self.new.device, self.outliner, has_state=False).run()

    def as_memory(self, value: SSAValue) -> SSAValue:
        """An argument of a call: memory as it is, any other value stored in a new buffer."""
        if tg.is_storage(value):
            return value
        dims = [dim for dim in tg.shape_of(value) if isinstance(dim, SSAValue)]
        buffer = self.new_buffer(self.new.memory_type(value), dims)
        return self.filled(buffer, buffer.result, value)

    def new_buffer(self, type: TensorType[Attribute], dims: Sequence[SSAValue] = ()) -> tg.BufferOp:
        return self.builder.insert(tg.BufferOp(next(self.builder.free_slots), type, dims))

    # -- the body

    def convert_op(self, op: Operation) -> None:
        """Rebuild one op on the new values."""
        noted("convert", op)
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


def _body(op: tg.ScanOp, memory: ScanMemory) -> Region:
    """The body of a SCAN, which returns what it writes to memory. The extents of states are those
    that they had."""
    body = op.body.clone()
    last = body.block.last_op
    assert isinstance(last, tg.TupleOp)
    builder = tg.OpBuilder.before(last)
    results = list(last.values)
    for slot, param in enumerate(parameters(body.block)[: op.states.data]):
        old, new = tg.shape_of(param.result), tg.shape_of(results[slot])
        if old != new:
            results[slot] = builder.put(tg.ShrinkOp(results[slot], [0] * len(old), old))
    builder.insert(tg.TupleOp([results[i] for i in memory.outputs]))
    body.block.erase_op(last)
    return body


def _parameter_type(value: SSAValue, shape: Sequence[AxisExtent]) -> TensorType[Attribute]:
    """The type of a parameter of this shape for a value."""
    type = tg.tensor(value)
    static = tuple(e.cells if e.slot is None else DYNAMIC_INDEX for e in shape)
    return tg.tensor_type(type.element_type, static, tg.place_of(type))
