"""Kernels of one INS, for tests of the tables of instructions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tgdialect.targets.instructions import InstructionForm


def dtypes_of(form: InstructionForm) -> list[str]:
    """A dtype for each operand and the result of a form."""
    kinds = [*form.signature.operands, *filter(None, [form.signature.result])]
    return [f"ui{kind[1:]}" if kind[1:].isdigit() and kind[0] == "b" else kind for kind in kinds]


def kernel_text(mnemonic: str, form: InstructionForm, cells: int = 37) -> str:
    """A program that calls a kernel, which executes an instruction for each cell of its last
    argument, or once if it has no result. A matrix instruction is executed by one warp."""
    if form.is_of_warp:
        return _warp_text(mnemonic, form)
    *operands, result = dtypes_of(form) if form.signature.result else [*dtypes_of(form), "ui32"]
    dtypes = [*operands, result]
    memory = [f"tensor<{cells}x{dtype}, #tg.place<global>>" for dtype in dtypes]
    host = [m.replace("<global>", '<"CPU", global>') for m in memory]
    lines = [f"%p{i} = tg.param {i} : {type}" for i, type in enumerate(memory)]
    lines += [f"%n = tg.const {cells} : tensor<index>"]
    lines += ["%r = tg.range 0 loop to %n : tensor<index>"]
    for i, dtype in enumerate(dtypes):
        cell = f"tensor<{dtype}, #tg.place<global>>"
        lines.append(f"%i{i} = tg.index %p{i}[%r] : ({memory[i]}, tensor<index>) -> {cell}")
        lines.append(f"%l{i} = tg.load %i{i} : {cell} -> tensor<{dtype}>")
    names = ", ".join(f"%l{i}" for i in range(len(operands)))
    types = ", ".join(f"tensor<{dtype}>" for dtype in operands)
    last, value, at = len(operands), "%x", f"%i{len(operands)}"
    if form.signature.result is None:
        lines.append(f'%x = tg.ins "{mnemonic}"({names}) : ({types}) -> !tg.void')
        value, at = f"%l{last}", "%after"
        cell = f"tensor<{result}, #tg.place<global>>"
        lines.append(f"%after = tg.after %i{last}, %x : ({cell}, !tg.void) -> {cell}")
    else:
        lines.append(f'%x = tg.ins "{mnemonic}"({names}) : ({types}) -> tensor<{result}>')
    lines += [
        f"%s = tg.store {at}, {value} : tensor<{result}, #tg.place<global>>, tensor<{result}>",
        "%e = tg.end %s over %r : !tg.void",
        "%k = tg.sink %e : !tg.void",
    ]
    return _program_text(lines, host)


def _warp_text(mnemonic: str, form: InstructionForm) -> str:
    """A program at level tiles: each work item of a warp has a row of each argument."""
    cells = [
        f"{count}x{dtype}"
        for (count,), dtype in zip(form.signature.shapes(()), dtypes_of(form), strict=True)
    ]
    lines = ["%n = tg.const 32 : tensor<index>", "%r = tg.range 0 warp to %n : tensor<index>"]
    for i, row in enumerate(cells):
        memory, place = f"tensor<32x{row}, #tg.place<global>>", f"tensor<{row}, #tg.place<global>>"
        lines += [
            f"%p{i} = tg.param {i} : {memory}",
            f"%i{i} = tg.index %p{i}[%r] : ({memory}, tensor<index>) -> {place}",
            f"%l{i} = tg.load %i{i} : {place} -> tensor<{row}>",
        ]
    *types, result = (f"tensor<{row}>" for row in cells)
    lines += [
        f'%x = tg.ins "{mnemonic}"(%l0, %l1, %l2) : ({", ".join(types)}) -> {result}',
        f"%s = tg.store %i3, %x : tensor<{cells[-1]}, #tg.place<global>>, {result}",
        "%e = tg.end %s over %r : !tg.void",
        "%k = tg.sink %e : !tg.void",
    ]
    return _program_text(lines, [f'tensor<32x{row}, #tg.place<"CPU", global>>' for row in cells])


def _program_text(lines: Sequence[str], host: Sequence[str]) -> str:
    """A program that calls a kernel with all of its arguments, of which the last is the output."""
    arguments = "".join(f"%a{i}: {type}, " for i, type in enumerate(host[:-1]))
    given = "".join(f"%a{i}, " for i in range(len(host) - 1))
    return "\n".join(
        [
            "tg.kernel @k {",
            *(f"  {line}" for line in lines),
            "}",
            f"func.func @main({arguments}%out: {host[-1]} {{tg.output}}) {{",
            f"  %0 = tg.call @k({given}%out) : ({', '.join(host)}) -> !tg.void",
            "  %1 = tg.sink %0 : !tg.void",
            "  func.return",
            "}",
        ]
    )


def operands_of(
    form: InstructionForm, random: np.random.Generator, cells: int = 37
) -> Sequence[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """Random bits, a part of them small numbers, zeros and ones in all places: counts of bits and
    positions are small."""
    found: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = []
    for kind in form.signature.operands:
        dtype = np.dtype(f"u{int(kind[1:]) // 8}")
        bits = (
            random.integers(0, 2 ** (8 * dtype.itemsize), cells, np.uint64, endpoint=False)
            if (dtype.itemsize < 8)
            else random.integers(0, 2**64 - 1, cells, np.uint64, endpoint=True)
        )
        small = random.integers(0, 70, cells, np.uint64)
        special = random.choice(np.array([0, 2**64 - 1, 2**63, 2**31], np.uint64), cells)
        choice = random.integers(0, 4, cells)
        found.append(np.select([choice < 2, choice == 2], [bits, small], special).astype(dtype))
    return found
