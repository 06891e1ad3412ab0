"""Modules of the `llvm` dialect that may have been made for another CPU than this one."""

from __future__ import annotations

from collections.abc import Iterator, Set

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.hints import isa

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.targets.needed import features_of_assembly, features_of_intrinsic

_PROCESSOR = ("target_cpu", "tune_cpu", "target_features")
_PASSED_ON = ("target-cpu", "tune-cpu", "target-features")


def fit_code_to_host(module: ModuleOp, features: Set[str]) -> None:
    """Have the functions of a module compiled for a CPU with these features, whatever processor
    they say.

    Raises LLVMTranslationException at an op that needs another feature.
    """
    for op in nested_ops(module):
        for needed in _needed(op):
            if features.isdisjoint(alternatives := needed.split()):
                message = (
                    f"{op.name} needs the feature {' or '.join(alternatives)}, which this CPU "
                    "lacks; lower the program again from level kernels (tg-optimize) here"
                )
                raise locate(LLVMTranslationException(message), op)
        if isinstance(op, llvm.FuncOp):
            for said in (op.properties, op.attributes):
                for name in _PROCESSOR:
                    said.pop(name, None)
                if isa(passed := said.get("passthrough"), ArrayAttr[Attribute]):
                    said["passthrough"] = ArrayAttr(a for a in passed if not _is_processor(a))


def _needed(op: Operation) -> Iterator[str]:
    match op:
        case llvm.InlineAsmOp():
            yield from features_of_assembly(op.asm_string.data)
        case llvm.CallIntrinsicOp():
            yield from features_of_intrinsic(op.intrin.data)
        case llvm.CallOp() if op.callee is not None:
            yield from features_of_intrinsic(op.callee.string_value())
        case _:
            return


def _is_processor(attribute: Attribute) -> bool:
    match attribute:
        case ArrayAttr(data=(StringAttr(data=name), *_)):
            return name in _PASSED_ON
        case _:
            return False
