"""`Executable`: a compiled program, which is called with arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from tgdialect.ops.expressions import (
    argument_at,
    arguments_of,
    evaluate,
    infix,
    size_sources,
)
from tgdialect.runtime.memory import ReleasedArray, copied
from tgdialect.runtime.program import HOST, HasShape, Parameter
from tgdialect.runtime.text import show_bytes
from tgdialect.runtime.windows import Window, check_windows

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tgdialect.runtime.footprint import DeviceFootprint, Footprint
    from tgdialect.runtime.inspection import Kernel
    from tgdialect.runtime.launcher import Holders
    from tgdialect.runtime.profile import Profile
    from tgdialect.runtime.staged import StagedModule


_LISTED = 6
"""The most parameters that an error about memory names."""


class ParameterSlot(NamedTuple):
    """A parameter and its position among all of them."""

    position: int
    parameter: Parameter


Allocation = tuple[Callable[..., Any], tuple[int, ...], "np.dtype[Any]"]
"""How to allocate an array: a function of its shape and dtype, and these."""


class CallSizes(NamedTuple):
    """The scalars of calls, and the arrays that they decide about."""

    words: Mapping[int, int]
    """All scalars by position: those of the caller, then those that are computed."""
    allocations: Sequence[Allocation]
    """How to allocate the results of programs that run on the host."""


MOST_SIZES = 64
"""The most values of the scalars for which an executable keeps `CallSizes`. Larger: more memory,
some 500 bytes each; smaller: calls whose sizes vary check and compute them again, in 15 µs on the
processor of docs/notes/runtime.md. An order of magnitude."""


class Executable(ABC):
    """A compiled function: call it with NumPy arrays, get NumPy arrays.

    Inputs are in the order of the function's arguments. A call may leave out all index arguments
    that are extents of arrays: they are read off these. An argument that was memory in the program
    is passed by reference, so that the program's STOREs show in the caller's array. The array of an
    argument that is `{tg.donated}` becomes a result if the program stores one there, unless it is
    not contiguous, is read-only, is on another device or shares memory with another such array:
    then the result is a copy. Every other array is read as it is before the call, and never
    written. BUFFERs of the program are zero at first and live as long as the executable, in
    `buffers`; one of dynamic shape is replaced by zeros when its shape changes. Values derived from
    `{tg.constant}` arguments alone are cached until a call passes another array for one of them: a
    change of such an array in place has no effect.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        windows: Sequence[Window],
        build: Callable[[], StagedModule],
        source: tuple[str, str],
        place: str = HOST,
    ) -> None:
        """`windows` are bounds that the scalars of a call have to satisfy. `build` gives the
        compilation, to inspect it or to compile again; `source` is the name and the text of the
        program, for errors; `place` the name of the device."""
        self._build = cache(build)
        self._windows = windows
        self._source = source
        self._place = place
        # Subclasses have the contents of BINARYs in memory of their own.
        self.parameters = [p if p.data is None else replace(p, data=None) for p in parameters]
        slots = [ParameterSlot(i, p) for i, p in enumerate(self.parameters)]
        self._frame: list[Any] = [0] * len(slots)
        """The values and the memory that are the same in every call, by position."""

        def having(*roles: str) -> list[ParameterSlot]:
            return [slot for slot in slots if slot.parameter.role in roles]

        self._arguments = [s for s in having("input", "scalar") if s.parameter.computed is None]
        """The parameters that a caller passes."""
        numbers = {slot.position: i for i, slot in enumerate(self._arguments)}
        self._scalars_given = [
            (i, slot) for i, slot in enumerate(self._arguments) if slot.parameter.role == "scalar"
        ]
        """The scalars of a caller, with the numbers of their arguments."""
        self._computed = [s for s in slots if s.parameter.computed is not None]
        arrays = ((i, s.parameter.axes) for i, s in enumerate(self._arguments))
        found = size_sources(
            arrays, {s.position: s.parameter.computed or () for s in self._computed}
        )
        self._sources = {numbers[p]: source for p, source in found.items() if p in numbers}
        """The argument and the axis that have an index argument as extent, by its number."""
        passed = [i for i in range(len(self._arguments)) if i not in self._sources]
        self._passed = passed if self._sources else []
        """The numbers of the arguments of a call that leaves out the sizes of its arrays."""
        self._sizes: dict[tuple[int, ...], CallSizes] = {}
        """By the scalars of a caller, those of the last calls."""
        self._results, self._workspaces = having("output"), having("workspace")
        self._persistent, self._data = having("persistent"), having("data")
        self._buffers = having("buffer")
        self._constants = [i for i, s in enumerate(self._arguments) if s.parameter.is_constant]
        self.overwritten = sorted(
            (s.parameter.result, i)
            for i, s in enumerate(self._arguments)
            if s.parameter.result is not None
        )
        """The results that are stored in arguments: the number of each, and of its argument."""
        self._is_dynamic = any(p.is_dynamic for p in parameters)
        self._released: Set[int] = frozenset()
        """The positions of the parameters whose arrays have been released."""
        self._mapped = 0
        """The bytes of BINARYs that are those of files, in no memory of their own."""
        self.inputs = [s.parameter for s in self._arguments]
        self.outputs = [s.parameter for s in self._results]

    def memory(self, **sizes: int) -> Footprint:
        """The bytes that a call takes on each device, for what, and all in all: `peak`. Nothing is
        allocated.

        Arrays of dynamic shape have the extents that `sizes` gives by their names, or as many
        elements as they may have: `exe.memory(n=100)`.

        Raises ValueError for a size that has no upper bound and is not given, or that is out of
        bounds, and TypeError for a name that is none.
        """
        from tgdialect.runtime.footprint import Footprint, known_sizes

        frame, known, at_most = known_sizes(self.parameters, sizes)
        return Footprint(self.footprints(frame), known, at_most)

    def footprints(self, frame: Sequence[Any]) -> tuple[DeviceFootprint, ...]:
        """The memory of a call on each device; `frame` has the scalars by position."""
        from tgdialect.runtime.footprint import footprint_of

        held = [p for i, p in enumerate(self.parameters) if i not in self._released]
        return (footprint_of(held, self._place, frame, self._mapped),)

    def staged(self) -> StagedModule:
        """The compilation of the program, to compile it again or to look into it."""
        return self._build()

    @property
    def buffers_kept(self) -> bool:
        """Whether calls see what earlier ones have left in BUFFERs."""
        return bool(self._buffers)

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Name, OptOps, work, source and assembly of each kernel, in the order of the calls."""
        return self._build().kernels

    def module(self, stage: str) -> ModuleOp:
        """The program after the last stage of that name, as "rangeify".

        Raises ValueError if there is no such stage.
        """
        return self._build().module(stage)

    @abstractmethod
    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Run the program; `out` gives the memory for its results, one array or one for each.

        Raises ValueError and TypeError for arguments that do not fit the signature, and
        CompilationError, at the op, where index arguments put a window outside of its source.
        """

    @abstractmethod
    def resident(self, *arrays: Any) -> Any:
        """A call whose results stay on the device of the program. Raises as a call does."""

    def copied(self, array: Any) -> Any:
        """A copy of an argument in new memory where the program runs, which it may overwrite: by
        default on the host."""
        return copied(np.asarray(array))

    def release(self, reason: str) -> Mapping[int, ReleasedArray]:
        """Let go of constant arguments that the program does not read any more, since a call has
        derived all it needs from them: by their numbers, what later calls pass in their place.

        `reason` is the error for those who ask for the elements, as a call does with another array
        for one of the other constants.
        """
        return {}

    def _overwriting(
        self,
        call: Callable[[Sequence[Any], Sequence[Any] | None], list[Any]],
        arrays: Sequence[Any],
        out: Sequence[Any] | None,
    ) -> list[Any]:
        """The results of a call, of which some may be stored in arguments; with `out`, in copies of
        these. `call` makes the others, and replaces arguments that it must not overwrite."""
        if not self.overwritten:
            return call(arrays, out)
        self._check_count(arrays)
        given = list(arrays)
        if out is None:
            made = call(given, None)
        else:
            self._check_out_count(out)
            numbers = {number for number, _ in self.overwritten}
            for _, argument in self.overwritten:
                given[argument] = self.copied(given[argument])
            made = call(given, [array for i, array in enumerate(out) if i not in numbers])
        for number, argument in self.overwritten:
            result = given[argument]
            if out is not None:
                self._assign(self.inputs[argument], out[number], result)
                result = out[number]
            made.insert(number, result)
        return made

    def _call_frame(self, arrays: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        """The frame of a call, which has the scalars, and the arrays to be placed in it, by
        position. `arrays` is a list if some results are stored in arguments: it gets their memory.

        Raises ValueError and TypeError for arguments that do not fit the signature, and
        CompilationError for a window that is out of bounds.
        """
        self._check_count(arrays)
        frame = self._frame.copy()
        given: dict[int, Any] = {}
        written: list[Any] = []
        for position, word in self._sizes_of(arrays).words.items():
            frame[position] = word
        for i, slot in enumerate(self._arguments):
            position, parameter = slot
            if parameter.role == "scalar":
                continue
            value = arrays[i]
            if parameter.result is not None:
                value = cast("list[Any]", arrays)[i] = self._overwritable(value, written)
            given[position] = value = self._given(slot, value)
            if parameter.by_reference:
                written.append(value)
        if self._is_dynamic:
            for position, array in given.items():
                if array.shape != self.parameters[position].shape_for(frame):
                    raise self._wrong_shape(position, array.shape, frame)
        return frame, given

    # -- sizes

    def completed(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """All arguments of a call, of which the caller may have left out the sizes of its arrays.

        Raises ValueError for an array that lacks the axis of a size.
        """
        if not self._sources or len(arrays) != len(self._passed):
            return arrays
        given: dict[int, Any] = dict(zip(self._passed, arrays, strict=True))
        for number, source in self._sources.items():
            array, axis, _ = source
            value = given[array]
            shape = value.shape if hasattr(value, "shape") else np.shape(value)
            position, parameter = self._arguments[array]
            if len(shape) != len(parameter.shape):
                raise self._wrong_shape(position, tuple(shape), None)
            size, extent = self._arguments[number].parameter, source.size(shape)
            if not size.low <= extent <= size.high:
                where = f", and is axis {axis} of {parameter.name}"
                raise ValueError(f"{size.out_of_bounds(extent)}{where}")
            given[number] = extent
        return [given[i] for i in range(len(self._arguments))]

    def _sizes_of(self, arrays: Sequence[Any]) -> CallSizes:
        """All that the scalars of a call decide, given its arguments. Raises as a call does."""
        return self._known_sizes(
            tuple([slot.parameter.number(arrays[i]) for i, slot in self._scalars_given])
        )

    def _known_sizes(self, numbers: tuple[int, ...]) -> CallSizes:
        """All that the scalars of a caller decide. Raises as a call does."""
        found = self._sizes.get(numbers)
        return self._checked_sizes(numbers) if found is None else found

    def _checked_sizes(self, numbers: tuple[int, ...]) -> CallSizes:
        frame = self._frame.copy()
        words: dict[int, int] = {}
        for (_, slot), number in zip(self._scalars_given, numbers, strict=True):
            words[slot.position] = frame[slot.position] = slot.parameter.number(number)
        for position, parameter in self._computed:
            assert parameter.computed is not None
            words[position] = frame[position] = evaluate(parameter.computed, frame)
        if self._windows:
            check_windows(self._windows, frame, *self._source)
        for position, parameter in self._computed:
            parameter.number(words[position])
        found = CallSizes(words, self._allocations(frame))
        if len(self._sizes) >= MOST_SIZES:
            self._sizes = {}  # Other threads may read the old one.
        self._sizes[numbers] = found
        return found

    def _allocations(self, frame: Sequence[Any]) -> Sequence[Allocation]:
        """How to allocate the results of a call, if this is a program of the host; `frame` has the
        scalars by position."""
        return ()

    def _wrong_shape(
        self, position: int, given: tuple[int, ...], frame: Sequence[Any] | None
    ) -> ValueError:
        """The error for an array whose shape is not that of its parameter, with the names of sizes,
        and the values that they have in the frame of a call."""
        parameter, names = self.parameters[position], [p.name for p in self.parameters]
        extents: list[object] = []
        sizes: dict[int, None] = {}
        for extent, size in zip(parameter.shape, parameter.axes, strict=True):
            if size is None:
                extents.append(extent)
                continue
            formula = self.parameters[size].computed or argument_at(size)
            extents.append(infix(formula, names))
            sizes |= dict.fromkeys(arguments_of(formula))
        error = parameter.wrong_shape(given, extents)
        known = [] if frame is None else [f"{names[size]} = {frame[size]}" for size in sizes]
        return ValueError(f"{error} where {', '.join(known)}") if known else error

    @abstractmethod
    def _given(self, slot: ParameterSlot, value: Any) -> Any:
        """An argument as an array that the program can be passed. Raises TypeError for another
        dtype, ValueError for another static shape, or if the program would write to a copy."""

    def _overwritable(self, value: Any, written: Sequence[Any]) -> Any:
        """An argument that the program overwrites, as it does those in `written`; a copy if it
        must not be overwritten."""
        return self.copied(value)

    def _scalars(self, arrays: Sequence[Any]) -> list[Any]:
        """The scalars among the arguments, by position."""
        frame: list[Any] = [None] * len(self.parameters)
        for position, word in self._sizes_of(arrays).words.items():
            frame[position] = word
        return frame

    @staticmethod
    def _assign(parameter: Parameter, target: Any, result: HasShape) -> None:
        """Copy a result to memory of the caller. Raises TypeError or ValueError if it is none for
        this result."""
        parameter.check(target)
        if target.shape != result.shape:
            raise parameter.wrong_shape(target.shape, result.shape)
        if isinstance(target, np.ndarray):
            target[...] = np.asarray(result)
        else:
            target.assign(result)

    @abstractmethod
    def profile(self, *arrays: Any, out: Any = None, seconds: float = 1.0) -> Profile:
        """Time each kernel while the program runs on these arguments for so many seconds.

        Arrays that the program writes by reference, and its BUFFERs, are copied and stay as they
        are. Raises as a call does.
        """

    def slowest(self, seconds: float) -> float:
        """The longest of the times of the processes that run this program together: the same number
        in all of them, which may decide how often it is run."""
        return seconds

    def holding_launcher(
        self, holders: Holders, inputs: Sequence[Sequence[object]], example: object
    ) -> Callable[..., Any] | None:
        """A builtin that calls a program of one result with arrays inside other objects
        (`launcher.py`); None if there is none. The executable has to outlive it."""
        from tgdialect.runtime.launcher import MAX_SLOTS, holding_launcher

        if len(inputs) > MAX_SLOTS:
            return None
        return holding_launcher(None, self.resident, (), holders, inputs, example)

    def _check_count(self, arrays: Sequence[Any]) -> None:
        """Raise ValueError for a call with too few or too many arguments."""
        if len(arrays) != len(self._arguments):
            names = ", ".join(p.name for p in self.inputs)
            expected = f"{len(self.inputs)} inputs ({names})"
            if self._sources:
                arrays_alone = ", ".join(self.inputs[i].name for i in self._passed)
                expected = f"{len(self._passed)} inputs ({arrays_alone}), or {expected}"
            raise ValueError(f"expected {expected}, got {len(arrays)}")

    def _check_out_count(self, given: Sequence[Any]) -> None:
        """Raise ValueError for `out` with too few or too many arrays."""
        count = len(self._results) + len(self.overwritten)
        if len(given) != count:
            raise ValueError(f"out has {len(given)} arrays for {count} results")

    def _does_not_fit(self, frame: Sequence[Any], reason: str) -> str:
        """The error for a call without enough memory: what it takes, the largest parameters first.

        `frame` has the scalars by position.
        """
        sizes = [(p.name, p.nbytes_for(frame)) for p in self.parameters if p.role != "scalar"]
        sizes.sort(key=lambda named: -named[1])
        listed = ", ".join(f"{name} {show_bytes(size)}" for name, size in sizes[:_LISTED])
        more = f" and {len(sizes) - _LISTED} more" if len(sizes) > _LISTED else ""
        total = show_bytes(sum(size for _, size in sizes))
        return f"the memory of this call does not fit: {total} ({listed}{more}); {reason}"


def listed(out: Any) -> list[Any] | None:
    """The memory that a caller gives for the results, one array or one for each."""
    if isinstance(out, list | tuple):
        return list(cast("Sequence[Any]", out))
    return None if out is None else [out]


def returned(results: Sequence[Any]) -> Any:
    """The results of a call as a caller gets them: one, or a tuple of several."""
    return results[0] if len(results) == 1 else tuple(results)
