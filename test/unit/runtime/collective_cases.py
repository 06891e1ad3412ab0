"""Cases of the seven collectives, and their definitions in NumPy.

As a program, `mpiexec -n N python collective_cases.py`, this file runs all cases of N devices by
MPI, and the random programs of `random_shards.py` given by `--programs`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import f64

import tgdialect as tg
from tgdialect import collectives
from tgdialect.interpreter import run

sys.path.insert(0, str(Path(__file__).parent.parent))

from random_shards import RandomShards, unplaced, with_gradient

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64),
    *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16),
    *(np.float16, np.float32, np.float64),
)
SIZES = (1, 3, 5)
"""The rows of one device: even and odd numbers, for collectives that take any."""


class Case(NamedTuple):
    """A collective on one input: what gives the result, and what it has to be."""

    name: str
    result: Callable[[], Any]
    wanted: Array


def devices(count: int, *, mpi: bool) -> tuple[str, ...]:
    """The names of devices: processes of MPI, or places of the host."""
    return tuple(f"{'MPI' if mpi else 'CPU'}:{i}" for i in range(count))


def values(shape: tuple[int, ...], dtype: Any) -> Array:
    """Small numbers, whose sums and products are exact in every dtype."""
    rng = np.random.default_rng(len(shape))
    low = 0 if np.dtype(dtype).kind in "ub" else -1
    return rng.integers(low, 2, shape).astype(dtype)


def reduced(array: Array, n: int, op: str) -> Array:
    """The reduction of n parts, in f64 or integers that wrap."""
    parts = array.reshape(n, array.shape[0] // n, *array.shape[1:])
    if array.dtype == np.bool_:
        return parts.all(0) if op == "mul" else parts.any(0)
    wide = parts if array.dtype.kind in "iu" else parts.astype(np.float64)
    function = {"add": np.add, "mul": np.multiply, "max": np.maximum}[op]
    return function.reduce(wide, 0, dtype=wide.dtype).astype(array.dtype)


def cases(names: tuple[str, ...], dtype: Any) -> Iterator[Case]:
    """All collectives of one dtype on these devices."""
    n = len(names)
    for size in SIZES:
        one = values((size, 2), dtype)
        yield Case("broadcast", lambda x=one: collectives.broadcast(_on(x, names[0]), names), one)
        x = values((n * size, 2), dtype)
        yield Case("scatter", lambda x=x: collectives.scatter(_on(x, names[-1]), names), x)
        yield Case("gather", lambda x=x: collectives.gather(_split(x, names)), x)
        yield Case("allgather", lambda x=x: collectives.allgather(_split(x, names)), x)
        y = values((n * n * size, 2), dtype)
        for op in ("add", "mul", "max"):
            yield Case(
                f"reduce {op}",
                lambda x=x, op=op: collectives.reduce(_split(x, names), names[-1], op),
                reduced(x, n, op),
            )
            yield Case(
                f"reduce_scatter {op}",
                lambda y=y, op=op: collectives.reduce_scatter(_split(y, names), op),
                reduced(y, n, op),
            )
            yield Case(
                f"allreduce {op}",
                lambda y=y, op=op: collectives.allreduce(_split(y, names), op),
                reduced(y, n, op),
            )


def _on(array: Array, device: str) -> tg.Tensor:
    return tg.Tensor(array, device=device).realize()


def _split(array: Array, names: tuple[str, ...]) -> tg.Tensor:
    return tg.Tensor(array).shard(names, 0).realize()


def check(names: tuple[str, ...], dtype: Any) -> int:
    """Run the cases of one dtype, and return how many there were."""
    count = 0
    for case in cases(names, dtype):
        found = case.result().numpy()
        assert found.dtype == case.wanted.dtype
        np.testing.assert_array_equal(found, case.wanted, f"{case.name} of {np.dtype(dtype)}")
        count += 1
    return count


def run_program(seed: int, target: str | None) -> tuple[Array, ...]:
    """The results of a random program on two devices."""
    program = RandomShards(seed)
    found = tg.compile(program.module(), target=target)(*program.inputs())
    return found if isinstance(found, tuple) else (found,)


def run_gradient(seed: int, target: str | None, count: int) -> tuple[Array, ...]:
    """The gradients of a random program on so many devices."""
    program = RandomShards(seed, tuple("ABCD"[:count]), dtypes=(f64,))
    module, inputs = with_gradient(program.module(), seed)
    found = tg.compile(module, entry="main_gradient", target=target)(*inputs)
    return found if isinstance(found, tuple) else (found,)


def wanted_gradient(seed: int, count: int) -> Sequence[Array]:
    """The results that `run_gradient` has to give, by the interpreter and without devices."""
    program = RandomShards(seed, tuple("ABCD"[:count]), dtypes=(f64,))
    module, inputs = with_gradient(unplaced(program.module()), seed)
    return [np.asarray(a) for a in run(module, "main_gradient", inputs)]


def main() -> None:
    """Run everything by MPI; each process checks all results."""
    from tgdialect.runtime.distributed import mpi

    mpi._SPIN_SECONDS = 0.0  # Other tests run beside: who waits lets them.
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=1, help="of dtypes")
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--gradients", action="store_true", help="of the programs")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--results")
    options = parser.parse_args()
    communicator = mpi.mpi_communicator()
    if not options.programs:
        names = devices(communicator.size, mpi=True)
        count = sum(check(names, dtype) for dtype in DTYPES[:: options.step])
    else:
        count = options.programs
        seeds = range(options.first, options.first + count)
        found = {
            s: run_gradient(s, "mpi", communicator.size)
            if options.gradients
            else run_program(s, "mpi")
            for s in seeds
        }
        if options.results and communicator.rank == 0:
            arrays = {f"{s}_{i}": a for s, results in found.items() for i, a in enumerate(results)}
            np.savez(options.results, **arrays)
    if communicator.rank == 0:
        print(f"{count} cases")


if __name__ == "__main__":
    main()
