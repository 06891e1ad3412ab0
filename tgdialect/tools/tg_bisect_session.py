"""One invocation of tg-bisect: read the program, search, and show the action."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError, VerifyException

from tgdialect.actions.bisect import Bisection, Culprit, Judge, NothingToBisect
from tgdialect.actions.compare import Difference
from tgdialect.actions.execution import Evaluate
from tgdialect.actions.judges import ByCommand, Execution, Meaning, Slower
from tgdialect.actions.predicate import CommandPredicate
from tgdialect.actions.reduce import NotInteresting, Reduced
from tgdialect.actions.slopes import Sloped
from tgdialect.actions.smallest import smallest
from tgdialect.custom import NO_CUSTOM
from tgdialect.diagnostics import CompilationError, diagnose, one_line, printable, symbol_around
from tgdialect.lowering.levels import is_before, level_of
from tgdialect.lowering.render import RenderPass
from tgdialect.runtime.progress import progress
from tgdialect.runtime.staged import check_code
from tgdialect.tools.console import ToolError, UsageError, show, tool_errors
from tgdialect.tools.examination import Examined, examined, write_program
from tgdialect.tools.tg_run_values import typed_input
from tgdialect.transforms.gradient import GradientPass

_MOST_LINES = 40
"""The most lines of a text before and after an action that are shown. More: a kernel that a stage
has rewritten fills the screen; fewer: the lines that matter may be missing."""
_MOST_SUSPECTS = 5
"""The most rules of a step that are shown. A small program needs as few; in a large one any of a
hundred may be wrong."""
_CONTEXT = 2
"""The unchanged lines around changed ones."""


def bisect_session(options: argparse.Namespace) -> None:
    """Execute the command line. Raises `CompilationError` for mistakes of the user, and if there is
    no action to be found."""
    program = examined(options)
    with progress(f"bisecting {options.file}") as work:

        def report(text: str) -> None:
            work.note = text

        def shrunk(best: Reduced) -> None:
            work.note = f"{best.ops:,} ops, {best.runs:,} runs, {best.doing}"

        judge = _judge(options, program)
        search = Bisection(program.module, program.steps, judge, options.timeout, report)
        # The output of passes is none of the tool's.
        with redirect_stdout(sys.stderr):
            with tool_errors(NothingToBisect, ValueError):
                found = search.culprit()
            small = unreduced = None
            if options.reduce and isinstance(judge, Meaning):
                limits = {"seconds": options.seconds, "timeout": options.timeout}
                try:
                    small = smallest(found, judge, **limits, progress=shrunk)
                except NotInteresting:  # Later actions repair what this one breaks.
                    reason = f"all of {found.step.name} does not show what this action breaks"
                    unreduced = ToolError(f"--reduce: {reason}")
                except ValueError as error:
                    unreduced = ToolError(f"--reduce: {error}")
    if small is not None:
        found = replace(found, suspects=small.culprit.suspects)
    if options.json:
        show(f"{json.dumps(_as_json(found), indent=2)}\n")
    else:
        show("\n".join(_lines(found)) + "\n")
    if small is not None:
        is_whole = len(small.culprit.passes) > 1
        before = Reduced(found.program if is_whole else found.base, None, 0).ops
        by = f"the passes up to {found.step.name}" if is_whole else found.step.name
        lines = [f"Reduced from {before:,} to {small.reduced.ops:,} ops, broken by {by}."]
        lines += map(printable, (str(small.culprit), str(small.culprit.failure)))
        inputs = small.reduced.inputs or ()
        write_program(options.reduce, lines, small.reduced.module, program.entry, inputs)
    if unreduced is not None:
        raise unreduced


def _judge(options: argparse.Namespace, program: Examined) -> Judge:
    """The judge that the flags ask for."""
    if options.command is None:
        if not options.allow_custom:
            _refuse_code(program, options.file)
        run = Execution(options.timeout)
        if options.expect:
            wanted = [_expected(text, number) for number, text in enumerate(options.expect)]
            return Meaning(program.entry, program.inputs, wanted, run)
        try:
            return _sloped(program, run) or Meaning.of(
                program.module, program.entry, program.inputs, run
            )
        except InterpretationError as error:
            hint = "--expect or --command says what is right"
            raise ToolError(f"the program itself cannot be run: {error}; {hint}") from error
    try:
        command = CommandPredicate.parse(options.command, vars(options)["if"], options.timeout)
    except ValueError as error:
        raise UsageError(f"--command or --if: {error}") from error
    with tool_errors(OSError, context=f"cannot start {command.args[0]}: "):
        if options.if_slower is None:
            command.outcome(ModuleOp([]))  # Whether it can be started.
            return ByCommand(command)
        with tool_errors(ValueError):
            return Slower.than(program.module, command, options.if_slower)


def _refuse_code(program: Examined, file: str) -> None:
    """Raise ToolError if the program has code that no stage checks, and machine code is run
    (docs/semantics.md, "untrusted IR")."""
    module = program.module
    is_llvm = any(op.name.startswith("llvm.") for op in module.walk())
    if not is_llvm and RenderPass.name not in (step.name for step in program.steps):
        return
    level = level_of(module) or "tensor"
    try:
        check_code(module, NO_CUSTOM)
    except VerifyException as error:
        raise CompilationError(diagnose(error, file)) from error
    if is_llvm or not is_before(level, "linear"):
        raise ToolError("the program has code that no stage checks: it needs --allow-custom")


def _expected(text: str, number: int) -> Any:
    """The result that `--expect` says."""
    try:
        return typed_input(text, number)
    except CompilationError as error:
        reason = error.diagnostics[0].message.removeprefix(f"input {number}: ")
        raise ToolError(f"--expect, result {number}: {reason}") from error


def _sloped(program: Examined, run: Evaluate) -> Meaning | None:
    """The meaning of a program with a gradient, if a pass is to make one that can be judged."""
    if all(step.name != GradientPass.name for step in program.steps):
        return None
    function = SymbolTable.lookup_symbol(program.module, program.entry)
    assert isinstance(function, FuncOp)
    try:
        sloped = Sloped(run, len(function.args))
        return Meaning.of(program.module, program.entry, program.inputs, sloped)
    except InterpretationError as error:
        show(f"tg-bisect: gradients are not judged: {one_line(str(error))}\n", sys.stderr)
        return None


def _lines(found: Culprit) -> Iterator[str]:
    yield printable(str(found))
    yield f"  {printable(str(found.failure))}"
    if found.action is not None:
        yield f"  done by {found.action.code}"
    for note in found.suspects[:_MOST_SUSPECTS]:
        yield f"  in it: {printable(note.what)}, by {note.code}"
    if found.untested:
        yield f"  or one of the {found.untested} before it, which cannot be tested"
    if (more := len(found.suspects) - _MOST_SUSPECTS) > 0:
        yield f"  and {more} more rules: --reduce says which are suspect"
    yield ""
    yield from changed_lines(found.before, found.after)


def _as_json(found: Culprit) -> dict[str, object]:
    failure = found.failure
    if isinstance(failure, Difference):
        failure = {
            "result": failure.result,
            "index": failure.index,
            "found": str(failure.found),
            "wanted": str(failure.wanted),
            "count": failure.count,
        }
    action = found.action
    return {
        "limit": str(found.limit),
        "pass": action.stage if action else found.step.name,
        "pattern": action and action.pattern,
        "op": action and action.op,
        "location": action and action.place,
        "code": action and action.code,
        "inside": [{"rule": note.what, "code": note.code} for note in found.suspects],
        "untested": found.untested,
        "failure": failure if isinstance(failure, dict) else str(failure),
        "before": _text(found.before),
        "after": _text(found.after),
        "runs": found.runs,
    }


def changed_lines(before: ModuleOp, after: ModuleOp) -> Iterator[str]:
    """The lines that differ in the symbols of two modules, as a unified diff."""
    old, new = _symbols(before), _symbols(after)
    lines: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        a, b = (_text(all[name]).splitlines() if name in all else [] for all in (old, new))
        if a != b:
            lines += [f"{name}:", *list(difflib.unified_diff(a, b, lineterm="", n=_CONTEXT))[2:]]
    yield from map(printable, lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"... and {len(lines) - _MOST_LINES} more lines"


def _text(op: Operation) -> str:
    """The text of an op, in its generic form if it has no other: a pass may leave invalid IR."""
    try:
        return str(op)
    except Exception:
        stream = StringIO()
        Printer(stream, print_generic_format=True).print_op(op)
        return stream.getvalue()


def _symbols(module: ModuleOp) -> dict[str, Operation]:
    """The ops of a module, by their symbols or positions."""
    return {symbol_around(op) or f"op {i}": op for i, op in enumerate(module.ops)}
