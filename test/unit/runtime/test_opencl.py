"""Programs on a device, which in CI is PoCL (`opencl_device.py`), against the interpreter."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_programs import SOURCE, program
from opencl_device import DEVICE, KIND, needs_opencl, takes_opencl_c

import tgdialect as tg
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.executable import DeviceExecutable
from tgdialect.runtime.devices.program import DeviceProgram

pytestmark = needs_opencl

EXAMPLES = Path(__file__).parents[3] / "examples"
SHORT = DEVICE.lower().removesuffix(":0")
X = np.arange(1000, dtype=np.float32)
RNG = np.random.default_rng(0)

DYNAMIC = """
func.func @main() -> (tensor<?x3xf32>, tensor<3xf32>) {
  %n = tg.param 0 "n" min 0 max 500 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x3xf32>
  %y = tg.mul %x, %x : tensor<?x3xf32>
  %s = tg.reduce add %x [0] : tensor<?x3xf32> -> tensor<1x3xf32>
  %t = tg.reshape %s [3] : tensor<1x3xf32> -> tensor<3xf32>
  func.return %y, %t : tensor<?x3xf32>, tensor<3xf32>
}
"""
IN_PLACE = """
func.func @main(%a: tensor<64xf32, #tg.place<"CPU", global>>, %b: tensor<64xf32>) {
  %0 = tg.add %a, %b : (tensor<64xf32, #tg.place<"CPU", global>>, tensor<64xf32>)
    -> tensor<64xf32, #tg.place<"CPU">>
  %1 = tg.store %a, %0 : tensor<64xf32, #tg.place<"CPU", global>>, tensor<64xf32, #tg.place<"CPU">>
  %2 = tg.sink %1 : !tg.void
  func.return
}
"""
SOFTMAX = """
func.func @main(%a: tensor<{whole}xf32>) -> tensor<{whole}xf32> {{
  %m = tg.reduce max %a [1] : tensor<{whole}xf32> -> tensor<{row}xf32>
  %s = tg.sub %a, %m : (tensor<{whole}xf32>, tensor<{row}xf32>) -> tensor<{whole}xf32>
  %e = tg.exp2 %s : tensor<{whole}xf32>
  %t = tg.reduce add %e [1] : tensor<{whole}xf32> -> tensor<{row}xf32>
  %d = tg.div %e, %t : (tensor<{whole}xf32>, tensor<{row}xf32>) -> tensor<{whole}xf32>
  func.return %d : tensor<{whole}xf32>
}}
"""
CONSTANT = """
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x8xf32> {tg.constant}) -> tensor<8x8xf32> {
  %e = tg.exp2 %w : tensor<16x8xf32>
  %c = tg.contiguous %e : tensor<16x8xf32>
  %a = tg.reshape %x [8, 16, 1] : tensor<8x16xf32> -> tensor<8x16x1xf32>
  %b = tg.reshape %c [1, 16, 8] : tensor<16x8xf32> -> tensor<1x16x8xf32>
  %p = tg.mul %a, %b : (tensor<8x16x1xf32>, tensor<1x16x8xf32>) -> tensor<8x16x8xf32>
  %s = tg.reduce add %p [1] : tensor<8x16x8xf32> -> tensor<8x1x8xf32>
  %r = tg.reshape %s [8, 8] : tensor<8x1x8xf32> -> tensor<8x8xf32>
  func.return %r : tensor<8x8xf32>
}
"""


def compiled(source: object, **how: object) -> DeviceExecutable:
    exe = tg.compile(source, target=DEVICE, **how)
    assert isinstance(exe, DeviceExecutable)
    return exe


@pytest.fixture(scope="module")
def twice() -> DeviceExecutable:
    return compiled(program(), allow_custom=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gemm", "softmax", "layernorm", "gather"])
def test_examples(name: str):
    path = EXAMPLES / f"{name}.mlir"
    exe = compiled(path)
    inputs = [
        RNG.integers(0, 3, p.shape_for(())).astype(p.dtype)
        if p.dtype.kind in "iu"
        else RNG.standard_normal(p.shape_for(())).astype(p.dtype)
        for p in exe.inputs
    ]
    expected = tg.compile(path, target="interpreter")(*inputs)
    np.testing.assert_allclose(exe(*inputs), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("rows", "columns"), [(2, 31), (33, 33), (64, 64), (31, 257), (5, 1000), (3, 1023), (2, 5000)]
)
def test_rows_that_do_not_fill_workgroups(rows: int, columns: int):
    exe = compiled(SOFTMAX.format(whole=f"{rows}x{columns}", row=f"{rows}x1"))
    x = RNG.standard_normal((rows, columns)).astype(np.float32)
    wide = np.exp2(x.astype(np.float64) - x.max(1, keepdims=True))
    expected = wide / wide.sum(1, keepdims=True)
    np.testing.assert_allclose(exe(x), expected, rtol=1e-5)


def test_dynamic_sizes_and_several_outputs():
    exe = compiled(DYNAMIC)
    for n in (5, 300, 0):
        x = RNG.standard_normal((n, 3)).astype(np.float32)
        y, s = exe(n, x)
        np.testing.assert_allclose(y, x * x, rtol=1e-6)
        np.testing.assert_allclose(s, x.sum(0), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="shape"):
        exe(4, np.zeros((5, 3), np.float32))
    with pytest.raises(ValueError, match="outside"):
        exe(501, np.zeros((501, 3), np.float32))


def test_in_place():
    exe, device = compiled(IN_PLACE), tg.Device[DEVICE]
    a, b = np.ones(64, np.float32), np.arange(64, dtype=np.float32)
    exe(a, b)
    np.testing.assert_array_equal(a, 1 + b)
    on_device = device.array(b)
    exe(on_device, on_device)  # The input is read as it is before the call.
    np.testing.assert_array_equal(on_device.numpy(), 2 * b)


def test_constants_are_prepared_once(monkeypatch: pytest.MonkeyPatch):
    exe = compiled(CONSTANT)
    assert exe._program.once == 1
    x, w = RNG.standard_normal((8, 16)), RNG.standard_normal((16, 8))
    x, w = x.astype(np.float32), w.astype(np.float32)
    submitted: list[int] = []
    submit = exe._loaded.submit
    monkeypatch.setattr(exe._loaded, "submit", lambda c: submitted.append(len(c)) or submit(c))
    for weights in (w, w, w + 1):
        np.testing.assert_allclose(exe(x, weights), x @ np.exp2(weights), rtol=1e-4, atol=1e-4)
    assert submitted == [1, 1, 1, 1, 1]


def test_where_arrays_are(twice: DeviceExecutable):
    device = tg.Device[SHORT]
    assert device is tg.Device[DEVICE]
    np.testing.assert_array_equal(twice(X), 4 * X)
    y = twice(device.array(X))
    assert isinstance(y, DeviceArray)
    assert y.device == DEVICE
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    out = np.empty((1000, 2), np.float32)[:, 0]
    assert twice(X, out=out) is out
    np.testing.assert_array_equal(out, 4 * X)
    assert twice(y, out=y) is y
    np.testing.assert_array_equal(y.numpy(), 16 * X)
    with pytest.raises(TypeError, match=r"x is float32, got int32"):
        twice(device.array(X.astype(np.int32)))
    with pytest.raises(ValueError, match=r"shape \(10,\), expected \(1000,\)"):
        twice(device.array(X[:10]))


def shared_by(array: DeviceArray) -> object:
    """A capsule for a consumer that asks for this device."""
    return array.__dlpack__(dl_device=array.__dlpack_device__())


def test_dlpack():
    x = tg.Device[DEVICE].array(X)
    shared = DeviceArray.from_dlpack(x.driver, x)
    assert shared.span.overlaps(x.span)
    del x
    gc.collect()
    np.testing.assert_array_equal(shared.numpy(), X)
    with pytest.raises(TypeError, match="complex64"):
        shared_by(tg.Device[DEVICE].array(X.astype(np.complex64)))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 3), (0, 3), (1, 3, 1)])
def test_lifetimes_of_dlpack_capsules(shape: tuple[int, ...]):
    """A capsule keeps its array alive until it is consumed or destroyed, whatever happens."""
    device, values = tg.Device[DEVICE], RNG.standard_normal(shape)
    for consume in (
        lambda capsule: None,
        lambda capsule: capsule,
        _refused,
        lambda capsule: DeviceArray.from_dlpack(device.driver, _Wrapped(capsule)),
    ):
        array = device.array(values)
        alive = weakref.ref(array)
        capsule = shared_by(array)
        del array
        gc.collect()
        assert alive() is not None
        consumer, capsule = consume(capsule), None
        gc.collect()
        device.synchronize()
        assert (alive() is not None) == (consumer is not None)
        if isinstance(consumer, DeviceArray):
            np.testing.assert_array_equal(consumer.numpy(), values)
        consumer = None
        gc.collect()
        device.synchronize()
        assert alive() is None


def _refused(capsule: object) -> None:
    with pytest.raises((RuntimeError, BufferError), match="nsupported device"):
        np.from_dlpack(_Wrapped(capsule))


class _Wrapped:
    """What has a capsule, for consumers."""

    def __init__(self, capsule: object) -> None:
        self._capsules = [capsule]

    def __dlpack__(self, **_: object) -> object:
        return self._capsules.pop()

    def __dlpack_device__(self) -> tuple[int, int]:
        return tg.Device[DEVICE].driver.dlpack_device


@takes_opencl_c
def test_libraries_without_opencl_get_no_handles_of_it():
    """PyTorch fails an assertion of its own over one."""
    torch = pytest.importorskip("torch")
    x = tg.Device[DEVICE].array(X)
    for value in (x, tg.Tensor(x) * 2):
        for take in (torch.from_dlpack, np.from_dlpack):
            with pytest.raises(BufferError, match=r"CL:0, .* numpy\(\), .*dl_device=\(4, 0\)"):
                take(value)
        with pytest.raises(BufferError, match="most libraries cannot use"):
            torch.from_dlpack(value, copy=True)


@takes_opencl_c
def test_memory_of_another_library_is_kept_until_kernels_have_run(twice: DeviceExecutable):
    """The queue waits for an event of the user's, so that kernels have not run for sure."""
    cl = pytest.importorskip("pyopencl")
    device = tg.Device[DEVICE]
    array = device.array(X)
    wrapped = _Wrapped(shared_by(array))
    alive = weakref.ref(array)
    del array
    driver: Any = device.driver
    event = cl.UserEvent(driver.context)
    cl.enqueue_barrier(driver.queue, wait_for=[event])
    y = twice(wrapped)
    gc.collect()
    for _ in range(3):
        driver.settle()
        assert alive() is not None
    event.set_status(cl.command_execution_status.COMPLETE)
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    device.synchronize()
    assert alive() is None


