"""Values computed along the edges of a graph, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

T = TypeVar("T")


def computed(
    root: SSAValue,
    known: dict[SSAValue, T],
    sources: Callable[[SSAValue], Iterable[SSAValue]],
    compute: Callable[[SSAValue], T],
) -> T:
    """The result of `compute` for a value, cached in `known`, as for all values that it needs.

    `compute(value)` is called when `known` has the results of all `sources(value)`. The stack is
    explicit, so that graphs may be arbitrarily deep. A walk in order mostly needs no stack.
    """
    if root not in known and all(map(known.__contains__, sources(root))):
        known[root] = compute(root)
        return known[root]
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
    """The operands of the op that defines a value; none for a block argument."""
    return getattr(value.owner, "operands", ())


def computed_from(value: SSAValue) -> Sequence[Operation]:
    """The ops that a value is computed by."""
    found: dict[Operation, None] = {}
    stack = [value.owner]
    while stack:
        op = stack.pop()
        if isinstance(op, Operation) and op not in found:
            found[op] = None
            stack += [operand.owner for operand in op.operands]
    return list(found)
