"""WMMA with an older configuration: one thread holds matrices, several hold fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.legacy.attributes import LegacyWmmaAttr
from tgdialect.legacy.ops.compute import WmmaOp
from tgdialect.ops.attributes import WmmaAttr
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.codegen import WmmaOp as TgWmmaOp
from tgdialect.ops.movement import ReshapeOp
from tgdialect.ops.properties import tensor

Layout = Sequence[str]

_LAYOUTS: Mapping[tuple[str, tuple[int, int, int], int], tuple[Layout, Layout, Layout]] = {
    ("CUDA", (16, 8, 16), 32): (
        ("k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"),
        ("k1", "k2", "n0", "n1", "n2", "k0", "k3"),
        ("n1", "n2", "m0", "m1", "m2", "n0", "m3"),
    ),
}
"""The fragments of A, B and the accumulator, by device, (M, N, K) and threads, which the older
configuration does not state: those of `mma.sync.m16n8k16` in the PTX ISA, section "Matrix
Fragments for mma.m16n8k16"."""


def upgraded_wmma(b: OpBuilder, op: WmmaOp, operands: Sequence[SSAValue]) -> SSAValue:
    """`tg.wmma` of the operands. Raises PassFailedException for fragments that are not known."""
    config = _upgraded_config(op.config)
    shaped = [
        operand if tensor(operand).get_shape() == shape else b.put(ReshapeOp(operand, shape))
        for operand, shape in zip(operands, config.operand_shapes, strict=True)
    ]
    result = b.put(TgWmmaOp(shaped[0], shaped[1], shaped[2], config))
    shape = tensor(op.result).get_shape()
    return result if tensor(result).get_shape() == shape else b.put(ReshapeOp(result, shape))


def _upgraded_config(config: LegacyWmmaAttr) -> WmmaAttr:
    dims = ArrayAttr(IntAttr(d) for d in config.m_n_k)
    if config.threads == 1:
        layouts: Sequence[Layout] = ((), (), ())
    else:
        key = config.device.data, config.m_n_k, config.threads
        if (known := _LAYOUTS.get(key)) is None:
            m, n, k = config.m_n_k
            raise PassFailedException(
                f"which elements a thread of {config.device.data} holds in a {m}x{n}x{k} wmma of "
                f"{config.threads} threads is not known: write it as tg.wmma, which states it"
            )
        layouts = known
    a, b, c = (ArrayAttr(StringAttr(bit) for bit in layout) for layout in layouts)
    return WmmaAttr(dims, IntAttr(config.threads), a, b, c)
