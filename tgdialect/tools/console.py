"""What the console programs have in common: their errors, and how they end."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NoReturn

from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    Severity,
    exception_text,
    one_line,
)
from tgdialect.environment import DEBUG, SettingError, unknown_names

DEBUG_HINT = "(set TG_DEBUG=1 for the traceback)"


class ConsoleParser(argparse.ArgumentParser):
    """A parser whose errors are `CompilationError`s, and which takes no abbreviations."""

    def __init__(
        self, program: str, usage: str, description: str, epilog: str, conflicts: str = "error"
    ) -> None:
        super().__init__(
            prog=program,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            conflict_handler=conflicts,
        )

    def error(self, message: str) -> NoReturn:
        raise CompilationError(Diagnostic(message))


def report(program: str, diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics to stderr; those without a file are about the command line."""
    colored = sys.stderr.isatty() and not os.environ.get("NO_COLOR")  # no-color.org
    for diagnostic in diagnostics:
        if diagnostic.file is None:
            diagnostic = replace(diagnostic, file=program)
        print(diagnostic.render(colored), file=sys.stderr)


def print_traceback(error: Exception) -> None:
    """Print the traceback of an error, if the environment asks for that."""
    if DEBUG.get():
        traceback.print_exception(error)


def exit_code(program: str, execute: Callable[[], int]) -> int:
    """What `execute` returns. Reports an exception that it raises, and returns the exit code for
    that."""
    if (text := unknown_names()) is not None:
        report(program, [Diagnostic(text, Severity.WARNING)])
    try:
        DEBUG.get()  # A wrong value is an error now, and not while another one is reported.
        return execute()
    except SettingError as error:
        report(program, [Diagnostic(str(error))])
    except SystemExit as error:
        # --help and --version end so.
        return error.code if isinstance(error.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has left. Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError as error:
        message = ": ".join(filter(None, ("not enough memory", one_line(str(error)))))
        report(program, [Diagnostic(message)])
    except Exception as error:
        print_traceback(error)
        if isinstance(error, CompilationError):
            report(program, error.diagnostics)
        else:
            message = f"internal error: {one_line(exception_text(error))} {DEBUG_HINT}"
            report(program, [Diagnostic(message)])
    return 1
