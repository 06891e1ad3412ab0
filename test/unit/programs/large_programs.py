"""Random programs on i32 with extents of hundreds: reductions of rows, columns and everything,
rows that share a reduction, products, transposes and elementwise ops. All results are exact."""

from __future__ import annotations

from random import Random

import numpy as np
from expression import Array, Expression, function
from programs import matmul
from xdsl.dialects.builtin import ModuleOp

from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import I32

EXTENTS = (97, 100, 128, 131, 256, 300, 512, 1000, 1024)
SHORT = (1, 2, 3, 7, 16, 17, 32, 40)


def large_program(seed: int) -> tuple[ModuleOp, tuple[Array, ...]]:
    """A module with a `@main`, and inputs for it."""
    random = Random(seed)
    rows, columns = random.choice(SHORT), random.choice(EXTENTS)
    if random.randrange(2):
        rows, columns = columns, rows

    def elementwise(x: Expression, y: Expression) -> Expression:
        return x * 3 + y

    def transposed(x: Expression, y: Expression) -> Expression:
        return (x + y).permute(1, 0)

    def reduced(x: Expression, y: Expression) -> Expression:
        return (x * y).sum(random.randrange(2))

    def total(x: Expression, y: Expression) -> Expression:
        return (x * y).sum(0).sum(1)

    def centred(x: Expression, y: Expression) -> Expression:
        """As in a softmax: rows use a reduction of themselves, twice."""
        x = x - x.reduce(ReduceKind.MAX, 1).expand(*x.shape)
        return x * y + x.reduce(ReduceKind.ADD, 1).expand(*x.shape)

    body = (elementwise, transposed, reduced, total, centred, matmul)[seed % 6]
    shapes = [(rows, columns), (rows, columns)]
    if body is matmul:
        steps = random.choice((8, 19, 33, 64))
        shapes = [(random.choice((16, 64, 100)), steps), (steps, random.choice((16, 64, 37)))]
    rng = np.random.default_rng(seed)
    inputs = tuple(rng.integers(-9, 9, shape, dtype=np.int32) for shape in shapes)
    return function([(shape, I32) for shape in shapes], body), inputs
