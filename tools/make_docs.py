"""Write `docs/ops.md`, `docs/legacy.md` and `docs/passes.md` from the classes of ops and passes,
`docs/environment.md` from the table of variables, the tables of `docs/tensor.md` and
`docs/nn.md` from docstrings, and those of `docs/onnx.md` by `onnx_coverage.py`.

    python tools/make_docs.py           # writes the pages
    python tools/make_docs.py --check   # prints a diff and exits with 1 where a page is stale

The docstring of a class is its description, and the string below a field of a pass describes that
option. Change the class, not the page, then run this program. By hand are the text of these three
pages, and the names that tinygrad and PyTorch have for a method.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from inspect import isabstract, isfunction, ismodule
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    ArrayOfConstraint,
    DenseArrayBase,
    IntAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    ParamAttrConstraint,
)
from xdsl.passes import ModulePass

from tgdialect import environment, nn
from tgdialect.dialect import TG
from tgdialect.frontend import Tensor
from tgdialect.legacy.dialect import TG_LEGACY, UNCHANGED, Unchanged
from tgdialect.legacy.upgrade.stage import UpgradeLegacyPass
from tgdialect.lowering.levels import STAGES, LoweringPass
from tgdialect.lowering.optimize.optops.passes import OptOpPass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.ops import elementwise
from tgdialect.ops.attributes import DataAttr
from tgdialect.ops.base import OfType
from tgdialect.universe import TG_UNIVERSE

DOCS = Path(__file__).parents[1] / "docs"

OPS_HEAD = """\
# The ops of the tg dialect

Made by `python tools/make_docs.py` from the classes in [tgdialect/ops](../tgdialect/ops): do not
edit this page. The families and their order are those of the specification.

Each op says its operands, properties and results, then its traits, then its assembly format in
MLIR's declarative notation. The first line of a description names the op as the specification does:
sources in parentheses, then arguments; `?` marks what may be absent. Result types are derived, and
the verifier compares them with the types that are written: the rules are in
[properties/table.py](../tgdialect/ops/properties/table.py). [semantics.md](semantics.md) defines
results where the specification leaves room, and [ir.md](ir.md) the level at which an op may stand.
"""

PASSES_HEAD = """\
# The passes of tg-opt

Made by `python tools/make_docs.py` from the classes that
[universe.py](../tgdialect/universe.py) lists: do not edit this page.

A pass runs as `tg-opt FILE -p NAME`, or in a pipeline with options:
`tg-opt FILE --pass-pipeline='builtin.module(tg-callify,tg-optimize{mode=heuristic threads=4})'`.
As for `mlir-opt`, a pass is a flag, too, `--tg-optimize='mode=heuristic threads=4'`, and passes
run on each operation of a name by itself in `builtin.module(func.func(canonicalize,cse))`.
`tg-opt --help` has the other options, such as MLIR's for dumps, and the exit codes. `xdsl-opt` has
the same passes. [ir.md](ir.md) describes the levels, and [tour.md](tour.md) shows one program after
each stage.
"""

LEGACY_HEAD = """\
# The older vocabularies

Made by `python tools/make_docs.py` from the classes in [tgdialect/legacy](../tgdialect/legacy): do
not edit this page.

Before the specification the same system had other ops: those of the *UOp Summary* (2025), and those
of the numbered listings that tutorials print (2024). The dialect `tg_legacy` has each of them that
the specification no longer has, or has in another form; the others are ops of `tg`. A program may
use both. `tg-upgrade-legacy` rewrites it into the specification's; `tg-run` and `tg.compile` do so
by themselves.

* A kernel whose ops are in order is a `tg.linear` in a `tg.program`; a file `.uops` with a listing
  is read as one ([tutorial-upcast.md](tutorial-upcast.md)). It becomes a `tg.kernel`, and gets a
  function that calls it.
* A kernel that is a graph, before its linearization, is a `tg.kernel`. Blocks give the order of its
  ops; without them a DEFINE_ACC names the loops that it accumulates in.
