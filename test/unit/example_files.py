"""The programs in MLIR of `examples/`."""

from pathlib import Path

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
WITHOUT_CUSTOM = [path for path in EXAMPLES if "tg.customfunction" not in path.read_text()]
"""Those that call no function of the host, which needs `allow_custom`, and which no device has."""
