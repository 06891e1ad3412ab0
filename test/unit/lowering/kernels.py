"""Kernels as text at the tiles or target level, compiled for this machine and called on arrays."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from opencl_device import opencl
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tgdialect.backends import c_compiler
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.sources import source_of
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.select import SelectPass
from tgdialect.registry import make_context
from tgdialect.runtime.loader import load

Array = np.ndarray[Any, np.dtype[Any]]

TARGETS = ("cpu", "c", "opencl")
"""What kernels run on."""

INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "index")
WIDE_FLOATS = ("f32", "f64")
NARROW_FLOATS = ("f16", "bf16", "f8E4M3FN", "f8E5M2")
DTYPES = ("i1", *INTEGERS, *WIDE_FLOATS, *NARROW_FLOATS)

ALIASES = """
#g = #tg.place<global>
#l = #tg.place<local>
#r = #tg.place<reg>
!i = tensor<index>
"""
"""What every kernel may use."""

_FLOAT_SPECIALS = (0.0, 1.0, 0.5, 1.5, 2.0, 3.0, 0.1, 7.0, 100.0, 1e-7, 300.0, 65504.0, 1e5, 1e30)


def bits(array: Array) -> Array:
    """The bits of an array, its NaNs all the same one."""
    array = array.copy()
    if array.dtype.kind not in "biu":
        with np.errstate(invalid="ignore"):
            array[np.isnan(array)] = np.nan
    return array.view(f"u{array.dtype.itemsize}")


def specials(dtype: "np.dtype[Any]") -> Array:
    """Values at which arithmetic goes wrong: zeros, ends, neighbours of ends, inf and NaN."""
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        numbers = {low, low + 1, high, high - 1, 0, 1, 2, 3, 5, 7, 8, 31, 64, high // 2, high // 3}
        if low:
            numbers |= {-1, -2, -3, -7, -8, low // 2}
        return np.array(sorted(numbers), dtype)
    info = ml_dtypes.finfo(dtype)
    ends = [info.max, info.tiny, info.smallest_subnormal, info.eps, 1 + info.eps]
    positive = np.array([float(x) for x in (*_FLOAT_SPECIALS, *ends, np.inf)])
    with np.errstate(over="ignore"):
        both = np.concatenate([positive, -positive, [np.nan]]).astype(dtype)
    return both


def pairs(dtype: "np.dtype[Any]") -> tuple[Array, Array]:
    """Every pair of special values."""
    values = specials(dtype)
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.ravel().copy(), b.ravel().copy()


def lowered(text: str, *, features: Sequence[str] = (), target: str | None = None) -> ModuleOp:
    """The rendered module of kernels at the tiles level: `llvm`, or programs with a SOURCE."""
    context = make_context()
    module = Parser(context, ALIASES + text).parse_module()
    module.verify()
    for stage in (
        SelectPass(target, features=tuple(features)),
        LinearizePass(),
        RenderPass(target),
    ):
        stage.lower(module)
        module.verify()
    return module


def compiled(
    text: str, *, features: Sequence[str] = (), target: str = "cpu"
) -> Callable[..., Callable[..., None]]:
    """The kernels of a module: `compiled(text)("name")(array, 3, ...)` runs one in place, on a
    target of `TARGETS`."""
    if target == "opencl":
        return on_opencl(source_of(lowered(text, target=target), target))
    if target == "c":
        code = load(c_compiler.object_code(source_of(lowered(text, target=target), target)))
    else:
        code = load(CpuTarget.host().object_code(llvm_ir(lowered(text, features=features))))

    def look_up(name: str) -> Callable[..., None]:
        address = code.address(name)

        def call(*arguments: Array | int) -> None:
            types = [ctypes.c_int64 if isinstance(a, int) else ctypes.c_void_p for a in arguments]
            function = ctypes.CFUNCTYPE(None, *types)(address)
            function(*(a if isinstance(a, int) else a.ctypes.data for a in arguments))
            assert code  # the code has to live as long as this function

        return call

    return look_up


def on_opencl(source: str) -> Callable[..., Callable[..., None]]:
    """The kernels of a source in OpenCL C, on the first device there is, with one workgroup unless
    `groups` says otherwise."""
    cl = opencl()
    context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, source).build(["-cl-std=CL1.2"])

    def look_up(name: str) -> Callable[..., None]:
        kernel = cl.Kernel(program, name)
        size = kernel.get_work_group_info(
            cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, context.devices[0]
        )

        def call(*arguments: Array | int, groups: Sequence[int] = (1, 1, 1)) -> None:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            passed = [
                np.int64(a) if isinstance(a, int) else cl.Buffer(context, flags, hostbuf=a)
                for a in arguments
            ]
            total = [items * count for items, count in zip(size, groups, strict=True)]
            kernel(queue, total, tuple(size), *passed)
            for array, buffer in zip(arguments, passed, strict=True):
                if not isinstance(array, int):
                    cl.enqueue_copy(queue, array.view(np.uint8), buffer)

        return call

    return look_up


def elementwise(lines: Sequence[tuple[str, str]], inputs: Sequence[str], size: int) -> str:
    """A kernel @k that computes ops of %a, %b, %c per element.

    Args:
        lines: for each output the text of an op, as "tg.neg %a : tensor<f32>", and its dtype.
        inputs: the dtypes of %a, %b, %c, which are the parameters after the outputs.
    """

    def memory(dtype: str, shape: str = f"{size}x") -> str:
        return f"tensor<{shape}{dtype}, #tg.place<global>>"

    text = ["tg.kernel @k {", f"  %n = tg.const {size} : tensor<index>"]
    for slot, dtype in enumerate([*(dtype for _, dtype in lines), *inputs]):
        text.append(f"  %p{slot} = tg.param {slot} : {memory(dtype)}")
    text.append("  %i = tg.range 0 loop to %n : tensor<index>")

    def location(slot: int, dtype: str) -> str:
        indexed = f"({memory(dtype)}, tensor<index>) -> {memory(dtype, '')}"
        text.append(f"  %l{slot} = tg.index %p{slot}[%i] : {indexed}")
        return f"%l{slot}"

    for name, (slot, dtype) in zip("abc", enumerate(inputs, len(lines)), strict=False):
        where = location(slot, dtype)
        text.append(f"  %{name} = tg.load {where} : {memory(dtype, '')} -> tensor<{dtype}>")
    for slot, (op, dtype) in enumerate(lines):
        where = location(slot, dtype)
        text.append(f"  %v{slot} = {op}")
        types = f"{memory(dtype, '')}, tensor<{dtype}>"
        text.append(f"  %s{slot} = tg.store {where}, %v{slot} : {types}")
    group = ", ".join(f"%s{slot}" for slot in range(len(lines)))
    text += [f"  %g = tg.group {group}", "  %e = tg.end %g over %i : !tg.void"]
    text += ["  %k = tg.sink %e : !tg.void", "}"]
    return "\n".join(text)
