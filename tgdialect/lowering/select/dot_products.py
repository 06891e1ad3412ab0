"""Selection rule of REDUCE: sums of products of bytes by instructions that add four at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce as fold
from itertools import chain

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from tgdialect.lowering.select import arithmetic
from tgdialect.lowering.select.indices import apart
from tgdialect.lowering.select.kernel import SelectedKernel, static_shape
from tgdialect.lowering.select.scalars import dtype_name
from tgdialect.lowering.select.tiles import RegisterTile, broadcast_tile, elements, ones
from tgdialect.ops import tg
from tgdialect.ops.dtypes import TYPES
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import number, tensor_type
from tgdialect.targets.instructions import DOTTED, dot_products

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
        return arithmetic.reduce(k, op)
    (first, *_), (second, *_) = words[0][0]
    name = names[dtype_name(first), dtype_name(second)]
    dtype = dtype_name(op.result)
    mnemonic, type = {"mnemonic": StringAttr(f"{k.target.name}.{name}")}, tensor_type(TYPES[dtype])

    def added(total: SSAValue, pair: tuple[Bytes, Bytes]) -> SSAValue:
        a, b = (_joined(k, word) for word in pair)
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
    a, b = factors
    return [
        [(tuple(a[i] for i in word), tuple(b[i] for i in word)) for word in words]
        for words in summed
    ]


def _bytes(k: SelectedKernel, values: Sequence[SSAValue]) -> Iterator[SSAValue]:
    """The bytes of one dtype that values are cast from, as far as they are."""
    dtypes: set[str] = set()
    for value in values:
        owner, position = value.owner, None
        if isinstance(owner, tg.IndexOp):
            attribute = constant_attribute(owner.indices[0])
            assert attribute is not None
            owner, position = owner.source.owner, int(number(attribute))
        if not isinstance(owner, tg.CastOp) or dtype_name(owner.source) not in ("i8", "ui8"):
            return
        dtypes.add(dtype_name(owner.source))
        if len(dtypes) > 1:
            return
        yield owner.source if position is None else k.scalars.lane(owner.source, position)


def _is_run(k: SelectedKernel, word: Bytes) -> bool:
    """Whether bytes are neighbours in memory, or in a vector, in order: they are a word already."""
    places = [_place(k, byte) for byte in word]
    return all(
        place is not None and places[0] is not None and place == (places[0][0], places[0][1] + i)
        for i, place in enumerate(places)
    )


def _place(k: SelectedKernel, byte: SSAValue) -> tuple[object, int] | None:
    """The word that has a byte, and its place there."""
    owner = byte.owner
    if isinstance(owner, tg.IndexOp) and (at := constant_attribute(owner.indices[0])) is not None:
        return owner.source, int(number(at))
    if isinstance(owner, tg.LoadOp) and owner.gate is None:
        location = owner.buffer.owner
        if isinstance(location, tg.IndexOp) and len(location.indices) == 1:
            base, distance = apart(k.scalars.known_index(location.indices[0]))
            return (location.source, base), distance
    return None


def _joined(k: SelectedKernel, word: Bytes) -> SSAValue:
    """A word of 32 bits."""
    parts = [arithmetic.bits_of(k, byte, dtype_name(byte)) for byte in word]
    return arithmetic.joined(k, parts, DOTTED)
