"""Calls that pass arrays alone: sizes are read off these, and extents of results are computed."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl
from random_seeds import batches
from random_sizes import program

import tgdialect as tg
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.executable import MOST_SIZES, Executable

BOUNDS = "tg.min = 1 : index, tg.max = 64 : index"
HALVES = f"""
func.func @main(%n: tensor<index> {{{BOUNDS}}},
                %x: tensor<?xf32> {{tg.dims = array<i64: 0>}}) -> tensor<?xf32> {{
  %two = tg.const 2 : tensor<index>
  %half = tg.idiv %n, %two : tensor<index>
  %0 = tg.shrink %x at [0] to [%half] : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}}
"""
SUM = f"""
func.func @main(%n: tensor<index> {{{BOUNDS}}},
                %x: tensor<?x4xf32> {{tg.dims = array<i64: 0>}},
                %y: tensor<?xf32> {{tg.dims = array<i64: 0>}}) -> tensor<?x4xf32> {{
  %0 = tg.reshape %y [%n, 1] : tensor<?xf32> -> tensor<?x1xf32>
  %1 = tg.add %x, %0 : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}}
"""
PARTS = """
func.func @main(%n: tensor<index>, %k: tensor<index>,
                %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = tg.shrink %x at [0] to [%k] : tensor<?xf32> -> tensor<?xf32> // HERE
  return %0 : tensor<?xf32>
}
"""
DOUBLED = """
func.func @main() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 0 max 64 : tensor<index>
  %two = tg.const 2 : tensor<index>
  %more = tg.mul %n, %two : tensor<index>
  %x = tg.param 1 (%more) : tensor<?xf32>
  %y = tg.param 2 (%n) : tensor<?xf32>
  %0 = tg.pad %y at [%n] to [%more] fill 0.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  %1 = tg.add %x, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
