"""Memory of compiled programs: addresses of arrays, and blocks that are used again.

A large array from `np.empty` is new pages each time, and touching a new page costs more than
computing what goes on it. Blocks here go back to a pool when the last array on them is gone.
"""

from __future__ import annotations

import ctypes
import os
from collections import defaultdict
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np

from tgdialect.targets.cpu import ALIGNMENT

Array = np.ndarray[Any, np.dtype[Any]]

POOLED_BYTES = 1 << 17
"""From this size on, `malloc` gives memory back to the system, and results come from the pool."""

_BYTE: Any = ctypes.c_char


def address(array: Array) -> int:
    """Where the elements of a contiguous array begin.

    Four times as fast as `array.ctypes.data` on arrays that the buffer protocol can describe.
    """
    try:
        return ctypes.addressof(_BYTE.from_buffer(array))
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Aligned memory: `memory` owns it, the first aligned byte is at `address`."""

    memory: Array
    address: int
    nbytes: int

    @classmethod
    def new(cls, nbytes: int) -> Block:
        """A block of so many bytes, with anything in it."""
        memory = np.empty(nbytes + ALIGNMENT, np.uint8)
        start = memory.ctypes.data
        return cls(memory, start + -start % ALIGNMENT, nbytes)


class Pool:
    """Free blocks by size. Safe on several threads, and when the garbage collector gives back."""

    def __init__(self, limit: int = 1 << 30) -> None:
        """At most `limit` bytes are kept while nothing uses them."""
        self._limit = limit
        self._kept = 0
        self._free: defaultdict[int, list[Block]] = defaultdict(list)
        self._lock = RLock()

    def take(self, nbytes: int) -> Block:
        """A block of so many bytes, with anything in it."""
        with self._lock:
            if free := self._free.get(nbytes):
                self._kept -= nbytes
                return free.pop()
        try:
            return Block.new(nbytes)
        except MemoryError:
            self.clear()
        return Block.new(nbytes)

    def give(self, block: Block) -> None:
        """Put a block back that nothing uses any more."""
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
        """Have a lock of this process, where another thread of the parent may hold the old one."""
        self._lock = RLock()
        self._kept = sum(nbytes * len(free) for nbytes, free in self._free.items())

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """As `np.empty`; a large array is on a block that goes back when no array is on it."""
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        if nbytes < POOLED_BYTES:
            return np.empty(shape, dtype)
        return np.asarray(_Lease(self, self.take(nbytes))).view(dtype).reshape(shape)


class _Lease:
    """What an array on a block of the pool holds on to."""

    __slots__ = ("__array_interface__", "__weakref__", "_block", "_pool")

    def __init__(self, pool: Pool, block: Block) -> None:
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


POOL = Pool()
"""The pool of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.leave_parent)
