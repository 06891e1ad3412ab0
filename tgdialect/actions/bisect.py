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
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.children import ChildDied, ChildFailed, Tell, in_child
from tgdialect.actions.listening import listening
from tgdialect.diagnostics import (
    Action,
    Actions,
    CompilationError,
    Limit,
    exception_text,
    verify_module,
)
from tgdialect.runtime.reproducer import leaving_none

Judge = Callable[[ModuleOp], Any]
"""Says what is wrong with a module, which it may change; None if nothing is. Raises `Untestable`
where it cannot say."""


class Untestable(Exception):
    """A module cannot be judged: it is taken for one like those around it."""


class InvalidIR(ValueError):
    """A pass has left a module that is not valid."""


class NothingToBisect(ValueError):
    """The program is wrong before all passes, or right after them, or cannot be judged then."""


_GRACE = 2.0
"""The seconds after the time limit in which a pass may still end by itself. A pass that catches the
exception, or does not return to Python, takes them."""


class BisectedPass(NamedTuple):
    """A pass: its name, and what changes a module in place, and counts its actions."""

    name: str
    run: Callable[[ModuleOp], object]


@dataclass(frozen=True)
class Failed:
    """A pass raises an exception, leaves a module that is not valid, ends its process, or takes too
    long."""

    kind: str
    """The exception's class."""
    reason: str

    @property
    def is_death(self) -> bool:
        """Whether the pass did not come to an end, so that nothing is known of the module."""
        return self.kind == ChildDied.__name__

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Culprit:
    """The action that breaks a program: one of a pass, the `step`, that ran on the module `base`.

    `passes` are those that have made `base` of the `program`, and the step.
    `before` is the module without it, and `after` the one with it, which `failure` says what is
    wrong with. Of a pass that does not come to an end, `after` is `before`. `action` is None where
    a pass fails in what it does after its last action, `last`: `after` is then what it has left.
    With `limit` the program is wrong, with a smaller one it is not, or cannot be judged: `untested`
    are so many actions, or passes, right before this one. `suspects` are the rules that a step has
    applied which is done as a whole, and `cleared` those of the steps before it, which are right.
    `runs` is how often a pass has run, or a module was judged.
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
    last: Action | None = None
    untested: int = 0

    def __str__(self) -> str:
        if self.action is not None:
            return str(self.action)
        return f"{self.step.name}, after {self.last or f'action {self.limit}'}"


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

    `judge` gets copies. A pass fails that takes more than `timeout` seconds, or leaves a module
    that is not valid. Each pass runs in a process of its own first, which it may end. `progress` is
    called with a text before each run.
    """

    module: ModuleOp
    steps: Sequence[BisectedPass]
    judge: Judge
    timeout: float | None = None
    progress: Callable[[str], object] = lambda _: None
    runs: int = 0
    _states: list[_State] = field(default_factory=list[_State])
    _deadly: set[str] = field(default_factory=set[str])
    """The names of passes that do not come to an end."""

    @leaving_none()
    def culprit(self) -> Culprit:
        """The action. Raises NothingToBisect."""
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
        right, first = _first(0, last, lambda i: self._wrong(self._states[i], f"after {names[i]}"))
        found = self._in_step(self.steps[:first], self._states[first - 1], self._states[first])
        return replace(found, untested=first - right - 1) if first - right > 1 else found

    def _last_wrong(self, names: Sequence[str]) -> int:
        """The number of the last state that can be judged. Raises NothingToBisect if it is
        right."""
        untestable = "the program cannot be tested after all passes"
        for last in reversed(range(1, len(self._states))):
            with suppress(Untestable):
                if self._wrong(self._states[last], f"after {names[last]}") is not None:
                    return last
                if last == len(self._states) - 1:
                    raise NothingToBisect("the program is right after all passes")
                raise NothingToBisect(f"{untestable}, and is right after {names[last]}")
        raise NothingToBisect(untestable)

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

        def is_right_at(limit: Limit) -> bool:
            with suppress(Untestable):
                return at(limit) is None
            return False

        if is_right_at(Limit(whole.count)):
            # It is what the pass does besides actions, or fails to do.
            before, limit = up_to(Limit(whole.count)), Limit(whole.count)
            failure = self._wrong(whole, step.name)
            modules = before.module, before.module if _is_death(failure) else whole.module
            last = next((a for a in reversed(whole.log) if not a.is_note), None)
            about = None, limit, failure, *modules, self.runs
            return Culprit(step, base.module, *about, *given, last=last)
        right, number = _first(base.count, whole.count, lambda n: at(Limit(n)))
        # A rewrite inside of it, if one breaks the program and the action without it does not.
        own = [a for a in whole.log if a.number == number]
        parts = [a.inner for a in own]
        limit, before = Limit(number), Limit(number - 1)
        if (most := max(parts, default=0)) and is_right_at(Limit(number, 0)):
            _, inner = _first(0, most, lambda n: at(Limit(number, n)))
            limit, before = Limit(number, inner), Limit(number, inner - 1)
        action = next((a for a in own if a.inner == (limit.inner or 0)), None)
        suspects = [a for a in own if a.is_note]
        cleared = [a for a in whole.log if a.is_note and a.number < number]
        try:
            failure = at(limit)
        except Untestable:  # It is the last action, and the module after the pass is wrong.
            failure = self._wrong(whole, step.name)
        left, after = up_to(before).module, up_to(limit).module
        modules = left, left if _is_death(failure) else after
        about = action, limit, failure, *modules, self.runs
        untested = number - right - 1
        return Culprit(step, base.module, *about, *given, suspects, cleared, untested=untested)

    def _after(self, step: BisectedPass, base: _State, limit: Limit | None) -> _State:
        """The module after a pass, or some of its actions."""
        self.runs += 1
        self.progress(f"{step.name}" if limit is None else f"{step.name} up to action {limit}")
        module, log = base.module.clone(), list[Action]()

        def run(on_action: Callable[[Action], object]) -> None:
            actions = Actions(limit, count=base.count, on_action=on_action)
            actions.stage = step.name
            with listening(actions), time_limit(self.timeout):
                run_verified(step, module)

        failure = None
        if limit is None or step.name in self._deadly:
            failure = death(run, self.timeout, log.append)
        if failure is not None:
            self._deadly.add(step.name)
        else:
            log.clear()
            try:
                run(log.append)
            except Exception as error:
                failure = Failed(type(error).__name__, exception_text(error))
        count = max((action.number for action in log if action.inner <= 0), default=base.count)
        return _State(module, count, log, failure)

    def _wrong(self, state: _State, name: str) -> Any:
        if state.failure is not None:
            return state.failure
        self.runs += 1
        self.progress(f"running {name}")
        return self.judge(state.module.clone())


