"""The dialect, passes and targets that every xDSL tool finds by the `xdsl.universe` entry point.

Each is a factory that imports its class when it is called, so that tools import only what they use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import XDSL_UNIVERSE, Universe

DIALECTS = {
    "tg": "tgdialect.dialect:TG",
    "tg_legacy": "tgdialect.legacy.dialect:TG_LEGACY",
    "nvvm": "tgdialect.gpu_dialect.nvvm:NVVM",
    "rocdl": "tgdialect.gpu_dialect.rocdl:ROCDL",
}

PASSES = {
    # tg -> tg, at one level
    "tg-annotate-properties": "tgdialect.transforms.annotate_properties:AnnotatePropertiesPass",
    "tg-check-barriers": "tgdialect.transforms.barriers:CheckBarriersPass",
    "tg-decompose": "tgdialect.transforms.decompose:DecomposePass",
    "tg-explicit-broadcast": "tgdialect.transforms.explicit_broadcast:ExplicitBroadcastPass",
    "tg-gradient": "tgdialect.transforms.gradient:GradientPass",
    "tg-shard": "tgdialect.transforms.shard:ShardPass",
    "tg-lower-shards": "tgdialect.transforms.shard:LowerShardsPass",
    "tg-raise-collectives": "tgdialect.transforms.shard:RaiseCollectivesPass",
    "tg-split-collectives": "tgdialect.transforms.shard:SplitCollectivesPass",
    "tg-shard-to-mesh": "tgdialect.transforms.shard:ShardToMeshPass",
    "tg-simplify": "tgdialect.transforms.simplify:SimplifyPass",
    # from the older vocabularies
    "tg-upgrade-legacy": "tgdialect.legacy.upgrade.stage:UpgradeLegacyPass",
    # the stages
    "tg-callify": "tgdialect.lowering.callify:CallifyPass",
    "tg-rangeify": "tgdialect.lowering.rangeify:RangeifyPass",
    "tg-optimize": "tgdialect.runtime.devices.optimize:DeviceOptimizePass",
    "tg-tc": "tgdialect.lowering.optimize.optops.passes:TcPass",
    "tg-split": "tgdialect.lowering.optimize.optops.passes:SplitPass",
    "tg-padto": "tgdialect.lowering.optimize.optops.passes:PadToPass",
    "tg-swap": "tgdialect.lowering.optimize.optops.passes:SwapPass",
    "tg-order": "tgdialect.lowering.optimize.optops.passes:OrderPass",
    "tg-nolocals": "tgdialect.lowering.optimize.optops.passes:NoLocalsPass",
    "tg-merge": "tgdialect.lowering.optimize.optops.passes:MergePass",
    "tg-stage": "tgdialect.lowering.optimize.optops.passes:StagePass",
    "tg-pipeline": "tgdialect.lowering.optimize.optops.passes:SoftwarePipelinePass",
    "tg-expand": "tgdialect.lowering.expand:ExpandPass",
    "tg-select": "tgdialect.lowering.select:SelectPass",
    "tg-linearize": "tgdialect.lowering.linearize:LinearizePass",
    "tg-plan": "tgdialect.lowering.plan:PlanPass",
    "tg-assemble": "tgdialect.runtime.assemble:AssemblePass",
    "tg-render": "tgdialect.lowering.render:RenderPass",
    "tg-to-gpu": "tgdialect.lowering.pipeline:ToGpuPass",
    "tg-to-llvm": "tgdialect.runtime.pipeline:MeasuringToLlvmPass",
    "tg-to-source": "tgdialect.runtime.pipeline:MeasuringToSourcePass",
    "tg-verify": "tgdialect.lowering.verify:VerifyLevelPass",
}

TARGETS = {
    "amdgcn": "tgdialect.backends.asm:AmdgcnTarget",
    "asm": "tgdialect.backends.asm:AsmTarget",
    "c": "tgdialect.backends.sources:CTarget",
    "cuda": "tgdialect.backends.sources:CudaTarget",
    "metal": "tgdialect.backends.sources:MetalTarget",
    "opencl": "tgdialect.backends.sources:OpenClTarget",
    "ptx": "tgdialect.backends.asm:PtxTarget",
    "uops": "tgdialect.legacy.listing.printer:UopsTarget",
}
"""Targets that xDSL does not have."""

EXTENDED_DIALECTS = {
    "gpu": "tgdialect.gpu_dialect:GPU_WITH_GAPS",
    "llvm": "tgdialect.llvm_dialect:LLVM_WITH_GAPS",
    "shard": "tgdialect.shard_dialect:SHARD_WITH_GAPS",
}
EXTENDED_TARGETS = {"llvm": "tgdialect.backends.llvm_ir:LlvmIrTarget"}
"""Supersets of xDSL's dialects, and of its target, of the same names."""


def _factory(path: str) -> Callable[[], Any]:
    """A function that imports `module:name` when it is called."""
    module, name = path.split(":")
    return lambda: getattr(import_module(module), name)


def _factories(paths: dict[str, str]) -> dict[str, Callable[[], Any]]:
    return {name: _factory(path) for name, path in paths.items()}


TG_UNIVERSE = Universe(
    all_dialects=_factories(DIALECTS),
    all_passes=_factories(PASSES),
    all_targets=_factories(TARGETS),
)

# A universe may not have a name that another one has, and MLIR's names are the ones to print: the
# supersets take their places in xDSL's universe. Every tool loads all universes, then reads them.
XDSL_UNIVERSE.all_dialects |= _factories(EXTENDED_DIALECTS)
XDSL_UNIVERSE.all_targets |= _factories(EXTENDED_TARGETS)
