"""The programs of a module as sources."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.symbols import calling_last, own_functions
from tgdialect.diagnostics import locate
from tgdialect.lowering.render.source.language import Language, to_source
from tgdialect.lowering.render.source.program import render_function, render_program
from tgdialect.lowering.render.walker import Alignments
from tgdialect.ops import tg
from tgdialect.targets import Target


def render_sources(module: ModuleOp, language: Language, target: Target) -> None:
    """Give each program of a module a SOURCE in a language.

    Raises PassFailedException for a language that has no grid if the target is one or the other way
    round, and at an op that the language cannot express.
    """
    if bool(language.specials) != target.is_grid:
        kind, other = ("a", "none") if target.is_grid else ("no", "one")
        raise PassFailedException(
            f"the target {target.name} has {kind} grid, a source in {language.name} is for {other}:"
            f" lower the program for it by {to_source(language)}"
        )
    programs = calling_last(op for op in module.ops if isinstance(op, tg.ProgramOp))
    alignments: Alignments = {}
    if target.is_grid:
        for function in own_functions(module):
            render_function(function, programs, target, alignments)
        # The host runs what only calls kernels.
        programs = [program for program in programs if not program.calls]
    for number, program in enumerate(programs):
        try:
            callees = programs[:number] if program.calls else ()
            text = render_program(program, language, target, alignments, callees)
        except PassFailedException as error:
            raise locate(error, program) from error
        if program.source is not None:
            program.body.block.erase_op(program.source)
        source = tg.SourceOp(text, language.name)
        source.location = program.location
        program.body.block.insert_op_after(source, program.linear)
