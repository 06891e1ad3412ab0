"""The numbers of the cells that an access of flat memory is of, as sums of index values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.lanes import is_ramp, lane_indices, shifted
from tgdialect.analysis.memory_order import MemoryAccess
from tgdialect.ops import tg


class CellNumber(NamedTuple):
    """The cells of an access: for each lane, a number plus the sum that all lanes share."""

    shared: tg.Polynomial
    """Its constant is 0, because `lanes` includes it."""
    lanes: Sequence[int]
    """A `range` where all are equally far apart."""

    @property
    def is_ramp(self) -> bool:
        """Whether each lane's cell comes after that of the lane before."""
        return is_ramp(self.lanes)


class CellNumbers:
    """The cells of accesses. Each value that they are computed from is looked at once: the ops that
    compute indices must not change between two questions."""

    def __init__(self) -> None:
        self._polynomials: dict[SSAValue, tg.Polynomial] = {}

    def polynomial(self, value: SSAValue) -> tg.Polynomial:
        """An index value as a polynomial."""
        return tg.polynomial(value, known=self._polynomials)

    def __getitem__(self, access: MemoryAccess) -> CellNumber | None:
        """The cells of an access; None where its index is neither a scalar nor a sum of scalars and
        a constant for each lane."""
        location = access.location.owner
        if not isinstance(location, tg.IndexOp) or len(location.indices) != 1:
            return None
        return cell_number(location.indices[0], self.polynomial)


def cell_number(
    index: SSAValue, polynomial: Callable[[SSAValue], tg.Polynomial]
) -> CellNumber | None:
    """The cells at an index, given its scalars as polynomials; None where it is neither a scalar
    nor a sum of scalars and a constant for each lane."""
    total: tg.Polynomial = tg.Affine()
    if not tg.tensor(index).get_shape():
        total, numbers = polynomial(index), range(1)
    elif (vector := lane_indices(index)) is not None:
        numbers = vector.numbers
        for value, factor in vector.scalars.terms.items():
            total += polynomial(value) * factor
    else:
        return None
    return CellNumber(tg.Affine(total.terms), shifted(numbers, total.constant))
