"""The CUDA driver, with a stand-in for NVIDIA's: there need be no GPU."""

from __future__ import annotations

import gc
import importlib
import inspect
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import fake_cuda
import numpy as np
import pytest
from device_programs import PTX, program
from fake_cuda import FakeCuda, doubled

import tgdialect as tg
from tgdialect.runtime.devices import cuda
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.cuda_context import target_for
from tgdialect.runtime.devices.device import Device

pytestmark = pytest.mark.usefixtures("device")

X = np.arange(1000, dtype=np.float32)


IN_PLACE = re.sub(
    r"func.func @main.*",
    """func.func @main(%x: tensor<1000xf32, #tg.place<"CPU", global>>) {
    %b = tg.buffer 0 : tensor<1000xf32, #tg.place<"CPU", global>>
    %0 = tg.linear {
      %1 = tg.call @double_it(%b, %x) : (tensor<1000xf32, #tg.place<"CPU", global>>,
        tensor<1000xf32, #tg.place<"CPU", global>>) -> !tg.void
      %2 = tg.call @double_it(%x, %b) : (tensor<1000xf32, #tg.place<"CPU", global>>,
        tensor<1000xf32, #tg.place<"CPU", global>>) -> !tg.void
    }
    func.return
  }
}""",
    program(PTX),
    flags=re.DOTALL,
)
"""The program that doubles twice, in the memory of its argument."""


def compiled(**how: object) -> tg.Executable:
    return tg.compile(program(PTX, **how), target="CUDA:0", allow_custom=True)


def test_arrays_of_the_host_and_of_the_device(device: Device):
    exe = compiled()
    assert isinstance(exe(X), np.ndarray)
    np.testing.assert_array_equal(exe(X), 4 * X)
    on_device = exe(device.array(X))
    assert isinstance(on_device, DeviceArray)
    np.testing.assert_array_equal(on_device.numpy(), 4 * X)
    out = np.empty_like(X)
    assert exe(on_device, out=out) is out
    np.testing.assert_array_equal(out, 16 * X)
    assert exe(on_device, out=on_device) is on_device
    np.testing.assert_array_equal(on_device.numpy(), 16 * X)


def test_the_same_memory_again_is_one_graph(api: FakeCuda, device: Device):
    exe, x, out = compiled(), device.array(X), device.array(X)
    exe(x, out=out)
    assert api.calls.count("cuLaunchKernel") == 2
    exe(x, out=out)  # Recorded, then launched.
    assert api.calls.count("cuGraphInstantiate") == 1
    api.calls.clear()
    exe(x, out=out)
    assert api.calls.count("cuGraphLaunch") == 1
    assert "cuLaunchKernel" not in api.calls
    np.testing.assert_array_equal(out.numpy(), 4 * X)


def test_copies_while_a_graph_is_recorded(
    api: FakeCuda, device: Device, monkeypatch: pytest.MonkeyPatch
):
    """As another thread makes them: they are no part of the graph, and do not disturb it."""
    exe, x, out = compiled(), device.array(X), device.array(X)
    other, copied = device.array(X + 1), device.array(X)
    exe(x, out=out)
    launch = api.cuLaunchKernel

    def copy_and_launch(*arguments: Any) -> Any:
        device.driver.copy(other.span, copied.span)
        np.testing.assert_array_equal(copied.numpy(), X + 1)
        return launch(*arguments)

    monkeypatch.setattr(api, "cuLaunchKernel", copy_and_launch)
    exe(x, out=out)
    assert api.calls.count("cuGraphInstantiate") == 1
    np.testing.assert_array_equal(out.numpy(), 4 * X)


def test_a_call_that_is_known_is_only_launched(api: FakeCuda, device: Device):
    """With memory for the result and without; others are found out to be others."""
    text = """
    func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %y = tg.add %x, %x : tensor<1000xf32>
      func.return %y : tensor<1000xf32>
    }"""
    exe = tg.compile(text, target="CUDA:0")
    api.kernels["main_0"] = (2, doubled)
    x, out = device.array(X), device.array(X)
    for _ in range(3):
        np.testing.assert_array_equal(exe(x).numpy(), 2 * X)
        np.testing.assert_array_equal(exe(x, out=out).numpy(), 2 * X)
    assert exe._repeats is not None
    prepared = exe._call
    exe._call = None  # type: ignore[assignment]
    assert exe(x, out=out) is out
    np.testing.assert_array_equal(exe(x).numpy(), 2 * X)
    exe._call = prepared
    # In place: an array that is read and written.
    assert exe(out, out=out) is out
    np.testing.assert_array_equal(out.numpy(), 4 * X)
    with pytest.raises(ValueError, match="shape"):
        exe(device.array(X[:10]))
    with pytest.raises(TypeError):
        exe(device.array(X.astype(np.int32)))
    np.testing.assert_array_equal(exe(X), 2 * X)


