"""`tg-reduce`: make a program that shows a failure as small as possible."""

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

USAGE = "tg-reduce [options] FILE"
DESCRIPTION = "Make a program that shows a failure of a compiler as small as possible."
EPILOG = """what is kept (one of these):
  -p PIPELINE               the passes change the results, on the interpreter
  [-p PIPELINE] --target T  the compiled program has other results than the interpreter
  -p PIPELINE --error TEXT  the passes fail with a message that contains TEXT, or end the process
  --command CMD --if EXPR   CMD shows it: {} in CMD is the program's file, else the last argument.
                            It runs in the current folder, --jobs of them at a time

conditions (--if), of which all have to hold; without any the exit code is 0, as in mlir-reduce:
  exit != 0                 the exit code: == != < <= > >=; 128 + N after signal N, 124 after the
                            time of --timeout
  seconds > 5               how long the command takes
  stderr ~ TEXT             what it prints contains TEXT (stdout ~, and !~ for does not)

inputs:
  As for tg-run, in the order of the function's parameters; arrays that are not given are random.
  They change with the parameters. The result says which they are, in a comment at its beginning;
  those of more than 1000 elements are .npy files beside it.

exit codes:
  0 for success, 1 for a failure, 2 for a command line that is wrong, 130 after Ctrl-C, which leaves
  the smallest program in the file of -o, and a file with .state, from which the same command goes
  on.

examples:
  tg-reduce file.mlir -p tg-simplify -o out.mlir
  tg-reduce file.mlir -p canonicalize,cse --entry f --input 2 -o out.mlir
  tg-reduce file.mlir --target cpu --input random
  tg-reduce file.mlir -p tg-rangeify --error 'needs level function'
  tg-reduce file.mlir --command 'grep -c neg {}' --if 'exit == 0' --if 'stdout ~ 1'
"""

MOST_JOBS = 256
"""The most processes of --jobs."""


_FLAGS = """
  -p --passes PIPELINE...: the passes that are wrong, as for tg-opt; another -p adds to them
  --entry NAME: the function to run (default: main, or the only one)
  --input INPUT...: the next input
  --arg NAME=INPUT...: the input of that name
  --target TARGET: compare the compiled program, as for tg-run, and not the interpreter
  --error TEXT: reduce a failure of the passes, or of --target, whose message contains TEXT
  --command CMD: reduce what a command shows; no shell reads it
  --if EXPR...: what the command does with an interesting program; another --if adds to it
  --timeout SECONDS: the longest time for one program (default: 60)
  --seconds N: stop after so many seconds, with the smallest program until then
  --jobs N: how many programs to try at a time (default: the cores); the result is the same
  -o --output FILE: what to write (default: stdout)
  --data-folder DIR: the folder of the files whose bytes the program names (default: that of FILE)
  --allow-external: offer passes that start other programs (mlir-opt)
  --allow-unregistered-dialect: accept operations of unknown dialects
  --version: print the versions and exit
"""


def argument_parser() -> ConsoleParser:
    """The command line of tg-reduce."""
    parser = ConsoleParser("tg-reduce", USAGE, DESCRIPTION, EPILOG)
    add_flags(
        parser,
        PROGRAM_FLAGS + _FLAGS,
        frontend={"type": input_format},
        data_folder={"type": folder_name},
        output={"type": file_name},
        timeout={"type": whole_number(1, 10**6), "default": 60},
        seconds={"type": whole_number(1, 10**9)},
        jobs={"type": whole_number(1, MOST_JOBS)},
    )
    return parser


_OF_MEANINGS = ("input", "arg", "entry", "target", "passes", "error")


def refuse_contradictions(options: argparse.Namespace) -> None:
    """Raise `UsageError` unless the options say one thing that is kept."""
    conditions = vars(options)["if"]
    if options.command is None:
        if conditions:
            raise UsageError("--if is about a command: name it by --command")
        if not options.passes and options.target is None:
            raise UsageError("say what is kept: by -p, --target or --command")
        if options.error is not None and (options.input or options.arg):
            raise UsageError("--error runs no program: it excludes --input and --arg")
        return
    for name in _OF_MEANINGS:
        if getattr(options, name) not in (None, []):
            raise UsageError(f"--command says what is kept: it excludes --{name}")


_VALUE_OPTIONS = ("--input", "--arg", "--command", "--if", "--error")


def _reduce(args: Sequence[str]) -> int:
    parser = argument_parser()
    options = parser.parse_args(joined(args, _VALUE_OPTIONS))
    refuse_contradictions(options)
    # Imported late: --help and errors in the arguments need neither NumPy nor the compiler.
    from tgdialect.tools.tg_reduce_session import reduce_session

    reduce_session(options)
    return 0


def main(args: Sequence[str] | None = None) -> int:
    """Run tg-reduce with the arguments, by default those of the process; returns the exit code."""
    return exit_code("tg-reduce", lambda: _reduce(sys.argv[1:] if args is None else args))


if __name__ == "__main__":
    sys.exit(main())
