"""Processes of MPI that do not do the same: each of them gets an error, and no value."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import apart_cases
import numpy as np
import pytest
from launching import folder, launch, needs_mpi

import tgdialect as tg
from tgdialect import collectives
from tgdialect.runtime.distributed.mpi import launched_size

__all__ = ["folder"]

PROLOGUE = """
import os, signal, sys, threading, time
import numpy as np
import tgdialect as tg
from tgdialect import collectives
from tgdialect.runtime.distributed.mpi import mpi_communicator

rank, size = mpi_communicator().rank, mpi_communicator().size
devices = tuple(f"MPI:{i}" for i in range(size))
x = tg.Tensor(np.ones((size * size, 4), np.float32)).shard(devices, 0).realize()
y = tg.Tensor(np.ones((size * size, 4), np.int32)).shard(devices, 0).realize()
named = ", ".join(f'"{device}"' for device in devices)
sized = tg.compile(f'''
  func.func @main() -> tensor<?x1xf32> {{
    %n = tg.param 0 min 1 max 9 : tensor<index>
    %x = tg.param 1 (%n) {{tg.sharding = #tg.place<[{named}], axis = 1>}} : tensor<?x12xf32>
    %s = tg.reduce add %x [1] : tensor<?x12xf32> -> tensor<?x1xf32>
    func.return %s : tensor<?x1xf32>
  }}''')

def step(x):
    return collectives.allreduce(x).numpy()

def refused():
    try:
        sized(3, np.ones((4, 12), np.float32))
    except ValueError:
        pass

def from_threads(*calls):
    def run(call):
        time.sleep(0.01)
        call()
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    for thread in threads:
        thread.join()

