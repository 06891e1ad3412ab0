"""Runs many mixtures in child processes, and logs what comes of each: a run that is cut goes on.

    python test/unit/programs/many_mixtures.py --count 20000 --workers 2 --log mixtures.log

A line of the log is a seed, the commit, and "ok" or what is wrong. A seed in the log is not run
again. A child that dies, or is silent for too long, takes one seed along: the one it was at.
"""

from __future__ import annotations

import argparse
import os
import re
import selectors
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

CHUNK = 20
"""Programs that are compiled together."""
CHUNKS = 15
"""Chunks of one child: its memory grows, and starting one takes seconds."""
SILENCE = 400
"""After so many seconds without a word a child hangs: one program on one executor has fewer."""


def child(seeds: Sequence[int]) -> None:
    """Check seeds, and print what is begun and what comes of it."""
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here), str(here.parent)]
    from mixture_runs import check

    for i in range(0, len(seeds), CHUNK):
        chunk = seeds[i : i + CHUNK]
        outcomes = check(chunk, lambda text: print("at", text, flush=True))
        for seed in chunk:
            wrong = [str(o) for o in outcomes if o.seed == seed and o.kind != "ok"]
            for line in wrong or [f"{seed} ok"]:
                print("is", line, flush=True)


class Parent:
    """Gives seeds to children."""

    def __init__(self, log: Path, seeds: Sequence[int], *, again: bool) -> None:
        self._log = log
        command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
        self.commit = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        lines = log.read_text().splitlines() if log.exists() else []
        if again:
            lines = [line for line in lines if line.split()[2:] == ["ok"]]
            log.write_text("".join(f"{line}\n" for line in lines))
        done = {int(line.split()[0]) for line in lines}
        self._left = [seed for seed in seeds if seed not in done]

    def run(self, workers: int) -> None:
        selector = selectors.DefaultSelector()
        for _ in range(workers):
            self._start(selector)
        while selector.get_map():
            events = selector.select(SILENCE / 10)
            for key in selector.get_map().values():
                process, _, state = key.data
                if time.monotonic() - state["heard"] > SILENCE:
                    process.terminate()
            for key, _ in events:
                process, seeds, state = key.data
                state["heard"] = time.monotonic()
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(process.stdout)
                    self._ended(process, seeds, state["at"])
                    self._start(selector)
                *lines, state["rest"] = (state["rest"] + data.decode()).split("\n")
                for line in lines:
                    if line.startswith("at "):
                        state["at"] = line[3:]
                    elif line.startswith("is "):
                        number, what = line[3:].split(" ", 1)
                        seeds.discard(int(number))
                        self._write(number, what)

    def _start(self, selector: selectors.BaseSelector) -> None:
        seeds, self._left = self._left[: CHUNK * CHUNKS], self._left[CHUNK * CHUNKS :]
        if not seeds:
            return
        command = [sys.executable, __file__, "--child", ",".join(map(str, seeds))]
        environment = {
            **os.environ,
            "TG_CACHE_DIR": "",
            "POCL_KERNEL_CACHE": "0",
            "TG_COMPILE_PROCESSES": "1",
        }
        with Path(f"{self._log}.errors").open("a") as errors:
            process = subprocess.Popen(
                ["timeout", "--foreground", "3600", *command],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        selector.register(
            process.stdout,
            selectors.EVENT_READ,
            (process, set(seeds), {"at": "", "rest": "", "heard": time.monotonic()}),
        )

    def _ended(self, process: subprocess.Popen[bytes], left: set[int], at: str) -> None:
        """Blame the seed that a child that died was at, and leave the others to the next."""
        code = process.wait()
        if not left:
            return
        number, *executor = at.split(" ") if at else ("-1", "start")
        blamed = [int(n) for n in re.findall(r"\d+", number)]
        if len(blamed) > 1:  # In a compiler that compiles several: each by itself next.
            blamed = blamed[:1]
        for seed in blamed:
            left.discard(seed)
            self._write(str(seed), f"{' '.join(executor)} dies {code}")
        self._left = [*sorted(left), *self._left]

    def _write(self, number: str, what: str) -> None:
        with self._log.open("a") as log:
            log.write(f"{number} {self.commit} {what}\n")


def summary(log: Path) -> Iterator[str]:
    kinds: Counter[str] = Counter()
    for line in log.read_text().splitlines():
        _, _, *words = line.split(" ")
        kinds[words[0] if words[0] == "ok" else f"{words[0]} {words[1]}"] += 1
    yield from (f"{count} {kind}" for kind, count in kinds.most_common())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--log", type=Path, default=Path("mixtures.log"))
    parser.add_argument("--again", action="store_true", help="run what is not ok again")
    parser.add_argument("--child")
    arguments = parser.parse_args()
    if arguments.child:
        child([int(n) for n in arguments.child.split(",")])
        return
    seeds = range(arguments.first, arguments.first + arguments.count)
    Parent(arguments.log, seeds, again=arguments.again).run(arguments.workers)
    print("\n".join(summary(arguments.log)))


if __name__ == "__main__":
    main()
