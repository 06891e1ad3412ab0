"""The pages that are made from docstrings say what those say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")

ROOT = Path(__file__).parents[3]


def make_docs(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = root / "tools" / "make_docs.py"
    return subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True)


def test_the_pages_are_those_of_the_classes():
    result = make_docs(ROOT, "--check")
    assert result.returncode == 0, f"run python tools/make_docs.py\n{result.stdout}{result.stderr}"


def test_a_stale_page_fails_with_a_diff(tmp_path: Path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "test" / "interop").mkdir(parents=True)
    programs = ("tools/make_docs.py", "tools/onnx_coverage.py")
    for file in (*programs, "test/interop/onnx_outcomes.json", "test/interop/onnx_refused.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    for page in ("tensor.md", "nn.md", "onnx.md"):  # Of which only the tables are made.
        shutil.copy(ROOT / "docs" / page, tmp_path / "docs")
    assert make_docs(tmp_path).returncode == 0
    page = tmp_path / "docs" / "passes.md"
    page.write_text(page.read_text(encoding="utf-8").replace("### tg-plan", "### tg-gone"))
    result = make_docs(tmp_path, "--check")
    assert result.returncode == 1
    assert "-### tg-gone\n+### tg-plan\n" in result.stdout
    assert "docs/ops.md" not in result.stdout
