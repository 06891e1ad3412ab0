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
from importlib.util import find_spec
from typing import Any

import numpy as np

from tgdialect.analysis.communication import Collective
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.cuda import CudaDriver
from tgdialect.runtime.devices.cuda_context import Mark, SideStream
from tgdialect.runtime.devices.device import Device
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.distributed.communicator import Communicator, Finished, Intent, Pending
from tgdialect.runtime.distributed.exchange import Exchange

_ID_BYTES = 128
"""The length of what identifies a new communicator of NCCL (`ncclUniqueId`)."""
_UUID_BYTES = 16
"""The length of a GPU's UUID."""
_NO_CONFIGURATION = 0
"""The null pointer in place of an `ncclConfig_t`: NCCL's defaults."""
_PAUSE_SECONDS = 0.0002
"""The time between two looks of the host whether the collectives of a call are done, in seconds.
Longer: calls end later; shorter: the host's core is busy."""
_DTYPES = {
    "int8": "Int8",
    "uint8": "Uint8",
    "int32": "Int32",
    "uint32": "Uint32",
    "int64": "Int64",
    "uint64": "Uint64",
    "float16": "Float16",
    "bfloat16": "Bfloat16",
    "float32": "Float32",
    "float64": "Float64",
}
"""NCCL's names of the dtypes that it reduces as we do."""
_OPERATIONS = {"add": "Sum", "mul": "Prod", "max": "Max"}
_BOOL_OPERATIONS = {"add": "Max", "mul": "Min", "max": "Max"}
"""Or, and, or: of bytes that are 0 or 1."""
_REDUCTIONS = frozenset({Collective.ALL_REDUCE, Collective.REDUCE, Collective.REDUCE_SCATTER})


