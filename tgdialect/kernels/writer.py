"""Writers of kernels (docs/ir.md, level `kernels`) and of the FUNCTIONs that call them, and the
library of a module, which those FUNCTIONs call kernels of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import SymbolTable

from tgdialect.fast_xdsl import unchecked
from tgdialect.ops import tg
from tgdialect.ops.elementwise import OPS
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.operators import Operators


class Library:
    """The kernels that are added to a module, once each."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._taken = symbols(module)
        self._names: dict[tg.KernelOp, str] = {}

    def name_of(self, kernel: tg.KernelOp) -> str:
        """The symbol by which the module calls a kernel, of which it gets a copy."""
        if (name := self._names.get(kernel)) is None:
            name = kernel.sym_name.data
            known = SymbolTable.lookup_symbol(self._module, name) if name in self._taken else None
            if known is None or not known.is_structurally_equivalent(kernel):
                name = name if known is None else next_symbol(name, 0, self._taken)
                copy = kernel.clone()
                copy.properties["sym_name"] = unchecked.text(name)
                self._module.body.block.add_op(copy)
                self._taken.add(name)
            self._names[kernel] = name
        return name


@dataclass(frozen=True, eq=False, slots=True)
class Value(Operators["Value | int", "Value"]):
    """A value of a kernel that is being written, with operators. A number on the other side of one
    is a constant of this value's dtype."""

    writer: KernelWriter
    ssa: SSAValue

    def applied(self, op: str, *others: Value | int) -> Value:
        dtype = tg.tensor(self.ssa).element_type
        operands = [self.ssa, *(self.writer.operand(o, dtype) for o in others)]
        return self.writer.made(OPS[f"tg.{op}"](*operands))

    def cast(self, dtype: Attribute) -> Value:
        return self.writer.made(tg.CastOp(self.ssa, dtype))

    def where(self, yes: Value, no: Value | int) -> Value:
        """`yes` where this bool holds, else `no`."""
        other = self.writer.operand(no, tg.tensor(yes.ssa).element_type)
        return self.writer.made(tg.WhereOp(self.ssa, yes.ssa, other))

    def least(self, other: Value) -> Value:
        """The lesser of two values."""
        return (self < other).where(self, other)

    def digit(self, shift: Value, width: int) -> Value:
        """`width` bits of a key, from bit `shift` on, as an index."""
        return (self >> shift & (1 << width) - 1).cast(tg.INDEX)


class _Writer(tg.UniquingBuilder):
    """Appends ops to a new block."""

    def __init__(self) -> None:
        super().__init__(InsertPoint.at_end(Block()))
        self._parameters = 0

    def _parameter(self, type: TensorType[Attribute], dims: Sequence[SSAValue] = ()) -> SSAValue:
        self._parameters += 1
        return self.put(tg.ParamOp(self._parameters - 1, type, dims))

    def const(self, value: float, dtype: Attribute = tg.INDEX) -> SSAValue:
        """A constant."""
        return self.emit(tg.ConstOp, value, dtype)

    def left_by(self, memory: SSAValue, *effects: SSAValue | Value) -> SSAValue:
        """Memory as effects have left it; a loop among them stands for its earlier iterations."""
        waited = [effect.ssa if isinstance(effect, Value) else effect for effect in effects]
        return self.put(tg.AfterOp(memory, waited))

    def _buffer(self, place: tg.PlaceAttr, dtype: Attribute, shape: Sequence[int]) -> SSAValue:
        return self.put(
            tg.BufferOp(next(self.free_slots), tg.tensor_type(dtype, tuple(shape), place))
        )


