"""LLVM generates a first code on a thread while the compiler is imported."""

import ctypes
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime import images, warm_up
from tgdialect.runtime.loader import load
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.threads import pool_ir

SCRIPT = """
import sys, threading
import tgdialect as tg
begin, names = threading.Thread.start, []
def start(thread):
    names.append(thread.name)
    begin(thread)
threading.Thread.start = start
{first}
result = tg.Tensor.arange(3).numpy()
print(*names, *result)
"""
NAME = "tgdialect-warm-up"


def run(cache: Path | str, first: str = "") -> list[str]:
    """The names of threads that a new process starts, and the numbers of its result."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(first=first)],
        env=os.environ | {"TG_CACHE_DIR": str(cache), "TG_COMPILE_PROCESSES": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not found.stderr
    return found.stdout.split()


CORES = """
from tgdialect.runtime import warm_up
warm_up.core_count = lambda: {count}
"""


@pytest.mark.parametrize("count", [1, 2])
def test_a_process_with_several_cores_warms_up(count: int) -> None:
    words = run("", CORES.format(count=count))
    assert words[-3:] == ["0", "1", "2"]
    assert words.count(NAME) == count - 1


def test_a_program_from_the_cache_needs_no_llvm(tmp_path: Path) -> None:
    run(tmp_path)
    assert NAME not in run(tmp_path)


def test_a_process_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that cannot start, and code that LLVM cannot generate, are no error."""
    refusing = """
def start(thread):
    if thread.name == "tgdialect-warm-up":
        raise RuntimeError("can't start new thread")
    begin(thread)
threading.Thread.start = start
"""
    assert run("", CORES.format(count=2) + refusing)[-3:] == ["0", "1", "2"]

    def refused(*_: object, **__: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(CpuTarget, "object_code", refused)
    warm_up._generate_ahead()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_pool_is_made_ahead(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """A parallel program loads the code that was made, and a process of one thread makes none."""
    monkeypatch.setenv("TG_CACHE_DIR", "")
    monkeypatch.setattr(images, "_provided", {})
    monkeypatch.setattr(warm_up, "thread_count", lambda: threads)
    warm_up._generate_ahead()

    def refused(ir: str) -> bytes:
        raise MemoryError

    monkeypatch.setattr(images, "_generated", refused)
    load = partial(images.load_ir, pool_ir(), "pool", {"tg_pool": 0})
    if threads > 1:
        assert load().address("tg_run_pool")
    else:
        with pytest.raises(MemoryError):
            load()


@pytest.mark.parametrize("level", [0, 2])
def test_the_trial_is_a_program_like_others(level: int) -> None:
    """That of a softmax with powers of a polynomial: what LLVM compiles for users."""
    code = load(CpuTarget.host().object_code(native_ir("trial"), opt=level))
    rng = np.random.default_rng(0)
    x, out = rng.random((4, 8), np.float32), np.zeros((4, 8), np.float32)
    index = np.array([3, -1, 2, 64], np.int32)  # Others than those that there are stand for 0.
    frame = np.array([out.ctypes.data, x.ctypes.data, index.ctypes.data])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("frame"))(frame.ctypes.data)
    power = 1.5 * (x - x.max(1, keepdims=True))[[3, 0, 2, 0]].astype(np.float64)
    part = power - np.rint(power)
    exponential = (1 + part * (0.5 + 0.25 * part)) * 2.0 ** np.rint(power)
    expected = exponential / exponential.sum(1, keepdims=True)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
