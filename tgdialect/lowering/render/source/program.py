"""Programs and host functions as sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import count, repeat

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.symbols import calling_last, own_functions
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.render.calls import requirements
from tgdialect.lowering.render.dynamic_local import dynamic_local
from tgdialect.lowering.render.grid_loops import loops_of_grid, shuffles_through_memory
from tgdialect.lowering.render.source.function import SourceFunction
from tgdialect.lowering.render.source.language import Language, to_source
from tgdialect.lowering.render.source.languages import C
from tgdialect.lowering.render.walker import Alignments, LinearWalker
from tgdialect.lowering.render.work_items import fission
from tgdialect.lowering.signature import written_arguments
from tgdialect.ops import tg
from tgdialect.ops.call import parameters
from tgdialect.targets import Target
from tgdialect.targets.grid import ALIGNMENT

Sections = Sequence[str]
"""The parts of a source: its preamble, helper functions, and a function."""


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


def render_program(
    program: tg.ProgramOp,
    language: Language,
    target: Target,
    alignments: Alignments,
    callees: Sequence[tg.ProgramOp] = (),
) -> str:
    """The source of a program: all that it needs, then the kernel. `callees` are the programs that
    it may call, which have a SOURCE."""
    if not language.shuffles:
        shuffles_through_memory(program.linear)
    if not target.is_grid:
        loops_of_grid(program.linear)
        fission(program.linear)
    block = program.linear.body.block
    ops, params = ops_of(block), [param.result for param in parameters(block)]
    owners = [access.memory.owner for access in accesses(ops) if access.writes]
    slots = {owner.slot.data for owner in owners if isinstance(owner, tg.ParamOp)}
    written = {param for slot, param in enumerate(params) if slot in slots}
    dynamic = dynamic_local(ops, target) if language.dynamic_shared else None
    wanted = {op.sym_name.data: requirements(op.linear.body.block) for op in callees}
    output = SourceFunction(language, params, ops, written, dynamic, wanted)
    walker = LinearWalker(output, target, wanted)
    name = program.sym_name.data
    walker.bind(params, output.given, (alignments.get((name, slot)) for slot in count()))
    walker.program(block, params)
    x, y, z = items = _workgroup(ops)
    head = language.kernel.format(
        name=language.names.symbol(name),
        parameters=", ".join(output.parameters),
        items=math.prod(items),
        x=x,
        y=y,
        z=z,
    )
    called = {op.callee.string_value() for op in ops if isinstance(op, tg.CallOp)}
    needed = [source_text(op) or "" for op in callees if op.sym_name.data in called]
    return joined([*map(sections_of, needed), _sections(output, head)])


def render_function(
    function: FuncOp,
    programs: Iterable[tg.ProgramOp],
    target: Target,
    alignments: Alignments | None = None,
) -> str:
    """A host function in C, which calls the kernels of a source. `alignments` gets those of the
    arguments of its CALLs."""
    wanted = {op.sym_name.data: requirements(op.linear.body.block) for op in programs}
    written = {function.args[position] for position in written_arguments(function)}
    output = SourceFunction(C, function.args, (), written, called=wanted)
    walker = LinearWalker(output, target, wanted, alignments)
    walker.bind(function.args, output.given, repeat(ALIGNMENT if target.is_grid else None))
    walker.function(function)
    name = C.names.symbol(function.sym_name.data)
    return joined([_sections(output, f"void {name}({', '.join(output.parameters)})")])


def _sections(output: SourceFunction, head: str) -> Sections:
    headers = "".join(f"{header}\n" for header in output.headers)
    function = "\n".join([f"{head} {{", *output.unused_parameters(), *output.body, "}"])
    return [output.language.preamble, headers, *output.helpers.values(), function]


def source_text(program: tg.ProgramOp) -> str | None:
    """The text of the SOURCE of a program; None if there is none."""
    return None if program.source is None else program.source.text.data


def joined(sources: Iterable[Sections]) -> str:
    """One source of the sections of several: each section once, a blank line between two."""
    unique = dict.fromkeys(s.strip("\n") for sections in sources for s in sections)
    return "\n\n".join(filter(None, unique)) + "\n"


def sections_of(text: str) -> Sections:
    """The sections of a source."""
    return text.split("\n\n")


def _workgroup(ops: Iterable[Operation]) -> tuple[int, int, int]:
    """The numbers of work items of a workgroup along x, y and z."""
    items = {"lidx0": 1, "lidx1": 1, "lidx2": 1}
    for op in ops:
        if isinstance(op, tg.SpecialOp) and op.symbol.data in items:
            if (bound := tg.known_index(op.bound)) is None:
                raise PassFailedException("the size of a workgroup is a constant")
            items[op.symbol.data] = bound
    return items["lidx0"], items["lidx1"], items["lidx2"]
