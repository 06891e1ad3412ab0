"""The backend of `torch.compile`.

AOTAutograd makes graphs of ATen ops without mutation: one of inference, or one forward and one
backward. `partition.py` divides each into parts; each part is one program.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false
# PyTorch's types are partial.

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch._ops import OperatorBase
from torch.fx import GraphModule, Node

from tgdialect.diagnostics import CompilationError
from tgdialect.interop.torch.checking import Checked
from tgdialect.interop.torch.expansions import expand
from tgdialect.interop.torch.part import Part
from tgdialect.interop.torch.partition import partitioned
from tgdialect.interop.torch.reporting import REPORT, Fallback, GraphReport
from tgdialect.interop.torch.rules import Refusal

aten = torch.ops.aten

KEPT = (
    aten.bernoulli.default,
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten.silu.default,
)
"""Core decompositions that are not applied: `Tensor`'s methods are faster or more exact, and random
ops draw other numbers in parts than as a whole."""

MORE = (
    aten._batch_norm_with_update_functional,
    aten.bitwise_and.Scalar_Tensor,
    aten.bitwise_left_shift.Scalar_Tensor,
    aten.bitwise_left_shift.Tensor_Scalar,
    aten.bitwise_or.Scalar_Tensor,
    aten.bitwise_right_shift.Scalar_Tensor,
    aten.bitwise_right_shift.Tensor_Scalar,
    aten.bitwise_xor.Scalar_Tensor,
    aten.bucketize.Scalar,
    aten.dist,
    aten.hypot,
    aten.ldexp.Tensor,
    aten.linalg_vector_norm,
    aten.narrow_copy,
    aten.remainder.Scalar_Tensor,
    aten.tril_indices,
    aten.triu_indices,
    aten.upsample_bicubic2d,
    aten.upsample_bilinear2d,
    aten.upsample_nearest2d,
    aten.upsample_trilinear3d,
)
"""Decompositions of PyTorch's that are applied beside the core ones: of ops that the table lacks,
where it has what they are made of."""


@dataclass(frozen=True)
class BackendOptions:
    """The options of the backend, as `torch.compile(model, backend="tgdialect", options={...})`
    takes them.

    Attributes:
        freeze: in graphs without gradients, parameters and buffers are constants: what depends on
            them alone, as a packed weight, is computed in the first call, and again after PyTorch
            has noted a write. It does not note one through `.data` or through an array of NumPy
            that shares the memory.
        check: compare the results of each part with PyTorch's in each call, and each kernel with
            the interpreter in the first one of each signature (docs/debugging.md, "Checking").
            Raise `WrongResult` for those that differ; or "warn".
        folder: where `check` leaves the programs of parts whose results differ.
    """

    freeze: bool = False
    check: bool | Literal["warn"] = False
    folder: str | Path = Path(tempfile.gettempdir()) / "tgdialect-torch"


def options_of(given: Mapping[str, Any]) -> BackendOptions:
    """BackendOptions by their names. Raises ValueError for those that there are not."""
    names = [field.name for field in fields(BackendOptions)]
    for name in given:
        if name not in names:
            raise ValueError(f"the backend has no option {name!r}; there are: {', '.join(names)}")
    return BackendOptions(**given)


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """The decompositions that are applied: PyTorch's core ones and those in `MORE`, without those
    in `KEPT`."""
    found: dict[Any, Any] = {**core_aten_decompositions(), **get_decompositions(MORE)}
    for overload in KEPT:
        found.pop(overload, None)
    return found


def backend(
    graph: GraphModule,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The backend, as PyTorch calls it with a graph of Dynamo."""
    chosen = options_of(options or {})
    if mode not in (None, "default"):
        raise ValueError(f"the backend has no mode {mode!r}: use options")
    make = partial(compiled_graph, chosen)
    return aot_autograd(
        fw_compiler=partial(make, "forward"),
        bw_compiler=partial(make, "backward"),
        inference_compiler=partial(make, "inference"),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )(graph, inputs)


def compiled_graph(
    options: BackendOptions, kind: str, graph: GraphModule, inputs: Sequence[Any]
) -> Callable[[list[Any]], Any]:
    """A function of the list of a graph's inputs, which it empties."""
    start = perf_counter()
    expand(graph)
    constants = _constants(graph) if options.freeze and kind == "inference" else ()
    ops, parts, fallbacks = _ops_of(graph), list[int](), list[Fallback]()

    def compiled(module: GraphModule, given: Sequence[Any]) -> Callable[[list[Any]], Any]:
        try:
            kept = [i for i, node in enumerate(given) if node in constants]
            part = Part(module, kept, check=bool(options.check))
        except (Refusal, CompilationError) as error:
            name = f"a part of {_ops_of(module)} ops"
            fallbacks.append(Fallback(name, f"it is not compiled: {error}", ""))
            return lambda inputs: module(*inputs)
        parts.append(_ops_of(module))
        if options.check:
            name = f"{kind}_{len(REPORT.graphs)}_{len(parts) - 1}"
            return Checked(part, module, name, Path(options.folder), options.check == "warn")
        return part

    division = partitioned(graph)
    fallbacks += division.fallbacks
    whole = division.graph
    if division.is_whole:
        run = compiled(whole, whole.graph.find_nodes(op="placeholder"))
    else:
        for node in whole.graph.find_nodes(op="call_module"):
            name = str(node.target)
            if name in division.parts:
                module: Any = getattr(whole, name)
                setattr(whole, name, _PartModule(compiled(module, node.args), module))
        whole.recompile()
        run = _spread(whole.forward)
    REPORT.add(GraphReport(kind, ops, parts, fallbacks, perf_counter() - start))

    def call(inputs: list[Any]) -> Any:
        results = run(inputs)
        inputs.clear()
        return results

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _constants(graph: GraphModule) -> Collection[Node]:
    """The inputs of a graph that are parameters and buffers, and are not written to."""
    context = TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return ()
    written = {n.args[0] for n in graph.graph.nodes if n.target is aten.copy_.default}
    placeholders = graph.graph.find_nodes(op="placeholder")
    found = {placeholders[i] for i in context.fw_metadata.static_input_indices}
    return {n for n in found - written if isinstance(n.meta["val"], torch.Tensor)}


class _PartModule(torch.nn.Module):
    """A compiled part in the place of its module."""

    def __init__(self, run: Callable[[list[Any]], Any], module: GraphModule) -> None:
        super().__init__()
        self._run = run
        (output,) = module.graph.find_nodes(op="output")
        self._is_one = not isinstance(output.args[0], list | tuple)

    def forward(self, *inputs: Any) -> Any:
        """The results of the part, one or several."""
        found = self._run(list(inputs))
        return found[0] if self._is_one and isinstance(found, list) else found


def _spread(forward: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    return lambda inputs: forward(*inputs)


def _ops_of(graph: GraphModule) -> int:
    """The number of PyTorch's ops in a graph."""
    return sum(isinstance(node.target, OperatorBase) for node in graph.graph.nodes)
