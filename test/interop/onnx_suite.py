"""onnx.backend.test's node cases and light models on our backend.

    python test/interop/onnx_suite.py                      # all node cases
    python test/interop/onnx_suite.py --only 'conv|pool'   # those whose name matches
    python test/interop/onnx_suite.py --kind real          # the light models instead
    python test/interop/onnx_suite.py --outcomes test/interop/onnx_outcomes.json
                                                           # counts by operator, for docs/onnx.md

Each case is one model with inputs and results. A case passes if every result has the dtype, the
shape and, within the case's tolerances, the elements. The cases come from the package onnx; none is
part of this project.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
import time
import traceback
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tgdialect.interop.onnx import prepare


def cases(kind: str) -> list[Any]:
    """The cases of a kind. Those of single nodes are computed, which takes 6 s (AMD EPYC)."""
    from onnx.backend.test.loader import load_model_tests

    with np.errstate(all="ignore"):  # The cases have infinities and NaN.
        return load_model_tests(kind=kind)


def data_of(case: Any) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """The model of a case, with each pair of inputs and results."""
    if case.model is not None:
        for inputs, outputs in case.data_sets or []:
            yield case.model, list(map(_array, inputs)), list(map(_array, outputs))
        return
    if case.model_dir is None:
        yield _light(case)
        return
    folder = Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    for data in sorted(folder.glob("test_data_set_*")):
        yield model, _protos(data, "input"), _protos(data, "output")


def _light(case: Any) -> tuple[Any, list[Any], list[Any]]:
    """A light model of the package, with the inputs that its runner makes, and the results that are
    beside it. Its URL is a path below the folder of the package."""
    from onnx.backend.test.runner import Runner

    file = Path(onnx.__file__).parents[1] / case.url
    model = onnx.load(file)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in constants]
    results = sorted(file.parent.glob(f"{file.stem}_output_*.pb"))
    return model, [Runner.generate_dummy_data(x) for x in inputs], list(map(_proto, results))


def _protos(folder: Path, kind: str) -> list[Any]:
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda p: int(re.findall(r"\d+", p.stem)[-1]))
    return list(map(_proto, files))


def _proto(file: Path) -> Any:
    tensor = onnx.TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return numpy_helper.to_array(tensor)


def _array(value: Any) -> Any:
    match value:
        case onnx.TensorProto():
            return numpy_helper.to_array(value)
        case onnx.SequenceProto():
            return [_array(v) for v in numpy_helper.to_list(value)]
        case onnx.OptionalProto():
            return numpy_helper.to_optional(value)
        case _:
            return value


def check(found: Any, wanted: Any, rtol: float, atol: float) -> None:
    """Raise AssertionError for another result."""
    if isinstance(wanted, list | tuple):
        assert isinstance(found, list | tuple), f"{type(found)} for a sequence"
        assert len(found) == len(wanted), f"{len(found)} values for {len(wanted)}"
        for a, b in zip(found, wanted, strict=True):
            check(a, b, rtol, atol)
        return
    if wanted is None:
        assert found is None
        return
    wanted = np.asarray(wanted)
    assert isinstance(found, np.ndarray | np.generic), f"{type(found).__name__} for an array"
    assert found.dtype == wanted.dtype, f"dtype {found.dtype} for {wanted.dtype}"
    assert found.shape == wanted.shape, f"shape {found.shape} for {wanted.shape}"
    if wanted.dtype.kind in "OSU":
        assert (found == wanted).all()
    else:
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        exact = wanted.dtype.kind in "biu"
        if exact:
            np.testing.assert_array_equal(found, wanted)
        else:
            np.testing.assert_allclose(found.astype(wide), wanted.astype(wide), rtol, atol)


def operators(found: list[Any]) -> dict[str, str]:
    """The operator that each case of single nodes tests, by the name of the case: that of its last
    node; for a function's expansion that of the node which is expanded."""
    by_name = {case.name: _operator(case.model.graph.node[-1]) for case in found}
    for name in by_name:
        base = re.sub(r"_expanded(_ver\d+)?$", "", name)
        by_name[name] = by_name.get(base, by_name[name])
    return by_name


def _operator(node: onnx.NodeProto) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def counts(operators: dict[str, str], passed: Container[str]) -> dict[str, list[int]]:
    """For each operator the number of cases that pass, and of all."""
    found: dict[str, list[int]] = {}
    for name, operator in sorted(operators.items(), key=lambda item: (item[1], item[0])):
        count = found.setdefault(operator, [0, 0])
        count[0] += name in passed
        count[1] += 1
    return found


def run(case: Any) -> str | None:
    """None if a case passes, else the error."""
    try:
        for model, inputs, outputs in data_of(case):
            found = prepare(model).run(inputs)
            check(tuple(found), tuple(outputs), case.rtol, case.atol)
    except Exception as error:
        text = str(error).strip() or traceback.format_exc(limit=-2)
        return f"{type(error).__name__}: {text}"
    return None


def main() -> int:
    """Run the cases, and print what failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument(
        "--kind",
        default="node",
        choices=("node", "simple", "real", "pytorch-operator", "pytorch-converted"),
    )
    parser.add_argument("--long", action="store_true", help="whole errors")
    parser.add_argument("--outcomes", type=Path, metavar="FILE", help="write counts by operator")
    options = parser.parse_args()
    if options.outcomes and (options.only or options.kind != "node"):
        parser.error("--outcomes is for all cases of single nodes")
    start, passed, failed = time.time(), set[str](), list[tuple[str, str, str]]()
    for case in cases(options.kind):
        if not re.search(options.only, case.name):
            continue
        error = run(case)
        if error is None:
            passed.add(case.name)
        else:
            op = case.model.graph.node[-1].op_type if case.model is not None else ""
            failed.append((op, case.name, error))
            print(
                f"FAIL {case.name} [{op}]",
                error if options.long else error.splitlines()[0][:200],
                flush=True,
            )
    by_op = collections.Counter(op for op, _, _ in failed)
    print("failed by op:", ", ".join(f"{op} {n}" for op, n in by_op.most_common()))
    print(f"{len(passed)} of {len(passed) + len(failed)} pass, {time.time() - start:.0f} s")
    if options.outcomes:
        found = counts(operators(cases("node")), passed)
        lines = ",\n".join(f"{json.dumps(op)}: {count}" for op, count in found.items())
        options.outcomes.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