@takes_opencl_c
def test_failures_of_queued_commands_are_errors_of_the_device(monkeypatch: pytest.MonkeyPatch):
    cl = pytest.importorskip("pyopencl")
    driver: Any = tg.Device[DEVICE].driver
    x = tg.Device[DEVICE].array(X)

    class Failed:
        def __getattr__(self, name: str) -> object:
            raise cl.RuntimeError("clFinish failed: OUT_OF_RESOURCES")

    monkeypatch.setattr(driver, "queue", Failed())
    with pytest.raises(tg.DeviceError, match="OUT_OF_RESOURCES; one of the kernels queued"):
        driver.synchronize()
    monkeypatch.setattr(cl, "enqueue_copy", lambda *_, **__: Failed().any)
    for use in (x.numpy, x.copy, lambda: x.assign(X)):
        with pytest.raises(tg.DeviceError, match="kernels queued before may have caused it"):
            use()


def test_dlpack_to_the_host_is_a_copy():
    x = tg.Device[DEVICE].array(X)
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), X)
    with pytest.raises(BufferError, match=f"the array is on {DEVICE}"):
        np.from_dlpack(x, device="cpu", copy=False)
    with pytest.raises(BufferError, match="shared only there"):
        x.__dlpack__(dl_device=(2, 5))
    copied = DeviceArray.from_dlpack(
        x.driver, _Wrapped(x.__dlpack__(dl_device=x.driver.dlpack_device, copy=True))
    )
    assert not copied.span.overlaps(x.span)


