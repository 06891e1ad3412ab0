"""The files whose bytes a module names, and whether they are there."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tgdialect.diagnostics import CompilationError, Diagnostic, operation_diagnostic
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.ops import tg


def data_files(module: ModuleOp) -> Iterator[tuple[Operation, tg.FileData]]:
    """The ops, BINARYs and functions, that have bytes of files, in order, with each of these."""
    for op in nested_ops(module):
        found = [each.data for each in op.properties.values() if isinstance(each, tg.DataAttr)]
        if isinstance(op, FuncOp) and op.arg_attrs is not None:
            given = (tg.data_attribute(each.data) for each in op.arg_attrs)
            found += [each for each in given if each is not None]
        yield from ((op, data) for data in found if isinstance(data, tg.FileData))


def check_data_files(module: ModuleOp) -> None:
    """Raise CompilationError, at the first op that asks for them, for bytes that a file has not
    got: one diagnostic for each file."""
    wrong: dict[str, Diagnostic] = {}
    reader = tg.DataReader()
    for op, data in data_files(module):
        if data.path not in wrong:
            try:
                reader.array(data)
            except tg.DataFileError as error:
                wrong[data.path] = operation_diagnostic(op, str(error))
    if wrong:
        raise CompilationError(tuple(wrong.values()))
