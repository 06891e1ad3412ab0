"""NVIDIA's GPUs, by the driver's Python bindings (`cuda.bindings`).

A program with several launches that is called again with the same memory is one CUDA graph.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

from tgdialect.runtime.cache import cache_key, object_cache
from tgdialect.runtime.devices.driver import (
    Command,
    DeviceBlock,
    DeviceError,
    DeviceMemoryError,
    Driver,
    Limits,
    LoadedKernels,
    RepeatableKernels,
    Span,
)
from tgdialect.runtime.devices.program import DeviceKernel
from tgdialect.runtime.program import Array
from tgdialect.runtime.progress import progress
from tgdialect.targets.grid import ALIGNMENT

_DLPACK, _LEGACY_STREAM, _NO_STREAM = 2, 1, -1
"""`kDLCUDA`, and what DLPack calls the default stream and no stream."""
_GRAPHS = 16
"""The CUDA graphs that a program keeps: as many sets of memory as its callers take turns with. With
fewer, callers that alternate between more arrays record graphs anew; each graph keeps some tens of
KiB of the device."""
_LOG_BYTES = 1 << 14
_NAME_BYTES = 256
_OPTIONS = ("--fmad=false", "--disable-warnings")
"""Options of NVRTC: float operations are what the program says."""


def target_for(major: int, minor: int) -> str:
    """The target for a compute capability. Instructions of sm_90a run on 9.0 alone.

    Raises DeviceError for a GPU that is too old.
    """
    if (major, minor) == (9, 0):
        return "nvidia:sm_90a"
    if major >= 8:
        return "nvidia:sm_80" if major == 8 else "nvidia:sm_90"
    raise DeviceError(f"GPUs of compute capability {major}.{minor} are too old: 8.0 is the least")


def bindings() -> Any:
    """NVIDIA's bindings of the driver API."""
    return import_module("cuda.bindings.driver")


def device_count(api: Any = None) -> int:
    """How many GPUs there are; 0 without a driver."""
    api = api or bindings()
    try:
        (error,) = api.cuInit(0)
    except RuntimeError:  # There is no library of the driver.
        return 0
    if error != api.CUresult.CUDA_SUCCESS:
        return 0
    error, count = api.cuDeviceGetCount()
    return count if error == api.CUresult.CUDA_SUCCESS else 0