def test_arrays_that_are_copied_to_a_device():
    device = tg.Device[DEVICE]
    for array in (X.astype(">f4"), X[::-2], X.reshape(10, 100).T, np.broadcast_to(X[1], (3, 4))):
        found = device.array(array)
        assert found.dtype.isnative
        np.testing.assert_array_equal(found.numpy(), array)
    for value in (None, object(), ["a"], np.zeros(2, [("x", int)])):
        with pytest.raises(TypeError, match="a device has no arrays of"):
            device.array(value)
    x = device.array(X)
    x.assign(2 * X)
    np.testing.assert_array_equal(x.numpy(), 2 * X)
    with pytest.raises(ValueError, match=r"\(1000,\) of float32, not \(1,\)"):
        x.assign([1])


@pytest.mark.parametrize("target", ["cpu", DEVICE])
def test_memory_for_results_that_is_none(target: str):
    exe = tg.compile(lambda x: x + 1, tg.spec((1000,)), target=target)
    for out in (tg.Tensor(X), object(), 5, memoryview(X)):
        with pytest.raises(TypeError, match=f"out for .*got {type(out).__name__}"):
            exe(X, out=out)
    with pytest.raises(ValueError, match="2 arrays for 1 results"):
        exe(X, out=[X, X])


def test_what_a_program_of_the_host_writes_is_on_the_host():
    exe, array = tg.compile(IN_PLACE, target="cpu"), tg.Device[DEVICE].array(X[:64])
    for value in (array, [1.0] * 64):
        with pytest.raises((ValueError, TypeError), match="a is"):
            exe(value, X[:64])
    np.testing.assert_array_equal(array.numpy(), X[:64])


