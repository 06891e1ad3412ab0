"""Programs that several processes of MPI run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
needs_mpi = pytest.mark.skipif(MPIEXEC is None, reason="needs mpiexec: pip install tgdialect[mpi]")


def launch(ranks: int, *command: object) -> subprocess.CompletedProcess[str]:
    """Run a Python program by so many processes."""
    assert MPIEXEC is not None
    full = [MPIEXEC, "-n", str(ranks), sys.executable, *map(str, command)]
    return subprocess.run(full, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an object cache, so that what one process compiles the others do not."""
    folder = tmp_path_factory.mktemp("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TG_CACHE_DIR", str(folder / "cache"))
        yield folder
