"""`python -m tgdialect.info`: what it says where all is well, and where something is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.runtime import threads
from tgdialect.runtime.cache import object_cache
from tgdialect.runtime.devices import device
from tgdialect.targets.host import host_target
from tgdialect.tools import info
from tgdialect.tools.info import information, main, shown

SECTIONS = ["versions", "cpu", "threads", "object cache", "devices", "environment"]


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("TG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path / "cache"))


def test_the_command():
    command = [sys.executable, "-m", "tgdialect.info", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert list(json.loads(done.stdout)) == SECTIONS


def test_what_it_says():
    found = information()
    assert list(found) == SECTIONS
    assert found["versions"]["tgdialect"] == tg.__version__
    assert Path(found["versions"]["folder"]) == Path(tg.__file__).parent
    target = host_target()
    assert found["cpu"]["vector bits"] >= 0
    assert found["cpu"]["last cache assumed_bytes"] == target.llc
    assert found["threads"]["count"] == target.threads
    assert found["threads"]["from"].startswith("the cores of this process, of ")
    assert found["devices"]["default"] == "CPU"
    assert found["environment"].keys() == {"TG_CACHE_DIR"}
    json.dumps(found)


def test_text(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert [line for line in lines if line[:1].strip()] == SECTIONS
    assert all(len(line) <= 100 for line in lines if "/" not in line)
    # The values are in one column.
    width = shown({"a": {"bc": 1, "size_bytes": 2048}}).splitlines()
    assert width == ["a", "  bc    1", "  size  2 KiB"]
    assert shown({"a": {}, "b": {"c": ["x", "y"]}}) == "a\n  none\n\nb\n  c  x y"


def test_threads_are_those_of_the_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_NUM_THREADS", "3")
    assert information()["threads"] | {"OpenMP": ""} == {
        "count": 3,
        "from": "TG_NUM_THREADS",
        "OpenMP": "",
    }


@pytest.mark.parametrize("switched_off", [True, False])
def test_openmp(monkeypatch: pytest.MonkeyPatch, switched_off: bool):
    if switched_off:
        monkeypatch.setenv("TG_OPENMP", "0")
    monkeypatch.setattr(threads, "_loaded_libraries", lambda: ())
    monkeypatch.setattr(info, "parallel_runtime", threads.ParallelRuntime)
    reason = "TG_OPENMP=0" if switched_off else "none is loaded"
    assert information()["threads"]["OpenMP"] == f"not used ({reason}): a pool of threads"


def test_the_object_cache(tmp_path: Path):
    information()  # The first one in a process may compile the parallel runtime.
    before = information()["object cache"]["entries"]
    tg.compile(lambda x: x + 1, np.ones(3, np.float32))
    found = information()["object cache"]
    assert (found["folder"], found["entries"]) == (str(tmp_path / "cache/tg-objects"), before + 1)
    assert found["size_bytes"] > 0
    assert found["limit_bytes"] == 1 << 30
    (tmp_path / "cache/tg-objects").chmod(0o777)
    found = information()["object cache"]
    assert "(not used: others may write the folder" in found["folder"]
    assert object_cache() is not None


@pytest.mark.parametrize(
    ("variable", "value", "section", "entry", "message"),
    [
        ("TG_NUM_THREADS", "x", "threads", "count", "TG_NUM_THREADS is 'x'"),
        ("TG_CACHE_DIR", "", "object cache", "folder", "not used: TG_CACHE_DIR is empty"),
        ("TG_CACHE_MIB", "x", "object cache", "folder", "not used: TG_CACHE_MIB is 'x'"),
        ("TG_DEVICE", "TPU", "devices", "default", "TG_DEVICE is 'TPU', not a device"),
        ("CC", "no-such-cc", "devices", "C compiler", "there is no 'no-such-cc'"),
    ],
)
def test_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    section: str,
    entry: str,
    message: str,
):
    from tgdialect.backends.c_compiler import compiler

    compiler.cache_clear()
    monkeypatch.setenv(variable, value)
    found = information()
    assert message in found[section][entry]
    assert list(found) == SECTIONS
    assert found["cpu"]["model"]
    compiler.cache_clear()


def test_without_optional_packages(monkeypatch: pytest.MonkeyPatch):
    for module in (device, info):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    found = information()["devices"]
    for name, extra in (("CL", "opencl"), ("CUDA", "cuda"), ("MPI", "mpi"), ("NCCL", "nccl")):
        assert found[name] == f"none: pip install 'tgdialect[{extra}]' first"


def test_a_driver_that_fails(monkeypatch: pytest.MonkeyPatch):
    def fail(name: str) -> int:
        raise RuntimeError("the driver is broken")

    monkeypatch.setattr(device, "_count", fail)
    assert information()["devices"]["others"] == "the driver is broken"
