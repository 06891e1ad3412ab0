"""Runs the tools of RUN lines in forks of lit's workers, which have imported them.

A tool spends most of a small test importing. lit imports once here, before it forks its workers,
and `subprocess.Popen` runs a tool in the process that it has forked, in place of another program:
with its files, folder and environment, and with a status of its own.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

TOOLS = ("tg-opt", "tg-run", "filecheck", "xdsl-opt")


class Popen(subprocess.Popen[Any]):
    """A process, which does not start another program if it is to run one of `TOOLS`."""

    def __init__(self, args: Sequence[str], **options: Any) -> None:
        environment = options.get("env") or os.environ
        # Another PYTHONPATH asks for other modules than those imported here.
        if environment.get("PYTHONPATH", "") == os.environ.get("PYTHONPATH", "") and (
            main := _mains.get(args[0])
        ):
            options["preexec_fn"] = partial(_end_with, main, args, environment)
        super().__init__(args, **options)


_mains: dict[str, Callable[[], object]] = {}
"""The entry points of `TOOLS`, by the paths of their programs."""


def fork_tools(folder: str) -> None:
    """Have this process and its forks run the tools in a folder without starting Python again."""
    if _mains:
        return
    scripts = entry_points(group="console_scripts")
    for name in TOOLS:
        _mains[os.path.join(folder, name)] = scripts[name].load()
    _import_everything()
    gc.freeze()
    multiprocessing.set_start_method("fork", force=True)  # lit's workers have what is here.
    subprocess.Popen = Popen  # pyright: ignore


def _import_everything() -> None:
    """Import all that passes import when they run."""
    import tgdialect

    for module in pkgutil.walk_packages(tgdialect.__path__, "tgdialect."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            # A module of a device needs the driver's bindings, which are an extra.
            if error.name is None or error.name.partition(".")[0] == tgdialect.__name__:
                raise


def _end_with(main: Callable[[], object], args: Sequence[str], environment: Any) -> None:
    """Run a tool in this process, a fork whose files 0 to 2 are the tool's, and end with it."""
    status = 1
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        variables = dict(environment)
        os.environ.clear()
        os.environ.update(variables)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # As Python does when it starts.
        multiprocessing.current_process().daemon = False  # lit's worker may have no children.
        # The worker's own were made for its files: whether one can seek in them, for instance.
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        sys.argv = list(args)
        status = _status_of(main)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status & 255)


def _status_of(main: Callable[[], object]) -> int:
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1
