"""Kernels that are lowered in children of `fork`."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.diagnostics import CompilationError
from tgdialect.runtime import processes
from tgdialect.runtime.compiler import load_module, prepared
from tgdialect.runtime.processes import process_count, spread
from tgdialect.runtime.speed import at_full_speed

R = TypeVar("R")

needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="other systems compile in one")


def results(count: int, work: Callable[[int], R], most: int = 3) -> list[tuple[int, R | None]]:
    return list(spread(range(count), work, most))


def shared(
    count: int, work: Callable[[int], R], most: int, note: Path
) -> list[tuple[int, R | None]]:
    """The same, where the caller waits until a child has done something: a child that starts late
    might find nothing left to do."""

    def noted(n: int) -> R:
        result = work(n)
        note.touch()
        return result

    found: list[tuple[int, R | None]] = []
    for n, made in spread(range(count), noted, most):
        found.append((n, made))
        while made is None and not note.exists():
            time.sleep(0.01)
    return found


@needs_fork
@pytest.mark.parametrize("count", [0, 1, 2, 5, 40])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_gives_each_item_once(count: int, most: int, tmp_path: Path) -> None:
    note = tmp_path / "note"
    if is_alone := most == 1 or count <= 4:
        note.touch()
    found = shared(count, lambda n: (n, os.getpid()), most, note)
    assert sorted(n for n, _ in found) == list(range(count))
    elsewhere = [made for _, made in found if made is not None]
    assert bool(elsewhere) != is_alone
    assert all(made is None or (made[0] == n and made[1] != os.getpid()) for n, made in found)


@needs_fork
def test_does_here_what_fails_there(tmp_path: Path) -> None:
    def work(n: int) -> int:
        if n == 3:
            raise ValueError("of a child")
        if n == 9:
            os.kill(os.getpid(), signal.SIGKILL)
        return n

    found = dict(shared(12, work, 3, tmp_path / "note"))
    assert sorted(found) == list(range(12))
    assert found[3] is None
    assert found[9] is None
    assert any(made is not None for made in found.values())


@needs_fork
def test_does_here_what_a_pipe_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def partly(file: int, what: bytes) -> int:
        return write(file, what[: 8 * 4])

    monkeypatch.setattr(os, "write", partly)
    assert sorted(n for n, _ in results(12, lambda n: n, 2)) == list(range(12))


@needs_fork
def test_a_child_looks_for_no_garbage_of_its_parent() -> None:
    before = gc.get_freeze_count()
    with at_full_speed():
        made = [[n] for n in range(1000)]
        counts = [count for _, count in results(9, lambda _: gc.get_freeze_count()) if count]
    # Of what other tests have frozen, a few objects may go meanwhile.
    assert all(count > before + len(made) // 2 for count in counts)
    assert gc.get_freeze_count() <= before


def test_without_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses() -> int:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuses)
    assert results(9, lambda n: n) == [(n, None) for n in range(9)]


@needs_fork
def test_stops_the_children_when_it_is_left(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def work(n: int) -> None:
        note.write_text(str(os.getpid()))
        signal.pause()

    given = spread(range(20), work, 2)
    assert next(given)[1] is None
    while not note.exists() or not note.read_text():
        time.sleep(0.01)
    given.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@needs_fork
def test_gives_up_on_a_child_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PATIENCE", 0.05)
    parent = os.getpid()

    def work(n: int) -> int:
        if n == 2 and os.getpid() != parent:
            signal.pause()
        return n

    assert dict(results(9, work, 2))[2] is None


def test_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TG_COMPILE_PROCESSES", "3")
    assert process_count() == 3
    monkeypatch.setenv("TG_COMPILE_PROCESSES", "many")
    with pytest.raises(ValueError, match="is 'many', not a whole number from 1"):
        process_count()


def layers(x: tg.Tensor, *weights: tg.Tensor) -> tg.Tensor:
    """Programs of many kernels, some of which write over what they read."""
    for i, w in enumerate(weights):
        x = ((x @ w).relu() + float(i)).softmax(-1) if i % 3 else (x @ w).cumsum(0) * 0.5
    return x


@pytest.mark.sampled(3)
@needs_fork
@pytest.mark.parametrize("seed", range(3))
def test_the_program_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    sizes = [random.choice([17, 24, 40]) for _ in range(8)]
    shapes = [(9, sizes[0]), *pairwise(sizes)]
    lowered = tg.function(layers).lower(*(tg.spec(s, "f32") for s in shapes))
    module = load_module(lowered.as_text())
    programs: list[bytes] = []
    for count in ("1", "3"):
        monkeypatch.setenv("TG_COMPILE_PROCESSES", count)
        programs.append(prepared(module).program().to_bytes())
    assert programs[0] == programs[1]
    generator = np.random.default_rng(seed)
    given = [generator.standard_normal(s).astype(np.float32) for s in shapes]
    found = tg.compile(module)(*given)
    expected = tg.compile(module, target="interpreter")(*given)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


@needs_fork
def test_errors_are_those_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What LLVM cannot link or generate is reported with its place, not as a child's failure."""
    monkeypatch.setenv("TG_COMPILE_PROCESSES", "2")
    from tgdialect.backends.llvm_cpu import CpuTarget

    def refuses(self: CpuTarget, ir: str, **_: int) -> bytes:
        raise MemoryError("LLVM may need 99 MiB, which this process cannot get")

    monkeypatch.setattr(CpuTarget, "object_code", refuses)
    lowered = tg.function(layers).lower(*(tg.spec((16, 16), "f32") for _ in range(9)))
    with pytest.raises((MemoryError, CompilationError), match="99 MiB"):
        tg.compile(load_module(lowered.as_text()))


@needs_fork
def test_a_child_that_libraries_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """As LLVM does: handlers of `exit` are not called, which may wait for threads that a child does
    not have."""
    monkeypatch.setattr(processes, "_PATIENCE", 20.0)
    libc = ctypes.CDLL(None)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(60))

    def work(n: int) -> None:
        libc.exit(1)

    if (child := os.fork()) == 0:  # Whose handlers are its own.
        libc.__cxa_atexit(handler, None, None)
        start = time.monotonic()
        for _ in spread(range(40), work, 3):
            time.sleep(0.01)
        os._exit(time.monotonic() - start > 10)
    assert os.waitpid(child, 0)[1] == 0
