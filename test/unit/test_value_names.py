"""Names of values and of arguments survive parsing, copies and printing."""

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect import registry
from tgdialect.diagnostics import SourceFile, parse_module

NAMES = (
    *("_1", "_", "__2", "$", "-", "a-b.c$d", "0", "00", "_1_2", "-1", "a_", "a_1", "a_1_2_3"),
    *("$0", ".5", "x.1", "-_1", "_-1", "_01", "7"),
)
"""Names that MLIR's grammar allows for values: `suffix-id`. xDSL takes `_1` off a name each time
that a value is copied, and cannot copy one of which nothing is left."""


@pytest.mark.parametrize("name", NAMES)
def test_names_of_values_survive_copies(name: str):
    other = f"{name}1" if name[0].isdecimal() else f"{name}_1"
    text = f"""
      func.func @main(%{name}: tensor<4xf32>) -> tensor<4xf32> {{
        %x = tg.neg %{name} : tensor<4xf32>
        %{other} = tg.sqrt %x : tensor<4xf32>
        func.return %{other} : tensor<4xf32>
      }}"""
    module = parsed = parse(text)
    printed = str(module)
    for _ in range(4):
        module = module.clone()
    assert str(module) == printed == str(parse(printed))
    assert tg.compile(parsed)(np.full(4, -9, np.float32)).tolist() == [3.0] * 4


def parse(text: str) -> ModuleOp:
    return parse_module(registry.make_context(), SourceFile("in.mlir", text))


@pytest.mark.parametrize("name", ["é", "größe", "_1", "_1_2", "x_3"])
def test_names_from_elsewhere(name: str):
    """Sizes, and arguments of functions, have Python's names."""
    size = tg.Variable(name, 1, 9)
    assert tg.Tensor.ones(size.bind(3)).sum().item() == 3
    scope: dict[str, Any] = {}
    exec(f"def f({name}): return {name} * 2", scope)
    program = tg.function(scope["f"]).lower(tg.Tensor([1.0, 2.0]))
    printed = program.as_text()
    assert str(parse(printed)) == printed
    assert tg.compile(printed)(np.ones(2, np.float32)).tolist() == [2, 2]
