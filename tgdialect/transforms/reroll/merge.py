"""SCANs of the same steps, which differ in what they stack, become one.

The gradient of a SCAN needs another one that stacks what a step begins with, and more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tgdialect.analysis.structure import Structures
from tgdialect.diagnostics import begins
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.transforms.reroll.graph import ValueGraph


def merge_scans(block: Block) -> None:
    """Make one SCAN of those in a block that have the same steps."""
    scans = [op for op in ops_of(block) if isinstance(op, tg.ScanOp)]
    if len(scans) < 2:
        return
    numbers, structures = ValueGraph(block).number, Structures()
    alike: dict[Hashable, list[tg.ScanOp]] = defaultdict(list)
    for scan in scans:
        lines = structures.of(scan.body.block).split("\n")
        states = tuple(_places(scan)[: scan.states.data])
        properties = frozenset(scan.properties.items())
        key = tuple(numbers[a] for a in scan.arguments), states, properties, tuple(lines[:-1])
        alike[key].append(scan)
    for same in alike.values():
        if len(same) > 1 and begins("merge scans", same[0]):
            _merge(same)


def _merge(scans: Sequence[tg.ScanOp]) -> None:
    """Replace SCANs by one that stacks what any of them does."""
    first = scans[0]
    region = first.body.clone()
    ops = ops_of(region.block)
    last = ops[-1]
    count = first.states.data
    states = _places(first)[:count]
    stacked = [*dict.fromkeys(place for scan in scans for place in _places(scan)[count:])]
    results = [ops[place].results[0] for place in (*states, *stacked)]
    tg.OpBuilder(InsertPoint.at_end(region.block)).insert(tg.TupleOp(results))
    Rewriter.erase_op(last)
    merged = tg.ScanOp.__new__(tg.ScanOp)
    merged.infer(first.arguments, first.properties, regions=(region,))
    tg.OpBuilder.before(first).insert(merged)
    for scan in scans:
        places = _places(scan)
        for element in [use.operation for use in scan.result.uses]:
            assert isinstance(element, tg.GetTupleOp)
            index = element.index.data
            if index >= count:
                index = count + stacked.index(places[index])
            builder = tg.OpBuilder(InsertPoint.after(merged), element.location)
            element.result.replace_all_uses_with(builder.put(tg.GetTupleOp(merged, index)))
            Rewriter.erase_op(element)
        Rewriter.erase_op(scan)


def _places(scan: tg.ScanOp) -> Sequence[int]:
    """The places in the body of what it gives."""
    ops = enumerate(ops_of(scan.body.block))
    places: dict[SSAValue, int] = {op.results[0]: place for place, op in ops}
    return [places[value] for value in scan.results_of_body]
