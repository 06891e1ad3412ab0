"""WMMA with an older configuration: one thread holds matrices, several hold fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.legacy.attributes import LegacyWmmaAttr
from tgdialect.legacy.ops.compute import WmmaOp
from tgdialect.legacy.upgrade.shapes import reshaped
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import tensor
from tgdialect.targets.matrix import MMA_16X8X16, Fragments

_FRAGMENTS: Mapping[tuple[str, tuple[int, int, int], int], Fragments] = {
    ("CUDA", (16, 8, 16), 32): MMA_16X8X16,
}
"""The fragments of A, B and the accumulator, by device, (M, N, K) and threads, which the older
configuration does not state."""


def upgraded_wmma(b: OpBuilder, op: WmmaOp, operands: Sequence[SSAValue]) -> SSAValue:
    """`tg.wmma` of the operands. Raises PassFailedException for fragments that are not known."""
    config = _upgraded_config(op.config)
    shapes = config.operand_shapes
    x, y, z = (reshaped(b, operand, s) for operand, s in zip(operands, shapes, strict=True))
    return reshaped(b, b.put(tg.WmmaOp(x, y, z, config)), tensor(op.result).get_shape())


def _upgraded_config(config: LegacyWmmaAttr) -> tg.WmmaAttr:
    if config.threads == 1:
        dims, none = ArrayAttr(IntAttr(d) for d in config.m_n_k), ArrayAttr[StringAttr](())
        return tg.WmmaAttr(dims, IntAttr(1), none, none, none)
    key = config.device.data, config.m_n_k, config.threads
    if (known := _FRAGMENTS.get(key)) is None:
        m, n, k = config.m_n_k
        raise PassFailedException(
            f"which elements a thread of {config.device.data} holds in a {m}x{n}x{k} wmma of "
            f"{config.threads} threads is not known: write it as tg.wmma, which states it"
        )
    return known.config
