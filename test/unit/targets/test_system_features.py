"""Features of AArch64 that LLVM does not report, on systems that are imitated."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Collection
from typing import Any

import llvmlite.binding as llvm
import pytest

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.targets import host, target_named
from tgdialect.targets.processor import system_features


class Library:
    """The C library of a system that reports these features."""

    def __init__(self, words: dict[int, int], keys: Collection[str]):
        def getauxval(entry: int) -> int:
            return words.get(entry, 0)

        def sysctlbyname(name: bytes, value: Any, size: Any, new: object, new_size: object) -> int:
            key = name.decode().removeprefix("hw.optional.arm.")
            if key not in keys:
                return -1  # Older systems do not know newer keys.
            value._obj.value, size._obj.value = 1, 4
            return 0

        self.getauxval, self.sysctlbyname = getauxval, sysctlbyname


def imitate(
    monkeypatch: pytest.MonkeyPatch,
    machine: str,
    system: str,
    words: dict[int, int] | None = None,
    keys: Collection[str] = (),
) -> None:
    library = Library(words or {}, keys)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(ctypes, "CDLL", lambda name, **options: library)


def found() -> set[str]:
    return set(system_features())


BASE = {"neon", "fp-armv8"}


def test_linux(monkeypatch: pytest.MonkeyPatch):
    # The words of a Cortex-A72, a Neoverse N1, and all that QEMU 7.2 knows.
    imitate(monkeypatch, "aarch64", "Linux", {16: 0x8FB})
    assert found() == BASE
    imitate(monkeypatch, "aarch64", "Linux", {16: 0x119FFB})
    assert found() == BASE | {"fullfp16", "dotprod"}
    imitate(monkeypatch, "aarch64", "Linux", {16: 0xECFFFFFB, 26: 0x7F877FFF})
    assert found() == BASE | {"fullfp16", "dotprod", "i8mm", "bf16"}


def test_macos(monkeypatch: pytest.MonkeyPatch):
    imitate(monkeypatch, "arm64", "Darwin", keys=("FEAT_FP16", "FEAT_DotProd"))
    assert found() == BASE | {"fullfp16", "dotprod"}
    imitate(monkeypatch, "arm64", "Darwin", keys=("FEAT_FP16", "FEAT_BF16", "FEAT_I8MM"))
    assert found() == BASE | {"fullfp16", "bf16", "i8mm"}


def test_other_machines(monkeypatch: pytest.MonkeyPatch):
    imitate(monkeypatch, "x86_64", "Linux", {16: 0x178BFBFF})
    assert not found()
    imitate(monkeypatch, "aarch64", "FreeBSD")
    assert found() == BASE


def test_a_machine_of_which_llvm_reports_nothing(monkeypatch: pytest.MonkeyPatch):
    """As on Apple silicon: its kernels have vectors all the same."""
    imitate(monkeypatch, "arm64", "Darwin", keys=("FEAT_DotProd",))
    monkeypatch.setattr(llvm, "get_host_cpu_features", llvm.FeatureMap)
    monkeypatch.setattr(llvm, "get_process_triple", lambda: "arm64-apple-darwin24.0.0")
    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: "apple-m1")
    cpu = CpuTarget(*host.llvm_host.__wrapped__())
    assert cpu.features == "+dotprod,+fp-armv8,+neon"
    target = target_named("cpu", cpu.features.split(","))
    assert (target.vector_bits, target.vector_registers) == (128, 32)
    assert "mulacc" in target.native
    assert target.load_store


def test_what_llvm_reports_comes_first(monkeypatch: pytest.MonkeyPatch):
    imitate(monkeypatch, "aarch64", "Linux", {16: 1 << 20 | 1 << 10})
    reported = llvm.FeatureMap(sve=True, dotprod=False, neon=True)
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: reported)
    features = host.llvm_host.__wrapped__()[2]
    assert features == "-dotprod,+fp-armv8,+fullfp16,+neon,+sve"
