"""THREEFRY: the Threefry 2x32 generator with 20 rounds, on NumPy arrays.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Written apart
from the decomposition in `transforms/threefry.py`, so that each checks the other.
"""

from __future__ import annotations

import numpy as np

from tgdialect.ops.numpy_dtypes import Array

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
"""The bits by which a round rotates, for eight rounds. Source: Salmon et al., "Parallel Random
Numbers: As Easy as 1, 2, 3" (2011)."""
_ROUNDS = 20
"""The rounds of Threefry-2x32, as in the same paper."""
_PARITY = np.uint32(0x1BD11BDA)
"""The constant that makes the third word of the key, as in the same paper."""


def _words(packed: Array) -> tuple[Array, Array]:
    """The words of a ui64: the first is the low half."""
    return packed.astype(np.uint32), (packed >> np.uint64(32)).astype(np.uint32)


def threefry(counter: Array, key: Array) -> Array:
    """The block for a counter and a key, arrays of ui64 that broadcast."""
    first_key, second_key = _words(key)
    schedule = (first_key, second_key, first_key ^ second_key ^ _PARITY)
    first, second = _words(counter)
    first, second = first + schedule[0], second + schedule[1]
    for round in range(_ROUNDS):
        distance = _ROTATIONS[round % len(_ROTATIONS)]
        first = first + second
        rotated = (second << np.uint32(distance)) | (second >> np.uint32(32 - distance))
        second = rotated ^ first
        if round % 4 == 3:
            injection = round // 4 + 1
            first = first + schedule[injection % 3]
            second = second + schedule[(injection + 1) % 3] + np.uint32(injection)
    return first.astype(np.uint64) | (second.astype(np.uint64) << np.uint64(32))
