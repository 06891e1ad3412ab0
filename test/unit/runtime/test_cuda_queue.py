"""Memory beside queues, contexts and failures of the CUDA driver, on its stand-in."""

from __future__ import annotations

import ctypes
import gc
import random
import re
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_programs import CUDA, PTX, program
from fake_cuda import Command, CUresult, FakeCuda, Fault, doubled

import tgdialect as tg
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.cuda import CudaDriver
from tgdialect.runtime.devices.cuda_context import Mark
from tgdialect.runtime.devices.device import KINDS, Device
from tgdialect.runtime.dlpack import SharedArray, capsule_of, consumed

pytestmark = pytest.mark.usefixtures("device")

X = np.arange(1000, dtype=np.float32)
LEGACY = 1


def compiled(**how: object) -> tg.Executable:
    return tg.compile(program(PTX, **how), target="CUDA:0", allow_custom=True)


class Library:
    """Another library on the same GPU: a stream, and memory that it reuses at once, in the order of
    its stream."""

    def __init__(self, api: FakeCuda, stream: int | None = LEGACY) -> None:
        """`stream` None makes one."""
        self.api = api
        with api.entered():
            self.stream = api.cuStreamCreate(1)[1] if stream is None else stream
        self.free: list[int] = []

    def submit(self, run: Callable[[], object], *uses: int) -> None:
        with self.api.entered():
            self.api.submit(self.stream, Command(run, uses))

    def finish(self) -> None:
        with self.api.entered():
            self.api.finish(self.stream)

    def array(self, values: np.ndarray[Any, Any]) -> Foreign:
        with self.api.entered():
            pointer = self.free.pop() if self.free else self.api.cuMemAlloc(4000)[1]
        self.submit(partial(_copy, pointer, values.copy()), pointer)
        return Foreign(self, pointer)


class Foreign:
    """An array of 1000 floats of another library."""

    def __init__(self, library: Library, pointer: int) -> None:
        self.library, self.pointer = library, pointer
        weakref.finalize(self, library.free.append, pointer)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int) -> object:
        api, library = self.library.api, self.library
        with api.entered():
            event = api.cuEventCreate(2)[1]
            api.cuEventRecord(event, library.stream)
            api.cuStreamWaitEvent(stream, event, 0)
        return capsule_of(SharedArray(2, 0, self.pointer, 0, (1000,), np.dtype(np.float32)), self)


def _copy(pointer: int, values: np.ndarray[Any, Any]) -> None:
    _view(pointer)[:] = values


def _view(pointer: int) -> np.ndarray[Any, Any]:
    return np.ctypeslib.as_array((ctypes.c_float * 1000).from_address(pointer))


def read_by(library: Library, capsule: object) -> list[np.ndarray[Any, Any]]:
    """Let a library queue a copy of what is in a capsule, and let go of it. The list gets it."""
    shared, owner = consumed(capsule)
    found: list[np.ndarray[Any, Any]] = []
    pointer = shared.pointer
    library.submit(lambda: found.append(_view(pointer).copy()), pointer)
    owner.release()
    return found


# -- memory


@pytest.mark.parametrize("library", [LEGACY, None])
def test_memory_of_another_library_is_kept_until_kernels_have_run(
    library: int | None, api: FakeCuda, device: Device
):
    torch, exe = Library(api, library), compiled()
    x = torch.array(X)
    y = exe(x)
    del x
    gc.collect()
    if library is None:
        assert not torch.free
        torch.array(X - 1)  # Elsewhere.
    else:
        torch.array(X - 1)
        torch.finish()
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    assert len(torch.free) == 2


def test_another_library_writes_after_our_kernels_have_read(api: FakeCuda, device: Device):
    torch, exe = Library(api), compiled()
    x = torch.array(X)
    y = exe(x)
    torch.submit(partial(_copy, x.pointer, X - 1), x.pointer)
    torch.finish()
    np.testing.assert_array_equal(y.numpy(), 4 * X)


@pytest.mark.parametrize("stream", ["own", "legacy", "none", "no synchronization", "gone"])
def test_our_memory_is_kept_while_another_library_reads_it(
    stream: str, api: FakeCuda, device: Device
):
    torch, exe = Library(api, LEGACY if stream in ("legacy", "none") else None), compiled()
    x = device.array(X)
    given = {"none": None, "no synchronization": -1}.get(stream, torch.stream)
    capsule = x.__dlpack__(stream=given)
    if given == -1:
        device.synchronize()
    del x
    found = read_by(torch, capsule)
    del capsule
    if stream == "gone":
        torch.finish()
        del api.streams[torch.stream]
    others = [exe(device.array(X + i)) for i in range(1, 5)]
    for i, other in enumerate(others, 1):
        np.testing.assert_array_equal(other.numpy(), 4 * (X + i))
    if stream != "gone":
        torch.finish()
    np.testing.assert_array_equal(found[0], X)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(40))