def test_a_call_with_data_is_only_launched(api: FakeCuda, device: Device):
    """The contents of a BINARY are copied to the device once, and stay there."""
    text = f"""
    func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {{
      %b = tg.binary "{X.tobytes().hex()}" : tensor<4000xui8>
      %f = tg.bitcast %b to f32 : tensor<4000xui8> -> tensor<1000xf32>
      %y = tg.add %f, %f : tensor<1000xf32>
      func.return %y : tensor<1000xf32>
    }}"""
    exe = tg.compile(text, target="CUDA:0")
    api.kernels["main_0"] = (2, doubled)
    x, out = device.array(X + 1), device.array(X)
    np.testing.assert_array_equal(exe(X), 2 * X)
    np.testing.assert_array_equal(exe(x, out=out).numpy(), 2 * X)
    out.assign(X)
    exe._call = None  # type: ignore[assignment]
    assert exe(x, out=out) is out
    np.testing.assert_array_equal(out.numpy(), 2 * X)


@pytest.mark.parametrize(("how", "most"), [("argument", 25), ("captured", 25), ("assigned", 65)])
def test_a_known_call_of_a_function_does_little(how: str, most: int, api: FakeCuda, device: Device):
    """It calls few functions of Python: to prepare a call takes hundreds."""
    x, other = (tg.Tensor(device.array(X)) for _ in range(2))

    def assign(x: tg.Tensor) -> None:
        other.assign(x + other)

    functions = {
        "argument": (lambda x, other: x + other, (x, other)),
        "captured": (lambda x: x + other, (x,)),
        "assigned": (assign, (x,)),
    }
    function, given = functions[how]
    function = tg.function(function)
    api.kernels["main_0"] = (0, lambda: None)
    for _ in range(5):
        function(*given)
    called: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename != fake_cuda.__file__:
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function(*given)
    finally:
        sys.setprofile(None)
    assert len(called) <= most, called


def test_known_calls_keep_no_memory(api: FakeCuda, device: Device):
    exe = compiled()
    for _ in range(3):
        x, out = device.array(X), device.array(X)
        exe(x, out=out)
        exe(x, out=out)
        del x, out
    gc.collect()
    device.driver.pool.clear()
    device.synchronize()
    assert not api.blocks


def _values(text: str) -> int:
    """How many values a function of the bindings returns besides its status, by its docstring."""
    returns = text.partition("Returns\n-------\n")[2].partition("\n\n")[0]
    return len(re.findall(r"^\w+ : ", returns, re.MULTILINE))


def test_the_functions_have_the_arguments_and_results_of_nvidias_bindings(api: FakeCuda):
    """As their docstrings state them: calls need a driver."""
    real = pytest.importorskip("cuda.bindings.driver")
    for name, function in vars(FakeCuda).items():
        if not name.startswith("cu") or name == "cuStreamSynchronize":
            continue
        text = getattr(real, name).__doc__
        head = re.sub(r"\[[^]]*\]", "", text.partition("\n")[0])
        inner = head[head.index("(") + 1 : head.rindex(")")]
        arity = len(inner.split(",")) if inner.strip() else 0
        parameters = inspect.signature(function).parameters.values()
        if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            assert len(parameters) - 1 == arity, name
        assert (name.startswith("cuDeviceGet") or "Get" in name) <= (_values(text) > 0), name


def test_memory_and_modules_are_freed(api: FakeCuda, device: Device):
    exe = compiled()
    for _ in range(100):
        exe(X)
    assert len(api.blocks) <= 3  # The input, the result and the intermediate one.
    assert len(api.modules) == 1
    del exe
    gc.collect()
    device.driver.pool.clear()
    device.synchronize()
    assert not api.blocks
    assert not api.graphs
    assert not api.modules


