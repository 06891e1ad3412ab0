"""The order in which a kernel is executed, and which of its loops are run all at once.

A range is a *lane* axis of every array that depends on it, unless memory carries something from one
iteration to the next: then it is *stepped*. That is so where a loop writes a memory and also reads
it, or writes it in a second place, and the iterations do not each have their own copy of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.interpreter.accesses import Access, Roots, accesses
from tgdialect.interpreter.graph_versions import GraphVersions
from tgdialect.interpreter.nesting import Item, Nest, nested
from tgdialect.interpreter.scopes import (
    Scopes,
    axis_type,
    graph_scopes,
    linear_scopes,
)
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.axis_types import PARALLEL, WORKGROUP
from tgdialect.ops.codegen import AtomicAddOp, SpecialOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import place
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp


@dataclass
class Schedule:
    """What to execute, in order.

    `axes` gives the lane axis of each range that is not stepped and of each SPECIAL. `private[b]`
    are the ranges and SPECIALs over which memory b has a copy per iteration; memory in `assumed`
    has some only because no iteration is expected to read what another wrote. Reads through the
    views in `snapshots` see the memory as it was before every store. `unordered[w]` are the writes
    that may not touch a cell that write w touches. All that reads or writes what the kernel writes
    is inside each of `sliceable`, so that one of these can be run in parts to save space.
    """

    items: list[Item]
    scopes: Scopes
    axes: dict[Operation, int]
    specials: list[SpecialOp]
    private: dict[SSAValue, list[Operation]]
    assumed: set[SSAValue]
    snapshots: set[SSAValue]
    unordered: dict[Operation, set[Operation]]
    sliceable: list[RangeOp | SpecialOp]
    roots: Roots

    @property
    def lanes(self) -> int:
        return len(self.axes)


def schedule(block: Block, *, graph: bool, assume_private: bool = True) -> Schedule:
    """Plan the execution of a kernel's block, a graph, or of the block of a LINEAR."""
    scopes = graph_scopes(block) if graph else linear_scopes(block)
    roots = Roots()
    all_accesses = [access for op in block.ops for access in accesses(op, roots)]
    versions = GraphVersions(block, all_accesses) if graph else None
    snapshots = versions.snapshots if versions else set[SSAValue]()
    live = [a for a in all_accesses if a.writes or a.view not in snapshots]
    specials = [op for op in block.ops if isinstance(op, SpecialOp)]
    private, assumed = _private(scopes, live, specials, assume_private)
    stepped = _stepped(scopes, live, private)
    _limit_lanes(scopes, stepped, len(specials))
    lanes = [r for r in scopes.ranges if r not in stepped]
    axes: dict[Operation, int] = {op: i for i, op in enumerate([*specials, *lanes])}
    if graph:
        items = Nest(block, scopes, stepped, versions.before if versions else {}).items()
    else:
        items = nested(block, stepped)
    return Schedule(
        items,
        scopes,
        axes,
        specials,
        private,
        assumed,
        snapshots,
        versions.unordered if versions else {},
        _sliceable(scopes, live, specials, lanes),
        roots,
    )


# -- lanes and steps ------------------------------------------------------------------------------


def _private(
    scopes: Scopes, live: Sequence[Access], specials: Sequence[SpecialOp], assume: bool
) -> tuple[dict[SSAValue, list[Operation]], set[SSAValue]]:
    """Over which ranges and SPECIALs each LOCAL and REG buffer has a copy per iteration."""
    private: dict[SSAValue, list[Operation]] = {}
    assumed: set[SSAValue] = set()
    by_root: dict[SSAValue, list[Access]] = {}
    for access in live:
        if isinstance(access.root.owner, BufferOp):
            by_root.setdefault(access.root, []).append(access)
    for root, uses in by_root.items():
        space = place(root).addrspace
        if space is AddrSpace.GLOBAL:
            continue
        shared = WORKGROUP if space is AddrSpace.LOCAL else frozenset[object]()
        over: list[Operation] = [
            s for s in specials if space is AddrSpace.REG or not s.symbol.data.startswith("lidx")
        ]
        # Threads that share a buffer go from one iteration to the next when a barrier lets them.
        threads = space is AddrSpace.LOCAL and len(over) < len(specials)
        common = scopes.of[uses[0].op].intersection(*(scopes.of[use.op] for use in uses))
        for range in scopes.ranges:
            if range not in common or axis_type(range) in shared:
                continue
            if axis_type(range) in PARALLEL:
                over.append(range)
            elif assume and not threads:
                over.append(range)
                assumed.add(root)
        private[root] = over
    return private, assumed


def _stepped(
    scopes: Scopes, live: Sequence[Access], private: dict[SSAValue, list[Operation]]
) -> set[RangeOp]:
    """The ranges whose iterations memory connects."""
    by_root: dict[SSAValue, list[Access]] = {}
    for access in live:
        by_root.setdefault(access.root, []).append(access)
    result: set[RangeOp] = set()
    for root, uses in by_root.items():
        if all(isinstance(use.op, AtomicAddOp) for use in uses):
            continue
        for range in scopes.ranges:
            if axis_type(range) in WORKGROUP or range in private.get(root, ()):
                continue
            inside = [use for use in uses if range in scopes.of[use.op]]
            both = any(use.reads and use.writes for use in inside)
            if both or (len(inside) > 1 and any(use.writes for use in inside)):
                result.add(range)
    return result


_MAX_LANES = 24
"""NumPy arrays have 32 axes before version 2; the rest is for shapes."""


def _limit_lanes(scopes: Scopes, stepped: set[RangeOp], specials: int) -> None:
    """Step outer ranges too where there would be more lane axes than an array can have."""
    candidates = [
        r
        for r in scopes.ranges
        if r not in stepped and axis_type(r) not in WORKGROUP and not _is_reduced(r)
    ]
    excess = specials + len(scopes.ranges) - len(stepped) - _MAX_LANES
    stepped.update(candidates[: max(excess, 0)])


def _is_reduced(range: RangeOp) -> bool:
    """Whether a REDUCE closes a range: it needs all iterations, and several may."""
    return any(isinstance(use.operation, ReduceOp) for use in range.result.uses)


def _sliceable(
    scopes: Scopes,
    live: Sequence[Access],
    specials: Sequence[SpecialOp],
    lanes: Sequence[RangeOp],
) -> list[RangeOp | SpecialOp]:
    """What can be run in parts: the threads of a group cannot, nor what a REDUCE closes."""
    written = {use.root for use in live if use.writes}
    uses = [scopes.of[use.op] for use in live if use.root in written]
    ranges = [
        r
        for r in lanes
        if axis_type(r) not in WORKGROUP
        and all(r in scope for scope in uses)
        and not _is_reduced(r)
    ]
    return [*(s for s in specials if not s.symbol.data.startswith("lidx")), *ranges]
