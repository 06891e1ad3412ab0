"""Products that matrix instructions compute, and the bits of the coordinates of their fragments.

OptOp TC splits ranges by the layout of C. `tg-expand` computes A and B at the coordinates of their
own layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard, TypeVar

from xdsl.ir import Attribute, SSAValue

from tgdialect.ops import tg

_T = TypeVar("_T")

# -- products -------------------------------------------------------------------------------------


class Product(NamedTuple):
    """The factors of what a REDUCE adds up, in the dtype in which they are multiplied, and the
    gates without which it is 0."""

    a: SSAValue
    b: SSAValue
    gates: Sequence[SSAValue]


def product_of(value: SSAValue) -> Product | None:
    """The product that a value is, through CASTs to a wider float and gates; None if it is none."""
    gates: list[SSAValue] = []
    while True:
        match value.owner:
            case tg.CastOp(source=narrow) as cast if _widens(cast):
                value = narrow
            case tg.WhereOp(operands=(gate, product, zero)) if is_zero(zero):
                gates.append(gate)
                value = product
            case tg.MulOp(operands=(a, b)):
                a, b = map(_narrowest, (a, b))
                return Product(a, b, gates) if _dtype(a) == _dtype(b) else None
            case _:
                return None


def _narrowest(value: SSAValue) -> SSAValue:
    """A factor before a CAST that represents it exactly."""
    return value.owner.source if _widens(value.owner) else value


def _widens(op: object) -> TypeGuard[tg.CastOp]:
    if not isinstance(op, tg.CastOp):
        return False
    narrow, wide = (tg.DTYPES[_dtype(value)] for value in (op.operands[0], op.results[0]))
    return narrow.is_float and wide.is_float and narrow.bits < 32 <= wide.bits


def _dtype(value: SSAValue) -> Attribute:
    return tg.tensor(value).element_type


def is_zero(value: SSAValue) -> bool:
    """Whether a value is the constant 0."""
    return isinstance(value.owner, tg.ConstOp) and tg.number(value.owner.value) == 0


# -- fields of bits -------------------------------------------------------------------------------


class Move(NamedTuple):
    """One bit of an index, which becomes bit `to` of another one."""

    source: SSAValue
    bit: int
    to: int


def fields(layout: Sequence[str]) -> list[list[str]]:
    """The bits of elements by runs: those that count neighbours along one axis, lowest first."""
    return _runs(layout, lambda bit: f"{bit[0]}{int(bit[1:]) - 1}")


def _runs(items: Iterable[_T], before: Callable[[_T], _T]) -> list[list[_T]]:
    """Items by runs, in which each has the one `before` it."""
    runs: list[list[_T]] = []
    for item in items:
        if runs and runs[-1][-1] == before(item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def places(
    lane: SSAValue | None, elements: Sequence[SSAValue], layout: Sequence[str], threads: int
) -> dict[str, tuple[SSAValue, int]]:
    """Where each bit of a layout is: an index, and the number of its bit there. `elements` are the
    indices of the fields of elements, lowest first. There is no lane where there is one thread."""
    lanes = threads.bit_length() - 1
    found: dict[str, tuple[SSAValue, int]] = {}
    if lane is not None:
        found = {name: (lane, i) for i, name in enumerate(layout[:lanes])}
    for index, run in zip(elements, fields(layout[lanes:]), strict=True):
        found |= {name: (index, i) for i, name in enumerate(run)}
    return found


def assembled(builder: tg.OpBuilder, moves: Iterable[Move], sizes: Mapping[Any, int]) -> SSAValue:
    """The index whose bits are moved from others. `sizes` are how many bits these have."""
    in_order = sorted(moves, key=lambda move: move.to)
    put, total = builder.put, None
    for (index, bit, to), *rest in _runs(in_order, lambda m: Move(m[0], m[1] - 1, m[2] - 1)):
        part = index
        if bit:
            part = put(tg.IDivOp(part, builder.index_constant(1 << bit)))
        if bit + 1 + len(rest) < sizes[index]:
            part = put(tg.ModOp(part, builder.index_constant(2 << len(rest))))
        if to:
            part = put(tg.MulOp(part, builder.index_constant(1 << to)))
        total = part if total is None else put(tg.AddOp(total, part))
    return builder.index_constant(0) if total is None else total


def c_fields(config: tg.WmmaAttr) -> list[list[str]]:
    """The fields of the elements of C that a lane holds, lowest first."""
    return fields(config.layout("c")[config.threads.bit_length() - 1 :])
