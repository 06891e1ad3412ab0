"""A collective as a process takes part in it: through memory that the processes share, if they do
and the value fits, else as messages of MPI.

Through shared memory the values of all are exchanged at once, and each process computes its result
from them. Messages are the calls of MPI that move the fewest bytes, each of them non-blocking. A
process has one collective after the other, in the order of the program, so that a communicator for
each set of processes is enough. Whether all want the same is found beside (`agreement.py`): until
it is known, nothing may use a result.

An exchange through memory takes two copies and no message. The first process makes a file without a
name, which ends with the processes, and the others open it by its descriptor (Linux).
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from tgdialect.analysis.communication import Collective
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.distributed.exchange import (
    FROM_ROOT,
    OF_ROOT,
    SPLITS,
    TO_ROOT,
    Exchange,
    check_value,
    completion,
    reducer,
)
from tgdialect.runtime.images import Image, load_ir
from tgdialect.runtime.launcher import MAX_AXES, FrameSlot, launcher
from tgdialect.runtime.memory import POOL, POOLED_BYTES
from tgdialect.runtime.native import native_ir
from tgdialect.targets.host import pause_instruction

_MOST_JOINED_BYTES = 1 << 20
"""The greatest value of a process, in bytes, that `all_gather` takes through shared memory. Larger:
values are copied twice that MPI may copy once, from one process to the other; smaller: more
messages for small ones. Found by bench/allreduce.py; docs/notes/distributed.md has the times, and
the processor."""
_ELEMENT_BYTES = 8
"""The greatest length of an element, in bytes. Pieces are multiples of it, so they have whole
elements."""

_REDUCTIONS = {
    Collective.ALL_REDUCE: "Iallreduce",
    Collective.REDUCE: "Ireduce",
    Collective.REDUCE_SCATTER: "Ireduce_scatter_block",
}
"""MPI's functions for kinds that reduce."""

IsDone = Callable[[], bool]
Steps = Generator[Any, None, Array | None]
"""Yields each request of MPI that has to be complete before it goes on, and returns the result."""


class Group(NamedTuple):
    """The processes that take part in a collective.

    Attributes:
        members: their ranks.
        comm: a communicator of them alone.
        position: of this process among them.
        segment: memory that they share, if they do.
    """

    mpi: Any
    members: tuple[int, ...]
    comm: Any
    position: int
    segment: Segment | None


