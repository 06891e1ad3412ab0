"""How well the cost model orders schedules, and how far the heuristic's are from the best ones.

    python -m bench.model [--rows gemm softmax] [--trials 100] [--threads 2] [--json FILE]

For each kernel of the rows, schedules are made as BEAM makes them: the heuristic's, those that
differ from it in one OptOp, then those that differ from the quickest in one. Each is timed on this
machine, one after the other. For each kernel and each class of rows it prints

* the rank correlation (Spearman) of the times and of the cycles that the model expects;
* the regret of the model: the time of the schedule that it expects to be the quickest, over that of
  the quickest one;
* the regret of the heuristic: the time of its schedule over that of the quickest one;
* the time that is expected of the heuristic's schedule, by the clock of this machine, over the
  time.

A schedule that takes more than ten times as long as the heuristic's is timed once.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm
from xdsl.utils.exceptions import DiagnosticException

from bench.schedules import program
from bench.table import geometric_mean
from bench.workload import Workload
from bench.workloads import WORKLOADS
from tgdialect.analysis.constants import constant_slots
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.expected import expected_cycles
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import scheduled, spelled
from tgdialect.lowering.optimize.search import Opts, neighbours
from tgdialect.lowering.optimize.stage import heuristic_opts
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops import tg
from tgdialect.runtime.optimize import HostBench
from tgdialect.runtime.peaks import measured_clock
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target
from tgdialect.targets.host import host_features, host_model

SECONDS = 0.01
"""The seconds in which a schedule is repeated; its quickest run counts. Longer: less noise."""
HOPELESS = 10
"""The multiple of the heuristic's time from which on a schedule is not repeated."""


@dataclass
class Kernel:
    """The schedules of a kernel: their OptOps, expected cycles and seconds, the heuristic's
    first."""

    row: str
    name: str
    opts: list[str]
    cycles: list[float]
    seconds: list[float]

    @property
    def correlation(self) -> float:
        """Spearman's, of the schedules that run; 1 of fewer than three."""
        found = [(c, s) for c, s in zip(self.cycles, self.seconds, strict=True) if s < math.inf]
        if len(found) < 3:
            return 1.0
        ranks = [np.argsort(np.argsort(values)) for values in np.array(found).T]
        return float(np.corrcoef(*ranks)[0, 1])

    @property
    def of_model(self) -> float:
        """The regret of the schedule of least expected cycles."""
        return self.seconds[int(np.argmin(self.cycles))] / min(self.seconds)

    @property
    def of_heuristic(self) -> float:
        """The regret of the heuristic's schedule."""
        return self.seconds[0] / min(self.seconds)


def kernels(row: Workload, threads: int, trials: int) -> Iterator[Kernel]:
    """The kernels of a row, each with so many schedules at most."""
    module = program(row).source.clone()
    target = settle_target(module, features=host_features(), threads=threads)
    chosen = replace(stages(mode="heuristic"), optimize=None, kernels=(), render=None)
    run_stages(module, chosen)
    constants = constant_slots(module)
    calls = {c.callee.root_reference.data: c for c in module.walk() if isinstance(c, tg.CallOp)}
    for kernel in [op for op in module.ops if isinstance(op, tg.KernelOp) and not op.calls]:
        if (call := calls.get(name := kernel.sym_name.data)) is None:
            continue
        slots = constants.get(name, frozenset())
        trial = _Trial(kernel, HostBench(call, CpuTarget.host(), target), target)
        trial.add(first := heuristic_opts(kernel, target, slots))
        if math.isinf(trial.tried.get(first, math.inf)):
            continue
        while len(trial.tried) < trials:
            before, best = len(trial.tried), trial.best
            for opts in neighbours(kernel, best, target):
                trial.add(opts)
                if len(trial.tried) == trials:
                    break
            if len(trial.tried) == before or trial.best == best:
                break
        texts = ["; ".join(map(spelled, opts)) for opts in trial.tried]
        yield Kernel(row.name, name, texts, trial.cycles, [*trial.tried.values()])


@dataclass
class _Trial:
    """The schedules of a kernel that were timed."""

    kernel: tg.KernelOp
    machine: HostBench
    target: Target
    tried: dict[Opts, float] = field(default_factory=dict[Opts, float])
    """Their seconds, the heuristic's first."""
    cycles: list[float] = field(default_factory=list[float])
    """Those that are expected."""

    @property
    def best(self) -> Opts:
        return min(self.tried, key=self.tried.__getitem__)

    def add(self, opts: Opts) -> None:
        """Time a schedule, if it is legal and new."""
        if opts in self.tried or (candidate := scheduled(self.kernel, opts)) is None:
            return
        nests = Nests(Axes(candidate, self.kernel), self.target)
        self.cycles.append(expected_cycles(nests))
        usual = next(iter(self.tried.values()), math.inf)
        self.tried[opts] = _seconds(self.machine, candidate, usual)


def _seconds(machine: HostBench, candidate: tg.KernelOp, usual: float) -> float:
    """The quickest run of a schedule; infinity if it cannot be compiled."""
    try:
        run = machine.compiled(candidate)
    except (DiagnosticException, MemoryError):
        return math.inf
    best, end = run(), time.perf_counter() + SECONDS
    while time.perf_counter() < end and best < HOPELESS * usual:
        best = min(best, run())
    return best


def summary(name: str, of: Sequence[Kernel], clock: float) -> str:
    """A line of the table, for a clock in Hz."""
    correlation = float(np.mean([kernel.correlation for kernel in of]))
    model, heuristic = (
        geometric_mean(getattr(kernel, each) for kernel in of)
        for each in ("of_model", "of_heuristic")
    )
    expected = geometric_mean(k.cycles[0] / clock / k.seconds[0] for k in of if k.cycles[0])
    count = sum(len(kernel.opts) for kernel in of)
    return f"{name:40}{count:10}{correlation:12.2f}{model:10.3f}{heuristic:11.3f}{expected:10.2f}"


def main(args: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.model", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("--rows", nargs="+", help="rows whose names contain one of these")
    parser.add_argument("--trials", type=int, default=100, help="schedules of a kernel at most")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    options = parser.parse_args(args)
    rows = [w for w in WORKLOADS if any(text in w.name for text in options.rows or [""])]
    if not rows:
        parser.error(f"no row is called that; there are: {', '.join(w.name for w in WORKLOADS)}")
    print(f"{host_model()}, {options.threads} threads, {options.trials} schedules of a kernel")
    heading = f"{'':40}{'schedules':>10}{'correlation':>12}{'model':>10}{'heuristic':>11}"
    print(f"{heading}{'expected':>10}")
    clock, found = measured_clock(), list[Kernel]()
    for row in tqdm(rows, disable=not sys.stderr.isatty(), leave=False):
        for kernel in kernels(row, options.threads, options.trials):
            found.append(kernel)
            print(summary(f"{row.name} {kernel.name}"[:39], [kernel], clock), flush=True)
            if options.json:
                options.json.write_text(json.dumps([asdict(each) for each in found]), "utf-8")
    print()
    classes = dict.fromkeys(kernel.row.split()[0] for kernel in found)
    for name in classes:
        of = [kernel for kernel in found if kernel.row.split()[0] == name]
        print(summary(name, of, clock))
    if found:
        print(summary("all kernels", found, clock))
    return 0


if __name__ == "__main__":
    sys.exit(main())
