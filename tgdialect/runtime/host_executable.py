"""Programs compiled for this CPU, which are called with arrays of NumPy."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from tgdialect.custom import NO_CUSTOM, Callbacks, CustomCode
from tgdialect.ops.data_files import Contents, DataReader, FileData, leave
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.executable import (
    Allocation,
    CallSizes,
    Executable,
    ParameterSlot,
    listed,
    returned,
)
from tgdialect.runtime.loader import load
from tgdialect.runtime.memory import (
    POOL,
    POOLED_BYTES,
    Block,
    ReleasedArray,
    address,
    zeros,
)
from tgdialect.runtime.program import Parameter, Program
from tgdialect.targets.cpu import ALIGNMENT
from tgdialect.targets.host import last_level_cache

if TYPE_CHECKING:
    from tgdialect.runtime.launcher import Holders, Launcher
    from tgdialect.runtime.profile import Profile
    from tgdialect.runtime.staged import StagedModule


class _Kept(NamedTuple):
    """The constant arguments of the last call, and memory for the values derived from them. The
    first word of each block is 0 until the program has computed its contents."""

    constants: Sequence[Any]
    blocks: Sequence[Block]
    addresses: Sequence[int]
    is_released: bool = False
    """Whether all memory that is not read any more has been let go of."""

    @classmethod
    def of(cls, constants: Sequence[Any], sizes: Sequence[int], memory: Sequence[Block]) -> _Kept:
        """`memory` is for blocks that fit into it."""
        free, blocks = [*memory], list[Block]()
        for size in sizes:
            block = free.pop() if free and size <= free[-1].nbytes else Block.new(size)
            ctypes.memset(block.address, 0, ctypes.sizeof(ctypes.c_int64))
            blocks.append(block)
        return cls(constants, blocks, [block.address for block in blocks])


_NOTHING_KEPT = _Kept((), (), ())

_ENTRY: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _refuse(*_: object) -> bool:
    """The launcher of programs whose arguments Python has to check in each call."""
    return False


def _allocator(parameter: Parameter, shape: tuple[int, ...]) -> Callable[..., Array]:
    """The function that allocates a result of a shape."""
    if parameter.is_cleared:
        return zeros
    nbytes = math.prod(shape) * parameter.dtype.itemsize
    return np.empty if nbytes < POOLED_BYTES else POOL.empty


_NO_WORDS: Mapping[int, int] = {}


class HostExecutable(Executable):
    """A program compiled for this CPU.

    An array that is not in the layout of its parameter is converted.
    """

    def __init__(
        self,
        program: Program,
        build: Callable[[], StagedModule],
        symbols: Mapping[str, int] = {},
        source: tuple[str, str] = ("", ""),
        memory: Block | None = None,
        custom: CustomCode = NO_CUSTOM,
        *,
        is_aligned: bool = True,
    ) -> None:
        """`symbols` are addresses of external symbols; `memory` is for values derived from
        constants; `custom` has the functions that the code may call; `is_aligned` says whether
        arrays have to be aligned to their elements; the others are those of `Executable`.

        Raises DataFileError for a BINARY of a file that has not got its bytes."""
        super().__init__(program.parameters, program.windows, build, source)
        self._kept: _Kept | None = None
        # Of threads that call at the same time, one takes it.
        self._memory_ahead = iter(() if memory is None else (memory,))
        self.buffers: dict[str, Array] = {}
        # BUFFERs, whose addresses are the same in every call unless their shape is dynamic.
        self._buffer_spans: list[tuple[int, int]] = []
        self._resized = [slot for slot in self._buffers if slot.parameter.is_dynamic]
        self._sized: dict[int, Array] = {}
        """The BUFFERs of dynamic shape, as of the last call, by position."""
        for position, parameter in self._buffers:
            if not parameter.is_dynamic:
                buffer = zeros(parameter.shape_for(()), parameter.dtype)
                self.buffers[parameter.name] = buffer
                self._frame[position] = start = address(buffer)
                self._buffer_spans.append((start, start + buffer.nbytes))
        # BINARYs, each once.
        self._is_aligned = is_aligned
        data = [
            (p, p.data.of_now if isinstance(p.data, FileData) else p.data)
            for p in program.parameters
            if p.data is not None
        ]
        blocks = _contents(data, is_aligned=is_aligned)
        self._data_at = [block.address for block in blocks]
        files = [
            (p, contents, block.memory)
            for (p, contents), block in zip(data, blocks, strict=True)
            if isinstance(contents, FileData)
        ]
        mapped = [(p, file) for p, file, memory in files if not memory.flags.writeable]
        self._mapped = sum(p.nbytes for p, _ in mapped)
        self._files = {file.path: file for p, file in mapped if not p.is_read_once}
        """A part of each file whose bytes calls read where it is mapped."""
        self._files_once = {file.path: file for p, file in mapped if p.is_read_once}
        """Those whose bytes are read by the calls that derive values from them."""
        self._read_once = [memory for p, _, memory in files if p.is_read_once]
        """The bytes of files that no call reads after what is derived from them."""
        for slot, start in zip(self._data, self._data_at, strict=True):
            self._frame[slot.position] = start
        # Keep them alive even if the caller changes `buffers`: frames have their addresses.
        self._memory = *self.buffers.values(), *blocks
        # Code: each object may call those before it, and the last one has the entry.
        self._code: list[object] = []
        functions = dict(symbols)
        self._custom = custom
        self._callbacks = Callbacks(custom) if custom.functions else None
        for name, code, symbol in program.objects:
            if self._callbacks is not None:
                functions |= self._callbacks.symbols(code)
            self._code.append(library := load(code, functions))
            functions[name] = self._start = library.address(symbol)
        self._frame_type: Any = ctypes.c_int64 * len(self.parameters)
        self._function: Callable[..., None] = _ENTRY(self._start)
        # How calls run: by a launcher from the second call on, where sizes are static.
        self._launch: Launcher = self._wait
        if self._callbacks is not None or self._buffers:
            self._launch = _refuse
        self._memory_given = [
            i for i, slot in enumerate(self._arguments) if slot.parameter.role == "input"
        ]
        """The numbers of the arguments that are arrays."""
        self._clears = any(p.is_cleared for p in self.outputs)
        self._is_simple = len(self.outputs) == 1 and not (
            self._workspaces or self._persistent or self.overwritten
        )
        """Whether a call takes no memory but those of the arguments and of one result."""
        has_scalars = bool(self._scalars_given or self._computed)
        is_one = self._is_simple and not has_scalars
        self._one = self._allocations(())[0] if is_one else None
        """How to allocate the result of a simple program without scalars."""
        sources = [self._sources.get(i) for i, *_ in self._scalars_given]
        places = {argument: place for place, argument in enumerate(self._passed)}
        self._read = [(places[s.array], s) for s in sources if s is not None]
        """The number among the arrays, and the axis, that each scalar is read off."""
        self._reads_all = self._is_simple and 0 < len(self._read) == len(sources)

    def profile(
        self, *arrays: Any, out: Array | Sequence[Array] | None = None, seconds: float = 1.0
    ) -> Profile:
        # The program is compiled again with clock reads, so that normal calls pay nothing.
        from tgdialect.runtime.profile import new_records, profile, record_symbols

        build = self._build()
        records = new_records(build)
        symbols = record_symbols(records)
        timed = HostExecutable(
            build.profiled(),
            lambda: build,
            symbols,
            custom=self._custom,
            is_aligned=self._is_aligned,
        )
        for name, buffer in self.buffers.items():
            timed.buffers[name][...] = buffer
        given = list(self.completed(arrays))
        for position, parameter in enumerate(timed.inputs[: len(given)]):
            if parameter.by_reference:
                given[position] = np.array(given[position])
        return profile(lambda: timed(*given, out=out), records, build, seconds, self._place)

    def __call__(
        self, *arrays: Any, out: Array | Sequence[Array] | None = None
    ) -> Array | tuple[Array, ...]:
        for file in self._files.values():
            file.check_unwritten()
        try:
            # The common case: one result, arrays that need no conversion, no intermediate memory.
            if out is None and self._one is not None:
                empty, shape, dtype = self._one
                if self._launch(result := empty(shape, dtype), *arrays):
                    return result
                return self._call(arrays, None)[0]
            known = self._of_known_sizes(arrays) if out is None and self._reads_all else None
            if known is not None:
                return known
            arrays = tuple(self.completed(arrays))
            return returned(self._overwriting(self._called, arrays, listed(out)))
        except MemoryError as error:
            reason = str(error) or "this process gets no more"
            frame = self._scalars(self.completed(arrays))
            raise MemoryError(self._does_not_fit(frame, reason)) from None

    resident = __call__

    def _of_known_sizes(self, arrays: Sequence[Any]) -> Array | None:
        """The result of a simple program for arrays whose sizes a call before this one has had;
        None for any other call, of which nothing has been done."""
        if len(arrays) != len(self._passed):
            return None
        try:
            key = tuple([source.size(arrays[number].shape) for number, source in self._read])
            sizes = self._sizes.get(key)
        except (AttributeError, LookupError, TypeError):  # It is no array, or of another rank.
            return None
        if sizes is None:
            return None
        ((empty, shape, dtype),) = sizes.allocations
        called = self._launch(*sizes.words.values(), result := empty(shape, dtype), *arrays)
        return result if called else None

    def _called(self, arrays: Sequence[Any], out: Sequence[Array] | None) -> list[Array]:
        """The results that are in no argument but in new memory, or in `out`. `arrays` is a list if
        there are others, whose arrays it has after the call."""
        if self._launch is _refuse or len(arrays) != len(self._arguments):
            return self._call(arrays, out)
        sizes = self._sizes_of(arrays)
        if out is not None:
            results = list(out)
        else:
            try:
                results = [empty(shape, dtype) for empty, shape, dtype in sizes.allocations]
            except (MemoryError, ValueError):  # The sizes may be those of no argument.
                return self._call(arrays, out)
        if (out is None or not self._clears) and self._launched(sizes, results, arrays):
            return results
        return self._call(arrays, out)

    def _launched(self, sizes: CallSizes, results: Sequence[Array], arrays: Sequence[Any]) -> bool:
        """Whether the launcher has called the function. It refuses arguments that have to be
        checked or converted by Python."""
        kept = self._kept_for(arrays)
        words = sizes.words.values()
        if words:
            arrays = [arrays[i] for i in self._memory_given]
        if self._released:
            arrays = [0 if type(array) is ReleasedArray else array for array in arrays]
        if not self._workspaces:
            return self._launch(*words, *results, *arrays, *kept.addresses)
        blocks = self._scratch(sizes.words)
        scratch = [block.address for block in blocks]
        called = self._launch(*words, *results, *arrays, *kept.addresses, *scratch)
        for block in blocks:
            POOL.give(block)
        return called

    def _allocations(self, frame: Sequence[Any]) -> Sequence[Allocation]:
        shapes = [(p, p.shape_for(frame)) for p in self.outputs]
        return [(_allocator(p, shape), shape, p.dtype) for p, shape in shapes]

    def _kept_for(self, arrays: Sequence[Any]) -> _Kept:
        """The memory of values derived from constants; new memory if these are other arrays.

        Memory in use is never overwritten: another thread may be in a call with other constants.
        """
        if not self._persistent:
            return _NOTHING_KEPT
        kept, constants = self._kept, [arrays[i] for i in self._constants]
        if kept is None or any(map(is_not, kept.constants, constants)):
            for constant in constants:
                if isinstance(constant, ReleasedArray):
                    raise RuntimeError(constant.reason)
            if self._released:
                self._released, self._launch = frozenset(), self._first_launch
            for file in self._files_once.values():
                file.check_unwritten()
            sizes = [slot.parameter.nbytes for slot in self._persistent]
            self._kept = kept = _Kept.of(constants, sizes, [*self._memory_ahead])
        return kept

    def release(self, reason: str) -> Mapping[int, ReleasedArray]:
        kept = self._kept
        if kept is None or kept.is_released:
            return {}
        for memory in self._read_once:
            leave(memory)
        found: dict[int, ReleasedArray] = {}
        constants = list(kept.constants)
        for place, argument in enumerate(self._constants):
            if self._arguments[argument].parameter.is_read_once:
                array = constants[place]
                found[argument] = ReleasedArray(array.shape, array.dtype, reason)
                constants[place] = found[argument]
        self._kept = kept._replace(constants=constants, is_released=True)
        if found:
            self._released = {self._arguments[argument].position for argument in found}
            if self._launch is not _refuse:
                self._launch = self._first_launch
        return found

    def _scratch(self, scalars: Mapping[int, int] | Sequence[Any]) -> Sequence[Block]:
        """The workspaces of one call; calls on other threads have their own. `scalars` has the
        scalars by position."""
        return [POOL.take(slot.parameter.nbytes_for(scalars)) for slot in self._workspaces]

    def _wait(self, *_: object) -> bool:
        """The launcher of the first call, which refuses it. Making a real one takes time, and many
        programs are called only once."""
        self._launch = self._first_launch
        return False

    def _first_launch(self, *arguments: object) -> bool:
        try:
            self._launch = self._new_launcher() or _refuse
        except MemoryError:
            self._launch = _refuse  # A call needs less memory than making a launcher.
        return self._launch(*arguments)

    def _new_launcher(self) -> Launcher | None:
        from tgdialect.runtime.launcher import FrameSlot, launcher

        given = [slot for i, slot in enumerate(self._arguments) if i in {*self._memory_given}]
        scalars = [*(slot for _, slot in self._scalars_given), *self._computed]
        memory = (*self._persistent, *self._workspaces, *self._data)
        words = self._released | {position for position, _ in (*scalars, *memory)}
        slots = [
            FrameSlot(
                position=position,
                shape=None if position in words else p.shape,
                dtype=p.dtype,
                is_written=p.role == "output" or p.by_reference,
                sizes=p.dims,
            )
            for position, p in (*scalars, *self._results, *given, *memory)
        ]
        # Written arrays must share no memory with any other argument. If only results are written,
        # the launcher need not compare inputs with each other.
        has_written = any(p.by_reference for p in self.inputs)
        first = len(scalars) + len(self._results)
        made = launcher(self._start, slots, len(slots) if has_written else first)
        if made is None or not self._data:
            return made
        data = self._data_at
        return lambda *arguments: made(*arguments, *data)

    def holding_launcher(
        self, holders: Holders, inputs: Sequence[Sequence[object]], example: object
    ) -> Callable[..., Any] | None:
        from tgdialect.runtime.launcher import holding_launcher

        if self._one is not None and self._launch is not _refuse and not self._data:
            make, *shape = self._one
            if (launch := self._new_launcher()) is not None:
                return holding_launcher(launch, make, tuple(shape), holders, inputs, example)
        return super().holding_launcher(holders, inputs, example)

    def at_addresses(self) -> Callable[..., object] | None:
        """A function that calls the program with memory that the caller vouches for; None if Python
        has to look at the arguments in each call.

        It takes the addresses of the results that are in no argument, and then those of the arrays
        among the arguments, as integers: of arrays in C order, aligned, with the parameters' shapes
        and dtypes, that share no memory with what the program writes; a result that `is_cleared` is
        0 before the call. `sizes` are the scalars among the arguments, in their order. `arguments`
        are objects that stand for all of them: another one for a constant argument says that its
        contents are others.
        """
        if self._callbacks is not None or self._buffers or self._released:
            return None
        from tgdialect.runtime.launcher import FrameSlot, launcher

        given = [self._arguments[i] for i in self._memory_given]
        scalars = [*(slot for _, slot in self._scalars_given), *self._computed]
        memory = (*self._persistent, *self._workspaces, *self._data)
        order = [slot.position for slot in (*scalars, *self._results, *given, *memory)]
        slots = [FrameSlot(at, None, self.parameters[at].dtype, False) for at in order]
        launch = launcher(self._start, slots, 0) or self._by_frame(order)
        if not (scalars or memory):
            return launch
        data = self._data_at

        def call(
            *addresses: int, sizes: tuple[int, ...] = (), arguments: Sequence[object] = ()
        ) -> None:
            words = self._known_sizes(sizes).words if scalars else _NO_WORDS
            kept, blocks = self._kept_for(arguments), self._scratch(words)
            scratch = [block.address for block in blocks]
            launch(*words.values(), *addresses, *kept.addresses, *scratch, *data)
            for block in blocks:
                POOL.give(block)

        return call

    def shapes_of_results(self, sizes: tuple[int, ...] = ()) -> Sequence[tuple[int, ...]]:
        """The shapes of the results that are in no argument, for the scalars among the arguments.

        Raises as a call does.
        """
        return [shape for _, shape, _ in self._known_sizes(sizes).allocations]

    def _by_frame(self, places: Sequence[int]) -> Callable[..., Any]:
        """A launcher without a limit of arguments."""

        def launch(*addresses: int) -> None:
            frame = [0] * len(places)
            for at, start in zip(places, addresses, strict=True):
                frame[at] = start
            self._function(self._frame_type(*frame))

        return launch

    def _call(self, arrays: Sequence[Any], out: Sequence[Array] | None) -> list[Array]:
        """A call by Python, which checks each argument and converts it if necessary."""
        frame, given = self._call_frame(arrays)
        # Note which addresses are read and written.
        spans, written = self._buffer_spans.copy(), self._buffer_spans.copy()
        for position, array in given.items():
            if type(array) is not ReleasedArray:
                frame[position] = start = address(array)
                spans.append((start, start + array.nbytes))
                if self.parameters[position].by_reference:
                    written.append(spans[-1])
        # Buffers whose shapes depend on the values of scalars.
        sized = [self._sized_buffer(slot, frame) for slot in self._resized]
        for each in (written, spans):
            each += map(_span, sized)
        if written:
            self._set_apart(frame, given, written)
        # Results, cached values, and the call.
        results = self._new_results(frame) if out is None else list(out)
        copies = () if out is None else self._place_results(frame, spans, results)
        kept = self._kept_for(arrays)
        for slot, start in zip(self._persistent, kept.addresses, strict=True):
            frame[slot.position] = start
        self._run(frame)
        for array, result in copies:
            array[...] = result
        return results

    def _given(self, slot: ParameterSlot, value: Any) -> Any:
        parameter = slot.parameter
        if (
            type(value) is ndarray
            and value.shape == parameter.shape
            and value.dtype == parameter.dtype
            and value.flags.carray
        ) or (parameter.is_read_once and type(value) is ReleasedArray):
            return value
        return parameter.array(value)

    def _overwritable(self, value: Any, written: Sequence[Any]) -> Array:
        if type(value) is not ndarray or not value.flags.carray:
            return self.copied(value)
        spans = *self._buffer_spans, *map(_span, written)
        return self.copied(value) if _overlaps(_span(value), spans) else value

    def _sized_buffer(self, slot: ParameterSlot, frame: list[Any]) -> Array:
        """A BUFFER of dynamic shape: the last call's if the shape is the same, else zeros."""
        position, parameter = slot
        shape = parameter.shape_for(frame)
        buffer = self._sized.get(position)
        if buffer is None or buffer.shape != shape:
            buffer = self._sized[position] = zeros(shape, parameter.dtype)
            self.buffers[parameter.name] = buffer
        frame[position] = address(buffer)
        return buffer

    def _set_apart(
        self, frame: list[Any], given: dict[int, Any], written: Sequence[tuple[int, int]]
    ) -> None:
        """Copy the inputs that share memory with an array that the program writes, so that it reads
        their contents from before the call."""
        for position, value in given.items():
            span = frame[position], frame[position] + value.nbytes
            if not self.parameters[position].by_reference and _overlaps(span, written):
                given[position] = value.copy()
                frame[position] = address(given[position])

    def _run(self, frame: list[Any]) -> None:
        blocks = self._scratch(frame)
        for slot, block in zip(self._workspaces, blocks, strict=True):
            frame[slot.position] = block.address
        if self._callbacks is None:
            self._function(self._frame_type(*frame))
        else:
            self._callbacks.call(self._function, self._frame_type(*frame))
        for block in blocks:
            POOL.give(block)

    def _new_results(self, frame: list[Any]) -> list[Array]:
        results: list[Array] = []
        for position, parameter in self._results:
            allocate = zeros if parameter.is_cleared else POOL.empty
            result = allocate(parameter.shape_for(frame), parameter.dtype)
            frame[position] = address(result)
            results.append(result)
        return results

    def _place_results(
        self, frame: list[Any], spans: list[tuple[int, int]], given: Sequence[Array]
    ) -> Sequence[tuple[Array, Array]]:
        """Put the addresses of results into the frame: the caller's arrays where they share memory
        with no other argument. For the others, returns pairs of the caller's array and the
        temporary one to copy to it after the call."""
        if not self.overwritten:
            self._check_out_count(given)
        copies: list[tuple[Array, Array]] = []
        for array, (position, parameter) in zip(given, self._results, strict=True):
            parameter.check_out(array, frame)
            target, span = array, _span(array)
            if not array.flags.carray or _overlaps(span, spans):
                copies.append((array, target := POOL.empty(array.shape, array.dtype)))
            spans.append(span)
            if parameter.is_cleared:
                target.fill(0)
            frame[position] = address(target)
        return copies


