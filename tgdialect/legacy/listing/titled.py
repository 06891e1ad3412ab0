"""Listings of our own, as tinygrad prints UOps: `tg-opt -t uops` prints them, and they are read.

@main_0
   0 Ops.PARAM            : dtypes.float.ptr(4, 8)               []                   0
   1 Ops.CONST            : dtypes.index                         []                   4
   2 Ops.RANGE            : dtypes.index                         [1]                  0, loop

The title says that `Ops` are ops of `tg`, and `UOps` ops of `tg_legacy`. Programs, and functions
that call them, parse back to the same IR (levels `linear` and `planned`). Other ops are printed in
the same columns, for reading only: the ops of a region come before the op that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OperandDef, VarOperandDef
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.target import Target

from tgdialect.fast_xdsl.creation import created
from tgdialect.fast_xdsl.unchecked import segments
from tgdialect.legacy.listing.attributes import (
    SEGMENTS,
    Arguments,
    parse_dictionary,
    parse_mlir,
    parse_string,
    parse_symbol,
    show_arguments,
    show_mlir,
    show_rest,
)
from tgdialect.legacy.listing.dtypes import did_you_mean, parse_dtype, show_type
from tgdialect.legacy.listing.lines import Line, Listing, Source, Title, Token
from tgdialect.ops import tg


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
    lines = count()
    for block in (block for region in op.regions for block in region.blocks):
        for value in block.args:
            numbers[value] = number = next(lines)
            rest = show_rest(value, tg.argument_attributes(value))
            arguments = ", ".join((str(value.index), *rest))
            yield _line(number, "Ops.PARAM", value.type, (), arguments)
        for inner in tg.postorder(block.ops, _inside):
            if isinstance(op, tg.ProgramOp) and isinstance(inner, tg.LinearOp):
                continue
            number = next(lines)
            members = inner.body.block.ops if isinstance(inner, tg.LinearOp) else ()
            sources = (*_sources(inner, numbers), *(str(numbers[m.results[0]]) for m in members))
            type = inner.results[0].type if inner.results else tg.VOID
            yield _line(number, _op_name(inner), type, sources, show_arguments(inner))
            numbers.update((result, number) for result in inner.results)


def _title(kind: str, name: Attribute | None, attributes: Mapping[str, Attribute]) -> str:
    parts = (
        kind,
        show_mlir(SymbolRefAttr(name)) if isinstance(name, StringAttr) else "",
        show_mlir(DictionaryAttr(dict(attributes))) if attributes else "",
    )
    return " ".join(part for part in parts if part)


def _inside(op: Operation) -> list[Operation]:
    """The ops in the regions of an op, which come before it."""
    return [each for region in op.regions for block in region.blocks for each in block.ops]


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


_PREFIXES = {"tg": "Ops", "tg_legacy": "UOps"}
"""The first word of the ops of a dialect; those of others have `Ops` and the dialect's name."""


def _op_name(op: Operation) -> str:
    dialect, _, name = op.name.partition(".")
    prefix = _PREFIXES.get(dialect)
    return f"Ops.{op.name.upper()}" if prefix is None else f"{prefix}.{name.upper()}"


def _line(number: int, name: str, type: Attribute, sources: Sequence[str], argument: str) -> str:
    listed = f"[{', '.join(sources)}]"
    dtype = show_type(type) if tg.is_tensor(type) else repr(show_mlir(type))
    dtype = "dtypes.void" if type == tg.VOID else dtype
    return f"{number:4d} {name:20s} : {dtype:36s} {listed:20s} {argument}".rstrip()


_KINDS = ("func", "customfunction")
"""The words before the name in a title; a program has none."""


def read_titled(ctx: Context, listing: Listing, title: Title) -> Operation:
    """The program or function of a listing."""
    attributes = parse_dictionary(ctx, title.attributes) if title.attributes.text else {}
    kind, name = title.kind.text, parse_symbol(ctx, title.name)
    body = _Body(ctx, takes_arguments=kind == "func")
    for line in listing.lines:
        body.enter(line)
    if kind == "func":
        op = _function(title, name, body, attributes)
    elif kind == "customfunction":
        op = tg.CustomFunctionOp(name)
    elif kind:
        known = did_you_mean(kind, _KINDS)
        raise title.kind.error(f"a {kind} is printed as a listing, but not read from one{known}")
    else:
        op = _program(title, name, body)
    op.attributes |= attributes
    op.location = title.name.location
    return op


def _program(title: Title, name: str, body: _Body) -> Operation:
    if not body.ops:
        raise title.name.error(f"the listing of @{name} has no lines")
    after = [op for op in body.ops if isinstance(op, tg.SourceOp | tg.BinaryDataOp)]
    inside = [op for op in body.ops if op not in after]
    linear = tg.LinearOp(Region(Block(inside)))
    linear.location = title.name.location
    return tg.ProgramOp(name, Region(Block([linear, *after])))


def _function(title: Title, name: str, body: _Body, attributes: dict[str, Attribute]) -> Operation:
    last = body.ops[-1] if body.ops else None
    if not isinstance(last, ReturnOp):
        raise title.name.error(f"the listing of @{name} does not end in FUNC.RETURN")
    body.block.add_ops(body.ops)
    visibility = attributes.pop("sym_visibility", None)
    return FuncOp(
        name,
        (body.block.arg_types, last.operand_types),
        Region(body.block),
        visibility if isinstance(visibility, StringAttr) else None,
        arg_attrs=ArrayAttr(body.argument_attributes) if any(body.argument_attributes) else None,
    )


