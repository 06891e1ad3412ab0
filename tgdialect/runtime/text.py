"""Numbers with units, and tables, for people to read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_BYTES = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def show_bytes(count: int) -> str:
    """A number of bytes with a unit that fits it."""
    if count < 1024:
        return f"{count} bytes"
    exponent = min((count.bit_length() - 1) // 10, len(_BYTES))
    return f"{count / 1024**exponent:.4g} {_BYTES[exponent - 1]}"


def show_seconds(seconds: float) -> str:
    """A time with a unit that fits it."""
    for scale, unit in ((1e-6, "ns"), (1e-3, "us"), (1.0, "ms")):
        if seconds < scale:
            return f"{seconds / scale * 1000:.2f} {unit}"
    return f"{seconds:.3f} s"


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Rows of cells as lines with columns; those at the positions `left` are text, the others
    numbers. The last column, if it is text, may be of any width. Cells may be names of any text."""
    from tgdialect.diagnostics import printable  # Late: it imports xDSL.

    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
