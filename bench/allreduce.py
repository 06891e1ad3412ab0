"""Collectives of a program, next to mpi4py's own of the same bytes between the same processes.

    pip install 'tgdialect[mpi]'
    python bench/allreduce.py                                   # 2 and 4 ranks, 1 KiB to 256 MiB
    python bench/allreduce.py --ranks 2 --kinds all_reduce --kibibytes 1 65536
    mpiexec -n 4 python bench/allreduce.py --seconds 1          # the ranks of this launcher alone

A size is that of the operand of `all_reduce` and `reduce_scatter`, and of the result of
`all_gather`, on each rank. Four calls take turns, each after a barrier and in an order that
rotates. In a turn a call is repeated for half a millisecond; a turn takes as long as its slowest
rank:

* `steps`: a compiled program with the collective, as `Runner.run` executes its steps: the time that
  one more collective takes in a program;
* `call`: a call of that program: before its steps it checks arguments, and ranks begin to compare
  what they want, which is part of every call and of no step;
* `mpi4py`: its blocking call, into memory that is there already;
* `polled`: its non-blocking call, polled; other ranks may have the core between polls.

None may change its operand. The results of ours are new arrays, which are dropped after each turn.
A ratio is that of `steps` to the faster one of mpi4py's: the medians', then the minima's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

import tgdialect as tg
from tgdialect.runtime.distributed.array import ShardedArray
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.distributed.mpi import launched_size, mpi_communicator
from tgdialect.runtime.distributed.runner import Runner
from tgdialect.targets.host import host_model

Array = np.ndarray[Any, Any]
KINDS = ("all_reduce", "all_gather", "reduce_scatter")
SIZES = tuple(4**k for k in range(10))
GOAL = 1.2
"""The ratio of times that is marked if it is exceeded."""
_TURN_SECONDS = 0.0005
"""How long a call is repeated in a turn: longer turns are fewer, shorter ones are as long as a
barrier's end is uncertain."""
HEADER = (
    "            ranks      KiB  turns        steps         call       mpi4py       polled  ratio"
)


def program(kind: str, n: int, size: int) -> str:
    """A program of one collective; `size` is the number of f32 of a rank, as the file says."""
    names = "[" + ", ".join(f'"MPI:{i}"' for i in range(n)) + "]"
    part = size // n

    def on(axis: int, *shape: int) -> str:
        return f"tensor<{'x'.join(map(str, shape))}xf32, #tg.place<{names}, axis = {axis}>>"

    def whole(*shape: int) -> str:
        return f"tensor<{'x'.join(map(str, shape))}xf32, #tg.place<{names}>>"

    def gather(source: str) -> str:
        """The lines that gather %part, of type `source`."""
        rows, copies = (on(1, k, size) for k in (1, n))
        return f"""
          %row = tg.reshape %part [1, {size}] : {source} -> {rows}
          %copies = tg.expand %row [{n}, {size}] : {rows} -> {copies}
          %moved = tg.copy %copies to {names} : {copies} -> {on(0, n, size)}
          %all = tg.replicated %moved axis 0 : {on(0, n, size)} -> {whole(size)}
          func.return %all : {whole(size)}"""

    if kind == "all_gather":
        body, operand, result = gather(on(0, size)), ("part", on(0, size)), whole(size)
    else:
        operand = "x", on(0, n * size)
        split, turned, moved = on(0, n, n, part), on(1, n, n, part), on(0, n, n, part)
        body = f"""
          %split = tg.reshape %x [{n}, {n}, {part}] : {operand[1]} -> {split}
          %turned = tg.permute %split [1, 0, 2] : {split} -> {turned}
          %parts = tg.copy %turned to {names} : {turned} -> {moved}
          %part = tg.reduce add %parts [1] : {moved} -> {on(0, n, 1, part)}"""
        if kind == "all_reduce":
            body += gather(on(0, n, 1, part))
            result = whole(size)
        else:
            result = on(0, size)
            body += f"""
          %sum = tg.reshape %part [{size}] : {on(0, n, 1, part)} -> {result}
          func.return %sum : {result}"""
    return f"func.func @main(%{operand[0]}: {operand[1]}) -> {result} {{{body}\n}}"


