"""Miscompiles that are planted in the stages, each with a program that it breaks and its name.

A plant is what a wrong commit would do: one rule, OptOp, gate, index, barrier, fold or life of
memory is not what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest
from seeded_programs import (
    ALONG,
    CHOSEN,
    COUNTED,
    PADDED,
    PICKED,
    SCANNED,
    SUM,
    TURNED,
    Program,
    chain,
    older_vocabulary,
    waves,
)
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from tgdialect.actions.execution import Evaluate, evaluate
from tgdialect.actions.judges import Execution
from tgdialect.actions.slopes import Sloped
from tgdialect.legacy.ops import compute
from tgdialect.legacy.upgrade.stage import UpgradeLegacyPass
from tgdialect.lowering.pipeline import stages
from tgdialect.ops import tg
from tgdialect.transforms.decompose import DecomposePass
from tgdialect.transforms.gradient import GradientPass
from tgdialect.transforms.shard.propagate import ShardPass
from tgdialect.transforms.simplify import SimplifyPass

Patch = pytest.MonkeyPatch

# -- passes ----------------------------------------------------------------------------------------


def lowering(*before: ModulePass, **options: Any) -> Callable[[], Sequence[ModulePass]]:
    """Some passes, then the stages to LLVM's input, or to the plan of another target."""

    def passes() -> Sequence[ModulePass]:
        features = () if "target" in options else ("avx2", "fma")
        chosen = {"mode": "heuristic", "threads": 2, "features": features, **options}
        last = [] if chosen.pop("renders", False) else [-1]
        found = [*(before or (CanonicalizePass(),)), *stages(**chosen)]
        return found[: last[0]] if last else found

    return passes


def module(name: str) -> Any:
    """A module of the package."""
    return import_module(f"tgdialect.{name}")


# -- plants ----------------------------------------------------------------------------------------


