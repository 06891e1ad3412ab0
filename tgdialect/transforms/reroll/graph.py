"""The graph of a block: equal ops are one node, and nodes are of one kind if their ops differ in
operands and offsets alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue

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


@dataclass
class Graph:
    """Nodes are numbers, in an order in which each comes after its operands."""

    ops: list[Operation | None] = field(default_factory=list[Operation | None])
    """The first op of each node; None for an argument of the block."""
    values: list[list[SSAValue]] = field(default_factory=list[list[SSAValue]])
    """The values that are each node."""
    operands: list[Row] = field(default_factory=list[Row])
    kinds: list[int] = field(default_factory=list[int])
    """What kind each node is of; a node that no step may have is of a kind of its own."""
    offsets: list[Row] = field(default_factory=list[Row])
    """The offsets of the SHRINK that a node is."""
    depths: list[int] = field(default_factory=list[int])
    """The number of ops on the longest path to each node."""
    is_rollable: list[bool] = field(default_factory=list[bool])
    is_constant: list[bool] = field(default_factory=list[bool])
    """Whether constants alone decide about a node."""
    number: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    order: list[Operation] = field(default_factory=list[Operation])
    """The ops of the block."""

    @classmethod
    def of(cls, block: Block) -> Graph:
        """The graph of a block, in linear time."""
        graph = cls()
        texts = Structures()
        kinds: dict[Hashable, int] = {}
        known: dict[Hashable, int] = {}
        for argument in block.args:
            graph.add(argument, None, (), len(graph.ops) - (1 << 62), (), False)
        graph.order = ops_of(block)
        for op in graph.order:
            numbers = tuple(graph.number.get(operand, -1) for operand in op.operands)
            if not is_rollable(op):
                for result in op.results:
                    graph.add(result, op, numbers, len(graph.ops) - (1 << 62), (), False)
                continue
            properties, offsets = op.properties, ()
            if isinstance(op, tg.ShrinkOp):
                offsets = tg.integers(op, "offsets")
                key = op.name, op.results[0].type, properties["shape"]
            else:
                about = frozenset(properties.items()) if properties else None
                bodies = tuple(texts.of(region.block) for region in op.regions)
                # 0.0 and -0.0 are equal numbers.
                text = texts.text(properties["value"]) if isinstance(op, tg.ConstOp) else ""
                key = op.name, op.results[0].type, text or about, bodies
            kind = kinds.setdefault((key, tuple(o.type for o in op.operands)), len(kinds))
            same = known.get((kind, numbers, offsets))
            if same is None:
                known[kind, numbers, offsets] = len(graph.ops)
                graph.add(op.results[0], op, numbers, kind, offsets, True)
            else:
                graph.number[op.results[0]] = same
                graph.values[same].append(op.results[0])
        return graph

    def add(
        self,
        value: SSAValue,
        op: Operation | None,
        operands: Row,
        kind: int,
        offsets: Row,
        rollable: bool,
    ) -> None:
        """Add a node for a value."""
        self.number[value] = len(self.ops)
        self.ops.append(op)
        self.values.append([value])
        self.operands.append(operands)
        self.kinds.append(kind)
        self.offsets.append(offsets)
        self.is_rollable.append(rollable)
        self.is_constant.append(
            isinstance(op, tg.ConstOp)
            or (
                isinstance(op, tg.ElementwiseOp | tg.MovementOp)
                and all(o >= 0 and self.is_constant[o] for o in operands)
            )
        )
        self.depths.append(1 + max((self.depths[o] for o in operands if o >= 0), default=-1))

    def type(self, node: int) -> Attribute:
        """The type of a node."""
        return self.values[node][0].type

    def is_alike(self, a: int, b: int) -> bool:
        """Whether two nodes may be one op of two steps."""
        return a == b or self.kinds[a] == self.kinds[b]

    def bytes(self, node: int) -> int:
        """The size of the value of a node; of a tuple it is without bound."""
        type = self.type(node)
        if not tg.is_tensor(type):
            return 1 << 62
        return math.prod(type.get_shape()) * tg.dtype_row(type.element_type).itemsize

    def longest_path(self) -> Sequence[int]:
        """The nodes of a longest path, from its beginning."""
        node = max(range(len(self.ops)), key=self.depths.__getitem__)
        path = [node]
        while operands := [o for o in self.operands[node] if o >= 0]:
            node = max(operands, key=self.depths.__getitem__)
            path.append(node)
        return path[::-1]


def is_rollable(op: Operation) -> bool:
    """Whether a step may have an op: it computes a value of known extents from values."""
    if not isinstance(op, _ROLLABLE) or len(op.results) != 1:
        return False
    if isinstance(op, tg.ReduceOp) and len(op.operands) > 1:
        return False
    if isinstance(op, tg.WindowOp | tg.ResizeOp) and len(op.operands) > 1:
        return False
    type = op.results[0].type
    return not tg.is_tensor(type) or DYNAMIC_INDEX not in type.get_shape()
