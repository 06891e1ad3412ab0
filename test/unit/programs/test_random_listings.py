"""The listings of random programs and kernels, with random schedules, parse back, and the modules
that they give compute the same."""

from __future__ import annotations

from io import StringIO
from random import Random

import pytest
from compiling import compile_module
from executors import between_fences, interpret
from random_cases import random_case
from random_schedules import RandomOptimizePass, ScheduledBuild
from random_seeds import batches
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import SourceFile, verify_module
from tgdialect.legacy.listing.reader import parse_listings
from tgdialect.legacy.listing.titled import UopsTarget
from tgdialect.registry import make_context


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_LISTINGS", 30), ids=str)
def test_listings_change_nothing(seeds: range):
    wrong = [failure for seed in seeds if (failure := _failure(seed))]
    assert not wrong, "\n\n".join(wrong)


def _failure(seed: int) -> str:
    """What is wrong with the listings of a seed; nothing if all is right."""
    module, inputs, compare = random_case(seed)
    build = ScheduledBuild(module, optimize=RandomOptimizePass(Random(seed)))
    for stage in ("linearize", "plan"):
        lowered = build.module(stage)
        again = _through_text(lowered)
        if str(again) != str(lowered):
            return f"seed {seed} after {stage}: {lowered}\n{again}"
    expected = interpret(module, [array.copy() for array in inputs])
    results = between_fences(compile_module(again, allow_custom=True), inputs)
    wrong = compare(expected, results)
    return f"seed {seed}: {wrong}\n{again}" if wrong else ""


def _through_text(module: ModuleOp) -> ModuleOp:
    text = StringIO()
    UopsTarget().emit(make_context(), module, text)
    again = parse_listings(make_context(), SourceFile("listings.uops", text.getvalue()))
    verify_module(again)
    return again