* A program on tensors is a `func.func`. Its KERNELs become calls.

A value is a tensor: a scalar has no axes, a vector has one, and a pointer is memory of one axis,
`tensor<16xf32, #tg.place<global>>`. The size of a pointer may be unknown (`?`); then it is that of
the cells which the kernel accesses.

## What the documents leave open

* The order of ops decides what a LOAD sees. In the upgraded graph AFTERs say it. A loop whose
  iterations may meet in a cell keeps their order: its axis type is `reduce`.
* An accumulator has one value at a time: PHI and ASSIGN change it, and their results are its value
  where they are used. A loop that only adds to it, multiplies it or takes a maximum is a REDUCE,
  whose order is free for floats, as everywhere. Other accumulators are memory in registers.
* Positions are 32-bit integers. They become indices where no operation on the way can wrap.
* IDIV and MOD round toward zero, as CDIV and CMOD of today's listings; x / 0 and x mod 0 are 0.
* A masked element of a VIEW reads 0, also for a reduction, and a STORE does not write it.
* IF is the gate of what it encloses; `tg-linearize` makes a `tg.if` of gates.
* A SPECIAL is a RANGE of axis type `global` (gidx, idx) or `local` (lidx).
* A kernel with vectors is at level `tiles`, where no REDUCE goes over loops, and with it the whole
  module; without vectors it is at level `kernels`, where `tg-optimize` schedules it.
* A kernel that a listing has alone gets a function `main`. What it only writes is a result, whose
  other cells are 0; what it reads and writes is an argument, which changes.
"""


# -- Markdown ------------------------------------------------------------------------------------


def anchor(heading: str) -> str:
    """The fragment that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link(heading: str) -> str:
    return f"[{heading}](#{anchor(heading)})"


def block(text: str, language: str = "mlir") -> str:
    return f"```{language}\n{text}\n```\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown(docstring: str) -> str:
    """A docstring's paragraphs; code spans that stand alone and indented lines become blocks."""
    return "\n".join(map(_paragraph, inspect.cleandoc(docstring).split("\n\n")))


def _paragraph(text: str) -> str:
    if text.startswith("`") and not re.sub(r"`[^`]*`", "", text).strip(" ,\n"):
        return block("\n".join(re.findall(r"`([^`]*)`", text)))
    parts: list[str] = []
    lines: list[str] = []
    for line in [*text.split("\n"), None]:
        is_new = line is None or line.startswith("  ") != (lines or [line])[0].startswith("  ")
        if lines and is_new:
            body = "\n".join(lines)
            parts.append(block(dedent(body)) if lines[0].startswith("  ") else f"{body}\n")
            lines = []
        if line is not None:
            lines.append(line)
    return "\n".join(parts)


def contents(sections: Mapping[str, Sequence[str]]) -> str:
    """The table of contents: a line per section, with a link to each entry."""
    lines = (
        f"* {link(title)}: {', '.join(map(link, names))}\n" for title, names in sections.items()
    )
    return "".join(lines)


# -- ops -----------------------------------------------------------------------------------------

_ATTRIBUTES: Mapping[type[Attribute], str] = {
    IntAttr: "an integer",
    StringAttr: "a string",
    DataAttr: "bytes, or a part of a file",
    SymbolRefAttr: "a symbol",
    UnitAttr: "a flag",
    ArrayAttr: "a list",
    DenseArrayBase: "a list of integers",
}
_ANY = {"dtype": "a dtype", "value": "a number of the result's dtype", "fill": "a number"}
"""What a property of a name is where its constraint does not say."""