step(x)
step(y)
"""
"""A program whose processes work together before something happens to one of them."""


@needs_mpi
@pytest.mark.sampled(8)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    ("happens", "message"),
    [
        ("raise ValueError('no such batch')", "rank 1: ValueError: no such batch"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "BAD TERMINATION"),
        ("(x * 2).realize(); time.sleep(0.1)", "rank 1: runs program"),
        ("x.numpy()", r"rank 1: reads <ShardedArray .* float32, split along axis 0 over MPI:0"),
        ("step(y)", "rank 1: runs program"),
        ("sized(5, np.ones((5, 12), np.float32))", r"rank 1: runs program \w+ \(n = 5"),
        ("refused()", "rank 1: refuses arguments: ValueError: "),
        ("from_threads(lambda: step(y), lambda: step(x))", "rank 1: runs program"),
        ("sys.exit(0)", "rank 1: ends"),
    ],
    ids=[
        *("raises", "is killed", "runs another program", "reads", "another dtype", "another size"),
        *("refuses its arguments", "another order of threads", "ends"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_all_ranks_get_the_error(ranks: int, happens: str, message: str, tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        f"{PROLOGUE}\nif rank == 1:\n    {happens}\nfor _ in range(2):\n"
        "    sized(3, np.ones((3, 12), np.float32))\n    step(x)\nprint('not reached')\n"
    )
    start = time.monotonic()
    done = launch(ranks, program)
    output = done.stdout + done.stderr
    assert done.returncode != 0, output
    assert re.search(message, output), output
    assert "not reached" not in output
    assert time.monotonic() - start < 300  # It does not wait for TG_RANK_SECONDS.
    if "TERMINATION" not in message:
        others = ranks - 1 if happens.startswith(("raise", "sys")) else ranks
        assert output.count("RankError: the ranks of MPI have come apart") >= others, output


@needs_mpi
@pytest.mark.sampled(2)
@pytest.mark.parametrize("happens", ["os.kill(os.getpid(), signal.SIGSTOP)", "while True: pass"])
@pytest.mark.usefixtures("folder")
def test_who_is_stopped(happens: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_RANK_SECONDS", "2")
    program = tmp_path / "program.py"
    program.write_text(f"{PROLOGUE}\ntime.sleep(0.5)\nif rank == 1:\n    {happens}\nstep(x)\n")
    done = launch(3, program)
    assert done.returncode != 0
    assert done.stderr.count("rank 1: no answer for 3 s") >= 2, done.stderr
    assert re.search(r"rank [02] has waited \d+ s \(TG_RANK_SECONDS\)", done.stderr)


@needs_mpi
@pytest.mark.usefixtures("folder")
def test_a_rank_that_goes_on_after_an_error(tmp_path: Path):
    """Nothing is exchanged any more: each further call is the same error, on all ranks. What they
    do after it, each alone, they finish; the job ends with an error."""
    program = tmp_path / "program.py"
    program.write_text(
        f"{PROLOGUE}\nsays = open(f'{{sys.argv[1]}}/{{rank}}', 'w', 1)\n"
        "for i in range(3):\n    try:\n"
        "        sized(3, np.ones((3 + (rank == i == 1), 12), np.float32))\n"
        "        step(x)\n"
        "        print('done', i, file=says)\n"
        "    except tg.RankError as error:\n        print('caught', i, error, file=says)\n"
        "time.sleep(0.2 * rank)\nprint('saved', file=says)\n"
    )
    done = launch(2, program, tmp_path)
    assert done.returncode != 0
    for rank in range(2):
        said = (tmp_path / str(rank)).read_text()
        assert re.findall("(?m)^[a-z]+ [0-9]", said) == ["done 0", "caught 1", "caught 2"]
        assert said.count("  rank 0: runs program") == said.count("  rank 1: refuses arg") == 2
        assert said.endswith("saved\n")


@needs_mpi
@pytest.mark.parametrize(
    ("ranks", "first", "count"),
    [
        (2, 0, 24),
        *(pytest.param(n, 100 * n, 100, marks=pytest.mark.slow) for n in (2, 3, 4)),
    ],
)
@pytest.mark.usefixtures("folder")
def test_random_ranks_that_come_apart(ranks: int, first: int, count: int):
    done = launch(ranks, apart_cases.__file__, "--first", first, "--count", count)
    assert done.returncode == 0, done.stderr
    assert f"{count} cases" in done.stdout


# -- forks, launchers, nothing to exchange ---------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_fork_has_threads_of_its_own():
    x = tg.Tensor(np.ones((2, 4), np.float32)).shard(("CPU:0", "CPU:1"), 0).realize()
    function = tg.function(lambda x: x.sum(0))
    function(x).realize()
    if (child := os.fork()) == 0:
        try:
            os._exit(0 if (function(x).numpy() == 2).all() else 1)
        finally:
            os._exit(2)
    end = time.monotonic() + 60
    while (status := os.waitpid(child, os.WNOHANG)) == (0, 0):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert status == (child, 0)


@needs_mpi
@pytest.mark.usefixtures("folder")
def test_a_child_of_fork_of_a_rank_exchanges_nothing(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        f"{PROLOGUE}\nif os.fork() == 0:\n    try:\n        step(x)\n"
        "    except tg.RankError as error:\n        print(error, flush=True)\n"
        "    os._exit(0)\nos.wait()\nassert (step(x) == size).all()\n"
    )
    done = launch(2, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("this process is a child of `fork` of rank") == 2


@needs_mpi
@pytest.mark.usefixtures("folder")
def test_a_launcher_whose_variables_nobody_knows(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nfor name in list(os.environ):\n"
        "    if name in ('PMI_SIZE', 'MPI_LOCALNRANKS'):\n"
        "        number = os.environ.pop(name)\n"
        "import numpy as np\nimport tgdialect as tg\n"
        "os.environ['PMI_SIZE'] = number\n"  # MPI itself needs it, and reads it in `connect`.
        "from tgdialect.runtime.distributed import mpi\n"
        "mpi._LAUNCHERS = ()\nassert mpi.launched_size() == 1\n"
        "x = tg.Tensor(np.arange(8.0)).to('MPI:1')\n"
        "assert (x * 2).sum().numpy() == 56\nassert (x * 2).numpy().shape == (8,)\n"
        "assert mpi.launched_size() == 2\n"
    )
    done = launch(2, program)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("variables", "size"),
    [
        ({"SLURM_STEP_NUM_TASKS": "3"}, 3),
        ({"SLURM_NTASKS": "3"}, 1),  # Of a batch, whose script is one process.
        ({"WORLD_SIZE": "4", "TORCHELASTIC_RUN_ID": "none"}, 4),
        ({"WORLD_SIZE": "4"}, 1),
    ],
)
def test_how_many_a_launcher_says_that_it_has_started(
    variables: dict[str, str], size: int, monkeypatch: pytest.MonkeyPatch
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delitem(__import__("sys").modules, "mpi4py.MPI", raising=False)
    assert launched_size() == size


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4, 0), (4, 3, 0)])
def test_collectives_of_nothing(shape: tuple[int, ...]):
    x = tg.Tensor(np.zeros(shape, np.float32)).shard(("CPU:0", "CPU:1"), 0)
    rest = (shape[0] // 2, *shape[1:])
    assert collectives.allgather(x).numpy().shape == shape
    for op in ("add", "mul", "max"):
        assert collectives.reduce(x, op=op).numpy().shape == rest
        assert collectives.reduce_scatter(x, op).numpy().shape == rest
        assert collectives.allreduce(x, op).numpy().shape == rest
