"""Facts about operations that do not change for a while, so that what many share is found once."""

from collections import defaultdict
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

SHAPES = "shapes"
"""The kind of facts that are the shapes of values. They stay true while operations are added."""

_Facts = dict[Hashable, dict[Any, Any]]

_FACTS: ContextVar[_Facts] = ContextVar("facts")
"""The facts of the innermost scope of `kept_facts`; not set outside of all."""


def facts(kind: Hashable) -> dict[Any, Any]:
    """The facts of a kind that the scope of `kept_facts` has so far: a dictionary to look up in and
    to add to. Outside of such a scope it is a new one."""
    known = _FACTS.get(None)
    return {} if known is None else known[kind]


@contextmanager
def kept_facts(*kinds: Hashable) -> Generator[None]:
    """A scope in which facts of some kinds, or of all, are kept. No operation that they are about
    may change in it. Within a scope that keeps the same kinds it is part of that one."""
    if kinds and _FACTS.get({}).keys() >= set(kinds):
        yield
        return
    token = _FACTS.set(_Some((kind, {}) for kind in kinds) if kinds else defaultdict(dict))
    try:
        yield
    finally:
        _FACTS.reset(token)


class _Some(_Facts):
    """Facts of given kinds. Those of other kinds are forgotten at once."""

    def __missing__(self, kind: Hashable) -> dict[Any, Any]:
        return {}
