"""OptOps change how a kernel is executed and not what it computes."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_nests import KERNELS, gemm, memory, ranges, row_sums, scan
from parsing import tg_context
from stages import Array, kernel, load, parse, store
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect import universe
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.interpreter import run
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.optimize.optops.apply import parse_opt
from tgdialect.lowering.optimize.optops.passes import (
    MergePass,
    NoLocalsPass,
    OptOpPass,
    OrderPass,
    PadToPass,
    SplitPass,
    StagePass,
    SwapPass,
)
from tgdialect.lowering.plan import PlanPass
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.select import SelectPass
from tgdialect.lowering.verify import verify_level
from tgdialect.ops.call import KernelOp
from tgdialect.runtime import optimize as optimize_runtime
from tgdialect.runtime.loader import load as load_object
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target
from tgdialect.transforms.simplify import SimplifyPass

PASSES: Sequence[type[OptOpPass]] = (
    *(SplitPass, PadToPass, SwapPass, OrderPass, MergePass, NoLocalsPass, StagePass),
)
FEATURES = tuple(CpuTarget.host().features.split(","))


def _inputs(shapes: Sequence[tuple[int, ...] | int]) -> list[Any]:
    # Small integers: their sums are exact in any order.
    random = np.random.default_rng(0)
    return [
        shape if isinstance(shape, int) else random.integers(-4, 5, shape).astype(np.float32)
        for shape in shapes
    ]


def _interpreted(module: ModuleOp, inputs: Sequence[Any]) -> Array:
    arguments = deepcopy(list(inputs))
    run(module, "k", arguments)
    return arguments[0]


def _compiled(module: ModuleOp, inputs: Sequence[Any]) -> Array:
    """What machine code computes; what is beyond the result may not change."""
    ctx = tg_context()
    for stage, level in (
        (SimplifyPass(), "kernels"),
        (ExpandPass(), "tiles"),
        (SelectPass(features=FEATURES), "target"),
        (LinearizePass(), "linear"),
        (PlanPass(), "planned"),
        (RenderPass(), "llvm"),
    ):
        stage.apply(ctx, module)
        module.verify()
        verify_level(module, level)
    code = load_object(CpuTarget.host().object_code(llvm_ir(module)))
    guarded = np.full(inputs[0].size + 64, 12345, np.float32)
    arguments = [guarded[32:-32], *deepcopy(inputs[1:])]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arguments))(code.address("k"))
    function(*(a if isinstance(a, int) else a.ctypes.data for a in arguments))
    assert (guarded[:32] == 12345).all()
    assert (guarded[-32:] == 12345).all()
    return arguments[0].reshape(inputs[0].shape)


def _opts_of(module: ModuleOp) -> list[str]:
    """What was applied to the kernel of a module."""
    (kernel_op,) = module.ops
    assert isinstance(kernel_op, KernelOp)
    return [str(o) for o in kernel_op.sink.opts or ()]


def _space(module: ModuleOp) -> list[OptOpPass]:
    return [p for kind in PASSES for p in kind.schedule_space(tg_context(), module)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=5)
@given(seed=st.integers(0, 1_000_000), count=st.integers(1, 4))
def test_any_legal_schedule(name: str, seed: int, count: int):
    """Whatever `schedule_space` offers can be applied, and lowered, and computes the same."""
    text, shapes = KERNELS[name]
    inputs, random, module = _inputs(shapes), Random(seed), parse(text)
    expected = _interpreted(module, inputs)
    applied: list[str] = []
    for _ in range(count):
        if not (space := _space(module)):
            break
        choice = random.choice(space)
        choice.apply(tg_context(), module)
        applied.append(str(choice.pipeline_pass_spec()))
    module.verify()
    verify_level(module, "kernels")
    np.testing.assert_array_equal(_interpreted(module, inputs), expected, str(applied))
    np.testing.assert_array_equal(_compiled(module, inputs), expected, str(applied))


def _share(module: ModuleOp, features: Sequence[str], threads: int) -> None:
    """Schedule for threads however little work there is."""
    target = replace(target_named("cpu", features), threads=threads, parallel_cycles=1)
    state_target(module, target)
    OptimizePass("heuristic").apply(tg_context(), module)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("features", ["", "+sse2", "+avx,+fma", "+avx512f,+fma"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_heuristic(name: str, features: str, threads: int) -> None:
    """Schedules for machines of all widths, with threads however little work there is."""
    text, shapes = KERNELS[name]
    inputs, module = _inputs(shapes), parse(text)
    expected = _interpreted(module, inputs)
    wanted = tuple(f for f in features.split(",") if f)
    _share(module, wanted, threads)
    verify_level(module, "kernels")
    np.testing.assert_array_equal(_interpreted(module, inputs), expected)
    np.testing.assert_array_equal(_compiled(module, inputs), expected)


def test_few_rows_are_reduced_in_blocks():
    """Where each step of the reduction is on another page: as many steps as the TLB has pages."""
    module = parse(gemm(8, 1024, 96))
    inputs = _inputs([(8, 1024), (8, 96), (96, 1024)])
    OptimizePass("heuristic", FEATURES, 1).apply(tg_context(), module)
    opts = _opts_of(module)
    assert "#tg.opt<split 2, 48, reduce>" in opts
    assert any(o.startswith("#tg.opt<order 2, 1") for o in opts)
    np.testing.assert_array_equal(_compiled(module, inputs), inputs[1] @ inputs[2])


@pytest.mark.parametrize("seed", range(6))
def test_copies_do_not_depend_on_the_numbers_of_axes(seed: int) -> None:
    """A batch of products whose second factor has a row for each column: it is transposed, also
    where vectors lie along the loop with the number 0."""
    axes = dict(zip("bijk", Random(seed).sample(range(4), 4), strict=True))
    shapes = [(3, 128, 16), (3, 128, 64), (3, 16, 64)]
    texts = out, first, second = ["x".join(map(str, shape)) for shape in shapes]
    extents = {"b": 3, "i": 128, "j": 16, "k": 64}
    kinds = {n: (axes[n], "reduce" if n == "k" else "loop", extents[n]) for n in "bijk"}
    module = parse(
        kernel(
            "k",
            [f"{n}: {memory(shape)}" for n, shape in zip("oxy", texts, strict=True)],
            ranges(**kinds)
            + load("v", "x", f"{first}xf32", "bik")
            + load("w", "y", f"{second}xf32", "bjk")
            + "%p = tg.mul %v, %w : tensor<f32>\n"
            + "%r = tg.reduce add %p [] over %k : tensor<f32> -> tensor<f32>\n"
            + store("s", "o", f"{out}xf32", "bij", "r")
            + "%e = tg.end %s over %j, %i, %b : !tg.void\ntg.sink %e : !tg.void",
        )
    )
    inputs = _inputs(shapes)
    _share(module, ("+avx512f", "+fma"), 1)
    assert sum("stage" in which for which in _opts_of(module)) == 1, _opts_of(module)
    np.testing.assert_array_equal(_compiled(module, inputs), inputs[1] @ inputs[2].mT)


@pytest.mark.parametrize("text", ["split 0, ²", "split 0", "splat 0, 2"])
def test_what_is_no_optop_is_refused(text: str) -> None:
    with pytest.raises(PassFailedException, match="is no OptOp"):
        parse_opt(text)


def test_beam_is_timed_by_what_the_universe_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the lowering times kernels."""
    seen: list[object] = []
    monkeypatch.setattr(universe, "TIMER", "tgdialect.runtime.optimize:noted")
    monkeypatch.setattr(optimize_runtime, "noted", lambda *given: seen.extend(given), raising=False)
    module, optimize = parse(gemm(2, 2, 2)), OptimizePass("beam:4")
    optimize.apply(tg_context(), module)
    assert seen == [module, 4, optimize]