_TRAITS = {
    "Commutative": "commutative",
    "ConstantLike": "constant",
    "HasTgCanonicalization": "has canonicalisation patterns",
    "IsolatedFromAbove": "isolated from above",
    "MemoryAllocEffect": "allocates memory",
    "MemoryReadEffect": "reads memory",
    "MemoryWriteEffect": "writes memory, or keeps its place as if it did",
    "NoTerminator": "its block has no terminator",
    "NothingInGraph": "without effect in a graph, kept in place in a LINEAR",
    "PureInGraph": "pure in a graph, kept in place in a LINEAR",
    "ResultOfFunction": "ends a FUNCTION",
    "SymbolOpInterface": "symbol",
    "_CalleeExists": "its callee exists",
    "_HasFolderInterfaceTrait": "folds",
}


def described(constraint: AttrConstraint, name: str = "") -> str:
    """What a constraint admits, in words."""
    match constraint:
        case OfType():
            return constraint.description
        case EqAttrConstraint(attr):
            return f"`{attr}`"
        case AnyOf(attr_constrs=options):
            return " or ".join(described(option, name) for option in options)
        case ArrayOfConstraint(elem_range_constraint=element):
            return f"a list of {described(element.constr, name)}"
        case ParamAttrConstraint(base, (EqAttrConstraint(attr), *_)) if base is DenseArrayBase:
            return {i64: "a list of integers", i1: "a list of booleans"}[attr]
        case BaseAttr(attribute):
            return _ATTRIBUTES.get(attribute) or f"`#{attribute.name}`"
        case SymbolNameConstraint():
            return "a symbol's name"
        case AnyAttr():
            return _ANY.get(name, "any type")
        case _:
            raise TypeError(f"no words for the constraint {constraint}")


def op_section(op: type[Operation]) -> str:
    definition = op.get_irdl_definition()
    rows: list[tuple[str, str, str]] = []
    for role, fields in (
        ("operand", definition.operands),
        ("property", definition.properties.items()),
        ("result", definition.results),
        ("region", definition.regions),
    ):
        for name, field in fields:
            if name == "operandSegmentSizes":
                continue  # xDSL's bookkeeping, which only the generic form shows.
            kind = type(field).__name__
            count = "optional " if kind.startswith("Opt") else ""
            many = "s, any number" if kind.startswith("Var") else ""
            if role == "region":
                what = "one block"
            else:
                constraint = field.constr
                constraint = getattr(constraint, "constraint", constraint)  # Of one, of a range.
                what = described(getattr(constraint, "constr", constraint), name)
            rows.append((f"{count}{role}{many}", f"`{name}`", what))
    traits = sorted(_TRAITS[type(trait).__name__] for trait in op.traits)
    parts = [f"### {op.name}\n", markdown(op.__doc__ or "")]
    if rows:
        parts.append(table(("", "name", "type"), rows))
    if traits:
        parts.append(f"Traits: {'; '.join(traits)}.\n")
    if op.assembly_format is not None:
        parts.append(block(op.assembly_format, "text"))
    return "\n".join(parts)


def attribute_section(attribute: type[Attribute]) -> str:
    parts = [f"### {attribute.name} (attribute or type)\n", markdown(attribute.__doc__ or "")]
    if issubclass(attribute, EnumAttribute):
        enum = attribute.enum_type
        parts.append(f"{inspect.cleandoc(enum.__doc__ or '')}\n")
        parts.append(f"Values: {', '.join(f'`{value}`' for value in enum)}.\n")
    return "\n".join(parts)


def ops_page() -> str:
    families: dict[str, list[type[Operation]]] = {}
    introductions: dict[str, str] = {}
    for op in TG.operations:
        module = inspect.cleandoc(import_module(op.__module__).__doc__ or "")
        summary, _, rest = module.partition("\n\n")
        title = summary.partition(":")[0].rstrip(".")
        if op in elementwise.DECOMPOSED:
            title, summary, rest = "Decomposed elementwise ops", _DECOMPOSED, ""
        families.setdefault(title, []).append(op)
        introductions[title] = f"{summary}\n\n{rest}".strip() + "\n"
    toc = {title: [op.name for op in ops] for title, ops in families.items()}
    parts = [OPS_HEAD, contents(toc) + f"* {link(_ATTRIBUTES_TITLE)}\n"]
    for title, ops in families.items():
        parts += [f"## {title}\n", introductions[title], *map(op_section, ops)]
    parts += [f"## {_ATTRIBUTES_TITLE}\n", *map(attribute_section, TG.attributes)]
    return "\n".join(parts)


