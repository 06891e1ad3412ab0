"""Models with operators that are not imported: all of them are listed, before anything is run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, defs, helper

import tgdialect as tg
from tgdialect.diagnostics import CompilationError
from tgdialect.interop.onnx import prepare
from tgdialect.interop.onnx.refusals import OPERATORS, REASONS, reason_without_rule
from tgdialect.interop.onnx.table import TABLE
from tgdialect.tools import tg_opt

F32, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def value(name: str, kind: int = F32, shape: Sequence[Any] = (2,)) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def node(op: str, inputs: str, outputs: str, domain: str = "", **attributes: Any) -> Any:
    name = attributes.pop("name", f"/{op}_of_{outputs.split()[0]}")
    return helper.make_node(
        op, inputs.split(), outputs.split(), name=name, domain=domain, **attributes
    )


def model(nodes: Sequence[Any], *, functions: Sequence[Any] = (), **opsets: int) -> Any:
    """A model from x, of two floats, and c, a bool, to y."""
    graph = helper.make_graph(nodes, "g", [value("x"), value("c", BOOL, [])], [value("y")])
    domains = {"": opsets.pop("opset", 21), **{d.replace("_", "."): v for d, v in opsets.items()}}
    imports = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def graph(nodes: Sequence[Any], output: str) -> Any:
    return helper.make_graph(nodes, "inner", [], [value(output)])


def refusals(proto: Any) -> list[str]:
    with pytest.raises(CompilationError) as caught:
        prepare(proto)
    return [each.message for each in caught.value.diagnostics]


INSIDE = node("Gone", "x", "z", "org.example", name="/inside")
LOOP = helper.make_graph(
    [INSIDE, node("Identity", "going", "more")],
    "body",
    [value("i", TensorProto.INT64, []), value("going", BOOL, [])],
    [value("more", BOOL, [])],
)


def test_all_are_listed_at_once_with_their_opsets_nodes_and_advice():
    function = helper.make_function(
        "org.example",
        "Outer",
        ["a"],
        ["b"],
        [node("StringNormalizer", "a", "b", name="/in a function")],
        [helper.make_opsetid("", 10)],
    )
    nodes = [
        node("ImageDecoder", "x", "p"),
        node("Outer", "x", "q", "org.example"),
        helper.make_node("Loop", ["", "c"], [], body=LOOP),
        node("ReorderOutput", "x", "r", "com.microsoft.nchwc"),
        node("Sum", "p q r", "y"),
    ]
    found = refusals(model(nodes, functions=[function], org_example=1, com_microsoft_nchwc=1))
    assert len(found) == 4
    assert re.match(r"ImageDecoder \(opset 21\), node '/ImageDecoder_of_p': .*decode", found[0])
    assert re.match(r"com.microsoft.nchwc.ReorderOutput .*ORT_ENABLE_EXTENDED", found[1])
    assert re.match(r"StringNormalizer \(opset 10\), node '/in a function': .*remove", found[2])
    assert re.match(r"org.example.Gone \(opset 1\), node '/inside': there is no such", found[3])


def test_inputs_are_listed_too():
    proto = model([node("StringSplit", "x", "y")])
    proto.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
    first, second = refusals(proto)
    assert first == "input 'x': elements of type STRING are not supported"
    assert second.startswith("StringSplit (opset 21)")


def test_a_branch_that_is_not_taken_is_no_refusal():
    nodes = [
        node(
            "If",
            "c",
            "y",
            then_branch=graph([INSIDE], "z"),
            else_branch=graph([node("Neg", "x", "n")], "n"),
        )
    ]
    prepared = prepare(model(nodes, org_example=1))
    x = np.array([1, -2], np.float32)
    np.testing.assert_array_equal(prepared.run([x, np.array(False)])[0], -x)
    with pytest.raises(CompilationError, match=r"org.example.Gone .*node '/inside'"):
        prepared.run([x, np.array(True)])


def test_refusals_of_attributes_come_with_those_of_operators_in_branches():
    branches = {"then_branch": graph([INSIDE], "z"), "else_branch": graph([INSIDE], "z")}
    nodes = [
        node("Softmax", "x", "s", wrong=1),
        node("If", "c", "t", **branches),
        node("Add", "s t", "y"),
    ]
    prepared = prepare(model(nodes, org_example=1))
    with pytest.raises(CompilationError) as caught:
        prepared.run([np.ones(2, np.float32), np.array(False)])
    first, second = [each.message for each in caught.value.diagnostics]
    assert first == "Softmax (opset 21), node '/Softmax_of_s': there is no attribute 'wrong'"
    assert second.startswith("org.example.Gone (opset 1), node '/inside'")


@pytest.mark.parametrize(
    ("operator", "opsets", "advice"),
    [
        (("Add", ""), {"opset": 6}, "supported from opset 7 on: .*version_converter"),
        (("FastGelu", "com.microsoft"), {}, "has no opset of the domain 'com.microsoft'"),
        (("NhwcOther", "com.microsoft"), {"com_microsoft": 1}, "ORT_DISABLE_ALL"),
        (("TreeEnsemble", "ai.onnx.ml"), {"ai_onnx_ml": 5}, "library that it is from"),
        (("NoSuch", ""), {}, "there is no such operator"),
        (
            ("Add", ""),
            {"opset": 999},
            "opset 999 of ai.onnx is not known: .*install a newer package onnx",
        ),
    ],
)
def test_advice(operator: tuple[str, str], opsets: dict[str, int], advice: str):
    op, domain = operator
    (found,) = refusals(model([node(op, "x x", "y", domain)], **opsets))
    assert re.search(advice, found)


def test_the_tools_print_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "m.onnx"
    onnx.save(model([node("ImageDecoder", "x", "p"), node("StringSplit", "p", "y")]), file)
    assert tg_opt.main([str(file)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(f"{file}: error: ") for line in lines] == [True, True]
    with pytest.raises(CompilationError, match="ImageDecoder"):
        tg.compile(str(file))


def test_every_operator_has_a_rule_a_function_or_a_reason():
    for schema in defs.get_all_schemas():
        if schema.domain in ("", "ai.onnx.preview.training") and not schema.deprecated:
            rules = TABLE[schema.domain].get(schema.name)
            reason = reason_without_rule(schema.domain, schema.name, schema.since_version)
            listed = schema.name in OPERATORS.get(schema.domain, {})
            assert bool(rules) or reason is None or listed, schema.name
            assert not (rules and listed), schema.name


def test_reasons_are_of_domains_whose_operators_are_not_all_imported():
    assert set(REASONS) & set(TABLE) == {"ai.onnx.ml", "com.microsoft"}


def test_a_refusal_in_a_function_says_where_it_is_called():
    function = helper.make_function(
        "org.example",
        "Outer",
        ["a"],
        ["b"],
        [node("Softmax", "a", "b", name="/inner", wrong=1)],
        [helper.make_opsetid("", 21)],
    )
    calls = [node("Outer", "x", "y", "org.example", name="/outer")]
    with pytest.raises(CompilationError) as caught:
        prepare(model(calls, functions=[function], org_example=1)).run(
            [np.ones(2, np.float32), np.array(True)]
        )
    (found,) = caught.value.diagnostics
    assert found.message.startswith("Softmax (opset 21), node '/inner': there is no attribute")
    assert [note.message for note in found.notes] == ["in org.example.Outer, node '/outer'"]


@pytest.mark.parametrize("axis", [-3, 3])
@pytest.mark.parametrize(
    ("op", "opset"),
    [
        *[("Flatten", 21), ("Hardmax", 21), ("LayerNormalization", 21), ("Softmax", 11)],
        *[("RMSNormalization", 23), ("CumSum", 21), ("QuantizeLinear", 21)],
    ],
)
def test_an_axis_that_a_tensor_has_not_is_refused_by_the_name_of_the_node(
    op: str, opset: int, axis: int
) -> None:
    inputs = {"CumSum": "x axis", "Flatten": "x", "Hardmax": "x", "Softmax": "x"}.get(op, "x scale")
    attributes = {} if op == "CumSum" else {"axis": axis}
    stored = {"axis": np.array(axis), "scale": np.ones(2, np.float32)}
    graph = helper.make_graph(
        [node(op, inputs, "y", name="/it", **attributes)],
        "g",
        [value("x", shape=(2, 2))],
        [helper.make_empty_tensor_value_info("y")],
        [onnx.numpy_helper.from_array(stored[name], name) for name in inputs.split()[1:]],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    with pytest.raises(CompilationError, match=f"'/it': axis {axis} of a tensor of 2 axes"):
        prepare(proto).run([np.ones((2, 2), np.float32)])


@pytest.mark.parametrize(
    ("name", "value"),
    [("k_quant_type", "PER_TENSOR"), ("kv_cache_bit_width", 8), ("some_newer_one", 1)],
)
def test_attributes_of_attention_that_are_not_supported_are_named(name: str, value: Any):
    shapes = {"q": [1, 2, 16], "k": [1, 2, 8], "v": [1, 2, 8]}
    inputs = [helper.make_tensor_value_info(n, F32, shape) for n, shape in shapes.items()]
    for each in ("seqlens", "total"):
        shape = [1] if each == "seqlens" else []
        inputs.append(helper.make_tensor_value_info(each, TensorProto.INT32, shape))
    names = ["q", "k", "v", "", "", "seqlens", "total"]
    attributes = {"num_heads": 4, "kv_num_heads": 2, "domain": "com.microsoft", name: value}
    call = helper.make_node("GroupQueryAttention", names, ["y", "pk", "pv"], "/gqa", **attributes)
    results = [helper.make_tensor_value_info("y", F32, [1, 2, 16])]
    proto = helper.make_model(
        helper.make_graph([call], "g", inputs, results),
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
    )
    feeds = {n: np.ones(shape, np.float32) for n, shape in shapes.items()}
    feeds |= {"seqlens": np.array([1], np.int32), "total": np.array(2, np.int32)}
    with pytest.raises(CompilationError, match=rf"/gqa.*the attribute {name} = {value!r}"):
        prepare(proto).run(feeds)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_dropout_of_all_is_0(ratio: float):
    proto = model([node("Dropout", "x ratio c", "y mask", seed=3)])
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(ratio), "ratio"))
    proto.graph.output.append(value("mask", BOOL))
    x = np.array([3, -np.inf], np.float32)
    y, mask = prepare(proto).run({"x": x, "c": np.array(True)})
    np.testing.assert_array_equal(y, np.where(mask, x / np.float32(1 - ratio or 1), 0))
    if ratio != 0.5:
        np.testing.assert_array_equal(mask, ratio == 0)
