"""Programs for miscompiles: chains of ops on i32, so that all results are exact, with what a plant
is about in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import SourceFile
from tgdialect.registry import make_context, parse_program
from tgdialect.runtime.compiler import parse_verified

Program = tuple[ModuleOp, Sequence[Any]]


def chain(
    length: int,
    middle: str = "",
    shape: str = "4x6",
    result: str = "",
    *,
    every: int = 12,
    after: int | None = None,
) -> Program:
    """A program of about so many ops, with some lines in its middle, or before the last `after` of
    them. These make `%m` of `%h`: of the shape `result`, by default the same. Each `every`-th op is
    a CONTIGUOUS."""
    after = length // 2 if after is None else after
    kind, last = f"tensor<{shape}xi32>", f"tensor<{result or shape}xi32>"
    random = np.random.default_rng(length)
    lines, value = [f"func.func @main(%x: {kind}, %y: {kind}) -> {last} {{"], "%x"
    for number in range(length - after):
        name = random.choice(["add", "mul", "max"])
        other = random.choice(["%x", "%y"])
        lines.append(f"  %a{number} = tg.{name} {value}, {other} : {kind}")
        if number % every == every - 1:
            lines.append(f"  %c{number} = tg.contiguous %a{number} : {kind}")
        value = f"%c{number}" if number % every == every - 1 else f"%a{number}"
    lines.append((middle or f"  %m = tg.add %h, %y : {kind}\n").replace("%h", value).strip("\n"))
    value = "%m"
    for number in range(after):
        lines.append(f"  %b{number} = tg.{'add' if number % 2 else 'max'} {value}, %m : {last}")
        if number % every == every - 1:
            lines.append(f"  %d{number} = tg.contiguous %b{number} : {last}")
        value = f"%d{number}" if number % every == every - 1 else f"%b{number}"
    lines.append(f"  return {value} : {last}\n}}")
    module = parse_verified("chain.mlir", "\n".join(lines))
    sizes = [int(extent) for extent in shape.split("x")]
    return module, [random.integers(-99, 99, sizes).astype(np.int32) for _ in range(2)]


def text(lines: str, *shapes: tuple[int, ...], dtype: Any = np.int32) -> Program:
    """A program from its text, with inputs of these shapes."""
    random = np.random.default_rng(1)
    inputs = [random.integers(-9, 9, shape).astype(dtype) for shape in shapes]
    return parse_verified("program.mlir", lines), inputs


ALONG = """
  %p = tg.permute %h [1, 0] : tensor<4x6xi32> -> tensor<6x4xi32>
  %q = tg.reshape %p [4, 6] : tensor<6x4xi32> -> tensor<4x6xi32>
  %m = tg.add %q, %y : tensor<4x6xi32>"""
SUM = """
  %s = tg.reduce add %h [1] : tensor<{0}x{1}xi32> -> tensor<{0}x1xi32>
  %m = tg.expand %s [{0}, {1}] : tensor<{0}x1xi32> -> tensor<{0}x{1}xi32>"""
COUNTED = """
  %k = tg.const 7 : tensor<i32>
  %g = tg.xor %h, %k : (tensor<{0}x{1}xi32>, tensor<i32>) -> tensor<{0}x{1}xi32>
  %s = tg.reduce add %g [1] : tensor<{0}x{1}xi32> -> tensor<{0}x1xi32>
  %m = tg.expand %s [{0}, {1}] : tensor<{0}x1xi32> -> tensor<{0}x{1}xi32>"""
PADDED = """
  %k = tg.shrink %h at [0, 1] to [4, 4] : tensor<4x6xi32> -> tensor<4x4xi32>
  %e = tg.contiguous %k : tensor<4x4xi32>
  %p = tg.pad %e at [0, 1] to [4, 6] : tensor<4x4xi32> -> tensor<4x6xi32>
  %m = tg.add %p, %y : tensor<4x6xi32>"""
CHOSEN = """
  %l = tg.cmplt %h, %y : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
  %m = tg.where %l, %h, %x
    : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>"""


def waves() -> Program:
    """A program on f32, with a sine in its middle."""
    kind = "tensor<2x2xf32>"
    lines, value = [f"func.func @main(%x: {kind}, %y: {kind}) -> {kind} {{"], "%x"
    for i in range(10):
        name = "sin" if i == 5 else "sqrt"
        lines += [
            f"  %s{i} = tg.mul {value}, {value} : {kind}",
            f"  %a{i} = tg.add %s{i}, %y : {kind}",
        ]
        lines.append(f"  %b{i} = tg.{name} %a{i} : {kind}")
        value = f"%b{i}"
    module, _ = text("\n".join([*lines, f"  return {value} : {kind}\n}}"]))
    random = np.random.default_rng(1)
    return module, [random.uniform(0.5, 1.5, (2, 2)).astype(np.float32) for _ in range(2)]


def older_vocabulary() -> Program:
    """A program of the older vocabulary."""
    kind = "tensor<2x3xi32>"
    lines, value = [f"func.func @main(%x: {kind}, %y: {kind}) -> {kind} {{"], "%x"
    for number in range(40):
        name = (
            "tg_legacy.mod" if number == 38 else ("tg.add", "tg_legacy.idiv", "tg.xor")[number % 3]
        )
        lines.append(f"  %v{number} = {name} {value}, %y : {kind}")
        value = f"%v{number}"
    source = SourceFile("older.mlir", "\n".join([*lines, f"  return {value} : {kind}\n}}"]))
    random = np.random.default_rng(1)
    inputs = [random.integers(-9, 9, (2, 3)).astype(np.int32) for _ in range(2)]
    return parse_program(make_context(), source), inputs


TURNED = """
  %p = tg.permute %h [1, 0] : tensor<6x6xi32>
  %c = tg.contiguous %p : tensor<6x6xi32>
  %q = tg.permute %c [1, 0] : tensor<6x6xi32>
  %d = tg.contiguous %q : tensor<6x6xi32>
  %r = tg.permute %d [1, 0] : tensor<6x6xi32>
  %m = tg.add %r, %y : tensor<6x6xi32>"""
PICKED = """
  %one = tg.const 1 : tensor<i32>
  %three = tg.const 3 : tensor<i32>
  %i = tg.and %h, %three : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %j = tg.and %x, %one : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %t = tg.reshape %y [2, 2] : tensor<4xi32> -> tensor<2x2xi32>
  %g = tg.index %t [%j, %i] : (tensor<2x2xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x4xi32>
  %s = tg.reduce add %g [1] : tensor<4x4xi32> -> tensor<4x1xi32>
  %u = tg.reshape %s [4] : tensor<4x1xi32> -> tensor<4xi32>
  %m = tg.add %u, %h : tensor<4xi32>"""
SCANNED = """
  %f = tg.scan(%x, %y) states 1 sequences 1 steps 4 {
    %p = tg.param 0 : tensor<4x6xi32>
    %q = tg.param 1 : tensor<6xi32>
    %0 = tg.add %p, %q : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
    %1 = tg.max %q, %q : tensor<6xi32>
    %t = tg.tuple %0, %1
      : (tensor<4x6xi32>, tensor<6xi32>) -> !tg.tuple<tensor<4x6xi32>, tensor<6xi32>>
  } : (tensor<4x6xi32>, tensor<4x6xi32>) -> !tg.tuple<tensor<4x6xi32>, tensor<4x6xi32>>
  %g = tg.gettuple %f 0 : !tg.tuple<tensor<4x6xi32>, tensor<4x6xi32>> -> tensor<4x6xi32>
  %m = tg.add %g, %h : tensor<4x6xi32>"""
