"""The seven collectives, as the specification derives them ("Multi-Device Collectives").

D is a tuple of n devices. Where the specification has a vector of s elements, a tensor may have
further axes. `tg-raise-collectives` recognises them, so that each is executed as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tgdialect.frontend.tensor import Tensor
from tgdialect.ops import tg

__all__ = [
    "allgather",
    "allreduce",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def broadcast(tensor: Tensor, devices: Sequence[str]) -> Tensor:
    """A copy of a tensor on each device: (s,) on one device to (s,) on D."""
    n = len(devices)
    return _row(tensor).expand(n, *tensor.shape).copy(devices).replicated(0)


def scatter(tensor: Tensor, devices: Sequence[str]) -> Tensor:
    """The parts of a tensor along axis 0, one on each device: (n * s,) to (n * s,) on D, axis 0."""
    return tensor.copy(devices)


def gather(tensor: Tensor, device: str | None = None) -> Tensor:
    """All parts on one device, by default the first: (n * s,) on D, axis 0, to (n * s,) there."""
    return tensor.copy(_devices(tensor)[0] if device is None else device)


def reduce(tensor: Tensor, device: str | None = None, op: str = "add") -> Tensor:
    """The sum of the parts on one device, by default the first: (n * s,) on D, axis 0, to (s,).

    `op` is "add", "mul" or "max".
    """
    n = len(_devices(tensor))
    size, *rest = tensor.shape
    parts = gather(tensor, device).reshape(n, size // n, *rest)
    return _reduced(parts, op, 0).reshape(size // n, *rest)


def allgather(tensor: Tensor) -> Tensor:
    """All parts on each device: (n * s,) on D, axis 0, to (n * s,) on D."""
    devices = _devices(tensor)
    return _row(tensor).expand(len(devices), *tensor.shape).copy(devices).replicated(0)


def reduce_scatter(tensor: Tensor, op: str = "add") -> Tensor:
    """The parts of the sum of the parts: (n * s,) on D, axis 0, to (s,) on D, axis 0.

    Raises ValueError unless n divides s.
    """
    devices = _devices(tensor)
    n = len(devices)
    size, *rest = tensor.shape
    if size % (n * n):
        raise ValueError(f"{n} devices share no sum of {size // n} rows: it has no {n} equal parts")
    parts = tensor.reshape(n, n, size // n // n, *rest)
    order = (1, 0, *range(2, parts.ndim))
    return _reduced(parts.permute(order).copy(devices), op, 1).reshape(size // n, *rest)


def allreduce(tensor: Tensor, op: str = "add") -> Tensor:
    """The sum of the parts on each device: (n * s,) on D, axis 0, to (s,) on D.

    Raises ValueError unless n divides s.
    """
    return allgather(reduce_scatter(tensor, op))


def _devices(tensor: Tensor) -> tuple[str, ...]:
    """The devices of a tensor that is split along axis 0. Raises ValueError for any other."""
    device = tensor.device
    if not isinstance(device, tuple) or tensor.axis != 0:
        where = "on " + (device if isinstance(device, str) else ", ".join(device))
        layout = "" if tensor.axis is None else f", split along axis {tensor.axis}"
        raise ValueError(
            f"a tensor that is split along axis 0 among devices, not one {where}{layout}"
        )
    return device


def _row(tensor: Tensor) -> Tensor:
    return tensor.reshape(1, *tensor.shape)


def _reduced(tensor: Tensor, op: str, axis: int) -> Tensor:
    """A REDUCE along an axis, in the dtype of the tensor."""
    kinds = [kind.value for kind in tg.ReduceKind]
    if op not in kinds:
        raise ValueError(f"op is one of {', '.join(kinds)}, not {op!r}")
    return tensor._apply(tg.ReduceOp, tg.ReduceKind(op), tensor.node, (axis,))  # pyright: ignore[reportPrivateUsage]
