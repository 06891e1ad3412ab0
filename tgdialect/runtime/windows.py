"""Windows: bounds of SHRINKs, PADs and other extents that each call of a program checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tgdialect.ops.expressions import Expression, evaluate

if TYPE_CHECKING:
    from tgdialect.diagnostics import CompilationError


class Window(NamedTuple):
    """One axis of an op: the part of extent `inner` at `offset` in an axis of extent `outer`.

    `line` and `column` are 0 if they are unknown; `file` is "" for the compiled text itself. `node`
    has the names in the op's location, as errors show them, or is "".
    """

    axis: int
    offset: Expression
    inner: Expression
    outer: Expression
    file: str
    line: int
    column: int
    node: str = ""


def check_windows(windows: Sequence[Window], frame: Sequence[Any], name: str, text: str) -> None:
    """Raise CompilationError, at the op, for the first window that is out of bounds.

    Compiled code reads 0 outside of the source of a SHRINK, and writes nothing outside of the
    result of a PAD. Without this check it would be safe, but would compute something that the
    program does not say. The compiler is imported only for errors, so that a program from the cache
    starts without it.

    `frame` has the values of the scalars by position; `name` and `text` are those of the program.
    """
    for window in windows:
        offset = evaluate(window.offset, frame)
        inner = evaluate(window.inner, frame)
        outer = evaluate(window.outer, frame)
        if min(offset, inner, outer) < 0 or offset + inner > outer:
            raise _error(window, (offset, inner, outer), name, text)


def _error(window: Window, bounds: tuple[int, int, int], name: str, text: str) -> CompilationError:
    from tgdialect.diagnostics import CompilationError, Diagnostic, SourceFile
    from tgdialect.ops.properties import window_misfit

    message = window_misfit(window.axis, *bounds)
    assert message is not None
    at = Diagnostic(
        message,
        file=window.file or name or None,
        line=window.line or None,
        column=window.column or None,
        node=window.node or None,
    )
    return CompilationError(at).with_source(SourceFile(name, text))
