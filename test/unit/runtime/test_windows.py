"""Windows whose place the index arguments of a call decide: the same error on every target."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.analysis.limits import MANY
from tgdialect.diagnostics import CompilationError
from tgdialect.runtime.build import Build
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.program import Program
from tgdialect.tools.tg_run import main

X = np.arange(1, 9, dtype=np.float32)

SHRINK = """
func.func @main(%x: tensor<8xf32>, %o: tensor<index>, %n: tensor<index>) -> tensor<1xf32> {
  %0 = tg.shrink %x at [%o] to [%n] : tensor<8xf32> -> tensor<?xf32> // HERE
  %1 = tg.reduce add %0 [0] : tensor<?xf32> -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
"""
PAD = """
func.func @main(%x: tensor<8xf32>, %o: tensor<index>, %n: tensor<index>) -> tensor<1xf32> {
  %0 = tg.pad %x at [%o] to [%n] fill 1.0 : f32 : tensor<8xf32> -> tensor<?xf32> // HERE
  %1 = tg.reduce add %0 [0] : tensor<?xf32> -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
"""
EXPAND = """
func.func @main(%x: tensor<1xf32>, %n: tensor<index>, %m: tensor<index>) -> tensor<1xf32> {
  %size = tg.sub %n, %m : tensor<index>
  %0 = tg.expand %x [%size] : tensor<1xf32> -> tensor<?xf32> // HERE
  %1 = tg.reduce add %0 [0] : tensor<?xf32> -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
"""
OF_DYNAMIC = """
func.func @main(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<4xf32> {
  %0 = tg.shrink %x at [0] to [4] : tensor<?xf32> -> tensor<4xf32> // HERE
  return %0 : tensor<4xf32>
}
"""
BUFFER = """
!memory = tensor<?xf32, #tg.place<"CPU", global>>
func.func @main(%n: tensor<index>) -> tensor<?xf32, #tg.place<"CPU">> {
  %b = tg.buffer 0(%n) : !memory // HERE
  %0 = tg.load %b : !memory -> tensor<?xf32, #tg.place<"CPU">>
  return %0 : tensor<?xf32, #tg.place<"CPU">>
}
"""
DATA = """
func.func @main(%x: tensor<8xf32>, %at: tensor<i32>) -> tensor<4xf32> {
  %o = tg.cast %at to index : tensor<i32> -> tensor<index>
  %0 = tg.shrink %x at [%o] to [4] : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
QUOTIENT = """
func.func @main(%x: tensor<8xf32>, %n: tensor<index>) -> tensor<4xf32> {
  %two = tg.const 2 : tensor<index>
  %o = tg.idiv %n, %two : tensor<index>
  %0 = tg.shrink %x at [%o] to [4] : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

LEAST = -(2**63)
MISFITS = [
    (SHRINK, (X, 5, 4), "axis 0: offset 5 plus extent 4 exceeds 8"),
    (SHRINK, (X, -3, 4), "axis 0: offset -3 is negative"),
    (SHRINK, (X, 0, -3), "axis 0 of the new shape is negative: -3"),
    (SHRINK, (X, 2**63 - 1, 1), f"axis 0: offset {2**63 - 1} plus extent 1 exceeds 8"),
    (PAD, (X, 1, 8), "axis 0: offset 1 plus extent 8 exceeds 8"),
    (PAD, (X, -1, 9), "axis 0: offset -1 is negative"),
    (PAD, (X, 0, -9), "axis 0 of the new shape is negative: -9"),
    (EXPAND, (X[:1], 1, 2), "axis 0 of the new shape is negative: -1"),
    (EXPAND, (X[:1], 2**63 - 1, -1), f"axis 0 of the new shape is negative: {LEAST}"),
    (OF_DYNAMIC, (3, X[:3]), "axis 0: offset 0 plus extent 4 exceeds 3"),
    (BUFFER, (-1,), "axis 0 of the new shape is negative: -1"),
]
TARGETS = [("interpreter", "none"), ("cpu", "none"), ("cpu", "heuristic")]


@pytest.mark.parametrize(("target", "opt"), TARGETS)
def test_a_window_that_is_not_inside(target: str, opt: str):
    compiled = {s: tg.compile(s, target=target, opt=opt) for s, _, _ in MISFITS}
    for source, arguments, message in MISFITS:
        line = 1 + next(i for i, text in enumerate(source.split("\n")) if "HERE" in text)
        with pytest.raises(CompilationError) as caught:
            compiled[source](*(np.asarray(a) for a in arguments))
        first, shown, caret = str(caught.value).split("\n")
        assert first == f"<string>:{line}:8: error: {message}"
        assert "HERE" in shown
        assert caret == " " * 7 + "^"


@pytest.mark.parametrize(("target", "opt"), TARGETS)
def test_windows_that_are_inside(target: str, opt: str):
    shrink, pad, expand, of_dynamic, buffer = (
        tg.compile(source, target=target, opt=opt)
        for source in (SHRINK, PAD, EXPAND, OF_DYNAMIC, BUFFER)
    )
    assert shrink(X, np.int64(4), np.int64(4)) == [26]
    assert shrink(X, np.int64(8), np.int64(0)) == [0]
    assert pad(X, np.int64(1), np.int64(10)) == [38]
    assert expand(X[:1], np.int64(5), np.int64(2)) == [3]
    assert expand(X[:1], np.int64(5), np.int64(5)) == [0]
    np.testing.assert_array_equal(of_dynamic(np.int64(5), X[:5]), X[:4])
    np.testing.assert_array_equal(buffer(np.int64(0)), [])


def test_an_offset_that_is_data():
    with pytest.raises(CompilationError, match=r"<string>:4:8: .* computed from data"):
        tg.compile(DATA)
    interpreted = tg.compile(DATA, target="interpreter")
    np.testing.assert_array_equal(interpreted(X, np.int32(4)), X[4:])


@pytest.mark.parametrize(("target", "opt"), TARGETS)
def test_an_offset_that_is_a_quotient(target: str, opt: str):
    exe = tg.compile(QUOTIENT, target=target, opt=opt)
    np.testing.assert_array_equal(exe(X, np.int64(8)), X[4:])
    with pytest.raises(CompilationError, match="offset 6 plus extent 4 exceeds 8"):
        exe(X, np.int64(13))
    with pytest.raises(CompilationError, match="offset -2 is negative"):
        exe(X, np.int64(-4))


@pytest.mark.parametrize("opt", ["none", "heuristic"])
def test_an_offset_that_is_not_checked_reads_no_other_memory(opt: str):
    around = np.full(24, 7, np.float32)
    around[8:16] = X
    line = next(line for line in QUOTIENT.split("\n") if "tg.idiv" in line)
    steps = [line.replace("%o =", "%o0 =")]
    steps += [f"%o{i + 1} = tg.xor %o{i}, %n : tensor<index>" for i in range(MANY)]
    steps.append(f"%o = tg.add %o{MANY}, %o{MANY} : tensor<index>")
    exe = tg.compile(QUOTIENT.replace(line, "\n".join(steps)), opt=opt)
    np.testing.assert_array_equal(exe(around[8:16], np.int64(4)), X[4:])
    np.testing.assert_array_equal(exe(around[8:16], np.int64(6)), [7, 8, 0, 0])
    np.testing.assert_array_equal(exe(around[8:16], np.int64(-2)), [0, 0, 1, 2])


def test_bounds_that_prove_a_window_leave_nothing_to_check():
    bounded = SHRINK.replace("%o: tensor<index>", "%o: tensor<index> {tg.min = 0, tg.max = 5}")
    bounded = bounded.replace("%n: tensor<index>", "%n: tensor<index> {tg.min = 0, tg.max = 3}")
    assert Build(load_module(bounded)).program().windows == ()
    wider = bounded.replace("tg.max = 3", "tg.max = 4")
    assert len(Build(load_module(wider)).program().windows) == 1


def test_windows_of_functions_that_are_called():
    source = """
    func.func @part(%x: tensor<8xf32>, %i: tensor<index>) -> tensor<2xf32> {
      %two = tg.const 2 : tensor<index>
      %o = tg.mul %i, %two : tensor<index>
      %0 = tg.shrink %x at [%o] to [2] : tensor<8xf32> -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @main(%x: tensor<8xf32>, %i: tensor<index>) -> tensor<2xf32> {
      %0 = func.call @part(%x, %i) : (tensor<8xf32>, tensor<index>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    for target in ("interpreter", "cpu"):
        exe = tg.compile(source, target=target)
        np.testing.assert_array_equal(exe(X, np.int64(3)), [7, 8])
        with pytest.raises(CompilationError, match=r"<string>:5:12: .* offset 8 plus extent 2"):
            exe(X, np.int64(4))


def test_errors_of_cached_programs_name_the_file_that_was_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("first.mlir", "second.mlir"):
        path = tmp_path / name
        path.write_text(SHRINK)
        with pytest.raises(CompilationError, match=rf"{name}:3:8: error: axis 0: offset 5"):
            tg.compile(path)(X, 5, 4)
    # The text of a module does not say where its ops stood.
    for lines in range(3):
        module = load_module("\n" * lines + SHRINK)
        with pytest.raises(CompilationError, match=f"<string>:{3 + lines}:8: error"):
            tg.compile(module)(X, 5, 4)
    program = Build(load_module(SHRINK)).program()
    assert program.windows
    assert Program.from_bytes(program.to_bytes()) == program


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_tg_run(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "shrink.mlir"
    path.write_text(SHRINK)
    inputs = ["--input", "8xf32=1", "--input", "-3", "--input", "4"]
    assert main([str(path), "--target", target, *inputs]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{path}:3:8: error: axis 0: offset -3 is negative\n")
