"""Programs of blocks that are alike, or nearly: a task that calls the kernels of one that is like
it calls those that it would have become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from random_seeds import batches
from reproduced import check_program, raised
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import tgdialect as tg
from tgdialect.analysis.structure import Structures
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.rangeify.alike import Alike, Facts, Structure
from tgdialect.lowering.rangeify.kernel import KernelBuilder
from tgdialect.lowering.rangeify.task_kernels import TaskKernels
from tgdialect.ops.call import KernelOp
from tgdialect.ops.dtypes import INDEX, number_attribute
from tgdialect.ops.source import ConstOp
from tgdialect.registry import make_context

Block = Callable[[tg.Tensor, tg.Tensor], tg.Tensor]
"""Of a matrix and square weights."""

SIZE = 12
BLOCKS = 6


def random_block(random: Random) -> Block:
    """A block of a few layers, with constants that only some blocks have in common."""
    constant = random.choice((0.0, -0.0, 0.5))
    axis = random.randrange(2)
    length = random.choice((4, 8))

    def masked(x: tg.Tensor) -> tg.Tensor:
        ones = tg.Tensor.ones(SIZE, SIZE).tril()
        return (ones > constant).where(x, constant)

    def attention(x: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
        scores = masked(x @ x.transpose()) * 0.125
        return scores.softmax(-1) @ (x @ w)

    steps: Sequence[Block] = (
        lambda x, w: x @ w,
        lambda x, w: (x @ w).maximum(constant),
        lambda x, w: (x - x.mean(axis, keepdim=True)) * w,
        lambda x, w: x.softmax(axis),
        attention,
        lambda x, w: x[:length].cat(w[length:]),
        lambda x, w: x[:, 1:].pad(((0, 0), (0, 1)), value=constant).flip(axis) + w,
        lambda x, w: x.cumsum(axis),
        lambda x, w: tg.Tensor.stack(x, w).sum(0),
        lambda x, w: x + w[(w.abs() * length).cast("i32")[:, 0].minimum(SIZE - 1)],
    )
    chosen = random.sample(steps, random.randrange(1, 4))

    def block(x: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
        for step in chosen:
            x = step(x, w)
        return x

    return block


def random_program(random: Random) -> Callable[..., tuple[tg.Tensor, ...]]:
    """Blocks, most of which are equal, one after the other or each of the argument, and what some
    of them give as results."""
    blocks = [random_block(random)] * BLOCKS
    for _ in range(random.randrange(3)):
        blocks[random.randrange(BLOCKS)] = random_block(random)
    is_chain, kept = random.random() < 0.7, random.sample(range(BLOCKS), 2)

    def program(x: tg.Tensor, *weights: tg.Tensor) -> tuple[tg.Tensor, ...]:
        results: list[tg.Tensor] = []
        for block, w in zip(blocks, weights, strict=True):
            y = block(x, w).contiguous()
            results.append(y)
            x = x + y if is_chain else x
        return x, *(results[number] for number in kept)

    return program


def rangeified(module: ModuleOp) -> tuple[ModuleOp, int]:
    """A copy of a module after `tg-rangeify`, and how many kernels have been built for it."""
    module = module.clone()
    CallifyPass().lower(module)
    built = 0
    finish = KernelBuilder.finish

    def counted(*arguments: Any) -> KernelOp:
        nonlocal built
        built += 1
        return finish(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelBuilder, "finish", counted)
        RangeifyPass().lower(module)
    return module, built


def traced(function: Callable[..., object]) -> ModuleOp:
    text = tg.function(function).lower(*[tg.spec((SIZE, SIZE))] * (BLOCKS + 1)).as_text()
    return parse_module(make_context(), SourceFile("test", text, 1))


def both(source: ModuleOp) -> tuple[int, int]:
    """Check that a program is the same if no two tasks are taken to be alike. The kernels that are
    built for it, and those that are built then."""
    module, built = rangeified(source)

    def unknown(*_: object) -> None:
        """No structure."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Structures, "computing", unknown)
        reference, most = rangeified(source)
    assert str(module) == str(reference)
    return built, most


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_BLOCKS", 30), ids=str)
def test_random_blocks(seeds: range):
    for seed in seeds:
        module = traced(random_program(Random(seed)))
        check_program(
            raised(compare), f"seed {seed}", module, again="tg-opt -p tg-callify,tg-rangeify"
        )


