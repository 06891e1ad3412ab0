"""WMMA as inline assembly: `mma.sync`, `ldmatrix` and `wgmma` in CUDA C++, tiles of a CPU in C."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tgdialect.lowering.render.ptx import (
    DESCRIBED,
    DESCRIPTOR_UNIT,
    descriptor_fields,
    mma_registers,
    mma_sync,
    multiply_local,
    to_tf32,
)
from tgdialect.lowering.render.source.builder import SourceBuilder
from tgdialect.lowering.render.source.expressions import Precedence, Scalar, Value, Vector, lanes_of
from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.targets import tile_assembly
from tgdialect.targets.instructions import gnu
from tgdialect.targets.matrix import MatrixInstruction


def multiply_matrices(
    builder: SourceBuilder, instruction: MatrixInstruction, fragments: Sequence[Value]
) -> Value:
    """A call of a helper on arrays of the fragments: the one of C becomes the result."""
    aligned = builder.language.aligned.format(bytes=4)
    a, b = (
        _array(builder, letter, factor, aligned)
        for letter, factor in zip("ab", fragments, strict=False)
    )
    return multiply_in_place(builder, instruction, (a, b), fragments[2])


def call_helper(
    builder: SourceBuilder, instruction: MatrixInstruction, sums: str, factors: Sequence[str]
) -> None:
    """A call of a helper on pointers to the factors and to the sums, which it adds to."""
    if instruction.fragments.threads == 1:
        make = _tile_helper
    else:
        make = _local_helper if instruction.reads_local else _helper
    helper = f"tg_{instruction.name.replace('.', '_')}"
    if helper not in builder.helpers:
        builder.helpers[helper] = f"{builder.language.helper}{make(instruction, helper)}"
    builder.line(f"{helper}({sums}, {', '.join(factors)});")


def multiply_in_place(
    builder: SourceBuilder, instruction: MatrixInstruction, factors: Sequence[str], sums: Value
) -> Value:
    """A call of a helper on pointers to the factors and a new array of the fragment of C."""
    d = _array(builder, "d", sums)
    call_helper(builder, instruction, d, factors)
    dtype = DTYPES[TYPES[instruction.accumulator]]
    elements = range(len(lanes_of(sums)))
    return Vector(
        tuple(Scalar(f"{d}[{i}]", dtype, Precedence.POSTFIX, reads=True) for i in elements)
    )


def _array(builder: SourceBuilder, letter: str, fragment: Value, qualifier: str = "") -> str:
    """The name of a new array of the elements of a fragment."""
    lanes = lanes_of(fragment)
    name = builder.fresh(None, builder.numbered(letter))
    values = ", ".join(lane.text for lane in lanes)
    type = builder.type_name(lanes[0].dtype)
    builder.line(f"{qualifier}{type} {name}[{len(lanes)}] = {{{values}}};")
    return name


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


def _helper(instruction: MatrixInstruction, name: str) -> str:
    a, b, c = mma_registers(instruction)
    words = [f"((const unsigned int *)a)[{i}]" for i in range(a)]
    words += [f"((const unsigned int *)b)[{i}]" for i in range(b)]
    lines = [f"void {name}(float *d, const void *a, const void *b) {{"]
    if instruction.rounds:
        lines.append(f"  unsigned int x[{a + b}];")
        for i, word in enumerate(words):
            value = f"__uint_as_float({word})"
            lines.append(f'  asm("{_cuda(to_tf32())}" : "=r"(x[{i}]) : "f"({value}));')
        words = [f"x[{i}]" for i in range(a + b)]
    results = ", ".join(f'"+f"(d[{i}])' for i in range(c))
    factors = ", ".join(f'"r"({word})' for word in words)
    lines += [
        f'  asm volatile("{_cuda(mma_sync(instruction))}"',
        f"               : {results}",
        f"               : {factors});",
        "}",
    ]
    return "\n".join(lines)