class MpiExchange:
    """An exchange as a process takes part in it, any number of times."""

    def __init__(self, exchange: Exchange, group: Group) -> None:
        self.exchange, self.group = exchange, group
        self.bytes_sent = exchange.sent_by(group.position)
        self._n = len(exchange.members)
        self._root = {"root": exchange.root} if exchange.kind in FROM_ROOT | TO_ROOT else {}
        self._gets_result = group.position == exchange.root or exchange.kind not in TO_ROOT
        self._comm, self._mpi = group.comm, group.mpi
        self.shared = _Shared.of(exchange, group)
        self._native = self._find_native()
        self._reduced = reducer(exchange.dtype, exchange.reduction)

    def steps(self, value: Array | None) -> Steps:
        """The messages, and the result of this process, given its value."""
        if (shared := self.shared) is not None:
            return (yield from shared.steps(value))
        exchange, n = self.exchange, self._n
        given = None if value is None else check_value(exchange, value)
        if given is not None and exchange.kind in SPLITS:
            given = _parted(given, exchange.axis, n)
        if exchange.kind in FROM_ROOT:
            return (yield from self._from_root(given))
        assert given is not None
        match exchange.kind:
            case Collective.ALL_TO_ALL:
                found = yield from self._moved("Ialltoall", given, given.shape)
                return None if found is None else _joined(found, exchange.joined)
            case Collective.ALL_GATHER | Collective.GATHER as kind:
                name = "Igather" if kind is Collective.GATHER else "Iallgather"
                found = yield from self._moved(name, given, (n, *exchange.shape))
                return None if found is None else _joined(found, exchange.axis)
            case kind if self._native is not None:
                datatype, operation = self._native
                total = self._empty(*exchange.result) if self._gets_result else None
                got = None if total is None else [total, datatype]
                reduce = getattr(self._comm, _REDUCTIONS[kind])
                yield reduce([given, datatype], got, op=operation, **self._root)
                return total
            case Collective.REDUCE:
                found = yield from self._moved("Igather", given, (n, *exchange.shape))
                return None if found is None else self._reduced(list(found))
            case Collective.REDUCE_SCATTER:
                found = yield from self._moved("Ialltoall", given, given.shape)
                assert found is not None
                return self._reduced(list(found), self._empty(*exchange.result))
            case _:
                return (yield from self._all_reduced(given))

    def _from_root(self, given: Array | None) -> Steps:
        exchange, comm = self.exchange, self._comm
        if exchange.kind is Collective.SCATTER:
            return (yield from self._moved("Iscatter", given, exchange.result))
        found = self._empty(*exchange.shape) if given is None else given
        if exchange.kind is Collective.BROADCAST:
            yield comm.Ibcast(self._bytes(found), **self._root)
        else:
            move = comm.Irecv if given is None else comm.Isend
            yield move(self._bytes(found), 1 - self.group.position)
        return found

    def _moved(self, name: str, given: Array | None, shape: Sequence[int]) -> Steps:
        """The bytes that this process gets by a function of MPI, as an array of a shape."""
        found = self._empty(*shape) if self._gets_result else None
        yield getattr(self._comm, name)(self._bytes(given), self._bytes(found), **self._root)
        return found

    def _all_reduced(self, value: Array) -> Steps:
        """A reduction that MPI does not have: exchange parts, add them, and gather the sums."""
        n, total = self._n, self._empty(*self.exchange.shape)
        size, item = value.size, value.dtype.itemsize
        starts = [size * i // n for i in range(n + 1)]
        counts = [b - a for a, b in pairwise(starts)]
        first, mine = starts[self.group.position], counts[self.group.position]
        parts = self._empty(n, mine)
        byte = self._mpi.BYTE
        sent = [c * item for c in counts], [s * item for s in starts[:-1]]
        got = [mine * item] * n, [i * mine * item for i in range(n)]
        yield self._comm.Ialltoallv(
            [self._bytes(value)[0], sent, byte], [self._bytes(parts)[0], got, byte]
        )
        self._reduced(list(parts), total.reshape(-1)[first : first + mine])
        yield self._comm.Iallgatherv(self._mpi.IN_PLACE, [self._bytes(total)[0], sent, byte])
        return total

    def _empty(self, *shape: int) -> Array:
        return POOL.empty(shape, self.exchange.dtype)

    def _bytes(self, array: Array | None) -> Any:
        """An array as MPI sends it, whatever its dtype."""
        return None if array is None else [array.reshape(-1).view(np.uint8), self._mpi.BYTE]

    def _find_native(self) -> tuple[Any, Any] | None:
        """The datatype and the operation of MPI; None where MPI has none with our semantics: it
        has no floats of 16 bits, and does not say what its maximum of NaN is."""
        mpi, exchange = self._mpi, self.exchange
        dtype = exchange.dtype
        is_float = dtype.char in "fd"
        if not (is_float or dtype.kind in "iu") or (is_float and exchange.reduction == "max"):
            return None
        operation = {"add": mpi.SUM, "mul": mpi.PROD, "max": mpi.MAX}[exchange.reduction]
        return mpi.Datatype.fromcode(dtype.char), operation


class _Shared:
    """An exchange through shared memory."""

    def __init__(self, exchange: Exchange, group: Group, segment: Segment, plan: Array) -> None:
        self.segment = segment
        self._words = segment.words
        is_root = group.position == exchange.root
        self._is_known = is_root and exchange.kind in OF_ROOT
        """Whether the own value is the result."""
        self._gets_result = is_root or exchange.kind not in TO_ROOT
        shape, result, dtype = exchange.shape, exchange.result, exchange.dtype
        is_large = math.prod(result) * dtype.itemsize >= POOLED_BYTES
        self._new_result = partial(POOL.empty if is_large else np.empty, result, dtype)
        self._is_native = bool(plan[0])
        self._exchange = segment.exchange(plan, dtype, shape, *([result] * self._is_native))
        if not self._is_native:
            halves = [segment.values(half, shape, dtype) for half in (0, 1)]
            self._complete = [completion(exchange, group.position, values) for values in halves]
        self._new_own = partial(np.empty, shape, dtype)

    @cached_property
    def _own(self) -> Array:
        """In place of a value that others give, or that is laid out in another way."""
        return self._new_own()

    @staticmethod
    def of(exchange: Exchange, group: Group) -> _Shared | None:
        """None if these processes share no memory, or the value does not fit."""
        segment = group.segment
        if segment is None or max(len(exchange.shape), len(exchange.result)) > MAX_AXES:
            return None
        plan = _plan(exchange, group.position, segment.slot_bytes)
        is_fit = plan[0] or exchange.operand_bytes <= segment.slot_bytes
        return _Shared(exchange, group, segment, plan) if is_fit else None

    def execute(self, value: Array | None, wait: Callable[[IsDone], None]) -> Array | None:
        """The result, given the own value. `wait` calls a function until it returns True."""
        arrays = self._begin(value)
        if not self._words[IS_COMPLETE]:
            wait(partial(self._go_on, arrays))
        return arrays[1] if self._is_native else self._result(value)

    def steps(self, value: Array | None) -> Steps:
        """As `execute`, as steps."""
        arrays = self._begin(value)
        if not self._words[IS_COMPLETE]:
            yield _Waiting(partial(self._go_on, arrays))
        return arrays[1] if self._is_native else self._result(value)

    def _begin(self, value: Array | None) -> Sequence[Array]:
        """The arrays of a call of native code, which has been made."""
        own = self._own if value is None else value
        arrays = (own, self._new_result()) if self._is_native else (own,)
        if not self._exchange(*arrays):
            arrays = self._copied(value), *arrays[1:]
            self._exchange(*arrays)
        return arrays

    def _go_on(self, arrays: Sequence[Array]) -> bool:
        return self._exchange(*arrays) and self._words[IS_COMPLETE] == 1

    def _result(self, value: Array | None) -> Array | None:
        """The result that NumPy makes of the values of all, when they are there."""
        if self._is_known:
            return value
        return self._complete[self.segment.half]() if self._gets_result else None

    def _copied(self, value: Array | None) -> Array:
        assert value is not None
        assert value.shape == self._own.shape
        self._own[...] = value
        return self._own


class _Waiting(NamedTuple):
    """Stands for a request of MPI among the `Steps` of an exchange through memory."""

    Test: IsDone


def _plan(exchange: Exchange, position: int, most: int) -> Array:
    """How a value is cut into pieces of so many bytes at most and the result is made of those of
    all, in the words of `native/segment.ll`; the function is 0 where NumPy makes it."""
    shape, axis, n = exchange.shape, exchange.axis, len(exchange.members)
    rows = 1
    function, parts, result_parts, own = 0, 1, 1, 0
    match exchange.kind:
        case Collective.ALL_REDUCE:
            function = reduction(exchange.dtype, exchange.reduction)
        case Collective.REDUCE_SCATTER:
            function = reduction(exchange.dtype, exchange.reduction)
            rows, parts, own = math.prod(shape[:axis]), n, position
        case Collective.ALL_GATHER:
            rows, result_parts = math.prod(shape[:axis]), n
            function = join() if exchange.operand_bytes <= _MOST_JOINED_BYTES else 0
        case _:
            pass
    part = exchange.operand_bytes // (rows * parts) if rows else 0
    if not function:
        piece_rows, piece = rows, part
    elif part * parts <= most:
        piece_rows, piece = max(1, most // max(1, part * parts)), part
    else:
        piece_rows, piece = 1, most // parts & -_ELEMENT_BYTES
    gives = position == exchange.root or exchange.kind not in FROM_ROOT
    words = function, rows, part, parts, piece_rows, piece, result_parts, own, gives
    return np.array(words, np.int64)


def _parted(value: Array, axis: int, parts: int) -> Array:
    """An array with its parts along a new leading axis, each in row-major order."""
    before, (size, *after) = value.shape[:axis], value.shape[axis:]
    split = value.reshape(math.prod(before), parts, size // parts * math.prod(after))
    shape = parts, *before, size // parts, *after
    return np.ascontiguousarray(split.swapaxes(0, 1)).reshape(shape)


def _joined(parts: Array, axis: int) -> Array:
    """An array whose parts are along the leading axis of `parts`."""
    n, before, (size, *after) = parts.shape[0], parts.shape[1 : axis + 1], parts.shape[axis + 1 :]
    split = parts.reshape(n, math.prod(before), size * math.prod(after))
    return np.ascontiguousarray(split.swapaxes(0, 1)).reshape(*before, n * size, *after)


_COUNTER_BYTES = 128
"""The distance of two processes' counters, in bytes: a cache line on all CPUs, and two where they
come in pairs. With less, processes that wait slow down those that write."""
_TOKEN_BYTES = 16
"""The length of the random number by which a process knows the memory that it has opened."""
_PLACE_BYTES = 64
"""The length of the text that says where the memory is: a process, a descriptor and the token."""
_NUMBER, IS_COMPLETE = 3, 8
"""Words of the state: the number of the piece, and whether the exchange is complete."""
_RESULT = 3
"""The place of the result in a frame."""
_TURNS = 16
"""The offers of the core to other processes before a call returns, so that its caller can see
whether one has failed. More: this is seen later; fewer: Python runs more often. Not measured: it is
as often as the caller offered the core between such looks before."""
_LEAST_BYTES = 64
"""The least bytes of a slot for each process: a piece of a part has eight elements at least."""
_reductions: list[Image] = []
"""The code of reductions, which is never unloaded."""


class Segment:
    """A process's view of the memory.

    Each process has two slots. A piece of a value uses one of each, and the next one the other.

    Attributes:
        members: how many processes share it.
        slot_bytes: the length of a slot.
        words: the state, as in `native/segment.ll`.
    """

    def __init__(self, memory: Any, members: int, position: int, polls: int) -> None:
        """`polls` are the looks at other processes before the core is offered to them."""
        self.members = members
        self._bytes = np.frombuffer(memory, np.uint8)
        self._first_slot = _first_slot(members)
        self.slot_bytes = (self._bytes.size - self._first_slot) // (2 * members) & -mmap.PAGESIZE
        start = self._bytes.ctypes.data
        firsts = [start + self._slot(0, half) for half in (0, 1)]
        counters = start + _COUNTER_BYTES
        state = [counters, members, position, 0, *firsts, 2 * self.slot_bytes, polls, 0, 0, 0, 0]
        self._state = np.array(state, np.int64)
        self.words = memoryview(cast("Any", self._state))

    def _slot(self, member: int, half: int) -> int:
        return self._first_slot + (2 * member + half) * self.slot_bytes

    def values(self, half: int, shape: Sequence[int], dtype: np.dtype[Any]) -> list[Array]:
        """The values of all processes, in even or odd pieces."""
        starts = [self._slot(member, half) for member in range(self.members)]
        return [np.ndarray(shape, dtype, self._bytes, start) for start in starts]

    def exchange(
        self, plan: Array, dtype: np.dtype[Any], *shapes: tuple[int, ...]
    ) -> Callable[..., bool]:
        """A function that exchanges a value by a plan. It takes the value and, if the plan makes
        one, the result: arrays of these shapes.

        It returns False, and has done nothing, if an array is not of its shape and this very dtype
        object, in row-major order. It has to be called again with the same arrays until
        `words[IS_COMPLETE]`.
        """
        kinds = [(a.shape, a.dtype) for a in (self._state, plan)] + [(s, dtype) for s in shapes]
        slots = [
            FrameSlot(place, shape, of, is_written=place == _RESULT)
            for place, (shape, of) in enumerate(kinds)
        ]
        made = launcher(_code().address("tg_exchange"), slots, 0)
        assert made is not None
        return partial(made, self._state, plan)

    @property
    def half(self) -> int:
        """Which slots the last piece has used."""
        return self.words[_NUMBER] & 1


def _first_slot(members: int) -> int:
    return _rounded(_COUNTER_BYTES * (members + 1))


def _rounded(nbytes: int) -> int:
    """The bytes of whole pages."""
    return -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE


@cache
def _code() -> Image:
    ir = native_ir("segment", STRIDE=_COUNTER_BYTES, TURNS=_TURNS, PAUSE=pause_instruction())
    return load_ir(ir, "segment")


@cache
def _is_supported() -> bool:
    """Whether native code can take arrays of this Python."""
    try:
        return launcher(_code().address("tg_exchange"), (), 0) is not None
    except OSError:
        return False


@cache
def reduction(dtype: np.dtype[Any], kind: str) -> int:
    """The address of a plan's function that reduces the values of all in their order; 0 if there is
    none for this dtype and this kind of reduction."""
    is_float = dtype.char in "fd"
    if (kind not in ("add", "mul")) or not (is_float or dtype.kind in "iu"):
        return 0
    number = {"f": "float", "d": "double"}.get(dtype.char, f"i{8 * dtype.itemsize}")
    combine = f"%c = {'f' * is_float}{kind} {number} %a, %b"
    ir = native_ir("reduce", TYPE=number, SIZE=dtype.itemsize, COMBINE=combine)
    _reductions.append(load_ir(ir, "reduce"))
    return _reductions[-1].address("tg_reduce")


def join() -> int:
    """The address of a plan's function that joins parts of the values of all."""
    return _code().address("tg_join")


def machine() -> bytes:
    """An identifier of the machine, and of the container if it does not see others' processes."""
    found = [os.uname().nodename, "", ""]
    with suppress(OSError):
        found[1] = Path("/proc/sys/kernel/random/boot_id").read_text()
    with suppress(OSError):
        found[2] = os.readlink("/proc/self/ns/pid")
    return "\0".join(found).encode()


def shared_segment(
    gathered: Callable[[bytes], Sequence[bytes]],
    members: int,
    position: int,
    slot_bytes: int,
    polls: int,
) -> Segment | None:
    """Memory of processes of one machine, which call this at once; None if one of them cannot have
    it.

    Args:
        gathered: gives the bytes of all processes, which are of one length.
        members, position: how many processes there are, and the number of this one.
        slot_bytes: the length of a slot, at least; 0 if this process wants no memory.
        polls: of `Segment`.
    """
    if not _is_supported():
        slot_bytes = 0
    if slot_bytes:
        slot_bytes = _rounded(max(slot_bytes, _LEAST_BYTES * members))
    memory: Any = None
    descriptor, place = None, b""
    try:
        if position == 0 and slot_bytes:
            descriptor = os.memfd_create("tgdialect")
            os.ftruncate(descriptor, _first_slot(members) + 2 * members * slot_bytes)
            memory = mmap.mmap(descriptor, 0)
            memory[:_TOKEN_BYTES] = os.urandom(_TOKEN_BYTES)
            place = b"%d/fd/%d %s" % (os.getpid(), descriptor, memory[:_TOKEN_BYTES].hex().encode())
    except (AttributeError, OSError, ValueError):
        memory = None
    path, _, token = gathered(place.ljust(_PLACE_BYTES))[0].rstrip().partition(b" ")
    if position and token and slot_bytes:
        memory = _opened(b"/proc/" + path, bytes.fromhex(token.decode()))
    all_have_it = all(has == b"1" for has in gathered(b"0" if memory is None else b"1"))
    if descriptor is not None:
        os.close(descriptor)
    return Segment(memory, members, position, polls) if all_have_it else None


def _opened(path: bytes, token: bytes) -> Any:
    """The memory of another process; None if it cannot be had."""
    try:
        with open(path, "r+b", buffering=0) as file:
            memory = mmap.mmap(file.fileno(), 0)
    except (OSError, ValueError):
        return None
    return memory if memory[:_TOKEN_BYTES] == token else None
