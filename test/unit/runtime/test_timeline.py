"""The model of a program on several devices: the work of its parts, and when they run."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from bench.timeline import DeviceModel, timeline, works
from tgdialect.analysis.communication import Link
from tgdialect.analysis.estimates import Estimates, estimate_tensors
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.distributed.executable import sharded_stages
from tgdialect.runtime.distributed.program import ShardedProgram, program_of

DEVICES = "A", "B", "C", "D"
PRODUCT = """
func.func @main(%a: tensor<8x16xf32> {A}, %b: tensor<16x4xf32> {B})
    -> (tensor<8x1x4xf32> {C}) {{
  %0 = tg.reshape %a [8, 16, 1] : tensor<8x16xf32> -> tensor<8x16x1xf32>
  %1 = tg.reshape %b [1, 16, 4] : tensor<16x4xf32> -> tensor<1x16x4xf32>
  %2 = tg.mul %0, %1 : (tensor<8x16x1xf32>, tensor<1x16x4xf32>) -> tensor<8x16x4xf32>
  %3 = tg.reduce add %2 [1] : tensor<8x16x4xf32> -> tensor<8x1x4xf32>
  %4 = tg.exp2 %3 : tensor<8x1x4xf32>
  func.return %4 : tensor<8x1x4xf32>
}}
"""


def work_of(module: ModuleOp) -> Estimates:
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return estimate_tensors(function.body.block)


def split(rows: int | None, columns: int | None, result: int | None) -> ShardedProgram:
    """The product, with each factor and the result split along an axis."""

    def annotation(axis: int | None) -> str:
        names = ", ".join(f'"{device}"' for device in DEVICES)
        along = "" if axis is None else f", axis = {axis}"
        return f"{{tg.sharding = #tg.place<[{names}]{along}>}}"

    text = PRODUCT.format(A=annotation(rows), B=annotation(columns), C=annotation(result))
    stages = sharded_stages(load_module(text), "main")
    return program_of(stages["tg-split-collectives"], "main")


def test_work_of_a_product():
    assert work_of(load_module(PRODUCT.format(A="", B="", C=""))) == (
        2 * 8 * 16 * 4 + 8 * 4,
        4 * (8 * 16 + 16 * 4 + 2 * 8 * 4 + 8 * 4),
    )


def test_a_masked_sum_reads_one_element():
    """A look-up as the specification writes it: a sum over all rows, of which a mask leaves one."""
    text = """
    func.func @main(%table: tensor<1x100x8xf32>, %row: tensor<5x1x1xi64>) -> tensor<5x1x8xf32> {
      %indices = tg.vconst [0 to 100] : tensor<100xindex>
      %rows = tg.cast %indices to i64 : tensor<100xindex> -> tensor<100xi64>
      %column = tg.reshape %rows [1, 100, 1] : tensor<100xi64> -> tensor<1x100x1xi64>
      %mask = tg.cmpeq %column, %row
        : (tensor<1x100x1xi64>, tensor<5x1x1xi64>) -> tensor<5x100x1xi1>
      %zero = tg.const 0.0 : tensor<f32>
      %kept = tg.where %mask, %table, %zero
        : (tensor<5x100x1xi1>, tensor<1x100x8xf32>, tensor<f32>) -> tensor<5x100x8xf32>
      %sum = tg.reduce add %kept [1] : tensor<5x100x8xf32> -> tensor<5x1x8xf32>
      func.return %sum : tensor<5x1x8xf32>
    }"""
    assert work_of(load_module(text)).flops == 5 * 8


@pytest.mark.parametrize("overlaps", [False, True])
def test_a_step_is_computed_and_then_exchanged(overlaps: bool):
    program = split(1, 0, None)  # The axis of the sum: an all_reduce adds the parts.
    machine = DeviceModel(1e3, 1e4, Link(0.5, 1e2), overlaps)
    first, second = (machine.compute_seconds(work) for work in works(program).values())
    (sums,) = (s.exchange for s in program.steps if hasattr(s, "exchange"))
    ring = 2 * 3 * 0.5 + 2 * 8 * 4 * 4 * 3 / 4 / 1e2
    tree = 2 * 0.5 + 2 * 8 * 4 * 4 / 1e2
    assert machine.exchange_seconds(sums) == pytest.approx(min(ring, tree))
    for algorithm, taken in ("ring", ring), ("tree", tree), (None, min(ring, tree)):
        found = timeline(program, machine, algorithm)
        assert found.seconds == pytest.approx(first + taken + second)
        assert found.exchange == pytest.approx(taken)
        assert found.waiting == pytest.approx(taken)


def test_without_exchanges_devices_share_the_work():
    program = split(0, None, 0)
    found = timeline(program, DeviceModel(1e3, 1e30, Link(1.0, 1.0)))
    assert found.exchange == 0
    assert found.seconds == pytest.approx((2 * 2 * 16 * 4 + 2 * 4) / 1e3)


def test_what_is_exchanged_early_costs_no_time():
    """The sums travel while the rest is computed."""
    names = ", ".join(f'"{device}"' for device in DEVICES)
    rows, every = (f"#tg.place<[{names}]{axis}>" for axis in (", axis = 0", ""))
    text = f"""
    func.func @main(%x: tensor<8x64xf32, {rows}>, %y: tensor<64xf32, {every}>)
        -> (tensor<1x64xf32, {every}>, tensor<64xf32, {every}>) {{
      %0 = tg.reduce add %x [0]
        : tensor<8x64xf32, {rows}> -> tensor<1x64xf32, {every}>
      %1 = tg.exp2 %y : tensor<64xf32, {every}>
      func.return %0, %1 : tensor<1x64xf32, {every}>, tensor<64xf32, {every}>
    }}"""
    program = program_of(sharded_stages(load_module(text), "main")["tg-split-collectives"], "main")
    link = Link(1e-3, 1e9)
    spans = {}
    for overlaps in (False, True):
        found = timeline(program, DeviceModel(1e3, 1e30, link, overlaps))
        spans[overlaps] = found
        assert found.seconds == max(span.end for span in found.spans)
    computing = (2 * 64 + 64) / 1e3
    assert spans[True].compute == spans[False].compute == pytest.approx(computing)
    assert spans[True].waiting == pytest.approx(0, abs=1e-9)
    assert spans[False].waiting == pytest.approx(spans[False].exchange)
