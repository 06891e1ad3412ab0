"""Selection rules of the ops that compute: elementwise ops, CAST, BITCAST, REDUCE and WMMA."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from functools import reduce as fold
from itertools import chain, cycle

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.zeros import may_be_negative_zero, shows_negative_zero
from tgdialect.lowering.kernel_memory import grouped
from tgdialect.lowering.select.indices import TilePiece, apart, lanes_of
from tgdialect.lowering.select.instructions import matrix_instruction
from tgdialect.lowering.select.kernel import SelectedKernel, static_shape
from tgdialect.lowering.select.narrow import EXACT
from tgdialect.lowering.select.scalars import dtype_name
from tgdialect.lowering.select.tiles import (
    RegisterTile,
    StaticShape,
    broadcast_tile,
    cells,
    elements,
    ones,
    row_length,
    scalar,
)
from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute
from tgdialect.targets.instructions import DOTTED, dot_products
from tgdialect.transforms.decompose import REFINED
from tgdialect.transforms.float_format import FORMATS
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.soft_float import NARROW_FORMATS
from tgdialect.transforms.transcendental import least_of_normal


def elementwise(k: SelectedKernel, op: Operation) -> RegisterTile:
    """An elementwise op: broadcast the operands, then compute piece by piece."""
    shape = static_shape(op.results[0])
    operands = k.aligned(op.operands, shape)
    name, dtype = op.name.removeprefix("tg."), dtype_name(op.results[0])
    pieces, widths = zip(*(tile.pieces for tile in operands), strict=True), operands[0].widths
    if isinstance(op, tg.Exp2Op | tg.ExpOp) and _is_of_normal(op):
        is_one = op.result.has_one_use()
        power = partial(k.scalars.power_of_more, name, has_one_use=is_one)
        return operands[0]._replace(pieces=[*map(power, operands[0].pieces)])
    if name in REFINED and dtype == "f64" and k.scalars.fuses:
        recipe = REFINED[name][_is_rounded(op.results[0])]
        refined = [k.scalars.carried_out(recipe, each) for each in pieces]
        return RegisterTile(shape, widths, refined)
    return RegisterTile(shape, widths, [_applied(k, name, each, dtype) for each in pieces])


def _is_rounded(result: SSAValue) -> bool:
    """Whether all users round the result to f32 or narrower floats."""
    users = [use.operation for use in result.uses]
    dtypes = [tg.dtype_of(user.result) for user in users if isinstance(user, tg.CastOp)]
    return len(dtypes) == len(users) and all(d.is_float and d.bits < 64 for d in dtypes)


def _is_of_normal(op: tg.Exp2Op | tg.ExpOp) -> bool:
    """Whether all users choose something else where the result may be subnormal:
    `where(x < c, 0, exp2(x))` or `where(x >= c, exp2(x), 0)`, and so for EXP."""
    if (form := FORMATS.get(dtype_name(op.result))) is None or not op.result.uses:
        return False
    for use in op.result.uses:
        where = use.operation
        if not isinstance(where, tg.WhereOp) or use.index == 0:
            return False
        test = where.condition.owner
        kind = tg.CmpGeOp if use.index == 1 else tg.CmpLtOp
        if not isinstance(test, kind) or test.lhs is not op.source:
            return False
        bound = constant_attribute(test.rhs)
        least = least_of_normal(form, natural=isinstance(op, tg.ExpOp))
        if bound is None or not tg.number(bound) >= least:
            return False
    return True


def _applied(
    k: SelectedKernel, name: str, operands: Sequence[TilePiece], dtype: Dtype
) -> TilePiece:
    """An elementwise op on one piece of each operand."""
    if dtype in NARROW_FORMATS:
        return _rounded(k, name, operands, dtype)
    if dtype == "index":
        return k.scalars.piece(k.scalars.calculated(name, operands))
    return k.scalars.apply(name, operands, dtype)


def _rounded(k: SelectedKernel, name: str, operands: Sequence[TilePiece], dtype: Dtype) -> SSAValue:
    """An op on narrow floats: computed in f32, then rounded to the dtype."""
    wide = k.scalars.apply(name, operands, "f32")
    if name == "where":
        condition, a, b = map(k.scalars.register, operands)
        k.narrow.choose(wide, condition, a, b, dtype)
    return wide if name in EXACT else k.narrow.rounded(wide, dtype)


def cast(k: SelectedKernel, op: tg.CastOp) -> RegisterTile:
    """CAST. No op is emitted where the register form already has the new dtype."""
    source, dtype = dtype_name(op.source), dtype_name(op.result)
    tile = k.tile(op.source)
    if k.narrow.computed_dtype(source) == dtype:
        return tile
    values = map(k.scalars.register, tile.pieces)
    if dtype in NARROW_FORMATS:
        return tile._replace(pieces=[k.narrow.converted(v, source, dtype) for v in values])
    return tile._replace(pieces=[k.scalars.apply("cast", (v,), dtype) for v in values])


# -- bitcast -------------------------------------------------------------------------------------


def bitcast(k: SelectedKernel, op: tg.BitcastOp) -> RegisterTile | None:
    """BITCAST of values, through unsigned integers of the same size. A bool takes one byte."""
    if tg.is_memory(op.source):
        return None
    shape = static_shape(op.result)
    source, dtype = dtype_name(op.source), dtype_name(op.result)
    tile = k.tile(op.source)
    if source == dtype:
        return tile
    old, new = _itemsize(source), _itemsize(dtype)
    if old == new:
        bits = [_bits_of(k, k.scalars.register(piece), source) for piece in tile.pieces]
        return tile._replace(pieces=[_from_bits(k, word, dtype) for word in bits])
    # To another element size: split each word into parts, or join runs of words.
    bits = [_bits_of(k, lane, source) for lane in k.elements(op.source)]
    if new < old:
        bits = [_part(k, word, i, new) for word in bits for i in range(old // new)]
    else:
        ratio = new // old
        bits = [_word(k, bits[i : i + ratio], new) for i in range(0, len(bits), ratio)]
    return RegisterTile(shape, ones(shape), [_from_bits(k, word, dtype) for word in bits])


def _itemsize(dtype: Dtype) -> int:
    return tg.DTYPES[tg.TYPES[dtype]].itemsize


_UNSIGNED: dict[int, Dtype] = {1: "ui8", 2: "ui16", 4: "ui32", 8: "ui64"}
"""The unsigned integer dtype of each size in bytes."""


def _as(k: SelectedKernel, value: SSAValue, dtype: Dtype, op: str) -> SSAValue:
    """A value of a dtype: as it is, or by CAST or BITCAST."""
    return value if dtype_name(value) == dtype else k.scalars.apply(op, (value,), dtype)


def _bits_of(k: SelectedKernel, value: SSAValue, dtype: Dtype) -> SSAValue:
    """The bits of a value, as an unsigned integer of the same size."""
    word = _UNSIGNED[_itemsize(dtype)]
    if dtype == "i1":
        return k.scalars.apply("cast", (value,), word)
    return _as(k, k.narrow.stored(value, dtype), word, "bitcast")


def _from_bits(k: SelectedKernel, bits: SSAValue, dtype: Dtype) -> SSAValue:
    """The inverse of `_bits`: the value of a dtype with these bits."""
    if dtype == "i1":
        return k.scalars.apply("cast", (bits,), dtype)
    stored = _as(k, bits, k.narrow.stored_dtype(dtype), "bitcast")
    return k.narrow.computed(stored, dtype)


def _part(k: SelectedKernel, word: SSAValue, i: int, size: int) -> SSAValue:
    """Part `i` of a word, `size` bytes long; part 0 is the least significant."""
    wide = dtype_name(word)
    if i:
        word = k.scalars.apply("shr", (word, k.scalars.constant(8 * size * i, wide)), wide)
    return k.scalars.apply("cast", (word,), _UNSIGNED[size])


def _word(k: SelectedKernel, parts: Sequence[SSAValue], size: int) -> SSAValue:
    """The word of `size` bytes made of `parts`, the least significant first."""
    wide = _UNSIGNED[size]
    words = [k.scalars.apply("cast", (part,), wide) for part in parts]
    for i in range(1, len(words)):
        distance = k.scalars.constant(8 * size // len(parts) * i, wide)
        words[i] = k.scalars.apply("shl", (words[i], distance), wide)
    return fold(lambda a, b: k.scalars.apply("or", (a, b), wide), words)


# -- reductions ----------------------------------------------------------------------------------


def _accumulated(k: SelectedKernel, op: tg.ReduceOp) -> RegisterTile:
    """REDUCE over axes. Each piece of the result has an accumulator, to which elements are added in
    the order of the axes.

    Where the last axis is reduced, the accumulators are vectors, and their lanes are combined at
    the end. An accumulator begins with its first element, not with the neutral one. Products are
    added by MULACC. A sum or product of narrow floats is rounded once, at the end.

    A sum is never -0. Where a -0 could occur and be observed, +0 is added: to the first element of
    an accumulator, or, if lanes are combined, to the sum. REDUCE of a vector does that by itself.
    """
    if op.ranges:
        raise PassFailedException("a REDUCE over ranges: tg-expand makes loops of them")
    source, shape = static_shape(op.source), static_shape(op.result)
    dtype, kind = dtype_name(op.result), op.kind.data
    computed = k.narrow.computed_dtype(dtype)
    tile = k.tile(op.source)
    # A REDUCE across lanes may reorder; an ordered one works on single elements instead.
    is_across = source[-1:] != shape[-1:]
    if is_across and op.ordered is not None:
        tile = broadcast_tile(k.scalars, tile, source, ones(source))
    # Find the accumulator of each piece of the source: `targets` has the result position of each
    # source element, `firsts` those of the first elements of pieces.
    widths = (1,) * row_length(shape) if is_across else tile.widths
    targets = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), source)
    firsts = targets.reshape(-1, row_length(source))[:, list(tile.starts)].ravel()
    starts = {start: i for i, start in enumerate(_piece_starts(shape, widths))}
    # `chains` are the accumulators. A piece of another width than its accumulator (the end of a
    # row) is reduced to a scalar, which is accumulated in `rests`.
    chains: list[SSAValue | None] = [None] * len(starts)
    rests = chains.copy()
    neutral = k.scalars.constant(tg.identity(kind, tg.DTYPES[tg.TYPES[dtype]]), computed)
    is_sum = kind is tg.ReduceKind.ADD
    adds_zero = is_sum and may_be_negative_zero(op.source) and shows_negative_zero(op.result)
    for piece, width, first in zip(tile.pieces, cycle(tile.widths), firsts.tolist(), strict=False):
        value, i = k.scalars.register(piece), starts[first]
        links = chains
        if is_across:
            value, chain = k.scalars.splat(value, width), chains[i]
            if chain is not None and lanes_of(chain) != width:
                links, value = rests, k.scalars.across(kind, value)
        before = links[i]
        if before is None and adds_zero and not is_across:
            before = k.scalars.splat(neutral, lanes_of(value))
        links[i] = value if before is None else _added(k, op, before, value, computed)
    # Combine the lanes of each accumulator, then add its rest.
    totals = [neutral if chain is None else chain for chain in chains]
    if is_across:
        pairs = zip([k.scalars.across(kind, total) for total in totals], rests, strict=True)
        totals = [t if r is None else k.scalars.apply(kind, (t, r), computed) for t, r in pairs]
    is_vector = all(chain is not None and lanes_of(chain) > 1 for chain in chains)
    if adds_zero and is_across and not is_vector:
        totals = [k.scalars.apply(kind, (total, neutral), computed) for total in totals]
    if dtype in NARROW_FORMATS and kind is not tg.ReduceKind.MAX:
        totals = [k.narrow.rounded(total, dtype) for total in totals]
    return RegisterTile(shape, widths, totals)


def _added(
    k: SelectedKernel, op: tg.ReduceOp, total: SSAValue, value: SSAValue, dtype: Dtype
) -> SSAValue:
    """Accumulate `value` into `total`. For a sum of floats, a product becomes a MULACC. A relaxed
    max is the total where it does not compare with the value."""
    kind, term = op.kind.data, value.owner
    if (
        kind is tg.ReduceKind.ADD
        and isinstance(term, tg.MulOp)
        and tg.DTYPES[tg.TYPES[dtype]].is_float
    ):
        return k.scalars.apply("mulacc", (*term.operands, total), dtype)
    if op.relaxed is not None:
        is_less = k.scalars.apply("cmplt", (total, value), "i1")
        return k.scalars.apply("where", (is_less, value, total), dtype)
    return k.scalars.apply(kind, (total, value), dtype)


def _piece_starts(shape: StaticShape, widths: Sequence[int]) -> Sequence[int]:
    """The row-major position of the first element of each piece."""
    length = row_length(shape)
    count = math.prod(shape) // length if length else 0
    starts = RegisterTile(shape, widths, ()).starts
    return [row * length + start for row in range(count) for start in starts]


def wmma(k: SelectedKernel, op: tg.WmmaOp) -> RegisterTile:
    """WMMA of whole matrices: their product, computed in the accumulator's dtype."""
    if not op.config.is_whole:
        return matrix_instruction(k, op)
    m, n, depth = op.config.m_n_k
    shape, dtype = static_shape(op.result), dtype_name(op.result)
    computed = k.narrow.computed_dtype(dtype)
    a, b = ([_as(k, lane, computed, "cast") for lane in k.elements(x)] for x in (op.a, op.b))
    result = list(k.elements(op.accumulator))
    for i, (row, column) in enumerate(cells((m, n))):
        for step in range(depth):
            factors = a[row * depth + step], b[step * n + column]
            result[i] = k.scalars.apply("mulacc", (*factors, result[i]), computed)
    if dtype in NARROW_FORMATS:
        result = [k.narrow.rounded(value, dtype) for value in result]
    return RegisterTile(shape, ones(shape), result)


