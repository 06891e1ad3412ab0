"""`Executable.profile`: which kernels are timed, how often they are called, and for which sizes."""

from __future__ import annotations

import numpy as np
import pytest

import tgdialect as tg

A = np.ones((64, 64), np.float32)
MEMORY = 'tensor<f32, #tg.place<"CPU", global>>'
TWICE = f"""
tg.kernel @increment {{
  %x = tg.param 0 : tensor<f32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %old = tg.load %x : tensor<f32, #tg.place<global>> -> tensor<f32>
  %new = tg.add %old, %one : tensor<f32>
  %stored = tg.store %x, %new : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %stored : !tg.void
}}
func.func @main(%a: {MEMORY}, %b: {MEMORY}) {{
  %0 = tg.call @increment(%a) : {MEMORY} -> !tg.void
  %1 = tg.call @increment(%b) : {MEMORY} -> !tg.void
  %2 = tg.sink %0, %1 : !tg.void, !tg.void
  func.return
}}
"""


def test_each_kernel_of_a_program():
    executable = tg.compile(lambda a, b: ((a @ b).softmax(-1), (a * b).sum()), A, A)
    out = [np.zeros((64, 64), np.float32), np.zeros((), np.float32)]
    profile = executable.profile(A, A, out=out, seconds=0.01)
    assert [k.name for k in profile] == [k.name for k in executable.kernels]
    assert [k.opts for k in profile] == [k.opts for k in executable.kernels]
    assert [k.flops for k in profile] == [k.flops for k in executable.kernels]
    assert all(k.calls == 1 and k.seconds > 0 and not k.is_once for k in profile)
    assert sum(k.share for k in profile) == pytest.approx(1)
    assert sum(k.seconds for k in profile) < 2 * profile.seconds
    assert profile[0].gflops == pytest.approx(profile[0].flops / profile[0].seconds / 1e9)
    assert profile.runs >= 3
    np.testing.assert_array_equal(out[0], executable(A, A)[0])
    lines = str(profile).splitlines()
    assert lines[0].split() == ["kernel", "calls", "time", "share", "GFLOP/s", "GB/s", "opts"]
    assert len(lines) == len(profile) + 2


def test_sizes_are_those_of_the_call():
    compiled = tg.compile(lambda a, b: a @ b, tg.spec(("n", 64), n=(1, 4096)), A)
    for size in (4, 52):  # Whole tiles: rows that are done twice count twice.
        (kernel,) = compiled.profile(A[:size], A, seconds=0.01)
        assert kernel.flops == 2 * size * 64 * 64
        assert kernel.bytes == 4 * (2 * size * 64 + 64 * 64)


def test_a_kernel_that_is_called_twice_and_memory_by_reference():
    executable = tg.compile(TWICE)
    a, b = np.zeros((), np.float32), np.zeros((), np.float32)
    (kernel,) = executable.profile(a, b, seconds=0.01)
    assert (kernel.calls, kernel.flops, kernel.bytes) == (2, 2, 8)
    assert (a, b) == (0, 0)


def test_constants_are_packed_once():
    weight = tg.Tensor(np.random.default_rng(0).random((512, 512), np.float32)).realize()

    @tg.function(freeze=True)
    def layer(x: tg.Tensor) -> tg.Tensor:
        return x @ weight

    compiled = layer.lower(tg.spec((64, 512))).compile()
    profile = compiled.profile(np.ones((64, 512), np.float32), seconds=0.01)
    assert [k.is_once for k in profile] == ["prepack" in k.name for k in profile]
    assert all(k.calls == 1 and k.seconds > 0 for k in profile)
    assert [k.share for k in profile if not k.is_once] == [1]
    assert [k.share for k in profile if k.is_once] == [0] * (len(profile) - 1)


def test_state_stays():
    count = tg.Tensor([0.0])

    def step(x: tg.Tensor) -> tg.Tensor:
        return count.assign(count + x)

    compiled = tg.compile(step, tg.spec((1,)))
    compiled.profile(np.ones(1, np.float32), seconds=0.01)
    assert count.item() == 0


def test_arguments_are_checked():
    executable = tg.compile(lambda a: a + 1, A)
    with pytest.raises(ValueError, match="expected 1 inputs"):
        executable.profile()
    with pytest.raises(ValueError, match="a has shape"):
        executable.profile(A[:3])