class _Body:
    """The ops of a listing, and the arguments of a function that it begins with."""

    def __init__(self, ctx: Context, *, takes_arguments: bool):
        self.ops: list[Operation] = []
        self.block = Block()
        self.argument_attributes: list[DictionaryAttr] = []
        self._ctx, self._takes_arguments = ctx, takes_arguments
        self._values: list[SSAValue | None] = []

    def enter(self, line: Line) -> None:
        """Add what a line says."""
        type = self._type(line)
        if self._takes_arguments and not self.ops and line.op.text == "Ops.PARAM":
            return self._argument(line, type)
        kind = self._kind(line)
        element = type.element_type if tg.is_tensor(type) else None
        arguments = Arguments(self._ctx, line.argument, kind, element)
        try:
            if kind is tg.LinearOp:
                op: Operation = tg.LinearOp(Region(Block(self._members(line))))
            else:
                op = self._op(line, kind, type, arguments)
        except VerifyException as error:
            raise line.op.error(str(error)) from error
        op.attributes |= arguments.attributes
        op.location = line.op.location
        if op.results:
            op.results[0].name_hint = arguments.name_hint
        self.ops.append(op)
        self._values.append(op.results[0] if op.results else None)

    def _op(
        self, line: Line, kind: type[Operation], type: Attribute, arguments: Arguments
    ) -> Operation:
        assert issubclass(kind, IRDLOperation)
        definition = kind.get_irdl_definition()
        if definition.regions:
            raise line.op.error(f"{kind.name} is printed in a listing, but not read from one")
        operands = [(self._value(source), source) for source in line.sources]
        if SEGMENTS in definition.properties:
            operands, sizes = _segments(line, kind, operands)
            arguments.properties[SEGMENTS] = segments(*sizes)
        elif named := next((source for source in line.sources if source.name is not None), None):
            raise named.token.error(f"{kind.name} does not name its sources")
        results = (type,) if definition.results else ()
        return created(kind, [v for v, _ in operands], results, arguments.properties)

    def _argument(self, line: Line, type: Attribute) -> None:
        """An argument of a function: its position, its name and attributes."""
        position, _, rest = line.argument.text.partition(",")
        if position != str(len(self.block.args)):
            raise line.argument.error(f"this is argument {len(self.block.args)} of the function")
        start = len(line.argument.text) - len(rest)
        found = Arguments(self._ctx, line.argument.part(start), ReturnOp, None)
        value = self.block.insert_arg(type, len(self.block.args))
        value.name_hint = found.name_hint
        self.argument_attributes.append(DictionaryAttr(found.attributes))
        self._values.append(value)

    def _kind(self, line: Line) -> type[Operation]:
        """The class of the op of a line."""
        if line.op.text == "Ops.FUNC.RETURN":
            return ReturnOp
        dialect = next(d for d, p in _PREFIXES.items() if line.op.text.startswith(f"{p}."))
        found = self._ctx.get_optional_op(f"{dialect}.{line.name.lower()}")
        if found is None:
            names = (op.name.partition(".") for op in self._ctx.loaded_ops)
            of_dialect = [name.upper() for of, _, name in names if of == dialect]
            known = did_you_mean(line.name, of_dialect)
            raise line.op.error(f"{dialect} has no op {line.name}{known}")
        return found

    def _type(self, line: Line) -> Attribute:
        """The type of the result of a line."""
        token = line.dtype
        if token.text[:1] in ("'", '"'):
            return parse_mlir(self._ctx, Token(parse_string(token), token.offset, token.source))
        column = parse_dtype(token)
        try:
            type = column.type
        except VerifyException as error:
            raise token.error(str(error)) from error
        if type is None and not column.is_void:
            raise line.op.error("a listing with a title has a dtype in each line")
        return tg.VOID if type is None else type

    def _value(self, source: Source) -> SSAValue:
        """The value of a source, which stands above."""
        if source.number is None:
            raise source.token.error("a listing with a title has no constants among its sources")
        if source.number >= len(self._values):
            raise source.token.error(f"line {source.number} does not come before this one")
        if (value := self._values[source.number]) is None:
            raise source.token.error(f"line {source.number} gives no value")
        return value

    def _members(self, line: Line) -> list[Operation]:
        """The ops that a LINEAR has, which are the last ones so far."""
        first = len(self.ops) - len(line.sources)
        members = self.ops[max(first, 0) :]
        if [self._value(source).owner for source in line.sources] != members:
            raise line.source_list.error("a LINEAR has the ops that come just before it, in order")
        del self.ops[first:]
        return members


Operand = tuple[SSAValue, Source]


def _segments(
    line: Line, kind: type[IRDLOperation], operands: Sequence[Operand]
) -> tuple[list[Operand], list[int]]:
    """The sources in the order of the op's definition, and how many there are of each kind."""
    definitions = kind.get_irdl_definition().operands
    fields = dict(definitions)
    by_name: dict[str, list[Operand]] = {name: [] for name in fields}
    required = [name for name, each in definitions if type(each) is OperandDef]
    for operand in operands:
        token, name = operand[1].token, operand[1].name
        if name is None:
            if not required:
                raise token.error(f"{kind.name} has no such source; further ones have names")
            name = required.pop(0)
        elif name not in by_name or name in required:
            raise token.error(f"{kind.name} has no source {name!r}{did_you_mean(name, by_name)}")
        elif by_name[name] and type(fields[name]) is not VarOperandDef:
            raise token.error(f"{kind.name} has one {name}")
        by_name[name].append(operand)
    if required:
        raise line.source_list.error(f"{kind.name} needs its {required[0]}")
    ordered = [operand for values in by_name.values() for operand in values]
    return ordered, [len(values) for values in by_name.values()]
