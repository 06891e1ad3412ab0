"""Models of one node, of symbolic sizes, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import tgdialect.interop.onnx as tg_onnx
from tgdialect.interop.onnx import backend

MICROSOFT = "com.microsoft"


def model_of(
    op: str,
    inputs: Sequence[Any],
    results: Sequence[tuple[int, int]],
    *,
    opset: int = 21,
    domain: str = "",
    symbolic: Mapping[int, str | Sequence[int]] | None = None,
    constant: Sequence[int] = (),
    **attributes: Any,
) -> onnx.ModelProto:
    """A node whose inputs, arrays or None, have sizes that are symbolic.

    Args:
        results: the element type and the number of axes of each; None for one that is left out.
        symbolic: for inputs of which not all sizes are symbolic the axes that are, or names of
            sizes, with `_` for those that are given: `{0: "n _ h w"}`. Of inputs that are left out
            no size is symbolic with names, and all otherwise.
        constant: those of inputs that are initializers.
    """
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    outputs = ["" if r is None else f"y{i}" for i, r in enumerate(results)]
    node = helper.make_node(op, names, outputs, domain=domain, **attributes)
    given, stored = [], []
    has_names = any(isinstance(axes, str) for axes in (symbolic or {}).values())
    for i, x in enumerate(inputs):
        if x is None:
            continue
        if i in constant:
            stored.append(onnx.numpy_helper.from_array(x, names[i]))
            continue
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        axes = (symbolic or {}).get(i, "_ " * x.ndim if has_names else range(x.ndim))
        sizes = axes.split() if isinstance(axes, str) else None
        if sizes is None:
            sizes = [f"x{i}_{axis}" if axis in axes else "_" for axis in range(x.ndim)]
        shape = [e if s == "_" else s for s, e in zip(sizes, x.shape, strict=True)]
        given.append(helper.make_tensor_value_info(names[i], kind, shape))
    made = [
        helper.make_tensor_value_info(name, r[0], [f"{name}_{axis}" for axis in range(r[1])])
        for name, r in zip(outputs, results, strict=True)
        if r is not None
    ]
    graph = helper.make_graph([node], op, given, made, stored)
    opsets = [helper.make_opsetid("", opset)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def reference(model: onnx.ModelProto) -> Callable[[Mapping[str, Any]], list[Any]]:
    """ONNX Runtime without rewrites: one node as it stands."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda feed: session.run(None, dict(feed))


def compare(
    model: onnx.ModelProto,
    feeds: Sequence[Mapping[str, Any]],
    rtol: float = 1e-5,
    atol: float = 1e-6,
    step: int = 0,
    wanted: Callable[[Mapping[str, Any]], Sequence[Any]] | None = None,
    programs: int | None = 1,
    compared: int | None = None,
) -> None:
    """The results for each of some inputs are those of ONNX Runtime (or `wanted`): integers
    exactly, or by at most `step`. `programs` is how many are compiled; None if that is left open.
    Only the first results are compared, if `compared` says how many."""
    prepared = tg_onnx.prepare(model, opt="none")
    compute = wanted or reference(model)
    for feed in feeds:
        expected = compute(feed)
        found = prepared.run(feed)
        assert len(found) == len(expected)
        for a, b in zip(found[:compared], expected[:compared], strict=True):
            b = np.asarray(b)
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            if b.dtype.kind in "biu":
                wide = a.astype(np.int64), b.astype(np.int64)
                np.testing.assert_allclose(*wide, rtol=0, atol=step)
            else:
                np.testing.assert_allclose(
                    a.astype(np.float64), b.astype(np.float64), rtol=rtol, atol=atol
                )
    compiled = [p for p in prepared._asked.values() if isinstance(p, backend._Program)]
    refused = [str(e) for e in prepared._asked.values() if isinstance(e, Exception)]
    assert programs in (None, len(compiled)), refused
