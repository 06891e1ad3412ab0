"""Malformed input gives one clear error at its place, exit code 1, and writes nothing."""

import io
import re
import sys
from pathlib import Path

import pytest
from malformed import BYTES, COMMANDS, TEXTS, Malformed

from tgdialect.tools.tg_opt import main


def assert_one_error(output: str, errors: str, place: str, message: str) -> None:
    """Stderr is `place: error: message`, and at most a line of source with its caret."""
    first, *context = errors.splitlines()
    assert first.startswith(f"{place}: error: "), errors
    assert re.search(message, first), errors
    notes = [line for line in context if ": note: " in line]
    assert not context or context[1].strip() == "^", errors
    assert len(context) <= 2 + 3 * len(notes), errors
    assert "Traceback" not in errors
    assert output == ""


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
def test_text(case: Malformed, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    before, mark, after = case.marked_text.partition("|")
    file, out = tmp_path / "file.mlir", tmp_path / "out.mlir"
    file.write_text(before + after, encoding="utf-8")
    assert main([str(file), "-o", str(out), *case.args]) == 1
    place = str(file)
    if mark:
        place += f":{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        captured = capsys.readouterr()
        assert_one_error(captured.out, captured.err, place, case.message)
    else:
        captured = capsys.readouterr()
        assert re.match(rf"{re.escape(place)}:1:\d+: error: .*{case.message}", captured.err)
    assert not out.exists()


@pytest.mark.parametrize(("name", "content", "place", "message"), BYTES)
def test_bytes(
    name: str,
    content: bytes,
    place: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    file = tmp_path / "file.mlir"
    file.write_bytes(content)
    assert main([str(file)]) == 1
    captured = capsys.readouterr()
    assert_one_error(captured.out, captured.err, f"{file}:{place}", message)
    assert "\0" not in captured.err


@pytest.mark.parametrize(("args", "message"), COMMANDS, ids=lambda value: str(value))
def test_command(
    args: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main(args) == (1 if message.startswith(("cannot open", "cannot write")) else 2)
    captured = capsys.readouterr()
    assert_one_error(captured.out, captured.err, "tg-opt", message)
