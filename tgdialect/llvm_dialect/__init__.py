"""The `llvm` dialect with what a tensor compiler needs and xDSL 0.74's version lacks.

Names, properties and assembly are upstream MLIR's, so `mlir-opt` and `mlir-translate` read what
is printed. Operations come in two kinds: those that xDSL does not have, and those that xDSL
declares more narrowly than upstream (`REPLACED`: an `fcmp` without vectors, a `load` without
`volatile`, ...). `LLVM_WITH_GAPS` is the whole dialect; register it in place of xDSL's.

* `types.py`: constraints on operand types; `assembly.py`: shared pieces of assembly;
* `values.py`: casts, comparisons, selection;
* `intrinsics.py`: intrinsics on vectors;
* `loops.py`: what branches say about loops;
* `memory.py`: loads, stores, prefetches; `atomics.py`: atomic operations and fences.

Source: MLIR's "'llvm' Dialect" documentation, as of LLVM 19.
"""

from xdsl.dialects import llvm
from xdsl.ir import Dialect

from tgdialect.fast_xdsl.formats import operations_of
from tgdialect.llvm_dialect import atomics, intrinsics, memory, values
from tgdialect.llvm_dialect.loops import LoopAnnotationAttr, LoopUnrollAttr

_OPERATIONS = operations_of(values, intrinsics, memory, atomics)
_NAMES = {op.name for op in _OPERATIONS}

REPLACED = frozenset(op.name for op in llvm.LLVM.operations if op.name in _NAMES)
"""Names of the operations that xDSL has too, more narrowly than upstream."""

LLVM_WITH_GAPS = Dialect(
    "llvm",
    [*(op for op in llvm.LLVM.operations if op.name not in REPLACED), *_OPERATIONS],
    [*llvm.LLVM.attributes, LoopAnnotationAttr, LoopUnrollAttr],
)
"""The `llvm` dialect: xDSL's operations, except those replaced, and ours."""
