"""Judges of modules for bisection: by their meaning, and by commands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.bisect import Untestable, time_limit
from tgdialect.actions.children import ChildFailed, in_child
from tgdialect.actions.compare import Difference, first_difference
from tgdialect.actions.execution import Evaluate, NoInterpretation, evaluate
from tgdialect.actions.predicate import TIMED_OUT, CommandOutcome, CommandPredicate
from tgdialect.diagnostics import exception_text
from tgdialect.registry import upgrades_for
from tgdialect.runtime.compiler import compile
from tgdialect.runtime.staged import rendered_function
from tgdialect.targets import DEFAULT_TARGET

_WARM_UP = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
"""A program that is compiled before processes are forked."""
CANNOT_RUN = "it cannot be run: "
_GOOD, _SKIP = 0, 125
"""The exit codes that say that a program is right, or that it cannot be tested, as for
`git bisect run`."""


@dataclass(frozen=True)
class Meaning:
    """The entry of a module has the results, and leaves the inputs, that are `wanted`, or the first
    of them if it has fewer. A module of an older vocabulary cannot be judged, nor code for another
    machine, nor ops that no interpreter knows."""

    entry: str
    inputs: Sequence[Any]
    wanted: Sequence[Any]
    run: Evaluate = evaluate

    @classmethod
    def of(
        cls, module: ModuleOp, entry: str, inputs: Sequence[Any], run: Evaluate = evaluate
    ) -> Meaning:
        """The meaning of a module. Raises InterpretationError if it has none."""
        return cls(entry, inputs, run(module, entry, inputs), run)

    def __call__(self, module: ModuleOp) -> Difference | str | None:
        if upgrades_for(module) or _is_for_a_device(module):
            raise Untestable
        try:
            found = self.run(module, self.entry, self.inputs)
        except NoInterpretation as error:
            raise Untestable from error
        except InterpretationError as error:
            return f"{CANNOT_RUN}{error}"
        except Exception as error:  # Of an interpreter that does not know what a pass has made.
            return f"{CANNOT_RUN}{exception_text(error)}"
        return first_difference(found[: len(self.wanted)], self.wanted)


def _is_for_a_device(module: ModuleOp) -> bool:
    """Whether `tg-render` has left code that this CPU does not run."""
    return any(op.name == "gpu.module" for op in module.ops)


@cache
def warm_up(target: str = DEFAULT_TARGET) -> None:
    """Compile something in this process, so that its children need not import the compiler and
    LLVM each."""
    with suppress(Exception):
        compile(_WARM_UP, target=target)


@dataclass(frozen=True)
class Execution:
    """Runs a module on the interpreter, and one that `tg-render` has left on this CPU in a process
    of its own. Either may take `timeout` seconds."""

    timeout: float | None = None

    def __call__(self, module: ModuleOp, entry: str, inputs: Sequence[Any]) -> list[Any]:
        if rendered_function(module, entry) is None:
            try:
                with time_limit(self.timeout):
                    return evaluate(module, entry, inputs)
            except TimeoutError as error:
                raise InterpretationError(str(error)) from error
        warm_up()
        try:
            return in_child(lambda _: self._compiled(module, entry, inputs), self.timeout)
        except ChildFailed as error:
            raise InterpretationError(str(error)) from error

    def _compiled(self, module: ModuleOp, entry: str, inputs: Sequence[Any]) -> list[Any]:
        arrays = [np.array(value) for value in inputs]
        results = compile(module, entry=entry, opt="none", allow_custom=True)(*arrays)
        return [*(results if isinstance(results, tuple) else (results,)), *arrays]


@dataclass(frozen=True)
class ByCommand:
    """A command says of the text of a module whether it is right.

    It is wrong if all `conditions` of the command hold. Without any the exit code decides, as for
    `git bisect run`: 0 is right, 125 cannot be tested, and others are wrong.
    """

    command: CommandPredicate

    def __call__(self, module: ModuleOp) -> str | None:
        outcome = self.command.outcome(module)
        if self.command.conditions:
            is_wrong = all(condition(outcome) for condition in self.command.conditions)
        elif outcome.exit == _SKIP:
            raise Untestable
        else:
            is_wrong = outcome.exit != _GOOD
        is_timed = any(condition.name == "seconds" for condition in self.command.conditions)
        return _said(outcome, is_timed) if is_wrong else None


@dataclass(frozen=True)
class Slower:
    """A command takes no more than `most` seconds, the shortest of some times."""

    command: CommandPredicate
    most: float

    @classmethod
    def than(cls, module: ModuleOp, command: CommandPredicate, factor: float) -> Slower:
        """The judge of whether a command takes `factor` times as long as for a module. Raises
        ValueError if it fails."""
        outcome = _quickest(command, module)
        if outcome.exit:
            raise ValueError(f"the command that is to be timed fails: {_said(outcome)}")
        return cls(command, max(factor * outcome.seconds, outcome.seconds + _NOISE))

    def __call__(self, module: ModuleOp) -> str | None:
        outcome = _quickest(self.command, module, self.most)
        if outcome.seconds > self.most and outcome.exit in (_GOOD, TIMED_OUT):
            return f"the command takes {outcome.seconds:.3g} s, more than {self.most:.3g} s"
        if outcome.exit:
            raise Untestable
        return None


_NOISE = 0.05
"""The seconds by which two runs of one command may differ on a busy machine. More: short commands
get slower unnoticed; fewer: noise is taken for it."""
_TRIES = 3
"""How often a command is timed. More: less noise; fewer: less time."""


def _quickest(command: CommandPredicate, module: ModuleOp, enough: float = 0.0) -> CommandOutcome:
    """The quickest of some runs, the first that takes no more than `enough` seconds, or one that is
    stopped."""
    outcomes: list[CommandOutcome] = []
    for _ in range(_TRIES):
        outcomes.append(outcome := command.outcome(module))
        if outcome.exit == TIMED_OUT or (outcome.exit == _GOOD and outcome.seconds <= enough):
            break
    return min(outcomes, key=lambda outcome: (outcome.exit != _GOOD, outcome.seconds))


def _said(outcome: CommandOutcome, is_timed: bool = False) -> str:
    """How a command has ended, with the last line of what it has said."""
    lines = (outcome.stderr or outcome.stdout).strip().splitlines()
    last = f": {lines[-1]}" if lines else ""
    is_timed |= outcome.exit == TIMED_OUT
    after = f" after {outcome.seconds:.3g} s" if is_timed else ""
    return f"exit code {outcome.exit}{after}{last}"
