"""`tg-run`: execute a program, and print or write what it computes."""

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

USAGE = "tg-run [options] FILE"
DESCRIPTION = "Execute a function of a program, and print or write what it computes."
EPILOG = """inputs, in the order of the function's parameters:
  a.npy, data.npz:name      an array from a file; bf16 and fp8 also as their raw bits (ui16, ui8)
  2x3xf32=1,2,3,4,5,6       values in row-major order, with or without brackets
  2x3xf32=0.5               the same value everywhere
  2x3xf32=random(7)         deterministic by the seed: normal floats, integers in [0, 10)
  1,2,3  or  7              values for a parameter of static shape
  'dense<[1.0]> : tensor<1xf32>'  a literal, as tg-run prints results

schedules (--opt), for kernels that record none:
  heuristic                 from a model of the machine
  heuristic:tf32            also rounds factors of f32 products, for tensor cores
  none                      the loops as they are
  beam:4                    from a beam search of width 4 that times kernels
  'explicit:split 0, 8, upcast; @main_1: order 1, 0'
                            OptOps from left to right, for all kernels or for the named one

targets (--target):
  cpu                       this machine's processor
  opencl                    the first OpenCL device (pip install 'tgdialect[opencl]')
  nvidia:sm_90, ...         the first GPU of NVIDIA's (pip install 'tgdialect[cuda]')
  CL:1, CUDA:0              a device by its name
  interpreter               the reference semantics
  mpi                       device number k of the program is the process of rank k, as under
                            mpiexec -n 4 tg-run ... (pip install 'tgdialect[mpi]')

levels:
  A program may be at the level after any stage: after tg-optimize, for example, to run an edited
  schedule. After tg-linearize no stage checks memory accesses: --allow-custom is required.

outputs:
  One line per result: dense<[[1.0, 2.0]]> : tensor<1x2xf32>. Floats that are not finite are nan,
  inf and -inf. Results of more than 1000 elements are summarised; --print-full prints them whole.
  Then one per input that the program writes: %a = dense<[1.0]> : tensor<1xf32>.
  With --output nothing is printed: each result goes to a .npy file (bf16 and fp8 as raw bits), and
  with more files each input that the program writes.

exit codes:
  0 for success, 1 for a failure, 2 for a command line that is wrong. A run that fails writes no
  output.

formats (--frontend):
  Plug-ins add formats, and vocabularies whose ops are upgraded to ops of tg.

examples:
  tg-run gemm.mlir --input a.npy --input 512x256xf32=random
  tg-run file.mlir --entry f --arg n=7 --arg x=7xf32=1.5 --target interpreter
  tg-run file.mlir --input a.npy --output out.npy
  tg-run file.mlir --input a.npy --check
  tg-run file.mlir --input a.npy --benchmark=100
  tg-run file.mlir --input a.npy --profile=plot.svg
  tg-run file.mlir --print-memory --arg n=1000
  tg-opt file.mlir -p cse | tg-run - --input 1,2,3
  mpiexec -n 4 tg-run file.mlir --input a.npy
  tg-run file.mlir --input a.npy --opt 'explicit:split 0, 8, upcast'
"""

_VALUE_OPTIONS = ("--input", "--arg", "--output")


_MOST_REPETITIONS = 10**9
"""The greatest number of runs of --benchmark: of a microsecond each, a quarter of an hour."""


def _repetitions(text: str) -> int:
    """So many runs; 0, which stands for as many as take a second, if no number is given."""
    return whole_number(1, _MOST_REPETITIONS)(text) if text else 0


class RunParser(ConsoleParser):
    """The command line of tg-run."""

    bare = {"--benchmark": "", "--profile": ""}


_FLAGS = """
  --entry NAME: the function to run (default: main, or the only one)
  --input INPUT...: the next input
  --arg NAME=INPUT...: the input of that name
  --target TARGET: cpu, opencl, nvidia:sm_90, ...; a device, as CL:0; interpreter; or mpi (default:
    the devices that the program names, else the one of TG_DEVICE, else cpu)
  --check: compare each kernel, and the program, with the interpreter; print a line for each to
    stderr. A wrong result is an error
  --scalar: interpreter: one iteration of a loop at a time
  --opt OPT: schedule: heuristic (default), heuristic:tf32, none, beam:N, or 'explicit:OPTOP; OPTOP'
  --output OUT.npy...: file of the next result, or of an input that the program writes; nothing is
    printed
  --print-full: print results whole, however large
  --digits N: significant digits of printed floats, 1 to 17 (default: as many as identify the value)
  --print-signature: print inputs and outputs; run nothing
  --print-memory: print the memory that a call takes, for the index inputs that are given, else at
    most; run nothing
  --benchmark N: print the time of N runs (default: as many as take a second), not the results;
    inputs that are not given are random, and so for --profile. Where another program executes such
    files as well, and is installed, it is timed in turns, on as many threads: the ratio is its
    median by ours
  --profile PLOT.svg: print the time of each kernel in as many runs as take a second, not the
    results; --profile=PLOT.svg also draws it
  --allow-custom: run unchecked code: tg.custom, tg.customfunction, tg.ins of unknown targets,
    machine code of a tg.program, and programs from level linear on
  --run-reproducer: run FILE with the entry, the inputs, the target and the schedule that it states,
    as a failure of the compiler has left it; inputs that it lacks are random
  --custom [NAME=]MODULE:FUNCTION...: a function of a Python module, or of a file (decode.py:rle),
    that stands for the tg.custom or tg.customfunction of its name (repeatable; with --allow-custom)
  --data-folder DIR: the folder of the files whose bytes the program names (default: that of FILE)
  --version: print the versions and exit
"""


def argument_parser() -> RunParser:
    """The command line of tg-run."""
    parser = RunParser("tg-run", USAGE, DESCRIPTION, EPILOG)
    add_flags(
        parser,
        PROGRAM_FLAGS + _FLAGS,
        frontend={"type": input_format},
        data_folder={"type": folder_name},
        output={"type": file_name},
        digits={"type": whole_number(1, 17)},
        benchmark={"type": _repetitions},
    )
    return parser


_RUN_NOTHING = ("--print-signature", "--print-memory")
_OF_A_RUN = ("--benchmark", "--profile", "--output", "--print-full", "--digits", "--check")


def _refuse_contradictions(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options of a run beside one that runs nothing."""
    values = {
        flag: getattr(options, flag[2:].replace("-", "_")) for flag in (*_RUN_NOTHING, *_OF_A_RUN)
    }
    if options.check and options.target == "interpreter":
        raise UsageError("--check compares with the interpreter: name another target")
    given = [flag for flag, v in values.items() if not (v is None or v is False or v == [])]
    if given and given[0] in _RUN_NOTHING and len(given) > 1:
        raise UsageError(f"{given[0]} runs nothing: it excludes {given[1]}")


def _run(args: Sequence[str]) -> int:
    parser = argument_parser()
    parsed = parser.parse_args(parser.spelled(joined(args, _VALUE_OPTIONS)))
    _refuse_contradictions(parsed)
    # Imported late: --help and errors in the arguments need neither NumPy nor the compiler.
    from tgdialect.tools.tg_run_session import run_session

    run_session(parsed)
    return 0


def main(args: Sequence[str] | None = None) -> int:
    """Run tg-run with the arguments, by default those of the process; returns the exit code."""
    return exit_code("tg-run", lambda: _run(sys.argv[1:] if args is None else args))


if __name__ == "__main__":
    sys.exit(main())
