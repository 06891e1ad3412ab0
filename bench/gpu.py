"""How fast kernels are on a GPU of NVIDIA's, next to PyTorch, Triton and tinygrad.

    pip install -e '.[cuda,test]' tinygrad torch    # PyTorch's build for CUDA, which brings Triton
    python -m bench.gpu [--rows gemm softmax] [--json FILE] [--markdown FILE]

One command runs and measures everything, in at most `--minutes`: first all examples and random
programs, whose results have to agree with the interpreter's; then the rows; then what a launch
from Python costs beyond the driver's own call. Without a GPU it says so and exits with 2.
`--small` has small shapes and takes any device (`--device CL:0`), to try the bench itself: its
times mean nothing.

How rows are measured, the same for all tools: inputs are on the device, and results stay there.
A tool is called again and again for SECONDS, with the device idle before the first call and after
the last one; the least mean of TURNS such turns counts, with the tools taking turns. So launches
are hidden behind kernels wherever a tool is asynchronous. Rows that are bound by memory have arrays
larger than the L2 cache. Every result is compared with PyTorch's in f64. f32 products are exact
f32, and TF32 is allowed in the row that says so, for each tool alike.

The peers: `torch` is eager PyTorch, so cuBLAS for products and its fused attention on 4-D operands
(FlashAttention); `torch.compile` is Inductor's default mode; `triton` is Inductor's
`max-autotune-no-cudagraphs`, whose products are Triton kernels tuned for the shape where these are
quicker than cuBLAS; `tinygrad` is under TinyJit, and with `--all` after its own search (BEAM=2).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from tqdm import tqdm

import tgdialect as tg
from bench.table import markdown
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import Device

OURS = "tgdialect"
ROOT = Path(__file__).parents[1]

SECONDS, TURNS = 0.3, 3
"""How long a tool is repeated in one turn, and how often it has one. With less time the first calls
count, after which a GPU raises its clock; with more, all rows take longer than `--minutes`."""

COPY_GOAL, LAUNCH_GOAL = 0.9, 5e-6
"""Goals of the project: the part of the copy bandwidth of rows that are bound by memory, and the
seconds that a launch from Python takes beyond the driver's own."""

RANDOM_PROGRAMS = 300

NUMPY = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16}

Program = Callable[..., Any]
Call = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """A program on operands of the given shapes."""

    name: str
    shapes: Sequence[tuple[int, ...]]
    tensor: Program
    """Of Tensors: ours, and tinygrad's, whose methods are called alike."""
    torch: Program
    """PyTorch's best form, of the module and tensors."""
    flops: float = 0
    """Of a product, whose goal is a part of the best peer's speed."""
    goal: float = 1.0
    """The least time of the best peer / ours."""
    dtype: str = "float32"
    tolerance: float = 1e-5
    """How far a result may be from f64's, of the largest magnitude in it."""
    tf32: bool = False
    """Whether tools may round factors to TF32."""

    @property
    def is_copy(self) -> bool:
        """Whether memory bounds it."""
        return not self.flops

    @property
    def nbytes(self) -> float:
        """The bytes of operands; a result has those of the first one or is small."""
        return sum(map(math.prod, self.shapes)) * np.dtype(NUMPY[self.dtype]).itemsize


def _elementwise(x: Any, y: Any) -> Any:
    return (x * y + x).relu()


