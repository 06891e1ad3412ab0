"""Listings of our own, as tinygrad prints UOps: `tg-opt -t uops`.

@main_0
   0 Ops.PARAM            : dtypes.float.ptr(4, 8)               []                   0
   1 Ops.CONST            : dtypes.index                         []                   4
   2 Ops.RANGE            : dtypes.index                         [1]                  0, loop

The title says that `Ops` are ops of `tg`, and `UOps` ops of `tg_legacy`. Programs, and functions
that call them, parse back to the same IR (levels `linear` and `planned`). Other ops are printed in
the same columns, for reading only: the ops of a region come before the op that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OperandDef
from xdsl.utils.target import Target

from tgdialect.legacy.listing.attributes import SEGMENTS, show_arguments, show_mlir, show_rest
from tgdialect.legacy.listing.dtypes import show_type
from tgdialect.ops import tg
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.attributes import is_tensor


@dataclass(frozen=True)
class UopsTarget(Target):
    """Print each function, kernel and program as tinygrad's numbered listing."""

    name = "uops"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        if module.attributes or module.sym_name is not None:
            print(_title("module", module.sym_name, module.attributes), file=output)
        for op in module.ops:
            for line in _listing(op):
                print(line, file=output)


def _listing(op: Operation) -> Iterator[str]:
    """The title of an op of a module, and the lines of its body."""
    kind = "" if isinstance(op, tg.ProgramOp) else op.name.rsplit(".", 1)[-1]
    said = ("sym_name", "function_type", "arg_attrs")
    attributes = {k: v for k, v in op.properties.items() if k not in said} | op.attributes
    yield _title(kind, op.properties.get("sym_name"), attributes)
    numbers: dict[SSAValue, int] = {}
    count = 0
    for block in (block for region in op.regions for block in region.blocks):
        for value in block.args:
            rest = show_rest(value, argument_attributes(value))
            arguments = ", ".join((str(value.index), *rest))
            yield _line(count, "Ops.PARAM", _show_result(value.type), "[]", arguments)
            numbers[value] = count
            count += 1
        for inner in _in_order(block):
            if isinstance(op, tg.ProgramOp) and isinstance(inner, tg.LinearOp):
                continue
            members = inner.body.block.ops if isinstance(inner, tg.LinearOp) else ()
            sources = ", ".join(
                (*_sources(inner, numbers), *(str(numbers[m.results[0]]) for m in members))
            )
            type = inner.results[0].type if inner.results else tg.VoidType()
            arguments = show_arguments(inner)
            yield _line(count, _op_name(inner), _show_result(type), f"[{sources}]", arguments)
            numbers.update((result, count) for result in inner.results)
            count += 1


def _title(kind: str, name: Attribute | None, attributes: Mapping[str, Attribute]) -> str:
    parts = (
        kind,
        show_mlir(SymbolRefAttr(name)) if isinstance(name, StringAttr) else "",
        show_mlir(DictionaryAttr(dict(attributes))) if attributes else "",
    )
    return " ".join(part for part in parts if part)


def _in_order(block: Block) -> Iterator[Operation]:
    """The ops of a block and of the regions in it, each after those in its own regions."""
    pending: list[Operation] = list(block.ops)[::-1]
    opened: set[Operation] = set()
    while pending:
        op = pending[-1]
        if op.regions and op not in opened:
            opened.add(op)
            inner = [each for region in op.regions for b in region.blocks for each in b.ops]
            pending += reversed(inner)
        else:
            yield pending.pop()


def _sources(op: Operation, numbers: Mapping[SSAValue, int]) -> Iterator[str]:
    """The sources of an op. Those that may be absent have their names where the op has several."""
    if SEGMENTS not in op.properties or not isinstance(op, IRDLOperation):
        yield from (str(numbers.get(value, "?")) for value in op.operands)
        return
    for name, definition in op.get_irdl_definition().operands:
        prefix = "" if type(definition) is OperandDef else f"{name}="
        value: SSAValue | tuple[SSAValue, ...] | None = getattr(op, name)
        values = () if value is None else (value,) if isinstance(value, SSAValue) else value
        yield from (f"{prefix}{numbers.get(each, '?')}" for each in values)


def _op_name(op: Operation) -> str:
    dialect, _, name = op.name.partition(".")
    known = {"tg": f"Ops.{name}", "tg_legacy": f"UOps.{name}"}
    prefix, _, rest = known.get(dialect, f"Ops.{op.name}").partition(".")
    return f"{prefix}.{rest.upper()}"


def _show_result(type: Attribute) -> str:
    if isinstance(type, tg.VoidType):
        return "dtypes.void"
    return show_type(type) if is_tensor(type) else repr(show_mlir(type))


def _line(number: int, name: str, dtype: str, sources: str, argument: str) -> str:
    return f"{number:4d} {name:20s} : {dtype:36s} {sources:20s} {argument}".rstrip()
