"""STOREs of the results of a function."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import BlockArgument, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.properties import tensor
from tgdialect.ops.views import memory_of


def is_result(memory: SSAValue) -> bool:
    """Whether memory is, or may become, a result of the function: invalid cells of it are 0."""
    if not isinstance(memory, BlockArgument):
        return False
    return not {"tg.output", "tg.donated"}.isdisjoint(argument_attributes(memory))


def store_of_result(value: SSAValue, is_valid: Callable[[SSAValue], bool]) -> tg.StoreOp | None:
    """The STORE of just this value in a whole result of the function, if there is one. `is_valid`
    says whether all cells of a value are valid."""
    for use in value.uses:
        op = use.operation
        if (
            isinstance(op, tg.StoreOp)
            and use.index == 1
            and op.gate is None
            and is_result(op.buffer)
            and tensor(op.buffer).element_type == tensor(value).element_type
            and is_valid(value)
        ):
            return op
    return None


def only_store_of_result(value: SSAValue) -> tg.StoreOp | None:
    """The STORE of a value in a view of a result of the function, if that is its only use."""
    uses = [use.operation for use in value.uses]
    if len(uses) != 1 or not isinstance(store := uses[0], tg.StoreOp) or store.gate is not None:
        return None
    is_same = tensor(store.buffer).element_type == tensor(value).element_type
    return store if is_same and is_result(memory_of(store.buffer)) else None
