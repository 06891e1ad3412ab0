"""Random legal schedules: OptOps of all kinds with any arguments, as far as `apply_opt` takes them.

What it takes has to be lowered, to compute the same, and to touch nothing outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from random import Random

from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from tgdialect.analysis.constants import constant_slots
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import begin_schedule, opt, spelled, try_opt
from tgdialect.lowering.optimize.stage import schedule_prepacking
from tgdialect.lowering.packing import pass_packed
from tgdialect.lowering.pipeline import Stages, stages
from tgdialect.ops.attributes import AddrSpace, AxisType, OptAttr, OptOp
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.call import KernelOp
from tgdialect.ops.properties import known_index
from tgdialect.runtime.build import Build
from tgdialect.targets.cpu import CPU
from tgdialect.transforms.simplify import simplify

MAX_TILE = 160
"""How many iterations the expanded ranges of a kernel may have together: what takes time to
compile."""

KINDS = (
    *(OptOp.SPLIT,) * 8,
    *(OptOp.PADTO,) * 3,
    *(OptOp.SWAP, OptOp.ORDER, OptOp.ORDER, OptOp.MERGE, OptOp.MERGE, OptOp.STAGE, OptOp.STAGE),
    OptOp.PIPELINE,
)
TARGETS = (*AxisType, *(AxisType.UPCAST,) * 6, *(AxisType.UNROLL,) * 3, *(AxisType.THREAD,) * 3)
FACTORS = (1, 2, 3, 4, 5, 8, 12, 16, 20, 32, 64, 132)


def random_opt(random: Random, axes: Axes) -> OptAttr:
    """An OptOp with arguments that a kernel has, legal or not."""
    ids = sorted(axes.ranges)
    axis = random.choice(ids)
    kind = random.choice(KINDS) if random.randrange(40) else OptOp.NOLOCALS
    match kind:
        case OptOp.SPLIT:
            extent = known_index(axes[axis].bound) or 1
            divisors = [d for d in range(1, extent + 1) if extent % d == 0]
            exact = random.randrange(3) > 0
            factor = random.choice(divisors) if exact else random.choice(FACTORS)
            where = ("", "", "top") if exact else ("overlap", "overlap", "")
            chosen = random.choice(where)
            target = random.choice((*TARGETS, axes[axis].axis_type.data))
            return opt(kind, axis, factor, target.value, *([chosen] if chosen else ()))
        case OptOp.PADTO:
            clamp = ("clamp",) if random.randrange(2) else ()
            return opt(kind, axis, random.choice(FACTORS[1:]), *clamp)
        case OptOp.SWAP:
            return opt(kind, axis, random.choice(ids))
        case OptOp.ORDER:
            nest = [range.axis.data for range in closed_ranges(axes.nest(axes[axis]))]
            chosen = random.sample(nest, random.randint(1, len(nest)))
            reduced = [i for i in ids if axes[i] not in axes.ends]
            lead = [random.choice(reduced)] if reduced and random.randrange(3) == 0 else []
            return opt(kind, *lead, *chosen)
        case OptOp.MERGE:
            ends = [closed_ranges(end) for end in axes.ends.values()]
            pairs = [(a, b) for nest in ends for b, a in pairwise(nest)]
            if pairs and random.randrange(3):
                return opt(kind, *(range.axis.data for range in random.choice(pairs)))
            return opt(kind, axis, random.choice(ids))
        case OptOp.STAGE:
            slot = random.choice([param.slot.data for param in axes.params])
            return opt(kind, slot, axis, random.choice([s.value for s in AddrSpace]))
        case OptOp.PIPELINE:
            return opt(kind, _staged_axis(random, axes) or axis, random.randint(2, 4))
        case _:
            return opt(kind)


def _staged_axis(random: Random, axes: Axes) -> int | None:
    """The axis of a STAGE that the kernel has, if there is one."""
    applied = axes.kernel.sink.opts or ()
    staged = [each.arguments.data[1].data for each in applied if each.op.data == OptOp.STAGE]
    return int(random.choice(staged)) if staged else None


def is_small(axes: Axes, which: OptAttr) -> bool:
    """Whether a kernel can still be compiled in no time after an OptOp."""
    arguments = [argument.data for argument in which.arguments]
    if which.op.data != OptOp.SPLIT or AxisType(arguments[2]) not in EXPANDED:
        return True
    expanded = [r for r in axes.ranges.values() if r.axis_type.data in EXPANDED]
    sizes = [known_index(r.bound) or 1 for r in expanded if r.axis.data != arguments[0]]
    return math.prod(sizes) * int(arguments[1]) <= MAX_TILE


def random_opts(random: Random, axes: Axes, count: int) -> Iterator[OptAttr]:
    """Apply up to `count` random OptOps to a kernel, those that are legal; yields each."""
    before = axes.kernel.clone()
    for _ in range(12 * count):
        if not axes.ranges or count == 0:
            return
        which = random_opt(random, axes)
        if not is_small(axes, which):
            continue
        if try_opt(axes, which):
            yield which
            count -= 1
            before = axes.kernel.clone()
        else:
            assert axes.kernel.is_structurally_equivalent(before), (
                f"{spelled(which)} is illegal, and changes the kernel"
            )


@dataclass(frozen=True)
class RandomOptimizePass(LoweringPass):
    """Have a random schedule for each kernel. What is applied is noted in `applied`."""

    name = "tg-optimize"
    level_before = level_after = "kernels"

    random: Random
    applied: dict[str, Sequence[OptAttr]] = field(default_factory=dict[str, Sequence[OptAttr]])

    def lower(self, module: ModuleOp) -> None:
        constants = constant_slots(module)
        for kernel in list(module.ops):
            if not isinstance(kernel, KernelOp):
                continue
            name = kernel.sym_name.data
            kernel.sink.opts = ArrayAttr[OptAttr]([])
            axes = Axes(kernel, constants=constants.get(name, frozenset()))
            if any(known_index(range.bound) == 0 for range in axes.ranges.values()):
                continue  # What is empty has no schedule.
            begin_schedule(axes)
            found: list[OptAttr] = []
            self.applied[name] = found
            for which in random_opts(self.random, axes, self.random.randint(1, 7)):
                found.append(which)
            schedule_prepacking(axes, CPU)
            pass_packed({kernel: axes.prepacked})
            kernel.verify()
        simplify(module)

    def __str__(self) -> str:
        return "\n".join(
            f"@{name}: {'; '.join(map(spelled, opts))}" for name, opts in self.applied.items()
        )


@dataclass(frozen=True)
class ScheduledBuild(Build):
    """A program that is compiled with a pass in place of `tg-optimize`."""

    optimize: LoweringPass = field(default_factory=OptimizePass)

    @cached_property
    def passes(self) -> Stages:
        features = tuple(self.target.features.split(","))
        passes = stages(mode="explicit", features=features)
        return replace(passes, optimize=self.optimize)
