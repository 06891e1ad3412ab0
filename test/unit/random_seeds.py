"""Which random cases a test makes: few that are always the same, or as many as one asks for."""

from __future__ import annotations

import os
from collections.abc import Sequence

FIRST = "TG_RANDOM_SEED"
BATCH = 10
"""The cases of one test: one that crashes takes these along."""


def batches(variable: str, count: int) -> Sequence[range]:
    """Seeds from 0 on, `count` of them; or as many as an environment variable of this name says,
    from `TG_RANDOM_SEED` on."""
    first, count = int(os.environ.get(FIRST, "0")), int(os.environ.get(variable, count))
    seeds = range(first, first + count)
    return [seeds[i : i + BATCH] for i in range(0, count, BATCH)]
