"""Calls of a program again with memory at the same addresses, which need no preparation.

A call checks its arguments, finds out which of them overlap, and computes the values of launches.
In a program of static shapes all of that depends on shapes, dtypes and addresses alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tgdialect.runtime.devices.array import DeviceArray, DeviceLease
from tgdialect.runtime.devices.driver import Driver, Span
from tgdialect.runtime.executable import ParameterSlot
from tgdialect.runtime.program import Parameter

_CALLS = 64
"""How many calls are known: one for each set of memory that callers take turns with."""

Expected = Sequence[tuple[tuple[int, ...], np.dtype[Any]]]


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
        self._inputs: Expected = [(p.shape_for(()), p.dtype) for p in inputs]
        self._outputs: Expected = [(p.shape_for(()), p.dtype) for p in outputs]
        self._workspaces = [p.nbytes for _, p in workspaces]
        self._overwritten = overwritten
        self._calls: OrderedDict[tuple[int, ...], Callable[[], object]] = OrderedDict()

    def call(self, arrays: Sequence[Any], out: Any) -> Any:
        """Submit a call that is known, and return its results; None for any other call, of which
        nothing has been done."""
        if not self._calls or len(arrays) != len(self._inputs):
            return None
        if out is not None and self._overwritten:
            return None
        addresses: list[int] = []
        if not self._add(addresses, arrays, self._inputs):
            return None
        if out is None:
            results = [DeviceArray.empty(self._driver, *each) for each in self._outputs]
        else:
            is_one = type(out) is DeviceArray
            results = [out] if is_one else list(cast("Sequence[Any]", out))
        if len(results) != len(self._outputs) or not self._add(addresses, results, self._outputs):
            return None
        leases = [DeviceLease(self._driver.pool, nbytes) for nbytes in self._workspaces]
        addresses += [lease.block.handle for lease in leases]
        again = self._calls.get(tuple(addresses))
        if again is None:
            return None
        again()
        for number, argument in self._overwritten:
            results.insert(number, arrays[argument])
        return results[0] if len(results) == 1 else tuple(results)

    def keep(self, spans: Sequence[Span], again: Callable[[], object]) -> None:
        """Note a plain call: the memory of inputs, results and workspaces in order, and what
        submits it."""
        self._calls[tuple(span.block.handle + span.offset for span in spans)] = again
        while len(self._calls) > _CALLS:
            self._calls.popitem(last=False)

    def _add(self, addresses: list[int], arrays: Sequence[Any], expected: Expected) -> bool:
        """Append the addresses of arrays of this device; False if one of them is another object."""
        driver = self._driver
        for array, (shape, dtype) in zip(arrays, expected, strict=True):
            if type(array) is not DeviceArray or array.driver is not driver:
                return False
            if array.shape != shape or (array.dtype is not dtype and array.dtype != dtype):
                return False
            block, offset, _ = array.span
            addresses.append(block.handle + offset)
        return True
