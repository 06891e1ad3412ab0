"""Ranks of MPI that come apart: `mpiexec -n N python apart_cases.py --count 100`.

Each case is a script of a few calls, which all ranks run but one: that one skips, repeats or
exchanges a call, changes a size or a dtype, fails and goes on, or ends early. Every rank has to get
an error by the end, to keep getting it, and never a wrong value. Numbers are small and exact.
"""

from __future__ import annotations

import argparse
import atexit
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tgdialect as tg
from tgdialect import collectives
from tgdialect.runtime.distributed.exchange import Intent, RankError
from tgdialect.runtime.distributed.mpi import MpiCommunicator, mpi_communicator
from tgdialect.runtime.distributed.runner import Runner

SECONDS = 15.0
"""How soon an error has to come."""
SIZED = """
func.func @main() -> tensor<?x12xf32> {{
  %n = tg.param 0 min 1 max 99 : tensor<index>
  %x = tg.param 1 (%n) {{tg.sharding = #tg.place<[{devices}], axis = 1>}} : tensor<?x12xf32>
  %s = tg.reduce add %x [1] : tensor<?x12xf32> -> tensor<?x1xf32>
  %w = tg.neg %x {{tg.sharding = #tg.place<[{devices}]>}} : tensor<?x12xf32>
  %y = tg.mul %w, %s : (tensor<?x12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
  func.return %y : tensor<?x12xf32>
}}
"""
KINDS = ("skip", "repeat", "another", "size", "dtype", "refuse", "fail", "end early")


class Script:
    """The calls that a rank can make, on tensors of its own, and what they have to give."""

    def __init__(self, size: int) -> None:
        names = tuple(f"MPI:{i}" for i in range(size))
        text = SIZED.format(devices=", ".join(f'"{name}"' for name in names))
        self.sized = tg.compile(text)
        self.names, self.few = names, names[:2]
        self.add_one = tg.function(lambda x: x + 1)
        self.add_up = tg.function(lambda x: x.sum(0))
        self.add_all = tg.function(collectives.allreduce)
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Make new tensors."""
        rng = np.random.default_rng(seed)
        self.value = rng.integers(-9, 9, (144, 2)).astype(np.float32)
        self.x = tg.Tensor(self.value).shard(self.names, 0).realize()
        self.y = tg.Tensor(self.value.astype(np.int32)).shard(self.names, 0).realize()
        self.z = tg.Tensor(self.value).shard(self.few, 0).realize()

    def call(self, name: str) -> None:
        """Make a call, and compare what it gives."""
        made, _, number = name.partition(" ")
        found, wanted = getattr(self, f"_{made}")(*map(int, number.split()))
        np.testing.assert_array_equal(found, wanted, name)

    def _step(self) -> tuple[Any, Any]:
        self.x, self.value = self.add_one(self.x), self.value + 1
        return 0, 0

    def _sum(self) -> tuple[Any, Any]:
        return self.add_up(self.x).numpy(), self.value.sum(0)

    def _ints(self) -> tuple[Any, Any]:
        return self.add_up(self.y).numpy(), self.y.numpy().sum(0)

    def _all(self) -> tuple[Any, Any]:
        parts = self.value.reshape(len(self.names), -1, 2)
        return self.add_all(self.x).numpy(), parts.sum(0)

    def _read(self) -> tuple[Any, Any]:
        return self.x.numpy(), self.value

    def _few(self) -> tuple[Any, Any]:
        return self.add_up(self.z).numpy(), self.z.numpy().sum(0)

    def _sized(self, n: int) -> tuple[Any, Any]:
        x = np.arange(n * 12, dtype=np.float32).reshape(n, 12)
        return self.sized(n, x), -x * x.sum(1, keepdims=True)

    def _refuse(self) -> tuple[Any, Any]:
        try:
            self.sized(3, np.ones((4, 12), np.float32))
        except ValueError:
            return 0, 0
        raise AssertionError("the array has another size")

    def _fail(self) -> tuple[Any, Any]:
        run = Runner.run

        def fail(*_: object) -> Any:
            raise MemoryError("no memory")

        Runner.run = fail
        try:
            self.add_up(self.x)
        except MemoryError:
            return 0, 0
        finally:
            Runner.run = run
        raise AssertionError("it has been run")


def script(rng: random.Random, count: int) -> list[str]:
    calls = ("step", "sum", "ints", "all", "read", "few", f"sized {rng.randint(1, 9)}")
    return [rng.choice(calls) for _ in range(count)]


def changed(calls: list[str], kind: str, rng: random.Random) -> tuple[list[str], list[str]]:
    """The script of all but one, and that of one."""
    at = rng.randrange(len(calls))
    before, this, after = calls[:at], calls[at], calls[at + 1 :]
    match kind:
        case "skip":
            return calls, [*before, *after]
        case "repeat":
            return calls, [*before, this, this, *after]
        case "another":
            other = rng.choice([c for c in ("step", "sum", "all", "read", "few") if c != this])
            return calls, [*before, other, *after]
        case "size":
            return [*before, "sized 5", *after], [
                *before,
                f"sized {rng.choice((4, 6, 90))}",
                *after,
            ]
        case "dtype":
            return [*before, "sum", *after], [*before, "ints", *after]
        case "end early":
            return calls, before
        case _:
            return calls, [*before, kind, *after]


def renewed() -> MpiCommunicator:
    """A new connection, after the ranks have come apart: all of them come here."""
    old = mpi_communicator()
    atexit.unregister(old._leave)
    sys.excepthook = old._hook
    request = old.mpi.COMM_WORLD.Ibarrier()
    end = time.monotonic() + 4 * SECONDS
    while not request.Test():
        assert time.monotonic() < end, "a rank hangs"
        time.sleep(0.0005)
    mpi_communicator.cache_clear()
    return mpi_communicator()


def errors_of(run: Callable[[], object]) -> int:
    try:
        run()
    except RankError as error:
        lines = str(error).splitlines()
        assert 3 <= len(lines) <= 7, lines
        assert all(len(line) < 400 for line in lines), lines
        return 1
    return 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    here = mpi_communicator()
    mine = Script(here.size)
    for name in ("step", "sum", "ints", "all", "read", "few", "sized 3"):
        mine.call(name)
    longest = 0.0
    for seed in range(options.first, options.first + options.count):
        rng = random.Random(seed)
        kind = KINDS[seed % len(KINDS)]
        ours, theirs = changed(script(rng, rng.randint(2, 6)), kind, rng)
        calls = theirs if here.rank == rng.randrange(here.size) else ours
        mine.begin(seed)
        pauses = random.Random(seed * here.size + here.rank)
        start, count = time.monotonic(), 0
        for name in calls:
            time.sleep(pauses.choice((0, 0, 0, 0.002)))
            found = errors_of(lambda name=name: mine.call(name))
            assert found or not count, f"seed {seed}: {name} after an error"
            count += found
        end = Intent(lambda: "ends", b"end")
        count += errors_of(lambda end=end: mpi_communicator().call(end, lambda: None))
        assert count, f"seed {seed}: rank {here.rank} has no error ({kind}: {ours}, {theirs})"
        longest = max(longest, time.monotonic() - start)
        here = renewed()
    assert longest < SECONDS, longest
    if here.rank == 0:
        print(f"{options.count} cases, {longest:.2f} s at most")


if __name__ == "__main__":
    main()
