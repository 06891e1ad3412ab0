"""Storage that is shared is never needed twice at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from parsing import tg_context
from random_seeds import searched
from stages import parse

from tgdialect.analysis.liveness import LiveRange
from tgdialect.interpreter import run
from tgdialect.lowering.plan import PlanPass, assign_offsets
from tgdialect.ops.source import BufferOp

BLOCKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(0, 8)), max_size=12)


@given(BLOCKS)
def test_offsets_do_not_overlap_and_waste_little(blocks: list[tuple[int, int, int]]) -> None:
    sizes = [size * 64 for size, _, _ in blocks]
    live = [LiveRange(start, start + length) for _, start, length in blocks]
    offsets, total = assign_offsets(sizes, live)
    for i, j in combinations(range(len(blocks)), 2):
        if live[i].overlaps(live[j]):
            assert offsets[i] + sizes[i] <= offsets[j] or offsets[j] + sizes[j] <= offsets[i]
    ends = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
    at_once = [
        sum(size for size, range in zip(sizes, live, strict=True) if range.start <= t <= range.end)
        for t in range_of(live)
    ]
    assert all(offset % 64 == 0 for offset in offsets)
    assert total == max(ends, default=0)
    assert max(at_once, default=0) <= total <= sum(sizes)


def range_of(live: list[LiveRange]) -> range:
    return range(max((each.end for each in live), default=0) + 1)


def test_a_chain_takes_two_buffers() -> None:
    """Of a chain of any length two are live at a time; the largest two."""
    sizes = [64, 640, 128, 640, 64, 320]
    live = [LiveRange(i, i + 1) for i in range(len(sizes))]
    assert assign_offsets(sizes, live)[1] == 640 + 128


BUFFERS = 5
STEP = st.one_of(
    st.tuples(st.just("loop"), st.just(0), st.just(0)),
    st.tuples(st.just("end"), st.just(0), st.just(0)),
    st.tuples(st.just("set"), st.integers(0, BUFFERS - 1), st.integers(1, 9)),
    st.tuples(st.just("add"), st.integers(0, BUFFERS - 1), st.integers(0, BUFFERS - 1)),
    st.tuples(st.just("out"), st.integers(0, BUFFERS - 1), st.just(0)),
)


def program(steps: list[tuple[str, int, int]]) -> str:
    """Registers that are set, added to each other and written out, in loops of 3 iterations.

    A register is set before it is first read.
    """
    reg, out = "tensor<i32, #tg.place<reg>>", "tensor<i32, #tg.place<global>>"
    lines = [f"%o = tg.param 0 : {out}", "%n = tg.const 3 : tensor<index>"]
    lines += [f"%b{i} = tg.buffer {i} : {reg}" for i in range(BUFFERS)]
    loops: list[int] = []
    known: set[int] = set()

    def set_to(position: str, buffer: int, value: int) -> None:
        lines.append(f"%v{position} = tg.const {value} : tensor<i32>")
        lines.append(f"%s{position} = tg.store %b{buffer}, %v{position} : {reg}, tensor<i32>")
        known.add(buffer)

    def end() -> None:
        axis = loops.pop()
        lines.append(f"%e{axis} = tg.end %i{axis} over %i{axis} : tensor<index>")

    for k, (kind, a, b) in enumerate(steps):
        for needed in {"add": (a, b), "out": (a,)}.get(kind, ()):
            if needed not in known:
                set_to(f"{k}_{needed}", needed, 1)
        if kind == "loop" and len(loops) < 3:
            loops.append(k)
            lines.append(f"%i{k} = tg.range {k} loop to %n : tensor<index>")
        elif kind == "end" and loops:
            end()
        elif kind == "set":
            set_to(str(k), a, b)
        elif kind == "add":
            lines.append(f"%x{k} = tg.load %b{a} : {reg} -> tensor<i32>")
            lines.append(f"%y{k} = tg.load %b{b} : {reg} -> tensor<i32>")
            lines.append(f"%z{k} = tg.add %x{k}, %y{k} : tensor<i32>")
            lines.append(f"%w{k} = tg.store %b{a}, %z{k} : {reg}, tensor<i32>")
        elif kind == "out":
            lines.append(f"%p{k} = tg.load %b{a} : {reg} -> tensor<i32>")
            lines.append(f"%q{k} = tg.load %o : {out} -> tensor<i32>")
            lines.append(f"%c{k} = tg.const 31 : tensor<i32>")
            lines.append(f"%m{k} = tg.mulacc %q{k}, %c{k}, %p{k} : tensor<i32>")
            lines.append(f"%r{k} = tg.store %o, %m{k} : {out}, tensor<i32>")
    while loops:
        end()
    lines.append(f"tg.sink %o : {out}")
    return "tg.program @p {\ntg.linear {\n" + "\n".join(lines) + "\n}\n}"


@searched(60, st.lists(STEP, min_size=4, max_size=24))
@example([("set", 0, 3), ("loop", 0, 0), ("out", 0, 0), ("set", 1, 4), ("out", 1, 0)])
def test_registers_that_share_keep_their_values(steps: list[tuple[str, int, int]]) -> None:
    """Whatever loops carry: a digest of all that is written out is the same."""
    module = parse(program(steps))
    module.verify()
    before, after = np.zeros((), np.int32), np.zeros((), np.int32)
    run(module, "p", [before])
    PlanPass().apply(tg_context(), module)
    module.verify()
    run(module, "p", [after])
    assert before == after


def test_registers_of_one_phase_after_another_are_one() -> None:
    module = parse(program([(kind, i, 3) for i in range(BUFFERS) for kind in ("set", "out")]))
    PlanPass().apply(tg_context(), module)
    assert sum(isinstance(op, BufferOp) for op in module.walk()) == 1
