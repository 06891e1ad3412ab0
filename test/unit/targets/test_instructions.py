"""The tables of instructions: each entry is one instruction, and computes what its meaning says."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from contextlib import redirect_stdout
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from compilers import COMPILERS
from instruction_text import dtypes_of, kernel_text, operands_of
from ptxas import assemble, needs_ptxas
from xdsl.dialects.func import FuncOp

import tgdialect as tg
from tgdialect.analysis.constants import constants
from tgdialect.diagnostics import CompilationError, SourceFile, parse_module
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.interpreter.instructions import MEANINGS
from tgdialect.registry import make_context
from tgdialect.targets import MOST, target_named
from tgdialect.targets.host import host_features
from tgdialect.targets.instructions import TABLES, InstructionForm, gnu
from tgdialect.tools.tg_opt import TgOptMain

HERE = target_named("cpu", host_features())
MC, LLC = map(shutil.which, ("llvm-mc-19", "llc-19"))
needs_mc = pytest.mark.skipif(MC is None or LLC is None, reason="LLVM 19's tools are not installed")
ARM = frozenset(("neon", "crc", "dotprod", "i8mm"))
ENTRIES = [
    pytest.param(table, name, form, id=f"{table}-{name}-{form.signature}-{form.lanes}-{i}")
    for table, rows in TABLES.items()
    for name, row in rows.items()
    for i, form in enumerate(row)
]
OF_CPU = [entry for entry in ENTRIES if entry.values[0] == "cpu"]


def printed(text: str, folder: Path, target: str, output: str, *arguments: str) -> str:
    """The text that tg-opt prints of a program at level kernels, or tiles if it has a warp."""
    path = folder / "program.mlir"
    path.write_text(text)
    stages = f"tg-linearize,tg-plan,tg-render{{output={output}}}"
    select = f"tg-optimize{{target={target} mode=heuristic}},tg-expand,tg-select"
    if "tg.range 0 warp" in text:
        select = f"tg-select{{target={target}}}"
    passes = f"{select},{stages}"
    with redirect_stdout(io.StringIO()) as out:
        assert TgOptMain.main([str(path), "-p", passes, *arguments]) == 0
    return out.getvalue()


BLOCKS = re.compile(
    r"(?:#APP|//APP|;;#ASMSTART|// begin inline asm)\n"
    r"(.*?)"
    r"\s*(?:#NO_APP|//NO_APP|;;#ASMEND|// end inline asm)",
    re.DOTALL,
)


def instructions_in(assembly: str) -> list[str]:
    """The inline assembly in an assembly, each of one line."""
    blocks = [block.strip() for block in BLOCKS.findall(assembly)]
    assert blocks, assembly
    assert not any("\n" in block for block in blocks), assembly
    return blocks


def features_of(form: InstructionForm) -> set[str]:
    """The features that a CPU needs for a form, and for vectors as wide as the form's."""
    if form.needs & ARM:
        return {*form.needs, "neon"}
    bits = form.lanes * int((form.signature.result or "b0")[1:])
    return {*form.needs, *(["avx512f"] if bits > 256 else [])}


def piped(command: list[str], text: str) -> str:
    """The output of a program for a text. It must not complain."""
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return run.stdout


def assemble_with(triple: str, options: list[str], lines: list[str]) -> list[str]:
    """The encodings that LLVM's assembler gives of instructions."""
    command = [str(MC), f"-triple={triple}", "-show-encoding", *options]
    return re.findall(r"encoding: (\[.*\])", piped(command, "\n".join(lines)))


@needs_mc
@pytest.mark.sampled(6)
@pytest.mark.parametrize(("table", "name", "form"), OF_CPU)
def test_one_instruction_of_a_cpu(
    table: str, name: str, form: InstructionForm, tmp_path: Path
) -> None:
    features = sorted(features_of(form))
    triple = "aarch64-linux-gnu" if form.needs & ARM else "x86_64-linux-gnu"
    flags = ",".join(f"+{each}" for each in features)
    text = kernel_text(f"cpu.{name}", form, 4 * form.lanes)
    target = f"cpu features={','.join(features)}"
    if form.needs & ARM:  # llvmlite has no parser of its assembly elsewhere.
        ir = printed(text, tmp_path, target, "llvm", "-t", "llvm")
        assembly = piped([str(LLC), f"-mtriple={triple}", f"-mattr={flags}"], ir)
    else:
        asm = f'asm{{triple={triple} features="{flags}"}}'
        assembly = printed(text, tmp_path, target, "llvm", "-t", asm)
    lines = instructions_in(assembly)
    assert len(assemble_with(triple, [f"-mattr={flags}"], lines)) == len(lines)


