"""Hostile texts end with a result or a located error, in little time and memory, and run nothing.

`TG_RANDOM_HOSTILE` says how many; `python test/unit/tools/hostile_runs.py` runs many at once.
"""

from __future__ import annotations

import sys

import pytest
from random_seeds import batches

if sys.platform != "linux":
    pytest.skip("needs os.wait4 and limits of Linux", allow_module_level=True)

import os
import subprocess
from pathlib import Path


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_HOSTILE", 40), ids=str)
def test_hostile_texts(seeds: range, tmp_path: Path):
    # In a process of its own: each text is run by a fork of it, and this one has threads.
    program = Path(__file__).with_name("hostile_runs.py")
    arguments = ["--first", str(seeds.start), "--count", str(len(seeds)), "--log", "log.jsonl"]
    done = subprocess.run(
        [sys.executable, program, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
