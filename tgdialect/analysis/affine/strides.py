"""The stride of a memory access in each range: how far apart neighbouring iterations access."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.affine import composed, times

Strides = Mapping[tg.RangeOp, int | None]
"""Elements between neighbouring iterations of each range; None where the distance varies."""


def strides(
    location: SSAValue,
    ranges_around: Callable[[SSAValue], Iterable[tg.RangeOp]],
    known: dict[SSAValue, tg.Polynomial] | None = None,
) -> Strides:
    """The strides of a location of a kernel. A range that is missing has stride 0.

    `ranges_around` gives the loops that a value depends on. `known` keeps the polynomials of
    indices from one call to the next; the ops that they have seen must not change.
    """
    position = _row_major(location, {} if known is None else known)
    if position is None:
        return dict.fromkeys(ranges_around(location), None)
    result: dict[tg.RangeOp, int | None] = {}
    for product, coefficient in position.terms.items():
        for atom in product:
            owner = atom.owner if isinstance(atom, SSAValue) else None
            if isinstance(owner, tg.RangeOp) and len(product) == 1:
                result.setdefault(owner, coefficient)
            elif isinstance(atom, SSAValue):
                result.update(dict.fromkeys(ranges_around(atom), None))
    return result


def _row_major(location: SSAValue, known: dict[SSAValue, tg.Polynomial]) -> tg.Polynomial | None:
    """The row-major position of a location in its buffer as a polynomial; None if it has none."""
    owner = tg.behind(location, tg.AfterOp).owner
    if not isinstance(owner, tg.IndexOp) or len(owner.indices) < len(tg.shape_of(owner.source)):
        return None
    if isinstance(
        tg.behind(owner.source, tg.AfterOp, tg.ReshapeOp, tg.BitcastOp).owner, tg.MovementOp
    ):
        return None
    total: tg.Polynomial | None = tg.Affine()
    for index, extent in zip(owner.indices, tg.shape_of(owner.source), strict=True):
        assert not isinstance(extent, tg.UnknownDim)
        scaled = None if total is None else times(total, tg.polynomial(extent))
        at = unclamped_polynomial(index, known)
        total = None if scaled is None or at is None else scaled + at
    return total


def unclamped_polynomial(
    index: SSAValue, known: dict[SSAValue, tg.Polynomial] | None = None
) -> tg.Polynomial | None:
    """An index without its clamps, also those of its parts; None if it is too large. `known` keeps
    the polynomials of values."""

    def value(atom: SSAValue | tg.UnknownDim) -> tg.Polynomial | None:
        if not isinstance(atom, SSAValue) or unclamped(atom) is atom:
            return tg.Affine({(atom,): 1})
        return unclamped_polynomial(atom, known)

    found = tg.polynomial(unclamped(index), (), known)
    atoms = (atom for product in found.terms for atom in product)
    if all(not isinstance(atom, SSAValue) or unclamped(atom) is atom for atom in atoms):
        return found
    return composed(found, value)


def unclamped(index: SSAValue) -> SSAValue:
    """An index without the clamp that PADTO or a SPLIT whose last part overlaps the one before
    adds: i of `where(i < n, i, n - 1)`, and of `where(i < n, i, n)`."""
    op = index.owner
    if not isinstance(op, tg.WhereOp):
        return index
    test, value, last = op.operands
    if not isinstance(test.owner, tg.CmpLtOp) or test.owner.lhs is not value:
        return index
    limit, most = tg.known_index(test.owner.rhs), tg.known_index(last)
    is_last = (limit is not None and most in (limit - 1, limit)) or (
        isinstance(last.owner, tg.AddOp | tg.SubOp) and last.owner.lhs is test.owner.rhs
    )
    return value if is_last else index
