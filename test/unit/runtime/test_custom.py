"""CUSTOM and CUSTOMFUNCTION: code of a program's own, and functions that the caller registers."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier
from typing import Any

import ml_dtypes  # noqa: F401  # registers bfloat16
import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl, takes_opencl_c
from random_seeds import batches

import tgdialect as tg
from tgdialect.ops.attributes import NumberAttr
from tgdialect.ops.call import KernelOp
from tgdialect.ops.numpy_dtypes import NUMPY_NAMES, dtype_named
from tgdialect.ops.source import ParamOp
from tgdialect.runtime.compiler import load_module

TARGETS = ("interpreter", "cpu", "c")
Functions = Mapping[str, Callable[..., Any]]


def elementwise(body: str, n: int, *dtypes: str) -> str:
    """A program that computes `%y` of `%x0`, `%x1` ... and their position `%r`, for each of `n`
    elements; the last dtype is that of the result."""
    *inputs, output = dtypes
    places = [f'tensor<{n}x{dtype}, #tg.place<"CPU", global>>' for dtype in dtypes]
    lines = ["tg.kernel @k {", f"%n = tg.const {n} : tensor<index>"]
    lines += [f"%p{i} = tg.param {i} : tensor<{n}x{d}, #g>" for i, d in enumerate(dtypes)]
    lines += ["%r = tg.range 0 loop to %n : tensor<index>"]
    for i, d in enumerate(dtypes):
        type = f"(tensor<{n}x{d}, #g>, tensor<index>) -> tensor<{d}, #g>"
        lines.append(f"%i{i} = tg.index %p{i}[%r] : {type}")
    for i, d in enumerate(inputs):
        lines.append(f"%x{i} = tg.load %i{i} : tensor<{d}, #g> -> tensor<{d}>")
    last = len(inputs)
    lines += [body, f"%s = tg.store %i{last}, %y : tensor<{output}, #g>, tensor<{output}>"]
    lines += ["%e = tg.end %s over %r : !tg.void", "%k = tg.sink %e : !tg.void", "}"]
    arguments = [f"%a{i}: {place}" for i, place in enumerate(places)]
    lines.append(f"func.func @main({', '.join(arguments)} {{tg.output}}) {{")
    names = ", ".join(f"%a{i}" for i in range(len(dtypes)))
    lines.append(f"%c = tg.call @k({names}) : ({', '.join(places)}) -> !tg.void")
    lines += ["%d = tg.sink %c : !tg.void", "func.return", "}"]
    return "\n".join(["#g = #tg.place<global>", *lines])


def custom(fmt: str, operands: Sequence[str], types: Sequence[str], more: str = "") -> str:
    *inputs, result = (f"tensor<{type}>" for type in types)
    return (
        f'%y = tg.custom "{fmt}"({", ".join(operands)}){more} : ({", ".join(inputs)}) -> {result}'
    )


def run(program: str, target: str, *inputs: Any, **functions: Any) -> Any:
    return tg.compile(program, target=target, allow_custom=True, custom=functions)(*inputs)


POPCOUNT = elementwise(custom("__builtin_popcount({0})", ["%x0"], ["i32", "i32"]), 37, "i32", "i32")
NUMBERS = np.arange(37, dtype=np.int32) * 977 - 1000


def popcount(x: Any) -> Any:
    return np.vectorize(lambda v: bin(int(v) & 0xFFFFFFFF).count("1"), otypes=[np.int32])(x)


@pytest.mark.parametrize("target", ["cpu", "c"])
def test_a_builtin_of_c(target: str):
    np.testing.assert_array_equal(run(POPCOUNT, target, NUMBERS), popcount(NUMBERS))


@needs_opencl
@takes_opencl_c
def test_a_builtin_of_c_on_opencl():
    np.testing.assert_array_equal(run(POPCOUNT, DEVICE, NUMBERS), popcount(NUMBERS))


@pytest.mark.parametrize("target", TARGETS)
def test_a_registered_function_comes_first(target: str):
    functions = {"__builtin_popcount": lambda x: np.asarray(x) + 1}
    np.testing.assert_array_equal(run(POPCOUNT, target, NUMBERS, **functions), NUMBERS + 1)


def test_functions_are_refused_without_allow_custom():
    with pytest.raises(ValueError, match="allow_custom is not set"):
        tg.compile(POPCOUNT, custom={"__builtin_popcount": popcount})
    with pytest.raises(tg.CompilationError, match="allow_custom only"):
        tg.compile(POPCOUNT)
    wrong: Any = {"__builtin_popcount": 3}
    with pytest.raises(TypeError, match="is registered as 3, which is no function"):
        tg.compile(POPCOUNT, allow_custom=True, custom=wrong)


def test_the_cache_keeps_functions_apart(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        np.testing.assert_array_equal(run(POPCOUNT, "cpu", NUMBERS), popcount(NUMBERS))
        for step in (1, 2):
            functions = {"__builtin_popcount": lambda x, step=step: np.asarray(x) + step}
            result = run(POPCOUNT, "cpu", NUMBERS, **functions)
            np.testing.assert_array_equal(result, NUMBERS + step)


@pytest.mark.parametrize(
    ("fmt", "message"),
    [
        ("nosuch({0})", "this process has no function 'nosuch'"),
        ("{0} + 1", "is for C-like outputs"),
        ("llvm.trap({0})", r"CUSTOM cannot call llvm\.trap"),
        ("llvm.ctpop.i64({0})", "takes 1 integers and gives one, of the dtype in its name"),
        ("llvm.fabs.f32({0})", "takes 1 floats"),
    ],
)
def test_errors_have_a_place(fmt: str, message: str):
    program = elementwise(custom(fmt, ["%x0"], ["i32", "i32"]), 4, "i32", "i32")
    with pytest.raises(tg.CompilationError, match=message) as error:
        run(program, "cpu", np.zeros(4, np.int32))
    assert "<string>:10:" in str(error.value)


@pytest.mark.parametrize(
    ("fmt", "message"),
    [
        ("nosuch({0})", "this process has no function 'nosuch'"),
        ("{0} +", "the C compiler rejects the code of tg.custom: expected expression"),
        ("({0} + unknown)", "the C compiler rejects the code of tg.custom: .*unknown"),
        ("(1 +\\n {0} * unknown)", "the C compiler rejects the code of tg.custom: .*unknown"),
    ],
)
def test_errors_of_the_c_compiler_have_a_place(fmt: str, message: str):
    before = custom("({0} + 1)", ["%x0"], ["i32", "i32"]).replace("%y", "%before")
    code = custom(fmt, ["%before"], ["i32", "i32"])
    program = elementwise(f"{before}\n{code}", 4, "i32", "i32")
    with pytest.raises(tg.CompilationError, match=message) as error:
        run(program, "c", np.zeros(4, np.int32))
    assert "<string>:11:" in str(error.value)
    assert "program.c" not in str(error.value)


@pytest.mark.parametrize("target", TARGETS)
def test_an_error_of_a_function_is_raised(target: str):
    def fails(x: Any) -> Any:
        raise ZeroDivisionError("not today")

    executable = tg.compile(
        POPCOUNT, target=target, allow_custom=True, custom={"__builtin_popcount": fails}
    )
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="not today"):
            executable(NUMBERS)


@pytest.mark.parametrize("target", TARGETS)
def test_function_pointers(target: str):
    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int16)
    def weighted(position: int, x: int) -> int:
        return 3 * position - x

    code = custom("weighted({1}, {0})", ["%x0", "%r"], ["i16", "index", "i64"])
    x = np.arange(-20, 20, dtype=np.int16)
    result = run(elementwise(code, 40, "i16", "i64"), target, x, weighted=weighted)
    np.testing.assert_array_equal(result, 3 * np.arange(40) - x.astype(np.int64))


def test_an_error_is_of_the_call_it_was_in():
    """Of calls of one executable at the same time, and of one inside of another."""
    meeting = Barrier(2, timeout=60)

    def checked(x: Any) -> Any:
        if x == 0:
            meeting.wait()
        if x < 0:
            raise ZeroDivisionError(x)
        return x

    program = elementwise(custom("f({0})", ["%x0"], ["i32", "i32"]), 4, "i32", "i32")
    executable = tg.compile(program, allow_custom=True, custom={"f": checked})
    good, bad = np.array([[0, 1, 2, 3], [0, -1, 2, 3]], np.int32)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            results = [pool.submit(executable, x) for x in (good, bad)]
            assert results[0].result().tolist() == good.tolist()
            with pytest.raises(ZeroDivisionError):
                results[1].result()

    def outer(x: Any) -> Any:
        if x < 0:
            raise ZeroDivisionError(x)
        if x == 2:
            with pytest.raises(ZeroDivisionError):
                nested(bad)
        return x

    nested = tg.compile(program, allow_custom=True, custom={"f": outer})
    assert nested(good).tolist() == good.tolist()


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_of_numbers_returns_one(target: str):
    with pytest.raises(TypeError, match="'__builtin_popcount' returns None, and not i32"):
        run(POPCOUNT, target, NUMBERS, __builtin_popcount=lambda x: None)


def test_threads_call_a_function():
    n = 1 << 16
    program = elementwise(custom("f({0})", ["%x0"], ["f32", "f32"]), n, "f32", "f32")
    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(run(program, "cpu", x, f=lambda v: np.asarray(v) * 2), x * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_code_without_a_result(target: str):
    seen: list[float] = []
    body = (
        '%y = tg.neg %x0 : tensor<f32>\n%v = tg.custom "note({0})"(%x0) : tensor<f32> -> !tg.void'
    )
    program = elementwise(body, 24, "f32", "f32")
    program = program.replace("%e = tg.end %s", "%g = tg.group %s, %v\n%e = tg.end %g")
    x = np.arange(24, dtype=np.float32)
    run(program, target, x, note=lambda v: seen.extend(np.ravel(v).tolist()))
    assert sorted(seen) == x.tolist()


# -- random code -----------------------------------------------------------------------------------

INTEGERS = ("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "index")
FLOATS = ("f16", "bf16", "f32", "f64")


def expression(random: Random, operands: int, depth: int = 3) -> tuple[str, str]:
    """Random code of C, with placeholders, and the same in Python. All values are small."""
    if depth == 0 or random.random() < 0.2:
        name = f"{{{random.randrange(operands)}}}"
        return (name, name) if random.random() < 0.8 else ("3", "3")
    a, b = (expression(random, operands, depth - 1) for _ in range(2))
    if random.random() < 0.2:
        return f"({a[0]} < {b[0]} ? {a[0]} : {b[0]})", f"np.where({a[1]} < {b[1]}, {a[1]}, {b[1]})"
    symbol = random.choice("+*")
    return tuple(f"({x} {symbol} {y})" for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_CUSTOM", 120), ids=str)
def test_random_code(seeds: range):
    for seed in seeds:
        check_random_code(seed)


def check_random_code(seed: int) -> None:
    random = Random(seed)
    count, n = random.randint(1, 3), random.choice((1, 5, 33))
    dtype = random.choice((*INTEGERS, *FLOATS))
    kinds = INTEGERS[4:8] if dtype in INTEGERS else FLOATS
    inputs = [random.choice(kinds) for _ in range(count)]
    result = random.choice(kinds)
    # Every operand occurs: a format has a placeholder for each.
    code, python = expression(random, count)
    code += "".join(f" + {{{i}}}" for i in range(count))
    python += "".join(f" + {{{i}}}" for i in range(count))
    names, order = [f"%x{i}" for i in range(count)], random.sample(range(count), count)
    call = f"mine({', '.join(f'{{{i}}}' for i in order)})"
    # Exact in all of them: sums of products of 0 and 1 are small.
    arrays = [np.array([random.randint(0, 1) for _ in range(n)], _numpy(d)) for d in inputs]
    wide = [array.astype(np.float64) for array in arrays]
    expected = eval(python.format(*(f"wide[{i}]" for i in range(count))), {"np": np, "wide": wide})
    more = random.choice(("", " {inline}"))

    def mine(*values: Any) -> Any:
        given = {place: np.asarray(v, np.float64) for place, v in zip(order, values, strict=True)}
        text = python.format(*(f"given[{i}]" for i in range(count)))
        return eval(text, {"np": np, "given": given})

    types = [*inputs, result]
    as_call = elementwise(custom(call, names, types, more), n, *types)
    as_code = elementwise(custom(code, names, types, more), n, *types)
    for target in TARGETS:
        found = run(as_call, target, *arrays, mine=mine)
        np.testing.assert_array_equal(found.astype(np.float64), expected, target)
    found = run(as_code, "c", *arrays)
    np.testing.assert_array_equal(found.astype(np.float64), expected, code)


@needs_opencl
@takes_opencl_c
def test_code_on_opencl():
    code = custom("({0} < {1} ? {0} : {1}) * 2 + {1}", ["%x0", "%x1"], ["i32", "i16", "i32"])
    a, b = np.arange(-20, 20, dtype=np.int32), np.arange(40, 0, -1, dtype=np.int16)
    found = run(elementwise(code, 40, "i32", "i16", "i32"), DEVICE, a, b)
    np.testing.assert_array_equal(found, np.minimum(a, b) * 2 + b)


def _numpy(dtype: str) -> np.dtype[Any]:
    return dtype_named(NUMPY_NAMES[dtype])


# -- CUSTOMFUNCTION --------------------------------------------------------------------------------

EFFECTS = " reads [0] writes [1]"
DECODE = """
#memory = #tg.place<"CPU", global>
tg.customfunction @decode()EFFECTS
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32, #tg.place<"CPU">> {
  %t = tg.add %x, %y : tensor<8xf32>
  %b = tg.buffer 0 : tensor<8xf32, #memory>
  %c = tg.buffer 1 : tensor<8xf32, #memory>
  %s = tg.store %b, %t : tensor<8xf32, #memory>, tensor<8xf32>
  %d = tg.after %b, %s : (tensor<8xf32, #memory>, !tg.void) -> tensor<8xf32, #memory>
  %k = tg.call @decode(%d, %c) : (tensor<8xf32, #memory>, tensor<8xf32, #memory>) -> !tg.void
  %e = tg.after %c, %k : (tensor<8xf32, #memory>, !tg.void) -> tensor<8xf32, #memory>
  %l = tg.load %e : tensor<8xf32, #memory> -> tensor<8xf32, #tg.place<"CPU">>
  %r = tg.add %l, %l : tensor<8xf32, #tg.place<"CPU">>
  func.return %r : tensor<8xf32, #tg.place<"CPU">>
}
"""
X = np.arange(8, dtype=np.float32)
TRIPLE = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = tg.const 3.0 : tensor<f32>
  %r = tg.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
"""


def in_place(source: Any, target: Any) -> None:
    target[...] = source * 3


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
def by_address(source: int, target: int) -> None:
    a, b = ((ctypes.c_float * 8).from_address(pointer) for pointer in (source, target))
    b[:] = [3 * value for value in a]


def returned(source: Any, target: Any) -> Any:
    return source * 3


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["in place", "returned", "pointer", "executable"])
def test_kinds_of_functions(kind: str, target: str):
    functions: Functions = {"in place": in_place, "returned": returned, "pointer": by_address}
    function = tg.compile(TRIPLE) if kind == "executable" else functions[kind]
    program = DECODE.replace("EFFECTS", EFFECTS)
    np.testing.assert_array_equal(run(program, target, X, X + 1, decode=function), 6 * (2 * X + 1))


@pytest.mark.parametrize("target", TARGETS)
def test_effects(target: str):
    def changes_its_input(source: Any, target: Any) -> None:
        target[...] = source * 3
        source[...] = 7

    program = DECODE.replace("EFFECTS", "")
    result = run(program, target, X, X, decode=changes_its_input)
    np.testing.assert_array_equal(result, 12 * X)
    with pytest.raises(ValueError, match="read-only"):
        run(DECODE.replace("EFFECTS", EFFECTS), target, X, X, decode=changes_its_input)
    with pytest.raises(ValueError, match="returns 1 arrays, and @decode has 0 arguments"):
        run(program, target, X, X, decode=returned)


def test_declared_effects_free_memory():
    def workspace(effects: str) -> int:
        executable = tg.compile(
            DECODE.replace("EFFECTS", effects), allow_custom=True, custom={"decode": in_place}
        )
        return executable.memory().peak

    assert workspace(EFFECTS) <= workspace("")


@pytest.mark.parametrize("target", [*TARGETS])
def test_a_function_that_is_not_registered_is_refused(target: str):
    with pytest.raises(tg.CompilationError, match=r"<string>:3:1: error: tg\.customfunction"):
        run(DECODE.replace("EFFECTS", EFFECTS), target, X, X)


@needs_opencl
def test_a_device_calls_no_function_of_the_host():
    with pytest.raises(tg.CompilationError, match="not a program"):
        run(DECODE.replace("EFFECTS", EFFECTS), DEVICE, X, X, decode=in_place)


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_and_dynamic_extents(target: str):
    program = """
    #memory = #tg.place<"CPU", global>
    tg.customfunction @scale() reads [0] writes [1]
    func.func @main(%n: tensor<index> {tg.min = 1 : index, tg.max = 100 : index},
                    %a: tensor<?x2xf32, #memory> {tg.dims = array<i64: 0>},
                    %b: tensor<2x?xf32, #memory> {tg.dims = array<i64: 0>}) {
      %0 = tg.call @scale(%a, %b, %n) : (tensor<?x2xf32, #memory>, tensor<2x?xf32, #memory>,
                                         tensor<index>) -> !tg.void
      %1 = tg.sink %0 : !tg.void
      func.return
    }
    """
    types = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3]

    @ctypes.CFUNCTYPE(None, *types)
    def pointer(source: int, target: int, n: int, rows: int, columns: int) -> None:
        cells = ctypes.c_float * (2 * n)
        assert n == rows == columns
        a = np.ctypeslib.as_array(cells.from_address(source)).reshape(rows, 2)
        np.ctypeslib.as_array(cells.from_address(target)).reshape(2, columns)[...] = a.T * n

    def on_arrays(source: Any, target: Any, n: Any) -> None:
        target[...] = source.T * n

    a = np.arange(10, dtype=np.float32).reshape(5, 2)
    for function in (on_arrays, pointer):
        b = np.zeros((2, 5), np.float32)
        run(program, target, 5, a, b, scale=function)
        np.testing.assert_array_equal(b, a.T * 5)


