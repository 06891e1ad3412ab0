"""Emits ops on registers, with value numbering and constant folding.

A register holds a scalar, of shape `()`, or a vector, of shape `(w,)`. If an op has operands of
both kinds, its scalar operands are broadcast to all lanes. A kernel is a graph in which the
position of an op has no meaning, so equal ops are emitted once. An op that the target does not
support is emitted as its decomposition.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.lowering.select.indices import (
    Extent,
    LaneIndex,
    Ramp,
    Scalar,
    Sum,
    TilePiece,
    apart,
    is_ramp,
    is_sum,
    lanes_of,
    ramp,
)
from tgdialect.ops import tg
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.folding import constant_attribute, evaluate
from tgdialect.ops.movement import split
from tgdialect.ops.properties import index_array
from tgdialect.targets import Target
from tgdialect.targets.cpu import scales
from tgdialect.transforms.decompose import RECIPES
from tgdialect.transforms.float_format import format_of
from tgdialect.transforms.logistic import gate_around
from tgdialect.transforms.recipe import Dtype, RecipeValue
from tgdialect.transforms.transcendental import exp2_of_more, exp_of_more, least_of_normal

_CLASSES: dict[str, type[tg.TgOp]] = {
    op.name.removeprefix("tg."): op for op in (*PRIMITIVES, *DECOMPOSED, tg.BitcastOp)
}
"""The op class of each elementwise op and of BITCAST, by name."""

_INDEX = tg.DTYPES[tg.INDEX]

_TYPED = ("cast", "bitcast")
"""Ops that have the dtype of the result as a property."""

_BITS = {"f32": "<f", "f64": "<d", "i32": "<i", "ui32": "<I", "i64": "<q", "ui64": "<Q"}
"""The dtypes whose constants are folded through BITCAST, each with its `struct` format."""


def dtype_name(value: SSAValue) -> Dtype:
    """The name of a value's dtype."""
    return cast(Dtype, tg.dtype_of(value).name)


