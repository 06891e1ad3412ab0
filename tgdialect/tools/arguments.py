"""The command line of tg-opt: every flag of xdsl-opt, and MLIR's, in groups for `--help`."""

import argparse
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tgdialect.tools.console import ConsoleParser, VersionAction, file_name, whole_number
from tgdialect.tools.pass_pipeline import nearest_names

DESCRIPTION = "Parse, verify, transform and print IR: the tg dialect, and every dialect of xDSL."
EPILOG = """passes:
  Each pass that --list-passes lists is a flag, too, with its options as the value. Passes run in
  the order in which -p and such flags name them.

exit codes:
  0 for success, 1 for a failure, 2 for a command line that is wrong. A run that fails writes no
  output.

examples:
  tg-opt file.mlir -p tg-callify,tg-rangeify
  tg-opt file.mlir --tg-callify --tg-rangeify --tg-optimize='mode=heuristic threads=4'
  tg-opt file.mlir --pass-pipeline='builtin.module(tg-callify,func.func(canonicalize,cse))'
  tg-opt file.mlir -p tg-to-llvm -t llvm -o file.ll
  tg-opt file.mlir -p 'tg-to-source{target=opencl}' -t opencl
  tg-opt file.mlir --split-input-file --verify-diagnostics
"""
SPLIT_MARK = "// -----"
"""The line between the parts of a file, as in MLIR."""


class OptParser(ConsoleParser):
    """A parser that knows MLIR's flags with one dash and passes as flags, and replaces a flag that
    is added twice (the later text of xdsl-opt's flags is ours)."""

    bare = {"--verify-each": "true", "--split-input-file": SPLIT_MARK}

    def __init__(self, program: str, passes: Collection[str]) -> None:
        usage, epilog = f"{program} [options] [input_file]", EPILOG.replace("tg-opt", program)
        super().__init__(program, usage, DESCRIPTION, epilog, conflicts="resolve")
        self.passes = passes
        self.option_strings: list[str] = []

    def parse(self, args: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments. The error for an unknown flag names similar ones."""
        end = args.index("--") if "--" in args else len(args)
        flags = self.spelled(map(self._normalized, args[:end]))
        namespace, unknown = self.parse_known_args([*flags, *args[end:]])
        if unknown:
            flag = unknown[0].split("=")[0]
            if not flag.startswith("-"):
                self.error(f"more than one input file: '{namespace.input_file}' and '{flag}'")
            known = [*self.option_strings, *(f"--{name}" for name in self.passes)]
            nearest = nearest_names(flag, known)
            hint = f", did you mean {' or '.join(nearest)}?" if nearest else ""
            self.error(f"unknown option '{flag}'{hint}")
        return namespace

    def _normalized(self, arg: str) -> str:
        """An argument in argparse's spelling: `--flag` for MLIR's `-flag`, and `--passes=name` for
        a flag that names a pass."""
        flag, equals, options = arg.partition("=")
        name = flag.lstrip("-")
        if not flag.startswith("-") or flag == f"-{name[:1]}":
            return arg
        if f"--{name}" in self.option_strings:
            return f"--{name}{equals}{options}"
        if name in self.passes:
            return f"--passes={name}{{{options}}}" if equals else f"--passes={name}"
        return arg


def _boolean(text: str) -> bool:
    """Parses MLIR's spellings of a boolean."""
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"expected true or false, not '{text}'")
    return values[text.lower()]


class _Flag(NamedTuple):
    """A flag, and the options that argparse takes for it."""

    names: Sequence[str]
    options: dict[str, Any]


def _switch(names: str, help: str) -> _Flag:
    return _Flag(names.split(), {"action": "store_true", "help": help})


def _text(names: str, help: str, **options: Any) -> _Flag:
    return _Flag(names.split(), {"help": help, **options})


def _texts(names: str, help: str, metavar: str) -> _Flag:
    """A flag that may be given several times."""
    return _text(names, help, metavar=metavar, action="append", default=[])


