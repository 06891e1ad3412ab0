"""How fast kernels are, next to NumPy, PyTorch, JAX and IREE: `python -m bench`; `--all` adds
tinygrad.

    pip install -e '.[bench]'
    python -m bench [--rows gemm softmax] [--threads 1] [--json FILE] [--markdown FILE]
    python -m bench --models [--rows resnet gpt] [--threads 1] [--json FILE] [--markdown FILE]
    python -m bench --random 60 [--seed 12345] [--turns 3] [--json FILE]

Each tool runs in a process of its own, and they take turns on each row, since two thread pools in
one process spoil each other's figures. Every result is compared with NumPy's in float64. Prints
for each row our time, its ratio to the best peer's (above 1 is faster), the part of what the
machine can do at most (measured by kernels of ours: fused multiply-adds, and bytes moved), and how
much longer the first call in a new process takes, which compiles: in milliseconds, and, if tinygrad
is measured, as a part of its time.

With `--random N` the rows are N programs of random kinds and sizes (`random_programs.py`), next to
PyTorch and JAX. The seed is in their names, so that a run can be repeated.

With `--models` the rows are whole models at batch 1 (`models.py`), next to PyTorch, ONNX Runtime
and OpenVINO, whose weights are constants (docs/bench.md). Every result is compared with PyTorch's
in float64. The exit status is 1 if a tool that is there has no right result, of random programs if
ours has none.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.models import MODELS, Files, Model
from bench.peers import MODEL_TOOLS, TOOLS, environment, missing_packages
from bench.random_programs import random_program
from bench.table import first_calls, geometric_mean, markdown
from bench.workload import Array, Workload
from bench.workloads import WORKLOADS
from tgdialect.runtime.peaks import measured_peaks

OURS = "tgdialect"
SLOW = frozenset({"tinygrad", "tinygrad beam"})
"""Tools that take their time: measured with `--all`, or if `--tools` names them."""

NOT_OF_RANDOM = frozenset({"numpy", "iree"})
"""Tools that are left out by `--random`, too: NumPy says what is right there."""

SLOW_MODELS = frozenset({"tgdialect args", "torch tuned"})
"""The same for models."""

APART = ("openvino",)
"""Tools that have a ratio of their own, and are not among the peers of which the best counts."""

COLD = (OURS, "tinygrad")
"""Tools whose time to compile is compared: each row in a process that has compiled no other."""

ROOT = Path(__file__).parents[1]

LIMIT = 120
"""The most seconds of a turn at a single program, in which the first one compiles, unless the tool
is a slow one. A sort of 10^6 numbers by IREE takes more than ten minutes."""

PAUSE = 0.05
"""Seconds between two turns."""

MODEL_PAUSE = 0.5
"""The same for models: threads of ONNX Runtime spin for a quarter of a second after a call."""

TOLERANCE = {"f32": 2e-4, "bf16": 2e-2}
"""How far a result may be from float64's, of the largest magnitude in it, by the inputs' dtype."""


@dataclass(frozen=True)
class Row:
    """What is measured, and what its results have to be."""

    name: str
    flops: int
    bytes: int
    bound: str
    references: Sequence[Array]
    tolerance: float
    folder: str | None = None
    """Of a model's files."""


def workload_row(w: Workload) -> Row:
    return Row(w.name, w.flops, w.bytes, w.bound, w.references(), TOLERANCE[w.dtype])


