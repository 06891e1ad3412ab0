"""Tools of others and our dialects: plain `xdsl-opt`, `mlir-opt`, `xdsl-gui` and IRDL."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from example_files import EXAMPLES, WITHOUT_CUSTOM
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import LLVM
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.xdsl_opt_main import xDSLOptMain

from tgdialect.diagnostics import CompilationError, SourceFile, parse_module, verify_module
from tgdialect.gpu_dialect import GPU_WITH_GAPS
from tgdialect.llvm_dialect import LLVM_WITH_GAPS
from tgdialect.registry import make_context
from tgdialect.tools import tg_opt
from tgdialect.tools.tg_gui import interactive

ROOT = Path(__file__).parents[3]
# lit writes beside its tests, in folders called Output.
FILECHECK = [
    f for f in sorted((ROOT / "test" / "filecheck").rglob("*.mlir")) if "Output" not in f.parts
]
FOLDERS = sorted({file.parent for file in FILECHECK})
MLIR_OPT = next(filter(None, map(shutil.which, ("mlir-opt-19", "mlir-opt"))), None)
needs_mlir = pytest.mark.skipif(MLIR_OPT is None, reason="upstream's mlir-opt is not installed")
STAGES = ("callify", "rangeify", "optimize", "expand", "select", "linearize", "plan", "render")
LAST_STAGE = re.compile(
    r"^// RUN: tg-opt %s ((?!.*(?:-t |--verify-diag)).*(?:tg-render|tg-to-llvm|tg-to-gpu)[^|]*)"
)
DEVIATIONS = re.compile(r'"gpu\.module"|overflowFlags = [123]|"transform\.')
"""Stages whose text LLVM 19 does not read: docs/deviations.md says why."""
HEXADECIMAL = "dense<0x"
"""Floats of which xDSL 0.75 reads another value than it has printed."""


def xdsl_opt(text: str, folder: Path, *args: str) -> str:
    """The output of plain `xdsl-opt`."""
    source, result = folder / "source.mlir", folder / "result.mlir"
    source.write_text(text)
    xDSLOptMain(args=[str(source), "-o", str(result), *args]).run()
    return result.read_text()


def mlir_opt(text: str, *args: str) -> str:
    """The text as upstream reads it and prints it, in the generic form."""
    assert MLIR_OPT is not None
    command = [MLIR_OPT, "--split-input-file", "--mlir-print-op-generic", *args]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_xdsl_opt_goes_from_tensors_to_llvm_ir(file: Path, tmp_path: Path):
    text = xdsl_opt(file.read_text(), tmp_path, "-p", "tg-to-llvm", "-t", "llvm")
    module = llvm.parse_assembly(text)
    module.verify()
    names = re.findall(r"func\.func @(\w+)", file.read_text())
    assert set(names) <= {function.name for function in module.functions}
    assert "RUN: xdsl-opt %s -p tg-to-llvm -t llvm" in file.read_text()


@pytest.mark.parametrize("passes", ["tg-to-llvm", "tg-to-gpu"])
@pytest.mark.parametrize("file", WITHOUT_CUSTOM, ids=lambda file: file.stem)
def test_xdsl_opt_reads_the_last_stage(file: Path, passes: str, tmp_path: Path):
    source = file.read_text()
    if passes == "tg-to-gpu" and "tg.customfunction" in source:
        pytest.skip("a device calls no function of the host")
    text = xdsl_opt(source, tmp_path, "-p", passes)
    assert xdsl_opt(text, tmp_path) == text


def last_stage_runs() -> list[tuple[Path, str]]:
    """Each test of the last stage with the arguments of its first such RUN line."""
    found: list[tuple[Path, str]] = []
    for file in FILECHECK:
        for line in file.read_text().splitlines():
            run = LAST_STAGE.match(line)
            if run is not None:
                found.append((file, run[1]))
                break
    return found


def test_xdsl_opt_reads_the_last_stage_of_all_filecheck_tests(tmp_path: Path):
    read = 0
    for file, args in last_stage_runs():
        result = tmp_path / "tg_opt.mlir"
        if tg_opt.main([str(file), *shlex.split(args), "-o", str(result)]):
            continue  # A test of errors.
        split = ["--split-input-file"] if "--split-input-file" in args else []
        text = result.read_text()
        if HEXADECIMAL in text or "--mlir-print-debuginfo" in args:
            continue  # Plain xdsl-opt prints no locations.
        assert xdsl_opt(text, tmp_path, *split) == text, file
        read += 1
    assert read >= 20


@needs_mlir
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_upstream_reads_the_generic_text_of_each_stage(file: Path, tmp_path: Path):
    texts: list[str] = []
    for last in range(len(STAGES) + 1):
        passes = ",".join(f"tg-{stage}" for stage in STAGES[:last])
        texts.append(xdsl_opt(file.read_text(), tmp_path, "-p", passes, "--print-op-generic"))
    returned = mlir_opt("// -----\n".join(texts), "--allow-unregistered-dialect").split("// -----")
    for ours, theirs in zip(texts[:-1], returned, strict=False):
        assert structure(theirs).is_structurally_equivalent(structure(ours))


def structure(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


@needs_mlir
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: "-".join(folder.parts[-2:]))
def test_upstream_reads_the_generic_text_of_filecheck_tests(folder: Path):
    texts: list[str] = []
    for file in sorted(folder.glob("*.mlir")):
        for chunk in file.read_text().split("// -----"):
            try:
                module = parse_module(make_context(), SourceFile(file.name, chunk))
                verify_module(module)
            except CompilationError:
                continue  # A test of errors.
            stream = StringIO()
            Printer(stream, print_generic_format=True).print_op(module)
            if DEVIATIONS.search(stream.getvalue()) is None:
                texts.append(stream.getvalue())
    mlir_opt("\n// -----\n".join(texts), "--allow-unregistered-dialect")


def test_the_supersets_are_supersets():
    """Ops of xDSL that are replaced are instances of xDSL's, which its passes match."""
    for theirs, ours in ((LLVM, LLVM_WITH_GAPS), (gpu.GPU, GPU_WITH_GAPS)):
        ops = {op.name: op for op in ours.operations}
        for op in theirs.operations:
            assert issubclass(ops[op.name], op) or op is gpu.LaunchFuncOp
        assert set(theirs.attributes) <= set(ours.attributes)


