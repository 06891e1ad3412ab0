"""Programs whose passes are stopped after some of their actions: each verifies and means the same.

A case is stopped after numbers of actions that its seed draws, inside of one, and between two
passes. There the compiler takes the rest of the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from compiling import compile_module
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.listening import listening
from tgdialect.diagnostics import Action, Actions, Limit, exception_text, verify_module
from tgdialect.lowering.levels import level_of
from tgdialect.registry import make_context
from tgdialect.tools.examination import run_step

Run = Callable[[ModuleOp], Sequence[Any]]
"""The results of a module: on the interpreter, with the memory that it has written."""
Wrong = Callable[[Sequence[Any], Sequence[Any]], str]
"""What differs between the results that are expected and others; nothing if all is right."""


@dataclass(frozen=True)
class Stoppable:
    """A program, the passes that are stopped, and how to compare what they leave."""

    name: str
    """How to make it again."""
    module: ModuleOp
    passes: Sequence[ModulePass]
    run: Run
    wrong: Wrong
    compiled: Run | None = None
    """What runs a module that is stopped between two passes, on the cpu."""


def compiled_run(entry: str, inputs: Callable[[], Sequence[Any]], opt: str) -> Run:
    """Compiles a module at the level that it is at, and runs it."""

    def run(module: ModuleOp) -> Sequence[Any]:
        results = compile_module(module, entry=entry, opt=opt, allow_custom=True)(*inputs())
        return results if isinstance(results, tuple | list) else [results]

    return run


def stopped(
    case: Stoppable, context: Context, limit: Limit | None, log: list[Action]
) -> tuple[ModuleOp, int]:
    """A copy of a module after so many actions, and how many these are."""
    module = case.module.clone()
    actions = Actions(limit, on_action=log.append)
    with listening(actions):
        for each in case.passes:
            run_step(each, context, module)
    return module, actions.count


def failures(case: Stoppable, seed: int, count: int) -> Iterator[str]:
    """Stop a program so many times; what is wrong, a text each. The last stop is between passes."""
    random, context = Random(seed), make_context()
    try:
        expected = case.run(case.module.clone())
    except InterpretationError as error:
        assert "cycle" in str(error)  # noqa: PT017
        return  # All executors refuse it.
    log: list[Action] = []
    _, most = stopped(case, context, None, log)
    names = {each.name for each in case.passes}
    begins = [a.number for a in log if a.pattern == "pass" and a.stage in names]
    inside = [a for a in log if a.inner > 0]
    for number in range(count):
        between = number == count - 1
        limit = Limit(
            random.choice([*begins, most + 1]) - 1 if between else random.randint(0, most)
        )
        if inside and number % 4 == 1:
            part = random.choice(inside)
            limit = Limit(part.number, random.randint(0, part.inner))
        done: list[Action] = []
        try:
            module, found = stopped(case, context, limit, done)
            assert found <= limit.action, f"{found} actions were done"
            verify_module(module)
            wrong = case.wrong(expected, case.run(module.clone()))
            if not wrong and between and case.compiled and level_of(module) is not None:
                wrong = case.wrong(expected, case.compiled(module))
                wrong = wrong and f"compiled from level {level_of(module)}: {wrong}"
        except Exception as error:
            wrong = f"{type(error).__name__}: {exception_text(error)}"
        if wrong:
            last = done[-1] if done else "no action"
            yield f"{case.name}, --tg-action-limit={limit} ({last}): {wrong[:600]}"
