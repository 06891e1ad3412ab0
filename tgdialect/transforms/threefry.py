"""THREEFRY in primitive operations: Threefry 2x32 with 20 rounds.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); the
rotations and the parity constant are those of its 2x32 generator.
"""

from __future__ import annotations

from tgdialect.transforms.recipe import RecipeValue, V

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""Of the four rounds of a group, for groups of even and odd number."""
GROUPS = 5
"""The groups of four rounds: Threefry-2x32 has 20 rounds."""
KEY_PARITY = 0x1BD11BDA
"""The constant that makes the third word of the key. Source: the Skein hash function, version
1.3."""


def threefry(counter: RecipeValue[V], key: RecipeValue[V]) -> RecipeValue[V]:
    """The block for a counter and a key; all are ui64 with the first word in the low half."""
    first, second = _unpack(counter)
    keys = [*_unpack(key)]
    keys.append(keys[0] ^ keys[1] ^ KEY_PARITY)

    first, second = first + keys[0], second + keys[1]
    for group in range(GROUPS):
        for distance in ROTATIONS[group % 2]:
            first = first + second
            second = ((second << distance) | (second >> (32 - distance))) ^ first
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + (group + 1)
    return first.cast("ui64") | (second.cast("ui64") << 32)


def _unpack(pair: RecipeValue[V]) -> tuple[RecipeValue[V], RecipeValue[V]]:
    return pair.cast("ui32"), (pair >> 32).cast("ui32")
