"""The parts of a graph that are compiled. PyTorch runs the rest.

A node is compiled if the table has its op and translates it: that is tried, with tensors without
values. Parts that would compute nothing, as a lone reshape between two nodes that PyTorch runs, are
left to PyTorch as well.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyTorch's types are partial.

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from tgdialect.frontend import dtypes
from tgdialect.frontend.tracing import tracing
from tgdialect.interop.torch.ops.creation import CREATION
from tgdialect.interop.torch.ops.movement import MOVEMENT
from tgdialect.interop.torch.reporting import Fallback, location_of
from tgdialect.interop.torch.rules import Refusal
from tgdialect.interop.torch.sizes import greatest_size, symbols_of
from tgdialect.interop.torch.table import COMPLEX, TABLE
from tgdialect.interop.torch.translation import Translator, attribute, has_no_result, name_of

aten = torch.ops.aten

_COPIES = frozenset({aten.alias.default, aten.clone.default, aten.detach.default})

PREFIX = "tgdialect_"
"""The names of the parts in a graph."""


@dataclass(frozen=True)
class Partitioned:
    """A graph whose parts are modules, and why PyTorch runs the other nodes."""

    graph: GraphModule
    parts: Sequence[str]
    """The names of the modules; the graph itself if it is all one part: then there are none."""
    fallbacks: Sequence[Fallback]
    is_whole: bool


def is_write(node: Node) -> bool:
    """Whether a node writes the new value of an input, at the end of a graph."""
    return node.target is aten.copy_.default and cast(Node, node.args[0]).op == "placeholder"


def is_check(node: Node) -> bool:
    """Whether a node raises an error where a factorisation has failed, and computes nothing:
    PyTorch runs it, on the `info` of a part, and it is no fallback."""
    # Dynamo's graphs have it with a token, for its place among other effects.
    return aten._linalg_check_errors.default in (node.target, *node.args[1:2])


def reason_against(node: Node, translator: Translator) -> str | None:
    """Why a node is not compiled; None if it is."""
    if node.op == "get_attr":
        return None
    if node.op != "call_function":
        return f"a {node.op} is no op"
    if is_write(node):
        return None
    if is_check(node):
        return "programs raise no errors: PyTorch looks at the info of a factorisation"
    tags = getattr(node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded in tags and node.target not in TABLE:
        return "it draws random numbers, which come from PyTorch's generator"
    try:
        if node.target in TABLE or node.target in COMPLEX:
            translator.stand_in(node.meta.get("val"))
        with tracing():
            translator.value(node, lambda other: _stand_in(other, translator))
    except Refusal as refusal:
        return str(refusal)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as e:
        return f"{name_of(node)} is not translated: {type(e).__name__}: {e}"
    return None


def _stand_in(node: Node, translator: Translator) -> Any:
    if node.op == "get_attr" and not isinstance(node.meta.get("val"), torch.Tensor):
        return translator.value(node, lambda _: None)
    value = node.meta["val"]
    if isinstance(value, torch.SymFloat):
        return translator.tensor((), dtypes.float64)
    return translator.stand_in(value)


class _Support(OperatorSupportBase):
    """Whether nodes are compiled, by the reasons against them."""

    def __init__(self, reasons: Mapping[Node, str | None]) -> None:
        self._reasons = reasons

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        # A part may run before others that read the old value of an input.
        return node in self._reasons and self._reasons[node] is None and not is_write(node)


def partitioned(graph: GraphModule) -> Partitioned:
    """Divide a graph, in place, into parts that are compiled and nodes that PyTorch runs."""
    values = [node.meta["val"] for node in graph.graph.find_nodes(op="placeholder")]
    translator = Translator(greatest_size(len(symbols_of(values))))
    nodes = [n for n in graph.graph.nodes if n.op not in ("placeholder", "output")]
    reasons = {node: reason_against(node, translator) for node in nodes}
    # A node that takes one of several results goes with the node that has them.
    for node in nodes:
        if node.target is operator.getitem and isinstance(node.args[0], Node):
            reasons[node] = reasons.get(node.args[0], reasons[node])
    # So does the graph of a branch with the node that takes it.
    for node in nodes:
        if node.op == "get_attr" and isinstance(attribute(node), GraphModule):
            reasons[node] = next(filter(None, (reasons.get(user) for user in node.users)), None)
    refused = {node: reason for node, reason in reasons.items() if reason is not None}
    if not refused:
        return Partitioned(graph, (), (), True)
    partitioner = CapabilityBasedPartitioner(
        graph, _Support(reasons), allows_single_node_partition=True
    )
    proposed = partitioner.propose_partitions()
    kept = [part for part in proposed if any(map(_computes, part.nodes))]
    fallbacks = [
        Fallback(name_of(node), reason, location_of(node))
        for node, reason in refused.items()
        if not (node.target is operator.getitem or node.op == "get_attr" or is_check(node))
    ]
    fused = partitioner.fuse_partitions(kept, PREFIX)
    names = [n.target for n in fused.graph.nodes if n.op == "call_module"]
    parts = [str(name) for name in names if str(name).startswith(PREFIX)]
    return Partitioned(fused, parts, fallbacks, False)


def _computes(node: Node) -> bool:
    """Whether a node computes elements, and does not just move or copy them."""
    if node.op != "call_function" or has_no_result(node) or node.target is operator.getitem:
        return False
    return not (node.target in MOVEMENT or node.target in CREATION or node.target in _COPIES)
