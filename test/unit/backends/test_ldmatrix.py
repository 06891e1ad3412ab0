"""`ldmatrix` and `mma.sync` on factors in LOCAL memory, run by a model of a warp."""

from __future__ import annotations

import re
from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest

from tgdialect.lowering.render.ptx import multiply_local
from tgdialect.targets.local_factors import WARP
from tgdialect.targets.matrix import LOCAL_INSTRUCTIONS, MatrixInstruction

NUMPY = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}
LANES = np.arange(WARP)
GROUP, THREAD = LANES // 4, LANES % 4


class Warp:
    """A model of the instructions, as the PTX ISA describes them. A register has 4 bytes in each of
    32 lanes, as an array of shape (32, 4)."""

    def __init__(self, memory: np.ndarray, dtype: np.dtype, operands: dict[str, np.ndarray]):
        self.memory, self.dtype, self.registers = memory, dtype, operands

    def run(self, text: str) -> None:
        for line in text.strip("{} ").split(";"):
            name, _, rest = line.strip().partition(" ")
            groups = re.findall(r"\{([^}]*)\}|\[([^\]]*)\]|([^\s,{}\[\]]+)", rest)
            operands = [next(filter(None, group)) for group in groups]
            if not name or name == ".reg":
                continue
            self.step(name.split("."), operands)

    def value(self, name: str) -> np.ndarray | int:
        return int(name) if name.isdigit() else self.registers[name]

    def step(self, name: Sequence[str], operands: Sequence[str]) -> None:
        match name[0]:
            case "mov":
                assert operands[1] == "%laneid"
                self.registers[operands[0]] = LANES
            case "cvt":
                self.registers[operands[0]] = self.value(operands[1])
            case "and" | "bfe" | "mad":
                first, *rest = map(self.value, operands[1:])
                self.registers[operands[0]] = {
                    "and": lambda: first & rest[0],
                    "bfe": lambda: (first >> rest[0]) & ((1 << rest[1]) - 1),
                    "mad": lambda: first * rest[0] + rest[1],
                }[name[0]]()
            case "ldmatrix":
                self.ldmatrix(operands[0].split(", "), *operands[1].split("+"), "trans" in name)
            case "mma":
                self.mma(*(names.split(", ") for names in operands[:3]))
            case other:
                raise AssertionError(f"{other} has no model")

    def ldmatrix(self, registers: Sequence[str], pointer: str, offset: str, trans: bool) -> None:
        """Lane l has the address of row l % 8 of matrix l / 8, and gets two cells of 16 bits."""
        addresses = self.value(pointer) + int(offset)
        for i, register in enumerate(registers):
            rows = [self.memory[at : at + 16] for at in addresses[8 * i : 8 * i + 8]]
            cells = np.stack(rows).reshape(8, 8, 2)
            if trans:
                cells = cells.swapaxes(0, 1)
            pair = 2 * THREAD[:, None] + np.arange(2)
            self.registers[register] = cells[GROUP[:, None], pair].reshape(WARP, 4)

    def mma(self, c: Sequence[str], a: Sequence[str], b: Sequence[str]) -> None:
        """One `mma.sync.m16n8`, of 32 bytes along k."""
        each = 4 // self.dtype.itemsize
        left, right = np.zeros((16, 8 * each)), np.zeros((8 * each, 8))
        k = each * THREAD[:, None] + np.arange(each)
        for i, name in enumerate(a):
            row = GROUP + 8 * (i % 2)
            left[row[:, None], k + 4 * each * (i // 2)] = self.elements(name)
        for i, name in enumerate(b):
            right[k + 4 * each * i, GROUP[:, None]] = self.elements(name)
        product = left @ right
        for i, name in enumerate(c):
            row, column = GROUP + 8 * (i // 2), 2 * THREAD + i % 2
            self.registers[name] = self.registers[name] + product[row, column]

    def elements(self, name: str) -> np.ndarray:
        return np.ascontiguousarray(self.registers[name]).view(self.dtype).astype(np.float64)


def _placed(layout: Sequence[str], index: int) -> dict[str, int]:
    """The coordinates of the element that a layout has at an index."""
    at = {"m": 0, "n": 0, "k": 0}
    for position, bit in enumerate(layout):
        if bit != "-":
            at[bit[0]] += (index >> position & 1) << int(bit[1:])
    return at


WARP_INSTRUCTIONS = [each for each in LOCAL_INSTRUCTIONS if each.fragments.threads == WARP]


@pytest.mark.parametrize("instruction", WARP_INSTRUCTIONS, ids=lambda each: each.name)
def test_products(instruction: MatrixInstruction):
    """The assembly multiplies tiles in the order of the instruction's layouts."""
    m, n, k = instruction.fragments.dims
    dtype, random = NUMPY[instruction.factor], np.random.default_rng(0)
    a, b = (random.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n)))
    config, start = instruction.fragments.config, 64
    blocks: list[np.ndarray] = []
    for matrix, sides, layout in ((a, "mk", config.layout("a")), (b, "kn", config.layout("b"))):
        at = [_placed(layout[5:], i) for i in range(matrix.size)]
        blocks.append(np.array([matrix[each[sides[0]], each[sides[1]]] for each in at], dtype))
    memory = np.concatenate(
        [np.zeros(start, np.uint8), *(block.view(np.uint8) for block in blocks)]
    )
    count = m * n // WARP
    begin = random.integers(-9, 10, (m, n)).astype(np.float64)
    places = [
        [_placed(config.layout("c"), lane + (i << 5)) for lane in LANES] for i in range(count)
    ]
    operands = {
        f"${i}": np.array([begin[at["m"], at["n"]] for at in lanes])
        for i, lanes in enumerate(places)
    }
    pointers = (np.full(WARP, start), np.full(WARP, start + blocks[0].nbytes))
    operands |= {f"${count + i}": pointer for i, pointer in enumerate(pointers)}
    warp = Warp(memory, dtype, operands)
    warp.run(multiply_local(instruction))
    result = np.full((m, n), np.nan)
    for i, lanes in enumerate(places):
        for lane, at in enumerate(lanes):
            result[at["m"], at["n"]] = warp.registers[f"${i}"][lane]
    expected = begin + a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(result, expected)
