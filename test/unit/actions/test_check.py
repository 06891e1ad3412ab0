"""`check=True`: seeded errors are named, and right programs are not reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect.actions import references
from tgdialect.actions.check import CheckedExecutable, CheckError, CheckResult
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.render.llvm import arithmetic
from tgdialect.lowering.select import SelectPass
from tgdialect.lowering.select.bounds_checks import BoundsChecks
from tgdialect.ops import tg as dialect
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.tools import tg_run

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def reproducers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reproducers are left in a folder of the test."""
    monkeypatch.setenv("TG_REPRODUCER_DIR", str(tmp_path))


def floats(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def compared(function: Callable[..., Any], *arrays: Array, **options: Any) -> list[CheckResult]:
    """The comparisons of the first call."""
    executable = tg.compile(function, *arrays, check=True, **options)
    assert isinstance(executable, CheckedExecutable)
    executable(*arrays)
    return executable.comparisons


def softmax_of_product(x: Any, w: Any) -> Any:
    return (x @ w).relu().softmax(-1).sum(0)


# -- wrong programs --------------------------------------------------------------------------------


def error_of(function: Callable[..., Any], *arrays: Array, **options: Any) -> str:
    with pytest.raises(CheckError) as found:
        compared(function, *arrays, **options)
    return str(found.value)


def change(
    monkeypatch: pytest.MonkeyPatch, name: str, edit: Callable[[dialect.KernelOp], object]
) -> None:
    """Edit the kernel of a name before instructions are selected for it."""
    lower = SelectPass.lower_kernel

    def lower_wrongly(self: SelectPass, kernel: Any) -> Any:
        if kernel.sym_name.data == name:
            edit(kernel)
        return lower(self, kernel)

    monkeypatch.setattr(SelectPass, "lower_kernel", lower_wrongly)


def ops_of(kernel: dialect.KernelOp, kind: type[Any]) -> list[Any]:
    return [op for op in kernel.body.block.ops if isinstance(op, kind)]


def test_wrong_instruction_is_named(monkeypatch: pytest.MonkeyPatch):
    wrong = arithmetic.row(arithmetic._float(llvm.FSubOp))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(arithmetic.ELEMENTWISE, "tg.add", wrong)
    error = error_of(lambda x: ((x * 2).contiguous() + 1.5).sqrt(), np.ones(64, np.float32))
    assert "kernel @main_1" in error
    assert "result differs: 64 of 64 elements, at [0] 0.707106" in error
    assert "bound" in error


def test_dropped_term_is_named(monkeypatch: pytest.MonkeyPatch):
    def drop(kernel: dialect.KernelOp) -> None:
        (loop,) = [op for op in ops_of(kernel, dialect.RangeOp) if "reduce" in str(op)]
        builder = dialect.OpBuilder.before(loop)
        extent = int(dialect.number(loop.bound.owner.value))
        loop.operands[0] = builder.index_constant(extent - 1)

    change(monkeypatch, "main_1", drop)
    error = error_of(
        lambda x: (x.exp().contiguous().sum(-1) * 2).contiguous() + 1,
        floats(8, 64),
        opt="none",
    )
    assert "kernel @main_1" in error
    assert "reduction of 64 terms of f32, in any order" in error


def test_wrong_index_is_named(monkeypatch: pytest.MonkeyPatch):
    def shift(kernel: dialect.KernelOp) -> None:
        load = next(op for op in ops_of(kernel, dialect.LoadOp))
        index = load.buffer.owner
        builder = dialect.OpBuilder.before(index)
        last = len(index.operands) - 1
        value = index.operands[last]
        one = builder.index_constant(1)
        index.operands[last] = builder.put(dialect.AddOp(value, one))

    change(monkeypatch, "main_0", shift)
    error = error_of(lambda x: x * 2, floats(6, 7), opt="none")
    assert "kernel @main_0" in error
    assert "of 42 elements" in error


def test_lost_gate_is_named(monkeypatch: pytest.MonkeyPatch):
    def lose(kernel: dialect.KernelOp) -> None:
        for op in ops_of(kernel, dialect.LoadOp):
            without = dialect.OpBuilder.before(op).put(dialect.LoadOp(op.buffer))
            op.result.replace_all_uses_with(without)

    # Either one makes the border 0.
    monkeypatch.setattr(BoundsChecks, "gate", lambda self, checks, gate: gate)
    change(monkeypatch, "main_0", lose)
    error = error_of(lambda x: x.pad(((0, 0), (1, 1))), np.ones((6, 7), np.float32), opt="none")
    assert "kernel @main_0" in error
    assert "1 and not 0; bound 0" in error


def test_stage_before_the_kernels(monkeypatch: pytest.MonkeyPatch):
    lower = RangeifyPass.lower

    def lower_wrongly(self: RangeifyPass, module: ModuleOp) -> None:
        lower(self, module)
        for op in list(module.walk()):
            if isinstance(op, dialect.MulOp):
                op.results[0].replace_all_uses_with(op.operands[0])

    monkeypatch.setattr(RangeifyPass, "lower", lower_wrongly)
    error = error_of(lambda x: x * 2, floats(8))
    assert "the program: result differs" in error
    assert "a stage before tg-optimize is wrong" in error


def test_wrong_plan(monkeypatch: pytest.MonkeyPatch):
    call = HostExecutable.__call__

    def call_wrongly(self: HostExecutable, *arrays: Any, out: Any = None) -> Any:
        return call(self, *arrays, out=out) + 1 if self.outputs else call(self, *arrays, out=out)

    monkeypatch.setattr(HostExecutable, "__call__", call_wrongly)
    assert "each kernel, alone, is right" in error_of(lambda x: x * 2, floats(8))


def test_a_wrong_signature_stays_wrong(monkeypatch: pytest.MonkeyPatch):
    wrong = arithmetic.row(arithmetic._float(llvm.FSubOp))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(arithmetic.ELEMENTWISE, "tg.add", wrong)
    executable = tg.compile(lambda x: x + 1.5, np.ones(64, np.float32), check=True)
    for _ in range(2):
        with pytest.raises(CheckError, match="result differs"):
            executable(np.ones(64, np.float32))


def test_reproducer(monkeypatch: pytest.MonkeyPatch):
    change(monkeypatch, "main_0", lambda kernel: [
        op.results[0].replace_all_uses_with(op.operands[0])
        for op in ops_of(kernel, dialect.ExpOp)
    ])  # fmt: skip
    error = error_of(lambda x: x.exp(), floats(8), opt="none")
    file = Path(error.rpartition("the reproducer: ")[2])
    text = file.read_text()
    assert "tg.kernel @main_0" in text
    assert "tg-run --check --run-reproducer" in text
    # The kernel's parameters: the result, as it was before, and x.
    assert tg_run.main(["--check", "--run-reproducer", str(file)]) == 1


# -- right programs --------------------------------------------------------------------------------


def layer_norm(x: Any) -> Any:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()


RIGHT: dict[str, tuple[Callable[..., Any], Sequence[Array]]] = {
    "sum": (lambda x: x.sum(), [floats(1 << 18)]),
    "sum of a constant": (lambda x: x.sum(), [np.full(1 << 16, 0.1, np.float32)]),
    "mean of nothing": (lambda x: (x - x.mean()).mean(), [floats(1000)]),
    "softmax": (softmax_of_product, [floats(64, 32), floats(32, 48)]),
    "masked": (lambda x: (x > 0).where(x, -float("inf")).softmax(-1), [floats(16, 16)]),
    "layer norm": (layer_norm, [floats(16, 100)]),
    "cumsum": (lambda x: x.cumsum(0), [floats(512, 8)]),
    "argmax": (lambda x: (x * 1.5).argmax(-1), [np.round(floats(16, 100))]),
    "sort": (lambda x: x.sort(-1), [floats(4, 50)]),
    "bf16": (softmax_of_product, [floats(32, 32, dtype=ml_dtypes.bfloat16)] * 2),
    "f16": (lambda x, y: (x @ y).gelu(), [floats(32, 32, dtype=np.float16)] * 2),
    "f64": (lambda x, y: (x @ y).tanh(), [floats(32, 32, dtype=np.float64)] * 2),
    "int": (lambda x, y: x @ y, [floats(32, 32).astype(np.int32)] * 2),
    "gather": (lambda x, i: x[i].log(), [floats(20, 3), np.array([3, 0, 19, 3])]),
    "no element": (lambda x: x.sum(-1) * 2, [floats(0, 3)]),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("opt", ["heuristic", "none"])
def test_right_programs(name: str, opt: str):
    function, arrays = RIGHT[name]
    comparisons = compared(function, *arrays, opt=opt)
    assert not any(each.reason for each in comparisons)
    assert comparisons[-1].name == "the program"


def test_bounds_are_tight():
    kernel, whole = compared(lambda x, y: x @ y, floats(64, 64), floats(64, 64))
    assert str(kernel).endswith("(reduction of 64 terms of f32, in any order)")
    # A term is 0.6 in the mean.
    assert kernel.judged.bound < 1e-3
    assert whole.judged.cells == 64 * 64
    exact, _ = compared(lambda x: x.maximum(0) - 1, floats(64))
    assert exact.judged.bound == 0


def test_large_kernels_are_sampled():
    kernel, whole = compared(lambda x, y: x @ y, floats(512, 512), floats(512, 512))
    assert kernel.sample < 0.1
    assert kernel.judged.cells == round(kernel.sample * 512 * 512)
    assert "a sample" in str(kernel)
    assert "half of the digits" in whole.rounding


def test_what_takes_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(references, "MOST_OPERATIONS", 100)
    kernel, whole = compared(lambda x: x.sum(), floats(5000))
    assert kernel.reason
    assert "not compared" in str(kernel)
    assert whole.judged.cells == 1


def test_each_signature_once():
    executable = tg.compile(lambda x: x * 2, tg.spec(("n",)), check=True)
    assert isinstance(executable, CheckedExecutable)
    found: list[CheckResult] = []
    executable.listener = found.append
    for size in (3, 4, 3, 4):
        executable(floats(size))
    assert len(found) == 4
    assert [each.judged.cells for each in found] == [3, 3, 4, 4]


def test_memory_that_a_program_writes():
    source = """
      func.func @main(%cache: tensor<?x4xf32, #tg.place<"CPU", global>> {tg.dims = array<i64: 2>},
                      %row: tensor<1x4xf32>, %n: tensor<index> {tg.min = 1, tg.max = 64},
                      %i: tensor<index> {tg.min = 0, tg.max = 63})
                      -> tensor<1x4xf32, #tg.place<"CPU">> {
        %0 = tg.index %cache[%i] : (tensor<?x4xf32, #tg.place<"CPU", global>>, tensor<index>)
          -> tensor<4xf32, #tg.place<"CPU", global>>
        %1 = tg.reshape %row [4] : tensor<1x4xf32> -> tensor<4xf32>
        %2 = tg.exp %1 : tensor<4xf32>
        %3 = tg.store %0, %2 : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
        %4 = tg.after %cache, %3 : (tensor<?x4xf32, #tg.place<"CPU", global>>, !tg.void)
          -> tensor<?x4xf32, #tg.place<"CPU", global>>
        %5 = tg.reduce add %4 [0] : tensor<?x4xf32, #tg.place<"CPU", global>>
          -> tensor<1x4xf32, #tg.place<"CPU">>
        func.return %5 : tensor<1x4xf32, #tg.place<"CPU">>
      }"""
    executable = tg.compile(source, check=True)
    assert isinstance(executable, CheckedExecutable)
    cache, row = floats(6, 4), floats(1, 4, seed=1)
    executable(cache, row, 6, 2)
    np.testing.assert_allclose(cache[2], np.exp(row[0]), rtol=1e-6)
    assert not any(each.reason for each in executable.comparisons)


def test_function():
    weights = tg.Tensor(floats(8, 8))

    @tg.function(check=True)
    def step(x: tg.Tensor) -> tg.Tensor:
        return (x @ weights).softmax(-1)

    for _ in range(3):
        result = step(tg.Tensor(floats(4, 8))).numpy()
        np.testing.assert_allclose(result.sum(-1), 1, rtol=1e-6)


def test_scan():
    def scanned(x: Any) -> Any:
        return tg.scan(lambda state, row: (state * 0.5 + row, state), x[0], x)[0]

    comparisons = compared(scanned, floats(6, 4))
    assert "tg.scan" in comparisons[-1].rounding


def test_levels():
    """A program may be given at the level after any stage."""
    lowered = tg.function(softmax_of_product).lower(tg.spec((8, 8)), tg.spec((8, 8)))
    found: dict[str, list[CheckResult]] = {}
    for stage in ("callify", "rangeify", "optimize", "select"):
        executable = tg.compile(lowered.module(stage), check=True)
        assert isinstance(executable, CheckedExecutable)
        executable(floats(8, 8), floats(8, 8))
        found[stage] = executable.comparisons
    for stage in ("callify", "rangeify", "optimize"):
        *kernels, whole = found[stage]
        assert kernels
        assert not any(each.reason for each in (*kernels, whole))
        assert "half of the digits" in whole.rounding
    assert all("level" in each.reason for each in found["select"])


def test_several_devices_are_compared_as_a_whole(two_devices: str):
    executable = tg.compile(two_devices, check=True)
    assert isinstance(executable, CheckedExecutable)
    executable(floats(8))
    kernels, whole = executable.comparisons
    assert "as a whole only" in str(kernels)
    assert whole.judged.cells == 8


@pytest.fixture
def two_devices() -> str:
    both = '#tg.place<["CPU:0", "CPU:1"], axis = 0>'
    return f"""
      func.func @main(%x: tensor<8xf32, {both}>) -> tensor<8xf32, {both}> {{
        %0 = tg.exp %x : tensor<8xf32, {both}>
        func.return %0 : tensor<8xf32, {both}>
      }}"""
