"""The plug-in of `examples/extend`, installed beside the package, which knows nothing of it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tgdialect import registry
from tgdialect.diagnostics import CompilationError
from tgdialect.lowering.render.source import LANGUAGES
from tgdialect.plugin import Plugin, merged
from tgdialect.universe import OWN

EXTEND = Path(__file__).parents[2] / "examples" / "extend"
LENGTHS = EXTEND / "lengths.rpn"
INPUTS = ("3,1e30,0,inf", "4,1e30,0,1", "12,0,0,1")
VECTORS = [np.array(text.split(","), np.float32) for text in INPUTS]

ROOT = """func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tg.mul %x, %x : tensor<2xf32>
  %1 = tg.mul %y, %y : tensor<2xf32>
  %2 = tg.add %0, %1 : tensor<2xf32>
  %3 = tg.sqrt %2 : tensor<2xf32>
  func.return %3 : tensor<2xf32>
}"""

COMPILE = """
import sys, numpy as np, tgdialect as tg
x, y, z = (np.array(text.split(","), np.float32) for text in sys.argv[2:])
print(tg.compile(sys.argv[1])(x, y, z).tolist())
text = '''func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ext.hypot %x, %y : tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}'''
print(tg.compile(text)(x, y).tolist())
"""


def lengths() -> np.ndarray:
    x, y, z = VECTORS
    return np.hypot(np.hypot(x, y), z)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that `pip install ./examples/extend` leaves: the package, and its entry point."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "extend").symlink_to(EXTEND / "extend")
    installed = folder / "extend-0.1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: extend\nVersion: 0.1\n")
    project = tomllib.loads((EXTEND / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["xdsl.universe"].items()
    lines = [f"{name} = {value}\n" for name, value in points]
    (installed / "entry_points.txt").write_text("".join(["[xdsl.universe]\n", *lines]))
    return folder


def python(site: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def printed(site: Path, *arguments: str | Path) -> str:
    done = python(site, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def opt(site: Path, *arguments: str | Path) -> str:
    return printed(site, "-m", "tgdialect.tools.tg_opt", *arguments)


def run(site: Path, *arguments: str | Path) -> np.ndarray:
    """The elements that tg-run prints."""
    text = printed(site, "-m", "tgdialect.tools.tg_run", *arguments)
    return np.array(text.partition("[")[2].partition("]")[0].split(","), np.float32)


def test_an_op_of_an_input_format(site: Path) -> None:
    text = opt(site, LENGTHS, "--print-debuginfo")
    assert f'ext.hypot %x, %y : tensor<4xf32> loc("{LENGTHS}":3:11)' in text
    assert "ext.hypot" not in opt(site, LENGTHS, "-p", "ext-to-tg")
    assert "tg.kernel @main_0" in opt(site, LENGTHS, "-p", "ext-to-tg,tg-callify,tg-rangeify")


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_tg_run_and_compile_upgrade_the_op(site: Path, target: str) -> None:
    inputs = [f"--input={text}" for text in INPUTS]
    found = run(site, LENGTHS, "--target", target, *inputs)
    np.testing.assert_allclose(found, lengths(), rtol=1e-6)


def test_compile_takes_a_file_of_the_format_and_a_text_with_the_op(site: Path) -> None:
    of_file, of_text = printed(site, "-c", COMPILE, LENGTHS, *INPUTS).splitlines()
    numbers = [np.array(line.strip("[]").split(","), np.float32) for line in (of_file, of_text)]
    np.testing.assert_allclose(numbers[0], lengths(), rtol=1e-6)
    np.testing.assert_allclose(numbers[1], -np.hypot(*VECTORS[:2]), rtol=1e-6)


@pytest.mark.parametrize("tool", ["tgdialect.tools.tg_opt", "xdsl.tools.xdsl_opt"])
def test_a_pass_in_every_tool(site: Path, tool: str, tmp_path: Path) -> None:
    file = tmp_path / "root.mlir"
    file.write_text(ROOT, encoding="utf-8")
    text = printed(site, "-m", tool, file, "-p", "ext-raise-hypot,dce")
    assert "ext.hypot %x, %y : tensor<2xf32>" in text
    assert "tg.mul" not in text
    file.write_text(text, encoding="utf-8")
    found = run(site, file, "--input=3e30,3", "--input=4e30,-4")
    np.testing.assert_allclose(found, [5e30, 5], rtol=1e-6)


def test_an_output_language(site: Path, tmp_path: Path) -> None:
    source = opt(site, LENGTHS, "-p", "ext-to-tg,tg-to-source{output=cpp}", "-t", "cpp")
    assert 'extern "C" void main_0(float *out0, const float *x' in source
    assert "for (int row = 0; row < 4; row++)" in source
    (tmp_path / "lengths.cpp").write_text(source, encoding="utf-8")
    library = tmp_path / "lengths.so"
    flags = ("-O2", "-Wall", "-Werror", "-ffp-contract=off", "-fwrapv", "-shared", "-fPIC")
    subprocess.run(["c++", *flags, tmp_path / "lengths.cpp", "-o", library], check=True)
    out = np.empty(4, np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (out, *VECTORS)]
    ctypes.CDLL(str(library)).main_0(*pointers)
    np.testing.assert_allclose(out, lengths(), rtol=1e-6)


@pytest.mark.parametrize(
    ("passes", "error"),
    [
        ("tg-callify", ":3:11: error: pass tg-callify: tg-callify needs level tensor, and the "
         "module has ops of ext: run ext-to-tg first"),
        ("ext-to-tg,tg-to-source{target=opencl output=cpp}", "a source in cpp is for none: lower "
         "the program for it by 'tg-to-source{target=c output=cpp}'"),
        ("ext-to-tg,tg-to-source{output=fortran}", "'fortran' is no output; there are: llvm, gpu, "
         "c, opencl, cuda, metal, cpp"),
    ],
)  # fmt: skip
def test_errors_name_what_plug_ins_have(site: Path, passes: str, error: str) -> None:
    done = python(site, "-m", "tgdialect.tools.tg_opt", LENGTHS, "-p", passes)
    assert done.returncode == 1
    assert error in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_with_errors_names_all_of_them(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.rpn"
    file.write_text("4\nmain: x y z hypot\nx y hypot\nf: x hypot\n", encoding="utf-8")
    for tool in ("tg_opt", "tg_run", "tg_compile"):
        output = ["-o", tmp_path / "bad.tgx"] if tool == "tg_compile" else []
        done = python(site, "-m", f"tgdialect.tools.{tool}", file, *output)
        assert (done.returncode, done.stdout) == (1, "")
        errors = [line for line in done.stderr.splitlines() if line.startswith(str(file))]
        assert [error.removeprefix(str(file)) for error in errors] == [
            ":2:17: error: 2 values are left, not one",
            ":3:1: error: expected NAME: WORDS",
            ":4:6: error: 'hypot' takes two values",
        ]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("no_such_module:PLUGIN", "cannot import the plug-in extend: ModuleNotFoundError"),
        ("extend.hypot:EXT", "the plug-in extend is no Universe: extend.hypot:EXT"),
        ("tgdialect.universe:OWN", ""),
    ],
)
def test_a_broken_plug_in_is_one_error(site: Path, value: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "extend").symlink_to(EXTEND / "extend")
    installed = tmp_path / "extend-0.1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: extend\nVersion: 0.1\n")
    (installed / "entry_points.txt").write_text(f"[xdsl.universe]\nextend = {value}\n")
    done = python(tmp_path, "-m", "tgdialect.tools.tg_opt", "--list-passes")
    assert error in done.stderr
    assert done.returncode == (1 if error else 0)
    assert done.stderr.count("\n") == (1 if error else 0)


def test_two_plug_ins_with_one_name_are_an_error() -> None:
    one, other = (Plugin(all_frontends={"rpn": lambda: None}) for _ in range(2))  # pyright: ignore
    with pytest.raises(ValueError, match="both one and other have a frontend 'rpn'"):
        merged({"one": one, "other": other})


def test_an_upgrade_that_is_no_pass_is_an_error() -> None:
    with pytest.raises(ValueError, match="the upgrade of ext is no pass: ext-to-tg"):
        merged({"one": Plugin(all_upgrades={"ext": "ext-to-tg"})})


def test_an_upgrade_is_a_pass_of_a_dialect() -> None:
    """Also of the plug-ins of this package."""
    universe = registry.universe()
    for dialect, upgrade in universe.all_upgrades.items():
        assert dialect in universe.all_dialects
        assert upgrade in universe.all_passes


def test_the_languages_of_the_package_are_known_without_plug_ins() -> None:
    assert {name: make() for name, make in OWN.all_languages.items()} == LANGUAGES
    with pytest.raises(CompilationError):
        registry.parse_program(registry.make_context(), registry.read_program("no.such"))
