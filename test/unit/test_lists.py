"""Lists in the README, CONTRIBUTING and `docs` name all that the code has, and nothing else.

`tools/make_docs.py` writes the lists of ops, passes, variables, layers and optimizers, and
`test_tensor.py` compares the methods of `docs/tensor.md`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path

import pytest

from tgdialect.lowering.render.source import LANGUAGES
from tgdialect.lowering.verify import LEVELS
from tgdialect.ops import arguments
from tgdialect.ops.attributes import AxisType, OptOp
from tgdialect.runtime.devices.cuda_context import target_for
from tgdialect.runtime.devices.device import KINDS
from tgdialect.targets import INTERPRETER, TARGETS
from tgdialect.targets.grid import GRIDS

ROOT = Path(__file__).parents[2]


def found(pattern: str, page: str) -> set[str]:
    """The matches of the first group of a pattern on a page."""
    return set(re.findall(pattern, (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE))


def column(page: str, header: str) -> set[str]:
    """The words in code style in the first column of the table with a header."""
    _, _, rest = (ROOT / page).read_text(encoding="utf-8").partition(f"\n| {header} |")
    rows = re.match(r".*\n((?:\|.*\n)+)", rest)
    assert rows is not None, f"{page} has no table {header}"
    return {
        name for row in rows[1].splitlines() for name in re.findall("`([^`]+)`", row.split("|")[1])
    }


def files(pattern: str) -> set[str]:
    return {path.name for path in ROOT.glob(pattern)}


def random_variables() -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in ROOT.glob("test/unit/**/test_*.py"))
    return {name for text in texts for name in re.findall(r'"(TG_RANDOM_[A-Z_]+)"', text)}


GRID_NAMES = {grid.name for grid in GRIDS}
PACKAGE = {path.name for path in ROOT.glob("tgdialect/*") if not path.name.startswith("__")}

LISTS: Mapping[str, tuple[Collection[str], Collection[str]]] = {
    "examples": (
        column("examples/README.md", "file"),
        files("examples/*.mlir"),
    ),
    "pages": (found(r"\bdocs/([\w-]+\.md)", "README.md"), files("docs/*.md")),
    "notes": (
        found(r"^\| \[([\w-]+\.md)\]", "docs/notes/README.md"),
        files("docs/notes/*.md") - {"README.md"},
    ),
    "OptOps": (
        found(r"^###(?: [A-Z]+ and)? ([A-Z]+)$", "docs/schedules.md") | {"SWAP"},
        [o.name for o in OptOp],
    ),
    "axis types": (column("docs/schedules.md", "axis type"), list(AxisType)),
    "languages": (column("docs/sources.md", "language"), LANGUAGES),
    "grids": ({name for name in GRID_NAMES if found(f"`({name})`", "docs/ir.md")}, GRID_NAMES),
    "levels": (found(r"^\*\*([a-z]+)(?:\.\*|\*\* \(after)", "docs/ir.md"), LEVELS),
    "attributes of arguments": (
        set(re.findall(r"`(tg\.\w+)`", arguments.__doc__ or "")),
        arguments.ARGUMENT_ATTRIBUTES,
    ),
    "files of the package": (
        found(r"`tgdialect/([\w.]+)`", "CONTRIBUTING.md"),
        PACKAGE - {"py.typed"},
    ),
    "random tests": (
        column("CONTRIBUTING.md", "variable"),
        random_variables() - {"TG_RANDOM_SEED"},
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_in_prose_is_that_of_the_code(name: str):
    listed, there = map(set, LISTS[name])
    assert listed == there, f"gone: {listed - there}, missing: {there - listed}"


def test_the_guide_names_targets_that_there_are():
    listed = column("docs/guide.md", "target")
    assert listed <= {*TARGETS, INTERPRETER, *(f"{kind}:0" for kind in KINDS)}


def test_the_modules_for_embedding_are_there():
    for name in column("docs/embedding.md", "module"):
        if not name.endswith("*"):
            import_module(name)


def test_devices_of_every_compute_capability_have_the_target_on_the_page():
    rows = found(r"^\| (\d+\.\d .*) \|$", "docs/devices.md")
    assert rows
    for row in rows:
        capabilities, _, target = row.partition(" | ")
        for major, minor in re.findall(r"(\d+)\.(\d)", capabilities):
            assert target_for(int(major), int(minor)) == target.strip("`")
