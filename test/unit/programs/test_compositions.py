"""Programs out of primitives alone, over many shapes, on every executor, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import compositions as c
import numpy as np
import pytest
from executors import EXECUTORS
from programs import Program
from test_programs import TOLERANCE, relative_error

from tgdialect.ops.dtypes import I32

Case = tuple[Callable[..., Program], tuple[Any, ...], dict[str, Any]]


def cases() -> Iterator[Case]:
    for arguments in (
        (1, (1, 1), (1, 1), (1, 1)),
        (1, (1, 1), (5, 5), (3, 3)),
        (2, (3, 4), (8, 7), (3, 3)),
        (2, (3, 4), (8, 7), (1, 1)),
        (1, (2, 2), (6, 9), (2, 5)),
        (1, (2, 3), (5, 4), (5, 4)),
        (2, (1, 2), (9, 9), (3, 3), (2, 2)),
        (1, (2, 1), (9, 8), (3, 2), (3, 1)),
        (1, (1, 1), (10, 10), (2, 2), (4, 5)),
        (1, (2, 2), (9, 9), (3, 3), (1, 1), (2, 2)),
        (1, (1, 2), (12, 11), (3, 2), (1, 1), (4, 3)),
        (1, (1, 1), (11, 13), (3, 3), (2, 3), (3, 2)),
        (1, (2, 2), (4, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
        (2, (1, 1), (3, 5), (3, 3), (2, 2), (1, 1), (2, 1)),
        (1, (1, 2), (5, 5), (3, 3), (2, 1), (2, 3), (3, 4)),
        (1, (4, 4), (6, 6), (3, 3), (1, 1), (1, 1), (1, 1), 2),
        (2, (4, 8), (5, 6), (3, 2), (2, 1), (1, 1), (0, 1), 4),
        (1, (6, 6), (7, 7), (3, 3), (1, 1), (1, 1), (1, 1), 6),
        (1, (6, 3), (7, 5), (2, 2), (2, 2), (2, 1), (1, 0), 3),
        (0, (2, 2), (5, 5), (3, 3)),
        (4, (8, 16), (20, 20), (3, 3), (1, 1), (1, 1), (1, 1)),
        (1, (3, 8), (32, 32), (7, 7), (2, 2), (1, 1), (3, 3)),
        (1, (16, 16), (12, 12), (5, 5), (1, 1), (1, 1), (2, 2), 16),
    ):
        yield c.conv2d, arguments, {}
    pools = (
        ((1, 1), (1, 1), (1, 1)),
        ((4, 4), (2, 2), (2, 2)),
        ((5, 7), (2, 3), (2, 3)),
        ((5, 7), (3, 3), (1, 1)),
        ((9, 9), (3, 3), (2, 2), (1, 1)),
        ((8, 5), (2, 2), (3, 1), (1, 0)),
        ((2, 3, 6, 6), (3, 3), (3, 3)),
        ((2, 3, 10, 11), (3, 2), (2, 3), (1, 1)),
        ((3, 13, 4), (4, 4), (4, 4), (0, 2)),
        ((0, 4, 4), (2, 2), (2, 2)),
        ((2, 16, 16), (2, 2), (1, 1)),
        ((1, 4, 28, 28), (5, 5), (5, 5), (2, 2)),
        ((2, 9), (1, 4), (1, 2)),
        ((9, 2), (4, 1), (2, 1)),
        ((6, 6), (6, 6), (1, 1)),
        ((7, 7), (2, 2), (4, 4)),
        ((7, 7), (3, 3), (3, 3), (1, 1)),
        ((1, 1, 1, 8, 9), (2, 4), (2, 4)),
        ((5, 12, 12), (3, 3), (2, 2), (1, 1)),
        ((3, 0, 5, 5), (2, 2), (1, 1)),
    )
    for kind, arguments in product(("max", "average"), pools):
        yield c.pool2d, (kind, *arguments), {}
    for shape in ((1,), (2,), (7,), (300,), (3, 5), (5, 1), (0, 4), (4, 0), (2, 3, 4), (1, 9, 2)):
        for axis in range(len(shape)):
            yield c.cumsum, (shape, axis), {}
    for arguments in (((40, 60), 0), ((40, 60), -1), ((3, 50, 7), 1), ((2, 2, 2, 9), 2)):
        yield c.cumsum, arguments, {}
    for shape in ((1, 1), (2, 3), (7, 1), (1, 7), (20, 30)):
        yield c.integral_image, (shape,), {}
    for n in (1, 2, 9, 100):
        yield c.outer_of_sums, (n,), {}
    for shape, axis, counts in (
        ((1,), 0, (1, 4)),
        ((7,), 0, (1, 7, 20)),
        ((4, 5), 0, (1, 3, 9)),
        ((4, 5), 1, (1, 3, 9)),
        ((4, 5), -1, (0,)),
        ((2, 3, 4), 0, (2, 5)),
        ((2, 3, 4), 1, (3, 6)),
        ((2, 3, 4), 2, (1, 11)),
        ((200, 8), 0, (40, 300)),
        ((8, 200), 1, (40, 300)),
    ):
        for count in counts:
            yield c.gather, (shape, axis, count), {}
            yield c.scatter, (shape, axis, count), {"add": True}
            yield c.scatter, (shape, axis, min(count, shape[axis] + 2)), {"add": False}
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 13, 16):
        yield c.sort, ((n,), 0), {}
    for arguments in (
        ((1, 1), 0),
        ((3, 4), 0),
        ((3, 4), 1),
        ((6, 5), 0),
        ((6, 5), -1),
        ((0, 4), 1),
        ((2, 3, 4), 0),
        ((2, 3, 4), 1),
        ((2, 8, 3), 1),
        ((11,), 0),
        ((12,), 0),
        ((5, 12), 1),
        ((9,), 0, I32),
        ((4, 7), 1, I32),
    ):
        yield c.sort, arguments, {}
    for shape, size in (
        ((1, 1), (1, 1)),
        ((1, 1), (3, 4)),
        ((2, 2), (4, 4)),
        ((4, 4), (2, 2)),
        ((5, 7), (10, 14)),
        ((5, 7), (3, 11)),
        ((3, 3), (1, 1)),
        ((2, 6, 5), (7, 9)),
        ((1, 3, 4, 4), (8, 6)),
        ((2, 2, 16, 12), (24, 5)),
        ((8, 8), (64, 64)),
    ):
        for align_corners in (False, True):
            yield c.resize, (shape, size), {"align_corners": align_corners}
    for shapes in (
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((1, 1), (1, 1)),
        ((0, 3), (3, 4)),
        ((2, 0), (0, 4)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((1, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (1, 4, 5)),
        ((5, 1, 3, 4), (2, 4, 2)),
        ((2, 1, 3, 4), (1, 5, 4, 2)),
        ((2, 3, 1, 4), (2, 3, 4, 1)),
        ((2, 3, 4, 5), (5,)),
        ((4,), (2, 3, 4, 5)),
        ((7, 16, 33), (33, 17)),
        ((3, 64, 20), (3, 20, 65)),
        ((1, 100), (100, 50)),
        ((4, 2, 31, 8), (4, 2, 8, 31)),
    ):
        yield c.matmul, shapes, {}
    for arguments in (
        ("i->", (5,)),
        ("i->i", (5,)),
        ("ij->ji", (2, 3)),
        ("ij->j", (4, 3)),
        ("ijk->ki", (2, 3, 4)),
        ("ii->i", (4, 4)),
        ("ii->", (4, 4)),
        ("iij->ji", (3, 3, 2)),
        ("iji->j", (3, 4, 3)),
        ("i,i->", (6,), (6,)),
        ("i,j->ij", (3,), (4,)),
        ("i,j->ji", (3,), (4,)),
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij,kj->ik", (2, 3), (4, 3)),
        ("ij,jk->ki", (2, 3), (3, 4)),
        ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
        ("bij,jk->bki", (2, 3, 4), (4, 5)),
        ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        ("i,ij,j->", (3,), (3, 4), (4,)),
        ("abc,cd,be->ade", (2, 3, 4), (4, 2), (3, 5)),
        ("ij,ij->", (20, 30), (20, 30)),
        ("ij,jk->ik", (40, 50), (50, 30)),
    ):
        yield c.einsum, arguments, {}


CASES = [
    pytest.param(
        make,
        arguments,
        options,
        id=f"{make.__name__}{arguments}{''.join(map(str, options.values()))}".replace(" ", ""),
    )
    for make, arguments, options in cases()
]


@pytest.mark.sampled(234)
@pytest.mark.parametrize("target", EXECUTORS)
@pytest.mark.parametrize(("make", "arguments", "options"), CASES)
def test_against_numpy(
    make: Callable[..., Program], arguments: tuple[Any, ...], options: dict[str, Any], target: str
):
    program = make(*arguments, **options)
    program.module.verify()
    (actual,) = EXECUTORS[target](program.module, program.inputs)
    assert actual.shape == program.expected.shape
    if program.exact:
        assert actual.dtype == program.expected.dtype
        np.testing.assert_array_equal(actual, program.expected)
    else:
        assert actual.dtype == np.float32
        assert relative_error(actual, program.expected) < TOLERANCE


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [((33,), 0), ((6, 20), 1)], ids=str)
def test_longer_sorts(arguments: tuple[Any, ...]):
    """Each executor would take long for these."""
    test_against_numpy(c.sort, arguments, {}, "cpu-heuristic")


def test_there_are_enough_shapes():
    """At least twenty of each; the first argument of pooling, and whether it adds, make a kind."""
    kinds = [
        (make, arguments[0] if make is c.pool2d else None, options.get("add"))
        for make, arguments, options in cases()
        if make not in (c.integral_image, c.outer_of_sums)
    ]
    assert len(set(kinds)) == 11
    assert min(kinds.count(kind) for kind in kinds) >= 20
