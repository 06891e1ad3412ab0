"""How fast kernels are, next to NumPy, PyTorch and JAX: `python -m bench`; `--all` adds tinygrad.

    pip install -e '.[bench]'
    python -m bench [--rows gemm softmax] [--threads 1] [--json FILE] [--markdown FILE]

Each tool runs in a process of its own, and they take turns on each row, since two thread pools in
one process spoil each other's figures. Every result is compared with NumPy's in float64. Prints
for each row our time, its ratio to the best peer's (above 1 is faster), the part of what the
machine can do at most (measured by kernels of ours: fused multiply-adds, and bytes moved), and how
much longer the first call in a new process takes, which compiles: in milliseconds, and, if tinygrad
is measured, as a part of its time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.peers import TOOLS, environment
from bench.table import geometric_mean, markdown
from bench.workload import Workload
from bench.workloads import WORKLOADS
from tgdialect.runtime.peaks import measured_peaks

OURS = "tgdialect"
SLOW = frozenset({"tinygrad", "tinygrad beam", "torch.compile"})
"""Tools that take their time: measured with `--all`, or if `--tools` names them."""

COLD = (OURS, "tinygrad")
"""Tools whose time to compile is compared: each row in a process that has compiled no other."""

PAUSE = 0.05
"""Seconds between two turns."""

TOLERANCE = {"f32": 2e-4, "bf16": 2e-2}
"""How far a result may be from float64's, of the largest magnitude in it, by the inputs' dtype."""


class Tool:
    """The process of a tool."""

    def __init__(self, name: str, threads: int, is_busy: bool) -> None:
        """`is_busy` says that other processes use the cores: the figure of a turn is the median."""
        self.name, self.threads, self.is_busy = name, threads, is_busy
        kind = "busy" if is_busy else "idle"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.peers", name, str(threads), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[1],
            env=environment(name, threads),
        )

    def measure(self, workload: str, path: str) -> dict[str, Any]:
        """One turn at a workload."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            print(json.dumps([workload, path]), file=stdin, flush=True)
            return json.loads(stdout.readline() or '{"error": "the process ended"}')
        except BrokenPipeError:
            return {"error": "the process ended"}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def measure_cold(workload: Workload, tool: Tool, path: str) -> dict[str, Any]:
    """A turn of a tool in a process that has not seen another row."""
    cold = Tool(tool.name, tool.threads, tool.is_busy)
    try:
        return cold.measure(workload.name, path)
    finally:
        cold.close()


def measure(
    workload: Workload, tools: Sequence[Tool], turns: int, folder: str
) -> dict[str, dict[str, Any]]:
    """The quickest turn of each tool, its quickest first call, and its error against float64."""
    reference = workload.reference()
    found: dict[str, dict[str, Any]] = {}
    for turn in range(turns):
        # Another one comes first in each turn, and threads that spin have time to go to sleep.
        first = turn % len(tools)
        for tool in (*tools[first:], *tools[:first]):
            if "error" in found.get(tool.name, {}):
                continue
            time.sleep(PAUSE)
            path = os.path.join(folder, f"{tool.name}.npy")
            answer = tool.measure(workload.name, path)
            if "error" not in answer and tool.name in COLD:
                cold = measure_cold(workload, tool, path)
                answer |= {key: cold[key] for key in ("first", "error") if key in cold}
            if turn > 0:
                if "error" not in answer:
                    best = found[tool.name]
                    best |= {key: min(best[key], answer[key]) for key in ("seconds", "first")}
                continue
            found[tool.name] = answer
            if "error" not in answer:
                difference = np.load(path).reshape(reference.shape) - reference
                wrong = float(np.abs(difference).max() / np.abs(reference).max())
                answer["wrong"] = wrong
                if not wrong <= TOLERANCE[workload.dtype]:
                    answer["error"] = f"wrong by {wrong:.1e}"
    return found


def summary(
    w: Workload, found: dict[str, dict[str, Any]], most: dict[str, float]
) -> dict[str, Any]:
    """A row of the table."""
    right = {name: each["seconds"] for name, each in found.items() if "error" not in each}
    ours = right.get(OURS)
    peers = {name: seconds for name, seconds in right.items() if name != OURS}
    best = min(peers, key=peers.__getitem__, default=None)
    limit = (w.flops if w.bound == "flops" else w.bytes) / most[w.bound]
    compiling = {n: each["first"] - each["seconds"] for n, each in found.items() if n in right}
    return {
        "name": w.name,
        "ours": ours,
        "best": best,
        "ratio": None if ours is None or best is None else peers[best] / ours,
        "limit": None if ours is None else limit / ours,
        "bound": w.bound,
        "compile": compiling.get(OURS),
        "compile ratio": compiling[OURS] / compiling["tinygrad"]
        if {OURS, "tinygrad"} <= compiling.keys()
        else None,
        "tools": found,
    }


