"""WMMA in CUDA C++: `mma.sync` as inline assembly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from tgdialect.lowering.render.ptx import mma_registers, mma_sync, to_tf32
from tgdialect.lowering.render.source.builder import SourceBuilder
from tgdialect.lowering.render.source.expressions import Precedence, Scalar, Value, Vector, lanes_of
from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.targets.matrix import MatrixInstruction


def multiply_matrices(
    builder: SourceBuilder, instruction: MatrixInstruction, fragments: Sequence[Value]
) -> Value:
    """A call of a helper on arrays of the fragments: the one of C becomes the result."""
    names: list[str] = []
    for letter, fragment in zip("abd", fragments, strict=True):
        lanes = lanes_of(fragment)
        name = builder.fresh(None, (f"{letter}{n}" for n in count()))
        names.append(name)
        type = builder.type_name(lanes[0].dtype)
        values = ", ".join(lane.text for lane in lanes)
        aligned = builder.language.aligned.format(bytes=4) if letter != "d" else ""
        builder.line(f"{aligned}{type} {name}[{len(lanes)}] = {{{values}}};")
    a, b, d = names
    helper = "mma_" + "_".join(instruction.name.split(".")[1:])
    builder.helpers.setdefault(helper, f"static __device__ inline {_helper(instruction, helper)}")
    builder.line(f"{helper}({d}, {a}, {b});")
    dtype = DTYPES[TYPES[instruction.accumulator]]
    elements = range(len(lanes_of(fragments[2])))
    return Vector(
        tuple(Scalar(f"{d}[{i}]", dtype, Precedence.POSTFIX, reads=True) for i in elements)
    )


def _helper(instruction: MatrixInstruction, name: str) -> str:
    a, b, c = mma_registers(instruction)
    words = [f"((const unsigned int *)a)[{i}]" for i in range(a)]
    words += [f"((const unsigned int *)b)[{i}]" for i in range(b)]
    lines = [f"void {name}(float *d, const void *a, const void *b) {{"]
    if instruction.rounds:
        lines.append(f"  unsigned int x[{a + b}];")
        for i, word in enumerate(words):
            value = f"__uint_as_float({word})"
            lines.append(f'  asm("{to_tf32("%")}" : "=r"(x[{i}]) : "f"({value}));')
        words = [f"x[{i}]" for i in range(a + b)]
    results = ", ".join(f'"+f"(d[{i}])' for i in range(c))
    factors = ", ".join(f'"r"({word})' for word in words)
    lines += [
        f'  asm volatile("{mma_sync(instruction, "%")}"',
        f"               : {results}",
        f"               : {factors});",
        "}",
    ]
    return "\n".join(lines)
