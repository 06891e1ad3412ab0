"""Programs to be stopped: random ones, the examples, and models of the front end, with passes for
several targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import test_examples
from example_files import WITHOUT_CUSTOM
from expression import Array
from large_programs import large_program
from random_in_place import random_in_place
from random_kernels import random_kernel
from random_mixtures import mixture
from random_programs import random_program
from random_shards import RandomShards, with_gradient
from stopping import Stoppable, parameters
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

import tgdialect as tg
from tgdialect import nn
from tgdialect.lowering.pipeline import stages
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.properties import tensor
from tgdialect.runtime.compiler import parse_verified
from tgdialect.transforms.decompose import DecomposePass
from tgdialect.transforms.explicit_broadcast import ExplicitBroadcastPass
from tgdialect.transforms.shard.propagate import ShardPass
from tgdialect.transforms.simplify import SimplifyPass

Program = tuple[str, ModuleOp, Sequence[Array], str]
"""A name, a module, inputs, and the name of the function."""

EXAMPLES = Path(__file__).parents[3] / "examples"
TARGETS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("cpu", ()),
    ("cpu", ("sse4.2",)),
    ("cpu", ("avx", "avx2", "fma")),
    ("cpu", ("avx", "avx2", "fma", "avx512f")),
    ("opencl", ()),
    ("nvidia:sm_90a", ()),
)
LENGTH = 7
"""The extent of each axis of dynamic size of a model."""
BEFORE: Sequence[Callable[[], ModulePass]] = (
    CanonicalizePass,
    CommonSubexpressionElimination,
    SimplifyPass,
    DecomposePass,
    ExplicitBroadcastPass,
)
"""Passes on tensors."""
BETWEEN = (CanonicalizePass, CommonSubexpressionElimination, SimplifyPass)
"""Passes at any level."""


def stoppable(seed: int) -> Stoppable:
    """The program of a seed."""
    random = Random(seed)
    kind = KINDS[seed % len(KINDS)]
    name, module, runs, entry = kind(seed, random)
    target, features = random.choice(TARGETS)
    mode = random.choice(("none", "heuristic", "heuristic"))
    passes = [make() for make in BEFORE if random.random() < 0.3]
    if kind is sharded:
        passes.append(ShardPass(devices=("A", "B")))
    else:
        for stage in stages(
            mode=mode, threads=random.choice((1, 2)), features=features, target=target
        ):
            if stage.name == "tg-render":
                break
            passes += [stage, *(make() for make in BETWEEN if random.random() < 0.1)]

    made = f"stoppable({seed}): {name}, {target} {','.join(features)} {mode}"
    opt = mode if target == "cpu" and kind is not sharded else None
    return Stoppable(made, module, runs, entry, passes, opt)


# -- programs --------------------------------------------------------------------------------------


def tensors(seed: int, random: Random) -> Program:
    steps = random.choice((5, 20, 60))
    program = random_program(seed, steps)
    return f"random_program({seed}, {steps})", program.module, program.inputs, "main"


def mixed(seed: int, random: Random) -> Program:
    program = mixture(seed)
    return f"mixture({seed})", program.module, random.choice(program.runs), program.entry


def kernel(seed: int, random: Random) -> Program:
    program = random_kernel(seed)
    return f"random_kernel({seed})", program.module, program.inputs, "main"


def in_place(seed: int, random: Random) -> Program:
    program = random_in_place(seed)
    return f"random_in_place({seed})", program.module, program.inputs, "main"


def large(seed: int, random: Random) -> Program:
    module, inputs = large_program(seed // len(KINDS))
    return f"large_program({seed // len(KINDS)})", module, inputs, "main"


def sharded(seed: int, random: Random) -> Program:
    program = RandomShards(seed, devices=())
    return f"RandomShards({seed}, devices=())", program.module(), program.inputs(), "main"


def example(seed: int, random: Random) -> Program:
    path = random.choice([p for p in WITHOUT_CUSTOM if p.stem != "matmul_softmax"])
    module = parse_verified(path.name, path.read_text())
    return path.name, module, test_examples.PROGRAMS[path.stem]().inputs, "main"


def model(seed: int, random: Random) -> Program:
    name = random.choice([*MODELS])
    source, inputs = traced(name)
    return name, source.clone(), inputs, "main"


def differentiated(seed: int, random: Random) -> Program:
    program = RandomShards(seed, devices=(), dtypes=(f64,))
    module, inputs = with_gradient(program.module(), seed)
    return f"with_gradient of RandomShards({seed}, devices=())", module, inputs, "main_gradient"


KINDS = (
    tensors,
    mixed,
    model,
    tensors,
    example,
    in_place,
    mixed,
    model,
    kernel,
    large,
    sharded,
    differentiated,
)
"""Kinds of programs: those that find most are there more than once."""


# -- models ----------------------------------------------------------------------------------------


def mlp() -> tuple[Any, ...]:
    layers = nn.Linear(6, 5), nn.Linear(5, 3)
    return lambda x: layers[1](layers[0](x).relu()).softmax(-1), tg.spec(("n", 6), n=(1, 16))


def attention() -> tuple[Any, ...]:
    def attend(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        return q.scaled_dot_product_attention(k, v, is_causal=True)

    return attend, *[tg.spec((2, 4, 8))] * 3


def convolutions() -> tuple[Any, ...]:
    convolution, norm = nn.Conv2d(2, 4, 3), nn.BatchNorm(4)

    def forward(x: tg.Tensor) -> tg.Tensor:
        return norm(convolution(x)).relu().max_pool2d().flatten(1)

    return forward, tg.spec((2, 2, 8, 8))


def training() -> tuple[Any, ...]:
    layer, last = nn.Linear(3, 4), nn.Linear(4, 2)
    optimizer = nn.optim.Adam([layer.weight, layer.bias, last.weight])

    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = ((last(layer(x).tanh()) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step, tg.spec((5, 3)), tg.spec((5, 2))


def scanned() -> tuple[Any, ...]:
    def step(h: tg.Tensor, row: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        return (h * 0.5 + row).tanh(), h.sum()

    return lambda x, h: tg.scan(step, h, x), tg.spec(("n", 3), n=(0, 16)), tg.spec((3,))


def scan_gradient() -> tuple[Any, ...]:
    def gradient(x: tg.Tensor, h: tg.Tensor) -> Sequence[tg.Tensor]:
        last, _ = tg.scan(lambda h, row: ((h * 0.5 + row).tanh(), h), h, x)
        return (last**2).sum().gradient(x, h)

    return gradient, tg.spec((6, 3)), tg.spec((3,))


def looped() -> tuple[Any, ...]:
    def body(x: tg.Tensor) -> tg.Tensor:
        return tg.while_loop(lambda h: h.abs().sum() < 100, lambda h: h * 2 + 1, x, 20)

    return body, tg.spec((3,))


def sorted_rows() -> tuple[Any, ...]:
    return lambda x: (x.sort(1)[0], x.cumsum(0), x.argmax(1)), tg.spec((4, 9))


MODELS: dict[str, Callable[[], tuple[Any, ...]]] = {
    make.__name__: make
    for make in (
        *(mlp, attention, convolutions, training, scanned, scan_gradient, looped, sorted_rows),
    )
}
"""A function of tensors, and the specs of its arguments."""


@cache
def traced(name: str) -> tuple[ModuleOp, Sequence[Array]]:
    """The program of a model, and inputs for all its parameters."""
    with tg.Tensor.train(name in ("training", "convolutions")):
        function, *specs = MODELS[name]()
        lowered = tg.function(function).lower(*specs)
    function = SymbolTable.lookup_symbol(lowered.source, lowered.entry)
    assert isinstance(function, FuncOp)
    rng = np.random.default_rng(0)
    inputs: list[Array] = []
    for value in parameters(function):
        dtype = numpy_dtype_of(value)
        shape = [LENGTH if extent < 0 else extent for extent in tensor(value).get_shape()]
        is_float = dtype.kind not in "iub"
        numbers = rng.uniform(0.1, 1, shape) if is_float else np.full(shape, LENGTH)
        inputs.append(np.asarray(numbers).astype(dtype))
    return lowered.source, inputs