def shuffle(k: SelectedKernel, op: tg.ShuffleOp) -> RegisterTile:
    """SHUFFLE: the same op on each piece, if the target can."""
    threads = op.threads.data
    if not k.target.shuffles or threads > k.target.warp:
        message = f"the target {k.target.name} has no shuffle among {threads} work items"
        raise PassFailedException(message)
    tile = k.tile(op.value)
    properties = {"distance": op.distance, "threads": op.threads}
    values = map(k.scalars.register, tile.pieces)
    pieces = [k.scalars.emit(tg.ShuffleOp, (value,), properties) for value in values]
    return tile._replace(pieces=pieces)


def custom(k: SelectedKernel, op: tg.CustomOp) -> RegisterTile:
    """CUSTOM: the same code on each piece. Narrow floats are passed as f32, and the result is
    rounded. Nothing is known of what it does: equal ones are all executed."""
    is_void = isinstance(op.result.type, tg.VoidType)
    shape = np.broadcast_shapes(*(static_shape(value) for value in op.arguments))
    shape = shape if is_void else static_shape(op.result)
    operands = k.aligned(op.arguments, shape)
    widths = operands[0].widths if operands else k.cut(row_length(shape))
    count = len(operands[0].pieces) if operands else len(widths) * math.prod(shape[:-1])
    dtype: Dtype = "i1" if is_void else dtype_name(op.result)
    pieces: list[SSAValue] = []
    for place in range(count):
        width = widths[place % len(widths)]
        lanes = () if width == 1 else (width,)
        values = [k.scalars.register(tile.pieces[place]) for tile in operands]
        computed = tg.TYPES[k.narrow.computed_dtype(dtype)]
        new = op.rebuild(values, tg.VOID if is_void else tg.tensor_type(computed, lanes))
        new.attributes = dict(op.attributes)
        made = k.scalars.put(new)
        pieces.append(k.narrow.rounded(made, dtype) if dtype in NARROW_FORMATS else made)
    if is_void:
        return scalar(grouped(k.scalars, pieces))
    found = map(k.scalars.piece, pieces) if dtype == "index" else pieces
    return RegisterTile(shape, widths, [*found])


