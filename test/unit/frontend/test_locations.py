"""Nodes of a program that is imported: their locations and the names of values, in the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect import Tensor
from tgdialect.diagnostics import CompilationError, Diagnostic, names_text, source_names
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.frontend.base import named
from tgdialect.frontend.graph import Node, size_node
from tgdialect.frontend.locations import identifier, located, present
from tgdialect.frontend.symbolic import Atom, SymInt

X = tg.spec((2, 3))


def module_of(function: Callable[..., Any], *specs: Any) -> ModuleOp:
    """The traced program."""
    return tg.function(function).lower(*specs)._source  # pyright: ignore[reportPrivateUsage]


def locations(module: ModuleOp, op: str) -> list[str | None]:
    """The names in the locations of the ops of a kind, in the order of the text."""
    return [names_text(each.location) for each in nested_ops(module) if each.name == f"tg.{op}"]


def test_each_op_has_the_location_of_the_node():
    def model(x: Tensor) -> Tensor:
        with located("/first"):
            x = x.sin()
        x = x.exp2()
        with located("/second"):
            return x.sin()

    module = module_of(model, X)
    assert locations(module, "sin") == ['"/first"', '"/second"']
    assert locations(module, "exp2") == [None]


def test_nested_nodes_are_call_sites():
    def model(x: Tensor) -> Tensor:
        with located("Gelu_1"):
            with located("Erf", "f.py", 3):
                x = x.erf()
            return x.sin()

    module = module_of(model, X)
    assert locations(module, "erf") == ['"Erf" at "Gelu_1"']
    assert locations(module, "sin") == ['"Gelu_1"']
    assert present() is None


def test_call_sites_are_bounded():
    def model(x: Tensor) -> Tensor:
        def nested(depth: int) -> Tensor:
            with located(f"/{depth}"):
                return nested(depth + 1) if depth < 40 else x.sin()

        return nested(0)

    module = module_of(model, X)
    (op,) = (op for op in nested_ops(module) if op.name == "tg.sin")
    assert source_names(op.location) == [f"/{i}" for i in range(16, -1, -1)]
    shown = ['"/16"', '"/15"', '"/14"', '"/13"', '"/12"', '"/11"', "..."]
    assert locations(module, "sin") == [" at ".join(shown)]


def test_a_traced_function_is_at_each_of_its_calls():
    @tg.function
    def layer(x: Tensor) -> Tensor:
        with located("gelu"):
            x = x.sin()
        return x.exp2()

    def model(x: Tensor) -> Tensor:
        with located("layer.0"):
            x = layer(x)
        with located("layer.1"):
            return layer(x)

    module = module_of(model, X)
    assert locations(module, "sin") == ['"gelu" at "layer.0"', '"gelu" at "layer.1"']
    assert locations(module, "exp2") == ['"layer.0"', '"layer.1"']


def test_equal_loops_have_their_own_locations():
    def loop(x: Tensor, name: str) -> Tensor:
        def step(s: Tensor, _: None) -> tuple[Tensor, None]:
            with located(f"{name}/Sin"):
                return s.sin(), None

        with located(name):
            return tg.scan(step, x, length=3)[0]

    def model(x: Tensor) -> Tensor:
        return loop(loop(x, "/a"), "/b")

    module = module_of(model, X)
    assert locations(module, "scan") == ['"/a"', '"/b"']
    assert locations(module, "sin") == ['"/a/Sin" at "/a"', '"/b/Sin" at "/b"']


def test_gradients_have_the_location_of_the_node():
    def model(x: Tensor) -> Tensor:
        with located("/sin"):
            y = x.sin()
        return y.sum().gradient(x)[0]

    found = {names_text(op.location) for op in nested_ops(module_of(model, X))}
    assert '"/sin"' in found


def test_sizes_are_of_no_node():
    size = SymInt.of(Atom(tg.Variable("n", 1, 8), 3)) * 2 + 1
    with located("/reshape"):
        assert size_node(cast(SymInt, size)).origin is None


def test_prototypes_and_programs_are_shared():
    x = Tensor(np.ones((2, 3), np.float32))
    nodes: list[Node] = []
    for name in ("/a", "/b"):
        with located(name):
            nodes.append((x + x).node)
    assert nodes[0].prototype is nodes[1].prototype
    assert nodes[0].origin != nodes[1].origin


def test_names_of_values():
    def model(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        named(x, "pixel values")
        y = named(x * w, "/conv/Conv_3_output_0")
        return named(y.sin(), "logits"), named(y, "features")

    lowered = tg.function(model).lower(X, X)
    text = str(lowered)
    assert '%pixel.values = tg.param 0 "pixel values"' in text
    assert "%w = tg.param 1 :" in text
    assert "%conv.Conv_3_output.0 = tg.mul %pixel.values, %w" in text
    assert '(tensor<2x3xf32> {tg.name = "logits"}, tensor<2x3xf32> {tg.name = "features"})' in text
    program: Any = lowered.compile()
    assert [p.name for p in program.inputs] == ["pixel values", "w"]
    assert [p.name for p in program.outputs] == ["logits", "features"]
    one = np.ones((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"pixel values has shape \(2, 3\), got \(2, 4\)"):
        program(np.ones((2, 4), np.float32), one)
    np.testing.assert_array_equal(program(one, one)[1], one)


def test_a_named_argument_of_symbolic_size():
    def model(x: Tensor) -> Tensor:
        return named(x, "input_ids") * 2

    program: Any = tg.compile(model, tg.spec(("n", 3)))
    with pytest.raises(ValueError, match="input_ids has shape"):
        program(np.ones(3, np.float32))


def test_a_result_that_is_an_argument_has_its_own_name():
    def model(x: Tensor) -> Tensor:
        return named(named(x, "in"), "out")

    program: Any = tg.compile(model, X)
    assert (program.inputs[0].name, program.outputs[0].name) == ("in", "out")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(program(x), x)


def test_captured_weights_have_names():
    weight = named(Tensor(np.ones((2, 3), np.float32)), "conv1.weight")

    def model(x: Tensor) -> Tensor:
        return x * weight

    program: Any = tg.compile(model, X)
    assert [p.name for p in program.executable.inputs] == ["x", "conv1.weight"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/encoder/Conv_3", "encoder.Conv.3"),
        ("conv1.out", "conv1.out"),
        ("x_1_2", "x_1.2"),
        ("12", "v12"),
        ("_1", ".1"),
        ("日本", None),
        ("", None),
        ("--", None),
        ("a\n\0b", "a.b"),
        ("n" * 10_000, "n" * 80),
    ],
)
def test_identifiers(name: str, expected: str | None):
    assert identifier(name) == expected


# -- errors ----------------------------------------------------------------------------------------


def test_errors_name_the_node():
    x = Tensor.ones(2, 3)
    said = r'^"/encoder/MatMul": dot of \(2, 3\) and \(4, 5\)'
    with pytest.raises(RuntimeError, match=said), located("/encoder/MatMul"):
        _ = x @ Tensor.ones(4, 5)
    said = r'^"inner" at "outer": no$'
    with pytest.raises(ValueError, match=said), located("outer"), located("inner"):
        raise ValueError("no")


def test_errors_in_bodies_name_the_node_and_the_call():
    def step(s: Tensor, _: None) -> tuple[Tensor, None]:
        with located("/loop/Add"), located("f"):
            return s + Tensor.ones(7), None

    said = r'^"f" at "/loop/Add" at "/loop" at "/model": '
    with (
        pytest.raises(ValueError, match=said) as raised,
        located("/model"),
        located("/loop"),
    ):
        tg.scan(step, Tensor.ones(2, 3), length=3)
    assert str(raised.value).count('"') == 8


def test_errors_that_are_no_text():
    with pytest.raises(KeyError) as raised, located("/a"):
        raise KeyError("k")
    assert raised.value.args == ("k",)
    assert raised.value.__notes__ == ['at "/a"']
    with pytest.raises(PassFailedException) as failed, located("/a"):
        raise PassFailedException("refused")
    assert str(failed.value) == '"/a": refused'
    with pytest.raises(CompilationError) as refused, located("/a"):
        raise CompilationError(Diagnostic("refused", file="m.onnx"))
    assert str(refused.value) == 'm.onnx: "/a": error: refused'


@pytest.mark.parametrize("name", ['a"b\\c\nd', "é日", "x" * 10_000, "\ud800", ""])
def test_any_text_is_a_name(name: str):
    def model(x: Tensor) -> Tensor:
        with located(name):
            return named(named(x, name).sin(), name)

    with pytest.raises(ValueError, match="no") as raised, located(name):
        raise ValueError("no")
    assert len(str(raised.value)) < 200
    assert "\n" not in str(raised.value)
    program: Any = tg.compile(model, X)
    assert len(program.inputs[0].name) <= 512
