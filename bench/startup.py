"""How quick tg-opt is to start, next to xdsl-opt on the same files, in one run.

    python bench/startup.py

Prints the median of the ratios of their times, run in turns: below 1 tg-opt is quicker.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent
CASES = {
    "--help": ["--help"],
    "10 ops of tg": [str(Path(__file__).parent / "ten_ops.mlir")],
    "10 ops of arith": [str(Path(__file__).parent / "ten_arith_ops.mlir")],
}
ROUNDS = 15


def seconds(tool: str, arguments: list[str]) -> float:
    """The wall-clock time of one run."""
    start = time.perf_counter()
    subprocess.run([BIN / tool, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    print(f"{'case':<18}{'tg-opt':>10}{'xdsl-opt':>10}{'ratio':>8}")
    for name, arguments in CASES.items():
        pairs = [
            (seconds("tg-opt", arguments), seconds("xdsl-opt", arguments)) for _ in range(ROUNDS)
        ]
        ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name:<18}{ours * 1e3:>8.0f}ms{theirs * 1e3:>8.0f}ms{ratio:>8.2f}")


if __name__ == "__main__":
    main()