def _ratios(rows: Sequence[dict[str, Any]], tool: str) -> list[float]:
    pairs = [(row["tools"].get(tool, {}), row["ours"]) for row in rows]
    return [
        p["seconds"] / ours for p, ours in pairs if ours and "seconds" in p and "error" not in p
    ]


def show(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """The table."""
    peers = [n for n in names if n != OURS]
    print(
        f"\n{'':28}{'ours ms':>9}{'ratio':>7}  {'best peer':14}{'limit':>6}{'compile':>9}"
        f"{'ratio':>6}",
        end="",
    )
    print("".join(f"{name:>15}" for name in peers))
    for row in rows:
        ours = row["tools"][OURS]
        if row["ours"] is None:
            print(f"{row['name']:28}{ours['error']}")
            continue
        ratio, compile_ratio = (
            "" if row[key] is None else f"{row[key]:.2f}" for key in ("ratio", "compile ratio")
        )
        print(
            f"{row['name']:28}{1e3 * row['ours']:9.3f}{ratio:>7}  {row['best'] or '':14}"
            f"{100 * row['limit']:5.0f}%{1e3 * row['compile']:9.0f}{compile_ratio:>6}",
            end="",
        )
        for name in peers:
            peer = row["tools"].get(name, {})
            text = f"{1e3 * peer['seconds']:.3f}" if "error" not in peer else peer["error"][:14]
            print(f"{text:>15}", end="")
        print()
    if ratios := [row["ratio"] for row in rows if row["ratio"]]:
        mean, least = geometric_mean(ratios), min(ratios)
        print(f"\nagainst the best peer of each row: {mean:.2f}, at least {least:.2f}")
    for name in peers:
        if ratios := _ratios(rows, name):
            print(f"against {name}: {geometric_mean(ratios):.2f}")
    if ratios := [row["compile ratio"] for row in rows if row["compile ratio"]]:
        mean, most = geometric_mean(ratios), max(ratios)
        print(f"compile time, of tinygrad's: {mean:.2f}, at most {most:.2f}")


def plot(rows: Sequence[dict[str, Any]], path: str) -> None:
    """Bars of the ratios, as an image."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    done = [row for row in rows if row["ratio"]]
    figure, axes = pyplot.subplots(figsize=(9, 0.35 * len(done) + 1.2), layout="constrained")
    colours = ["tab:green" if row["ratio"] >= 1 else "tab:red" for row in done]
    axes.barh([row["name"] for row in done], [row["ratio"] for row in done], color=colours)
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("time of the best peer / ours (right of the line: ours is faster)")
    figure.savefig(path, dpi=120)


def _busy_loop() -> subprocess.Popen[bytes]:
    """A process that uses a core for as long as it is let. A thread whose core it gets waits for
    some milliseconds, which is longer than many kernels take."""
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="How fast kernels are, next to other tools."
    )
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="rows whose names contain these")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, help="default: all but the slow ones")
    parser.add_argument("--all", action="store_true", help="the slow tools as well")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--turns", type=int, default=8, help="of each tool at each row (default: 8)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--plot", metavar="FILE", help="draw the ratios, as .png or .svg")
    parser.add_argument("--markdown", metavar="FILE", help="write the table for the README")
    parser.add_argument(
        "--busy",
        type=int,
        default=0,
        metavar="N",
        help="beside N processes that use the cores: medians of turns, not the quickest runs",
    )
    options = parser.parse_args()
    chosen = [w for w in WORKLOADS if any(t in w.name for t in options.rows or [""])]
    if not chosen:
        parser.error(f"no row is called that; there are: {', '.join(w.name for w in WORKLOADS)}")
    names = options.tools or [n for n in TOOLS if options.all or n not in SLOW]
    names = [OURS, *(n for n in names if n != OURS)]
    most = measured_peaks(options.threads)._asdict()
    print(
        f"at most {most['flops'] / 1e9:.0f} GFLOP/s, {most['read'] / 1e9:.0f} GB/s read, "
        f"{most['copy'] / 1e9:.0f} GB/s copied, on {options.threads} threads"
    )
    tools = [Tool(name, options.threads, options.busy > 0) for name in names]
    loops = [_busy_loop() for _ in range(options.busy)]
    rows: list[dict[str, Any]] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for workload in tqdm(chosen, disable=not sys.stderr.isatty(), leave=False):
                found = measure(workload, tools, options.turns, folder)
                rows.append(summary(workload, found, most))
    finally:
        for tool in tools:
            tool.close()
        for loop in loops:
            loop.kill()
            loop.wait()
    show(rows, names)
    if options.json:
        Path(options.json).write_text(json.dumps({"limits": most, "rows": rows}, indent=2))
    if options.markdown:
        Path(options.markdown).write_text(markdown(rows, names))
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
