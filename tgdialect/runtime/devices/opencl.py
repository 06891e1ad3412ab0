"""OpenCL devices, by pyopencl.

A part of a buffer is passed to a kernel as a sub-buffer, so that kernels take plain pointers, as on
every other device. A sub-buffer begins at a multiple of the device's alignment, as the views of an
arena do. Another part is copied to a buffer of its own, and back after a kernel that writes it.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.cache import cache_key, object_cache
from tgdialect.runtime.devices.driver import (
    Command,
    DeviceBlock,
    DeviceError,
    DeviceMemoryError,
    Driver,
    Limits,
    LoadedKernels,
    Span,
)
from tgdialect.runtime.devices.program import DeviceKernel
from tgdialect.runtime.progress import progress

# PoCL loads what other processes have not finished writing to its cache, and crashes.
os.environ.setdefault("POCL_KERNEL_CACHE", "0")
cl: Any = import_module("pyopencl")
"""Optional, and so not known to the type checker."""

_GROUPS = 2**31 - 1
"""Workgroups along an axis: OpenCL states no limit; drivers count them in 32 bits."""
_WORD = 4
"""The bytes of a word, of which buffers have a whole number: an atomic operation on a narrower
element exchanges its word."""
_DLPACK = 4
"""`kDLOpenCL`."""
OPTIONS = ("-cl-std=CL1.2", "-w")
"""Options of the compiler: no warnings. None of them lets it change the values of floats."""


@cache
def devices() -> Sequence[Any]:
    """The OpenCL devices of all platforms, GPUs first. Empty where there is no platform."""
    try:
        platforms = cl.get_platforms()
    except cl.Error:
        return ()
    found = [device for platform in platforms for device in platform.get_devices()]
    return sorted(found, key=lambda device: not device.type & cl.device_type.GPU)


def device_count() -> int:
    """How many OpenCL devices there are."""
    return len(devices())


def open_device(name: str, number: int) -> OpenClDriver:
    """The driver of a device, by its number among all."""
    return OpenClDriver(name, devices()[number])


class OpenClDriver(Driver):
    """An OpenCL device, with a context and an in-order queue."""

    is_shared_unasked = False

    def __init__(self, name: str, device: Any) -> None:
        x, y, z = device.max_work_item_sizes[:3]
        super().__init__(
            name,
            "opencl",
            Limits(
                memory=device.global_mem_size,
                allocation=device.max_mem_alloc_size,
                local=device.local_mem_size,
                workgroup=device.max_work_group_size,
                workgroup_axes=(x, y, z),
                groups=(_GROUPS, _GROUPS, _GROUPS),
                units=device.max_compute_units,
                alignment=max(device.mem_base_addr_align // 8, 1),
                has_f64="cl_khr_fp64" in device.extensions.split(),
            ),
        )
        self.device = device
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.lock = threading.Lock()
        """Held while arguments are set: a kernel object has one set of them."""
        platform = device.platform
        self._compiler = (device.name, device.version, device.driver_version, platform.version)

    @property
    def identity(self) -> Sequence[str]:
        return self._compiler

    def allocate(self, nbytes: int) -> DeviceBlock:
        if nbytes > self.limits.allocation:
            raise DeviceMemoryError(f"{self.name} has no block of {nbytes} bytes")
        try:
            # Whole words: an atomic operation on a narrower element exchanges its word.
            size = max(nbytes + -nbytes % _WORD, _WORD)
            handle = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)
        except (cl.MemoryError, cl.RuntimeError) as error:
            raise DeviceMemoryError(f"{self.name} has no {nbytes} bytes left: {error}") from None
        return DeviceBlock(handle, nbytes)

    def write(self, target: Span, array: Array) -> None:
        places = target.block.handle, array.reshape(-1).view(np.uint8)
        self._queued(target.nbytes, cl.enqueue_copy, *places, dst_offset=target.offset)

    def read(self, source: Span, array: Array) -> None:
        places = array.reshape(-1).view(np.uint8), source.block.handle
        self._queued(source.nbytes, cl.enqueue_copy, *places, src_offset=source.offset)

    def copy(self, source: Span, target: Span) -> None:
        places = {"src_offset": source.offset, "dst_offset": target.offset}
        handles, nbytes = (target.block.handle, source.block.handle), source.nbytes
        self._queued(nbytes, cl.enqueue_copy, *handles, byte_count=nbytes, **places)

    def clear(self, span: Span) -> None:
        where = span.block.handle, np.uint8(0), span.offset, span.nbytes
        self._queued(span.nbytes, cl.enqueue_fill_buffer, *where)

    def _queued(self, nbytes: int, command: Any, *arguments: Any, **options: int) -> None:
        """Queue a command on memory, if it has a byte."""
        if nbytes:
            self._call(command, self.queue, *arguments, **options)

    def synchronize(self) -> None:
        self.settle()
        self._call(lambda: self.queue.finish())
        self.settle()

    def _call(self, command: Any, *arguments: Any, **options: int) -> None:
        """Raise DeviceError where OpenCL has an error, which may be that of a kernel before."""
        try:
            command(*arguments, **options)
        except cl.Error as error:
            raise DeviceError(
                f"{self.name}: {_log(error)}; one of the kernels queued before may have caused it"
            ) from None

    def mark(self) -> _Mark:
        event = cl.enqueue_marker(self.queue)
        self.queue.flush()
        return _Mark(event)

    def load(self, kernels: Sequence[DeviceKernel]) -> LoadedKernels:
        return _Kernels(self, kernels)

    @property
    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK, int(self.name.partition(":")[2])

    @property
    def dlpack_request(self) -> Mapping[str, Any]:
        return {"dl_device": self.dlpack_device}

    def dlpack_pointer(self, span: Span, stream: int | None) -> tuple[int, int, int, int]:
        self.synchronize()  # A consumer cannot wait for a queue.
        return *self.dlpack_device, span.block.handle.int_ptr, span.offset

    def adopt(self, pointer: int, offset: int, nbytes: int) -> Span:
        buffer = cl.Buffer.from_int_ptr(pointer, retain=True)
        if buffer.context != self.context:
            raise DeviceError(f"the memory is of another OpenCL context than that of {self.name}")
        return Span(DeviceBlock(buffer, offset + nbytes), offset, nbytes)

    # -- kernels

    def built(self, kernel: DeviceKernel) -> Any:
        """The kernel's object. What the compiler makes of a source is kept in the object cache.

        Raises DeviceError, with the compiler's log.
        """
        if self._is_pocl_3 and shutil.which("ld") is None:  # It would end the process.
            raise DeviceError(
                f"{self.name} is PoCL, which links kernels by ld: there is none in PATH"
            )
        try:
            return self._binary(kernel.code, kernel) if kernel.is_binary else self._compiled(kernel)
        except cl.Error as error:
            raise DeviceError(f"{self.name} cannot compile @{kernel.name}: {_log(error)}") from None

    def _compiled(self, kernel: DeviceKernel) -> Any:
        store = object_cache()
        source = kernel.code.decode()
        # PoCL 3 loses updates of private variables under an IF that some work items skip, in
        # kernels with BARRIERs.
        is_wrong = self._is_pocl_3 and "barrier(" in source and "if (" in source
        options = [*OPTIONS, *(["-cl-opt-disable"] if is_wrong else [])]
        key = cache_key("opencl", *self._compiler, *options, source)
        if store is not None and (binary := store.get(key)) is not None:
            return self._binary(binary, kernel)
        program = cl.Program(self.context, source).build(options)
        if store is not None:
            (binary,) = program.get_info(cl.program_info.BINARIES)
            store.put(key, binary)
        return _kernel_of(program, kernel)

    @property
    def _is_pocl_3(self) -> bool:
        return "PoCL 3." in self.device.platform.version

    def _binary(self, binary: bytes, kernel: DeviceKernel) -> Any:
        return _kernel_of(cl.Program(self.context, [self.device], [binary]).build(), kernel)


class _Mark(NamedTuple):
    """A place in the queue: an event."""

    event: Any

    def is_reached(self) -> bool:
        return self.event.command_execution_status <= cl.command_execution_status.COMPLETE


def _kernel_of(program: Any, kernel: DeviceKernel) -> Any:
    found = cl.Kernel(program, kernel.symbol)
    if found.num_args != len(kernel.scalars):
        raise DeviceError(
            f"the code of @{kernel.name} takes {found.num_args} arguments, its tg.linear has "
            f"{len(kernel.scalars)}"
        )
    return found


def _log(error: Exception) -> str:
    """The compiler's messages, without pyopencl's framing."""
    return "\n".join([line for line in str(error).splitlines() if line.strip()])


class _Kernels(LoadedKernels):
    """Kernels of an OpenCL device. A workgroup has the size that the kernel was rendered for."""

    def __init__(self, driver: OpenClDriver, kernels: Sequence[DeviceKernel]) -> None:
        self._driver = driver
        self._kernels = kernels
        self._objects: list[Any] = []
        size = cl.kernel_work_group_info.WORK_GROUP_SIZE
        with progress(f"loading on {driver.name}", len(kernels)) as shown:
            for kernel in kernels:
                self._objects.append(found := driver.built(kernel))
                driver.check_workgroup(kernel, found.get_work_group_info(size, driver.device))
                shown.step()
        self._scalars = [
            [None if name is None else np.dtype(name).type for name in kernel.scalars]
            for kernel in kernels
        ]

    def submit(self, commands: Sequence[Command]) -> None:
        queue = self._driver.queue
        with self._driver.lock:
            for command in commands:
                self._enqueue(queue, command)
        queue.flush()

    def timed(self, commands: Sequence[Command]) -> Sequence[float]:
        driver = self._driver
        driver.synchronize()
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(driver.context, properties=profiling)
        with driver.lock:
            try:
                events = [self._enqueue(queue, command) for command in commands]
            finally:
                queue.finish()
        return [1e-9 * (event.profile.end - event.profile.start) for event in events]

    def _enqueue(self, queue: Any, command: Command) -> Any:
        number, groups, arguments = command
        kernel, found = self._kernels[number], self._objects[number]
        after: list[Callable[[], object]] = []
        # A kernel does not own its arguments: they have to live until it is enqueued.
        buffers: list[Any] = []
        try:
            pairs = zip(arguments, self._scalars[number], strict=True)
            for slot, (argument, scalar) in enumerate(pairs):
                if isinstance(argument, Span):
                    buffers.append(self._buffer(queue, argument, slot in kernel.written, after))
                    found.set_arg(slot, buffers[-1])
                else:
                    assert scalar is not None
                    found.set_arg(slot, scalar(argument))
            size = [count * each for count, each in zip(groups, kernel.workgroup, strict=True)]
            event = cl.enqueue_nd_range_kernel(queue, found, size, kernel.workgroup)
            for copy in after:
                copy()
        except cl.Error as error:
            raise self._driver.failure(kernel, command, _log(error)) from None
        return event

    def _buffer(
        self, queue: Any, span: Span, is_written: bool, after: list[Callable[[], object]]
    ) -> Any:
        """The buffer of a span: that of its block if it is the whole block, else a sub-buffer or,
        at an offset that has none, a copy. What `after` gets copies it back."""
        block, offset, nbytes = span
        if offset == 0 and nbytes == block.nbytes:
            return block.handle
        if offset % self._driver.limits.alignment == 0:
            return block.handle.get_sub_region(offset, max(nbytes, 1))
        copied = self._driver.allocate(nbytes).handle
        cl.enqueue_copy(queue, copied, block.handle, src_offset=offset, byte_count=nbytes)
        if is_written:
            places = {"dst_offset": offset, "byte_count": nbytes}
            after.append(partial(cl.enqueue_copy, queue, block.handle, copied, **places))
        return copied
