"""Which random cases a test makes: few that are always the same, or as many as one asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings

FIRST = "TG_RANDOM_SEED"
BATCH = 10
"""The cases of one test: one that crashes takes these along."""
SHARE = 20
"""Of the cases that are made by default, one of so many runs without `-m slow`. A smaller number
makes the README's test command longer and lets it find more."""
SHARE_OF_EXAMPLES = 3
"""The same for the examples of a test that Hypothesis searches."""


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


def searched(count: int, *strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As Hypothesis's `given`, for a test of two cases: one in `SHARE_OF_EXAMPLES` of so many
    examples, and all of them, which is slow."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        some, all_of_them = (
            settings(max_examples=number)(given(*strategies)(test))
            for number in (-(-count // SHARE_OF_EXAMPLES), count)
        )
        cases = [some, pytest.param(all_of_them, marks=pytest.mark.slow)]

        @pytest.mark.parametrize("search", cases, ids=["some", "all"])
        def searching(search: Callable[[], None]) -> None:
            search()

        searching.__doc__ = test.__doc__
        return searching

    return decorate


def in_batches(seeds: range) -> list[range]:
    return [seeds[i : i + BATCH] for i in range(0, len(seeds), BATCH)]
