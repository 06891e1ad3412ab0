"""Bisection: the first action after which a program is wrong.

First the passes: the module is kept after each of them, and judged where a binary search asks. Then
the actions of the first pass that leaves a wrong module: that pass runs again, and is stopped after
some of them. Last, the rewrites inside of the action that was found.

A binary search finds a place where a right program becomes a wrong one; where there are several, it
is one of them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.listening import listening
from tgdialect.diagnostics import (
    Action,
    Actions,
    Limit,
    exception_text,
)

Judge = Callable[[ModuleOp], Any]
"""Says what is wrong with a module, which it may change; None if nothing is. Raises `Untestable`
where it cannot say."""


class Untestable(Exception):
    """A module cannot be judged: it is taken for one like those around it."""


class NothingToBisect(ValueError):
    """The program is wrong before all passes, or right after them."""


class BisectedPass(NamedTuple):
    """A pass: its name, and what changes a module in place, and counts its actions."""

    name: str
    run: Callable[[ModuleOp], object]


@dataclass(frozen=True)
class Failed:
    """A pass raises an exception, or takes too long."""

    kind: str
    """The exception's class."""
    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Culprit:
    """The action that breaks a program: one of a pass, the `step`, that ran on the module `base`.

    `passes` are those that have made `base` of the `program`, and the step.
    `before` is the module without it, and `after` the one with it, which `failure` says what is
    wrong with. `action` is None where a pass fails in what it does after its last action: `after`
    is then what it has left. With `limit` the program is wrong, with a smaller one it is not.
    `suspects` are the rules that a step has applied which is done as a whole, and `cleared` those
    of the steps before it, which are right. `runs` is how often a pass has run, or a module was
    judged.
    """

    step: BisectedPass
    base: ModuleOp
    action: Action | None
    limit: Limit
    failure: Any
    before: ModuleOp
    after: ModuleOp
    runs: int
    program: ModuleOp
    passes: Sequence[BisectedPass]
    suspects: Sequence[Action] = ()
    cleared: Sequence[Action] = ()

    def __str__(self) -> str:
        if self.action is not None:
            return str(self.action)
        return f"{self.step.name}, after action {self.limit}"


@dataclass(frozen=True)
class _State:
    """A module after some actions."""

    module: ModuleOp
    count: int
    log: Sequence[Action]
    failure: Failed | None = None


@dataclass
class Bisection:
    """A search for the action that breaks a program.

    `judge` gets copies. A pass fails that takes more than `timeout` seconds. `progress` is called
    with a text before each run.
    """

    module: ModuleOp
    steps: Sequence[BisectedPass]
    judge: Judge
    timeout: float | None = None
    progress: Callable[[str], object] = lambda _: None
    runs: int = 0
    _states: list[_State] = field(default_factory=list[_State])

    def culprit(self) -> Culprit:
        """The action. Raises NothingToBisect, and ValueError where only modules that cannot be
        judged are between a right one and a wrong one."""
        with suppress(Untestable):
            if (wrong := self._wrong(_State(self.module, 0, ()), "the program")) is not None:
                raise NothingToBisect(f"the program is wrong before any pass: {wrong}")
        self._states = [_State(self.module, 0, ())]
        for step in self.steps:
            self._states.append(self._after(step, self._states[-1], None))
            if self._states[-1].failure is not None:
                break
        names = ["", *(step.name for step in self.steps)]
        last = self._last_wrong(names)
        if last is None:
            raise NothingToBisect("the program is right after all passes")
        first = _first(0, last, lambda i: self._wrong(self._states[i], f"after {names[i]}"))
        return self._in_step(self.steps[:first], self._states[first - 1], self._states[first])

    def _last_wrong(self, names: Sequence[str]) -> int | None:
        """The number of the last state that can be judged, if it is wrong."""
        for last in reversed(range(1, len(self._states))):
            with suppress(Untestable):
                is_wrong = self._wrong(self._states[last], f"after {names[last]}") is not None
                return last if is_wrong else None
        return None

    def _in_step(self, passes: Sequence[BisectedPass], base: _State, whole: _State) -> Culprit:
        """The action of the last of some passes, which turns the module `base` into a wrong one."""
        step, given = passes[-1], (self.module, passes)

        states: dict[Limit, _State] = {}
        verdicts: dict[Limit, Any] = {}

        def up_to(limit: Limit) -> _State:
            if limit not in states:
                states[limit] = self._after(step, base, limit)
            return states[limit]

        def at(limit: Limit) -> Any:
            if limit not in verdicts:
                verdicts[limit] = self._wrong(up_to(limit), f"{step.name} up to {limit}")
            return verdicts[limit]

        if at(Limit(whole.count)) is None:
            # It is what the pass does besides actions, or fails to do.
            before, limit = up_to(Limit(whole.count)), Limit(whole.count)
            failure = self._wrong(whole, step.name)
            modules = before.module, whole.module
            return Culprit(step, base.module, None, limit, failure, *modules, self.runs, *given)
        number = _first(base.count, whole.count, lambda n: at(Limit(n)))
        # A rewrite inside of it, if one breaks the program and the action without it does not.
        own = [a for a in whole.log if a.number == number]
        parts = [a.inner for a in own]
        limit, before = Limit(number), Limit(number - 1)
        if (most := max(parts, default=0)) and at(Limit(number, 0)) is None:
            inner = _first(0, most, lambda n: at(Limit(number, n)))
            limit, before = Limit(number, inner), Limit(number, inner - 1)
        action = next((a for a in own if a.inner == (limit.inner or 0)), None)
        suspects = [a for a in own if a.is_note]
        cleared = [a for a in whole.log if a.is_note and a.number < number]
        failure = at(limit)
        modules = up_to(before).module, up_to(limit).module
        about = action, limit, failure, *modules, self.runs
        return Culprit(step, base.module, *about, *given, suspects, cleared)

    def _after(self, step: BisectedPass, base: _State, limit: Limit | None) -> _State:
        """The module after a pass, or some of its actions."""
        self.runs += 1
        self.progress(f"{step.name}" if limit is None else f"{step.name} up to action {limit}")
        module, log = base.module.clone(), list[Action]()
        actions = Actions(limit, count=base.count, on_action=log.append)
        actions.stage = step.name
        failure = None
        try:
            with listening(actions), time_limit(self.timeout):
                step.run(module)
        except Exception as error:
            failure = Failed(type(error).__name__, exception_text(error))
        return _State(module, actions.count, log, failure)

    def _wrong(self, state: _State, name: str) -> Any:
        if state.failure is not None:
            return state.failure
        self.runs += 1
        self.progress(f"running {name}")
        return self.judge(state.module.clone())


def _first(low: int, high: int, wrong: Callable[[int], Any]) -> int:
    """The number that is wrong, after one that is not: `low` is right, and `high` is wrong.

    Those that cannot be judged are left out. Raises ValueError if they are all that is between.
    """
    unknown: set[int] = set()
    while left := [n for n in range(low + 1, high) if n not in unknown]:
        middle = left[len(left) // 2]
        try:
            is_wrong = wrong(middle) is not None
        except Untestable:
            unknown.add(middle)
            continue
        low, high = (low, middle) if is_wrong else (middle, high)
    return high


@contextmanager
def time_limit(seconds: float | None) -> Generator[None]:
    """Raise TimeoutError in the main thread after some seconds; elsewhere there is no limit."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds:g} seconds")

    outer = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, outer)