def _contents(data: Sequence[tuple[Parameter, Contents]], *, is_aligned: bool) -> list[Block]:
    """The memory of each of some BINARYs, the same for those that are equal.

    Those of the text are aligned for vectors. Those of files are where the file is mapped, unless
    elements have to be aligned and are not. Vectors that cross cache lines take longer to load only
    if the lines are in a cache: as many of the smallest as fit into the last one are copied, if
    every call reads them (a product with a matrix of 4 MiB took 45 us, and took 34 then; with one
    of 64 MiB 2.7 ms and 2.5 ms; docs/notes/runtime.md has the processor).
    """
    alignments: dict[Contents, int] = {}
    free = last_level_cache() if any(isinstance(each, FileData) for _, each in data) else 0
    for p, contents in sorted(data, key=lambda each: len(each[1])):
        alignment = p.dtype.itemsize if is_aligned else 1
        if isinstance(contents, bytes):
            alignment = ALIGNMENT
        elif not p.is_read_once and contents not in alignments and len(contents) <= free:
            alignment, free = ALIGNMENT, free - len(contents)
        alignments[contents] = max(alignment, alignments.get(contents, 0))
    reader = DataReader()
    blocks = {each: _placed(reader.array(each), least) for each, least in alignments.items()}
    return [blocks[contents] for _, contents in data]


def _placed(array: Array, alignment: int) -> Block:
    """The memory of an array if it is aligned to so many bytes, else a copy."""
    start = array.ctypes.data
    if start % alignment == 0:
        return Block(array, start, array.nbytes)
    block = Block.new(array.nbytes)
    ctypes.memmove(block.address, start, array.nbytes)
    return block


def _span(array: Array) -> tuple[int, int]:
    """The first address of an array, and the one behind it."""
    return (start := address(array)), start + array.nbytes


def _overlaps(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Whether an interval of addresses, its end excluded, overlaps any of the others."""
    start, stop = span
    return any(start < high and low < stop for low, high in others)