def model_row(model: Model, folder: str, most: dict[str, float]) -> Row:
    """Writes the files of a model, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "bench.models", folder, model.name]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    files = Files(folder)
    flops, moved = (files.work()[key] for key in ("flops", "bytes"))
    bound = "flops" if flops / most["flops"] > moved / most["read"] else "read"
    results = files.results()
    return Row(model.name, flops, moved, bound, results, TOLERANCE["f32"], folder)


class Tool:
    """The process of a tool."""

    def __init__(self, name: str, threads: int, kind: str, tree: Path = ROOT) -> None:
        """`kind` is "busy" if other processes use the cores, so that the figure of a turn is the
        median, and "cpu" if it is time of the processor; else "idle". `tree` is the clone of this
        project whose bench and package are run."""
        self.name, self.threads, self.kind, self.tree = name, threads, kind, tree
        self._folder = tempfile.TemporaryDirectory()
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        # What torch.compile keeps is not there for the next process.
        more = {"TORCHINDUCTOR_CACHE_DIR": self._folder.name}
        return subprocess.Popen(
            [sys.executable, "-m", "bench.peers", self.name, str(self.threads), self.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.tree,
            env=environment(self.name, self.threads) | {"PYTHONPATH": str(self.tree)} | more,
        )

    def measure(self, row: Row, path: str) -> dict[str, Any]:
        """One turn at a row."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            print(json.dumps([row.name, path, row.folder]), file=stdin, flush=True)
            limit = LIMIT if row.folder is None and self.name not in SLOW else None
            if not select.select([stdout], [], [], limit)[0]:
                self._process.kill()
                self._process.wait()
                self._process = self._started()
                return {"error": f"no result in {LIMIT} s"}
            return json.loads(stdout.readline() or '{"error": "the process ended"}')
        except BrokenPipeError:
            return {"error": "the process ended"}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


@contextmanager
def started(names: Sequence[str], threads: int, kind: str) -> Iterator[Sequence[Tool]]:
    tools = [Tool(name, threads, kind) for name in names]
    try:
        yield tools
    finally:
        for tool in tools:
            tool.close()


def measure_cold(row: Row, tool: Tool, path: str) -> dict[str, Any]:
    """A turn of a tool in a process that has not seen another row."""
    cold = Tool(tool.name, tool.threads, tool.kind)
    try:
        return cold.measure(row, path)
    finally:
        cold.close()


def measure(
    row: Row, tools: Sequence[Tool], turns: int, patience: float
) -> dict[str, dict[str, Any]]:
    """The quickest turn of each tool, its quickest first call, and its error against float64. Each
    turn begins when other programs leave the cores alone, or after `patience` seconds."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            # Another one comes first in each turn, and threads that spin have time to go to sleep.
            first = turn % len(tools)
            for tool in (*tools[first:], *tools[:first]):
                if "error" in found.get(tool.name, {}):
                    continue
                time.sleep(PAUSE if row.folder is None else MODEL_PAUSE)
                _wait_until_idle(patience)
                path = os.path.join(folder, f"{tool.name}.npz")
                answer = tool.measure(row, path)
                # The processes of a model have seen no other.
                if "error" not in answer and tool.name in COLD and row.folder is None:
                    cold = measure_cold(row, tool, path)
                    answer |= {key: cold[key] for key in ("first", "error") if key in cold}
                if turn > 0:
                    if "error" in answer:
                        found[tool.name] = answer
                    else:
                        best = found[tool.name]
                        best |= {key: min(best[key], answer[key]) for key in ("seconds", "first")}
                    continue
                found[tool.name] = answer
                if "error" not in answer:
                    answer["wrong"] = wrong = _difference(path, row.references)
                    if not wrong <= row.tolerance:
                        answer["error"] = f"wrong by {wrong:.1e}"
    return found


def _wait_until_idle(seconds: float) -> None:
    """Wait until nobody uses the cores for a moment, but no longer than some seconds."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        before, start = _busy_seconds(), time.perf_counter()
        time.sleep(0.2)
        if _busy_seconds() - before < 0.1 * (time.perf_counter() - start):
            return


def _busy_seconds() -> float:
    """Time of all cores that is not idle (proc(5))."""
    times = Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    idle = int(times[3]) + int(times[4])
    return (sum(map(int, times)) - idle) / os.sysconf("SC_CLK_TCK")


