"""Random tensor graphs of every dtype and family, for the interpreter to evaluate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import Float16Type, IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tgdialect.interpreter import run
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import (
    BOOL,
    DTYPES,
    F32,
    F64,
    I32,
    INDEX,
    UI8,
    number_attribute,
    round_to,
)
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES, CastOp, UnaryOp
from tgdialect.ops.marker import ContiguousOp, DetachOp
from tgdialect.ops.memory import CopyOp, LoadOp
from tgdialect.ops.movement import (
    BitcastOp,
    FlipOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp, ParamOp

DTYPE_CHOICES: tuple[Attribute, ...] = (
    BOOL,
    INDEX,
    IntegerType(8),
    UI8,
    I32,
    Float16Type(),
    F32,
    F64,
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 100.25, math.inf, -math.inf, math.nan, 1e-40, 7e4)
BINARY = (
    *(["add", "mul", "max", "mod", "idiv", "cmplt", "cmpne", "xor", "or", "and", "shr", "shl"]),
    *(["sub", "div", "cmpgt", "cmpge", "cmple", "cmpeq", "pow"]),
)
CLASSES = {op.name: op for op in (*PRIMITIVES, *DECOMPOSED)}
UNARY = tuple(op for op in CLASSES.values() if issubclass(op, UnaryOp))
SHAPE = (2, 3)
MOVES = (
    *("flip", "permute", "reshape", "pad", "fill", "index", "mark", "bits"),
    *("stack", "load", "copy"),
)


@dataclass(frozen=True)
class Graph:
    """A module with one function `f`, and what it is given."""

    module: ModuleOp
    inputs: Sequence[Any]

    @property
    def block(self) -> Block:
        function = self.module.body.block.first_op
        assert isinstance(function, FuncOp)
        return function.body.block

    def evaluate(self) -> list[Any]:
        """The function's results, by the interpreter."""
        return run(self.module, "f", self.inputs)


