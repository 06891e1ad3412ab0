"""Which values a call may overwrite: those that nobody but one tensor can see.

A value is seen by other tensors that share its memory, by values that are computed from it later,
by arrays of `numpy()`, by libraries that took it by DLPack, and by calls on other threads. Each of
them holds a reference to the value's node or to its array, so references are counted at the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr

from tgdialect.frontend.graph import INDEX_TYPE, Node
from tgdialect.ops import tg
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.memory import ReleasedArray, has_one_holder, owns_memory

_LOST = "lost"
"""The attribute of the prototype of a value that is gone: what those who ask for it are told."""


def overwritten(
    executable: Executable, nodes: Sequence[Node], data: list[Any], first: int = 0
) -> list[Node]:
    """The nodes whose memory a call overwrites. `data` are the arguments of the call, with the
    arrays of the nodes from the `first` on; those that somebody else sees are replaced by copies.

    Of the callers none may refer to a node but by `nodes`, or to an array but by `data`.
    """
    found: list[Node] = []
    written = [i - first for _, i in executable.overwritten if first <= i < first + len(nodes)]
    is_needed = _has_gradients(nodes, written)
    for i in written:
        if not is_needed and has_one_holder(nodes, i) and _is_free(data, first + i):
            found.append(nodes[i])
        else:
            data[first + i] = executable.copied(data[first + i])
    return found


def _has_gradients(nodes: Sequence[Node], written: Sequence[int]) -> bool:
    """Whether a gradient that needs the nodes may be asked for after a call which writes some: by a
    tensor that the call does not assign to, or by one that a node was computed from."""
    return any(n.is_tracked and (i not in written or n.operands) for i, n in enumerate(nodes))


def _is_free(data: Sequence[Any], i: int) -> bool:
    """Whether only its node, beside `data`, refers to the memory of an array."""
    if not has_one_holder(data, i):
        return False
    if isinstance(data[i], np.ndarray):
        return owns_memory(data[i])
    return isinstance(data[i], DeviceArray) and data[i].owns_memory


def lose(node: Node, reason: str) -> None:
    """Take the value of a node away. `reason` is the error for those who ask for it."""
    node.data, node.operands = None, ()
    node.prototype = _lost(reason)


@lru_cache
def _lost(reason: str) -> tg.ParamOp:
    """The prototype of values that are gone for a reason."""
    prototype = tg.ParamOp(0, INDEX_TYPE)
    prototype.attributes[_LOST] = StringAttr(reason)
    return prototype


def loss_of(node: Node) -> str | None:
    """Why a node has no value any more; None if that is not so."""
    data: object = node.data
    if isinstance(data, ReleasedArray):
        return data.reason
    lost = None if node.prototype is None else node.prototype.attributes.get(_LOST)
    return lost.data if isinstance(lost, StringAttr) else None