class Scalars(tg.OpBuilder):
    """Appends ops to a block.

    It implements `recipe.Semantics`, so decomposition recipes emit their ops through it.
    """

    def __init__(self, block: Block, target: Target) -> None:
        super().__init__(InsertPoint.at_end(block))
        self.target = target
        self._known: dict[tuple[object, ...], SSAValue] = {}

    def emit(
        self,
        kind: type[tg.TgOp],
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute] = {},
        type: Attribute | None = None,
    ) -> SSAValue:
        """The result of an op without effects; equal ops are emitted once.

        Most ops of a compilation are created here. To save time this skips the op's own
        constructor and, where the type is given, its type inference.
        """
        key = (kind, *operands, *properties.values())
        if (known := self._known.get(key)) is None:
            op = kind.__new__(kind)
            op.infer(operands, properties, type=type)
            known = self._known[key] = self.put(op)
        return known

    # -- the protocol of recipe.Semantics

    def constant(self, value: int | float, dtype: Dtype) -> SSAValue:
        if type(value) is not int:  # 0 == -0.0, which is another constant.
            return self.literal(tg.number_attribute(value, tg.TYPES[dtype]))
        key = (value, dtype)  # Hot: an attribute is made and hashed in ten times as long.
        if (known := self._known.get(key)) is None:
            known = self.literal(tg.number_attribute(value, tg.TYPES[dtype]))
            self._known[key] = known
        return known

    def apply(self, primitive: str, operands: Sequence[TilePiece], dtype: Dtype) -> SSAValue:
        """An elementwise op or a BITCAST by name on registers, with a result of `dtype`."""
        # A comparison of constant ramps: fold it lane by lane.
        if primitive.startswith("cmp") and any(map(is_ramp, operands)):
            lanes = max(map(lanes_of, operands))
            each = [tuple(self.lane(o, i) for o in operands) for i in (0, lanes - 1)]
            if all(constant_attribute(o) is not None for pair in each for o in pair):
                every = ([self.lane(o, i) for o in operands] for i in range(lanes))
                return self.stack([self.apply(primitive, pair, dtype) for pair in every])
        # Fold constants, and x + 0 and x * 1.
        values = [self.register(operand) for operand in operands]
        if (folded := _fold(primitive, values, dtype)) is not None:
            return self.literal(folded)
        if (same := _neutral(primitive, values)) is not None:
            return same
        # Decompose an op that the target does not support.
        if primitive in RECIPES and not self._is_native(primitive, dtype):
            return self.carried_out(RECIPES[primitive], values)
        made = self._put(primitive, values, dtype)
        if primitive != "gate":
            return made
        # A CPU's GATE does not hold in the tails.
        handles = (RecipeValue(self, value, dtype_name(value)) for value in values)
        return gate_around(RecipeValue(self, made, dtype), *handles).handle

    def _put(self, primitive: str, values: Sequence[SSAValue], dtype: Dtype) -> SSAValue:
        """An op that the target has."""
        type = tg.TYPES[dtype]
        # A GPU multiplies and adds integers in one instruction. Sums of floats are contracted only
        # in reductions, and those of indices stay sums for the analyses of addresses.
        contracts = self.target.is_grid and tg.DTYPES[type].is_integer and dtype != "index"
        if primitive == "add" and contracts:
            for addend, product in (values, values[::-1]):
                if isinstance(product.owner, tg.MulOp):
                    return self.apply("mulacc", (*product.owner.operands, addend), dtype)
        properties = {"dtype": type} if primitive in _TYPED else {}
        lanes = max(map(lanes_of, values))
        result = tg.tensor_type(type, (lanes,) if lanes > 1 else ())
        return self.emit(_CLASSES[primitive], values, properties, result)

    def _is_native(self, primitive: str, dtype: Dtype) -> bool:
        is_scaled = primitive in ("exp2", "exp") or (primitive == "gate" and dtype == "f32")
        return primitive in self.target.native or (is_scaled and scales(self.target))

    @property
    def fuses(self) -> bool:
        """Whether MULACC is rounded once."""
        return "mulacc" in self.target.native

    def carried_out(
        self, recipe: Callable[..., RecipeValue[SSAValue]], operands: Sequence[TilePiece]
    ) -> SSAValue:
        """A recipe on registers."""
        values = [self.register(operand) for operand in operands]
        return recipe(*(RecipeValue(self, value, dtype_name(value)) for value in values)).handle

    def power_of_more(self, name: str, exponent: TilePiece, *, has_one_use: bool) -> SSAValue:
        """EXP2 or EXP where only results matter that are not subnormal: WHEREs choose something
        else instead, or one if `has_one_use`."""
        value = self.register(exponent)
        dtype = dtype_name(value)
        if constant_attribute(value) is not None:
            return self.apply(name, (value,), dtype)
        x = RecipeValue(self, value, dtype)
        if not self._is_native(name, dtype):
            return (exp2_of_more if name == "exp2" else exp_of_more)(x).handle
        # A processor takes many times as long for a result that is subnormal. LLVM makes the
        # condition of one WHERE of vectors the mask of the instruction that scales.
        if has_one_use and lanes_of(value) > 1:
            return self.apply(name, (value,), dtype)
        least = x.constant(least_of_normal(format_of(x), natural=name == "exp"))
        return self.apply(name, ((x < least).where(least, x).handle,), dtype)

    # -- constants, index arithmetic and conditions

    def literal(self, attribute: Attribute) -> SSAValue:
        type = tg.tensor_type(tg.type_of_number(attribute))
        return self.emit(tg.ConstOp, (), {"value": attribute}, type)

    def index(self, index: LaneIndex) -> SSAValue:
        """An index in a register."""
        if isinstance(index, int):
            return self.constant(tg.wrap_to(_INDEX, index), "index")
        if is_sum(index):
            return self.apply("add", (index.base, self.index(index.distance)), "index")
        return self.register(index)

    def settled(self, index: LaneIndex) -> Extent:
        """A scalar index as a constant or a register."""
        return index if isinstance(index, int) else self.index(index)

    def known_index(self, value: TilePiece) -> LaneIndex:
        """A register as an index; a constant becomes a Python integer."""
        if is_ramp(value):
            return value
        if tg.dtype_of(value) is not _INDEX:
            value = self.apply("cast", (value,), "index")
        attribute = constant_attribute(value)
        return value if attribute is None else int(tg.number(attribute))

    def add(self, a: LaneIndex, b: LaneIndex) -> LaneIndex:
        if isinstance(a, int):
            if isinstance(b, int):
                return tg.wrap_to(_INDEX, a + b)
            a, b = b, a
        if is_ramp(b):
            a, b = b, a
        if is_ramp(a):
            start, step = (b.start, b.step) if is_ramp(b) else (b, 0)
            if is_ramp(b) or lanes_of(b) == 1:
                return self._ramp(cast(Scalar, self.add(a.start, start)), a.step + step, a.lanes)
        # Add constants last, so that sums that differ in the constant share the rest.
        (a, p), (b, q) = apart(a), apart(b)
        total = cast(SSAValue, a) if b == 0 else self._arithmetic("add", a, b)
        distance = tg.wrap_to(_INDEX, p + q)
        if distance == 0:
            return total
        if lanes_of(total) > 1:
            return self._arithmetic("add", total, distance)
        return Sum(total, distance)

    def _ramp(self, start: Scalar, step: int, lanes: int) -> LaneIndex:
        """The indices `start + step * lane`; a vector in a register if the start is a constant and
        the last index wraps."""
        if step and isinstance(start, int):
            last = start + step * (lanes - 1)
            if tg.wrap_to(_INDEX, last) != last:
                return self.register(Ramp(start, step, lanes))
        return ramp(start, step, lanes)

    def sub(self, a: LaneIndex, b: LaneIndex) -> LaneIndex:
        if isinstance(b, int):
            return self.add(a, -b)
        if is_ramp(b):
            return self.add(a, self.mul(b, -1))
        if is_ramp(a) and lanes_of(b) == 1:
            return self._ramp(cast(Scalar, self.sub(a.start, b)), a.step, a.lanes)
        return self._arithmetic("sub", a, b)

    def mul(self, a: LaneIndex, b: LaneIndex) -> LaneIndex:
        if isinstance(a, int):
            if isinstance(b, int):
                return tg.wrap_to(_INDEX, a * b)
            a, b = b, a
        if b == 1:
            return a
        if is_ramp(a) and isinstance(b, int):
            return self._ramp(cast(Scalar, self.mul(a.start, b)), a.step * b, a.lanes)
        if isinstance(b, int):
            a, constant = apart(a)
            product = self._arithmetic("mul", a, b)
            return product if constant == 0 else self.add(product, constant * b)
        return self._arithmetic("mul", a, b)

    def idiv(self, a: LaneIndex, b: LaneIndex) -> LaneIndex:
        if isinstance(a, int) and isinstance(b, int):
            return a // b if b else 0
        if is_ramp(a) and isinstance(a.start, int) and isinstance(b, int) and b > 0:
            first, last = a.start // b, (a.start + a.step * (a.lanes - 1)) // b
            if first == last:
                return first
        return a if b == 1 else self._arithmetic("idiv", a, b)

    def mod(self, a: LaneIndex, b: LaneIndex) -> LaneIndex:
        if isinstance(a, int) and isinstance(b, int):
            return a % b if b else 0
        quotient = self.idiv(a, b) if is_ramp(a) and isinstance(a.start, int) else None
        if isinstance(quotient, int) and isinstance(b, int):
            return self.add(a, -quotient * b)
        return self._arithmetic("mod", a, b)

    def _arithmetic(self, name: str, a: LaneIndex, b: LaneIndex) -> SSAValue:
        return self.apply(name, (self.index(a), self.index(b)), "index")

    def piece(self, index: LaneIndex) -> TilePiece:
        return index if is_ramp(index) else self.index(index)

    def across(self, kind: tg.ReduceKind, value: SSAValue) -> SSAValue:
        """REDUCE over the lanes of a vector, in any order."""
        if lanes_of(value) == 1:
            return value
        properties = {"op": tg.ReduceKindAttr(kind), "axes": split((0,))[0]}
        one = self.emit(tg.ReduceOp, (value,), properties)
        return self.emit(tg.ReshapeOp, (one,), _shape())

    def calculated(self, name: str, operands: Sequence[TilePiece]) -> LaneIndex:
        """An elementwise op on indices. With a ramp as an operand, the result may be a ramp."""
        method = _INDEX_METHODS.get(name)
        if method is None or not any(map(is_ramp, operands)):
            return self.apply(name, operands, "index")
        return method(self, *map(self.known_index, operands))

    # -- lanes

    def register(self, piece: TilePiece) -> SSAValue:
        """A piece in a register: a ramp becomes its start plus a VCONST."""
        if not is_ramp(piece):
            return piece
        base, first = apart(piece.start)
        values: Sequence[int] = range(first, first + piece.step * piece.lanes, piece.step)
        if tg.wrap_to(_INDEX, values[-1]) != values[-1]:
            values = tuple(tg.wrap_to(_INDEX, value) for value in values)
        steps = self.emit(
            tg.VConstOp, (), _vector(values), tg.tensor_type(tg.INDEX, (piece.lanes,))
        )
        return steps if base == 0 else self.apply("add", (self.index(base), steps), "index")

    def stack(self, lanes: Sequence[SSAValue]) -> SSAValue:
        """The vector with these scalars as its lanes."""
        if all(lane is lanes[0] for lane in lanes):
            return self.splat(lanes[0], len(lanes))
        type = tg.tensor_type(tg.tensor(lanes[0]).element_type, (len(lanes),))
        return self.emit(tg.StackOp, lanes, type=type)

    def transposed(self, rows: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The columns of the matrix whose rows are these vectors: a power of two of them, of a
        multiple of as many lanes, or of a power of two lanes that divides their number."""
        columns = self._columns(rows)
        width, height = tg.tensor(columns).get_shape()
        column = tg.tensor_type(tg.tensor(columns).element_type, (height,))
        return [self.emit(tg.IndexOp, (columns, self.index(i)), type=column) for i in range(width)]

    def interleaved(self, rows: Sequence[SSAValue]) -> SSAValue:
        """The columns of the matrix whose rows are these vectors, one after the other in a vector.
        The number of rows is a power of two."""
        columns = self._columns(rows)
        return self.emit(
            tg.ReshapeOp, (columns,), _shape(math.prod(tg.tensor(columns).get_shape()))
        )

    def _columns(self, rows: Sequence[SSAValue]) -> SSAValue:
        """The matrix whose columns are some vectors."""
        order = {"order": split((1, 0))[0]}
        return self.emit(tg.PermuteOp, (self.emit(tg.StackOp, rows),), order)

    def joined(self, parts: Sequence[SSAValue]) -> SSAValue:
        """The concatenation of vectors of one width."""
        if len(parts) == 1:
            return parts[0]
        shape = _shape(len(parts) * lanes_of(parts[0]))
        return self.emit(tg.ReshapeOp, (self.emit(tg.StackOp, parts),), shape)

    def numbers(self, values: Sequence[int]) -> TilePiece:
        """The piece with constant indices: a ramp if their differences are equal."""
        if len(values) == 1:
            return self.index(values[0])
        start, step = values[0], values[1] - values[0]
        if step and tuple(values) == tuple(range(start, start + step * len(values), step)):
            return Ramp(start, step, len(values))
        return self.emit(tg.VConstOp, (), _vector(tuple(values)))

    def gathered(self, lanes: Sequence[TilePiece]) -> TilePiece:
        """The piece with these scalars as its lanes. It is a ramp if they are constants, or sums of
        one value and constants, and the differences are equal."""
        parts = [apart(self.known_index(lane)) for lane in lanes if _is_index(lane)]
        if len(parts) == len(lanes) > 1 and all(rest == parts[0][0] for rest, _ in parts):
            numbers = [number for _, number in parts]
            start, step = numbers[0], numbers[1] - numbers[0]
            if step and numbers == list(range(start, start + step * len(lanes), step)):
                return Ramp(cast(Scalar, self.known_index(lanes[0])), step, len(lanes))
        values = [self.register(lane) for lane in lanes]
        return values[0] if len(values) == 1 else self.stack(values)

    def splat(self, value: SSAValue, lanes: int) -> SSAValue:
        """A scalar broadcast to all lanes; a vector is returned as it is."""
        if lanes == 1 or lanes_of(value) > 1:
            return value
        type = tg.tensor(value).element_type
        one = self.emit(tg.ReshapeOp, (value,), _shape(1), tg.tensor_type(type, (1,)))
        return self.emit(tg.ExpandOp, (one,), _shape(lanes), tg.tensor_type(type, (lanes,)))

    def lane(self, piece: TilePiece, position: int) -> SSAValue:
        """One lane of a piece, as a scalar register.

        A condition on indices is computed for the lane: bounds checks see what a gate says, and
        lanes that are alike have one condition, as the rows of a tile that windows share.
        """
        if is_ramp(piece):
            return self.index(self.add(piece.start, piece.step * position))
        if lanes_of(piece) == 1:
            return piece
        owner = piece.owner
        if isinstance(owner, tg.StackOp):
            return owner.sources[position]
        if isinstance(owner, tg.VConstOp):
            return self.index(tg.integers(owner, "values")[position])
        if conditions := _comparisons(piece):
            decided = [self._decided(condition, position) for condition in conditions]
            return cast(SSAValue, self.all_of(decided))
        type = tg.tensor_type(tg.tensor(piece).element_type)
        return self.emit(tg.IndexOp, (piece, self.index(position)), type=type)

    def _decided(self, comparison: SSAValue, position: int) -> SSAValue:
        """One lane of a comparison of indices."""
        if lanes_of(comparison) == 1:
            return comparison
        op = cast(tg.CompareOp, comparison.owner)
        lanes: list[LaneIndex] = []
        for operand in op.operands:
            summands = operand.owner.operands if isinstance(operand.owner, tg.AddOp) else (operand,)
            each = [self.known_index(self.lane(summand, position)) for summand in summands]
            lanes.append(self.add(*each) if len(each) == 2 else each[0])
        return self.compare(op.name.removeprefix("tg."), *lanes)

    def lanes(self, piece: TilePiece, positions: range) -> TilePiece:
        """Some lanes of a piece."""
        if positions == range(lanes_of(piece)):
            return piece
        if is_ramp(piece):
            start = self.add(piece.start, piece.step * positions.start)
            return Ramp(cast(Scalar, start), piece.step * positions.step, len(positions))
        if isinstance(piece.owner, tg.VConstOp):
            values = tg.integers(piece.owner, "values")
            wanted = [values[position] for position in positions]
            return self.index(wanted[0]) if len({*wanted}) == 1 else self.numbers(wanted)
        return self.gathered([self.lane(piece, position) for position in positions])

    def compare(self, name: str, a: LaneIndex, b: LaneIndex) -> SSAValue:
        return self.apply(name, (self.index(a), self.index(b)), "i1")

    def all_of(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """The conjunction of conditions; None, which stands for true, if there is none."""
        result = None
        for condition in dict.fromkeys(conditions):
            result = condition if result is None else self.apply("and", (result, condition), "i1")
        return result


def _comparisons(condition: SSAValue) -> Sequence[SSAValue]:
    """The comparisons of indices, and scalars, that a vector of bools is the conjunction of. Empty
    for other vectors, and where there are too many to be a gate."""
    found: list[SSAValue] = []
    values = [condition]
    for value in values:  # It grows while they are visited.
        if lanes_of(value) > 1 and isinstance(op := value.owner, tg.AndOp):
            values += [operand for operand in op.operands if operand not in values]
        elif lanes_of(value) == 1 or (
            isinstance(op := value.owner, tg.CompareOp) and dtype_name(op.operands[0]) == "index"
        ):
            found.append(value)
        else:
            return ()
        if len(values) > _MOST_CONDITIONS:
            return ()
    return found


_MOST_CONDITIONS = 16
"""A gate has a comparison for each loop that is padded, and a nest has a few of these. More are no
gate, but a program's own values."""


@lru_cache(maxsize=1024)
def _vector(values: Sequence[int]) -> Mapping[str, Attribute]:
    """The properties of a VCONST."""
    return {"values": index_array(values)}


@lru_cache(maxsize=1024)
def _shape(*shape: int) -> Mapping[str, Attribute]:
    """The property of a RESHAPE or EXPAND."""
    return {"shape": split(shape)[0]}


def _is_index(piece: TilePiece) -> bool:
    return is_ramp(piece) or dtype_name(piece) == "index"


_INDEX_METHODS: dict[str, Callable[..., LaneIndex]] = {
    method.__name__: method
    for method in (Scalars.add, Scalars.sub, Scalars.mul, Scalars.idiv, Scalars.mod)
}
"""The ops whose result may be a ramp if an operand is, each with its index arithmetic."""


_NEUTRAL = {"add": 0, "mul": 1}
"""The neutral operand of commutative ops that are simplified as they are emitted."""


def _neutral(name: str, operands: Sequence[SSAValue]) -> SSAValue | None:
    """The operand x of an integer x + 0 or x * 1; None for other ops."""
    if name not in _NEUTRAL or not tg.dtype_of(operands[0]).is_integer:
        return None
    a, b = operands
    for constant, other in ((a, b), (b, a)):
        attribute = constant_attribute(constant)
        if attribute is not None and tg.number(attribute) == _NEUTRAL[name]:
            return other
    return None


def _fold(name: str, operands: Sequence[SSAValue], dtype: Dtype) -> Attribute | None:
    """The result of an op on constants; None if an operand is not one or the op is not folded."""
    values: list[Any] = []
    for operand in operands:
        if (attribute := constant_attribute(operand)) is None:
            return None
        values.append(tg.number(attribute))
    source, type = tg.dtype_of(operands[0]), tg.TYPES[dtype]
    if name == "bitcast":
        if source.name not in _BITS or dtype not in _BITS or values[0] != values[0]:
            return None
        packed = struct.pack(_BITS[source.name], *values)
        (bits,) = cast("tuple[Any]", struct.unpack(_BITS[dtype], packed))
        return None if bits != bits else tg.number_attribute(bits, type)
    folded = evaluate(f"tg.{name}", source, tg.DTYPES[type], values)
    return None if folded is None else tg.number_attribute(folded, type)
