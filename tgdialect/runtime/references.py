"""The holders of an array's memory: counted by references."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from sys import getrefcount
from typing import Any
from weakref import getweakrefcount

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.memory import Lease


def has_one_holder(values: Sequence[object], position: int) -> bool:
    """Whether one other object refers to the value at a position of a sequence, and nobody else."""
    return getrefcount(values[position]) == _count_of_one()


def owns_memory(array: Array) -> bool:
    """Whether the memory of an array is allocated by NumPy or by our pool, and no other array, and
    no foreign object, is on it. The caller counts the references to the array itself."""
    if not array.flags.carray or getweakrefcount(array):
        return False
    bases: list[Any] = [array]
    while isinstance(bases[-1], np.ndarray):
        if bases[-1].flags.owndata:
            return True
        bases.append(bases[-1].base)
        if not has_one_holder(bases, len(bases) - 1):
            return False
    return isinstance(bases[-1], Lease)


@cache
def _count_of_one() -> int:
    """The reference count of a value with one holder besides the sequence, in this Python."""
    values = [object()]
    holder = [values[0]]
    count = getrefcount(values[0])
    del holder
    return count
