"""Devices that the text of a program names: a program runs there, or is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from example_files import EXAMPLES
from opencl_device import DEVICE, needs_opencl

import tgdialect as tg
from tgdialect.ops.printing import printed
from tgdialect.runtime import compiler
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.devices.executable import DeviceExecutable
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.host_executable import HostExecutable


def text(source: str, result: str) -> str:
    """A program that negates on one device, and copies to another, or to the same."""
    source, result = (f'tensor<4xf32, #tg.place<"{name}">>' for name in (source, result))
    device = result.split('"')[1]
    return f"""
    func.func @main(%x: {source}) -> {result} {{
      %0 = tg.neg %x : {source}
      %1 = tg.copy %0 to "{device}" : {source} -> {result}
      return %1 : {result}
    }}"""


@pytest.mark.parametrize(
    ("source", "result", "kind"),
    [
        ("CPU", "CPU", HostExecutable),
        ("CPU:1", "CPU:1", HostExecutable),
        ("CPU:1", "CPU", ShardedExecutable),
        pytest.param(DEVICE, DEVICE, DeviceExecutable, marks=needs_opencl),
        pytest.param(DEVICE, "CPU", ShardedExecutable, marks=needs_opencl),
        pytest.param("CPU", DEVICE, ShardedExecutable, marks=needs_opencl),
    ],
)
def test_a_program_runs_where_it_says(source: str, result: str, kind: type):
    x = np.arange(4, dtype=np.float32)
    executable = tg.compile(text(source, result))
    assert isinstance(executable, kind)
    np.testing.assert_array_equal(np.asarray(executable(x)), -x)
    for target in ("cpu", "c", "interpreter"):
        np.testing.assert_array_equal(tg.compile(text(source, result), target=target)(x), -x)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NPU", "'NPU' is no device: the names are as CPU"),
        ("CUDA:99", "there is no device CUDA:99"),
    ],
)
@pytest.mark.parametrize("result", ["CPU", None])
def test_a_device_that_there_is_not(name: str, message: str, result: str | None):
    with pytest.raises(tg.DeviceError, match=message):
        tg.compile(text(name, result or name))


def test_the_printer_says_which_devices_a_program_names():
    """Also of many programs, and of types in types: as a look at the text finds them."""
    places = re.compile(r"#tg\.place<\s*(?:\[|\"([^\"]*)\")")
    seen: set[str] = set()
    for path in EXAMPLES:
        printed_program = printed(load_module(path))
        assert printed_program.devices == {*places.findall(printed_program.text)}, path
        seen |= printed_program.devices
    assert {"", "CPU"} & seen
    assert printed(load_module(text("CL:1", "CPU:7"))).devices == {"CL:1", "CPU:7"}


def test_a_comment_names_no_device():
    program = text("CPU", "CPU").replace("%0 =", '// As on #tg.place<"NPU">, but here.\n      %0 =')
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(tg.compile(program)(x)), -x)


def test_what_is_said_about_a_text_is_in_the_object_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A program from there is not parsed."""
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    program, x = text("CPU:1", "CPU:1"), np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(tg.compile(program)(x)), -x)
    monkeypatch.setattr(compiler, "parse_verified", None)
    np.testing.assert_array_equal(np.asarray(tg.compile(program)(x)), -x)
