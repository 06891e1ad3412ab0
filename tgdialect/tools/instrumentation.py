"""Instrumentation of passes: dumps, timing, verification and error reports; and the refusal of
those that start other programs."""

import os
import re
import shutil
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol, runtime_checkable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    PassFailedException,
    ShrinkException,
)

from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    InternalError,
    diagnose,
    exception_text,
    locate,
    may_act,
    one_line,
    remarks_of,
    running,
    verify_module,
)
from tgdialect.environment import SettingError
from tgdialect.tools.console import DEBUG_HINT, show
from tgdialect.tools.ir_dumps import DumpTree, Texts, difference, parts
from tgdialect.tools.pass_pipeline import NestedPasses, Step

# -- passes that start other programs: refused also if they are run indirectly ---------------------

EXTERNAL_PASSES = frozenset({"apply-eqsat-pdl", "mlir-opt"})
"""xDSL's passes that start another program (mlir-opt) each time they run."""

_PROCESS_EVENTS = frozenset(
    f"os.{name}"
    for name in ("exec", "fork", "forkpty", "posix_spawn", "spawn", "startfile", "system")
) | {"pty.spawn", "subprocess.Popen"}
"""Python's audit events for starting a process."""

_refusing: ContextVar[bool] = ContextVar("refusing", default=False)


def _refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _PROCESS_EVENTS and _refusing.get():
        program = f" '{arguments[0]}'" if arguments else ""
        raise PassFailedException(f"starts another program{program}: it needs --allow-external")


@cache
def _install_hook() -> None:
    sys.addaudithook(_refuse_processes)


@contextmanager
def no_external_programs() -> Generator[None, None, None]:
    """
    Within the context, starting a process raises `PassFailedException`. Refusing passes by name is
    not enough: the transform dialect, for example, runs any pass that the IR names.
    """
    _install_hook()
    token = _refusing.set(True)
    try:
        yield
    finally:
        _refusing.reset(token)


def mlir_opt_pass() -> type[ModulePass]:
    """xDSL's pass `mlir-opt`, with errors that say what the program said, or which one there is."""
    from xdsl.transforms.mlir_opt import MLIROptPass

    @dataclass(frozen=True)
    class MlirOptPass(MLIROptPass):
        def apply(self, ctx: Context, op: ModuleOp) -> None:
            if shutil.which(self.executable) is None:
                raise PassFailedException(_missing(self.executable))
            try:
                super().apply(ctx, op)
            except OSError as error:
                message = f"cannot start '{self.executable}': {error.strerror}"
                raise PassFailedException(message) from error
            except DiagnosticException as error:
                cause = error.__cause__
                if not isinstance(cause, subprocess.CalledProcessError):
                    raise
                said = str(cause.stderr).strip().partition("\n")[0] or "no message"
                message = f"'{self.executable}' ended with {cause.returncode}: {said}"
                raise PassFailedException(message) from error

    MlirOptPass.__doc__ = MLIROptPass.__doc__
    return MlirOptPass


def _missing(executable: str) -> str:
    """The error for a program that is not there, with those of other versions."""
    versioned = re.compile(re.escape(os.path.basename(executable)) + r"-[0-9.]+")
    found = {
        name
        for folder in os.get_exec_path()
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if versioned.fullmatch(name)
    }
    hint = f"there is {', '.join(sorted(found))}: write" if found else "install it, or write"
    example = min(found, default="mlir-opt-19")
    return f"there is no program '{executable}'; {hint} '{example}[PASSES]', or set XDSL_MLIR_OPT"


# -- running passes --------------------------------------------------------------------------------


@runtime_checkable
class PipelinePass(Protocol):
    """A pass that is a sequence of others, which are dumped, timed and verified one by one."""

    def pipeline(self) -> Sequence[ModulePass]:
        """The passes to run instead."""
        ...


@runtime_checkable
class LevelCheckedPass(Protocol):
    """A pass whose `apply` checks the level of the module before it calls `lower`."""

    def lower(self, module: ModuleOp) -> None:
        """Lower the module without a check."""
        ...


def flatten(steps: Sequence[Step]) -> list[Step]:
    """The steps, with pipelines replaced by their passes."""
    flat: list[Step] = []
    for step in steps:
        if isinstance(step, NestedPasses):
            flat.append(NestedPasses(step.anchor, flatten(step.steps)))
        elif isinstance(step, PipelinePass):
            flat += flatten(step.pipeline())
        else:
            flat.append(step)
    return flat


