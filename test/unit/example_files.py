"""The programs of `examples`."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
COMPLETE_EXAMPLES = [path for path in EXAMPLES if "tg.customfunction" not in path.read_text()]
"""Those that call no function of their caller, which runs on the host."""
