"""The frozen record of schedules: the OptOps of every kernel of the bench's rows, for processors
that need not be here.

    python -m bench.schedules [--rows gemm softmax] [--targets avx2] [--models] [--write]

Prints how the schedules of this tree differ from those of `bench/schedules.txt`, and exits with 1
if any do. `--write` puts them into that file. A change of the heuristic or of a cost is to differ
only where the new schedule is as fast or faster: time those rows (`python -m bench --rows`).

A line of the record is a row, a target, a kernel with what it writes, and its OptOps. Nothing is
compiled for this processor, so every machine has the same record.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

import tgdialect as tg
from bench.models import MODELS, Model, tensor_words
from bench.workload import Workload
from bench.workloads import WORKLOADS
from tgdialect.lowering.optimize.optops.apply import spelled
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops import tg as ops
from tgdialect.targets import Target, target_named
from tgdialect.targets.attribute import state_target

RECORD = Path(__file__).parent / "schedules.txt"

_AVX2 = ("avx2", "fma", "f16c")
_AVX512 = (*_AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16")
_AMX = (*_AVX512, "amx-tile", "amx-bf16", "amx-int8")


def _cpu(features: Sequence[str], threads: int, l2: int, llc: int) -> Target:
    """A CPU: bytes of the caches, the last of which all cores share."""
    return replace(target_named("cpu", features), threads=threads, l2=l2, llc=llc)


TARGETS: Mapping[str, Target] = {
    "avx2": _cpu(_AVX2, 4, 512 << 10, 16 << 20),
    "avx512": _cpu(_AVX512, 2, 1 << 20, 32 << 20),
    "amx": _cpu(_AMX, 2, 2 << 20, 32 << 20),
    **{name: target_named(name) for name in ("opencl", "nvidia:sm_80")},
}
"""Processors by name, as laptops and servers have them."""


def program(row: Workload | Model) -> Any:
    """The program of a row, as the bench runs it."""
    inputs = [tg.Tensor(x) for x in row.inputs()]
    if isinstance(row, Model):
        network = row.build(tensor_words(tg))
        for weight in tg.nn.state.get_parameters(network):
            weight.requires_grad_(False).realize()
        return tg.function(network.forward, freeze=True).lower(*inputs)
    if row.dtype != "f32":
        inputs = [x.cast(row.dtype).realize() if x.is_floating_point() else x for x in inputs]
    first, *weights = inputs
    if row.has_weights:
        return tg.function(lambda x: row.tensor(x, *weights), freeze=True).lower(first)
    return tg.function(row.tensor).lower(*inputs)


def schedules(row: Workload | Model, targets: Sequence[str]) -> Iterator[str]:
    """The lines of a row."""
    source = program(row).source
    for target in targets:
        module = source.clone()
        state_target(module, TARGETS[target])
        chosen = stages(mode="heuristic")
        run_stages(module, replace(chosen, kernels=(), render=None))
        for kernel in module.walk():
            if isinstance(kernel, ops.KernelOp):
                opts = "; ".join(map(spelled, kernel.sink.opts or ())) or "none"
                yield f"{row.name} | {target} | {kernel.sym_name.data} | {opts}"


def main(args: Sequence[str] | None = None) -> int:
    """Compare, or write; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", nargs="+", help="rows whose names contain one of these")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=[*TARGETS])
    parser.add_argument("--models", action="store_true", help="whole models, too: minutes")
    parser.add_argument("--write", action="store_true", help=f"write {RECORD.name} anew")
    options = parser.parse_args(args)
    rows: list[Workload | Model] = [each for w in WORKLOADS for each in w.rows()]
    rows += MODELS if options.models else ()
    if options.rows:
        rows = [row for row in rows if any(part in row.name for part in options.rows)]
    chosen = {row.name for row in rows}
    found = [line for row in tqdm(rows) for line in schedules(row, options.targets)]

    def is_chosen(line: str) -> bool:
        name, target, *_ = line.split(" | ")
        return name in chosen and target in options.targets

    known = RECORD.read_text("utf-8").splitlines() if RECORD.exists() else []
    if options.write:
        kept = [line for line in known if not is_chosen(line)]
        RECORD.write_text("".join(f"{line}\n" for line in sorted([*kept, *found])), "utf-8")
        return 0
    before = [line for line in known if is_chosen(line)]
    changed = list(difflib.unified_diff(sorted(before), sorted(found), "record", "tree", "", "", 0))
    print("\n".join(changed) or f"{len(found)} schedules as they were")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