def test_memory_in_a_cycle_of_garbage_goes_back_to_the_pool(api: FakeCuda, device: Device):
    """It was freed by its weak reference, and then given to the pool: another array got it."""
    cycle: list[object] = [device.array(X)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    again = device.array(X)
    assert api.calls.count("cuMemAlloc") == 1
    assert again.span.block.handle in api.blocks
    np.testing.assert_array_equal(again.numpy(), X)


def test_errors_name_the_kernel(api: FakeCuda):
    with pytest.raises(tg.DeviceError, match=r"@double_it: line 3: bad"):
        tg.compile(program(".target bad"), target="CUDA:0", allow_custom=True)
    with pytest.raises(tg.DeviceError, match=r"workgroups of 1000x1x1 work items; .* 512 at most"):
        compiled(workgroup=1000)
    exe = compiled(groups=70000)
    message = r"cannot run @double_it\(4000 bytes at 0, .*in 70000x1x1 workgroups of 100x1x1"
    with pytest.raises(tg.DeviceError, match=message):
        exe(X)


def test_memory_that_does_not_fit(device: Device):
    exe = compiled()
    taken = device.array(np.zeros(device.limits.memory - 8192, np.uint8))
    with pytest.raises(MemoryError, match=r"does not fit: 11.81 KiB \(.*CUDA:0 has 1 MiB"):
        exe(X)
    del taken
    np.testing.assert_array_equal(exe(X), 4 * X)


def test_dlpack(device: Device):
    x = device.array(X)
    assert x.__dlpack_device__() == (2, 0)
    shared = DeviceArray.from_dlpack(device.driver, x)
    assert shared.span.overlaps(x.span)
    assert shared.shape == (1000,)
    assert shared.dtype == np.float32
    np.testing.assert_array_equal(compiled()(shared).numpy(), 4 * X)
    capsule = x.__dlpack__()
    del x, shared
    gc.collect()
    assert len(device.driver.api.blocks) > 0  # The capsule keeps it.
    del capsule


def test_memory_of_another_library_that_is_not_aligned_is_copied(device: Device):
    """Kernels load and store 16 bytes at once, and a slice of a tensor may begin anywhere."""
    given = device.array(np.zeros(1003, np.float32)).span
    double = compiled()
    for offset in range(0, 16, 4):
        part = DeviceArray(
            device.driver, given._replace(offset=offset, nbytes=4000), (1000,), X.dtype, None
        )
        part.assign(X)
        np.testing.assert_array_equal(double(part).numpy(), 4 * X)
        assert double(X, out=part) is part
        np.testing.assert_array_equal(part.numpy(), 4 * X)
        in_place = tg.compile(IN_PLACE, target="CUDA:0", allow_custom=True)
        part.assign(X)
        in_place(part)
        np.testing.assert_array_equal(part.numpy(), 4 * X)


def test_a_program_on_tensors_is_ptx(device: Device, api: FakeCuda):
    exe = tg.compile("examples/softmax.mlir", target="CUDA:0")
    (kernel,) = exe.kernels
    assert ".target sm_90a" in kernel.asm
    assert ".visible .entry main_0(" in kernel.asm
    assert kernel.source == ""
    launched: list[tuple[int, ...]] = []
    api.kernels["main_0"] = (2, lambda *values: launched.append(values))
    x, out = (device.array(np.zeros((2, 4), np.float32)) for _ in range(2))
    exe(x, out=out)
    device.synchronize()
    assert launched == [(out.span.block.handle, x.span.block.handle)]


def test_a_launch_allocates_local_memory_that_no_kernel_may_declare(api: FakeCuda):
    path = Path(__file__).parents[2] / "filecheck/lowering/render/gpu/dynamic_local.mlir"
    text = path.read_text().replace("12288", "20000")
    exe = tg.compile(text, target="CUDA:0", allow_custom=True)
    ((_, local),) = api.attributes.items()
    assert local == 80000
    api.kernels["k"] = (1, lambda *values: None)
    exe(np.zeros(4, np.float32))
    assert api.local == [local]


def test_profile(device: Device):
    (kernel,) = compiled().profile(X, seconds=0.01)
    assert kernel.name == "double_it"
    assert kernel.calls == 2
    assert kernel.seconds == pytest.approx(1e-3)


def test_targets():
    assert [target_for(8, 0), target_for(8, 9)] == ["nvidia:sm_80"] * 2
    assert [target_for(9, 0), target_for(10, 0)] == ["nvidia:sm_90a", "nvidia:sm_90"]
    with pytest.raises(tg.DeviceError, match=r"7\.5 are too old"):
        target_for(7, 5)


def test_the_functions_are_those_of_nvidias_bindings():
    real = pytest.importorskip("cuda.bindings.driver")
    for name in vars(FakeCuda):
        if name.lower().startswith("cu"):
            assert hasattr(real, name), name
        if name.startswith("nvrtc"):
            assert hasattr(importlib.import_module("cuda.bindings.nvrtc"), name), name
    for kind in (FakeCuda.CUjit_option, FakeCuda.CUjitInputType, FakeCuda.CUstreamCaptureMode):
        for name in vars(kind):
            assert any(
                hasattr(getattr(real, each), name)
                for each in ("CUjit_option", "CUjitInputType", "CUstreamCaptureMode")
            )
    for name in FakeCuda.CUdevice_attribute.__dict__:
        assert hasattr(real.CUdevice_attribute, name)


def test_no_driver(monkeypatch: pytest.MonkeyPatch):
    class Missing:
        def cuInit(self, flags: int) -> None:
            raise RuntimeError("no library")

    assert cuda.device_count(Missing()) == 0
