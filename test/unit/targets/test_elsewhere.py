"""Programs that were made for other processors: right here, or one located error."""

from __future__ import annotations

import ctypes
import io
import os
import re
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from foreign_texts import Case, cases, inputs_and_result, outcomes, programs, text_of
from xdsl.utils.exceptions import LLVMTranslationException

import tgdialect as tg
from tgdialect.backends.guarded import guarded
from tgdialect.diagnostics import CompilationError, parse_module
from tgdialect.diagnostics.diagnostic import SourceFile
from tgdialect.registry import make_context
from tgdialect.targets import attribute, host, target_named
from tgdialect.targets.attribute import TargetAttr, target_of
from tgdialect.targets.host import host_features
from tgdialect.targets.needed import features_of_assembly
from tgdialect.tools.tg_opt import TgOptMain

PRODUCT = "product of bf16 64x64x64"
TILES = '"cpu", features = ["amx-bf16", "avx512bf16", "avx512vl"], threads = 1'
SCALES = '"cpu", features = ["avx512vl"], threads = 1'
POWERS = """func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = tg.exp2 %x : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""


def check(count: int, seed: int) -> Counter[str]:
    """Run random cases. Returns how many were right, and how many an error."""
    for name in programs():
        inputs_and_result(name)  # Once, before the forks.
    found: Counter[str] = Counter()
    for case, said in outcomes([*cases(seed, count)]):
        assert not said.startswith(("ended", "not written")), (case, said)
        found["right" if said == "right" else "error"] += 1
    return found


def test_random_texts() -> None:
    assert check(40, 1)["right"] >= 15


@pytest.mark.slow
def test_many_random_texts() -> None:
    found = check(2000, 51)
    assert min(found["right"], found["error"]) >= 400, found


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU of AVX2, whatever this one is: it has no feature that the texts below ask for."""
    monkeypatch.setattr(attribute, "host_features", lambda: ("avx2", "fma", "f16c"))


def compiled(text: str, inputs: Sequence[Any]) -> Any:
    return np.asarray(tg.compile(text, allow_custom=True)(*inputs), np.float64)


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("stage", range(4))
def test_matrix_tiles_of_another_cpu(stage: int) -> None:
    """Until `tg-optimize` has chosen them, after two stages, they are compiled for this one."""
    text = text_of(Case(PRODUCT, TILES, "heuristic", stage, "", "cpu"))
    inputs, expected = inputs_and_result(PRODUCT)
    if stage < 3:
        np.testing.assert_allclose(compiled(text, inputs), expected, rtol=1e-5, atol=1e-4)
        return
    wanted = r":\d+:\d+: error: .*needs the feature amx-bf16.*from level kernels \(tg-optimize\)"
    with pytest.raises(CompilationError, match=wanted):
        compiled(text, inputs)


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("stage", range(8))
def test_powers_of_another_cpu(stage: int) -> None:
    """They are compiled for this one until there are vectors for which `tg-select` has chosen the
    instruction that scales: its kernels are selected again if they may still be any target's."""
    module = f"module attributes {{tg.target = #tg.target<{SCALES}>}} {{\n{POWERS}}}"
    folder = ",".join(STAGES[:stage])
    text = lowered(module, folder) if stage else module
    x = np.linspace(-3, 3, 64 * 64, dtype=np.float32).reshape(64, 64)
    if stage <= 5:
        np.testing.assert_allclose(compiled(text, [x]), np.exp2(x.astype(np.float64)), rtol=1e-6)
        return
    if stage == 7 and "avx512f" in host_features():
        return  # LLVM compiles it for this CPU.
    wanted = r":\d+:\d+: error: .*needs the feature avx512.*from level (tiles|kernels) \(tg-"
    with pytest.raises(CompilationError, match=wanted):
        compiled(text, [x])


STAGES = (
    *("tg-callify", "tg-rangeify", "tg-optimize{mode=heuristic}", "tg-expand", "tg-select"),
    *("tg-linearize,tg-plan", "tg-render"),
)


