"""Schedules that are found by timing kernels on a device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.optimize.optops.apply import spelled
from tgdialect.lowering.optimize.search import Opts, beam_search, neighbours
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.call import KernelOp
from tgdialect.runtime import beam, optimize
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.executable import Executable
from tgdialect.targets import target_named

PRODUCT = """
func.func @main(%a: tensor<64x32xDTYPE>, %b: tensor<32x48xDTYPE>) -> tensor<64x48xDTYPE> {
  %ar = tg.reshape %a [64, 32, 1] : tensor<64x32xDTYPE> -> tensor<64x32x1xDTYPE>
  %br = tg.reshape %b [1, 32, 48] : tensor<32x48xDTYPE> -> tensor<1x32x48xDTYPE>
  %m = tg.mul %ar, %br : (tensor<64x32x1xDTYPE>, tensor<1x32x48xDTYPE>) -> tensor<64x32x48xDTYPE>
  %r = tg.reduce add %m [1] : tensor<64x32x48xDTYPE> -> tensor<64x1x48xDTYPE>
  %o = tg.reshape %r [64, 48] : tensor<64x1x48xDTYPE> -> tensor<64x48xDTYPE>
  func.return %o : tensor<64x48xDTYPE>
}
"""
F32 = PRODUCT.replace("DTYPE", "f32")
SOFTMAX = (
    (Path(__file__).parents[3] / "examples" / "softmax.mlir")
    .read_text()
    .replace("2x4x", "64x200x")
    .replace("2x1x", "64x1x")
)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beam, "_FOUND", {})
    monkeypatch.setenv("TG_CACHE_DIR", "")
    monkeypatch.setenv("TG_BEAM_SECONDS", "2")


def kernel(target: str, dtype: str = "f32") -> KernelOp:
    program = PRODUCT.replace("DTYPE", dtype)
    module = load_module(f'module attributes {{tg.target = #tg.target<"{target}">}} {{{program}}}')
    run_stages(module, stages().module)
    return next(op for op in module.ops if isinstance(op, KernelOp))


def opts_of(text: str = F32, opt: str = "beam:2") -> list[tuple[str, ...]]:
    found = tg.compile(text, target=DEVICE, opt=opt)
    assert isinstance(found, Executable)
    return [kernel.opts for kernel in found.kernels]


@pytest.mark.sampled(2)
@needs_opencl
@pytest.mark.parametrize("text", [F32, SOFTMAX], ids=["product", "softmax"])
def test_computes_the_same(text: str) -> None:
    found, ordinary = (tg.compile(text, target=DEVICE, opt=o) for o in ("beam:2", "heuristic"))
    assert isinstance(found, Executable)
    generator = np.random.default_rng(0)
    given = [generator.standard_normal(p.shape).astype(np.float32) for p in found.inputs]
    np.testing.assert_allclose(found(*given), ordinary(*given), rtol=1e-4, atol=1e-5)


@needs_opencl
def test_a_search_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the store, for a kernel of whatever name; anew for another device."""
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    first = opts_of()
    searches: list[object] = []

    def no_search(*given: object) -> Sequence[object]:
        searches.append(given)
        return ()

    monkeypatch.setattr(beam, "_FOUND", {})
    monkeypatch.setattr(beam, "beam_search", no_search)
    assert opts_of(F32.replace("%m", "%n")) == first
    assert not searches
    monkeypatch.setattr(type(tg.Device[DEVICE].driver), "identity", ("another device",))
    opts_of(F32.replace("%m", "%l"))
    assert searches


