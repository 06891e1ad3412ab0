"""The executors that programs are compared on: each takes a module and arrays, and gives arrays."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from expression import Array
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp

from tgdialect.interpreter import run
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.properties import is_memory, tensor_type
from tgdialect.runtime.build import compile_module

Executor = Callable[[ModuleOp, Sequence[Array]], Sequence[Array]]


def interpret(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The oracle."""
    return as_sequence(run(module, "main", inputs))


def compiled(opt: str) -> Executor:
    """The CPU, with a mode of `tg-optimize`. Results begin as junk: what is not written shows."""

    def execute(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
        executable = compile_module(module, opt=opt)
        out = [fenced(junk(p.shape, p.dtype)) for p in executable.outputs]
        return as_sequence(executable(*map(fenced, inputs), out=out))

    return execute


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


def fenced(array: Array) -> Array:
    """A copy right before memory that cannot be accessed: who goes on after its end crashes."""
    if sys.platform != "linux":
        return array
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    fence = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages * mmap.PAGESIZE
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(fence), mmap.PAGESIZE, 0)
    start = pages * mmap.PAGESIZE - array.nbytes
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
    "cpu-frozen": frozen,
}
