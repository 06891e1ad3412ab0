"""Calls of a program again with memory at the same addresses, which need no preparation.

A call checks its arguments, finds out which of them overlap, and computes the values of launches.
In a program of static shapes all of that depends on shapes, dtypes and addresses alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.driver import Driver
from tgdialect.runtime.executable import ParameterSlot, listed
from tgdialect.runtime.program import Parameter

_CALLS = 64
"""The calls that are known: one for each set of memory that callers take turns with. Larger: more
memory; smaller: callers with more sets build their commands again."""

_KEY = attrgetter("key")


class Repeats:
    """The calls of a program that were plain: all arrays on the device, and none copied."""

    def __init__(
        self,
        driver: Driver,
        inputs: Sequence[Parameter],
        outputs: Sequence[Parameter],
        workspaces: Sequence[ParameterSlot],
        overwritten: Sequence[tuple[int, int]],
    ) -> None:
        """`overwritten` are those of the `Executable`."""
        self._driver = driver
        self._inputs = len(inputs)
        self._outputs = [(p.shape_for(()), p.dtype) for p in outputs]
        self._workspaces = [p.nbytes for _, p in workspaces]
        self._overwritten = overwritten
        self._calls: OrderedDict[tuple[Any, ...], Callable[[], object]] = OrderedDict()

    def call(self, arrays: Sequence[Any], out: Any) -> Any:
        """Submit a call that is known, and return its results; None for any other call, of which
        nothing has been done."""
        if not self._calls or len(arrays) != self._inputs:
            return None
        results: list[Any]
        try:
            key = [*map(_KEY, arrays)]
            if out is None:
                results = [DeviceArray.empty(self._driver, *each) for each in self._outputs]
            elif self._overwritten:
                return None
            else:
                results = listed(out) or []
            key += map(_KEY, results)
            workspaces = [self._driver.pool.take(nbytes) for nbytes in self._workspaces]
        except (AttributeError, MemoryError):  # An array of another class, or no memory for one.
            return None
        try:
            again = self._calls.get((*key, *[block.handle for block in workspaces]))
            if again is None:
                return None
            again()
        finally:
            for block in workspaces:
                self._driver.pool.give(block)
        for number, argument in self._overwritten:
            results.insert(number, arrays[argument])
        return results[0] if len(results) == 1 else tuple(results)

    def keep(
        self, arrays: Sequence[DeviceArray], workspaces: Sequence[int], again: Callable[[], object]
    ) -> None:
        """Note a plain call: its inputs and results, the handles of its workspaces, and what
        submits it."""
        self._calls[(*map(_KEY, arrays), *workspaces)] = again
        while len(self._calls) > _CALLS:
            self._calls.popitem(last=False)