KERNEL = """
tg.kernel @triple {
  %0 = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %1 = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %2 = tg.const 4 : tensor<index>
  %3 = tg.const 3.0 : tensor<f32>
  %4 = tg.range 0 loop to %2 : tensor<index>
  %5 = tg.index %0[%4] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %6 = tg.load %5 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %7 = tg.mul %6, %3 : tensor<f32>
  %8 = tg.index %1[%4] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %9 = tg.store %8, %7 : tensor<f32, #tg.place<global>>, tensor<f32>
  %10 = tg.end %9 over %4 : !tg.void
  %11 = tg.sink %10 : !tg.void
}
"""  # noqa: E501


def kernel(text: str = KERNEL) -> KernelOp:
    """The kernel of a text."""
    op = load_module(text).body.block.first_op
    assert isinstance(op, KernelOp)
    return op


TRIPLED = """
#memory = #tg.place<"CPU", global>
tg.customfunction @decode() EFFECTS
func.func @main(%x: tensor<4xf32, #memory>, %y: tensor<4xf32, #memory>) {
  %0 = tg.call @decode(%x, %y) : (tensor<4xf32, #memory>, tensor<4xf32, #memory>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}
"""


@pytest.mark.parametrize(
    "target", [*TARGETS, pytest.param("opencl", marks=[needs_opencl, takes_opencl_c])]
)
@pytest.mark.parametrize("effects", ["", "reads [0] writes [1]"])
def test_kernels_are_registered(target: str, effects: str):
    """All targets compile them, with the program that calls them."""
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    run(TRIPLED.replace("EFFECTS", effects), target, x, y, decode=kernel())
    np.testing.assert_array_equal(y, 3 * x)