@pytest.mark.sampled(2)
@needs_opencl
@pytest.mark.parametrize("refusal", ["compiling", "running"])
def test_what_the_device_refuses_is_not_chosen(
    refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary, refused = opts_of(opt="heuristic"), 0
    driver = type(tg.Device[DEVICE].driver)
    load = driver.load

    def loads(self: Any, kernels: Any) -> Any:
        nonlocal refused
        found = load(self, kernels)
        if "split" in "".join(now) and now != ordinary[0]:
            refused += 1
            if refusal == "compiling":
                raise DeviceError("refused")

            def timed(commands: object) -> Sequence[float]:
                raise DeviceError("refused")

            monkeypatch.setattr(found, "timed", timed)
        return found

    now: tuple[str, ...] = ()
    compiled = optimize.DeviceBench.compiled

    def noted(self: optimize.DeviceBench, candidate: KernelOp) -> beam.Run | None:
        nonlocal now
        now = tuple(map(str, candidate.sink.opts or ()))
        return compiled(self, candidate)

    def until_refused(kernel: KernelOp, starts: Any, timer: Any, width: int, *rest: Any) -> Any:
        """Searches for as long as it takes, however busy the machine is."""
        return beam_search(kernel, starts, timer, width, lambda: refused < 3, rest[-1])

    monkeypatch.setattr(optimize.DeviceBench, "compiled", noted)
    monkeypatch.setattr(driver, "load", loads)
    monkeypatch.setattr(beam, "beam_search", until_refused)
    (found,) = opts_of()
    assert refused == 3
    assert found == ordinary[0] or "split" not in "".join(found)


@needs_opencl
def test_a_schedule_with_other_results_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the compiler of the device gets wrong, as PoCL does."""
    ordinary = opts_of(opt="heuristic")
    compiled = optimize.DeviceBench.compiled

    def wrong(self: optimize.DeviceBench, candidate: KernelOp) -> beam.Run | None:
        is_ordinary = tuple(map(str, candidate.sink.opts or ())) == ordinary[0]
        run = compiled(self, candidate)
        if isinstance(run, optimize._DeviceRun) and not is_ordinary:
            results = run.results
            monkeypatch.setattr(
                run, "results", lambda given: {k: v + 0.5 for k, v in results(given).items()}
            )
        return run

    times = count(1)
    monkeypatch.setattr(beam, "_fastest", lambda run, limit: 1.0 / next(times))
    monkeypatch.setattr(optimize.DeviceBench, "compiled", wrong)
    assert opts_of() == ordinary


@pytest.mark.parametrize(
    ("target", "dtype", "kinds"),
    [
        ("opencl", "f32", {"local", "upcast", "group_reduce", "unroll", "stage", "order"}),
        ("nvidia:sm_90", "bf16", {"tc", "local", "stage", "group_reduce"}),
        ("amd:gfx942", "f16", {"tc", "local", "stage"}),
    ],
)
def test_the_space_of_a_grid(target: str, dtype: str, kinds: set[str]) -> None:
    """All OptOps that its heuristic uses, and none that it has not."""
    found = list(neighbours(kernel(target, dtype), (), target_named(target)))
    text = " ".join(spelled(o) for opts in found for o in opts)
    for kind in kinds:
        assert kind in text, kind
    assert "thread" not in text
    assert "tc" in text or target == "opencl"


def test_instructions_that_round_are_not_searched() -> None:
    """The results of an f32 product would be those of tf32."""
    found = neighbours(kernel("nvidia:sm_90"), (), target_named("nvidia:sm_90"))
    indices = {o.arguments.data[1] for opts in found for o in opts if o.op.data == "TC"}
    assert "2" not in {str(index) for index in indices}


def test_a_schedule_that_repeats_the_work_in_each_workgroup_is_not_timed() -> None:
    """ORDER with the loop of the REDUCE outermost: each of 3072 workgroups would do all."""
    seen: list[str] = []

    def timer(candidate: KernelOp, limit: float) -> float:
        seen.append("; ".join(spelled(o) for o in candidate.sink.opts or ()))
        return 1.0

    nothing: list[Opts] = [()]
    beam_search(
        kernel("opencl"), nothing, timer, 1, lambda: len(seen) < 200, target_named("opencl")
    )
    assert len(seen) > 50
    assert "swap 0, 1" in seen
    assert "order 2, 0, 1" not in seen


def test_a_grid_without_a_device() -> None:
    text = f'module attributes {{tg.target = #tg.target<"amd:gfx942">}} {{{F32}}}'
    module = load_module(text)
    run_stages(module, stages().module)
    with pytest.raises(PassFailedException, match="times schedules for amd:gfx942 on a device"):
        OptimizePass(mode="beam:2").lower(module)
