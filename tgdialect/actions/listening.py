"""Listening to the actions of passes, those of other packages included.

xDSL's passes do not count what they do. While somebody listens, each match of a
`PatternRewriteWalker` that changes something, or raises an exception, is an action. It has the name
of the pattern that made the first change.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from xdsl.ir import Operation, Region
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern

from tgdialect.diagnostics import Actions, line_of, symbol_around, told

_Walk = Callable[[PatternRewriteWalker, Region], bool]
_WALK = PatternRewriteWalker.rewrite_region.__name__


@contextmanager
def listening(actions: Actions) -> Generator[None]:
    """Within the context, passes tell `actions` what they do."""
    walk = PatternRewriteWalker.rewrite_region
    setattr(PatternRewriteWalker, _WALK, _counted(walk, actions))
    try:
        with told(actions):
            yield
    finally:
        setattr(PatternRewriteWalker, _WALK, walk)


def _counted(walk: _Walk, actions: Actions) -> _Walk:
    """The walk of a `PatternRewriteWalker` whose matches are actions."""

    def counted(walker: PatternRewriteWalker, region: Region) -> bool:
        pattern, listener = walker.pattern, walker.listener
        if isinstance(pattern, _Counted):
            return walk(walker, region)
        walker.pattern = counting = _Counted(pattern, actions)
        walker.listener = counting.listener(listener)
        try:
            return walk(walker, region)
        finally:
            walker.pattern, walker.listener = pattern, listener

    return counted


class _Counted(RewritePattern):
    """A pattern whose rewrites are actions. Those that choose another pattern have its name."""

    def __init__(self, pattern: RewritePattern, actions: Actions) -> None:
        self._pattern = pattern
        self._actions = actions
        self._acting = "", ""
        """The name and the line of the pattern that has changed something in this match."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not self._actions.may_act():
            return
        self._acting, symbol = ("", ""), symbol_around(op)
        try:
            self._pattern.match_and_rewrite(op, rewriter)
        except Exception as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            self._count(op, symbol, *_acting_pattern(frame))
            raise
        if rewriter.has_done_action:
            self._count(op, symbol, *self._acting)

    def _count(self, op: Operation, symbol: str, name: str, line: str) -> None:
        self._actions.acted(name or pattern_name(self._pattern), op, symbol, line)

    def listener(self, outer: PatternRewriterListener) -> PatternRewriterListener:
        """A listener that notes who makes the first change of a match, and tells another one."""
        heard = PatternRewriterListener(
            operation_insertion_handler=[self._note],
            operation_removal_handler=[self._note],
            operation_modification_handler=[self._note],
            operation_replacement_handler=[self._note],
        )
        heard.extend_from_listener(outer)
        return heard

    def _note(self, *_: object) -> None:
        if not self._acting[0]:
            self._acting = _acting_pattern(inspect.currentframe())


_CHOOSING = (GreedyRewritePatternApplier, CanonicalizationRewritePattern, _Counted)
"""Patterns that apply one of several. A change of their own is a fold, or removes a dead op."""


def _acting_pattern(frame: FrameType | None) -> tuple[str, str]:
    """The name of the innermost pattern whose `match_and_rewrite` is running in a frame or around
    it, and its line."""
    while frame is not None:
        pattern: Any = frame.f_locals.get("self")
        if frame.f_code.co_name == "match_and_rewrite" and isinstance(pattern, RewritePattern):
            is_own = isinstance(pattern, _CHOOSING)
            return "fold or erase" if is_own else pattern_name(pattern), line_of(frame)
        frame = frame.f_back
    return "", ""


def pattern_name(pattern: RewritePattern) -> str:
    """The name of a pattern: its own, or that of its class."""
    name = getattr(pattern, "name", None)
    return name if isinstance(name, str) else type(pattern).__name__
