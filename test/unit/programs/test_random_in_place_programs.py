"""Random programs that overwrite what they read, through views: compiled code against the
interpreter. Both refuse the same ones: those in which one op needs what memory was before a STORE,
and what it is after.

A failure is the reproducer of a reduced program; CONTRIBUTING.md says how to try many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from agreement import identical
from executors import EXECUTORS, interpret, on_opencl
from expression import Array
from opencl_device import needs_opencl
from random_in_place import RandomInPlace, random_in_place
from random_seeds import batches
from reproduced import Failed, check_all
from xdsl.utils.exceptions import InterpretationError, PassFailedException

import tgdialect as tg
from tgdialect.diagnostics import CompilationError

VARIABLE = "TG_RANDOM_IN_PLACE"


def expected(program: RandomInPlace) -> Sequence[Array] | None:
    """The results of the interpreter; None where it refuses a program."""
    program.module.verify()
    try:
        return interpret(program.module, [array.copy() for array in program.inputs])
    except InterpretationError as error:
        assert "cycle" in str(error)  # noqa: PT017
        return None


def check(seed: int, name: str, *, reinterprets: bool = False) -> None:
    program = random_in_place(seed, reinterprets=reinterprets)
    wanted = expected(program)
    execute = on_opencl if name == "opencl" else EXECUTORS[name]
    if wanted is None:
        with pytest.raises((PassFailedException, CompilationError), match="a cycle"):
            execute(program.module, program.inputs)
        return
    try:
        found = execute(program.module, program.inputs)
    except (PassFailedException, CompilationError) as error:
        wrong = str(error)
    else:
        pairs = zip(wanted, found, strict=True)
        wrong = "\n".join(f"{x!r}\n{y!r}" for x, y in pairs if not identical(x, y))
    if wrong:
        made = f"random_in_place({seed}, {reinterprets=})"
        check_all([Failed.on(name, made, program.module, program.inputs, wrong)])


@pytest.mark.parametrize("seeds", batches(VARIABLE, 20), ids=str)
def test_on_cpu(seeds: range):
    for seed in seeds:
        check(seed, f"cpu-{'none' if seed % 2 else 'heuristic'}")


@pytest.mark.parametrize("seeds", batches(VARIABLE, 5), ids=str)
def test_in_c(seeds: range):
    for seed in seeds:
        check(seed, "c")


@pytest.mark.parametrize("seeds", batches(VARIABLE, 5), ids=str)
def test_on_a_grid(seeds: range):
    for seed in seeds:
        check(seed, "grid")


@needs_opencl
@pytest.mark.parametrize("seeds", batches(VARIABLE, 5), ids=str)
def test_on_opencl(seeds: range):
    for seed in seeds:
        check(seed, "opencl")


@pytest.mark.parametrize("seeds", batches(VARIABLE, 6), ids=str)
@pytest.mark.parametrize("name", ["cpu-none", "cpu-heuristic", "c"])
def test_elements_of_other_sizes(name: str, seeds: range):
    for seed in seeds:
        check(seed, name, reinterprets=True)


def typed(text: str) -> str:
    """A program in which `!4xi32` is memory, and `?4xi32` a value on its device."""
    text = re.sub(r"!(\d\w*)", r'tensor<\1, #tg.place<"CPU", global>>', text)
    return re.sub(r"\?(\d\w*)", r'tensor<\1, #tg.place<"CPU">>', text)


RESHAPED = typed("""
func.func @main(%x: !6x2xf32, %y: tensor<12xf32>) -> ?6x2xf32 {
  %v = tg.reshape %x [12] : !6x2xf32 -> !12xf32
  %a = tg.add %v, %y : (!12xf32, tensor<12xf32>) -> ?12xf32
  %s = tg.store %v, %a : !12xf32, ?12xf32
  %w = tg.after %x, %s : (!6x2xf32, !tg.void) -> !6x2xf32
  %l = tg.load %w : !6x2xf32 -> ?6x2xf32
  return %l : ?6x2xf32
}
""")


def kernel_count(source: str) -> int:
    executable = tg.compile(source)
    assert isinstance(executable, tg.Executable)
    return len(executable.kernels)


def test_a_reshaped_buffer_is_updated_in_place():
    assert kernel_count(RESHAPED) == 2  # The update, and the copy that is returned.


EQUAL_ROWS = typed("""
func.func @main(%x: !4xi32, %i: tensor<3xindex>) -> ?4xi32 {
  %v = tg.index %x[%i] : (!4xi32, tensor<3xindex>) -> !3xi32
  %c = tg.const 5 : tensor<i32>
  %a = tg.add %v, %c : (!3xi32, tensor<i32>) -> ?3xi32
  %s = tg.store %v, %a : !3xi32, ?3xi32
  %w = tg.after %x, %s : (!4xi32, !tg.void) -> !4xi32
  %l = tg.load %w : !4xi32 -> ?4xi32
  return %l : ?4xi32
}
""")
SWAP = typed("""
func.func @main(%x: !4xi32, %y: !4xi32)
    -> (?4xi32, ?4xi32) {
  %s = tg.store %x, %y : !4xi32, !4xi32
  %t = tg.store %y, %x : !4xi32, !4xi32
  %a = tg.after %x, %s : (!4xi32, !tg.void) -> !4xi32
  %b = tg.after %y, %t : (!4xi32, !tg.void) -> !4xi32
  %l = tg.load %a : !4xi32 -> ?4xi32
  %m = tg.load %b : !4xi32 -> ?4xi32
  return %l, %m : ?4xi32, ?4xi32
}
""")
OWN_NUMBERS = typed("""
func.func @main(%x: !4xi32) -> ?4xi32 {
  %i = tg.cast %x to index : !4xi32 -> ?4xindex
  %v = tg.index %x[%i] : (!4xi32, ?4xindex) -> !4xi32
  %f = tg.flip %x [true] : !4xi32
  %s = tg.store %v, %f : !4xi32, !4xi32
  %w = tg.after %x, %s : (!4xi32, !tg.void) -> !4xi32
  %l = tg.load %w : !4xi32 -> ?4xi32
  return %l : ?4xi32
}
""")
BYTES = typed("""
func.func @main(%x: !4xi32, %n: tensor<2xui8>) -> ?4xi32 {
  %b = tg.bitcast %x to ui8 : !4xi32 -> !16xui8
  %v = tg.shrink %b at [3] to [2] : !16xui8 -> !2xui8
  %t = tg.store %v, %n : !2xui8, tensor<2xui8>
  %y = tg.after %x, %t : (!4xi32, !tg.void) -> !4xi32
  %l = tg.load %y : !4xi32 -> ?4xi32
  return %l : ?4xi32
}
""")
PAIRS = typed("""
func.func @main(%x: !4xi32, %n: tensor<2xi64>) -> ?4xi32 {
  %f = tg.flip %x [true] : !4xi32
  %b = tg.bitcast %f to i64 : !4xi32 -> !2xi64
  %t = tg.store %b, %n : !2xi64, tensor<2xi64>
  %y = tg.after %x, %t : (!4xi32, !tg.void) -> !4xi32
  %l = tg.load %y : !4xi32 -> ?4xi32
  return %l : ?4xi32
}
""")
X, Y = np.array([2, 0, 3, 1], np.int32), np.arange(10, 14, dtype=np.int32)
CASES = [
    (RESHAPED, [np.ones((6, 2), np.float32), np.arange(12, dtype=np.float32)], [[1, 2], [3, 4]]),
    (EQUAL_ROWS, [X, np.array([1, 1, 2])], [2, 5, 8, 1]),
    (OWN_NUMBERS, [X], [3, 2, 1, 0]),
    (SWAP, [X, Y], [10, 11, 12, 13]),
    (BYTES, [X, np.ones(2, np.uint8)], [2 + (1 << 24), 1, 3, 1]),
    (PAIRS, [X, np.full(2, 5 + (6 << 32))], [6, 5, 6, 5]),
]


@pytest.mark.parametrize("target", ["interpreter", "cpu", "c"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_reads_come_before_writes(case: int, target: str):
    source, inputs, wanted = CASES[case]
    found = tg.compile(source, target=target)(*(array.copy() for array in inputs))
    if source is SWAP:
        found, other = found
        np.testing.assert_array_equal(other, X)
    np.testing.assert_array_equal(found[: len(wanted)], wanted)
