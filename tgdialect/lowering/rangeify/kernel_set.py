"""The kernels of a function: those that are equal are one, and one that is split is several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from tgdialect.analysis.overwriting import overwritten_reads
from tgdialect.analysis.ranges import needed_ops
from tgdialect.analysis.structure import Structures
from tgdialect.fast_xdsl import unchecked
from tgdialect.lowering.rangeify.kernel import KernelBuilder
from tgdialect.lowering.rangeify.kernel_parts import (
    KernelParts,
    nest_updates,
    split_index_sets,
    split_phases,
)
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol
from tgdialect.transforms.simplify import simplify

Parts = Sequence[tuple[str, Sequence[int]]]
"""The names of the kernels that one becomes, and the slots of the arguments that each gets."""


class Emitted(NamedTuple):
    """A kernel that is not finished: its ops, STOREs and loops."""

    builder: KernelBuilder
    stores: Sequence[SSAValue]
    ranges: Sequence[SSAValue]

    def reads(self, memory: SSAValue) -> bool:
        return memory in self.builder.loads


class NamedParts(NamedTuple):
    """The kernels that one has become, and the memory that is passed for its parameters."""

    parts: Parts
    arguments: Sequence[SSAValue]


class KernelSet:
    """Finishes the kernels of a function, and names them."""

    def __init__(
        self, prefix: str, taken: set[str], structures: Structures, *, is_grid: bool
    ) -> None:
        """Names begin with the `prefix`; `taken` are those of all symbols of the module."""
        self.kernels: list[tg.KernelOp] = []
        self.may_be_equal = True
        """Whether there is more than one task."""
        self._prefix = prefix
        self._taken = taken
        self._structures = structures
        self._is_grid = is_grid
        self._parts: dict[str, Parts] = {}
        """By the structure of a kernel."""

    def finish(self, emitted: Emitted, *, in_place: SSAValue | None = None) -> NamedParts | None:
        """Finish a kernel, or take an equal one that there is already. It is several, one after the
        other, if it is split (`kernel_parts.py`).

        None where `in_place` is memory that it reads and writes, and it is not proven that each
        read comes before the STOREs to its cell.
        """
        builder, stores, ranges = emitted
        name = next_symbol(self._prefix, len(self.kernels), self._taken)
        kernel = builder.finish(name, stores, ranges)
        key = self._structures.of(kernel.body.block) if self.may_be_equal else name
        if (parts := self._parts.get(key)) is None:
            is_shared = in_place is not None and emitted.reads(in_place)
            if (kernels := self._split(kernel, is_shared=is_shared)) is None:
                return None
            parts = self._parts[key] = [*self._named(kernels)]
        return NamedParts(parts, list(builder.arguments))

    def _split(self, kernel: tg.KernelOp, *, is_shared: bool) -> KernelParts | None:
        """Simplify a new kernel, and split it. None if it reads memory that `is_shared` with its
        STOREs, and a read may come too late, before or after it is split."""
        simplify(kernel, may_order=not self._is_grid)
        if is_shared and _may_read_late(kernel):
            return None
        split = split_phases if self._is_grid else split_index_sets
        if not self._is_grid:
            nest_updates(kernel)
        parts = split(kernel)
        if is_shared and any(_may_read_late(part) for part, _ in parts):
            return None
        return parts

    def _named(self, parts: KernelParts) -> Iterator[tuple[str, list[int]]]:
        """The names of the kernels that one becomes, and the slots of their parameters."""
        for part, slots in parts:
            name = next_symbol(self._prefix, len(self.kernels), self._taken)
            part.sym_name = unchecked.text(name)
            self.kernels.append(part)
            self._taken.add(name)
            yield name, slots


def _may_read_late(kernel: tg.KernelOp) -> bool:
    """Whether a read of a kernel may come after a STORE that it must not see."""
    ops = needed_ops(kernel.body.block)
    return next(overwritten_reads(ops), None) is not None
