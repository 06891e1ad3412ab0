"""Numbers that rewrites give: those there are need not be dense."""

from __future__ import annotations

import numpy as np
import pytest

import tgdialect as tg

G, H = "#tg.place<global>", '#tg.place<"CPU", global>'
ROW = f"tensor<8xf32, {G}>"


def scans(slot):
    """Two sums of prefixes in one loop, written as masks; a buffer of some slot is there too."""
    total = """
      %k{n} = tg.range {n} reduce to %c8 : tensor<index>
      %m{n} = tg.cmple %k{n}, %i : (tensor<index>, tensor<index>) -> tensor<i1>
      %p{n} = tg.index %x{n}[%k{n}] : (ROW, tensor<index>) -> tensor<f32, G>
      %v{n} = tg.load %p{n} : tensor<f32, G> -> tensor<f32>
      %w{n} = tg.where %m{n}, %v{n}, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %s{n} = tg.reduce add %w{n} [] over %k{n} : tensor<f32> -> tensor<f32>"""
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : ROW
      %x1 = tg.param 1 : ROW
      %x2 = tg.param 2 : ROW
      %c8 = tg.const 8 : tensor<index>
      %zero = tg.const 0.0 : tensor<f32>
      %i = tg.range 0 loop to %c8 : tensor<index>
      %b = tg.buffer {slot} : REG
      %bi = tg.after %b, %i : (REG, tensor<index>) -> REG
      %pi = tg.index %x1[%i] : (ROW, tensor<index>) -> tensor<f32, G>
      %vi = tg.load %pi : tensor<f32, G> -> tensor<f32>
      %kept = tg.store %bi, %vi : REG, tensor<f32>
      %ba = tg.after %b, %kept : (REG, !tg.void) -> REG
      %again = tg.load %ba : REG -> tensor<f32>
      {total.format(n=1)}{total.format(n=2)}
      %t = tg.mul %s1, %s2 : tensor<f32>
      %u = tg.add %t, %again : tensor<f32>
      %q = tg.index %o[%i] : (ROW, tensor<index>) -> tensor<f32, G>
      %st = tg.store %q, %u : tensor<f32, G>, tensor<f32>
      %e = tg.end %st over %i : !tg.void
      tg.sink %e : !tg.void
    }}
    func.func @main(%o: HOST, %x: HOST, %y: HOST) {{
      %0 = tg.call @k(%o, %x, %y) : HOST, HOST, HOST -> !tg.void
      tg.sink %0 : !tg.void
      func.return
    }}"""
    types = {"REG": "tensor<f32, #tg.place<reg>>", "HOST": f"tensor<8xf32, {H}>", "ROW": ROW}
    for name, type in types.items():
        text = text.replace(name, type)
    return text.replace(", G>", f", {G}>")


@pytest.mark.parametrize("slot", range(4))
def test_two_scans_beside_a_buffer_of_any_slot(slot):
    x, y = np.arange(16, dtype="f4").reshape(2, 8)
    for opt in ("none", "heuristic"):
        out = np.zeros(8, "f4")
        tg.compile(scans(slot), opt=opt)(out, x, y)
        assert np.array_equal(out, np.cumsum(x) * np.cumsum(y) + x)
