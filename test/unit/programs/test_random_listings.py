"""The listings of random programs and kernels, with random schedules, parse back, and the modules
that they give compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from random import Random

import pytest
from compiling import compile_module
from executors import between_fences, interpret
from expression import Array
from random_cases import random_case
from random_schedules import RandomOptimizePass, ScheduledBuild
from random_seeds import batches
from reproduced import check_program, failure
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import SourceFile, verify_module
from tgdialect.legacy.listing.reader import parse_listings
from tgdialect.legacy.listing.titled import UopsTarget
from tgdialect.registry import make_context


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_LISTINGS", 30), ids=str)
def test_listings_change_nothing(seeds: range):
    for seed in seeds:
        module, inputs, compare = random_case(seed)
        build = ScheduledBuild(module, optimize=RandomOptimizePass(Random(seed)))
        for stage in ("linearize", "plan"):
            made = f"random_case({seed}) after {stage}"
            check_program(_difference, made, build.module(stage), inputs, again="tg-opt -t uops")
        expected = interpret(module, [array.copy() for array in inputs])
        results = between_fences(compile_module(build.module("plan"), allow_custom=True), inputs)
        assert not compare(expected, results), f"seed {seed}"


def _difference(module: ModuleOp, _: Sequence[Array]) -> str:
    """The difference of a module and its listings; nothing if all is right."""
    try:
        again = _through_text(module)
    except Exception as error:
        return failure(error)
    return "" if str(again) == str(module) else f"differs: {again}"


def _through_text(module: ModuleOp) -> ModuleOp:
    text = StringIO()
    UopsTarget().emit(make_context(), module, text)
    again = parse_listings(make_context(), SourceFile("listings.uops", text.getvalue()))
    verify_module(again)
    return again
