"""Programs compiled for a device, which are called with arrays of the host or of the device.

A call checks its arguments, finds out which of them overlap, and computes the values of launches.
In a program of static shapes all of that depends on shapes, dtypes and addresses alone: a call with
memory at the same addresses needs no preparation (`Repeats`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter, is_not
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from tgdialect.ops.data_files import DataReader
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.array import DeviceArray, DeviceLease
from tgdialect.runtime.devices.device import Device, is_on
from tgdialect.runtime.devices.driver import (
    Command,
    DeviceMemoryError,
    Driver,
    Span,
    bound,
)
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.executable import Executable, ParameterSlot, listed, returned
from tgdialect.runtime.program import Parameter
from tgdialect.runtime.text import show_bytes

if TYPE_CHECKING:
    from tgdialect.runtime.profile import Profile
    from tgdialect.runtime.staged import StagedModule

_CALLS = 64
"""The calls that are known: one for each set of memory that callers take turns with. Larger: more
memory; smaller: callers with more sets build their commands again."""

_KEY = attrgetter("key")


class Repeats:
    """The calls of a program that were plain: all arrays on the device, and none copied."""

    def __init__(
        self,
        driver: Driver,
        inputs: Sequence[Parameter],
        outputs: Sequence[Parameter],
        workspaces: Sequence[ParameterSlot],
        overwritten: Sequence[tuple[int, int]],
    ) -> None:
        """`overwritten` are those of the `Executable`."""
        self._driver = driver
        self._inputs = len(inputs)
        self._outputs = [(p.shape_for(()), p.dtype) for p in outputs]
        self._workspaces = [p.nbytes for _, p in workspaces]
        self._overwritten = overwritten
        self._calls: OrderedDict[tuple[Any, ...], Callable[[], object]] = OrderedDict()

    def call(self, arrays: Sequence[Any], out: Any) -> Any:
        """Submit a call that is known, and return its results; None for any other call, of which
        nothing has been done."""
        if not self._calls or len(arrays) != self._inputs:
            return None
        results: list[Any]
        try:
            key = [*map(_KEY, arrays)]
            if out is None:
                results = [DeviceArray.empty(self._driver, *each) for each in self._outputs]
            elif self._overwritten:
                return None
            else:
                results = listed(out) or []
            key += map(_KEY, results)
            workspaces = [self._driver.pool.take(nbytes) for nbytes in self._workspaces]
        except (AttributeError, MemoryError):  # An array of another class, or no memory for one.
            return None
        try:
            again = self._calls.get((*key, *[block.handle for block in workspaces]))
            if again is None:
                return None
            again()
        finally:
            for block in workspaces:
                self._driver.pool.give(block)
        for number, argument in self._overwritten:
            results.insert(number, arrays[argument])
        return results[0] if len(results) == 1 else tuple(results)

    def keep(
        self, arrays: Sequence[DeviceArray], workspaces: Sequence[int], again: Callable[[], object]
    ) -> None:
        """Note a plain call: its inputs and results, the handles of its workspaces, and what
        submits it."""
        self._calls[(*map(_KEY, arrays), *workspaces)] = again
        while len(self._calls) > _CALLS:
            self._calls.popitem(last=False)


class CallMemory:
    """Memory for the parameters of a call, which lives until its commands are submitted.

    A program reads every input as it is before the call. So an input is copied if it shares memory
    with something that the program writes, and a result goes to memory of its own if the memory
    given for it is shared.
    """

    def __init__(self, driver: Driver, frame: list[Any]) -> None:
        """`frame` has the scalars by position; memory is added to it as spans."""
        self.frame = frame
        self._driver = driver
        self._held: list[object] = []
        self._used: list[Span] = []
        self._written: list[Span] = []
        self._written_here: list[Array] = []
        """The arrays of the host among these."""
        self._copies: list[Callable[[], None]] = []
        self._is_copied = False

    def write(self, position: int, array: Array | DeviceArray) -> None:
        """Place an array that the program writes; the host's is copied there and back.

        Raises ValueError for an array of the host that shares memory with another one: on the
        device they would be two.
        """
        if isinstance(array, DeviceArray):
            found = array if self._is_aligned(array) else array.copy()
            if found is not array:
                self._copies.append(lambda: self._driver.copy(found.span, array.span))
        else:
            if any(np.may_share_memory(array, other) for other in self._written_here):
                raise ValueError("two arguments that the program writes share memory")
            self._written_here.append(array)
            found = self._uploaded(array)
            self._copies.append(lambda: self._driver.read(found.span, array))
        self._place(position, found, is_written=True)

    def read(self, position: int, array: Array | DeviceArray) -> DeviceArray:
        """Place an array that the program only reads."""
        if isinstance(array, DeviceArray):
            is_free = self._is_aligned(array) and not _overlaps(array.span, self._written)
            found = array if is_free else array.copy()
            self._is_copied |= not is_free
        else:
            found = self._uploaded(array)
        self._place(position, found)
        return found

    def result(
        self, position: int, shape: tuple[int, ...], dtype: Any, given: Any, is_cleared: bool
    ) -> DeviceArray:
        """Place a result in the memory given for it, an array of the host or of the device, or in
        new memory."""
        is_free = (
            isinstance(given, DeviceArray)
            and self._is_aligned(given)
            and not _overlaps(given.span, self._used)
        )
        found: DeviceArray = given if is_free else DeviceArray.empty(self._driver, shape, dtype)
        if given is not None and not is_free:
            self._copies.append(lambda: _copy(found, given))
        if is_cleared:
            self._driver.clear(found.span)
        self._place(position, found, is_written=True)
        return found

    def scratch(self, position: int, nbytes: int) -> None:
        """Place memory with anything in it, which is free after the call."""
        self._held.append(lease := DeviceLease.of(self._driver.pool, nbytes))
        self.frame[position] = lease.span

    @property
    def is_plain(self) -> bool:
        """Whether everything is where the caller has it, or wants it: nothing has been copied."""
        return not self._is_copied and not self._copies

    def finish(self) -> None:
        """Copy results to where the caller wants them, after the program was submitted."""
        for copy in self._copies:
            copy()

    def _is_aligned(self, array: DeviceArray) -> bool:
        """Whether kernels can access an array by vectors; memory of the device always is."""
        alignment = self._driver.argument_alignment
        return alignment == 1 or array.address % alignment == 0

    def _uploaded(self, array: Array) -> DeviceArray:
        self._is_copied = True
        return DeviceArray.of(self._driver, array)

    def _place(self, position: int, array: DeviceArray, *, is_written: bool = False) -> None:
        self._held.append(array)
        self.frame[position] = array.span
        self._used.append(array.span)
        if is_written:
            self._written.append(array.span)


def _copy(source: DeviceArray, target: Any) -> None:
    """Copy a result to memory of the caller, of the host or the device."""
    if isinstance(target, DeviceArray):
        source.driver.copy(source.span, target.span)
    elif target.flags.carray:
        source.driver.read(source.span, target)
    else:
        target[...] = source.numpy()


def _overlaps(span: Span, others: Iterable[Span]) -> bool:
    return any(span.overlaps(other) for other in others)


Given = Array | DeviceArray
Submit = Callable[[Sequence[Command]], object]


class _Kept(NamedTuple):
    """The constant arguments of the last call, their copies on the device, and the memory of the
    values derived from them."""

    constants: Sequence[Any]
    arrays: Sequence[DeviceArray]
    leases: Sequence[DeviceLease]


class DeviceExecutable(Executable):
    """A program compiled for a device.

    Arguments may be arrays of NumPy, which are copied to the device, and back if the program writes
    them; or arrays on the device (`DeviceArray`, or another library's with DLPack), which are not.
    Results are on the device if one of the arguments is, and NumPy arrays otherwise. A call that
    copies nothing back returns before the kernels have run.
    """

    def __init__(
        self,
        program: DeviceProgram,
        device: Device,
        build: Callable[[], StagedModule],
        source: tuple[str, str] = ("", ""),
    ) -> None:
        """Raises DeviceError if the device refuses a kernel."""
        super().__init__(program.parameters, program.windows, build, source, device.name)
        self.device = device
        self.buffers: dict[str, DeviceArray] = {}
        self._program = replace(program, parameters=())  # The host need not keep the BINARYs.
        self._driver = device.driver
        self._loaded = self._driver.load(program.kernels)
        for _, parameter in self._buffers:
            if not parameter.is_dynamic:
                self._buffer(parameter, ())
        # BINARYs, each once.
        data = [p.data for p in program.parameters if p.data is not None]
        read = DataReader().array
        copies = {each: DeviceArray.of(self._driver, read(each)) for each in {*data}}
        for slot, each in zip(self._data, data, strict=True):
            self._frame[slot.position] = copies[each].span
        self._contents = copies
        self._kept: _Kept | None = None
        self._lock = threading.Lock()
        roles = {p.role for p in self.parameters}
        self._repeats: Repeats | None = None
        if (
            self.inputs  # Whose place decides about that of the results.
            and roles <= {"input", "output", "workspace", "data"}
            and not (self._is_dynamic or self._constants)
            and not any(p.is_cleared for p in self.outputs)
        ):
            self._repeats = Repeats(
                self._driver, self.inputs, self.outputs, self._workspaces, self.overwritten
            )

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        if self._repeats is not None and (found := self._repeats.call(arrays, out)) is not None:
            return found
        return self._results_of(self.completed(arrays), out, self._loaded.submit)

    def resident(self, *arrays: Any) -> Any:
        if self._repeats is not None and (found := self._repeats.call(arrays, None)) is not None:
            return found
        return self._results_of(self.completed(arrays), None, self._loaded.submit, stays=True)

    def copied(self, array: Any) -> DeviceArray:
        if isinstance(array, DeviceArray):
            return array.copy() if array.driver is self._driver else array.to(self._driver)
        return DeviceArray.of(self._driver, np.asarray(array))

    def profile(self, *arrays: Any, out: Any = None, seconds: float = 1.0) -> Profile:
        from tgdialect.runtime.profile import add_time, new_records, profile

        build = self._build()
        records = new_records(build)
        names = [kernel.name for kernel in self._program.kernels]

        def submit(commands: Sequence[Command]) -> None:
            for command, taken in zip(commands, self._loaded.timed(commands), strict=True):
                scalars = [a for a in command.arguments if not isinstance(a, Span)]
                add_time(records[names[command.kernel]], taken, scalars)

        given = [
            self._given(slot, array).copy() if slot.parameter.by_reference else array
            for slot, array in zip(self._arguments, self.completed(arrays), strict=False)
        ]
        kept, buffers = self._kept, self.buffers
        self._kept, self.buffers = None, {name: b.copy() for name, b in buffers.items()}
        try:
            run = partial(self._results_of, given, out, submit)
            return profile(run, records, build, seconds, self._place)
        finally:
            self._kept, self.buffers = kept, buffers

    # -- a call

    def _results_of(
        self, arrays: Sequence[Any], out: Any, submit: Submit, *, stays: bool = False
    ) -> Any:
        results = self._overwriting(partial(self._call, submit=submit), arrays, listed(out))
        self._driver.settle()  # Other libraries' arguments.
        is_here = (isinstance(a, DeviceArray) or is_on(self._driver, a) for a in arrays)
        if out is None and not stays and not any(is_here):
            results = [result.numpy() for result in results]
        return returned(results)

    def _call(self, arrays: Sequence[Any], out: Sequence[Any] | None, submit: Submit) -> list[Any]:
        """The results that are in no argument. `arrays` is a list if there are others, whose arrays
        it has after the call."""
        frame, given = self._call_frame(arrays)
        wanted = self._wanted(out, frame)
        self._check_memory(frame)
        # Place all memory: first what is written, so that inputs are kept apart from it.
        memory = CallMemory(self._driver, frame)
        try:
            for position, array in given.items():
                if self.parameters[position].by_reference:
                    memory.write(position, array)
            for position, parameter in self._buffers:
                memory.write(position, self._buffer(parameter, frame))
            kept = self._kept_for(arrays, given, submit)
            for (position, _), array in zip(self._constant_slots, kept.arrays, strict=True):
                memory.read(position, array)
            for slot, lease in zip(self._persistent, kept.leases, strict=True):
                frame[slot.position] = lease.span
            for position, array in given.items():
                parameter = self.parameters[position]
                if not (parameter.by_reference or parameter.is_constant):
                    memory.read(position, array)
            results = [
                memory.result(position, p.shape_for(frame), p.dtype, array, is_cleared=p.is_cleared)
                for (position, p), array in zip(self._results, wanted, strict=True)
            ]
            for position, parameter in self._workspaces:
                memory.scratch(position, parameter.nbytes)
        except MemoryError as error:
            reason = f"{self._there_is}: {error}"
            raise DeviceMemoryError(self._does_not_fit(frame, reason)) from None
        # Run.
        commands = bound(self._program.launches[self._program.once :], frame)
        submit(commands)
        memory.finish()
        again = self._loaded.repeated(commands) if memory.is_plain and self._repeats else None
        if self._repeats is not None and again is not None:
            inputs = cast("Sequence[DeviceArray]", [*given.values()])
            workspaces = [frame[position].block.handle for position, _ in self._workspaces]
            self._repeats.keep([*inputs, *results], workspaces, again)
        return list(results if out is None else out)

    def _given(self, slot: ParameterSlot, value: Any) -> Given:
        """An argument as an array of the host or of this device. Raises TypeError and ValueError
        for one that does not fit the parameter."""
        parameter = slot.parameter
        if isinstance(value, DeviceArray):
            array = value.to(self._driver)
            if array is not value and parameter.by_reference:
                raise ValueError(
                    f"{parameter.name} is written by the program: it has to be on "
                    f"{self._driver.name}, not {value.device}"
                )
        elif is_on(self._driver, value):
            array = DeviceArray.from_dlpack(self._driver, value)
        else:
            return parameter.array(value)
        parameter.check(array)
        return array

    def _overwritable(self, value: Any, written: Sequence[Any]) -> DeviceArray:
        is_ours = isinstance(value, DeviceArray) and value.driver is self._driver
        spans = (array.span for array in written if isinstance(array, DeviceArray))
        return value if is_ours and not any(map(value.span.overlaps, spans)) else self.copied(value)

    def _wanted(self, out: Sequence[Any] | None, frame: Sequence[Any]) -> Sequence[Any]:
        """The memory that the caller gives for each result: None, or an array of the host or of
        this device."""
        if out is None:
            return [None] * len(self._results)
        if not self.overwritten:
            self._check_out_count(out)
        for array, (_, parameter) in zip(out, self._results, strict=True):
            if isinstance(array, DeviceArray) and array.driver is self._driver:
                parameter.check_result(array, frame)
            else:
                parameter.check_out(array, frame)
        return out

    # -- memory that outlives a call

    @property
    def _constant_slots(self) -> Sequence[ParameterSlot]:
        return [self._arguments[i] for i in self._constants]

    def _kept_for(self, arrays: Sequence[Any], given: dict[int, Given], submit: Submit) -> _Kept:
        """Constants on the device, and what is derived from them; computed anew if they are other
        arrays than in the call before.

        Memory in use is never overwritten: commands that use it may still have to run.
        """
        constants = [arrays[i] for i in self._constants]
        with self._lock:
            kept = self._kept
            if kept is not None and not any(map(is_not, kept.constants, constants)):
                return kept
            memory = CallMemory(self._driver, frame := self._frame.copy())
            copies = [
                memory.read(slot.position, given[slot.position]) for slot in self._constant_slots
            ]
            leases = [DeviceLease.of(self._driver.pool, p.nbytes) for _, p in self._persistent]
            for slot, lease in zip(self._persistent, leases, strict=True):
                frame[slot.position] = lease.span
            submit(bound(self._program.launches[: self._program.once], frame))
            self._kept = kept = _Kept(constants, copies, leases)
            return kept

    def _buffer(self, parameter: Parameter, frame: Sequence[Any]) -> DeviceArray:
        """A BUFFER: zeros if it is new, or has another shape than in the call before."""
        shape = parameter.shape_for(frame)
        buffer = self.buffers.get(parameter.name)
        if buffer is None or buffer.shape != shape:
            buffer = DeviceArray.empty(self._driver, shape, parameter.dtype)
            self._driver.clear(buffer.span)
            self.buffers[parameter.name] = buffer
        return buffer

    # -- whether memory fits

    def _check_memory(self, frame: Sequence[Any]) -> None:
        """Raise DeviceMemoryError, with the sizes, for a call that takes more than there is."""
        limits = self._driver.limits
        sizes = [p.nbytes_for(frame) for p in self.parameters if p.role != "scalar"]
        if sum(sizes) > limits.memory or max(sizes, default=0) > limits.allocation:
            raise DeviceMemoryError(self._does_not_fit(frame, self._there_is))

    @property
    def _there_is(self) -> str:
        """The memory of the device, for errors."""
        limits = self._driver.limits
        return (
            f"{self._driver.name} has {show_bytes(limits.memory)}, at most "
            f"{show_bytes(limits.allocation)} in one block"
        )
