"""Facts about operations that do not change for a while, so that what many share is found once."""

from collections import defaultdict
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

SHAPES = "shapes"
"""The kind of facts that stays true where operations are added and none changes: the shapes of
values."""

_Facts = dict[Hashable, dict[Any, Any]]

_FACTS: ContextVar[_Facts] = ContextVar("facts")


def facts(kind: Hashable) -> dict[Any, Any]:
    """The facts of a kind that have been found out so far. None are kept outside of `kept_facts`,
    as where an operation is verified by itself."""
    known = _FACTS.get(None)
    return {} if known is None else known[kind]


@contextmanager
def kept_facts(*kinds: Hashable) -> Generator[None]:
    """Keep facts of some kinds, or of all: no operation that they are about changes meanwhile.
    Those that are kept already go on."""
    if kinds and _FACTS.get({}).keys() >= set(kinds):
        yield
        return
    token = _FACTS.set(_Some((kind, {}) for kind in kinds) if kinds else defaultdict(dict))
    try:
        yield
    finally:
        _FACTS.reset(token)


class _Some(_Facts):
    """Facts of the kinds that it has; it keeps none of others."""

    def __missing__(self, kind: Hashable) -> dict[Any, Any]:
        return {}
