"""Actions: rewrites of patterns, OptOps, and steps of stages, numbered in the order in which they
are done.

A program that is stopped after any action verifies and means the same. So bisection finds the
action that breaks a program (docs/debugging.md). Without a listener the hooks cost one look-up:

* a rewrite asks `may_act` before it changes anything, and calls `acted` after it has;
* a step that is known to change something asks `begins`;
* the rules of a step that is done as a whole are `noted`: they have no numbers of their own;
* a pass is a step, within which `running` names it. What a pass does apart from its actions belongs
  to that step.

xDSL's passes call none of these: `tgdialect/actions/listening.py` counts the matches of patterns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import NamedTuple

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tgdialect.diagnostics.diagnostic import place_of
from tgdialect.diagnostics.locations import operation_location


class Limit(NamedTuple):
    """The last action that is done, and how many of the rewrites that it consists of."""

    action: int
    inner: int | None = None
    """None for all. A rewrite of an op that another rewrite has just inserted is inside of it."""

    def __str__(self) -> str:
        return str(self.action) if self.inner is None else f"{self.action}.{self.inner}"


@dataclass(frozen=True)
class Action:
    """An action that was done."""

    number: int
    inner: int
    """The number of a rewrite inside of the action; 0 is the action itself, which comes last. -1 is
    a rule of a step, which comes after it."""
    stage: str
    """The name of the pass."""
    pattern: str
    """The name of the pattern, rule, OptOp or step."""
    op: str
    """The name of the op that it was done to, with the symbol that the op is or is in."""
    location: LocationAttr | None
    """Where that op is in the source."""
    code: str = ""
    """Where the compiler did it: a Python module and a line."""

    @property
    def label(self) -> str:
        """The number, as `Limit` is printed."""
        return str(Limit(self.number, self.inner if self.inner > 0 else None))

    @property
    def is_note(self) -> bool:
        """Whether this is a rule of a step that is done as a whole."""
        return self.inner < 0

    @property
    def place(self) -> str:
        """Where that op is in the source, as errors show it; empty if it is not known."""
        return "" if self.location is None else place_of(self.location)

    @property
    def what(self) -> str:
        """The pattern and the op."""
        return f"{self.pattern}: {self.op}" + (f" at {self.place}" if self.place else "")

    def __str__(self) -> str:
        inside = "in " if self.is_note else ""
        return f"{inside}action {self.label}: {self.stage}: {self.what}"


class Actions:
    """A listener: counts the actions, and allows no more than a limit."""

    def __init__(
        self,
        limit: Limit | None = None,
        *,
        count: int = 0,
        on_action: Callable[[Action], object] | None = None,
    ) -> None:
        """`count` is how many actions were done before, `on_action` is told each."""
        self.limit = limit
        self.count = count
        """How many actions were done."""
        self.stage = ""
        """The name of the pass that is running."""
        self._inner = 0
        self._depth = 0
        self._on_action = on_action

    @property
    def is_over(self) -> bool:
        """Whether the last action that is allowed was done."""
        return self.limit is not None and self.count >= self.limit.action

    def may_act(self, *, inner: bool = False) -> bool:
        """Whether one more action is allowed, or a rewrite inside of the one that is being done."""
        if self.limit is None:
            return True
        left = self.limit.action - self.count
        if (inner or self._depth) and left == 1 and self.limit.inner is not None:
            return self._inner < self.limit.inner
        return left > 0

    @contextmanager
    def trying(self) -> Generator[None]:
        """A scope whose actions are inside of the one that is counted after it."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def acted(
        self, pattern: str, op: Operation, symbol: str = "", code: str = "", *, inner: bool = False
    ) -> None:
        """Count an action. `symbol` is what an op that was erased was in, and `code` the place in
        the compiler, if it is not that of the call."""
        if inner or self._depth:
            self._inner += 1
            self._tell(self.count + 1, self._inner, pattern, op, symbol, code)
        else:
            self.count += 1
            self._inner = 0
            self._tell(self.count, 0, pattern, op, symbol, code)

    def note(self, rule: str, op: Operation) -> None:
        """Note a rule of the last step, applied to an op."""
        self._tell(self.count, -1, rule, op)

    def _tell(
        self, number: int, inner: int, pattern: str, op: Operation, symbol: str = "", code: str = ""
    ) -> None:
        if self._on_action is not None:
            name = f"{op.name} {symbol or symbol_around(op)}".rstrip()
            at, code = operation_location(op), code or _caller()
            self._on_action(Action(number, inner, self.stage, pattern, name, at, code))


def _caller() -> str:
    """The place in the compiler that counts an action."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") in (__name__, "contextlib"):
        frame = frame.f_back
    return "" if frame is None else line_of(frame)


def line_of(frame: FrameType) -> str:
    """The module and the line that a frame is at."""
    return f"{frame.f_globals.get('__name__', '?')}:{frame.f_lineno}"


_ACTIONS: ContextVar[Actions | None] = ContextVar("actions", default=None)


def listener() -> Actions | None:
    """Whoever counts actions now; None if nobody does."""
    return _ACTIONS.get()


def may_act() -> bool:
    """Whether one more action is allowed."""
    actions = _ACTIONS.get()
    return actions is None or actions.may_act()


def acted(pattern: str, op: Operation) -> None:
    """Count an action, which was done to an op."""
    if (actions := _ACTIONS.get()) is not None:
        actions.acted(pattern, op)


def trying() -> AbstractContextManager[object]:
    """A scope whose actions are inside of the one that is counted after it."""
    actions = _ACTIONS.get()
    return nullcontext() if actions is None else actions.trying()


def begins(pattern: str, op: Operation) -> bool:
    """Whether a step of a stage is allowed, which is counted then."""
    actions = _ACTIONS.get()
    if actions is None:
        return True
    if not actions.may_act():
        return False
    actions.acted(pattern, op)
    return True


def noted(rule: str, op: Operation) -> None:
    """Note that a step applies a rule to an op. A step is done as a whole: its rules have no
    numbers, and say what has made a result."""
    if (actions := _ACTIONS.get()) is not None:
        actions.note(rule, op)


@contextmanager
def running(step: ModulePass, op: Operation) -> Generator[bool]:
    """The run of a pass on an op, which is an action. Gives whether it is allowed."""
    actions = _ACTIONS.get()
    if actions is None:
        yield True
        return
    outer, actions.stage = actions.stage, step.name
    try:
        if is_allowed := actions.may_act():
            actions.acted("pass", op, code=_place_of(type(step)))
        yield is_allowed
    finally:
        actions.stage = outer


@cache
def _place_of(pass_type: type) -> str:
    """Where a class is in the compiler."""
    try:
        return f"{pass_type.__module__}:{inspect.getsourcelines(pass_type)[1]}"
    except (OSError, TypeError):  # It has no source.
        return pass_type.__module__


@contextmanager
def told(actions: Actions | None) -> Generator[None]:
    """Within the context, our passes tell `actions` what they do; or nobody, as where they try what
    may be thrown away."""
    token = _ACTIONS.set(actions)
    try:
        yield
    finally:
        _ACTIONS.reset(token)


def symbol_around(op: Operation) -> str:
    """The innermost symbol that an op is, or is in, as `@main`; empty if there is none."""
    around: Operation | None = op
    while around is not None:
        name = around.properties.get("sym_name") or around.attributes.get("sym_name")
        if isinstance(name, StringAttr):
            return f"@{name.data}"
        around = around.parent_op()
    return ""
