"""What is printed of programs, and of functions that call them, parses back to the same module."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_files import WITHOUT_CUSTOM
from listings import FILES, parsed, printed
from xdsl.dialects.builtin import StringAttr

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.build import Build
from tgdialect.runtime.compiler import load_module

HOST = CpuTarget.host()
TARGETS = {"host": HOST, "without features": CpuTarget(HOST.triple)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_listing(file: Path):
    module = parsed(file.read_text(encoding="utf-8"))
    assert str(parsed(printed(module))) == str(module)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("stage", ["linearize", "plan"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("opt", ["none", "heuristic"])
@pytest.mark.parametrize("file", WITHOUT_CUSTOM, ids=lambda file: file.stem)
def test_example(file: Path, opt: str, target: str, stage: str):
    build = Build(load_module(str(file)), opt=opt, target=TARGETS[target])
    module = build.module(stage)
    listings = printed(module)
    again = parsed(listings)
    assert str(again) == str(module)
    assert printed(again) == listings


@pytest.mark.parametrize("name", ['a"b', "a\\", "a b", "\0\n", "é", "@x", "", "{x}", "a-b"])
def test_names_of_any_text(name: str):
    """Titles quote them as MLIR does."""
    text = FILES[0].read_text()
    module = parsed(text)
    for op in module.ops:
        op.properties["sym_name"] = StringAttr(name)
        break
    assert parsed(printed(module)).is_structurally_equivalent(module)
