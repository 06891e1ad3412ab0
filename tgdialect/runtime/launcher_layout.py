"""What the code of launchers (`native/launcher.ll`) takes for granted: where the fields of objects
are, and how the tables are laid out that `launcher.py` makes."""

from __future__ import annotations

from tgdialect.runtime.native import native_ir

MAX_SLOTS, MAX_AXES = 256, 8
"""The most arguments that a function, and axes that an array may have."""

TYPE, DATA, RANK, EXTENTS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
"""Where the fields of an array are, in bytes; the type is that of every object."""
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
ADDRESS = -1
"""In place of a number of axes."""
HEADER, SLOT = 5, 5 + MAX_AXES
"""Words of the table of a launcher: of the function, and of each slot."""
HOLDER_HEADER = 15
"""Words of the table of a launcher with holders, before its pairs of a place and an object."""


def launcher_ir() -> str:
    """The code of all launchers."""
    return native_ir(
        "launcher",
        TYPE=TYPE,
        DATA=DATA,
        RANK=RANK,
        EXTENTS=EXTENTS,
        DTYPE=DTYPE,
        FLAGS=FLAGS,
        ADDRESS=ADDRESS,
        HEADER=HEADER,
        SLOT=SLOT,
        HOLDER_HEADER=HOLDER_HEADER,
    )
