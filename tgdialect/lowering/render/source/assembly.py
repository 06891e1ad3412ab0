"""INS as inline assembly: that of GNU C, which CUDA C++ has as well."""

from __future__ import annotations

from collections.abc import Sequence

from tgdialect.lowering.render.source.builder import SourceBuilder
from tgdialect.lowering.render.source.expressions import Scalar, Value, Vector
from tgdialect.ops.codegen import InsOp
from tgdialect.ops.dtypes import DType
from tgdialect.ops.properties import dtype_of
from tgdialect.targets.instructions import InstructionForm, gnu


def assembly(
    builder: SourceBuilder, op: InsOp, form: InstructionForm, operands: Sequence[Sequence[Scalar]]
) -> Value | None:
    """The statement of an instruction on the lanes of its operands, and its result, a variable."""
    results: list[str] = []
    sources: list[str] = []
    clobbered: list[str] = []
    name = "" if form.has_effect else builder.fresh(None, builder.numbered("t"))
    values = zip(op.arguments, operands, strict=True)
    for constraint in form.constraints.split(",") if form.constraints else ():
        if constraint.startswith("="):
            results.append(f'"{constraint}"({name})')
        elif constraint.startswith("~"):
            clobbered.append('"cc"')
        else:
            argument, lanes = next(values)
            value = _register(builder, dtype_of(argument), lanes, form.lanes)
            sources.append(f'"{constraint}"({value})')
    if not form.has_effect:
        builder.line(f"{_type(builder, dtype_of(op.result), form.lanes)} {name};")
    has_dialects = builder.language.has_tiles
    keyword = "__asm__" if has_dialects else "asm"
    effect = " volatile" if form.has_effect else ""
    parts = [f'"{gnu(form.text, has_dialects=has_dialects)}"', *map(", ".join, (results, sources))]
    parts += [", ".join(clobbered)] if clobbered else []
    builder.line(f"{keyword}{effect}({' : '.join(parts).rstrip(' :')});")
    if form.has_effect:
        return None
    dtype = dtype_of(op.result)
    if form.lanes == 1:
        return Scalar(name, dtype)
    return Vector(tuple(Scalar(f"{name}[{i}]", dtype) for i in range(form.lanes)))


def _type(builder: SourceBuilder, dtype: DType, lanes: int) -> str:
    """The type of a register: a scalar, or a vector of GNU C."""
    scalar = builder.type_name(dtype)
    if lanes == 1:
        return scalar
    return f"{scalar} __attribute__((vector_size({lanes * dtype.itemsize})))"


def _register(builder: SourceBuilder, dtype: DType, lanes: Sequence[Scalar], count: int) -> str:
    if count == 1:
        return builder.cast(lanes[0], dtype).text
    return f"({_type(builder, dtype, count)}){{{', '.join(lane.text for lane in lanes)}}}"
