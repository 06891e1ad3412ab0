"""The order of execution keeps what each read sees."""

from __future__ import annotations

import numpy as np
from stages import Array, kernel, load, memory, parse, results_by_stage, store

from tgdialect.analysis.loop_nest import loop_nest
from tgdialect.analysis.memory_order import MemoryOrder
from tgdialect.ops.call import KernelOp


def check(text: str, entry: str, inputs: list[Array], expected: list[Array]) -> None:
    for stage, results in results_by_stage(text, entry, inputs).items():
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, wanted, err_msg=f"after {stage}")


def test_swap() -> None:
    """Both reads are before both writes, in whatever order they are written down."""
    body = "%c0 = tg.const 0 : tensor<index>\n"
    body += load("b", "B", "1xf32", ["c0"]) + store("s", "A", "1xf32", ["c0"], "b")
    body += load("a", "A", "1xf32", ["c0"]) + store("t", "B", "1xf32", ["c0"], "a")
    body += "tg.sink %s, %t : !tg.void, !tg.void"
    text = kernel("k", [f"A: {memory('1xf32')}", f"B: {memory('1xf32')}"], body)
    a, b = np.array([1], np.float32), np.array([2], np.float32)
    check(text, "k", [a, b], [b, a])


def test_calls_read_the_version_they_name() -> None:
    """r0 is %a before, and r1 after, the call that fills it; the first is written down last."""
    fill = kernel(
        "fill",
        [f"O: {memory('1xf32')}"],
        "%c0 = tg.const 0 : tensor<index>\n%x = tg.const 7.0 : tensor<f32>\n"
        + store("s", "O", "1xf32", ["c0"], "x")
        + "tg.sink %s : !tg.void",
    )
    copy = kernel(
        "copy",
        [f"O: {memory('1xf32')}", f"X: {memory('1xf32')}"],
        "%c0 = tg.const 0 : tensor<index>\n"
        + load("x", "X", "1xf32", ["c0"])
        + store("s", "O", "1xf32", ["c0"], "x")
        + "tg.sink %s : !tg.void",
    )
    m = 'tensor<1xf32, #tg.place<"CPU", global>>'
    text = f"""{fill}
{copy}
func.func @main(%a: {m}, %r0: {m}, %r1: {m}) {{
  %b = tg.buffer 0 : {m}
  %f = tg.call @fill(%a) : {m} -> !tg.void
  %a1 = tg.after %a, %f : ({m}, !tg.void) -> {m}
  %0 = tg.call @copy(%b, %a1) : ({m}, {m}) -> !tg.void
  %b1 = tg.after %b, %0 : ({m}, !tg.void) -> {m}
  %1 = tg.call @copy(%r1, %b1) : ({m}, {m}) -> !tg.void
  %2 = tg.call @copy(%r0, %a) : ({m}, {m}) -> !tg.void
  tg.sink %f, %1, %2 : !tg.void, !tg.void, !tg.void
  func.return
}}"""
    one, zero = np.array([1], np.float32), np.array([0], np.float32)
    seven = np.array([7], np.float32)
    check(text, "main", [one, zero, zero], [seven, one, seven])


def test_cells_of_a_tile_of_accumulators_do_not_wait_for_each_other() -> None:
    """One edge for each cell, from its old value to its new one: not one for each pair."""
    cells = 64
    reg, cell = f"tensor<{cells}xf32, #tg.place<reg>>", "tensor<f32, #tg.place<reg>>"
    body = f"%acc = tg.buffer 0 : {reg}\n%x = tg.const 1.0 : tensor<f32>\n"
    for i in range(cells):
        body += f"%c{i} = tg.const {i} : tensor<index>\n"
        body += f"%p{i} = tg.index %acc[%c{i}] : ({reg}, tensor<index>) -> {cell}\n"
        body += f"%v{i} = tg.load %p{i} : {cell} -> tensor<f32>\n"
        body += f"%w{i} = tg.add %v{i}, %x : tensor<f32>\n"
        body += f"%s{i} = tg.store %p{i}, %w{i} : {cell}, tensor<f32>\n"
    effects = ", ".join(f"%s{i}" for i in range(cells))
    body += f"tg.sink {effects} : " + ", ".join(["!tg.void"] * cells)
    (k,) = parse(kernel("k", [], body)).ops
    assert isinstance(k, KernelOp)
    edges = list(MemoryOrder(list(k.body.block.ops)).anti_dependences())
    assert [(read.cell, write.cell) for read, write in edges] == [(i, i) for i in range(cells)]


def test_a_deep_chain_of_operations() -> None:
    """No recursion: 5000 operations after one another."""
    body = "%c0 = tg.const 0 : tensor<index>\n" + load("x0", "X", "1xf32", ["c0"])
    body += "".join(f"%x{i + 1} = tg.add %x{i}, %x{i} : tensor<f32>\n" for i in range(5000))
    body += store("s", "X", "1xf32", ["c0"], "x5000") + "tg.sink %s : !tg.void"
    (k,) = parse(kernel("k", [f"X: {memory('1xf32')}"], body)).ops
    assert isinstance(k, KernelOp)
    nest = loop_nest(k.body.block)
    assert len(nest.items) == len(list(k.body.block.ops))
