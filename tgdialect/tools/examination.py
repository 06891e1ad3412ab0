"""A program, its passes and its inputs, as the tools that look for a failure take them: the flags,
and what they stand for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tgdialect import registry
from tgdialect.actions.bisect import BisectedPass
from tgdialect.actions.execution import has_tg
from tgdialect.diagnostics import CompilationError, operation_diagnostic, running, verify_module
from tgdialect.lowering.levels import level_of
from tgdialect.lowering.pipeline import stages
from tgdialect.ops import tg
from tgdialect.runtime.program import DEFAULT_OPT
from tgdialect.tools.console import UsageError, file_name, folder_name, input_format
from tgdialect.tools.instrumentation import alone, flatten
from tgdialect.tools.pass_pipeline import NestedPasses, Step, build_pipeline, parse_pipeline
from tgdialect.tools.tg_run_session import bind_inputs, find_entry, find_parameters
from tgdialect.tools.tg_run_values import ProgramInput

FLAGS = """
  -p --passes PIPELINE...: passes to run, as for tg-opt (default: the stages that tg-run compiles
    with)
  --pass-pipeline PIPELINE: all passes in MLIR's spelling: 'builtin.module(cse,func.func(cse))'
  --opt OPT: the schedule of the default stages, as for tg-run (default: heuristic)
  --target TARGET: the kind of machine of the default stages: cpu (default), opencl, ...
  --entry NAME: the function to run (default: main, or the only one)
  --input INPUT...: the next input, as for tg-run; those that are not given are random
  --arg NAME=INPUT...: the input of that name
  --data-folder DIR: the folder of the files whose bytes the program names (default: that of FILE)
"""
OPTIONS: dict[str, dict[str, Any]] = {
    "frontend": {"type": input_format},
    "data_folder": {"type": folder_name},
    "output": {"type": file_name},
}
"""The options of argparse for the flags, by destination."""


class Examined(NamedTuple):
    """A program: its verified module, its passes, and the inputs of its entry."""

    module: ModuleOp
    steps: Sequence[BisectedPass]
    entry: str
    inputs: Sequence[Any]


def examined(options: argparse.Namespace) -> Examined:
    """The program that the flags name. Raises CompilationError."""
    source = registry.read_program(options.file, options.frontend)
    ctx = registry.make_context()
    try:
        module = registry.parse_program(ctx, source, options.frontend)
        verify_module(module)
        steps = list(_steps(options, ctx, module))
        entry = find_entry(module, options.entry)
        inputs = bind_inputs(inputs_of(entry), options.input, options.arg, has_defaults=True)
    except UsageError:
        raise  # It is about the command line.
    except CompilationError as error:
        raise error.with_source(source) from error
    return Examined(module, steps, entry.sym_name.data, inputs)


# -- passes ----------------------------------------------------------------------------------------


def _steps(options: argparse.Namespace, ctx: Context, module: ModuleOp) -> Iterator[BisectedPass]:
    if options.passes and options.pass_pipeline:
        raise UsageError("name all passes by --pass-pipeline, or all by -p")
    if options.passes or options.pass_pipeline:
        if options.opt or options.target:
            raise UsageError("--opt and --target are options of the default stages")
        specs = [spec for text in options.passes for spec in parse_pipeline(text)]
        if options.pass_pipeline:
            specs = parse_pipeline(options.pass_pipeline, anchor_required=True)
        passes = flatten(build_pipeline(specs, registry.universe().all_passes, ctx, ()))
    else:
        passes = list(_default_passes(options, ctx, module))
    for step in passes:
        name = str(step) if isinstance(step, NestedPasses) else step.name
        yield BisectedPass(name, partial(run_step, step, ctx))


def _default_passes(options: argparse.Namespace, ctx: Context, module: ModuleOp) -> Iterator[Step]:
    """The passes that compile a program of `tg`."""
    upgraded = registry.upgrades_for(module)
    for name in upgraded.values():
        yield registry.universe().all_passes[name]()()
    if not upgraded and not has_tg(module):
        raise UsageError("the program has no op of tg: name passes by -p")
    level = "tensor" if upgraded else level_of(module) or "tensor"
    yield from stages(mode=options.opt or DEFAULT_OPT, target=options.target).from_level(level)


def run_step(step: Step, ctx: Context, op: Operation) -> None:
    """Run a pass of a pipeline on an operation, as an action."""
    if isinstance(step, NestedPasses):
        for inner in step.operations(op):
            for each in step.steps:
                run_step(each, ctx, inner)
        return
    with alone(op) as module, running(step.name, module) as is_allowed:
        if is_allowed:
            step.apply(ctx, module)


# -- inputs ----------------------------------------------------------------------------------------


def inputs_of(entry: FuncOp) -> Sequence[ProgramInput]:
    """The inputs of an entry. Numbers of other dialects are read as scalars of `tg` are."""
    if all(tg.is_tensor(argument.type) for argument in entry.args):
        return find_parameters(entry)
    found: list[ProgramInput] = []
    for argument in entry.args:
        if argument.type not in tg.DTYPES:
            message = f"argument {argument.index} is {argument.type}: tensors or numbers are read"
            raise CompilationError(operation_diagnostic(entry, message))
        row, type = tg.DTYPES[argument.type], tg.tensor_type(argument.type)
        interval = tg.Interval(row.low, row.high)
        name = argument.name_hint
        found.append(ProgramInput(argument.index, name, type, (), interval, is_written=False))
    return found