PADDED_AND_SHARED: dict[str, tuple[str, list[tuple[int, ...]], int, int]] = {
    "rows of a product": (gemm(63, 144, 40), [(63, 144), (63, 40), (40, 144)], 0, 4),
    "neighbours": (row_sums(127, 64), [(127,), (127, 64)], 0, 4),
}
"""What is stored, and loaded, and into how many chunks which range is divided for two threads. None
of them has a divisor that comes near."""


@pytest.mark.parametrize("name", PADDED_AND_SHARED)
def test_threads_share_few_chunks(name: str) -> None:
    """The last chunk is padded: chunks of one iteration would take cache lines from each other, and
    load anew what loops around them have loaded."""
    text, shapes, axis, chunks = PADDED_AND_SHARED[name]
    module, inputs = parse(text), _inputs(shapes)
    expected = _interpreted(module, inputs)
    _share(module, ("+avx512f", "+fma"), 2)
    padded = f"#tg.opt<padto {axis}, {chunks}, clamp>"
    shared = f"#tg.opt<split {axis}, {chunks}, thread, top>"
    assert [padded, shared] == _opts_of(module)[-2:]
    np.testing.assert_array_equal(_interpreted(module, inputs), expected)
    np.testing.assert_array_equal(_compiled(module, inputs), expected)


