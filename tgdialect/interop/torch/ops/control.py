"""Conditionals and loops of PyTorch's higher-order ops, whose branches and steps are graphs.

A graph among the operands is a function of `Tensor`s here, which returns the list of its results.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tgdialect.frontend.loops import cond, while_loop
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype

Results = Callable[..., list[Any]]


def _cond(pred: Any, then: Results, other: Results, operands: Sequence[Any]) -> list[Any]:
    flag = pred.reshape(()) if isinstance(pred, Tensor) else pred
    return cond(flag, then, other, *operands)


def _while_loop(
    holds: Results, step: Results, carried: Sequence[Any], others: Sequence[Any]
) -> list[Any]:
    """Raises Refusal for a state that is a number, whose last value no program returns."""
    if not all(isinstance(value, Tensor) for value in carried):
        raise Refusal("a loop whose state has numbers: make tensors of them")

    def goes_on(state: list[Any]) -> Any:
        (flag,) = holds(*state, *others)
        return flag.reshape(()) if isinstance(flag, Tensor) else Tensor(flag)

    return while_loop(goes_on, lambda state: step(*state, *others), list(carried))


CONTROL: Table = in_own_dtype(
    {
        torch.ops.higher_order.cond: _cond,
        torch.ops.higher_order.while_loop: _while_loop,
    }
)