def test_views_at_any_offset():
    """A part of a buffer that no sub-buffer may begin at is copied, and back if it is written."""
    exe = compiled(program(), allow_custom=True)
    driver = exe.device.driver
    memory = DeviceArray.of(driver, np.zeros(2010, np.float32))
    part = type(memory.span)(memory.span.block, 4, 4000)
    shifted = DeviceArray(driver, part, (1000,), np.dtype(np.float32), memory)
    shifted.assign(X)
    exe(X, out=shifted)
    found = memory.numpy()
    np.testing.assert_array_equal(found[1:1001], 4 * X)
    assert not found[0]
    assert not found[1001:].any()


@takes_opencl_c
def test_errors_of_the_compiler():
    with pytest.raises(tg.DeviceError, match=r"cannot compile @double_it: [\s\S]*nonsense"):
        compiled(program("__kernel void double_it(int a) { nonsense; }"), allow_custom=True)
    with pytest.raises(tg.DeviceError, match=r"takes 1 arguments, its tg\.linear has 2"):
        compiled(program("__kernel void double_it(int a) {}"), allow_custom=True)


def test_errors():
    with pytest.raises(tg.DeviceError, match=r"@double_it has workgroups of 100000x1x1"):
        compiled(program(workgroup=100000, groups=1), allow_custom=True)
    with pytest.raises(tg.CompilationError, match="allow_custom"):
        compiled(program())
    with pytest.raises(ValueError, match="there is no target 'opengl'"):
        tg.compile(program(), target="opengl")
    with pytest.raises(tg.DeviceError, match=f"there is no device {KIND}:99"):
        tg.compile(program(), target=f"{KIND}:99")


def test_memory_that_does_not_fit():
    extent = 1 << 40
    exe = compiled(f"""
      func.func @main(%x: tensor<1xf32>) -> tensor<{extent}xf32> {{
        %y = tg.expand %x [{extent}] : tensor<1xf32> -> tensor<{extent}xf32>
        func.return %y : tensor<{extent}xf32>
      }}""")
    with pytest.raises(MemoryError, match=rf"does not fit: 4 TiB \(.*{DEVICE} has"):
        exe(np.ones(1, np.float32))


