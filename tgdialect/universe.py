"""The dialect, passes, targets and languages of this package, and the plug-ins in it.

Every xDSL tool finds them by the `xdsl.universe` entry point. Each is a factory that imports its
class when it is called, so that tools import only what they use.
"""

from __future__ import annotations

from xdsl.universe import XDSL_UNIVERSE

from tgdialect.plugin import Plugin, factories, merged, named

PLUGINS = {
    "legacy": "tgdialect.legacy.plugin:PLUGIN",
    "onnx": "tgdialect.interop.onnx.plugin:PLUGIN",
    "torch": "tgdialect.interop.torch.plugin:PLUGIN",
}
"""The plug-ins of this package, by name: nothing else of it names one."""

DIALECTS = {
    "tg": "tgdialect.dialect:TG",
    "nvvm": "tgdialect.gpu_dialect.nvvm:NVVM",
    "rocdl": "tgdialect.gpu_dialect.rocdl:ROCDL",
}

PASSES = {
    # tg -> tg, at one level
    "tg-annotate-properties": "tgdialect.transforms.annotate_properties:AnnotatePropertiesPass",
    "tg-check-barriers": "tgdialect.transforms.barriers:CheckBarriersPass",
    "tg-choose-sorts": "tgdialect.transforms.choose_sorts:ChooseSortsPass",
    "tg-decompose": "tgdialect.transforms.decompose:DecomposePass",
    "tg-error-bound": "tgdialect.transforms.error_bound:ErrorBoundPass",
    "tg-explicit-broadcast": "tgdialect.transforms.explicit_broadcast:ExplicitBroadcastPass",
    "tg-gradient": "tgdialect.transforms.gradient:GradientPass",
    "tg-reroll": "tgdialect.transforms.reroll:RerollPass",
    "tg-shard": "tgdialect.transforms.shard.propagate:ShardPass",
    "tg-lower-shards": "tgdialect.transforms.shard.lower:LowerShardsPass",
    "tg-raise-collectives": "tgdialect.transforms.shard.raise_collectives:RaiseCollectivesPass",
    "tg-split-collectives": "tgdialect.transforms.shard.split:SplitCollectivesPass",
    "tg-shard-to-mesh": "tgdialect.transforms.shard.mesh:ShardToMeshPass",
    "tg-simplify": "tgdialect.transforms.simplify:SimplifyPass",
    # the stages
    "tg-callify": "tgdialect.lowering.callify:CallifyPass",
    "tg-rangeify": "tgdialect.lowering.rangeify:RangeifyPass",
    "tg-demote-f64": "tgdialect.lowering.rangeify.demote_f64:DemoteF64Pass",
    "tg-relax-maxima": "tgdialect.lowering.rangeify.relax_maxima:RelaxMaximaPass",
    "tg-copy-non-contiguous": (
        "tgdialect.lowering.rangeify.copy_non_contiguous:CopyNonContiguousPass"
    ),
    "tg-split-residues": "tgdialect.lowering.rangeify.split_residues:SplitResiduesPass",
    "tg-store-before-movement": (
        "tgdialect.lowering.rangeify.store_before_movement:StoreBeforeMovementPass"
    ),
    "tg-split-reductions": "tgdialect.lowering.rangeify.split_reductions:SplitReductionsPass",
    "tg-plan-fusion": "tgdialect.lowering.rangeify.plan_fusion:PlanFusionPass",
    "tg-build-kernels": "tgdialect.lowering.rangeify.build_kernels:BuildKernelsPass",
    "tg-optimize": "tgdialect.lowering.optimize:OptimizePass",
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
    "tg-to-llvm": "tgdialect.lowering.pipeline:ToLlvmPass",
    "tg-to-source": "tgdialect.lowering.pipeline:ToSourcePass",
    "tg-verify": "tgdialect.lowering.verify:VerifyLevelPass",
}

TARGETS = {
    "amdgcn": "tgdialect.backends.asm:AmdgcnTarget",
    "asm": "tgdialect.backends.asm:AsmTarget",
    "ptx": "tgdialect.backends.asm:PtxTarget",
}
"""Targets that xDSL does not have."""

MACHINE_CODE = {
    "cubin": "tgdialect.runtime.machine_code:CubinTarget",
    "hsaco": "tgdialect.runtime.machine_code:HsacoTarget",
    "obj": "tgdialect.runtime.machine_code:ObjectTarget",
    "so": "tgdialect.runtime.machine_code:SharedLibraryTarget",
}
"""Targets that are bytes, of our own tools only: xDSL's driver writes text."""

LANGUAGES = {
    "c": "tgdialect.lowering.render.source.languages:C",
    "opencl": "tgdialect.lowering.render.source.languages:OPENCL",
    "cuda": "tgdialect.lowering.render.source.languages:CUDA",
    "metal": "tgdialect.lowering.render.source.languages:METAL",
}
"""C-like languages, each of which is a target as well."""

TIMER = "tgdialect.runtime.optimize:search"
"""The timer of `tg-optimize`, whose mode `beam` finds it here: it is above the pass."""

INTERPRETER = "tgdialect.interpreter:run"
"""The interpreter, which `compile` finds here for the target of that name."""

CHECK = "tgdialect.actions.check:checked"
"""Makes an executable that is compared with the interpreter, for `compile(check=True)`."""

EXTENDED_DIALECTS = {
    "gpu": "tgdialect.gpu_dialect:GPU_WITH_GAPS",
    "llvm": "tgdialect.llvm_dialect:LLVM_WITH_GAPS",
    "shard": "tgdialect.shard_dialect:SHARD_WITH_GAPS",
}
EXTENDED_TARGETS = {"llvm": "tgdialect.backends.llvm_ir:LlvmIrTarget"}
"""Supersets of xDSL's dialects, and of its target, of the same names."""


OWN = Plugin(
    all_dialects=factories(DIALECTS),
    all_passes=factories(PASSES),
    all_targets=factories(TARGETS),
    all_languages=factories(LANGUAGES),
)
"""This package without the plug-ins in it."""

BYTES = Plugin(all_targets=factories(MACHINE_CODE))
"""The formats that only our own tools offer."""

TG_UNIVERSE = merged({"tgdialect": OWN} | {name: named(path) for name, path in PLUGINS.items()})

# A universe may not have a name that another one has, and MLIR's names are the ones to print: the
# supersets take their places in xDSL's universe. Every tool loads all universes, then reads them.
XDSL_UNIVERSE.all_dialects |= factories(EXTENDED_DIALECTS)
XDSL_UNIVERSE.all_targets |= factories(EXTENDED_TARGETS)
