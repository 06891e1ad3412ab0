"""The stages in order, and the pipelines that have names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import running
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.levels import KernelPass, LoweringPass, is_before
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.plan import PlanPass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.select import SelectPass
from tgdialect.targets import source_language

AfterStage = Callable[[LoweringPass, ModuleOp], None]


@dataclass(frozen=True)
class Stages:
    """The eight stages: those that see the whole module, the one that schedules its kernels, those
    that take each kernel and function by itself, and the last one, which leaves the dialect."""

    module: Sequence[LoweringPass]
    optimize: LoweringPass | None
    kernels: Sequence[KernelPass]
    render: RenderPass | None

    def __iter__(self) -> Iterator[LoweringPass]:
        yield from self.module
        if self.optimize is not None:
            yield self.optimize
        yield from self.kernels
        if self.render is not None:
            yield self.render

    def from_level(self, level: str) -> Stages:
        """The stages that take a module at a level or a later one."""

        def is_to_come(stage: LoweringPass | None) -> bool:
            return stage is not None and not is_before(stage.level_before, level)

        return Stages(
            [stage for stage in self.module if is_to_come(stage)],
            self.optimize if is_to_come(self.optimize) else None,
            [stage for stage in self.kernels if is_to_come(stage)],
            self.render if is_to_come(self.render) else None,
        )


def stages(
    *,
    target: str | None = None,
    mode: str = "none",
    features: tuple[str, ...] = (),
    threads: int | None = None,
    l2: int | None = None,
    opts: tuple[str, ...] = (),
    cache: int | None = None,
    output: str | None = None,
    device: str | None = None,
) -> Stages:
    """The eight stages from the tensor level to the `llvm` dialect.

    `features` are what the target's processor has. The other options are those of the stages.
    """
    return Stages(
        module=(CallifyPass(device, target), RangeifyPass(target)),
        optimize=OptimizePass(mode, features, threads, l2, opts, target, device),
        kernels=(ExpandPass(), SelectPass(target, features), LinearizePass(), PlanPass()),
        render=RenderPass(target, cache, output),
    )


def run_stages(
    module: ModuleOp, passes: Iterable[LoweringPass], after: AfterStage | None = None
) -> None:
    """Lower a module through passes in order; `after` sees it after each one.

    The level is not checked; `LoweringPass.apply` checks it.
    """
    for stage in passes:
        with running(stage, module) as is_allowed:
            if is_allowed:
                stage.lower(module)
        if after is not None:
            after(stage, module)


@dataclass(frozen=True)
class ToLlvmPass(LoweringPass):
    """All stages, from a program on tensors to the `llvm` dialect."""

    name = "tg-to-llvm"
    level_before = "tensor"
    level_after = "llvm"

    target: str | None = None
    """Passed to `tg-callify`, `tg-rangeify`, `tg-optimize`, `tg-select` and `tg-render`."""
    mode: str = "none"
    """Passed to `tg-optimize`."""
    features: tuple[str, ...] = ()
    """Passed to `tg-optimize` and `tg-select`."""
    threads: int | None = None
    """Passed to `tg-optimize`."""
    l2: int | None = None
    """Passed to `tg-optimize`."""
    opts: tuple[str, ...] = ()
    """Passed to `tg-optimize`."""
    cache: int | None = None
    """Passed to `tg-render`."""

    def pipeline(self) -> Sequence[LoweringPass]:
        """The passes that this one stands for: `tg-opt` runs, prints and times them one by one."""
        return tuple(stages(**{field.name: getattr(self, field.name) for field in fields(self)}))

    def lower(self, module: ModuleOp) -> None:
        run_stages(module, self.pipeline())


@dataclass(frozen=True)
class ToSourcePass(ToLlvmPass):
    """All stages, from a program on tensors to programs with a SOURCE in a C-like language.

    `-t c`, `-t opencl`, `-t cuda` or `-t metal` prints it.
    """

    name = "tg-to-source"
    level_after = "planned"

    target: str | None = "c"
    """Passed to `tg-callify`, `tg-rangeify`, `tg-optimize`, `tg-select` and `tg-render`."""
    output: str | None = None
    """Passed to `tg-render`: by default the language of the target."""

    def pipeline(self) -> Sequence[LoweringPass]:
        output = self.output or source_language(self.target or "c")
        return ToLlvmPass.pipeline(replace(self, output=output))


@dataclass(frozen=True)
class ToGpuPass(ToLlvmPass):
    """All stages, from a program on tensors to kernels in the `gpu` dialect, for NVIDIA or AMD.

    The `gpu.module` has a kernel for each program; functions launch them by `gpu.launch_func`.
    """

    name = "tg-to-gpu"

    target: str | None = "nvidia:sm_90"
    """Passed to `tg-callify`, `tg-rangeify`, `tg-optimize`, `tg-select` and `tg-render`."""
    output: str | None = "gpu"
    """Passed to `tg-render`."""
