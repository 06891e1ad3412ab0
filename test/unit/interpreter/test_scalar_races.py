"""What the oracle records of the reads and writes of a kernel, to find races."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_text import S, index, mem

from tgdialect.interpreter.scalar import ScalarRaces


@pytest.fixture
def scalar():
    return True


def kernel(inner):
    """16 parallel iterations, each of which reads an element of %x and one of %o 8 times."""
    return f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("16x")}
      %x = tg.param 1 : {mem("16x")}
      %n = tg.const 16 : tensor<index>
      %m = tg.const 8 : tensor<index>
      %i = tg.range 0 global to %n : tensor<index>
      %k = tg.range 1 loop to %m : tensor<index>
      %now = tg.after %o, %k : ({mem("16x")}, tensor<index>) -> {mem("16x")}
      {index("%p", "%now", mem("16x"), "%i")}
      {index("%q", "%x", mem("16x"), "%i")}
      %v = tg.load %p : {S} -> tensor<f32>
      %w = tg.load %q : {S} -> tensor<f32>
      %sum = tg.add %v, %w : tensor<f32>
      {inner}
    }}"""


STORE = f"""%s = tg.store %p, %sum : {S}, tensor<f32>
      %e = tg.end %s over %k, %i : !tg.void
      %sink = tg.sink %e : !tg.void"""


def test_reads_of_memory_that_a_kernel_does_not_write_are_not_recorded(execute, monkeypatch):
    recorded = []
    read = ScalarRaces.read

    def spy(races, memory, bytes, now):
        recorded.append(memory.name)
        read(races, memory, bytes, now)

    monkeypatch.setattr(ScalarRaces, "read", spy)
    o = np.zeros(16, "f4")
    execute(kernel(STORE), o, np.ones(16, "f4"), entry="k")
    assert o.tolist() == [8] * 16
    assert recorded == ["parameter 0"] * 16 * 8


def test_repeated_accesses_of_an_iteration_are_recorded_once(execute, monkeypatch):
    made = []
    begin = ScalarRaces.__init__

    def spy(races, unordered):
        made.append(races)
        begin(races, unordered)

    monkeypatch.setattr(ScalarRaces, "__init__", spy)
    never = f"""%never = tg.cmplt %n, %m : (tensor<index>, tensor<index>) -> tensor<i1>
      %s = tg.store %p, %sum gate %never : {S}, tensor<f32>, tensor<i1>"""
    text = kernel(STORE.replace(STORE.splitlines()[0], never))
    execute(text, np.zeros(16, "f4"), np.ones(16, "f4"), entry="k")
    (races,) = made
    assert sum(map(len, races._readers.values())) == 16 * 4
