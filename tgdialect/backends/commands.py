"""Commands that make a file of others, in a folder of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory


def said_by(
    command: Sequence[str], refused: Callable[[str], Exception], folder: str | None = None
) -> str:
    """The output of a command. Raises `refused` of what it says if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise refused(done.stderr)
    return done.stdout


def output_of(
    command: Sequence[str], files: Mapping[str, bytes], refused: Callable[[str], Exception]
) -> bytes:
    """The contents of the file that a command makes of files, which it names. Raises as `said_by`
    does."""
    with TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        said_by([*command, "-o", "result"], refused, folder)
        return Path(folder, "result").read_bytes()
