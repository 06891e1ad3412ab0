"""Every op is known to every room of the compiler, every op and pass has a lit file, and every
package lists its files.

A room is a table that has to name each op of the dialect: the rules of derived properties, the
interpreter, the levels, instruction selection, rendering. `EXCEPTIONS` says which ops a room lacks
and why. An exception that a room no longer needs fails, so that the table stays exact.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tgdialect.dialect import TG
from tgdialect.interpreter.host import HOST
from tgdialect.interpreter.lane_run import LANES
from tgdialect.interpreter.scalar import SCALAR
from tgdialect.legacy.dialect import TG_LEGACY, UNCHANGED
from tgdialect.lowering.render import memory, walker
from tgdialect.lowering.render.llvm.arithmetic import ELEMENTWISE
from tgdialect.lowering.render.source.arithmetic import ELEMENTWISE as SPELLED
from tgdialect.lowering.select import stage
from tgdialect.lowering.verify import LEVELS, Body
from tgdialect.ops.properties.table import TABLE
from tgdialect.targets.cpu import FEATURES, cpu
from tgdialect.transforms.decompose import RECIPES
from tgdialect.universe import TARGETS, TG_UNIVERSE

ROOT = Path(__file__).parents[2]
FILECHECK = ROOT / "test" / "filecheck"
PACKAGE = ROOT / "tgdialect"
OPS: Mapping[str, type[Operation]] = {op.name: op for op in TG.operations}


def named(ops: Iterable[type[Operation]]) -> set[str]:
    return {op.name for op in ops}


def in_levels() -> set[str]:
    """The ops that some level has, as a container or in the body of one."""
    found: set[str] = set()
    bodies: list[Body] = []
    for containers in LEVELS.values():
        found |= containers.keys()
        bodies += (container.body for container in containers.values())
    while bodies:
        body = bodies.pop()
        found |= body.ops
        bodies += body.nested.values()
    return found


def in_render() -> set[str]:
    tables = (
        walker._HANDLERS,
        walker._HOST_HANDLERS,
        walker._MOVEMENTS,
        memory._MOVEMENTS,
    )
    return (set(ELEMENTWISE) & set(SPELLED)).union(*map(named, tables))


ROOMS: Mapping[str, set[str]] = {
    "properties": set(TABLE),
    "interpreter": HOST.keys() | LANES.keys() & (SCALAR.keys() | {"tg.range"}),
    "verify": in_levels(),
    "select": named(stage._RULES),
    "render": in_render(),
}

_CALLABLE = "a symbol without results: CALLs of it are what has a type and runs"
_RESOLVED = "tg-callify resolves it"
_HOST_ONLY = "not part of a kernel"
_LINEAR_ONLY = "made by tg-linearize, after this stage"
_TEXT = "text that only a source backend has a use for; refused"
_GRID = "needs a target with a grid; refused on a cpu"
_BEFORE_CALLIFY = dict.fromkeys(
    (
        "tg.function",
        "tg.scan",
        "tg.tuple",
        "tg.gettuple",
        "tg.copy",
        "tg.contiguous",
        "tg.contiguous_backward",
        "tg.detach",
        "tg.replicated",
    ),
    _RESOLVED,
)
_DECOMPOSED = {
    f"tg.{name}": "tg-select decomposes it" for name in RECIPES if name not in cpu(FEATURES).native
}

EXCEPTIONS: Mapping[str, Mapping[str, str]] = {
    "properties": {"tg.kernel": _CALLABLE, "tg.program": _CALLABLE},
    "interpreter": {
        "tg.kernel": _CALLABLE,
        "tg.program": _CALLABLE,
        "tg.linear": "the ops in it run, one after the other",
        "tg.source": "text for a reader, which is not executed",
    },
    "verify": {},
    "select": {
        **_BEFORE_CALLIFY,
        "tg.pad": "tg-rangeify makes it a condition",
        "tg.binary": "tg-callify makes it an argument",
        "tg.call": _HOST_ONLY,
        "tg.customfunction": _HOST_ONLY,
        "tg.kernel": "the container that the stage walks over",
        "tg.program": _LINEAR_ONLY,
        "tg.source": _LINEAR_ONLY,
        "tg.linear": _LINEAR_ONLY,
        "tg.if": _LINEAR_ONLY,
        "tg.endif": _LINEAR_ONLY,
        "tg.special": _GRID,
    },
    "render": {
        **_BEFORE_CALLIFY,
        **_DECOMPOSED,
        "tg.pad": "tg-rangeify makes it a condition",
        "tg.flip": "tg-select makes it part of an index",
        "tg.after": "tg-linearize makes it a place in the order",
        "tg.group": "tg-linearize leaves it out: its members are in order",
        "tg.param": "an argument of the function",
        "tg.kernel": "tg-linearize makes it a PROGRAM",
        "tg.program": "the container that the stage walks over",
        "tg.linear": "the container that the stage walks over",
        "tg.binary": "machine code that is there already",
        "tg.source": "text for a reader",
        "tg.customfunction": "declared where it is called",
    },
}
"""By room, the ops that it lacks and why."""

LIT_NAME = re.compile(r"\btg(?:_legacy)?\.[a-z0-9_]+")
WORD = r"(?<![\w.-])%s(?![\w-])"


@pytest.mark.parametrize("room", ROOMS)
def test_every_op_is_in_the_room(room: str):
    missing = OPS.keys() - ROOMS[room] - EXCEPTIONS[room].keys()
    assert not missing, f"{room} lacks these ops: add them, or say why not in EXCEPTIONS"


@pytest.mark.parametrize("room", ROOMS)
def test_every_exception_is_one(room: str):
    stale = EXCEPTIONS[room].keys() - (OPS.keys() - ROOMS[room])
    assert not stale, f"{room} has these ops, or the dialect does not: drop them from EXCEPTIONS"


@pytest.mark.parametrize("room", ROOMS)
def test_the_room_has_no_op_that_is_gone(room: str):
    gone = {name for name in ROOMS[room] if name.startswith("tg.")} - OPS.keys()
    assert not gone, f"{room} names ops that are not in dialect.py"


def lit_folder(op: type[Operation]) -> Path:
    """The folder of an op's lit files: a folder for each family, or one for an older vocabulary."""
    dialect, _, _ = op.name.partition(".")
    if dialect == "tg_legacy":
        return FILECHECK / "legacy" / "ops"
    return FILECHECK / "ops" / op.__module__.rpartition(".")[2]


