"""NVIDIA's GPUs, by the driver's Python bindings (`cuda.bindings`).

A program with several launches that is called again with the same memory is one CUDA graph.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.cache import cached
from tgdialect.runtime.devices.cuda_context import CudaContext, Mark, Staging
from tgdialect.runtime.devices.driver import (
    Command,
    DeviceBlock,
    DeviceError,
    LoadedKernels,
    Span,
)
from tgdialect.runtime.devices.program import DeviceKernel
from tgdialect.runtime.progress import progress
from tgdialect.targets.grid import ALIGNMENT

_DLPACK = 2
"""`kDLCUDA`."""
_LEGACY_STREAM, _PER_THREAD_STREAM, _NO_STREAM = 1, 2, -1
"""DLPack's default stream, which is the driver's handle of it, a thread's own, and none."""
_LOG_BYTES = 1 << 14
"""The bytes for the compiler's messages, which are cut off beyond."""
_OPTIONS = (b"--fmad=false", b"--disable-warnings")
"""Options of NVRTC: float operations are what the program says."""


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


def open_device(name: str, number: int) -> CudaDriver:
    """The driver of a GPU, by its number."""
    return CudaDriver(name, number)


class CudaDriver(CudaContext):
    """A GPU of NVIDIA's."""

    argument_alignment = ALIGNMENT

    def __init__(self, name: str, number: int, api: Any = None, compiler: Any = None) -> None:
        """`api` is the driver API and `compiler` NVRTC; tests pass others than NVIDIA's."""
        super().__init__(name, number, api or bindings())
        self._number = number
        self._compiler = compiler or import_module("cuda.bindings.nvrtc")
        self._staging = Staging(self)

    # -- memory

    def allocate(self, nbytes: int) -> DeviceBlock:
        api, size = self.api, max(nbytes, 1)
        with self.current:
            result = api.cuMemAlloc(size)
            if result[0] == api.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                self.synchronize()  # Blocks that wait for commands are free then.
                result = api.cuMemAlloc(size)
            pointer = int(self.checked(result))
        block = DeviceBlock(pointer, nbytes)
        self.free_after_commands(block, api.cuMemFree, pointer)
        return block

    def write(self, target: Span, array: Array) -> None:
        self._staging.write(target, array)

    def read(self, source: Span, array: Array) -> None:
        self._staging.read(source, array)
        self.synchronize()

    def copy(self, source: Span, target: Span) -> None:
        places = target.address, source.address
        self._submit(source.nbytes, self.api.cuMemcpyDtoDAsync, *places, source.nbytes)

    def clear(self, span: Span) -> None:
        self._submit(span.nbytes, self.api.cuMemsetD8Async, span.address, 0, span.nbytes)

    def _submit(self, nbytes: int, command: Callable[..., Any], *arguments: int) -> None:
        """Submit a command on memory, if it has a byte."""
        if nbytes:
            with self.current:
                self.checked(command(*arguments, self.stream))

    def mark(self) -> Mark:
        return Mark(self, self.stream)

    def settle(self) -> None:
        if self.deferred:
            with self.current:  # Entering it releases what is due.
                pass

    # -- kernels

    def load(self, kernels: Sequence[DeviceKernel]) -> LoadedKernels:
        return CudaKernels(self, self.machine_code, kernels)

    def machine_code(self, kernel: DeviceKernel) -> bytes:
        """The code of a kernel for this GPU, which the object cache keeps.

        Raises DeviceError, with the log of the assembler.
        """
        if kernel.is_binary:
            return kernel.code
        # The driver assembles PTX for this GPU alone, and NVRTC is a library of its own.
        version = self.checked(self.api.cuDriverGetVersion())
        if not kernel.is_ptx:
            version = self._said(self._compiler, self._compiler.nvrtcVersion())
        make = self._assembled if kernel.is_ptx else self._compiled
        parts = "cuda", self._architecture, str(version), kernel.text
        return cached(lambda: make(kernel), *parts)

    @property
    def _architecture(self) -> str:
        """The compute capability, as compilers name it: those of one target differ in their code.
        It has the features of one GPU alone where the target has."""
        major, minor = self.capability
        return f"sm_{major}{minor}{'a' if self.target.endswith('a') else ''}"

    def _assembled(self, kernel: DeviceKernel) -> bytes:
        """The machine code of a kernel in PTX."""
        api, log, option = self.api, bytearray(_LOG_BYTES), self.api.CUjit_option
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        text = kernel.code + b"\0"
        kind = api.CUjitInputType.CU_JIT_INPUT_PTX
        with self.current:
            state = self.checked(api.cuLinkCreate(len(options), options, [log, len(log)]))
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
        options = [f"--gpu-architecture={self._architecture}".encode(), *_OPTIONS]
        program = self._said(api, api.nvrtcCreateProgram(kernel.code, b"", 0, [], []))
        try:
            (status,) = api.nvrtcCompileProgram(program, len(options), options)
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
        """The values of a function of NVRTC besides its status. Raises DeviceError for an error."""
        status, *values = result
        if status != api.nvrtcResult.NVRTC_SUCCESS:
            raise DeviceError(f"{self.name}: NVRTC says {status}")
        return values[0] if len(values) == 1 else tuple(values) or None

    # -- sharing

    @property
    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK, self._number

    @property
    def dlpack_request(self) -> Mapping[str, Any]:
        return {"stream": int(self.stream)}

    def dlpack_pointer(self, span: Span, stream: int | None) -> tuple[int, int, int, int]:
        if stream != _NO_STREAM:
            self.mark().precede(stream or _LEGACY_STREAM)
        return *self.dlpack_device, span.address, 0

    def lent(self, array: object, stream: int | None) -> object:
        owner = _Lent()
        self.deferred.at_end_of(owner, self._take_back, stream, array)
        return owner

    def _take_back(self, stream: int | None, array: object) -> None:
        """Let later commands wait for the consumer of an array, which lives until then."""
        if stream not in (_NO_STREAM, _PER_THREAD_STREAM):
            with suppress(DeviceError):  # The stream may be gone.
                Mark(self, stream or _LEGACY_STREAM).precede()
                return
        self.checked(self.api.cuCtxSynchronize())

    def adopt(self, pointer: int, offset: int, nbytes: int) -> Span:
        return Span(DeviceBlock(pointer + offset, nbytes), 0, nbytes)

    def return_after_commands(self, release: Callable[[], object]) -> None:
        self.mark().precede(_LEGACY_STREAM)
        super().return_after_commands(release)


