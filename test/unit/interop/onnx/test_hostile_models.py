"""Files that are malformed, or made to take much time or memory: each is one clear error, or is
imported, and none raises another exception."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper, numpy_helper

from tgdialect.diagnostics import CompilationError
from tgdialect.interop.onnx.backend import module_of, prepare
from tgdialect.interop.onnx.model import Model

X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
Y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]


def model(*nodes: Any, constants: Any = (), functions: Any = (), **given: Any) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "g", [X], [Y], list(constants))
    given = {"opset_imports": OPSETS, "ir_version": 10, **given}
    return helper.make_model(graph, functions=list(functions), **given)


def refusal(proto: onnx.ModelProto | bytes, folder: Path) -> str:
    """The error of a model's file."""
    file = folder / "model.onnx"
    file.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
    with pytest.raises(CompilationError) as caught:
        module_of(Model.read(file))
    assert all(d.file == str(file) for d in caught.value.diagnostics)
    return "\n".join(d.message for d in caught.value.diagnostics)


node = helper.make_node
RELU = node("Relu", ["x"], ["y"])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])], "order of their values"),
        ([node("Relu", ["a"], ["y"]), node("Relu", ["x"], ["a"])], "order of their values"),
        ([RELU, RELU], "'y' is made twice"),
        ([node("Relu", ["x"], ["z"])], "nothing before it makes the value 'y'"),
        ([node("Split", ["x"], ["y"], num_outputs=2**40)], "there are 1 results"),
    ],
)
def test_nodes_that_do_not_fit(nodes: Any, reason: str, tmp_path: Path) -> None:
    assert reason in refusal(model(*nodes), tmp_path)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"raw_data": b"1234"}, "do not fit the shape (2, 3)"),
        ({"raw_data": b"1" * 5000}, "5000 bytes, not 24"),
        ({"dims": [-1, 3], "raw_data": b"1" * 24}, "no tensor has the shape (-1, 3)"),
        ({"dims": [2**62, 4]}, "shape"),
        ({"dims": [1] * 65, "raw_data": b"1234"}, "65 axes"),
        ({"data_type": 99, "raw_data": b"1234"}, "no element type 99"),
        ({"data_type": TensorProto.STRING}, "strings are not supported"),
    ],
)
def test_constants_that_do_not_fit(fields: Any, reason: str, tmp_path: Path) -> None:
    tensor = TensorProto(**{"name": "w", "data_type": 1, "dims": [2, 3], **fields})
    found = refusal(model(node("Add", ["x", "w"], ["y"]), constants=[tensor]), tmp_path)
    assert "initializer 'w'" in found
    assert reason in found


@pytest.mark.parametrize("location", ["/etc/passwd", "../a", "none", "", ".", "link", "a\0b"])
def test_external_data_outside_of_the_folder(location: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    tensor = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    found = refusal(model(node("Add", ["x", "w"], ["y"]), constants=[tensor]), tmp_path)
    assert "initializer 'w': the external data of 'w'" in found


def test_versions(tmp_path: Path) -> None:
    for version in (0, -1, 999, 2**63 - 1):
        opsets = [helper.make_opsetid("", version)]
        assert f"opset {version}" in refusal(model(RELU, opset_imports=opsets), tmp_path)
    assert "version 0 of the format" in refusal(model(RELU, ir_version=0), tmp_path)
    assert "no graph" in refusal(b"", tmp_path)
    assert "no opset" in refusal(model(RELU, opset_imports=[]), tmp_path)


def function(name: str, *nodes: Any) -> onnx.FunctionProto:
    return helper.make_function("own", name, ["a"], ["b"], list(nodes), OPSETS)


def test_functions_that_call_themselves(tmp_path: Path) -> None:
    again = function("f", node("f", ["a"], ["b"], domain="own"))
    call = node("f", ["x"], ["y"], domain="own")
    assert "calls itself" in refusal(model(call, functions=[again]), tmp_path)


def test_functions_that_expand(tmp_path: Path) -> None:
    functions = [function("f30", RELU)]
    for i in range(30):
        calls = (("a", "t"), ("t", "b"))
        nodes = [node(f"f{i + 1}", [a], [b], domain="own") for a, b in calls]
        functions.append(function(f"f{i}", *nodes))
    functions[0] = function("f30", node("Identity", ["a"], ["b"]))
    call = node("f0", ["x"], ["y"], domain="own")
    assert "expand to more than" in refusal(model(call, functions=functions), tmp_path)


def test_refusals_are_limited(tmp_path: Path) -> None:
    nodes = [node("None", ["x"], [f"{i}" * 5000]) for i in range(200)]
    found = refusal(model(*nodes), tmp_path).split("\n")
    assert len(found) == 101
    assert max(map(len, found)) < 2500


def sample() -> bytes:
    weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")
    shape = numpy_helper.from_array(np.array([3, 2]), "s")
    nodes = [node("Add", ["x", "w"], ["a"]), node("Reshape", ["a", "s"], ["b"])]
    join = node("Concat", ["b", "b"], ["y"], axis=0)
    return model(*nodes, join, constants=[weight, shape]).SerializeToString()


def is_imported(file: Path, contents: bytes) -> bool:
    file.write_bytes(contents)
    try:
        module_of(Model.read(file))
    except CompilationError:
        return False
    return True


def test_each_beginning_of_a_file(tmp_path: Path) -> None:
    contents = sample()
    for end in range(0, len(contents), 3):
        is_imported(tmp_path / "model.onnx", contents[:end])
    assert is_imported(tmp_path / "model.onnx", contents)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    assert "UTF-8" in refusal(sample().replace(b"\x0a\x01b", b"\x0a\x01\xff"), tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_bits_that_are_flipped(seed: int, tmp_path: Path) -> None:
    choose, contents = random.Random(seed), sample()
    for _ in range(40):
        changed = bytearray(contents)
        for _ in range(choose.randint(1, 3)):
            changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
        is_imported(tmp_path / "model.onnx", bytes(changed))


def test_file_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are those of the file that was read, wherever the process works later: in a file that
    has changed before the first call, other bytes may be in their places."""

    def save(weights: np.ndarray, name: str) -> None:
        nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
        infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, weights.shape) for n in "xy"]
        constants = [numpy_helper.from_array(weights, "w")]
        graph = helper.make_graph(nodes, name, infos[:1], infos[1:], constants)
        opsets = [helper.make_opsetid("", 18)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), "model.onnx")

    weights = np.arange(1024, dtype=np.float32)
    monkeypatch.chdir(tmp_path)
    save(weights, "g")
    prepared = prepare("model.onnx")
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(prepared.run([weights])[0], weights * 2)
    monkeypatch.chdir(tmp_path)
    prepared = prepare("model.onnx")
    save(weights, "longer")
    with pytest.raises(CompilationError, match="has changed since"):
        prepared.run([weights])