def test_threads_share_equal_chunks_of_rows() -> None:
    """As equal as few chunks can be: 28 rows each, of which one is computed twice."""
    module = parse(scan(4096, 111, "ji"))
    _share(module, ("+avx512f", "+fma"), 2)
    assert _opts_of(module) == ["#tg.opt<padto 0, 4, clamp>", "#tg.opt<split 0, 4, thread, top>"]


def test_what_threads_cannot_share_is_not_padded() -> None:
    """A kernel of two nests has no THREAD."""
    text = kernel(
        "k",
        [*(f"{o}: {memory('127')}" for o in "op"), *(f"{x}: {memory('127x40')}" for x in "xy")],
        ranges(i=(0, "loop", 127), j=(1, "reduce", 40), k=(2, "loop", 127), l=(3, "reduce", 40))
        + load("v", "x", "127x40xf32", "ij")
        + load("w", "y", "127x40xf32", "kl")
        + "%a = tg.reduce add %v [] over %j : tensor<f32> -> tensor<f32>\n"
        + "%b = tg.reduce add %w [] over %l : tensor<f32> -> tensor<f32>\n"
        + store("s", "o", "127xf32", "i", "a")
        + store("t", "p", "127xf32", "k", "b")
        + "%e = tg.end %s over %i : !tg.void\n%f = tg.end %t over %k : !tg.void\n"
        + "tg.sink %e, %f : !tg.void, !tg.void",
    )
    module, alone = parse(text), parse(text)
    _share(module, ("+avx512f", "+fma"), 2)
    _share(alone, ("+avx512f", "+fma"), 1)
    assert _opts_of(module) == _opts_of(alone)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [256, 320])
@pytest.mark.parametrize("order", ["pq", "qp"])
def test_products_of_one_kernel_are_scheduled_alike(rows: int, order: str) -> None:
    """Such a kernel has no THREAD, so that no thread has columns of its own to pack."""
    columns, steps = 256, 300
    shapes = {"o": (rows, columns), "x": (rows, steps), "y": (steps, columns)}
    texts = {name: "x".join(map(str, shape)) for name, shape in shapes.items()}
    names = [(name + n, name) for n in order for name in shapes]
    loops = {
        f"{axis}{n}": (at + 3 * i, kind, extent)
        for i, n in enumerate("pq")
        for at, (axis, kind, extent) in enumerate(
            (("i", "loop", rows), ("j", "loop", columns), ("k", "reduce", steps))
        )
    }
    text = ranges(**loops)
    for n in "pq":
        i, j, k = f"i{n}", f"j{n}", f"k{n}"
        text += (
            load(f"a{n}", f"x{n}", f"{texts['x']}xf32", (i, k))
            + load(f"b{n}", f"y{n}", f"{texts['y']}xf32", (k, j))
            + f"%m{n} = tg.mul %a{n}, %b{n} : tensor<f32>\n"
            + f"%r{n} = tg.reduce add %m{n} [] over %{k} : tensor<f32> -> tensor<f32>\n"
            + store(f"s{n}", f"o{n}", f"{texts['o']}xf32", (i, j), f"r{n}")
            + f"%e{n} = tg.end %s{n} over %{j}, %{i} : !tg.void\n"
        )
    text += "tg.sink %ep, %eq : !tg.void, !tg.void"
    text = kernel("k", [f"{name}: {memory(texts[kind])}" for name, kind in names], text)
    module, alone = parse(text), parse(text)
    _share(module, ("+avx512f", "+fma"), 2)
    _share(alone, ("+avx512f", "+fma"), 1)
    assert _opts_of(module) == _opts_of(alone)
    kinds = Counter(which.split()[0] for which in _opts_of(module))
    assert not any(count % 2 for count in kinds.values()), kinds
    values = _inputs([shapes[kind] for _, kind in names])
    np.testing.assert_array_equal(_compiled(module, values), values[1] @ values[2])