def test_the_cache_keeps_kernels_apart(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    for factor in (3, 5, 3):
        text = KERNEL.replace("3.0", f"{factor}.0")
        x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
        run(TRIPLED.replace("EFFECTS", ""), "cpu", x, y, decode=kernel(text))
        np.testing.assert_array_equal(y, factor * x)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("effects", "old", "new", "message"),
    [
        (
            "reads [1] writes [0]",
            "",
            "",
            r"<string>:3:1: error: .*reads \[1\] writes \[0\], and",
        ),
        ("writes [1]", "", "", r"and the kernel that is registered reads \[0\] writes \[1\]"),
        ("", "4xf32", "5xf32", r"<string>:5:8: error: .*argument 0 is tensor<4xf32"),
        ("", "%1 = tg.param 1", "%1 = tg.param 2", "<string>:3:1: error: slots are not dense"),
    ],
)
def test_kernels_that_do_not_fit(target: str, effects: str, old: str, new: str, message: str):
    """The error is at the declaration, or at the CALL."""
    try:
        given = kernel(KERNEL.replace(old, new) if old else KERNEL)
    except tg.CompilationError:  # The text itself has the error: a kernel made by hand may have it.
        given = kernel()
        op = next(op for op in given.body.block.ops if isinstance(op, ParamOp) and op.slot.data)
        op.properties["slot"] = NumberAttr.of(2)
    x = np.zeros(4, np.float32)
    with pytest.raises(tg.CompilationError, match=message):
        run(TRIPLED.replace("EFFECTS", effects), target, x, x.copy(), decode=given)


