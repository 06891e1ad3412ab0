"""The quick check of definitions against xDSL's, on ops of programs that are changed at random."""

import random
from collections import Counter
from pathlib import Path

import pytest
from example_files import EXAMPLES
from random_seeds import batches
from xdsl.dialects.builtin import DenseArrayBase, IntAttr, StringAttr, UnitAttr, f32, i1, i32, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.fast_xdsl.definitions import fits
from tgdialect.ops.attributes import VOID
from tgdialect.ops.base import TgOp
from tgdialect.ops.properties import tensor_type
from tgdialect.runtime.build import Build
from tgdialect.runtime.compiler import load_module


def ops_of_stages(path: Path) -> list[TgOp]:
    """The ops of an example, and of copies of it after each stage."""
    module = load_module(path)
    found = [op for op in module.walk() if isinstance(op, TgOp)]
    for after in Build(module).snapshots.values():
        found += [op for op in after.walk() if isinstance(op, TgOp)]
    return found


def is_valid(op: TgOp) -> bool:
    try:
        op.get_irdl_definition().verify(op)
    except (VerifyException, TypeError, AttributeError, KeyError, ValueError):
        # Traits that look at other ops, which are changed, fail on their own assumptions.
        return False
    return True


def other_attribute(rng: random.Random) -> Attribute:
    dense = DenseArrayBase.from_list(rng.choice((i1, i32, i64)), rng.choices((0, 1), k=2))
    return rng.choice((dense, IntAttr(1), StringAttr("a"), UnitAttr(), f32, VOID))


def change(op: TgOp, rng: random.Random) -> None:
    """Change the definition's parts of an op, which may stay valid."""
    names = [*op.properties]
    match rng.randrange(6):
        case 0 if op.operands:
            operands = list(op.operands)
            del operands[rng.randrange(len(operands))]
            op.operands = operands
        case 1 if op.operands:
            op.operands = [*op.operands, rng.choice(list(op.operands))]
        case 2 if op.results:
            type = rng.choice((f32, VOID, tensor_type(f32), tensor_type(i32, (3,))))
            setattr(op.results[0], "_type", type)  # noqa: B010
        case 3 if names:
            op.properties[rng.choice(names)] = other_attribute(rng)
        case 4 if names:
            del op.properties[rng.choice(names)]
        case 5 if SEGMENTS in names:
            sizes = rng.choices((-1, 0, 1, 2), k=rng.randint(1, 4))
            op.properties[SEGMENTS] = DenseArrayBase.from_list(rng.choice((i32, i64)), sizes)
        case _:
            op.properties[rng.choice(["other", *names])] = other_attribute(rng)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_DEFINITIONS", 8), ids=str)
def test_ops_that_fit_are_valid(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        quick = Counter[bool]()
        for op in ops_of_stages(rng.choice(EXAMPLES)):
            quick[fits(op)] += is_valid(op)
            change(op, rng)
            assert is_valid(op) or not fits(op), (seed, op.name)
        # The quick check is for most ops, or else it is of no use.
        assert quick[True] > quick[False], seed
