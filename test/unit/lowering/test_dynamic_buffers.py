"""BUFFERs of dynamic shape, in functions and in kernels."""

from __future__ import annotations

import numpy as np
import pytest

import tgdialect as tg

G, H, C = "#tg.place<global>", '#tg.place<"CPU", global>', '#tg.place<"CPU">'
BOUNDS = "{tg.min = 0 : index, tg.max = 9 : index}"

RUNNING_SUM = f"""func.func @main(%n: tensor<index> {BOUNDS}, %m: tensor<index> {BOUNDS},
    %x: tensor<?x?xf32> {{tg.dims = array<i64: 0, 1>}}) -> tensor<?x?xf32, {C}> {{
  %e = tg.buffer 4(%n, %m) : tensor<?x?xf32, {H}>
  %y = tg.add %e, %x : (tensor<?x?xf32, {H}>, tensor<?x?xf32>) -> tensor<?x?xf32, {C}>
  %s = tg.store %e, %y : tensor<?x?xf32, {H}>, tensor<?x?xf32, {C}>
  %a = tg.after %e, %s : (tensor<?x?xf32, {H}>, !tg.void) -> tensor<?x?xf32, {H}>
  %l = tg.load %a : tensor<?x?xf32, {H}> -> tensor<?x?xf32, {C}>
  func.return %l : tensor<?x?xf32, {C}>
}}"""

COMPUTED = f"""func.func @main(%n: tensor<index> {BOUNDS}) {{
  %m = tg.add %n, %n : tensor<index>
  %e = tg.buffer 0(%m) : tensor<?xf32, {H}>
  %one = tg.const 1.0 : tensor<f32>
  %z = tg.add %e, %one : (tensor<?xf32, {H}>, tensor<f32>) -> tensor<?xf32, {C}>
  %s = tg.store %e, %z : tensor<?xf32, {H}>, tensor<?xf32, {C}>
  tg.sink %s : !tg.void
  func.return
}}"""


def mirrored(space, bound="min 0 max 9"):
    """The numbers below n, from last to first, through a buffer of the kernel."""
    B, S = f"tensor<?xf32, #tg.place<{space}>>", f"tensor<f32, #tg.place<{space}>>"
    return f"""tg.kernel @k {{
      %o = tg.param 0 : tensor<9xf32, {G}>
      %n = tg.param 1 {bound} : tensor<index>
      %b = tg.buffer 0(%n) : {B}
      %i = tg.range 0 loop to %n : tensor<index>
      %f = tg.cast %i to f32 : tensor<index> -> tensor<f32>
      %p = tg.index %b[%i] : ({B}, tensor<index>) -> {S}
      %s = tg.store %p, %f : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
      %a = tg.after %b, %e : ({B}, !tg.void) -> {B}
      %j = tg.range 1 loop to %n : tensor<index>
      %one = tg.const 1 : tensor<index>
      %last = tg.sub %n, %one : tensor<index>
      %k = tg.sub %last, %j : tensor<index>
      %q = tg.index %a[%k] : ({B}, tensor<index>) -> {S}
      %v = tg.load %q : {S} -> tensor<f32>
      %r = tg.index %o[%j] : (tensor<9xf32, {G}>, tensor<index>) -> tensor<f32, {G}>
      %t = tg.store %r, %v : tensor<f32, {G}>, tensor<f32>
      %d = tg.end %t over %j : !tg.void
      tg.sink %d : !tg.void
    }}
    func.func @main(%o: tensor<9xf32, {H}>, %n: tensor<index> {BOUNDS}) {{
      %0 = tg.call @k(%o, %n) : tensor<9xf32, {H}>, tensor<index> -> !tg.void
      tg.sink %0 : !tg.void
      func.return
    }}"""


@pytest.mark.parametrize("opt", ["none", "heuristic"])
def test_a_buffer_of_two_dynamic_extents_lives_while_they_stay(opt):
    exe = tg.compile(RUNNING_SUM, opt=opt)
    x = np.arange(12, dtype="f4")
    for shape in ((3, 4), (4, 3), (0, 4), (3, 0), (0, 0)):
        part = x[: shape[0] * shape[1]].reshape(shape)
        assert np.array_equal(exe(*shape, part), part)
        assert np.array_equal(exe(*shape, part), 2 * part)
        assert [b.shape for b in exe.buffers.values()] == [shape]
    with pytest.raises(ValueError, match=r"n is -1, outside \[0, 9\]"):
        exe(-1, 4, x[:0].reshape(0, 4))


@pytest.mark.parametrize("space", ["local", "reg"])
def test_a_buffer_of_a_kernel(space):
    for target, opt in (("interpreter", "none"), ("cpu", "none"), ("cpu", "heuristic")):
        exe = tg.compile(mirrored(space), target=target, opt=opt)
        for n in (0, 1, 5, 9):
            out = np.zeros(9, "f4")
            exe(out, n)
            assert out.tolist() == [*range(n)][::-1] + [0] * (9 - n)


def test_extents_that_nothing_bounds_are_refused():
    with pytest.raises(tg.CompilationError, match="4:12: error: no bound is known for the size"):
        tg.compile(mirrored("local", ""), opt="none")


@pytest.mark.parametrize("opt", ["none", "heuristic"])
def test_a_buffer_whose_extent_is_computed(opt):
    exe = tg.compile(COMPUTED, opt=opt)
    for n in (2, 2, 0, 3):
        exe(n)
    (buffer,) = exe.buffers.values()
    assert buffer.tolist() == [1] * 6
