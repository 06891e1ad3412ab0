"""The names of the modes of `tg-optimize`."""

from xdsl.utils.exceptions import PassFailedException

EXPLICIT = "explicit"
"""The mode that applies OptOps that a user has written."""

TF32 = "heuristic:tf32"
"""The heuristic's mode in which products of f32 may round their factors to tf32."""

BEAM = "beam"
"""The mode that searches; `beam:N` gives the width."""

MODES = ("none", "heuristic", TF32, "explicit:OPTS", "beam:N")
"""The modes. The last needs a machine to time on (`tgdialect/runtime/optimize.py`)."""

DEFAULT_WIDTH = 4
"""The schedules that a beam search keeps for the next round, unless `opt` says how many. Larger:
longer searches; smaller: local optima."""


def beam_width(mode: str) -> int | None:
    """The width that a mode asks for, as "beam:4"; None for other modes.

    Raises PassFailedException where it is no positive number.
    """
    name, colon, width = mode.partition(":")
    if name != BEAM:
        return None
    if not colon:
        return DEFAULT_WIDTH
    if not (width.isascii() and width.isdigit() and int(width) > 0):
        raise PassFailedException(f"mode {mode!r}: the width of a beam is a positive number")
    return int(width)
