"""Run the tests against the newest xDSL, or another version, in a virtual environment of its own.

    python tools/newest_xdsl.py [--version 0.76.0] [--venv FOLDER] [-- ARGUMENTS OF PYTEST]

The environment is made when it is missing, and kept. Runs lit, then pytest, and ends with the
status 1 if one of them fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(command: Sequence[str | Path], **variables: str) -> int:
    print("+", *command, flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ | variables).returncode


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--version", help="a version of xDSL instead of the newest one")
    arguments.add_argument("--venv", type=Path, default=ROOT / ".venv-xdsl")
    arguments.add_argument("pytest", nargs="*", metavar="ARGUMENT")
    given = arguments.parse_args()
    programs = given.venv.absolute() / "bin"
    python = programs / "python"
    wanted = f"xdsl=={given.version}" if given.version else "xdsl"
    if not python.exists() and run([sys.executable, "-m", "venv", given.venv]):
        return 1
    # The second command may go against what pyproject.toml asks for: pip only says so.
    for packages in (["-e", ".[test]"], ["--upgrade", wanted]):
        if run([python, "-m", "pip", "install", "--quiet", *packages]):
            return 1
    run([python, "-c", "import xdsl; print('xDSL', xdsl.__version__)"])
    variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    failures = [
        run([programs / "lit", "-q", "test/filecheck"], **variables),
        run([python, "-m", "pytest", *given.pytest], **variables),
    ]
    return int(any(failures))


if __name__ == "__main__":
    sys.exit(main())
