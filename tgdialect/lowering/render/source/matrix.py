"""WMMA of factors in memory as inline assembly: that of PTX in CUDA C++, tiles of a CPU in C."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tgdialect.lowering.render.ptx import (
    DESCRIBED,
    DESCRIPTOR_UNIT,
    descriptor_fields,
    multiply_local,
)
from tgdialect.lowering.render.source.builder import SourceBuilder
from tgdialect.lowering.render.source.expressions import (
    Precedence,
    Scalar,
    SourceValue,
    Vector,
    lanes_of,
)
from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.targets import tile_assembly
from tgdialect.targets.instructions import gnu
from tgdialect.targets.matrix import MatrixInstruction


def call_helper(
    builder: SourceBuilder, instruction: MatrixInstruction, sums: str, factors: Sequence[str]
) -> None:
    """A call of a helper on pointers to the factors and to the sums, which it adds to."""
    make = _tile_helper if instruction.fragments.threads == 1 else _local_helper
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
    dtype = DTYPES[TYPES[instruction.accumulator]]
    elements = range(len(lanes_of(sums)))
    return Vector(
        tuple(Scalar(f"{d}[{i}]", dtype, Precedence.POSTFIX, reads=True) for i in elements)
    )


_cuda = partial(gnu, has_dialects=False)
"""Inline assembly of CUDA C++."""


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
    lines += [
        f'  asm volatile("{_cuda(multiply_local(instruction))}"',
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
