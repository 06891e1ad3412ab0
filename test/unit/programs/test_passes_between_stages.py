"""Passes between the stages leave a program what it was, and its accesses in range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from agreement import identical
from compiling import compile_module
from executors import between_fences
from expression import Array
from random_arrays import random_array
from work import module_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from tgdialect import Tensor
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.pipeline import stages
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import DTYPES
from tgdialect.registry import make_context
from tgdialect.runtime.compiler import load_module
from tgdialect.targets.host import host_features
from tgdialect.transforms.annotate_properties import AnnotatePropertiesPass
from tgdialect.transforms.decompose import DecomposePass
from tgdialect.transforms.explicit_broadcast import ExplicitBroadcastPass
from tgdialect.transforms.simplify import SimplifyPass

GATED = """
#g = #tg.place<"CPU", global>
#k = #tg.place<global>
// A LOAD's value matters only where a condition holds that says what its gate or the bounds say.
tg.kernel @gated {
  %o = tg.param 0 : tensor<40xf32, #k>
  %x = tg.param 1 : tensor<5xf32, #k>
  %n = tg.param 2 : tensor<40xindex, #k>
  %c40 = tg.const 40 : tensor<index>
  %i = tg.range 0 loop to %c40 : tensor<index>
  %nl = tg.index %n[%i] : (tensor<40xindex, #k>, tensor<index>) -> tensor<index, #k>
  %nv = tg.load %nl : tensor<index, #k> -> tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %c5 = tg.const 5 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %one = tg.const 1.0 : tensor<f32>
  %gate = tg.cmpge %nv, %c0 : (tensor<index>, tensor<index>) -> tensor<i1>
  %xl = tg.index %x[%nv] : (tensor<5xf32, #k>, tensor<index>) -> tensor<f32, #k>
  %xv = tg.load %xl alt %zero gate %gate : tensor<f32, #k>, tensor<f32>, tensor<i1> -> tensor<f32>
  %most = tg.max %xv, %one : tensor<f32>
  %in = tg.cmpge %nv, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>
  %a = tg.where %in, %most, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %less = tg.cmplt %i, %c5 : (tensor<index>, tensor<index>) -> tensor<i1>
  %near = tg.where %less, %i, %c4 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %yl = tg.index %x[%near] : (tensor<5xf32, #k>, tensor<index>) -> tensor<f32, #k>
  %yv = tg.load %yl : tensor<f32, #k> -> tensor<f32>
  %b = tg.where %less, %yv, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %v = tg.add %a, %b : tensor<f32>
  %ol = tg.index %o[%i] : (tensor<40xf32, #k>, tensor<index>) -> tensor<f32, #k>
  %s = tg.store %ol, %v gate %in : tensor<f32, #k>, tensor<f32>, tensor<i1>
  %w = tg.not %in : tensor<i1>
  %t = tg.store %ol, %b gate %w : tensor<f32, #k>, tensor<f32>, tensor<i1>
  %e = tg.group %s, %t
  %f = tg.end %e over %i : !tg.void
  tg.sink %f : !tg.void
}
func.func @main(%x: tensor<5xf32, #g>, %n: tensor<40xindex, #g>,
                %o: tensor<40xf32, #g> {tg.output}) {
  %0 = tg.call @gated(%o, %x, %n)
    : tensor<40xf32, #g>, tensor<5xf32, #g>, tensor<40xindex, #g> -> !tg.void
  tg.sink %0 : !tg.void
  func.return
}"""


def array(*shape: int, dtype: str = "float32") -> Tensor:
    """An argument: `random_array` says what is in it."""
    return Tensor(np.zeros(shape, dtype))


def traced(result: Tensor) -> ModuleOp:
    return module_of([result])


PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    "gated": lambda: load_module(GATED),
    "gather": lambda: traced(array(9, 7)[array(4, 6, dtype="int32")].exp()),
    "scatter": lambda: traced(
        array(9, 7).scatter_reduce(1, array(9, 3, dtype="int64"), array(9, 3), "sum")
    ),
    "prefix sum": lambda: traced((array(5, 37).cumsum(1) / 2).cumsum(1)),
    "masked tail": lambda: traced(array(3, 11).pad(((1, 2), (0, 3))).roll(5, 1).tril() + 1),
    "odd gemm": lambda: traced((array(13, 77) @ array(77, 35)).relu()),
    "half softmax": lambda: traced(array(7, 45, dtype="float16").softmax(-1)),
    "conv": lambda: traced(array(1, 3, 9, 9).conv2d(array(5, 3, 3, 3), padding=1, stride=2)),
    "pool": lambda: traced(array(1, 2, 11, 13).max_pool2d((3, 3), stride=2, padding=1)),
}
MODES = ("none", "heuristic")
PASSES: dict[str, ModulePass] = {
    "tg-simplify": SimplifyPass(),
    "tg-explicit-broadcast": ExplicitBroadcastPass(),
    "tg-annotate-properties": AnnotatePropertiesPass(),
    "tg-decompose": DecomposePass(("sub", "not", "cmpgt", "cmpge", "cmple", "cmpeq")),
    "cse": CommonSubexpressionElimination(),
    "canonicalize": CanonicalizePass(),
    "dce": DeadCodeElimination(),
}
"""What may be anywhere. Decompositions are those that give the same bits."""


def pipeline(mode: str) -> Sequence[LoweringPass]:
    return tuple(stages(mode=mode, features=host_features(), threads=1))


@cache
def lowered(name: str, mode: str) -> Sequence[ModuleOp]:
    """A program at the tensor level, or where it begins, and after each stage from there."""
    modules = [PROGRAMS[name]()]
    modules[0].verify()
    for stage in remaining(name, mode):
        modules.append(modules[-1].clone())
        stage.lower(modules[-1])
    return modules


def remaining(name: str, mode: str, done: int = 0) -> Sequence[LoweringPass]:
    """The stages that are to come; a kernel begins at `tg-optimize`."""
    return pipeline(mode)[(2 if name == "gated" else 0) + done :]


def executed(name: str, module: ModuleOp) -> Sequence[Array]:
    """The results of a program at the llvm level, between pages without access."""
    executable = compile_module(module, allow_custom=True)
    elements = {numpy_dtype(row): element for element, row in DTYPES.items()}
    arrays = [
        random_array(elements[parameter.dtype], parameter.shape_for(()), seed)
        for seed, parameter in enumerate(executable.inputs)
    ]
    return between_fences(executable, arrays)


@cache
def expected(name: str, mode: str) -> Sequence[Array]:
    return executed(name, lowered(name, mode)[-1])


@pytest.mark.sampled(30)
@pytest.mark.parametrize("which", PASSES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_pass_after_each_stage(name: str, mode: str, which: str):
    context: Context = make_context()
    modules = lowered(name, mode)
    for done, before in enumerate(modules):
        module = before.clone()
        PASSES[which].apply(context, module)
        if module.is_structurally_equivalent(before):
            continue
        module.verify()
        for stage in remaining(name, mode, done):
            stage.apply(context, module)
        if module.is_structurally_equivalent(modules[-1]):
            continue
        for x, y in zip(expected(name, mode), executed(name, module), strict=True):
            assert identical(x, y), f"after {done} stages:\n{x!r}\n{y!r}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_simplify_finds_nothing_that_select_has_left(name: str, mode: str):
    """Gates stay, also where LLVM does without a LOAD that has lost its own."""
    passes = [stage.name for stage in remaining(name, mode)]
    selected = lowered(name, mode)[passes.index("tg-select") + 1]
    module = selected.clone()
    SimplifyPass().apply(make_context(), module)
    assert str(module) == str(selected)
