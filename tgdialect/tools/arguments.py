"""The command line of tg-opt: every flag of xdsl-opt, and MLIR's, in groups for `--help`."""

import argparse
from collections.abc import Collection, Sequence
from importlib.metadata import version
from typing import Any

from tgdialect.tools.console import ConsoleParser
from tgdialect.tools.pass_pipeline import nearest_names

DESCRIPTION = "Parse, verify, transform and print IR: the tg dialect, and every dialect of xDSL."
EPILOG = """examples:
  tg-opt file.mlir -p tg-callify,tg-rangeify
  tg-opt file.mlir --pass-pipeline='builtin.module(tg-optimize{mode=none},cse)'
  tg-opt file.mlir -p tg-to-llvm -t llvm -o file.ll
  tg-opt file.mlir --split-input-file --verify-diagnostics
"""


class OptParser(ConsoleParser):
    """A parser that knows MLIR's flags with one dash, and replaces a flag that is added twice (the
    later text of xdsl-opt's flags is ours)."""

    def __init__(self, program: str) -> None:
        usage, epilog = f"{program} [options] [input_file]", EPILOG.replace("tg-opt", program)
        super().__init__(program, usage, DESCRIPTION, epilog, conflicts="resolve")
        self.option_strings: list[str] = []

    def parse(self, args: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments. The error for an unknown flag names similar ones."""
        namespace, unknown = self.parse_known_args(self._normalize(args))
        if unknown:
            flag = unknown[0].split("=")[0]
            if not flag.startswith("-"):
                self.error(f"more than one input file: '{namespace.input_file}' and '{flag}'")
            nearest = nearest_names(flag, self.option_strings)
            hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
            self.error(f"unknown option '{flag}'{hint}")
        return namespace

    def _normalize(self, args: Sequence[str]) -> list[str]:
        """Rewrites MLIR's spelling to argparse's: `-flag` to `--flag`, and `--verify-each` with its
        value."""
        normalized: list[str] = []
        for arg in args:
            name = arg.split("=")[0]
            if not arg.startswith("--") and len(name) > 2 and f"-{name}" in self.option_strings:
                arg = f"-{arg}"
            normalized.append("--verify-each=true" if arg == "--verify-each" else arg)
        return normalized


class _Version(argparse.Action):
    """Prints the versions, whose look-up is slow and happens only here."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        print(f"{parser.prog}: tgdialect {version('tgdialect')}, xdsl {version('xdsl')}")
        parser.exit()


def _boolean(text: str) -> bool:
    """Parses MLIR's spellings of a boolean."""
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"expected true or false, not '{text}'")
    return values[text.lower()]


_Flag = tuple[tuple[str, ...], dict[str, Any]]


def _switch(*names: str, help: str) -> _Flag:
    return names, {"action": "store_true", "help": help}


def _text(*names: str, help: str, **options: Any) -> _Flag:
    return names, {"type": str, "help": help, **options}


def _flags(targets: Collection[str], frontends: Collection[str]) -> dict[str, list[_Flag]]:
    """The flags by group."""
    return {
        "passes": [
            _text(
                "-p",
                "--passes",
                metavar="PIPELINE",
                action="append",
                default=[],
                help="passes to run, as in 'cse,tg-optimize{mode=none}'; another -p adds to them",
            ),
            _text(
                "--pass-pipeline",
                metavar="PIPELINE",
                action="append",
                default=[],
                help="the same in MLIR's spelling: 'builtin.module(...)', once",
            ),
            (
                ("--verify-each",),
                {
                    "type": _boolean,
                    "metavar": "BOOL",
                    "help": "verify after each pass (default); if given explicitly, also check the "
                    "level of the result of each tg stage; =false: verify after parsing only, and "
                    "no stage checks the level of its input",
                },
            ),
            _switch("--allow-external", help="offer passes that start other programs (mlir-opt)"),
            _switch("--disable-verify", help="verify nothing"),
            _switch("--shrink", help="exit code 0 exactly if a pass raised ShrinkException"),
        ],
        "input": [
            _text(
                "-f",
                "--frontend",
                choices=frontends,
                help="input format (default: by the extension of the file)",
            ),
            _switch(
                "--split-input-file", help="treat the pieces between lines '// -----' separately"
            ),
            _switch("--allow-unregistered-dialect", help="accept operations of unknown dialects"),
            _switch("--no-implicit-module", help="do not wrap operations into a builtin.module"),
        ],
        "output": [
            _text("-o", "--output-file", metavar="FILE", help="output file (default: stdout)"),
            _text(
                "-t",
                "--target",
                default="mlir",
                help=f"output format (default: mlir): {', '.join(sorted(targets))}",
            ),
            _switch(
                "--mlir-print-op-generic",
                "--print-op-generic",
                help="print operations in the generic form",
            ),
            _switch(
                "--mlir-print-debuginfo", "--print-debuginfo", help="print the source locations"
            ),
            _switch("--print-no-properties", help="print properties as attributes"),
            _switch("--syntax-highlight", help="print with colors"),
        ],
        "diagnostics, to stderr": [
            _switch(
                "--verify-diagnostics",
                help="check diagnostics against 'expected-error {{...}}' comments",
            ),
            _switch(
                "--parsing-diagnostics", help="print parse errors to stdout and go on, as xdsl-opt"
            ),
            _text(
                "--mlir-print-ir-before",
                metavar="PASSES",
                action="append",
                default=[],
                help="print the IR before the named passes",
            ),
            _text(
                "--mlir-print-ir-after",
                metavar="PASSES",
                action="append",
                default=[],
                help="print the IR after the named passes",
            ),
            _switch("--mlir-print-ir-before-all", help="print the IR before each pass"),
            _switch("--mlir-print-ir-after-all", help="print the IR after each pass"),
            _switch(
                "--mlir-print-remarks",
                help="print why passes did what they did, such as why a kernel was split",
            ),
            _switch("--print-between-passes", help="print the IR between each two passes"),
            _switch("--mlir-timing", help="print a table of the time of each pass"),
            _switch("--time-passes", help="print the time of each pass when it ends"),
        ],
        "information": [
            _switch("--show-dialects", help="list the dialects"),
            _switch("--list-passes", help="list the passes, each with what it does"),
            (
                ("-v", "--version"),
                {"action": _Version, "nargs": 0, "help": "print the versions and exit"},
            ),
        ],
    }


def add_arguments(
    parser: argparse.ArgumentParser, targets: Collection[str], frontends: Collection[str]
) -> None:
    """Add the flags of tg-opt; they replace those of xdsl-opt with the same name."""
    for title, flags in _flags(targets, frontends).items():
        group = parser.add_argument_group(title)
        for names, options in flags:
            destination = names[-1].lstrip("-").replace("-", "_")
            action = group.add_argument(*names, **options, dest=destination)
            if isinstance(parser, OptParser):
                parser.option_strings += action.option_strings
