"""Small programs which have, or get on their way to code, each op of the dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import tgdialect as tg

Array = np.ndarray

RUN = ("interpreter", "cpu", "c", "opencl")
"""Where programs are executed."""
WRITTEN = ("nvidia:sm_80", "nvidia:sm_90a", "amd:gfx942", "metal")
"""Targets whose code is only made."""
GRIDS = ("opencl", *WRITTEN)


@dataclass(frozen=True)
class OpProgram:
    """A program with a `@main`, its arguments, and the targets that have it."""

    text: str
    inputs: Sequence[Array] = ()
    targets: Sequence[str] = (*RUN, *WRITTEN)
    tolerance: float = 1e-5
    custom: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Registered functions."""


_numbers = np.random.default_rng(7)
X, Y, Z = (_numbers.uniform(0.5, 3.0, 8).astype(np.float32) for _ in range(3))
K, L = _numbers.integers(1, 30, 8).astype(np.int32), _numbers.integers(1, 5, 8).astype(np.int32)
M = _numbers.uniform(-1, 1, (4, 6)).astype(np.float32)
KEYS = np.arange(8, dtype=np.uint64)


def _traced(
    function: Callable[..., Any], *inputs: Array, targets: Sequence[str] = (*RUN, *WRITTEN)
) -> OpProgram:
    """The program of a function of tensors."""
    specs = [tg.spec(x.shape, str(x.dtype)) for x in inputs]
    return OpProgram(tg.function(function).lower(*specs).as_text(), inputs, targets, 1e-4)


def _main(names: str, shape: str, lines: Sequence[str], inputs: Sequence[Array]) -> OpProgram:
    """A function of arguments and a result `%result` that are alike."""
    arguments = ", ".join(f"%{name}: {shape}" for name in names)
    body = "\n  ".join([*lines, f"return %result : {shape}"])
    return OpProgram(f"func.func @main({arguments}) -> {shape} {{\n  {body}\n}}\n", inputs)


def _summed(names: str, shape: str, ops: Sequence[str], inputs: Sequence[Array]) -> OpProgram:
    """The sum of ops on arguments, each of which counts."""
    lines = [f"%r{i} = {op} : {shape}" for i, op in enumerate(ops)]
    totals = ["%r0", *(f"%t{i}" for i in range(1, len(ops) - 1)), "%result"]
    lines += [f"{totals[i]} = tg.add {totals[i - 1]}, %r{i} : {shape}" for i in range(1, len(ops))]
    return _main(names, shape, lines, inputs)


_F, _I, _B, _U = (f"tensor<8x{dtype}>" for dtype in ("f32", "i32", "i1", "ui64"))
_COMPARISONS = ["cmplt", "cmpne", "cmpgt", "cmpge", "cmple", "cmpeq"]
_UNARY = [
    "recip",
    "trunc",
    "neg",
    "exp2",
    "log2",
    "exp",
    "log",
    "log10",
    "expm1",
    "log1p",
    "softplus",
    "sin",
    "cos",
    "erf",
    "erfc",
    "gelu",
    "sqrt",
]
_ROW, _CELL = "tensor<8xf32, #tg.place<global>>", "tensor<f32, #tg.place<global>>"
_HOST = 'tensor<8xf32, #tg.place<"CPU", global>>'


def kernel(lines: Sequence[str], row: str = "f32") -> str:
    """A kernel of one loop over %x[%r] with the element %v and the result %w, and its `@main`."""
    memory, cell = _ROW.replace("f32", row), _CELL.replace("f32", row)
    host, body = _HOST.replace("f32", row), "\n  ".join(lines)
    return f"""tg.kernel @k {{
  %x = tg.param 0 : {memory}
  %o = tg.param 1 : {memory}
  %n = tg.const 8 : tensor<index>
  %r = tg.range 0 loop to %n : tensor<index>
  %i = tg.index %x[%r] : ({memory}, tensor<index>) -> {cell}
  %v = tg.load %i : {cell} -> tensor<{row}>
  {body}
  %j = tg.index %o[%r] : ({memory}, tensor<index>) -> {cell}
  %s = tg.store %j, %w : {cell}, tensor<{row}>
  %e = tg.end %s over %r : !tg.void
  %k = tg.sink %e : !tg.void
}}
func.func @main(%x: {host}, %o: {host} {{tg.output}}) {{
  %0 = tg.call @k(%x, %o) : ({host}, {host}) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}}
"""


