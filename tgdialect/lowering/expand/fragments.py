"""REDUCEs that WMMAs compute: fragments of the factors, and accumulators of fragments.

OptOp TC has split the ranges of the results by the fragment of C that a lane holds. The lanes of a
warp hold other elements of A and B: each factor is computed again for its own fragment, with the
coordinates of the instruction's layout in place of those of C.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.bits import BitSums
from tgdialect.analysis.ranges import closed_ranges, is_loop, needed_ops, open_ranges
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.expand.expansion import ExpandedRanges, Expansion
from tgdialect.lowering.kernel_memory import grouped, new_buffer, version
from tgdialect.lowering.matrix_products import Move, assembled, c_fields, fields, places, product_of
from tgdialect.lowering.recomputation import NOT_COPIED, computed_again, emit_sum
from tgdialect.ops import tg


@dataclass(frozen=True)
class WarpProduct:
    """The product that WMMAs compute for a REDUCE, by the fragments that a lane holds."""

    config: tg.WmmaAttr
    product: tg.MulOp | tg.MulAccOp
    """Of the fragments of A and B, plus what the sum begins with, if that is not 0. Nothing
    computes it: its operands are those of WMMAs."""
    a: ExpandedRanges | None
    """The ranges of the elements of A that a lane holds, the outermost first; None if A is a block
    of LOCAL memory that all lanes share. The LOAD of its first element stands for it."""
    b: ExpandedRanges | None
    c: ExpandedRanges

    @property
    def unused(self) -> Iterator[Operation]:
        """The ops that stand for factors, and that nothing computes."""
        yield self.product
        for factor, own in zip(self.product.operands, (self.a, self.b), strict=False):
            if own is None and isinstance(load := factor.owner, tg.LoadOp):
                yield load
                if isinstance(index := load.buffer.owner, tg.IndexOp):
                    yield index


def make_fragments(block: Block) -> dict[tg.ReduceOp, WarpProduct]:
    """Rewrite the REDUCEs of a kernel that WMMAs compute, so that they multiply fragments.

    rewrite:
        %r = reduce add (mul %a, %b) over %k, %u wmma <...> on [%e, %u]
        ->
        %r = reduce add (mul %fa, %fb) over %k, %ea, %eb
    where %fa is %a at the coordinates of A that the ranges %ea are of, and %fb likewise.
    """
    if not any(isinstance(op, tg.ReduceOp) and op.wmma is not None for op in ops_of(block)):
        return {}
    open = open_ranges(needed_ops(block))
    reductions = [op for op in open if isinstance(op, tg.ReduceOp) and op.wmma is not None]
    found = {op: _fragments(op, open) for op in reductions}
    return {op: fragments for op, fragments in found.items() if fragments is not None}


def _fragments(
    op: tg.ReduceOp, open: Mapping[Operation, frozenset[tg.RangeOp]]
) -> WarpProduct | None:
    """The product of a REDUCE with a `wmma`. Returns None when the instruction needs factors in
    LOCAL memory and they are elsewhere: then the REDUCE loses its `wmma`, and is computed as any
    other."""
    config, factors, around = op.wmma, product_of(op.source), open[op]
    assert config is not None
    # The ranges that TC has made.
    ranges = {range.axis.data: range for range in (*around, *closed_ranges(op))}
    numbers = tg.integers(op, "fragment")
    warps = [range for range in around if range.axis_type.data is tg.AxisType.WARP]
    c_runs = c_fields(config)
    extents = [1 << len(run) for run in reversed(c_runs)] + [config.m_n_k[2]]
    made = [ranges.get(number) for number in numbers]
    if (
        factors is None
        or [tg.known_index(r.bound) for r in made if r is not None] != extents
        or [tg.known_index(r.bound) for r in warps] != [config.threads] * (config.threads > 1)
    ):
        message = "the ranges of this REDUCE are not those of the fragments of its wmma"
        raise locate(PassFailedException(message), op)
    *c, steps = (r for r in made if r is not None)
    lane = warps[0].result if warps else None
    # The bits of the ranges of C, which each factor gets from its own layout.
    builder = tg.OpBuilder.before(op)
    of_c = config.layout("c")
    indices = [range.result for range in c]
    sources = places(lane, indices[::-1], of_c, config.threads)
    # A is the factor that depends on rows.
    row = next(r for r, run in zip(c, reversed(c_runs), strict=True) if run[0][0] == "m")
    a, b = factors[:2]
    if not isinstance(a.owner, Operation) or row not in open[a.owner]:
        a, b = b, a
    new: list[SSAValue] = []
    axes: list[ExpandedRanges | None] = []
    lane_bits = config.threads.bit_length() - 1
    lanes = {} if lane is None else {lane: lane_bits}
    bits: dict[SSAValue, Sequence[str]] = dict.fromkeys(lanes, of_c[:lane_bits])
    bits.update(zip(indices[::-1], c_runs, strict=True))
    bits[steps.result] = [f"k{i}" for i in range(config.m_n_k[2].bit_length() - 1)]
    for name, value in (("a", a), ("b", b)):
        layout = config.layout(name)
        if config.is_shared(name):
            block = shared_block(builder, value, bits, layout[lane_bits:], config.threads > 1)
            if block is None or factors.gates:
                del op.properties["wmma"], op.properties["fragment"]
                steps.axis_type = tg.AxisTypeAttr(tg.AxisType.REDUCE)
                return None
            new.append(block)
            axes.append(None)
            continue
        runs = fields(layout[lane_bits:])
        # GROUP_REDUCE are the last axes of values: vectors lie along them.
        kind = tg.AxisType.GROUP_REDUCE
        own_ranges = [builder.range(kind, 1 << len(run)) for run in reversed(runs)]
        elements = [range.result for range in reversed(own_ranges)]
        at = places(lane, elements, layout, config.threads)
        sizes = lanes | {e: len(run) for e, run in zip(elements, runs, strict=True)}
        mapping: dict[SSAValue, SSAValue] = {}
        for index in (*lanes, *indices):
            # Bits of the other factor's coordinate may have any value.
            own = {name: bit for name, (place, bit) in sources.items() if place is index}
            moves = [Move(*at[name], bit) for name, bit in own.items() if name in at]
            is_same = index is lane and all(m == Move(index, m.bit, m.bit) for m in moves)
            mapping[index] = index if is_same else assembled(builder, moves, sizes)
        k = [Move(*at[name], int(name[1:])) for name in at if name[0] == "k"]
        mapping[steps.result] = assembled(builder, k, sizes)
        for gate in factors.gates:
            zero = builder.put(tg.ConstOp(0, tg.tensor(value).element_type))
            value = builder.put(tg.WhereOp(gate, value, zero))
        new.append(computed_again(builder, value, mapping))
        axes.append(tuple(own_ranges))
    if (start := _start(op, open)) is None:
        multiplied = builder.insert(tg.MulOp(*new))
    else:
        shared = (*NOT_COPIED, tg.BufferOp)
        start = builder.clone(start, {}, shared=shared, everything=True)
        multiplied = builder.insert(tg.MulAccOp(new[0], new[1], start))
    kept = [range for range in closed_ranges(op) if range is not steps]
    kept += [range for own_ranges in axes for range in own_ranges or ()]
    op.operands = (multiplied.results[0], *(range.result for range in kept))
    return WarpProduct(config, multiplied, axes[0], axes[1], tuple(c))


def _start(op: tg.ReduceOp, open: Mapping[Operation, frozenset[tg.RangeOp]]) -> SSAValue | None:
    """The value that a REDUCE is added to, if that is an accumulator of the kernel: the WMMAs begin
    with it, and the sum is their result."""
    users = [use.operation for use in op.result.uses]
    if len(users) != 1 or not isinstance(total := users[0], tg.AddOp):
        return None
    (start,) = (value for value in total.operands if value is not op.result)
    load = start.owner
    if not isinstance(load, tg.LoadOp) or not isinstance(
        tg.memory_of(load.buffer).owner, tg.BufferOp
    ):
        return None
    is_outside = (
        tg.place(load.buffer).addrspace is not tg.AddrSpace.GLOBAL and open[load] <= open[op]
    )
    if not is_outside or tg.accumulated_dtype(op) != tg.tensor(op.result).element_type:
        return None
    total.results[0].replace_all_uses_with(op.result)
    return start


class FragmentAccumulator:
    """The accumulator of a REDUCE that WMMAs compute: a fragment of C for each tile of a lane."""

    def __init__(self, expansion: Expansion, op: tg.ReduceOp, fragments: WarpProduct) -> None:
        self._expansion, self._op, self._fragments = expansion, op, fragments
        factors = zip(fragments.product.operands, (fragments.a, fragments.b), strict=False)
        self._factors = [
            _Block(expansion, factor) if own is None else _Fragments(expansion, factor, own)
            for factor, own in factors
        ]
        self._unrolled = [r for r in closed_ranges(op) if r.axis_type.data is tg.AxisType.UNROLL]
        # The tiles: the other expanded ranges that a factor depends on.
        tiles = {axis for each in self._factors for axis in each.axes} - {*self._unrolled}
        self._tiles = expansion.sorted(tiles)
        """The ranges that count tiles."""
        self._dtype = tg.accumulated_dtype(op)
        self._shape = (*expansion.shape(self._tiles), *fragments.config.operand_shapes[2])
        if isinstance(fragments.product, tg.MulAccOp):
            self._start = self._as_tiles(expansion.value(fragments.product.operands[2]))
        else:
            zero = expansion.constant(0, self._dtype)
            ones = expansion.put(tg.ReshapeOp(zero, [1] * len(self._shape)))
            self._start = expansion.put(tg.ExpandOp(ones, self._shape))

    def total(self) -> SSAValue:
        """The results of a REDUCE without loops: its WMMAs need no memory, unless one thread holds
        all sums."""
        if self._fragments.config.threads == 1:
            return self.result(self.update(()))
        put = self._expansion.put
        totals: list[SSAValue] = []
        for tile in _cells(self._expansion.shape(self._tiles)):
            totals.append(self._multiplied(self._at(self._start, tile), tile))
        return self._as_results(totals[0] if len(totals) == 1 else put(tg.StackOp(totals)))

    def update(self, loops: Sequence[SSAValue]) -> SSAValue:
        """The STOREs of all tiles in the loops of the REDUCE."""
        expansion, put = self._expansion, self._expansion.put
        self._buffer = new_buffer(expansion, self._dtype, self._shape, tg.AddrSpace.REG)
        self._buffer.name_hint = "acc"
        around = filter(is_loop, expansion.open[self._op])
        outer = [r.result for r in sorted(around, key=lambda r: r.axis.data)]
        start = put(tg.StoreOp(version(expansion, self._buffer, outer), self._start))
        sums = put(tg.AfterOp(self._buffer, [start, *loops]))
        stores: list[SSAValue] = []
        for tile in _cells(expansion.shape(self._tiles)):
            cell = self._at(sums, tile)
            stores.append(put(tg.StoreOp(cell, self._multiplied(put(tg.LoadOp(cell)), tile))))
        return grouped(expansion, stores)

    def result(self, done: SSAValue) -> SSAValue:
        """The results after the loops. Where there are no lanes they are loaded from where they
        are, and not rearranged in registers."""
        put, config = self._expansion.put, self._fragments.config
        memory = put(tg.AfterOp(self._buffer, [done]))
        return self._as_results(memory if config.threads == 1 else put(tg.LoadOp(memory)))

    def _at(self, value: SSAValue, tile: tuple[int, ...]) -> SSAValue:
        """The fragment of a tile, or its location."""
        cell = [self._expansion.constant(i) for i in tile]
        return self._expansion.put(tg.IndexOp(value, cell)) if cell else value

    def _multiplied(self, total: SSAValue, tile: tuple[int, ...]) -> SSAValue:
        """A fragment of C after the WMMAs of one iteration."""
        expansion = self._expansion
        for step in _cells(expansion.shape(tuple(self._unrolled))):
            at = dict(zip((*self._tiles, *self._unrolled), (*tile, *step), strict=True))
            a, b = (factor.part(at) for factor in self._factors)
            total = expansion.put(tg.WmmaOp(a, b, total, self._fragments.config))
        return total

    def _as_results(self, total: SSAValue) -> SSAValue:
        """Accumulators with the axes of the tiles and of the fragment of C."""
        expansion, put = self._expansion, self._expansion.put
        axes = (*self._tiles, *self._fragments.c)
        total = put(tg.ReshapeOp(total, expansion.shape(axes)))
        ordered = expansion.sorted(axes)
        if ordered != axes:
            total = put(tg.PermuteOp(total, [axes.index(axis) for axis in ordered]))
        return put(tg.ReshapeOp(total, expansion.shape(ordered)), ordered)

    def _as_tiles(self, value: SSAValue) -> SSAValue:
        """A value with the axes of the tiles and of the fragment of C as accumulators."""
        expansion, wanted = self._expansion, (*self._tiles, *self._fragments.c)
        ordered = expansion.sorted(wanted)
        load = value.owner
        if ordered == wanted == expansion.axes(value) and isinstance(load, tg.LoadOp):
            view = load.buffer.owner
            if isinstance(view, tg.ReshapeOp) and len(tg.tensor(view.source).get_shape()) == 1:
                value = expansion.put(tg.LoadOp(view.source))
                return expansion.put(tg.ReshapeOp(value, self._shape))
        value = expansion.broadcast(value, ordered)
        if ordered != wanted:
            value = expansion.put(tg.PermuteOp(value, [ordered.index(axis) for axis in wanted]))
        return expansion.put(tg.ReshapeOp(value, self._shape))


class _Fragments:
    """A factor of which each lane holds fragments, one for each tile and step."""

    def __init__(self, expansion: Expansion, factor: SSAValue, own: ExpandedRanges) -> None:
        value = expansion.value(factor)
        self._expansion = expansion
        self.axes = tuple(axis for axis in expansion.axes(value) if axis not in own)
        """The ranges that count tiles and steps."""
        value = expansion.broadcast(value, expansion.sorted((*self.axes, *own)))
        shape = (*expansion.shape(self.axes), math.prod(expansion.shape(own)))
        self._value = expansion.put(tg.ReshapeOp(value, shape))
        """The factor with its fragments along the last axis."""

    def part(self, at: Mapping[tg.RangeOp, int]) -> SSAValue:
        """The fragment of a tile and a step."""
        if not self.axes:
            return self._value
        cell = [self._expansion.constant(at[axis]) for axis in self.axes]
        return self._expansion.put(tg.IndexOp(self._value, cell))


class _Block:
    """A factor in LOCAL memory, from which all lanes load one block for each tile and step."""

    def __init__(self, expansion: Expansion, first: SSAValue) -> None:
        """`first` is the LOAD of the first element (`shared_block`)."""
        load = first.owner
        assert isinstance(load, tg.LoadOp)
        index = load.buffer.owner
        assert isinstance(index, tg.IndexOp)
        self._expansion = expansion
        self._blocks = expansion.value(index.source)
        self._number = expansion.value(index.indices[0])
        self.axes = expansion.axes(self._number)
        """The ranges that count tiles and steps."""
        self._known: dict[tuple[int, ...], SSAValue] = {}

    def part(self, at: Mapping[tg.RangeOp, int]) -> SSAValue:
        """The block of a tile and a step."""
        cell = tuple(at[axis] for axis in self.axes)
        if cell not in self._known:
            put, number = self._expansion.put, self._number
            if cell:
                number = put(tg.IndexOp(number, [self._expansion.constant(i) for i in cell]))
            self._known[cell] = put(tg.LoadOp(put(tg.IndexOp(self._blocks, [number]))))
        return self._known[cell]


def _cells(shape: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*map(range, shape)))


# -- factors in LOCAL memory -----------------------------------------------------------------------

# Factors of WMMAs that all lanes read from memory: where the block of a tile begins.
#
# STAGE has copied them to the order that an instruction reads. Here that is proven again from the
# indices of the kernel, which may have been written by hand.


def shared_block(
    builder: tg.OpBuilder,
    factor: SSAValue,
    bits: Mapping[SSAValue, Sequence[str]],
    layout: Sequence[str],
    is_local: bool,
) -> SSAValue | None:
    """The LOAD of the first element of the block of memory that holds a factor, in the order of a
    layout, in a view of all blocks of this size; None if it is in no such block.

    rewrite, for blocks of 512:
        %v = load %b[64 * %t + (%lane mod 8) / 4, ...]  ->  %v = load (reshape %b)[%t, 0]
    Args:
        bits: by range, which bits of the coordinates its bits are.
        layout: which bit of the coordinates each bit of the position in the block is.
        is_local: whether the memory has to be LOCAL.
    """
    load = factor.owner
    if not isinstance(load, tg.LoadOp) or load.gate is not None:
        return None
    if not isinstance(index := load.buffer.owner, tg.IndexOp):
        return None
    if is_local and tg.place(tg.memory_of(load.buffer)).addrspace is not tg.AddrSpace.LOCAL:
        return None
    shape = tg.tensor(index.source).get_shape()
    if len(index.indices) != len(shape):
        return None
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sums = BitSums(bits)
    found = sums.flattened(index.indices, steps)
    wanted = {bit: 1 << position for position, bit in enumerate(layout)}
    size = 1 << len(layout)
    if found is None or found.strides != wanted or found.divisor % size or math.prod(shape) % size:
        return None
    number = _number(builder, list(zip(index.indices, steps, strict=True)), sums, bits, size)
    blocks = builder.put(tg.ReshapeOp(index.source, [math.prod(shape) // size, size]))
    cell = builder.put(tg.IndexOp(blocks, [number, builder.index_constant(0)]))
    return builder.put(tg.LoadOp(cell))


def _number(
    builder: tg.OpBuilder,
    digits: Sequence[tuple[SSAValue, int]],
    sums: BitSums,
    bits: Collection[SSAValue],
    size: int,
) -> SSAValue:
    """The sum of digits times steps where all bits are 0, divided by the size of a block."""
    put, constant = builder.put, builder.index_constant
    known: dict[SSAValue, tg.Polynomial] = {value: tg.Affine() for value in bits}
    start: tg.Polynomial = tg.Affine()
    for value, step in digits:
        start += tg.polynomial(value, known=known) * step
    # A quotient or remainder of bits alone is 0, and its terms are left out.
    atoms = {atom for product in start.terms for atom in product if isinstance(atom, SSAValue)}
    of_bits = {atom: part for atom in atoms if (part := sums[atom]) is not None and part.strides}
    terms = {p: c for p, c in start.terms.items() if of_bits.keys().isdisjoint(p)}
    is_whole = not any(factor % size for factor in (*terms.values(), start.constant))
    if is_whole and not any(part.divisor for part in of_bits.values()):
        return emit_sum(builder, tg.Affine(terms, start.constant).divided(size))
    # Otherwise it is computed from the same ops, with 0 for the bits.
    mapping = dict.fromkeys(bits, constant(0))
    number = constant(0)
    for value, step in digits:
        digit = computed_again(builder, value, mapping)
        number = put(tg.AddOp(number, put(tg.MulOp(digit, constant(step)))))
    return put(tg.IDivOp(number, constant(size)))
