"""Building a function of the `llvm` dialect: blocks, constants and allocations.

Ops go through `Operation.create`, which takes half the time of their own builders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    UnitAttr,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tgdialect.llvm_dialect import FCmpOp, LoadOp, MemsetOp, SelectOp, StoreOp
from tgdialect.lowering.render.types import POINTER, number_literal

NO_FLAGS = llvm.FastMathAttr(None)
_NO_OVERFLOW = IntegerAttr(0, i32)
_NOT_ATOMIC = IntegerAttr(0, i64)
_DYNAMIC = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])
_INTEGER_PREDICATES = {
    flag.value: IntegerAttr(flag.to_int(), i64) for flag in llvm.ICmpPredicateFlag
}
_FLOAT_PREDICATES = {
    flag.value.lstrip("_"): IntegerAttr(flag.to_int(), i64) for flag in llvm.FCmpPredicateFlag
}
_OVERFLOWING = (llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.ShlOp)


class Emitter:
    """A function under construction; ops are appended to the current block."""

    def __init__(self, name: str, inputs: Sequence[Attribute], *flags: str) -> None:
        """`flags` are unit attributes of the function, as `no_inline`."""
        self.entry = Block(arg_types=inputs)
        self.block = self.entry
        self.location: LocationAttr | None = None
        """The source location of what is being emitted."""
        self._name = name
        self._flags = flags
        self._region = Region(self.entry)
        self._preamble: list[Operation] = []
        """Constants and allocations, which come first in the function."""
        self._constants: dict[Attribute, SSAValue] = {}

    @property
    def arguments(self) -> Sequence[BlockArgument]:
        return self.entry.args

    def finish(self) -> llvm.FuncOp:
        """Return from the current block, and give the function."""
        self.append(llvm.ReturnOp.create())
        first = self.entry.first_op
        assert first is not None
        self.entry.insert_ops_before(self._preamble, first)
        type = llvm.LLVMFunctionType(self.entry.arg_types, llvm.LLVMVoidType())
        return llvm.FuncOp(
            self._name,
            type,
            llvm.LinkageAttr("external"),
            body=self._region,
            other_props=dict.fromkeys(("no_unwind", *self._flags), UnitAttr()),
        )

    # -- ops

    def append(self, op: Operation) -> None:
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)

    def emit(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] = {},
    ) -> SSAValue:
        """An op with one result of this type."""
        op = kind.create(operands=operands, result_types=(type,), properties={**properties})
        self.append(op)
        return op.results[0]

    def binary(self, kind: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        """An op on integers of one type; nothing is said about overflow."""
        properties = {"overflowFlags": _NO_OVERFLOW} if kind in _OVERFLOWING else {}
        return self.emit(kind, (a, b), a.type, properties)

    def float(self, kind: type[Operation], *operands: SSAValue) -> SSAValue:
        """An op on floats of one type, exact."""
        return self.emit(kind, operands, operands[0].type, {"fastmathFlags": NO_FLAGS})

    def compare(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A comparison of integers, as "slt"."""
        return self.emit(llvm.ICmpOp, (a, b), i1, {"predicate": _INTEGER_PREDICATES[predicate]})

    def compare_floats(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A comparison of floats, as "olt"."""
        properties = {"predicate": _FLOAT_PREDICATES[predicate], "fastmathFlags": NO_FLAGS}
        return self.emit(FCmpOp, (a, b), i1, properties)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(SelectOp, (condition, a, b), a.type, {"fastmathFlags": NO_FLAGS})

    def intrinsic(self, name: str, operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        """A call of an intrinsic that has no op of its own."""
        op = llvm.CallIntrinsicOp(name, operands, [type])
        self.append(op)
        return op.results[0]

    # -- constants and memory

    def constant(self, value: IntegerAttr | FloatAttr) -> SSAValue:
        """A number, of the type of its attribute."""
        if (known := self._constants.get(value)) is None:
            op = llvm.ConstantOp.create(
                result_types=(value.get_type(),), properties={"value": value}
            )
            self._preamble.append(op)
            known = self._constants[value] = op.results[0]
        return known

    def number(self, value: float, type: Attribute = i64) -> SSAValue:
        """A number of this type; an integer is taken modulo 2^width."""
        return self.constant(number_literal(value, type))

    def allocate(self, bytes: int, alignment: int) -> SSAValue:
        """Zeroed memory on the stack, for as long as the function runs."""
        size, zero = self.number(bytes), self.number(0, i8)
        alloca = llvm.AllocaOp(size, i8, alignment)
        self._preamble += (alloca, MemsetOp(alloca.res, zero, size))
        return alloca.res

    def offset(self, pointer: SSAValue, index: SSAValue, element: Attribute) -> SSAValue:
        """The address of an element after a pointer."""
        properties = {
            "rawConstantIndices": _DYNAMIC,
            "elem_type": element,
            "noWrapFlags": _NO_OVERFLOW,
        }
        return self.emit(llvm.GEPOp, (pointer, index), POINTER, properties)

    def load(self, pointer: SSAValue, type: Attribute, alignment: int) -> SSAValue:
        properties = {"ordering": _NOT_ATOMIC, "alignment": IntegerAttr(alignment, i64)}
        return self.emit(LoadOp, (pointer,), type, properties)

    def store(self, value: SSAValue, pointer: SSAValue, alignment: int) -> None:
        properties = {"ordering": _NOT_ATOMIC, "alignment": IntegerAttr(alignment, i64)}
        self.append(StoreOp.create(operands=(value, pointer), properties={**properties}))

    # -- control flow

    def new_block(self, *arguments: Attribute) -> Block:
        """A block that is not yet in the function: `enter` puts it there."""
        return Block(arg_types=arguments)

    def branch(self, target: Block, *values: SSAValue) -> None:
        self.append(llvm.BrOp(target, *values))

    def branch_if(
        self,
        condition: SSAValue,
        then: Block,
        then_values: Sequence[SSAValue],
        otherwise: Block,
        other_values: Sequence[SSAValue] = (),
    ) -> None:
        self.append(llvm.CondBrOp(condition, then, then_values, otherwise, other_values))

    def enter(self, block: Block) -> None:
        """Go on in a block, which comes next."""
        self._region.add_block(block)
        self.block = block
