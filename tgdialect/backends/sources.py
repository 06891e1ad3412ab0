"""The targets of tg-opt that are C-like languages: the sources of a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.target import Target

from tgdialect.analysis.symbols import own_functions
from tgdialect.diagnostics import locate
from tgdialect.lowering.levels import check_level
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.render.source import (
    joined,
    language_named,
    render_function,
    sections_of,
    source_text,
    to_source,
)
from tgdialect.ops import tg
from tgdialect.targets.attribute import target_of


def source_of(module: ModuleOp, output: str) -> str:
    """The sources of the programs of a module at level `planned`, as one text; in C also the
    functions that call them. Programs without a SOURCE are rendered.

    Raises PassFailedException for a module at another level, for a SOURCE in another language, and
    for what the language lacks.
    """
    render = RenderPass(output=output)
    check_level(module, render)
    programs = [op for op in module.ops if isinstance(op, tg.ProgramOp)]
    for program in programs:
        _check_language(program, output)
    if any(source_text(program) is None for program in programs):
        module = module.clone()
        render.lower(module)
        programs = [op for op in module.ops if isinstance(op, tg.ProgramOp)]
    sources = [sections_of(source) for source in map(source_text, programs) if source is not None]
    if output == "c":
        target = target_of(module)
        for function in own_functions(module):
            try:
                text = render_function(function, programs, target)
            except PassFailedException as error:
                raise locate(error, function) from error
            sources.append(sections_of(text))
    if not sources and module.body.block.ops:
        raise PassFailedException(
            f"the module has no program: {to_source(language_named(output))} makes them"
        )
    return joined(sources)


def _check_language(program: tg.ProgramOp, output: str) -> None:
    """Raise PassFailedException if a program has a SOURCE in another language than `output`."""
    if (source := program.source) is None:
        return
    has = None if source.language is None else source.language.data
    if has == output:
        return
    name = f"@{program.sym_name.data} has a tg.source"
    message = f'{name} in no stated language: write it behind the text, as `in "{output}"`'
    if has is not None:
        message = (
            f"{name} in {has}, not in {output}: print it by -t {has}, or lower the program on "
            f"tensors by {to_source(language_named(output))}"
        )
    raise locate(PassFailedException(message), source)


@dataclass(frozen=True)
class SourceTarget(Target):
    """Writes the programs of a module at level `planned` in the C-like language of its name."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(source_of(module, self.name))


def language_target(language: str) -> type[SourceTarget]:
    """The target that writes a language."""
    return type(f"{language.title()}Target", (SourceTarget,), {"name": language})
