"""`tg-compile`: compile a program ahead of time, for C or for Python."""

import os
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
    tool_errors,
    whole_number,
)

USAGE = "tg-compile [options] FILE -o FILE.so|FILE.tgx"
DESCRIPTION = "Compile functions of a program ahead of time, to be called from C or from Python."
EPILOG = """outputs, by the extension of the file:
  model.so                  a shared library for C, of one function, and model.h beside it, which
                            says what to pass (Linux, and needs a C compiler)
  model.tgx                 for Python: tgdialect.load("model.tgx") needs neither xDSL nor LLVM

targets (--target):
  cpu                       LLVM's code for a processor; needs no feature but those of --features
  c                         C's code by the system's compiler, for any processor of its kind
  nvidia:sm_80, ...         machine code of a GPU by ptxas (pip install 'tgdialect[ptxas]')
  opencl                    text that the driver compiles when the file is loaded

exit codes:
  0 for success, 1 for a failure, 2 for a command line that is wrong. A run that fails writes no
  output.

examples:
  tg-compile file.mlir -o file.so
  tg-compile file.mlir -o file.tgx --entry f --entry g
  tg-compile file.mlir -o file.tgx --features avx2,fma --threads 8
  tg-compile file.mlir -o file.tgx --target nvidia:sm_80
"""


_FLAGS = """
  -o --output FILE: what to write
  --entry NAME...: a function to compile; another --entry adds one (default: main, or the only one)
  --target TARGET: what runs the program (default: that of the device it names, else cpu)
  --features LIST: features of the processor, as avx2,fma in LLVM's spelling (default: those of the
    program's tg.target, else this processor's)
  --threads N: divide loops for N threads, which any number executes (default: this machine's)
  --opt OPT: schedule, as for tg-run (default: heuristic)
  --allow-custom: compile unchecked code: tg.custom, tg.ins of unknown targets, machine code of a
    tg.program, and programs from level linear on
  --data-folder DIR: the folder of the files whose bytes the program names (default: that of FILE)
  --version: print the versions and exit
"""


def argument_parser() -> ConsoleParser:
    """The command line of tg-compile."""
    parser = ConsoleParser("tg-compile", USAGE, DESCRIPTION, EPILOG)
    add_flags(
        parser,
        PROGRAM_FLAGS + _FLAGS,
        frontend={"type": input_format},
        data_folder={"type": folder_name},
        output={"required": True, "type": file_name},
        threads={"type": whole_number(1, 4096)},
        opt={"default": "heuristic"},
    )
    return parser


def _compile(args: Sequence[str]) -> int:
    parsed = argument_parser().parse_args(args)
    name, extension = os.path.splitext(os.path.basename(parsed.output))
    if extension not in (".so", ".tgx"):
        raise UsageError(f"-o {parsed.output}: the extension is .so or .tgx, not {extension!r}")
    # Imported late: --help and errors in the arguments need no compiler.
    from tgdialect.diagnostics import errors_in
    from tgdialect.registry import read_program
    from tgdialect.runtime.ahead import compile_ahead
    from tgdialect.runtime.compiler import parse_verified
    from tgdialect.runtime.devices.driver import DeviceError
    from tgdialect.runtime.shared_library import SharedLibrary
    from tgdialect.tools.console import write_files
    from tgdialect.tools.tg_run_session import find_entry

    names = None if parsed.features is None else parsed.features.split(",")
    features = names and [name.strip() for name in names if name.strip()]
    source = read_program(parsed.file, parsed.frontend)
    with errors_in(source):
        folder = parsed.data_folder
        module = parse_verified(source.name, source.text, parsed.frontend, data_folder=folder)
        entries = [find_entry(module, entry).sym_name.data for entry in parsed.entry or [None]]
        with tool_errors(ValueError, DeviceError):
            made = compile_ahead(
                module,
                entries,
                target=parsed.target,
                features=features,
                threads=parsed.threads,
                opt=parsed.opt,
                allow_custom=parsed.allow_custom,
            )
            outputs = {parsed.output: b""}
            if extension == ".tgx":
                outputs[parsed.output] = made.to_bytes()
            else:
                library = SharedLibrary(made, name, source.name)
                outputs[parsed.output] = library.code(name)
                outputs[f"{parsed.output[: -len(extension)]}.h"] = library.header(name).encode()
    write_files([*outputs], [lambda file, data=data: file.write(data) for data in outputs.values()])
    return 0


def main(args: Sequence[str] | None = None) -> int:
    """Run tg-compile with the arguments, by default those of the process; returns the exit code."""
    return exit_code("tg-compile", lambda: _compile(sys.argv[1:] if args is None else args))


if __name__ == "__main__":
    sys.exit(main())