@pytest.mark.parametrize("target", TARGETS)
def test_errors_beside_kernels_show_the_line_of_the_program(target: str):
    other = "tg.customfunction @other()"
    program = f"{TRIPLED}{other}\n".replace("EFFECTS", "").replace(
        "%1 = tg.sink %0 :",
        "%2 = tg.call @other(%x) : tensor<4xf32, #memory> -> !tg.void\n"
        "  %1 = tg.sink %0, %2 : !tg.void,",
    )
    with pytest.raises(tg.CompilationError, match=f"other.*\n{re.escape(other)}\n"):
        run(program, target, *[np.zeros(4, np.float32)] * 2, decode=kernel())


def test_stages_show_kernels(tmp_path: Any):
    file = tmp_path / "triple.mlir"
    file.write_text(TRIPLED.replace("EFFECTS", ""))
    executable = tg.compile(file, allow_custom=True, custom={"decode": kernel()})
    assert isinstance(executable, tg.Executable)
    assert "tg.kernel @decode" in str(executable.module("callify"))


def test_kernels_need_allow_custom():
    with pytest.raises(ValueError, match="kernels are registered, and allow_custom is not set"):
        tg.compile(TRIPLED.replace("EFFECTS", ""), custom={"decode": kernel()})


@pytest.mark.parametrize("target", TARGETS)
def test_a_built_in_needs_no_allow_custom(target: str):
    """Unless a function of the caller has its name, which then is called."""
    program = TRIPLED.replace("EFFECTS", "reads [0] writes [1]").replace("@decode", "@tg.sort")
    x, y = np.array([3, 1, 2, 0], np.float32), np.zeros(4, np.float32)
    tg.compile(program, target=target)(x, y)
    np.testing.assert_array_equal(y, [0, 1, 2, 3])
    for registered in (returned, kernel()):
        tg.compile(program, target=target, allow_custom=True, custom={"tg.sort": registered})(x, y)
        np.testing.assert_array_equal(y, 3 * x)


def test_a_built_in_is_for_level_tensor():
    program = TRIPLED.replace("EFFECTS", "reads [0] writes [1]").replace("@decode", "@tg.sort")
    program = program.replace("#memory>) {", "#memory> {tg.output}) {")
    with pytest.raises(tg.CompilationError, match=r"<string>:3:1: error: @tg\.sort is for level"):
        tg.compile(program)