def _rows(*, small: bool) -> Sequence[Row]:
    """All rows; `small` ones for trying the bench."""

    def size(extent: int) -> int:
        return max(extent // 64, 16) if small else extent

    long, row = size(1 << 14), size(1 << 13)
    matrix = (long, row)
    rows = [
        Row("elementwise", [matrix, matrix], _elementwise, lambda _, x, y: _elementwise(x, y)),
        Row("softmax", [matrix], lambda x: x.softmax(1), lambda torch, x: torch.softmax(x, 1)),
        Row(
            *("layer norm", [matrix], lambda x: x.layernorm()),
            lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[1:]),
            tolerance=2e-5,
        ),
        Row("sum of rows", [matrix], lambda x: x.sum(1), lambda _, x: x.sum(1), tolerance=1e-4),
        Row("sum of columns", [matrix], lambda x: x.sum(0), lambda _, x: x.sum(0), tolerance=1e-4),
        Row("sum of all", [matrix], lambda x: x.sum(), lambda _, x: x.sum(), tolerance=1e-3),
        Row("max of rows", [matrix], lambda x: x.max(1), lambda torch, x: torch.amax(x, 1)),
        Row(
            *("transpose", [matrix], lambda x: x.transpose(0, 1).contiguous()),
            lambda _, x: x.t().contiguous(),
        ),
    ]
    for kind, dtype, tolerance in (
        ("f32", "float32", 1e-5),
        ("tf32", "float32", 2e-3),
        ("bf16", "bfloat16", 1e-2),
    ):
        for extent in (size(4096), size(8192)):
            rows.append(
                Row(
                    f"gemm {kind} {extent}",
                    [(extent, extent)] * 2,
                    lambda a, b: a @ b,
                    lambda _, a, b: a @ b,
                    *(2 * extent**3, 0.85, dtype, tolerance, kind == "tf32"),
                )
            )
    tokens, heads = size(4096), 16
    for width in (64, 128):
        rows.append(
            Row(
                f"attention bf16 {tokens}x{width}",
                [(1, heads, tokens, width)] * 3,
                lambda q, k, v: q.scaled_dot_product_attention(k, v),
                lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v),
                *(4 * heads * tokens**2 * width, 0.75, "bfloat16", 2e-2),
            )
        )
    return rows


# -- tools: each makes a call of a row, which leaves its result on the device


class Session:
    """A device and what is measured on it."""

    def __init__(self, device: Device, torch: Any) -> None:
        self.device, self.torch = device, torch
        self.has_cuda = device.name.startswith("CUDA")
        self.place = "cuda" if self.has_cuda else "cpu"

    def inputs(self, row: Row) -> Sequence[Any]:
        """The operands of a row as PyTorch's tensors, the same in each run."""
        generator = self.torch.Generator(self.place).manual_seed(0)
        dtype = getattr(self.torch, row.dtype)
        return [
            self.torch.randn(*shape, generator=generator, device=self.place).to(dtype)
            for shape in row.shapes
        ]

    def synchronize(self) -> None:
        """Wait for all that any tool has queued."""
        if self.has_cuda:
            self.torch.cuda.synchronize()
        self.device.synchronize()

    def on_host(self, tensor: Any) -> np.ndarray[Any, Any]:
        """A PyTorch tensor as an array of NumPy, to the bit."""
        tensor = tensor.detach().cpu()
        if tensor.dtype == self.torch.bfloat16:
            return tensor.view(self.torch.uint16).numpy().view(ml_dtypes.bfloat16)
        return tensor.numpy()


def _ours(session: Session, row: Row, inputs: Sequence[Any]) -> Call:
    arrays = [session.device.array(session.on_host(x)) for x in inputs]
    if row.tf32:  # Rounding is allowed by an option of `tg.compile`.
        specs = [tg.spec(shape, "f32") for shape in row.shapes]
        exe = tg.compile(row.tensor, *specs, target=session.device.name, opt="heuristic:tf32")
        return lambda: exe(*arrays)
    function, arguments = tg.function(row.tensor), [tg.Tensor(array) for array in arrays]
    return lambda: function(*arguments)


def _torch(session: Session, row: Row, inputs: Sequence[Any]) -> Call:
    return lambda: row.torch(session.torch, *inputs)


def _inductor(mode: str | None) -> Callable[[Session, Row, Sequence[Any]], Call]:
    def make(session: Session, row: Row, inputs: Sequence[Any]) -> Call:
        torch = session.torch
        torch._dynamo.reset()
        program = torch.compile(lambda *x: row.torch(torch, *x), mode=mode, dynamic=False)
        return lambda: program(*inputs)

    return make