def _flags(targets: Collection[str], frontends: Collection[str]) -> dict[str, list[_Flag]]:
    """The flags by group."""
    return {
        "passes": [
            _texts(
                "-p --passes",
                "passes to run, as in 'cse,tg-optimize{mode=none}'; another -p adds to them",
                "PIPELINE",
            ),
            _texts(
                "--pass-pipeline",
                "all passes in MLIR's spelling: 'builtin.module(cse,func.func(cse))'",
                "PIPELINE",
            ),
            _text(
                "--verify-each",
                "verify after each pass (default); if given explicitly, also check the level of "
                "the result of each tg stage; =false: verify after parsing only, and no stage "
                "checks the level of its input",
                type=_boolean,
                metavar="BOOL",
            ),
            _switch(
                "--allow-external",
                "offer passes and -t that start other programs (mlir-opt, cc, ptxas)",
            ),
            _switch("--disable-verify", "verify nothing"),
            _switch(
                "--verify-roundtrip",
                "check that the input, printed and parsed again, is the same module",
            ),
            _switch("--shrink", "exit code 0 exactly if a pass raised ShrinkException"),
        ],
        "input": [
            _text(
                "-f --frontend",
                "input format (default: by the extension of the file)",
                choices=frontends,
            ),
            _text(
                "--split-input-file",
                f"treat the pieces between lines MARK (default: '{SPLIT_MARK}') separately",
                metavar="MARK",
            ),
            _switch("--allow-unregistered-dialect", "accept operations of unknown dialects"),
            _switch("--no-implicit-module", "do not wrap operations into a builtin.module"),
        ],
        "output": [
            _text(
                "-o --output-file", "output file (default: stdout)", type=file_name, metavar="FILE"
            ),
            _text(
                "-t --target",
                f"output format (default: mlir): {', '.join(sorted(targets))}",
                default="mlir",
            ),
            _switch(
                "--mlir-print-op-generic --print-op-generic", "print operations in the generic form"
            ),
            _switch("--mlir-print-debuginfo --print-debuginfo", "print the source locations"),
            _text(
                "--mlir-elide-elementsattrs-if-larger",
                "print dense literals of more than N elements that differ as "
                "dense_resource<__elided__>",
                type=whole_number(0, 2**31),
                metavar="N",
            ),
            _text(
                "--output-split-marker",
                f"the line between outputs of --split-input-file (default: '{SPLIT_MARK}')",
                metavar="MARK",
                default=SPLIT_MARK,
            ),
            _switch("--print-no-properties", "print properties as attributes"),
            _switch("--syntax-highlight", "print with colors"),
        ],
        "diagnostics, to stderr": [
            _switch(
                "--verify-diagnostics",
                "check diagnostics against 'expected-error {{...}}' comments",
            ),
            _switch("--parsing-diagnostics", "print parse errors to stdout and go on, as xdsl-opt"),
            _texts("--mlir-print-ir-before", "print the IR before the named passes", "PASSES"),
            _texts("--mlir-print-ir-after", "print the IR after the named passes", "PASSES"),
            _switch("--mlir-print-ir-before-all", "print the IR before each pass"),
            _switch("--mlir-print-ir-after-all", "print the IR after each pass"),
            _switch(
                "--mlir-print-ir-after-change",
                "with --mlir-print-ir-after or -after-all: print only what has changed",
            ),
            _switch("--mlir-print-ir-after-failure", "print the IR after a pass only if it failed"),
            _switch("--dump-pass-pipeline", "print the pipeline before it runs"),
            _switch(
                "--mlir-print-remarks",
                "print why passes did what they did, such as why a kernel was split",
            ),
            _switch("--print-between-passes", "print the IR between each two passes"),
            _switch("--mlir-timing", "print a table of the time of each pass"),
            _switch("--time-passes", "print the time of each pass when it ends"),
        ],
        "information": [
            _switch("--show-dialects", "list the dialects"),
            _switch("--list-passes", "list the passes, each with what it does"),
            _text("--print-irdl", "declare a dialect in IRDL, as text", metavar="DIALECT"),
            _text("-v --version", "print the versions and exit", action=VersionAction, nargs=0),
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
