"""The executors that programs are compared on: each takes a module and arrays, and gives arrays."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from compiling import compile_c, compile_module
from expression import Array
from opencl_device import DEVICE, target
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.properties import is_memory, tensor_type
from tgdialect.runtime import build
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.threads import parallel_runtime

Executor = Callable[[ModuleOp, Sequence[Array]], Sequence[Array]]


def interpret(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The oracle."""
    return as_sequence(run(module, "main", inputs))


def compiled(opt: str) -> Executor:
    """The CPU, with a mode of `tg-optimize`."""

    def execute(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
        return between_fences(compile_module(module, opt=opt), inputs)

    return execute


def optimized(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The CPU, where LLVM optimises short kernels as it does others."""
    with patch.object(build, "SHORT", 0):
        executable = compile_module(module)
    return between_fences(executable, inputs)


def in_c(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """Portable C, by the system's compiler."""
    return between_fences(compile_c(module), inputs)


def between_fences(
    executable: HostExecutable, inputs: Sequence[Array], *, at_start: bool = False
) -> Sequence[Array]:
    """The results of an executable on copies next to memory that cannot be accessed. They begin as
    junk: what is not written shows."""
    out = [fenced(junk(p.shape, p.dtype), at_start=at_start) for p in executable.outputs]
    given = [fenced(i, at_start=at_start) for i in inputs]
    # Results in the memory of donated arguments have none of their own.
    return as_sequence(
        executable(*given) if executable.overwritten else executable(*given, out=out)
    )


def lowered_for_grid(
    module: ModuleOp,
    target: str = "opencl",
    mode: str = "heuristic",
    optimize: LoweringPass | None = None,
) -> ModuleOp:
    """A copy of a module, lowered to the programs of a grid. `optimize` is a pass in place of
    `tg-optimize`."""
    passes = replace(stages(target=target, mode=mode), render=None)
    module = module.clone()
    run_stages(module, [optimize if optimize and p is passes.optimize else p for p in passes])
    module.verify()
    return module


def run_grid(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The results of a lowered module. The interpreter runs its workgroups, and reports races and
    accesses that are out of bounds."""
    return as_sequence(run(module, "main", [i.copy() for i in inputs], allow_custom=True))


def run_grid_on_cpu(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The results of a module lowered for a grid, with loops over workgroups and work items."""
    module = module.clone()
    del module.attributes["tg.target"]
    return between_fences(compile_module(module, allow_custom=True), inputs)


def on_opencl(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The device of `opencl_device.py`, which need not exist. A module that is lowered for a grid
    already keeps its schedule."""
    return as_sequence(tg.compile(module, target=DEVICE, allow_custom=True)(*inputs))


def target_for(execute: Executor) -> str:
    """The grid that modules are lowered for before they are executed: a device has one, and the
    others execute what is for any."""
    return target() if execute is on_opencl else "opencl"


def on_grid(target: str = "opencl", mode: str = "heuristic") -> Executor:
    """The programs for a grid, on the interpreter."""
    return lambda module, inputs: run_grid(lowered_for_grid(module, target, mode), inputs)


@contextmanager
def on_threads(count: int) -> Generator[None]:
    """Have loops that threads share run on so many."""
    threads = parallel_runtime().threads
    before, threads.value = threads.value, count
    try:
        yield
    finally:
        threads.value = before


def frozen(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The CPU, where every second argument is the same in every call: the second call finds what
    the first one has made of them."""
    module = module.clone()
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    can_be = [not is_memory(a) and a.type != tensor_type(INDEX) for a in main.args]
    constant = [DictionaryAttr({"tg.constant": UnitAttr()} if c else {}) for c in can_be]
    given = main.arg_attrs or ArrayAttr([DictionaryAttr({})] * len(main.args))
    main.arg_attrs = ArrayAttr(
        DictionaryAttr({**old.data, **(new.data if i % 2 == 0 else {})})
        for i, (old, new) in enumerate(zip(given, constant, strict=True))
    )
    executable = compile_module(module)
    executable(*inputs)
    return as_sequence(executable(*inputs))


def fenced(array: Array, *, at_start: bool = False) -> Array:
    """A copy with pages before and after it that cannot be accessed: who touches them crashes.

    The copy ends where the page after it begins, or with `at_start` begins where the one before it
    ends.
    """
    if sys.platform != "linux":
        return array.copy()
    size = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + 2 * mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for fence in (address, address + mmap.PAGESIZE + size):
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(fence), mmap.PAGESIZE, 0)
    start = mmap.PAGESIZE if at_start else mmap.PAGESIZE + size - array.nbytes
    copy = np.frombuffer(memory, np.uint8, array.nbytes, start)
    copy = copy.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def junk(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array of bytes that are no result of anything."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[:] = 0xA5
    return array


def as_sequence(results: Array | Sequence[Array]) -> Sequence[Array]:
    return results if isinstance(results, tuple | list) else [results]


EXECUTORS: dict[str, Executor] = {
    "interpreter": interpret,
    **{f"cpu-{mode}": compiled(mode) for mode in ("none", "heuristic")},
    "cpu-optimized": optimized,
    "cpu-frozen": frozen,
    "c": in_c,
    "grid": on_grid(),
}
