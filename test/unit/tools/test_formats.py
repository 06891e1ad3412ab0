"""The input formats: by extension, and named; of text, and of bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

import tgdialect as tg
from tgdialect import registry
from tgdialect.diagnostics import CompilationError, Diagnostic, SourceFile, parse_module
from tgdialect.plugin import Plugin, merged
from tgdialect.tools import tg_opt, tg_run

NODE = """func.func @main(%x: tensor<8xf32> {{tg.name = "x:0"}}, %o: tensor<index>)
    -> (tensor<{}xf32> {{tg.name = "y:0"}}) {{
  %0 = tg.shrink %x at [%o] to [{}] : tensor<8xf32> -> tensor<{}xf32> loc("/{}/Slice")
  func.return %0 : tensor<{}xf32>
}}"""
PROGRAM = """func.func @main(%x: tensor<{}xf32>) -> tensor<{}xf32> {{
  %0 = tg.neg %x : tensor<{}xf32>
  func.return %0 : tensor<{}xf32>
}}"""


@dataclass(frozen=True)
class NegateFrontend(Frontend):
    """Reads a byte that is no UTF-8, then the size of what is negated."""

    name = "negate"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        mark, *size = input.read()
        if mark != 0xFF or len(size) != 1:
            raise CompilationError(Diagnostic("not a negation", file=input_name))
        return parse_module(ctx, SourceFile(input_name, PROGRAM.format(*size * 4)))


@dataclass(frozen=True)
class SliceFrontend(Frontend):
    """Reads a byte that is no UTF-8, then the size of a slice, which is a node that has a name."""

    name = "slice"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        _, size = input.read()
        return parse_module(ctx, SourceFile(input_name, NODE.format(*[size] * 5)))


@pytest.fixture
def negation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    frontends = {"negate": lambda: NegateFrontend, "slice": lambda: SliceFrontend}
    added = Plugin(all_frontends=frontends)
    both = merged({"found": registry.universe(), "added": added})
    monkeypatch.setattr(registry, "universe", lambda: both)
    (tmp_path / "three.negate").write_bytes(bytes([0xFF, 3]))
    return str(tmp_path / "three.negate")


def test_a_named_format_wins() -> None:
    assert registry.frontend_of("a.txt") is None
    listing = registry.frontend_of("a.uops")
    assert listing is not None
    assert listing.name == "uops"
    assert registry.frontend_of("a.txt", "uops") == listing
    assert registry.frontend_of("a.uops", "mlir") is None


def test_a_format_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert tg_run.main(["a.mlir", "-f", "fortran"]) == 2
    assert "no format 'fortran'; there are: mlir, uops" in capsys.readouterr().err


def test_a_format_of_bytes(negation: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tg_opt.main([negation]) == 0
    assert "tg.neg %x : tensor<3xf32>" in capsys.readouterr().out
    assert tg_run.main([negation, "--input", "1,2,3"]) == 0
    assert "dense<[-1.0, -2.0, -3.0]>" in capsys.readouterr().out
    x = np.arange(3, dtype=np.float32)
    for target in (None, "interpreter"):
        assert np.array_equal(np.asarray(tg.compile(negation, target=target)(x)), -x)


def test_a_format_of_bytes_takes_no_folder_for_data(
    negation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for main in (tg_opt.main, tg_run.main):
        assert main([negation, "--data-folder", str(tmp_path)]) == 1
        assert "a folder for data is for formats that are text" in capsys.readouterr().err
    with pytest.raises(ValueError, match="is for programs in text"):
        tg.compile(negation, data_folder=tmp_path)


def test_bytes_that_are_not_of_the_format_are_one_error(
    negation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(negation).write_bytes(b"\xff")
    for main in (tg_opt.main, tg_run.main):
        assert main([negation]) == 1
        assert capsys.readouterr().err == f"{negation}: error: not a negation\n"
    with pytest.raises(CompilationError, match="not a negation"):
        tg.compile(negation)
    Path(negation).unlink()
    for main in (tg_opt.main, tg_run.main):
        assert main([negation]) == 1
        assert "cannot open input file" in capsys.readouterr().err


@pytest.mark.parametrize("target", [None, "interpreter"])
def test_errors_name_the_file_and_the_node(
    negation: str, target: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(negation).with_suffix(".slice")
    path.write_bytes(b"\xff\x03")
    program = tg.compile(path, target=target)
    expected = f'{path}: "/3/Slice": error: axis 0: offset 7 plus extent 3'
    with pytest.raises(CompilationError) as raised:
        program(np.ones(8, np.float32), np.int64(7))
    assert str(raised.value).startswith(expected)
    target_arguments = [] if target is None else ["--target", target]
    arguments = ["--arg", "x:0=8xf32=1", "--input", "7", *target_arguments]
    assert tg_run.main([str(path), *arguments]) == 1
    assert capsys.readouterr().err.startswith(expected)
    assert tg_run.main([str(path), "--print-signature"]) == 0
    shown = capsys.readouterr().out
    assert "input  0  %x:0: 8xf32" in shown
    assert "output 0  %y:0: 3xf32" in shown
    if target is None:
        with pytest.raises(ValueError, match=r"x:0 has shape \(8,\), got \(9,\)"):
            program(np.ones(9, np.float32), np.int64(7))
