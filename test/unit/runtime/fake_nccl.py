"""A stand-in for `nccl.bindings.nccl`: each GPU is a thread with memory of the process."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from fake_cuda import FakeCuda

Array = np.ndarray[Any, np.dtype[Any]]


class DataType(IntEnum):
    Int8 = 0
    Uint8 = 1
    Int32 = 2
    Uint32 = 3
    Int64 = 4
    Uint64 = 5
    Float16 = 6
    Float32 = 7
    Float64 = 8
    Bfloat16 = 9


class RedOp(IntEnum):
    Sum = 0
    Prod = 1
    Max = 2
    Min = 3


_FUNCTIONS: dict[int, Any] = {0: np.add, 1: np.multiply, 2: np.maximum, 3: np.minimum}
_DTYPES = [
    *(np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64),
    *(np.float16, np.float32, np.float64, ml_dtypes.bfloat16),
]


class _Clique:
    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=600)
        self.places: list[tuple[int, int]] = [(0, 0)] * size


class Comm(NamedTuple):
    """A communicator as one GPU sees it."""

    clique: _Clique
    rank: int


class NCCLError(Exception):
    """What NCCL refuses."""


class FakeNccl:
    DataType, RedOp, NCCLError = DataType, RedOp, NCCLError

    def __init__(self, cuda: FakeCuda) -> None:
        """`cuda` has the GPUs."""
        self.cuda = cuda
        self.cliques: dict[bytes, _Clique] = {}
        self.names = itertools.count(1)
        self.lock = threading.Lock()
        self.calls: list[str] = []
        self.refuses = False
        self.aborted: list[Comm] = []

    def get_unique_id(self) -> bytes:
        return next(self.names).to_bytes(128, "little")

    def comm_init_rank_scalable(
        self, size: int, rank: int, count: int, ids: bytearray, config: int
    ) -> Comm:
        assert (count, config) == (1, 0)
        if self.refuses:
            raise NCCLError("unhandled cuda error")
        with self.lock:
            clique = self.cliques.setdefault(bytes(ids), _Clique(size))
        clique.barrier.wait()
        return Comm(clique, rank)

    def comm_abort(self, comm: Comm) -> None:
        self.aborted.append(comm)
        comm.clique.barrier.abort()

    def _meet(
        self,
        name: str,
        comm: Comm,
        stream: int,
        places: tuple[int, int],
        run: Callable[[Any], None],
    ) -> None:
        """Wait for all, let each read what the others have, then let each write. `places` are the
        addresses of what is read and written."""
        self.calls.append(name)
        self.cuda.finish(stream)
        clique = comm.clique
        clique.places[comm.rank] = places
        clique.barrier.wait()
        run([place[0] for place in clique.places])
        clique.barrier.wait()

    # -- collectives

    def all_reduce(
        self, source: int, target: int, count: int, dtype: int, op: int, comm: Comm, stream: int
    ) -> None:
        def run(sources: list[int]) -> None:
            total = _reduced(op, [_read(s, count, dtype) for s in sources])
            comm.clique.barrier.wait()
            _write(target, total)

        self._meet("all_reduce", comm, stream, (source, target), run)

    def reduce(
        self,
        source: int,
        target: int,
        count: int,
        dtype: int,
        op: int,
        root: int,
        comm: Comm,
        stream: int,
    ) -> None:
        def run(sources: list[int]) -> None:
            if comm.rank == root:
                _write(target, _reduced(op, [_read(s, count, dtype) for s in sources]))

        self._meet("reduce", comm, stream, (source, target), run)

    def reduce_scatter(
        self, source: int, target: int, count: int, dtype: int, op: int, comm: Comm, stream: int
    ) -> None:
        def run(sources: list[int]) -> None:
            offset = comm.rank * count * np.dtype(_DTYPES[dtype]).itemsize
            _write(target, _reduced(op, [_read(s + offset, count, dtype) for s in sources]))

        self._meet("reduce_scatter", comm, stream, (source, target), run)

    def all_gather(
        self, source: int, target: int, count: int, dtype: int, comm: Comm, stream: int
    ) -> None:
        self._meet(
            "all_gather",
            comm,
            stream,
            (source, target),
            lambda sources: _write(
                target, np.concatenate([_read(s, count, dtype) for s in sources])
            ),
        )

    def gather(
        self, source: int, target: int, count: int, dtype: int, root: int, comm: Comm, stream: int
    ) -> None:
        def run(sources: list[int]) -> None:
            if comm.rank == root:
                _write(target, np.concatenate([_read(s, count, dtype) for s in sources]))

        self._meet("gather", comm, stream, (source, target), run)

    def broadcast(
        self, source: int, target: int, count: int, dtype: int, root: int, comm: Comm, stream: int
    ) -> None:
        self._meet(
            "broadcast",
            comm,
            stream,
            (source, target),
            lambda sources: _write(target, _read(sources[root], count, dtype)),
        )

    def scatter(
        self, source: int, target: int, count: int, dtype: int, root: int, comm: Comm, stream: int
    ) -> None:
        def run(sources: list[int]) -> None:
            assert dtype == DataType.Uint8
            _write(target, _read(sources[root] + comm.rank * count, count, dtype))

        self._meet("scatter", comm, stream, (source, target), run)

    def allto_all(
        self, source: int, target: int, count: int, dtype: int, comm: Comm, stream: int
    ) -> None:
        def run(sources: list[int]) -> None:
            assert dtype == DataType.Uint8
            parts = [_read(s + comm.rank * count, count, dtype) for s in sources]
            _write(target, np.concatenate(parts))

        self._meet("allto_all", comm, stream, (source, target), run)

    def send(self, place: int, count: int, dtype: int, to: int, comm: Comm, stream: int) -> None:
        self._meet("send", comm, stream, (place, 0), lambda sources: None)

    def recv(self, place: int, count: int, dtype: int, of: int, comm: Comm, stream: int) -> None:
        self._meet(
            "recv",
            comm,
            stream,
            (0, place),
            lambda sources: _write(place, _read(sources[of], count, dtype)),
        )


def _reduced(op: int, values: list[Array]) -> Array:
    return _FUNCTIONS[op].reduce(values, dtype=values[0].dtype)


def _read(address: int, count: int, dtype: int) -> Array:
    kind = np.dtype(_DTYPES[dtype])
    data = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(address)
    return np.array(np.ctypeslib.as_array(data)).view(kind)


def _write(address: int, values: Array) -> None:
    values = np.ascontiguousarray(values)
    ctypes.memmove(address, values.ctypes.data, values.nbytes)