_DECOMPOSED = """Elementwise ops that `tg-decompose` rewrites into primitives by the specification's
table. `tg-select` does so for those that the target lacks."""
_ATTRIBUTES_TITLE = "Attributes and types"


# -- ops of the older vocabularies ---------------------------------------------------------------

_ENTRY = re.compile(r"^(Arguments|Sources|Stage|Becomes): (.*?)(?=^\w+: |\Z)", re.M | re.S)


def legacy_rows(op: type[Operation]) -> Sequence[str]:
    """The row of an op of tg_legacy: its docstring's first sentence, then the entries in it."""
    head, _, rest = inspect.cleandoc(op.__doc__ or "").partition("\n\n")
    name, _, what = " ".join(head.split()).partition(": ")
    entries = {key: " ".join(text.split("\n\n")[0].split()) for key, text in _ENTRY.findall(rest)}
    if missing := {"Arguments", "Sources", "Stage", "Becomes"} - entries.keys():
        raise SystemExit(f"the docstring of {op.name} has no {min(missing)}")
    return (
        f"{name.partition(' ')[0]}, {link(op.name)}",
        what,
        entries["Arguments"],
        entries["Sources"],
        entries["Stage"],
        entries["Becomes"],
    )


def unchanged_row(name: str, unchanged: Unchanged) -> Sequence[str]:
    """The row of an op of `tg`: what its docstring says of sources and arguments."""
    head = " ".join(inspect.cleandoc(unchanged.op.__doc__ or "").split("\n\n")[0].split())
    signature, _, what = head.partition(": ")
    sources, _, arguments = signature.partition(" ")[2].partition(")")
    return (
        f"{name}, [{unchanged.op.name}](ops.md#{anchor(unchanged.op.name)})",
        what,
        arguments.strip(" ,.") or "none",
        sources.strip("(, ") or "none",
        unchanged.stage,
        "itself",
    )


def legacy_page() -> str:
    columns = ("op", "what it is", "arguments", "sources", "stage", "becomes")
    families: dict[str, list[type[Operation]]] = {}
    for op in TG_LEGACY.operations:
        module = inspect.cleandoc(import_module(op.__module__).__doc__ or "")
        families.setdefault(module.partition("\n")[0].rstrip("."), []).append(op)
    parts = [LEGACY_HEAD]
    for title, ops in families.items():
        parts += [f"## {title}\n", table(columns, map(_escaped, map(legacy_rows, ops)))]
    rows = [_escaped(unchanged_row(*item)) for item in UNCHANGED.items()]
    parts += ["## The same op in the specification\n", table(columns, rows)]
    parts.append("## Reference\n")
    parts += map(op_section, TG_LEGACY.operations)
    parts += [f"## {_ATTRIBUTES_TITLE}\n", *map(attribute_section, TG_LEGACY.attributes)]
    return "\n".join(parts)


def _escaped(row: Sequence[str]) -> Sequence[str]:
    """Cells of a table: no full stop at the end."""
    return [cell.replace("|", "\\|").removesuffix(".") for cell in row]


# -- passes --------------------------------------------------------------------------------------

_TYPES = {
    "bool": "flag",
    "float": "number",
    "int": "integer",
    "str": "string",
    "int | None": "integer",
    "str | None": "string",
    "tuple[int, ...]": "integers",
    "tuple[str, ...]": "strings",
}

PassType = type[ModulePass]
_STAGES = {name for names in STAGES.values() for name in names}

