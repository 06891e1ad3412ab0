"""Dot products of bytes, which `tg-select` makes INS of, against NumPy."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from ptxas import PTXAS, assemble

import tgdialect as tg
from tgdialect.tools.tg_opt import TgOptMain

STAGES = "tg-callify,tg-rangeify{{target={target}}},tg-optimize{{target={target} mode=heuristic}},"
STAGES += "tg-expand,tg-select"


def product(a: str, b: str, result: str, m: int, n: int, k: int) -> str:
    return f"""
    func.func @main(%a: tensor<{m}x{k}x{a}>, %b: tensor<{n}x{k}x{b}>)
        -> tensor<{m}x{n}x1x{result}> {{
      %x = tg.cast %a to {result} : tensor<{m}x{k}x{a}> -> tensor<{m}x{k}x{result}>
      %y = tg.cast %b to {result} : tensor<{n}x{k}x{b}> -> tensor<{n}x{k}x{result}>
      %u = tg.reshape %x [{m}, 1, {k}] : tensor<{m}x{k}x{result}> -> tensor<{m}x1x{k}x{result}>
      %v = tg.reshape %y [1, {n}, {k}] : tensor<{n}x{k}x{result}> -> tensor<1x{n}x{k}x{result}>
      %p = tg.mul %u, %v
        : (tensor<{m}x1x{k}x{result}>, tensor<1x{n}x{k}x{result}>) -> tensor<{m}x{n}x{k}x{result}>
      %s = tg.reduce add %p [2] : tensor<{m}x{n}x{k}x{result}> -> tensor<{m}x{n}x1x{result}>
      func.return %s : tensor<{m}x{n}x1x{result}>
    }}
    """


def printed(text: str, folder: Path, *arguments: str) -> str:
    path = folder / "program.mlir"
    path.write_text(text)
    with redirect_stdout(io.StringIO()) as out:
        assert TgOptMain.main([str(path), *arguments]) == 0
    return out.getvalue()


@pytest.mark.parametrize(("a", "b"), [(a, b) for a in ("i8", "ui8") for b in ("i8", "ui8")])
@pytest.mark.parametrize("result", ["i32", "ui32"])
def test_products(a: str, b: str, result: str, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    shapes = {"a": (8, 64), "b": (4, 64)}
    x, y = (
        random.integers(*((-128, 128) if kind == "i8" else (0, 256)), shape).astype(
            {"i8": np.int8, "ui8": np.uint8}[kind]
        )
        for kind, shape in zip((a, b), shapes.values(), strict=True)
    )
    text = product(a, b, result, 8, 4, 64)
    selected = printed(text, tmp_path, "-p", STAGES.format(target="nvidia:sm_90"))
    signs = [{"i8": "s32", "ui8": "u32"}[kind] for kind in (a, b)]
    names = [f"dp4a.{'.'.join(each)}" for each in (signs, signs[::-1])]
    assert any(name in selected for name in names)
    found = tg.compile(selected, target="interpreter")(x, y)
    expected = x.astype(np.int64) @ y.astype(np.int64).T
    np.testing.assert_array_equal(np.asarray(found)[..., 0], expected.astype(found.dtype))


def test_no_other_products(tmp_path: Path) -> None:
    """Of other widths, and of sums of more bits, there are none."""
    for a, b, result in (("i16", "i16", "i32"), ("i8", "i16", "i32"), ("i8", "i8", "i64")):
        text = product(a, b, result, 8, 4, 64)
        assert "tg.ins" not in printed(text, tmp_path, "-p", STAGES.format(target="nvidia:sm_90"))


def test_fewer_instructions(tmp_path: Path) -> None:
    """A word is one load, and four products are one instruction: nothing takes words apart."""
    text = product("i8", "ui8", "i32", 256, 256, 256)
    ptx = printed(text, tmp_path, "-p", "tg-to-gpu{mode=heuristic}", "-t", "ptx")
    assert ptx.count("dp4a.s32.u32") >= 8
    assert not any(name in ptx for name in ("prmt", "mad.lo.s32", "ld.global.s8"))
    if PTXAS is not None:
        assemble(ptx)
