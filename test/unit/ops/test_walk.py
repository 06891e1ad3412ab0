"""The kit for walks, against simple recursive references on random graphs and programs."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from random_seeds import batches
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.codegen import EndIfOp, IfOp
from tgdialect.ops.dtypes import BOOL, F32
from tgdialect.ops.elementwise import AddOp, MulOp, NegOp
from tgdialect.ops.movement import ExpandOp, ReshapeOp
from tgdialect.ops.numbering import op_key
from tgdialect.ops.ordering import EndOp, GroupOp, RangeOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.source import ConstOp, ParamOp
from tgdialect.ops.walk import (
    Walk,
    behind,
    computed,
    computed_from,
    nesting,
    operands_of,
    postorder,
    through,
    users_of,
)

Graph = dict[int, list[int]]
"""The sources of each node, which are before it; some twice."""
Nested = Iterator[tuple[Operation, tuple[Operation, ...]]]
"""Ops in order, each with the blocks around."""


def random_graph(chance: random.Random) -> Graph:
    count = chance.randrange(1, 30)
    return {
        node: [chance.randrange(node) for _ in range(chance.randrange(4))] if node else []
        for node in range(count)
    }


def visited(graph: Graph, node: int, done: list[int]) -> list[int]:
    """The reference of `postorder`."""
    for source in graph[node]:
        visited(graph, source, done)
    if node not in done:
        done.append(node)
    return done


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_WALKS", 400))
def test_graphs(seeds: range):
    for seed in seeds:
        check_graph(random.Random(seed))


def check_graph(chance: random.Random):
    graph = random_graph(chance)
    roots = [chance.choice([*graph]) for _ in range(chance.randrange(1, 4))]
    expected = list[int]()
    for root in roots:
        visited(graph, root, expected)
    asked = list[int]()

    def sources(node: int) -> list[int]:
        asked.append(node)
        return graph[node]

    assert list(postorder(roots, sources)) == expected
    assert sorted(asked) == sorted(expected)
    walk = Walk(roots)
    met = list[int]()
    for node in walk:
        met.append(node)
        walk.add(graph[node])
    assert sorted(met) == sorted(walk.seen) == sorted(expected)
    assert walk.is_complete
    most = chance.randrange(len(expected) + 2)
    walk = Walk(roots, most)
    for node in walk:
        assert len(walk.seen) <= most
        walk.add(graph[node])
    assert walk.is_complete == (len(expected) <= most)


def random_block(chance: random.Random) -> Block:
    """Elementwise ops and movements of earlier values of shape (1,)."""
    block = Block()
    put = OpBuilder.at_end(block).put
    values = [put(ParamOp(0, tensor_type(F32, (1,))))]
    for _ in range(chance.randrange(1, 30)):
        a, b = chance.choice(values[-3:]), chance.choice(values)
        match chance.randrange(5):
            case 0:
                values.append(put(ReshapeOp(a, (1,))))
            case 1:
                values.append(put(ExpandOp(a, (1,))))
            case 2:
                values.append(put(NegOp(a)))
            case 3:
                values.append(put(MulOp(a, b)))
            case _:
                values.append(put(AddOp(a, b)))
    return block


def slice_of(value: SSAValue, until: tuple[type[Operation], ...]) -> set[Operation]:
    """The reference of `computed_from`."""
    op = value.owner
    assert isinstance(op, Operation)
    if isinstance(op, until):
        return {op}
    return {op}.union(*(slice_of(operand, until) for operand in op.operands))


def chain_of(value: SSAValue, kinds: tuple[type[Operation], ...]) -> Iterator[Operation]:
    """The reference of `through`."""
    if isinstance(op := value.owner, kinds):
        yield op
        yield from chain_of(op.operands[0], kinds)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_WALKS", 200))
def test_blocks(seeds: range):
    for seed in seeds:
        check_block(random.Random(seed))


def check_block(chance: random.Random):
    ops = ops_of(block := random_block(chance))
    root = chance.choice(ops).results[0]
    for until in ((), (MulOp,), (AddOp, NegOp)):
        found = list(computed_from(root, until=until))
        assert len(found) == len(set(found))
        assert set(found) == slice_of(root, until)
    kinds = ReshapeOp, ExpandOp, NegOp
    chain = list(chain_of(root, kinds))
    assert list(through(root, *kinds)) == chain
    assert behind(root, *kinds) == (chain[-1].operands[0] if chain else root)
    for op in ops:
        users = [other for other in ops for o in other.operands if o.owner is op]
        assert sorted(map(id, users_of(op))) == sorted(map(id, users))
    depths = dict[SSAValue, int]()

    def depth(value: SSAValue) -> int:
        return 1 + max((depths[o] for o in operands_of(value)), default=0)

    assert computed(root, depths, operands_of, depth) == depths[root]
    assert depths.keys() == {op.results[0] for op in computed_from(root)}
    assert nesting(ops_of(block)) == dict.fromkeys(ops, ())


def random_nest(chance: random.Random, builder: OpBuilder, depth: int) -> Nested:
    """Random loops and IFs, some closed by one END: the ops of each with the blocks around."""
    for _ in range(chance.randrange(1, 4)):
        kind = chance.randrange(3) if depth else 0
        if kind == 0:
            yield builder.insert(ConstOp(0.0, F32)), ()
        elif kind == 1:
            gate = builder.put(ConstOp(True, BOOL))
            begin = builder.insert(IfOp(gate))
            yield begin, ()
            yield from inside((begin,), random_nest(chance, builder, depth - 1))
            yield builder.insert(EndIfOp(begin)), ()
        else:
            loops = list[RangeOp]()
            for axis in range(chance.randrange(1, 3)):
                bound = builder.index_constant(4)
                loop = builder.insert(RangeOp(axis, AxisType.LOOP, bound))
                yield loop, (*loops,)
                loops.append(loop)
            yield from inside((*loops,), random_nest(chance, builder, depth - 1))
            effect = builder.insert(GroupOp([]))
            yield effect, (*loops,)
            yield builder.insert(EndOp(effect, [loop.result for loop in reversed(loops)])), ()


def inside(blocks: tuple[Operation, ...], nested: Nested) -> Nested:
    return ((op, (*blocks, *around)) for op, around in nested)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_WALKS", 200))
def test_nests(seeds: range):
    for seed in seeds:
        block = Block()
        expected = dict(random_nest(random.Random(seed), OpBuilder.at_end(block), 3))
        found = nesting(ops_of(block))
        assert list(found) == ops_of(block), seed
        assert {op: found[op] for op in expected} == expected, seed


def test_long_chains():
    """No walk is recursive."""
    block = Block()
    put = OpBuilder.at_end(block).put
    first = value = put(ParamOp(0, tensor_type(F32, (1,))))
    for _ in range(5000):
        value = put(ReshapeOp(value, (1,)))
    assert behind(value, ReshapeOp) == first
    assert len([*through(value, ReshapeOp)]) == 5000
    assert len([*computed_from(value)]) == 5001
    assert len([*postorder([value], operands_of)]) == 5001


def test_keys():
    """Equal ops have equal keys; other kinds, operands, properties and types of leaves do not."""
    block = Block()
    put = OpBuilder.at_end(block).put
    a, b = (put(ParamOp(slot, tensor_type(F32, (6,)))) for slot in (0, 1))
    values = [
        *(a, b, put(ParamOp(0, tensor_type(F32, (7,))))),
        *(put(ConstOp(value, F32)) for value in (0.0, 1.0)),
        *(put(AddOp(a, b)), put(AddOp(b, a)), put(MulOp(a, b)), put(NegOp(a))),
        *(put(ReshapeOp(a, shape)) for shape in ((2, 3), (3, 2))),
    ]
    ops = [value.owner for value in values if isinstance(value.owner, Operation)]
    keys = [op_key(op) for op in ops]
    assert len(set(keys)) == len(keys) == len(values)
    assert keys == [op_key(op.clone()) for op in ops]
    sums = ops[5:7]
    assert len({op_key(op, [operand.type for operand in op.operands]) for op in sums}) == 1
