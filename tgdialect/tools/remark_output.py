"""The remarks that the flags of tg-opt ask for: on the terminal, and in a file of YAML."""

import re
from argparse import Namespace
from dataclasses import dataclass, field, replace

from tgdialect.diagnostics import Diagnostic, RemarkFilter, RemarkKind
from tgdialect.tools.console import UsageError

FORMATS = ("emitRemark", "yaml")
"""The formats of `--remark-format`."""
DEFAULT_FILE = "mlir-remarks.yaml"
"""The file of `--remark-format=yaml`, as mlir-opt names it."""

_FLAGS = {
    RemarkKind.PASSED: "passed",
    RemarkKind.MISSED: "missed",
    RemarkKind.ANALYSIS: "analyse",
    RemarkKind.FAILED: "failed",
}
"""The flags for one kind, which begin with `--remarks-filter-`."""


@dataclass(frozen=True)
class RemarkOutput:
    """The form of remarks. `filter` selects those that are shown as mlir-opt shows them, or go to
    a file of YAML if `file` is one; `prints_all` also prints the others, as messages."""

    filter: RemarkFilter
    file: str | None
    prints_all: bool
    documents: list[str] = field(default_factory=list[str])

    @property
    def are_wanted(self) -> bool:
        """Whether some remark would be shown."""
        return self.prints_all or bool(self.filter.patterns)

    def shown(self, diagnostic: Diagnostic) -> list[Diagnostic]:
        """The diagnostic as it is printed; none if it is a remark that is not asked for, or one
        for the file."""
        if (remark := diagnostic.remark) is None:
            return [diagnostic]
        is_selected = self.filter.wants(remark)
        if is_selected and self.file is not None:
            self.documents.append(remark.yaml(diagnostic.file, diagnostic.line, diagnostic.column))
        elif is_selected:
            return [replace(diagnostic, message=str(remark))]
        return [diagnostic] if self.prints_all else []


def remark_output(args: Namespace) -> RemarkOutput:
    """The remarks that the command line asks for. Raises `UsageError`."""
    if args.remark_format not in FORMATS:
        formats = " or ".join(FORMATS)
        raise UsageError(f"--remark-format is {formats}, not '{args.remark_format}'")
    is_yaml = args.remark_format == "yaml"
    if args.remarks_output_file is not None and not is_yaml:
        raise UsageError("--remarks-output-file is for --remark-format=yaml")
    given = {kind: getattr(args, f"remarks_filter_{flag}") for kind, flag in _FLAGS.items()}
    for_all: str | None = args.remarks_filter
    if is_yaml and for_all is None and not any(given.values()):
        for_all = ".*"
    patterns: dict[RemarkKind, re.Pattern[str]] = {}
    for kind, of_kind in given.items():
        texts = [text for text in (for_all, of_kind) if text is not None]
        if texts:
            patterns[kind] = _compiled(texts)
    file = (args.remarks_output_file or DEFAULT_FILE) if is_yaml else None
    return RemarkOutput(RemarkFilter(patterns), file, args.mlir_print_remarks)


def _compiled(texts: list[str]) -> re.Pattern[str]:
    for text in texts:
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"'{text}' is no regular expression: {error}") from error
    return re.compile("|".join(f"(?:{text})" for text in texts))
