"""Runs the tools of RUN lines in forks of one process that has imported them.

A tool spends most of a small test importing. Here a server imports once, and forks for each run:
the tests of this folder take a third of the time.

    warm_tools.py serve SOCKET          the server; ends when its standard input is closed
    warm_tools.py SOCKET TOOL ARGS...   runs a tool of the server, as if it were started here
"""

import os
import socket
import sys

_LENGTH = 8


def run(path: str, argv: list[str]) -> int:
    """Have the server run a tool with this process's files, folder and environment."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        fields = [os.getcwd(), str(len(argv)), *argv]
        fields += [f"{name}={value}" for name, value in os.environ.items()]
        data = "\0".join(fields).encode(errors="surrogateescape")
        socket.send_fds(connection, [len(data).to_bytes(_LENGTH, "little")], [0, 1, 2])
        connection.sendall(data)
        answer = connection.recv(1)
        return answer[0] if answer else 134  # The tool has crashed.


def serve(path: str) -> None:
    """Accept runs until standard input is closed."""
    import gc
    import selectors
    import signal
    from importlib.metadata import entry_points

    scripts = entry_points(group="console_scripts")
    mains = {name: scripts[name].load() for name in ("tg-opt", "tg-run", "filecheck", "xdsl-opt")}
    _import_everything()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    listener.listen(64)
    os.rename(path + ".new", path)  # From now on clients find it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Forks leave no zombies.
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while all(key.fileobj is listener for key, _ in selector.select()):
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                _run_here(connection, mains)
            connection.close()


def _import_everything() -> None:
    """Import all that passes import when they run."""
    import pkgutil
    from importlib import import_module

    import tgdialect

    for module in pkgutil.walk_packages(tgdialect.__path__, "tgdialect."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            # A module of a device needs the driver's bindings, which are an extra.
            if error.name is None or error.name.partition(".")[0] == tgdialect.__name__:
                raise


def _run_here(connection: socket.socket, mains: dict[str, object]) -> None:
    """Run the tool that a client asks for, and end this process."""
    import subprocess

    status = 1
    try:
        header, files, _, _ = socket.recv_fds(connection, _LENGTH, 3)
        data = b""
        while len(data) < int.from_bytes(header, "little"):
            data += connection.recv(1 << 16)
        folder, count, *fields = data.decode(errors="surrogateescape").split("\0")
        argv, environment = fields[: int(count)], fields[int(count) :]
        os.chdir(folder)
        modules = os.environ.get("PYTHONPATH")
        os.environ.clear()
        os.environ.update(field.split("=", 1) for field in environment)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        # The server's own were made for its files: whether one can seek in them, for instance.
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        sys.argv = argv
        if os.environ.get("PYTHONPATH") == modules:
            status = _status_of(mains[os.path.basename(argv[0])])
        else:
            status = subprocess.call(argv)  # It wants other modules than those imported here.
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send(bytes([status & 255]))
        os._exit(status)


def _status_of(main: object) -> int:
    assert callable(main)
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


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
