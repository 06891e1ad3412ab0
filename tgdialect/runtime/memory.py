"""Memory of compiled programs: addresses of arrays, a pool of large blocks, and who sees an array.

The system gives `np.empty` new pages for each large array, and the page faults cost more than
computing the contents. A block of the pool goes back to it when the last array on it is gone.
Memory for packed weights is used for the first time while their program is compiled (`Ahead`).
The holders of an array's memory are counted by references.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from mmap import PAGESIZE
from sys import getrefcount
from threading import Event, RLock, Thread, get_native_id
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar
from weakref import getweakrefcount

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.text import show_bytes
from tgdialect.targets.cpu import ALIGNMENT

POOLED_BYTES = 1 << 17
"""The least size of a result that comes from the pool, in bytes: `malloc` returns such blocks to
the system when they are freed. Smaller: the pool keeps many small blocks; larger: new pages in each
call."""

PIECE = 4 << 20
"""The bytes that `Ahead` uses without asking whether it is to stop, and without Python's lock.
Larger: the caller waits longer, for one piece at most (0.6 to 10 ms); smaller: the thread asks more
often for the lock, which the compiler has."""

_NICENESS = 5
"""The niceness of the thread of `Ahead`. Smaller: it takes the core from the compiler, whose lock
it should not hold while it waits; larger: it does nothing while other programs use the machine."""

_BYTE: Any = ctypes.c_char


def address(array: Array) -> int:
    """The address of the first element of a contiguous array.

    Four times as fast as `array.ctypes.data` if the buffer protocol knows the dtype.
    """
    try:
        return ctypes.addressof(_BYTE.from_buffer(array))
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """As `np.zeros`. Raises MemoryError, with the size."""
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError):  # The latter for more than NumPy can address.
        raise _no_block(dtype.itemsize * math.prod(shape)) from None


def _no_block(nbytes: int) -> MemoryError:
    return MemoryError(f"this process gets no block of {show_bytes(nbytes)}")


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Aligned memory: `memory` owns it, and `address` is its first aligned byte."""

    memory: Array
    address: int
    nbytes: int

    @classmethod
    def new(cls, nbytes: int) -> Block:
        """An uninitialised block. Raises MemoryError, with its size."""
        try:
            memory = np.empty(nbytes + ALIGNMENT, np.uint8)
        except (MemoryError, ValueError):
            raise _no_block(nbytes) from None
        start = memory.ctypes.data
        return cls(memory, start + -start % ALIGNMENT, nbytes)


class Ahead:
    """A block whose pages another thread uses for the first time while a `with` lasts. What it has
    not reached by then is as new.

    The system clears a page when it is first used, and the host of a virtual machine may have to
    find memory for it first: 0.16 to 2.6 ms per MB were measured.
    """

    block: Block | None = None
    """None for no bytes, and if there is no memory for them."""

    def __init__(self, nbytes: int) -> None:
        self._is_over = Event()
        self._thread = Thread(target=self._use, name="tgdialect-memory", daemon=True)
        if nbytes:
            with suppress(MemoryError):
                self.block = Block.new(nbytes)

    def _use(self) -> None:
        assert self.block is not None
        if sys.platform == "linux":  # Where a thread has a priority of its own.
            os.setpriority(os.PRIO_PROCESS, get_native_id(), _NICENESS)
        memory = self.block.memory
        for start in range(0, len(memory), PIECE):
            if self._is_over.is_set():
                break
            memory[start : start + PIECE : PAGESIZE] = 0  # Without Python's lock.

    def __enter__(self) -> Self:
        if self.block is not None:
            with suppress(RuntimeError):  # There can be no more threads.
                self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._thread.ident is not None:
            self._thread.join()


class _HasSize(Protocol):
    @property
    def nbytes(self) -> int: ...


B = TypeVar("B", bound=_HasSize)


