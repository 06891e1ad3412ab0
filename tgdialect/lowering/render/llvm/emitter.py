"""Building a function of the `llvm` dialect: blocks, constants and allocations.

Ops are created without xDSL's constructors, which take several times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, cast

from xdsl.dialects import builtin, llvm
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.fast_xdsl.creation import created
from tgdialect.llvm_dialect.assembly import ATOMIC_ORDERING_BY_KEYWORD
from tgdialect.llvm_dialect.memory import LoadOp, MemsetOp, StoreOp
from tgdialect.llvm_dialect.values import ExtractElementOp, FCmpOp, PoisonOp, SelectOp
from tgdialect.lowering.render.elementwise import ComputedOp
from tgdialect.lowering.render.llvm.types import (
    POINTER,
    Literal,
    element_of,
    is_integer,
    is_vector,
    lanes_of,
    number_literal,
    vector_literal,
    vector_of,
)
from tgdialect.ops import tg

NO_FLAGS = llvm.FastMathAttr(None)
_NO_WRAP_FLAGS = builtin.IntegerAttr(0, builtin.i32)
NOT_ATOMIC, ACQUIRE, RELEASE = (
    builtin.IntegerAttr(ATOMIC_ORDERING_BY_KEYWORD[keyword], builtin.i64)
    for keyword in ("not_atomic", "acquire", "release")
)
_NOT_VOLATILE = unchecked.integer(0, builtin.i1)
_DYNAMIC = builtin.DenseArrayBase.from_list(builtin.i32, [llvm.GEP_USE_SSA_VAL])
INTEGER_PREDICATES = {
    flag.value: builtin.IntegerAttr(flag.to_int(), builtin.i64) for flag in llvm.ICmpPredicateFlag
}
_FLOAT_PREDICATES = {
    flag.value.lstrip("_"): builtin.IntegerAttr(flag.to_int(), builtin.i64)
    for flag in llvm.FCmpPredicateFlag
}


_PART_BITS = 128
"""The parts of a vector register within which one instruction moves any element. Between parts of
wider registers it takes longer, or two instructions; and LLVM takes as long to select one shuffle
across parts as to select ten within them."""


_UNIT = unchecked.made(builtin.UnitAttr)
_NONE = unchecked.made(builtin.NoneAttr)
_VOID = unchecked.made(llvm.LLVMVoidType)
_C_CONVENTION = unchecked.made(llvm.CallingConventionAttr, convention=unchecked.text("ccc"))
_EXTERNAL = unchecked.made(llvm.LinkageAttr, linkage=unchecked.text("external"))


@cache
def _alignment(bytes: int) -> builtin.IntegerAttr[Any]:
    return unchecked.integer(bytes, builtin.i64)


@lru_cache(maxsize=1024)
def _mask(lanes: tuple[int, ...]) -> builtin.DenseArrayBase[Any]:
    return unchecked.dense(builtin.i32, lanes)


def function(
    name: str,
    arguments: Sequence[Attribute],
    body: Region,
    *flags: str,
    result: Attribute | None = None,
) -> llvm.FuncOp:
    """A function, which returns nothing unless `result` is a type; a declaration of one if the
    body has no blocks."""
    inputs = unchecked.array(arguments)
    properties: dict[str, Attribute] = dict.fromkeys(flags, _UNIT)
    properties |= {
        "sym_name": unchecked.text(name),
        "function_type": unchecked.made(
            llvm.LLVMFunctionType, inputs=inputs, output=result or _VOID, variadic=_NONE
        ),
        "CConv": _C_CONVENTION,
        "linkage": _EXTERNAL,
    }
    return created(llvm.FuncOp, (), (), properties, (body,))


def call(name: str, arguments: Sequence[SSAValue], result: Attribute | None = None) -> llvm.CallOp:
    """A call of a function, which returns nothing unless `result` is a type."""
    properties: dict[str, Attribute] = {
        "callee": unchecked.symbol(name),
        "fastmathFlags": NO_FLAGS,
        "CConv": _C_CONVENTION,
        "op_bundle_sizes": _mask(()),
        SEGMENTS: _mask((len(arguments), 0)),
    }
    return created(llvm.CallOp, arguments, () if result is None else (result,), properties)


class LLVMEmitter(tg.OpBuilder):
    """A function under construction; ops are appended to the current block."""

    stack_pointer: llvm.LLVMPointerType = POINTER
    """The type of a pointer to memory on the stack."""
    masks_counts = False
    """Whether counts of shifts are reduced to the width. On NVPTX, LLVM 22 makes one instruction of
    a shift and the SELECT of 0 for great counts, which drops the upper half of 64 bits."""

    def __init__(self, name: str, inputs: Sequence[Attribute], *flags: str) -> None:
        """`flags` are unit attributes of the function, as `no_inline`."""
        self.entry = Block(arg_types=inputs)
        self.arguments: Sequence[BlockArgument] = self.entry.args
        super().__init__(InsertPoint.at_end(self.entry))
        self._name = name
        self._flags = flags
        self._region = Region(self.entry)
        self.preamble: list[Operation] = []
        """Constants and allocations, which come first in the function."""
        self.release: list[Operation] = []
        """Ops that come right before the return."""
        self.declared: dict[str, llvm.FuncOp] = {}
        """The functions of the process that it calls, by name."""
        self._constants: dict[Attribute, SSAValue] = {}
        self._numbers: dict[float, SSAValue] = {}
        """Those of i64. To make an attribute and look that up takes ten times as long."""
        self._splats: dict[tuple[SSAValue, int, Block], SSAValue] = {}

    def finish(self) -> llvm.FuncOp:
        """Return from the current block, and give the function."""
        for op in (*self.release, created(llvm.ReturnOp, (), ())):
            self.insert(op)
        first = self.entry.first_op
        assert first is not None
        self.entry.insert_ops_before(self.preamble, first)
        return function(self._name, self.entry.arg_types, self._region, "no_unwind", *self._flags)

    # -- ops

    def emit(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] = {},
    ) -> SSAValue:
        """An op with one result of this type."""
        return self.put(created(kind, operands, (type,), properties))

    def binary(self, kind: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        """An op on integers of one type; nothing is said about overflow."""
        return self.emit(kind, (a, b), a.type)

    def float(self, kind: type[Operation], *operands: SSAValue) -> SSAValue:
        """An op on floats of one type, exact."""
        return self.emit(kind, operands, operands[0].type, {"fastmathFlags": NO_FLAGS})

    def compare(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A comparison of integers, as "slt", or of floats, as "olt"."""
        type = vector_of(builtin.i1, lanes_of(a.type))
        if is_integer(element_of(a.type)):
            return self.emit(
                llvm.ICmpOp, (a, b), type, {"predicate": INTEGER_PREDICATES[predicate]}
            )
        properties = {"predicate": _FLOAT_PREDICATES[predicate], "fastmathFlags": NO_FLAGS}
        return self.emit(FCmpOp, (a, b), type, properties)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(SelectOp, (condition, a, b), a.type, {"fastmathFlags": NO_FLAGS})

    def intrinsic(self, name: str, operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        """A call of an intrinsic that has no op of its own."""
        properties = {
            "intrin": unchecked.text(name),
            "op_bundle_sizes": _mask(()),
            SEGMENTS: _mask((len(operands), 0)),
        }
        return self.emit(llvm.CallIntrinsicOp, operands, type, properties)

    def declare(self, name: str, arguments: Sequence[Attribute], result: Attribute | None) -> None:
        """Declare a function of the process."""
        declared = function(name, arguments, Region(), result=result)
        known = self.declared.setdefault(name, declared)
        if known.function_type != declared.function_type:
            raise PassFailedException(f"{name} is called with other dtypes before")

    def call_pointer(self, function: SSAValue, arguments: Sequence[SSAValue]) -> None:
        """A call of a function that gives nothing, by its address."""
        op = llvm.CallOp("", function, *arguments)
        del op.properties["callee"]
        self.insert(op)

    # -- constants and memory

    def address_of(self, name: str, type: llvm.LLVMPointerType = POINTER) -> SSAValue:
        """The address of a function or variable of the module."""
        return self.put(llvm.AddressOfOp(name, type))

    def constant(self, value: Literal) -> SSAValue:
        """A number or a vector of them, of the type of its attribute."""
        if (known := self._constants.get(value)) is None:
            type = value.get_type()
            op = created(llvm.ConstantOp, (), (type,), {"value": value})
            self.preamble.append(op)
            known = self._constants[value] = op.results[0]
        return known

    def number(self, value: float, type: Attribute = builtin.i64) -> SSAValue:
        """A number of this type, in every lane of a vector; an integer is taken modulo 2^width."""
        if type is not builtin.i64:
            return self.constant(number_literal(value, type))
        if (known := self._numbers.get(value)) is None:
            known = self._numbers[value] = self.constant(number_literal(value, type))
        return known

    def allocate(self, bytes: int, alignment: int, *, is_zeroed: bool = True) -> SSAValue:
        """Memory on the stack, for as long as the function runs.

        It is one array, and not a number of bytes, which LLVM keeps in memory until a pass makes it
        an array.
        """
        array = llvm.LLVMArrayType(bytes, builtin.i8)
        properties = {"alignment": _alignment(alignment), "elem_type": array}
        alloca = created(llvm.AllocaOp, (self.number(1),), (self.stack_pointer,), properties)
        (pointer,) = alloca.results
        self.preamble += (alloca, self._memset(pointer, bytes)) if is_zeroed else (alloca,)
        return pointer

    def clear(self, pointer: SSAValue, bytes: int) -> None:
        self.insert(self._memset(pointer, bytes))

    def _memset(self, pointer: SSAValue, bytes: int) -> Operation:
        operands = pointer, self.number(0, builtin.i8), self.number(bytes)
        return created(MemsetOp, operands, (), {"isVolatile": _NOT_VOLATILE})

    def offset(self, pointer: SSAValue, index: SSAValue, element: Attribute) -> SSAValue:
        """The address of an element after a pointer."""
        properties = {
            "rawConstantIndices": _DYNAMIC,
            "elem_type": element,
            "noWrapFlags": _NO_WRAP_FLAGS,
        }
        return self.emit(llvm.GEPOp, (pointer, index), pointer.type, properties)

    def load(
        self,
        pointer: SSAValue,
        type: Attribute,
        alignment: int,
        ordering: builtin.IntegerAttr[builtin.IntegerType] = NOT_ATOMIC,
    ) -> SSAValue:
        properties = {"ordering": ordering, "alignment": _alignment(alignment)}
        return self.emit(LoadOp, (pointer,), type, properties)

    def store(
        self,
        value: SSAValue,
        pointer: SSAValue,
        alignment: int,
        ordering: builtin.IntegerAttr[builtin.IntegerType] = NOT_ATOMIC,
    ) -> None:
        properties = {"ordering": ordering, "alignment": _alignment(alignment)}
        self.insert(created(StoreOp, (value, pointer), (), properties))

    # -- vectors

    def splat(self, value: SSAValue, lanes: int) -> SSAValue:
        """A vector with a scalar in every lane; of a vector, that vector."""
        if lanes == 1 or lanes_of(value.type) > 1:
            return value
        type = cast(builtin.VectorType[Attribute], vector_of(value.type, lanes))
        if isinstance(op := value.owner, llvm.ConstantOp):
            return self.constant(vector_literal([cast("builtin.IntegerAttr", op.value)], type))
        key = (value, lanes, self.block)
        if (known := self._splats.get(key)) is None:
            first = self.insert_element(self.emit(PoisonOp, (), type), value, 0)
            known = self._splats[key] = self.emit(
                llvm.ShuffleVectorOp, (first, first), type, {"mask": _mask((0,) * lanes)}
            )
        return known

    def insert_element(self, vector: SSAValue, value: SSAValue, lane: int) -> SSAValue:
        """A vector with one lane replaced."""
        return self.emit(llvm.InsertElementOp, (vector, value, self.number(lane)), vector.type)

    def stack(self, lanes: Sequence[SSAValue]) -> SSAValue:
        """The vector of some scalars; of one, that scalar."""
        if len(lanes) == 1:
            return lanes[0]
        type = vector_of(lanes[0].type, len(lanes))
        owners = [lane.owner for lane in lanes]
        constants = [o.value for o in owners if isinstance(o, llvm.ConstantOp)]
        if len(constants) == len(lanes):
            return self.constant(
                vector_literal(cast("Sequence[builtin.IntegerAttr]", constants), type)
            )
        result = self.emit(PoisonOp, (), type)
        for i, lane in enumerate(lanes):
            result = self.insert_element(result, lane, i)
        return result

    def transposed(self, rows: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The columns of vectors: a power of two of them, of a multiple of as many lanes, or of a
        power of two lanes that divides their number.

        If there are more vectors than lanes, each is joined with those that are in the same place
        of another square, so that all squares are transposed at once.

        First the squares in each part of 128 bits are transposed, by instructions that move nothing
        from one part to another; then the parts are.
        """
        count, lanes = len(rows), lanes_of(rows[0].type)
        if count == 1:
            return [self.lane(rows[0], lane) for lane in range(lanes)]
        if count > lanes:
            rows = [self.joined(rows[i::lanes]) for i in range(lanes)]
            count = lanes
        part = _PART_BITS // cast(builtin.FixedBitwidthType, element_of(rows[0].type)).bitwidth
        if lanes % part:
            part = lanes
        side = min(count, part)
        strips = [self._zipped(rows[i : i + side], 1, part) for i in range(0, count, side)]
        columns: list[SSAValue] = []
        across = [self._zipped(strip, part, lanes) for strip in zip(*strips, strict=True)]
        for column in range(lanes):
            # Where the cells of the column are: those of the same part follow each other.
            at, inside = divmod(column, part)
            vector, beside = divmod(inside, part // side)
            which, lane = divmod(at * part * len(strips) + beside * count, lanes)
            found = across[vector][which]
            whole = count == lanes
            columns.append(
                found if whole else self.shuffle(found, found, range(lane, lane + count))
            )
        return columns

    def interleaved(self, rows: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The lanes of vectors in turn, in as many vectors: a power of two of them."""
        return self._zipped(rows, 1, lanes_of(rows[0].type))

    def _zipped(self, rows: Sequence[SSAValue], unit: int, span: int) -> Sequence[SSAValue]:
        """The columns of vectors, whose elements are `unit` lanes, in each `span` lanes.

        log2(count) rounds; each interleaves vector i with vector i + count/2.
        """
        count, lanes = len(rows), lanes_of(rows[0].type)
        masks = [
            [
                vector + start + half + at + lane
                for start in range(0, lanes, span)
                for at in range(0, span // 2, unit)
                for vector in (0, lanes)
                for lane in range(unit)
            ]
            for half in (0, span // 2)
        ]
        for _ in range(count.bit_length() - 1):
            pairs = zip(rows[: count // 2], rows[count // 2 :], strict=True)
            rows = [self.shuffle(a, b, mask) for a, b in pairs for mask in masks]
        return rows

    def joined(self, parts: Sequence[SSAValue]) -> SSAValue:
        """The vector of the lanes of some vectors, one after the other."""
        if not is_vector(parts[0].type):
            return self.stack(parts)
        lanes = len(parts) * lanes_of(parts[0].type)
        while len(parts) > 1:
            mask = range(2 * lanes_of(parts[0].type))
            pairs = zip(parts[::2], [*parts[1::2], *parts[-1:][: len(parts) % 2]], strict=True)
            parts = [self.shuffle(a, b, mask) for a, b in pairs]
        (whole,) = parts
        return whole if lanes_of(whole.type) == lanes else self.shuffle(whole, whole, range(lanes))

    def shuffle(self, a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> SSAValue:
        """The vector of some lanes of two vectors; those of the second come after the first's."""
        type = vector_of(element_of(a.type), len(lanes))
        return self.emit(llvm.ShuffleVectorOp, (a, b), type, {"mask": _mask(tuple(lanes))})

    def lane(self, vector: SSAValue, lane: int) -> SSAValue:
        """One element of a vector; of a scalar, that scalar."""
        if not is_vector(vector.type):
            return vector
        return self.emit(ExtractElementOp, (vector, self.number(lane)), element_of(vector.type))

    def elements(self, struct: SSAValue) -> Sequence[SSAValue]:
        """The elements of a struct."""
        assert isinstance(struct.type, llvm.LLVMStructType)
        return [
            self.put(
                llvm.ExtractValueOp(
                    builtin.DenseArrayBase.from_list(builtin.i64, [i]), struct, type
                )
            )
            for i, type in enumerate(struct.type.types)
        ]

    # -- control flow

    def new_block(self, *arguments: Attribute) -> Block:
        """A block that is not yet in the function: `enter` puts it there."""
        return Block(arg_types=arguments)

    def branch(self, target: Block, *values: SSAValue) -> None:
        self.insert(llvm.BrOp.create(operands=values, successors=(target,)))

    def branch_if(
        self,
        condition: SSAValue,
        then: Block,
        then_values: Sequence[SSAValue],
        otherwise: Block,
        other_values: Sequence[SSAValue] = (),
    ) -> None:
        self.insert(
            llvm.CondBrOp.create(
                operands=(condition, *then_values, *other_values),
                properties={SEGMENTS: _mask((1, len(then_values), len(other_values)))},
                successors=(then, otherwise),
            )
        )

    def enter(self, block: Block) -> None:
        """Go on in a block, which comes next."""
        self._region.add_block(block)
        self.insertion_point = InsertPoint.at_end(block)


Emitted = ComputedOp[LLVMEmitter, SSAValue]
"""An elementwise op that a function computes."""