_MEMORY = f"""func.func @main(%x: {_HOST}) -> tensor<8xf32, #tg.place<"CPU">> {{
  %b = tg.buffer 0 : {_HOST}
  %s = tg.store %b, %x : {_HOST}, {_HOST}
  %a = tg.after %b, %s : ({_HOST}, !tg.void) -> {_HOST}
  %v = tg.load %a : {_HOST} -> tensor<8xf32, #tg.place<"CPU">>
  %y = tg.add %v, %v : tensor<8xf32, #tg.place<"CPU">>
  %t = tg.store %a, %y : {_HOST}, tensor<8xf32, #tg.place<"CPU">>
  %g = tg.group %s, %t
  %c = tg.after %a, %g : ({_HOST}, !tg.void) -> {_HOST}
  %w = tg.load %c : {_HOST} -> tensor<8xf32, #tg.place<"CPU">>
  return %w : tensor<8xf32, #tg.place<"CPU">>
}}
"""

_CALLS = f"""func.func @main(%x: {_F}) -> {_F} {{
  %f = tg.function(%x) {{
    %p = tg.param 0 : {_F}
    %q = tg.neg %p : {_F}
    %t = tg.tuple %p, %q : ({_F}, {_F}) -> !tg.tuple<{_F}, {_F}>
  }} : {_F} -> !tg.tuple<{_F}, {_F}>
  %a = tg.gettuple %f 1 : !tg.tuple<{_F}, {_F}> -> {_F}
  %b = tg.contiguous %a : {_F}
  %c = tg.contiguous_backward %b : {_F}
  %d = tg.detach %c : {_F}
  return %d : {_F}
}}
"""

_FIRST = 'tensor<2x8xf32, #tg.place<"CPU:0">>'
_BOTH = 'tensor<8xf32, #tg.place<["CPU:0", "CPU:1"]>>'
_SPLIT = 'tensor<2x8xf32, #tg.place<["CPU:0", "CPU:1"], axis = 0>>'
_COPIES = f"""func.func @main(%x: {_FIRST}) -> tensor<8xf32, #tg.place<"CPU:0">> {{
  %c = tg.copy %x to ["CPU:0", "CPU:1"] : {_FIRST} -> {_SPLIT}
  %y = tg.neg %c : {_SPLIT}
  %r = tg.replicated %y axis 0 : {_SPLIT} -> {_BOTH}
  %d = tg.copy %r to "CPU:0" : {_BOTH} -> tensor<8xf32, #tg.place<"CPU:0">>
  return %d : tensor<8xf32, #tg.place<"CPU:0">>
}}
"""

_FUNCTION = f"""tg.customfunction @double() reads [0] writes [1]
func.func @main(%x: {_HOST}, %o: {_HOST} {{tg.output}}) {{
  %0 = tg.call @double(%x, %o) : ({_HOST}, {_HOST}) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}}
"""


def _double(x: Array, y: Array) -> None:
    y[...] = 2 * x


