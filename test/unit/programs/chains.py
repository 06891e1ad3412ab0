"""Chains of each op of the dialect, of which each link uses the result of the one before twice.

A chain of n links has as many ops as n, and 2^n paths through them: what follows paths instead of
ops does not end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tgdialect.ops.attributes import AddrSpace, PlaceAttr, ReduceKind, TupleType
from tgdialect.ops.call import CallOp, FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.dtypes import BOOL, DTYPES, F32, I32, INDEX, UI8, UI64
from tgdialect.ops.elementwise import (
    DECOMPOSED,
    PRIMITIVES,
    AddOp,
    AndOp,
    CastOp,
    CmpLtOp,
    ElementwiseOp,
    MulAccOp,
    MulOp,
    ThreefryOp,
    UnaryOp,
    WhereOp,
    XorOp,
)
from tgdialect.ops.marker import ContiguousBackwardOp, ContiguousOp, DetachOp
from tgdialect.ops.memory import CopyOp, LoadOp, StoreOp
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.scan import ScanOp
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp

SHAPE = (4, 4)


@dataclass
class Builder:
    """The function that a chain is built in."""

    block: Block
    start: SSAValue
    """The first value of the chain, which is another operand of its links."""
    module: ModuleOp

    def put(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def twice(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Both values in one of their dtype, which stays small."""
        dtype = DTYPES[tensor(a).element_type]
        return self.put((AddOp if dtype.is_float else XorOp)(a, b))

    def constant(self, value: float, dtype: Attribute) -> SSAValue:
        return self.put(ConstOp(value, dtype))


Link = Callable[[Builder, SSAValue], SSAValue]
"""From the result of the link before to that of this one, of the same type."""


@dataclass(frozen=True)
class Chain:
    """How to make a chain of any length."""

    link: Link
    dtype: Attribute = F32
    shape: tuple[int, ...] = SHAPE
    device: str | None = None

    def module(self, depth: int) -> ModuleOp:
        type = tensor_type(self.dtype, self.shape)
        block = Block(arg_types=[type])
        function = FuncOp("main", ([type], [type]), Region(block))
        module = ModuleOp([function])
        builder = Builder(block, block.args[0], module)
        value: SSAValue = block.args[0]
        for _ in range(depth):
            value = self.link(builder, value)
        block.add_op(ReturnOp(value))
        function.properties["function_type"] = type_of(function, [value])
        return module

    def input(self) -> np.ndarray:
        return np.arange(np.prod(self.shape)).reshape(self.shape).astype(NUMPY[self.dtype])


def type_of(function: FuncOp, results: Sequence[SSAValue]) -> Attribute:
    from xdsl.dialects.builtin import FunctionType

    return FunctionType.from_lists(list(function.body.block.arg_types), [r.type for r in results])


NUMPY = {
    F32: np.float32,
    I32: np.int32,
    BOOL: np.bool_,
    UI64: np.uint64,
    UI8: np.uint8,
}


# -- elementwise ops, at each position of the operand


def dtype_for(kind: type[ElementwiseOp]) -> Attribute:
    if kind is ThreefryOp:
        return UI64
    return next(dtype for dtype in (F32, I32, BOOL) if DTYPES[dtype] in kind.DOMAIN)


def applied(kind: type[ElementwiseOp], b: Builder, operands: Sequence[SSAValue]) -> SSAValue:
    """An op on operands of one dtype; the result in this dtype."""
    dtype = tensor(operands[0]).element_type
    if kind is CastOp:
        other = I32 if dtype == F32 else F32
        return b.put(CastOp(b.put(CastOp(operands[0], other)), dtype))
    if kind is WhereOp:
        condition = b.put(CmpLtOp(operands[0], b.constant(1, dtype)))
        return b.put(WhereOp(condition, *operands[1:]))
    result = b.put(kind(*operands))
    return result if tensor(result).element_type == dtype else b.put(CastOp(result, dtype))


def arity(kind: type[ElementwiseOp]) -> int:
    if kind is CastOp or issubclass(kind, UnaryOp):
        return 1
    return 3 if kind in (WhereOp, MulAccOp) else 2


def at_all(kind: type[ElementwiseOp], b: Builder, v: SSAValue) -> SSAValue:
    r = applied(kind, b, [v] * arity(kind))
    return b.twice(r, v) if arity(kind) == 1 else r


