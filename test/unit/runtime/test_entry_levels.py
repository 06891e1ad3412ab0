"""Modules that are compiled from a level in the middle of the stages, and schedules by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import CompilationError
from tgdialect.lowering.levels import level_of
from tgdialect.lowering.optimize.optops.apply import spelled
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.call import KernelOp
from tgdialect.runtime.compiler import compile, load_module
from tgdialect.runtime.executable import Executable

EXAMPLES = {path.stem: path for path in Path(__file__).parents[3].glob("examples/*.mlir")}
PRODUCT = """
func.func @main(%a: tensor<12x16xf32>, %b: tensor<16x24xf32>) -> tensor<12x24xf32> {
  %0 = tg.reshape %a [12, 16, 1] : tensor<12x16xf32> -> tensor<12x16x1xf32>
  %1 = tg.mul %0, %b : (tensor<12x16x1xf32>, tensor<16x24xf32>) -> tensor<12x16x24xf32>
  %2 = tg.reduce add %1 [1] : tensor<12x16x24xf32> -> tensor<12x1x24xf32>
  %3 = tg.reshape %2 [12, 24] : tensor<12x1x24xf32> -> tensor<12x24xf32>
  func.return %3 : tensor<12x24xf32>
}
"""
TWO_KERNELS = """
func.func @main(%a: tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<1x12xf32>) {
  %0 = tg.exp2 %a : tensor<8x12xf32>
  %1 = tg.contiguous %0 : tensor<8x12xf32>
  %2 = tg.reduce add %1 [0] : tensor<8x12xf32> -> tensor<1x12xf32>
  func.return %1, %2 : tensor<8x12xf32>, tensor<1x12xf32>
}
"""
IN_PLACE = """
!a = tensor<40xf32, #tg.place<"CPU", global>>
!v = tensor<40xf32, #tg.place<"CPU">>
func.func @main(%a: !a, %b: tensor<40xf32>) -> tensor<40xf32> {
  %0 = tg.add %a, %b : (!a, tensor<40xf32>) -> !v
  %1 = tg.store %a, %0 : !a, !v
  %2 = tg.neg %b : tensor<40xf32>
  func.return %2 : tensor<40xf32>
}
"""


def texts(module: ModuleOp, mode: str) -> list[str]:
    """The program before the first stage and after each one."""
    found = [str(module)]
    module = module.clone()
    passes = stages(mode=mode, features=("avx512f",), threads=2)
    run_stages(module, passes, lambda _, after: found.append(str(after)))
    return found


def opts_of(executable: Executable) -> list[tuple[str, ...]]:
    return [kernel.opts for kernel in executable.kernels]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["none", "heuristic"])
@pytest.mark.parametrize("name", ["matmul_softmax", "scatter_add", "prefix_sum", "threefry"])
def test_every_level_runs(name: str, mode: str):
    module = load_module(EXAMPLES[name])
    expected: list[np.ndarray] = []
    for text in texts(module, mode):
        executable = compile(text, allow_custom=True)
        rng = np.random.default_rng(0)
        inputs = [
            p.low if p.role == "scalar" else (rng.random(p.shape) * 3).astype(p.dtype)
            for p in executable.inputs
        ]
        results = executable(*inputs)
        results = list(results) if isinstance(results, tuple) else [results]
        expected = expected or results
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("mode", ["none", "heuristic"])
def test_what_is_written_in_place_is_so_at_every_level(mode: str):
    for text in texts(load_module(IN_PLACE), mode):
        a, b = np.arange(40, dtype="f4"), np.ones(40, "f4")
        b.flags.writeable = False
        compile(text, allow_custom=True)(a, b)
        np.testing.assert_array_equal(a, np.arange(40) + 1)


def test_a_schedule_that_was_edited_runs_as_it_is():
    scheduled = texts(load_module(PRODUCT), "heuristic")[3]
    kernel = next(op for op in load_module(scheduled).ops if isinstance(op, KernelOp))
    assert kernel.sink.opts
    executable = compile(scheduled)
    assert opts_of(executable) == [tuple(str(opt) for opt in kernel.sink.opts)]
    written = "; ".join(spelled(opt) for opt in kernel.sink.opts)
    assert opts_of(compile(PRODUCT, opt=f"explicit:{written}")) == opts_of(executable)
    edited = texts(load_module(PRODUCT), "explicit:split 1, 8, upcast")[3]
    assert opts_of(compile(edited)) == [("#tg.opt<split 1, 8, upcast>",)]
    more = compile(edited, opt="explicit:split 0, 4, upcast")
    assert opts_of(more) == [("#tg.opt<split 1, 8, upcast>", "#tg.opt<split 0, 4, upcast>")]
    a, b = np.random.default_rng(1).random((2, 16, 24)).astype("f4")
    a = np.ascontiguousarray(a[:12, :16])
    np.testing.assert_allclose(more(a, b), a @ b, rtol=1e-5)


def test_opts_are_for_all_kernels_or_for_one():
    both = compile(TWO_KERNELS, opt="explicit:split 0, 4, upcast")
    assert opts_of(both) == [("#tg.opt<split 0, 4, upcast>",)] * 2
    second = compile(TWO_KERNELS, opt="explicit:@main_1: split 0, 4, upcast; @main_0: nolocals")
    assert opts_of(second) == [("#tg.opt<nolocals>",), ("#tg.opt<split 0, 4, upcast>",)]
    x = np.ones((8, 12), "f4")
    np.testing.assert_array_equal(second(x)[1], np.full((1, 12), 16, "f4"))


@pytest.mark.parametrize(
    ("opt", "message"),
    [
        (
            "explicit:split 1, 5, upcast",
            r"<string>:5:.*kernel @main_0: split 1, 5, upcast: range 1 ",
        ),
        ("explicit:twist 0", "'twist 0' is no OptOp: there are tc, split, padto"),
        ("explicit:split 1, x, upcast", "split takes an axis, a factor"),
        ("explicit:@other: nolocals", "there is no kernel @other; there are: @main_0"),
        ("explicit:@main_0", "names no OptOp"),
        ("fast", "mode 'fast' is not one of the modes"),
    ],
)
def test_schedules_that_are_wrong(opt: str, message: str):
    with pytest.raises(CompilationError, match=message):
        compile(PRODUCT, opt=opt)


def test_from_linear_on_nothing_is_checked():
    after = texts(load_module(PRODUCT), "none")
    for text, level in zip(after[6:], ("linear", "planned", "llvm"), strict=True):
        assert level_of(load_module(text)) == level
        with pytest.raises(CompilationError, match=f"at level {level} no stage checks"):
            compile(text)


def test_a_schedule_cannot_be_had_too_late():
    tiles = texts(load_module(PRODUCT), "heuristic")[4]
    with pytest.raises(CompilationError, match="loops are settled at level tiles"):
        compile(tiles, opt="explicit:split 0, 4, upcast")
    assert callable(compile(tiles, opt="none"))


def test_a_module_at_no_level_says_what_is_wrong_with_it():
    kernels = texts(load_module(PRODUCT), "none")[2]
    detached = "%z = tg.const 1.0 : tensor<f32>\n    %d = tg.detach %z : tensor<f32>\n"
    wrong = kernels.replace("func.return", f"{detached}    func.return")
    with pytest.raises(CompilationError, match=r"<string>:\d+:.* at level kernels"):
        compile(wrong)


def test_the_signature_of_an_llvm_function_is_checked():
    rendered = texts(load_module(PRODUCT), "none")[-1]
    fewer = rendered.replace("tg.signature = [", "tg.signature = [{tg.type = tensor<f32>}, ")
    with pytest.raises(CompilationError, match="of @main does not fit: it describes 4 arguments"):
        compile(fewer, allow_custom=True)
    other = rendered.replace("tg.type = tensor<12x16xf32>", "tg.type = 3 : i64")
    with pytest.raises(CompilationError, match=r"argument 0 is !llvm.ptr, described as 3 : i64"):
        compile(other, allow_custom=True)


def test_functions_of_other_dialects_are_left_out():
    helper = """
func.func @helper(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}
func.func @host(%a: tensor<12x16xf32>, %b: tensor<16x24xf32>) -> tensor<12x24xf32> {
  %0 = func.call @main(%a, %b) : (tensor<12x16xf32>, tensor<16x24xf32>) -> tensor<12x24xf32>
  %1 = arith.addf %0, %0 : tensor<12x24xf32>
  func.return %1 : tensor<12x24xf32>
}
"""
    a, b = np.ones((12, 16), "f4"), np.ones((16, 24), "f4")
    np.testing.assert_array_equal(compile(PRODUCT + helper)(a, b), a @ b)
    with pytest.raises(CompilationError, match="@helper is a function of other dialects"):
        compile(PRODUCT + helper, entry="helper")
