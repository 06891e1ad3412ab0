"""Collectives by MPI as messages: what is waited for, and processes that want different things."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from launching import folder, launch, needs_mpi

from tgdialect.analysis.communication import Collective
from tgdialect.runtime.distributed.exchange import Exchange, completion

__all__ = ["folder"]

PROLOGUE = """
import sys, time
import numpy as np
from tgdialect.analysis.communication import Collective
from tgdialect.runtime.distributed import mpi
from tgdialect.runtime.distributed.exchange import Intent, RankError
from tgdialect.runtime.distributed.exchange import Exchange

here = mpi.mpi_communicator()
everyone = tuple(range(here.size))

def exchange(kind, size, dtype=np.float32, reduction="add"):
    n = here.size
    result = {"all_gather": size * n, "reduce_scatter": size // n}.get(kind, size)
    dtype = np.dtype(dtype)
    return Exchange(Collective(kind), everyone, (size,), dtype, (result,), reduction=reduction)

def run(kind, size, *rest, start=False):
    wanted = exchange(kind, size, *rest)
    value = (np.arange(size) % 7 + here.rank).astype(wanted.dtype)
    exchanged = lambda: here.start(wanted, value).wait() if start else here.execute(wanted, value)
    return here.call(Intent(lambda: f"wants {wanted}", repr(wanted).encode()), exchanged)
"""

SLEEPS = """
mpi._SPIN_SECONDS = 0.0
sleep, sleeps = time.sleep, []
def counted(seconds):
    sleeps.append(here.agreement._request is None)  # At the last look, which this is not.
    sleep(seconds)
for start in (False, True):
    for kind in ("all_reduce", "all_gather", "reduce_scatter"):
        here.mpi.COMM_WORLD.Barrier()
        if here.rank == 1:
            sleep(0.3)
        time.sleep = counted
        run(kind, 1 << 22, start=start)
        time.sleep = sleep
assert not any(sleeps), sleeps.count(True)
assert here.rank != 0 or sleeps
print("no pauses")
"""

SIZES = """
for size in (0, 4, 12, 240, 256, 1020, 1024, 4096, 5000, 16384, 20000, 131072, 300000):
    size -= size % here.size
    parts = [np.arange(size) % 7 + r for r in everyone]
    total, n = sum(parts), here.size
    own = slice(size // n * here.rank, size // n * (here.rank + 1))
    gathered = np.concatenate(parts)
    wanted = {"all_reduce": total, "all_gather": gathered, "reduce_scatter": total[own]}
    for start in (False, True):
        for kind, value in wanted.items():
            for dtype in (np.float32, np.float16, np.int64):
                found = run(kind, size, dtype, start=start)
                np.testing.assert_array_equal(found, value.astype(dtype), f"{kind} {size}")
for start in (False, True):
    for root in everyone:  # Values without axes.
        for kind in ("broadcast", "all_reduce"):
            wanted = Exchange(Collective(kind), everyone, (), np.dtype(np.float32), (), root=root)
            act = here.start if start else here.execute
            intent = Intent(lambda: "wants a number", repr((root, kind, start)).encode())
            found = here.call(intent, lambda: act(wanted, np.array(here.rank, np.float32)))
            found = found.wait() if start else found
            assert found == (root if kind == "broadcast" else sum(everyone)), found
print("all right")
"""

RANDOM = """
from tgdialect.runtime.distributed.exchange import completion
rng = np.random.default_rng(7)
KINDS = [k for k in Collective if k is not Collective.TRANSFER]
DTYPES = [np.float32, np.float64, np.float16, np.int8, np.uint16, np.int64, np.bool_]
for number in range(150):
    kind = KINDS[rng.integers(len(KINDS))]
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))])
    shape = [int(d) for d in rng.integers(1, 9, rng.integers(1, 5))]
    axis, joined = (int(a) for a in rng.integers(len(shape), size=2))
    shape[rng.integers(len(shape))] *= int(rng.choice([1, 1, 40, 700]))
    cuts = kind.value in ("scatter", "reduce_scatter", "all_to_all")
    shape[axis] *= here.size if cuts else 1
    result = list(shape)
    if cuts:
        result[axis] //= here.size
    if kind.value in ("gather", "all_gather", "all_to_all"):
        joined = joined if kind.value == "all_to_all" else axis
        result[joined] *= here.size
    reduction = ("add", "mul", "max")[rng.integers(3)]
    root = int(rng.integers(here.size))
    shapes = tuple(shape), dtype, tuple(result)
    wanted = Exchange(kind, everyone, *shapes, axis, joined, reduction, root)
    values = [rng.integers(0, 3, shape).astype(dtype) for _ in everyone]
    gives = kind.value not in ("broadcast", "scatter") or here.rank == root
    own = values[here.rank] if gives else None
    if gives and number % 3 == 1:  # Laid out in another way.
        own = np.asfortranarray(own)
    starts = number % 2 == 0
    act = lambda: here.start(wanted, own).wait() if starts else here.execute(wanted, own)
    found = here.call(Intent(lambda: str(number), b"%d" % number), act)
    if here.rank == root or kind.value not in ("gather", "reduce"):
        expected = completion(wanted, here.rank, values)()
        assert found.shape == tuple(result), (wanted, found.shape)
        np.testing.assert_array_equal(found, expected, str(wanted))
        assert not any(np.shares_memory(found, value) for value in values) or found is own
