"""Runs tools in forks of a process that has imported them: most of a small test is importing.

lit imports once, before it forks its workers, and `subprocess.Popen` runs a tool in the process
that it has forked, in place of another program. A shell starts programs by itself: those that
`serving` makes for it ask a server of tools, which runs a fork. Either way a tool has the files,
folder and environment of what it replaces, and a status of its own.
"""

from __future__ import annotations

import gc
import marshal
import multiprocessing
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

OURS = ("tg-opt", "tg-run", "tg-compile", "tg-reduce")
TOOLS = (*OURS, "filecheck", "xdsl-opt")


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
_imported: dict[str, str] = {}
"""Variables of the environment that modules set when they are imported."""


def fork_tools(folder: str) -> None:
    """Have this process and its forks run the tools in a folder without starting Python again."""
    if _mains:
        return
    _mains.update((os.path.join(folder, name), main) for name, main in _loaded().items())
    multiprocessing.set_start_method("fork", force=True)  # lit's workers have what is here.
    subprocess.Popen = Popen  # pyright: ignore


def _loaded() -> dict[str, Callable[[], object]]:
    """The entry points of `TOOLS`; all that passes import when they run is imported, too."""
    import tgdialect

    before = dict(os.environ)
    for module in pkgutil.walk_packages(tgdialect.__path__, "tgdialect."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            # A module of a device needs the driver's bindings, which are an extra.
            if error.name is None or error.name.partition(".")[0] == tgdialect.__name__:
                raise
    _imported.update(os.environ.items() - before.items())
    scripts = entry_points(group="console_scripts")
    mains = {name: scripts[name].load() for name in TOOLS if name not in OURS}
    for name in OURS:
        mains[name] = import_module(f"tgdialect.tools.{name.replace('-', '_')}").main
    gc.freeze()
    return mains


def _end_with(main: Callable[[], object], args: Sequence[str], environment: Any) -> None:
    """Run a tool in this process, a fork whose files 0 to 2 are the tool's, and end with it."""
    status = 1
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        variables = {**_imported, **environment}
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


# -- a server of tools ---------------------------------------------------------------------------

_PROGRAM = """#!{python} -IS
import marshal, os, socket, sys
name, python = os.path.basename(sys.argv[0]), {python!r}
if name == "python" and not (sys.argv[1:2] == ["-m"] or sys.argv[1:2] and sys.argv[1][0] != "-"):
    os.execv(python, [python, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    run = marshal.dumps(([name, *sys.argv[1:]], os.getcwd(), dict(os.environ)))
    socket.send_fds(server, [len(run).to_bytes(4, "little")], [0, 1, 2])
    server.sendall(run)
    sys.exit(server.recv(1)[0])
"""
"""A program in place of a tool, or of Python for modules and files."""


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """Have a folder of programs that a server runs: `TOOLS`, and `python`."""
    address = str(folder / "server")
    for name in (*TOOLS, "python"):
        program = folder / name
        program.write_text(_PROGRAM.format(python=sys.executable, address=address))
        program.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.readline()  # It listens.
        try:
            yield
        finally:
            server.stdin.close()


def _serve(address: str) -> None:
    """Run tools until the standard input ends."""
    mains = _loaded()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print(flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # No child becomes a zombie.
        while listener in select.select([listener, 0], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    _answer(connection, mains)


def _answer(connection: socket.socket, mains: dict[str, Callable[[], object]]) -> None:
    """Run a tool in a fork of this process, say what its status is, and end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, files, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as stream:
        args, folder, environment = marshal.loads(stream.read(int.from_bytes(length, "little")))
    if (tool := os.fork()) == 0:
        os.chdir(folder)
        for number, file in enumerate(files):
            os.dup2(file, number)
        _end_with(mains.get(args[0]) or _run_python, args, environment)
    status = os.waitstatus_to_exitcode(os.waitpid(tool, 0)[1])
    connection.sendall(bytes([status if status >= 0 else 128 - status]))
    os._exit(0)


def _run_python() -> None:
    """Run the module or file of Python's arguments."""
    if sys.argv[1] == "-m":
        del sys.argv[:2]
        sys.path[0] = os.getcwd()
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        del sys.argv[0]
        sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _serve(sys.argv[1])
