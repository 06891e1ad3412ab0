"""The message of a random test about a program that fails: the text of its reproducer, which is
reduced first (`tgdialect/actions/reduce`).

The file is also left as the compiler leaves its own (`tgdialect/runtime/reproducer.py`): in the
folder of `TG_REPRODUCER_DIR`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any

import numpy as np
import pytest
from executors import EXECUTORS, Executor, as_sequence, interpret, on_grid, on_opencl
from expression import Array
from opencl_device import DEVICE
from slack import unexplained
from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.predicate import text_of
from tgdialect.actions.reduce import NotInteresting, reduce
from tgdialect.diagnostics import exception_text, one_line, printable
from tgdialect.lowering.pipeline import stages
from tgdialect.runtime.reproducer import input_options, leave, reproducer_text

SECONDS = 60.0
"""The time of a reduction, in seconds. More: smaller programs; fewer: a batch that fails is over
sooner."""
ONE_RUN = 20.0
"""The time of one candidate, in seconds, in a process of its own: it may crash."""
KIND = "random"
AGAIN = "tg-run --check --run-reproducer"

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


def disagreement(execute: Executor) -> Wrong:
    """How an executor does otherwise than the interpreter, beyond what roundings explain."""

    def wrong(module: ModuleOp, inputs: Sequence[Array]) -> str:
        def again() -> Sequence[Array]:
            return interpret(module, [np.array(array) for array in inputs])

        expected = again()
        try:
            results = execute(module, [np.array(array) for array in inputs])
        except Exception as error:
            return f"{type(error).__name__}: {exception_text(error)}"
        lines = unexplained(again, expected, [np.asarray(each) for each in as_sequence(results)])
        return f"differs: {'; '.join(lines)}" if lines else ""

    return wrong


def bisecting(target: str) -> Callable[[ModuleOp, Sequence[Array]], str]:
    """The command that finds the action which breaks a program on its way to a grid."""

    def command(module: ModuleOp, inputs: Sequence[Array]) -> str:
        passes = replace(stages(target=target, mode="heuristic"), render=None)
        spelled = ",".join(str(each.pipeline_pass_spec()) for each in passes)
        given = "".join(f" --input {quote(text)}" for text in input_options(inputs).values())
        return f"tg-bisect -p {quote(spelled)}{given}"

    return command


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
    entry: str = "main"

    @classmethod
    def on(
        cls, name: str, made: str, module: ModuleOp, inputs: Sequence[Array], message: str
    ) -> Failed:
        """A program that the executor of a name gets wrong."""
        execute = on_opencl if name == "opencl" else EXECUTORS[name]
        given = f"{made} on {name}", module, inputs, message, disagreement(execute)
        return cls(*given, RUNS[name]) if name in RUNS else cls(*given, command=bisecting("opencl"))

    @classmethod
    def lowered(
        cls, target: str, made: str, module: ModuleOp, inputs: Sequence[Array], message: str
    ) -> Failed:
        """A program that the interpreter gets wrong after all stages for a grid."""
        given = f"{made} for {target}", module, inputs, message, disagreement(on_grid(target))
        return cls(*given, command=bisecting(target))

    def __str__(self) -> str:
        return f"{self.made}: {self.message}"

    def shows(self) -> str:
        """How it fails: the first word of what `wrong` finds, or nothing."""
        with suppress(Exception):
            return self.wrong(self.module.clone(), self.inputs).partition(":")[0]
        return ""

    def reproducer(self) -> str:
        """The text of the reproducer, after a reduction."""
        module, inputs, message = self.module, self.inputs, self.message
        kind = self.shows()

        def fails(candidate: ModuleOp, arrays: Sequence[Any] | None) -> bool:
            given = [np.asarray(array) for array in arrays or ()]
            return bool(kind) and self.wrong(candidate, given).partition(":")[0] == kind

        with suppress(NotInteresting):
            limits: dict[str, Any] = {"seconds": SECONDS, "timeout": ONE_RUN}
            small = reduce(module, fails, inputs=inputs, entry=self.entry, **limits)
            module, inputs = small.module, [np.asarray(array) for array in small.inputs or ()]
            message = self.wrong(module.clone(), inputs)
        text, options = text_of(module), {**self.options, "entry": self.entry}
        about: dict[str, Any] = {
            "error": f"{self.made}: {message}",
            "command": AGAIN if self.command is None else self.command(module, inputs),
            "pipeline": None,
        }
        if (path := leave(KIND, text, inputs=inputs, options=options, **about)) is not None:
            return path.read_text()
        options |= input_options(inputs)
        return reproducer_text(KIND, text, file=f"{KIND}.mlir", options=options, **about)


def check_all(failures: Iterable[Failed]) -> None:
    """Fail if there are failures: with the reproducer of the first one, and a line for others."""
    if found := [*failures]:
        others = (f"// and {printable(one_line(str(failed)))}\n" for failed in found[1:])
        pytest.fail(f"{found[0].reproducer()}{''.join(others)}", pytrace=False)