def test_what_cannot_be_padded_is_shared_one_by_one() -> None:
    """An ATOMICADD has no gate."""
    text = kernel(
        "k",
        [f"o: {memory('1')}", f"x: {memory('127x8192')}"],
        ranges(i=(0, "loop", 127), j=(1, "reduce", 8192))
        + load("v", "x", "127x8192xf32", "ij")
        + "%r = tg.reduce add %v [] over %j : tensor<f32> -> tensor<f32>\n"
        + "%c = tg.const 0 : tensor<index>\n"
        + f"%l = tg.index %o[%c] : ({memory('1')}, tensor<index>)"
        + " -> tensor<f32, #tg.place<global>>\n"
        + "%a = tg.atomicadd %l, %r : tensor<f32, #tg.place<global>>, tensor<f32>\n"
        + "%e = tg.end %a over %i : !tg.void\ntg.sink %e : !tg.void",
    )
    module = parse(text)
    OptimizePass("heuristic", ("+avx512f", "+fma"), 2).apply(tg_context(), module)
    assert _opts_of(module)[-1] == "#tg.opt<split 0, 127, thread, top>"


@pytest.mark.parametrize(("rows", "opts"), [(6, ["#tg.opt<split 0, 2, upcast>"]), (5, [])])
def test_scans_go_through_two_rows(rows: int, opts: list[str]) -> None:
    """Where there is no vector along them, and they are even."""
    module = parse(scan(40, rows, "ji"))
    OptimizePass("heuristic", FEATURES, 1).apply(tg_context(), module)
    assert _opts_of(module)[:1] == opts


def test_each_scan_of_a_kernel_goes_through_two_rows() -> None:
    reg = "tensor<f32, #tg.place<reg>>"
    text = ""
    for i, n in enumerate("pq"):
        text += (
            ranges(**{f"j{n}": (2 * i, "loop", 6), f"i{n}": (2 * i + 1, "reduce", 40)})
            + load(f"x{n}", f"a{n}", "6x40xf32", (f"j{n}", f"i{n}"))
            + f"""
            %zero{n} = tg.const 0.0 : tensor<f32>
            %acc{n} = tg.buffer {i} : {reg}
            %outer{n} = tg.after %acc{n}, %j{n} : ({reg}, tensor<index>) -> {reg}
            %init{n} = tg.store %outer{n}, %zero{n} : {reg}, tensor<f32>
            %inside{n} = tg.after %acc{n}, %init{n}, %i{n} : ({reg}, !tg.void, tensor<index>)
              -> {reg}
            %old{n} = tg.load %inside{n} : {reg} -> tensor<f32>
            %new{n} = tg.add %old{n}, %x{n} : tensor<f32>
            %kept{n} = tg.store %inside{n}, %new{n} : {reg}, tensor<f32>
            """
            + store(f"s{n}", f"o{n}", "6x40xf32", (f"j{n}", f"i{n}"), f"new{n}")
            + f"%g{n} = tg.group %s{n}, %kept{n}\n"
            + f"%e{n} = tg.end %g{n} over %i{n}, %j{n} : !tg.void\n"
        )
    text += "tg.sink %ep, %eq : !tg.void, !tg.void"
    names = [f"{name}: {memory('6x40')}" for name in ("op", "ap", "oq", "aq")]
    module = parse(kernel("k", names, text))
    _share(module, (), 1)
    assert _opts_of(module) == ["#tg.opt<split 0, 2, upcast>", "#tg.opt<split 2, 2, upcast>"]
    values = _inputs([(6, 40)] * 4)
    np.testing.assert_array_equal(_compiled(module, values), values[1].cumsum(1))


def test_cells_beyond_an_axis_of_one_keep_it():
    """Loops do not become one across an axis of 1 that may be left: what is beyond it is 0."""
    text = kernel(
        "k",
        [f"o: {memory('4x6')}", f"x: {memory('4x1x6')}"],
        ranges(i=(0, "loop", 4), j=(1, "loop", 6))
        + "%q = tg.const 1 : tensor<index>\n"
        + load("y", "x", "4x1x6xf32", "iqj")
        + store("s", "o", "4x6xf32", "ij", "y")
        + "%e = tg.end %s over %j, %i : !tg.void\ntg.sink %e : !tg.void",
    )
    assert not MergePass.schedule_space(tg_context(), parse(text))


