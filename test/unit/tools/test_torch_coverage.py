"""The table of ATen ops in the documentation is that of the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.parity

ROOT = Path(__file__).parents[3]


def test_the_table_is_the_program_s():
    program = ROOT / "tools" / "torch_coverage.py"
    result = subprocess.run([sys.executable, program, "--check"], capture_output=True, text=True)
    assert result.returncode == 0, f"run python {program}\n{result.stdout}{result.stderr}"
