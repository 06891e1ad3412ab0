"""Where two accesses of work items meet: sums of terms, and the distances that they may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray

from tgdialect.ops import tg

Numbers = NDArray[np.int64]

_MOST_SUMS = 4096
"""The most elements of a set of differences between indices that is enumerated; a larger set is
described by its bounds and greatest common divisor. Larger: more pairs of accesses are told apart;
smaller: less time, which is proportional to the set and the work items."""

_MOST_CELLS = 1 << 20
"""Distances in wider intervals are sorted, instead of marked in an array with all integers."""

_ZERO = np.zeros(1, np.int64)

_WIDEST = 1 << 62
"""Sums beyond this magnitude have any value: NumPy's integers do not hold them."""


@dataclass(frozen=True, eq=False)
class ItemParts:
    """The part of an index that each work item has to itself."""

    numbers: Numbers
    """How far it is beyond that of the first work item."""
    active: NDArray[np.bool_]
    """The work items that may make the access."""

    @cached_property
    def distinct(self) -> tuple[Numbers, Numbers]:
        """The numbers of active work items in order, each once; and the work item that each is of,
        or -1 where it is of several."""
        items = np.flatnonzero(self.active)
        items = items[np.argsort(self.numbers[items], kind="stable")]
        numbers = self.numbers[items]
        begins = _differs(numbers)
        first = np.flatnonzero(begins)
        is_alone = np.diff(first, append=numbers.size) == 1
        return numbers[begins], np.where(is_alone, items[begins], -1)


def _differs(numbers: Numbers) -> NDArray[np.bool_]:
    """Which numbers differ from the one before them. (`np.unique` imports all of `numpy.ma`.)"""
    return np.diff(numbers, prepend=numbers[:1] - 1) != 0


def _distinct(numbers: Numbers) -> Numbers:
    """Numbers in order, each once."""
    numbers = np.sort(numbers, axis=None)
    return numbers[_differs(numbers)]


def distances(before: ItemParts, after: ItemParts) -> Numbers:
    """How far the part of a work item before may be from that of another work item later, in
    order."""
    (ones, items), (others, other_items) = before.distinct, after.distinct
    if not ones.size or not others.size:
        return _ZERO[:0]
    between = np.subtract.outer(ones, others)
    first, last = int(between[0, -1]), int(between[-1, 0])
    # Only where both parts are of a single work item, it may be the same one.
    same = np.nonzero((items[:, None] == other_items) & (items >= 0)[:, None])
    between[same] = last + 1
    if last - first >= _MOST_CELLS:
        found = _distinct(between)
        return found[found <= last]
    is_distance = np.zeros(last - first + 2, np.bool_)
    is_distance[between - first] = True
    return np.flatnonzero(is_distance[:-1]) + first


class Meeting:
    """The distances between two accesses at which different work items may access one cell."""

    def __init__(self, apart: Numbers, sums: Sums) -> None:
        self._apart = apart
        """How far the part of a work item before is from that of another one later."""
        self._sums = sums
        """How far the other parts of the cells are from each other."""
        self._known: dict[int, bool] = {}

    def at(self, distance: int) -> bool:
        """Whether it may happen where the second access is of cells that much further on."""
        if (found := self._known.get(distance)) is None:
            found = self._known[distance] = self._sums.meet(self._apart, distance)
        return found


class Sums:
    """The values that a sum of terms may have: those of a set plus those of an interval, or bounds
    and a common divisor.

    A constant apart, as most terms are constant, and NumPy takes long for arrays of one element.
    """

    def __init__(self) -> None:
        self._constant = 0
        self._run = 0
        """The last integer of the interval, which begins at 0. Terms whose values are neighbours,
        as the lanes of a vector, add to it: the set stays small."""
        self._set: Numbers | None = _ZERO
        self._low: float = 0
        self._high: float = 0
        self._step = 0

    def add(self, values: Sequence[int], sign: int = 1) -> None:
        """Add a term that has one of some values, or of these times -1."""
        if len(values) == 1:
            self._constant += sign * values[0]
            return
        if isinstance(values, range):
            numbers = np.arange(len(values)) * abs(values.step)
            self._constant += min(sign * values[0], sign * values[-1])
        else:
            numbers = _distinct(sign * np.array(values))
            self._constant += int(numbers[0])
            numbers -= numbers[0]
        self._high += int(numbers[-1])
        self._step = gcd(self._step, int(np.gcd.reduce(numbers)))
        if numbers[-1] == numbers.size - 1:
            self._run += numbers.size - 1
        elif self._set is not None and self._set.size * numbers.size <= _MOST_SUMS:
            is_first = self._set.size == 1
            self._set = numbers if is_first else _distinct(self._set[:, None] + numbers)
        else:
            self._set = None

    def add_multiple(self, factor: int, of: tg.Interval) -> None:
        """Add a multiple of a value in an interval."""
        if factor == 0:
            return
        if of.hi - of.lo < _MOST_SUMS:
            first, last = factor * int(of.lo), factor * int(of.hi)
            self.add(range(first, last + (1 if factor > 0 else -1), factor))
            return
        bounds = (factor * of.lo, factor * of.hi)
        self._low, self._high = self._low + min(bounds), self._high + max(bounds)
        self._step, self._set = gcd(self._step, factor), None

    def meet(self, wanted: Numbers, constant: int) -> bool:
        """Whether a value of the sum, plus a constant, may be one of some numbers, which are in
        order."""
        constant += self._constant
        least, most = constant + self._low, constant + self._high
        if not wanted.size or least < -_WIDEST or most > _WIDEST:
            return bool(wanted.size)
        begin = np.searchsorted(wanted, least)
        near = wanted[begin : np.searchsorted(wanted, most, "right")] - constant
        if not near.size:
            return False
        if self._set is None:
            return not ((near - int(self._low)) % max(self._step, 1)).all()
        # Of the numbers, the first that is not below.
        gap = near.take(np.searchsorted(near, self._set), mode="clip") - self._set
        return bool(((gap >= 0) & (gap <= self._run)).any())
