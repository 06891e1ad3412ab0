"""Whether a module still shows a failure: by its meaning before and after some passes, by the error
of these, or by a command.

A predicate takes a module and inputs for its entry, and says whether it is interesting. It may
change the module, which is a copy, and raises nothing.
"""

from __future__ import annotations

import operator
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.compare import Difference, first_difference
from tgdialect.actions.execution import Evaluate, evaluate
from tgdialect.diagnostics import exception_text

Predicate = Callable[[ModuleOp, Sequence[Any] | None], bool]
Transform = Callable[[ModuleOp], None]
"""Passes that change a module in place."""

TIMED_OUT = 124
"""The exit code of a command that takes too long, as that of `timeout`."""
_MOST_OUTPUT = 1 << 20
"""The bytes of each output that are read. More: a text at the end of a long log is found; fewer: a
command that prints forever takes less memory."""


# -- commands --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CommandOutcome:
    """How a command ended. `exit` is its code, 128 + N after signal N, and 124 after the limit."""

    exit: int
    seconds: float
    stdout: str = ""
    stderr: str = ""


_NUMBERS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION = re.compile(
    r"\s*(?:(?P<number>exit|seconds)\s*(?P<relation>==|!=|<=|>=|<|>)\s*(?P<value>\d{1,9}(?:\.\d{1,9})?)"
    r"|(?P<stream>stdout|stderr)\s*(?P<without>!?)~\s*(?P<text>.*?\S))\s*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Condition:
    """One `--if`: `exit != 0`, `seconds > 5`, `stderr ~ TEXT` (contains) or `stderr !~ TEXT`."""

    name: str
    relation: str
    value: float | str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """The condition that a text says. Raises ValueError."""
        if (found := _CONDITION.fullmatch(text)) is None:
            raise ValueError(
                f"{text!r} is none of 'exit != 0', 'seconds > 5', 'stdout ~ TEXT', 'stderr !~ TEXT'"
            )
        if found["number"]:
            return cls(found["number"], found["relation"], float(found["value"]))
        return cls(found["stream"], f"{found['without']}~", found["text"])

    def __call__(self, outcome: CommandOutcome) -> bool:
        """Whether it holds of a command that has ended."""
        given = getattr(outcome, self.name)
        if isinstance(self.value, str):
            return (self.value in given) is (self.relation == "~")
        return _NUMBERS[self.relation](given, self.value)


def run_command(command: Sequence[str], text: str, timeout: float) -> CommandOutcome:
    """Run a command on a file with a text, in a folder that is deleted afterwards.

    `{}` in an argument stands for the file; without one the file is the last argument. There is no
    shell. The command runs in the current folder. After it, or `timeout` seconds, what it has
    started is killed.
    """
    with tempfile.TemporaryDirectory(prefix="tg-predicate-") as folder:
        file = os.path.join(folder, "input.mlir")
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        args = [part.replace("{}", file) for part in command]
        if args == [*command]:
            args.append(file)
        out, err = (os.path.join(folder, name) for name in ("stdout", "stderr"))
        start = time.perf_counter()
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            process = subprocess.Popen(
                args,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                code = TIMED_OUT
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        seconds = time.perf_counter() - start
        return CommandOutcome(
            128 - code if code < 0 else code, seconds, _beginning(out), _beginning(err)
        )


def _beginning(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_MOST_OUTPUT).decode("utf-8", "replace")


def text_of(module: ModuleOp) -> str:
    """The text of a module."""
    stream = StringIO()
    Printer(stream).print_op(module)
    return f"{stream.getvalue()}\n"


@dataclass(frozen=True)
class CommandPredicate:
    """A predicate that runs a command on the text of a module.

    A module is interesting if all `conditions` hold; without any if the exit code is 0, as for
    mlir-reduce, llvm-reduce and C-Vise.
    """

    args: Sequence[str]
    conditions: Sequence[Condition] = ()
    timeout: float = 60.0

    @classmethod
    def parse(
        cls, command: str, conditions: Sequence[str] = (), timeout: float = 60.0
    ) -> CommandPredicate:
        """A command line, split as a shell does, and the texts of conditions. Raises ValueError."""
        if not (args := shlex.split(command)):
            raise ValueError("the command is empty")
        return cls(args, [Condition.parse(text) for text in conditions], timeout)

    def outcome(self, module: ModuleOp) -> CommandOutcome:
        """How the command ends on a module. Raises OSError if it cannot be started."""
        return run_command(self.args, text_of(module), self.timeout)

    def __call__(self, module: ModuleOp, inputs: Sequence[Any] | None = None) -> bool:
        conditions = self.conditions or [Condition("exit", "==", 0)]
        outcome = self.outcome(module)
        return all(condition(outcome) for condition in conditions)


# -- meanings --------------------------------------------------------------------------------------


def kind_of_error(text: str) -> str:
    """The text of an error of the interpreter up to its first colon, without numbers and places: a
    race stays a race when a program becomes smaller."""
    return re.sub(r"\([^)]*\)|\d+", "", text.partition(":")[0])


@dataclass(frozen=True)
class ChangedMeaning:
    """A predicate: passes change the results of an entry.

    `transform` changes the module in place. `before` runs the module that it gets, and `after` what
    it leaves, by default the interpreter. A program whose meaning cannot be computed before is not
    interesting, and neither is one that the passes refuse. With `fails`, it is one that runs before
    the passes and not any more after them, for an error of that kind (`kind_of_error`; any, if it
    is empty); without, one whose results differ.
    """

    entry: str
    transform: Transform
    after: Evaluate = field(default=evaluate)
    fails: str | None = None
    before: Evaluate = field(default=evaluate)

    def outcome(self, module: ModuleOp, inputs: Sequence[Any]) -> Difference | str | None:
        """The first difference, the error of the run after the passes, or None.

        Raises what the passes and the run before them raise.
        """
        wanted = self.before(module, self.entry, inputs)
        self.transform(module)
        try:
            found = self.after(module, self.entry, inputs)
        except InterpretationError as error:
            return str(error) or type(error).__name__
        return first_difference(found, wanted)

    def __call__(self, module: ModuleOp, inputs: Sequence[Any] | None) -> bool:
        try:
            outcome = self.outcome(module, inputs or ())
        except Exception:  # Refusals, and errors of candidates that no person would write.
            return False
        if self.fails is None:
            return isinstance(outcome, Difference)
        return isinstance(outcome, str) and self.fails in ("", kind_of_error(outcome))


@dataclass(frozen=True)
class Raises:
    """A predicate: passes raise an exception whose text contains `text`."""

    transform: Transform
    text: str = ""

    def __call__(self, module: ModuleOp, inputs: Sequence[Any] | None = None) -> bool:
        try:
            self.transform(module)
        except Exception as error:
            return self.text in exception_text(error)
        return False
