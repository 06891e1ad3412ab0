"""`tg-gui`: xDSL's interactive pipelines, `xdsl-gui`, with the dialects and passes of all packages.

`xdsl-gui` knows only xDSL's own, since it does not read the universes that are installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tgdialect import registry
from tgdialect.diagnostics import read_source
from tgdialect.tools.console import ConsoleParser, UsageError, exit_code
from tgdialect.tools.pass_pipeline import instantiate, parse_pipeline

if TYPE_CHECKING:
    from xdsl.interactive.app import InputApp


def interactive(args: Sequence[str]) -> InputApp:
    """The application for a command line. Raises `CompilationError` for a mistake of the user."""
    description = "Build a pipeline of passes interactively, with its result beside it."
    parser = ConsoleParser("tg-gui", "tg-gui [file] [-p PIPELINE]", description, "")
    parser.add_argument("input_file", nargs="?", help="a program in MLIR")
    parser.add_argument("-p", "--passes", metavar="PIPELINE", default="", help="the first passes")
    given = parser.parse_args(args)
    try:
        from xdsl.interactive.app import InputApp
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is missing: pip install 'tgdialect[gui]'") from error

    specs, universe = parse_pipeline(given.passes), registry.universe()
    return InputApp(
        tuple(universe.all_dialects.items()),
        tuple((name, factory()) for name, factory in sorted(universe.all_passes.items())),
        given.input_file,
        None if given.input_file is None else read_source(given.input_file).text,
        tuple(instantiate("pass", spec, universe.all_passes) for spec in specs),
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool with the arguments, by default those of the process; the exit code."""
    given = sys.argv[1:] if args is None else args

    def run() -> int:
        application: Any = interactive(given)
        application.run()
        return 0

    return exit_code("tg-gui", run)


if __name__ == "__main__":
    sys.exit(main())