def _difference(path: str, references: Sequence[Array]) -> float:
    """How far the results in a file are from what they have to be, of the largest magnitude in
    each of them."""
    with np.load(path) as file:
        results = [file[name] for name in file.files]
    return max(
        float(np.abs(result.reshape(reference.shape) - reference).max() / np.abs(reference).max())
        for result, reference in zip(results, references, strict=True)
    )


def summary(row: Row, found: dict[str, dict[str, Any]], most: dict[str, float]) -> dict[str, Any]:
    """A row of the table."""
    right = {name: each["seconds"] for name, each in found.items() if "error" not in each}
    ours = right.get(OURS)
    peers = {n: seconds for n, seconds in right.items() if n not in APART and not _is_ours(n)}
    best = min(peers, key=peers.__getitem__, default=None)
    limit = (row.flops if row.bound == "flops" else row.bytes) / most[row.bound]
    compiling = {n: each["first"] - each["seconds"] for n, each in found.items() if n in right}
    return {
        "name": row.name,
        "ours": ours,
        "best": best,
        "ratio": None if ours is None or best is None else peers[best] / ours,
        "apart": {
            name: right[name] / ours if ours is not None and name in right else None
            for name in APART
            if name in found
        },
        "limit": None if ours is None else limit / ours,
        "bound": row.bound,
        "compile": compiling.get(OURS),
        "compile ratio": compiling[OURS] / compiling["tinygrad"]
        if {OURS, "tinygrad"} <= compiling.keys()
        else None,
        "tools": found,
    }


def _is_ours(name: str) -> bool:
    return name.split()[0] == OURS


def _ratios(rows: Sequence[dict[str, Any]], tool: str) -> list[float]:
    pairs = [(row["tools"].get(tool, {}), row["ours"]) for row in rows]
    return [
        p["seconds"] / ours for p, ours in pairs if ours and "seconds" in p and "error" not in p
    ]


