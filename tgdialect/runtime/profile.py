"""The time of each kernel of a program, measured while the program runs.

A profiled program calls each kernel through a wrapper that reads a monotonic clock before and after
it, and adds the difference to a record. So kernels are timed in the order, on the data, with the
threads and with the cache contents that they have in the program. BEAM (`beam.py`) times each
kernel alone instead.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr, i64
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.estimates import estimate
from tgdialect.backends.llvm_ir.values import symbol_text, type_text
from tgdialect.lowering.render.llvm.function import argument_type
from tgdialect.lowering.render.names import OBJECT
from tgdialect.ops import tg
from tgdialect.ops.call import parameters
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.inspection import Kernel, KernelTime
from tgdialect.runtime.memory import address
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.program import HOST
from tgdialect.runtime.staged import StagedModule
from tgdialect.runtime.text import aligned, show_seconds
from tgdialect.targets.host import thread_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tgdialect.runtime.peaks import Peaks

_MIN_RUNS, _MAX_RUNS = 3, 10_000
"""The least and the most runs of a profile. Fewer: more noise; more: memory and time."""

_CALLS, _NANOSECONDS, _SCALARS = 0, 1, 2
"""Words of the record of a kernel: the number of calls, their total time, then the scalars among
its arguments, which are sizes."""

Records = Mapping[str, Array]
"""The record of each kernel, by the kernel's name."""


@dataclass(frozen=True)
class Profile(Sequence[KernelTime]):
    """The times of the kernels of a program, in the order of the calls; printed, a table.

    `seconds` is the median time of a whole run. `device` is where it ran, if that is one device.
    """

    kernels: tuple[KernelTime, ...]
    seconds: float
    runs: int
    device: str = ""

    @overload
    def __getitem__(self, index: int) -> KernelTime: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[KernelTime]: ...

    def __getitem__(self, index: int | slice) -> KernelTime | Sequence[KernelTime]:
        return self.kernels[index]

    def __len__(self) -> int:
        return len(self.kernels)

    def __str__(self) -> str:
        head = ("kernel", "calls", "time", "share", "GFLOP/s", "GB/s", "opts", "nodes")
        rows = [head, *(_row(kernel) for kernel in self.kernels)]
        if not any(kernel.nodes for kernel in self.kernels):
            rows = [row[:-1] for row in rows]
        return f"{aligned(rows, left=(0, len(head) - 2, len(head) - 1))}\n{self._runs}"

    @property
    def _runs(self) -> str:
        return f"{self.runs} runs, median {show_seconds(self.seconds)}"

    def plot(
        self, file: str | os.PathLike[str] | None = None, *, peaks: Peaks | None = None
    ) -> Figure:
        """Bars of the kernels' shares of the time with their GFLOP/s and GB/s, and a roofline: how
        close each is to what the machine can do at most.

        `file` is where it is saved, as .svg, .png or .pdf; without it, pyplot's `show()` shows the
        figure. `peaks` are those of the machine. On this CPU they are measured if they are not
        given, once, which takes about a second; elsewhere there is no roofline without them.

        Raises ImportError without matplotlib (the extra `plot`), ValueError for another kind of
        file, OSError if it cannot be written.
        """
        from tgdialect.runtime.peaks import measured_peaks
        from tgdialect.runtime.profile_plot import profile_figure, require_matplotlib

        require_matplotlib()
        if peaks is None and self.device == HOST:
            peaks = measured_peaks(thread_count())
        title = f"{self.device}: {self._runs}".removeprefix(": ")
        return profile_figure(self.kernels, title, peaks, file)


def _row(kernel: KernelTime) -> Sequence[str]:
    return (
        kernel.name,
        "once" if kernel.is_once else str(kernel.calls),
        show_seconds(kernel.seconds),
        "" if kernel.is_once else f"{kernel.share:.1%}",
        f"{kernel.gflops:.2f}",
        f"{kernel.gbytes:.2f}",
        "; ".join(opt.removeprefix("#tg.opt<").removesuffix(">") for opt in kernel.opts),
        kernel.nodes,
    )


# -- compiled code that keeps records --------------------------------------------------------------


def with_records(functions: Sequence[Operation], kernels: Sequence[str]) -> str:
    """LLVM IR of wrappers that time kernels. Renames the kernels among some `llvm.func`s; the
    wrappers get their names."""
    wrappers = [
        _wrapper(op)
        for op in functions
        if isinstance(op, llvm.FuncOp) and op.body.blocks and op.sym_name.data in kernels
    ]
    clock = native_ir("clock", CLOCK=time.CLOCK_MONOTONIC)
    return "".join([clock, *wrappers]) if wrappers else ""


