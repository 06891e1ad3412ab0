"""Programs that store results in arguments which the caller does not need any more."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.executable import Executable

STEP = """
func.func @main(%p: tensor<64x32xf32> {tg.donated = 1 : i64}, %g: tensor<64x32xf32>,
                %q: tensor<64x32xf32> {tg.donated = -1 : i64})
    -> (tensor<64x1xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = tg.mul %g, %g : tensor<64x32xf32>
  %1 = tg.add %p, %0 : tensor<64x32xf32>
  %2 = tg.reduce add %p [1] : tensor<64x32xf32> -> tensor<64x1xf32>
  %3 = tg.add %q, %g : tensor<64x32xf32>
  return %2, %1, %3 : tensor<64x1xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
"""
SHAPE = (64, 32)


def arrays(seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=SHAPE).astype(np.float32) for _ in range(3)]


def expected(p: np.ndarray, g: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    return [p.sum(1, keepdims=True), p + g * g, q + g]


def check(found: object, wanted: list[np.ndarray]) -> None:
    assert isinstance(found, tuple | list)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-4, atol=1e-4)


def step(target: str | None = None) -> Executable:
    executable = tg.compile(STEP, target=target)
    assert isinstance(executable, Executable)
    return executable


def test_results_are_in_the_arrays_of_the_caller():
    executable = step()
    (memory,) = executable.memory()
    assert memory.results == 64 * 4
    p, g, q = arrays()
    for _ in range(4):
        wanted = expected(p, g, q)
        found = executable(p, g, q)
        assert found[1] is p
        assert found[2] is q
        check(found, wanted)


def test_memory_that_cannot_be_overwritten_is_copied():
    executable = step()
    for _ in range(3):
        p, g, q = arrays()
        p.flags.writeable = False
        transposed = np.asfortranarray(q)
        wanted = expected(p, g, q)
        kept = p.copy(), q.copy()
        found = executable(p, g, transposed)
        check(found, wanted)
        check([p, transposed], list(kept))


@pytest.mark.parametrize("which", [(0, 1, 0), (0, 0, 2), (0, 2, 2), (0, 0, 0)])
def test_arguments_that_share_memory(which: tuple[int, int, int]):
    executable = step()
    for _ in range(3):
        given = arrays()
        p, g, q = (given[i] for i in which)
        wanted = expected(p.copy(), g.copy(), q.copy())
        check(executable(p, g, q), wanted)


def test_overlapping_arguments():
    executable = step()
    for _ in range(3):
        memory = np.random.default_rng(0).normal(size=(65, 32)).astype(np.float32)
        p, q = memory[:64], memory[1:]
        _, g, _ = arrays()
        wanted = expected(p.copy(), g, q.copy())
        check(executable(p, g, q), wanted)


def test_memory_for_results_is_still_the_callers():
    executable = step()
    for _ in range(3):
        given = arrays()
        kept = [array.copy() for array in given]
        out = [np.empty((64, 1), np.float32), np.empty(SHAPE, np.float32), given[1]]
        found = executable(*given, out=out)
        assert found[1] is out[1]
        check(found, expected(*kept))
        check([given[0], given[2]], [kept[0], kept[2]])
    with pytest.raises(ValueError, match="out has 2 arrays for 3 results"):
        executable(*arrays(), out=out[:2])
    with pytest.raises(ValueError, match="shape"):
        executable(*arrays(), out=[out[0], out[0], out[2]])


def test_profiles_change_no_argument():
    given = arrays()
    kept = [array.copy() for array in given]
    step().profile(*given, seconds=0.01)
    check(given, kept)


def test_programs_for_other_machines():
    given = arrays()
    wanted = expected(*given)
    module = step().module("rangeify")
    check(run(module, "main", [array.copy() for array in given]), wanted)
    reference = tg.compile(STEP, target="interpreter")
    check(reference(*given), wanted)


@needs_opencl
def test_arrays_on_a_device():
    executable = step(DEVICE)
    given = arrays()
    kept = [array.copy() for array in given]
    check(executable(*given), expected(*kept))
    check(given, kept)
    p, g, q = (DEVICES[DEVICE].array(array) for array in given)
    for _ in range(4):
        wanted = expected(*(array.numpy() for array in (p, g, q)))
        found = executable(p, g, q)
        assert found[1] is p
        assert found[2] is q
        check([array.numpy() for array in found], wanted)
    wanted = expected(*(array.numpy() for array in (p, g, p)))
    check([array.numpy() for array in executable(p, g, p)], wanted)