def calls(kind: str, size: int) -> Mapping[str, Callable[[], Any]]:
    """The calls that are timed, after a comparison of their results."""
    here = mpi_communicator()
    world = here.mpi.COMM_WORLD
    n = here.size
    executable = tg.compile(program(kind, n, size))
    assert isinstance(executable, ShardedExecutable)
    runner = Runner(executable.program, {}, tg.Device["CPU"], here.rank)
    own = np.random.default_rng(here.rank).random(
        size // n if kind == "all_gather" else size, np.float32
    )
    out = np.empty(size // n if kind == "reduce_scatter" else size, np.float32)
    devices = executable.program.devices
    sharded = ShardedArray((n * own.size,), own.dtype, devices, 0, {devices[here.rank]: own})
    name = {"all_reduce": "allreduce", "all_gather": "allgather"}.get(kind, f"{kind}_block")
    blocking, polled = (getattr(world, f) for f in (name.capitalize(), f"I{name}"))

    def poll() -> None:
        test = polled(own, out).Test
        while not test():
            os.sched_yield()

    steps = partial(runner.run, here, [own])
    blocking(own, out)
    (found,) = steps()
    np.testing.assert_allclose(found, out, rtol=1e-6)
    del found
    return {
        "steps": steps,
        "call": lambda: executable.resident(sharded),
        "mpi4py": lambda: blocking(own, out),
        "polled": poll,
    }


class Row(NamedTuple):
    """Times of the calls, in seconds."""

    kind: str
    kibibytes: int
    times: Mapping[str, list[float]]

    @property
    def ratios(self) -> tuple[float, float]:
        """Ours to the faster one of mpi4py's, by the medians and by the minima."""
        found = [{k: f(t) for k, t in self.times.items()} for f in (statistics.median, min)]
        medians, minima = (t["steps"] / min(t["mpi4py"], t["polled"]) for t in found)
        return medians, minima

    def __str__(self) -> str:
        medians = (f"{1e3 * statistics.median(t):>10.3f} ms" for t in self.times.values())
        by_medians, by_minima = self.ratios
        verdict = "" if by_medians <= GOAL else f"  above {GOAL}"
        turns = len(self.times["steps"])
        return (
            f"{self.kind:<14}{mpi_communicator().size:>3}{self.kibibytes:>9}{turns:>7}"
            f"{''.join(medians)}{by_medians:>7.2f}{by_minima:>6.2f}{verdict}"
        )


def measured(kind: str, kibibytes: int, seconds: float) -> Row:
    """Turns of all calls, at least 7 and for so many seconds at most."""
    world = mpi_communicator().mpi.COMM_WORLD
    greatest = mpi_communicator().mpi.MAX
    named = list(calls(kind, kibibytes * 256).items())
    times: dict[str, list[float]] = {name: [] for name, _ in named}

    def turn(number: int, repeats: Mapping[str, int]) -> None:
        for name, call in named[number % 4 :] + named[: number % 4]:
            world.Barrier()
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            taken = (time.perf_counter() - start) / repeats[name]
            times[name].append(world.allreduce(taken, op=greatest))

    once = dict.fromkeys(times, 1)
    for number in range(3):  # The first use of memory, and then times for the numbers of repeats.
        turn(number, once)
    repeats = {name: max(1, int(_TURN_SECONDS / min(t))) for name, t in times.items()}
    taken = sum(min(t) * repeats[name] for name, t in times.items())
    for t in times.values():
        t.clear()
    for number in range(max(7, min(int(seconds / taken), 2000))):
        turn(number, repeats)
    return Row(kind, kibibytes, times)


def rows(options: argparse.Namespace) -> Iterator[Row]:
    """The rows of these ranks."""
    todo = [(kind, size) for kind in options.kinds for size in options.kibibytes]
    for kind, size in tqdm(todo, disable=mpi_communicator().rank > 0):
        yield measured(kind, size, options.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time collectives next to mpi4py's own.")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--kibibytes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each row, at most")
    options = parser.parse_args()
    if launched_size() == 1:
        print(f"{host_model()}; f32, medians of turns; ratio by medians and by minima", flush=True)
        print(HEADER, flush=True)
        for n in options.ranks:
            subprocess.run(["mpiexec", "-n", f"{n}", sys.executable, *sys.argv], check=True)
        return
    for row in rows(options):
        if mpi_communicator().rank == 0:
            tqdm.write(str(row), file=sys.stdout)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
