"""Which LOCAL buffers need no clearing, against the cells that a loop nest stores one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from parsing import parse_module
from random_seeds import batches

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.ops.codegen import ProgramOp
from tgdialect.work_items.coverage import uncovered

PLACE = "#tg.place<local>"
BYTES = {"f32": 4, "ui16": 2, "ui64": 8}


def program(extents, factors, view, size):
    """A nest of loops that stores the cells of a view of a buffer of `size` f32, and a loop that
    loads all of the buffer."""
    cells, number = size * 4 // BYTES[view], itertools.count()
    memory = f"tensor<{cells}x{view}, {PLACE}>"
    lines = [
        f"%x = tg.param 0 : tensor<{size}xf32, #tg.place<global>>",
        f"%b = tg.buffer 0 : tensor<{size}xf32, {PLACE}>",
        f"%value = tg.const {'1.0' if view == 'f32' else '1'} : tensor<{view}>",
        f"%size = tg.const {size} : tensor<index>",
        "%at = tg.const 0 : tensor<index>",
    ]
    written, at = "%b", "%at"
    if view != "f32":
        written = "%view"
        lines.append(f"%view = tg.bitcast %b to {view} : tensor<{size}xf32, {PLACE}> -> {memory}")
    for i, (extent, factor) in enumerate(zip(extents, factors, strict=True)):
        lines += [
            f"%extent{i} = tg.const {extent} : tensor<index>",
            f"%factor{i} = tg.const {factor} : tensor<index>",
            f"%r{i} = tg.range {i} loop to %extent{i} : tensor<index>",
            f"%product{i} = tg.mul %r{i}, %factor{i} : tensor<index>",
            f"%sum{i} = tg.add {at}, %product{i} : tensor<index>",
        ]
        at = f"%sum{next(number)}"
    cell, read = f"tensor<{view}, {PLACE}>", f"tensor<f32, {PLACE}>"
    where = "tensor<f32, #tg.place<global>>"
    closed = ", ".join(f"%r{i}" for i in reversed(range(len(extents))))
    lines += [
        f"%cell = tg.index {written}[{at}] : ({memory}, tensor<index>) -> {cell}",
        f"%store = tg.store %cell, %value : {cell}, tensor<{view}>",
        f"%end = tg.end %store over {closed} : !tg.void",
        "%k = tg.range 9 loop to %size : tensor<index>",
        f"%from = tg.index %b[%k] : (tensor<{size}xf32, {PLACE}>, tensor<index>) -> {read}",
        f"%loaded = tg.load %from : {read} -> tensor<f32>",
        f"%to = tg.index %x[%k] : (tensor<{size}xf32, #tg.place<global>>, tensor<index>)"
        f" -> {where}",
        f"%out = tg.store %to, %loaded : {where}, tensor<f32>",
        "%last = tg.end %out over %k : !tg.void",
    ]
    body = "\n".join(lines)
    return f"tg.program @k {{\n%0 = tg.linear {{\n{body}\n}}\n}}"


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_COVERAGE", 100), ids=str)
def test_stores_of_loops(seeds):
    """A buffer is covered if all bytes are stored, also through views of narrower and of wider
    cells. Loops that miss cells leave it uncovered."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        view = str(random.choice(list(BYTES)))
        extents = [int(e) for e in random.choice([2, 4, 6], random.integers(1, 4))]
        factors = np.cumprod([1, *extents])[:-1]
        # Of f32, as many cells as are stored, or as many bytes.
        count = int(np.prod(extents))
        size = count if random.random() < 0.4 else count * BYTES[view] // 4
        if size * 4 < count * BYTES[view]:
            size = count * BYTES[view] // 4
        order = random.permutation(len(extents))
        given = [extents[i] - (random.random() < 0.15) for i in order]
        text = program(given, factors[order], view, size)
        (found,) = (op for op in parse_module(text).walk() if isinstance(op, ProgramOp))
        stored = np.zeros(size * 4, bool)
        for numbers in itertools.product(*map(range, given)):
            first = int(np.dot(numbers, factors[order])) * BYTES[view]
            stored[first : first + BYTES[view]] = True
        is_covered = not [*uncovered(found.linear.body.block, CellNumbers())]
        assert is_covered == bool(stored.all()), text