def run_verified(step: BisectedPass, module: ModuleOp) -> None:
    """Run a pass. Raises what it raises, and InvalidIR for what it leaves."""
    step.run(module)
    try:
        verify_module(module)
    except CompilationError as error:
        raise InvalidIR(error.diagnostics[0].message) from error


def death(
    run: Callable[[Tell], object],
    timeout: float | None = None,
    heard: Callable[[Any], object] = lambda _: None,
) -> Failed | None:
    """How a function ends its process, which is one of its own, or that it takes more than
    `timeout` seconds; None if it does neither. `heard` gets what it tells."""

    def work(tell: Tell) -> str | None:
        try:
            with time_limit(timeout):
                run(tell)
        except TimeoutError as error:
            return str(error)
        except Exception:
            return None  # It is raised again where it can be looked at.
        return None

    try:
        reason = in_child(work, timeout, heard, grace=_GRACE)
    except ChildFailed as error:
        reason = str(error)
    return None if reason is None else Failed(ChildDied.__name__, reason)


def _is_death(failure: Any) -> bool:
    return isinstance(failure, Failed) and failure.is_death


def _first(low: int, high: int, wrong: Callable[[int], Any]) -> tuple[int, int]:
    """The last number that is right, and the first that is wrong: `low` is right, and `high` is
    wrong. Between the two are those that cannot be judged."""
    unknown: set[int] = set()
    while left := [n for n in range(low + 1, high) if n not in unknown]:
        middle = left[len(left) // 2]
        try:
            is_wrong = wrong(middle) is not None
        except Untestable:
            unknown.add(middle)
            continue
        low, high = (low, middle) if is_wrong else (middle, high)
    return low, high


@contextmanager
def time_limit(seconds: float | None) -> Generator[None]:
    """Raise TimeoutError in the main thread after some seconds, and again each second, in case that
    somebody catches it; elsewhere there is no limit."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds:g} seconds")

    outer = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, outer)
