"""From a module at any level to a `Program` by the system's C compiler: the target `c`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Formatter

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.backends.c_compiler import SourceError, assembly, object_code
from tgdialect.backends.sources import source_of
from tgdialect.custom import is_in_process
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.lowering.render.names import SOURCE
from tgdialect.lowering.render.source import source_text
from tgdialect.ops import tg
from tgdialect.runtime.inspection import CodeOf, code_in
from tgdialect.runtime.program import Object, Parameter, Program
from tgdialect.runtime.progress import progress
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import StagedModule, not_in_process
from tgdialect.targets import Target
from tgdialect.targets.cpu import PORTABLE

_ENTRY = "tg_frame_entry"
"""The function that takes a frame (`Program`)."""

_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\(", re.ASCII)
"""The name of a function that C code may call."""


@dataclass(frozen=True)
class CBuild(StagedModule):
    """The compilation of a program to portable C, and of that for this CPU."""

    def described_target(self) -> Target:
        return PORTABLE

    def program(self) -> Program:
        """Also raises PassFailedException if there is no C compiler."""
        with progress(f"compiling {self.entry}") as shown, at_full_speed():
            if self.passes.render is None:
                message = "a module at level llvm is not for the target c"
                raise locate(PassFailedException(message), self.source)
            module, parameters, windows = self.planned(shown)
            shown.note = "C compiler"
            source = source_of(module, "c") + _frame_entry(self.entry, parameters)
            is_code = (
                isinstance(o, tg.CustomOp) and o.function is None for o in nested_ops(module)
            )
            try:
                code = object_code(source, has_runtime=self.custom.allowed and any(is_code))
            except SourceError as error:
                raise _at_custom(error, source.split("\n"), module) from None
            _check_called(module, code)
            return Program(parameters, (Object(_ENTRY, code, _ENTRY),), windows)

    def _code_of(self) -> CodeOf:
        module = self.module("render")
        asm = assembly(source_of(module, "c"))
        programs = (op for op in module.ops if isinstance(op, tg.ProgramOp))
        sources = {op.sym_name.data: source_text(op) or "" for op in programs}
        return lambda name: (sources[name], code_in(asm, SOURCE.symbol(name)))


def _at_custom(error: SourceError, lines: Sequence[str], module: ModuleOp) -> PassFailedException:
    """An error of the C compiler at the CUSTOM whose code is in the line that it names. Of several,
    the one with the longest code."""
    customs = [op for op in nested_ops(module) if isinstance(op, tg.CustomOp)]
    customs.sort(key=lambda op: -len(op.fmt.data))
    for number, text in error.errors:
        for op in customs:
            if any(pattern.search(lines[number]) for pattern in _code_lines(op)):
                message = f"the C compiler rejects the code of tg.custom: {text}"
                return locate(PassFailedException(message), op)
    return error


def _check_called(module: ModuleOp, code: bytes) -> None:
    """Raise PassFailedException for a CUSTOM that calls a function which this process lacks."""
    for op in nested_ops(module):
        for name in _CALLED.findall(op.fmt.data) if isinstance(op, tg.CustomOp) else ():
            if b"\0%b\0" % name.encode() in code and not is_in_process(name):
                raise locate(PassFailedException(not_in_process(name)), op)


def _code_lines(op: tg.CustomOp) -> Iterator[re.Pattern[str]]:
    """The lines of the code of a CUSTOM, with anything for operands."""
    for line in op.fmt.data.split("\n"):
        parts = [literal.strip() for literal, *_ in Formatter().parse(line)]
        if any(parts):
            yield re.compile(".*".join(map(re.escape, parts)).removesuffix(";"))


def _frame_entry(entry: str, signature: Sequence[Parameter]) -> str:
    """A C function that loads arguments from a frame and calls the entry with them."""
    arguments = ", ".join(
        f"frame[{i}]" if parameter.role == "scalar" else f"(void *)frame[{i}]"
        for i, parameter in enumerate(signature)
    )
    return f"\nvoid {_ENTRY}(const int64_t *frame) {{\n  {SOURCE.symbol(entry)}({arguments});\n}}\n"