def wrapped(patch: Patch, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace a function of a module or class by one that is made of it."""
    patch.setattr(owner, name, make(getattr(owner, name)))


def wrapped_item(patch: Patch, table: Any, key: Any, make: Callable[[Any], Any]) -> None:
    """Replace an entry of a table by one that is made of it."""
    patch.setitem(table, key, make(table[key]))


@dataclass(frozen=True)
class Seed:
    """A miscompile: what plants it, a program that it breaks, and the passes.

    `action` is how the text of its action begins: the pass, the pattern, OptOp or step, and the op.
    Where a step is done as a whole, `rule` is how one of the first two suspects in the smallest
    program begins. `run` runs modules, by default the interpreter. `most` ops are left by
    reduction.
    """

    plant: Callable[[Patch], None]
    program: Callable[[], Program]
    passes: Callable[[], Sequence[ModulePass]]
    action: str
    rule: str = ""
    run: Evaluate = evaluate
    most: int = 10


SEEDS: dict[str, Seed] = {}


def seed(
    program: Callable[[], Program],
    passes: Callable[[], Sequence[ModulePass]],
    action: str,
    rule: str = "",
    run: Evaluate = evaluate,
    most: int = 10,
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Adds a plant to the table."""

    def add(plant: Callable[[Patch], None]) -> Callable[[Patch], None]:
        SEEDS[plant.__name__] = Seed(plant, program, passes, action, rule, run, most)
        return plant

    return add


# Canonicalisation.


@seed(
    lambda: chain(
        30,
        "  %p = tg.permute %h [1, 2, 0] : tensor<2x2x2xi32> -> tensor<2x2x2xi32>\n"
        "  %m = tg.permute %p [1, 0, 2] : tensor<2x2x2xi32> -> tensor<2x2x2xi32>",
        "2x2x2",
    ),
    lowering(),
    "canonicalize: _two_of_a_kind: tg.permute",
)
def permutes_in_the_wrong_order(patch: Patch) -> None:
    def joined(op: tg.PermuteOp, inner: tg.PermuteOp) -> Operation:
        order, first = tg.integers(op, "order"), tg.integers(inner, "order")
        return tg.PermuteOp(inner.source, [order[axis] for axis in first])

    patch.setitem(module("transforms.canonicalization.rules")._JOINED, tg.PermuteOp, joined)


def other_result(patch: Patch, name: str, result: Any) -> None:
    """Give a rule of the simplifier another result."""
    identities = module("transforms.simplify.identities").IDENTITIES
    rules = (*identities, *module("transforms.simplify.arithmetic").ARITHMETIC)
    patch.setitem(next(rule for rule in rules if rule.name == name).__dict__, "result", result)


def number(value: float) -> Any:
    """A constant in the result of a rule."""
    return module("transforms.simplify.terms").lit(value)


@seed(
    lambda: chain(
        3000, "  %0 = tg.xor %x, %x : tensor<4x6xi32>\n  %m = tg.or %h, %0 : tensor<4x6xi32>"
    ),
    lowering(),
    "canonicalize: xor of same: tg.xor",
)
def wrong_identity_in_3000_ops(patch: Patch) -> None:
    other_result(patch, "xor of same", number(1))


# Simplification, on tensors and in kernels.


@seed(
    lambda: chain(
        60,
        "  %0 = tg.const 12 : tensor<i32>\n  %1 = tg.const 5 : tensor<i32>\n"
        "  %2 = tg.mul %0, %1 : tensor<i32>\n"
        "  %m = tg.add %h, %2 : (tensor<4x6xi32>, tensor<i32>) -> tensor<4x6xi32>",
    ),
    lowering(SimplifyPass()),
    "tg-simplify: fold: tg.mul",
)
def wrong_fold(patch: Patch) -> None:
    def folding(fold: Any) -> Any:
        def fold_elementwise(op: Operation) -> Any:
            found = fold(op)
            if found is None or op.name != "tg.mul":
                return found
            return tg.number_attribute(tg.number(found) + 1, tg.tensor(op.results[0]).element_type)

        return fold_elementwise

    wrapped(patch, module("transforms.simplify.engine"), "fold_elementwise", folding)


@seed(lambda: chain(60, ALONG), lowering(), "tg-build-kernels: simplify_division: tg.mod")
def wrong_remainder(patch: Patch) -> None:
    def off_by_one(handler: Any) -> Any:
        def simplify_division(engine: Any, op: Operation) -> SSAValue | None:
            found = handler(engine, op)
            return found and engine.apply("tg.add", (found, engine.integer(1, found)))

        return simplify_division

    wrapped_item(patch, module("transforms.simplify").HANDLERS, "tg.mod", off_by_one)


@seed(
    lambda: chain(
        40,
        """
  %one = tg.const 3 : tensor<i32>
  %row = tg.reshape %one [1, 1] : tensor<i32> -> tensor<1x1xi32>
  %all = tg.expand %row [4, 6] : tensor<1x1xi32> -> tensor<4x6xi32>
  %r = tg.reduce add %all [1] : tensor<4x6xi32> -> tensor<4x1xi32>
  %e = tg.expand %r [4, 6] : tensor<4x1xi32> -> tensor<4x6xi32>
  %m = tg.add %h, %e : tensor<4x6xi32>""",
    ),
    lowering(DecomposePass()),
    "tg-build-kernels: kernel: tg.",
    "closed form: tg.reduce",
)
def wrong_closed_form(patch: Patch) -> None:
    owner = module("transforms.simplify.reductions")
    wrapped(patch, owner, "repeated_sum", lambda old: lambda engine, value, count: value)


# Rewrites of tensors: decompositions, gradients, values on several devices, the older vocabulary.


@seed(
    lambda: chain(
        100, "  %0 = tg.neg %h : tensor<4x6xi32>\n  %m = tg.add %0, %y : tensor<4x6xi32>"
    ),
    lowering(DecomposePass()),
    "tg-decompose: recipe: tg.neg",
)
def wrong_recipe(patch: Patch) -> None:
    patch.setitem(module("transforms.decompose").RECIPES, "neg", lambda a: a)


@seed(
    waves,
    lambda: [GradientPass()],
    "tg-gradient: pass",
    "gradient: tg.sin",
    Sloped(evaluate, 2),
)
def wrong_gradient(patch: Patch) -> None:
    def sine(builder: Any, op: tg.SinOp, gradient: SSAValue) -> Sequence[SSAValue]:
        return [builder.put(tg.MulOp(gradient, op.result))]

    patch.setitem(module("transforms.gradient.rules").RULES, tg.SinOp, sine)


@seed(
    lambda: chain(
        60, "  %0 = tg.sub %y, %h : tensor<4x6xi32>\n  %m = tg.add %0, %x : tensor<4x6xi32>"
    ),
    lambda: [ShardPass(devices=("A", "B"))],
    "tg-shard: pass",
    "split: tg.sub",
)
def wrong_operands_of_shards(patch: Patch) -> None:
    def wrong(convert: Any) -> Any:
        def swapped(self: Any, op: Operation) -> None:
            convert(self, op)
            new = self.values[op.results[0]].owner
            if isinstance(new, tg.SubOp):
                new.operands = new.operands[::-1]

        return swapped

    wrapped(patch, module("transforms.shard.propagate")._Sharding, "convert", wrong)


def older(module: ModuleOp, entry: str, inputs: Sequence[Any]) -> list[Any]:
    """Runs a program whose ops may be of the older vocabulary, which divides toward zero."""
    copy = module.clone()
    for op in list(copy.walk()):
        if isinstance(op, compute.ModOp | compute.IDivOp):
            b = tg.OpBuilder.before(op)
            x, y = op.operands
            zero = b.put(tg.ConstOp(0, tg.I32))
            sizes = [
                b.put(tg.WhereOp(b.put(tg.CmpLtOp(v, zero)), b.put(tg.NegOp(v)), v)) for v in (x, y)
            ]
            size = b.put(tg.IDivOp(*sizes))
            signs = [b.put(tg.CmpLtOp(v, zero)) for v in (x, y)]
            is_negative = b.put(tg.XorOp(*signs))
            new = b.put(tg.WhereOp(is_negative, b.put(tg.NegOp(size)), size))
            if isinstance(op, compute.ModOp):
                rest = b.put(tg.SubOp(x, b.put(tg.MulOp(new, y))))
                new = b.put(tg.WhereOp(b.put(tg.CmpEqOp(y, zero)), zero, rest))
            op.results[0].replace_all_uses_with(new)
            op.detach()
            op.erase()
    return evaluate(copy, entry, inputs)


@seed(
    older_vocabulary,
    lambda: [UpgradeLegacyPass()],
    "tg-upgrade-legacy: pass",
    "pure: tg_legacy.mod",
    older,
)
def wrong_upgrade(patch: Patch) -> None:
    def floor(b: tg.OpBuilder, x: SSAValue, y: SSAValue, _: Any) -> SSAValue:
        return b.put(tg.ModOp(x, y))

    patch.setattr(module("legacy.upgrade.arithmetic"), "remainder", floor)


# Callify and rangeify.


@seed(
    lambda: chain(
        50,
        """
  %f = tg.function(%h, %y) {
    %p = tg.param 0 : tensor<4x6xi32>
    %q = tg.param 1 : tensor<4x6xi32>
    %0 = tg.sub %p, %q : tensor<4x6xi32>
    %t = tg.tuple %0 : tensor<4x6xi32> -> !tg.tuple<tensor<4x6xi32>>
  } : (tensor<4x6xi32>, tensor<4x6xi32>) -> !tg.tuple<tensor<4x6xi32>>
  %m = tg.gettuple %f 0 : !tg.tuple<tensor<4x6xi32>> -> tensor<4x6xi32>""",
    ),
    lowering(),
    "tg-callify: pass",
    "substitute: tg.function",
)
def wrong_substitution(patch: Patch) -> None:
    def wrong(substituted: Any) -> Any:
        def exchanged(self: Any, op: Operation) -> Any:
            found = substituted(self, op)
            if isinstance(op, tg.FunctionOp):
                params = [p for p in op.body.block.ops if isinstance(p, tg.ParamOp)]
                for param, argument in zip(params, reversed(op.arguments), strict=True):
                    self.values[param.result] = self.values[argument]
            return found

        return exchanged

    wrapped(patch, module("transforms.substitution").Substitution, "_substituted", wrong)


@seed(
    lambda: chain(
        40,
        """
  %s = tg.reduce add %h [0] : tensor<22xi32> -> tensor<1xi32>
  %m = tg.expand %s [4] : tensor<1xi32> -> tensor<4xi32>""",
        "22",
        "4",
    ),
    lowering(),
    "tg-split-reductions: split: tg.reduce",
)
def wrong_parts(patch: Patch) -> None:
    """The remainder is lost. Reductions are split that are short enough for a test."""
    owner = module("lowering.rangeify.split_reductions")
    patch.setattr(
        owner,
        "parts_of",
        lambda extent, *_, **__: (4, extent // 4) if extent > 4 else None,
    )
    patch.setattr(owner, "ALU", dict.fromkeys(owner.ALU, lambda a, b: tg.AddOp(a, a)))


@seed(
    lambda: chain(
        30,
        """
  %e = tg.add %h, %y : tensor<3x3x3xi32>
  %m = tg.permute %e [1, 2, 0] : tensor<3x3x3xi32> -> tensor<3x3x3xi32>""",
        "3x3x3",
        after=0,
    ),
    lowering(),
    "tg-store-before-movement: move: tg.store",
)
def wrong_movement(patch: Patch) -> None:
    def wrong(moved_back: Any) -> Any:
        def moved(view: SSAValue, value: SSAValue) -> Any:
            if isinstance(op := value.owner, tg.PermuteOp):
                return tg.PermuteOp(view, list(tg.integers(op, "order"))), op.source
            return moved_back(view, value)

        return moved

    wrapped(patch, module("lowering.rangeify.store_before_movement"), "moved_back", wrong)


def _shifted(kind: type[Operation]) -> Callable[[Patch], None]:
    """The rule of an op whose first index is one too large."""

    def plant(patch: Patch) -> None:
        owner = module("lowering.rangeify.kernel")
        base = next(rule for each, rule in owner.RULES if each is kind)

        def shifted(k: Any, op: Operation, index: Any) -> Any:
            return base(k, op, (tg.Affine(constant=1) + index[0], *index[1:]))

        shifted.__name__ = base.__name__
        rules = tuple((each, shifted if each is kind else rule) for each, rule in owner.RULES)
        patch.setattr(owner, "RULES", rules)

    return plant


@seed(lambda: chain(60, PADDED), lowering(), "tg-build-kernels: kernel: tg.", "_pad: tg.pad")
def index_of_a_pad_off_by_one(patch: Patch) -> None:
    _shifted(tg.PadOp)(patch)


@seed(lambda: chain(40, SCANNED), lowering(), "tg-callify: pass: builtin.module", "scan: tg.scan")
def states_in_one_place(patch: Patch) -> None:
    patch.setattr(module("lowering.callify.scan").Rows, "minus", lambda self, a, b: b)


@seed(
    lambda: chain(60, "  %m = tg.flip %h [0, 1] : tensor<4x6xi32>", after=0),
    lowering(),
    "tg-build-kernels: kernel: tg.",
    "locate: tg.flip",
)
def index_of_a_flip_off_by_one(patch: Patch) -> None:
    def wrong(moved: Any) -> Any:
        def shifted(positions: Any, op: Operation, index: Any) -> Any:
            found = moved(positions, op, index)
            return (*found[:-1], found[-1] + -1) if isinstance(op, tg.FlipOp) else found

        return shifted

    wrapped(patch, module("lowering.rangeify.kernel"), "moved", wrong)


@seed(
    lambda: chain(60, PICKED, "4"),
    lowering(),
    "tg-build-kernels: kernel: tg.",
    "_index: tg.index",
)
def second_index_like_the_first(patch: Patch) -> None:
    owner = module("lowering.rangeify.cells")

    def wrong(indices: Any) -> Any:
        def alike(k: Any, op: Operation, index: Any) -> Any:
            return indices(k, op, (index[0],) * len(index))

        return alike

    wrapped(patch, owner, "indices", wrong)


# OptOps, and what becomes of them.


@seed(
    lambda: chain(30, SUM.format(8, 64), "8x64"),
    lowering(),
    "tg-optimize: split",
)
def wrong_split(patch: Patch) -> None:
    def wrong(split: Any) -> Any:
        def halved(self: Any, range: Any, parts: int, kinds: Any, **more: Any) -> Any:
            outer, inner = split(self, range, parts, kinds, **more)
            if kinds[1] is tg.AxisType.UPCAST:
                b = tg.OpBuilder.after(inner)
                even = b.put(tg.AndOp(inner.result, b.index_constant(-2)))
                inner.result.replace_uses_with_if(
                    even,
                    lambda use: (
                        use.operation is not even.owner
                        and not isinstance(use.operation, tg.EndOp | tg.ReduceOp)
                    ),
                )
            return outer, inner

        return halved

    wrapped(patch, module("lowering.optimize.axes").Axes, "split", wrong)


@seed(
    lambda: chain(30, COUNTED.format(5, 7), "5x7"),
    lowering(mode="explicit:@main_1: padto 1, 4"),
    "tg-optimize: padto 1, 4",
    most=10,
)
def lost_mask_of_padding(patch: Patch) -> None:
    def wrong(pad: Any) -> Any:
        def unmasked(axes: Any, range: Any, multiple: int, gated: Any) -> None:
            sources = {op: op.source for op in axes.reductions.get(range, ())}
            pad(axes, range, multiple, gated)
            for op, source in sources.items():
                op.operands[0] = source

        return unmasked

    wrapped(patch, module("lowering.optimize.optops.padto"), "_pad", wrong)


@seed(
    lambda: chain(40, "  %m = tg.sub %h, %y : tensor<512x512xi32>\n", "512x512"),
    lowering(),
    "tg-optimize: split 0, ",
    run=Execution(60),
)
def thread_inside_of_a_loop(patch: Patch) -> None:
    def wrong(reorder: Any) -> Any:
        def backwards(self: Any, order: Any) -> None:
            reorder(self, order[::-1])

        return backwards

    wrapped(patch, module("lowering.optimize.axes").Axes, "reorder", wrong)


@seed(
    lambda: chain(40, SUM.format(4, 6)),
    lowering(mode="none"),
    "tg-expand: kernel: tg.kernel",
    "reduce: tg.reduce",
)
def wrong_start_of_a_sum(patch: Patch) -> None:
    class Wrong:
        def __getattr__(self, name: str) -> Any:
            return getattr(tg, name)

        def identity(self, kind: Any, row: Any) -> int:
            return 1

    patch.setattr(module("lowering.expand.reduction"), "tg", Wrong())


@seed(
    lambda: chain(60, CHOSEN), lowering(), "tg-select: kernel: tg.kernel", "elementwise: tg.where"
)
def wrong_alternative(patch: Patch) -> None:
    def wrong(rule: Any) -> Any:
        def elementwise(k: Any, op: Operation) -> Any:
            op.operands = (op.operands[0], op.operands[2], op.operands[1])
            return rule(k, op)

        return elementwise

    wrapped_item(patch, module("lowering.select.stage")._RULES, tg.WhereOp, wrong)


@seed(
    lambda: chain(30, COUNTED.format(5, 7), "5x7"),
    lowering(mode="explicit:@main_1: padto 1, 4"),
    "tg-select: kernel: tg.kernel",
    "index: tg.index",
)
def lost_gate_of_an_access(patch: Patch) -> None:
    def gate(self: Any, checks: Any, given: SSAValue | None) -> SSAValue | None:
        return given

    patch.setattr(module("lowering.select.bounds_checks").BoundsChecks, "gate", gate)


@seed(
    lambda: chain(30, shape="5x7"),
    lowering(mode="explicit:padto 0, 4"),
    "tg-linearize: kernel: tg.kernel",
    "gated store: tg.store",
)
def lost_if_of_a_store(patch: Patch) -> None:
    def ungated(self: Any, store: tg.StoreOp) -> None:
        store.detach()
        self.block.add_op(store)
        store.operands = store.operands[:2]

    patch.setattr(module("lowering.linearize.stage")._LinearBuilder, "_gated_store", ungated)


_ON_A_GRID: Any = {"target": "opencl"}


@seed(
    lambda: chain(30, SUM.format(8, 1000), "8x1000", every=100),
    lowering(**_ON_A_GRID),
    "tg-linearize: kernel: tg.kernel",
    "insert barriers: tg.linear",
)
def lost_barrier(patch: Patch) -> None:
    patch.setattr(module("lowering.linearize.grid"), "insert_barriers", lambda block: None)


@seed(
    lambda: chain(30, SUM.format(8, 100), "8x100", every=5),
    lowering(),
    "tg-plan: place: tg.buffer",
    most=10,
)
def overlapping_lives(patch: Patch) -> None:
    def assign_offsets(sizes: Sequence[int], lives: Sequence[Any]) -> tuple[list[int], int]:
        return [0] * len(sizes), max(sizes, default=0)

    patch.setattr(module("lowering.plan"), "assign_offsets", assign_offsets)


@seed(lambda: chain(30, TURNED, "6x6", every=6), lowering(), "tg-plan: place: tg.buffer")
def lives_that_touch(patch: Patch) -> None:
    """The memory that a kernel reads for the last time, and that it writes, is the same."""

    def wrong(assign_offsets: Any) -> Any:
        def shorter(sizes: Sequence[int], lives: Sequence[Any]) -> Any:
            return assign_offsets(sizes, [life._replace(end=life.end - 1) for life in lives])

        return shorter

    wrapped(patch, module("lowering.plan"), "assign_offsets", wrong)


# LLVM's input.


@seed(
    lambda: chain(
        40,
        "  %0 = tg.xor %y, %h : tensor<4x6xi32>\n  %m = tg.add %0, %x : tensor<4x6xi32>",
        every=99,
    ),
    lowering(renders=True),
    "tg-render: pass",
    "render: tg.xor",
    Execution(60),
)
def wrong_instruction(patch: Patch) -> None:
    table = module("lowering.render.llvm.arithmetic").ELEMENTWISE
    patch.setitem(table, "tg.xor", table["tg.or"])
