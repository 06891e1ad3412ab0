"""Inline assembly: that of GNU C, which CUDA C++ has as well.

INS, and WMMA of factors in memory: by PTX in CUDA C++, by the tiles of a CPU in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tgdialect.lowering.render.ptx import (
    DESCRIBED,
    DESCRIPTOR_UNIT,
    descriptor_fields,
    multiply_local,
)
from tgdialect.lowering.render.source.builder import (
    Precedence,
    Scalar,
    SourceBuilder,
    SourceValue,
    Vector,
    lanes_of,
)
from tgdialect.ops import tg
from tgdialect.targets import tile_assembly
from tgdialect.targets.cpu import DOT_ASSEMBLY, DOT_LANES
from tgdialect.targets.instructions import InstructionForm, gnu
from tgdialect.targets.matrix import MatrixInstruction


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
        builder.line(f"{builder.type_name(tg.dtype_of(op.result))} {name}[{form.lanes}];")
    elif not form.has_effect:
        builder.line(f"{_type(builder, tg.dtype_of(op.result), form.lanes)} {name};")
    has_dialects = builder.language.has_tiles
    keyword = "__asm__" if has_dialects else "asm"
    effect = " volatile" if form.has_effect or form.is_of_warp else ""
    parts = [f'"{gnu(form.text, has_dialects=has_dialects)}"', *map(", ".join, (results, sources))]
    parts += [", ".join(clobbered)] if clobbered else []
    builder.line(f"{keyword}{effect}({' : '.join(parts).rstrip(' :')});")
    if form.has_effect:
        return None
    dtype = tg.dtype_of(op.result)
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
        dtype = tg.dtype_of(argument)
        if not form.is_of_warp:
            yield _register(builder, dtype, lanes, form.lanes)
        elif dtype.bits == 32:
            yield from (lane.text for lane in lanes)
        else:
            words = builder.array("w", lanes, builder.language.aligned.format(bytes=4))
            count = len(lanes) * dtype.bits // 32
            yield from (f"((const unsigned int *){words})[{i}]" for i in range(count))


def _type(builder: SourceBuilder, dtype: tg.DType, lanes: int) -> str:
    """The type of a register: a scalar, or a vector of GNU C."""
    scalar = builder.type_name(dtype)
    if lanes == 1:
        return scalar
    return f"{scalar} __attribute__((vector_size({lanes * dtype.itemsize})))"


def _register(builder: SourceBuilder, dtype: tg.DType, lanes: Sequence[Scalar], count: int) -> str:
    if count == 1:
        return builder.cast(lanes[0], dtype).text
    return f"({_type(builder, dtype, count)}){{{', '.join(lane.text for lane in lanes)}}}"


def call_helper(
    builder: SourceBuilder, instruction: MatrixInstruction, sums: str, factors: Sequence[str]
) -> None:
    """A call of a helper on pointers to the factors and to the sums, which it adds to."""
    of_cpu = _tile_helper if instruction.has_tiles else _dots_helper
    make = of_cpu if instruction.fragments.threads == 1 else _local_helper
    helper = f"tg_{instruction.name.replace('.', '_')}"
    if helper not in builder.helpers:
        builder.helpers[helper] = f"{builder.language.helper}{make(instruction, helper)}"
    builder.line(f"{helper}({sums}, {', '.join(factors)});")


def multiply_in_place(
    builder: SourceBuilder,
    instruction: MatrixInstruction,
    factors: Sequence[str],
    sums: SourceValue,
) -> SourceValue:
    """A call of a helper on pointers to the factors and a new array of the fragment of C."""
    d = builder.array("d", lanes_of(sums))
    call_helper(builder, instruction, d, factors)
    dtype = tg.DTYPES[tg.TYPES[instruction.accumulator]]
    elements = range(len(lanes_of(sums)))
    return Vector(
        tuple(Scalar(f"{d}[{i}]", dtype, Precedence.POSTFIX, reads=True) for i in elements)
    )


def _local_helper(instruction: MatrixInstruction, name: str) -> str:
    """A helper on pointers to LOCAL memory."""
    *_, (count,) = instruction.fragments.config.operand_shapes
    results = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    lines = [f"void {name}(float *d, const void *a, const void *b) {{"]
    for letter in "ab":
        address = f"(unsigned long long)__cvta_generic_to_shared({letter})"
        if instruction.is_asynchronous:
            fields = descriptor_fields(instruction, letter)
            address = f"({address} & {DESCRIBED - 1}) / {DESCRIPTOR_UNIT} | {fields}ULL"
        lines.append(f"  unsigned long long {letter}_operand = {address};")
    text = gnu(multiply_local(instruction), has_dialects=False)
    lines += [
        f'  asm volatile("{text}"',
        f"               : {results}",
        '               : "l"(a_operand), "l"(b_operand) : "memory");',
        "}",
    ]
    return "\n".join(lines)


def _tile_helper(_: MatrixInstruction, name: str) -> str:
    """A helper for tile registers of a CPU, which it configures and gives up again."""
    sums, factors = '"r"(d), "r"(sums_stride)', '"r"(a), "r"(b), "r"(a_stride), "r"(b_stride)'
    steps: Sequence[tuple[Sequence[str], str]] = (
        (tile_assembly.configure(), '"r"(sizes)'),
        (tile_assembly.load_sums(), sums),
        (tile_assembly.multiply_add(), factors),
        (tile_assembly.store_sums(), sums),
        (tile_assembly.RELEASE, ""),
    )
    lines = [
        f"void {name}(float *d, const void *a, const void *b) {{",
        f"  char sizes[{tile_assembly.CONFIGURATION}] = {{0}};",
        f"  long long sums_stride = {tile_assembly.SUMS_STRIDE};",
        f"  long long a_stride = {tile_assembly.A_STRIDE}, b_stride = {tile_assembly.B_STRIDE};",
    ]
    for instructions, operands in steps:
        text = gnu("\\n".join(instructions), has_dialects=True)
        lines.append(f'  __asm__ volatile("{text}" :: {operands} : "memory");')
    return "\n".join([*lines, "}"])


def _dots_helper(instruction: MatrixInstruction, name: str) -> str:
    """A helper for vectors of sums, to which dot products of pairs of steps are added."""
    rows, columns, steps = instruction.fragments.dims
    columns, steps = columns // DOT_LANES, steps // 2
    vector = f"__attribute__((vector_size({4 * DOT_LANES}), aligned(4), may_alias))"
    text = gnu(DOT_ASSEMBLY, has_dialects=True)
    return f"""void {name}(float *d, const void *a, const void *b) {{
  typedef float sums {vector};
  typedef int words {vector};
  typedef int word __attribute__((may_alias));
  const word *pairs = a;
  for (int row = 0; row < {rows}; row++)
    for (int step = 0; step < {steps}; step++)
      for (int i = 0; i < {columns}; i++) {{
        words factor = (words){{0}} + pairs[row * {steps} + step];
        words column = ((const words *)b)[step * {columns} + i];
        sums sum = ((sums *)d)[row * {columns} + i];
        __asm__("{text}" : "+v"(sum) : "v"(factor), "v"(column));
        ((sums *)d)[row * {columns} + i] = sum;
      }}
}}"""