def _tinygrad(session: Session, row: Row, inputs: Sequence[Any]) -> Call:
    from tinygrad import Device as Devices
    from tinygrad import Tensor, TinyJit, dtypes

    device = "CUDA" if session.has_cuda else "CPU"
    dtype = getattr(dtypes, row.dtype)
    arrays = [session.on_host(x.float()) for x in inputs]
    arguments = [Tensor(x, device=device).cast(dtype).realize() for x in arrays]
    program = TinyJit(lambda *x: row.tensor(*x).realize())

    def call() -> Any:
        return program(*arguments)

    for _ in range(3):  # TinyJit records the second call.
        call()
    Devices[device].synchronize()
    return call


TOOLS: Mapping[str, Callable[[Session, Row, Sequence[Any]], Call]] = {
    OURS: _ours,
    "torch": _torch,
    "torch.compile": _inductor(None),
    "triton": _inductor("max-autotune-no-cudagraphs"),
    "tinygrad": _tinygrad,
}


def _numbers(session: Session, result: Any) -> np.ndarray[Any, Any]:
    """A result in f64, whichever tool made it."""
    if isinstance(result, session.torch.Tensor):
        return result.double().cpu().numpy()
    if isinstance(result, tg.Tensor | DeviceArray):
        return result.numpy().astype(np.float64)
    return result.float().numpy().astype(np.float64)  # NumPy has no bf16, and tinygrad knows.


# -- measuring


def measure(
    session: Session, row: Row, tools: Sequence[str], seconds: float, deadline: float
) -> dict[str, dict[str, Any]]:
    """For each tool its seconds, or why there are none."""
    torch, inputs = session.torch, session.inputs(row)
    torch.backends.cuda.matmul.allow_tf32 = row.tf32
    torch.backends.cudnn.allow_tf32 = row.tf32
    torch.set_grad_enabled(False)
    wanted = row.torch(torch, *(x.double() for x in inputs)).cpu().numpy()
    found: dict[str, dict[str, Any]] = {}
    calls: dict[str, Call] = {}
    for name in tools:
        if time.monotonic() > deadline:
            found[name] = {"error": "out of time"}
            continue
        try:
            call = TOOLS[name](session, row, inputs)
            result = _numbers(session, call()).reshape(wanted.shape)
            wrong = float(np.abs(result - wanted).max() / np.abs(wanted).max())
            found[name] = {"wrong": wrong}
            if wrong <= row.tolerance:
                calls[name] = call
            else:
                found[name]["error"] = f"wrong by {wrong:.1e}"
        except Exception as error:  # Whatever a tool raises is its result.
            found[name] = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
    for turn in range(TURNS):
        names = list(calls)
        first = turn % max(len(names), 1)
        for name in (*names[first:], *names[:first]):
            taken = _mean(session, calls[name], seconds)
            found[name]["seconds"] = min(taken, found[name].get("seconds", math.inf))
    return found


def _mean(session: Session, call: Call, seconds: float) -> float:
    """The mean time of calls that are queued one after another."""
    call()
    session.synchronize()
    start = time.perf_counter()
    call()
    session.synchronize()
    count = max(1, int(seconds / max(time.perf_counter() - start, 1e-6)))
    start = time.perf_counter()
    for _ in range(count):
        call()
    session.synchronize()
    return (time.perf_counter() - start) / count


