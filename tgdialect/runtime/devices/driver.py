"""`Driver`: the interface between a device's API and the rest of the runtime.

Commands are executed in the order in which they are submitted. A call returns before its command
has run, except where it says that it waits.
"""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

from tgdialect.ops.expressions import evaluate
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.program import DeviceKernel, Launch, View
from tgdialect.runtime.memory import Pool


class Fence(Protocol):
    """A place in a queue of commands."""

    def is_reached(self) -> bool:
        """Whether the commands before are done. Raises DeviceError if one has failed."""
        ...


class Deferred:
    """Actions of finalizers, which the next use of the device performs.

    The garbage collector runs finalizers in any thread, where another library's device may be
    current, and while commands are queued: they only note what is to be done.
    """

    def __init__(self, mark: Callable[[], Fence]) -> None:
        """`mark` returns the place after all commands so far."""
        self._mark = mark
        self._actions: deque[Callable[[], object]] = deque()
        self._unmarked: deque[Callable[[], object]] = deque()
        """Releases whose place in the queue is still to be marked."""
        self._marked: deque[tuple[Fence, list[Callable[[], object]]]] = deque()
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._actions or self._unmarked or self._marked)

    def at_end_of(self, owner: object, action: Callable[..., object], *arguments: object) -> None:
        """Perform an action in the first `run` after `owner` is gone, not at the process's end."""
        weakref.finalize(owner, self._actions.append, partial(action, *arguments)).atexit = False

    def after_commands(self, release: Callable[..., object], *arguments: object) -> None:
        """Call `release` in a `run` after all commands so far are done; its arguments live until
        then."""
        self._unmarked.append(partial(release, *arguments))

    def run(self) -> None:
        """Perform what is due. Raises DeviceError if the device has failed."""
        if not self or not self._lock.acquire(blocking=False):
            return  # Another thread does it, or an action has come here.
        try:
            while self._actions:  # What fails is left to be done.
                self._actions[0]()
                self._actions.popleft()
            if count := len(self._unmarked):
                mark = self._mark()
                self._marked.append((mark, [self._unmarked.popleft() for _ in range(count)]))
            while self._marked and self._marked[0][0].is_reached():
                _, releases = self._marked.popleft()
                for release in releases:
                    release()
        finally:
            self._lock.release()


class DeviceError(RuntimeError):
    """A device that is missing, that refuses a kernel, or that fails."""