def numbers(element: Attribute) -> st.SearchStrategy[Any]:
    """Values of a dtype, the special ones often."""
    dtype = DTYPES[element]
    if dtype.is_float:
        return st.sampled_from(FLOATS).map(lambda v: round_to(dtype, v))
    low, high = int(dtype.low), int(dtype.high)
    return st.integers(max(low, -5), min(high, 9)) | st.sampled_from((low, high))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Values of shape (2, 3) or () in a straight line; the function returns the last few."""
    arguments = draw(st.lists(st.sampled_from(DTYPE_CHOICES), min_size=1, max_size=3))
    block = Block(arg_types=[tensor_type(element, SHAPE) for element in arguments])
    inputs: list[Any] = [
        [[draw(numbers(element)) for _ in range(SHAPE[1])] for _ in range(SHAPE[0])]
        for element in arguments
    ]
    values: list[SSAValue] = list(block.args)

    def append(op: Operation, *, hidden: bool = False) -> SSAValue:
        """Add an op; unless hidden, others may use it. All such values broadcast to (2, 3)."""
        block.add_op(op)
        if not hidden:
            values.append(op.results[0])
        return op.results[0]

    low, high = sorted(draw(st.tuples(st.integers(-9, 9), st.integers(-9, 9))))
    append(ParamOp(0, tensor_type(INDEX), min=low, max=high))
    inputs.append(draw(st.integers(low, high)))
    for element in (INDEX, F32, draw(st.sampled_from(DTYPE_CHOICES))):
        append(ConstOp(draw(numbers(element)), element))

    def of(predicate: Any) -> SSAValue:
        """A value whose dtype satisfies a predicate, or a constant that does."""
        found = [v for v in values if predicate(tensor(v).element_type)]
        if found:
            return draw(st.sampled_from(found))
        (element, *_) = (e for e in DTYPE_CHOICES if predicate(e))
        return append(ConstOp(draw(numbers(element)), element))

    for _ in range(draw(st.integers(1, 10))):
        _step(draw, append, of)
    results = values[-6:]
    block.add_op(ReturnOp(*results))
    function = FuncOp("f", ([a.type for a in block.args], [r.type for r in results]), Region(block))
    arrays = [
        np.array(value, dtype=NUMPY[element])
        for element, value in zip((*arguments, INDEX), inputs, strict=True)
    ]
    return Graph(ModuleOp([function]), arrays)


def _step(draw: st.DrawFn, append: Any, of: Any) -> None:
    """One more op."""
    kind = draw(
        st.sampled_from(["binary"] * 4 + ["unary"] * 2 + ["cast", "where", "move", "reduce"])
    )
    if kind == "binary":
        name = f"tg.{draw(st.sampled_from(BINARY))}"
        domain = CLASSES[name].DOMAIN
        left = of(lambda e: DTYPES[e] in domain)
        right = of(lambda e: e == tensor(left).element_type)
        append(CLASSES[name](left, right))
    elif kind == "unary":
        op = draw(st.sampled_from(UNARY))
        append(op(of(lambda e: DTYPES[e] in op.DOMAIN)))
    elif kind == "cast":
        append(CastOp(of(lambda e: True), draw(st.sampled_from(DTYPE_CHOICES))))
    elif kind == "where":
        left = of(lambda e: True)
        right = of(lambda e: e == tensor(left).element_type)
        append(CLASSES["tg.where"](of(lambda e: e == BOOL), left, right))
    else:
        source = of(lambda e: True)
        shape = tensor(source).get_shape()
        if shape != SHAPE:
            append(ReshapeOp(source, (1,) * (2 - len(shape)) + shape))
        elif kind == "reduce":
            axes = draw(st.sampled_from([[], [0], [1], [0, 1]]))
            append(ReduceOp(draw(st.sampled_from(list(ReduceKind))), source, axes))
        else:
            _move(draw, append, of, source)


def _move(draw: st.DrawFn, append: Any, of: Any, source: SSAValue) -> None:
    """A movement or two of a value of shape (2, 3), back to that shape."""
    element = tensor(source).element_type
    kind = draw(st.sampled_from(MOVES))
    match kind:
        case "flip":
            append(FlipOp(source, draw(st.tuples(st.booleans(), st.booleans()))))
        case "permute":
            append(PermuteOp(append(PermuteOp(source, (1, 0)), hidden=True), (1, 0)))
        case "reshape":
            append(ReshapeOp(append(ReshapeOp(source, (6,)), hidden=True), SHAPE))
        case "pad" | "fill":
            fill = number_attribute(draw(numbers(element)), element) if kind == "fill" else None
            offset = draw(st.integers(0, 2))
            padded = append(PadOp(source, (0, 1), (4, 5), fill), hidden=True)
            append(ShrinkOp(padded, (offset, offset), SHAPE))
        case "index":
            index = append(ConstOp(draw(st.integers(-1, 3)), INDEX))
            append(CLASSES["tg.max"](source, append(IndexOp(source, (index,)))))
        case "mark":
            marker = draw(st.sampled_from([ContiguousOp, DetachOp]))
            append(marker(append(marker(source))))
        case "stack":
            flipped = append(FlipOp(source, (True, False)), hidden=True)
            both = append(StackOp([source, flipped]), hidden=True)
            append(IndexOp(both, (append(ConstOp(draw(st.integers(-1, 2)), INDEX)),)))
        case "load":
            alt = append(FlipOp(source, (True, False)))
            gate = of(lambda e: e == BOOL)
            if tensor(gate).get_shape() in ((), SHAPE):
                append(LoadOp(source, alt, gate))
        case "copy":
            append(CopyOp(source, "B", clone=True))
        case _:
            size = DTYPES[element].itemsize
            alike = [e for e in DTYPE_CHOICES if DTYPES[e].itemsize == size and e != BOOL]
            append(BitcastOp(source, element if element == BOOL else draw(st.sampled_from(alike))))


NUMPY: dict[Attribute, Any] = {
    BOOL: np.bool_,
    INDEX: np.int64,
    IntegerType(8): np.int8,
    UI8: np.uint8,
    I32: np.int32,
    Float16Type(): np.float16,
    F32: np.float32,
    F64: np.float64,
}
