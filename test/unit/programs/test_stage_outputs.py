"""The output of each stage is valid by xDSL's verifier, and its generic text reads the same."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from random_mixtures import mixture
from random_scans import RandomScan
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer

import tgdialect as tg
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.levels import find_level
from tgdialect.lowering.pipeline import stages
from tgdialect.registry import make_context
from tgdialect.runtime.compiler import load_module

CALLED_AGAIN = """
#g = #tg.place<"CPU", global>
func.func @main(%x: tensor<9xf32, #g>, %a: tensor<9xf32, #g> {tg.output},
                %b: tensor<9xf32, #g> {tg.output}) {
  %0 = tg.call @f(%x, %a) : (tensor<9xf32, #g>, tensor<9xf32, #g>) -> !tg.void
  %1 = tg.call @f(%x, %b) : (tensor<9xf32, #g>, tensor<9xf32, #g>) -> !tg.void
  tg.sink %0, %1 : !tg.void, !tg.void
  return
}
// A function with a BUFFER, which each CALL has for itself.
func.func private @f(%x: tensor<9xf32, #g>, %o: tensor<9xf32, #g> {tg.output}) {
  %l = tg.load %x : tensor<9xf32, #g> -> tensor<9xf32, #tg.place<"CPU">>
  %y = tg.neg %l : tensor<9xf32, #tg.place<"CPU">>
  %s = tg.store %o, %y : tensor<9xf32, #g>, tensor<9xf32, #tg.place<"CPU">>
  tg.sink %s : !tg.void
  return
}
"""
EXAMPLES = Path(__file__).parents[3] / "examples"


def scan(seed: int) -> ModuleOp:
    """A loop, whose kernels are CALLed again in each step."""
    case = RandomScan(seed)

    def program(*arrays: tg.Tensor) -> tuple[tg.Tensor, ...]:
        return tuple(case.run(tg.scan, arrays))

    return load_module(str(tg.function(program).lower(*case.arrays)))


def example(name: str) -> Callable[[], ModuleOp]:
    return lambda: load_module((EXAMPLES / f"{name}.mlir").read_text())


PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    **{path.stem: example(path.stem) for path in sorted(EXAMPLES.glob("*.mlir"))},
    **{f"mixture {seed}": lambda seed=seed: mixture(seed).module.clone() for seed in range(8)},
    **{f"scan {seed}": lambda seed=seed: scan(seed) for seed in range(3)},
}


def described(op: Operation) -> Any:
    """An op without its operands. A flag of a function of LLVM is an attribute in text."""
    return op.name, {**op.properties, **op.attributes}, [value.type for value in op.results]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("mode", ["none", "heuristic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_output_of_each_stage(name: str, mode: str):
    check_stages(PROGRAMS[name](), mode)


def test_kernels_that_are_called_again():
    check_stages(load_module(CALLED_AGAIN), "none")


def check_stages(module: ModuleOp, mode: str) -> None:
    for stage in stages(mode=mode, threads=2).from_level(find_level(module)):
        stage.lower(module)
        module.verify()
        for op in module.walk():
            for attribute in (*op.properties.values(), *op.attributes.values()):
                attribute.verify()
            type(op).get_irdl_definition().verify(op)
        text = StringIO()
        Printer(text, print_generic_format=True).print_op(module)
        again = parse_module(make_context(), SourceFile(stage.name, text.getvalue(), 1))
        if stage.name != "tg-render":
            assert module.is_structurally_equivalent(again), stage.name
        else:
            assert [*map(described, module.walk())] == [*map(described, again.walk())]
