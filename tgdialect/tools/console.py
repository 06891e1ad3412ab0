"""Options, streams, written files, errors and exit codes of the console programs.

The exit code is 0 for success, 1 for a failure, and 2 for a command line that is wrong by itself.
"""

import argparse
import errno
import os
import re
import stat
import sys
import traceback
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any, BinaryIO, NoReturn, TextIO

import tgdialect
from tgdialect.diagnostics import CompilationError, Diagnostic, Severity, exception_text, one_line
from tgdialect.environment import DEBUG, SettingError, unknown_names

DEBUG_HINT = "(set TG_DEBUG=1 for the traceback)"
_MOST_DIGITS = 18
"""The most digits of a number in an option: as many are always below 2^63."""


class ToolError(CompilationError):
    """A mistake of the user, or a failure of the system, in one diagnostic."""

    def __init__(self, error: str | Diagnostic) -> None:
        super().__init__(Diagnostic(error) if isinstance(error, str) else error)


class UsageError(ToolError):
    """The command line is wrong by itself, whatever the files hold."""


@contextmanager
def tool_errors(*kinds: type[Exception], context: str = "") -> Generator[None]:
    """Raise exceptions of some kinds as `ToolError`s, with `context` before their text."""
    try:
        yield
    except kinds as error:
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise ToolError(f"{context}{reason}") from error


# -- options ---------------------------------------------------------------------------------------


class ConsoleParser(argparse.ArgumentParser):
    """A parser whose errors are `UsageError`s, and which takes no abbreviations.

    `bare` has the options whose value stands after `=` and may be left out, with the value that
    they have then: the next argument is never their value.
    """

    bare: Mapping[str, str] = {}

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

    def spelled(self, args: Iterable[str]) -> list[str]:
        """The arguments with the values that options in `bare` have without one."""
        return [f"{arg}={self.bare[arg]}" if arg in self.bare else arg for arg in args]

    def error(self, message: str) -> NoReturn:
        help = "" if message.endswith("?") else f"; see {self.prog} --help"
        raise UsageError(one_line(message) + help)

    def _print_message(self, message: str, file: Any = None) -> None:
        show(message)


def joined(args: Iterable[str], options: Collection[str]) -> Iterator[str]:
    """Rewrites `--input -1,2` to `--input=-1,2` for some options: argparse takes `-1,2` for one."""
    rest = iter(args)
    for arg in rest:
        value = next(rest, None) if arg in options else None
        yield arg if value is None else f"{arg}={value}"


def add_flags(
    parser: argparse.ArgumentParser, text: str, **options: Mapping[str, Any]
) -> list[argparse.Action]:
    """Add the flags that a text lists, of which a line without indentation begins a group.

    An entry has the names of a flag, the word for its value unless it is a switch, with `...` if it
    may be given several times, and after a colon its help, which may go on in deeper lines. Without
    a name it is a positional argument. `options` are what argparse takes besides, by destination:
    the last name of a flag.
    """
    group: Any = parser
    added: list[argparse.Action] = []
    for entry in re.split(r"\n+(?! {4})", text.strip("\n")):
        if not entry.startswith(" "):
            group = parser.add_argument_group(entry)
            continue
        head, _, help = " ".join(entry.split()).partition(": ")
        *names, last = head.split()
        if last.startswith("-"):
            names, given = [*names, last], {"action": "store_true"}
        else:
            given: dict[str, Any] = {"metavar": last.removesuffix("...")}
            if last.endswith("..."):
                given |= {"action": "append", "default": []}
        destination = (names[-1] if names else last.lower()).lstrip("-").replace("-", "_")
        if destination == "version":
            given = {"action": VersionAction, "nargs": 0}
        given |= options.get(destination, {})
        added.append(group.add_argument(*names, dest=destination, help=help, **given))
    return added


PROGRAM_FLAGS = """
  FILE: the program; - for stdin
  -f --frontend FORMAT: the format of the program (default: by its extension, else mlir)
"""
"""The flags of a program that reads one, whose `frontend` has the type `input_format`."""


class VersionAction(argparse.Action):
    """Prints the versions, whose look-up is slow and happens only here."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        show(f"{parser.prog}: tgdialect {tgdialect.__version__}, xdsl {version('xdsl')}\n")
        parser.exit()


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A type of option: a decimal number from `low` to `high`."""

    def parse(text: str) -> int:
        digits = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
        if not digits or not low <= int(text) <= high:
            shown = text if len(text) <= 40 else f"{text[:37]}..."
            raise argparse.ArgumentTypeError(
                f"expected a number from {low} to {high}, not {shown!r}"
            )
        return int(text)

    return parse


