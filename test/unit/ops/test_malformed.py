"""Malformed tg programs: exit code 1, one error at its place, nothing written, no traceback."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from malformed import Malformed
from malformed_tg import TEXTS

from tgdialect.tools.tg_opt import main


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
def test_malformed(case: Malformed, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    before, mark, after = case.marked_text.partition("|")
    assert mark
    file, out = tmp_path / "file.mlir", tmp_path / "out.mlir"
    file.write_text(before + after, encoding="utf-8")
    assert main([str(file), "-o", str(out)]) == 1
    captured = capsys.readouterr()
    errors = captured.err
    place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
    first, *context = errors.splitlines()
    assert first.startswith(f"{file}:{place}: error: "), errors
    assert re.search(case.message, first), errors
    assert sum(": error: " in line for line in (first, *context)) == 1
    assert context[1].strip() == "^", errors
    assert "Traceback" not in errors
    assert "internal error" not in errors
    assert captured.out == ""
    assert not out.exists()


def test_names_are_unique():
    names = [case.name for case in TEXTS]
    assert len(names) == len(set(names)) >= 45
