"""Gradients through memory, calls and devices, against finite differences in f64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from compiling import compile_module
from parsing import parse_module
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from tgdialect.interpreter import run
from tgdialect.ops.properties import tensor
from tgdialect.transforms.gradient import GradientPass

G = '#tg.place<"CPU", global>'
D = '["A", "B"]'


def store(name: str, buffer: str, value: str, cells: str, rest: str = "", gate: str = "") -> str:
    """A STORE of f64 into cells of a CPU."""
    types = f"tensor<{cells}xf64, {G}>, tensor<{cells}xf64>" + (f", {gate}" if gate else "")
    return f"%{name} = tg.store %{buffer}, %{value} {rest} : {types}"


def after(name: str, buffer: str, waits: str, cells: str) -> str:
    """An AFTER of one void edge."""
    type = f"tensor<{cells}xf64, {G}>"
    return f"%{name} = tg.after %{buffer}, %{waits} : ({type}, !tg.void) -> {type}"


def square(name: str, memory: str, cells: str) -> str:
    """The square of what memory holds."""
    type = f"tensor<{cells}xf64, {G}>"
    return (
        f"%{name} = tg.mul %{memory}, %{memory} : ({type}, {type}) "
        f'-> tensor<{cells}xf64, #tg.place<"CPU">>'
    )


def main(arguments: str, result: str, *lines: str, more: str = "") -> str:
    """A module whose @main has those lines and gives %r."""
    body = "\n".join(lines)
    return f"{more}\nfunc.func @main({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"


CPU = 'tensor<{}xf64, #tg.place<"CPU">>'.format
BUFFER = f"%b = tg.buffer 0 : tensor<4xf64, {G}>"
SQUARED = "%xx = tg.mul %x, %x : tensor<4xf64>"
VIEW_OF_4 = f"tensor<4xf64, {G}>"
VIEW_OF_2 = f"tensor<2xf64, {G}>"

PROGRAMS = {
    "assign": main(
        "%x: tensor<4xf64>",
        CPU(4),
        BUFFER,
        SQUARED,
        store("s", "b", "xx", "4"),
        after("c", "b", "s", "4"),
        square("r", "c", "4"),
    ),
    "two versions of one buffer": main(
        "%x: tensor<4xf64>, %y: tensor<4xf64>",
        CPU(4),
        BUFFER,
        store("s", "b", "x", "4"),
        after("c", "b", "s", "4"),
        square("cc", "c", "4"),
        f"%yc = tg.mul %y, %cc : (tensor<4xf64>, {CPU(4)}) -> {CPU(4)}",
        f"%t = tg.store %c, %yc : tensor<4xf64, {G}>, {CPU(4)}",
        after("d", "c", "t", "4"),
        square("dd", "d", "4"),
        f"%r = tg.mul %cc, %dd : {CPU(4)}",
    ),
    "an argument is updated": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>",
        CPU(4),
        f"%mx = tg.mul %m, %x : (tensor<4xf64, {G}>, tensor<4xf64>) -> {CPU(4)}",
        f"%s = tg.store %m, %mx : tensor<4xf64, {G}>, {CPU(4)}",
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "an updated argument was given to a call": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>",
        CPU(4),
        f"%t = tg.call @g(%m, %x) : ({VIEW_OF_4}, tensor<4xf64>) -> !tg.tuple<{CPU(4)}>",
        f"%g = tg.gettuple %t 0 : !tg.tuple<{CPU(4)}> -> {CPU(4)}",
        f"%s = tg.store %m, %g : tensor<4xf64, {G}>, {CPU(4)}",
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
        more=f"""
        func.func private @g(%m: {VIEW_OF_4}, %x: tensor<4xf64>) -> {CPU(4)} {{
          {square("mm", "m", "4")}
          %r = tg.mul %mm, %x : ({CPU(4)}, tensor<4xf64>) -> {CPU(4)}
          return %r : {CPU(4)}
        }}""",
    ),
    "part of an argument is written": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2xf64>",
        CPU(4),
        f"%v = tg.shrink %m at [1] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        store("s", "v", "x", "2"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "the view that was written is read": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2xf64>",
        CPU(2),
        f"%v = tg.shrink %m at [1] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        store("s", "v", "x", "2"),
        after("c", "v", "s", "2"),
        square("r", "c", "2"),
    ),
    "two parts, the second over the first": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2xf64>, %y: tensor<2xf64>",
        CPU(4),
        f"%v = tg.shrink %m at [1] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        store("s", "v", "x", "2"),
        after("c", "m", "s", "4"),
        f"%w = tg.shrink %c at [0] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        f"%u = tg.flip %w [true] : {VIEW_OF_2}",
        store("t", "u", "y", "2"),
        after("d", "c", "t", "4"),
        square("r", "d", "4"),
    ),
    "two STOREs in no order, one AFTER": main(
        "%x: tensor<2xf64>, %y: tensor<2xf64>",
        CPU(4),
        BUFFER,
        f"%v = tg.shrink %b at [0] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        f"%w = tg.shrink %b at [2] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        store("s", "v", "x", "2"),
        store("t", "w", "y", "2"),
        "%g = tg.group %s, %t",
        after("c", "b", "g", "4"),
        square("r", "c", "4"),
    ),
    "transposed and reshaped": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2x2xf64>",
        CPU(4),
        f"%v = tg.reshape %m [2, 2] : {VIEW_OF_4} -> tensor<2x2xf64, {G}>",
        f"%w = tg.permute %v [1, 0] : tensor<2x2xf64, {G}> -> tensor<2x2xf64, {G}>",
        store("s", "w", "x", "2x2"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "beyond the buffer": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<6xf64>",
        CPU(4),
        f"%v = tg.pad %m at [1] to [6] : {VIEW_OF_4} -> tensor<6xf64, {G}>",
        store("s", "v", "x", "6"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "cells by index": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2xf64>",
        CPU(4),
        "%i3 = tg.const 3 : tensor<index>",
        "%i1 = tg.const 1 : tensor<index>",
        "%i = tg.stack %i3, %i1 : (tensor<index>, tensor<index>) -> tensor<2xindex>",
        f"%v = tg.index %m[%i] : ({VIEW_OF_4}, tensor<2xindex>) -> {VIEW_OF_2}",
        store("s", "v", "x", "2"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "gated per cell": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>, %k: tensor<4xf64>",
        CPU(4),
        "%h = tg.const 0.5 : tensor<f64>",
        "%g = tg.cmplt %k, %h : (tensor<4xf64>, tensor<f64>) -> tensor<4xi1>",
        store("s", "m", "x", "4", "gate %g", "tensor<4xi1>"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "gated as a whole": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2xf64>",
        CPU(4),
        "%g = tg.const true : tensor<i1>",
        f"%v = tg.shrink %m at [2] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        store("s", "v", "x", "2", "gate %g", "tensor<i1>"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "added to": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<2xf64>",
        CPU(4),
        f"%v = tg.shrink %m at [1] to [2] : {VIEW_OF_4} -> {VIEW_OF_2}",
        f"%s = tg.atomicadd %v, %x : {VIEW_OF_2}, tensor<2xf64>",
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "one slot, two BUFFERs": main(
        "%x: tensor<4xf64>",
        CPU(4),
        BUFFER,
        f"%b2 = tg.buffer 0 : tensor<4xf64, {G}>",
        store("s", "b", "x", "4"),
        after("c", "b2", "s", "4"),
        square("r", "c", "4"),
    ),
    "an unrelated BUFFER": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>",
        CPU(4),
        BUFFER,
        store("s", "b", "x", "4"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "through a marker": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>",
        CPU(4),
        f"%v = tg.contiguous_backward %m : {VIEW_OF_4}",
        store("s", "v", "x", "4"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "LOAD with alt and gate": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>, %y: tensor<4xf64>",
        CPU(4),
        "%h = tg.const 0.5 : tensor<f64>",
        "%g = tg.cmplt %y, %h : (tensor<4xf64>, tensor<f64>) -> tensor<4xi1>",
        store("s", "m", "x", "4"),
        after("c", "m", "s", "4"),
        f"%l = tg.load %c alt %y gate %g : {VIEW_OF_4}, tensor<4xf64>, tensor<4xi1> -> {CPU(4)}",
        f"%r = tg.mul %l, %l : {CPU(4)}",
    ),
    "a BITCAST to the same type": main(
        "%x: tensor<4xf64>",
        "tensor<4xf64>",
        "%0 = tg.bitcast %x to f64 : tensor<4xf64> -> tensor<4xf64>",
        "%r = tg.mul %0, %x : tensor<4xf64>",
    ),
}

CALLED = """
func.func private @inner(%a: tensor<4xf64>) -> tensor<4xf64> {
  %0 = tg.sin %a : tensor<4xf64>
  return %0 : tensor<4xf64>
}
func.func private @f(%a: tensor<4xf64>, %n: tensor<4xi32>, %b: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xi32>, tensor<4xf64>) {
  %t = tg.call @inner(%a) : tensor<4xf64> -> !tg.tuple<tensor<4xf64>>
  %0 = tg.gettuple %t 0 : !tg.tuple<tensor<4xf64>> -> tensor<4xf64>
  %1 = tg.mul %0, %b : tensor<4xf64>
  %2 = tg.mul %b, %b : tensor<4xf64>
  return %1, %n, %2 : tensor<4xf64>, tensor<4xi32>, tensor<4xf64>
}
"""
F = "!tg.tuple<tensor<4xf64>, tensor<4xi32>, tensor<4xf64>>"


def call(name: str, a: str, b: str) -> str:
    """A CALL of @f."""
    types = "tensor<4xf64>, tensor<4xi32>, tensor<4xf64>"
    return f"%{name} = tg.call @f(%{a}, %n, %{b}) : ({types}) -> {F}"


def element(name: str, source: str, index: int) -> str:
    """A float that @f gives."""
    return f"%{name} = tg.gettuple %{source} {index} : {F} -> tensor<4xf64>"


NS = "%m = tg.const 1 : tensor<i32>\n%m1 = tg.reshape %m [1] : tensor<i32> -> tensor<1xi32>\n"
NS += "%n = tg.expand %m1 [4] : tensor<1xi32> -> tensor<4xi32>"

PROGRAMS |= {
    "calls of a function that calls one": main(
        "%x: tensor<4xf64>, %y: tensor<4xf64>",
        "tensor<4xf64>",
        NS,
        call("t", "x", "y"),
        element("p", "t", 0),
        element("q", "t", 2),
        call("u", "q", "p"),
        element("v", "u", 0),
        "%r = tg.mul %v, %x : tensor<4xf64>",
        more=CALLED,
    ),
    "a call that reads memory and has some": main(
        f"%m: tensor<4xf64, {G}>, %x: tensor<4xf64>",
        CPU(4),
        f"%t = tg.call @g(%m, %x) : ({VIEW_OF_4}, tensor<4xf64>) -> !tg.tuple<{CPU(4)}>",
        f"%r = tg.gettuple %t 0 : !tg.tuple<{CPU(4)}> -> {CPU(4)}",
        more=f"""
        func.func private @g(%m: tensor<4xf64, {G}>, %x: tensor<4xf64>) -> {CPU(4)} {{
          {BUFFER}
          %mx = tg.mul %m, %x : (tensor<4xf64, {G}>, tensor<4xf64>) -> {CPU(4)}
          %s = tg.store %b, %mx : tensor<4xf64, {G}>, {CPU(4)}
          {after("c", "b", "s", "4")}
          {square("r", "c", "4")}
          return %r : {CPU(4)}
        }}""",
    ),
}


def on(device: str, axis: int | None = None, *, cells: str = "4x2") -> str:
    """A type of f64 on a device or two."""
    where = device if axis is None else f"{device}, axis = {axis}"
    return f"tensor<{cells}xf64, #tg.place<{where}>>"


ON_A, ON_B, SHARDED, SHARDED_1 = on('"A"'), on('"B"'), on(D, 0), on(D, 1)
LINED, EXPANDED = on('"A"', cells="1x4x2"), on('"A"', cells="2x4x2")
COPIES, SPREAD = on(D, 0, cells="2x4x2"), on(D)

PROGRAMS |= {
    "to a device by COPY and by LOAD": main(
        f"%x: {ON_A}",
        ON_B,
        f'%0 = tg.copy %x to "B" : {ON_A} -> {ON_B}',
        f"%1 = tg.mul %x, %x : {ON_A}",
        f'%2 = tg.load %1 device "B" : {ON_A} -> {ON_B}',
        f"%r = tg.mul %0, %2 : {ON_B}",
    ),
    "from nowhere to two devices": main(
        "%x: tensor<4x2xf64>",
        ON_B,
        f'%0 = tg.copy %x to "A" : tensor<4x2xf64> -> {ON_A}',
        f"%1 = tg.mul %0, %0 : {ON_A}",
        f'%2 = tg.copy %1 to "B" : {ON_A} -> {ON_B}',
        f'%3 = tg.copy %x to "B" : tensor<4x2xf64> -> {ON_B}',
        f"%r = tg.mul %2, %3 : {ON_B}",
    ),
    "sharded and gathered": main(
        f"%x: {ON_A}",
        ON_A,
        f"%0 = tg.copy %x to {D} : {ON_A} -> {SHARDED}",
        f"%1 = tg.mul %0, %0 : {SHARDED}",
        f'%r = tg.copy %1 to "A" : {SHARDED} -> {ON_A}',
    ),
    "gathered from axis 1": main(
        f"%x: {SHARDED_1}",
        ON_A,
        f"%0 = tg.mul %x, %x : {SHARDED_1}",
        f'%r = tg.copy %0 to "A" : {SHARDED_1} -> {ON_A}',
    ),
    "replicated": main(
        f"%x: {ON_A}",
        ON_A,
        f"%0 = tg.reshape %x [1, 4, 2] : {ON_A} -> {on(chr(34) + 'A' + chr(34), cells='1x4x2')}",
        f"%1 = tg.expand %0 [2, 4, 2] : {on(chr(34) + 'A' + chr(34), cells='1x4x2')} "
        f"-> {on(chr(34) + 'A' + chr(34), cells='2x4x2')}",
        f"%2 = tg.copy %1 to {D} : {on(chr(34) + 'A' + chr(34), cells='2x4x2')} -> {COPIES}",
        f"%3 = tg.replicated %2 axis 0 : {COPIES} -> {SPREAD}",
        f"%4 = tg.mul %3, %3 : {SPREAD}",
        f'%r = tg.copy %4 to "A" : {SPREAD} -> {ON_A}',
    ),
}

PADDED = "%p = tg.pad %x at [1] to [5] : tensor<4xf64> -> tensor<5xf64>"
MOVED = "%q = tg.shrink %p at [0] to [4] : tensor<5xf64> -> tensor<4xf64>"
"""The values of %x moved by one: the first cell is invalid."""

PROGRAMS |= {
    "invalid cells beside valid ones": main(
        "%x: tensor<4xf64>, %y: tensor<4xf64>",
        "tensor<4xf64>",
        PADDED,
        MOVED,
        "%0 = tg.mul %q, %y : tensor<4xf64>",
        "%1 = tg.max %0, %x : tensor<4xf64>",
        "%2 = tg.cmplt %q, %y : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>",
        "%r = tg.where %2, %1, %y : (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>",
    ),
    "invalid cells in a sum and in a FUNCTION": main(
        "%x: tensor<4xf64>, %y: tensor<4xf64>",
        "tensor<1xf64>",
        PADDED,
        MOVED,
        """%f = tg.function(%q, %y) {
          %a = tg.param 0 : tensor<4xf64>
          %b = tg.param 1 : tensor<4xf64>
          %m = tg.mul %a, %b : tensor<4xf64>
          %t = tg.tuple %m : tensor<4xf64> -> !tg.tuple<tensor<4xf64>>
        } : (tensor<4xf64>, tensor<4xf64>) -> !tg.tuple<tensor<4xf64>>""",
        "%0 = tg.gettuple %f 0 : !tg.tuple<tensor<4xf64>> -> tensor<4xf64>",
        "%1 = tg.add %0, %x : tensor<4xf64>",
        "%r = tg.reduce add %1 [0] : tensor<4xf64> -> tensor<1xf64>",
    ),
    "a STORE of invalid cells": main(
        f"%m: {VIEW_OF_4}, %x: tensor<4xf64>",
        CPU(4),
        PADDED,
        MOVED,
        store("s", "m", "q", "4"),
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
    "a padded view of memory that is written later": main(
        f"%m: {VIEW_OF_4}, %x: tensor<4xf64>",
        CPU(4),
        f"%p = tg.pad %m at [1] to [5] : {VIEW_OF_4} -> tensor<5xf64, {G}>",
        f"%q = tg.shrink %p at [0] to [4] : tensor<5xf64, {G}> -> {VIEW_OF_4}",
        f"%v = tg.mul %q, %x : ({VIEW_OF_4}, tensor<4xf64>) -> {CPU(4)}",
        f"%s = tg.store %m, %v : {VIEW_OF_4}, {CPU(4)}",
        after("c", "m", "s", "4"),
        square("r", "c", "4"),
    ),
}

COMPILED = [
    "two parts, the second over the first",
    "an updated argument was given to a call",
    "gated per cell",
    "cells by index",
]


def with_gradient(module: ModuleOp, entry: str = "main") -> ModuleOp:
    module = module.clone()
    GradientPass(entry).apply(Context(), module)
    module.verify()
    return module


def numbers(shapes: Sequence[tuple[int, ...]], seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.uniform(0.1, 0.9, shape) for shape in shapes]


def shapes_of(module: ModuleOp, entry: str = "main") -> tuple[list, list]:
    function = SymbolTable.lookup_symbol(module, entry)
    assert isinstance(function, FuncOp)
    end = function.body.block.last_op
    return (
        [tensor(a).get_shape() for a in function.body.block.args],
        [tensor(r).get_shape() for r in end.operands],
    )


def differences(module: ModuleOp, inputs, seeds, entry: str = "main") -> list[np.ndarray]:
    """The gradients of sum(seeds * results), by central differences."""

    def total(arrays) -> float:
        results = run(module, entry, [a.copy() for a in arrays])
        return sum(float((s * r).sum()) for s, r in zip(seeds, results, strict=True))

    step, gradients = 1e-6, []
    for which, array in enumerate(inputs):
        gradient = np.zeros_like(array)
        for cell in np.ndindex(array.shape):
            values = []
            for sign in (1, -1):
                moved = [a.copy() for a in inputs]
                moved[which][cell] += sign * step
                values.append(total(moved))
            gradient[cell] = (values[0] - values[1]) / (2 * step)
        gradients.append(gradient)
    return gradients


@pytest.mark.parametrize("name", PROGRAMS)
def test_finite_differences(name):
    module = parse_module(PROGRAMS[name])
    arguments, results = shapes_of(module)
    inputs, seeds = numbers(arguments), numbers(results, 1)
    expected = differences(module, inputs, seeds)
    found = run(with_gradient(module), "main_gradient", [a.copy() for a in (*inputs, *seeds)])
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["assign", "part of an argument is written", "added to"])
def test_gradients_of_gradients(name):
    module = with_gradient(parse_module(PROGRAMS[name]))
    arguments, results = shapes_of(module, "main_gradient")
    inputs, seeds = numbers(arguments), numbers(results, 1)
    expected = differences(module, inputs, seeds, "main_gradient")
    twice = with_gradient(module, "main_gradient")
    found = run(twice, "main_gradient_gradient", [a.copy() for a in (*inputs, *seeds)])
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    module = with_gradient(parse_module(PROGRAMS[name]))
    arguments, _ = shapes_of(module, "main_gradient")
    inputs = numbers(arguments)
    expected = run(module, "main_gradient", [a.copy() for a in inputs])
    found = compile_module(module, entry="main_gradient")(*(a.copy() for a in inputs))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_parameters_come_last():
    module = parse_module(
        """
        func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
          %p = tg.param 0 : tensor<2xf64>
          %r = tg.mul %x, %p : tensor<2xf64>
          return %r : tensor<2xf64>
        }"""
    )
    x, p, seed = numbers([(2,)] * 3)
    dx, dp = run(with_gradient(module), "main_gradient", [x, seed, p])
    np.testing.assert_allclose(dx, p * seed)
    np.testing.assert_allclose(dp, x * seed)
