"""Counts of what patterns do: `tg-opt --pattern-coverage`, and the table of lit tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tgdialect.actions.coverage import Fired, counts_in
from tgdialect.tools import tg_opt

ROOT = Path(__file__).parents[3]

PROGRAM = """
func.func @f(%a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = tg.const 0 : tensor<i32>
  %0 = tg.add %a, %zero : tensor<i32>
  %1 = tg.add %b, %zero : tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}
"""


def run(folder: Path, *args: str) -> int:
    file = folder / "file.mlir"
    file.write_text(PROGRAM)
    return tg_opt.main([str(file), "-o", str(folder / "out.mlir"), *args])


def test_runs_add_to_a_file(tmp_path: Path):
    fired = tmp_path / "fired.txt"
    for _ in range(2):
        assert run(tmp_path, "-p", "canonicalize", f"--pattern-coverage={fired}") == 0
    counts = counts_in(fired.read_text())
    assert counts[Fired("canonicalize", "add 0", "tg.add")] == 4
    assert {each.stage for each in counts} == {"canonicalize"}


def test_what_fails_is_counted_too(tmp_path: Path):
    fired = tmp_path / "fired.txt"
    assert run(tmp_path, "-p", "tg-simplify,tg-expand", f"--pattern-coverage={fired}") == 1
    assert counts_in(fired.read_text())[Fired("tg-simplify", "add 0", "tg.add")] == 2


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path, capsys):
    missing = tmp_path / "missing" / "fired.txt"
    assert run(tmp_path, "-p", "cse", f"--pattern-coverage={missing}") == 1
    assert capsys.readouterr().err.startswith(f"tg-opt: error: cannot write {missing}: ")
    assert not (tmp_path / "out.mlir").exists()


@pytest.mark.slow  # Starts lit, which imports everything.
def test_the_table_of_lit_tests(tmp_path: Path):
    program = [sys.executable, str(ROOT / "tools" / "pattern_coverage.py")]
    test = str(ROOT / "test" / "filecheck" / "transforms" / "simplify" / "handlers.mlir")
    done = subprocess.run(
        [*program, test, "--folder", str(tmp_path)], capture_output=True, text=True
    )
    name = "transforms/simplify/handlers.mlir"
    assert f"| tg-simplify | simplify_sum: tg.neg | 1 | {name} |" in done.stdout, done.stderr
    assert "| tg-simplify | mod of mod | 0 |  |" in done.stdout
    assert "\ntg-simplify: mod of mod\n" in done.stdout
    assert done.returncode == 1