class CudaDriver(Driver):
    """A GPU of NVIDIA's: its primary context, and a stream."""

    argument_alignment = ALIGNMENT

    def __init__(self, name: str, number: int, api: Any = None, compiler: Any = None) -> None:
        """`api` is the driver API and `compiler` NVRTC; tests pass others than NVIDIA's."""
        self.api = api or bindings()
        self._compiler = compiler or import_module("cuda.bindings.nvrtc")
        self.name = name
        self.checked(self.api.cuInit(0))
        self._number = number
        self._device = self.checked(self.api.cuDeviceGet(number))
        self.context = self.checked(self.api.cuDevicePrimaryCtxRetain(self._device))
        self.enter()
        self.stream = self.new_stream()
        self.recording_stream = self.new_stream()
        """Commands are recorded from it, and never run on it."""
        memory = self.checked(self.api.cuDeviceTotalMem(self._device))
        attribute = self._attribute
        target = target_for(
            attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")
        )
        super().__init__(
            name,
            target,
            Limits(
                memory=memory,
                allocation=memory,
                local=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
                workgroup=attribute("MAX_THREADS_PER_BLOCK"),
                workgroup_axes=(
                    attribute("MAX_BLOCK_DIM_X"),
                    attribute("MAX_BLOCK_DIM_Y"),
                    attribute("MAX_BLOCK_DIM_Z"),
                ),
                groups=(
                    attribute("MAX_GRID_DIM_X"),
                    attribute("MAX_GRID_DIM_Y"),
                    attribute("MAX_GRID_DIM_Z"),
                ),
                units=attribute("MULTIPROCESSOR_COUNT"),
                alignment=1,
            ),
        )
        self.lock = threading.Lock()
        """Held while commands are submitted: one thread at a time records a graph."""
        self.submitted: Sequence[str] = ()
        """The kernels of the last program: a failure shows in a later command."""

    def _attribute(self, name: str) -> int:
        kind = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return self.checked(self.api.cuDeviceGetAttribute(kind, self._device))

    def checked(self, result: tuple[Any, ...]) -> Any:
        """What a function of the API returns besides its status. Raises DeviceError for any other
        status than success, and DeviceMemoryError if memory is lacking."""
        error, *values = result
        if error == self.api.CUresult.CUDA_SUCCESS:
            return values[0] if len(values) == 1 else tuple(values) or None
        message = self.explained(error)
        if error == self.api.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise DeviceMemoryError(message)
        raise DeviceError(message)

    def explained(self, error: Any) -> str:
        """What a status means."""
        _, text = self.api.cuGetErrorString(error)
        reason = text.decode() if isinstance(text, bytes) else str(error)
        return f"{self.name}: {reason}"

    def enter(self) -> None:
        """Make the device's context that of this thread."""
        self.checked(self.api.cuCtxSetCurrent(self.context))

    def new_stream(self) -> Any:
        """A queue of commands that waits for no other one."""
        self.enter()
        non_blocking = self.api.CUstream_flags.CU_STREAM_NON_BLOCKING
        return self.checked(self.api.cuStreamCreate(int(non_blocking)))

    @property
    def identity(self) -> Sequence[str]:
        name = self.checked(self.api.cuDeviceGetName(_NAME_BYTES, self._device))
        text = bytes(name).partition(b"\0")[0].decode(errors="replace")
        return text, str(self.checked(self.api.cuDriverGetVersion()))

    # -- memory

    def allocate(self, nbytes: int) -> DeviceBlock:
        self.enter()
        pointer = int(self.checked(self.api.cuMemAlloc(max(nbytes, 1))))
        block = DeviceBlock(pointer, nbytes)
        weakref.finalize(block, self._free, pointer).atexit = False
        return block

    def _free(self, pointer: int) -> None:
        self.enter()
        self.api.cuMemFree(pointer)

    def write(self, target: Span, array: Array) -> None:
        if target.nbytes:
            self.enter()
            source, stream = array.ctypes.data, self.stream
            where = _address(target)
            self.checked(self.api.cuMemcpyHtoDAsync(where, source, target.nbytes, stream))
            self.synchronize()

    def read(self, source: Span, array: Array) -> None:
        if source.nbytes:
            self.enter()
            target, stream = array.ctypes.data, self.stream
            where = _address(source)
            self.checked(self.api.cuMemcpyDtoHAsync(target, where, source.nbytes, stream))
        self.synchronize()

    def copy(self, source: Span, target: Span) -> None:
        if source.nbytes:
            self.enter()
            places = _address(target), _address(source)
            self.checked(self.api.cuMemcpyDtoDAsync(*places, source.nbytes, self.stream))

    def clear(self, span: Span) -> None:
        if span.nbytes:
            self.enter()
            self.checked(self.api.cuMemsetD8Async(_address(span), 0, span.nbytes, self.stream))

    def synchronize(self) -> None:
        self.enter()
        try:
            self.checked(self.api.cuStreamSynchronize(self.stream))
        except DeviceError as error:
            kernels = ", ".join(f"@{name}" for name in self.submitted)
            raise DeviceError(f"{error}, after the kernels {kernels}") from None

    # -- kernels

    def load(self, kernels: Sequence[DeviceKernel]) -> LoadedKernels:
        return _Kernels(self, kernels)

    def machine_code(self, kernel: DeviceKernel) -> bytes:
        """The code of a kernel for this GPU, which the object cache keeps.

        Raises DeviceError, with the log of the assembler.
        """
        if kernel.is_binary:
            return kernel.code
        store = object_cache()
        version = self.checked(self.api.cuDriverGetVersion())
        key = cache_key("cuda", self.target, str(version), kernel.text)
        if store is not None and (found := store.get(key)) is not None:
            return found
        code = self._assembled(kernel) if kernel.is_ptx else self._compiled(kernel)
        if store is not None:
            store.put(key, code)
        return code

    def _assembled(self, kernel: DeviceKernel) -> bytes:
        """The machine code of a kernel in PTX."""
        api, log = self.api, bytearray(_LOG_BYTES)
        options = [
            api.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
            api.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        self.enter()
        state = self.checked(api.cuLinkCreate(len(options), options, [log, len(log)]))
        text = kernel.code + b"\0"
        kind = api.CUjitInputType.CU_JIT_INPUT_PTX
        try:
            name = kernel.name.encode()
            self.checked(api.cuLinkAddData(state, kind, text, len(text), name, 0, [], []))
            code, size = self.checked(api.cuLinkComplete(state))
            return ctypes.string_at(int(code), size)
        except DeviceError as error:
            said = bytes(log).partition(b"\0")[0].decode(errors="replace").strip()
            raise DeviceError(f"{error}, in the code of @{kernel.name}: {said}") from None
        finally:
            api.cuLinkDestroy(state)

    def _compiled(self, kernel: DeviceKernel) -> bytes:
        """The machine code of a kernel in CUDA C++, by NVRTC."""
        api = self._compiler
        architecture = self.target.partition(":")[2]
        options = [f"--gpu-architecture={architecture}", *_OPTIONS]
        program = self._said(api, api.nvrtcCreateProgram(kernel.code, b"", 0, [], []))
        try:
            encoded = [option.encode() for option in options]
            (status,) = api.nvrtcCompileProgram(program, len(encoded), encoded)
            if status != api.nvrtcResult.NVRTC_SUCCESS:
                log = bytearray(self._said(api, api.nvrtcGetProgramLogSize(program)))
                self._said(api, api.nvrtcGetProgramLog(program, log))
                said = bytes(log).rstrip(b"\0").decode(errors="replace").strip()
                raise DeviceError(f"{self.name} cannot compile @{kernel.name}: {said}")
            code = bytearray(self._said(api, api.nvrtcGetCUBINSize(program)))
            self._said(api, api.nvrtcGetCUBIN(program, code))
            return bytes(code)
        finally:
            api.nvrtcDestroyProgram(program)

    def _said(self, api: Any, result: tuple[Any, ...]) -> Any:
        """What a function of NVRTC returns besides its status. Raises DeviceError for an error."""
        status, *values = result
        if status != api.nvrtcResult.NVRTC_SUCCESS:
            raise DeviceError(f"{self.name}: NVRTC says {status}")
        return values[0] if values else None

    # -- sharing

    @property
    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK, self._number

    @property
    def dlpack_stream(self) -> Mapping[str, Any]:
        return {"stream": int(self.stream)}

    def dlpack_pointer(self, span: Span, stream: int | None) -> tuple[int, int, int, int]:
        if stream != _NO_STREAM:
            Mark(self, self.stream).precede(stream or _LEGACY_STREAM)
        return *self.dlpack_device, _address(span), 0

    def adopt(self, pointer: int, offset: int, nbytes: int, owner: object) -> Span:
        return Span(DeviceBlock(pointer + offset, nbytes), 0, nbytes)


def _address(span: Span) -> int:
    return span.block.handle + span.offset


class Mark:
    """A place in a stream: an event."""

    def __init__(self, driver: CudaDriver, stream: Any) -> None:
        """After all that `stream` has so far."""
        self._driver, api = driver, driver.api
        driver.enter()
        self._event = driver.checked(api.cuEventCreate(0))
        weakref.finalize(self, self._destroy, driver, self._event).atexit = False
        with driver.lock:
            driver.checked(api.cuEventRecord(self._event, stream))

    @staticmethod
    def _destroy(driver: CudaDriver, event: Any) -> None:
        driver.enter()
        driver.api.cuEventDestroy(event)

    def precede(self, stream: Any = None) -> None:
        """Let later commands of a stream, by default that of the kernels, wait for this place."""
        driver = self._driver
        driver.enter()
        with driver.lock:
            target = driver.stream if stream is None else stream
            driver.checked(driver.api.cuStreamWaitEvent(target, self._event, 0))

    def is_reached(self) -> bool:
        """Whether the commands before are done. Raises DeviceError if one has failed."""
        driver, api = self._driver, self._driver.api
        driver.enter()
        result = api.cuEventQuery(self._event)
        if result[0] == api.CUresult.CUDA_ERROR_NOT_READY:
            return False
        driver.checked(result)
        return True


class SideStream:
    """A second queue of commands of a GPU, executed beside its kernels."""

    def __init__(self, driver: CudaDriver) -> None:
        self._driver = driver
        self.handle = driver.new_stream()

    def follow(self) -> None:
        """Let later commands wait for those that the kernels' stream has so far."""
        Mark(self._driver, self._driver.stream).precede(self.handle)

    def mark(self) -> Mark:
        """The place after all commands so far."""
        return Mark(self._driver, self.handle)

    def copy_rows(
        self, source: tuple[int, int], target: tuple[int, int], width: int, rows: int
    ) -> None:
        """Copy rows of `width` bytes. Each side is the address of its first row, and the bytes from
        one row to the next."""
        driver, api = self._driver, self._driver.api
        driver.enter()
        copy = api.CUDA_MEMCPY2D()
        copy.srcMemoryType = copy.dstMemoryType = api.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice, copy.srcPitch = source
        copy.dstDevice, copy.dstPitch = target
        copy.WidthInBytes, copy.Height = width, rows
        driver.checked(api.cuMemcpy2DAsync(copy, self.handle))


class _Kernels(RepeatableKernels):
    """Loaded modules, one for each kernel, and the graphs of programs that were called before."""

    def __init__(self, driver: CudaDriver, kernels: Sequence[DeviceKernel]) -> None:
        self._driver = driver
        self._kernels = kernels
        self._functions: list[Any] = []
        self._graphs: OrderedDict[str, Any] = OrderedDict()
        """An executable graph for each sequence of commands; None before the second call."""
        weakref.finalize(self, self._destroy, driver, self._graphs).atexit = False
        api = driver.api
        driver.enter()
        limit = api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        shared = api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with progress(f"loading on {driver.name}", len(kernels)) as shown:
            for kernel in kernels:
                try:
                    module = driver.checked(api.cuModuleLoadData(driver.machine_code(kernel)))
                    weakref.finalize(self, self._unload, driver, module).atexit = False
                    name = kernel.symbol.encode()
                    function = driver.checked(api.cuModuleGetFunction(module, name))
                    most = driver.checked(api.cuFuncGetAttribute(limit, function))
                    if kernel.local:
                        driver.checked(api.cuFuncSetAttribute(function, shared, kernel.local))
                except DeviceError as error:
                    raise DeviceError(f"{error}, when loading @{kernel.name}") from None
                driver.check_workgroup(kernel, most)
                self._functions.append(function)
                shown.step()

    @staticmethod
    def _unload(driver: CudaDriver, module: Any) -> None:
        driver.enter()
        driver.api.cuModuleUnload(module)

    @staticmethod
    def _destroy(driver: CudaDriver, graphs: Mapping[str, Any]) -> None:
        driver.enter()
        for graph in graphs.values():
            if graph is not None:
                driver.api.cuGraphExecDestroy(graph)

    def submit(self, commands: Sequence[Command]) -> None:
        driver = self._driver
        driver.enter()
        with driver.lock:
            driver.submitted = [self._kernels[command.kernel].name for command in commands]
            key = _key(commands)
            if len(commands) < 2 or key not in self._graphs:
                for command in commands:
                    self._launch(command, driver.stream)
                if len(commands) > 1:
                    self._keep(key, None)
                return
            graph = self._graphs[key] or self._recorded(commands)
            self._keep(key, graph)
            driver.checked(driver.api.cuGraphLaunch(graph, driver.stream))

    def repeated(self, commands: Sequence[Command]) -> Callable[[], object]:
        driver = self._driver
        key, commands = _key(commands), [_by_addresses(c) for c in commands]
        names = [self._kernels[command.kernel].name for command in commands]
        if len(commands) != 1:
            return partial(self._submit_again, commands, key, names)
        # One launch: with the arguments of the driver's function made once.
        (command,) = commands
        kernel = self._kernels[command.kernel]
        values, arguments = self._arguments(command, driver.stream)
        api, lock, context = driver.api, driver.lock, driver.context
        enter, launch, success = api.cuCtxSetCurrent, api.cuLaunchKernel, api.CUresult.CUDA_SUCCESS

        def again(keep: object = values) -> None:
            enter(context)
            with lock:
                driver.submitted = names
                (error,) = launch(*arguments)
            if error != success:
                raise driver.failure(kernel, command, driver.explained(error))

        return again

    def _submit_again(self, commands: Sequence[Command], key: str, names: Sequence[str]) -> None:
        """`submit`, without making the key of the graph and the names of the kernels."""
        driver = self._driver
        graph = self._graphs.get(key)
        if graph is None:
            self.submit(commands)
            return
        driver.enter()
        with driver.lock:
            driver.submitted = names
            self._graphs.move_to_end(key)
            driver.checked(driver.api.cuGraphLaunch(graph, driver.stream))

    def timed(self, commands: Sequence[Command]) -> Sequence[float]:
        driver, api = self._driver, self._driver.api
        driver.enter()
        events = [driver.checked(api.cuEventCreate(0)) for _ in range(len(commands) + 1)]
        with driver.lock:
            driver.checked(api.cuEventRecord(events[0], driver.stream))
            for command, event in zip(commands, events[1:], strict=True):
                self._launch(command, driver.stream)
                driver.checked(api.cuEventRecord(event, driver.stream))
        driver.synchronize()
        times = [driver.checked(api.cuEventElapsedTime(*pair)) for pair in pairwise(events)]
        for event in events:
            api.cuEventDestroy(event)
        return [1e-3 * milliseconds for milliseconds in times]

    def _recorded(self, commands: Sequence[Command]) -> Any:
        """An executable graph of commands. They are recorded from a stream that nothing else uses:
        what other threads submit to the driver's meanwhile, as copies, is not part of it. Relaxed,
        since the garbage collector may free memory meanwhile."""
        driver, api = self._driver, self._driver.api
        mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        stream = driver.recording_stream
        driver.checked(api.cuStreamBeginCapture(stream, mode))
        try:
            for command in commands:
                self._launch(command, stream)
        finally:
            graph = driver.checked(api.cuStreamEndCapture(stream))
        found = driver.checked(api.cuGraphInstantiate(graph, 0))
        driver.checked(api.cuGraphDestroy(graph))
        return found

    def _keep(self, key: str, graph: Any) -> None:
        """Note that commands were submitted, and forget those that were not for longest."""
        self._graphs[key] = graph
        self._graphs.move_to_end(key)
        while len(self._graphs) > _GRAPHS:
            _, oldest = self._graphs.popitem(last=False)
            if oldest is not None:
                self._driver.api.cuGraphExecDestroy(oldest)

    def _launch(self, command: Command, stream: Any) -> None:
        driver, kernel = self._driver, self._kernels[command.kernel]
        keep, arguments = self._arguments(command, stream)
        (error,) = driver.api.cuLaunchKernel(*arguments)
        del keep
        if error != driver.api.CUresult.CUDA_SUCCESS:
            raise driver.failure(kernel, command, driver.explained(error))

    def _arguments(self, command: Command, stream: Any) -> tuple[object, Sequence[Any]]:
        """The arguments of `cuLaunchKernel`, and what has to live until it returns: an array of the
        kernel's arguments, each in 8 bytes, and an array of their addresses."""
        kernel, count = self._kernels[command.kernel], len(command.arguments)
        values = (ctypes.c_int64 * count)(
            *(_address(a) if isinstance(a, Span) else a for a in command.arguments)
        )
        start, step = ctypes.addressof(values), ctypes.sizeof(ctypes.c_int64)
        pointers = (ctypes.c_void_p * count)(*(start + step * i for i in range(count)))
        return (values, pointers), (
            self._functions[command.kernel],
            *command.groups,
            *kernel.workgroup,
            kernel.local,
            stream,
            ctypes.addressof(pointers),
            0,
        )


def _by_addresses(command: Command) -> Command:
    """A command that refers to no blocks."""
    values = (_address(a) if isinstance(a, Span) else a for a in command.arguments)
    return command._replace(arguments=tuple(values))


def _key(commands: Sequence[Command]) -> str:
    """What commands do, without the blocks that they refer to: a graph keeps no memory alive. A
    string, which is hashed once."""
    return str([tuple(_by_addresses(command)) for command in commands])
