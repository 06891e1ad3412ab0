"""PyTorch's programs: `torch.compile(model, backend="tgdialect")`, and `.pt2` files of
`torch.export`.

Nothing here imports PyTorch before it is used.

| file | subject |
|---|---|
| `archive.py` | `.pt2` files: a program in JSON, and the memory of its tensors |
| `backend.py` | the backend: its options, the graphs that AOTAutograd makes |
| `checking.py` | `options={"check": True}`: comparing a part with PyTorch, and finding the op |
| `complex_values.py` | complex values, which are two parts in programs |
| `dtypes.py` | PyTorch's dtypes as ours |
| `expansions.py` | ops that are divided into others: those that raise errors, for one |
| `export.py` | programs of `torch.export` as modules |
| `frontend.py`, `plugin.py` | `.pt2` files as an input format |
| `layouts.py` | how tensors lie in memory, and which layouts programs take as they are |
| `ops/` | the table: a line for each overload of an ATen op, a file for each family |
| `part.py` | a part of a graph as a program, and calls of it with PyTorch's tensors |
| `partition.py` | the parts of a graph that are compiled; PyTorch runs the rest |
| `reporting.py` | what was compiled, what was left to PyTorch, and why |
| `rules.py` | the kinds of lines in the table, and refusals |
| `sizes.py` | PyTorch's symbolic sizes as ours |
| `table.py` | the table of all families |
| `translation.py` | a graph of ATen ops as calls of `Tensor`'s methods |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tgdialect.interop.torch.reporting import Report


def report() -> Report:
    """The graphs that this process has compiled since the last `clear`, and what was left to
    PyTorch, with the reason and the line of the program. Printed, it is a table."""
    from tgdialect.interop.torch.reporting import REPORT

    return REPORT
