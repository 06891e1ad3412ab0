"""Which iterations of a THREAD loop each thread takes, and what they prefetch for the next one."""

import ctypes
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from kernels import ALIASES, compiled
from stages import parse

from tgdialect.lowering.render.llvm.streams import AHEAD, Stream, prefetched
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import known_index
from tgdialect.ops.source import ParamOp
from tgdialect.targets.cpu import CPU

LINE = 64

# -- threads

NUMBERS = """
tg.program @k {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<64xf32, #g>
    %n = tg.param 1 : !i
    %one = tg.const 1.0 : tensor<f32>
    %t = tg.range 0 thread to %n : !i
    %at = tg.index %o[%t] : (tensor<64xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.atomicadd %at, %one : tensor<f32, #g>, tensor<f32>
    %e = tg.end %s over %t : !tg.void
    tg.sink %e : !tg.void
  }
}
"""
"""Counts how often each iteration runs."""


def test_each_iteration_is_taken_once():
    """However many iterations the calling thread takes, and however many the others."""
    body = compiled(NUMBERS)("k.threads")
    this_thread = ctypes.CDLL(None).pthread_self
    this_thread.restype = ctypes.c_uint64

    def taken(bound: int, caller: int, others: int, count: int, is_caller: bool) -> Sequence[int]:
        """What a thread takes if so many iterations are taken and `count` are left."""
        counts = np.zeros(64, np.float32)
        frame = np.zeros(LINE // 8 + 2 + LINE, np.uint64)
        frame = frame[-(frame.ctypes.data // 8) % (LINE // 8) :]
        frame[0] = caller + (others << 32)
        frame[1] = this_thread() if is_caller else 0
        frame[LINE // 8], frame[LINE // 8 + 1] = counts.ctypes.data, bound
        assert caller + others + count == bound
        body(frame)
        assert counts.max(initial=0) <= 1
        return np.flatnonzero(counts).tolist()

    for bound in (1, 2, 3, 4, 5, 7, 8, 14, 64):
        for by_caller in range(bound + 1):
            by_others = bound - by_caller
            first = taken(bound, 0, by_others, by_caller, True)
            last = taken(bound, by_caller, 0, by_others, False)
            assert sorted((*first, *last)) == list(range(bound))
            # Own halves come first, from their beginning.
            half = bound // 2
            assert first[: min(by_caller, half)] == list(range(min(by_caller, half)))
            own = range(half, half + min(by_others, bound - half))
            assert set(own) <= set(last)


# -- prefetches


class Nest:
    """The loops around the steps of a register tile, which load weights in blocks."""

    def __init__(self, random: random.Random) -> None:
        self.lanes, self.rows = random.choice((16, 32, 64)), random.randint(7, 10)
        self.blocks, self.passes = random.randint(2, 4), random.randint(1, 9)
        self.steps = [random.randint(2, 9) for _ in range(random.randint(1, 3))]
        # What a step loads, and the loops of the reduction, are digits of the place in memory. They
        # may have any order: a step takes vectors, as of packed weights, or scalars that are apart.
        extents = [self.lanes, *self.steps]
        order = [0, len(self.steps), *range(1, len(self.steps))]
        if random.random() < 0.5:
            random.shuffle(order)
        strides, apart = [0] * len(extents), 1
        for digit in order:
            strides[digit] = apart
            apart *= extents[digit]
        self.apart, *self.strides = strides
        self.block = apart
        ahead = AHEAD // (4 * self.lanes)
        is_next = self.strides[-1] == self.lanes
        self.has_later = self.apart == 1 and (is_next or self.steps[-1] > ahead)
        self.later = ahead * self.strides[-1] * 4 + LINE - 1
        self.is_threaded = random.random() < 0.5

    def text(self) -> str:
        size = self.blocks * self.block
        out = self.blocks * self.rows * self.lanes
        memory = f"tensor<{size}xf32, #g>"
        vector, at = f"tensor<{self.lanes}xf32>", f"tensor<{self.lanes}xindex>"
        lines = [
            f"%o = tg.param 0 : tensor<{out}xf32, #g>",
            f"%w = tg.param 1 : {memory}",
            f"%x = tg.param 2 : tensor<{self.rows}xf32, #g>",
            f"%ramp = tg.vconst {[lane * self.apart for lane in range(self.lanes)]} : {at}",
            f"%acc = tg.buffer 0 : tensor<{self.rows * self.lanes}xf32, #r>",
        ]
        loops = [("j", "global", self.blocks), ("i", "global", self.passes)]
        if self.is_threaded:
            loops.insert(0, ("t", "thread", 1))
        loops += [(f"k{n}", "reduce", extent) for n, extent in enumerate(self.steps)]
        for axis, (name, kind, extent) in enumerate(loops):
            lines += [f"%{name}_n = tg.const {extent} : !i"]
            lines += [f"%{name} = tg.range {axis} {kind} to %{name}_n : !i"]
        total = "%ramp"
        for name, stride in (
            ("j", self.block),
            *((f"k{n}", s) for n, s in enumerate(self.strides)),
        ):
            lines += [
                f"%{name}_s = tg.const {stride} : !i",
                f"%{name}_m = tg.mul %{name}, %{name}_s : !i",
                f"%{name}_a = tg.add %{name}_m, {total} : (!i, {at}) -> {at}",
            ]
            total = f"%{name}_a"
        lines += [
            f"%w_in = tg.index %w[{total}] : ({memory}, {at}) -> tensor<{self.lanes}xf32, #g>",
            f"%w_v = tg.load %w_in : tensor<{self.lanes}xf32, #g> -> {vector}",
        ]
        for row in range(self.rows):
            first = row * self.lanes
            tile = f"tensor<{self.rows * self.lanes}xf32, #r>"
            lines += [
                f"%r{row} = tg.const {row} : !i",
                f"%x{row}_in = tg.index %x[%r{row}] : (tensor<{self.rows}xf32, #g>, !i) "
                "-> tensor<f32, #g>",
                f"%x{row} = tg.load %x{row}_in : tensor<f32, #g> -> tensor<f32>",
                f"%at{row} = tg.vconst {[*range(first, first + self.lanes)]} : {at}",
                f"%a{row} = tg.index %acc[%at{row}] : ({tile}, {at}) "
                f"-> tensor<{self.lanes}xf32, #r>",
                f"%a{row}_v = tg.load %a{row} : tensor<{self.lanes}xf32, #r> -> {vector}",
                f"%m{row} = tg.mulacc %x{row}, %w_v, %a{row}_v : (tensor<f32>, {vector}, {vector}) "
                f"-> {vector}",
                f"%s{row} = tg.store %a{row}, %m{row} : tensor<{self.lanes}xf32, #r>, {vector}",
            ]
        over = ", ".join(f"%{name}" for name, *_ in reversed(loops))
        lines += [f"%e = tg.end %s{self.rows - 1} over {over} : !tg.void", "tg.sink %e : !tg.void"]
        return ALIASES + "tg.program @k {\n%0 = tg.linear {\n" + "\n".join(lines) + "\n}\n}"


def lines_of(stream: Stream, at: dict[RangeOp, int]) -> set[int]:
    start = stream.start + sum(
        stride * at[variable.owner] for variable, stride in stream.strides.items()
    )
    return {byte // LINE for byte in range(start, start + stream.bytes, LINE)}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(40))
def test_next_block_is_prefetched(seed: int) -> None:
    """While the steps go through a block of weights for the rows of an image, in any order, all of
    the next block and nothing beyond it is prefetched, each step about as much as any other."""
    nest = Nest(random.Random(seed))
    module = parse(nest.text())
    module.verify()
    (program,) = (op for op in module.walk() if isinstance(op, ProgramOp))
    block = program.linear.body.block
    params = [op.result for op in block.ops if isinstance(op, ParamOp)]
    found = prefetched(block, params, replace(CPU, l2=4 * 4 * nest.blocks * nest.block - 4))
    loops = [op for op in block.ops if isinstance(op, RangeOp)]
    assert {*found} <= {loops[-1]}
    streams = found.get(loops[-1], ())
    assert all(s.memory is params[1] for s in streams)
    spread, ahead = streams[: nest.passes > 1], streams[nest.passes > 1 :]
    assert [(s.start, s.bytes) for s in ahead] == [(nest.later, 4 * nest.lanes)] * nest.has_later
    assert len(spread) == (nest.passes > 1)
    for stream in spread:
        assert stream.bytes == math.ceil(4 * nest.lanes / nest.passes)
        for j in range(nest.blocks):
            got = set[int]()
            for where in product(*(range(known_index(r.bound) or 0) for r in loops)):
                at = dict(zip(loops, where, strict=True))
                if at[loops[int(nest.is_threaded)]] == j:
                    got |= lines_of(stream, at)
            bytes = 4 * nest.block
            wanted = range((j + 1) * bytes // LINE, (j + 2) * bytes // LINE)
            assert got >= {*wanted}
            rounding = nest.passes * bytes // (4 * nest.lanes)
            assert max(got) <= wanted[-1] + rounding // LINE + 1
