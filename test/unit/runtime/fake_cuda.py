"""A stand-in for `cuda.bindings.driver` and `.nvrtc`: GPUs with memory of this process.

It is as strict as a driver may be. Commands only run when somebody waits for their stream, or has
asked an event before; each thread has a stack of contexts, and calls need one; memory and modules
that a queued command uses must not be freed; code runs on its compute capability; after a kernel
has failed, all calls do.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


class CUresult(Enum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900


OK = CUresult.CUDA_SUCCESS
_ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 << 10,
    "MAX_THREADS_PER_BLOCK": 1024,
    **{f"MAX_BLOCK_DIM_{axis}": limit for axis, limit in zip("XYZ", (1024, 1024, 64), strict=True)},
    **{f"MAX_GRID_DIM_{axis}": 65535 for axis in "XYZ"},
    "MULTIPROCESSOR_COUNT": 4,
}
_PREFIX = "CU_DEVICE_ATTRIBUTE_"
_WITHOUT_CONTEXT = ("cuInit", "cuDevice", "cuDriver", "cuGetError", "cuCtxP")
_DEFAULT_STREAMS = 2


class Fault(Exception):
    """Raised by a kernel: the status with which it fails."""


class Function(NamedTuple):
    module: int
    name: str


class Command(NamedTuple):
    """A command of a stream: `uses` are addresses, `module` is that of a kernel."""

    run: Callable[[], object]
    uses: Sequence[int] = ()
    module: int = 0


@dataclass(eq=False)
class Stream:
    device: int
    commands: list[Command] = field(default_factory=list[Command])
    done: int = 0
    capture: list[Command] | None = None


class FakeCuda:
    """`kernels` maps a name to the number of arguments, and a function of these as integers: the
    addresses of memory, which is that of this process, and scalars."""

    CUresult = CUresult
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUdevice_attribute = SimpleNamespace(**{_PREFIX + name: name for name in _ATTRIBUTES})
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK=0, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8
    )
    CUjit_option = SimpleNamespace(CU_JIT_ERROR_LOG_BUFFER=5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES=6)
    CUjitInputType = SimpleNamespace(CU_JIT_INPUT_PTX=1)
    CUmemorytype = SimpleNamespace(CU_MEMORYTYPE_DEVICE=2)
    CUDA_MEMCPY2D = SimpleNamespace
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)
    nvrtcResult = SimpleNamespace(NVRTC_SUCCESS=0)

    def __init__(
        self,
        kernels: dict[str, tuple[int, Callable[..., None]]],
        memory: int = 1 << 20,
        capability: tuple[int, int] = (9, 0),
        devices: int = 1,
    ) -> None:
        self.kernels = kernels
        self.memory = memory
        self.capability = capability
        self.uuids = [uuid.uuid4().bytes for _ in range(devices)]
        self.blocks: dict[int, np.ndarray] = {}
        self.pinned: dict[int, np.ndarray] = {}
        self.modules: set[int] = set()
        self.streams: dict[int | tuple[int, int], Stream] = {}
        self.events: dict[int, tuple[Stream, int]] = {}
        self.graphs: dict[int, list[Command]] = {}
        """Graphs, and executable ones."""
        self.calls: list[str] = []
        self.compiled: list[str] = []
        """The compute capability that each kernel was compiled for."""
        self.failures: dict[str, CUresult] = {}
        """The status with which a function ends when it is called the next time."""
        self.broken: dict[int, CUresult] = {}
        """The devices on which a kernel has failed."""
        self.hung: set[int] = set()
        """The devices whose commands never end."""
        self.log = bytearray()
        self.attributes: dict[tuple[Function, int], int] = {}
        self.local: list[int] = []
        """The LOCAL memory of each launch."""
        self.handles = itertools.count(_DEFAULT_STREAMS + 1)
        self.lock = threading.RLock()
        self._threads = threading.local()

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return partial(self._called, name, found) if name.startswith("cu") else found

    def _called(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        with self.lock:
            self.calls.append(name)
            status = self.failures.pop(name, None)
            if status is None and not name.startswith(_WITHOUT_CONTEXT):
                if self.context is None or not isinstance(self.context, int):
                    status = CUresult.CUDA_ERROR_INVALID_CONTEXT
                else:
                    status = self.broken.get(self.context)
            if status is None:
                return function(*arguments)
            if name == "cuStreamEndCapture":
                self.graphs.pop(function(*arguments)[1])
                return status, None
            return (status,)

    # -- queues

    @property
    def stack(self) -> list[object]:
        """The contexts of this thread, the current one last: numbers of devices."""
        return self._threads.__dict__.setdefault("stack", [])

    @property
    def context(self) -> object:
        return self.stack[-1] if self.stack else None

    @property
    def pending(self) -> list[Command]:
        """The commands that have not run."""
        return [c for stream in self.streams.values() for c in stream.commands[stream.done :]]

    def stream(self, handle: int) -> Stream:
        """A stream of the current context."""
        assert isinstance(self.context, int)
        if handle <= _DEFAULT_STREAMS:
            default = self.context, handle
            return self.streams.setdefault(default, Stream(self.context))
        found = self.streams[handle]
        assert found.device == self.context, "a stream of another context"
        return found

    def submit(self, handle: int, command: Command) -> Any:
        """Queue a command, or record it."""
        stream = self.stream(handle)
        (stream.commands if stream.capture is None else stream.capture).append(command)
        return (OK,)

    def run(self, stream: Stream, until: int | None = None) -> CUresult:
        """Run commands of a stream, and those that they wait for."""
        until = len(stream.commands) if until is None else until
        while stream.done < until and stream.device not in self.broken:
            command = stream.commands[stream.done]
            assert all(self._block_of(place) is not None for place in command.uses), "freed memory"
            try:
                command.run()
            except Fault as fault:
                self.broken[stream.device] = fault.args[0]
            stream.done = stream.done + 1
        return self.broken.get(stream.device, OK)

    @contextmanager
    def entered(self) -> Generator[None]:
        """`with` it, device 0 is current, and other threads wait."""
        with self.lock:
            self.stack.append(0)
            yield
            self.stack.pop()

    def finish(self, handle: int) -> None:
        """Run all commands of a stream of the current context."""
        with self.lock:
            self.run(self.stream(handle))

    def _block_of(self, place: int) -> int | None:
        for start, block in self.blocks.items():
            if start <= place < start + block.nbytes:
                return start
        return None

    # -- devices

    def cuInit(self, flags: int) -> Any:
        return (OK,)

    def cuDeviceGetCount(self) -> Any:
        return OK, len(self.uuids)

    def cuDeviceGet(self, number: int) -> Any:
        return OK, number

    def cuDevicePrimaryCtxRetain(self, device: int) -> Any:
        return OK, device

    def cuCtxPushCurrent(self, context: int) -> Any:
        self.stack.append(context)
        return (OK,)

    def cuCtxPopCurrent(self) -> Any:
        return OK, self.stack.pop()

    def cuCtxSynchronize(self) -> Any:
        for stream in [s for s in self.streams.values() if s.device == self.context]:
            self.run(stream)
        return (self.broken.get(self.stream(1).device, OK),)

    def cuDeviceTotalMem(self, device: int) -> Any:
        return OK, self.memory

    def cuDeviceGetAttribute(self, name: str, device: int) -> Any:
        capability = dict(zip(_ATTRIBUTES, self.capability, strict=False))
        return OK, capability.get(name, _ATTRIBUTES[name])

    def cuDeviceGetName(self, length: int, device: int) -> Any:
        return OK, b"Stand-in".ljust(length, b"\0")

    def cuDeviceGetUuid(self, device: int) -> Any:
        return OK, SimpleNamespace(bytes=self.uuids[device])

    def cuDriverGetVersion(self) -> Any:
        return OK, 13000

    def cuGetErrorString(self, error: CUresult) -> Any:
        return OK, error.name.lower().replace("_", " ").encode()

    # -- memory

    def cuMemAlloc(self, nbytes: int) -> Any:
        if sum(block.nbytes for block in self.blocks.values()) + nbytes > self.memory:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        block = np.full(nbytes, 0xAB, np.uint8)
        self.blocks[block.ctypes.data] = block
        return OK, block.ctypes.data

    def cuMemFree(self, pointer: int) -> Any:
        users = (place for command in self.pending for place in command.uses)
        assert pointer not in map(self._block_of, users), "a queued command uses this memory"
        del self.blocks[pointer]
        return (OK,)

    def cuMemHostAlloc(self, nbytes: int, flags: int) -> Any:
        block = np.full(nbytes, 0xAB, np.uint8)
        self.pinned[block.ctypes.data] = block
        return OK, block.ctypes.data

    def _move(self, target: int, source: int, nbytes: int, stream: int) -> Any:
        uses = [place for place in (target, source) if self._block_of(place) is not None]
        pinned = [
            place
            for place in (target, source)
            for start, block in self.pinned.items()
            if start <= place and place + nbytes <= start + block.nbytes
        ]
        assert len(uses) + len(pinned) == 2, "memory of the host that is not pinned"
        return self.submit(stream, Command(partial(ctypes.memmove, target, source, nbytes), uses))

    cuMemcpyHtoDAsync = cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = _move

    def cuMemcpy2DAsync(self, copy: Any, stream: int) -> Any:
        for row in range(copy.Height):
            target = copy.dstDevice + row * copy.dstPitch
            self._move(target, copy.srcDevice + row * copy.srcPitch, copy.WidthInBytes, stream)
        return (OK,)

    def cuMemsetD8Async(self, target: int, value: int, nbytes: int, stream: int) -> Any:
        return self.submit(stream, Command(partial(ctypes.memset, target, value, nbytes), [target]))

    # -- code

    def cuLinkCreate(self, count: int, options: Any, values: Any) -> Any:
        self.log = values[0]
        return OK, 1

    def cuLinkAddData(
        self, state: int, kind: int, data: bytes, size: int, name: bytes, *options: Any
    ) -> Any:
        self.linked = data[:-1]
        if b"bad" not in data:
            return (OK,)
        self.log[:11] = b"line 3: bad"
        return (CUresult.CUDA_ERROR_INVALID_PTX,)

    def cuLinkComplete(self, state: int) -> Any:
        major, minor = self.capability
        self.compiled.append(f"sm_{major}{minor}")
        self.code = ctypes.create_string_buffer(self.linked + f" sm_{major}{minor}".encode())
        return OK, ctypes.addressof(self.code), len(self.code) - 1

    def cuLinkDestroy(self, state: int) -> Any:
        return (OK,)

    def nvrtcVersion(self) -> Any:
        return 0, 13, 0

    def nvrtcCreateProgram(self, code: bytes, *_: Any) -> Any:
        return 0, [code]

    def nvrtcCompileProgram(self, program: list[bytes], count: int, options: list[bytes]) -> Any:
        architecture = options[0].partition(b"=")[2]
        self.compiled.append(architecture.decode())
        program.append(b".target " + architecture.rstrip(b"a"))
        return (0,)

    def nvrtcGetCUBINSize(self, program: list[bytes]) -> Any:
        return 0, len(program[1])

    def nvrtcGetCUBIN(self, program: list[bytes], code: bytearray) -> Any:
        code[:] = program[1]
        return (0,)

    def nvrtcDestroyProgram(self, program: list[bytes]) -> Any:
        return (0,)

    def cuModuleLoadData(self, code: bytes) -> Any:
        assert b".target" in code
        major, minor = (int(n) for n in divmod(int(code.rpartition(b"sm_")[2]), 10))
        if major != self.capability[0] or minor > self.capability[1]:
            return CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU, None
        self.modules.add(module := next(self.handles))
        return OK, module

    def cuModuleUnload(self, module: int) -> Any:
        assert all(command.module != module for command in self.pending), "its kernels are queued"
        self.modules.remove(module)
        return (OK,)

    def cuModuleGetFunction(self, module: int, name: bytes) -> Any:
        return OK, Function(module, name.decode())

    def cuFuncGetAttribute(self, kind: int, function: Function) -> Any:
        return OK, 512

    def cuFuncSetAttribute(self, function: Function, kind: int, value: int) -> Any:
        self.attributes[function, kind] = value
        return (OK,)

    def cuLaunchKernel(self, function: Function, *of: Any) -> Any:
        *grid, local, stream, pointers, _ = of
        self.local.append(local)
        assert function.module in self.modules
        if grid[0] > 65535:
            return (CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,)
        count, run = self.kernels[function.name]
        places = (ctypes.c_void_p * count).from_address(pointers)
        values = [ctypes.c_int64.from_address(place).value for place in places]
        uses = [value for value in values if self._block_of(value) is not None]
        return self.submit(stream, Command(partial(run, *values), uses, function.module))

    # -- graphs

    def cuStreamCreate(self, flags: int) -> Any:
        assert isinstance(self.context, int)
        self.streams[handle := next(self.handles)] = Stream(self.context)
        return OK, handle

    def cuStreamSynchronize(self, stream: int) -> Any:
        found = self.stream(stream)
        if found.capture is not None:
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        return (self.run(found),)

    def cuStreamBeginCapture(self, stream: int, mode: int) -> Any:
        assert self.stream(stream).capture is None
        self.stream(stream).capture = []
        return (OK,)

    def cuStreamEndCapture(self, stream: int) -> Any:
        found = self.stream(stream)
        assert found.capture is not None
        graph = next(self.handles)
        self.graphs[graph], found.capture = found.capture, None
        return OK, graph

    def cuGraphInstantiate(self, graph: int, flags: int) -> Any:
        executable = next(self.handles)
        self.graphs[executable] = self.graphs[graph]
        return OK, executable

    def cuGraphLaunch(self, graph: int, stream: int) -> Any:
        for command in self.graphs[graph]:
            self.submit(stream, command)
        return (OK,)

    def cuGraphDestroy(self, graph: int) -> Any:
        del self.graphs[graph]
        return (OK,)

    cuGraphExecDestroy = cuGraphDestroy

    # -- events

    def cuEventCreate(self, flags: int) -> Any:
        event = next(self.handles)
        self.events[event] = Stream(0), 0
        return OK, event

    def cuEventRecord(self, event: int, stream: int) -> Any:
        if stream > _DEFAULT_STREAMS and stream not in self.streams:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        self.events[event] = (found := self.stream(stream)), len(found.commands)
        return (OK,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> Any:
        return self.submit(stream, Command(partial(self.run, *self.events[event])))

    def cuEventQuery(self, event: int) -> Any:
        stream, place = self.events[event]
        if stream.done >= place and stream.device not in self.hung:
            return (OK,)
        if stream.device not in self.hung:
            self.run(stream, place)
        return (CUresult.CUDA_ERROR_NOT_READY,)

    def cuEventSynchronize(self, event: int) -> Any:
        return (self.run(*self.events[event]),)

    def cuEventElapsedTime(self, start: int, end: int) -> Any:
        assert all(stream.done >= place for stream, place in map(self.events.get, (start, end)))
        return OK, 0.5

    def cuEventDestroy(self, event: int) -> Any:
        del self.events[event]
        return (OK,)


def doubled(target: int, source: int) -> None:
    """A kernel: twice 1000 floats."""
    floats = ctypes.c_float * 1000
    target_array, array = (
        np.ctypeslib.as_array(floats.from_address(place)) for place in (target, source)
    )
    target_array[:] = 2 * array
