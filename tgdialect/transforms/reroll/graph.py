"""The graph of a block: equal ops are one node, and nodes are of one kind if their ops differ in
operands and offsets alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.structure import Structures
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg

Row = tuple[int, ...]
"""A node for each step."""

_ROLLABLE = (
    tg.ElementwiseOp,
    tg.MovementOp,
    tg.ReduceOp,
    tg.ConstOp,
    tg.VConstOp,
    tg.ContiguousOp,
    tg.DetachOp,
    tg.FunctionOp,
    tg.ScanOp,
    tg.GetTupleOp,
)
"""The ops that a step may have: they compute values from values."""


class ValueGraph:
    """Nodes are numbers, in an order in which each comes after its operands. Linear in the ops."""

    def __init__(self, block: Block) -> None:
        self.order = ops_of(block)
        """The ops of the block."""
        self.number: dict[SSAValue, int] = {}
        """The node that each value is."""
        self.values: list[list[SSAValue]] = []
        """The values that are each node; the first is the first in the block."""
        self.operands: list[Row] = []
        self.kinds: list[int] = []
        """The kind of each node; one that no step may have is of a kind of its own, below 0."""
        self.offsets: list[Row] = []
        """The offsets of the SHRINK that a node is."""
        self.depths: list[int] = []
        """The number of ops on the longest path to each node."""
        self.is_constant: list[bool] = []
        """Whether constants alone decide about a node."""
        self._texts = Structures()
        self._kinds: dict[Hashable, int] = {}
        self._rollable: list[bool] = []
        self._bytes: dict[int, int] = {}
        known: dict[Hashable, int] = {}
        for argument in block.args:
            self._add(argument, (), -1 - len(self.kinds), ())
        for op in self.order:
            numbers = tuple(self.number.get(operand, -1) for operand in op.operands)
            kind, offsets = self._kind(op)
            if not self._rollable[kind]:
                for result in op.results:
                    self._add(result, numbers, -1 - len(self.kinds), ())
                continue
            (result,) = op.results
            key = kind, numbers, offsets
            if (same := known.get(key)) is None:
                known[key] = len(self.kinds)
                self._add(result, numbers, kind, offsets)
            else:
                self.number[result] = same
                self.values[same].append(result)

    def _kind(self, op: Operation) -> tuple[int, Row]:
        """The kind of an op, and its offsets."""
        text, offsets = self._texts.text, ()
        words = [op.name, *(text(operand.type) for operand in op.operands)]
        for name, attribute in op.properties.items():
            if name == "offsets" and op.name == tg.ShrinkOp.name:
                offsets = tg.integers(op, name)
            else:
                words += (name, text(attribute))
        words += (text(result.type) for result in op.results)
        words += (self._texts.of(region.block) for region in op.regions if region.blocks)
        kind = self._kinds.setdefault(tuple(words), len(self._kinds))
        if kind == len(self._rollable):
            self._rollable.append(_is_rollable(op))
        return kind, offsets

    def _add(self, value: SSAValue, operands: Row, kind: int, offsets: Row) -> None:
        """Add a node for a value."""
        self.number[value] = len(self.kinds)
        self.values.append([value])
        self.operands.append(operands)
        self.kinds.append(kind)
        self.offsets.append(offsets)
        depths, constant = self.depths, self.is_constant
        constant.append(
            kind >= 0
            and isinstance(value.owner, tg.ElementwiseOp | tg.MovementOp | tg.ConstOp)
            and all(operand >= 0 and constant[operand] for operand in operands)
        )
        depths.append(1 + max((depths[o] for o in operands if o >= 0), default=-1))

    def value(self, node: int) -> SSAValue:
        """The first of the values that are a node."""
        return self.values[node][0]

    def op(self, node: int) -> Operation | Block:
        """The first op that computes a node, or the block of which it is an argument."""
        return self.value(node).owner

    def bytes(self, node: int) -> int:
        """The size of the value of a node; of a tuple it is without bound."""
        kind = self.kinds[node]
        if (known := self._bytes.get(kind)) is None:
            type, known = self.value(node).type, 1 << 62
            if tg.is_tensor(type) and DYNAMIC_INDEX not in (shape := type.get_shape()):
                known = math.prod(shape) * tg.dtype_row(type.element_type).itemsize
            self._bytes[kind] = known
        return known

    def longest_path(self) -> Sequence[int]:
        """The nodes of a longest path, from its beginning."""
        depths = self.depths
        path = [max(range(len(depths)), key=depths.__getitem__)] if depths else []
        while operands := [o for o in self.operands[path[-1]] if o >= 0] if path else []:
            path.append(max(operands, key=depths.__getitem__))
        return path[::-1]


def _is_rollable(op: Operation) -> bool:
    """Whether a step may have an op: it computes a value of known extents from values."""
    if not isinstance(op, _ROLLABLE) or len(op.results) != 1:
        return False
    if isinstance(op, tg.ReduceOp | tg.WindowOp | tg.ResizeOp) and len(op.operands) > 1:
        return False  # Over ranges, or with extents that are values.
    type = op.results[0].type
    return not tg.is_tensor(type) or DYNAMIC_INDEX not in type.get_shape()
