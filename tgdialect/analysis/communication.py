"""The cost of collectives: the bytes that devices send, and how long that takes.

The algorithms and their costs are those of Thakur, Rabenseifner and Gropp, "Optimization of
Collective Communication Operations in MPICH" (2005): a message of b bytes takes the latency of the
link and b divided by its bandwidth, and each device sends and receives at the same time.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple


class Collective(Enum):
    """The collectives of `shard_dialect`, by the names of their ops."""

    ALL_GATHER = "all_gather"
    ALL_REDUCE = "all_reduce"
    ALL_TO_ALL = "all_to_all"
    BROADCAST = "broadcast"
    GATHER = "gather"
    REDUCE = "reduce"
    REDUCE_SCATTER = "reduce_scatter"
    SCATTER = "scatter"
    TRANSFER = "transfer"
    """A SEND and its RECV."""


class Link(NamedTuple):
    """The connection of a device with the others.

    Attributes:
        latency: of a message, in seconds.
        bandwidth: in bytes per second.
    """

    latency: float
    bandwidth: float


Algorithm = Literal["ring", "tree"]
"""How a collective is executed: in many steps between neighbours with few bytes each, or in few
steps (recursive doubling and halving, binomial trees, and Bruck's for all_to_all)."""


def bytes_sent(kind: Collective, size: int, devices: int) -> int:
    """The bytes that all devices together send, by the algorithm that sends fewest.

    Rabenseifner's for `all_reduce`: each of n devices sends (n - 1) / n of its value twice.

    Args:
        kind: the collective.
        size: the bytes of the operand on one device.
        devices: how many take part.
    """
    others = (devices - 1) * size
    sent = {
        Collective.ALL_REDUCE: 2 * others,
        Collective.ALL_GATHER: devices * others,
        Collective.SCATTER: others // devices,
        Collective.TRANSFER: size,
    }
    return sent.get(kind, others)


def seconds(
    kind: Collective, size: float, devices: int, link: Link, algorithm: Algorithm = "ring"
) -> float:
    """How long a collective takes; the arguments are those of `bytes_sent`.

    Additions of a reduction are not counted. One device takes no time.
    """
    if devices == 1:
        return 0.0
    messages, each = (_ring if algorithm == "ring" else _tree)(kind, size, devices)
    return messages * link.latency + each / link.bandwidth


def _ring(kind: Collective, size: float, n: int) -> tuple[int, float]:
    """The messages, and the bytes, that one device sends after each other."""
    steps, part = n - 1, size * (n - 1) / n
    costs = {
        Collective.ALL_REDUCE: (2 * steps, 2 * part),
        Collective.ALL_GATHER: (steps, steps * size),
        Collective.GATHER: (steps, steps * size),
        Collective.BROADCAST: (steps + steps.bit_length(), 2 * part),
        Collective.REDUCE: (steps + steps.bit_length(), 2 * part),
        Collective.TRANSFER: (1, size),
    }
    return costs.get(kind, (steps, part))


def _tree(kind: Collective, size: float, n: int) -> tuple[int, float]:
    """The messages, and the bytes, that one device sends after each other."""
    levels, part = (n - 1).bit_length(), size * (n - 1) / n
    costs = {
        **dict.fromkeys((Collective.ALL_GATHER, Collective.GATHER), (n - 1) * size),
        Collective.ALL_TO_ALL: levels * size / 2,
        Collective.SCATTER: part,
        Collective.REDUCE_SCATTER: part,
    }
    if kind is Collective.TRANSFER:
        return 1, size
    return levels, costs.get(kind, levels * size)