class DeviceMemoryError(MemoryError):
    """Memory that a device does not have; the message says how much."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a device, in bytes and work items."""

    memory: int
    """All of its memory."""
    allocation: int
    """The largest single block of it."""
    local: int
    """The memory that a workgroup shares."""
    workgroup: int
    """The work items of a workgroup."""
    workgroup_axes: tuple[int, int, int]
    """The work items along x, y and z."""
    groups: tuple[int, int, int]
    """The workgroups along x, y and z."""
    units: int
    """The processors, each of which executes whole workgroups."""
    alignment: int
    """Where a view that is passed to a kernel may begin."""
    has_f64: bool = True
    """Whether it computes with f64."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class DeviceBlock:
    """Memory of a device. `handle` is what its API knows it by: an address, or an object that frees
    the memory."""

    handle: Any
    nbytes: int


class Span(NamedTuple):
    """A part of a block, in bytes."""

    block: DeviceBlock
    offset: int
    nbytes: int

    @property
    def address(self) -> int:
        """Where it begins, on a device whose memory is known by addresses."""
        return self.block.handle + self.offset

    def overlaps(self, other: Span) -> bool:
        """Whether two parts have a byte in common."""
        start, other_start = self.offset, other.offset
        if isinstance(self.block.handle, int):
            start, other_start = start + self.block.handle, other_start + other.block.handle
        elif self.block.handle != other.block.handle:
            return False
        return start < other_start + other.nbytes and other_start < start + self.nbytes


class Command(NamedTuple):
    """A launch with its values: the index of a kernel, workgroups, memory and scalars."""

    kernel: int
    groups: tuple[int, int, int]
    arguments: tuple[Span | int, ...]


class LoadedKernels(ABC):
    """The kernels of a program on a device."""

    @abstractmethod
    def submit(self, commands: Sequence[Command]) -> None:
        """Launch kernels in order. Raises DeviceError, which names the kernel that fails."""

    @abstractmethod
    def timed(self, commands: Sequence[Command]) -> Sequence[float]:
        """As `submit`, but wait for each; returns the seconds that each took on the device."""

    def repeated(self, commands: Sequence[Command]) -> Callable[[], object] | None:
        """A function that submits these commands again, and keeps none of their memory alive: the
        caller passes memory at the same addresses. None if the device knows memory otherwise."""
        return None


class Driver(ABC):
    """One device: its memory, and a queue of commands."""

    argument_alignment = 1
    """Where memory begins that a caller passes, in bytes: kernels access it by vectors. Memory of
    another library that begins elsewhere is copied. Blocks of the device begin at such a place."""
    is_shared_unasked = True
    """Whether `__dlpack__` shares memory with a consumer that does not name the device."""

    def __init__(self, name: str, target: str, limits: Limits) -> None:
        """`target` is the name of the target that its programs are compiled for."""
        self.name = name
        self.target = target
        self.limits = limits
        self.pool = Pool(limits.memory // 4, self.allocate)
        """Free blocks. A block may be given back before the commands that use it have run: the
        commands of its next user come after them."""
        self.deferred = Deferred(self.mark)
        """Releases that finalizers have asked for, or that wait for commands."""

    @property
    @abstractmethod
    def identity(self) -> Sequence[str]:
        """The host part of the key of a kernel's time: the device, and the version of its
        driver."""

    @abstractmethod
    def allocate(self, nbytes: int) -> DeviceBlock:
        """New memory, freed with the last reference to the block. Raises DeviceMemoryError."""

    @abstractmethod
    def write(self, target: Span, array: Array) -> None:
        """Copy a contiguous array to the device. Waits until the array may change."""

    @abstractmethod
    def read(self, source: Span, array: Array) -> None:
        """Copy to a contiguous array. Waits for the commands before."""

    @abstractmethod
    def copy(self, source: Span, target: Span) -> None:
        """Copy within the device, between parts of one size."""

    @abstractmethod
    def clear(self, span: Span) -> None:
        """Set to zero."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all commands."""

    @abstractmethod
    def mark(self) -> Fence:
        """The place after all commands so far."""

    def settle(self) -> None:
        """Release what finalizers have left and no command uses any more."""
        self.deferred.run()

    @abstractmethod
    def load(self, kernels: Sequence[DeviceKernel]) -> LoadedKernels:
        """Compile and load kernels. Raises DeviceError with the log of the compiler."""

    @property
    @abstractmethod
    def dlpack_device(self) -> tuple[int, int]:
        """DLPack's type and number of the device."""

    @property
    def dlpack_request(self) -> Mapping[str, Any]:
        """The arguments of `__dlpack__` that have another library's work done before ours."""
        return {}

    @abstractmethod
    def dlpack_pointer(self, span: Span, stream: int | None) -> tuple[int, int, int, int]:
        """A part of memory in DLPack's terms: the device, a pointer or handle, and an offset from
        it in bytes. The commands before come before those of the consumer's stream."""

    def lent(self, array: object, stream: int | None) -> object:
        """An object that the consumer of an array keeps: after its end, the consumer's stream may
        still use the array, and our later commands wait for that."""
        return array

    @abstractmethod
    def adopt(self, pointer: int, offset: int, nbytes: int) -> Span:
        """Memory that another library has made."""

    def return_after_commands(self, release: Callable[[], object]) -> None:
        """Give memory back to another library when the commands so far are done. Its own commands,
        where its stream is known, come after them."""
        self.deferred.after_commands(release)

    def check_workgroup(self, kernel: DeviceKernel, most: int) -> None:
        """Raise DeviceError for a kernel with more work items than a workgroup may have: `most`,
        which may depend on the kernel, and the limits on each axis."""
        x, y, z = kernel.workgroup
        if x * y * z > most or any(
            size > limit for size, limit in zip((x, y, z), self.limits.workgroup_axes, strict=True)
        ):
            raise DeviceError(
                f"@{kernel.name} has workgroups of {x}x{y}x{z} work items; {self.name} takes "
                f"{most} at most, and {show_sizes(self.limits.workgroup_axes)} along the axes"
            )

    def failure(self, kernel: DeviceKernel, command: Command, reason: str) -> DeviceError:
        """The error for a launch that the device refuses: it names the kernel and its arguments."""
        arguments = ", ".join(
            f"{a.nbytes} bytes at {a.offset}" if isinstance(a, Span) else str(a)
            for a in command.arguments
        )
        return DeviceError(
            f"{self.name} cannot run @{kernel.name}({arguments}) in {show_sizes(command.groups)} "
            f"workgroups of {show_sizes(kernel.workgroup)} work items: {reason}"
        )


def show_sizes(sizes: Sequence[int]) -> str:
    """Sizes along x, y and z, as "8x8x1"."""
    return "x".join(map(str, sizes))


def bound(launches: Sequence[Launch], frame: Sequence[Any]) -> Sequence[Command]:
    """The commands of launches; one without workgroups is left out.

    `frame` has the spans and the scalars of a call, by the positions of the parameters.
    """
    commands: list[Command] = []
    for kernel, groups, arguments in launches:
        x, y, z = (max(evaluate(count, frame), 0) for count in groups)
        if not x * y * z:
            continue
        values = (
            _part(frame[a.parameter], evaluate(a.offset, frame), evaluate(a.nbytes, frame))
            if isinstance(a, View)
            else evaluate(a, frame)
            for a in arguments
        )
        commands.append(Command(kernel, (x, y, z), tuple(values)))
    return commands


def _part(span: Span, offset: int, nbytes: int) -> Span:
    return Span(span.block, span.offset + offset, nbytes)
