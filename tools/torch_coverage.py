"""Write the table of ATen ops in `docs/torch.md`, between two comments.

    python tools/torch_coverage.py           # writes the table
    python tools/torch_coverage.py --check   # prints a diff and exits with 1 where it is stale

Core ATen ops are those that PyTorch tags as such. A supported one has a line in the table of
`interop/torch`; another is decomposed into others before, or is run by PyTorch, with the reason.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from torch._ops import OpOverload

from tgdialect.interop.torch.backend import decompositions
from tgdialect.interop.torch.table import COMPLEX, TABLE
from tgdialect.interop.torch.translation import OF_SIZES

PAGE = Path(__file__).parents[1] / "docs" / "torch.md"
START, END = "<!-- made by tools/torch_coverage.py -->", "<!-- end -->"

LINES = 100
"""The greatest width of a line of names."""

DATA_DEPENDENT = "the size of its result depends on the elements of a tensor"
REASONS = {
    "_local_scalar_dense.default": "it returns a number to Python",
    "sym_storage_offset.default": "it depends on the layout in memory",
}
"""Why PyTorch runs a core op."""


def core_ops() -> list[OpOverload[..., Any]]:
    """The core ATen ops that are installed, by name, without those that write to arguments: graphs
    have none."""
    found: list[OpOverload[..., Any]] = []
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in getattr(packet, "overloads", list[str])():
            op = getattr(packet, overload)
            if torch.Tag.core in op.tags and not op._schema.is_mutable:
                found.append(op)
    return sorted(found, key=str)


def reason_of(op: OpOverload[..., Any]) -> str:
    """Why PyTorch runs an op without a line."""
    name = str(op).removeprefix("aten.")
    if name in REASONS:
        return REASONS[name]
    if torch.Tag.nondeterministic_seeded in op.tags:
        return "random numbers are PyTorch's"
    if torch.Tag.dynamic_output_shape in op.tags:
        return DATA_DEPENDENT
    return "no line yet"


def family_of(translate: Any) -> str:
    """The file of the table that a line is in."""
    function = getattr(translate, "func", translate)
    module = inspect.getmodule(function)
    return "?" if module is None else module.__name__.rsplit(".", 1)[-1]


def paragraph(names: list[str]) -> list[str]:
    """Names as lines of Markdown, as many in one as there is room for."""
    lines = [""]
    for name in names:
        word = f"`{name}`"
        if lines[-1] and len(lines[-1]) + len(word) + 2 > LINES:
            lines.append("")
        lines[-1] += f", {word}" if lines[-1] else word
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


def table() -> list[str]:
    """The lines between the comments."""
    known = {**COMPLEX, **TABLE, **dict.fromkeys(OF_SIZES)}
    decomposed = decompositions()
    core = core_ops()
    has_line = [op for op in core if op in known and op not in decomposed]
    is_made = [op for op in core if op in decomposed]
    rest = [op for op in core if op not in known and op not in decomposed]
    families: dict[str, list[str]] = defaultdict(list)
    for op, line in TABLE.items():
        families[family_of(line.translate)].append(str(op).removeprefix("aten."))
    count = len({**COMPLEX, **TABLE})
    families["complex_numbers"] = [str(op).removeprefix("aten.") for op in COMPLEX]
    lines = [
        f"The table has {count} overloads. Of the {len(core)} core ATen ops of this version of"
        f" PyTorch, {len(has_line)} have a line, {len(is_made)} are",
        f"decomposed into others, and PyTorch runs {len(rest)}. A line may refuse some arguments;"
        " the report says which.",
        "",
        "| core op that PyTorch runs | why |",
        "|---|---|",
        *(f"| `{str(op).removeprefix('aten.')}` | {reason_of(op)} |" for op in rest),
        "",
        "Core ops that are decomposed:",
        "",
        *paragraph([str(op).removeprefix("aten.") for op in is_made]),
    ]
    for family, names in sorted(families.items()):
        lines += [
            "",
            f"`tgdialect/interop/torch/ops/{family}.py`, {len(names)} overloads:",
            "",
            *paragraph(sorted(names)),
        ]
    return lines


def page(text: str) -> str:
    """The text of the page with a new table."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return "\n".join([before + START, "", *table(), "", END + after])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    old = PAGE.read_text(encoding="utf-8")
    if START not in old:
        sys.exit(f"{PAGE}: there is no comment {START}")
    new = page(old)
    if not options.check:
        PAGE.write_text(new, encoding="utf-8")
    elif old != new:
        print(*difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm=""), sep="\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
