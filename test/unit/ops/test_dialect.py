"""One specification row is one class, one line of the property table, and one pair of lit files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tgdialect.dialect import TG
from tgdialect.ops.base import TgOp
from tgdialect.ops.properties import TABLE

LIT = Path(__file__).parents[2] / "filecheck" / "ops"
OPS = list(TG.operations)
CONTAINERS = {"tg.kernel", "tg.program"}


def family(op: type) -> str:
    return {"CallOp": "call"}.get(op.__name__, op.__module__.rpartition(".")[2])


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_is_documented_and_tested(op: type[TgOp]):
    name = op.name.removeprefix("tg.")
    documentation = op.__doc__ or ""
    assert f"`{op.name}" in documentation or f"= {op.name}" in documentation, "no IR example"
    good = LIT / family(op) / f"{name}.mlir"
    text = good.read_text()
    assert re.search(rf"CHECK: .*{re.escape(op.name)}\b", text)
    assert re.search(rf'GENERIC: .*"{re.escape(op.name)}"', text)
    bad = good.with_name(f"{name}_invalid.mlir")
    assert "expected-error" in bad.read_text()


def test_the_table_has_a_row_for_every_op():
    assert set(TABLE) == {op.name for op in OPS} - CONTAINERS


def test_every_op_is_a_tg_op():
    assert all(issubclass(op, TgOp) for op in OPS)
    assert not any(issubclass(op, ModuleOp) for op in OPS)


def test_importing_the_dialect_loads_no_heavy_package():
    code = "import sys, tgdialect.dialect; print({'numpy', 'llvmlite'} & set(sys.modules))"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "set()"
