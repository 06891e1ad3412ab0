"""What differs between processors is said in `targets/` alone: nothing else names one."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "tgdialect"

PROCESSORS = re.compile(
    r"""\b(?:
        avx[\w.-]* | sse[\d.]*a? | neon | sve2? | amx[\w-]* | f16c | x86[\w-]* | i[36]86
        | aarch64 | arm(?:64)? | riscv\d* | intel\w* | amd\w* | nvidia | nvvm | zen\d? | skylake
        | haswell | icelake | neoverse[\w-]* | \w+[ ]rapids | xeon | epyc
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Instruction sets, architectures, makers and models."""

SIZES = re.compile(
    r"^_?(?:CACHE_LINE|L[123]|LLC|PAGE\w*|ALIGNMENT|REGISTERS)\b.*= *\d", re.MULTILINE
)
"""Constants that are sizes of a processor."""

DEFAULTS = re.compile(r"""= *["']cpu["']""")
"""The name of a target as a default."""

EXCEPTIONS = {
    "runtime/elf.py": "a linker of one object format, which the ABI of one architecture defines",
    "runtime/images.py": "says for which object code there is that linker",
    "backends/llvm_ir/instructions.py": "keywords of LLVM IR, and its calling conventions",
    "backends/llvm_ir/functions.py": "names of upstream's dialects, and LLVM IR's for the same",
    "backends/llvm_ir/values.py": "`x86_fp80` is a type of LLVM IR",
    "backends/asm.py": "the names of output formats",
    "backends/commands.py": "the assembler and the linker of each vendor",
    "gpu_dialect/": "names of upstream's dialects, and what they say",
    "platforms.py": "the architectures of machines, before anything else is imported",
    "lowering/pipeline.py": "the default target of `tg-to-gpu`",
    "lowering/render/reserved.py": "words that compilers for some processors reserve",
    "lowering/render/gpu/": "the intrinsics of each vendor",
    "runtime/devices/": "the drivers of each vendor",
    "runtime/distributed/nccl.py": "the collectives of one vendor's GPUs",
    "runtime/machine_code.py": "the names of output formats",
    "tools/tg_compile.py": "examples of targets in the help",
    "tools/tg_run.py": "examples of targets in the help",
    "universe.py": "names of upstream's dialects and of output formats",
}
"""Files and folders that do name a processor, and why."""


def exception(name: str) -> str:
    """The entry of `EXCEPTIONS` for a file; the file itself if there is none."""
    return next((e for e in EXCEPTIONS if name == e or (e[-1] == "/" and name.startswith(e))), name)


def test_processors_are_named_in_targets_only() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith("targets/"):
            continue
        text = path.read_text()
        if hits := [m[0] for p in (PROCESSORS, SIZES, DEFAULTS) for m in p.finditer(text)]:
            found[exception(name)] = hits
    assert {name: hits for name, hits in found.items() if name not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() <= found.keys()