# -- sums of products of bytes ---------------------------------------------------------------------


Bytes = tuple[SSAValue, ...]
"""The bytes of a word, the least significant first."""


def reduce(k: SelectedKernel, op: tg.ReduceOp) -> RegisterTile:
    """REDUCE: a sum of products of bytes, cast to 32 bits, by INS where the target has one for it.

    Integers wrap, so that the order does not matter. Bytes that are no neighbours in memory have to
    be put into words first: that must take fewer operations than there are products.

    before -> after:
        reduce add (mul (cast %a to i32), (cast %b to i32))  ->  ins "target.dp4a.s32.s32"
    """
    names = dot_products(k.target)
    words = _words(k, op) if names else []
    scattered = {word for pairs in words for word in chain(*pairs) if not _is_run(k, word)}
    dots = sum(map(len, words))
    if (DOTTED - 1) * len(scattered) + dots >= DOTTED * dots:
        return _accumulated(k, op)
    (first, *_), (second, *_) = words[0][0]
    name = names[dtype_name(first), dtype_name(second)]
    dtype = dtype_name(op.result)
    mnemonic, type = (
        {"mnemonic": StringAttr(f"{k.target.name}.{name}")},
        tg.tensor_type(tg.TYPES[dtype]),
    )

    def added(total: SSAValue, pair: tuple[Bytes, Bytes]) -> SSAValue:
        parts = ([_bits_of(k, byte, dtype_name(byte)) for byte in word] for word in pair)
        a, b = (_word(k, each, DOTTED) for each in parts)
        return k.scalars.emit(tg.InsOp, (a, b, total), mnemonic, type)

    zero = k.scalars.constant(0, dtype)
    shape = static_shape(op.result)
    return RegisterTile(shape, ones(shape), [fold(added, pairs, zero) for pairs in words])


