"""The environment variables: one table, and one way to read them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tgdialect as tg
from tgdialect import environment
from tgdialect.environment import TABLE, Setting, SettingError
from tgdialect.runtime.cache import object_cache
from tgdialect.runtime.devices.device import DEVICES, KINDS, PROCESS
from tgdialect.runtime.program import HOST
from tgdialect.targets.host import thread_count

PACKAGE = Path(tg.__file__).parent

RIGHT = {
    "TG_CACHE_DIR": {"/x/y": "/x/y", "": "", "/é": "/é", "/x/../y": "/y"},
    "TG_REPRODUCER_DIR": {"/x/y": "/x/y", "": ""},
    "TG_TARGET_FILE": {"/x/y": "/x/y", "": ""},
    "TG_CACHE_MIB": {"0": 0, "007": 7, "999999999": 999999999},
    "TG_NUM_THREADS": {"1": 1, "64": 64},
    "TG_COMPILE_PROCESSES": {"1": 1, "64": 64},
    "TG_RANK_SECONDS": {"300": 300.0, "0.5": 0.5, "inf": float("inf")},
    "TG_RANK_KIB": {"0": 0, "256": 256},
    "TG_BEAM_SECONDS": {"1": 1.0, ".5": 0.5, "1e-3": 1e-3, "2.": 2.0, "inf": float("inf")},
    "TG_DEVICE": {"CPU": "CPU", "cl": "cl", "CUDA:1": "CUDA:1", "MPI:0": "MPI:0"},
    "TG_OPENMP": {"0": False, "1": True},
    "TG_PROGRESS": {"0": False, "1": True},
    "TG_DEBUG": {"0": False, "1": True},
}
FOLDERS = "TG_CACHE_DIR", "TG_REPRODUCER_DIR", "TG_TARGET_FILE"
HOSTILE = (
    *(
        "x",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.5x",
        "1_0",
        "0x1",
        "nan",
        "-inf",
        "1e",
        "true",
        "é",
        "\0"[1:],
    ),
    *(
        "\u0661",
        "\u00b2",
        "\uff11",
        "\udcff",
        "9" * 5000,
        "CPU:",
        "CPU:\u0661",
        "CPU:" + "9" * 5000,
    ),
)
"""Texts that no number, switch or device may be: with digits of other scripts, bytes that are no
UTF-8, and numbers that Python itself refuses to read."""


@pytest.fixture
def variable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Setting:
    monkeypatch.delenv(request.param.name, raising=False)
    return request.param


every = pytest.mark.parametrize("variable", TABLE, ids=lambda each: each.name, indirect=True)


@every
def test_absent_and_empty_values_are_the_default(variable: Setting, monkeypatch):
    assert variable.get() == variable.default
    monkeypatch.setenv(variable.name, "")
    assert variable.get() == ("" if variable.name in FOLDERS else variable.default)


@every
def test_right_values(variable: Setting, monkeypatch: pytest.MonkeyPatch):
    for text, value in RIGHT[variable.name].items():
        monkeypatch.setenv(variable.name, text)
        found = variable.get()
        assert (found, type(found)) == (value, type(value))


@every
def test_wrong_values_name_the_variable_and_what_is_expected(variable: Setting, monkeypatch):
    wrong = [text for text in HOSTILE if text]
    if variable.name in FOLDERS:
        wrong = ["~no-such-user/cache"]
    for text in wrong:
        monkeypatch.setenv(variable.name, text)
        with pytest.raises(SettingError) as error:
            variable.get()
        assert str(error.value) == f"{variable.name} is {text!r}, not {variable.expected}"


def test_the_folder_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """`~` is the home, and a relative path does not follow the folder of the process."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TG_CACHE_DIR", "~/é")
    assert object_cache().folder.parent == tmp_path / "é"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TG_CACHE_DIR", "here")
    cache = object_cache()
    monkeypatch.chdir("/")
    cache.put("0" * 64, b"payload")
    assert sorted(os.listdir(tmp_path)) == ["here"]
    monkeypatch.delenv("TG_CACHE_DIR")
    for base in ("", "relative", "~/base"):
        monkeypatch.setenv("XDG_CACHE_HOME", base)
        assert object_cache().folder.parent == tmp_path / ".cache/tgdialect"
    monkeypatch.setenv("TG_CACHE_MIB", "0")
    assert object_cache() is None


def test_devices_of_the_table_are_those_there_are():
    for kind in (HOST, PROCESS, *KINDS):
        assert environment.DEVICE.parse(kind) == kind
        assert DEVICES.canonicalize(f"{kind}:3")


@pytest.mark.parametrize(
    "variable", ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"]
)
@pytest.mark.parametrize("value", ["", "x", "0", "-3", "\u0661", "9" * 5000])
def test_what_launchers_say_may_be_anything(monkeypatch, variable: str, value: str):
    from tgdialect.runtime.distributed.mpi import launched_size

    monkeypatch.setenv(variable, value)
    assert launched_size() == 1
    assert thread_count() >= 1


def test_nobody_else_reads_these_variables():
    """Or asks for one that is not in the table: constants are names there, texts are mistakes."""
    known = {each.name for each in TABLE}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_name = re.fullmatch("TG_[A-Z_]+", node.value)
                assert not is_name or path.name == "environment.py", (path, node.value)
                for name in re.findall(r"\bTG_[A-Z]+(?:_[A-Z]+)*\b", node.value):
                    assert name in known | {"TG_LEGACY", "TG_UNIVERSE"}, (path, name)


def test_a_name_that_is_a_mistake_gives_one_warning(monkeypatch: pytest.MonkeyPatch):
    for name in ("TG_NUM_THREAD", "TG_QZX", "TG_RANDOM_PROGRAMS", "TG_TEST_DEVICE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(environment, "_is_checked", False)
    text = "the environment's TG_NUM_THREAD (did you mean TG_NUM_THREADS?), TG_QZX"
    with pytest.warns(UserWarning, match=f"^nothing reads {re.escape(text)}$"):
        thread_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thread_count()


PROGRAM = """
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = tg.neg %x : tensor<1xf32>
  func.return %0 : tensor<1xf32>
}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tool", ["tg_opt", "tg_run"])
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("TG_DEBUG", "yes", "error: TG_DEBUG is 'yes', not 0 or 1"),
        ("TG_NUM_THREADS", "x", "error: TG_NUM_THREADS is 'x', not a whole number from 1"),
        ("TG_NUM_THREAD", "1", "warning: nothing reads the environment's TG_NUM_THREAD (did"),
    ],
)
def test_the_tools(tool: str, variable: str, value: str, message: str):
    arguments = {"tg_opt": ["-p", "tg-to-llvm"], "tg_run": ["--target=cpu", "--input=1xf32=1"]}
    script = f"import sys\nfrom tgdialect.tools.{tool} import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, "-", *arguments[tool]],
        input=PROGRAM,
        capture_output=True,
        text=True,
        env=os.environ | {variable: value},
    )
    assert done.stderr.startswith(f"{tool.replace('_', '-')}: {message}")
    assert len(done.stderr.splitlines()) == 1
    is_error = message.startswith("error")
    assert (done.returncode, done.stdout == "") == (int(is_error), is_error)


@pytest.mark.parametrize(("variable", "value"), [("TG_NUM_THREADS", "x"), ("TG_PROGRESS", "no")])
def test_compiling(variable: str, value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(variable, value)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"{variable} is '{value}', not "):
            tg.compile(PROGRAM)
    monkeypatch.delenv(variable)
    assert tg.compile(PROGRAM)(np.ones(1, np.float32)) == -1