def step_names(steps: Sequence[Step]) -> list[str]:
    """The names of the passes, those of nested pipelines included."""
    names: list[str] = []
    for step in steps:
        names += step_names(step.steps) if isinstance(step, NestedPasses) else [step.name]
    return names


@contextmanager
def alone(op: Operation) -> Generator[ModuleOp, None, None]:
    """
    A module that holds nothing but `op`, with the attributes of the one around it; `op` itself if
    it is a module. In the end what the module holds takes the place of `op`.
    """
    if isinstance(op, ModuleOp):
        yield op
        return
    block, after = op.parent, op.next_op
    assert block is not None
    around = block.parent_op()
    op.detach()
    module = ModuleOp([op])
    module.location = op.location
    if isinstance(around, ModuleOp):
        module.attributes = around.attributes
    try:
        yield module
    finally:
        for each in tuple(module.body.block.ops):
            each.detach()
            if after is None:
                block.add_op(each)
            else:
                block.insert_op_before(each, after)


@dataclass
class Timing:
    """Wall time by activity, in the order in which the activities first began."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def measure(self, name: str) -> Generator[None, None, None]:
        """Add the time within the context to `name`."""
        self.seconds.setdefault(name, 0.0)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start

    def table(self) -> str:
        """The report as mlir-opt prints it."""
        total = time.perf_counter() - self.started
        rows = [*self.seconds.items(), ("Rest", total - sum(self.seconds.values()))]
        rule = f"==={'-' * 73}==="
        lines = [
            rule,
            f"{'... Execution time report ...':^79}".rstrip(),
            rule,
            f"  Total Execution Time: {total:.4f} seconds",
            "",
            "  ----Wall Time----  ----Name----",
        ]
        lines += (
            f"  {seconds:8.4f} ({100 * seconds / total:5.1f}%)  {name}"
            for name, seconds in (*rows, ("Total", total))
        )
        return "\n".join(lines)


@contextmanager
def failures_as_diagnostics(
    activity: str, file: str, module: ModuleOp | None = None
) -> Generator[None, None, None]:
    """
    Turns any exception within the context into a `CompilationError` that names the activity ("pass
    cse"), at the operation that it concerns if that is known, else at `module` (None if the failure
    may be one of the command line instead), else at `file`.
    """
    try:
        yield
    except (CompilationError, DiagnosticException) as error:
        raise CompilationError(diagnose(error, file, f"{activity}: ", module)) from error
    except ParseError as error:
        # Not the user's file: a pass has parsed a text of its own.
        message = f"{activity}: {one_line(str(error))}"
        raise CompilationError(Diagnostic(message, file=file)) from error
    except RecursionError as error:
        nested = DiagnosticException("the IR is nested too deeply")
        raise CompilationError(diagnose(nested, file, f"{activity}: ", module)) from error
    except NotImplementedError as error:
        # xDSL's targets raise this for operations that they do not know.
        raise CompilationError(
            diagnose(DiagnosticException(str(error)), file, f"{activity}: not supported: ", module)
        ) from error
    except (ShrinkException, SettingError):
        raise
    except (Exception, ArgSpecParseError) as error:
        message = f"internal error in {activity}: {one_line(exception_text(error))} {DEBUG_HINT}"
        raise InternalError(replace(diagnose(error, file)[0], message=message)) from error


@dataclass
class Unfinished:
    """The steps from the one on that began last, and the module then, for a local reproducer."""

    module: Operation | None = None
    steps: Sequence[Step] = ()


@dataclass(frozen=True)
class PassRunner:
    """Runs passes on a module, with the dumps, checks and timings that the flags ask for."""

    steps: Sequence[Step]
    args: Namespace
    """The flags of tg-opt."""
    print_before: Collection[str]
    """Names of passes; `*` is every pass."""
    print_after: Collection[str]
    diffed: Collection[str]
    print_op: Callable[[Operation], str]
    is_colored: bool = False
    """Whether differences have colors."""
    tree: DumpTree | None = None
    """The files of dumps, unless these go to stderr."""
    left: Unfinished = field(default_factory=Unfinished)

    @property
    def checks_each(self) -> bool:
        """Whether the module is verified after each pass, and stages check its level before."""
        return not self.args.disable_verify and self.args.verify_each is not False

    def run(self, ctx: Context, module: ModuleOp, file: str, timing: Timing) -> None:
        """Run the passes. Raises `CompilationError`, which names `file`, at the first failure."""
        if not self.args.disable_verify:
            with timing.measure("Verifier"):
                verify_module(module)
        self._run_steps(self.steps, ctx, module, file, timing)

    def _run_steps(
        self, steps: Sequence[Step], ctx: Context, op: Operation, file: str, timing: Timing
    ) -> None:
        for index, step in enumerate(steps):
            if steps is self.steps and self.args.mlir_pass_pipeline_local_reproducer:
                self.left.module, self.left.steps = op.clone(), steps[index:]
            if isinstance(step, NestedPasses):
                for inner in step.operations(op):
                    self._run_steps(step.steps, ctx, inner, file, timing)
                continue
            self._run_pass(step, ctx, op, file, timing)
            if self.args.print_between_passes and index + 1 < len(steps):
                show(f"IR after {step.name}:\n{self._text(op)}\n\n\n\n", sys.stderr)

    def _run_pass(
        self, pass_: ModulePass, ctx: Context, op: Operation, file: str, timing: Timing
    ) -> None:
        """Run a pass on an operation, with what is printed and verified around it."""
        if _named(pass_, self.print_before):
            self._dump("Before", pass_, op)
        is_dumped = _named(pass_, self.print_after)
        before = self._text(op) if is_dumped and self.args.mlir_print_ir_after_change else None
        is_diffed = _named(pass_, self.diffed)
        old: Texts = parts(op, self._text) if is_diffed else {}
        start = time.perf_counter()
        try:
            with (
                timing.measure(pass_.name),
                failures_as_diagnostics(f"pass {pass_.name}", file),
                remarks_of(pass_.name),
            ):
                with alone(op) as module, running(pass_, op) as is_allowed:
                    if not is_allowed:
                        return
                    if isinstance(pass_, LevelCheckedPass) and not self.checks_each:
                        pass_.lower(module)
                    else:
                        pass_.apply(ctx, module)
                if op.parent is None and op is not module:
                    message = f"replaced the '{op.name}' that it ran on: run it on builtin.module"
                    raise locate(PassFailedException(message), op)
            if self.args.time_passes:
                seconds = time.perf_counter() - start
                show(f"Pass {pass_.name} took {seconds} seconds\n", sys.stderr)
            if self.checks_each:
                with timing.measure("Verifier"):
                    self._verify_after(pass_, op, file)
        except CompilationError:
            if is_dumped:
                self._dump("After", pass_, op, " Failed")
            raise
        if is_diffed:
            new = parts(op, self._text)
            show(difference(old, new, pass_.name, colored=self.is_colored), sys.stderr)
        only_if_failed = self.args.mlir_print_ir_after_failure
        if is_dumped and not only_if_failed and self._text(op) != before:
            self._dump("After", pass_, op)

    def _verify_after(self, pass_: ModulePass, op: Operation, file: str) -> None:
        try:
            verify_module(op)
        except CompilationError as error:
            invalid = f"pass {pass_.name} left invalid IR: "
            raise InternalError(
                [
                    replace(each, file=each.file or file, message=invalid + each.message)
                    for each in error.diagnostics
                ]
            ) from error
        # Only stages have one. They check the level of their input themselves.
        level = getattr(pass_, "level_after", None)
        is_asked = self.args.verify_each and may_act()
        if is_asked and isinstance(level, str) and isinstance(op, ModuleOp):
            # Imported late, since it imports every tg operation.
            from tgdialect.lowering.verify import verify_level

            with failures_as_diagnostics(f"after pass {pass_.name}, level {level}", file):
                verify_level(op, level)

    def _dump(self, when: str, pass_: ModulePass, op: Operation, outcome: str = "") -> None:
        title = f"// -----// IR Dump {when} {pass_.name}{outcome} //----- //"
        text = f"{title}\n{self._text(op)}\n\n"
        if self.tree is None:
            show(text, sys.stderr)
        else:
            self.tree.write(pass_.name, op, text)

    def _text(self, op: Operation) -> str:
        """The IR; what a pass that failed has left may be impossible to print."""
        try:
            return self.print_op(op)
        except Exception as error:
            return f"// cannot be printed: {one_line(exception_text(error))}"


def _named(pass_: ModulePass, names: Collection[str]) -> bool:
    return "*" in names or pass_.name in names
