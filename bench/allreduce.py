"""An allreduce by tgdialect, next to mpi4py's own of the same bytes between the same processes.

    pip install 'tgdialect[mpi]'
    mpiexec -n 2 python bench/allreduce.py
    mpiexec -n 4 python bench/allreduce.py --mebibytes 1 64

Three things are timed in turns, between barriers, each as the slowest process sees it:

* `tgdialect`: a `@tg.function` of `tgdialect.collectives.allreduce`, called with a sharded tensor,
  until the result is there;
* `Allreduce`: mpi4py's, blocking, into an array that is there already: nothing is faster in MPI;
* `Iallreduce`: mpi4py's, polled, as programs use it which compute meanwhile.

The result is a new array in tgdialect's turn alone.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

import tgdialect as tg
from tgdialect import collectives
from tgdialect.runtime.distributed.mpi import mpi_communicator


def calls(values: np.ndarray[Any, Any]) -> Mapping[str, Callable[[], object]]:
    """What is timed: each call gives the sum of `values` of all processes."""
    here = mpi_communicator()
    mpi = here.mpi
    devices = tuple(f"MPI:{i}" for i in range(here.size))
    whole = np.concatenate([values + np.float32(i - here.rank) for i in range(here.size)])
    sharded = tg.Tensor(whole).shard(devices, 0).realize()
    function = tg.function(lambda x: collectives.allreduce(x))
    total = np.empty_like(values)

    def by_tgdialect() -> tg.Tensor:
        return function(sharded).realize()

    def blocking() -> None:
        mpi.COMM_WORLD.Allreduce(values, total)

    def polled() -> None:
        request = mpi.COMM_WORLD.Iallreduce(values, total)
        while not request.Test():
            pass

    blocking()
    np.testing.assert_allclose(by_tgdialect().numpy(), total, rtol=1e-5)
    return {"tgdialect": by_tgdialect, "Allreduce": blocking, "Iallreduce": polled}


def measured(
    named: Mapping[str, Callable[[], object]], rounds: int, bar: tqdm[Any]
) -> Mapping[str, float]:
    """The median of each call's time, of the slowest process."""
    world = mpi_communicator().mpi.COMM_WORLD
    times: dict[str, list[float]] = {name: [] for name in named}
    for _ in range(rounds):
        for name, call in named.items():
            world.Barrier()
            start = time.perf_counter()
            found = call()
            taken = time.perf_counter() - start
            del found
            times[name].append(world.allreduce(taken, op=mpi_communicator().mpi.MAX))
        bar.update()
    return {name: statistics.median(t) for name, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time an allreduce next to mpi4py's own.")
    parser.add_argument("--mebibytes", type=float, nargs="+", default=[0.0625, 1, 16, 64])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    here = mpi_communicator()
    with tqdm(total=options.rounds * len(options.mebibytes), disable=here.rank > 0) as bar:
        rows: list[tuple[float, Mapping[str, float]]] = []
        for size in options.mebibytes:
            named = calls(np.float32(here.rank) + np.zeros(int(size * 2**18), np.float32))
            rows.append((size, measured(named, options.rounds, bar)))
    if here.rank == 0:
        print(f"{here.size} processes, f32; tgdialect / Allreduce is to be at most 1.2 for 64 MiB")
        print(f"{'MiB':>8}" + "".join(f"{name:>14}" for name in rows[0][1]) + f"{'ratio':>8}")
        for size, times in rows:
            cells = "".join(f"{1e3 * t:>11.3f} ms" for t in times.values())
            print(f"{size:>8g}{cells}{times['tgdialect'] / times['Allreduce']:>8.2f}")


if __name__ == "__main__":
    main()
