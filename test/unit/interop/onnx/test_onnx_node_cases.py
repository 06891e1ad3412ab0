"""The node cases of onnx.backend.test: all pass, but for those of a table with a reason each."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx")

sys.path.insert(0, str(Path(__file__).parents[3] / "interop"))

from onnx_refused import REFUSED
from onnx_suite import cases, counts, operators, run

INTEROP = Path(__file__).parents[3] / "interop"
PARTS = 96
"""The tests into which the cases are divided. More: shorter ones, of which fewer run by default."""


@cache
def _cases() -> list[Any]:
    """All cases, which each process computes once."""
    return sorted(cases("node"), key=lambda case: case.name)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("part", range(PARTS))
def test_node_cases(part: int):
    failed = {}
    for case in _cases()[part::PARTS]:
        refused = any(re.search(pattern, case.name) for pattern in REFUSED)
        error = run(case)
        if refused and error is None:
            failed[case.name] = "passes: take it out of the table of refused cases"
        if error is not None and not refused:
            failed[case.name] = error
    assert not failed


def test_every_refusal_has_a_case():
    names = [case.name for case in _cases()]
    for pattern in REFUSED:
        assert any(re.search(pattern, name) for name in names), pattern


def test_the_counts_of_the_page_are_those_of_the_cases():
    passed = {c.name for c in _cases() if not any(re.search(p, c.name) for p in REFUSED)}
    written = json.loads((INTEROP / "onnx_outcomes.json").read_text(encoding="utf-8"))
    assert written == counts(operators(_cases()), passed), "run onnx_suite.py with --outcomes"
