"""Programs through the eight stages, a tg-opt and a file at a time, and then upstream's tools."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.levels import STAGES
from tgdialect.lowering.pipeline import stages
from tgdialect.lowering.render import RenderPass
from tgdialect.runtime.compiler import load_module
from tgdialect.tools.tg_opt import main as tg_opt

EXAMPLES = sorted(Path(__file__).parents[3].glob("examples/*.mlir"))
PROGRAMS = {
    "reversed prefix sum": """
        func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
          %f = tg.flip %x [true] : tensor<64xf32>
          %p = tg.pad %f at [63] to [127] : tensor<64xf32> -> tensor<127xf32>
          %m = tg.reduce max %p [0] : tensor<127xf32> -> tensor<1xf32>
          %0 = tg.sub %f, %m : (tensor<64xf32>, tensor<1xf32>) -> tensor<64xf32>
          func.return %0 : tensor<64xf32>
        }""",
    "outlined and dynamic": """
        func.func @main(%n: tensor<index> {tg.min = 1 : index, tg.max = 100 : index},
                        %x: tensor<?x40xf32> {tg.dims = array<i64: 0>}) -> tensor<1x40xf32> {
          %0 = tg.exp2 %x : tensor<?x40xf32>
          %1 = tg.reduce add %0 [0] : tensor<?x40xf32> -> tensor<1x40xf32>
          func.return %1 : tensor<1x40xf32>
        }""",
    "kernels that share": """
        func.func @main(%x: tensor<300x130xf32>, %y: tensor<130x70xf16>) -> tensor<300x70xf32> {
          %s = tg.reduce add %x [1] : tensor<300x130xf32> -> tensor<300x1xf32>
          %0 = tg.div %x, %s : (tensor<300x130xf32>, tensor<300x1xf32>) -> tensor<300x130xf32>
          %1 = tg.reshape %0 [300, 130, 1] : tensor<300x130xf32> -> tensor<300x130x1xf32>
          %2 = tg.cast %y to f32 : tensor<130x70xf16> -> tensor<130x70xf32>
          %3 = tg.mul %1, %2 : (tensor<300x130x1xf32>, tensor<130x70xf32>) -> tensor<300x130x70xf32>
          %4 = tg.reduce add %3 [1] : tensor<300x130x70xf32> -> tensor<300x1x70xf32>
          %5 = tg.reshape %4 [300, 70] : tensor<300x1x70xf32> -> tensor<300x70xf32>
          func.return %5 : tensor<300x70xf32>
        }""",
}
OPTIONS = {
    "none": {},
    "heuristic": {
        "tg-optimize": "mode=heuristic features=avx512f threads=2 l2=1048576",
        "tg-select": "features=avx512f",
        "tg-to-llvm": "mode=heuristic features=avx512f threads=2 l2=1048576",
    },
}
LEVELS = ("function", "kernels", "kernels", "tiles", "target", "linear", "planned", "llvm")
"""The level that each stage leaves."""


def upstream(name: str) -> str | None:
    """One of upstream's tools: Debian adds LLVM's version to its name."""
    return shutil.which(f"{name}-19") or shutil.which(name)


def run(source: Path, result: Path, passes: Sequence[str]) -> Path:
    """Apply passes to a file."""
    pipeline = f"builtin.module({','.join(passes)})"
    assert tg_opt([str(source), f"--pass-pipeline={pipeline}", "-o", str(result)]) == 0
    return result


def lowered_by_hand(source: Path, folder: Path, options: dict[str, str]) -> Path:
    """The text after each stage goes into the next one; it is at its level."""
    for number, (stage, level) in enumerate(zip(stages(), LEVELS, strict=True)):
        passes = [f"{stage.name}{{{options.get(stage.name, '')}}}", f"tg-verify{{level={level}}}"]
        source = run(source, folder / f"{number}-{stage.name}.mlir", passes)
    return source


@pytest.mark.sampled(10)
@pytest.mark.parametrize("mode", OPTIONS)
@pytest.mark.parametrize(
    "program", [*EXAMPLES, *PROGRAMS], ids=lambda p: p.stem if isinstance(p, Path) else p
)
def test_the_stages_by_hand_are_the_pipeline(program: Path | str, mode: str, tmp_path: Path):
    source, options = program, OPTIONS[mode]
    if isinstance(source, str):
        source = tmp_path / "program.mlir"
        source.write_text(PROGRAMS[program])
    result = lowered_by_hand(source, tmp_path, options)
    whole = run(source, tmp_path / "whole.mlir", [f"tg-to-llvm{{{options.get('tg-to-llvm', '')}}}"])
    assert result.read_text() == whole.read_text()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("mode", OPTIONS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_upstream_translates_what_is_rendered(example: Path, mode: str, tmp_path: Path):
    mlir_opt, mlir_translate = upstream("mlir-opt"), upstream("mlir-translate")
    if mlir_opt is None or mlir_translate is None:
        pytest.skip("mlir-opt and mlir-translate (Debian: mlir-19-tools) are not installed")
    options = OPTIONS[mode].get("tg-to-llvm", "")
    source = run(example, tmp_path / "llvm.mlir", [f"tg-to-llvm{{{options}}}"])
    subprocess.run([mlir_opt, str(source), "-o", str(tmp_path / "opt.mlir")], check=True)
    translated = subprocess.run(
        [mlir_translate, "--mlir-to-llvmir", str(source)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "define" in translated.stdout


@pytest.mark.sampled(4)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_levels_hold_between_stages(example: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["--pass-pipeline=builtin.module(tg-to-llvm)", "--verify-each", "-t", "llvm"]
    assert tg_opt([str(example), *arguments]) == 0
    assert "define" in capsys.readouterr().out


def test_the_table_of_stages_is_the_pipeline():
    assert [name for names in STAGES.values() for name in names] == [s.name for s in stages()]
    assert all(stage.name in STAGES[stage.level_before] for stage in stages())


def test_a_stage_in_python_checks_the_level():
    module = load_module(PROGRAMS["kernels that share"])
    with pytest.raises(PassFailedException, match=r"level planned.* at level tensor: run tg-"):
        RenderPass().apply(Context(), module)