def _wrapper(kernel: llvm.FuncOp) -> str:
    """The function that calls a kernel and adds to its record."""
    name = kernel.sym_name.data
    kernel.sym_name = StringAttr(f"{name}.timed")
    types = [type_text(type) for type in kernel.function_type.inputs]
    parameters = ", ".join(f"{type} %a{i}" for i, type in enumerate(types))
    record = symbol_text(_record(name))
    stores = (
        f"  %at{word} = getelementptr i64, ptr {record}, i64 {word}\n"
        f"  store i64 %a{argument}, ptr %at{word}"
        for word, argument in enumerate(_scalars(kernel), _SCALARS)
    )
    return native_ir(
        "timed",
        **{"NAME": symbol_text(name), "KERNEL": symbol_text(kernel.sym_name.data)},
        **{"PARAMETERS": parameters, "RECORD": record, "SCALARS": "\n".join(stores)},
        **{"CALLS": _CALLS, "NANOSECONDS": _NANOSECONDS},
    )


def _scalars(kernel: llvm.FuncOp) -> Sequence[int]:
    """The positions of the parameters of a kernel that are sizes."""
    return [i for i, t in enumerate(kernel.function_type.inputs) if t == i64]


def _record(kernel: str) -> str:
    """The symbol of a kernel's record."""
    return f"{kernel}.record"


# -- measuring -------------------------------------------------------------------------------------


def new_records(build: StagedModule) -> Records:
    """A record for each kernel of a program, by its name."""
    programs = build.programs
    return {k.name: np.zeros(_SCALARS + len(_sizes(programs[k.name])), int) for k in build.kernels}


def record_symbols(records: Records) -> Mapping[str, int]:
    """The addresses of records, by their names in compiled code."""
    return {_record(OBJECT.symbol(name)): address(record) for name, record in records.items()}


def add_time(record: Array, seconds: float, scalars: Sequence[int]) -> None:
    """Add a call of a kernel to its record, given the scalars among its arguments."""
    record[_CALLS] += 1
    record[_NANOSECONDS] += round(1e9 * seconds)
    record[_SCALARS:] = scalars


def profile(
    run: Callable[[], object], records: Records, build: StagedModule, seconds: float, device: str
) -> Profile:
    """The times of the kernels of a program that is run for some seconds, at least 4 times.

    `run` runs it once, on `device`; each kernel adds to its record.
    """
    runs: list[tuple[float, Records]] = []
    end = time.perf_counter() + seconds
    while len(runs) <= _MIN_RUNS or (time.perf_counter() < end and len(runs) < _MAX_RUNS):
        for record in records.values():
            record[:] = 0
        start = time.perf_counter()
        run()
        elapsed = time.perf_counter() - start
        runs.append((elapsed, {name: record.copy() for name, record in records.items()}))
    programs = build.programs
    found = [
        _kernel_time(k, programs[k.name], [copies[k.name] for _, copies in runs])
        for k in build.kernels
    ]
    total = sum(kernel.seconds for kernel in found if not kernel.is_once)
    shared = (replace(k, share=0 if k.is_once or not total else k.seconds / total) for k in found)
    steady = [elapsed for elapsed, _ in runs[1:]]
    return Profile(tuple(shared), statistics.median(steady), len(steady), device)


def _kernel_time(kernel: Kernel, program: tg.ProgramOp, records: Sequence[Array]) -> KernelTime:
    """The time of a kernel, given its record of each run. The first run, which warms the caches,
    counts only if no later run calls the kernel."""
    first, *steady = records
    is_once = bool(first[_CALLS]) and not steady[-1][_CALLS]
    counted = [first] if is_once else steady
    calls = int(counted[-1][_CALLS])
    sizes = dict(zip(_sizes(program), map(int, counted[-1][_SCALARS:]), strict=True))
    assumed: dict[SSAValue, tg.Interval] = {
        op.result: tg.Interval(sizes[op.slot.data], sizes[op.slot.data])
        for op in program.linear.body.block.ops
        if isinstance(op, tg.ParamOp) and op.slot.data in sizes
    }
    flops, nbytes = estimate(program.linear, assumed)
    return KernelTime(
        name=kernel.name,
        calls=calls,
        seconds=statistics.median(int(record[_NANOSECONDS]) for record in counted) / 1e9,
        share=0.0,
        is_once=is_once,
        flops=calls * flops,
        bytes=calls * nbytes,
        opts=kernel.opts,
        nodes=kernel.nodes,
    )


def _sizes(program: tg.ProgramOp) -> Sequence[int]:
    """The slots of the parameters that are sizes: `_scalars` before rendering."""
    return [
        op.slot.data
        for op in parameters(program.linear.body.block)
        if argument_type(op.result) == i64
    ]
