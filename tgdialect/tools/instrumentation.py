"""Instrumentation of passes: dumps, timing, verification and error reports."""

import sys
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    ShrinkException,
)

from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    diagnose,
    exception_text,
    one_line,
    verify_module,
)
from tgdialect.environment import SettingError
from tgdialect.tools.console import DEBUG_HINT


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


def flatten(passes: Sequence[ModulePass]) -> list[ModulePass]:
    """The passes, with pipelines replaced by their passes."""
    flat: list[ModulePass] = []
    pending = list(reversed(passes))
    while pending:
        pass_ = pending.pop()
        if isinstance(pass_, PipelinePass):
            pending += reversed(pass_.pipeline())
        else:
            flat.append(pass_)
    return flat


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
        raise CompilationError(replace(diagnose(error, file)[0], message=message)) from error


@dataclass(frozen=True)
class PassRunner:
    """Runs passes on a module, with the dumps, checks and timings that the flags ask for."""

    passes: Sequence[ModulePass]
    print_before: Collection[str] = ()
    """Names of passes; `*` is every pass."""
    print_after: Collection[str] = ()
    print_between: bool = False
    print_time: bool = False
    verify: bool = True
    verify_each: bool = True
    verify_levels: bool = False
    printer: Callable[[], Printer] = lambda: Printer(stream=sys.stderr)

    @property
    def checks_each(self) -> bool:
        """Whether the module is verified after each pass, and stages check its level before."""
        return self.verify and self.verify_each

    def run(self, ctx: Context, module: ModuleOp, file: str, timing: Timing) -> None:
        """Run the passes. Raises `CompilationError`, which names `file`, at the first failure."""
        if self.verify:
            with timing.measure("Verifier"):
                verify_module(module)
        for index, pass_ in enumerate(self.passes):
            self._dump(module, "Before", pass_, self.print_before)
            start = time.perf_counter()
            with timing.measure(pass_.name), failures_as_diagnostics(f"pass {pass_.name}", file):
                if isinstance(pass_, LevelCheckedPass) and not self.checks_each:
                    pass_.lower(module)
                else:
                    pass_.apply(ctx, module)
            if self.print_time:
                seconds = time.perf_counter() - start
                print(f"Pass {pass_.name} took {seconds} seconds", file=sys.stderr)
            self._dump(module, "After", pass_, self.print_after)
            if self.checks_each:
                with timing.measure("Verifier"):
                    self._verify_after(pass_, module, file)
            if self.print_between and index + 1 < len(self.passes):
                print(f"IR after {pass_.name}:", file=sys.stderr)
                self._print(module)
                print("\n\n\n", file=sys.stderr)

    def _verify_after(self, pass_: ModulePass, module: ModuleOp, file: str) -> None:
        try:
            verify_module(module)
        except CompilationError as error:
            invalid = f"pass {pass_.name} left invalid IR: "
            raise CompilationError(
                [
                    replace(each, file=each.file or file, message=invalid + each.message)
                    for each in error.diagnostics
                ]
            ) from error
        # Only stages have one. They check the level of their input themselves.
        level = getattr(pass_, "level_after", None)
        if self.verify_levels and isinstance(level, str):
            # Imported late, since it imports every tg operation.
            from tgdialect.lowering.verify import verify_level

            with failures_as_diagnostics(f"after pass {pass_.name}, level {level}", file):
                verify_level(module, level)

    def _dump(self, module: ModuleOp, when: str, pass_: ModulePass, names: Collection[str]) -> None:
        if "*" in names or pass_.name in names:
            print(f"// -----// IR Dump {when} {pass_.name} //----- //", file=sys.stderr)
            self._print(module)
            print("\n", file=sys.stderr)

    def _print(self, module: ModuleOp) -> None:
        self.printer().print_op(module)
