"""`tg-bisect`: name the pass, and the rewrite in it, that breaks a program."""

import argparse
import sys
from collections.abc import Sequence

from tgdialect.tools.console import (
    PROGRAM_FLAGS,
    ConsoleParser,
    UsageError,
    add_flags,
    exit_code,
    file_name,
    folder_name,
    input_format,
    joined,
    whole_number,
)

USAGE = "tg-bisect [options] FILE"
DESCRIPTION = "Name the pass, and the rewrite in it, that breaks a program."
EPILOG = """what is wrong (one of these):
  nothing said              the results differ from those of the program, on the interpreter; those
                            of code that the default stages make, on this machine
                            -p tg-gradient: the gradients differ from differences of the results
  --command CMD             CMD fails: {} in CMD is the program's file, or it is the last argument.
                            As for git bisect run, 0 is right, 125 is skipped, and others are wrong.
                            It runs in the current folder, and what it leaves running is killed
  --command CMD --if EXPR   all EXPR hold
  --command CMD --if-slower N  CMD takes more than N times what it takes without all passes

conditions (--if):
  exit != 0                 the exit code: == != < <= > >=; 128 + N after signal N, and 124 after
                            --timeout
  seconds > 5               how long the command takes
  stderr ~ TEXT             what it prints contains TEXT (stdout ~, and !~ for does not)

programs:
  A file in any format that tg-run takes, or FILE.py:FUNCTION, a Python function on tensors, whose
  inputs have types: --input 2x3xf32=random or a .npy file.

inputs:
  As for tg-run, in the order of the function's parameters; those that are not given are random.

output:
  action 140: tg-rangeify: mod of less: tg.mod @main_3 at model.mlir:12:8
  then the difference, and the ops before and after. tg-opt with the same passes and
  --tg-action-limit=140 prints the program with this action, and with 139 the one without it.

exit codes:
  0 if there is an action, 1 for a failure, or if the program is right, 2 for a command line that is
  wrong.

examples:
  tg-bisect file.mlir
  tg-bisect file.mlir --opt none --input 8x512xf32=random
  tg-bisect model.py:forward --input 8x512xf32=random
  tg-bisect file.mlir -p canonicalize,cse --entry f --input 2 --reduce small.mlir
  tg-bisect file.mlir -p tg-decompose --command 'grep -q tg.neg {}' --timeout 10
  tg-bisect file.mlir -p cse --command 'cat {}' --if-slower 2
"""


_FLAGS = """
  -p --passes PIPELINE...: passes to run, as for tg-opt (default: the stages that tg-run compiles
    with)
  --pass-pipeline PIPELINE: all passes in MLIR's spelling: 'builtin.module(cse,func.func(cse))'
  --opt OPT: the schedule of the default stages, as for tg-run (default: heuristic)
  --target TARGET: the kind of machine of the default stages: cpu (default), opencl, ...
  --entry NAME: the function to run (default: main, or the only one)
  --input INPUT...: the next input
  --arg NAME=INPUT...: the input of that name
  --expect RESULT...: the next result that is right, as 2xf32=1,2 or a .npy file (default: those of
    the program on the interpreter)
  --data-folder DIR: the folder of the files whose bytes the program names (default: that of FILE)
  --run-reproducer: take the entry, the inputs, the target and the schedule that FILE states, as one
    that was left after a failure
  --command CMD: what says whether a program is wrong; no shell reads it
  --if EXPR...: what the command does with a wrong program; another --if adds to it
  --if-slower N: a program is wrong for which the command takes more than N times as long
  --reduce FILE: write the smallest program that the pass breaks, reduced from the one before it, or
    that the passes up to it break, reduced from the one that was given
  --seconds N: the longest time for --reduce (default: 60)
  --timeout SECONDS: the longest time for a pass, or for one run (default: 60)
  --allow-custom: run unchecked code of the program, as for tg-run
  --allow-external: offer passes that start other programs (mlir-opt)
  --json: print JSON, for other programs
  --version: print the versions and exit
"""


def _factor(text: str) -> float:
    """Parses a number greater than 1."""
    try:
        if (factor := float(text)) > 1:
            return factor
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"expected a number greater than 1, not {text!r}")


def argument_parser() -> ConsoleParser:
    """The command line of tg-bisect."""
    parser = ConsoleParser("tg-bisect", USAGE, DESCRIPTION, EPILOG)
    add_flags(
        parser,
        PROGRAM_FLAGS + _FLAGS,
        frontend={"type": input_format},
        data_folder={"type": folder_name},
        reduce={"type": file_name},
        seconds={"type": whole_number(1, 10**9), "default": 60},
        if_slower={"type": _factor},
        timeout={"type": whole_number(1, 10**6), "default": 60},
    )
    return parser


def _refuse_contradictions(options: argparse.Namespace) -> None:
    conditions = vars(options)["if"]
    if options.command is None and (conditions or options.if_slower):
        raise UsageError("--if and --if-slower are about a command: name it by --command")
    if conditions and options.if_slower:
        raise UsageError("--if-slower times a command: it excludes --if")
    if options.command is not None and options.reduce:
        raise UsageError("--reduce compares results: with a command, use tg-reduce")
    if options.json and options.reduce == "-":
        raise UsageError("--json writes to stdout: name a file by --reduce")
    of_runs = options.input or options.arg or options.entry or options.expect
    if options.command is not None and of_runs:
        raise UsageError(
            "--command runs the program: it excludes --input, --arg, --entry, --expect"
        )


_VALUE_OPTIONS = ("--input", "--arg", "--expect", "--command", "--if")


def _bisect(args: Sequence[str]) -> int:
    parser = argument_parser()
    options = parser.parse_args(joined(args, _VALUE_OPTIONS))
    _refuse_contradictions(options)
    # Imported late: --help and errors in the arguments need neither NumPy nor the compiler.
    from tgdialect.tools.tg_bisect_session import bisect_session

    bisect_session(options)
    return 0


def main(args: Sequence[str] | None = None) -> int:
    """Run tg-bisect with the arguments, by default those of the process; returns the exit code."""
    return exit_code("tg-bisect", lambda: _bisect(sys.argv[1:] if args is None else args))


if __name__ == "__main__":
    sys.exit(main())
