"""Memory of compiled programs: addresses of arrays, and blocks that are used again.

A large array from `np.empty` is new pages each time, and touching a new page costs more than
computing what goes on it. Blocks here go back to a pool when the last array on them is gone.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""
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
        return Block.new(nbytes)

    def give(self, block: Block) -> None:
        """Put a block back that nothing uses any more."""
        with self._lock:
            if self._kept + block.nbytes <= self._limit:
                self._kept += block.nbytes
                self._free[block.nbytes].append(block)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """As `np.empty`; a large array is on a block that goes back when no array is on it."""
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        if nbytes < POOLED_BYTES:
            return np.empty(shape, dtype)
        return np.asarray(_Lease(self, nbytes)).view(dtype).reshape(shape)


class _Lease:
    """What an array on a block of the pool holds on to."""

    __slots__ = ("__array_interface__", "__weakref__", "_block", "_pool")

    def __init__(self, pool: Pool, nbytes: int) -> None:
        self._pool = pool
        self._block = pool.take(nbytes)
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (self._block.address, False),
        }

    def __del__(self) -> None:
        self._pool.give(self._block)


POOL = Pool()
"""The pool of this process."""