def _words(k: SelectedKernel, op: tg.ReduceOp) -> list[list[tuple[Bytes, Bytes]]]:
    """For each element of a sum, the words of both factors; empty if it is no sum of products of
    bytes, or if these do not fill words."""
    product = op.source.owner
    if op.kind.data is not tg.ReduceKind.ADD or not isinstance(product, tg.MulOp):
        return []
    if dtype_name(op.result) not in ("i32", "ui32") or op.ranges:
        return []
    source, shape = static_shape(op.source), static_shape(op.result)
    count = math.prod(shape)
    if not count or math.prod(source) // count % DOTTED:
        return []
    factors: list[Sequence[SSAValue]] = []
    for operand in product.operands:
        tile = broadcast_tile(k.scalars, k.tile(operand), source, ones(source))
        found = [*_bytes(k, elements(k.scalars, tile))]
        if len(found) < math.prod(source):
            return []
        factors.append(found)
    # The positions of the source that each element of the result is the sum of, in order.
    targets = np.broadcast_to(np.arange(count).reshape(shape), source).ravel()
    summed = np.argsort(targets, kind="stable").reshape(count, -1, DOTTED).tolist()
    a, b = ([[tuple(f[i] for i in word) for word in words] for words in summed] for f in factors)
    return [[*zip(x, y, strict=True)] for x, y in zip(a, b, strict=True)]


