"""What stays in a process of the programs that it has compiled and dropped."""

from __future__ import annotations

import functools
import gc
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation, SSAValue

import tgdialect as tg
from tgdialect.frontend import graph, realization

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc says what memory a process has")


def run_program(extent: int) -> None:
    """Compile a program of its own for each extent, call it, and drop it."""
    exe: Any = tg.compile(
        f"""
        func.func @main(%x: tensor<{extent}x3xf32>) -> tensor<{extent}xf32> {{
          %0 = tg.reduce add %x [1] : tensor<{extent}x3xf32> -> tensor<{extent}x1xf32>
          %1 = tg.reshape %0 [{extent}] : tensor<{extent}x1xf32> -> tensor<{extent}xf32>
          %2 = tg.add %1, %1 : tensor<{extent}xf32>
          func.return %2 : tensor<{extent}xf32>
        }}
        """
    )
    x = np.ones((extent, 3), np.float32)
    for _ in range(3):  # The third call is by a launcher.
        assert (exe(x) == 6).all()


def unbounded_caches() -> Counter[str]:
    """The sizes of the caches of this package that nothing bounds."""
    return Counter(
        {
            f"{cached.__module__}.{cached.__qualname__}": cached.cache_info().currsize
            for cached in gc.get_objects()
            if isinstance(cached, functools._lru_cache_wrapper)
            and cached.__module__.startswith("tgdialect")
            and cached.cache_info().maxsize is None
        }
    )


def ir_objects() -> int:
    gc.collect()
    return sum(isinstance(o, Operation | SSAValue) for o in gc.get_objects())


def mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


@linux
def test_programs_that_are_dropped_are_gone():
    for extent in range(201, 217):
        run_program(extent)
    caches, objects, maps = unbounded_caches(), ir_objects(), mappings()
    for extent in range(301, 317):
        run_program(extent)
    assert unbounded_caches() == caches
    assert ir_objects() <= objects
    assert mappings() <= maps + 5  # Of `malloc`.


@linux
def test_llvm_frees_what_it_made():
    """44 KiB of each compilation stayed when passes were not freed. In a process of its own, in
    which no other test's memory comes and goes."""
    program = """if True:
        from pathlib import Path
        from tgdialect.backends.llvm_cpu import CpuTarget

        target = CpuTarget.host()
        for step in range(3):
            for i in range(100):
                target.object_code(f"define i32 @f{step}.{i}() {{ ret i32 {i} }}")
            statistics = Path("/proc/self/status").read_text()
            print(statistics.split("VmRSS:")[1].split()[0])
    """
    result = subprocess.run(
        [sys.executable, "-c", program], text=True, capture_output=True, check=True
    )
    _, before, after = map(int, result.stdout.split())
    assert after - before < 1000


def test_the_front_end_keeps_the_last_programs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(realization, "_executables", {})
    monkeypatch.setattr(realization, "_MAX_EXECUTABLES", 2)
    for extent in (3, 4, 5, 3):
        np.testing.assert_array_equal((-tg.Tensor(np.ones(extent))).numpy(), -np.ones(extent))
        assert len(realization._executables) <= 2


def test_the_front_end_keeps_as_many_prototypes_as_it_may(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph, "_by_call", {})
    monkeypatch.setattr(graph, "_by_content", {})
    monkeypatch.setattr(graph, "_MAX_PROTOTYPES", 4)
    x = tg.Tensor(np.arange(6.0))
    for _ in range(2):
        np.testing.assert_array_equal((x * x + x).reshape(2, 3).sum(1).numpy(), [8, 62])
        assert len(graph._by_call) <= 8