@needs_mc
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("table", "name", "form"), [entry for entry in ENTRIES if entry.values[0] == "amd"]
)
def test_one_instruction_of_a_gpu_of_amd(
    table: str, name: str, form: InstructionForm, tmp_path: Path
) -> None:
    for target in form.needs:
        assembly = printed(
            kernel_text(f"{target}.{name}", form), tmp_path, target, "gpu", "-t", "amdgcn"
        )
        lines = instructions_in(assembly)
        encoded = assemble_with("amdgcn", [f"-mcpu={target.partition(':')[2]}"], lines)
        assert len(encoded) == len(lines)


@needs_ptxas
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("table", "name", "form"), [entry for entry in ENTRIES if entry.values[0] == "nvidia"]
)
def test_one_instruction_of_ptx(
    table: str, name: str, form: InstructionForm, tmp_path: Path
) -> None:
    for target in form.needs:
        ptx = printed(kernel_text(f"{target}.{name}", form), tmp_path, target, "gpu", "-t", "ptx")
        assert all(line.count(";") == 1 for line in instructions_in(ptx))
        assemble(ptx, target.partition(":")[2])
        cuda = printed(kernel_text(f"nvidia.{name}", form), tmp_path, target, "cuda", "-t", "cuda")
        assert gnu(form.text, has_dialects=False) in cuda
        if form.is_of_warp and (nvcc := COMPILERS[f"nvcc for {target.partition(':')[2]}"]).path:
            nvcc.check(cuda)


