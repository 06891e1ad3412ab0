"""Writers of kernels (docs/ir.md, level `kernels`) and of the FUNCTIONs that call them, and the
library of a module, which those FUNCTIONs call kernels of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.traits import SymbolTable

from tgdialect.fast_xdsl import unchecked
from tgdialect.ops import tg
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.properties import place, tensor, tensor_type

Extent = int | SSAValue


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


class _Writer(OpBuilder):
    """Appends ops to a new block."""

    def __init__(self) -> None:
        super().__init__(OpBuilder.at_end(Block()).insertion_point)
        self._parameters = 0

    def _parameter(self, type: TensorType[Attribute], dims: Sequence[SSAValue] = ()) -> SSAValue:
        self._parameters += 1
        return self.put(tg.ParamOp(self._parameters - 1, type, dims))

    def const(self, value: float, dtype: Attribute = INDEX) -> SSAValue:
        """A constant."""
        return self.put(tg.ConstOp(value, dtype))

    def emit(self, kind: Callable[..., TgOp], *operands: SSAValue | Attribute) -> SSAValue:
        """The result of an op."""
        return self.put(kind(*operands))

    def left_by(self, memory: SSAValue, *effects: SSAValue) -> SSAValue:
        """Memory as effects have left it; a loop among them stands for its earlier iterations."""
        return self.put(tg.AfterOp(memory, effects))

    def _buffer(self, place: tg.PlaceAttr, dtype: Attribute, shape: Sequence[int]) -> SSAValue:
        return self.put(tg.BufferOp(next(self.free_slots), tensor_type(dtype, tuple(shape), place)))


class FunctionWriter(_Writer):
    """Appends ops to a new FUNCTION, whose memory is its own, and is where its arguments are."""

    def __init__(self, arguments: Sequence[SSAValue], library: Library) -> None:
        super().__init__()
        self._arguments = arguments
        self._library = library
        devices = (device for a in arguments if (device := place(a).device) is not None)
        self._place = tg.PlaceAttr.of(next(devices, None), tg.AddrSpace.GLOBAL)
        self.parameters = [self._parameter(tensor(argument)) for argument in arguments]

    def memory(self, dtype: Attribute, *shape: int) -> SSAValue:
        """New memory."""
        return self._buffer(self._place, dtype, shape)

    def stored(self, value: SSAValue) -> SSAValue:
        """New memory that holds a value."""
        type = tensor(value)
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

    # -- parameters, memory and loops

    def size(self) -> SSAValue:
        """The next parameter: an index scalar."""
        return self._parameter(tensor_type(INDEX))

    def array(self, dtype: Attribute, *extents: Extent) -> SSAValue:
        """The next parameter: an array in global memory."""
        dims = [e for e in extents if isinstance(e, SSAValue)]
        shape = tuple(DYNAMIC_INDEX if isinstance(e, SSAValue) else e for e in extents)
        return self._parameter(
            tensor_type(dtype, shape, tg.PlaceAttr.of(None, tg.AddrSpace.GLOBAL)), dims
        )

    def own(self, dtype: Attribute, *extents: int) -> SSAValue:
        """Memory of the work item: registers, or its stack."""
        return self._buffer(tg.PlaceAttr.of(None, tg.AddrSpace.REG), dtype, extents)

    def loop(self, bound: Extent, *, in_order: bool = True) -> SSAValue:
        """A loop from 0 up to a bound; iterations that are in no order may run in parallel."""
        kind = tg.AxisType.REDUCE if in_order else tg.AxisType.LOOP
        limit = bound if isinstance(bound, SSAValue) else self.const(bound)
        return self.put(tg.RangeOp(next(self.free_axes), kind, limit))

    def end(self, loops: SSAValue | Sequence[SSAValue], *effects: SSAValue) -> SSAValue:
        """The end of a loop that has effects, or of nested loops, the outermost first."""
        body = effects[0] if len(effects) == 1 else self.put(tg.GroupOp(effects))
        nest = [loops] if isinstance(loops, SSAValue) else loops[::-1]
        return self.put(tg.EndOp(body, nest))

    def load(self, memory: SSAValue, *index: SSAValue) -> SSAValue:
        """The value of a cell."""
        return self.put(tg.LoadOp(self.put(tg.IndexOp(memory, index))))

    def store(
        self,
        memory: SSAValue,
        index: Sequence[SSAValue],
        value: SSAValue,
        gate: SSAValue | None = None,
    ) -> SSAValue:
        """The effect of writing a cell, if the gate is true."""
        return self.put(tg.StoreOp(self.put(tg.IndexOp(memory, index)), value, gate))

    def digit(self, key: SSAValue, shift: SSAValue, width: int) -> SSAValue:
        """`width` bits of a key, from bit `shift` on, as an index."""
        mask = self.const((1 << width) - 1, tensor(key).element_type)
        return self.emit(
            tg.CastOp, self.emit(tg.AndOp, self.emit(tg.ShrOp, key, shift), mask), INDEX
        )
