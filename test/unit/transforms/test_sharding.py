"""`tg-shard`: its choices are the cheapest ones, and change no result."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from random_seeds import batches
from random_shards import RandomShards
from reproduced import check_program, raised
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

import tgdialect as tg
from tgdialect.analysis.communication import Algorithm, Collective, Link, bytes_sent, seconds
from tgdialect.analysis.validity import Validity
from tgdialect.interpreter import run
from tgdialect.ops.attributes import PlaceAttr
from tgdialect.ops.properties import place, tensor
from tgdialect.runtime.compiler import load_module
from tgdialect.transforms.shard.elimination import Table, cheapest
from tgdialect.transforms.shard.propagate import SHARDING, ShardPass, shard, splittable


@pytest.mark.parametrize("seed", range(200))
def test_elimination_finds_the_cheapest(seed: int):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, rng.integers(1, 7)).tolist()
    tables: list[Table] = []
    for _ in range(rng.integers(0, 9)):
        count = rng.integers(1, min(4, len(sizes)) + 1)
        variables = tuple(rng.permutation(len(sizes))[:count].tolist())
        costs = rng.integers(0, 9, [sizes[v] for v in variables]).astype(float)
        costs[rng.random(costs.shape) < 0.1] = np.inf
        tables.append(Table(variables, costs))

    def cost(choice: tuple[int, ...]) -> float:
        return sum(float(t.costs[tuple(choice[v] for v in t.variables)]) for t in tables)

    every = itertools.product(*map(range, sizes))
    assert cost(tuple(cheapest(sizes, tables))) == min(map(cost, every))


def test_variables_without_a_choice():
    costs = np.arange(2.0).reshape([2] + [1] * 63)
    assert cheapest([2, *[1] * 99], [Table(tuple(range(64)), costs)] * 2) == [0] * 100
    ladder = [Table((i, i + 1), np.zeros((1, 1))) for i in range(99)]
    joined = [Table((0, i), np.zeros((1, 1))) for i in range(2, 100)]
    assert cheapest([1] * 100, [*ladder, *joined]) == [0] * 100


@pytest.mark.parametrize("count", [4, 5, 100])
def test_an_op_of_many_operands(count: int):
    names = [f"%x{i}" for i in range(count)]
    arguments = ", ".join(f"{name}: tensor<4x6xf32>" for name in names)
    types = ", ".join(["tensor<4x6xf32>"] * count)
    module = load_module(f"""
    func.func @main({arguments}) -> tensor<{count}x4x6xf32> {{
      %0 = tg.stack {", ".join(names)} : ({types}) -> tensor<{count}x4x6xf32>
      func.return %0 : tensor<{count}x4x6xf32>
    }}""")
    shard(module, ShardPass(devices=("A", "B")))
    module.verify()
    random = np.random.default_rng(0)
    inputs = [random.random((4, 6), np.float32) for _ in range(count)]
    (found,) = run(module, "main", inputs)
    np.testing.assert_array_equal(np.asarray(found), np.stack(inputs))


def annotated(seed: int, devices: tuple[str, ...]) -> tuple[RandomShards, ModuleOp]:
    """A random program with a few random annotations."""
    program = RandomShards(seed, devices=())
    module = program.module()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    chosen = random.Random(seed)

    def annotation(value: SSAValue) -> dict[str, Attribute]:
        axes = [None, *splittable(tensor(value), len(devices)) * 3]
        if chosen.random() < 0.6:
            return {}
        return {SHARDING: PlaceAttr.of(devices, None, chosen.choice(axes))}

    last = function.body.block.last_op
    assert last is not None

    def of_result(value: SSAValue) -> dict[str, Attribute]:
        alike = [i for i, argument in enumerate(function.args) if argument.type == value.type]
        if alike and chosen.random() < 0.5:
            return {SHARDING: IntegerAttr(chosen.choice(alike), 64)}
        return annotation(value)

    function.properties["arg_attrs"] = ArrayAttr(
        DictionaryAttr(annotation(v)) for v in function.args
    )
    function.properties["res_attrs"] = ArrayAttr(
        DictionaryAttr(of_result(v)) for v in last.operands
    )
    validity = Validity()
    for op in function.body.block.ops:
        if op.results and validity[op.results[0]] and chosen.random() < 0.1:
            op.attributes.update(annotation(op.results[0]))
    return program, module


def check_annotations(before: ModuleOp, after: ModuleOp) -> None:
    """Arguments and results are split as annotations say."""
    old, new = before.body.block.first_op, after.body.block.first_op
    assert isinstance(old, FuncOp)
    assert isinstance(new, FuncOp)
    ends = old.body.block.last_op, new.body.block.last_op
    assert ends[0] is not None
    assert ends[1] is not None
    for attributes, values in (old.arg_attrs, new.args), (old.res_attrs, ends[1].operands):
        assert attributes is not None
        for each, value in zip(attributes, values, strict=True):
            if isinstance(like := each.data.get(SHARDING), IntegerAttr):
                assert place(value) == place(new.args[like.value.data])
            elif like is not None:
                assert place(value) == like
    assert SHARDING not in str(after)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SHARDINGS", 200), ids=str)
def test_random_programs_stay_the_same(seeds: range):
    for seed in seeds:
        devices = tuple("ABCD"[: 2 + seed % 3])
        program, module = annotated(seed, devices)
        wrong = raised(partial(check_sharded, devices=devices, compiles=seed % 5 == 0))
        again = f"tg-opt -p 'tg-shard{{devices={','.join(devices)}}}'"
        check_program(wrong, f"seed {seed}", module, program.inputs(), again=again)


def check_sharded(
    module: ModuleOp, inputs: Sequence[Any], devices: tuple[str, ...], compiles: bool
) -> None:
    wanted = run(module, "main", inputs)
    sharded = module.clone()
    shard(sharded, ShardPass(devices=devices))
    sharded.verify()
    check_annotations(module, sharded)
    found = [run(sharded, "main", inputs)]
    if compiles:
        results = tg.compile(sharded, target="cpu")(*inputs)
        found.append(results if isinstance(results, tuple) else (results,))
    for results in found:
        for a, b in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)


# -- the model of communication --------------------------------------------------------------------


def simulated(kind: Collective, n: int, algorithm: Algorithm) -> tuple[int, float]:
    """The steps, and the bytes of the longest message of each, of n devices which each have n
    blocks of a byte. Every device tracks what it knows, block by block."""
    steps, total = 0, 0
    if algorithm == "ring":
        if kind in (Collective.REDUCE_SCATTER, Collective.ALL_REDUCE):
            sums = [[{d} for _ in range(n)] for d in range(n)]
            for step in range(n - 1):
                sent = [(d, (d - step) % n, sums[d][(d - step) % n]) for d in range(n)]
                for d, block, known in sent:
                    sums[(d + 1) % n][block] = sums[(d + 1) % n][block] | known
                steps, total = steps + 1, total + 1
            assert all(len(sums[d][(d + 1) % n]) == n for d in range(n))
        if kind in (Collective.ALL_GATHER, Collective.ALL_REDUCE):
            size = n if kind is Collective.ALL_GATHER else 1
            has = [{d} for d in range(n)]
            for step in range(n - 1):
                sent = [(d, (d - step) % n) for d in range(n)]
                assert all(block in has[d] for d, block in sent)
                for d, block in sent:
                    has[(d + 1) % n].add(block)
                steps, total = steps + 1, total + size
            assert all(len(each) == n for each in has)
        return steps, total
    has = [{d} for d in range(n)]
    distance = 1
    while distance < n:
        before = [set(each) for each in has]
        for d in range(n):
            has[d] |= before[d ^ distance]
        total += n * (len(before[0]) if kind is Collective.ALL_GATHER else 1)
        steps, distance = steps + 1, 2 * distance
    assert all(len(each) == n for each in has)
    return steps, total


@pytest.mark.parametrize("n", [2, 4, 8, 16])
@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        (Collective.ALL_GATHER, "ring"),
        (Collective.ALL_GATHER, "tree"),
        (Collective.ALL_REDUCE, "ring"),
        (Collective.ALL_REDUCE, "tree"),
        (Collective.REDUCE_SCATTER, "ring"),
    ],
)
def test_time_of_collectives(kind: Collective, algorithm: Algorithm, n: int):
    steps, sent = simulated(kind, n, algorithm)
    assert seconds(kind, n, n, Link(1.0, float("inf")), algorithm) == steps
    assert seconds(kind, n, n, Link(0.0, 1.0), algorithm) == pytest.approx(sent)
    if algorithm == "ring":
        assert bytes_sent(kind, n, n) == n * sent


@pytest.mark.parametrize("kind", Collective)
@pytest.mark.parametrize("algorithm", ["ring", "tree"])
def test_one_device_sends_nothing(kind: Collective, algorithm: Algorithm):
    assert seconds(kind, 1000, 1, Link(1.0, 1.0), algorithm) == 0
