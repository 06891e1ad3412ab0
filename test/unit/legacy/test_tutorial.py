"""The tutorial's listings: they parse, verify and run, and the upcast of one gives the other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect.diagnostics import verify_module
from tgdialect.legacy.upgrade.stage import upgrade
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.levels import level_of
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.optimize.optops.passes import SplitPass
from tgdialect.lowering.select import SelectPass
from tgdialect.ops.codegen import ProgramOp
from tgdialect.registry import make_context, parse_program, read_program
from tgdialect.transforms.simplify import SimplifyPass

FOLDER = Path(__file__).parents[3] / "examples" / "upcast"
TYPES = {"int": np.int32, "float": np.float32}


def read(path: Path) -> ModuleOp:
    module = parse_program(make_context(), read_program(str(path)))
    verify_module(module)
    return module


def arguments(n: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1, n + 1, dtype=dtype), np.arange(5, n + 5, dtype=dtype)


def head(dtype: str) -> list[str]:
    pointers = [
        f"{i} UOps.DEFINE_GLOBAL : ptr.dtypes.{dtype} [] ({i}, 'data{i}', {not i})"
        for i in range(3)
    ]
    zero = "0.0" if dtype == "float" else "0"
    return [*pointers, f"3 UOps.DEFINE_ACC : dtypes.{dtype} [] {zero}", "4 UOps.CONST : [] 0"]


def looped(n: int, dtype: str) -> str:
    """The tutorial's second listing, for vectors of n elements."""
    return "\n".join(
        [
            *head(dtype),
            f"5 UOps.CONST : [] {n}",
            "6 UOps.LOOP : [4, 5] None",
            f"7 UOps.LOAD : dtypes.{dtype} [1, 6] None",
            f"8 UOps.LOAD : dtypes.{dtype} [2, 6] None",
            f"9 UOps.ALU : dtypes.{dtype} [7, 8] BinaryOps.MUL",
            f"10 UOps.ALU : dtypes.{dtype} [9, 3] BinaryOps.ADD",
            f"11 UOps.PHI : dtypes.{dtype} [3, 10, 6] None",
            "12 UOps.ENDLOOP : [6] None",
            "13 UOps.STORE : [0, 4, 11] None",
            "",
        ]
    )


def unrolled(n: int, dtype: str) -> str:
    """The tutorial's third listing, for vectors of n elements."""
    lines, positions, loads = head(dtype), [4], dict[tuple[int, int], int]()

    def add(op: str, sources: list[int], argument: object, has_dtype: bool = True) -> int:
        written = f"dtypes.{dtype} " if has_dtype else ""
        lines.append(f"{len(lines)} UOps.{op} : {written}{sources} {argument}")
        return len(lines) - 1

    for i in range(n):
        if i:
            positions.append(add("CONST", [], i, has_dtype=False))
        loads[1, i] = add("LOAD", [1, positions[i]], None)
    for i in range(n):
        loads[2, i] = add("LOAD", [2, positions[i]], None)
    products = [add("ALU", [loads[1, i], loads[2, i]], "BinaryOps.MUL") for i in range(n)]
    total = 3
    for product in products:
        total = add("ALU", [product, total], "BinaryOps.ADD")
    add("STORE", [0, 4, total], None, has_dtype=False)
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
@pytest.mark.parametrize(
    ("name", "n", "dtype"), [("ints", 4, "int"), ("floats", 3, "float"), ("unrolled", 3, "float")]
)
def test_the_listings_of_the_tutorial(name: str, n: int, dtype: str, target: str):
    read(FOLDER / f"{name}.uops")
    a, b = arguments(n, TYPES[dtype])
    result = tg.compile(FOLDER / f"{name}.uops", target=target)(a, b)
    np.testing.assert_array_equal(result, [a @ b])


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("listing", [looped, unrolled])
def test_both_give_70(listing, dtype: str, target: str, tmp_path: Path):
    file = tmp_path / "dot.uops"
    file.write_text(listing(4, dtype))
    result = tg.compile(file, target=target)(*arguments(4, TYPES[dtype]))
    np.testing.assert_array_equal(result, [70])


def test_the_generated_listings_are_the_tutorial_s(tmp_path: Path):
    for name, listing in (("floats", looped), ("unrolled", unrolled)):
        (file := tmp_path / f"{name}.uops").write_text(listing(3, "float"))
        assert str(read(file)) == str(read(FOLDER / f"{name}.uops"))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_the_upcast_of_the_loop_is_the_unrolled_listing(n: int, dtype: str, tmp_path: Path):
    def lowered(listing: str, *schedule: SplitPass) -> ModuleOp:
        file = tmp_path / "dot.uops"
        file.write_text(listing)
        module = read(file)
        upgrade(module)
        verify_module(module)
        assert level_of(module) == "kernels"
        for stage in (*schedule, SimplifyPass(), ExpandPass(), SelectPass("cpu"), LinearizePass()):
            stage.apply(make_context(), module)
        return module

    def ops(module: ModuleOp) -> Counter[str]:
        (program,) = (op for op in module.ops if isinstance(op, ProgramOp))
        return Counter(op.name for op in program.linear.body.block.ops)

    upcast = ops(lowered(looped(n, dtype), SplitPass(axis=0, factor=n, target="unroll")))
    by_hand = ops(lowered(unrolled(n, dtype)))
    assert upcast == by_hand
    assert upcast["tg.range"] == 0
    assert upcast["tg.load"] == 2 * n
    # Adding the initial 0 of the accumulator is an ADD of floats; of ints it is none.
    assert upcast["tg.add"] == (n if dtype == "float" else n - 1)
