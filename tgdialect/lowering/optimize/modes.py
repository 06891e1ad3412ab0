"""The names of the modes of `tg-optimize`."""

EXPLICIT = "explicit"
"""The mode that applies OptOps that a user has written."""

TF32 = "heuristic:tf32"
"""The heuristic's mode in which products of f32 may round their factors to tf32."""

BEAM = "beam"
"""The mode that searches; `beam:N` gives the width."""

MODES = ("none", "heuristic", TF32, "explicit:OPTS", "beam:N")
"""The modes. The last needs a machine to time on (`tgdialect/runtime/optimize.py`)."""
