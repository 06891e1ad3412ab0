"""Upstream's dialect of programs that every device of a grid runs, as far as xDSL lacks it.

Names, properties and assembly are upstream MLIR's, so `mlir-opt` reads what is printed, and we read
what it prints.

* `shard.py`: the `shard` dialect with the collectives that xDSL 0.74 does not have.

Source: MLIR's documentation of the dialect 'shard', which LLVM 19 and 20 call 'mesh'.
"""

from tgdialect.shard_dialect.shard import (
    SHARD_WITH_GAPS,
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    ReduceScatterOp,
)

__all__ = ["SHARD_WITH_GAPS", "AllGatherOp", "AllSliceOp", "AllToAllOp", "ReduceScatterOp"]