def at_all_moved(kind: type[ElementwiseOp], b: Builder, v: SSAValue) -> SSAValue:
    flipped = b.put(FlipOp(v, (True, False)))
    if arity(kind) == 1:
        return b.twice(applied(kind, b, [v]), applied(kind, b, [flipped]))
    return applied(kind, b, [v, flipped, v][: arity(kind)])


def at_one(kind: type[ElementwiseOp], place: int, b: Builder, v: SSAValue) -> SSAValue:
    operands = [v if i == place else b.start for i in range(arity(kind))]
    result = applied(kind, b, operands)
    return b.twice(result, b.put(FlipOp(result, (True, False))))


# -- other ops


def beside(link: Link, b: Builder, v: SSAValue) -> SSAValue:
    """The result of a link beside its operand."""
    return b.twice(link(b, v), v)


def permute(b: Builder, v: SSAValue) -> SSAValue:
    return b.put(PermuteOp(v, (1, 0)))


def flip(b: Builder, v: SSAValue) -> SSAValue:
    return b.put(FlipOp(v, (True, True)))


def reshape(b: Builder, v: SSAValue) -> SSAValue:
    flat = b.put(FlipOp(b.put(ReshapeOp(v, (2, 8))), (True, False)))
    return b.put(ReshapeOp(b.put(PermuteOp(flat, (1, 0))), SHAPE))


def expand(b: Builder, v: SSAValue) -> SSAValue:
    row = b.put(ShrinkOp(v, (1, 0), (1, 4)))
    return b.put(ExpandOp(row, SHAPE))


def pad(b: Builder, v: SSAValue) -> SSAValue:
    return b.put(ShrinkOp(b.put(PadOp(v, (1, 0), (5, 4))), (0, 0), SHAPE))


def fill(b: Builder, v: SSAValue) -> SSAValue:
    from tgdialect.ops.dtypes import number_attribute

    dtype = tensor(v).element_type
    padded = PadOp(v, (1, 0), (5, 4), number_attribute(1, dtype))
    return b.put(ShrinkOp(b.put(padded), (0, 0), SHAPE))


def shrink(b: Builder, v: SSAValue) -> SSAValue:
    parts = [b.put(ShrinkOp(v, (o, 0), (2, 4))) for o in (0, 2)]
    both = b.put(StackOp([b.twice(*parts), parts[0]]))
    return b.put(ReshapeOp(both, SHAPE))


def index(place: int, b: Builder, v: SSAValue) -> SSAValue:
    operands = [v if place in (i, -1) else b.start for i in range(2)]
    return b.put(IndexOp(operands[0], [operands[1]]))


def row_index(b: Builder, v: SSAValue) -> SSAValue:
    """A row by a number that is computed from the value."""
    zero = b.constant(0, INDEX)
    first = b.put(CastOp(b.put(IndexOp(v, [zero, zero])), I32))
    first = b.put(AndOp(first, b.constant(3, I32)))
    row = b.put(ReshapeOp(b.put(IndexOp(v, [first])), (1, 4)))
    return b.put(ExpandOp(row, SHAPE))


def two_indices(b: Builder, v: SSAValue) -> SSAValue:
    """Elements by numbers along both axes."""
    zero = b.constant(0, INDEX)
    at = b.put(AndOp(b.put(CastOp(b.put(IndexOp(v, [zero])), I32)), b.constant(3, I32)))
    return b.put(IndexOp(v, [at, at]))


def stack(b: Builder, v: SSAValue) -> SSAValue:
    both = b.put(StackOp([v, b.put(FlipOp(v, (True, False)))]))
    return b.put(ReshapeOp(b.put(ReduceOp(ReduceKind.ADD, both, [0])), SHAPE))


def stack_part(b: Builder, v: SSAValue) -> SSAValue:
    both = b.put(ReshapeOp(b.put(StackOp([v, v])), (8, 4)))
    return b.put(ShrinkOp(both, (2, 0), SHAPE))


def stack_indexed(b: Builder, v: SSAValue) -> SSAValue:
    both = b.put(StackOp([v, b.start]))
    at = b.put(CastOp(b.put(IndexOp(v, [b.constant(0, INDEX)] * 2)), I32))
    return b.put(IndexOp(both, [at]))


