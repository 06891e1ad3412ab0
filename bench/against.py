"""How fast kernels are next to another version of this project: `python -m bench.against TREE`.

    git worktree add ../before cb86e09f
    python -m bench.against ../before [--rows gelu softmax] [--turns 40] [--threads 2]
    python -m bench.against ../before --random 60 [--seed 12345] [--rows gemm]

TREE is a clone, whose bench and package run in a process of their own. The two processes take
turns, and each turn is a ratio: on a machine with other users the median of these says more than
two runs do, which differ by tens of percents. Prints for each row the quickest turn before and now,
their ratio, the median of the turns' ratios, and the ratio of the first calls, which compile. With
one thread (the default) only the time in which a process has a core counts. The exit status is 1 if
a row is slower by more than 3 % in both ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from bench.__main__ import OURS, Row, Tool, workload_row
from bench.random_programs import random_program
from bench.table import NOISE
from bench.workloads import WORKLOADS


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.against",
        description="How fast kernels are next to another version of this project.",
    )
    parser.add_argument("tree", type=Path, metavar="TREE", help="a clone of the other version")
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="rows whose names contain these")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=16, help="of each process at each row")
    parser.add_argument("--random", type=int, metavar="N", help="of N random programs instead")
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    options = parser.parse_args()
    if not (options.tree / "bench" / "peers.py").exists():
        parser.error(f"{options.tree} is no clone of this project")
    random = (random_program(options.seed, i) for i in range(options.random or 0))
    every = WORKLOADS if options.random is None else random
    chosen = [w for w in every if any(text in w.name for text in options.rows or [""])]
    if not chosen:
        parser.error(f"no row is called that; there are: {', '.join(w.name for w in WORKLOADS)}")
    kind = "cpu" if options.threads == 1 else "idle"
    print(f"{'':40}{'before ms':>10}{'now ms':>10}{'ratio':>7}{'median':>8}{'compile':>9}")
    slower = 0
    with (
        closing(Tool(OURS, options.threads, kind, options.tree.resolve())) as before,
        closing(Tool(OURS, options.threads, kind)) as now,
    ):
        for workload in tqdm(chosen, disable=not sys.stderr.isatty(), leave=False):
            slower += _compare(workload_row(workload), before, now, options.turns)
    sys.exit(1 if slower else 0)


def _compare(row: Row, before: Tool, now: Tool, turns: int) -> bool:
    """Prints a row. Whether it is slower now, or has no result."""
    quickest = dict.fromkeys((before, now), float("inf"))
    first: dict[Tool, float] = {}
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.npz")
        for turn in range(turns):
            seconds: dict[Tool, float] = {}
            for tool in (before, now) if turn % 2 else (now, before):
                answer = tool.measure(row, path)
                if "error" in answer:
                    print(f"{row.name:40}{answer['error']}", flush=True)
                    return tool is now
                seconds[tool] = answer["seconds"]
                quickest[tool] = min(quickest[tool], answer["seconds"])
                first[tool] = answer["first"]
            ratios.append(seconds[now] / seconds[before])
    ratio, median = quickest[now] / quickest[before], statistics.median(ratios)
    is_slower = min(ratio, median) > 1 + NOISE
    print(
        f"{row.name:40}{1e3 * quickest[before]:10.3f}{1e3 * quickest[now]:10.3f}{ratio:7.2f}"
        f"{median:8.2f}{first[now] / first[before]:9.2f}{'  slower' if is_slower else ''}",
        flush=True,
    )
    return is_slower


if __name__ == "__main__":
    main()
