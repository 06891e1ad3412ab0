"""`tg-simplify`: symbolic arithmetic on integers and bools, by intervals. In reading order:

* `terms.py` defines the language of rewrite rules, `identities.py` and `arithmetic.py` are the
  tables of rules, and `matching.py` applies a rule to IR;
* sums have a normal form, `Linear` of `ops/affine.py`: `sums.py`, `division.py`, `quotients.py`,
  `recombination.py` and `comparison.py` rewrite sums in that form;
* `assumptions.py` simplifies values that are used only under a condition or a gate;
* `masks.py` reads the mask of a reduction; `reductions.py`, `scans.py` and `scatter.py` replace
  reductions by loads, closed forms, accumulators and loops of additions;
* `engine.py` walks a block and does value numbering, and `loops.py` repairs the loops of ENDs and
  REDUCEs after a rewrite;
* `test/unit/transforms/test_simplify_proofs.py` proves every rule and theorem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tgdialect.analysis.symbols import is_foreign
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.elementwise import COMPARISONS
from tgdialect.transforms.simplify.assumptions import (
    ROUGH,
    simplify_connective,
    simplify_load,
    simplify_store,
    simplify_where,
)
from tgdialect.transforms.simplify.comparison import simplify_comparison, simplify_maximum
from tgdialect.transforms.simplify.division import simplify_division
from tgdialect.transforms.simplify.engine import Engine, Handler
from tgdialect.transforms.simplify.reductions import (
    collapse_masked,
    repeat_reduction,
    split_alternative,
)
from tgdialect.transforms.simplify.scans import carry
from tgdialect.transforms.simplify.scatter import scatter
from tgdialect.transforms.simplify.sums import simplify_cast, simplify_sum


def _simplify_reduction(engine: Engine, op: Operation) -> SSAValue | None:
    """Replace a REDUCE by ops without a loop, or with a cheaper one, where that is possible.

    `loops.py` has pinned the ranges of REDUCEs that must keep their loop. A sum of n equal floats v
    is n * v, which may round differently. A product of n equal values uses repeated squaring. Both
    are computed in f32 for narrower floats, as in the accumulator of a loop.
    """
    assert isinstance(op, tg.ReduceOp)
    if not op.ranges:
        return None
    # If the operand depends on every range, try the rewrites of masks and prefix reductions.
    found = repeat_reduction(engine, op)
    if found is not None or tg.integers(op, "axes"):
        return found
    found = split_alternative(engine, op) or collapse_masked(engine, op)
    return carry(engine, op) if found is None and engine.may_store else found


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("tg.add", "tg.sub", "tg.neg", "tg.mul", "tg.shl", "tg.mulacc"), simplify_sum),
    **dict.fromkeys(("tg.idiv", "tg.mod"), simplify_division),
    **dict.fromkeys(COMPARISONS - {"tg.cmpgt"}, simplify_comparison),
    "tg.max": simplify_maximum,
    "tg.where": simplify_where,
    **dict.fromkeys(("tg.and", "tg.or"), simplify_connective),
    "tg.cast": simplify_cast,
    "tg.load": simplify_load,
    "tg.store": simplify_store,
    "tg.reduce": _simplify_reduction,
    "tg.end": scatter,
}
"""The handler of each op, by name. The engine calls it where no rule of the tables applies."""

_OF_LOOPS = frozenset({"tg.reduce", "tg.end", "tg.store"})
"""Ops whose handlers change loops, or move the LOADs of a gated STORE. A schedule depends on both,
so these handlers do not run in a kernel that has a schedule."""

_KEEP_LOOPS = {
    **{name: handler for name, handler in HANDLERS.items() if name not in _OF_LOOPS},
    "tg.reduce": repeat_reduction,
}
"""The handlers for a kernel that has a schedule. A REDUCE loses a loop that its operand has lost,
as r4 in `reduce max (4 r3 + r4) idiv 4`: it would not be valid."""


@dataclass(frozen=True)
class SimplifyPass(ModulePass):
    """Simplify index, integer and bool arithmetic, merge equal ops and drop dead ones.

    On floats the pass only folds constants, merges equal ops, and replaces a WHERE of a decided
    condition by its branch. The body of a LINEAR stays as it is, because its order is final.

    A kernel has a schedule if its SINK records a list of OptOps, even an empty one. Such a kernel
    keeps its loops. It is not visited at all if its index arithmetic has no division, MAX, WHERE
    or comparison left. After `tg-select` a LOAD accesses memory unconditionally, so it keeps its
    gate even if its value is used only under a condition that implies the gate.

        %1 = tg.mul %i, %c4 : tensor<index>
        %2 = tg.add %1, %j : tensor<index>      // j in [0, 4)
        %3 = tg.idiv %2, %c4 : tensor<index>    // becomes %i
    """

    name = "tg-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify(op)


Engines = Mapping[Operation, Engine]
"""Engines that have simplified kernels before (`scheduled_engine`)."""


def scheduled_engine() -> Engine:
    """An engine for one kernel that has a schedule, to simplify it several times."""
    return Engine(_KEEP_LOOPS, repeat_reduction)


def simplify(
    root: Operation, engines: Mapping[Operation, Engine] = {}, *, may_order: bool = False
) -> bool:
    """Simplify all blocks inside `root`, as `SimplifyPass` does. Returns whether IR changed.

    Of the kernels in `engines` only what has changed since the engine's last walk is visited.
    `may_order` lets rewrites that save work give the iterations of a parallel loop an order: not on
    a grid, where one work item would run all of them.
    """
    changed = False
    stack = [root]
    while stack:
        op = stack.pop()
        if op.name == "tg.linear" or (op.name == "func.func" and is_foreign(op)):
            continue
        is_scheduled, is_selected = _stages_of(op)
        known = engines.get(op) if is_scheduled and not is_selected else None
        handlers = _KEEP_LOOPS if is_scheduled else HANDLERS
        engine = known or Engine(handlers, repeat_reduction, selected=is_selected)
        engine.may_order = may_order
        for region in op.regions:
            for block in region.blocks:
                if not is_scheduled or any(map(is_rough, ops_of(block))):
                    changed |= engine.run_again(block) if known else engine.run(block)
                stack.extend(inner for inner in ops_of(block) if inner.regions)
    return changed


def simplify_kernels(module: ModuleOp) -> None:
    """Simplify the kernels of a module; its functions stay as they are."""
    for kernel in module.ops:
        if isinstance(kernel, tg.KernelOp):
            simplify(kernel)


def _stages_of(op: Operation) -> tuple[bool, bool]:
    """Whether an op is a kernel that has a schedule, and whether `tg-select` has run on it.

    The SINK records the schedule; `tg-select` records the kernel's target.
    """
    if not isinstance(op, tg.KernelOp):
        return False, False
    is_selected = op.target is not None
    return is_selected or op.sink.opts is not None, is_selected


def is_rough(op: Operation) -> bool:
    """Whether an op is index arithmetic that intervals may simplify: a scheduled kernel is worth a
    visit for it. Sums and products alone gain little."""
    return op.name in ROUGH and tg.tensor(op.operands[-1]).element_type == tg.INDEX
