"""Which random cases a test makes: few that are always the same, or as many as one asks for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

FIRST = "TG_RANDOM_SEED"
BATCH = 10
"""The cases of one test: one that crashes takes these along."""
SHARE = 20
"""Of the cases that are made by default, one of so many runs without `-m slow`. A smaller number
makes the README's test command longer and lets it find more."""


def batches(variable: str, count: int) -> Sequence[Any]:
    """Seeds from 0 on, `count` of them, of which all but one in `SHARE` are slow; or as many as an
    environment variable of this name says, from `TG_RANDOM_SEED` on."""
    first, asked = int(os.environ.get(FIRST, "0")), os.environ.get(variable)
    if asked is not None:
        return in_batches(range(first, first + int(asked)))
    quick = -(-count // SHARE)
    slow = in_batches(range(first + quick, first + count))
    return [
        *in_batches(range(first, first + quick)),
        *(pytest.param(seeds, marks=pytest.mark.slow) for seeds in slow),
    ]


def examples(count: int) -> int:
    """How many examples Hypothesis makes in a test: so many, times `TG_RANDOM_EXAMPLES`."""
    return int(count * float(os.environ.get("TG_RANDOM_EXAMPLES", "1")))


def in_batches(seeds: range) -> list[range]:
    return [seeds[i : i + BATCH] for i in range(0, len(seeds), BATCH)]
