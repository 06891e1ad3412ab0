"""Rules for the ops that compute: one scalar op, or a few, for each element."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce as fold

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.select.kernel import Kernel, Lanes, static_shape
from tgdialect.lowering.select.lanes import broadcast, cells
from tgdialect.lowering.select.narrow import EXACT
from tgdialect.lowering.select.scalars import TYPES, dtype_name
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.codegen import WmmaOp
from tgdialect.ops.dtypes import DTYPES
from tgdialect.ops.elementwise import CastOp
from tgdialect.ops.movement import BitcastOp
from tgdialect.ops.properties import is_memory
from tgdialect.ops.reduce import ReduceOp, identity
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.soft_float import NARROW_FORMATS


def elementwise(k: Kernel, op: Operation) -> Lanes:
    shape = static_shape(op.results[0])
    operands = [k.aligned(operand, shape) for operand in op.operands]
    name, dtype = op.name.removeprefix("tg."), dtype_name(op.results[0])
    if dtype in NARROW_FORMATS:
        return [_rounded(k, name, lane, dtype) for lane in zip(*operands, strict=True)]
    return [k.scalars.apply(name, lane, dtype) for lane in zip(*operands, strict=True)]


def _rounded(k: Kernel, name: str, operands: Sequence[SSAValue], dtype: Dtype) -> SSAValue:
    """An op on narrow floats: computed in f32, and rounded."""
    wide = k.scalars.apply(name, operands, "f32")
    if name == "where":
        condition, a, b = operands
        k.narrow.choose(wide, condition, a, b, dtype)
    return wide if name in EXACT else k.narrow.rounded(wide, dtype)


def cast(k: Kernel, op: CastOp) -> Lanes:
    source, dtype = dtype_name(op.source), dtype_name(op.result)
    lanes = k.lanes(op.source)
    if dtype in NARROW_FORMATS:
        return [k.narrow.converted(lane, source, dtype) for lane in lanes]
    if k.narrow.computed_dtype(source) == dtype:
        return lanes
    return [k.scalars.apply("cast", (lane,), dtype) for lane in lanes]


# -- bitcast -------------------------------------------------------------------------------------


def bitcast(k: Kernel, op: BitcastOp) -> Lanes | None:
    """BITCAST of values, through unsigned integers; a bool is a byte."""
    if is_memory(op.source):
        return None
    _ = static_shape(op.result)
    source, dtype = dtype_name(op.source), dtype_name(op.result)
    lanes = k.lanes(op.source)
    if source == dtype:
        return lanes
    old, new = _itemsize(source), _itemsize(dtype)
    bits = [_bits(k, lane, source) for lane in lanes]
    if new < old:
        bits = [_part(k, word, i, new) for word in bits for i in range(old // new)]
    elif new > old:
        ratio = new // old
        bits = [_joined(k, bits[i : i + ratio], new) for i in range(0, len(bits), ratio)]
    return [_from_bits(k, word, dtype) for word in bits]


def _itemsize(dtype: Dtype) -> int:
    return DTYPES[TYPES[dtype]].itemsize


_UNSIGNED: dict[int, Dtype] = {1: "ui8", 2: "ui16", 4: "ui32", 8: "ui64"}


def _reinterpreted(k: Kernel, value: SSAValue, dtype: Dtype) -> SSAValue:
    return value if dtype_name(value) == dtype else k.scalars.apply("bitcast", (value,), dtype)


def _bits(k: Kernel, value: SSAValue, dtype: Dtype) -> SSAValue:
    """The bits of a value."""
    unsigned = _UNSIGNED[_itemsize(dtype)]
    if dtype == "i1":
        return k.scalars.apply("cast", (value,), unsigned)
    return _reinterpreted(k, k.stored(value, dtype), unsigned)


def _from_bits(k: Kernel, bits: SSAValue, dtype: Dtype) -> SSAValue:
    """The value of a dtype that has these bits."""
    if dtype == "i1":
        return k.scalars.apply("cast", (bits,), dtype)
    return k.computed(_reinterpreted(k, bits, k.narrow.stored_dtype(dtype)), dtype)


def _part(k: Kernel, word: SSAValue, i: int, size: int) -> SSAValue:
    """The i-th part of `size` bytes, the lowest first."""
    wide = dtype_name(word)
    if i:
        word = k.scalars.apply("shr", (word, k.scalars.constant(8 * size * i, wide)), wide)
    return k.scalars.apply("cast", (word,), _UNSIGNED[size])


def _joined(k: Kernel, parts: Lanes, size: int) -> SSAValue:
    """The word of `size` bytes that parts make up, the lowest first."""
    wide = _UNSIGNED[size]
    words = [k.scalars.apply("cast", (part,), wide) for part in parts]
    for i in range(1, len(words)):
        distance = k.scalars.constant(8 * size // len(parts) * i, wide)
        words[i] = k.scalars.apply("shl", (words[i], distance), wide)
    return fold(lambda a, b: k.scalars.apply("or", (a, b), wide), words)


# -- reductions ----------------------------------------------------------------------------------


def reduce(k: Kernel, op: ReduceOp) -> Lanes:
    """A chain in the order of the axes; a sum or product of narrow floats is rounded at its end."""
    if op.ranges:
        raise PassFailedException("a REDUCE over ranges: tg-expand makes loops of them")
    shape, dtype, kind = static_shape(op.result), dtype_name(op.result), op.kind.data
    computed = k.narrow.computed_dtype(dtype)
    chains: list[SSAValue | None] = [None] * len(broadcast(shape, shape))
    for lane, i in zip(k.lanes(op.source), broadcast(shape, static_shape(op.source)), strict=True):
        chain = chains[i]
        chains[i] = lane if chain is None else k.scalars.apply(kind, (chain, lane), computed)
    neutral = k.scalars.constant(identity(kind, DTYPES[TYPES[dtype]]), computed)
    totals = [neutral if chain is None else chain for chain in chains]
    if dtype in NARROW_FORMATS and kind is not ReduceKind.MAX:
        return [k.narrow.rounded(total, dtype) for total in totals]
    return totals


def wmma(k: Kernel, op: WmmaOp) -> Lanes:
    """WMMA of one thread: the product of whole matrices, in the dtype of the accumulator."""
    if (threads := op.config.threads) > 1:
        raise PassFailedException(f"the target {k.target.name} has no wmma of {threads} threads")
    m, n, depth = op.config.m_n_k
    dtype = dtype_name(op.result)
    computed = k.narrow.computed_dtype(dtype)
    a, b = ([_widened(k, lane, computed) for lane in k.lanes(x)] for x in (op.a, op.b))
    result = list(k.lanes(op.accumulator))
    for i, (row, column) in enumerate(cells((m, n))):
        for step in range(depth):
            factors = a[row * depth + step], b[step * n + column]
            result[i] = k.scalars.apply("mulacc", (*factors, result[i]), computed)
    if dtype in NARROW_FORMATS:
        return [k.narrow.rounded(value, dtype) for value in result]
    return result


def _widened(k: Kernel, value: SSAValue, dtype: Dtype) -> SSAValue:
    return value if dtype_name(value) == dtype else k.scalars.apply("cast", (value,), dtype)