def copy_bandwidth(session: Session, nbytes: int) -> float:
    """Bytes that are read and written in a second by PyTorch's copy of an array."""
    source = session.torch.ones(nbytes // 4, device=session.place)
    target = session.torch.empty_like(source)
    return max(2 * nbytes / _mean(session, lambda: target.copy_(source), SECONDS) for _ in range(3))


def summary(row: Row, found: dict[str, dict[str, Any]], bandwidth: float) -> dict[str, Any]:
    """A row of the table."""
    right = {name: each["seconds"] for name, each in found.items() if "error" not in each}
    ours = right.pop(OURS, None)
    best = min(right, key=right.__getitem__, default=None)
    ratio = None if ours is None or best is None else right[best] / ours
    has_result_of_this_shape = row.is_copy and "of" not in row.name.split()
    moved = row.nbytes + (math.prod(row.shapes[0]) * 4 if has_result_of_this_shape else 0)
    limit = None if ours is None or not row.is_copy else moved / ours / bandwidth
    reached = ratio is not None and ratio >= row.goal
    return {
        "name": row.name,
        "ours": ours,
        "best": best,
        "ratio": ratio,
        "limit": limit,
        "flops": None if ours is None or row.is_copy else row.flops / ours,
        "goal": row.goal,
        "reached": reached and (limit is None or limit >= COPY_GOAL),
        "tools": found,
    }


def show(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """The table: milliseconds, and whether the goal of a row is reached."""
    peers = [name for name in names if name != OURS]
    print(f"\n{'':26}{'ours ms':>9}{'ratio':>7}{'goal':>6}{'copy':>6}{'TFLOP/s':>9}", end="")
    print("".join(f"{name:>15}" for name in peers))
    for row in rows:
        if row["ours"] is None:
            print(f"{row['name']:26}{row['tools'][OURS]['error']}")
            continue
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        limit = "" if row["limit"] is None else f"{row['limit']:.0%}"
        flops = "" if row["flops"] is None else f"{row['flops'] / 1e12:.1f}"
        mark = "" if row["reached"] else " *"
        print(
            f"{row['name'] + mark:26}{1e3 * row['ours']:9.3f}{ratio:>7}{row['goal']:6.2f}"
            f"{limit:>6}{flops:>9}",
            end="",
        )
        for name in peers:
            peer = row["tools"][name]
            text = f"{1e3 * peer['seconds']:.3f}" if "error" not in peer else peer["error"][:14]
            print(f"{text:>15}", end="")
        print()
    missed = [row["name"] for row in rows if not row["reached"]]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} goals reached; * marks the others")


# -- launches


def launch_overhead(session: Session) -> dict[str, float]:
    """Seconds of a call of a program with one tiny kernel, and of the driver's own launch, which
    is PyTorch-free: `cuLaunchKernel` with arguments that are made before."""
    device = session.device
    x = device.array(np.zeros(32, np.float32))
    exe = tg.compile(
        "func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {"
        "  %y = tg.add %x, %x : tensor<32xf32>  func.return %y : tensor<32xf32> }",
        target=device.name,
    )
    out = exe(x)
    found = {"ours": _queued(session, lambda: exe(x, out=out))}
    if session.has_cuda:
        from cuda.bindings import driver as api

        def checked(result: tuple[Any, ...]) -> Any:
            if result[0] != api.CUresult.CUDA_SUCCESS:
                raise RuntimeError(str(result[0]))
            return result[1] if len(result) == 2 else None

        module = checked(api.cuModuleLoadData(_EMPTY.encode() + b"\0"))
        kernel = checked(api.cuModuleGetFunction(module, b"empty"))
        stream = device.driver.stream  # type: ignore[attr-defined]

        def launch() -> None:
            api.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0)

        found["driver"] = _queued(session, launch)
    return found


_EMPTY = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n"


def _queued(session: Session, call: Call) -> float:
    """The time until a call returns, while the device keeps up."""
    times: list[float] = []
    for _ in range(200):
        session.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            call()
        times.append((time.perf_counter() - start) / 20)
    return sorted(times)[len(times) // 10]


# -- agreement


def check_programs(device: str) -> bool:
    """Run the tests of examples and of random programs on a device. Whether they pass."""
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "opencl"),
        "test/unit/programs/test_random_grids.py",
        "test/unit/programs/test_examples.py",
        "test/unit/runtime/test_opencl.py::test_examples",
    ]
    variables = {"TG_TEST_DEVICE": device, "TG_RANDOM_GRIDS": str(RANDOM_PROGRAMS)}
    return subprocess.run(command, cwd=ROOT, env=os.environ | variables).returncode == 0