@cache
def nccl_bindings() -> Any:
    """NVIDIA's bindings of NCCL; None if they, or NCCL itself, are not installed."""
    if find_spec("nccl") is None:
        return None
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
            mine = np.zeros((1, _ID_BYTES), np.uint8)
            if not position:
                mine[0] = np.frombuffer(bytes(self.call("get_unique_id")), np.uint8)
            everyone = (len(members), _ID_BYTES)
            exchange = Exchange(Collective.ALL_GATHER, members, mine.shape, mine.dtype, everyone)
            ids = host.start(exchange, mine).wait()
            assert ids is not None
            name = bytearray(ids[0])
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
        action = getattr(self, f"_{exchange.kind.value}")
        self._result, commands = action(value)
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

    # -- kinds: each returns the result, and the commands that compute it

    def _all_reduce(self, value: DeviceArray) -> _Plan:
        found = self._array(self._exchange.result)
        dtype, operation = self._operation()
        return found, [self._call("all_reduce", value, found, _count(value), dtype, operation)]

    def _reduce(self, value: DeviceArray) -> _Plan:
        root = self._exchange.root
        found = self._array(self._exchange.result) if self._position == root else None
        dtype, operation = self._operation()
        return found, [self._call("reduce", value, found, _count(value), dtype, operation, root)]

    def _reduce_scatter(self, value: DeviceArray) -> _Plan:
        found = self._array(self._exchange.result)
        parts, split = self._parts(value)
        dtype, operation = self._operation()
        call = self._call("reduce_scatter", parts, found, _count(found), dtype, operation)
        return found, [*split, call]

    def _broadcast(self, value: DeviceArray | None) -> _Plan:
        found = self._array(self._exchange.result) if value is None else value
        root = self._exchange.root
        return found, [self._call("broadcast", value, found, found.nbytes, self._byte, root)]

    def _all_gather(self, value: DeviceArray) -> _Plan:
        parts, found, join = self._joined(value.shape, self._exchange.axis)
        return found, [self._call("all_gather", value, parts, value.nbytes, self._byte), *join]

    def _gather(self, value: DeviceArray) -> _Plan:
        root = self._exchange.root
        if self._position != root:
            return None, [self._call("gather", value, None, value.nbytes, self._byte, root)]
        parts, found, join = self._joined(value.shape, self._exchange.axis)
        return found, [self._call("gather", value, parts, value.nbytes, self._byte, root), *join]

    def _scatter(self, value: DeviceArray | None) -> _Plan:
        found = self._array(self._exchange.result)
        root = self._exchange.root
        parts, split = self._parts(value) if value is not None else (None, [])
        call = self._call("scatter", parts, found, found.nbytes, self._byte, root)
        return found, [*split, call]

    def _all_to_all(self, value: DeviceArray) -> _Plan:
        exchange = self._exchange
        given, split = self._parts(value)
        got, found, join = self._joined(given.shape[1:], exchange.joined)
        each = value.nbytes // len(exchange.members)
        return found, [*split, self._call("allto_all", given, got, each, self._byte), *join]

    def _transfer(self, value: DeviceArray | None) -> _Plan:
        other = 1 - self._position
        is_source = self._position == self._exchange.root
        found = value if is_source else self._array(self._exchange.shape)
        assert found is not None
        arguments = found.address, found.nbytes, self._byte, other, self._group
        return found, [partial(self._link.submit, "send" if is_source else "recv", *arguments)]

    # -- pieces

    @property
    def _byte(self) -> int:
        return int(self._link.api.DataType.Uint8)

    def _operation(self) -> tuple[int, int]:
        """NCCL's numbers of the dtype and of the operation of a reduction."""
        api, exchange = self._link.api, self._exchange
        is_bool = exchange.dtype == np.bool_
        dtype = "Uint8" if is_bool else _DTYPES[exchange.dtype.name]
        names = _BOOL_OPERATIONS if is_bool else _OPERATIONS
        return int(api.DataType[dtype]), int(api.RedOp[names[exchange.reduction]])

    def _array(self, shape: Sequence[int]) -> DeviceArray:
        found = DeviceArray.empty(self._link.driver, tuple(shape), self._exchange.dtype)
        self._keep.append(found)
        return found

    def _call(
        self, name: str, source: DeviceArray | None, target: DeviceArray | None, *rest: int
    ) -> Callable[[], None]:
        """A call of NCCL on two arrays; None is for one that this device does not have."""
        addresses = [0 if array is None else array.address for array in (source, target)]
        return partial(self._link.submit, name, *addresses, *rest, self._group)

    def _parts(self, value: DeviceArray) -> tuple[DeviceArray, list[Callable[[], None]]]:
        """An array whose leading axis is that of the parts of a value, and what fills it."""
        n, axis = len(self._exchange.members), self._exchange.axis
        shape = value.shape
        part = (*shape[:axis], shape[axis] // n, *shape[axis + 1 :])
        if math.prod(shape[:axis]) == 1:
            return value.reshaped((n, *part)), []
        parts = self._array((n, *part))
        return parts, self._copies(part, axis, parts, value, is_joining=False)

    def _joined(
        self, part: Sequence[int], axis: int
    ) -> tuple[DeviceArray, DeviceArray, list[Callable[[], None]]]:
        """An array whose leading axis is that of the parts, one with the parts joined along another
        axis, and what fills the second from the first."""
        n = len(self._exchange.members)
        found = self._array((*part[:axis], n * part[axis], *part[axis + 1 :]))
        if math.prod(part[:axis]) == 1:
            return found.reshaped((n, *part)), found, []
        parts = self._array((n, *part))
        return parts, found, self._copies(part, axis, parts, found, is_joining=True)

    def _copies(
        self,
        part: Sequence[int],
        axis: int,
        parts: DeviceArray,
        whole: DeviceArray,
        *,
        is_joining: bool,
    ) -> list[Callable[[], None]]:
        """Strided copies between an array whose leading axis is that of the parts, and one whose
        rows have a piece of each part."""
        n = len(self._exchange.members)
        rows = math.prod(part[:axis])
        width = math.prod(part[axis:]) * self._exchange.dtype.itemsize
        stream = self._link.stream

        def copy(position: int) -> None:
            apart = parts.address + position * rows * width, width
            together = whole.address + position * width, n * width
            source, target = (apart, together) if is_joining else (together, apart)
            stream.copy_rows(source, target, width, rows)

        return [partial(copy, position) for position in range(n)]


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


@cache
def _link(driver: CudaDriver, api: Any) -> NcclLink:
    """The link of a GPU, which all programs share: NCCL's communicators take memory and time."""
    return NcclLink(driver, api)


@cache
def _are_distinct(gpu: bytes | None, communicator: Communicator) -> bool:
    """Whether each process has a GPU, given by its UUID, that no other process has: their names are
    all "CUDA:0" where each process sees one. All processes ask at once, when they compile their
    first program."""
    mine = np.frombuffer(gpu or bytes(_UUID_BYTES), np.uint8).reshape((1, -1))
    everyone = tuple(range(communicator.size))
    shape = (communicator.size, mine.size)
    exchange = Exchange(Collective.ALL_GATHER, everyone, mine.shape, mine.dtype, shape)
    intent = Intent(lambda: "asks whether all GPUs are distinct", b"GPUs")
    found = communicator.call(intent, lambda: communicator.execute(exchange, mine))
    assert found is not None
    return bool(found.any(1).all()) and len(np.unique(found, axis=0)) == communicator.size


_Plan = tuple[DeviceArray | None, list[Callable[[], None]]]


def _count(array: DeviceArray) -> int:
    return math.prod(array.shape)


def _is_native(exchange: Exchange) -> bool:
    """Whether NCCL computes what a collective does."""
    if exchange.kind not in _REDUCTIONS:
        return True
    dtype = exchange.dtype
    if dtype == np.bool_:
        return True
    is_float = dtype.kind not in "iu"
    return dtype.name in _DTYPES and not (is_float and exchange.reduction == "max")
