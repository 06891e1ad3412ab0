"""Chains of ops as deep as programs may be: no walk over a graph takes a frame for each op.

The depth of Python's stack is lowered, so that short chains show a recursion.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from counting import calls
from xdsl.dialects.builtin import ModuleOp

from tgdialect import Tensor
from tgdialect.diagnostics import SourceFile
from tgdialect.diagnostics.parser import parse_module
from tgdialect.frontend.function import function
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.registry import make_context

FRAMES = 250
"""How many calls may be nested: what rewrites in one another take, and not what 300 ops would."""
LENGTH = 300

Step = Callable[[int], str]

STEPS: dict[str, Step] = {
    "elementwise": lambda i: f"%v{i + 1} = tg.neg %v{i} : tensor<4x8xf32>",
    "twice": lambda i: f"%v{i + 1} = tg.add %v{i}, %v{i} : tensor<4x8xf32>",
    "where": lambda i: (
        f"""
        %b{i} = tg.cmplt %v{i}, %v0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
        %n{i} = tg.neg %v{i} : tensor<4x8xf32>
        %v{i + 1} = tg.where %b{i}, %n{i}, %v{i}
            : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>"""
    ),
    "movement": lambda i: (
        f"""
        %p{i} = tg.permute %v{i} [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
        %r{i} = tg.reshape %p{i} [4, 8] : tensor<8x4xf32> -> tensor<4x8xf32>
        %v{i + 1} = tg.flip %r{i} [true, false] : tensor<4x8xf32>"""
    ),
    "padding": lambda i: (
        f"""
        %p{i} = tg.pad %v{i} at [1, 0] to [5, 8] : tensor<4x8xf32> -> tensor<5x8xf32>
        %v{i + 1} = tg.shrink %p{i} at [0, 0] to [4, 8] : tensor<5x8xf32> -> tensor<4x8xf32>"""
    ),
    "bits": lambda i: (
        f"""
        %c{i} = tg.bitcast %v{i} to i32 : tensor<4x8xf32> -> tensor<4x8xi32>
        %s{i} = tg.add %c{i}, %c{i} : tensor<4x8xi32>
        %v{i + 1} = tg.bitcast %s{i} to f32 : tensor<4x8xi32> -> tensor<4x8xf32>"""
    ),
    "casts": lambda i: (
        f"""
        %c{i} = tg.cast %v{i} to index : tensor<4x8xf32> -> tensor<4x8xindex>
        %m{i} = tg.idiv %c{i}, %c{i} : tensor<4x8xindex>
        %v{i + 1} = tg.cast %m{i} to f32 : tensor<4x8xindex> -> tensor<4x8xf32>"""
    ),
    "memory": lambda i: (
        f"""
        %n{i} = tg.neg %v{i} : tensor<4x8xf32>
        %v{i + 1} = tg.contiguous %n{i} : tensor<4x8xf32>"""
    ),
}


@contextmanager
def shallow_stack() -> Generator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parsed(text: str) -> ModuleOp:
    return parse_module(make_context(), SourceFile("deep.mlir", text))


def chain(step: Step) -> str:
    body = "\n".join(map(step, range(LENGTH)))
    return f"""func.func @main(%v0: tensor<4x8xf32>) -> tensor<1x8xf32> {{
      {body}
      %sum = tg.reduce add %v{LENGTH} [0] : tensor<4x8xf32> -> tensor<1x8xf32>
      func.return %sum : tensor<1x8xf32>
    }}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STEPS)
def test_text_interpreter_and_stages(name: str):
    text = chain(STEPS[name])
    with shallow_stack():
        module = parsed(text)
        module.verify()
        again = parsed(str(module))
        assert module.is_structurally_equivalent(again)
        run(module, "main", [np.ones((4, 8), np.float32)])
        run_stages(module, stages(mode="heuristic", features=("avx512f",)))


REDUCTIONS = 60
"""A reduction is several loops and an accumulator: these are as many ops as 300 others."""


def test_reductions():
    body = "\n".join(
        f"""%r{i} = tg.reduce max %v{i} [0] : tensor<4x8xf32> -> tensor<1x8xf32>
        %v{i + 1} = tg.add %v{i}, %r{i} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>"""
        for i in range(REDUCTIONS)
    )
    text = f"""func.func @main(%v0: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      {body}
      func.return %v{REDUCTIONS} : tensor<4x8xf32>
    }}"""
    with shallow_stack():
        module = parsed(text)
        run_stages(module, stages(mode="heuristic", features=("avx512f",)))


def test_reductions_of_constants_take_linear_work():
    """Each of them has a closed form, which a trial finds."""

    def lower(count: int) -> int:
        body = "\n".join(
            f"""%r{i} = tg.reduce add %v{i} [{i % 2}] : tensor<4x8xf32> -> tensor<{shape}xf32>
            %v{i + 1} = tg.expand %r{i} [4, 8] : tensor<{shape}xf32> -> tensor<4x8xf32>"""
            for i, shape in enumerate(["1x8", "4x1"] * (count // 2))
        )
        module = parsed(f"""func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
          %one = tg.const 1.5 : tensor<f32>
          %w = tg.reshape %one [1, 1] : tensor<f32> -> tensor<1x1xf32>
          %v0 = tg.expand %w [4, 8] : tensor<1x1xf32> -> tensor<4x8xf32>
          {body}
          %y = tg.mul %x, %v{count} : tensor<4x8xf32>
          func.return %y : tensor<4x8xf32>
        }}""")
        return calls(
            lambda: run_stages(module, replace(stages(mode="heuristic"), kernels=(), render=None))
        )

    lower(2)
    assert lower(40) < 2.5 * lower(20)


def test_the_front_end():
    x = Tensor(np.ones(4, np.float32), requires_grad=True)
    y = x
    with shallow_stack():
        for _ in range(LENGTH):
            y = (y * 0.99).reshape(2, 2).permute(1, 0).reshape(4)
        (gradient,) = y.sum().gradient(x)
        assert gradient.numpy() == pytest.approx(0.99**LENGTH, rel=1e-4)


def test_assignments():
    x = Tensor.zeros(4).contiguous().realize()
    with shallow_stack():
        for _ in range(LENGTH):
            x.assign(x + 1)
        assert x.numpy() == pytest.approx(LENGTH)


def test_a_long_function():
    @function
    def negated(x: Tensor) -> Tensor:
        for _ in range(LENGTH + 1):
            x = -x
        return x

    with shallow_stack():
        assert negated(Tensor.ones(4)).numpy() == pytest.approx(-1)


def test_a_type_of_many_axes():
    """xDSL's parser takes quadratic time: 100 s for as many axes."""
    type = f"tensor<{'1x' * 50_000}f32>"
    text = f"func.func private @f({type}) -> {type}"
    module = parsed(text)
    assert type in str(module)