# -- the command


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.gpu",
        description="How fast kernels are on a GPU, next to PyTorch, Triton and tinygrad.",
    )
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="rows whose names contain these")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, help="default: all")
    parser.add_argument("--all", action="store_true", help="tinygrad after a search (BEAM=2)")
    parser.add_argument("--device", default="CUDA:0", help="default: CUDA:0")
    parser.add_argument("--minutes", type=float, default=20, help="at most (default: 20)")
    parser.add_argument("--small", action="store_true", help="small shapes, to try the bench")
    parser.add_argument("--no-checks", action="store_true", help="skip examples, random programs")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--markdown", metavar="FILE", help="write the table")
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    chosen = [r for r in _rows(small=options.small) if _is_chosen(r.name, options.rows)]
    if not chosen:
        parser.error(f"no row is called that; there are: {_names(_rows(small=options.small))}")
    if options.list:
        print("\n".join(row.name for row in chosen))
        return 0
    # What there is to measure with.
    if not options.small and not options.device.upper().startswith("CUDA"):
        parser.error("times count on a GPU of NVIDIA's: other devices need --small")
    try:
        import torch
    except ImportError:
        parser.error("PyTorch is missing: it makes the inputs, and is the first peer")
    try:
        device = tg.Device[options.device]
    except tg.DeviceError as error:
        parser.error(f"{error} (--small --device CL:0 tries the bench without a GPU)")
    session = Session(device, torch)
    if session.has_cuda and not torch.cuda.is_available():
        parser.error("this PyTorch has no CUDA: install its build for CUDA")
    if options.all:
        os.environ["BEAM"] = "2"
    names = [OURS, *(n for n in options.tools or TOOLS if n != OURS)]
    print(f"{device.name}: {device.target}; {_versions()}")
    # Whether all is right, then how fast.
    agree = True if options.no_checks else check_programs(device.name)
    print(f"examples and random programs: {'skipped' if options.no_checks else _said(agree)}")
    bandwidth = copy_bandwidth(session, 1 << (20 if options.small else 30))
    print(f"a copy moves {bandwidth / 1e9:.0f} GB/s")
    seconds = 0.01 if options.small else SECONDS
    rows: list[dict[str, Any]] = []
    for row in tqdm(chosen, disable=not sys.stderr.isatty(), leave=False):
        rows.append(summary(row, measure(session, row, names, seconds, deadline), bandwidth))
    show(rows, names)
    launches = launch_overhead(session)
    print(f"a launch from Python takes {1e6 * launches['ours']:.1f} us", end="")
    if "driver" in launches:
        over = launches["ours"] - launches["driver"]
        print(f", {1e6 * over:.1f} over the driver's own (goal: {1e6 * LAUNCH_GOAL:.0f})", end="")
    print()
    if options.json:
        found = {"agree": agree, "copy": bandwidth, "launches": launches, "rows": rows}
        Path(options.json).write_text(json.dumps(found, indent=2))
    if options.markdown:
        Path(options.markdown).write_text(markdown(rows, names))
    return 0 if agree and all("error" not in row["tools"][OURS] for row in rows) else 1


def _is_chosen(name: str, texts: Sequence[str] | None) -> bool:
    return texts is None or any(text in name for text in texts)


def _names(rows: Sequence[Row]) -> str:
    return ", ".join(row.name for row in rows)


def _said(agree: bool) -> str:
    return "agree with the interpreter" if agree else "DO NOT agree with the interpreter"


def _versions() -> str:
    found: list[str] = []
    for package in ("torch", "triton", "tinygrad"):
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)


if __name__ == "__main__":
    sys.exit(main())
