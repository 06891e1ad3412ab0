"""`Executable.memory`: what a call takes, and the errors of calls that take too much."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl

import tgdialect as tg
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.footprint import DeviceFootprint

A = np.ones((64, 64), np.float32)
HUGE = 1 << 46
"""More elements than the address space of a process has bytes for."""
DYNAMIC = f"""
func.func @main() -> tensor<?x4xf32> {{
  %n = tg.param 0 "n" min 1 max {HUGE} : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x4xf32>
  %y = tg.neg %x : tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}}
"""

BUFFER = """
#cpu = #tg.place<"CPU">
#memory = #tg.place<"CPU", global>
func.func @main(%x: tensor<1xf32, #cpu>) -> tensor<1xf32, #cpu> {{
  %b = tg.buffer 0 : tensor<{cells}xf32, #memory>
  %v = tg.shrink %b at [0] to [1] : tensor<{cells}xf32, #memory> -> tensor<1xf32, #memory>
  %old = tg.load %v : tensor<1xf32, #memory> -> tensor<1xf32, #cpu>
  %0 = tg.add %x, %old : tensor<1xf32, #cpu>
  func.return %0 : tensor<1xf32, #cpu>
}}
"""


def large(cells: int = HUGE, results: int = 1) -> str:
    values = "".join(
        f"%y{i} = tg.expand %x [{cells}] : tensor<1xf32> -> tensor<{cells}xf32>\n"
        f"%z{i} = tg.{op} %y{i} : tensor<{cells}xf32>\n"
        for i, op in enumerate(("neg", "exp2")[:results])
    )
    names = ", ".join(f"%z{i}" for i in range(results))
    types = ", ".join([f"tensor<{cells}xf32>"] * results)
    return f"""func.func @main(%x: tensor<1xf32>) -> ({types}) {{
      {values}
      func.return {names} : {types}
    }}"""


def compiled(source: object, *specs: object, target: str | None = None) -> Executable:
    executable = tg.compile(source, *specs, target=target)  # pyright: ignore
    assert isinstance(executable, Executable)
    return executable


def test_a_program_of_static_shapes():
    executable = compiled(lambda a, b: ((a @ b).softmax(-1), a.sum()), A, A)
    (cpu,) = memory = executable.memory()
    assert (cpu.device, cpu.arguments, cpu.results) == ("CPU", 2 * A.nbytes, A.nbytes + 4)
    assert cpu.workspace > 0
    assert memory.peak == cpu.peak == cpu.arguments + cpu.results + cpu.workspace
    names, row = str(memory).splitlines()
    assert names.split()[:3] == ["device", "arguments", "results"]
    assert row.split()[:5] == ["CPU", "32", "KiB", "16", "KiB"]


def test_constants_and_buffers():
    weight = tg.Tensor(np.ones((512, 512), np.float32)).realize()

    @tg.function(freeze=True)
    def layer(x: tg.Tensor) -> tg.Tensor:
        return x @ weight

    (cpu,) = layer.lower(tg.spec((64, 512))).compile().memory()
    assert cpu.persistent >= 4 * 512 * 512
    (cpu,) = compiled(BUFFER.format(cells=5)).memory()
    assert (cpu.arguments, cpu.results, cpu.buffers) == (4, 4, 20)


def test_sizes():
    executable = compiled(DYNAMIC)
    given = executable.memory(n=10)
    assert tuple(given) == (DeviceFootprint("CPU", 160, 160),)
    assert str(given).splitlines()[-1] == "n = 10"
    most = executable.memory()
    assert most.peak == 2 * 16 * HUGE
    assert str(most).splitlines()[-1] == f"n <= {HUGE}"
    with pytest.raises(ValueError, match="n is 0, outside"):
        executable.memory(n=0)
    with pytest.raises(TypeError, match="m: no size of the program; it has n"):
        executable.memory(m=1)
    unbounded = compiled(DYNAMIC.replace(f"min 1 max {HUGE} ", ""))
    assert unbounded.memory(n=10).peak == given.peak
    with pytest.raises(ValueError, match="n has no upper bound: give its value"):
        unbounded.memory()


def test_sizes_of_a_function_and_what_is_computed_from_them():
    function = tg.compile(lambda x: x.cat(x).exp(), tg.spec(("n", 3), n=(1, 100)))
    assert isinstance(function, Executable)
    for memory, n in ((function.memory(n=7), 7), (function.memory(), 100)):
        assert (memory[0].arguments, memory[0].results) == (12 * n, 24 * n)
        assert str(memory).splitlines()[-1] == f"n {'=' if n == 7 else '<='} {n}"


@needs_opencl
def test_a_device():
    (device,) = compiled(lambda a, b: a @ b, A, A, target=DEVICE).memory()
    assert (device.device, device.arguments, device.results) == (DEVICE, 2 * A.nbytes, A.nbytes)


def test_several_devices_have_their_parts():
    both = '["CPU:0", "CPU:1"]'
    executable = compiled(
        f"""
        func.func @main() -> tensor<?x1xf32> {{
          %n = tg.param 0 "n" min 1 max 9 : tensor<index>
          %x = tg.param 1 (%n) {{tg.sharding = #tg.place<{both}, axis = 1>}} : tensor<?x8xf32>
          %e = tg.exp2 %x : tensor<?x8xf32>
          %sum = tg.reduce add %e [1] : tensor<?x8xf32> -> tensor<?x1xf32>
          %after = tg.exp2 %sum : tensor<?x1xf32>
          func.return %after : tensor<?x1xf32>
        }}"""
    )
    assert isinstance(executable, ShardedExecutable)
    for memory, n in ((executable.memory(n=4), 4), (executable.memory(), 9)):
        assert [d.device for d in memory] == ["CPU:0", "CPU:1"]
        # Half of the argument; the whole result; the sum of the own part, and that of both.
        assert {(d.arguments, d.results) for d in memory} == {(16 * n, 4 * n)}
        assert {d.workspace for d in memory} == {4 * n}


# -- too much --------------------------------------------------------------------------------------

SHOWN = r"the memory of this call does not fit: {} \({}\); this process gets no block of 256 TiB$"


@pytest.mark.parametrize(
    ("text", "total", "listed"),
    [
        (large(), "256 TiB", "out0 256 TiB, x 4 bytes"),
        (large(results=2), "512 TiB", "out0 256 TiB, out1 256 TiB, x 4 bytes"),
    ],
    ids=["one", "two"],
)
def test_results_that_do_not_fit(text: str, total: str, listed: str):
    executable = compiled(text)
    x = np.ones(1, np.float32)
    for _ in range(3):  # The third call would be by a launcher.
        with pytest.raises(MemoryError, match=SHOWN.format(total, listed)) as error:
            executable(x)
        assert type(error.value) is MemoryError
        assert error.value.__suppress_context__


def test_the_size_is_that_of_the_call():
    executable = compiled(DYNAMIC)
    x = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (HUGE // 4, 4), (0, 0))
    reason = r"does not fit: 512 TiB \(x 256 TiB, out0 256 TiB\); "
    with pytest.raises(MemoryError, match=reason):
        executable(HUGE // 4, x)


def test_a_buffer_that_does_not_fit():
    with pytest.raises(MemoryError, match=r"^this process gets no block of 256 TiB$"):
        compiled(BUFFER.format(cells=HUGE))


def test_a_tensor_that_does_not_fit():
    with pytest.raises(MemoryError, match="this process gets no block of 256 TiB"):
        tg.Tensor.full((HUGE,), 1.5).realize()
