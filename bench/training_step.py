"""How long the first call of a training step of ResNet-50 takes.

    python -m bench.training_step [batch]

The step is one function: forward with the statistics of the batch, backward, and SGD. The compiler
is imported before, weights are there, and there is no object cache. Prints the seconds of the first
call, and of a second one, whose program is there.
"""

import os
import sys
import time
from importlib import import_module
from typing import Any

from bench.edited_models import MODULES


def step_of(batch: int) -> tuple[Any, list[Any]]:
    """The step, and its inputs: images and classes."""
    import numpy as np

    import tgdialect as tg
    from bench.models import resnet50, tensor_words

    for module in MODULES:
        import_module(module)
    net = resnet50(tensor_words(tg))
    rng = np.random.default_rng(0)
    weights = tg.nn.state.get_parameters(net)
    for weight in weights:
        if weight.dtype.name == "f32":
            weight.assign(tg.Tensor(rng.random(weight.shape, np.float32) * 0.05))
        weight.realize()
    optimizer = tg.nn.optim.SGD(weights, lr=1e-3)

    @tg.function
    def step(x: Any, y: Any) -> Any:
        with tg.Tensor.train():
            optimizer.zero_grad()
            result = net.forward(x)
            logits = result[0] if isinstance(result, tuple) else result
            loss = logits.sparse_categorical_crossentropy(y)
            loss.backward()
            optimizer.schedule_step()
            return loss

    images = rng.random((batch, 3, 224, 224), np.float32)
    classes = rng.integers(0, 1000, batch).astype(np.int32)
    return step, [tg.Tensor(images), tg.Tensor(classes)]


def main() -> None:
    os.environ["TG_CACHE_DIR"] = ""
    step, inputs = step_of(int(sys.argv[1]) if sys.argv[1:] else 8)
    for call in ("first", "second"):
        start = time.perf_counter()
        step(*inputs).numpy()
        print(f"{call} call: {time.perf_counter() - start:.2f} s", flush=True)


if __name__ == "__main__":
    main()
