"""Loaded kernels of a GPU, and graphs of their launches."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from tgdialect.runtime.devices.cuda_context import CudaContext
from tgdialect.runtime.devices.driver import (
    Command,
    DeviceError,
    RepeatableKernels,
    Span,
    address_of,
)
from tgdialect.runtime.devices.program import DeviceKernel
from tgdialect.runtime.progress import progress

_GRAPHS = 16
"""The CUDA graphs that a program keeps: as many sets of memory as its callers take turns with. With
fewer, callers that alternate between more arrays record graphs anew; each graph keeps some tens of
KiB of the device."""


class CudaKernels(RepeatableKernels):
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
        driver = self._driver
        with driver.current, driver.lock:
            driver.queued.append(self._names(commands))
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

    def _names(self, commands: Sequence[Command]) -> Sequence[str]:
        return [self._kernels[command.kernel].name for command in commands]

    def repeated(self, commands: Sequence[Command]) -> Callable[[], object]:
        driver = self._driver
        key, commands = _key(commands), [_by_addresses(c) for c in commands]
        names = self._names(commands)
        if len(commands) != 1:
            return partial(self._submit_again, commands, key, names)
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

    def _submit_again(self, commands: Sequence[Command], key: str, names: Sequence[str]) -> None:
        """`submit`, without making the key of the graph and the names of the kernels."""
        driver = self._driver
        graph = self._graphs.get(key)
        if graph is None:
            self.submit(commands)
            return
        with driver.current, driver.lock:
            driver.queued.append(names)
            self._graphs.move_to_end(key)
            driver.checked(driver.api.cuGraphLaunch(graph, driver.stream))

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
            *(address_of(a) if isinstance(a, Span) else a for a in command.arguments)
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
    values = (address_of(a) if isinstance(a, Span) else a for a in command.arguments)
    return command._replace(arguments=tuple(values))


def _key(commands: Sequence[Command]) -> str:
    """A string that is the same for commands that do the same. It refers to no blocks, so that a
    graph keeps no memory alive, and its hash is computed once."""
    return str([tuple(_by_addresses(command)) for command in commands])
