"""Where work items meet in a cell, next to trying all pairs of them: random shapes."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from random_seeds import batches

from tgdialect.analysis.affine.lanes import compact, is_ramp, shifted
from tgdialect.ops.affine import Affine
from tgdialect.ops.intervals import Interval
from tgdialect.work_items import meetings
from tgdialect.work_items.accesses import CellShape, Relation, WorkItems
from tgdialect.work_items.meetings import ItemParts

ITEMS = 6
BEYOND = 60
"""A distance that is greater than all cells."""


def shape_of(random):
    """A shape: parts of work items that may be equal, some inactive, with any lanes."""
    factors = [random.randint(-4, 4) for _ in range(2)]
    numbers = np.array([i % 3 * factors[0] + i // 3 * factors[1] for i in range(ITEMS)])
    active = np.array([random.random() < 0.7 for _ in range(ITEMS)])
    lanes = random.choice(([0], [0, 1, 2], [0, 3, 6], [0, 5, 1], [0, -2, -4], [0, 0]))
    first = random.randint(-2, 2)
    rest = ((random.choice((-3, 1, 2)), Interval(first, first + random.randint(0, 2))),)
    rest = rest if random.random() < 0.5 else ()
    return CellShape(ItemParts(numbers, active), compact(lanes), Affine(), rest)


def cells_of(shape):
    """The work items of a shape, with each cell that they may access."""
    values = {0}
    for factor, interval in shape.rest:
        values = {factor * i for i in range(interval.lo, interval.hi + 1)}
    return {
        (item, int(shape.items.numbers[item]) + lane + value)
        for item in np.flatnonzero(shape.items.active).tolist()
        for lane in shape.lanes
        for value in values
    }


def found_meetings(seed):
    """The distances at which two random shapes meet, and those at which they do by all pairs."""
    one, other = (shape_of(random.Random(f"{seed} {name}")) for name in "ab")
    meeting = WorkItems((), frozenset()).meeting(one, other, Relation(frozenset()))
    apart = {
        cell - later
        for item, cell in cells_of(one)
        for other_item, later in cells_of(other)
        if item != other_item
    }
    return {d for d in range(-BEYOND, BEYOND) if meeting.at(d)}, apart


@pytest.mark.parametrize("most_cells", [meetings._MOST_CELLS, 1])
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_MEETINGS", 100))
def test_meetings_are_those_of_all_pairs(seeds, most_cells, monkeypatch):
    monkeypatch.setattr(meetings, "_MOST_CELLS", most_cells)
    for seed in seeds:
        found, apart = found_meetings(seed)
        assert found == apart, seed


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_MEETINGS", 100))
def test_no_meeting_is_missed_where_sets_are_described_by_bounds(seeds, monkeypatch):
    monkeypatch.setattr(meetings, "_MOST_SUMS", 2)
    for seed in seeds:
        found, apart = found_meetings(seed)
        assert found >= apart, seed


@pytest.mark.parametrize("numbers", [[7], [0, 1, 2], [3, 3], [5, 3, 1], [0, 1, 3], [-4, -3]])
def test_numbers_that_are_equally_far_apart_are_a_range(numbers):
    steps = {b - a for a, b in pairwise(numbers)}
    found = compact(numbers)
    assert list(found) == numbers
    assert isinstance(found, range) == (len(steps) < 2 and steps != {0})
    assert is_ramp(found) == (steps <= {1})
    moved = shifted(found, 10)
    assert type(moved) is type(found)
    assert list(moved) == [number + 10 for number in numbers]
