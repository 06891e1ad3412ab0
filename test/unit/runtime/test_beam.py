"""Schedules that are found by timing kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.diagnostics import CompilationError
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize.optops.apply import parse_opt
from tgdialect.lowering.optimize.search import beam_search
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.call import CallOp, KernelOp
from tgdialect.runtime import beam, optimize
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.executable import Executable
from tgdialect.targets import Target
from tgdialect.targets.cpu import CPU

PROGRAM = """
func.func @main(%a: tensor<24x20xf32>, %b: tensor<24x20xf32>) -> tensor<24x1xf32> {
  %m = tg.mul %a, %b : tensor<24x20xf32>
  %r = tg.reduce add %m [1] : tensor<24x20xf32> -> tensor<24x1xf32>
  func.return %r : tensor<24x1xf32>
}
"""
DYNAMIC = """
func.func @main() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 1 max 64 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  %y = tg.neg %x : tensor<?xf32>
  func.return %y : tensor<?xf32>
}
"""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beam, "_FOUND", {})
    monkeypatch.setenv("TG_BEAM_SECONDS", "2")


def _kernel() -> KernelOp:
    module = load_module(PROGRAM)
    run_stages(module, stages().module)
    return next(op for op in module.ops if isinstance(op, KernelOp))


def _opts(executable: object) -> list[tuple[str, ...]]:
    assert isinstance(executable, Executable)
    return [kernel.opts for kernel in executable.kernels]


def test_the_target_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are compiled for its `tg.target`, not for this machine."""
    targets: set[str] = set()

    def recorded(module: ModuleOp, passes: Iterable[LoweringPass]) -> None:
        targets.add(str(module.attributes["tg.target"]))
        run_stages(module, passes)

    monkeypatch.setattr(optimize, "run_stages", recorded)
    target = '#tg.target<"cpu", features = [], vector_bits = 64, vector_registers = 1>'
    program = f"module attributes {{tg.target = {target}}} {{{PROGRAM}}}"
    a, b = np.random.default_rng(0).standard_normal((2, 24, 20)).astype(np.float32)
    found = tg.compile(program, opt="beam:2")(a, b)
    np.testing.assert_allclose(found, (a * b).sum(1, keepdims=True), rtol=1e-4, atol=1e-5)
    assert targets == {target}


@pytest.mark.parametrize("features", [(), ("sse2",)])
def test_the_processor_that_candidates_are_compiled_for(
    features: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This one with all its features on and off, or one of the features that are asked for."""
    found: list[CpuTarget] = []

    class Bench(optimize.HostBench):
        def __init__(self, call: CallOp, cpu: CpuTarget, target: Target) -> None:
            super().__init__(call, cpu, target)
            found.append(cpu)

    monkeypatch.setattr(optimize, "HostBench", Bench)
    monkeypatch.setenv("TG_BEAM_SECONDS", "0.1")
    module = load_module(PROGRAM)
    run_stages(module, stages().module)
    optimize.search_on_host(module, 1, features, None, None)
    host = CpuTarget.host()
    asked_for = replace(host, cpu="", features="+sse,+sse2")
    assert found == [asked_for if features else host]


def test_computes_the_same() -> None:
    executable = tg.compile(PROGRAM, opt="beam:2")
    a, b = np.random.default_rng(0).standard_normal((2, 24, 20)).astype(np.float32)
    expected = (a.astype(np.float64) * b).sum(1, keepdims=True)
    np.testing.assert_allclose(executable(a, b), expected, rtol=1e-5, atol=1e-5)


def test_finds_what_the_timer_says_is_quickest() -> None:
    """Which takes two steps from where it begins, the first of them a gain."""
    wanted = {"split 0, 8, upcast", "split 1, 4, group_reduce"}

    def timer(candidate: KernelOp, limit: float) -> float:
        there = {beam.spelled(o) for o in candidate.sink.opts or ()}
        return 10.0 - 3 * len(there & wanted) + len(there - wanted)

    best, *_ = beam_search(_kernel(), [()], timer, 2, lambda: True, CPU)
    assert {beam.spelled(o) for o in best.opts} == wanted
    assert best.seconds == 4.0


def test_the_size_of_a_part_is_changed_in_one_step() -> None:
    """Padded where it does not divide the range."""
    sizes: list[tuple[str, ...]] = []

    def timer(candidate: KernelOp, limit: float) -> float:
        sizes.append(tuple(beam.spelled(o) for o in candidate.sink.opts or ()))
        return 1.0

    beam_search(_kernel(), [(parse_opt("split 0, 8, upcast"),)], timer, 1, lambda: True, CPU)
    assert ("split 0, 6, upcast",) in sizes
    assert ("padto 0, 7", "split 0, 7, upcast") in sizes


def test_begins_with_the_heuristic_and_ends_when_it_is_to() -> None:
    start = (parse_opt("split 0, 8, upcast"),)
    seen: list[tuple[str, ...]] = []

    def timer(candidate: KernelOp, limit: float) -> float:
        seen.append(tuple(beam.spelled(o) for o in candidate.sink.opts or ()))
        return math.inf

    assert [t.opts for t in beam_search(_kernel(), [start], timer, 4, lambda: False, CPU)] == [
        start
    ]
    assert seen == [("split 0, 8, upcast",)]


def test_a_search_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For a kernel of whatever name, in this process and, by the store, in later ones."""
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    first = _opts(tg.compile(PROGRAM, opt="beam:1"))

    def search(*_: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(beam, "beam_search", search)
    renamed = PROGRAM.replace("@main", "@other")
    assert _opts(tg.compile(renamed, opt="beam:1", entry="other")) == first
    monkeypatch.setattr(beam, "_FOUND", {})
    assert _opts(tg.compile(PROGRAM.replace("%m", "%n"), opt="beam:1")) == first


def test_the_heuristic_stays_unless_another_one_is_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was quicker by chance is not when both are timed once more."""
    runs = iter([1.0, 0.99] * 5)
    monkeypatch.setattr(beam._Search, "_seconds", lambda *_: 1 / len(str(_[1])))
    monkeypatch.setattr(beam, "_fastest", lambda *_: next(runs))
    assert _opts(tg.compile(PROGRAM, opt="beam:1")) == _opts(tg.compile(PROGRAM))


def test_dynamic_sizes_have_the_heuristic() -> None:
    assert _opts(tg.compile(DYNAMIC, opt="beam:1")) == _opts(tg.compile(DYNAMIC))


@pytest.mark.parametrize("mode", ["beam:", "beam:0", "beam:-1", "beam:x", "beam:2:3"])
def test_a_width_is_a_positive_number(mode: str) -> None:
    with pytest.raises(CompilationError, match="the width of a beam is a positive number"):
        tg.compile(PROGRAM, opt=mode)


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "nan"])
def test_bad_seconds(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    monkeypatch.setenv("TG_BEAM_SECONDS", seconds)
    with pytest.raises(ValueError, match="not a positive number of seconds"):
        tg.compile(PROGRAM, opt="beam:2")