def test_random_work_of_two_libraries(seed: int, api: FakeCuda, device: Device):
    """Each value is as if everything ran at once, whoever frees what when."""
    rng = random.Random(seed)
    libraries = [Library(api), Library(api, None)]
    exe = compiled()
    ours: list[tuple[DeviceArray, np.ndarray[Any, Any]]] = [(device.array(X), X)]
    reads: list[tuple[list[Any], np.ndarray[Any, Any]]] = []
    for number in range(60):
        library = rng.choice(libraries)
        match rng.randrange(6):
            case 0:  # An array of theirs, which only the kernels need.
                ours.append((exe(library.array(X + number)), 4 * (X + number)))
            case 1:  # One of ours, which only they need.
                array, values = ours.pop(rng.randrange(len(ours)))
                capsule = array.__dlpack__(stream=library.stream)
                del array
                reads.append((read_by(library, capsule), values))
                del capsule
            case 2:
                array, values = rng.choice(ours)
                ours.append((exe(array), 4 * values))
                del array
            case 3:
                array, values = rng.choice(ours)
                np.testing.assert_array_equal(array.numpy(), values)
                del array
            case 4:
                library.finish()
            case _:
                gc.collect()
        if len(ours) < 2:
            ours.append((device.array(X - number), X - number))
        if len(ours) > 6:
            del ours[:3]
    for array, values in ours:
        np.testing.assert_array_equal(array.numpy(), values)
    for library in libraries:
        library.finish()
    for found, values in reads:
        np.testing.assert_array_equal(found[0], values)


def test_memory_that_waits_for_commands_is_not_lacking(api: FakeCuda, device: Device):
    size = device.limits.memory // 2 - 4096
    for _ in range(5):
        exe = compiled()
        exe(device.array(X), out=device.array(X))
        device.array(np.zeros(size, np.uint8))
        gc.collect()
    device.array(np.zeros(2 * size, np.uint8))


def test_modules_and_graphs_outlive_their_queued_launches(api: FakeCuda, device: Device):
    exe, x, out = compiled(), device.array(X), device.array(X)
    for _ in range(3):
        exe(x, out=out)
    del exe
    gc.collect()
    assert api.modules
    np.testing.assert_array_equal(out.numpy(), 4 * X)
    assert not api.modules
    assert not api.graphs


@pytest.mark.parametrize("nbytes", [1, 1000, (4 << 20) - 1, 4 << 20, (4 << 20) + 3, 41 << 20])
def test_transfers_go_through_little_pinned_memory(nbytes: int, api: FakeCuda, device: Device):
    api.memory = 1 << 28
    values = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    given = values.copy()
    first = device.array(given)
    given[:] = 7  # It is ours again.
    second = device.array(values[::-1])
    np.testing.assert_array_equal(second.numpy(), values[::-1])
    np.testing.assert_array_equal(first.numpy(), values)
    assert sum(block.nbytes for block in api.pinned.values()) <= 16 << 20


def test_a_copy_to_the_device_waits_for_no_kernel(api: FakeCuda, device: Device):
    exe, x = compiled(), device.array(X)
    y = exe(x)
    api.calls.clear()
    z = device.array(X + 1)
    assert not any("Synchronize" in name for name in api.calls)
    np.testing.assert_array_equal(exe(z).numpy(), 4 * (X + 1))
    np.testing.assert_array_equal(y.numpy(), 4 * X)


# -- contexts


def test_finalizers_leave_the_driver_alone(api: FakeCuda, device: Device):
    """The collector runs them in any thread; that of another library, with its own context."""
    exe, torch = compiled(), Library(api, None)
    arrays: list[object] = [device.array(X), exe(device.array(X)), exe, torch.array(X)]
    arrays.append(DeviceArray.from_dlpack(device.driver, arrays[-1]))
    arrays.append(Mark(device.driver, device.driver.stream))
    arrays.append(device.array(X).__dlpack__())
    arrays.append(arrays)
    device.driver.pool.clear()
    del exe
    api.calls.clear()

    def collect() -> None:
        gc.collect()
        seen.append([*api.stack])

    seen: list[list[object]] = []
    del arrays
    thread = threading.Thread(target=collect)
    thread.start()
    thread.join()
    assert seen == [[]]
    assert not api.calls
    device.synchronize()
    device.driver.pool.clear()
    device.synchronize()
    assert len(api.blocks) == 1  # The other library's.
    assert not api.modules


def test_errors_restore_the_context(api: FakeCuda, device: Device):
    """Each function of the driver fails once: the fixture looks at the context."""
    exe, x, out = compiled(), device.array(X), device.array(X)
    for _ in range(3):
        exe(x, out=out)

    def use() -> None:
        new = compiled()
        new.profile(X, seconds=0.001)
        for _ in range(3):
            new(x, out=out)
        new(X)
        device.array(x).copy().numpy()
        x.__dlpack__()
        device.driver.clear(out.span)

    api.calls.clear()
    use()
    names = {n for n in api.calls if not re.search("ErrorString|Pop|Destroy|Free|Unload", n)}
    assert len(names) > 20
    for name in sorted(names):
        for status in (CUresult.CUDA_ERROR_INVALID_HANDLE, CUresult.CUDA_ERROR_OUT_OF_MEMORY):
            api.failures[name] = status
            with suppress(tg.DeviceError, MemoryError):
                use()
            api.failures.clear()
            assert api.stack == ["another library's"], name
            assert all(stream.capture is None for stream in api.streams.values()), name
            gc.collect()
    np.testing.assert_array_equal(exe(X), 4 * X)
    del exe
    gc.collect()
    device.synchronize()
    assert not api.graphs
    assert len(api.events) <= len(device.driver.events) + 4  # Those of pinned blocks.