def file_name(text: str) -> str:
    """A type of option: the name of a file, which is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a file, not ''")
    return text


def folder_name(text: str) -> str:
    """A type of option: the name of a folder, which is there."""
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}")
    return text


def input_format(text: str, names: Collection[str] | None = None) -> str:
    """A type of option: an input format, which may have arguments: `onnx{fix="n=4"}`. Without
    `names`, those of plug-ins are looked up when one is given."""
    from xdsl.utils.arg_spec import parse_spec
    from xdsl.utils.exceptions import ArgSpecParseError

    from tgdialect.registry import formats

    names = formats() if names is None else names
    try:
        name = parse_spec(text).name
    except ArgSpecParseError as error:
        message = f"a format is a name, or name{{key=value}}, not {text!r}"
        raise argparse.ArgumentTypeError(message) from error
    if name not in names:
        raise argparse.ArgumentTypeError(f"no format {text!r}; there are: {', '.join(names)}")
    return text


# -- streams ---------------------------------------------------------------------------------------


def show(text: str | bytes, stream: TextIO | None = None) -> None:
    """Write to a stream, stdout by default, at once: text in UTF-8, or bytes.

    Raises `CompilationError` if it is closed or its disk is full, and `BrokenPipeError` if nobody
    reads it any more.
    """
    name = "stdout" if stream is None else "stderr"
    stream = sys.stdout if stream is None else stream
    if stream is None:  # As `sys.stdout` is if the process began without one.
        raise ToolError(f"cannot write to {name}: it is closed")
    try:
        stream.flush()
        if (binary := getattr(stream, "buffer", None)) is None:
            stream.write(text if isinstance(text, str) else text.decode("latin-1"))
        else:
            binary.write(
                text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
            )
        stream.flush()
    except OSError as error:
        _discard(stream)
        if isinstance(error, BrokenPipeError):
            raise
        raise ToolError(f"cannot write to {name}: {error.strerror or error}") from error


def _discard(stream: TextIO) -> None:
    """Let a stream that takes no more write to the null device. Python would complain about the
    rest once more when it closes the stream."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _occupy_descriptors() -> None:
    """Let the descriptors of standard streams that are closed be the null device's: otherwise the
    next file to be opened gets one, and libraries write their messages into it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def report(program: str, diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics to stderr, if that can be written; those without a file are about the
    command line."""
    colored = sys.stderr.isatty() and not os.environ.get("NO_COLOR")  # no-color.org
    for diagnostic in diagnostics:
        if diagnostic.file is None:
            diagnostic = replace(diagnostic, file=program)
        with suppress(CompilationError, OSError):
            show(f"{diagnostic.render(colored)}\n", sys.stderr)


def print_traceback(error: Exception) -> None:
    """Print the traceback of an error, if the environment asks for that."""
    if DEBUG.get():
        with suppress(OSError):
            traceback.print_exception(error)


# -- the end ---------------------------------------------------------------------------------------


def exit_code(program: str, execute: Callable[[], int]) -> int:
    """The exit code of a program: that of `execute`, or of the exception that it raises, which is
    reported."""
    _occupy_descriptors()
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
        pass  # The reader of our output has left, as `head` does.
    except MemoryError as error:
        message = ": ".join(filter(None, ("not enough memory", one_line(str(error)))))
        report(program, [Diagnostic(message)])
    except Exception as error:
        print_traceback(error)
        if isinstance(error, CompilationError):
            report(program, error.diagnostics)
            return 2 if isinstance(error, UsageError) else 1
        message = f"internal error: {one_line(exception_text(error))} {DEBUG_HINT}"
        report(program, [Diagnostic(message)])
    return 1


# -- files -----------------------------------------------------------------------------------------


def write_files(paths: Sequence[str], writers: Sequence[Callable[[BinaryIO], object]]) -> None:
    """Have each writer write its file, all or none: all write under temporary names first, which
    are then renamed. A path may also name a pipe or a device, which is written directly.

    Raises `CompilationError` if a file cannot be written, and for two with one name.
    """
    # The link of a pipe, as /dev/stdout may be, leads to a name that is no file's.
    places = [os.path.realpath(path) if _is_file(path) else path for path in paths]
    files = [place for place in places if _is_file(place)]
    if len(set(files)) < len(files):
        raise ToolError(f"several results for one file: {', '.join(paths)}")
    with ExitStack() as cleanup:
        renames: list[tuple[str, str, str]] = []
        for number, (path, place, write) in enumerate(zip(paths, places, writers, strict=True)):
            with tool_errors(OSError, context=f"cannot write {path}: "):
                if not _is_file(place):
                    with open(place, "wb") as file:
                        write(file)
                    continue
                mode = _mode(place)
                temporary = os.path.join(os.path.dirname(place), f".{os.getpid()}-{number}.tmp")
                with open(temporary, "xb") as file:
                    cleanup.callback(_delete, temporary)
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    write(file)
                renames.append((path, temporary, place))
        for path, temporary, place in renames:
            with tool_errors(OSError, context=f"cannot write {path}: "):
                os.replace(temporary, place)


def _mode(place: str) -> int | None:
    """The permissions of the file of a name, if there is one. Raises OSError if it cannot be
    written, or there cannot be one."""
    try:
        mode = stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        return None
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return mode


def _is_file(place: str) -> bool:
    """Whether a path names a regular file, or nothing yet."""
    return os.path.isfile(place) or not os.path.exists(place)


def _delete(temporary: str) -> None:
    """Delete a file that was not renamed. Its name was free before."""
    if os.path.lexists(temporary):
        os.unlink(temporary)
