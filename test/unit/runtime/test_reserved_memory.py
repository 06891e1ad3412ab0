"""Workspaces of symbolic sizes without bounds: they are reserved, and get memory as it is used."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.runtime.memory import RESERVED_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reserves memory")
def test_a_workspace_without_bounds() -> None:
    program: Any = tg.compile(
        lambda x, a, b: (x @ a).relu() @ b, tg.spec(("n", 8)), tg.spec((8, 8)), tg.spec((8, 4))
    )
    assert program.memory().devices[0].workspace >= RESERVED_BYTES
    a, b = (np.random.randn(8, n).astype(np.float32) for n in (8, 4))
    for n in (3, 100, 5, 5):
        x = np.random.randn(n, 8).astype(np.float32)
        wanted = np.maximum(x @ a, 0) @ b
        np.testing.assert_allclose(program(x, a, b), wanted, rtol=1e-4, atol=1e-5)