class _Lent:
    """Memory that another library uses."""


_GRAPHS = 16
"""The CUDA graphs that a program keeps: as many sets of memory as its callers take turns with. With
fewer, callers that alternate between more arrays record graphs anew; each graph keeps some tens of
KiB of the device."""


class CudaKernels(LoadedKernels):
    """Loaded modules, one for each kernel, and the graphs of programs that were called before."""

    def __init__(
        self,
        driver: CudaContext,
        code: Callable[[DeviceKernel], bytes],
        kernels: Sequence[DeviceKernel],
    ) -> None:
        self._driver = driver
        self._kernels = kernels
        self._functions: list[Any] = []
        self._graphs: OrderedDict[str, Any] = OrderedDict()
        """An executable graph for each sequence of commands; None before the second call."""
        api = driver.api
        driver.free_after_commands(self, _destroy, api, self._graphs)
        limit = api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        shared = api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with progress(f"loading on {driver.name}", len(kernels)) as shown, driver.current:
            for kernel in kernels:
                try:
                    module = driver.checked(api.cuModuleLoadData(code(kernel)))
                    driver.free_after_commands(self, api.cuModuleUnload, module)
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

    def submit(self, commands: Sequence[Command]) -> None:
        self._submit(commands, _key(commands), self._names(commands))

    def _submit(self, commands: Sequence[Command], key: str, names: Sequence[str]) -> None:
        driver = self._driver
        with driver.current, driver.lock:
            driver.queued.append(names)
            if len(commands) < 2 or key not in self._graphs:
                for command in commands:
                    self._launch(command, driver.stream)
                if len(commands) > 1:
                    self._keep(key, None)
                return
            graph = self._graphs[key] or self._recorded(commands)
            self._keep(key, graph)
            driver.checked(driver.api.cuGraphLaunch(graph, driver.stream))

    def _names(self, commands: Sequence[Command]) -> Sequence[str]:
        return [self._kernels[command.kernel].name for command in commands]

    def repeated(self, commands: Sequence[Command]) -> Callable[[], object]:
        driver = self._driver
        key, commands = _key(commands), [_by_addresses(c) for c in commands]
        names = self._names(commands)
        if len(commands) != 1:
            return partial(self._submit, commands, key, names)
        # One launch: with the arguments of the driver's function made once.
        (command,) = commands
        kernel = self._kernels[command.kernel]
        values, arguments = self._arguments(command, driver.stream)
        current, lock, queued = driver.current, driver.lock, driver.queued
        launch, success = driver.api.cuLaunchKernel, driver.success

        def again(keep: object = values) -> None:
            with current, lock:
                queued.append(names)
                (error,) = launch(*arguments)
            if error != success:
                raise driver.refused(kernel, command, error)

        return again

    def timed(self, commands: Sequence[Command]) -> Sequence[float]:
        driver, api = self._driver, self._driver.api
        events: list[Any] = []

        def note() -> None:
            events.append(driver.checked(api.cuEventCreate(0)))
            driver.checked(api.cuEventRecord(events[-1], driver.stream))

        with driver.current:
            try:
                with driver.lock:
                    driver.queued.append(self._names(commands))
                    note()
                    for command in commands:
                        self._launch(command, driver.stream)
                        note()
                driver.synchronize()
                times = [driver.checked(api.cuEventElapsedTime(*pair)) for pair in pairwise(events)]
            finally:
                for event in events:
                    api.cuEventDestroy(event)
        return [1e-3 * milliseconds for milliseconds in times]

    def _recorded(self, commands: Sequence[Command]) -> Any:
        """An executable graph of commands. They are recorded from a stream that nothing else uses:
        what other threads submit to the driver's meanwhile, as copies, is not part of it. Relaxed,
        since they may allocate memory meanwhile."""
        driver, api = self._driver, self._driver.api
        mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        stream = driver.recording_stream
        driver.checked(api.cuStreamBeginCapture(stream, mode))
        try:
            for command in commands:
                self._launch(command, stream)
        except BaseException:
            _, graph = api.cuStreamEndCapture(stream)
            if graph is not None:
                api.cuGraphDestroy(graph)
            raise
        graph = driver.checked(api.cuStreamEndCapture(stream))
        try:
            return driver.checked(api.cuGraphInstantiate(graph, 0))
        finally:
            api.cuGraphDestroy(graph)

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
        if error != driver.success:
            raise driver.refused(kernel, command, error)

    def _arguments(self, command: Command, stream: Any) -> tuple[object, Sequence[Any]]:
        """The arguments of `cuLaunchKernel`, and what has to live until it returns: an array of the
        kernel's arguments, each in 8 bytes, and an array of their addresses."""
        kernel, count = self._kernels[command.kernel], len(command.arguments)
        values = (ctypes.c_int64 * count)(
            *(a.address if isinstance(a, Span) else a for a in command.arguments)
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


def _destroy(api: Any, graphs: Mapping[str, Any]) -> None:
    for graph in graphs.values():
        if graph is not None:
            api.cuGraphExecDestroy(graph)


def _by_addresses(command: Command) -> Command:
    """A command that refers to no blocks."""
    values = (a.address if isinstance(a, Span) else a for a in command.arguments)
    return command._replace(arguments=tuple(values))


def _key(commands: Sequence[Command]) -> str:
    """A string that is the same for commands that do the same. It refers to no blocks, so that a
    graph keeps no memory alive, and its hash is computed once."""
    return str([tuple(_by_addresses(command)) for command in commands])
