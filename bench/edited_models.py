"""How long the first call of a model takes of which one block has changed, next to a cold one.

    pip install -e '.[bench]'
    python bench/edited_models.py [name ...]

The models are those of `python -m bench --models`, with constant weights and batch 1. A cold call
compiles with an empty object cache. Then the result of one block in the middle is multiplied by 1.5
(PyTorch users would edit its `forward`), and a new process compiles that with the cache of the cold
call, which has all kernels but those of the block. The compiler and the modules that a compilation
needs are imported before, and weights are there. Medians of some runs, in turns; the ratio is the
edited model's time over the cold one's: the lower the better. The goal is at most a third.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

ROUNDS = 3
LIMIT = 1 / 3
MODULES = (
    *("multiprocessing.popen_fork", "multiprocessing.connection"),
    *("tgdialect.frontend.function", "tgdialect.runtime.build"),
)
"""Modules that a first compilation would import."""


def first_call(name: str, *, is_edited: bool) -> float:
    """The seconds of a first call in this process."""
    import numpy as np

    import tgdialect as tg
    from bench.models import MODELS, tensor_words

    for module in MODULES:
        import_module(module)
    model = next(model for model in MODELS if model.name == name)
    net = model.build(tensor_words(tg))
    rng = np.random.default_rng(0)
    for weight in tg.nn.state.get_parameters(net):
        if weight.dtype.name == "f32":
            weight.assign(tg.Tensor(rng.random(weight.shape, np.float32) * 0.05))
        weight.requires_grad_(False).realize()
    if is_edited:
        _edit(net.blocks[len(net.blocks) // 2])
    arguments = [tg.Tensor(x) for x in model.inputs()]
    function = tg.function(net.forward, freeze=True)
    start = time.perf_counter()
    for result in function(*arguments):
        result.numpy()
    return time.perf_counter() - start


def _edit(block: Any) -> None:
    """Multiply what a block computes by 1.5. Other blocks have the same class."""
    forward = type(block).forward

    def edited(self: Any, *arguments: Any) -> Any:
        result = forward(self, *arguments)
        if self is not block:
            return result
        return (result[0] * 1.5, *result[1:]) if isinstance(result, tuple) else result * 1.5

    type(block).forward = edited


def measure(name: str, cache: str, *words: str) -> float:
    """The seconds of a first call in a new process."""
    run = subprocess.run(
        [sys.executable, __file__, "--child", name, *words],
        env=os.environ | {"TG_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(f"{name} fails:\n{run.stderr}")
    return float(run.stdout.splitlines()[-1])


def turn(name: str) -> tuple[float, float]:
    """A cold call, and one of the edited model with the cache of the other."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = Path(folder) / "cold", Path(folder) / "warm"
        seconds = measure(name, str(cold))
        shutil.copytree(cold, warm)
        return seconds, measure(name, str(warm), "edited")


def main() -> None:
    from bench.models import MODELS

    known = [model.name for model in MODELS]
    names = [name for name in known if not sys.argv[1:] or any(w in name for w in sys.argv[1:])]
    if not names:
        sys.exit(f"there is no {' '.join(sys.argv[1:])}; there are: {', '.join(known)}")
    print(f"{'first call, s':<28}{'cold':>8}{'edited':>8}{'ratio':>7}")
    for name in names:
        cold, edited = (statistics.median(t) for t in zip(*map(turn, [name] * ROUNDS), strict=True))
        mark = "" if edited <= LIMIT * cold else f"  more than {LIMIT:.2f}"
        print(f"{name:<28}{cold:>8.2f}{edited:>8.2f}{edited / cold:>7.2f}{mark}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    if sys.argv[1:2] == ["--child"]:
        print(first_call(sys.argv[2], is_edited=sys.argv[3:] == ["edited"]))
    else:
        main()
