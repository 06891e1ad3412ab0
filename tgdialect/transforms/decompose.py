"""`tg-decompose`: rewrites the decomposed elementwise ops into primitives.

`RECIPES` is the specification's table "Decomposed elementwise ops". Recipes longer than a line are
in modules of their own, which know nothing of the IR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import begins
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import elementwise, tg
from tgdialect.transforms.cancelling_logarithms import (
    lgamma,
    lgamma_for_f32,
    logaddexp,
    logaddexp_for_f32,
)
from tgdialect.transforms.error_function import erf, erfc, gelu
from tgdialect.transforms.logistic import gate
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.remainder import fmod
from tgdialect.transforms.sine import cos, sin
from tgdialect.transforms.soft_float import NARROW_FORMATS, soft_cast
from tgdialect.transforms.tg_semantics import Tg, TgSemantics
from tgdialect.transforms.threefry import threefry
from tgdialect.transforms.transcendental import (
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    power,
    softplus,
    sqrt,
)


def _neg(a: Tg) -> Tg:
    return a * (-1 if (row := tg.DTYPES[tg.TYPES[a.dtype]]).is_float else tg.wrap_to(row, -1))


_UNARY: dict[str, Callable[[Tg], Tg]] = {
    "neg": _neg,
    "not": lambda a: a.ne(1),
    "exp2": exp2,
    "log2": log2,
    "exp": exp,
    "log": log,
    "log10": log10,
    "expm1": expm1,
    "log1p": log1p,
    "softplus": softplus,
    "sin": sin,
    "cos": cos,
    "erf": erf,
    "erfc": erfc,
    "gelu": gelu,
    "sqrt": sqrt,
}
_BINARY: dict[str, Callable[[Tg, Tg], Tg]] = {
    "sub": lambda a, b: a + -b,
    "div": lambda a, b: a * b.recip(),
    "cmpgt": lambda a, b: b < a,
    "cmpge": lambda a, b: (a < b).ne(1),
    "cmple": lambda a, b: (b < a).ne(1),
    "cmpeq": lambda a, b: a.ne(b).ne(1),
    "gate": gate,
    "pow": power,
    "logaddexp": logaddexp_for_f32,
    "lgamma": lambda x, approximation: approximation,
    "fmod": fmod,
    "threefry": threefry,
}
_TERNARY: dict[str, Callable[[Tg, Tg, Tg], Tg]] = {"mulacc": lambda a, b, c: a * b + c}
RECIPES: Mapping[str, Callable[..., Tg]] = {**_UNARY, **_BINARY, **_TERNARY}
"""By the op's name without its dialect: what the op is decomposed into."""

REFINED: Mapping[str, tuple[Callable[..., Tg], Callable[..., Tg]]] = {
    "logaddexp": (logaddexp, logaddexp_for_f32),
    "lgamma": (lgamma, lgamma_for_f32),
}
"""Recipes of ops of f64 where MULACC is rounded once, with all digits where terms cancel, and those
for a result that is only rounded to f32 or a narrower float."""

_SEVERAL = (elementwise.SqrtOp, elementwise.FmodOp, elementwise.DivOp, elementwise.MulAccOp)
_WIDENED = {op.name for op in (*elementwise.TRANSCENDENTAL, *_SEVERAL)}
"""Ops whose recipes are for f32 and f64, or have results in between that are rounded: narrower
floats are computed in f32 (docs/semantics.md)."""


def is_soft_cast(op: Operation) -> bool:
    """Whether `op` converts to or from f16, bf16 or fp8."""
    if not isinstance(op, elementwise.CastOp):
        return False
    source, result = tg.dtype_of(op.source).name, tg.dtype_of(op.result).name
    return source != result and (source in NARROW_FORMATS or result in NARROW_FORMATS)


def decompose(op: Operation) -> list[Operation]:
    """Replace one op, of `RECIPES` or a soft cast, by its decomposition; returns the new ops.

    Args:
        op: a decomposed elementwise op, or a CAST for which `is_soft_cast` holds.

    The new ops stand where `op` was, with its location. They may be decomposed ops themselves.
    """
    builder = tg.UniquingBuilder.at_end(Block(), op.location)
    operands = [*map(TgSemantics(builder).value, op.operands)]
    if isinstance(op, elementwise.CastOp):
        result = soft_cast(operands[0], cast(Dtype, tg.dtype_of(op.result).name))
    else:
        recipe, dtype = RECIPES[op.name.removeprefix("tg.")], operands[0].dtype
        if op.name in _WIDENED and dtype in NARROW_FORMATS:
            result = recipe(*(operand.cast("f32") for operand in operands)).cast(dtype)
        else:
            result = recipe(*operands)
    new = ops_of(builder.block)
    Rewriter.inline_block(builder.block, InsertPoint.before(op))
    Rewriter.replace_op(op, (), [result.handle])
    return new


@dataclass(frozen=True)
class DecomposePass(ModulePass):
    """Rewrite decomposed ops into primitives by the specification's table.

    A recipe may use ops that are decomposed ops themselves (NEG, SUB, MULACC, CMPEQ, …): these are
    decomposed if they are among `ops`.
    """

    name = "tg-decompose"

    ops: tuple[str, ...] = ()
    """Names of ops without the dialect, as `ops=exp2,log2`; all if none is given."""
    soft_casts: bool = False
    """CASTs to and from f16, bf16 and fp8 become integer operations, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = self.ops or tuple(RECIPES)
        for name in names:
            if name not in RECIPES:
                raise PassFailedException(f"'{name}' is not a decomposed op: {', '.join(RECIPES)}")
        chosen, todo = {f"tg.{name}" for name in names}, list(op.walk())
        while todo:
            each = todo.pop()
            if each.name in chosen or (self.soft_casts and is_soft_cast(each)):
                if not begins("recipe", each):
                    break
                todo += decompose(each)
