"""The built-in CUSTOMFUNCTIONs: sorts, for which `tg-choose-sorts` has an algorithm for the target.

They are executed without `allow_custom`, since they are no code of a caller. A CALL of one has two
arguments, both memory. It sorts the last axis of the first one, stably and with NaN as the greatest
number. In the second one it stores as many of the sorted values, or of their positions, as that
has: the first ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.dtypes import I32
from tgdialect.ops.properties import is_memory, tensor


class SortKind(NamedTuple):
    """Which order, and whether it gives the values or their positions."""

    gives_values: bool
    descending: bool


SORTS = {
    "tg.sort": SortKind(gives_values=True, descending=False),
    "tg.sort_descending": SortKind(gives_values=True, descending=True),
    "tg.argsort": SortKind(gives_values=False, descending=False),
    "tg.argsort_descending": SortKind(gives_values=False, descending=True),
}
"""The sorts by their symbols."""


def verify_sort(name: str, arguments: Sequence[SSAValue]) -> None:
    """Raise VerifyException unless a sort can be called with these arguments."""
    if len(arguments) != 2 or not all(map(is_memory, arguments)):
        raise VerifyException(f"@{name} takes the memory that it sorts, and memory for the result")
    source, target = map(tensor, arguments)
    dtype = source.element_type if SORTS[name].gives_values else I32
    extents, wanted = source.get_shape(), target.get_shape()
    if not extents:
        raise VerifyException(f"@{name} sorts the last axis, and {source} has none")
    n, count = extents[-1], wanted[-1] if wanted else DYNAMIC_INDEX
    is_within = n == count if DYNAMIC_INDEX in (n, count) else count <= n
    if target.element_type != dtype or extents[:-1] != wanted[:-1] or not is_within:
        raise VerifyException(
            f"@{name} stores {dtype} in all of the axes of {source}, in the last one for as many "
            f"cells or fewer, and not in {target}"
        )