def test_threads_share_a_device_with_contexts_of_their_own(api: FakeCuda, device: Device):
    exe, torch = compiled(), Library(api, None)

    def work(number: int) -> list[object]:
        for i in range(20):
            values = X + 100 * number + i
            given = torch.array(values) if i % 3 else device.array(values)
            y = exe(given)
            del given
            gc.collect()
            np.testing.assert_array_equal(y.numpy(), 4 * values)
        return [*api.stack]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[]] * 4


# -- code


@pytest.mark.parametrize("source", [PTX, CUDA])
def test_machine_code_is_for_one_compute_capability(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: Device
):
    """GPUs of one target share PTX, and an object cache: each gets its own code."""
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    architectures = {(8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)}
    for capability in sorted(architectures, reverse=True):
        for is_known in (False, True):
            api = FakeCuda({"double_it": (2, doubled)}, capability=capability)
            driver = CudaDriver("CUDA:0", 0, api, api)
            monkeypatch.setattr(device, "_driver", None)
            monkeypatch.setattr(
                device, "_kind", KINDS["CUDA"]._replace(open=lambda *_, driver=driver: driver)
            )
            exe = tg.compile(program(source), target="CUDA:0", allow_custom=True)
            np.testing.assert_array_equal(exe(X), 4 * X)
            own = "sm_{}{}".format(*capability) + "a" * (source == CUDA and capability == (9, 0))
            assert api.compiled == ([] if is_known else [own])


# -- failures


def _fail(target: int, source: int) -> None:
    raise Fault(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)


def test_a_failure_names_all_kernels_that_may_have_caused_it(api: FakeCuda, device: Device):
    exe, x = compiled(), device.array(X)
    other = tg.compile(
        program(PTX).replace("double_it", "other"), target="CUDA:0", allow_custom=True
    )
    api.kernels["other"] = (2, doubled)
    exe(x).numpy()
    api.kernels["double_it"] = (2, _fail)
    exe(x)
    y = other(x)
    with pytest.raises(tg.DeviceError) as found:
        y.numpy()
    assert str(found.value) == (
        "CUDA:0: cuda error illegal address, in a kernel of the last program (@other), or in one "
        "queued before them: @double_it. CUDA:0 is of no use to this process any more: restart it"
    )
    # From now on there is nothing else to say.
    uses: list[Callable[[], object]] = [
        *(lambda: other(x), lambda: device.array(X), y.numpy, x.copy, x.__dlpack__, compiled),
        *(device.synchronize, lambda: exe.profile(X)),
    ]
    for use in uses:
        with pytest.raises(tg.DeviceError) as again:
            use()
        assert str(again.value) == str(found.value)


def test_a_kernel_that_has_run_is_no_suspect(api: FakeCuda, device: Device):
    first, x = compiled(), device.array(X)
    first(x)
    device.synchronize()
    api.kernels["other"] = (2, _fail)
    text = program(PTX).replace("double_it", "other")
    other = tg.compile(text, target="CUDA:0", allow_custom=True)
    other(x)
    with pytest.raises(tg.DeviceError, match=r"in a kernel of the last program \(@other\)\. CUDA"):
        device.synchronize()


def test_a_launch_that_reports_an_earlier_failure_is_not_blamed(api: FakeCuda, device: Device):
    exe, x = compiled(), device.array(X)
    api.kernels["double_it"] = (2, _fail)
    exe(x)
    with api.entered():
        api.finish(device.driver.stream)
    text = program(PTX).replace("double_it", "other")
    with pytest.raises(tg.DeviceError, match=r"@double_it\)\. CUDA:0 is of no use") as found:
        exe(x)
    assert "cannot run" not in str(found.value)
    with pytest.raises(tg.DeviceError, match="restart it"):
        tg.compile(text, target="CUDA:0", allow_custom=True)


@pytest.mark.parametrize("name", ["cuLaunchKernel", "cuStreamEndCapture", "cuGraphInstantiate"])
def test_a_recording_that_fails_leaves_nothing(name: str, api: FakeCuda, device: Device):
    exe, x, out = compiled(), device.array(X), device.array(X)
    exe(x, out=out)
    for _ in range(3):
        api.failures[name] = CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
        with pytest.raises(tg.DeviceError, match="out of resources"):
            exe(x, out=out)
        assert not api.graphs
    exe(x, out=out)
    np.testing.assert_array_equal(out.numpy(), 4 * X)