def bitcast(b: Builder, v: SSAValue) -> SSAValue:
    bits = b.put(BitcastOp(v, I32))
    return b.put(BitcastOp(b.put(AndOp(bits, b.constant(-2, I32))), F32))


def narrower(b: Builder, v: SSAValue) -> SSAValue:
    bits = b.put(FlipOp(b.put(BitcastOp(v, UI8)), (True, False)))
    return b.put(BitcastOp(bits, tensor(v).element_type))


def wider(b: Builder, v: SSAValue) -> SSAValue:
    bits = b.put(FlipOp(b.put(BitcastOp(v, UI64)), (True, False)))
    return b.put(BitcastOp(bits, tensor(v).element_type))


def reduce(kind: ReduceKind, axes: Sequence[int], b: Builder, v: SSAValue) -> SSAValue:
    return b.put(ExpandOp(b.put(ReduceOp(kind, v, axes)), SHAPE))


def product(b: Builder, v: SSAValue) -> SSAValue:
    left, right = b.put(ReshapeOp(v, (4, 4, 1))), b.put(ReshapeOp(v, (1, 4, 4)))
    sums = b.put(ReduceOp(ReduceKind.ADD, b.put(MulOp(left, right)), [1]))
    return b.put(ReshapeOp(sums, SHAPE))


def scan_sums(b: Builder, v: SSAValue) -> SSAValue:
    """Sums of prefixes, as cumsum writes them."""
    padded = b.put(PadOp(v, (3, 0), (7, 4)))
    flat = b.put(ExpandOp(b.put(ReshapeOp(padded, (1, 7, 4))), (5, 7, 4)))
    rows = b.put(ShrinkOp(b.put(ReshapeOp(flat, (35, 4))), (0, 0), (32, 4)))
    windows = b.put(ShrinkOp(b.put(ReshapeOp(rows, (4, 8, 4))), (0, 0, 0), (4, 4, 4)))
    return b.put(ReshapeOp(b.put(ReduceOp(ReduceKind.ADD, windows, [1])), SHAPE))


def marker(kind: type[Operation], b: Builder, v: SSAValue) -> SSAValue:
    return b.put(kind(v))


def gated(b: Builder, v: SSAValue) -> SSAValue:
    gate = b.put(CmpLtOp(v, b.start))
    return b.put(LoadOp(v, b.put(FlipOp(v, (True, False))), gate))


def copy(b: Builder, v: SSAValue) -> SSAValue:
    return b.put(CopyOp(v, "CPU", clone=True))


def body(b: Builder, type: Attribute, count: int) -> Region:
    """The body of a FUNCTION: the sum of its arguments."""
    block = Block()
    inner = Builder(block, b.start, b.module)
    params = [inner.put(ParamOp(i, type)) for i in range(count)]
    block.add_op(TupleOp([inner.twice(params[0], params[-1])]))
    return Region(block)


def function(outline: bool, b: Builder, v: SSAValue) -> SSAValue:
    op = FunctionOp([v, b.put(FlipOp(v, (True, False)))], body(b, v.type, 2))
    if outline:
        op.attributes["tg.outline"] = UnitAttr()
    return b.put(GetTupleOp(b.put(op), 0))


def call(kind: str, b: Builder, v: SSAValue) -> SSAValue:
    """A call of the function that has been made before twice, by another function."""
    functions = [op for op in b.module.ops if isinstance(op, FuncOp)]
    number = len(functions)
    block = Block(arg_types=[v.type])
    inner = Builder(block, block.args[0], b.module)
    value: SSAValue = block.args[0]
    for _ in range(2):
        if number == 1:
            value = inner.twice(value, inner.put(FlipOp(value, (True, False))))
        else:
            value = called(kind, inner, f"f{number - 1}", value)
    block.add_op(ReturnOp(value))
    callee = FuncOp(f"f{number}", ([v.type], [v.type]), Region(block), StringAttr("private"))
    b.module.body.block.insert_op_before(callee, functions[-1])
    return called(kind, b, f"f{number}", v)


def called(kind: str, b: Builder, name: str, v: SSAValue) -> SSAValue:
    if kind == "func":
        return b.put(FuncCallOp(name, [v], [v.type]))
    return b.put(GetTupleOp(b.put(CallOp(name, [v], TupleType(ArrayAttr([v.type])))), 0))


