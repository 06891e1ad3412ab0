"""Programs compiled ahead of time: from C, and from Python without a compiler, with the numbers of
the JIT; and what is refused."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import WITHOUT_CUSTOM
from opencl_device import needs_opencl
from ptxas import needs_ptxas
from random_seeds import batches
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import LLVMTranslationException, PassFailedException

import tgdialect as tg
from tgdialect.backends import commands
from tgdialect.ops.expressions import evaluate
from tgdialect.runtime.ahead import compile_ahead
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.program_file import ProgramFile, this_system
from tgdialect.runtime.shared_library import SharedLibrary
from tgdialect.targets.cpu import ARITHMETIC, FEATURES
from tgdialect.targets.host import host_features
from tgdialect.targets.listed_features import CPUINFO, listed_here
from tgdialect.tools.tg_compile import main

EXAMPLES = Path(__file__).parents[3] / "examples"
EMBED_C = EXAMPLES / "embed_c" / "main.c"
needs_cc = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which(os.environ.get("CC") or "cc") is None,
    reason="shared libraries need Linux and a C compiler",
)
MEMORY = 'tensor<4xf32, #tg.place<"CPU", global>>'

TWO_RESULTS = """
func.func @main(%a: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xi1>) {
  %0 = tg.add %a, %a : tensor<4xbf16>
  %1 = tg.cmplt %a, %0 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  return %0, %1 : tensor<4xbf16>, tensor<4xi1>
}
"""
SEVERAL_KERNELS = """
module attributes {tg.target = #tg.target<"cpu", threads = 2>} {
  func.func @main(%x: tensor<300x700xf32>) -> tensor<300x700xf32> {
    %0 = tg.reduce add %x [0] : tensor<300x700xf32> -> tensor<1x700xf32>
    %1 = tg.reduce max %x [1] : tensor<300x700xf32> -> tensor<300x1xf32>
    %2 = tg.mul %x, %0 : (tensor<300x700xf32>, tensor<1x700xf32>) -> tensor<300x700xf32>
    %3 = tg.sub %2, %1 : (tensor<300x700xf32>, tensor<300x1xf32>) -> tensor<300x700xf32>
    return %3 : tensor<300x700xf32>
  }
}
"""
WEIGHTS = """
func.func @main(%x: tensor<64x256xf32>, %w: tensor<256x512xf32> {tg.constant})
    -> tensor<64x512xf32> {
  %0 = tg.reshape %x [64, 256, 1] : tensor<64x256xf32> -> tensor<64x256x1xf32>
  %1 = tg.reshape %w [1, 256, 512] : tensor<256x512xf32> -> tensor<1x256x512xf32>
  %2 = tg.mul %0, %1 : (tensor<64x256x1xf32>, tensor<1x256x512xf32>) -> tensor<64x256x512xf32>
  %3 = tg.reduce add %2 [1] : tensor<64x256x512xf32> -> tensor<64x1x512xf32>
  %4 = tg.reshape %3 [64, 512] : tensor<64x1x512xf32> -> tensor<64x512xf32>
  return %4 : tensor<64x512xf32>
}
"""
LITERAL = np.random.default_rng(5).standard_normal(256 * 512).astype(np.float32)
"""Of a BINARY."""
DATA = WEIGHTS.replace(", %w: tensor<256x512xf32> {tg.constant}", "").replace(
    "  %0 = ",
    f"""  %b = tg.binary "{LITERAL.tobytes().hex()}" : tensor<{LITERAL.nbytes}xui8>
  %f = tg.bitcast %b to f32 : tensor<{LITERAL.nbytes}xui8> -> tensor<{LITERAL.size}xf32>
  %w = tg.reshape %f [256, 512] : tensor<{LITERAL.size}xf32> -> tensor<256x512xf32>
  %0 = """,
)
SYMBOLIC = """
func.func @main(%n: tensor<index> {tg.min = 1 : index, tg.max = 100 : index},
                %k: tensor<index> {tg.min = 0 : index, tg.max = 50 : index},
                %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = tg.reduce add %x [0] : tensor<?xf32> -> tensor<1xf32>
  %1 = tg.expand %0 [%k] : tensor<1xf32> -> tensor<?xf32>
  %2 = tg.shrink %x at [0] to [%k] : tensor<?xf32> -> tensor<?xf32>
  %3 = tg.add %1, %2 : tensor<?xf32>
  return %3 : tensor<?xf32>
}
"""
COMPUTED = """
func.func @main(%n: tensor<index> {tg.min = 1 : index, tg.max = 100 : index},
                %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> (tensor<?xf32>, tensor<?xf32>) {
  %two = tg.const 2 : tensor<index>
  %five = tg.const 5 : tensor<index>
  %half = tg.idiv %n, %two : tensor<index>
  %more = tg.max %n, %five : tensor<index>
  %most = tg.add %more, %half : tensor<index>
  %0 = tg.shrink %x at [%half] to [%half] : tensor<?xf32> -> tensor<?xf32>
  %1 = tg.pad %x at [0] to [%most] fill 1.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
"""
STATE = f"""
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">> {{
  %state = tg.buffer 0 : {MEMORY}
  %next = tg.add %state, %x : ({MEMORY}, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">>
  %s = tg.store %state, %next : {MEMORY}, tensor<4xf32, #tg.place<"CPU">>
  %new = tg.after %state, %s : ({MEMORY}, !tg.void) -> {MEMORY}
  %r = tg.neg %new : {MEMORY} -> tensor<4xf32, #tg.place<"CPU">>
  return %r : tensor<4xf32, #tg.place<"CPU">>
}}
"""
IN_PLACE = f"""
func.func @main(%x: {MEMORY}) {{
  %two = tg.const 2.0 : tensor<f32>
  %y = tg.mul %x, %two : ({MEMORY}, tensor<f32>) -> tensor<4xf32, #tg.place<"CPU">>
  %s = tg.store %x, %y : {MEMORY}, tensor<4xf32, #tg.place<"CPU">>
  return
}}
"""
PROGRAMS = {
    **{path.stem: path.read_text() for path in WITHOUT_CUSTOM},
    "two_results": TWO_RESULTS,
    "several_kernels": SEVERAL_KERNELS,
    "weights": WEIGHTS,
    "data": DATA,
    "symbolic": SYMBOLIC,
    "computed": COMPUTED,
    "state": STATE,
    "in_place": IN_PLACE,
}
SCALARS = {"n": 33, "k": 20}


def arguments(executable: Any) -> list[Any]:
    """Random arrays for the inputs of a program, and numbers for its scalars."""
    random = np.random.default_rng(7)
    frame = [SCALARS.get(parameter.name, 3) for parameter in executable.parameters]
    found: list[Any] = []
    for parameter in executable.inputs:
        shape = parameter.shape_for(frame)
        if parameter.role == "scalar":
            found.append(SCALARS.get(parameter.name, 3))
        elif parameter.dtype.kind in "iu":
            found.append(random.integers(0, 4, shape).astype(parameter.dtype))
        else:
            found.append(random.standard_normal(shape).astype(parameter.dtype))
    return found


def tuple_of(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def calls(call: Any, inputs: Sequence[Any], count: int = 3) -> list[np.ndarray[Any, Any]]:
    """The results of several calls on copies of the arguments, and the arrays they have written."""
    seen: list[np.ndarray[Any, Any]] = []
    for _ in range(count):
        given = [np.copy(each) if isinstance(each, np.ndarray) else each for each in inputs]
        seen += [np.array(result) for result in tuple_of(call(*given))]
        seen += [each for each in given if isinstance(each, np.ndarray)]
    return seen


def assert_same(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert one.tobytes() == other.tobytes()


@cache
def compiled(text: str, **how: Any) -> ProgramFile:
    return compile_ahead(load_module(text), **how)


def written(folder: Path, name: str, text: str) -> Path:
    """A library for C, and its header beside it."""
    library = SharedLibrary(compiled(text), name, f"{name}.mlir")
    (folder / f"{name}.h").write_text(library.header(name))
    (folder / f"{name}.so").write_bytes(library.code(name))
    return folder / f"{name}.so"


def call_of(path: Path, name: str, executable: Any) -> Any:
    """A library's function as one that takes arrays and returns its results."""
    function = getattr(ctypes.CDLL(os.fspath(path)), f"{name}_main")

    def call(*inputs: Any) -> tuple[Any, ...]:
        scalars = dict(zip((p.name for p in executable.inputs), inputs, strict=True))
        frame = [scalars.get(p.name) for p in executable.parameters]
        for position, parameter in enumerate(executable.parameters):
            if parameter.computed is not None:
                frame[position] = evaluate(parameter.computed, frame)
        results = [np.full(p.shape_for(frame), 77, p.dtype) for p in executable.outputs]
        passed = [
            ctypes.c_void_p(each.ctypes.data)
            if isinstance(each, np.ndarray)
            else ctypes.c_int64(each)
            for each in (*inputs, *results)
        ]
        assert function(*passed) == 0
        return tuple(results)

    return call


LOADS = """
import sys, numpy as np, tgdialect as tg
folder, *names = sys.argv[1:]
for name in names:
    executable = tg.load(f"{folder}/{name}.tgx")
    saved = np.load(f"{folder}/{name}.npz", allow_pickle=True)
    inputs = list(saved["inputs"])
    seen = []
    for _ in range(3):
        given = [np.copy(each) if isinstance(each, np.ndarray) else each for each in inputs]
        results = executable(*given)
        seen += [np.array(each) for each in (results if isinstance(results, tuple) else (results,))]
        seen += [each for each in given if isinstance(each, np.ndarray)]
    np.savez(f"{folder}/{name}.out.npz", *[each.reshape(-1).view(np.uint8) for each in seen])
print([name for name in sys.modules if name.partition(".")[0] in ("xdsl", "llvmlite")])
"""


def loaded_elsewhere(folder: Path, *names: str) -> str:
    """The output of a process without an object cache that loads and calls files of a folder."""
    done = subprocess.run(
        [sys.executable, "-c", LOADS, os.fspath(folder), *names],
        env={**os.environ, "TG_CACHE_DIR": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def save_inputs(folder: Path, name: str, inputs: Sequence[Any]) -> None:
    objects = np.empty(len(inputs), object)
    objects[:] = inputs
    np.savez(folder / f"{name}.npz", inputs=objects)


def test_python_has_the_numbers_of_the_jit_without_a_compiler(tmp_path: Path) -> None:
    expected: dict[str, Sequence[Any]] = {}
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.tgx").write_bytes(compiled(text).to_bytes())
        executable = tg.compile(text)
        inputs = arguments(executable)
        save_inputs(tmp_path, name, inputs)
        expected[name] = calls(executable, inputs)
    assert loaded_elsewhere(tmp_path, *PROGRAMS) == "[]\n"
    for name, results in expected.items():
        found = np.load(tmp_path / f"{name}.out.npz")
        assert len(found) == len(results)
        for saved, result in zip(found.values(), results, strict=True):
            assert saved.tobytes() == result.tobytes(), name


@needs_cc
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_c_has_the_numbers_of_the_jit(name: str, tmp_path: Path) -> None:
    executable = tg.compile(PROGRAMS[name])
    inputs = arguments(executable)
    call = call_of(written(tmp_path, name, PROGRAMS[name]), name, executable)
    results = len(executable.outputs)
    actual, expected = calls(call, inputs), calls(executable, inputs)
    assert results or name == "in_place"
    if not results:
        expected = [each for each in expected if each.ndim]
    assert_same(actual, [each for each in expected if each.dtype != object])
    command = ["cc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-fsyntax-only", "-x", "c"]
    subprocess.run([*command, os.fspath(tmp_path / f"{name}.h")], check=True)


@needs_cc
def test_a_library_is_called_by_several_threads_and_by_children_of_fork(tmp_path: Path) -> None:
    executable = tg.compile(SEVERAL_KERNELS)
    inputs = arguments(executable)
    call = call_of(written(tmp_path, "deep", SEVERAL_KERNELS), "deep", executable)
    expected = calls(executable, inputs)
    with ThreadPoolExecutor(4) as pool:
        for actual in pool.map(lambda _: calls(call, inputs), range(8)):
            assert_same(actual, expected)
    script = f"""
import ctypes, os, numpy as np
function = ctypes.CDLL({os.fspath(tmp_path / "deep.so")!r}).deep_main
x, y = np.ones((300, 700), np.float32), np.empty((300, 700), np.float32)
def call():
    assert function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)) == 0
    assert (y == 299).all()
call()
child = os.fork()
call()
if child == 0: os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    environment = {**os.environ, "TG_NUM_THREADS": "3"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment, timeout=120)


@needs_cc
def test_c_gets_codes_for_wrong_arguments(tmp_path: Path) -> None:
    function = ctypes.CDLL(os.fspath(written(tmp_path, "sizes", SYMBOLIC))).sizes_main
    x, y = np.arange(9, dtype=np.float32), np.full(9, 5, np.float32)
    at_x, at_y = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)

    def code(n: int, k: int, source: Any = at_x) -> int:
        return function(ctypes.c_int64(n), ctypes.c_int64(k), source, at_y)

    assert (code(0, 1), code(101, 1), code(9, -1)) == (2, 2, 2)  # Out of their bounds.
    assert code(4, 9) == 2  # More of %x than there is.
    assert code(9, 9, None) == 2
    assert (y == 5).all()
    assert code(9, 9) == 0
    np.testing.assert_array_equal(y, x + 36)


@needs_cc
def test_c_passes_no_size_that_is_computed(tmp_path: Path) -> None:
    header = SharedLibrary(compiled(COMPUTED), "sizes", "sizes.mlir").header("sizes")
    assert "sizes_main(int64_t n, const float *x, float *out0, float *out1)" in header
    assert "out0: array of (n // 2) float32, result" in header
    function = ctypes.CDLL(os.fspath(written(tmp_path, "sizes", COMPUTED))).sizes_main
    x, y = np.arange(4, dtype=np.float32), np.full(9, 7, np.float32)
    at_x, at_y = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)
    at_end = ctypes.c_void_p(y.ctypes.data + 8)
    assert function(ctypes.c_int64(0), at_x, at_y, at_end) == 2
    assert function(ctypes.c_int64(4), at_x, at_y, at_end) == 0
    assert y.tolist() == [2, 3, 0, 1, 2, 3, 1, 1, 1]


@needs_cc
def test_the_example_for_c(tmp_path: Path) -> None:
    shutil.copy(EMBED_C, tmp_path)
    assert main([os.fspath(EXAMPLES / "mlp.mlir"), "-o", os.fspath(tmp_path / "mlp.so")]) == 0
    compiler = os.environ.get("CC") or "cc"
    command = [compiler, "-Wall", "-Wextra", "-Werror", "main.c", "./mlp.so", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "9 5.5\n1 1.5\n"


@needs_cc
def test_libraries_of_one_process_keep_their_names_to_themselves(tmp_path: Path) -> None:
    """Both have kernels @main_0, and threads of their own."""
    calls_of: list[Any] = []
    for name in ("several_kernels", "softmax"):
        executable = tg.compile(PROGRAMS[name])
        path = written(tmp_path, name, PROGRAMS[name])
        ctypes.CDLL(os.fspath(path), ctypes.RTLD_GLOBAL)
        calls_of.append((call_of(path, name, executable), executable))
    for call, executable in calls_of:
        inputs = arguments(executable)
        assert_same(calls(call, inputs), calls(executable, inputs))


@needs_cc
@pytest.mark.parametrize("name", ["w", "x", "z", "int", "EXIT", "größe", "9"])
def test_names_of_libraries(name: str, tmp_path: Path) -> None:
    """`W_OK` and `X_OK` are macros of unistd.h."""
    library = SharedLibrary(compiled(DOUBLE), name, "double.mlir")
    header = tmp_path / "library.h"
    header.write_text(library.header(name))
    includes = "#include <stdlib.h>\n#include <unistd.h>\n"
    for before, after in ((includes, ""), ("", includes)):
        source = tmp_path / "main.c"
        source.write_text(f'{before}#include "library.h"\n{after}int main(void) {{ return 0; }}\n')
        command = ["cc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", os.fspath(source)]
        subprocess.run(command, check=True)
    (tmp_path / "library.so").write_bytes(library.code(name))
    function = getattr(ctypes.CDLL(os.fspath(tmp_path / "library.so")), library.function)
    x, y = np.arange(3, dtype=np.float32), np.empty(3, np.float32)
    assert function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)) == 0
    assert y.tolist() == [0, 2, 4]


@needs_cc
@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_of_similar_names_are_included_together(language: str, tmp_path: Path) -> None:
    names = ["net", "Net", "NET", "9", "tg_9", "n-et", "n et"]
    headers = [SharedLibrary(compiled(DOUBLE), name, "x").header(name) for name in names]
    guards = {next(line for line in header.split("\n") if "#ifndef" in line) for header in headers}
    assert len(guards) == len(names)
    for number, header in enumerate(headers):
        (tmp_path / f"{number}.h").write_text(header)
    # Each twice; those of the two functions of one name declare it the same.
    lines = [f'#include "{number}.h"' for number in [*range(len(names))] * 2]
    lines += ["int main(void) { return TG_NET_OK; }", ""]
    (tmp_path / "main.c").write_text("\n".join(lines))
    command = ["cc", "-x", language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("joint", ["", "\\\n", "??/\n"], ids=["plain", "line", "trigraph"])
def test_names_end_no_comment(joint: str, tmp_path: Path) -> None:
    """C joins the halves of what ends a comment over lines."""
    entry = f"x*{joint}/ int stolen = 1; /*"
    module = load_module(DOUBLE)
    next(op for op in module.ops if isinstance(op, FuncOp)).sym_name = StringAttr(entry)
    library = SharedLibrary(compile_ahead(module, [entry]), entry, entry)
    (tmp_path / "library.h").write_text(library.header(entry))
    command = ["cc", "-std=c11", "-E", "-P", os.fspath(tmp_path / "library.h")]
    code = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "int stolen" not in code
    assert library.function in code


# -- files that are refused ------------------------------------------------------------------------

DOUBLE = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.mul %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


@pytest.fixture(scope="module")
def double() -> ProgramFile:
    return compiled(DOUBLE)


def test_a_damaged_file_is_one_error(double: ProgramFile, tmp_path: Path) -> None:
    data, path = double.to_bytes(), tmp_path / "file.tgx"
    for position in range(0, len(data), 97):
        damaged = bytearray(data)
        damaged[position] ^= 1
        for wrong in (bytes(damaged), data[:position]):
            path.write_bytes(wrong)
            with pytest.raises(OSError, match=r"cannot load .*file\.tgx: it is "):
                tg.load(path)
    path.write_bytes(b"\x7fELF" + data)
    with pytest.raises(OSError, match="it is not a file that tg-compile"):
        tg.load(path)
    with pytest.raises(FileNotFoundError):
        tg.load(tmp_path / "none.tgx")


@pytest.mark.parametrize(
    "wrong", [{"features": (None,)}, {"features": ([],)}, {"target": 3}, {"system": ["linux"]}]
)
def test_a_file_of_other_contents_is_one_error(
    double: ProgramFile, wrong: dict[str, Any], tmp_path: Path
) -> None:
    """With the right checksum, as of another writer."""
    (tmp_path / "file.tgx").write_bytes(replace(double, **wrong).to_bytes())
    with pytest.raises(OSError, match="it has no program: a name is no text"):
        tg.load(tmp_path / "file.tgx")


def test_code_for_another_machine_says_what_it_needs(double: ProgramFile, tmp_path: Path) -> None:
    path = tmp_path / "file.tgx"
    path.write_bytes(replace(double, system="plan9 z80").to_bytes())
    with pytest.raises(OSError, match=f"for plan9 z80, and this is {this_system()}"):
        tg.load(path)
    lacking = sorted({"avx512fp16", "sve2"}.difference(host_features()))
    path.write_bytes(replace(double, features=("popcnt", *lacking)).to_bytes())
    with pytest.raises(OSError, match=f"needs {', '.join(lacking)}, which this CPU lacks"):
        tg.load(path)


@needs_cc
def test_c_is_told_that_the_cpu_lacks_a_feature(double: ProgramFile, tmp_path: Path) -> None:
    lacking = next(iter({"avx512fp16", "sve2"}.difference(host_features())))
    library = SharedLibrary(replace(double, features=(lacking,)), "wrong", "wrong.mlir")
    (tmp_path / "wrong.so").write_bytes(library.code("wrong"))
    x = ctypes.create_string_buffer(12)
    assert ctypes.CDLL(os.fspath(tmp_path / "wrong.so")).wrong_main(x, x) == 3
    assert lacking in library.header("wrong")


@pytest.mark.skipif(not CPUINFO.exists(), reason="the system lists no features")
def test_linux_lists_the_features_that_llvm_reports() -> None:
    here = ARITHMETIC.intersection(host_features())
    assert set(listed_here(sorted(here))) == here
    assert set(listed_here(sorted(FEATURES - {"shstk"}))) & ARITHMETIC <= here


def test_a_cpu_without_features_runs_everywhere(tmp_path: Path) -> None:
    file = compiled(DOUBLE, features=("sse2",) if "sse2" in host_features() else ())
    assert set(file.features) <= {"sse2"}
    (tmp_path / "file.tgx").write_bytes(file.to_bytes())
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(tg.load(tmp_path / "file.tgx")(x), x + x)


def test_a_file_has_functions_by_name(tmp_path: Path) -> None:
    path = tmp_path / "file.tgx"
    path.write_bytes(compiled(DOUBLE, entries=("main", "other")).to_bytes())
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(tg.load(path)(x), x + x)
    other = tg.load(path, entry="other")
    np.testing.assert_array_equal(other(x), x * x)
    with pytest.raises(ValueError, match="no function @third; it has: main, other"):
        tg.load(path, entry="third")
    with pytest.raises(RuntimeError, match="has no source to inspect"):
        _ = other.kernels


@pytest.mark.parametrize(
    "names",
    [[name] for name in ("piece", "sizes", "programs", "name", "0", "é \\22")] + [["a", "b"]],
)
def test_functions_of_a_file_have_any_names(
    double: ProgramFile, names: Sequence[str], tmp_path: Path
) -> None:
    """Also those of the entries of its tables."""
    program = double.programs["main"]
    file = replace(double, programs=dict.fromkeys(names, program))
    (tmp_path / "file.tgx").write_bytes(file.to_bytes())
    assert list(ProgramFile.from_bytes(file.to_bytes()).programs) == list(names)
    x = np.array([1, 2, 3], np.float32)
    for name in names:
        np.testing.assert_array_equal(tg.load(tmp_path / "file.tgx", entry=name)(x), x + x)


def test_a_window_out_of_bounds_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file.tgx").write_bytes(compiled(SYMBOLIC).to_bytes())
    executable = tg.load(tmp_path / "file.tgx")
    with pytest.raises(tg.CompilationError, match="4"):
        executable(4, 9, np.zeros(4, np.float32))


# -- forged files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_FILES", 400), ids=str)
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("softmax", "cpu"),
        ("symbolic", "cpu"),
        ("computed", "cpu"),
        ("several_kernels", "cpu"),
        ("state", "cpu"),
        pytest.param("gemm", "opencl", marks=needs_opencl),
    ],
)
def test_tables_that_contradict_themselves_are_one_error(
    name: str, target: str, seeds: Sequence[int], tmp_path: Path
) -> None:
    path = tmp_path / "program.tgx"
    path.write_bytes(compiled(PROGRAMS[name], target=target).to_bytes())
    arguments = [os.fspath(path), str(seeds[0]), str(len(seeds))]
    script = Path(__file__).parent / "forged_files.py"
    environment = {**os.environ, "TG_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, os.fspath(script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# -- devices, and machine code in programs ---------------------------------------------------------


@needs_opencl
def test_a_program_of_a_device(tmp_path: Path) -> None:
    text = PROGRAMS["gemm"]
    (tmp_path / "gemm.tgx").write_bytes(compiled(text, target="opencl").to_bytes())
    executable = tg.compile(text, target="opencl")
    inputs = arguments(executable)
    save_inputs(tmp_path, "gemm", inputs)
    assert loaded_elsewhere(tmp_path, "gemm") == "[]\n"
    found = np.load(tmp_path / "gemm.out.npz")
    (result, *_) = found.values()
    np.testing.assert_allclose(
        result.view(np.float32), np.asarray(executable(*inputs)).ravel(), 1e-6
    )


@needs_ptxas
def test_a_program_of_a_gpu_is_machine_code() -> None:
    file = ProgramFile.from_bytes(compiled(PROGRAMS["gemm"], target="nvidia:sm_80").to_bytes())
    program = file.programs["main"]
    assert isinstance(program, DeviceProgram)
    (kernel,) = program.kernels
    assert kernel.is_binary
    assert kernel.code.startswith(b"\x7fELF")
    assert int.from_bytes(kernel.code[18:20], "little") == 190  # EM_CUDA
    assert kernel.symbol.encode() + b"\0" in kernel.code


def on(device: str) -> str:
    place = f'tensor<4xf32, #tg.place<"{device}">>'
    return f"func.func @main(%x: {place}) -> {place} {{ func.return %x : {place} }}"


def test_a_program_is_for_the_device_that_it_names() -> None:
    assert compiled(on("cpu:1")).target == "cpu"
    assert compiled(on("CL:0")).target == "opencl"
    assert compiled(on("CL:0"), target="cpu").target == "cpu"
    with pytest.raises(ValueError, match="names the device CUDA:0: name its target"):
        compiled(on("CUDA:0"))
    with pytest.raises(tg.DeviceError, match="'NPU' is no device"):
        compiled(on("NPU"))
    with pytest.raises(ValueError, match="are of the target cpu, not c"):
        compiled(on("CPU"), target="c", threads=2)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "ptxas", lambda: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LLVMTranslationException, match="needs ptxas"):
        compiled(f"{PROGRAMS['gemm']}\n", target="nvidia:sm_80")
    with pytest.raises(LLVMTranslationException, match=r"put ld\.lld"):
        commands.hsaco(b"")
    with pytest.raises(ValueError, match="nothing loads programs for amd:gfx942"):
        compiled(PROGRAMS["gemm"], target="amd:gfx942")


BINARY_OF_ANOTHER = """
module attributes {tg.target = #tg.target<"cpu", features = ["avx512fp16"]>} {
  tg.program @k {
    %0 = tg.linear {
      %out = tg.param 0 : tensor<1xui8, #tg.place<global>>
      %1 = tg.const 127 : tensor<ui8>
      %2 = tg.const 0 : tensor<index>
      %3 = tg.index %out[%2]
        : (tensor<1xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
      %4 = tg.store %3, %1 : tensor<ui8, #tg.place<global>>, tensor<ui8>
      %5 = tg.sink %4 : !tg.void
    }
    %code = tg.binary "7f454c46" : tensor<4xui8>
  }
  func.func @main(%out: tensor<1xui8, #tg.place<"CPU", global>> {tg.output}) {
    %0 = tg.linear {
      %1 = tg.call @k(%out) : tensor<1xui8, #tg.place<"CPU", global>> -> !tg.void
    }
    return
  }
}
"""


@pytest.mark.skipif("avx512fp16" in host_features(), reason="this CPU has the feature")
def test_machine_code_of_a_program_is_refused_where_the_cpu_lacks_its_features() -> None:
    with pytest.raises(tg.CompilationError, match="code of @k needs avx512fp16, which this CPU"):
        tg.compile(BINARY_OF_ANOTHER, allow_custom=True)
    with pytest.raises(PassFailedException, match="instructions of avx512fp16"):
        compile_ahead(load_module(BINARY_OF_ANOTHER), features=[], allow_custom=True)