print("as in NumPy")
"""

DIFFERENT = """
run("all_reduce", 100)
try:
    run(*({first} if here.rank != here.size - 1 else {last}))
    print("a value")
except RankError as error:
    assert str(error).count("wants Exchange") == 2, error
try:
    run("all_reduce", 100)
    print("a value")
except RankError:
    print("refused")
"""


@pytest.mark.parametrize("kind", Collective)
def test_results_have_memory_of_their_own(kind: Collective):
    values = [np.arange(4, dtype=np.float32) + i for i in range(2)]
    exchange = Exchange(kind, (0, 1), (4,), values[0].dtype, (4,))
    found = completion(exchange, 0, values)()
    assert not any(np.shares_memory(found, value) for value in values)


@needs_mpi
@pytest.mark.sampled(3)
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("memory", ["", "0", "1"])
@pytest.mark.parametrize(
    ("program", "output"), [(SLEEPS, "no pauses"), (SIZES, "all right"), (RANDOM, "as in NumPy")]
)
@pytest.mark.usefixtures("folder")
def test_by_mpi(
    ranks: int,
    program: str,
    output: str,
    memory: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Through memory, as messages, and through little memory: in many pieces."""
    monkeypatch.setenv("TG_RANK_KIB", memory)
    file = tmp_path / "program.py"
    file.write_text(PROLOGUE + program)
    done = launch(ranks, file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(output) == ranks


@needs_mpi
@pytest.mark.sampled(6)
@pytest.mark.parametrize("ranks", [*(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3)), 4])
@pytest.mark.parametrize(
    ("first", "last"),
    [
        (("all_reduce", 12), ("all_reduce", 24)),
        (("all_reduce", 12), ("all_reduce", 1 << 19)),
        (("all_reduce", 1200), ("all_reduce", 12000)),
        (("all_gather", 1 << 18), ("all_reduce", 1 << 18)),
        (("all_reduce", 12), ("all_reduce", 12, "int32")),
    ],
    ids=["size", "small and large", "large sizes", "kind", "dtype"],
)
def test_ranks_that_want_different_things(ranks: int, first: object, last: object, tmp_path: Path):
    file = tmp_path / "program.py"
    file.write_text(PROLOGUE + DIFFERENT.format(first=first, last=last))
    done = launch(ranks, file)
    assert "a value" not in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("refused") == ranks, done.stdout + done.stderr
