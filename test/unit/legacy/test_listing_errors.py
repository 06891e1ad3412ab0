"""Malformed listings give one error at its place, exit code 1, and nothing on stdout."""

import re
from pathlib import Path

import pytest
from malformed_listings import LISTINGS, Malformed

from tgdialect.tools.tg_opt import main


@pytest.mark.parametrize("case", LISTINGS, ids=lambda case: case.name)
def test_error(case: Malformed, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    before, _, after = case.marked.partition("|")
    file = tmp_path / "file.uops"
    file.write_text(before + after, encoding="utf-8")
    assert main([str(file)]) == 1
    captured = capsys.readouterr()
    first, *context = captured.err.splitlines()
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert first.startswith(f"{file}:{line}:{column}: error: "), captured.err
    assert re.search(case.message, first), captured.err
    assert len(context) == 2, captured.err
    assert context[1].strip() == "^"
    assert captured.out == ""