def lowered(text: str, passes: str) -> str:
    """The output of tg-opt."""
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as out:
        path = Path(folder) / "in.mlir"
        path.write_text(text)
        assert TgOptMain.main([str(path), "-p", passes]) == 0
    return out.getvalue()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("asm", "wanted"),
    [
        ("asm{cpu=haswell}", r"LLVM generates no code: .*needs the feature avx512f"),
        ("asm{cpu=nonsense}", "LLVM has no processor 'nonsense'"),
        ('asm{features="+nonsense"}', r"LLVM has no feature '\+nonsense'"),
        ("asm{cpu=i386}", "LLVM generates no code: 64-bit code requested"),
        ('asm{features="+avx512vl"}', None),
        ("asm{cpu=skylake-avx512}", None),
    ],
)
def test_assembly_for_other_cpus(
    asm: str, wanted: str | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    module = f"module attributes {{tg.target = #tg.target<{SCALES}>}} {{\n{POWERS}}}"
    (tmp_path / "in.mlir").write_text(module)
    passes = "tg-to-llvm{mode=heuristic}"
    code = TgOptMain.main([str(tmp_path / "in.mlir"), "-p", passes, "-t", asm])
    out, err = capfd.readouterr()
    if wanted is None:
        assert (code, err) == (0, "")
        assert "vscalefps" in out
        return
    assert (code, out) == (1, "")
    assert re.match(rf".*in\.mlir:1:1: error: target asm: {wanted}", err), err
    assert err.count("error: ") == 1


@pytest.mark.usefixtures("old")
def test_a_search_times_no_code_of_another_cpu(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.mlir").write_text(lowered(POWERS, "tg-callify,tg-rangeify"))
    passes = "tg-optimize{mode=beam:1 features=avx512vl}"
    assert TgOptMain.main([str(tmp_path / "in.mlir"), "-p", passes]) == 1
    assert "times kernels on this CPU, which lacks avx512vl" in capfd.readouterr().err


def test_features_are_those_of_this_machine_unless_they_are_named() -> None:
    def found(target: str) -> tuple[Any, str]:
        module = parse_module(
            make_context(), SourceFile("<s>", f"module {attributed(target)} {{}}")
        )
        return target_of(module), str(module.attributes["tg.target"])

    def attributed(target: str) -> str:
        return f"attributes {{tg.target = #tg.target<{target}>}}"

    here = target_named("cpu", host_features())
    assert here.features
    for target, features in (
        ('"cpu"', here.features),
        ('"cpu", threads = 1', here.features),
        ('"cpu", features = []', frozenset[str]()),
        ('"cpu", features = [], threads = 1', frozenset[str]()),
        ('"cpu", features = ["sse2"]', {"sse", "sse2"}),
    ):
        described, text = found(target)
        assert described.features == features, target
        assert text == f"#tg.target<{target}>"
    for stated in (target_named("cpu"), here, target_named("c"), target_named("opencl")):
        attribute = TargetAttr.of(stated)
        assert ("features" in str(attribute)) == (stated.name == "cpu")
        text = str(attribute).removeprefix("#tg.target<").removesuffix(">")
        assert found(text)[0] == stated


def test_a_dump_says_for_which_features_it_was_made() -> None:
    module = f'module attributes {{tg.target = #tg.target<"cpu", threads = 3>}} {{\n{POWERS}}}'
    text = lowered(module, "tg-callify,tg-rangeify,tg-optimize")
    assert re.search(r'#tg.target<"cpu", features = \[".*"\], threads = 3>', text)


def test_a_cache_that_two_machines_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is that of the CPU as LLVM sees it, and of what of it this process may use."""

    def key() -> str:
        return host.host_cpu.__wrapped__()

    here = key()
    assert key() == here
    is_permitted = host.may_use_tiles()
    monkeypatch.setattr(host, "may_use_tiles", lambda: not is_permitted)
    assert key() != here
    monkeypatch.undo()
    monkeypatch.setattr(host, "processor_words", lambda: "another")
    assert key() != here
    monkeypatch.setattr(host, "processor_words", lambda: None)
    fallback = key()
    monkeypatch.setattr(host, "llvm_host", lambda: ("triple", "cpu", "+avx2"))
    assert key() != fallback


def test_the_words_of_this_processor() -> None:
    """They are the same on each core, and all that LLVM sees is in them."""
    words = host.processor_words()
    if words is None or not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system does not say them, or binds no process to a core")
    cores = os.sched_getaffinity(0)
    try:
        for core in cores:
            os.sched_setaffinity(0, {core})
            assert host.processor_words() == words
    finally:
        os.sched_setaffinity(0, cores)


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("vpdpbusd %zmm1, %zmm2, %zmm3", ["avx512f", "avx512vnni"]),
        ("vpdpbusd %xmm1, %xmm2, %xmm3", ["avxvnni avx512vnni", "avx"]),
        ("vaesenc %ymm1, %ymm2, %ymm3", ["vaes", "avx"]),
        ("vpaddd %ymm1, %ymm2, %ymm3", ["avx2", "avx"]),
        ("vpaddd %xmm1, %xmm2, %xmm3", ["avx"]),
        ("vpaddd %xmm1, %xmm2, %xmm3; vaddps %ymm1, %ymm2, %ymm3", ["avx"]),  # Two instructions.
        ("addl $1, %eax\n\tpaddd %xmm1, %xmm2", []),
    ],
)
def test_features_of_assembly(text: str, features: list[str]) -> None:
    assert list(features_of_assembly(text)) == features


def test_handlers_of_exit_are_not_called() -> None:
    """They may wait for threads that a child does not have."""
    libc = ctypes.CDLL(None)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: os.write(2, b"LLVM ERROR: called"))

    def work(_: str) -> None:
        libc.exit(1)

    if (child := os.fork()) == 0:  # Whose handlers are its own.
        status = 2
        try:
            libc.__cxa_atexit(handler, None, None)
            guarded(work, "")
        except LLVMTranslationException as error:
            status = int("it ended" not in str(error))
        finally:
            os._exit(status)  # Whatever was raised: else the child would go on with the tests.
    assert os.waitpid(child, 0)[1] == 0


def test_a_child_for_llvm() -> None:
    """It gives results and exceptions, and its end is an exception."""
    assert guarded(str.upper, "ir") == "IR"
    with pytest.raises(ZeroDivisionError):
        guarded(lambda _: 1 // 0, "")
    with pytest.raises(LLVMTranslationException, match="generates no code: Aborted"):
        guarded(lambda _: os.kill(os.getpid(), signal.SIGABRT), "")
    with pytest.raises(LLVMTranslationException, match="no code: it cannot be"):
        guarded(lambda _: (os.write(2, b"LLVM ERROR: it cannot be\n"), os._exit(1)), "")
