"""A stand-in for `cuda.bindings.driver`: memory of this process, and kernels in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np


class CUresult(Enum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
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

    def __init__(self, kernels: dict[str, tuple[int, Callable[..., None]]], memory: int = 1 << 20):
        self.kernels = kernels
        self.memory = memory
        self.blocks: dict[int, np.ndarray] = {}
        self.modules: set[int] = set()
        self.calls: list[str] = []
        self.streams = 0
        self.recorded: int | None = None
        """The stream whose commands are recorded."""
        self.recording: list[Callable[[], None]] = []
        self.failure: CUresult | None = None
        self.pending: CUresult | None = None
        """What an event says that has not been reached."""
        self.log = bytearray()
        self.attributes: dict[tuple[str, int], int] = {}
        self.local: list[int] = []
        """The LOCAL memory of each launch."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("cu"):
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)

    # -- devices

    def cuInit(self, flags: int) -> Any:
        return (OK,)

    def cuDeviceGetCount(self) -> Any:
        return OK, 1

    def cuDeviceGet(self, number: int) -> Any:
        return OK, number

    def cuDevicePrimaryCtxRetain(self, device: int) -> Any:
        return OK, 1

    def cuCtxSetCurrent(self, context: int) -> Any:
        return (OK,)

    def cuStreamCreate(self, flags: int) -> Any:
        self.streams += 1
        return OK, self.streams

    def cuDeviceTotalMem(self, device: int) -> Any:
        return OK, self.memory

    def cuDeviceGetAttribute(self, name: str, device: int) -> Any:
        return OK, _ATTRIBUTES[name]

    def cuDeviceGetName(self, length: int, device: int) -> Any:
        return OK, b"Stand-in".ljust(length, b"\0")

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
        del self.blocks[pointer]
        return (OK,)

    def _move(self, target: int, source: int, nbytes: int, stream: int) -> Any:
        if stream == self.recorded:
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        ctypes.memmove(target, source, nbytes)
        return (OK,)

    cuMemcpyHtoDAsync = cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = _move

    def cuMemcpy2DAsync(self, copy: Any, stream: int) -> Any:
        for row in range(copy.Height):
            target = copy.dstDevice + row * copy.dstPitch
            self._move(target, copy.srcDevice + row * copy.srcPitch, copy.WidthInBytes, stream)
        return (OK,)

    def cuMemsetD8Async(self, target: int, value: int, nbytes: int, stream: int) -> Any:
        ctypes.memset(target, value, nbytes)
        return (OK,)

    def cuStreamSynchronize(self, stream: int) -> Any:
        if stream == self.recorded:
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        failure, self.failure = self.failure, None
        return (failure or OK,)

    # -- kernels

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
        self.code = ctypes.create_string_buffer(self.linked)
        return OK, ctypes.addressof(self.code), len(self.linked)

    def cuLinkDestroy(self, state: int) -> Any:
        return (OK,)

    def cuModuleLoadData(self, code: bytes) -> Any:
        assert b".target" in code
        self.modules.add(module := len(self.calls))
        return OK, module

    def cuModuleUnload(self, module: int) -> Any:
        self.modules.remove(module)
        return (OK,)

    def cuModuleGetFunction(self, module: int, name: bytes) -> Any:
        return OK, name.decode()

    def cuFuncGetAttribute(self, kind: int, function: str) -> Any:
        return OK, 512

    def cuFuncSetAttribute(self, function: str, kind: int, value: int) -> Any:
        self.attributes[function, kind] = value
        return (OK,)

    def cuLaunchKernel(self, function: str, *of: Any) -> Any:
        *grid, local, stream, pointers, _ = of
        self.local.append(local)
        if grid[0] > 65535:
            return (CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,)
        count, run = self.kernels[function]
        places = (ctypes.c_void_p * count).from_address(pointers)
        values = [ctypes.c_int64.from_address(place).value for place in places]
        if stream == self.recorded:
            self.recording.append(lambda: run(*values))
        else:
            run(*values)
        return (OK,)

    # -- graphs and events

    def cuStreamBeginCapture(self, stream: int, mode: int) -> Any:
        self.recorded, self.recording = stream, []
        return (OK,)

    def cuStreamEndCapture(self, stream: int) -> Any:
        self.recorded = None
        return OK, self.recording

    def cuGraphInstantiate(self, graph: Any, flags: int) -> Any:
        return OK, graph

    def cuGraphLaunch(self, graph: Any, stream: int) -> Any:
        for run in graph:
            run()
        return (OK,)

    def cuGraphDestroy(self, graph: Any) -> Any:
        return (OK,)

    cuGraphExecDestroy = cuGraphDestroy

    def cuEventCreate(self, flags: int) -> Any:
        return OK, 1

    def cuEventRecord(self, event: int, stream: int) -> Any:
        return (OK,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> Any:
        return (OK,)

    def cuEventQuery(self, event: int) -> Any:
        return (self.pending or OK,)

    def cuEventElapsedTime(self, start: int, end: int) -> Any:
        return OK, 0.5

    def cuEventDestroy(self, event: int) -> Any:
        return (OK,)