"""
X = np.arange(1, 65, dtype=np.float32)


def compiled(text: str, **how: str) -> Executable:
    found = tg.compile(text, **how)
    assert isinstance(found, Executable)
    return found


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SIZES", 200), ids=str)
def test_random_programs(seeds: range):
    for seed in seeds:
        made = program(seed)
        executable = compiled(made.text)
        interpreted = tg.compile(made.text, target="interpreter")
        random = np.random.default_rng(seed)
        for n, m in ((3, 5), (3, 5), (8, 2), (0, 4), (1, 0), (3, 5)):
            x = random.standard_normal((n, m)).astype(np.float32)
            y = random.standard_normal(m).astype(np.float32)
            expected = made.compute(x, y)
            for found in (executable(x, y), executable(n, x, y, m), interpreted(x, y)):
                results = found if isinstance(found, tuple) else (found,)
                for result, wanted in zip(results, expected, strict=True):
                    assert result.shape == wanted.shape, (seed, n, m)
                    assert np.array_equal(result, wanted), (seed, n, m)


@pytest.mark.parametrize("text", [HALVES, SUM, PARTS, DOUBLED])
@pytest.mark.parametrize("level", ["callify", "rangeify", "plan", "render"])
def test_modules_at_other_levels_take_arrays_alone(text: str, level: str):
    executable = compiled(text)
    lowered = tg.compile(executable.module(level), allow_custom=True)
    x = np.ones((6, 4), np.float32)
    given = {HALVES: (X[:6],), SUM: (x, X[:6]), PARTS: (4, X[:6]), DOUBLED: (X[:12], X[:6])}[text]
    assert np.array_equal(lowered(*given), executable(*given))


def test_arrays_that_do_not_fit_are_one_error():
    x, y = np.ones((3, 4), np.float32), np.ones(3, np.float32)
    for _ in range(2):  # Also after calls by the launcher.
        executable = compiled(SUM)
        for arrays, message in (
            ((x[0], y), r"^x has shape \(4,\), expected \(n, 4\)$"),
            ((x[:, :2], y), r"^x has shape \(3, 2\), expected \(n, 4\) where n = 3$"),
            ((x, y[:2]), r"^y has shape \(2,\), expected \(n,\) where n = 3$"),
            ((3, x, y[:2]), r"^y has shape \(2,\), expected \(n,\) where n = 3$"),
            ((4, x, y), r"^x has shape \(3, 4\), expected \(n, 4\) where n = 4$"),
            ((x[:0], y), r"^n is 0, outside \[1, 64\], and is axis 0 of x$"),
            ((0, x[:0], y[:0]), r"^n is 0, outside \[1, 64\]$"),
            ((x,), r"^expected 2 inputs \(x, y\), or 3 inputs \(n, x, y\), got 1$"),
        ):
            with pytest.raises(ValueError, match=message):
                executable(*arrays)
        assert np.array_equal(executable(x, y), x + 1)
    with pytest.raises(TypeError, match="x is float32, got float64"):
        executable(x.astype(np.float64), y)


def test_a_size_that_is_computed_is_shown_as_such():
    executable = compiled(DOUBLED)
    with pytest.raises(ValueError, match=r"x has shape \(5,\), expected \(2 \* n,\) where n = 3"):
        executable(X[:5], X[:3])
    assert np.array_equal(executable(X[:2], X[2:3]), [1, 5])
    assert [p.name for p in executable.inputs] == ["n", "x", "y"]


@pytest.mark.parametrize("target", [None, "interpreter"])
def test_a_size_is_read_off_a_multiple_of_it(target: str | None):
    n = tg.Variable("n", 0, 20).bind(3)
    executable = tg.compile(lambda x: x.reshape((2, -1)), tg.Tensor(X)[: n * 2], target=target)
    for size in (0, 2, 6):
        assert np.array_equal(executable(X[:size]), X[:size].reshape(2, size // 2))
    for size in (1, 5):
        with pytest.raises((ValueError, tg.CompilationError), match=rf"shape \({size - 1},|n = "):
            executable(X[:size])


def test_scalars_that_are_no_extents_are_passed():
    executable = compiled(PARTS)
    for k in (2, 3, 3, 0):
        assert np.array_equal(executable(k, X), X[:k])
        assert np.array_equal(executable(64, k, X), X[:k])
    for _ in range(2):
        with pytest.raises(tg.CompilationError, match="4:8"):
            executable(65, X)


def test_results_in_memory_of_the_caller():
    executable = compiled(HALVES)
    out = np.zeros(4, np.float32)
    for _ in range(3):
        assert executable(X[:8], out=out) is out
        assert np.array_equal(out, X[:4])
    overlapping = np.arange(8, dtype=np.float32)
    executable(overlapping, out=overlapping[2:6])
    assert overlapping.tolist() == [0, 1, 0, 1, 2, 3, 6, 7]
    with pytest.raises(ValueError, match=r"out0 has shape \(3,\), expected \(4,\)"):
        executable(X[:8], out=out[:3])


def test_arrays_of_every_layout():
    executable, x = compiled(SUM), np.arange(24, dtype=np.float32).reshape(4, 6)
    for _ in range(3):
        found = executable(x.T, np.zeros(6, np.float32))
        assert np.array_equal(found, x.T)
        assert np.array_equal(executable(x[:, ::-1].T, X[:6]), x[:, ::-1].T + X[:6, None])


def test_more_sizes_than_are_kept():
    executable = compiled(HALVES.replace("tg.max = 64", f"tg.max = {3 * MOST_SIZES}"))
    x = np.arange(3 * MOST_SIZES, dtype=np.float32)
    for n in [*range(1, 3 * MOST_SIZES), *range(1, 9)]:
        assert np.array_equal(executable(x[:n]), x[: n // 2])


def test_threads_with_sizes_of_their_own():
    executable, wrong = compiled(SUM), list[int]()

    def run(n: int) -> None:
        x, y = np.full((n, 4), n, np.float32), X[:n]
        for _ in range(200):
            if not np.array_equal(executable(x, y), x + y[:, None]):
                wrong.append(n)

    threads = [threading.Thread(target=run, args=[n]) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_memory_of_computed_sizes():
    executable = compiled(HALVES)
    known, most = executable.memory(n=10), executable.memory()
    assert (known[0].arguments, known[0].results) == (40, 20)
    assert (most[0].arguments, most[0].results) == (256, 128)
    assert [str(each).splitlines()[-1] for each in (known, most)] == ["n = 10", "n <= 64"]
    with pytest.raises(TypeError, match="half: no size of the program; it has n"):
        executable.memory(half=5)


def test_a_program_of_a_file(tmp_path: Path):
    from tgdialect.runtime.ahead import compile_ahead

    for text in (HALVES, DOUBLED):
        (tmp_path / "program.tgx").write_bytes(compile_ahead(load_module(text)).to_bytes())
        loaded, given = tg.load(tmp_path / "program.tgx"), (X[:6], X[:3])[: 1 + (text == DOUBLED)]
        assert np.array_equal(loaded(*given), compiled(text)(*given))


def test_profiles_take_arrays_alone():
    profile = compiled(SUM).profile(np.ones((5, 4), np.float32), X[:5], seconds=0.01)
    assert profile.runs > 0


@needs_opencl
@pytest.mark.parametrize("text", [HALVES, SUM, PARTS, DOUBLED])
def test_programs_of_a_device(text: str):
    executable, host = compiled(text, target=DEVICE), compiled(text)
    x = np.ones((6, 4), np.float32)
    given = {HALVES: (X[:6],), SUM: (x, X[:6]), PARTS: (4, X[:6]), DOUBLED: (X[:12], X[:6])}[text]
    assert np.array_equal(executable(*given), host(*given))
    if text == SUM:
        with pytest.raises(ValueError, match=r"y has shape \(2,\), expected \(n,\) where n = 6"):
            executable(x, X[:2])


def test_functions_of_python_with_sizes_are_executables():
    function = tg.compile(lambda x, y: x[::2] @ y, tg.spec(("n", 4)), tg.spec((4, "m")))
    assert isinstance(function, Executable)
    for n, m in ((5, 2), (6, 3), (5, 2), (1, 1)):
        x, y = np.ones((n, 4), np.float32), np.ones((4, m), np.float32)
        assert np.array_equal(function(x, y), x[::2] @ y)
    with pytest.raises(ValueError, match=r"y has shape \(3, 2\), expected \(4, m\) where m = 2"):
        function(np.ones((5, 4), np.float32), np.ones((3, 2), np.float32))