_GROUPS: Mapping[str, Callable[[PassType], bool]] = {
    "Stages": lambda each: each.name in _STAGES,
    "Pipelines": lambda each: hasattr(each, "pipeline"),
    "Passes of tg-rangeify": lambda each: each in {type(step) for step in RangeifyPass().passes()},
    "OptOps": lambda each: issubclass(each, OptOpPass),
    "From the older vocabularies": lambda each: each is UpgradeLegacyPass,
    "Transforms at one level": lambda each: True,
}
"""The sections of the page; a pass is in the first one whose predicate holds."""


def field_docstrings(pass_type: PassType) -> Mapping[str, str]:
    """The string below each field of a class and of those that it inherits from."""
    found: dict[str, str] = {}
    for each in pass_type.__mro__:
        if not each.__module__.startswith("tgdialect."):
            continue
        (definition,) = ast.parse(dedent(inspect.getsource(each))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            match field, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(docstring))),
                ):
                    found.setdefault(name, " ".join(inspect.cleandoc(docstring).split()))
                case _:
                    pass
    return found


def option_rows(pass_type: PassType) -> Iterable[Sequence[str]]:
    meanings = field_docstrings(pass_type)
    for field in dataclasses.fields(pass_type):
        name = field.name
        if name not in meanings:
            raise SystemExit(f"{pass_type.__name__}.{name} of {pass_type.name} has no docstring")
        is_required = field.default is dataclasses.MISSING
        default = "required" if is_required else _default(field.default)
        yield f"`{name.replace('_', '-')}`", _TYPES[str(field.type)], default, meanings[name]


def _default(value: Any) -> str:
    match value:
        case None | () | "":
            return "none"
        case bool():
            return "off"
        case _:
            return f"`{value}`"


def pass_section(pass_type: PassType) -> str:
    parts = [f"### {pass_type.name}\n", markdown(pass_type.__doc__ or "")]
    if issubclass(pass_type, LoweringPass):
        before, after = pass_type.level_before, pass_type.level_after
        parts.append(f"Takes a module at level **{before}**, leaves it at **{after}**.\n")
    if rows := list(option_rows(pass_type)):
        parts.append(table(("option", "type", "default", "meaning"), rows))
    return "\n".join(parts)


def passes_page() -> str:
    groups: dict[str, list[PassType]] = {title: [] for title in _GROUPS}
    for factory in TG_UNIVERSE.all_passes.values():
        each = factory()
        groups[next(title for title, holds in _GROUPS.items() if holds(each))].append(each)
    toc = {title: [each.name for each in passes] for title, passes in groups.items()}
    parts = [PASSES_HEAD, contents(toc)]
    for title, passes in groups.items():
        parts += [f"## {title}\n", *map(pass_section, passes)]
    return "\n".join(parts)


# -- methods of Tensor ---------------------------------------------------------------------------


def tensor_page() -> str:
    """The page as it is, with the docstrings of now: of a module in a heading, of a method in the
    last column of its row."""
    page = (DOCS / "tensor.md").read_text(encoding="utf-8")
    page = re.sub(r"^(## `frontend/(\w+)\.py`:) .*$", _module_heading, page, flags=re.MULTILINE)
    return re.sub(r"^(\| `(\w+)` \|(?:[^|\n]*\|){2}) .* \|$", _method_row, page, flags=re.MULTILINE)


def _module_heading(heading: re.Match[str]) -> str:
    module = import_module(f"tgdialect.frontend.{heading[2]}")
    return f"{heading[1]} {_first_paragraph(module)}"


def _method_row(row: re.Match[str]) -> str:
    what = _first_paragraph(getattr(Tensor, row[2])).replace("|", "\\|")
    return f"{row[1]} {what} |"


def _first_paragraph(documented: object) -> str:
    docstring = inspect.getdoc(documented)
    assert docstring is not None, documented
    return " ".join(docstring.partition("\n\n")[0].split())


# -- tg.nn ----------------------------------------------------------------------------------------


