"""Ops that are instructions, on a target that may lack them: an INS that names one, and programs
that were lowered for another target."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.ops import tg
from tgdialect.targets import MOST, Target
from tgdialect.targets.cpu import SCALES, feature_of
from tgdialect.targets.instructions import TABLES, InstructionForm, forms, instructions, vendor
from tgdialect.targets.matrix import instruction_of


def lacking(op: Operation, target: Target) -> str:
    """The end of an error about an op that a target has no instruction for: the feature that brings
    the instruction, and the pass that chooses what a target has. Empty for other ops."""
    match op:
        case tg.WmmaOp():
            types = tg.dtype_of(op.a).name, tg.dtype_of(op.result).name
            there_is = instruction_of(MOST[target.name], op.config, *types)
            feature = there_is and feature_of("matrix", there_is.name)
            stage, level = "tg-optimize", "kernels"
        case tg.Exp2Op() | tg.ExpOp() | tg.GateOp() if not target.is_grid:
            feature, stage, level = SCALES, "tg-select", "tiles"
        case _:
            return ""
    if not feature:
        return ""
    return (
        f": it needs the feature {feature}, which this target lacks; lower the program again from "
        f"level {level} ({stage}) for this target"
    )


def forms_of(op: tg.InsOp, target: Target) -> Sequence[InstructionForm]:
    """The forms that a target has of an instruction, for the dtypes of an INS; those of the most
    lanes first. Raises PassFailedException if it has none."""
    name, signature = op.instruction, op.signature
    found = [form for form in forms(target, name) if form.signature == signature]
    if found and op.target in (target.name, vendor(target.name)):
        return found
    there_are = f"the target {target.name} has: {', '.join(instructions(target)) or 'none'}"
    if op.target not in (target.name, vendor(target.name)):
        raise PassFailedException(f"{op.mnemonic} is an instruction of {op.target}; {there_are}")
    rows = TABLES[vendor(op.target)][name]
    needs = {" and ".join(sorted(row.needs)): None for row in rows if row.signature == signature}
    raise PassFailedException(f"{op.mnemonic} needs {' or '.join(needs)}; {there_are}")
