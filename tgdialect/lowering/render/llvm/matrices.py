"""Matrix instructions of CPUs: sums in registers, to which products of blocks in memory are added.

Sums are in tiles, or in vectors to which dot products of pairs of steps are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects import llvm
from xdsl.dialects.builtin import bf16, f32, i8, i32
from xdsl.ir import SSAValue

from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import vector_of
from tgdialect.targets import tile_assembly
from tgdialect.targets.cpu import DOT_LANES, DOT_PRODUCT
from tgdialect.targets.matrix import MatrixInstruction

_WORD = 4
"""The bytes of a sum, and of a pair of steps of a factor."""


class MatrixSums(Protocol):
    """The sums of an instruction, from when they are loaded or cleared until they are stored."""

    def begin(self, memory: SSAValue | None) -> None:
        """Load sums from memory, or make them 0."""

    def multiply_add(self, a: SSAValue, b: SSAValue) -> None:
        """Add the product of two blocks in memory."""

    def end(self, memory: SSAValue) -> None:
        """Store the sums to memory."""


def sums_of(e: LLVMEmitter, instruction: MatrixInstruction) -> MatrixSums:
    """The sums of an instruction, which are not loaded or cleared yet."""
    return _Tiles(e) if instruction.has_tiles else _Vectors(e, instruction.fragments.dims)


class _Tiles:
    """Sums in the tile registers of a CPU. Instructions on tiles are inline assembly that reads and
    writes memory."""

    def __init__(self, e: LLVMEmitter) -> None:
        """Have the tiles be configured at the start of the function, and released at its end."""
        self._e = e
        if not e.release:
            sizes = e.allocate(tile_assembly.CONFIGURATION, tile_assembly.CONFIGURATION)
            e.preamble.append(_assembly(tile_assembly.configure(), [sizes]))
            e.release.append(_assembly(tile_assembly.RELEASE, []))

    def begin(self, memory: SSAValue | None) -> None:
        if memory is None:
            self._put(tile_assembly.clear_sums())
        else:
            self._put(tile_assembly.load_sums(), memory, tile_assembly.SUMS_STRIDE)

    def multiply_add(self, a: SSAValue, b: SSAValue) -> None:
        strides = tile_assembly.A_STRIDE, tile_assembly.B_STRIDE
        self._put(tile_assembly.multiply_add(), a, b, *strides)

    def end(self, memory: SSAValue) -> None:
        self._put(tile_assembly.store_sums(), memory, tile_assembly.SUMS_STRIDE)

    def _put(self, lines: Sequence[str], *operands: SSAValue | int) -> None:
        values = [self._e.number(o) if isinstance(o, int) else o for o in operands]
        self._e.insert(_assembly(lines, values))


def _assembly(lines: Sequence[str], operands: Sequence[SSAValue]) -> llvm.InlineAsmOp:
    """Inline assembly that reads and writes memory, and that no other of its kind may pass."""
    text, constraints = "\n".join(lines), ",".join(["r"] * len(operands) + ["~{memory}"])
    return llvm.InlineAsmOp(text, constraints, operands, [], 0, has_side_effects=True)


class _Vectors:
    """Sums in vectors along columns. They have memory of their own, all of whose accesses are at
    constant places: LLVM has it in registers, and in those alone."""

    def __init__(self, e: LLVMEmitter, dims: tuple[int, int, int]) -> None:
        self._e, (self._rows, self._columns, self._steps) = e, dims
        vector = _WORD * DOT_LANES
        self._starts = range(0, _WORD * self._rows * self._columns, vector)
        self._own = e.allocate(self._starts.stop, vector, is_zeroed=False)

    def begin(self, memory: SSAValue | None) -> None:
        zero = self._e.number(0, vector_of(f32, DOT_LANES))
        sums = [zero] * len(self._starts) if memory is None else self._loaded(memory)
        self._store(sums, self._own)

    def multiply_add(self, a: SSAValue, b: SSAValue) -> None:
        """Add a dot product of each pair of steps, of a row of A, which is the same in all lanes,
        and of each column of B."""
        e, sums = self._e, self._loaded(self._own)
        pairs = vector_of(bf16, 2 * DOT_LANES)
        count = self._columns // DOT_LANES
        for step in range(self._steps // 2):
            first = step * count
            columns = [
                e.load(self._at(b, _WORD * DOT_LANES * i), pairs, _WORD)
                for i in range(first, first + count)
            ]
            for row in range(self._rows):
                start = _WORD * (row * self._steps // 2 + step)
                word = e.load(self._at(a, start), i32, _WORD)
                factor = e.emit(llvm.BitcastOp, (e.splat(word, DOT_LANES),), pairs)
                for i, column in enumerate(columns, row * count):
                    operands = sums[i], factor, column
                    sums[i] = e.intrinsic(DOT_PRODUCT, operands, sums[i].type)
        self._store(sums, self._own)

    def end(self, memory: SSAValue) -> None:
        self._store(self._loaded(self._own), memory)

    def _loaded(self, memory: SSAValue) -> list[SSAValue]:
        type = vector_of(f32, DOT_LANES)
        return [self._e.load(self._at(memory, start), type, _WORD) for start in self._starts]

    def _store(self, sums: Sequence[SSAValue], memory: SSAValue) -> None:
        for value, start in zip(sums, self._starts, strict=True):
            self._e.store(value, self._at(memory, start), _WORD)

    def _at(self, memory: SSAValue, start: int) -> SSAValue:
        return self._e.offset(memory, self._e.number(start), i8) if start else memory