def scan(b: Builder, v: SSAValue) -> SSAValue:
    block = Block()
    inner = Builder(block, b.start, b.module)
    state = inner.put(ParamOp(0, v.type))
    row = inner.put(ParamOp(1, tensor_type(tensor(v).element_type, (4,))))
    block.add_op(TupleOp([inner.twice(state, row)]))
    op = ScanOp([v, v], Region(block), states=1, sequences=1, steps=4)
    return b.put(GetTupleOp(b.put(op), 0))


def store(b: Builder, v: SSAValue) -> SSAValue:
    type = tensor_type(tensor(v).element_type, SHAPE, PlaceAttr.of("CPU", AddrSpace.GLOBAL))
    slot = sum(isinstance(op, BufferOp) for op in b.block.ops)
    buffer = b.put(BufferOp(slot, type))
    done = b.put(AfterOp(buffer, [b.put(StoreOp(buffer, b.twice(v, v)))]))
    return b.put(FlipOp(done, (True, False)))


def store_in_place(b: Builder, v: SSAValue) -> SSAValue:
    """A STORE to the one buffer there is, of what it held before."""
    type = tensor_type(tensor(v).element_type, SHAPE, PlaceAttr.of("CPU", AddrSpace.GLOBAL))
    if v is b.start:
        v = b.put(BufferOp(0, type))
    new = b.twice(b.twice(v, b.put(FlipOp(v, (True, False)))), b.start)
    return b.put(AfterOp(v, [b.put(StoreOp(v, new))]))


KINDS = [*PRIMITIVES, *DECOMPOSED]
ELEMENTWISE = {
    **{f"{k.name[3:]}": Chain(partial(at_all, k), dtype_for(k)) for k in KINDS},
    **{f"{k.name[3:]}-moved": Chain(partial(at_all_moved, k), dtype_for(k)) for k in KINDS},
    **{
        f"{k.name[3:]}-{place}": Chain(partial(at_one, k, place), dtype_for(k))
        for k in KINDS
        for place in range(arity(k))
    },
}
OTHERS = {
    "permute": Chain(partial(beside, permute)),
    "flip": Chain(partial(beside, flip)),
    "reshape": Chain(partial(beside, reshape)),
    "expand": Chain(partial(beside, expand)),
    "pad": Chain(partial(beside, pad)),
    "fill": Chain(partial(beside, fill)),
    "shrink": Chain(shrink),
    "index": Chain(partial(index, -1), I32, (4,)),
    "index-0": Chain(partial(beside, partial(index, 0)), I32, (4,)),
    "index-1": Chain(partial(beside, partial(index, 1)), I32, (4,)),
    "index-row": Chain(partial(beside, row_index)),
    "index-two": Chain(two_indices),
    "stack": Chain(stack),
    "stack-part": Chain(partial(beside, stack_part)),
    "stack-indexed": Chain(partial(beside, stack_indexed)),
    "bitcast": Chain(partial(beside, bitcast)),
    "bitcast-narrower": Chain(partial(beside, narrower)),
    "bitcast-wider": Chain(partial(beside, wider), I32),
    **{
        f"reduce-{kind.value}-{''.join(map(str, axes))}": Chain(
            partial(beside, partial(reduce, kind, axes))
        )
        for kind in ReduceKind
        for axes in ([0], [1], [0, 1])
    },
    "product": Chain(product),
    "prefix-sum": Chain(partial(beside, scan_sums)),
    "contiguous": Chain(partial(beside, partial(marker, ContiguousOp))),
    "contiguous_backward": Chain(partial(beside, partial(marker, ContiguousBackwardOp))),
    "detach": Chain(partial(beside, partial(marker, DetachOp))),
    "load": Chain(partial(beside, partial(marker, LoadOp))),
    "load-gated": Chain(gated),
    "copy": Chain(partial(beside, copy)),
    "function": Chain(partial(function, False)),
    "function-outlined": Chain(partial(function, True)),
    "call": Chain(partial(call, "tg")),
    "func-call": Chain(partial(call, "func")),
    "scan": Chain(scan),
    "store": Chain(store),
    "store-in-place": Chain(store_in_place),
}
CHAINS = {**ELEMENTWISE, **OTHERS}