@pytest.mark.parametrize("op", [*TG.operations, *TG_LEGACY.operations], ids=lambda op: op.name)
def test_every_op_has_lit_files(op: type[Operation]):
    """`OP.mlir` has its round trip, and `OP_invalid.mlir` breaks its rules."""
    _, _, stem = op.name.partition(".")
    for file in (f"{stem}.mlir", f"{stem}_invalid.mlir"):
        assert_is_test(lit_folder(op) / file, op.name)


@pytest.mark.parametrize("summary_name", UNCHANGED)
def test_every_op_of_the_summary_that_is_one_of_ours_has_a_lit_file(summary_name: str):
    """`legacy/unchanged/OP.mlir` uses it between ops of the older vocabularies."""
    op = UNCHANGED[summary_name].op
    file = FILECHECK / "legacy" / "unchanged" / f"{summary_name.lower()}.mlir"
    assert_is_test(file, op.name)
    assert "tg_legacy." in file.read_text(encoding="utf-8")


def assert_is_test(file: Path, name: str):
    assert file.is_file()
    text = file.read_text(encoding="utf-8")
    assert name in LIT_NAME.findall(text), f"{file} does not contain {name}"
    assert "RUN:" in text
    assert "CHECK" in text or "--verify-diagnostics" in text


def run_lines() -> str:
    files = sorted(FILECHECK.rglob("*.mlir"))
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if "RUN:" in line)


