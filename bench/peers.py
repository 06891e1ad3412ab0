"""The tools that are measured, each in a process of its own.

    python -m bench.peers TOOL CORES idle|busy|cpu

The process reads the name of a row for each line of its input, a file, and for a model the folder
of its files. It answers each with one line of JSON: seconds of the first call (which compiles) and
of the quickest one, beside busy processes the median, or an error. With `cpu`, only the time in
which the process has a core counts. The results are written to the file, for their check. A small
program is run before, so that no row pays for imports.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from operator import methodcaller
from statistics import median
from typing import Any

import numpy as np

from bench.models import MODELS, Files, Model, tensor_words, torch_words
from bench.random_programs import is_random, named
from bench.workload import Array, Workload
from bench.workloads import WORKLOADS, gemm

Call = Callable[[], Any]

SECONDS = 0.08
"""How long a workload is repeated in one turn: a machine that others use is quick for moments."""

MODEL_SECONDS = 0.5
"""The same for a model."""


def tgdialect(w: Workload, inputs: Sequence[Any]) -> Call:
    import tgdialect as tg

    arguments = [tg.Tensor(x) for x in inputs]
    if w.dtype != "f32":
        arguments = [x.cast(w.dtype).realize() if x.is_floating_point() else x for x in arguments]
    first, *others = arguments
    if w.has_weights:
        frozen = tg.function(lambda x: w.tensor(x, *others), freeze=True)
        return lambda: frozen(first).numpy()
    function, read = tg.function(w.tensor), _reader(w)
    return lambda: read(function(*arguments))


def _reader(w: Workload) -> Callable[[Any], Any]:
    """The results of a program as NumPy's arrays."""
    return _arrays if w.has_many else methodcaller("numpy")


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
    read = _reader(w)
    return lambda: read(w.torch(torch, *arguments))


def torch_compiled(w: Workload, inputs: Sequence[Any]) -> Call:
    import torch
    import torch._dynamo
    import torch._inductor.config as config

    # Rows share one code object here, of which PyTorch compiles eight programs and no more.
    torch._dynamo.reset()
    arguments = _torch_inputs(w, inputs)
    config.freezing = w.has_weights  # Read by the first call, which comes next.
    if not w.has_weights:
        program, read = torch.compile(lambda *x: w.torch(torch, *x)), _reader(w)
        return lambda: read(program(*arguments))

    class Network(torch.nn.Module):
        """A program whose weights it knows, packs and folds."""

        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.ParameterList(arguments[1:]).requires_grad_(False)

        def forward(self, x: Any) -> Any:
            return w.torch(torch, x, *self.weights)

    network = torch.compile(Network().eval())
    return lambda: network(arguments[0]).numpy()


