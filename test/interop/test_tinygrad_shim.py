"""The shim for tinygrad's tests is independent of us where results are compared with what it gives,
and each outcome has its kind by the names that a test uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tinygrad_suite import ROOT, Outcome, carried, page, read, row

FOLDER = Path(__file__).parent
CODE = """
import tinygrad_shim
tinygrad_shim.install()
from tinygrad import Tensor, dtypes
from tinygrad.dtype import truncate
from tinygrad.runtime.ops_python import from_storage_scalar

x = Tensor.ones(4) * 2  # Computed of memory, so that it has a gradient.
(x * 3).sum().backward()
assert x.grad.tolist() == [3.0] * 4
assert Tensor.const(3, dtypes.int8).item() == 3

rounded = {d: truncate[d](1 / 3) for d in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)}
assert list(rounded.values()) == [0.333984375, 0.34375, 0.3125]
assert truncate[dtypes.fp8e4m3](1e9) == 448
assert truncate[dtypes.fp8e5m2](float("inf")) == float("inf")
assert (truncate[dtypes.int8](200), truncate[dtypes.uint8](-1)) == (-56, 255)
assert from_storage_scalar(0x3FC0, dtypes.bfloat16) == 1.5
assert from_storage_scalar(0x7E, dtypes.fp8e4m3) == 448
"""


def test_names_and_expectations():
    paths = os.pathsep.join([str(ROOT), str(FOLDER)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


TESTS = """
import pytest
from tinygrad import Tensor, UOp, dtypes
from tinygrad.dtype import Invalid

def test_passes(): assert Tensor([1, 2]).sum().item() == 3
def test_fails(): assert Tensor([1, 2]).sum().item() == 4
def test_looks_at_uops(): Tensor([1, 2]).uop
def test_takes_fnuz(): Tensor([1, 2]).cast(dtypes.fp8e4m3fnuz)
def test_takes_invalid(): Tensor.full((2,), Invalid)
def test_hashes(): Tensor([1, 2]).keccak()
def test_runs_nowhere(): Tensor([1, 2]).to("NULL")
"""


@pytest.mark.slow
def test_kinds_of_outcomes(tmp_path: Path):
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    record = tmp_path / "outcomes"
    paths = os.pathsep.join([str(ROOT), str(FOLDER)])
    environment = {**os.environ, "PYTHONPATH": paths, "TG_OUTCOMES": str(record)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tinygrad_plugin", "-c", os.devnull]
    subprocess.run([*command, "test_some.py"], cwd=tmp_path, env=environment, capture_output=True)
    kinds = {o.test.partition("::")[2]: o.outcome for o in read(record)}
    assert kinds == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_looks_at_uops": "internals",
        **dict.fromkeys(
            ("test_takes_fnuz", "test_takes_invalid", "test_hashes", "test_runs_nowhere"),
            "by design",
        ),
    }


def test_files_that_are_not_run_keep_their_rows():
    found = {
        "unit/a": [
            *(Outcome(f"test/unit/a.py::T::{i}", "passed", "") for i in range(3)),
            Outcome("test/unit/a.py::T::test_b", "failed", "ValueError: 1"),
            Outcome("test/unit/a.py::T::test_c", "refused", "tinygrad refuses it"),
            Outcome("test/unit/a.py::T::test_d", "internals", "Tensor.uop"),
        ]
    }
    before = page(found)
    again = carried(before, "unit/a")
    assert [o.outcome for o in again].count("passed") == 3
    rows = [row("unit/a", outcomes) for outcomes in (again, found["unit/a"])]
    assert rows[0] == rows[1]
    assert rows[0] in before
