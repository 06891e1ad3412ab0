"""The backend of `torch.compile`.

AOTAutograd makes graphs of ATen ops without mutation: one of inference, or one forward and one
backward. `partition.py` divides each into parts; each part is one program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from time import perf_counter
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule

from tgdialect.interop.torch.part import Part
from tgdialect.interop.torch.partition import partitioned
from tgdialect.interop.torch.reporting import REPORT, GraphReport

aten = torch.ops.aten

KEPT = (
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten.silu.default,
)
"""Core decompositions that are not applied: `Tensor`'s methods are faster or more exact."""


@dataclass(frozen=True)
class Options:
    """The options of the backend, as `torch.compile(model, backend="tgdialect", options={...})`
    takes them."""


def options_of(given: Mapping[str, Any]) -> Options:
    """Options by their names. Raises ValueError for those that there are not."""
    names = [field.name for field in fields(Options)]
    for name in given:
        if name not in names:
            raise ValueError(f"the backend has no option {name!r}; there are: {', '.join(names)}")
    return Options(**given)


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """The decompositions that are applied: PyTorch's core ones without those in `KEPT`."""
    found = dict(core_aten_decompositions())
    for overload in KEPT:
        found.pop(overload, None)
    return found


def compiled(
    graph: GraphModule,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The backend: compiles a graph of Dynamo."""
    chosen = options_of(options or {})
    if mode not in (None, "default"):
        raise ValueError(f"the backend has no mode {mode!r}: options name what there is")
    make = partial(compiled_graph, chosen)
    return aot_autograd(
        fw_compiler=partial(make, "forward"),
        bw_compiler=partial(make, "backward"),
        inference_compiler=partial(make, "inference"),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
    )(graph, inputs)


def compiled_graph(
    options: Options, kind: str, graph: GraphModule, inputs: Sequence[Any]
) -> Callable[[list[Any]], Any]:
    """A function of the list of a graph's inputs, which it empties."""
    start = perf_counter()
    ops = _ops_of(graph)
    division = partitioned(graph)
    if division.is_whole:
        run: Any = Part(division.graph)
        parts = [ops]
    else:
        parts = []
        for name in division.parts:
            part = getattr(division.graph, name)
            parts.append(_ops_of(part))
            setattr(division.graph, name, _PartModule(Part(part), part))
        run = _interpreted(division.graph)
    REPORT.add(GraphReport(kind, ops, parts, division.fallbacks, perf_counter() - start))

    def call(given: list[Any]) -> Any:
        inputs = list(given)
        given.clear()
        return run(inputs)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


class _PartModule(torch.nn.Module):
    """A compiled part in the place of its module."""

    def __init__(self, part: Part, module: GraphModule) -> None:
        super().__init__()
        self._part = part
        (returned,) = (node.args[0] for node in module.graph.nodes if node.op == "output")
        self._is_one = not isinstance(returned, list | tuple)

    def forward(self, *inputs: Any) -> Any:
        found = self._part(list(inputs))
        return found[0] if self._is_one else found


def _interpreted(graph: GraphModule) -> Callable[[list[Any]], Any]:
    graph.recompile()
    forward = graph.forward
    return lambda inputs: forward(*inputs)


def _ops_of(graph: GraphModule) -> int:
    return sum(
        node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
        for node in graph.graph.nodes
    )