def compare(module: ModuleOp, _: object) -> None:
    built, most = both(module)
    assert built <= most


def test_equal_blocks_are_lowered_once():
    def program(x: tg.Tensor, *weights: tg.Tensor) -> tg.Tensor:
        for w in weights:
            x = (x @ w).softmax(-1).contiguous()
        return x

    built, most = both(traced(program))
    # The first block reads an argument, and the last one writes a result.
    assert built < most / 2


def test_zeros_of_either_sign_are_different():
    def program(x: tg.Tensor, *weights: tg.Tensor) -> tg.Tensor:
        a, b, *_ = ((x @ w).contiguous() for w in weights)
        return a.copysign(0.0).contiguous() + b.copysign(-0.0).contiguous()

    both(traced(program))


def test_a_fact_that_a_kernel_asks_keeps_tasks_apart(monkeypatch: pytest.MonkeyPatch):
    """A kernel that depends on a fact of which nothing else knows is shared only where it is the
    same: the fact is recorded where the kernel asks it."""
    colours: dict[SSAValue, int] = {}
    asked: list[int] = []

    def colour(value: SSAValue) -> int:
        """Another one for each third value that is asked about."""
        return colours.setdefault(value, len(colours) % 3)

    made = TaskKernels.__init__

    def init(self: TaskKernels, plan: Any, realised: Any, analyses: Any, facts: Facts) -> None:
        made(self, plan, realised, analyses, facts)
        self.colour = facts.recorded(colour)  # pyright: ignore

    realising = TaskKernels.realising

    def coloured(self: Any, op: Any, *given: Any) -> Any:
        asked.append(self.colour(op.results[0]))
        return realising(self, op, *given)

    def program(x: tg.Tensor, *weights: tg.Tensor) -> tg.Tensor:
        for w in weights:
            x = (x @ w).contiguous()
        return x

    module = traced(program)
    _, before = rangeified(module)
    monkeypatch.setattr(TaskKernels, "__init__", init)
    monkeypatch.setattr(TaskKernels, "realising", coloured)
    _, after = rangeified(module)
    # One kernel for each colour of a product; the first one and the last one are others anyway.
    assert {*asked} == {0, 1, 2}
    assert before < after < BLOCKS + 1


def test_a_fact_about_a_value_elsewhere_is_shared_with_none():
    facts, alike = Facts(), Alike[int]()
    here, there = (ConstOp(number_attribute(n, INDEX)).result for n in (1, 2))
    fact = facts.recorded(lambda value: value is there)
    structure = Structure("text", [here], [])
    with facts.recording() as asked:
        fact(here)
    alike.add(structure, asked, 1)
    assert alike.find(Structure("text", [here], [])) == 1
    assert alike.find(Structure("text", [there], [])) is None
    with facts.recording() as asked:
        fact(there)
    alike.add(Structure("other", [here], []), asked, 2)
    assert alike.find(Structure("other", [here], [])) is None


def test_results_are_those_of_each_block():
    def program(x: tg.Tensor, *weights: tg.Tensor) -> tg.Tensor:
        for number, w in enumerate(weights):
            x = (x @ w).maximum(0.0).contiguous() + number % 2
        return x

    arrays = [np.random.default_rng(i).random((SIZE, SIZE)) - 0.5 for i in range(BLOCKS + 1)]
    x = arrays[0]
    for number, w in enumerate(arrays[1:]):
        x = np.maximum(x @ w, 0) + number % 2
    result = tg.function(program)(*(tg.Tensor(a.astype(np.float32)) for a in arrays))
    np.testing.assert_allclose(result.numpy(), x, rtol=1e-4)