class FunctionWriter(_Writer):
    """Appends ops to a new FUNCTION, whose memory is its own, and is where its arguments are."""

    def __init__(self, arguments: Sequence[SSAValue], library: Library) -> None:
        super().__init__()
        self._arguments = arguments
        self._library = library
        devices = (device for a in arguments if (device := tg.place(a).device) is not None)
        self._place = tg.PlaceAttr.of(next(devices, None), tg.AddrSpace.GLOBAL)
        self.parameters = [self._parameter(tg.tensor(argument)) for argument in arguments]

    def memory(self, dtype: Attribute, *shape: int) -> SSAValue:
        """New memory."""
        return self._buffer(self._place, dtype, shape)

    def stored(self, value: SSAValue) -> SSAValue:
        """New memory that holds a value."""
        type = tg.tensor(value)
        memory = self.memory(type.element_type, *type.get_shape())
        return self.left_by(memory, self.put(tg.StoreOp(memory, value)))

    def call(self, kernel: tg.KernelOp, *arguments: SSAValue) -> SSAValue:
        """The effect of a CALL."""
        return self.put(tg.CallOp(self._library.name_of(kernel), arguments))

    def finish(self, results: Sequence[SSAValue]) -> tg.FunctionOp:
        """The FUNCTION, applied to its arguments."""
        self.insert(tg.TupleOp(results))
        return tg.FunctionOp(self._arguments, Region(self.block))


class KernelWriter(_Writer):
    """Appends ops to a new kernel, of which `tg-optimize` makes loops in no order parallel."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def finish(self, effects: Sequence[SSAValue]) -> tg.KernelOp:
        """The kernel, which has these effects."""
        self.insert(tg.SinkOp(effects))
        return tg.KernelOp(self.name, Region(self.block))

    def operand(self, value: Value | int, dtype: Attribute = tg.INDEX) -> SSAValue:
        """A value, or a number as a constant."""
        return value.ssa if isinstance(value, Value) else self.const(value, dtype)

    def made(self, op: tg.TgOp) -> Value:
        """The result of an op."""
        return Value(self, self.put(op))

    def number(self, value: int, dtype: Attribute = tg.INDEX) -> Value:
        """A constant."""
        return Value(self, self.const(value, dtype))

    # -- parameters, memory and loops

    def size(self) -> Value:
        """The next parameter: an index scalar."""
        return Value(self, self._parameter(tg.tensor_type(tg.INDEX)))

    def array(self, dtype: Attribute, *extents: Value | int) -> SSAValue:
        """The next parameter: an array in global memory."""
        shape = tuple(DYNAMIC_INDEX if isinstance(e, Value) else e for e in extents)
        type = tg.tensor_type(dtype, shape, tg.PlaceAttr.of(None, tg.AddrSpace.GLOBAL))
        return self._parameter(type, [e.ssa for e in extents if isinstance(e, Value)])

    def own(self, dtype: Attribute, *extents: int) -> SSAValue:
        """Memory of the work item: registers, or its stack."""
        return self._buffer(tg.PlaceAttr.of(None, tg.AddrSpace.REG), dtype, extents)

    def loop(self, bound: Value | int, *, in_order: bool = True) -> Value:
        """A loop from 0 up to a bound; iterations that are in no order may run in parallel."""
        kind = tg.AxisType.REDUCE if in_order else tg.AxisType.LOOP
        return self.made(tg.RangeOp(next(self.free_axes), kind, self.operand(bound)))

    def group(self, effects: Sequence[SSAValue]) -> SSAValue:
        """One effect for several."""
        return effects[0] if len(effects) == 1 else self.put(tg.GroupOp(effects))

    def end(self, loops: Value | Sequence[Value], *effects: SSAValue) -> SSAValue:
        """The end of a loop that has effects, or of nested loops, the outermost first."""
        nest = [loops] if isinstance(loops, Value) else loops[::-1]
        return self.put(tg.EndOp(self.group(effects), [loop.ssa for loop in nest]))

    def load(self, memory: SSAValue, *index: Value | int) -> Value:
        """The value of a cell."""
        return self.made(tg.LoadOp(self._cell(memory, index)))

    def store(
        self,
        memory: SSAValue,
        index: Sequence[Value | int],
        value: Value | int,
        gate: Value | None = None,
    ) -> SSAValue:
        """The effect of writing a cell, if the gate is true."""
        stored = self.operand(value, tg.tensor(memory).element_type)
        gated = None if gate is None else gate.ssa
        return self.put(tg.StoreOp(self._cell(memory, index), stored, gated))

    def _cell(self, memory: SSAValue, index: Sequence[Value | int]) -> SSAValue:
        return self.put(tg.IndexOp(memory, [self.operand(i) for i in index]))