def nn_page() -> str:
    """The page as it is, with tables of all classes and functions of `tg.nn`."""
    members = {name: each for name, each in vars(nn.optim).items() if _is_public(each, nn.optim)}
    optimizers = _concrete(members, nn.optim.Optimizer)
    schedules = _concrete(members, nn.optim.LRScheduler)
    functions = {f"optim.{name}": each for name, each in members.items() if isfunction(each)}
    for name, each in vars(nn.state).items():
        if _is_public(each, nn.state):
            functions[f"state.{name}"] = each
    layers = {name: vars(nn)[name] for name in nn.__all__ if not ismodule(vars(nn)[name])}
    page = (DOCS / "nn.md").read_text(encoding="utf-8")
    for column, rows in (
        ("layer", layers),
        ("optimizer", optimizers),
        ("schedule", schedules),
        ("function", functions),
    ):
        body = "".join(f"| {_call(*row)} | {_first_paragraph(row[1])} |\n" for row in rows.items())
        table = rf"^(\| {column} \|.*\n\| --- .*\n)(?:\|.*\n)*"
        page = re.sub(table, lambda old, body=body: old[1] + body, page, flags=re.MULTILINE)
    return page


def _is_public(member: object, module: ModuleType) -> bool:
    name = getattr(member, "__name__", "_")
    return not name.startswith("_") and getattr(member, "__module__", None) == module.__name__


def _concrete(members: Mapping[str, object], base: type) -> Mapping[str, type]:
    """The subclasses of a class that have all methods."""
    return {
        name: each
        for name, each in members.items()
        if isinstance(each, type) and issubclass(each, base) and not isabstract(each)
    }


def _call(name: str, member: Callable[..., object]) -> str:
    """How a class or a function is called: its parameters, without their types."""
    shown: list[str] = []
    for each in inspect.signature(member).parameters.values():
        text = "*" * (each.kind is each.VAR_POSITIONAL) + each.name
        shown.append(text if each.default is each.empty else f"{text}={each.default!r}")
    return f"`{name}({', '.join(shown)})`"


# -- variables -----------------------------------------------------------------------------------

ENVIRONMENT_HEAD = """\
# Environment variables

Made by `tools/make_docs.py` from `tgdialect/environment.py`, by which all of them are read.

An empty value counts as absent, except for `TG_CACHE_DIR`. A wrong value is an error where it is
needed, which names the variable, the value and what is expected; `python -m tgdialect.info` shows
all of them. A name `TG_*` that is not below gives one warning.
"""


def environment_page() -> str:
    rows = [
        (f"`{each.name}`", each.expected, each.shown_default, each.about)
        for each in environment.TABLE
    ]
    columns = ("variable", "values", "default", "meaning")
    return "\n".join((ENVIRONMENT_HEAD, table(columns, rows)))


# -- ONNX -----------------------------------------------------------------------------------------


def onnx_page() -> str:
    """The page as it is, with the operators of now."""
    import onnx_coverage  # Imported here: it needs the package onnx.

    return onnx_coverage.page((DOCS / "onnx.md").read_text(encoding="utf-8"))


PAGES: Mapping[str, Callable[[], str]] = {
    "ops.md": ops_page,
    "legacy.md": legacy_page,
    "passes.md": passes_page,
    "environment.md": environment_page,
    "nn.md": nn_page,
    "tensor.md": tensor_page,
    "onnx.md": onnx_page,
}


def stale() -> str:
    """A diff from the pages as they are to those of the classes; empty if there is none."""
    found: list[str] = []
    for name, page in PAGES.items():
        file = DOCS / name
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        new = page()
        lines = (text.splitlines(keepends=True) for text in (old, new))
        found += difflib.unified_diff(*lines, f"docs/{name}", f"docs/{name} as made now")
    return "".join(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare the pages, write nothing")
    if parser.parse_args().check:
        difference = stale()
        sys.stdout.write(difference)
        return 1 if difference else 0
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