@pytest.mark.parametrize("dialect", ["tg", "tg_legacy", "llvm", "shard"])
def test_irdl(dialect: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert tg_opt.main(["--print-irdl", dialect]) == 0
    text = capsys.readouterr().out
    assert xdsl_opt(text, tmp_path).strip() == text.strip()
    context = make_context()
    context.load_registered_dialect(dialect)
    names = {f"{dialect}.{name}" for name in re.findall(r"irdl\.operation @\"?([\w.]+)", text)}
    assert names == {op.name for op in context.loaded_ops if op.name.startswith(f"{dialect}.")}
    if MLIR_OPT is not None:
        # LLVM 19's IRDL has no names of parameters, operands and results; LLVM 20's has.
        file = tmp_path / "irdl.mlir"
        file.write_text(re.sub(r"\w+: (?=%|variadic|optional|single)", "", text))
        mlir_opt("", f"--irdl-file={file}")


def test_tg_gui_shows_our_passes():
    pytest.importorskip("textual", reason="xdsl[gui] is not installed")
    application = interactive([str(EXAMPLES[0]), "-p", "tg-callify,tg-rangeify"])

    async def shown() -> tuple[str, set[str]]:
        async with application.run_test() as pilot:
            await pilot.pause()
            tree = application.passes_tree.root.children
            return application.output_text_area.text, {str(node.label) for node in tree}

    text, passes = asyncio.run(shown())
    assert "tg.range 0 loop" in text
    assert {"tg-optimize", "canonicalize"} <= passes


@pytest.mark.parametrize(
    ("args", "message"), [(["-p", "nope"], "unknown pass 'nope'"), (["no.mlir"], "cannot open")]
)
def test_tg_gui_refuses(args: list[str], message: str):
    pytest.importorskip("textual", reason="xdsl[gui] is not installed")
    with pytest.raises(CompilationError, match=message):
        interactive(args)
