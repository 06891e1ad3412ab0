"""The command line of tg-opt: every flag of xdsl-opt, and MLIR's, in groups for `--help`."""

import argparse
from collections.abc import Collection, Sequence
from functools import partial

from tgdialect.diagnostics import Limit
from tgdialect.tools.console import (
    ConsoleParser,
    add_flags,
    file_name,
    folder_name,
    input_format,
    whole_number,
)
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


def _limit(text: str) -> Limit:
    """Parses `12`, or `12.3` for 3 of the rewrites inside of action 12."""
    action, dot, inner = text.partition(".")
    count = whole_number(0, 10**9)
    try:
        return Limit(count(action), count(inner) if dot else None)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, in {text[:40]!r}" if dot else error) from None


_FLAGS = """
passes
  -p --passes PIPELINE...: passes to run, as in 'cse,tg-optimize{mode=none}'; another -p adds to
    them
  --pass-pipeline PIPELINE...: all passes in MLIR's spelling: 'builtin.module(cse,func.func(cse))'
  --verify-each BOOL: verify after each pass (default); if given explicitly, also check the level of
    the result of each tg stage; =false: verify after parsing only, and no stage checks the level of
    its input
  --allow-external: offer passes and -t that start other programs (mlir-opt, cc, ptxas)
  --disable-verify: verify nothing
  --verify-roundtrip: check that the input, printed and parsed again, is the same module
  --tg-action-limit N: stop after N actions: rewrites, OptOps and steps of stages; N.M: and do only
    the first M of the rewrites that action N consists of. The program is one in between, which
    verifies and means the same
  --mlir-pass-pipeline-crash-reproducer FILE: if a pass fails, write the module and the pipeline
  --mlir-pass-pipeline-local-reproducer: with the flag above: write the module as it was before the
    pass that failed, with the pipeline from this pass on
  --run-reproducer: run the pipeline that the input states, as one of those files
  --shrink: exit code 0 exactly if a pass raised ShrinkException
input
  -f --frontend FORMAT: input format (default: by the extension of the file)
  --data-folder DIR: the folder of the files whose bytes the input names (default: its own folder)
  --split-input-file MARK: treat the pieces between lines MARK (default: '// -----') separately
  --allow-unregistered-dialect: accept operations of unknown dialects
  --no-implicit-module: do not wrap operations into a builtin.module
output
  -o --output-file FILE: output file (default: stdout)
  -t --target TARGET: output format (default: mlir): TARGETS
  --mlir-print-op-generic --print-op-generic: print operations in the generic form
  --mlir-print-debuginfo --print-debuginfo: print the source locations
  --mlir-elide-elementsattrs-if-larger N: print dense literals of more than N elements that differ
    as dense_resource<__elided__>
  --output-split-marker MARK: the line between outputs of --split-input-file (default: '// -----')
  --print-no-properties: print properties as attributes
  --syntax-highlight: print with colors
diagnostics, to stderr
  --verify-diagnostics: check diagnostics against 'expected-error {{...}}' comments
  --parsing-diagnostics: print parse errors to stdout and go on, as xdsl-opt
  --mlir-print-ir-before PASSES...: print the IR before the named passes
  --mlir-print-ir-after PASSES...: print the IR after the named passes
  --mlir-print-ir-before-all: print the IR before each pass
  --mlir-print-ir-after-all: print the IR after each pass
  --mlir-print-ir-after-change: with --mlir-print-ir-after or -after-all: print only what has
    changed
  --mlir-print-ir-after-failure: print the IR after a pass only if it failed
  --log-actions-to FILE: write each action that passes do, with its number, pattern, op and
    location; - is stderr
  --pattern-coverage FILE: add to a file how often each pattern changed each kind of op, in
    each pass
  --mlir-print-ir-tree-dir DIR: write what the flags above print into files, in a folder of DIR for
    each operation that passes run on
  --diff PASSES...: print what each of the named passes changes, as a unified diff; '*' names every
    pass
  --dump-pass-pipeline: print the pipeline before it runs
  --mlir-print-remarks: print why passes did what they did, such as why a kernel was split
  --remarks-filter REGEX: print the remarks of the passes whose name the pattern matches, with their
    reasons in numbers
  --remarks-filter-passed REGEX: print those about what was done
  --remarks-filter-missed REGEX: print those about what was not done
  --remarks-filter-failed REGEX: print those about what was tried in vain
  --remarks-filter-analysis --remarks-filter-analyse REGEX: print those about what was found out
  --remark-format FORMAT: emitRemark (default), or yaml: write the remarks to a file, all of them
    unless a filter is given
  --remarks-output-file FILE: the file of --remark-format=yaml (default: mlir-remarks.yaml)
  --print-between-passes: print the IR between each two passes
  --mlir-timing: print a table of the time of each pass
  --time-passes: print the time of each pass when it ends
information
  --show-dialects: list the dialects
  --list-passes: list the passes, each with what it does
  --print-irdl DIALECT: declare a dialect in IRDL, as text
  -v --version: print the versions and exit
"""


def add_arguments(
    parser: argparse.ArgumentParser, targets: Collection[str], frontends: Collection[str]
) -> None:
    """Add the flags of tg-opt; they replace those of xdsl-opt with the same name."""
    added = add_flags(
        parser,
        _FLAGS.replace("TARGETS", ", ".join(sorted(targets))),
        verify_each={"type": _boolean},
        frontend={"type": partial(input_format, names=frontends)},
        data_folder={"type": folder_name},
        output_file={"type": file_name},
        remarks_output_file={"type": file_name},
        remark_format={"default": "emitRemark"},
        mlir_pass_pipeline_crash_reproducer={"type": file_name},
        mlir_print_ir_tree_dir={"type": file_name},
        target={"default": "mlir", "metavar": None},
        mlir_elide_elementsattrs_if_larger={"type": whole_number(0, 2**31)},
        output_split_marker={"default": SPLIT_MARK},
        tg_action_limit={"type": _limit},
        log_actions_to={"type": file_name},
        pattern_coverage={"type": file_name},
    )
    if isinstance(parser, OptParser):
        parser.option_strings += [name for action in added for name in action.option_strings]
