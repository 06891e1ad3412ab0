"""The tools that are measured, each in a process of its own.

    python -m bench.peers TOOL CORES idle|busy

The process reads the name of a workload for each line of its input, and answers each with one line
of JSON: seconds of the first call (which compiles) and of the quickest one, beside busy processes
the median, or an error. The result is written to the file that the line names, for its check. A
small program is run before, so that no row pays for imports.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from bench.workload import Workload
from bench.workloads import WORKLOADS, gemm

Call = Callable[[], Any]

SECONDS = 0.08
"""How long a workload is repeated in one turn: a machine that others use is quick for moments."""


def tgdialect(w: Workload, inputs: Sequence[Any]) -> Call:
    import tgdialect as tg

    arguments = [tg.Tensor(x) for x in inputs]
    if w.dtype != "f32":
        arguments = [x.cast(w.dtype).realize() if x.is_floating_point() else x for x in arguments]
    first, *others = arguments
    if w.has_weights:
        frozen = tg.function(lambda x: w.tensor(x, *others), freeze=True)
        return lambda: frozen(first).numpy()
    function = tg.function(w.tensor)
    return lambda: function(*arguments).numpy()


def numpy(w: Workload, inputs: Sequence[Any]) -> Call:
    return lambda: w.numpy(*inputs)


def _torch_inputs(w: Workload, inputs: Sequence[Any]) -> Sequence[Any]:
    import torch

    torch.set_grad_enabled(False)
    arguments = [torch.from_numpy(x) for x in inputs]
    if w.dtype == "bf16":
        return [x.bfloat16() if x.is_floating_point() else x for x in arguments]
    return arguments


def torch(w: Workload, inputs: Sequence[Any]) -> Call:
    import torch

    arguments = _torch_inputs(w, inputs)
    return lambda: w.torch(torch, *arguments).numpy()


def torch_compiled(w: Workload, inputs: Sequence[Any]) -> Call:
    import torch

    arguments = _torch_inputs(w, inputs)
    program = torch.compile(lambda *x: w.torch(torch, *x))
    return lambda: program(*arguments).numpy()


def jax(w: Workload, inputs: Sequence[Any]) -> Call:
    import jax
    import jax.numpy as jnp

    program = jax.jit(lambda *x: w.jax(jax, jnp, *x))
    jax.config.update("jax_enable_x64", True)  # Indices and counts of 64 bits, as elsewhere.
    arguments = [jnp.asarray(x) for x in inputs]
    if w.dtype == "bf16":
        arguments = [x.astype(jnp.bfloat16) if x.dtype.kind == "f" else x for x in arguments]
    return lambda: program(*arguments).block_until_ready()


def tinygrad(w: Workload, inputs: Sequence[Any]) -> Call:
    from tinygrad import Device, Tensor, TinyJit

    arguments = [Tensor(x).realize() for x in inputs]
    if w.dtype == "bf16":
        arguments = [
            x.cast("bfloat16").realize() if x.is_floating_point() else x for x in arguments
        ]
    program = TinyJit(lambda *x: w.tensor(*x).realize())

    def call() -> Any:
        result = program(*arguments)
        Device[Device.DEFAULT].synchronize()
        return result

    return call


TOOLS: dict[str, Callable[[Workload, Sequence[Any]], Call]] = {
    "tgdialect": tgdialect,
    "numpy": numpy,
    "torch": torch,
    "torch.compile": torch_compiled,
    "jax": jax,
    "tinygrad": tinygrad,
    "tinygrad beam": tinygrad,
}


def environment(tool: str, threads: int) -> dict[str, str]:
    """What a process of a tool is started with."""
    count = str(threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TG_NUM_THREADS")
    return {
        **os.environ,
        **dict.fromkeys(names, count),
        **({"BEAM": "2"} if tool == "tinygrad beam" else {}),
        **({"THREADS": "0"} if threads == 1 else {}),
        "TG_CACHE_DIR": "",
        "CACHELEVEL": "0",
        "DEV": "CPU",
        # glibc keeps the memory that it has: tools that allocate each result do not pay for pages.
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    }


def main() -> None:
    make, cores, is_busy = TOOLS[sys.argv[1]], int(sys.argv[2]), sys.argv[3] == "busy"
    # Not every tool can be told how many threads to use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    by_name = {w.name: w for w in WORKLOADS}
    calls: dict[str, Call] = {}
    first: dict[str, float] = {}
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a tool prints is not an answer.
    for line in sys.stdin:
        name, path = json.loads(line)
        try:
            if not calls:
                warm_up = gemm(2, 2, 2)
                make(warm_up, warm_up.inputs())()
            if name not in calls:
                calls[name] = make(by_name[name], by_name[name].inputs())
                start = time.perf_counter()
                result = calls[name]()
                first[name] = time.perf_counter() - start
                for _ in range(3):
                    result = calls[name]()
                # A Tensor of tinygrad's is copied here, and not in what is timed.
                np.save(path, result.numpy() if hasattr(result, "numpy") else np.asarray(result))
            times = _times(calls[name])
            answer: dict[str, Any] = {
                "seconds": median(times) if is_busy else min(times),
                "first": first[name],
            }
        except Exception as error:  # Whatever a tool raises is its result.
            answer = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
        print(json.dumps(answer), file=out, flush=True)


def _times(call: Call) -> Sequence[float]:
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < end:
        call()
        times.append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
