"""A program, its passes and its inputs, as the tools that look for a failure take them, and the
program that they leave."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect import registry
from tgdialect.actions.bisect import BisectedPass
from tgdialect.actions.execution import has_tg
from tgdialect.actions.predicate import text_of
from tgdialect.diagnostics import (
    CompilationError,
    SourceFile,
    exception_text,
    operation_diagnostic,
    running,
    verify_module,
)
from tgdialect.frontend.function import traceable
from tgdialect.lowering.levels import level_of
from tgdialect.lowering.optimize.stage import parse_mode
from tgdialect.lowering.pipeline import stages
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.program import DEFAULT_OPT
from tgdialect.targets import DEFAULT_TARGET, target_named
from tgdialect.tools.console import ToolError, UsageError, show, write_files
from tgdialect.tools.instrumentation import (
    EXTERNAL_PASSES,
    alone,
    flatten,
    no_external_programs,
)
from tgdialect.tools.pass_pipeline import NestedPasses, Step, build_pipeline, parse_pipeline
from tgdialect.tools.tg_run_session import (
    bind_inputs,
    find_entry,
    find_parameters,
    python_function,
    take_reproducer,
)
from tgdialect.tools.tg_run_values import ProgramInput, literal, npy_writer, typed_input


class Examined(NamedTuple):
    """A program: its verified module, its passes, and the inputs of its entry."""

    module: ModuleOp
    steps: Sequence[BisectedPass]
    entry: str
    inputs: Sequence[Any]


def examined(options: argparse.Namespace) -> Examined:
    """The program that the flags name. Raises CompilationError."""
    ctx = registry.make_context()
    if (found := _PYTHON.fullmatch(options.file)) is not None:
        source, arrays = _traced(found["path"], found["function"], options)
    else:
        source, arrays = registry.read_program(options.file, options.frontend), None
    source = replace(source, data_folder=options.data_folder)
    try:
        if options.run_reproducer:
            take_reproducer(source, options)
        module = registry.parse_program(ctx, source, options.frontend)
        verify_module(module)
        steps = list(_steps(options, ctx, module))
        entry = entry_of(module, options.entry)
        inputs = arrays or bind_inputs(
            inputs_of(entry), options.input, options.arg, has_defaults=True
        )
    except UsageError:
        raise  # It is about the command line.
    except CompilationError as error:
        raise error.with_source(source) from error
    return Examined(module, steps, entry.sym_name.data, inputs)


_PYTHON = re.compile(r"(?P<path>.*\.py):(?P<function>\w+)")
"""A Python function on tensors, by its file and its name."""


def _traced(
    path: str, name: str, options: argparse.Namespace
) -> tuple[SourceFile, Sequence[Array]]:
    """The program of a Python function, for the types of the inputs, and these."""
    if options.arg or options.entry:
        raise UsageError("--arg and --entry are for programs, and not for a Python function")
    arrays = [typed_input(text, position) for position, text in enumerate(options.input)]
    function = python_function(path, name, options.file)
    try:
        return SourceFile(f"{path}:{name}", str(traceable(function).lower(*arrays))), arrays
    except CompilationError:
        raise
    except Exception as error:  # It is that of a function of the user.
        raise ToolError(f"{path}:{name}: {exception_text(error)}") from error


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
        refused = () if options.allow_external else EXTERNAL_PASSES
        passes = flatten(build_pipeline(specs, registry.universe().all_passes, ctx, refused))
    else:
        passes = list(_default_passes(options, ctx, module))
    for step in passes:
        name = str(step) if isinstance(step, NestedPasses) else step.name
        yield BisectedPass(
            name, partial(run_step, step, ctx, allow_external=options.allow_external)
        )


def _default_passes(options: argparse.Namespace, ctx: Context, module: ModuleOp) -> Iterator[Step]:
    """The passes that compile a program of `tg`."""
    mode = options.opt or DEFAULT_OPT
    try:
        parse_mode(mode)
        target_named(options.target or DEFAULT_TARGET)
    except (ValueError, PassFailedException) as error:
        raise UsageError(str(error)) from error
    upgraded = registry.upgrades_for(module)
    for name in upgraded.values():
        yield registry.universe().all_passes[name]()()
    if not upgraded and not has_tg(module):
        raise UsageError("the program has no op of tg: name passes by -p")
    level = "tensor" if upgraded else level_of(module) or "tensor"
    yield from stages(mode=mode, target=options.target).from_level(level)


def run_step(step: Step, ctx: Context, op: Operation, *, allow_external: bool = False) -> None:
    """Run a pass of a pipeline on an operation, as an action."""
    if isinstance(step, NestedPasses):
        for inner in step.operations(op):
            for each in step.steps:
                run_step(each, ctx, inner, allow_external=allow_external)
        return
    with alone(op) as module, running(step, op) as is_allowed:
        if is_allowed:
            with nullcontext() if allow_external else no_external_programs():
                step.apply(ctx, module)


# -- inputs ----------------------------------------------------------------------------------------


def entry_of(module: ModuleOp, name: str | None) -> FuncOp:
    """The function to run, as `tg-run` finds it, or one of another dialect."""
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp) and not op.is_declaration
    }
    if name is None:
        name = next(iter(functions)) if len(functions) == 1 else "main"
    return functions[name] if name in functions else find_entry(module, name, [*functions])


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


# -- what they leave -------------------------------------------------------------------------------

_MOST_SHOWN = 1000
"""The most elements of an input that are written in a comment. More: longer lines; fewer: more
files beside the program."""


def write_program(
    path: str, lines: Sequence[str], module: ModuleOp, entry: str, inputs: Sequence[Any]
) -> None:
    """Write a program to a file, or to stdout for `-`: comments, of which the last line has the
    inputs as `tg-run` takes them, and the text. Large inputs are .npy files beside the program."""
    files: dict[str, Callable[[BinaryIO], object]] = {}
    words: list[str] = []
    types = _types_of(SymbolTable.lookup_symbol(module, entry)) if inputs else ()
    for number, (value, type) in enumerate(zip(inputs, types, strict=True)):
        array = np.asarray(value)
        if array.size > _MOST_SHOWN and path != "-":
            name = f"{os.path.splitext(path)[0]}.{number}.npy"
            files[name] = npy_writer(array)
            words.append(f"--input {shlex.quote(name)}")
            continue
        text = literal(array, tg.DTYPES[type], digits=None, full=True)
        if array.ndim == 0:
            text = text.removeprefix("dense<").partition(">")[0]
        words.append(f"--input {shlex.quote(text)}")
    comments = [*lines, " ".join(words)] if words else lines
    text = "".join(f"// {line}\n" for line in comments) + text_of(module)
    data = text.encode("utf-8", "backslashreplace")
    if path == "-":
        show(data)
        return
    files[path] = lambda file: file.write(data)
    write_files([*files], [*files.values()])


def _types_of(entry: Operation | None) -> Sequence[Attribute]:
    """The dtypes of the inputs of a function."""
    assert isinstance(entry, FuncOp)
    if all(tg.is_tensor(argument.type) for argument in entry.args):
        return [parameter.type.element_type for parameter in find_parameters(entry)]
    return [argument.type for argument in entry.args]
