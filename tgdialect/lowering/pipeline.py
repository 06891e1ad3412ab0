"""The stages in order, and the pipelines that have names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.plan import PlanPass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.select import SelectPass
from tgdialect.transforms.simplify import SimplifyPass

AfterStage = Callable[[ModulePass, ModuleOp], None]


def stages(
    *,
    target: str = "cpu",
    mode: str = "none",
    features: tuple[str, ...] = (),
    optimize: type[OptimizePass] = OptimizePass,
) -> Sequence[ModulePass]:
    """The passes from the tensor level to the `llvm` dialect.

    Index arithmetic is simplified when ranges have just appeared, when OptOps have split them, and
    when select has flattened indices and added gates. `features` are what the target's processor
    has.
    """
    return (
        CallifyPass(),
        RangeifyPass(),
        SimplifyPass(),
        optimize(mode, features),
        *([] if mode == "none" else [SimplifyPass(loops=False)]),
        ExpandPass(),
        SelectPass(target, features),
        SimplifyPass(loops=False, selected=True),
        LinearizePass(),
        PlanPass(),
        RenderPass(target),
    )


def run_stages(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    after: AfterStage | None = None,
) -> None:
    """Apply passes in order; `after` sees the module after each one."""
    for stage in passes:
        stage.apply(ctx, module)
        if after is not None:
            after(stage, module)


@dataclass(frozen=True)
class ToLlvmPass(ModulePass):
    """All stages, from a program on tensors to the `llvm` dialect."""

    name = "tg-to-llvm"
    level_before = "tensor"
    level_after = "llvm"

    target: str = "cpu"
    mode: str = "none"

    def pipeline(self) -> Sequence[ModulePass]:
        """The passes that this one stands for: `tg-opt` runs, prints and times them one by one."""
        return stages(target=self.target, mode=self.mode)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run_stages(ctx, op, self.pipeline())
