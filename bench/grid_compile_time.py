"""How long programs take to compile for a grid, next to the cpu, each in a new process.

    python bench/grid_compile_time.py [--warm] [--stages] [--rounds N] [name ...]

For each program, and for each of the targets `cpu`, `nvidia:sm_90a` (to PTX) and `opencl` (to
source): the number of its kernels, and milliseconds per kernel, from the module to the code of the
target (`all`), and what of that is not LLVM's (`ours`). The ratios are to the cpu's, where a kernel
that fuses several of the cpu's counts as these; the goal is at most LIMIT of `all`. A name stands
for the programs whose names begin with it.

Everything that a compilation imports is imported before, nothing else has been compiled (with
`--warm`, the same program has been), and there is no object cache. Times are those that processors
spend in the process, so that other processes matter less; medians of some runs, with the targets in
turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import workloads
from compile_time import EXAMPLES, measure, medians

ROUNDS, WARM_UP = 5, 2
LIMIT = 2.0
CPU = "cpu"
GRIDS = ("nvidia:sm_90a", "opencl")
PARTS = ("all", "ours")

Program = Callable[..., Any]


def _programs() -> Mapping[str, tuple[str, Sequence[tuple[int, ...]], Program]]:
    """Programs on Tensors: a dtype, the shapes of the operands, and the function."""
    wanted = ("gemv", "sum", "softmax", "layernorm", "attention", "conv 3x3", "transpose", "cumsum")
    rows = [w for w in workloads.WORKLOADS if w.name.startswith(wanted)]
    found: dict[str, tuple[str, Sequence[tuple[int, ...]], Program]] = {
        w.name: ("f32", w.shapes, w.tensor) for w in rows
    }
    for dtype in ("f32", "f16", "bf16"):
        for n in (256, 1024, 1000):
            found[f"gemm {dtype} {n}"] = (dtype, ((n, n),) * 2, lambda a, b: a @ b)
    return found


PROGRAMS = _programs()
NAMES = (
    # Those that call functions of the host are for no device.
    *sorted(p.stem for p in EXAMPLES.glob("*.mlir") if "tg.customfunction" not in p.read_text()),
    *PROGRAMS,
)


def text_of(name: str) -> str:
    """A program at the tensor level."""
    if name not in PROGRAMS:
        return (EXAMPLES / f"{name}.mlir").read_text()
    import tgdialect as tg

    dtype, shapes, program = PROGRAMS[name]
    return str(tg.function(program).lower(*(tg.spec(shape, dtype) for shape in shapes)))


# -- one measurement, in a process of its own ----------------------------------------------------


def compiled(target: str, text: str) -> dict[str, float]:
    """Milliseconds of each stage, of LLVM and of the translation to its text, and how many kernels
    there are."""
    from xdsl.dialects.builtin import ModuleOp

    from tgdialect.backends.asm import PtxTarget
    from tgdialect.backends.llvm_ir import llvm_ir
    from tgdialect.lowering.levels import LoweringPass
    from tgdialect.ops.codegen import ProgramOp
    from tgdialect.runtime.build import Build
    from tgdialect.runtime.compiler import load_module
    from tgdialect.runtime.devices.build import DeviceBuild
    from tgdialect.targets import target_named

    source = load_module(text)
    build = Build(source) if target == CPU else DeviceBuild(source, target=target_named(target))
    found: dict[str, float] = {"kernels": 0}
    last = time.process_time()

    def lap(stage: str) -> None:
        nonlocal last
        now = time.process_time()
        found[stage] = found.get(stage, 0) + 1e3 * (now - last)
        last = now

    def after(stage: LoweringPass, module: ModuleOp) -> None:
        nonlocal last
        lap(stage.name.removeprefix("tg-"))
        programs = sum(isinstance(op, ProgramOp) for op in module.ops)
        found["kernels"] = found["kernels"] or programs
        last = time.process_time()

    module = build.lowered(after)
    if isinstance(build, Build):
        ir = llvm_ir(module)
        lap("text")
        build.target.object_code(ir)
        lap("llvm")
    elif target in GRIDS[:1]:
        machine, ir = PtxTarget().translated(module)
        lap("text")
        machine.assembly(ir)
        lap("llvm")
    return found


# -- all of them ---------------------------------------------------------------------------------


def per_kernel(run: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds per kernel: of each stage, and of the PARTS."""
    times = {stage: ms / run["kernels"] for stage, ms in run.items() if stage != "kernels"}
    total = sum(times.values())
    return {"kernels": run["kernels"], "all": total, "ours": total - times.get("llvm", 0), **times}


def show(name: str, runs: Mapping[str, Mapping[str, float]], *, stages: bool) -> bool:
    """Print a row. Whether the goal is reached."""
    counts = "/".join(f"{run['kernels']:.0f}" for run in runs.values())
    print(f"{name:<24}{counts:>9}", end="")
    is_reached = True
    for part in PARTS:
        print("".join(f"{run[part]:>8.1f}" for run in runs.values()), end="")
        for grid in GRIDS:
            fused = max(runs[CPU]["kernels"] / runs[grid]["kernels"], 1)
            ratio = runs[grid][part] / runs[CPU][part] / fused
            is_reached &= ratio <= LIMIT or part != PARTS[0]
            print(f"{ratio:>6.2f}", end="")
    print("" if is_reached else " *", flush=True)
    if stages:
        for stage in runs[GRIDS[0]].keys() - {"kernels", *PARTS}:
            row = "".join(f"{run.get(stage, 0):>8.1f}" for run in runs.values())
            print(f"  {stage:<22}{'':>9}{row}")
    return is_reached


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help="the beginning of names")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--warm", action="store_true", help="in a process that has compiled it before"
    )
    parser.add_argument("--stages", action="store_true", help="print each stage by itself")
    options = parser.parse_args()
    begins = tuple(options.names or [""])
    names = [name for name in NAMES if name.startswith(begins)]
    if not names:
        parser.error(f"no program is called that; there are: {', '.join(NAMES)}")
    how, targets = "warm" if options.warm else "cold", (CPU, *GRIDS)
    head = "".join(f"{t.partition(':')[0]:>8}" for t in targets) + f"{'':>4}ratios"[:12].ljust(12)
    print(f"{'ms per kernel':<24}{'kernels':>9}" + "".join(f"{head}" for _ in PARTS))
    print(f"{'':<33}" + "".join(f"{part:>8}{'':<28}" for part in PARTS))
    reached = 0
    for name in names:
        text = text_of(name)
        try:
            rounds = [
                {target: measure(target, how, __file__, text) for target in targets}
                for _ in range(options.rounds)
            ]
        except SystemExit as error:
            print(f"{name:<24} fails: {str(error).splitlines()[-1]}")
            continue
        runs = {t: medians([per_kernel(each[t]) for each in rounds]) for t in targets}
        reached += show(name, runs, stages=options.stages)
    print(f"{reached} of {len(names)} at most {LIMIT}; * marks the others")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        program = sys.stdin.read()
        for _ in range(WARM_UP if sys.argv[3] == "warm" else 0):
            compiled(sys.argv[2], program)
        print(json.dumps(compiled(sys.argv[2], program)))
    else:
        main()