def show(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """The table."""
    peers = [n for n in names if n != OURS]
    width = max(28, *(len(row["name"]) + 1 for row in rows))
    print(
        f"\n{'':{width}}{'ours ms':>9}{'ratio':>7}  {'best peer':14}{'limit':>6}{'compile':>9}"
        f"{'ratio':>6}",
        end="",
    )
    print("".join(f"{name:>15}" for name in peers))
    for row in rows:
        ours = row["tools"][OURS]
        if row["ours"] is None:
            print(f"{row['name']:{width}}{ours['error']}")
            continue
        ratio, compile_ratio = (
            "" if row[key] is None else f"{row[key]:.2f}" for key in ("ratio", "compile ratio")
        )
        print(
            f"{row['name']:{width}}{1e3 * row['ours']:9.3f}{ratio:>7}  {row['best'] or '':14}"
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
        failed = sum(row["ours"] is None for row in rows)
        note = f"; {failed} rows have no result of ours" if failed else ""
        print(f"\nagainst the best peer of each row: {mean:.2f}, at least {least:.2f}{note}")
    for name in peers:
        if ratios := _ratios(rows, name):
            least = f", at least {min(ratios):.2f}" if name in APART else ""
            print(f"against {name}: {geometric_mean(ratios):.2f}{least}")
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
    parser.add_argument("--models", action="store_true", help="whole models, not single programs")
    parser.add_argument("--random", type=int, metavar="N", help="N random programs, of new sizes")
    parser.add_argument("--seed", type=int, help="of the random programs (default: a new one)")
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="rows whose names contain these")
    parser.add_argument(
        "--tools",
        nargs="+",
        choices=sorted({*TOOLS, *MODEL_TOOLS}),
        help="default: all but the slow ones",
    )
    parser.add_argument("--all", action="store_true", help="the slow tools as well")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--turns", type=int, help="of each tool at each row (default: 8; 3 of random programs)"
    )
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="with --threads 1: time in which a tool had the core, whatever others do meanwhile",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=0,
        metavar="SECONDS",
        help="on a machine with other users: how long a turn may wait until no core is in use",
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--plot", metavar="FILE", help="draw the ratios, as .png or .svg")
    parser.add_argument("--markdown", metavar="FILE", help="write the table of docs/bench.md")
    parser.add_argument(
        "--busy",
        type=int,
        default=0,
        metavar="N",
        help="beside N processes that use the cores: medians of turns, not the quickest runs",
    )
    options = parser.parse_args()
    if options.cpu_time and (options.threads != 1 or options.busy):
        parser.error("--cpu-time is for one thread, and not beside --busy")
    if options.models and options.random:
        parser.error("--models and --random are two tables")
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    table: Sequence[Workload | Model] = MODELS if options.models else WORKLOADS
    if options.random:
        table = [random_program(seed, i) for i in range(options.random)]
    options.turns = options.turns or (3 if options.random else 8)
    chosen = [row for row in table if any(t in row.name for t in options.rows or [""])]
    if not chosen:
        parser.error(f"no row is called that; there are: {', '.join(row.name for row in table)}")
    known, slow = (MODEL_TOOLS, SLOW_MODELS) if options.models else (TOOLS, SLOW)
    slow = slow | NOT_OF_RANDOM if options.random else slow
    names = options.tools or [n for n in known if options.all or n not in slow]
    if unknown := [n for n in names if n not in known]:
        parser.error(f"{unknown[0]} is not measured here, but {', '.join(known)}")
    names = [OURS, *(n for n in names if n != OURS)]
    if options.models and find_spec("torch") is None:
        parser.error("--models needs PyTorch, which writes the models: pip install -e '.[bench]'")
    for name in [n for n in names if missing_packages(n)]:
        print(f"{name} is left out: {' and '.join(missing_packages(name))} not installed")
        names.remove(name)
    most = measured_peaks(options.threads)._asdict()
    print(
        f"at most {most['flops'] / 1e9:.0f} GFLOP/s, {most['read'] / 1e9:.0f} GB/s read, "
        f"{most['copy'] / 1e9:.0f} GB/s copied, on {options.threads} threads",
        flush=True,
    )
    if options.random:
        print(f"python -m bench --random {options.random} --seed {seed}", flush=True)
    loops = [_busy_loop() for _ in range(options.busy)]
    rows: list[dict[str, Any]] = []

    def write() -> None:
        """After each row: a run takes many minutes."""
        if options.json:
            Path(options.json).write_text(json.dumps({"limits": most, "rows": rows}, indent=2))
        if options.markdown:
            text = markdown(rows, names)
            if options.models:
                text = f"{text}\n{first_calls(rows, names)}"
            Path(options.markdown).write_text(text)

    try:
        for row in _measured(chosen, names, options, most):
            rows.append(row)
            write()
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    show(rows, names)
    if options.plot:
        plot(rows, options.plot)
    wrong = [t for row in rows for t in row["tools"].values() if "error" in t]
    if (options.models and wrong) or (options.random and any(not row["ours"] for row in rows)):
        sys.exit(1)


def _measured(
    chosen: Sequence[Workload | Model],
    names: Sequence[str],
    options: argparse.Namespace,
    most: dict[str, float],
) -> Iterator[dict[str, Any]]:
    """The rows of the table. A model has processes of its own, since those of all models would take
    tens of gigabytes, and since its first call is to be the first."""
    kind = "busy" if options.busy else "cpu" if options.cpu_time else "idle"
    start = partial(started, names, options.threads, kind)
    progress = tqdm(chosen, disable=not sys.stderr.isatty(), leave=False)
    if options.models:
        for model in progress:
            with tempfile.TemporaryDirectory() as folder:
                row = model_row(model, folder, most)
                with start() as tools:
                    yield summary(row, measure(row, tools, options.turns, options.patience), most)
    else:
        with start() as tools:
            for workload in progress:
                row = workload_row(workload)
                yield summary(row, measure(row, tools, options.turns, options.patience), most)


if __name__ == "__main__":
    main()