@pytest.mark.parametrize(
    ("name", "form"), [entry.values[1:] for entry in ENTRIES if entry.values[2].is_of_warp]
)
def test_of_a_warp(name: str, form: InstructionForm) -> None:
    """The product of the fragments of a warp, which lie as the PTX ISA's pages on `mma` say."""
    factor, random = form.signature.operands[0], np.random.default_rng(2)
    dtype = {"b32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}.get(factor)
    dtype = np.dtype(dtype or getattr(ml_dtypes, f"float8_{factor[2:].lower()}"))
    held = 4 // dtype.itemsize  # Elements of a register of 32 bits.
    group, thread = np.arange(32)[:, None] // 4, np.arange(32)[:, None] % 4
    register, place = np.divmod(np.arange(4 * held), held)
    along_k = thread * held + place + 4 * held * (register // 2)
    of_a = group + 8 * (register % 2), along_k
    register, place = np.divmod(np.arange(2 * held), held)
    of_b = thread * held + place + 4 * held * register, group + 0 * register
    of_c = group + 8 * (np.arange(4) // 2), 2 * thread + np.arange(4) % 2
    a, b = (
        random.integers(-4, 5, shape).astype(dtype) for shape in ((16, 8 * held), (8 * held, 8))
    )
    c = random.normal(size=(16, 8)).astype(np.float32)
    fragments = [a[of_a], b[of_b]]
    if factor == "b32":
        fragments = [x.view(np.uint32) for x in fragments]
    text = kernel_text(f"nvidia.{name}", form)
    found = tg.compile(text, target="interpreter")(*fragments, c[of_c])
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    np.testing.assert_allclose(found, expected[of_c], rtol=1e-6, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("table", "name", "form"), [entry for entry in OF_CPU if entry.values[2].is_of(HERE)]
)
def test_equals_its_meaning(table: str, name: str, form: InstructionForm) -> None:
    """On this processor, with full registers and one that is not."""
    cells = 3 * form.lanes + 5
    operands = operands_of(form, np.random.default_rng(form.lanes), cells)
    text = kernel_text(f"cpu.{name}", form, cells)
    if form.signature.result is None:
        tg.compile(text)(*operands)
        return
    found, expected = (
        tg.compile(text, target=target)(*operands) for target in ("cpu", "interpreter")
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("name", ["popcnt", "crc32", "pause", "vpmaddwd", "vpaddusb", "vpdpbusd"])
def test_in_c(name: str, tmp_path: Path) -> None:
    """A compiler takes the inline assembly in C, and warns of nothing."""
    for form in TABLES["cpu"][name]:
        if form.needs & ARM:
            continue
        target = f"cpu features={','.join(sorted(features_of(form)))}"
        text = printed(kernel_text(f"cpu.{name}", form, 64), tmp_path, target, "c", "-t", "c")
        (tmp_path / "k.c").write_text(text)
        flags = [f"-m{feature}" for feature in features_of(form)]
        command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", *flags, "-c", "k.c"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


def test_every_instruction_has_a_meaning() -> None:
    named = {
        name
        for table in TABLES.values()
        for name, forms in table.items()
        if forms[0].signature.result is not None and not forms[0].is_of_warp
    }
    assert named == MEANINGS.keys()


def test_page_lists_all() -> None:
    page = (Path(__file__).parents[3] / "docs" / "instructions.md").read_text()
    assert [name for table in TABLES.values() for name in table if f"`{name}`" not in page] == []


def test_every_instruction_is_of_a_target() -> None:
    for table, name, form in (entry.values for entry in ENTRIES):
        there = [target for target in MOST.values() if target.name.startswith(f"{table}")]
        assert any(form.is_of(target) for target in there), (name, form)


@pytest.mark.parametrize(
    ("mnemonic", "wanted"),
    [
        ("cpu.vpdpbusd", r"needs avx512vnni( and \w+)?.* the target cpu has: .*popcnt"),
        ("nvidia.popc", "is an instruction of nvidia; the target cpu has: "),
        ("nvidia:sm_90.popc", "is an instruction of nvidia:sm_90; the target cpu has: "),
    ],
)
def test_of_another_processor(mnemonic: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One located error, which lists what there is."""
    from tgdialect.runtime import build
    from tgdialect.targets import attribute, host

    features = lambda: ("avx2", "popcnt")  # noqa: E731
    for module in (attribute, host, build):
        monkeypatch.setattr(module, "host_features", features)
    table, _, name = mnemonic.partition(".")
    form = TABLES[table.partition(":")[0]][name][-1]
    with pytest.raises(CompilationError, match=rf":\d+:\d+: error: .*{wanted}"):
        tg.compile(kernel_text(mnemonic, form))(*operands_of(form, np.random.default_rng(0)))


def test_in_a_register_tile() -> None:
    """An instruction on single cells, where the schedule has vectors and an unrolled loop."""
    form = TABLES["cpu"]["popcnt"][0]
    if not form.is_of(HERE):
        pytest.skip("this CPU has no popcnt")
    x = operands_of(form, np.random.default_rng(3), 64)
    schedules = ("heuristic", "none", "explicit:split 0, 8, upcast")
    for opt in schedules:
        found = tg.compile(kernel_text("cpu.popcnt", form, 64), opt=opt)(*x)
        np.testing.assert_array_equal(found, np.bitwise_count(x[0]))


def test_dtypes_of_forms() -> None:
    """Each form accepts integers with a sign and without."""
    form = TABLES["cpu"]["popcnt"][0]
    text = kernel_text("cpu.popcnt", form).replace("ui32", "i32").replace("ui64", "i64")
    assert dtypes_of(form)[0].startswith("ui")
    x = operands_of(form, np.random.default_rng(5))[0]
    signed = x.view(f"i{x.dtype.itemsize}")
    found = tg.compile(text, target="interpreter")(signed)
    np.testing.assert_array_equal(found, np.bitwise_count(x))


@pytest.mark.parametrize(("name", "is_constant"), [("popc", True), ("nanosleep", False)])
def test_of_constants(name: str, is_constant: bool) -> None:
    """A CALL of constants is one itself, unless an instruction has an effect."""
    text = kernel_text(f"nvidia.{name}", TABLES["nvidia"][name][0])
    buffer = '  %b = tg.buffer 0 : tensor<37xui32, #tg.place<"CPU", global>>'
    text = text.replace("%out)", "%b)").replace("  %0 = tg.call", f"{buffer}\n  %0 = tg.call")
    text = text.replace("global>>, %out", "global>> {tg.constant}, %out")
    module = parse_module(make_context(), SourceFile("test", text, 1))
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    assert bool(constants(function, ops_of(function.body.block)).calls) == is_constant