PROGRAMS: dict[str, OpProgram] = {
    "float arithmetic": _summed(
        "xyz",
        _F,
        [
            *(f"tg.{name} %x" for name in _UNARY),
            *(f"tg.{name} %x, %y" for name in ["add", "mul", "max", "sub", "div", "pow"]),
            *(f"tg.{name} %x, %y" for name in ["logaddexp", "lgamma"]),
            "tg.gate %x, %y",
            "tg.mulacc %x, %y, %z",
        ],
        (X, Y, Z),
    ),
    "remainder": replace(
        _main("xy", _F, [f"%result = tg.fmod %x, %y : {_F}"], (X, Y)),
        targets=(*RUN, *WRITTEN[:3]),
    ),
    "integer arithmetic": _summed(
        "xy",
        _I,
        [
            f"tg.{name} %x, %y"
            for name in ["add", "mod", "idiv", "xor", "or", "and", "shr", "shl", "max"]
        ],
        (K, L),
    ),
    "comparisons": _main(
        "xy",
        _F,
        [
            *(f"%c{i} = tg.{n} %x, %y : ({_F}, {_F}) -> {_B}" for i, n in enumerate(_COMPARISONS)),
            f"%n = tg.not %c0 : {_B}",
            *(
                f"%x{i} = tg.xor %{'n' if i == 1 else f'x{i - 1}'}, %c{i} : {_B}"
                for i in range(1, 6)
            ),
            f"%result = tg.where %x5, %x, %y : ({_B}, {_F}, {_F}) -> {_F}",
        ],
        (X, Y),
    ),
    "threefry": _main(
        "xy", _U, [f"%result = tg.threefry %x, %y : {_U}"], (KEYS, KEYS[::-1].copy())
    ),
    "bits": _main(
        "x",
        _F,
        [
            f"%i = tg.bitcast %x to i32 : {_F} -> {_I}",
            f"%c = tg.cast %i to f32 : {_I} -> {_F}",
            f"%result = tg.add %c, %x : {_F}",
        ],
        (X,),
    ),
    "movement": _traced(
        lambda x: (
            (x.permute(1, 0).flip(0).reshape(3, 8).pad(((1, 1), (0, 2))).shrink(((0, 4), (1, 9))))
            + tg.Tensor.stack(x.sum(0).sum(), x.max()).reshape(2, 1, 1).expand(2, 4, 8)[1]
        ),
        M,
    ),
    "reductions": _traced(lambda x: (x.sum(1) + x.max(1)) * x.prod(1), M),
    "product": _traced(lambda x: x @ x.permute(1, 0), _numbers.normal(size=(32, 32)).astype("f")),
    "tensor cores": _traced(
        lambda x: x @ x, _numbers.integers(-3, 4, (64, 64)).astype(np.float16), targets=GRIDS
    ),
    "softmax": _traced(lambda x: x.softmax(-1), _numbers.normal(size=(4, 4096)).astype("f")),
    "scatter": _traced(
        lambda x, i: tg.Tensor.zeros(5000).scatter_reduce(0, i, x, "sum"),
        _numbers.normal(size=4096).astype("f"),
        _numbers.integers(0, 5000, 4096),
    ),
    "scan": _traced(lambda x: tg.scan(lambda s, v: (s * 0.5 + v, s), tg.Tensor.zeros(6), x)[1], M),
    "memory": OpProgram(_MEMORY, (X,)),
    "calls": OpProgram(_CALLS, (X,)),
    "copies": OpProgram(_COPIES, (np.stack([X, Y]),), ("interpreter", "cpu")),
    "a kernel": OpProgram(kernel(["%w = tg.neg %v : tensor<f32>"]), (X,)),
    "data": OpProgram(
        "func.func @main() -> tensor<4xui8> {\n"
        '  %b = tg.binary "7f454c46" : tensor<4xui8>\n  return %b : tensor<4xui8>\n}\n'
    ),
    "custom text": OpProgram(
        kernel(['%w = tg.custom "({0} < 2.0f ? 2.0f : {0})"(%v) : tensor<f32>']),
        (X,),
        ("interpreter", "c", "opencl", "metal"),
        custom={"({0} < 2.0f ? 2.0f : {0})": lambda x: np.maximum(x, 2)},
    ),
    "custom intrinsic": OpProgram(
        kernel(['%w = tg.custom "llvm.ctpop.i32({0})"(%v) : tensor<i32>'], "i32"),
        (K,),
        ("interpreter", "cpu", "nvidia:sm_80", "nvidia:sm_90a", "amd:gfx942"),
        custom={"llvm.ctpop.i32": np.bitwise_count},
    ),
    "custom function": OpProgram(
        _FUNCTION, (X,), ("interpreter", "cpu", "c"), custom={"double": _double}
    ),
    **{
        f"an instruction of {target}": OpProgram(
            kernel([f'%w = tg.ins "{name}"(%v) : tensor<i32>'], "i32"), (K,), targets
        )
        for target, name, targets in (
            ("cpu", "cpu.popcnt", ("interpreter", "cpu")),
            ("nvidia", "nvidia.popc", ("interpreter", "nvidia:sm_80", "nvidia:sm_90a")),
            ("amd", "amd.v_bfrev_b32", ("interpreter", "amd:gfx942")),
        )
    },
}
