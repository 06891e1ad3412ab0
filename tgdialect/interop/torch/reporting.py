"""The report on graphs: what was compiled, what was left to PyTorch, and why.

The logger `tgdialect.interop.torch` has a line for each graph (INFO) and for each op that was left
to PyTorch (WARNING): `TORCH_LOGS="+tgdialect.interop.torch"` shows them.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyTorch's types are partial.

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from torch.fx import Node

LOG = logging.getLogger("tgdialect.interop.torch")

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def _frame_of(node: Node) -> tuple[str, int, str] | None:
    """File, line and code of the program that a node comes from, if PyTorch knows them."""
    trace = node.meta.get("stack_trace")
    if not isinstance(trace, str) or not (frames := list(_FRAME.finditer(trace))):
        return None
    last = frames[-1]
    code = trace[last.end() :].split("\n", 2)[1:2]
    return last["file"], int(last["line"]), "".join(code).strip()


def source_of(node: Node) -> tuple[str | None, int]:
    """The file and the line of the program that a node comes from."""
    frame = _frame_of(node)
    return (None, 0) if frame is None else frame[:2]


def location_of(node: Node) -> str:
    """The line of the program that a node comes from, as `file:line: code`, or else the module
    that it is in; empty if PyTorch knows neither."""
    if (frame := _frame_of(node)) is not None:
        file, line, code = frame
        return f"{file}:{line}: {code}" if code else f"{file}:{line}"
    modules = node.meta.get("nn_module_stack")
    if isinstance(modules, dict) and modules:
        name, _ = list(modules.values())[-1]
        return f"module {name}"
    return ""


@dataclass(frozen=True)
class Fallback:
    """A node that PyTorch runs: its op, why, and the line of the program that it comes from."""

    op: str
    reason: str
    location: str

    def __str__(self) -> str:
        return f"{self.op}: {self.reason}" + (f" ({self.location})" if self.location else "")


@dataclass(frozen=True)
class GraphReport:
    """A graph of `torch.compile`.

    Attributes:
        kind: "inference", "forward" or "backward".
        ops: the number of ops.
        parts: the number of ops in each part that was compiled.
        fallbacks: the ops that PyTorch runs.
        seconds: the time to compile it.
    """

    kind: str
    ops: int
    parts: Sequence[int]
    fallbacks: Sequence[Fallback]
    seconds: float

    def __str__(self) -> str:
        compiled = sum(self.parts)
        parts = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        return f"{self.kind}: {compiled} of {self.ops} ops compiled{parts}, {self.seconds:.1f} s"


@dataclass
class Report:
    """All graphs that were compiled. Printed, it is a table."""

    graphs: list[GraphReport] = field(default_factory=list[GraphReport])

    @property
    def fallbacks(self) -> Sequence[Fallback]:
        """The ops that PyTorch runs, of all graphs."""
        return [fallback for graph in self.graphs for fallback in graph.fallbacks]

    def add(self, graph: GraphReport) -> None:
        """Add a graph, and log it."""
        self.graphs.append(graph)
        LOG.info("%s", graph)
        for fallback, count in Counter(graph.fallbacks).items():
            LOG.warning("PyTorch runs %s%s", fallback, f", {count} times" if count > 1 else "")

    def clear(self) -> None:
        """Forget all graphs."""
        self.graphs.clear()

    def __str__(self) -> str:
        lines: list[str] = []
        for graph in self.graphs:
            lines.append(str(graph))
            for fallback, count in Counter(graph.fallbacks).items():
                lines.append(f"  {count} x {fallback}")
        return "\n".join(lines) or "no graph was compiled"


REPORT = Report()
"""The report of this process."""
