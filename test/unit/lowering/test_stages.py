"""Each example through every stage, a tg-opt and a file at a time, and then upstream's tools."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tgdialect.lowering.pipeline import stages
from tgdialect.tools.tg_opt import main as tg_opt

EXAMPLES = sorted(Path(__file__).parents[3].glob("examples/*.mlir"))
LEVELS = {
    "tg-callify": "function",
    "tg-rangeify": "kernels",
    "tg-optimize": "kernels",
    "tg-expand": "tiles",
    "tg-select": "target",
    "tg-linearize": "linear",
    "tg-plan": "planned",
    "tg-render": "llvm",
}
"""The level that each stage leaves."""


def upstream(name: str) -> str | None:
    """One of upstream's tools: Debian adds LLVM's version to its name."""
    return shutil.which(f"{name}-19") or shutil.which(name)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_stage_accepts_the_text_of_the_one_before(example: Path, tmp_path: Path):
    source, level = example, "tensor"
    for number, stage in enumerate(stages()):
        level = LEVELS.get(stage.name, level)
        result = tmp_path / f"{number}-{stage.name}.mlir"
        pipeline = f"builtin.module({stage.name},tg-verify{{level={level}}})"
        assert tg_opt([str(source), f"--pass-pipeline={pipeline}", "-o", str(result)]) == 0
        source = result
    assert level == "llvm"
    mlir_opt, mlir_translate = upstream("mlir-opt"), upstream("mlir-translate")
    if mlir_opt is None or mlir_translate is None:
        pytest.skip("mlir-opt and mlir-translate (Debian: mlir-19-tools) are not installed")
    subprocess.run([mlir_opt, str(source), "-o", str(tmp_path / "opt.mlir")], check=True)
    translated = subprocess.run(
        [mlir_translate, "--mlir-to-llvmir", str(source)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "define" in translated.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_levels_hold_between_stages(example: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["--pass-pipeline=builtin.module(tg-to-llvm)", "--verify-each", "-t", "llvm"]
    assert tg_opt([str(example), *arguments]) == 0
    assert "define" in capsys.readouterr().out
