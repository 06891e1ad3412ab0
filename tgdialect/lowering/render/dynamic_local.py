"""LOCAL memory that the launch of a kernel allocates, because the kernel cannot declare as much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.matrix import REPEAT


@dataclass(frozen=True)
class DynamicLocal:
    """One block of LOCAL memory for all LOCAL buffers of a program, whose size its launch says."""

    offsets: Mapping[SSAValue, int]
    """Where each buffer begins, in bytes."""
    nbytes: int
    alignment: int
    """The alignment of the block, and of each buffer in it."""


def local_alignment(ops: Iterable[Operation], target: Target) -> int:
    """The alignment of LOCAL buffers: what the target's buffers have, or what the instructions that
    read them need."""
    threads = (op.config.threads for op in ops if isinstance(op, tg.WmmaOp))
    is_read = any(count > target.warp for count in threads)
    return max(target.alignment, REPEAT * is_read)


def dynamic_local(ops: Iterable[Operation], target: Target) -> DynamicLocal | None:
    """The block of the LOCAL buffers of a program; None if the program can declare them itself."""
    ops = list(ops)
    alignment = local_alignment(ops, target)
    offsets: dict[SSAValue, int] = {}
    end = 0
    for op in ops:
        if isinstance(op, tg.BufferOp) and tg.place(op.result).addrspace is tg.AddrSpace.LOCAL:
            start = -(-end // alignment) * alignment
            size = math.prod(tg.tensor(op.result).get_shape()) * tg.dtype_of(op.result).itemsize
            offsets[op.result], end = start, start + max(size, 1)
    return DynamicLocal(offsets, end, alignment) if end > target.declared_local else None
