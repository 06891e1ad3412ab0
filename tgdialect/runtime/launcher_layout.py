"""The offsets that the code of launchers (`native/launcher.ll`) uses: of the fields of NumPy's
arrays, and of the entries of the tables that `launcher.py` makes."""

from __future__ import annotations

from tgdialect.runtime.native import native_ir

MAX_SLOTS, MAX_AXES = 256, 8
"""Limits of a launcher: the arguments of a function, and the axes of an array."""

TYPE, DATA, RANK, EXTENTS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
"""Offsets of the fields of an array, in bytes. `TYPE` is the same in every object."""
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""NumPy's flags of an array: C_CONTIGUOUS, ALIGNED, WRITEABLE."""
ADDRESS = -1
"""The number of axes of a slot that is an address instead of an array."""
HEADER, SLOT = 5, 5 + MAX_AXES
"""Words of a launcher's table: those of the function, and those of each slot."""
HOLDER_HEADER = 15
"""Words of a holding launcher's table before its pairs of an offset and an object."""


def launcher_ir() -> str:
    """The LLVM IR of both kinds of launchers."""
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