class Pool(Generic[B]):
    """Free blocks by size. Safe on several threads, and if the garbage collector calls `give`."""

    def __init__(self, limit: int, new: Callable[[int], B]) -> None:
        """At most `limit` bytes of free blocks are kept. `new` makes an uninitialised block of so
        many bytes, or raises MemoryError."""
        self._limit = limit
        self._new = new
        self._kept = 0
        self._free: defaultdict[int, list[B]] = defaultdict(list)
        self._lock = RLock()

    def take(self, nbytes: int) -> B:
        """A block of so many bytes, with anything in it."""
        with self._lock:
            if free := self._free.get(nbytes):
                self._kept -= nbytes
                return free.pop()
        try:
            return self._new(nbytes)
        except MemoryError:
            self.clear()
        return self._new(nbytes)

    def give(self, block: B) -> None:
        """Return a block that nothing uses any more."""
        with self._lock:
            if self._kept + block.nbytes <= self._limit:
                self._kept += block.nbytes
                self._free[block.nbytes].append(block)

    def clear(self) -> None:
        """Give the free blocks back to the system."""
        with self._lock:
            self._free.clear()
            self._kept = 0

    def leave_parent(self) -> None:
        """Replace the lock in a child of `fork`: another thread of the parent may have held it."""
        self._lock = RLock()
        self._kept = sum(nbytes * len(free) for nbytes, free in self._free.items())


class ArrayPool(Pool[Block]):
    """A pool of blocks in the memory of this process, and arrays on them."""

    def __init__(self, limit: int = 1 << 30) -> None:
        super().__init__(limit, lambda nbytes: Block.new(nbytes))

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """As `np.empty`. A large array uses a block of the pool until it and its views are gone."""
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        if nbytes < POOLED_BYTES:
            return np.empty(shape, dtype)
        return np.asarray(Lease(self, self.take(nbytes))).view(dtype).reshape(shape)


class Lease:
    """The base object of an array on a block of the pool: its end returns the block."""

    __slots__ = ("__array_interface__", "__weakref__", "_block", "_pool")

    def __init__(self, pool: ArrayPool, block: Block) -> None:
        self._pool = pool
        self._block = block
        self.__array_interface__ = {
            "version": 3,
            "shape": (block.nbytes,),
            "typestr": "|u1",
            "data": (block.address, False),
        }

    def __del__(self) -> None:
        self._pool.give(self._block)


POOL = ArrayPool()
"""The pool of this process."""


def copied(array: Array) -> Array:
    """A copy in memory of its own, in C order."""
    new = POOL.empty(array.shape, array.dtype)
    new[...] = array
    return new


def has_one_holder(values: Sequence[object], position: int) -> bool:
    """Whether one other object refers to the value at a position of a sequence, and nobody else."""
    return getrefcount(values[position]) == _count_of_one()


def owns_memory(array: Array) -> bool:
    """Whether the memory of an array is allocated by NumPy or by our pool, and no other array, and
    no foreign object, is on it. The caller counts the references to the array itself."""
    if not array.flags.carray or getweakrefcount(array):
        return False
    bases: list[Any] = [array]
    while isinstance(bases[-1], np.ndarray):
        if bases[-1].flags.owndata:
            return True
        bases.append(bases[-1].base)
        if not has_one_holder(bases, len(bases) - 1):
            return False
    return isinstance(bases[-1], Lease)


@cache
def _count_of_one() -> int:
    """The reference count of a value with one holder besides the sequence, in this Python."""
    values = [object()]
    holder = [values[0]]
    count = getrefcount(values[0])
    del holder
    return count


@dataclass(eq=False)
class ReleasedArray:
    """Stands for a constant argument after everything that a program needs of it has been derived
    from it. Its elements are gone."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    reason: str
    """The error for those who ask for its elements."""

    @property
    def nbytes(self) -> int:
        """The bytes that it had."""
        return math.prod(self.shape) * self.dtype.itemsize

    def numpy(self) -> NoReturn:
        """Raises RuntimeError."""
        raise RuntimeError(self.reason)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.numpy()

    def __dlpack__(self, **_: Any) -> NoReturn:
        self.numpy()

    def __dlpack_device__(self) -> NoReturn:
        self.numpy()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.leave_parent)
