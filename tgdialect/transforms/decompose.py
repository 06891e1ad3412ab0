"""`tg-decompose`: rewrites the decomposed elementwise ops into primitives.

`UNARY`, `BINARY` and `TERNARY` are the specification's table "Decomposed elementwise ops". The
recipes of EXP2, LOG2, SIN, SQRT, POW and THREEFRY are in modules of their own, which know nothing
of the IR.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.ops import elementwise
from tgdialect.ops.dtypes import DTYPES, wrap_to
from tgdialect.ops.movement import BitcastOp
from tgdialect.ops.properties import dtype_of
from tgdialect.ops.source import ConstOp
from tgdialect.transforms.recipe import Dtype, Primitive, Value
from tgdialect.transforms.sine import sin
from tgdialect.transforms.soft_float import NARROW_FORMATS, soft_cast
from tgdialect.transforms.threefry import threefry
from tgdialect.transforms.transcendental import exp2, log2, power, sqrt

Tg = Value[SSAValue]

_TYPES: dict[str, Attribute] = {row.name: type for type, row in DTYPES.items()}

_OPS: dict[Primitive, Callable[..., Operation]] = {
    "add": elementwise.AddOp,
    "neg": elementwise.NegOp,
    "sub": elementwise.SubOp,
    "mul": elementwise.MulOp,
    "mulacc": elementwise.MulAccOp,
    "recip": elementwise.RecipOp,
    "trunc": elementwise.TruncOp,
    "and": elementwise.AndOp,
    "or": elementwise.OrOp,
    "xor": elementwise.XorOp,
    "shl": elementwise.ShlOp,
    "shr": elementwise.ShrOp,
    "cmplt": elementwise.CmpLtOp,
    "cmpeq": elementwise.CmpEqOp,
    "cmpne": elementwise.CmpNeOp,
    "not": elementwise.NotOp,
    "where": elementwise.WhereOp,
}


class TgSemantics:
    """Builds tg ops, in the order in which the recipe applies them. Equal constants are one op."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []
        self._constants: dict[tuple[str, Dtype], SSAValue] = {}

    def constant(self, value: int | float, dtype: Dtype) -> SSAValue:
        key = (repr(value), dtype)  # tells -0.0 from 0.0, and NaN equals itself
        if (known := self._constants.get(key)) is None:
            known = self._constants[key] = self._add(ConstOp(value, _TYPES[dtype]))
        return known

    def apply(self, primitive: Primitive, operands: tuple[SSAValue, ...], dtype: Dtype) -> SSAValue:
        match primitive:
            case "cast":
                return self._add(elementwise.CastOp(operands[0], _TYPES[dtype]))
            case "bitcast":
                return self._add(BitcastOp(operands[0], _TYPES[dtype]))
            case _:
                return self._add(_OPS[primitive](*operands))

    def _add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]


def _neg(a: Tg) -> Tg:
    return a * (-1 if (row := DTYPES[_TYPES[a.dtype]]).is_float else wrap_to(row, -1))


UNARY: dict[str, Callable[[Tg], Tg]] = {
    "neg": _neg,
    "not": lambda a: a.ne(1),
    "exp2": exp2,
    "log2": log2,
    "sin": sin,
    "sqrt": sqrt,
}
BINARY: dict[str, Callable[[Tg, Tg], Tg]] = {
    "sub": lambda a, b: a + -b,
    "div": lambda a, b: a * b.recip(),
    "cmpgt": lambda a, b: b < a,
    "cmpge": lambda a, b: (a < b).ne(1),
    "cmple": lambda a, b: (b < a).ne(1),
    "cmpeq": lambda a, b: a.ne(b).ne(1),
    "pow": power,
    "threefry": threefry,
}
TERNARY: dict[str, Callable[[Tg, Tg, Tg], Tg]] = {
    "mulacc": lambda a, b, c: a * b + c,
}
"""By arity and the op's name without its dialect: what the op is decomposed into."""

NAMES = (*UNARY, *BINARY, *TERNARY)
"""Every op that has a decomposition."""

WIDENED = {"exp2", "log2", "sin", "sqrt", "pow"}
"""Ops whose recipes are for f32 and f64: narrower floats are computed in f32."""


def _decomposition(name: str, operands: list[Tg]) -> Tg:
    dtype = operands[0].dtype
    if name in WIDENED and dtype in NARROW_FORMATS:
        return _decomposition(name, [o.cast("f32") for o in operands]).cast(dtype)
    match operands:
        case [a]:
            return UNARY[name](a)
        case [a, b]:
            return BINARY[name](a, b)
        case [a, b, c]:
            return TERNARY[name](a, b, c)
        case _:
            raise ValueError(f"{name} has {len(operands)} operands")


def is_soft_cast(op: Operation) -> bool:
    """Whether `op` converts to or from f16, bf16 or fp8."""
    if not isinstance(op, elementwise.CastOp):
        return False
    source, result = dtype_of(op.source).name, dtype_of(op.result).name
    return source != result and (source in NARROW_FORMATS or result in NARROW_FORMATS)


def decompose(op: Operation) -> list[Operation]:
    """Replace one op, of `NAMES` or a soft cast, by its decomposition; returns the new ops.

    Args:
        op: a decomposed elementwise op, or a CAST for which `is_soft_cast` holds.

    The new ops stand where `op` was, with its location. They may be decomposed ops themselves.
    """
    semantics = TgSemantics()
    operands = [Value(semantics, o, cast(Dtype, dtype_of(o).name)) for o in op.operands]
    if isinstance(op, elementwise.CastOp):
        result = soft_cast(operands[0], cast(Dtype, dtype_of(op.result).name))
    else:
        result = _decomposition(op.name.removeprefix("tg."), operands)
    for new_op in semantics.ops:
        new_op.location = op.location
    Rewriter.insert_op(semantics.ops, InsertPoint.before(op))
    Rewriter.replace_op(op, (), [result.handle])
    return semantics.ops


def decompose_all(
    ops: Iterable[Operation], names: Collection[str], *, soft_casts: bool = False
) -> None:
    """Decompose the ops of these names, and what they become, until none is left.

    Args:
        ops: where to look; ops inside their regions are not visited.
        names: some of `NAMES`.
        soft_casts: whether to decompose CASTs to and from f16, bf16 and fp8 too.
    """
    chosen = {f"tg.{name}" for name in names}
    todo = list(ops)
    while todo:
        op = todo.pop()
        if op.name in chosen or (soft_casts and is_soft_cast(op)):
            todo.extend(decompose(op))


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
        names = self.ops or NAMES
        for name in names:
            if name not in NAMES:
                raise PassFailedException(f"'{name}' is not a decomposed op: {', '.join(NAMES)}")
        decompose_all(list(op.walk()), names, soft_casts=self.soft_casts)
