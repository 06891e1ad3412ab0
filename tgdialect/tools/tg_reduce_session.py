"""One invocation of tg-reduce: read the program, say what is kept, search, and write the result."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tgdialect import registry
from tgdialect.actions.bisect import death, time_limit
from tgdialect.actions.children import ChildFailed, in_child
from tgdialect.actions.compare import Difference
from tgdialect.actions.execution import evaluate
from tgdialect.actions.judges import warm_up
from tgdialect.actions.predicate import (
    ChangedMeaning,
    CommandPredicate,
    Predicate,
    Raises,
    Transform,
    text_of,
)
from tgdialect.actions.reduce import NotInteresting, Reduced, reduce
from tgdialect.actions.slopes import Sloped
from tgdialect.diagnostics import CompilationError, SourceFile, errors_in, one_line, verify_module
from tgdialect.ops.numpy_dtypes import Array, dtype_named
from tgdialect.runtime import compiler
from tgdialect.runtime.progress import progress
from tgdialect.targets.host import core_count
from tgdialect.tools.console import ToolError, UsageError, show, tool_errors, write_files
from tgdialect.tools.examination import entry_of, inputs_of, run_step, write_program
from tgdialect.tools.instrumentation import EXTERNAL_PASSES, flatten
from tgdialect.tools.pass_pipeline import build_pipeline, parse_pipeline
from tgdialect.tools.tg_run_session import bind_inputs
from tgdialect.transforms.gradient import GradientPass

_KEEP = "--error keeps that"
_SAVE_SECONDS = 5.0
"""The seconds between two saves of the smallest program while the search goes on. Longer: a process
that is killed loses more; shorter: large programs are printed more often."""


def pipeline(options: argparse.Namespace, context: Context) -> Transform:
    """The passes of the command line. Raises `UsageError`."""
    specs = [spec for text in options.passes for spec in parse_pipeline(text)]
    passes = registry.universe().all_passes
    refused = () if options.allow_external else EXTERNAL_PASSES
    steps = flatten(build_pipeline(specs, passes, context, refused))

    def transform(module: ModuleOp) -> None:
        for step in steps:
            run_step(step, context, module, allow_external=options.allow_external)
            verify_module(module)

    return transform


def compiled(target: str) -> Callable[[ModuleOp, str, Sequence[Any]], list[Any]]:
    """An `Evaluate` that compiles the module for a target."""

    def evaluate(module: ModuleOp, entry: str, inputs: Sequence[Any]) -> list[Any]:
        arrays = [np.array(value) for value in inputs]
        results = compiler.compile(module, entry=entry, target=target)(*arrays)
        return [*(results if isinstance(results, tuple | list) else [results]), *arrays]

    return evaluate


def reduce_session(options: argparse.Namespace) -> None:
    """Execute the command line. Raises `CompilationError` for mistakes of the user."""
    context = registry.make_context(options.allow_unregistered_dialect)
    source = registry.read_program(options.file, options.frontend)
    source = replace(source, data_folder=options.data_folder)
    with errors_in(source):
        module = registry.parse_program(context, source, options.frontend)
        verify_module(module)
    _Session(options, source, module, context).run()


@dataclass
class _Session:
    """A search, with what is written while it goes on."""

    options: argparse.Namespace
    source: SourceFile
    module: ModuleOp
    context: Context
    entry: str | None = None
    inputs: Sequence[Array] | None = None
    best: Reduced | None = None
    _saved: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        predicates = self.predicates()
        before = Reduced(self.module, None if self.inputs is None else tuple(self.inputs), 0)
        start = self.state() or before
        try:
            done = self.search(predicates, start)
        except KeyboardInterrupt:
            self.save(before)
            if self.state_path is not None and self.best is not None:
                show("tg-reduce: stopped; the same command goes on from here\n", sys.stderr)
            raise
        self.best = done
        difference = self.difference(predicates, done)
        self.write(before, difference)
        path = self.state_path
        if path is not None:
            if done.complete:
                with suppress(OSError):
                    os.unlink(path)
            else:
                self.save(before)
        over = "" if done.complete else ", when the time was over"
        runs = f"{done.runs:,} runs of the predicate{over}"
        show(f"tg-reduce: {before.ops:,} to {done.ops:,} ops in {runs}\n", sys.stderr)

    # -- the predicate -----------------------------------------------------------------------------

    def predicates(self) -> Sequence[Predicate]:
        """The predicates, of which the first one that holds of the program is kept. Sets entry and
        inputs."""
        options = self.options
        if options.command is not None:
            try:
                command = CommandPredicate.parse(
                    options.command, vars(options)["if"], options.timeout
                )
            except ValueError as error:
                raise UsageError(f"--command or --if: {error}") from error
            with tool_errors(OSError, context=f"cannot start {command.args[0]}: "):
                command.outcome(ModuleOp([]))
            with suppress(CompilationError):
                self.entry = entry_of(self.module, None).sym_name.data
            return [command]
        transform = pipeline(options, self.context)
        entry = entry_of(self.module, options.entry)
        self.entry = entry.sym_name.data
        if options.target is not None:
            try:
                compiler.device_for(options.target)
            except Exception as error:
                raise UsageError(f"--target: {one_line(str(error))}") from error
        if options.error is not None:
            return [Raises(self.compiling(transform), options.error)]
        self.inputs = bind_inputs(inputs_of(entry), options.input, options.arg, has_defaults=True)
        kind = ChangedMeaning(self.entry, transform)
        if options.target is None and any(GradientPass.name in text for text in options.passes):
            sloped = Sloped(evaluate, len(entry.args))
            kind = replace(kind, before=sloped, after=sloped)
        if options.target is not None:
            kind = replace(kind, after=compiled(options.target))
            warm_up(options.target)
        inputs = self.inputs
        failure = death(lambda _: kind.outcome(self.module.clone(), inputs), options.timeout)
        if failure is not None:
            raise ToolError(f"the program does not run to its end: {failure}; {_KEEP}")
        if options.target is None:
            with suppress(Exception):  # As above, for the passes and the interpreter.
                kind.outcome(self.module.clone(), self.inputs)
        return [kind, replace(kind, fails="")]

    def compiling(self, transform: Transform) -> Transform:
        """The passes, then the compilation for --target."""
        options, entry = self.options, self.entry

        def run(module: ModuleOp) -> None:
            with time_limit(options.timeout):
                transform(module)
                if options.target is not None:
                    compiler.compile(module, entry=entry or "main", target=options.target)

        return run

    def search(self, predicates: Sequence[Predicate], start: Reduced) -> Reduced:
        options = self.options
        for predicate in predicates:
            with progress(f"reducing {self.source.name}") as work, suppress(NotInteresting):

                def report(best: Reduced) -> None:
                    work.note = f"{best.ops:,} ops, {best.runs:,} runs, {best.doing}"
                    self.keep(best, start)

                return reduce(
                    start.module,
                    predicate,
                    inputs=start.inputs,
                    entry=self.entry,
                    jobs=options.jobs or core_count(),
                    seconds=options.seconds,
                    # A command has its own limit, after which it may still be interesting.
                    timeout=options.timeout * (1.5 if options.command else 1) + 1,
                    crashes=options.error is not None,
                    progress=report,
                    step=start.step,
                    runs=start.runs,
                )
        raise self.refusal(predicates[0])

    def refusal(self, predicate: Predicate) -> ToolError:
        """Why the program itself is not interesting."""
        module = self.module.clone()
        if isinstance(predicate, CommandPredicate):
            outcome = predicate.outcome(module)
            ended = f"it ends with {outcome.exit} after {outcome.seconds:.1f} s"
            return ToolError(f"the program does not show it under --command: {ended}")
        if isinstance(predicate, ChangedMeaning):
            try:
                predicate.outcome(module, self.inputs or ())
            except Exception as error:
                said = one_line(str(error)) or type(error).__name__
                return ToolError(f"the program does not run to its end: {said}; {_KEEP}")
            return ToolError("the results are the same: there is nothing to reduce")
        assert isinstance(predicate, Raises)
        wanted, found = f"the passes do not fail with {predicate.text!r}", ""
        try:
            in_child(lambda _: predicate.transform(module), self.options.timeout, grace=1.0)
        except ChildFailed as error:
            found = f", but with: {one_line(str(error))}"
        return ToolError(wanted + found)

    def difference(self, predicates: Sequence[Predicate], done: Reduced) -> str | None:
        """How the result fails, for its first lines."""
        predicate = predicates[0]
        if not isinstance(predicate, ChangedMeaning):
            return None
        outcome = predicate.outcome(done.module.clone(), done.inputs or ())
        return str(outcome) if isinstance(outcome, Difference) else outcome

    # -- files -------------------------------------------------------------------------------------

    @property
    def state_path(self) -> str | None:
        path = self.options.output
        return None if path in (None, "-") else f"{path}.state"

    def key(self) -> str:
        """A number for the program and the options that decide the result."""
        given = {n: v for n, v in vars(self.options).items() if n not in ("jobs", "seconds")}
        text = json.dumps([self.source.text, given], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    def keep(self, best: Reduced, start: Reduced) -> None:
        self.best = best
        if time.monotonic() - self._saved > _SAVE_SECONDS:
            self.save(start)

    def save(self, before: Reduced) -> None:
        """Write the smallest program so far, and where to go on, if there is a file for it."""
        path, best = self.state_path, self.best
        self._saved = time.monotonic()
        if path is None or best is None:
            return
        inputs = None if best.inputs is None else [_packed(np.asarray(a)) for a in best.inputs]
        state = {
            "key": self.key(),
            "module": text_of(best.module),
            "inputs": inputs,
            "step": best.step,
            "runs": best.runs,
        }
        self.write(before, None)
        write_files([path], [lambda file: file.write(json.dumps(state).encode())])

    def state(self) -> Reduced | None:
        """Where the same command stopped; None if it did not."""
        path = self.state_path
        if path is None or not os.path.isfile(path):
            return None
        try:
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            if state["key"] != self.key():
                return None
            text = SourceFile(path, state["module"], data_folder=self.options.data_folder)
            module = registry.parse_program(self.context, text, registry.MLIR)
            verify_module(module)
            inputs = state["inputs"]
            arrays = None if inputs is None else tuple(_unpacked(each) for each in inputs)
            return Reduced(module, arrays, int(state["runs"]), step=int(state["step"]))
        except (OSError, ValueError, KeyError, TypeError, CompilationError) as error:
            reason = one_line(str(error)) or type(error).__name__
            raise ToolError(f"cannot go on from {path}: {reason}; delete it to begin") from error

    def write(self, before: Reduced, difference: str | None) -> None:
        """Write the smallest program, with comments that say what it shows, and its inputs."""
        best = self.best
        assert best is not None
        lines = [f"Reduced from {before.ops:,} to {best.ops:,} ops."]
        if difference is not None:
            lines.append(one_line(difference))
        path: str = self.options.output or "-"
        write_program(path, lines, best.module, self.entry or "main", best.inputs or ())


def _packed(array: Array) -> Mapping[str, Any]:
    data = np.ascontiguousarray(array).tobytes().hex()
    return {"dtype": array.dtype.name, "shape": array.shape, "data": data}


def _unpacked(state: Mapping[str, Any]) -> Array:
    dtype = dtype_named(state["dtype"])
    return np.frombuffer(bytes.fromhex(state["data"]), dtype).reshape(state["shape"]).copy()
