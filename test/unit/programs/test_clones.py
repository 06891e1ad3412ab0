"""A clone of a random kernel computes what the kernel does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from executors import interpret
from expression import Array
from random_kernels import random_kernel
from random_seeds import batches
from reproduced import check_program, disagreement
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from tgdialect.analysis.ranges import needed_ops
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import KernelOp
from tgdialect.ops.source import ParamOp


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_KERNELS", 40), ids=str)
def test_clones_compute_the_same(seeds: range):
    for seed in seeds:
        kernel = random_kernel(seed)
        made = f"random_kernel({seed}), cloned"
        check_program(disagreement(on_clones), made, kernel.module, kernel.inputs)


def on_clones(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The results with clones in place of the bodies of kernels."""
    module = module.clone()
    for op in module.ops:
        if isinstance(op, KernelOp):
            clone_body(op)
    module.verify()
    return interpret(module, inputs)


def clone_body(kernel: KernelOp) -> None:
    """Have a clone of each op that a kernel needs in place of its body."""
    old, builder, mapping = kernel.body.block, OpBuilder.at_end(Block()), {}
    roots = [op.results[0] for op in old.ops if isinstance(op, ParamOp)]
    for root in (*roots, kernel.sink.result):
        builder.clone(root, mapping, everything=True)
    assert len(builder.block.ops) == len(needed_ops(old))
    assert not {*builder.block.ops} & {*old.ops}
    kernel.body.erase_block(old, safe_erase=False)
    kernel.body.add_block(builder.block)
