"""Models of tinygrad's repository generate and train on `tg.Tensor`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tinygrad_suite

REPOSITORY = os.getenv("TG_TINYGRAD_REPO")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REPOSITORY, reason="TG_TINYGRAD_REPO is no repository of tinygrad"),
]


def test_models(tmp_path: Path):
    assert REPOSITORY is not None
    tinygrad_suite.extract(Path(REPOSITORY), tmp_path)
    found = tinygrad_suite.run(tmp_path, "tinygrad_models", (), tmp_path / "outcomes")
    assert {outcome.outcome for outcome in found} == {"passed"}, found
    assert len(found) == 3
