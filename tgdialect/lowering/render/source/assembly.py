"""INS as inline assembly: that of GNU C, which CUDA C++ has as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tgdialect.lowering.render.source.builder import SourceBuilder
from tgdialect.lowering.render.source.expressions import Scalar, SourceValue, Vector
from tgdialect.ops import tg
from tgdialect.ops.dtypes import DType
from tgdialect.ops.properties import dtype_of
from tgdialect.targets.instructions import InstructionForm, gnu


def assembly(
    builder: SourceBuilder,
    op: tg.InsOp,
    form: InstructionForm,
    operands: Sequence[Sequence[Scalar]],
) -> SourceValue | None:
    """The statement of an instruction on the lanes of its operands, and its result, a variable."""
    results: list[str] = []
    sources: list[str] = []
    clobbered: list[str] = []
    registers = _registers(builder, op, form, operands)
    name = "" if form.has_effect else builder.fresh(None, builder.numbered("t"))
    for constraint in form.constraints.split(",") if form.constraints else ():
        if constraint.startswith("="):
            element = f"[{len(results)}]" if form.is_of_warp else ""
            results.append(f'"{constraint}"({name}{element})')
        elif constraint.startswith("~"):
            clobbered.append('"cc"')
        else:
            sources.append(f'"{constraint}"({next(registers)})')
    if form.is_of_warp:
        builder.line(f"{builder.type_name(dtype_of(op.result))} {name}[{form.lanes}];")
    elif not form.has_effect:
        builder.line(f"{_type(builder, dtype_of(op.result), form.lanes)} {name};")
    has_dialects = builder.language.has_tiles
    keyword = "__asm__" if has_dialects else "asm"
    effect = " volatile" if form.has_effect or form.is_of_warp else ""
    parts = [f'"{gnu(form.text, has_dialects=has_dialects)}"', *map(", ".join, (results, sources))]
    parts += [", ".join(clobbered)] if clobbered else []
    builder.line(f"{keyword}{effect}({' : '.join(parts).rstrip(' :')});")
    if form.has_effect:
        return None
    dtype = dtype_of(op.result)
    if form.lanes == 1:
        return Scalar(name, dtype)
    return Vector(tuple(Scalar(f"{name}[{i}]", dtype) for i in range(form.lanes)))


def _registers(
    builder: SourceBuilder,
    op: tg.InsOp,
    form: InstructionForm,
    operands: Sequence[Sequence[Scalar]],
) -> Iterator[str]:
    """The operands of the statement: one for each operand, or for each 32 bits of a fragment."""
    for argument, lanes in zip(op.arguments, operands, strict=True):
        dtype = dtype_of(argument)
        if not form.is_of_warp:
            yield _register(builder, dtype, lanes, form.lanes)
        elif dtype.bits == 32:
            yield from (lane.text for lane in lanes)
        else:
            words = builder.array("w", lanes, builder.language.aligned.format(bytes=4))
            count = len(lanes) * dtype.bits // 32
            yield from (f"((const unsigned int *){words})[{i}]" for i in range(count))


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