def _jax_program(w: Workload, inputs: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """A function that JAX has not compiled, and its arguments: weights are constants in it."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)  # Indices and counts of 64 bits, as elsewhere.
    arguments = [jnp.asarray(x) for x in inputs]
    if w.dtype == "bf16":
        arguments = [x.astype(jnp.bfloat16) if x.dtype.kind == "f" else x for x in arguments]
    given = 1 if w.has_weights else len(arguments)
    weights = arguments[given:]
    return jax.jit(lambda *x: w.jax(jax, jnp, *x, *weights)), arguments[:given]


def jax(w: Workload, inputs: Sequence[Any]) -> Call:
    from jax import block_until_ready

    program, arguments = _jax_program(w, inputs)
    if w.has_many:
        return lambda: block_until_ready(program(*arguments))
    return lambda: program(*arguments).block_until_ready()


def iree(w: Workload, inputs: Sequence[Any]) -> Call:
    """The StableHLO of JAX's program, by IREE's compiler for this CPU and its thread pool."""
    from iree import compiler, runtime

    program, given = _jax_program(w, inputs)
    threads = len(os.sched_getaffinity(0))
    if not _IREE:
        runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        _IREE.append(runtime.Config("local-task"))
    (config,) = _IREE
    arguments = [runtime.asdevicearray(config.device, np.asarray(x)) for x in given]
    loaded: list[Any] = []

    def call() -> Any:
        if not loaded:
            binary = compiler.compile_str(
                program.lower(*given).as_text(dialect="stablehlo"),
                target_backends=["llvm-cpu"],
                input_type="stablehlo",
                extra_args=IREE_FLAGS,
            )
            module = runtime.VmModule.copy_buffer(config.vm_instance, binary)
            loaded.append(runtime.load_vm_module(module, config))
        (module,) = loaded
        result = module.main(*arguments)
        return [x.to_host() for x in result] if w.has_many else result.to_host()

    return call


IREE_FLAGS = (
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O3",
    "--iree-opt-data-tiling",
)
"""Of four sets the quickest for a product of 1024x1024x1024 with an epilogue: it took 49 ms without
data tiling, 11 ms with it, and 14 ms with microkernels as well, while others used the machine."""

_IREE: list[Any] = []
"""The device of this process, which has threads of its own."""


def tinygrad(w: Workload, inputs: Sequence[Any]) -> Call:
    from tinygrad import Device, Tensor, TinyJit

    arguments = [Tensor(x).realize() for x in inputs]
    if w.dtype == "bf16":
        arguments = [
            x.cast("bfloat16").realize() if x.is_floating_point() else x for x in arguments
        ]
    if w.has_many:
        program = TinyJit(lambda *x: [each.realize() for each in w.tensor(*x)])
    else:
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
    "iree": iree,
    "tinygrad": tinygrad,
    "tinygrad beam": tinygrad,
}


# -- models --------------------------------------------------------------------------------------


def tgdialect_model(model: Model, files: Files, freeze: bool = True) -> Call:
    import tgdialect as tg

    network = model.build(tensor_words(tg))
    tg.nn.state.load_state_dict(network, tg.nn.state.safe_load(str(files.weights)))
    for weight in tg.nn.state.get_parameters(network):
        weight.requires_grad_(False).realize()
    function = tg.function(network.forward, freeze=freeze)
    arguments = [tg.Tensor(x) for x in files.inputs()]
    return lambda: [x.numpy() for x in function(*arguments)]


def tgdialect_arguments(model: Model, files: Files) -> Call:
    return tgdialect_model(model, files, freeze=False)


def torch_model(model: Model, files: Files, **compiled: Any) -> Call:
    import torch
    from safetensors.torch import load_file

    with torch.no_grad():
        network = model.build(torch_words(torch)).eval().requires_grad_(False)
        network.load_state_dict(load_file(files.weights))
        arguments = [torch.from_numpy(x) for x in files.inputs()]
        if model.is_of_images:
            network = network.to(memory_format=torch.channels_last)
            arguments = [x.contiguous(memory_format=torch.channels_last) for x in arguments]
    program = torch.compile(network, **compiled) if compiled else network

    def call() -> Any:
        with torch.inference_mode():
            return program(*arguments)

    return call


def torch_compiled_model(model: Model, files: Files, mode: str = "default") -> Call:
    import torch._inductor.config as config

    config.freezing = True  # Weights are constants, which it packs.
    return torch_model(model, files, mode=mode, dynamic=False)


def torch_tuned_model(model: Model, files: Files) -> Call:
    return torch_compiled_model(model, files, "max-autotune")


def onnxruntime(model: Model, files: Files) -> Call:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = len(os.sched_getaffinity(0))
    inputs = files.inputs()
    bound: list[Any] = []

    def call() -> Any:
        if not bound:
            session = ort.InferenceSession(files.onnx, options, ["CPUExecutionProvider"])
            binding = session.io_binding()
            for each, x in zip(session.get_inputs(), inputs, strict=True):
                binding.bind_ortvalue_input(each.name, ort.OrtValue.ortvalue_from_numpy(x))
            results = [
                ort.OrtValue.ortvalue_from_shape_and_type(each.shape, np.float32)
                for each in session.get_outputs()
            ]
            for each, value in zip(session.get_outputs(), results, strict=True):
                binding.bind_ortvalue_output(each.name, value)
            bound.extend((session, binding, results))
        session, binding, results = bound
        session.run_with_iobinding(binding)
        return results

    return call


def openvino(model: Model, files: Files) -> Call:
    import openvino as ov

    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": len(os.sched_getaffinity(0)),
    }
    core = ov.Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")  # Loads the plugin, as an import does.
    inputs = [ov.Tensor(x, shared_memory=True) for x in files.inputs()]
    requests: list[Any] = []

    def call() -> Any:
        if not requests:
            compiled = core.compile_model(core.read_model(files.onnx), "CPU", settings)
            request = compiled.create_infer_request()
            for i, x in enumerate(inputs):
                request.set_input_tensor(i, x)
            requests.append(request)
        (request,) = requests
        request.infer()
        return [x.data for x in request.output_tensors]

    return call


MODEL_TOOLS: dict[str, Callable[[Model, Files], Call]] = {
    "tgdialect": tgdialect_model,
    "tgdialect args": tgdialect_arguments,
    "torch": torch_model,
    "torch.compile": torch_compiled_model,
    "torch tuned": torch_tuned_model,
    "onnxruntime": onnxruntime,
    "openvino": openvino,
}


def missing_packages(tool: str) -> Sequence[str]:
    """What is not installed of what a tool needs: the package at the beginning of its name, and
    `onnx` if it reads such files."""
    needed = [_package(tool), *(["onnx"] if tool in ("onnxruntime", "openvino") else [])]
    return [name for name in needed if find_spec(name) is None]


def _package(tool: str) -> str:
    return tool.replace(".", " ").split()[0]


# -- a process -----------------------------------------------------------------------------------


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
    tool, cores, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    clock = time.process_time if kind == "cpu" else time.perf_counter
    # Not every tool can be told how many threads to use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    # Of one row: the arrays of sixty do not fit in memory.
    current, call, first = "", None, 0.0
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a tool prints is not an answer.
    for line in sys.stdin:
        name, path, folder = json.loads(line)
        try:
            if not current:
                _warm_up(tool)
            if name != current:
                call = None
                call = _call(tool, name, folder)
                start = time.perf_counter()
                result = call()
                first = time.perf_counter() - start
                for _ in range(3 if folder is None else 1):
                    result = call()
                # A Tensor of tinygrad's is copied here, and not in what is timed.
                np.savez(path, *_arrays(result))
                current = name
            times = _times(call, SECONDS if folder is None else MODEL_SECONDS, clock)
            answer: dict[str, Any] = {
                "seconds": median(times) if kind == "busy" else min(times),
                "first": first,
            }
        except Exception as error:  # Whatever a tool raises is its result.
            answer = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
        print(json.dumps(answer), file=out, flush=True)


def _warm_up(tool: str) -> None:
    """A product of a tool's, or its import if it has only models."""
    if tool in TOOLS:
        w = gemm(2, 2, 2)
        TOOLS[tool](w, w.inputs())()
    else:
        import_module(_package(tool))


def _call(tool: str, name: str, folder: str | None) -> Call:
    """A row of a tool; that of a model has a folder of files."""
    if folder is not None:
        (model,) = (model for model in MODELS if model.name == name)
        return MODEL_TOOLS[tool](model, Files(folder))
    (workload,) = [named(name)] if is_random(name) else [w for w in WORKLOADS if w.name == name]
    return TOOLS[tool](workload, workload.inputs())


def _arrays(result: Any) -> Sequence[Array]:
    results = result if isinstance(result, list | tuple) else [result]
    return [x.numpy() if hasattr(x, "numpy") else np.asarray(x) for x in results]


def _times(call: Call, seconds: float, clock: Callable[[], float]) -> Sequence[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        call()
        times.append(clock() - start)
    return times


if __name__ == "__main__":
    main()
