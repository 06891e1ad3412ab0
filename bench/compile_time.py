"""How long programs take to compile, next to tinygrad, each in a new process, in one run.

    pip install -e '.[bench]'; apt-get install clang    # tinygrad's CPU device compiles with clang
    python bench/compile_time.py [name ...]

For each example, for a stack of 12 transformer blocks, and for rows of `python -m bench`, which are
traced: the milliseconds of our stages, and those from the program to its first result, here and in
tinygrad (its CPU device, no BEAM, no cache on disk). Tracing counts as parsing. Before that the
modules of both are imported, tinygrad opens its device, and our LLVM warms up on a thread, as it
does in every process while `tg.compile` imports the compiler. No time counts in which inputs are
made. A module that is imported while time counts is an error.
Medians of some runs, in turns; the ratio is ours over theirs: the lower the better. The goal is at
most a third in each row, and at most a fifth in the geometric mean of all rows, which the last line
shows.
The last columns are the milliseconds from the start of the process to the result, with all imports.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import transformer

sys.path.append(str(Path(__file__).parents[1]))
from bench.workload import Workload
from bench.workloads import WORKLOADS, gemm

EXAMPLES = Path(__file__).parents[1] / "examples"
ROUNDS = 3
ROW_LIMIT, MEAN_LIMIT = 1 / 3, 1 / 5
STACK = transformer.Config()
OURS, THEIRS = "tgdialect", "tinygrad"
PROCESS = "process"
START = "BENCH_START"
"""The variable that tells a process when it was started, in seconds of `time.time`."""

# What a first compilation would import. Both may start processes to compile.
OUR_MODULES = (
    *("compilation", "fast_xdsl.llvm_formats", "dialect", "registry", "runtime.build"),
    *("runtime.threads", "ops.printing"),
)
FOR_TRACES = ("frontend.function",)
FOR_PROCESSES = ("multiprocessing.popen_fork", "multiprocessing.connection")
"""Further modules, of programs of many kernels."""
THEIR_MODULES = (
    *(f"multiprocessing.{name}" for name in ("pool", "popen_fork", "popen_spawn_posix")),
    *(f"multiprocessing.{name}" for name in ("queues", "resource_tracker", "synchronize")),
    *("runpy", "tinygrad.codegen.opt.heuristic", "tinygrad.runtime.ops_python"),
)


def f32(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape, np.float32)


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


# -- the examples on tinygrad's Tensors, at the shapes of the files -------------------------------


def one_hot(t: Any, size: int) -> Any:
    from tinygrad import Tensor

    return Tensor.arange(size).reshape(size, 1) == t.reshape(1, -1)


def layernorm(x: Any, weight: Any, bias: Any) -> Any:
    centered = x - x.mean(-1, keepdim=True)
    variance = (centered * centered).mean(-1, keepdim=True)
    return centered / (variance + 1e-5).sqrt() * weight + bias


def attention(q: Any, k: Any, v: Any) -> Any:
    return ((q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5).softmax(-1) @ v


def arange() -> Any:
    from tinygrad import Tensor

    return Tensor.arange(7).contiguous()


def threefry() -> Any:
    from tinygrad import Tensor

    return Tensor.rand(8)


def scatter_add(t: Any, idx: Any, val: Any) -> Any:
    return t + (one_hot(idx, t.shape[0]) * val.reshape(1, -1)).sum(1)


def _row(name: str) -> Workload:
    return next(row for row in WORKLOADS if row.name == name)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "arange": arange,
    "attention": attention,
    "gather": lambda t, idx: (t.reshape(-1, 1) * one_hot(idx, t.shape[0])).sum(0),
    "gemm": lambda a, b: a @ b,
    "layernorm": layernorm,
    "matmul_softmax": lambda a, b: (a @ b).softmax(-1),
    "mlp": lambda x, w1, b1, w2, b2: (x @ w1 + b1).relu() @ w2 + b2,
    "prefix_sum": lambda t: t.cumsum(),
    "scatter_add": scatter_add,
    "softmax": lambda x: x.softmax(-1),
    "threefry": threefry,
    "12 layers": lambda *arguments: transformer.tinygrad(list(arguments), STACK),
}

TRACED: dict[str, Workload] = {
    "product 512": gemm(512, 512, 512),
    "convolution": _row("conv 3x3 64->64 56x56"),
    "attention 256": _row("attention 8x256x64"),
    "mlp 512": _row("mlp 256x784-512-512-10"),
}
"""Rows of the bench, whose programs are the same for both tools."""


# -- one measurement, in a process of its own ----------------------------------------------------


def import_all(names: Sequence[str]) -> None:
    for name in names:
        import_module(name)


def import_ours(*more: str) -> None:
    """Import our modules, while LLVM warms up, as `tg.compile` does."""
    from tgdialect.runtime.speed import imported

    imported("tgdialect.runtime.warm_up").warm_up_llvm()
    for name in (*OUR_MODULES, *more):
        imported(f"tgdialect.{name}")


@contextmanager
def counted(times: dict[str, float]) -> Iterator[None]:
    """Add the seconds of a block to the total. Fails if it imports modules."""
    before, start = set(sys.modules), time.perf_counter()
    yield
    times["total"] = times.get("total", 0) + time.perf_counter() - start
    if new := sys.modules.keys() - before:
        sys.exit(f"imported while time counts: {', '.join(sorted(new))}")


def text_of(name: str) -> str:
    if name == "12 layers":
        return transformer.mlir(STACK)
    return (EXAMPLES / f"{name}.mlir").read_text()


def measure_ours(name: str) -> dict[str, float]:
    """Milliseconds of each stage, and of all from the text to the first result."""
    import tgdialect as tg

    row = TRACED.get(name)
    import_ours(*(FOR_TRACES if row else ()))
    if name == "12 layers":
        import_all(FOR_PROCESSES)
    times: dict[str, float] = {}
    if row is not None:
        traced, tensors = tg.function(row.tensor), [tg.Tensor(x) for x in row.inputs()]

        def module_of() -> Any:
            return traced.lower(*tensors).source

        with counted(times):
            traced(*tensors).numpy()
    else:
        text = text_of(name)

        def module_of() -> Any:
            return load_module(text)

        with counted(times):
            exe = tg.compile(text)
        inputs = arguments_of(exe) if name != "12 layers" else transformer.inputs(STACK)
        with counted(times):
            exe(*inputs)
    times[PROCESS] = _age()

    from tgdialect.backends.llvm_ir import llvm_ir
    from tgdialect.runtime.build import Build
    from tgdialect.runtime.compiler import load_module

    last = time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal last
        now = time.perf_counter()
        times[stage] = times.get(stage, 0) + now - last
        last = now

    module = module_of()
    lap("parse")
    build = Build(module)
    module = build.lowered(lambda stage, _: lap(stage.name.removeprefix("tg-")))
    build.target.object_code(llvm_ir(module))
    lap("llvm")
    return {stage: t * 1e3 for stage, t in times.items()}


def arguments_of(exe: Any) -> list[np.ndarray]:
    return arguments([(p.shape, p.dtype.str) for p in exe.inputs])


def arguments(kinds: Sequence[tuple[Sequence[int], str]]) -> list[np.ndarray]:
    """Inputs of some shapes and dtypes: random floats, and indices that are there."""
    return [
        f32(*shape) if np.dtype(dtype).kind == "f" else np.ones(shape, dtype)
        for shape, dtype in kinds
    ]


def measure_theirs(name: str, inputs: list[np.ndarray]) -> dict[str, float]:
    from tinygrad import Device, Tensor

    import_all(THEIR_MODULES)
    assert Device["CPU"].renderer is not None  # Programs without inputs would open it.
    Tensor([1.0]).realize()
    tensors = [Tensor(array).realize() for array in inputs]
    times: dict[str, float] = {}
    with counted(times):
        (PROGRAMS.get(name) or TRACED[name].tensor)(*tensors).numpy()
    times[PROCESS] = _age()
    return {part: t * 1e3 for part, t in times.items()}


def inputs_for(name: str) -> str:
    """The shapes and dtypes of an example's inputs, for tinygrad, which makes its random numbers
    from a seed of its own."""
    if name in ("12 layers", "threefry", *TRACED):
        return "[]"
    import tgdialect as tg

    exe: Any = tg.compile(text_of(name))
    return json.dumps([(p.shape, p.dtype.str) for p in exe.inputs])


def _age() -> float:
    """Seconds since the process was started."""
    return time.time() - float(os.environ[START])


def child(tool: str, name: str) -> None:
    if tool == OURS:
        measured = measure_ours(name)
    else:
        if (row := TRACED.get(name)) is not None:
            inputs = row.inputs()
        elif name == "12 layers":
            inputs = transformer.inputs(STACK)
        else:
            inputs = arguments(json.load(sys.stdin))
        measured = measure_theirs(name, inputs)
    print(json.dumps(measured))


# -- all of them ---------------------------------------------------------------------------------


def measure(tool: str, name: str, file: str = __file__, text: str = "") -> dict[str, float]:
    """What a new process of a bench prints, without any cache; `text` is its input."""
    caches = {"TG_CACHE_DIR": "", "CACHELEVEL": "0", "DEV": "CPU", "BEAM": "0"}
    caches["PYTHONDONTWRITEBYTECODE"] = ""  # Installed packages have bytecode, as clones then do.
    environment = os.environ | caches | {START: repr(time.time())}
    run = subprocess.run(
        [sys.executable, file, "--child", tool, name],
        env=environment,
        capture_output=True,
        text=True,
        input=text,
    )
    if run.returncode:
        sys.exit(f"{tool} fails on {name}:\n{run.stderr}")
    return json.loads(run.stdout.splitlines()[-1])


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    known = (*PROGRAMS, *TRACED)
    names = sys.argv[1:] or known
    if unknown := set(names) - set(known):
        sys.exit(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    stages: list[str] = []
    ratios: list[float] = []
    for name in names:
        kinds = inputs_for(name)
        pairs = [(measure(OURS, name), measure(THEIRS, name, text=kinds)) for _ in range(ROUNDS)]
        ours, theirs = (medians(list(runs)) for runs in zip(*pairs, strict=True))
        if not stages:
            stages = [stage for stage in ours if stage not in ("total", PROCESS)]
            print(f"{'ms':<15}" + "".join(f"{s[:9]:>10}" for s in stages), end="")
            print(f"{'total':>10}{THEIRS:>10}{'ratio':>7}{PROCESS:>10}{THEIRS:>10}{'ratio':>7}")
        ratio = ours["total"] / theirs["total"]
        ratios.append(ratio)
        print(f"{name:<15}" + "".join(f"{ours[s]:>10.1f}" for s in stages), end="")
        for part in ("total", PROCESS):
            print(f"{ours[part]:>10.1f}{theirs[part]:>10.1f}", end="")
            print(f"{ours[part] / theirs[part]:>7.2f}", end="")
        print(_mark(ratio, ROW_LIMIT), flush=True)
    mean = statistics.geometric_mean(ratios)
    width = 15 + 10 * (len(stages) + 2)
    print(f"{'geometric mean':<{width}}{mean:>7.3f}{_mark(mean, MEAN_LIMIT)}")


def _mark(ratio: float, limit: float) -> str:
    return "" if ratio <= limit else f"  more than {limit:.2f}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
