"""Chains whose links use the result of the one before twice take work that is linear in their
length: in each stage, in passes between tensors, and in gradients."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from chains import CHAINS, OTHERS, Chain
from parsing import parse_module, tg_context
from text_chains import TEXT_CHAINS
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.utils.exceptions import PassFailedException

from tgdialect import Tensor, compile, function
from tgdialect.frontend import traced
from tgdialect.interpreter import run
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.lowering.rangeify import host
from tgdialect.ops.dtypes import F32
from tgdialect.tools import tg_opt
from tgdialect.transforms.annotate_properties import AnnotatePropertiesPass
from tgdialect.transforms.gradient import GradientPass
from tgdialect.transforms.simplify import SimplifyPass

GROWTH = 3
"""How much more may come of a chain that is twice as long: a quadratic growth is 4, and one that
doubles with each link 2^20."""

FIRST_KERNEL = 100
"""Ops of a program that is one kernel: a longer chain may be several."""

CALLS = ("call", "func-call")
"""Chains that stand for 2^n calls."""


def size(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


def sizes(chain: Chain, depth: int) -> dict[str, int]:
    """The number of ops after each stage."""
    found: dict[str, int] = {}

    def count(stage: LoweringPass, module: ModuleOp) -> None:
        found[stage.name] = size(module)

    run_stages(chain.module(depth), stages(), count)
    return found


@pytest.mark.sampled(63)
@pytest.mark.parametrize("name", sorted({*CHAINS} - {*CALLS}))
def test_stages(name: str):
    short, long = (sizes(CHAINS[name], depth) for depth in (20, 40))
    for stage, count in long.items():
        assert count < GROWTH * max(short[stage], FIRST_KERNEL), stage


@pytest.mark.parametrize("name", ["index", "index-two", "function-outlined"])
def test_values_that_were_copied(name: str):
    """Each index of a value by itself was a copy of the value."""
    short, long = (sizes(CHAINS[name], depth) for depth in (10, 20))
    for stage, count in long.items():
        assert count < GROWTH * short[stage], stage


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", OTHERS)
def test_results(name: str):
    chain = CHAINS[name]
    (wanted,) = run(chain.module(8), "main", [chain.input()])
    found = compile(chain.module(8), target="cpu")(chain.input())
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


@pytest.mark.parametrize("name", ["index", "index-two", *CALLS])
def test_results_of_what_was_copied(name: str):
    test_results(name)


PASSES: dict[str, Callable[[ModuleOp], None]] = {
    "canonicalize": lambda module: CanonicalizePass().apply(tg_context(), module),
    "cse": lambda module: CommonSubexpressionElimination().apply(tg_context(), module),
    "annotate": lambda module: AnnotatePropertiesPass().apply(tg_context(), module),
    "gradient": lambda module: GradientPass().apply(tg_context(), module),
    "simplify": lambda module: SimplifyPass().apply(tg_context(), module),
    "text": lambda module: parse_module(str(module)).verify(),
}
NO_GRADIENT = {"load-gated", "copy", "store", "store-in-place", "scan", "func-call"}
"""Chains on which tg-gradient has an error of its own, or whose gradient is a loop."""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("kind", PASSES)
def test_passes(kind: str, name: str):
    chain = CHAINS[name]
    if kind == "gradient" and (chain.dtype != F32 or name in NO_GRADIENT):
        return
    counts: list[int] = []
    for depth in (20, 40):
        module = chain.module(depth)
        PASSES[kind](module)
        counts.append(size(module))
    assert counts[1] < GROWTH * counts[0]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", TEXT_CHAINS)
def test_texts(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """As lines of what tg-opt prints."""
    chain, file, lines = TEXT_CHAINS[name], tmp_path / "chain.mlir", list[int]()
    for depth in (20, 40):
        file.write_text(chain.text(depth))
        assert tg_opt.main([str(file), "-p", chain.passes]) == 0
        lines.append(capsys.readouterr().out.count("\n"))
    assert lines[1] < GROWTH * max(lines[0], 2 * FIRST_KERNEL)


def calls(function: Callable[[], object]) -> int:
    """How many functions are called: a measure of work that is the same on every machine."""
    count = 0

    def see(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["tg-to-llvm", "tg-to-source{target=opencl mode=heuristic}"])
def test_many_loops_in_a_kernel(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Every op, verifier and BARRIER is looked at a number of times that is the same for kernels of
    any length: one of 48 loops took 2.54 times as many calls as one of 24."""
    counts: list[int] = []
    for depth in (4, 24, 48):  # The first one imports what is needed.
        file = tmp_path / "loops.mlir"
        file.write_text(str(CHAINS["reduce-max-1"].module(depth)))
        counts.append(calls(partial(tg_opt.main, [str(file), "-p", target])))
        assert "error" not in capsys.readouterr().err
    assert counts[2] < 2.3 * counts[1]


