"""The shim for tinygrad's tests is independent of us where results are compared with what it gives,
and each outcome has its kind by the names that a test uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tinygrad_suite import ROOT, read

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
from unittest import TestCase
from tinygrad import Tensor, UOp, dtypes
from tinygrad.helpers import fetch
from tinygrad.dtype import Invalid

def test_passes(): assert Tensor([1, 2]).sum().item() == 3
def test_fails(): assert Tensor([1, 2]).sum().item() == 4
def test_looks_at_uops(): Tensor([1, 2]).uop
def test_takes_fnuz(): Tensor([1, 2]).cast(dtypes.fp8e4m3fnuz)
def test_takes_invalid(): Tensor.full((2,), Invalid)
def test_hashes(): Tensor([1, 2]).keccak()
def test_runs_on_the_host(): assert Tensor([1, 2]).to("NULL:1").device == "CPU:1"
def test_takes_opts(): Tensor([1, 2]).contiguous(arg=())
def test_fetches(): fetch("https://example.com")
def test_makes_a_kernel(): Tensor([1, 2]).custom_kernel(fxn=None)

class TestOfUOps(TestCase):
    @classmethod
    def setUpClass(cls): cls.program = Tensor([1, 2]).schedule_linear()
    def test_first(self): pass
    def test_second(self): pass
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
        "test_runs_on_the_host": "passed",
        "test_takes_opts": "internals",
        "test_fetches": "skipped",
        **dict.fromkeys(
            ("test_takes_fnuz", "test_takes_invalid", "test_hashes", "test_makes_a_kernel"),
            "by design",
        ),
        "TestOfUOps::test_first": "internals",
        "TestOfUOps::test_second": "internals",
    }


def test_tests_of_tinygrad_alone_are_not_counted(tmp_path: Path):
    record = tmp_path / "outcomes"
    tests = ("null/test_helpers.py::TestProd::test_ints", "unit/test_jit.py::TestJit::test_ints")
    lines = [{"test": f"test/{test}", "outcome": "passed", "reason": ""} for test in tests]
    record.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert [outcome.outcome for outcome in read(record)] == ["internals", "passed"]


VALUES = """
import tinygrad_shim
tinygrad_shim.install()
from tinygrad import Tensor
from tgdialect.ops.marker import ContiguousOp
from tgdialect.frontend.graph import sorted_nodes

def has_memory(x): return any(isinstance(n.prototype, ContiguousOp) for n in sorted_nodes([x.node]))

assert has_memory(Tensor.ones(3))
assert not has_memory(Tensor.arange(3))  # Our methods make their values as they do elsewhere.
assert not has_memory(Tensor.eye(3))
"""


def test_our_own_methods_are_as_they_are():
    paths = os.pathsep.join([str(ROOT), str(FOLDER)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", VALUES], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
