"""How much quicker a program starts from the object cache than by compiling it.

    python bench/cache.py [file.mlir ...]

Each file is compiled without a cache and then from a cache, in turns. Three measures: as the first
call of `tg.compile` in a new process, which imports what it needs (the compiler, or next to
nothing); as the first call in a process that has imported everything; and in a process that has
compiled before. Prints medians, and cold over warm: the higher the better.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[1] / "examples").glob("*.mlir"))
    if "tg.customfunction" not in path.read_text()
]
"""Those that call no function of their caller."""
ROUNDS = 5
SCRIPT = """
import sys, time
import numpy, tgdialect as tg
if sys.argv[2] == "imported":
    import tgdialect.runtime.build
    tg.compile
def seconds(text):
    start = time.perf_counter()
    tg.compile(text)
    return time.perf_counter() - start
text = open(sys.argv[1]).read()
print(seconds(text), min(seconds(text) for _ in range(3)))
"""
MEASURES = ("first, with imports", "first, imported", "later")


def seconds(path: Path, cache: str) -> tuple[float, float, float]:
    """One time for each of the measures."""
    times: dict[str, list[float]] = {}
    for start in ("new", "imported"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path), start],
            env=os.environ | {"TG_CACHE_DIR": cache},
            check=True,
            capture_output=True,
            text=True,
        )
        times[start] = [float(word) for word in run.stdout.split()]
    return times["new"][0], *times["imported"]


def main() -> None:
    paths = [Path(p) for p in sys.argv[1:]] or EXAMPLES
    print(" " * 20 + "".join(f"{measure:^30}" for measure in MEASURES))
    print(f"{'program':<20}" + f"{'cold':>10}{'warm':>10}{'ratio':>10}" * len(MEASURES))
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            seconds(path, folder)
            pairs = [(seconds(path, ""), seconds(path, folder)) for _ in range(ROUNDS)]
            line = f"{path.stem:<20}"
            for kind in range(len(MEASURES)):
                cold = statistics.median(c[kind] for c, _ in pairs)
                warm = statistics.median(w[kind] for _, w in pairs)
                line += f"{cold * 1e3:>8.1f}ms{warm * 1e3:>8.2f}ms{cold / warm:>9.1f}x"
            print(line)


if __name__ == "__main__":
    main()
