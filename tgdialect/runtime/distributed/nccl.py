"""Collectives between NVIDIA's GPUs, by NCCL (`pip install 'tgdialect[nccl]'`).

Values stay in the memory of the GPUs. NCCL's commands are in a stream of their own beside that of
the kernels: a collective begins when the commands before it are done, and the kernels that need its
result wait for it on the GPU. NCCL splits and joins along the leading axis of an array alone, so
that along other axes parts are copied to or from such an array.

What NCCL has no operation for goes by the memory of the host: maxima of floats, since NCCL's drop
NaN, and reductions of integers of 16 bits and of floats of 8 bits. Sums of f16 and bf16 are rounded
after each addition, where other devices round once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from tgdialect.analysis.communication import Collective
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.cuda import CudaDriver
from tgdialect.runtime.devices.cuda_context import Mark, SideStream
from tgdialect.runtime.devices.device import Device
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.distributed.exchange import (
    FROM_ROOT,
    JOINS,
    OF_ROOT,
    REDUCTIONS,
    SPLITS,
    TO_ROOT,
    Communicator,
    Exchange,
    Finished,
    Intent,
    Pending,
)

_ID_BYTES = 128
"""The length of what identifies a new communicator of NCCL (`ncclUniqueId`)."""
_UUID_BYTES = 16
"""The length of a GPU's UUID."""
_NO_CONFIGURATION = 0
"""The null pointer in place of an `ncclConfig_t`: NCCL's defaults."""
_PAUSE_SECONDS = 0.0002
"""The time between two looks of the host whether the collectives of a call are done, in seconds.
Longer: calls end later; shorter: the host's core is busy."""
_DTYPES = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 32, 64)) | {
    "float16",
    "bfloat16",
    "float32",
    "float64",
}
"""The dtypes that NCCL reduces as we do. Its names of them begin with a capital."""
_NAMES = {Collective.ALL_TO_ALL: "allto_all"}
"""NCCL's names of the kinds that it calls otherwise."""
_OPERATIONS = {"add": "Sum", "mul": "Prod", "max": "Max"}
_BOOL_OPERATIONS = {"add": "Max", "mul": "Min", "max": "Max"}
"""Or, and, or: of bytes that are 0 or 1."""
_Command = Callable[[], None]


@cache
def nccl_bindings() -> Any:
    """NVIDIA's bindings of NCCL; None if they, or NCCL itself, are not installed."""
    try:
        api = import_module("nccl.bindings.nccl")
        api.get_version()
    except (ImportError, RuntimeError):
        return None
    return api


