"""Memory that processes of one machine share, and a barrier of them.

An exchange through it takes two copies and no message. The first process makes a file without a
name, which ends with the processes, and the others open it by its descriptor (Linux).
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.images import Image, load_ir
from tgdialect.runtime.launcher import FrameSlot, launcher
from tgdialect.runtime.native import native_ir
from tgdialect.targets.host import pause_instruction

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
            FrameSlot(place, shape, of, math.prod(shape) * of.itemsize, is_written=place == _RESULT)
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