RUN_LINES = run_lines()


@pytest.mark.parametrize("name", TG_UNIVERSE.all_passes)
def test_every_pass_is_run_by_a_lit_file(name: str):
    assert re.search(WORD % re.escape(name), RUN_LINES), f"no RUN line under {FILECHECK} has {name}"


@pytest.mark.parametrize("name", TARGETS)
def test_every_output_format_is_asked_for_by_a_lit_file(name: str):
    assert re.search(rf"(-t|--target)[ =]'?{name}\b", RUN_LINES)


@pytest.mark.parametrize("name", TG_UNIVERSE.all_passes)
def test_every_pass_is_described(name: str):
    """`tg-opt --list-passes` prints the name and the first line of the docstring."""
    pass_type: type[ModulePass] = TG_UNIVERSE.all_passes[name]()
    assert pass_type.name == name
    assert (pass_type.__doc__ or "").strip().partition("\n")[0].endswith(".")


LISTED = re.compile(r"`(\w+(?:\.py|\.ll|\.c|\.h|/))`")


def files_of(package: Path) -> set[str]:
    """The modules and data files of a package, and its subpackages with a slash."""
    files = {file.name for file in package.iterdir() if file.suffix in (".py", ".ll", ".c", ".h")}
    subpackages = {f"{init.parent.name}/" for init in package.glob("*/__init__.py")}
    return files - {"__init__.py"} | subpackages


@pytest.mark.parametrize("init", sorted(PACKAGE.rglob("__init__.py")), ids=lambda i: i.parent.name)
def test_a_package_lists_its_files(init: Path):
    """The docstring of a package is its table of contents; two files need none."""
    docstring = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
    listed = set(LISTED.findall(docstring))
    files = files_of(init.parent)
    assert listed == files or (not listed and len(files) < 3)


# -- one name, one thing -------------------------------------------------------------------------

SHARED_NAMES = {
    "LoadOp": "tg.load, and upstream's name for llvm.load",
    "StoreOp": "tg.store, and upstream's name for llvm.store",
}


def test_no_two_classes_have_one_name():
    """An older vocabulary may have an op of the same name as ours: they are two dialects."""
    places: dict[str, list[str]] = {}
    legacy_ops = PACKAGE / "legacy" / "ops"
    for path in sorted({*PACKAGE.rglob("*.py")} - {*legacy_ops.glob("*.py")}):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert shared.keys() == SHARED_NAMES.keys(), shared


# -- names of files in prose ---------------------------------------------------------------------

NAMED = re.compile(r"`((?:\w+/)*\w+\.(?:py|ll|mlir|md))`")
"""A file that prose names: from the root, from the package, or beside the file that names it."""

PLACEHOLDERS = ("OP.mlir", "OP_invalid.mlir", "legacy/unchanged/OP.mlir")

PROSE = ("*.md", "docs/**/*.md", "tgdialect/**/*.py", "test/unit/**/*.py", "bench/*.py")


def exists(name: str, beside: Path) -> bool:
    folders = (ROOT, ROOT / "tgdialect", ROOT / "examples", ROOT / "test", *beside.parents[:2])
    if any((folder / name).exists() for folder in folders):
        return True
    return "/" not in name and any(
        next((ROOT / folder).rglob(name), None) for folder in ("tgdialect", "test")
    )


def test_files_that_prose_names_exist():
    missing: list[tuple[str, str]] = []
    for path in (path for pattern in PROSE for path in ROOT.glob(pattern)):
        if path.name != "CHANGELOG.md":  # It is about files that there were.
            text = path.read_text(encoding="utf-8")
            names = {*NAMED.findall(text)} - {*PLACEHOLDERS}
            missing += [(str(path.relative_to(ROOT)), n) for n in names if not exists(n, path)]
    assert not missing