def test_a_program_from_the_object_cache(tmp_path: Path):
    (tmp_path / "p.mlir").write_text(program())
    script = """
import sys
import numpy as np
import tgdialect as tg
exe = tg.compile("p.mlir", target=sys.argv[1], allow_custom=True)
assert (exe(np.ones(1000, np.float32)) == 4).all()
print("xdsl" in sys.modules)
"""
    path = os.pathsep.join([str(EXAMPLES.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {"TG_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    environment = os.environ | variables | {"PYTHONPATH": path}
    said = [
        subprocess.run(
            [sys.executable, "-c", script, DEVICE],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "False"]


def test_the_encoding_of_a_program():
    original = compiled(DYNAMIC)._program
    assert DeviceProgram.from_bytes(original.to_bytes()) == original


def test_many_calls_on_several_threads(twice: DeviceExecutable):
    def run(factor: int) -> None:
        for _ in range(25):
            np.testing.assert_array_equal(twice(factor * X), 4 * factor * X)

    counts: list[int] = []
    for _ in range(2):
        with ThreadPoolExecutor(4) as threads:
            assert [*threads.map(run, range(1, 5))] == [None] * 4
        gc.collect()
        counts.append(len(gc.get_objects()))
    assert counts[1] - counts[0] < 100


def test_views_live_until_their_kernel_is_launched():
    """The process crashed when a view was released between `set_arg` and the launch."""
    model = tg.nn.LSTM(4, 8)
    x = np.random.default_rng(0).standard_normal((5, 2, 4)).astype(np.float32)
    lowered = tg.function(lambda x: model(x)[0]).lower(x)
    executable = lowered.compile(target=DEVICE)
    wanted = lowered.compile(target="cpu")(x)
    for _ in range(30):
        np.testing.assert_allclose(executable(x), wanted, rtol=1e-4, atol=1e-6)
    assert len(executable.profile(x, seconds=0.01)) == len(executable.kernels)


def test_kernels_and_profile(twice: DeviceExecutable):
    (kernel,) = twice.kernels
    assert kernel.source == SOURCE
    assert kernel.flops == 1000
    (found,) = twice.profile(X, seconds=0.02)
    assert found.calls == 2
    assert found.seconds > 0


def test_tensors():
    x = tg.Tensor(X, device=DEVICE)
    assert x.device == DEVICE
    y = (x + 1) * 2
    assert y.device == DEVICE
    np.testing.assert_array_equal(y.numpy(), (X + 1) * 2)
    assert isinstance(y.node.data, DeviceArray)
    back = y.to("CPU")
    assert back.device == "CPU"
    assert isinstance(back.realize().node.data, np.ndarray)
    with pytest.raises(ValueError, match=f"different devices: CPU and {DEVICE}"):
        _ = back + y
    np.testing.assert_array_equal((y + tg.Tensor(X)).numpy(), 2 * X + 2 + X)
    assert tg.Tensor(y.node.data).device == DEVICE


def test_gradients_go_back_to_the_device_of_the_tensor():
    w = tg.Tensor(np.arange(4, dtype=np.float32), requires_grad=True)
    (w.to(DEVICE) * w.to(DEVICE)).sum().backward()
    assert w.grad is not None
    assert w.grad.device == "CPU"
    np.testing.assert_array_equal(w.grad.numpy(), 2 * np.arange(4))


def test_traced_functions():
    @tg.function
    def f(a: tg.Tensor) -> tg.Tensor:
        return a * 3

    y = f(tg.Tensor(X, device=DEVICE))
    assert isinstance(y.node.data, DeviceArray)
    np.testing.assert_array_equal(y.numpy(), 3 * X)
    np.testing.assert_array_equal(f(tg.Tensor(X)).numpy(), 3 * X)


def test_the_default_device(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_DEVICE", SHORT)
    assert tg.Device.DEFAULT == DEVICE
    x = tg.Tensor(X)
    assert x.device == DEVICE
    assert isinstance(x.node.data, DeviceArray)
    np.testing.assert_array_equal((x + x).numpy(), 2 * X)
    assert isinstance(tg.compile(program(), allow_custom=True), DeviceExecutable)
    monkeypatch.setenv("TG_DEVICE", "QPU")
    with pytest.raises(ValueError, match="TG_DEVICE is 'QPU', not a device"):
        _ = tg.Device.DEFAULT


def _type(*extents: int) -> str:
    return f"tensor<{'x'.join(map(str, extents))}xf32>"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(200_001,), (20_011, 7), (5_000, 33), (3, 50_003)])
@pytest.mark.parametrize("kind", ["add", "max"])
def test_reductions_in_parts(shape, kind):
    """Reductions of few results, of all cells or of columns, in two kernels with remainders."""
    x = RNG.standard_normal(shape).astype(np.float32)
    axes = {"all": tuple(range(len(shape))), "columns": (0,)}
    for over in axes.values():
        result = _type(*(1 if i in over else n for i, n in enumerate(shape)))
        source = f"""func.func @main(%x: {_type(*shape)}) -> {result} {{
          %r = tg.reduce {kind} %x {list(over)} : {_type(*shape)} -> {result}
          func.return %r : {result}
        }}"""
        reduction = np.sum if kind == "add" else np.max
        wanted = reduction(x.astype(np.float64), axis=over, keepdims=True)
        found = np.asarray(tg.compile(source, target=DEVICE)(x))
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows", [6, 129])
@pytest.mark.parametrize("extent", [1, 31, 64, 1000])
def test_rows(rows, extent):
    """Rows of which several have a workgroup, if they are short."""
    x = RNG.standard_normal((rows, extent)).astype(np.float32)
    whole, each = _type(rows, extent), _type(rows, 1)
    source = f"""func.func @main(%x: {whole}) -> {whole} {{
      %s = tg.reduce add %x [1] : {whole} -> {each}
      %m = tg.reduce max %x [1] : {whole} -> {each}
      %d = tg.sub %x, %s : ({whole}, {each}) -> {whole}
      %r = tg.mul %d, %m : ({whole}, {each}) -> {whole}
      func.return %r : {whole}
    }}"""
    y = x.astype(np.float64)
    wanted = (y - y.sum(1, keepdims=True)) * y.max(1, keepdims=True)
    found = np.asarray(tg.compile(source, target=DEVICE)(x))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys", "width"), [(512, 256, 64), (130, 77, 33), (96, 100, 24), (64, 1, 8)]
)
def test_attention_in_one_kernel(is_causal: bool, queries: int, keys: int, width: int):
    """A workgroup keeps the scores of a block of rows in LOCAL memory."""
    if is_causal and queries != keys:
        keys = queries = min(queries, 128)

    @tg.function
    def attention(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        return q.scaled_dot_product_attention(k, v, is_causal=is_causal)

    q, k, v = (RNG.standard_normal((2, n, width)).astype(np.float32) for n in (queries, keys, keys))
    scores = q.astype(np.float64) @ k.swapaxes(1, 2) / np.sqrt(width)
    if is_causal:
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = weights / weights.sum(-1, keepdims=True) @ v
    found = attention(*(tg.Tensor(x, device=DEVICE) for x in (q, k, v))).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_the_maximum_of_narrow_integers(dtype: type[np.integer]):
    x = tg.Tensor(np.arange(100).astype(dtype), device=DEVICE)
    np.testing.assert_array_equal(x.clamp(3, 90).numpy(), np.arange(100).clip(3, 90))


def test_gradients_of_gathered_cells():
    """The index of each cell is computed, and any 64-bit number for what the compiler knows."""
    x = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    for index in ((0, [1, 2]), ([0, 3], [1, 2]), (slice(None), [0, 1], [1, 2])):
        t = tg.Tensor(x, device=DEVICE, requires_grad=True)
        (t[index] * 3).sum().backward()
        wanted = np.zeros_like(x)
        wanted[index] = 3
        assert t.grad is not None
        np.testing.assert_array_equal(t.grad.numpy(), wanted)
        at = [tg.Tensor(np.array(i, np.int64), device=DEVICE) for i in ([1, -1], [0, -2])]
        np.testing.assert_array_equal(t[at[0], at[1]].numpy(), x[[1, -1], [0, -2]])


def test_a_padded_product_in_blocks():
    """Work items skip what is past the end, in a loop with BARRIERs, which PoCL 3 gets wrong."""
    a, b = (RNG.standard_normal(shape).astype(np.float32) for shape in ((9, 32), (32, 8)))
    found = (tg.Tensor(a, device=DEVICE) @ tg.Tensor(b, device=DEVICE)).numpy()
    np.testing.assert_allclose(found, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


@needs_opencl
@takes_opencl_c
def test_pocl_without_a_linker(monkeypatch: pytest.MonkeyPatch):
    """It would end the process."""
    if "PoCL 3." not in tg.Device[DEVICE].driver.device.platform.version:
        pytest.skip("another OpenCL")
    monkeypatch.setenv("PATH", "")
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = tg.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    with pytest.raises(tg.DeviceError, match="links kernels by ld: there is none in PATH"):
        tg.compile(text, target=DEVICE)(np.ones(3, np.float32))
