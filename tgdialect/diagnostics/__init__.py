"""
Errors that name the file, line and column, and show the line with a caret.

* `diagnostic.py`: `Diagnostic`, `SourceFile`, `CompilationError`, and the handler that
  warnings and remarks go to.
* `locations.py`: from an operation or an exception to the `Diagnostic` that reports it.
* `bounded_parser.py`: xDSL's parser, in which no short text takes long or much memory.
* `parser.py`: that parser, recording where each operation stands.
* `hints.py`: names of values that survive copies.
* `facts.py`: what is found once about operations that do not change.
* `verifier.py`: verification of a module, dominance included, that stops at one located error.

Below this layer is `fast_xdsl` only.
"""

from tgdialect.diagnostics.diagnostic import (
    CompilationError,
    Diagnostic,
    Severity,
    SourceFile,
    attach_source,
    diagnostic_handler,
    emit,
    exception_text,
    one_line,
    printable,
    remarks_are_wanted,
)
from tgdialect.diagnostics.facts import SHAPES, facts, kept_facts
from tgdialect.diagnostics.hints import lasting_hint
from tgdialect.diagnostics.locations import (
    add_note,
    diagnose,
    emit_remark,
    emit_warning,
    errors_at,
    errors_in,
    locate,
    operation_diagnostic,
)
from tgdialect.diagnostics.parser import LocatedParser, decode_source, parse_module, read_source
from tgdialect.diagnostics.verifier import verify_module

__all__ = [
    "SHAPES",
    "CompilationError",
    "Diagnostic",
    "LocatedParser",
    "Severity",
    "SourceFile",
    "add_note",
    "attach_source",
    "decode_source",
    "diagnose",
    "diagnostic_handler",
    "emit",
    "emit_remark",
    "emit_warning",
    "errors_at",
    "errors_in",
    "exception_text",
    "facts",
    "kept_facts",
    "lasting_hint",
    "locate",
    "one_line",
    "operation_diagnostic",
    "parse_module",
    "printable",
    "read_source",
    "remarks_are_wanted",
    "verify_module",
]
