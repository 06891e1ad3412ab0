"""ATen ops that are gradients of others: made from the function itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tgdialect.frontend.tensor import Tensor


def gradients(
    function: Callable[..., Tensor],
    gradient: Tensor,
    *arguments: Tensor,
    wanted: Sequence[bool] = (),
) -> list[Tensor | None]:
    """The gradients of a function of tensors by its arguments, for that of its result; None for
    those that are not wanted."""
    targets = [Tensor(argument).requires_grad_() for argument in arguments]
    chosen = [i for i in range(len(targets)) if not wanted or wanted[i]]
    found = function(*targets).gradient(*(targets[i] for i in chosen), gradient=gradient)
    by_place = dict(zip(chosen, found, strict=True))
    return [by_place.get(i) for i in range(len(targets))]
