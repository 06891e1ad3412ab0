"""The decoder of `decode.mlir`, as a function of the host on NumPy arrays."""

from typing import Any

import numpy as np


def expand_runs(runs: Any, picture: Any) -> None:
    """Writes a picture: for each pair of bytes, as many pixels as the first one says, of the value
    of the second one. What is left over is 0."""
    lengths, values = runs.reshape(-1, 2).T
    pixels = np.repeat(values, lengths)[: picture.size]
    picture.fill(0)
    picture.reshape(-1)[: len(pixels)] = pixels