def test_calls_are_shared():
    """A function that is called again and again is one, which CALLs share."""

    def lowered(depth: int) -> int:
        module = CHAINS["call"].module(depth)
        run_stages(module, stages().module[:1])
        return size(module)

    assert lowered(40) < GROWTH * lowered(20)


@pytest.mark.parametrize("name", CALLS)
def test_too_many_calls(name: str, monkeypatch: pytest.MonkeyPatch):
    """Of kernels there is a call for each, which takes as long to compile as to do."""
    monkeypatch.setattr(host, "MAX_CALLS", 64)
    with pytest.raises(PassFailedException, match="take more than 64 calls of kernels") as error:
        run_stages(CHAINS[name].module(40), stages())
    assert vars(error.value)


SINES = """func.func private @f0(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
      %a = tg.sin %x : tensor<4xf32>
      return %a : tensor<4xf32>
    }"""


def test_too_many_copies():
    """Functions that cannot be outlined, since an index is an argument, are copied."""
    scaled = """func.func private @f0(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
      %v = tg.cast %n to f32 : tensor<index> -> tensor<f32>
      %a = tg.mul %x, %v : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      return %a : tensor<4xf32>
    }"""
    run_stages(parse_module(copied(scaled, 9)), stages().module[:1])
    for first, depth in ((scaled, 40), (SINES, 9)):
        with pytest.raises(PassFailedException, match="more than 16384 additions into @main"):
            run_stages(parse_module(copied(first, depth)), stages())


def copied(first: str, depth: int) -> str:
    """A program of functions that call the one before twice."""
    functions = "".join(
        f"""func.func private @f{i}(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {{
          %a = func.call @f{i - 1}(%x, %n) : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
          %b = func.call @f{i - 1}(%a, %n) : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
          return %b : tensor<4xf32>
        }}"""
        for i in range(1, depth + 1)
    )
    return f"""{first}
    {functions}
    func.func @main(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {{
      %a = func.call @f{depth}(%x, %n) : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
      return %a : tensor<4xf32>
    }}"""


@pytest.mark.parametrize(
    ("lanes", "depth", "what"),
    [
        (2**20, 1, "a value of 1048576 elements in code, and 2048 are the most"),
        (2048, 20, "code that costs more than 65536 operations on one element"),
    ],
)
def test_wide_vectors_have_a_limit(
    lanes: int, depth: int, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A vector is straight code for each register of it."""
    memory, type = f"tensor<{lanes}xf32, #tg.place<global>>", f"tensor<{lanes}xf32>"
    sines = "".join(f"%v{i + 1} = tg.sin %v{i} : {type}\n" for i in range(depth))
    file = tmp_path / "vectors.mlir"
    file.write_text(f"""tg.kernel @k {{
      %o = tg.param 0 : {memory}
      %a = tg.param 1 : {memory}
      %v0 = tg.load %a : {memory} -> {type}
      {sines}
      %s = tg.store %o, %v{depth} : {memory}, {type}
      %k = tg.sink %s : !tg.void
    }}""")
    assert tg_opt.main([str(file), "-p", "tg-select"]) == 1
    assert re.search(rf"mlir:\d+:\d+: error: .*{what}", capsys.readouterr().err)


def test_traced_functions_have_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(traced, "MAX_OPS", 100)
    nested = function(lambda x: x * 2)

    def twice(inner: Callable[..., object]):
        return function(lambda x: inner(inner(x)))

    for _ in range(3):
        nested = twice(nested)
    assert nested(Tensor.ones(4)).numpy() == pytest.approx(2**8)
    for _ in range(4):
        nested = twice(nested)
    with pytest.raises(RuntimeError, match="operations in all, and may have 100"):
        nested(Tensor.ones(4))


def test_private_functions_stay_as_they_are():
    """A function that is called once is substituted, whatever its size."""
    module = CHAINS["call"].module(1)
    run_stages(module, stages().module[:1])
    assert sum(isinstance(op, FuncOp) for op in module.ops) == 1