@pytest.mark.parametrize("out", ["o", "x"])
def test_parts_overlap_where_iterations_may_be_done_twice(out: str) -> None:
    """They may not where a result is written over what it is computed from."""
    text = kernel(
        "k",
        [f"o: {memory('41')}", f"x: {memory('41')}"],
        ranges(i=(0, "loop", 41))
        + load("v", "x", "41xf32", "i")
        + "%y = tg.add %v, %v : tensor<f32>\n"
        + store("s", out, "41xf32", "i", "y")
        + "%e = tg.end %s over %i : !tg.void\ntg.sink %e : !tg.void",
    )
    overlapping = [p for p in SplitPass.schedule_space(tg_context(), parse(text)) if p.overlap]
    assert bool(overlapping) is (out == "o")


def test_parts_do_not_overlap_in_memory_that_is_passed_twice():
    text = kernel(
        "k",
        [f"o: {memory('41')}", f"x: {memory('41')}"],
        ranges(i=(0, "loop", 41))
        + load("v", "x", "41xf32", "i")
        + store("s", "o", "41xf32", "i", "v")
        + "%e = tg.end %s over %i : !tg.void\ntg.sink %e : !tg.void",
    )
    type = 'tensor<41xf32, #tg.place<"CPU", global>>'
    for second, count in (("%b", 1), ("%a", 0)):
        call = f"%0 = tg.call @k(%a, {second}) : ({type}, {type}) -> !tg.void"
        caller = f"func.func @main(%a: {type}, %b: {type}) {{\n{call}\nfunc.return\n}}"
        space = SplitPass.schedule_space(tg_context(), parse(f"{text}\n{caller}"))
        assert bool([p for p in space if p.overlap]) is bool(count)


def test_columns_of_any_height_are_copied_in_squares():
    """The last square begins in the one before where they are no multiple of its height."""
    text, _ = KERNELS["gemm of odd columns"]
    module = parse(text)
    OptimizePass("heuristic", ("avx512f",), 1).apply(tg_context(), module)
    (kernel_op,) = module.ops
    assert isinstance(kernel_op, KernelOp)
    opts = [str(o) for o in kernel_op.sink.opts or ()]
    assert "23, upcast" in opts[0]
    assert "16, upcast, overlap" in opts[-1]


@pytest.mark.parametrize(
    ("name", "has_squares"), [("gemm of columns", True), ("convolution", False)]
)
def test_what_is_apart_is_packed(name: str, has_squares: bool) -> None:
    """And copied in squares of registers, that are transposed, unless the loop along their columns
    is written out, as that of the two columns of a window is."""
    text, _ = KERNELS[name]
    module = parse(text)
    OptimizePass("heuristic", ("avx512f",), 1).apply(tg_context(), module)
    (kernel_op,) = module.ops
    assert isinstance(kernel_op, KernelOp)
    opts = [str(o) for o in kernel_op.sink.opts or ()]
    assert "stage" in opts[-2 if has_squares else -1]
    assert not has_squares or "16, upcast" in opts[-1]


def test_opts_are_recorded_and_applied_again():
    """What the heuristic records is what mode=explicit takes."""
    text, _ = KERNELS["gemm"]
    found, again = parse(text), parse(text)
    OptimizePass("heuristic", ("avx512f",), 1).apply(tg_context(), found)
    (kernel_op,) = found.ops
    assert isinstance(kernel_op, KernelOp)
    opts = kernel_op.sink.opts
    assert opts is not None
    texts = tuple(str(o).removeprefix("#tg.opt<").removesuffix(">") for o in opts)
    assert texts
    OptimizePass("explicit", ("avx512f",), 1, opts=texts).apply(tg_context(), again)
    assert str(found) == str(again)


def test_an_illegal_opt_leaves_the_kernel_alone():
    text, _ = KERNELS["column scan"]
    module = parse(text)
    before = str(module)
    space = _space(module)
    assert str(module) == before
    assert not any(isinstance(p, SplitPass) and p.axis == 1 and p.target != "reduce" for p in space)
