"""The message of a random test about a program that fails: the text of its reproducer, which is
reduced first (`tgdialect/actions/reduce`).

The file is also left as the compiler leaves its own (`tgdialect/runtime/reproducer.py`): in the
folder of `TG_REPRODUCER_DIR`.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pytest
from executors import EXECUTORS, Executor, as_sequence, interpret, on_opencl
from expression import Array
from opencl_device import DEVICE
from slack import few_samples, unexplained
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.predicate import kind_of_error, text_of
from tgdialect.actions.reduce import NotInteresting, reduce
from tgdialect.custom import NO_CUSTOM, CustomCode
from tgdialect.diagnostics import exception_text, one_line, printable, verify_module
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages
from tgdialect.registry import make_context
from tgdialect.runtime.reproducer import input_options, leave, reproducer_text
from tgdialect.tools.examination import run_step
from tgdialect.tools.tg_run_session import find_parameters

SECONDS = 60.0
"""The time of a reduction, in seconds. More: smaller programs; fewer: a batch that fails is over
sooner."""
HERE = str(Path(__file__).parent)
ONE_RUN = 20.0
"""The time of one candidate, in seconds, in a process of its own: it may crash."""
KIND = "random"
AGAIN = "tg-run --check --run-reproducer"

LINE = re.compile(r"line \d+ of \w+: ")
INTERPRETATION_ERROR = InterpretationError.__name__
Wrong = Callable[[ModuleOp, Sequence[Array]], str]
"""The failure of a program, as "differs: ..." or the class of an exception and its text;
nothing if all is right. Raises InterpretationError if the program has no meaning."""

RUNS: Mapping[str, Mapping[str, str]] = {
    "cpu-none": {"target": "cpu", "opt": "none"},
    **{f"cpu-{name}": {"target": "cpu"} for name in ("heuristic", "optimized", "frozen")},
    "c": {"target": "c"},
    "opencl": {"target": DEVICE},
}
"""The options with which `tg-run` does as an executor does, by the names of `executors.py`."""


def disagreement(execute: Executor, expect: Executor = interpret) -> Wrong:
    """How an executor does otherwise than the interpreter, beyond what roundings explain."""

    def wrong(module: ModuleOp, inputs: Sequence[Array]) -> str:
        def outcome(execute: Executor) -> Sequence[Array]:
            results = as_sequence(execute(module, [np.array(array) for array in inputs]))
            return [np.asarray(each) for each in results]

        expected = outcome(expect)
        try:
            results = outcome(execute)
        except Exception as error:
            return failure(error)
        lines = unexplained(lambda: outcome(expect), expected, results)
        return f"differs: {'; '.join(lines)}" if lines else ""

    return wrong


def failure(error: BaseException) -> str:
    """An exception as the failure of a program."""
    name, text = type(error).__name__, exception_text(error)
    return text if text.startswith(name) else f"{name}: {text}"


def kind_of(message: str) -> str:
    """The kind of a failure, which a smaller program is to have as well: "differs" or the class of
    an exception, in which line. A race is not any error of the interpreter."""
    where = LINE.match(message)
    name, _, text = message[where.end() if where else 0 :].partition(": ")
    kind = f"{name}: {kind_of_error(text)}" if name == INTERPRETATION_ERROR else name
    return f"{where[0] if where else ''}{kind}"


def raised(check: Callable[[ModuleOp, Sequence[Array]], object]) -> Wrong:
    """The exception of a check of a program, or what the check returns, as the failure of that."""

    def wrong(module: ModuleOp, inputs: Sequence[Array]) -> str:
        try:
            said = check(module, [np.array(array) for array in inputs])
        except Exception as error:
            # A smaller program is to fail in the same line of the test.
            frames = traceback.extract_tb(error.__traceback__)
            *_, last = (each for each in frames if each.filename.startswith(HERE))
            return f"line {last.lineno} of {last.name}: {failure(error)}"
        return f"differs: {said}" if said else ""

    return wrong


def through(passes: Sequence[ModulePass]) -> Callable[[ModuleOp], ModuleOp]:
    """A copy of a module after some passes."""

    def lowered(module: ModuleOp) -> ModuleOp:
        module, context = module.clone(), make_context()
        for each in passes:
            run_step(each, context, module)
        verify_module(module)
        return module

    return lowered


def with_memory(execute: Executor, entry: str) -> Executor:
    """The results of an executor that changes its inputs, and the inputs that the entry writes."""

    def results(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
        function = SymbolTable.lookup_symbol(module, entry)
        known = find_parameters(function) if isinstance(function, FuncOp) else ()
        memory = [inputs[parameter.position] for parameter in known if parameter.is_written]
        return [*as_sequence(execute(module, inputs)), *memory]

    return results


def interpreting(entry: str, custom: CustomCode = NO_CUSTOM) -> Executor:
    """The interpreter, for another entry, and with functions that are registered."""
    how: dict[str, Any] = {"allow_custom": True, "custom": custom.functions}
    return lambda module, inputs: as_sequence(run(module, entry, inputs, **how))


@dataclass(frozen=True)
class Failed:
    """A program of a random test that fails."""

    made: str
    """The call that makes it, and where it fails."""
    module: ModuleOp
    inputs: Sequence[Array]
    message: str
    """The failure that the test has found."""
    wrong: Wrong
    """The same for other programs. Where it finds nothing, the program is not reduced."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those of the reproducer: `target` and `opt`."""
    command: Callable[[ModuleOp, Sequence[Array]], str] | None = None
    """The command that runs the file again, up to its name; None for `tg-run`."""
    entry: str | None = "main"
    """The function that the inputs are for; None for a module that is not run."""

    @classmethod
    def on(
        cls, name: str, made: str, module: ModuleOp, inputs: Sequence[Array], message: str
    ) -> Failed:
        """A program that the executor of a name gets wrong."""
        if name == "grid":
            return cls.lowered("opencl", made, module, inputs, message)
        execute = on_opencl if name == "opencl" else EXECUTORS[name]
        given = f"{made} on {name}", module, inputs, message, disagreement(execute)
        return cls(*given, RUNS[name])

    @classmethod
    def after(
        cls,
        passes: Sequence[ModulePass],
        made: str,
        module: ModuleOp,
        inputs: Sequence[Array],
        message: str,
        entry: str = "main",
    ) -> Failed:
        """A program that means something else after some passes, or that these do not take."""
        interpret, lowered = interpreting(entry), through(passes)
        execute = with_memory(lambda module, given: interpret(lowered(module), given), entry)
        wrong = disagreement(execute, with_memory(interpret, entry))
        spelled = ",".join(str(each.pipeline_pass_spec()) for each in passes)

        def command(module: ModuleOp, inputs: Sequence[Array]) -> str:
            given = "".join(f" --input {quote(text)}" for text in input_options(inputs).values())
            return f"tg-bisect -p {quote(spelled)}{given}"

        return cls(made, module, inputs, message, wrong, command=command, entry=entry)

    @classmethod
    def lowered(
        cls, target: str, made: str, module: ModuleOp, inputs: Sequence[Array], message: str
    ) -> Failed:
        """A program that the interpreter gets wrong after all stages for a grid."""
        passes = list(replace(stages(target=target, mode="heuristic"), render=None))
        return cls.after(passes, f"{made} for {target}", module, inputs, message)

    def __str__(self) -> str:
        return f"{self.made}: {self.message}"

    def shows(self) -> str:
        """How it fails: the kind of what `wrong` finds, or nothing."""
        with suppress(Exception):
            return kind_of(self.wrong(self.module.clone(), self.inputs))
        return ""

    def reproducer(self) -> str:
        """The text of the reproducer, after a reduction."""
        module, inputs, message = self.module, self.inputs, self.message
        kind = self.shows()
        # Few samples of roundings are quick, and wrong about a few programs.
        judges = few_samples(), nullcontext()

        def fails(candidate: ModuleOp, arrays: Sequence[Any] | None) -> bool:
            given = [np.asarray(array) for array in arrays or ()]
            return bool(kind) and kind_of(self.wrong(candidate, given)) == kind

        limits: dict[str, Any] = {"seconds": SECONDS, "timeout": ONE_RUN}
        try:
            for judge in judges:
                with judge:
                    small = reduce(module, fails, inputs=inputs, entry=self.entry, **limits)
                arrays = [np.asarray(array) for array in small.inputs or ()]
                if found := self.wrong(small.module.clone(), arrays):
                    module, inputs, message = small.module, arrays, found
                    break
        except NotInteresting:
            pass
        except Exception as error:
            message += f" (not reduced: {failure(error)})"
        text, options = text_of(module), dict(self.options)
        if self.entry is not None:
            options["entry"] = self.entry
        about: dict[str, Any] = {
            "error": f"{self.made}: {message}",
            "command": AGAIN if self.command is None else self.command(module, inputs),
            "pipeline": None,
        }
        if (path := leave(KIND, text, inputs=inputs, options=options, **about)) is not None:
            return path.read_text()
        options |= input_options(inputs)
        return reproducer_text(KIND, text, file=f"{KIND}.mlir", options=options, **about)


def check_program(
    wrong: Wrong,
    made: str,
    module: ModuleOp,
    inputs: Sequence[Array] = (),
    *,
    again: str | None = None,
    entry: str | None = "main",
) -> None:
    """Fail if a program is wrong, with its reproducer. `again` is the command that shows it."""
    if message := wrong(module.clone(), inputs):
        command = None if again is None else lambda *_: again
        failed = Failed(made, module, inputs, message, wrong, command=command, entry=entry)
        check_all([failed])


def check_all(failures: Iterable[Failed]) -> None:
    """Fail if there are failures: with the reproducer of the first one, and a line for others."""
    if found := [*failures]:
        others = (f"// and {printable(one_line(str(failed)))}\n" for failed in found[1:])
        pytest.fail(f"{found[0].reproducer()}{''.join(others)}", pytrace=False)
