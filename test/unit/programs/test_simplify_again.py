"""A kernel that OptOps change is visited where it has changed only. The result is that of a visit
of the whole kernel."""

from __future__ import annotations

from random import Random

import pytest
from random_cases import random_case
from random_schedules import random_opts
from random_seeds import batches
from reproduced import check_program, raised
from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import begin_schedule
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.attributes import OptAttr
from tgdialect.ops.call import KernelOp
from tgdialect.ops.properties import known_index
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target
from tgdialect.transforms.simplify import simplify

TARGETS = ("cpu", "nvidia:sm_90a", "opencl")


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SIMPLIFY", 60), ids=str)
def test_changed_ops_suffice(seeds: range, monkeypatch: pytest.MonkeyPatch):
    again = Axes.simplify

    def compared(axes: Axes) -> None:
        before = str(axes.kernel)
        whole = axes.kernel.clone()
        simplify(whole)
        again(axes)
        axes.kernel.verify()
        assert str(axes.kernel) == str(whole), f"{before}\n{axes.kernel}\n{whole}"

    monkeypatch.setattr(Axes, "simplify", compared)
    for seed in seeds:
        module, _, _ = random_case(seed)
        target = TARGETS[seed % 3]
        state_target(module, target_named(target))
        run_stages(module, stages(target=target, mode="none").module)
        wrong = raised(lambda module, _, seed=seed: optimize(module, Random(seed)))
        check_program(wrong, f"random_case({seed})", module, again="tg-opt -p tg-simplify")


def optimize(module: ModuleOp, random: Random) -> None:
    """Apply random OptOps to the kernels of a module, and simplify these now and then."""
    for kernel in module.ops:
        if not isinstance(kernel, KernelOp):
            continue
        kernel.sink.opts = ArrayAttr[OptAttr]([])
        axes = Axes(kernel)
        if any(known_index(range.bound) == 0 for range in axes.ranges.values()):
            continue
        begin_schedule(axes)
        for _ in random_opts(random, axes, 7):
            if random.randrange(2):
                axes.simplify()
        axes.simplify()
