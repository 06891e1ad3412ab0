"""Values computed along the edges of a graph, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from xdsl.ir import SSAValue

T = TypeVar("T")


def computed(
    root: SSAValue,
    known: dict[SSAValue, T],
    sources: Callable[[SSAValue], Iterable[SSAValue]],
    compute: Callable[[SSAValue], T],
) -> T:
    """`compute(root)`, after what `sources` says that it needs is in `known`, as it will be too.

    There is no recursion: graphs can be as deep as they like.
    """
    stack = [root]
    while stack:
        value = stack[-1]
        if value in known:
            stack.pop()
        elif missing := [source for source in sources(value) if source not in known]:
            stack.extend(missing)
        else:
            known[value] = compute(value)
    return known[root]


def operands_of(value: SSAValue) -> Iterable[SSAValue]:
    """What an op's result is computed from; nothing for an argument."""
    return getattr(value.owner, "operands", ())