def _bytes(k: SelectedKernel, values: Sequence[SSAValue]) -> Iterator[SSAValue]:
    """The bytes of one dtype that values are cast from, as far as they are."""
    dtypes: set[str] = set()
    for value in values:
        owner, position = value.owner, None
        if isinstance(owner, tg.IndexOp):
            attribute = constant_attribute(owner.indices[0])
            assert attribute is not None
            owner, position = owner.source.owner, int(tg.number(attribute))
        if not isinstance(owner, tg.CastOp) or dtype_name(owner.source) not in ("i8", "ui8"):
            return
        dtypes.add(dtype_name(owner.source))
        if len(dtypes) > 1:
            return
        yield owner.source if position is None else k.scalars.lane(owner.source, position)


def _is_run(k: SelectedKernel, word: Bytes) -> bool:
    """Whether bytes are neighbours in memory, or in a vector, in order: they are a word already."""
    first, *others = (_place(k, byte) for byte in word)
    return first is not None and others == [(first[0], first[1] + i) for i in range(1, len(word))]


def _place(k: SelectedKernel, byte: SSAValue) -> tuple[object, int] | None:
    """The word that has a byte, and its place there."""
    owner = byte.owner
    if isinstance(owner, tg.IndexOp) and (at := constant_attribute(owner.indices[0])) is not None:
        return owner.source, int(tg.number(at))
    if isinstance(owner, tg.LoadOp) and owner.gate is None:
        location = owner.buffer.owner
        if isinstance(location, tg.IndexOp) and len(location.indices) == 1:
            base, distance = apart(k.scalars.known_index(location.indices[0]))
            return (location.source, base), distance
    return None