class NcclLink:
    """The connection of one GPU with others: it is kept from call to call."""

    def __init__(self, driver: CudaDriver, api: Any) -> None:
        """`api` is NCCL; tests pass another one than NVIDIA's."""
        self.driver = driver
        self.api = api
        self.stream = SideStream(driver)
        self._groups: dict[tuple[int, ...], Any] = {}

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of NCCL. Raises DeviceError with what NCCL says."""
        with self.driver.current:
            try:
                return getattr(self.api, name)(*arguments)
            except self.api.NCCLError as error:
                raise DeviceError(f"{self.driver.name}: NCCL: {error}") from None

    def submit(self, name: str, *arguments: Any) -> None:
        """Submit a command of NCCL to the side stream."""
        self.call(name, *arguments, int(self.stream.handle))

    def group(self, members: tuple[int, ...], host: Communicator) -> Any:
        """NCCL's communicator of some devices, made when they first meet.

        All of them have come here before any begins to make it, so that none waits in NCCL for a
        device that has failed.
        """
        if members not in self._groups:
            position = members.index(host.rank)
            own = bytes(_ID_BYTES) if position else bytes(self.call("get_unique_id"))
            name = bytearray(_gathered(host, members, own)[0])
            arguments = len(members), position, 1, name, _NO_CONFIGURATION
            self._groups[members] = self.call("comm_init_rank_scalable", *arguments)
        return self._groups[members]

    def abort(self) -> None:
        """End the collectives that are under way, whose other devices may never come."""
        groups, self._groups = self._groups, {}
        for group in groups.values():
            with suppress(DeviceError):  # The device may have failed.
                self.call("comm_abort", group)


class NcclCommunicator(Communicator):
    """One GPU's connection to the others in one call of a program."""

    takes_device_arrays = True

    def __init__(self, link: NcclLink, host: Communicator) -> None:
        """`host` connects the same devices by the memory of the host."""
        super().__init__(host.rank, host.size)
        self.link, self.host, self.lock = link, host, host.lock
        self._unfinished: list[_Started] = []

    @property
    def bytes_sent(self) -> int:
        return self._sent + self.host.bytes_sent

    def start(self, exchange: Exchange, value: Any) -> Pending:
        members = exchange.members
        driver = self.link.driver
        if len(members) == 1 and exchange.kind is not Collective.TRANSFER:
            return Finished(value)
        if not _is_native(exchange):
            given = value.numpy() if isinstance(value, DeviceArray) else value
            return self.host.start(exchange, given)
        if value is not None and not isinstance(value, DeviceArray):
            value = DeviceArray.of(driver, value)
        if not exchange.operand_bytes:
            return Finished(DeviceArray.empty(driver, exchange.result, exchange.dtype))
        self.settle()  # The GPU writes results that nobody on the host waits for.
        started = _Started(self, exchange, self.link.group(members, self.host), value)
        self.count(exchange.sent_by(members.index(self.rank)))
        self._unfinished.append(started)
        return started

    def finish(self, started: _Started) -> None:
        """Forget a collective that later commands of the GPU wait for."""
        self._unfinished.remove(started)

    def begin(self, intent: Intent) -> None:
        self.host.begin(intent)

    def settle(self) -> None:
        self.host.settle()

    def progress(self) -> None:
        self.host.progress()

    def check(self) -> None:
        self.host.check()

    def end(self) -> None:
        # The host waits here, and not where it reads a result: a device that has failed may never
        # take part in a collective.
        mark = self.link.stream.mark()
        while not mark.is_reached():
            self.check()
            time.sleep(_PAUSE_SECONDS)
        for started in list(self._unfinished):
            started.wait()
        self.host.end()

    def refuse(self, error: Exception) -> None:
        self.host.refuse(error)

    def fail(self, error: BaseException) -> None:
        self.host.fail(error)
        self.link.abort()
        self._unfinished.clear()


class _Started(Pending):
    """A collective whose commands have been submitted."""

    def __init__(
        self, here: NcclCommunicator, exchange: Exchange, group: Any, value: DeviceArray | None
    ) -> None:
        self._here, self._exchange, self._group = here, exchange, group
        self._link = here.link
        self._position = exchange.members.index(here.rank)
        self._keep: list[object] = [value]
        """Memory that the side stream reads or writes: it returns to the pool when the kernels'
        stream is behind those commands."""
        stream = self._link.stream
        # The result is allocated before: its memory may be in use by commands of the kernels.
        self._result, commands = self._plan(value)
        stream.follow()
        for command in commands:
            command()
        self._mark: Mark | None = stream.mark()

    def wait(self) -> Any:
        if self._mark is not None:
            self._mark.precede()
            self._mark = None
            self._keep.clear()
            self._here.finish(self)
        return self._result

    def _plan(self, value: DeviceArray | None) -> tuple[DeviceArray | None, list[_Command]]:
        """The result, and the commands that compute it: copies that split the value, NCCL's, and
        copies that join the result."""
        exchange, kind = self._exchange, self._exchange.kind
        is_root = self._position == exchange.root
        before: list[_Command] = []
        after: list[_Command] = []
        source, found = value, None
        if kind in SPLITS and value is not None:
            source, before = self._parts_of(value, exchange.axis, is_joining=False)
        if kind in OF_ROOT and is_root:
            found = value
        elif is_root or kind not in TO_ROOT:
            found = self._array(exchange.result)
        target = found
        if kind in JOINS and found is not None:
            axis = exchange.joined if kind is Collective.ALL_TO_ALL else exchange.axis
            target, after = self._parts_of(found, axis, is_joining=True)
        count = math.prod(exchange.shape) // (len(exchange.members) if kind in SPLITS else 1)
        rest = count * exchange.dtype.itemsize, int(self._link.api.DataType.Uint8)
        if kind is Collective.TRANSFER:
            name, arrays, rest = "send" if is_root else "recv", [found], (*rest, 1 - self._position)
        else:
            name, arrays = _NAMES.get(kind, kind.value), [source, target]
            rest = (count, *self._operation()) if kind in REDUCTIONS else rest
            rest = (*rest, exchange.root) if kind in FROM_ROOT | TO_ROOT else rest
        # This device may have no array to read, or to write.
        addresses = [0 if array is None else array.address for array in arrays]
        call = partial(self._link.submit, name, *addresses, *rest, self._group)
        return found, [*before, call, *after]

    def _operation(self) -> tuple[int, int]:
        """NCCL's numbers of the dtype and of the operation of a reduction."""
        api, exchange = self._link.api, self._exchange
        is_bool = exchange.dtype == np.bool_
        dtype = "Uint8" if is_bool else exchange.dtype.name.capitalize()
        names = _BOOL_OPERATIONS if is_bool else _OPERATIONS
        return int(api.DataType[dtype]), int(api.RedOp[names[exchange.reduction]])

    def _array(self, shape: Sequence[int]) -> DeviceArray:
        found = DeviceArray.empty(self._link.driver, tuple(shape), self._exchange.dtype)
        self._keep.append(found)
        return found

    def _parts_of(
        self, whole: DeviceArray, axis: int, *, is_joining: bool
    ) -> tuple[DeviceArray, list[_Command]]:
        """An array whose leading axis is that of the parts of another one along an axis, and what
        copies the one to the other: rows of the whole have a piece of each part."""
        n, stream = len(self._exchange.members), self._link.stream
        before, (extent, *after) = whole.shape[:axis], whole.shape[axis:]
        shape = n, *before, extent // n, *after
        rows = math.prod(before)
        if rows == 1:
            return whole.reshaped(shape), []
        parts = self._array(shape)
        width = parts.nbytes // (n * rows)

        def copy(position: int) -> None:
            apart = parts.address + position * rows * width, width
            together = whole.address + position * width, n * width
            source, target = (apart, together) if is_joining else (together, apart)
            stream.copy_rows(source, target, width, rows)

        return parts, [partial(copy, position) for position in range(n)]


