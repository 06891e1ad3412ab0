"""Programs whose passes are stopped after some of their actions: each verifies and means the same.

A program is stopped after numbers of actions that are drawn, inside of one, and between two passes.
There the compiler takes the rest of the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from shlex import quote

import numpy as np
from compiling import compile_module
from executors import as_sequence
from expression import Array
from reproduced import Failed
from slack import unexplained
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.compare import first_difference
from tgdialect.actions.listening import listening
from tgdialect.diagnostics import Action, Actions, Limit, exception_text, verify_module
from tgdialect.interpreter import run
from tgdialect.lowering.levels import level_of
from tgdialect.ops.properties import is_memory
from tgdialect.ops.source import ParamOp
from tgdialect.registry import make_context
from tgdialect.tools.examination import run_step


@dataclass(frozen=True)
class Stoppable:
    """A program with inputs for its entry, and the passes that are stopped."""

    name: str
    """How to make it again."""
    module: ModuleOp
    inputs: Sequence[Array]
    entry: str
    passes: Sequence[ModulePass]
    opt: str | None = None
    """How the cpu compiles what is left between two passes; None if it does not."""

    def results(self, module: ModuleOp) -> Sequence[Array]:
        """The results on the interpreter, and the memory that was given."""
        given = self._given()
        results = run(module, self.entry, given, allow_custom=True)
        function = SymbolTable.lookup_symbol(self.module, self.entry)
        assert isinstance(function, FuncOp)
        memory = [i for i, value in enumerate(parameters(function)) if is_memory(value)]
        return [np.asarray(array) for array in (*results, *(given[i] for i in memory))]

    def compiled(self, module: ModuleOp) -> Sequence[Array]:
        """The results on the cpu."""
        assert self.opt is not None
        executable = compile_module(module, entry=self.entry, opt=self.opt, allow_custom=True)
        return [np.asarray(array) for array in as_sequence(executable(*self._given()))]

    def _given(self) -> list[Array]:
        return [np.array(array) for array in self.inputs]

    def stopped(self, limit: Limit | None, log: list[Action]) -> ModuleOp:
        """A copy of the module after so many actions."""
        module, context = self.module.clone(), make_context()
        with listening(Actions(limit, on_action=log.append)):
            for each in self.passes:
                run_step(each, context, module)
        return module

    def wrong(self, expected: Sequence[Array], limit: Limit, *, compiles: bool = False) -> str:
        """The failure of the program after so many actions; nothing if all is right."""
        log: list[Action] = []
        try:
            module = self.stopped(limit, log)
            verify_module(module)
            wrong = self._difference(expected, self.results(module.clone()))
            if not wrong and compiles and self.opt and (level := level_of(module)):
                # It has no memory among its results.
                found = self.compiled(module)
                wrong = self._difference(expected[: len(found)], found)
                wrong = wrong and f"compiled at level {level}: {wrong}"
        except Exception as error:
            wrong = f"{type(error).__name__}: {exception_text(error)}"
        return wrong

    def _difference(self, expected: Sequence[Array], found: Sequence[Array]) -> str:
        difference = first_difference(found, expected)
        if difference is None:
            return ""
        count = len(found)
        explained = not unexplained(lambda: self.results(self.module)[:count], expected, found)
        return "" if explained else f"differs: {difference}"


def failed(case: Stoppable, limit: Limit, last: Action | None, message: str) -> Failed:
    """A stop after an action, `last`, that is wrong."""

    def first(module: ModuleOp, inputs: Sequence[Array]) -> tuple[Limit, str]:
        """A stop of another program after an action of the same rule that is wrong."""
        other = replace(case, module=module, inputs=inputs)
        expected, log = other.results(module.clone()), list[Action]()
        other.stopped(None, log)
        for action in log:
            if last and (action.stage, action.pattern) == (last.stage, last.pattern):
                at = Limit(action.number, None if limit.inner is None else action.inner)
                if wrong := other.wrong(expected, at, compiles=True):
                    return at, wrong
        return limit, ""

    def wrong(module: ModuleOp, inputs: Sequence[Array]) -> str:
        return first(module, inputs)[1]

    def command(module: ModuleOp, inputs: Sequence[Array]) -> str:
        passes = ",".join(str(each.pipeline_pass_spec()) for each in case.passes)
        return f"tg-opt -p {quote(passes)} --tg-action-limit={first(module, inputs)[0]}"

    made = f"{case.name}, --tg-action-limit={limit}"
    given = case.module, case.inputs, message, wrong
    return Failed(made, *given, command=command, entry=case.entry)


def failures(case: Stoppable, seed: int, count: int) -> Iterator[Failed]:
    """Stop a program so many times: what is wrong. The last stop is between passes."""
    random, log = Random(seed), list[Action]()
    try:
        expected = case.results(case.module.clone())
    except InterpretationError as error:
        assert "cycle" in str(error)  # noqa: PT017
        return  # All executors refuse it.
    case.stopped(None, log)
    most = max((action.number for action in log), default=0)
    names = {each.name for each in case.passes}
    begins = [a.number for a in log if a.pattern == "pass" and a.stage in names]
    inside = [a for a in log if a.inner > 0]
    for number in range(count):
        is_between = number == count - 1
        limit = Limit(random.randint(0, most))
        if is_between:
            limit = Limit(random.choice([*begins, most + 1]) - 1)
        elif inside and number % 4 == 1:
            part = random.choice(inside)
            limit = Limit(part.number, random.randint(0, part.inner))
        if wrong := case.wrong(expected, limit, compiles=is_between):
            done = [a for a in log if a.number <= limit.action and not a.is_note]
            yield failed(case, limit, done[-1] if done else None, wrong)


def parameters(function: FuncOp) -> Sequence[SSAValue]:
    """The parameters of a function: its arguments, or the PARAMs in it by their slots."""
    found = [op for op in function.body.block.ops if isinstance(op, ParamOp)]
    return [*function.args, *(op.result for op in sorted(found, key=lambda op: op.slot.data))]
