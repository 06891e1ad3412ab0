"""`tg-simplify`: symbolic arithmetic on integers and bools, by intervals. In reading order:

* `terms.py` is the language of rules, `identities.py` and `arithmetic.py` are the tables of them,
  and `matching.py` applies one;
* sums have a normal form, `Linear` of `ops/affine.py`, with which `sums.py`, `division.py`,
  `quotients.py`, `recombination.py` and `comparison.py` rewrite;
* `assumptions.py` simplifies what is used only where a condition or a gate is true;
* `masks.py`, `reductions.py`, `scans.py` and `scatter.py` replace reductions by loads, closed
  forms, accumulators and loops of additions; `peepholes.py` rewrites CAST, LOAD and STORE;
* `engine.py` walks a block and numbers its values, `loops.py` keeps the loops of ENDs and REDUCEs;
* every rule and theorem is proven in `test/unit/transforms/test_simplify_proofs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tgdialect.analysis.symbols import is_foreign
from tgdialect.ops.call import KernelOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.properties import tensor
from tgdialect.transforms.simplify.assumptions import simplify_connective, simplify_where
from tgdialect.transforms.simplify.comparison import simplify_comparison, simplify_maximum
from tgdialect.transforms.simplify.division import simplify_division
from tgdialect.transforms.simplify.engine import Engine, Handler
from tgdialect.transforms.simplify.peepholes import simplify_cast, simplify_load, simplify_store
from tgdialect.transforms.simplify.reductions import simplify_reduction
from tgdialect.transforms.simplify.scatter import scatter
from tgdialect.transforms.simplify.sums import simplify_sum

HANDLERS: dict[str, Handler] = {
    "tg.add": simplify_sum,
    "tg.sub": simplify_sum,
    "tg.neg": simplify_sum,
    "tg.mul": simplify_sum,
    "tg.shl": simplify_sum,
    "tg.mulacc": simplify_sum,
    "tg.idiv": simplify_division,
    "tg.mod": simplify_division,
    "tg.cmplt": simplify_comparison,
    "tg.cmpge": simplify_comparison,
    "tg.cmple": simplify_comparison,
    "tg.cmpne": simplify_comparison,
    "tg.cmpeq": simplify_comparison,
    "tg.max": simplify_maximum,
    "tg.where": simplify_where,
    "tg.and": simplify_connective,
    "tg.or": simplify_connective,
    "tg.cast": simplify_cast,
    "tg.load": simplify_load,
    "tg.store": simplify_store,
    "tg.reduce": simplify_reduction,
    "tg.end": scatter,
}
"""A function per op, which is called where no rule of the tables applies."""

_OF_LOOPS = frozenset({"tg.reduce", "tg.end", "tg.store"})
"""Ops whose rewrites change the loops, or move the LOADs of a gated STORE. They are left alone in a
kernel with a schedule, which depends on both."""

_KEEP_LOOPS = {name: handler for name, handler in HANDLERS.items() if name not in _OF_LOOPS}


@dataclass(frozen=True)
class SimplifyPass(ModulePass):
    """Simplify index, integer and bool arithmetic, merge equal ops and drop dead ones.

    Floats are only merged where ops are equal, and selected where a condition is decided. A LINEAR
    is left as it is: its order is final.

    A kernel whose SINK records OptOps, be it none, keeps its loops, and is left alone if its
    indices are sums of products already. In one that `tg-select` has been at, a LOAD accesses
    memory wherever it is: its gate stays whatever a condition says where its value is read.

        %1 = tg.mul %i, %c4 : tensor<index>
        %2 = tg.add %1, %j : tensor<index>      // j in [0, 4)
        %3 = tg.idiv %2, %c4 : tensor<index>    -> %i
    """

    name = "tg-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify(op)


def simplify(root: Operation) -> bool:
    """Simplify all blocks inside `root`, as `SimplifyPass` does. Whether anything changed."""
    changed = False
    stack = [root]
    while stack:
        op = stack.pop()
        if op.name == "tg.linear" or (op.name == "func.func" and is_foreign(op)):
            continue
        is_scheduled, is_selected = _stages_of(op)
        engine = Engine(_KEEP_LOOPS if is_scheduled else HANDLERS, selected=is_selected)
        for region in op.regions:
            for block in region.blocks:
                if not is_scheduled or any(map(_is_rough, block.ops)):
                    changed |= engine.run(block)
                stack.extend(inner for inner in block.ops if inner.regions)
    return changed


def simplify_kernels(module: ModuleOp) -> None:
    """Simplify the kernels of a module, and nothing else."""
    for kernel in module.ops:
        if isinstance(kernel, KernelOp):
            simplify(kernel)


def _stages_of(op: Operation) -> tuple[bool, bool]:
    """Whether a kernel has a schedule, recorded on its SINK, and whether it has been through
    tg-select, which notes its target."""
    if not isinstance(op, KernelOp):
        return False, False
    is_selected = op.target is not None
    return is_selected or op.sink.opts is not None, is_selected


def _is_rough(op: Operation) -> bool:
    """Whether an op is index arithmetic that is simplified by intervals."""
    return op.name in _ROUGH and tensor(op.operands[-1]).element_type == INDEX


_ROUGH = frozenset(
    (
        *("tg.idiv", "tg.mod", "tg.max", "tg.where"),
        *("tg.cmplt", "tg.cmpge", "tg.cmple", "tg.cmpgt", "tg.cmpeq", "tg.cmpne"),
    )
)


def simplify_block(block: Block) -> bool:
    """Simplify the ops of one block. Whether any changed."""
    return Engine(HANDLERS).run(block)
