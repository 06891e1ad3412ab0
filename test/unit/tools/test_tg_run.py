"""tg-run: what it prints and writes, and what it says to everything that can be wrong."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tgdialect.tools.tg_run import main

ADD = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = tg.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
TWO = """
func.func @both(%x: tensor<3xf32>, %n: tensor<i32>) -> (tensor<3xf32>, tensor<i1>) {
  %0 = tg.neg %x : tensor<3xf32>
  %zero = tg.const 0 : tensor<i32>
  %1 = tg.cmplt %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0, %1 : tensor<3xf32>, tensor<i1>
}
"""


def identity(type: str) -> str:
    return f"func.func @main(%x: tensor<{type}>) -> tensor<{type}> {{ return %x : tensor<{type}> }}"


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(params=["interpreter", "cpu"])
def target(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs tg-run on a text, in a folder of its own: the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *args: str, target: str = "interpreter") -> tuple[int, str, str]:
        Path("file.mlir").write_text(text)
        capsys.readouterr()
        code = main(["file.mlir", f"--target={target}", *args])
        return code, *capsys.readouterr()

    return run


def inputs(*texts: str) -> Sequence[str]:
    return [part for text in texts for part in ("--input", text)]


# -- results -------------------------------------------------------------------------------------


def test_prints_results_as_literals(run: Run, target: str):
    arguments = inputs("2x3xf32=1,2,3,4,5,6", "3xf32=10,20.5,-0.25")
    code, out, err = run(ADD, *arguments, target=target)
    assert (code, err) == (0, "")
    assert out == "dense<[[11.0, 22.5, 2.75], [14.0, 25.5, 5.75]]> : tensor<2x3xf32>\n"


def test_prints_a_line_per_result(run: Run, target: str):
    code, out, _ = run(TWO, *inputs("1,-2.5,0", "-7"), target=target)
    assert code == 0
    assert out == "dense<[-1.0, 2.5, -0.0]> : tensor<3xf32>\ndense<true> : tensor<i1>\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("type", "values", "printed"),
    [
        ("i1", "true", "true"),
        ("3xi1", "[true, false, 1]", "[true, false, true]"),
        ("2xi8", "-128,0x7f", "[-128, 127]"),
        ("2xui8", "0,255", "[0, 255]"),
        ("1xi64", "-9223372036854775808", "[-9223372036854775808]"),
        ("1xui64", "18446744073709551615", "[18446744073709551615]"),
        ("2x2xi32", "[[1, 2], [3, 4]]", "[[1, 2], [3, 4]]"),
        ("2xf32", "1e20,1e-7", "[1.0e+20, 1.0e-07]"),
        ("3xf32", "nan,inf,-inf", "[nan, inf, -inf]"),
        ("1xf32", "0.1", "[0.1]"),
        ("1xf64", "0.1", "[0.1]"),
        ("2xf16", "0.1,65504", "[0.1, 6.55e+04]"),
        ("2xbf16", "0.1,3", "[0.1001, 3.0]"),
        ("2xf8E4M3FN", "448,0.3", "[448.0, 0.3125]"),
        ("2xf8E5M2", "57344,-inf", "[5.734e+04, -inf]"),
        ("0x3xf32", "", ""),
        ("2x0xi32", "5", ""),
    ],
)
def test_every_kind_of_value(run: Run, target: str, type: str, values: str, printed: str):
    for text in (f"{type}={values}", f"dense<{values}> : tensor<{type}>"):
        code, out, err = run(identity(type), *inputs(text), target=target)
        assert (code, err) == (0, "")
        assert out == f"dense<{printed}> : tensor<{type}>\n"


def test_what_is_printed_can_be_read(run: Run):
    _, out, _ = run(identity("4x5xf32"), *inputs("4x5xf32=random(3)"))
    assert run(identity("4x5xf32"), *inputs(out.strip()))[1] == out


def test_splat_and_random(run: Run):
    _, splat, _ = run(identity("2x2xf32"), *inputs("2x2xf32=0.5"))
    assert splat == "dense<[[0.5, 0.5], [0.5, 0.5]]> : tensor<2x2xf32>\n"
    first, again, other = (
        run(identity("2x2xf32"), *inputs(f"2x2xf32=random({seed})"))[1] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_large_results_are_summarised(run: Run):
    _, out, _ = run(identity("2000xi32"), *inputs("7"))
    assert out == "dense<[7, 7, 7, ..., 7, 7, 7]> : tensor<2000xi32>\n"
    _, out, _ = run(identity("2000xi32"), *inputs("7"), "--print-full")
    assert out.count("7") == 2000


def test_digits(run: Run):
    _, out, _ = run(identity("2xf32"), *inputs("0.123456,123456"), "--digits=3")
    assert out == "dense<[0.123, 1.23e+05]> : tensor<2xf32>\n"


def test_inputs_by_name(run: Run, target: str):
    arguments = ("--arg", "y=1,2,3", "--input", "2x3xf32=0")
    code, out, _ = run(ADD, *arguments, target=target)
    assert code == 0
    assert out == "dense<[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>\n"


def test_files(run: Run, target: str):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save("x.npy", np.asfortranarray(x))
    np.savez("y.npz", y=np.ones(3, ">f4"), other=np.zeros(1))
    files = inputs("x.npy", "y.npz:y")
    code, out, err = run(ADD, *files, "--output", "out.npy", target=target)
    assert (code, out, err) == (0, "", "")
    np.testing.assert_array_equal(np.load("out.npy"), x + 1)
    assert sorted(os.listdir()) == ["file.mlir", "out.npy", "x.npy", "y.npz"]


@pytest.mark.parametrize(
    ("name", "dtype", "raw"),
    [
        ("bf16", ml_dtypes.bfloat16, np.uint16),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn, np.uint8),
        ("f8E5M2", ml_dtypes.float8_e5m2, np.uint8),
    ],
)
def test_narrow_floats_in_files(run: Run, target: str, name: str, dtype: type, raw: type):
    values = np.array([1.5, -3, 0.25], dtype)
    # NumPy writes f8E5M2 so that it cannot read it again.
    for array in (values.view(raw), *((values,) if name != "f8E5M2" else ())):
        np.save("x.npy", array)
        code, out, _ = run(identity(f"3x{name}"), *inputs("x.npy"), target=target)
        assert (code, out) == (0, f"dense<[1.5, -3.0, 0.25]> : tensor<3x{name}>\n")
    run(identity(f"3x{name}"), *inputs("x.npy"), "--output=out.npy", target=target)
    np.testing.assert_array_equal(np.load("out.npy").view(dtype), values)


def test_a_bool_file_holds_zeros_and_ones(run: Run, target: str):
    np.save("x.npy", np.array([0, 1, 2, 255], np.uint8).view(np.bool_))
    program = """func.func @main(%x: tensor<4xi1>) -> tensor<4xi32> {
      %0 = tg.cast %x to i32 : tensor<4xi1> -> tensor<4xi32>
      return %0 : tensor<4xi32>
    }"""
    _, out, _ = run(program, *inputs("x.npy"), target=target)
    assert out == "dense<[0, 1, 1, 1]> : tensor<4xi32>\n"


def test_entry(run: Run, target: str):
    program = identity("i32").replace("@main", "@f") + identity("f32").replace("@main", "@g")
    assert run(program, "--entry=g", *inputs("1"), target=target)[1] == "dense<1.0> : tensor<f32>\n"


def test_signature(run: Run):
    code, out, _ = run(TWO, "--print-signature")
    assert code == 0
    assert out == (
        "@both\n  input  0  %x: 3xf32\n  input  1  %n: i32\n  output 0  3xf32\n  output 1  i1\n"
    )


def test_benchmark(run: Run, target: str):
    code, out, err = run(ADD, *inputs("2x3xf32=1", "3xf32=1"), "--benchmark=5", target=target)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["repetitions", "median", "min", "max"]
    assert out.splitlines()[0].split()[1] == "5"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", ["plot.svg", "plot.png", "plot.abc", "no/plot.svg"])
def test_a_plot_of_the_profile(run: Run, file: str):
    pytest.importorskip("matplotlib")
    code, out, err = run(ADD, "--profile=" + file, *inputs("2x3xf32=1", "1"), target="cpu")
    if os.path.dirname(file) or file.endswith(".abc"):
        assert (code, out) == (1, "")
        assert err.startswith(f"tg-run: error: cannot write {file}: ")
    else:
        assert (code, err) == (0, "")
        assert out.startswith("kernel ")
        assert os.path.getsize(file) > 1000


def test_a_plot_without_matplotlib(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(ADD, "--profile=plot.svg", *inputs("2x3xf32=1", "1"), target="cpu")
    assert (code, out) == (1, "")
    assert "pip install 'tgdialect[plot]'" in err


def test_profile_takes_no_other_argument_for_a_file(run: Run):
    code, out, err = run(ADD, "--profile", "--input", "2x3xf32=1", "--input=1", target="cpu")
    assert (code, err, out[:7]) == (0, "", "kernel ")
    assert not os.path.exists("--input")


def test_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    text = io.TextIOWrapper(io.BytesIO(identity("i32").encode()))
    monkeypatch.setattr(sys, "stdin", text)
    assert main(["-", "--input=3", "--target=interpreter"]) == 0
    assert capsys.readouterr().out == "dense<3> : tensor<i32>\n"


def test_help_is_quick(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    assert "examples:" in capsys.readouterr().out
    code = "import sys, tgdialect.tools.tg_run; print('numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "False\n"


# -- dynamic dimensions --------------------------------------------------------------------------

DYNAMIC = """
func.func @main(%n: tensor<index> {tg.name = "n", tg.min = 1 : index, tg.max = 8 : index},
                %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<1xf32> {
  %0 = tg.reduce add %x [0] : tensor<?xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
"""


def test_dynamic_dimensions(run: Run, target: str):
    for arguments in (inputs("3", "3xf32=1,2,3.5"), ("--arg", "n=3", *inputs("3xf32=1,2,3.5"))):
        code, out, err = run(DYNAMIC, *arguments, target=target)
        assert (code, out, err) == (0, "dense<[6.5]> : tensor<1xf32>\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("4", "3xf32=1"), "3"),
        (("9", "9xf32=1"), "9"),
        (("0", "0xf32=1"), "0"),
        (("2", "1,2"), "has no shape"),
        (("2", "2x1xf32=1"), "expected ?xf32"),
    ],
)
def test_wrong_dynamic_dimensions(run: Run, target: str, arguments: Sequence[str], message: str):
    code, out, err = run(DYNAMIC, *inputs(*arguments), target=target)
    assert (code, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 1


# -- mistakes ------------------------------------------------------------------------------------


def _files() -> None:
    np.save("good.npy", np.zeros((2, 3), np.float32))
    np.save("shape.npy", np.zeros((3, 2), np.float32))
    np.save("rank.npy", np.zeros(6, np.float32))
    np.save("dtype.npy", np.zeros((2, 3)))
    np.savez("two.npz", a=np.zeros(3), b=np.zeros(3))
    Path("empty.npy").write_bytes(b"")
    Path("text.npy").write_text("not an array")
    Path("cut.npy").write_bytes(Path("good.npy").read_bytes()[:-5])
    Path("header.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': oops}  ")
    Path("text.npz").write_text("not a zip")
    np.save("objects.npy", np.array([{}], object), allow_pickle=True)
    Path("pickle.npy").write_bytes(pickle.dumps(Trap()))
    os.mkdir("folder.npy")


class Trap:
    """Leaves a trace if it is ever unpickled."""

    def __reduce__(self):
        return os.mkdir, ("sprung",)


GOOD = ("good.npy", "3xf32=0")

WRONG_INPUTS = {
    "none": ((), "expected 2 inputs, got 0: %x: 2x3xf32, %y: 3xf32"),
    "too few": (("good.npy",), "expected 2 inputs, got 1"),
    "too many": ((*GOOD, "1"), "expected 2 inputs, got 3"),
    "missing file": (("no.npy", "0"), "input 0 (%x): cannot read no.npy: No such file"),
    "folder": (("folder.npy", "0"), "input 0 (%x): cannot read folder.npy: Is a directory"),
    "shape of a file": (("shape.npy", "0"), "shape.npy has shape (3, 2), expected 2x3xf32"),
    "rank of a file": (("rank.npy", "0"), "rank.npy has shape (6,), expected 2x3xf32"),
    "dtype of a file": (("dtype.npy", "0"), "dtype.npy holds float64, expected 2x3xf32"),
    "empty file": (("empty.npy", "0"), "cannot read empty.npy: "),
    "text file": (("text.npy", "0"), "cannot read text.npy: "),
    "file that is cut off": (("cut.npy", "0"), "cannot read cut.npy: "),
    "header": (("header.npy", "0"), "cannot read header.npy: "),
    "no zip": (("text.npz", "0"), "cannot read text.npz: "),
    "array of objects": (("objects.npy", "0"), "objects.npy: pickled objects are not read"),
    "pickle": (("pickle.npy", "0"), "pickle.npy: pickled objects are not read"),
    "npz without a name": (("two.npz", "0"), "two.npz holds a, b: name one as two.npz:NAME"),
    "npz with a wrong name": (("two.npz:c", "0"), "two.npz holds a, b"),
    "npy with a name": (("good.npy:x", "0"), "holds one array, there is no 'x' in it"),
    "no value": (("2x3xf32=1,2,three,4,5,6", "0"), "'three' is not a float"),
    "neither file nor value": (
        ("x.txt", "0"),
        "input 0 (%x): 'x.txt' is neither a value nor a file that is read: write",
    ),
    "count": (("2x3xf32=1,2", "0"), "2 values for 2x3xf32, which has 6 elements"),
    "nesting": (("[[1,2],[3,4],[5,6]]", "0"), "values nested as (3, 2), expected 2x3xf32"),
    "ragged": (("[[1,2,3],[4,5]]", "0"), "neither a .npy or .npz file, nor a list of values"),
    "brackets": (("[1,2", "0"), "nor a list of values"),
    "depth": (("[" * 100_000, "0"), "nor a list of values"),
    "commas": (("1,,2", "0"), "nor a list of values"),
    "type": (("2x3xf31=1", "0"), "'2x3xf31' is not a type such as 2x3xf32"),
    "wrong type": (("2x3xf64=1", "0"), "got 2x3xf64, expected 2x3xf32"),
    "wrong shape": (("3x2xf32=1", "0"), "got 3x2xf32, expected 2x3xf32"),
    "a name that is none": ((*GOOD, "--arg", "z=1"), "there is no input 'z': the inputs are x, y"),
    "a name without a value": ((*GOOD, "--arg", "x"), "--arg x: expected NAME=INPUT"),
    "a name twice": (("--arg", "x=1", "--arg", "x=1"), "--arg x: given twice"),
}


@pytest.mark.parametrize("mistake", WRONG_INPUTS)
def test_wrong_inputs(run: Run, mistake: str):
    _files()
    texts, message = WRONG_INPUTS[mistake]
    arguments: list[str] = []
    rest = iter(texts)
    for text in rest:
        arguments += ("--arg", next(rest)) if text == "--arg" else ("--input", text)
    before = sorted(os.listdir())
    code, out, err = run(ADD, *arguments, "--output=out.npy")
    assert (code, out) == (2 if message.startswith("--arg ") else 1, "")
    assert err.startswith("tg-run: error: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir()) == sorted({*before, "file.mlir"})


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        ("i8", "128", "128 is outside the range of i8"),
        ("ui8", "-1", "-1 is outside the range of ui8"),
        ("i32", "1.5", "'1.5' is not a signed integer"),
        ("i1", "2", "'2' is not a bool (true or false)"),
        ("f16", "1e6", "1e6 is not representable in f16"),
        ("f8E4M3FN", "inf", "inf is not representable in f8E4M3FN"),
    ],
)
def test_wrong_numbers(run: Run, type: str, value: str, message: str):
    code, out, err = run(identity(type), *inputs(value))
    assert (code, out, err) == (1, "", f"tg-run: error: input 0 (%x): {message}\n")


WRONG_OPTIONS = {
    "target": (("--target=gpu9",), "there is no target 'gpu9'; there are: cpu, "),
    "opt": (("--target=cpu", "--opt=fast"), "fast"),
    "unknown option": (("--inptu=1",), "--inptu=1"),
    "entry": (("--entry=mian",), "there is no function @mian; did you mean main?"),
    "outputs": (("--output=a.npy", "--output=b.npy"), "2 --output files for 1 results"),
    "unwritable output": (("--output=no/out.npy",), "cannot write no/out.npy: No such file"),
    "output is a folder": (("--output=folder.npy",), "cannot write folder.npy: "),
    "benchmark": (("--benchmark=0",), "expected a number from 1 to 1000000000, not '0'"),
    "digits": (("--digits=x",), "expected a number from 1 to 17, not 'x'"),
    "contradiction": (("--print-memory", "--digits=3"), "--print-memory runs nothing: it excludes"),
    "no file": (("--output=",), "expected the name of a file, not ''"),
}


@pytest.mark.parametrize("mistake", WRONG_OPTIONS)
def test_wrong_options(run: Run, mistake: str):
    _files()
    options, message = WRONG_OPTIONS[mistake]
    before = sorted(os.listdir())
    code, out, err = run(ADD, *inputs(*GOOD), *options)
    of_usage = ("target", "unknown option", "benchmark", "digits", "contradiction", "no file")
    assert (code, out) == (2 if mistake in of_usage else 1, "")
    assert "error: " in err
    assert message in err
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir()) == sorted({*before, "file.mlir"})


def test_some_outputs_are_not_written_when_one_cannot_be(run: Run):
    program = TWO
    code, _, err = run(program, *inputs("0", "1"), "--output=a.npy", "--output=no/b.npy")
    assert code == 1
    assert "cannot write no/b.npy" in err
    assert os.listdir() == ["file.mlir"]


def test_no_result_overwrites_another(run: Run):
    code, _, err = run(TWO, *inputs("0", "1"), "--output=a.npy", "--output=./a.npy")
    assert (code, err) == (
        1,
        "tg-run: error: several results for one file: a.npy, ./a.npy\n",
    )
    assert os.listdir() == ["file.mlir"]


WRONG_PROGRAMS = {
    "syntax": ("func.func @main(", "file.mlir:1:"),
    "verification": (ADD.replace("[", "(").replace("%0 = tg.add", "%0 = tg.idiv"), "integers"),
    "kernel as entry": (
        "tg.kernel @main { %0 = tg.param 0 : tensor<f32, #tg.place<global>> tg.sink }",
        "file.mlir:1:1: error: @main is a tg.kernel, not a function",
    ),
    "declaration": ("func.func private @main()", "@main has no body"),
    "nothing": ("", "there is no function @main"),
    "no tensor": ("func.func @main(%x: i32) { return }", "takes or returns i32"),
    "not UTF-8": ("\udcff", "not UTF-8"),
}


@pytest.mark.parametrize("mistake", WRONG_PROGRAMS)
def test_wrong_programs(
    mistake: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    text, message = WRONG_PROGRAMS[mistake]
    Path("file.mlir").write_bytes(text.encode(errors="surrogateescape"))
    assert main(["file.mlir", "--target=interpreter"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_missing_program(capsys: pytest.CaptureFixture[str]):
    assert main(["no.mlir"]) == 1
    assert capsys.readouterr().err == (
        "tg-run: error: cannot open input file 'no.mlir': No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(", "SyntaxError: "),
        ("", "has no function 'f'"),
    ],
)
def test_errors_of_registered_functions(
    code: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "f.py").write_text(code)
    (tmp_path / "f.mlir").write_text("""
      #memory = #tg.place<"CPU", global>
      tg.customfunction @f()
      func.func @main(%x: tensor<4xf32, #memory>) {
        %0 = tg.call @f(%x) : (tensor<4xf32, #memory>) -> !tg.void
        %1 = tg.sink %0 : !tg.void
        func.return
      }
    """)
    custom = f"{tmp_path / 'f.py'}:f"
    args = [str(tmp_path / "f.mlir"), "--input=4xf32=1", "--allow-custom", f"--custom={custom}"]
    assert main(args) != 0
    err = capsys.readouterr().err
    assert err.startswith(f"tg-run: error: --custom {custom}: ")
    assert message in err


def test_foreign_code_is_refused(run: Run, target: str):
    program = """
      tg.kernel @k {
        %0 = tg.param 0 : tensor<ui8, #tg.place<global>>
        %1 = tg.custom "f()"() : tensor<ui8>
        %2 = tg.store %0, %1 : tensor<ui8, #tg.place<global>>, tensor<ui8>
        tg.sink %2 : !tg.void
      }
      func.func @main(%a: tensor<ui8, #tg.place<"CPU", global>>) {
        %0 = tg.call @k(%a) : (tensor<ui8, #tg.place<"CPU", global>>) -> !tg.void
        %1 = tg.sink %0 : !tg.void
        func.return
      }
    """
    code, out, err = run(program, target=target)
    assert (code, out) == (1, "")
    assert "tg.custom is executed with allow_custom only (tg-run --allow-custom)" in err


DOUBLED = """
  #g = #tg.place<"CPU", global>
  tg.customfunction @f() reads [0] writes [1]
  func.func @main(%x: tensor<2xf32, #g>, %y: tensor<2xf32, #g> {tg.output}) {
    %0 = tg.call @f(%x, %y) : (tensor<2xf32, #g>, tensor<2xf32, #g>) -> !tg.void
    %1 = tg.sink %0 : !tg.void
    return
  }
"""


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("def f(:", 2, r"--custom f\.py:f: SyntaxError"),
        ("raise RuntimeError('no')", 2, r"--custom f\.py:f: RuntimeError: no"),
        ("raise SystemExit(0)", 2, r"--custom f\.py:f: SystemExit"),
        ("f = 3", 2, r"f\.py has no function 'f'"),
        ("def f(x, y):\n  y[...] = x\n  1 / 0", 1, r"f\.py:3: error: .*'f' raises ZeroDivision"),
        ("def f(x):\n  return x", 1, r"'f' raises TypeError"),
        ("def f(x, y):\n  y[...] = 2 * x", 0, "^$"),
    ],
)
def test_functions_of_modules(run: Run, target: str, source: str, code: int, message: str):
    Path("f.py").write_text(source)
    given = ["--allow-custom", "--custom", "f.py:f", "--input", "2xf32=1,2"]
    actual, out, err = run(DOUBLED, *given, target=target)
    assert (actual, "2.0, 4.0" in out) == (code, code == 0)
    assert re.search(message, err)
    assert "internal error" not in err