def nccl_links(
    devices: Sequence[Device], communicator: Communicator | None, api: Any = None
) -> Sequence[NcclLink]:
    """The connections of a program's devices by NCCL: a link for each device of this process. There
    are none unless all devices are distinct GPUs of NVIDIA's, and all processes have NCCL.

    Args:
        devices: those of this process.
        communicator: the connection to other processes, if there are some; all of them call this.
        api: NCCL; tests pass another one than NVIDIA's.
    """
    api = api or nccl_bindings()
    drivers = [d.driver for d in devices if api is not None and not d.is_host]
    gpus = [driver for driver in drivers if isinstance(driver, CudaDriver)]
    is_usable = len(gpus) == len(devices) == len({gpu.uuid for gpu in gpus})
    if communicator is not None:
        is_usable = _are_distinct(gpus[0].uuid if is_usable else None, communicator)
    if not is_usable or (communicator is None and len(devices) == 1):
        return ()
    return [_link(gpu, api) for gpu in gpus]


_link = cache(NcclLink)
"""The link of a GPU, which all programs share: NCCL's communicators take memory and time."""


@cache
def _are_distinct(gpu: bytes | None, communicator: Communicator) -> bool:
    """Whether each process has a GPU, given by its UUID, that no other process has: their names are
    all "CUDA:0" where each process sees one. All processes ask at once, when they compile their
    first program."""
    everyone = tuple(range(communicator.size))
    intent = Intent(lambda: "asks whether all GPUs are distinct", b"GPUs")
    own = gpu or bytes(_UUID_BYTES)
    found = communicator.call(intent, lambda: _gathered(communicator, everyone, own))
    return bool(found.any(1).all()) and len(np.unique(found, axis=0)) == communicator.size


def _gathered(host: Communicator, members: tuple[int, ...], own: bytes) -> Array:
    """The bytes of some devices, of one length, in an array with a row for each."""
    value = np.frombuffer(own, np.uint8).reshape((1, -1))
    shape = len(members), value.size
    exchange = Exchange(Collective.ALL_GATHER, members, value.shape, value.dtype, shape)
    found = host.execute(exchange, value)
    assert found is not None
    return found


def _is_native(exchange: Exchange) -> bool:
    """Whether NCCL computes what a collective does."""
    dtype = exchange.dtype
    if exchange.kind not in REDUCTIONS or dtype == np.bool_:
        return True
    is_float = dtype.kind not in "iu"
    return dtype.name in _DTYPES and not (is_float and exchange.reduction == "max")
