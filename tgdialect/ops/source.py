"""Source ops: the leaves of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, TensorType, i64
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.irdl import AnyAttr, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import ConstantLike, MemoryAllocEffect
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import facts
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops.affine import monomials
from tgdialect.ops.arguments import argument_attributes, name_attribute
from tgdialect.ops.attributes import AddrSpace, DataAttr, InvalidAttr, NumberAttr
from tgdialect.ops.base import INDEX_SCALAR, TENSOR, TgOp, Value, ValueOp
from tgdialect.ops.dtypes import DTYPES, INDEX, check_representable, number_attribute
from tgdialect.ops.expressions import Expression
from tgdialect.ops.properties import (
    Dim,
    dtype_of,
    index_array,
    number,
    place_of,
    polynomial,
    tensor,
)


@op_definition
class ParamOp(TgOp):
    """PARAM (s), slot, dtype, device?, addrspace?: a placeholder of shape s.

    FUNCTION substitutes it. Slots of a body are dense, and PARAMs of one slot agree in type.
    The result type has shape, dtype, device and addrspace; each `?` has an index operand. It may
    have a name, which errors call the argument. An integer scalar with a name and bounds is a
    symbolic dimension.

    `%0 = tg.param 0 : tensor<4x8xf32, #tg.place<global>>`
    `%n = tg.param 0 "n" min 1 max 64 : tensor<index>`
    """

    name = "tg.param"

    slot = prop_def(NumberAttr)
    symbol = opt_prop_def(StringAttr, prop_name="name")
    min = opt_prop_def(NumberAttr)
    max = opt_prop_def(NumberAttr)
    dims = var_operand_def(INDEX_SCALAR)
    result = result_def(TENSOR)

    # Not pure: an unused parameter stays, because slots are dense and callers pass arguments.
    traits = traits_def(MemoryAllocEffect())

    assembly_format = (
        "custom<Int>($slot) custom<Name>($name) (`min` custom<Int>($min)^)? "
        "(`max` custom<Int>($max)^)? (`(` $dims^ `)`)? attr-dict `:` type($result)"
    )

    def __init__(
        self,
        slot: int,
        type: TensorType[Attribute],
        dims: Sequence[Value] = (),
        *,
        name: str | None = None,
        min: int | None = None,
        max: int | None = None,
    ):
        self.infer(
            dims,
            {
                "slot": NumberAttr.of(slot),
                "name": None if name is None else unchecked.text(name),
                "min": None if min is None else NumberAttr.of(min),
                "max": None if max is None else NumberAttr.of(max),
            },
            type=type,
        )

    def verify_rule(self) -> None:
        if self.slot.data < 0:
            raise VerifyException(f"slot {self.slot.data} is negative")
        if self is _first_of_kind(self):
            parameters(self.parent)
        if self.min is None and self.max is None:
            return
        type, dtype = tensor(self.result), dtype_of(self.result)
        if not dtype.is_integer or type.get_shape():
            raise VerifyException(f"min and max are for integer scalars, not {type}")
        low = dtype.low if self.min is None else self.min.data
        high = dtype.high if self.max is None else self.max.data
        if low > high:
            raise VerifyException(f"min {low} is greater than max {high}")
        if low < dtype.low or high > dtype.high:
            raise VerifyException(f"[{low}, {high}] is outside the range of {dtype.name}")


@op_definition
class BufferOp(TgOp):
    """BUFFER (s), slot, dtype, device, addrspace: memory of shape s.

    A tuple of devices holds the whole buffer in equal parts, split on axis 0. In a FUNCTION
    it need not name a device: it is where the FUNCTION is evaluated.

    `%0 = tg.buffer 0 : tensor<4x8xf32, #tg.place<"CPU", global>>`
    """

    name = "tg.buffer"

    slot = prop_def(NumberAttr)
    dims = var_operand_def(INDEX_SCALAR)
    result = result_def(TENSOR)

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "custom<Int>($slot) (`(` $dims^ `)`)? attr-dict `:` type($result)"

    def __init__(self, slot: int, type: TensorType[Attribute], dims: Sequence[Value] = ()):
        self.infer(dims, {"slot": NumberAttr.of(slot)}, type=type)

    def verify_rule(self) -> None:
        type = tensor(self.result)
        place = place_of(type)
        if self.slot.data < 0:
            raise VerifyException(f"slot {self.slot.data} is negative")
        if place.addrspace is None:
            raise VerifyException("a buffer needs an address space: global, local or reg")
        around = self.parent_op()
        is_local = around is not None and around.name == "tg.function"
        if place.addrspace is AddrSpace.GLOBAL and place.device is None and not is_local:
            raise VerifyException("a global buffer needs a device")
        if isinstance(place.device, tuple) and place.axis != 0:
            raise VerifyException(f"a buffer on {len(place.device)} devices is sharded on axis 0")
        if self is _first_of_kind(self):
            _by_slot(op for op in _siblings(self) if isinstance(op, BufferOp))


def _siblings(op: Operation) -> Iterable[Operation]:
    return () if op.parent is None else op.parent.ops


def _first_of_kind(op: Operation) -> Operation | None:
    """The first op of the same class in the block, whose verifier checks all of them."""
    known = facts(type(op))
    if op.parent not in known:
        known[op.parent] = next((other for other in _siblings(op) if type(other) is type(op)), None)
    return known[op.parent]


SlotT = TypeVar("SlotT", ParamOp, BufferOp)


def _by_slot(ops: Iterable[SlotT]) -> dict[int, SlotT]:
    """The first op of each slot; those of one slot agree in type."""
    by_slot: dict[int, SlotT] = {}
    for op in ops:
        other = by_slot.setdefault(op.slot.data, op)
        if other.result.type != op.result.type:
            raise VerifyException(
                f"slot {op.slot.data} is {other.result.type} and {op.result.type}"
            )
    return by_slot


def extent_position(
    dim: Dim, positions: Mapping[SSAValue, int], formulas: dict[int, Expression]
) -> int | None:
    """The position of the index argument that an extent is. For a multiple of one it is a number of
    its own, negative, whose formula is added to `formulas`; None for others."""
    if not isinstance(dim, SSAValue):
        return None
    if (known := positions.get(dim)) is not None:
        return known
    terms = list(monomials(polynomial(dim)))
    if len(terms) != 1 or len(terms[0][0]) != 1 or terms[0][1] <= 0:
        return None
    ((atom,), factor) = terms[0]
    if not isinstance(atom, SSAValue) or atom not in positions:
        return None
    number = -1 - len(formulas)
    formulas[number] = (f"%{positions[atom]}", factor, "mul")
    return number


def name_of_input(value: SSAValue) -> str | None:
    """The name of an input of a function: that of the source for the argument or PARAM, or else
    that of the value."""
    if isinstance(value, BlockArgument):
        name = name_attribute(argument_attributes(value))
    else:
        op = value.owner
        name = op.symbol.data if isinstance(op, ParamOp) and op.symbol is not None else None
    return name or value.name_hint


def parameters(block: Block | None) -> list[ParamOp]:
    """The PARAMs of a body by slot. Slots are dense, and PARAMs of one slot agree in type."""
    by_slot = _by_slot(op for op in (ops_of(block) if block else ()) if isinstance(op, ParamOp))
    slots = sorted(by_slot)
    if slots != list(range(len(slots))):
        missing = next(i for i, slot in enumerate(slots) if slot != i)
        raise VerifyException(f"slots are not dense: there is no slot {missing}")
    return [by_slot[slot] for slot in slots]


def parameter_values(block: Block) -> dict[int, list[SSAValue]]:
    """The results of the PARAMs of a body by slot."""
    values: dict[int, list[SSAValue]] = {}
    for op in block.ops:
        if isinstance(op, ParamOp):
            values.setdefault(op.slot.data, []).append(op.result)
    return values


@op_definition
class ConstOp(ValueOp, HasFolderInterface):
    """CONST (), value, dtype: a scalar of shape (). Vectors are STACKs of it; of indices, VCONSTs.

    `%0 = tg.const 1.5 : tensor<f32>`, `%1 = tg.const true : tensor<i1>`,
    `%2 = tg.const -inf : tensor<f32>`, `%3 = tg.const invalid : tensor<f32>`
    """

    name = "tg.const"

    value = prop_def(AnyAttr())

    traits = traits_def(ConstantLike())

    assembly_format = "custom<Constant>($value, type($result)) attr-dict"

    def __init__(self, value: float | Attribute, dtype: Attribute | None = None):
        """`value` is a Python number, which is rounded to a float dtype, or an attribute."""
        # `isinstance` with an abstract class takes long for a number.
        if type(value) in (int, float) or not isinstance(cast(object, value), Attribute):
            if dtype is None:
                raise VerifyException("a number needs a dtype")
            value = number_attribute(cast(float, value), dtype)
        self.infer((), {"value": cast(Attribute, value)})

    def fold(self) -> Sequence[SSAValue | Attribute]:
        return (self.value,)

    def verify_rule(self) -> None:
        if not isinstance(self.value, InvalidAttr):
            check_representable(dtype_of(self.result), number(self.value))


@op_definition
class VConstOp(ValueOp):
    """VCONST (), values: a vector of constant indices, of shape (len(values),).

    It is a STACK of CONSTs in one op, for the indices of the lanes of vectors.

    `%0 = tg.vconst [0, 1, 2, 3] : tensor<4xindex>`, and `[0 to 4096]` for a long run of neighbours.
    """

    name = "tg.vconst"

    values = prop_def(DenseArrayBase.constr(i64))

    assembly_format = "custom<IntegerRuns>($values) attr-dict `:` type($result)"

    def __init__(self, values: Sequence[int]):
        for value in (min(values), max(values)) if values else ():
            check_representable(DTYPES[INDEX], value)
        self.infer((), {"values": index_array(values)})


@op_definition
class BinaryDataOp(ValueOp):
    """BINARY (), data: raw bytes, written in hexadecimal or left in a file; ui8 of shape
    (len(data),).

    It is a constant of any size, except in a PROGRAM: there it is the machine code. `tg-callify`
    makes it an argument with these contents; a BITCAST of it, or of an aligned part, costs nothing.

    `%0 = tg.binary "7f454c46" : tensor<4xui8>`,
    `%1 = tg.binary file "a.bin", offset = 64, length = 4096 : tensor<4096xui8>`
    """

    name = "tg.binary"

    data = prop_def(DataAttr)

    assembly_format = "custom<DataContents>($data) attr-dict `:` type($result)"

    def __init__(self, data: bytes | DataAttr):
        self.infer((), {"data": DataAttr(data) if isinstance(data, bytes) else data})
