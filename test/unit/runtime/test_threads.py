"""Programs with a THREAD axis, and the parallel runtime below them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes.util import find_library
from random import Random
from threading import Event, Thread

import numpy as np
import pytest
from compiling import compile_module

from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.threads import parallel_runtime
from tgdialect.targets.host import thread_count

GEMM = """
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = tg.reshape %a [256, 256, 1] : tensor<256x256xf32> -> tensor<256x256x1xf32>
  %1 = tg.mul %0, %b : (tensor<256x256x1xf32>, tensor<256x256xf32>) -> tensor<256x256x256xf32>
  %2 = tg.reduce add %1 [1] : tensor<256x256x256xf32> -> tensor<256x1x256xf32>
  %3 = tg.reshape %2 [256, 256] : tensor<256x1x256xf32> -> tensor<256x256xf32>
  func.return %3 : tensor<256x256xf32>
}
"""


def _inputs() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    a, b = random.integers(-4, 5, (2, 256, 256)).astype(np.float32)
    return a, b


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TG_NUM_THREADS", "2")
    monkeypatch.setattr(parallel_runtime().threads, "value", 2)


@pytest.mark.usefixtures("two_threads")
def test_a_thread_axis():
    executable = compile_module(load_module(GEMM))
    (kernel,) = executable.kernels
    assert any("thread" in opt for opt in kernel.opts)
    a, b = _inputs()
    np.testing.assert_array_equal(executable(a, b), a @ b)


@pytest.mark.usefixtures("two_threads")
def test_any_number_of_threads():
    runtime = parallel_runtime()
    executable = compile_module(load_module(GEMM))
    a, b = _inputs()
    for threads in (1, 2, 3, 17):
        runtime.threads.value = threads
        np.testing.assert_array_equal(executable(a, b), a @ b)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("seed", range(4))
def test_calls_at_the_same_time(seed: int):
    """Threads that call meanwhile share the workers, which sleep if nobody calls for a while."""
    executable = compile_module(load_module(GEMM))
    runtime, random = parallel_runtime(), Random(seed)
    a, b = _inputs()
    expected = a @ b

    def call(_: int) -> np.ndarray:
        runtime.threads.value = random.randint(2, 6)
        time.sleep(random.choice((0, 1e-5, 1e-4, 1e-3)))
        return executable(a, b)

    with ThreadPoolExecutor(random.randint(1, 6)) as pool:
        for result in pool.map(call, range(60)):
            np.testing.assert_array_equal(result, expected)


def _python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "TG_CACHE_DIR": "", "TG_NUM_THREADS": "2", **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PRELUDE = f"""
    import os, sys
    import numpy as np
    import tgdialect as tg
    from tgdialect.runtime import threads
    exe = tg.compile({GEMM!r})
    a, b = np.random.default_rng(0).integers(-4, 5, (2, 256, 256)).astype(np.float32)
    assert (exe(a, b) == a @ b).all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_fork():
    """The threads of the parent's pool are not in the child."""
    _python(
        PRELUDE
        + """
    child = os.fork()
    if child == 0:
        os._exit(0 if (exe(a, b) == a @ b).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (exe(a, b) == a @ b).all()
    """
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("limit", ["unlimited", "few"])
def test_more_threads_than_can_be_started(limit: str):
    """A loop is done by the threads that there are, and each of them keeps to its stack."""
    _python(
        PRELUDE
        + f"""
    import resource
    from tgdialect.runtime.threads import parallel_runtime
    if {limit!r} == "few":
        resource.setrlimit(resource.RLIMIT_AS, (2**31, resource.RLIM_INFINITY))
    for threads in (3, 40, 5000, 2):
        parallel_runtime().threads.value = threads
        for _ in range(3):
            assert (exe(a, b) == a @ b).all()
    """
    )


def test_more_calling_threads_than_places():
    """Those that the pool has no place for do their loops alone."""
    _python(
        PRELUDE
        + """
    from concurrent.futures import ThreadPoolExecutor
    expected = a @ b
    with ThreadPoolExecutor(2 * threads.JOBS) as pool:
        for result in pool.map(lambda _: exe(a, b), range(500)):
            assert (result == expected).all()
    """,
    )


needs_libgomp = pytest.mark.skipif(not find_library("gomp"), reason="this system has no libgomp")
LOADED = """
    import ctypes
    library = ctypes.CDLL("libgomp.so.1")
"""


@needs_libgomp
def test_an_openmp_library_that_is_loaded():
    found = _python(
        LOADED
        + PRELUDE
        + """
    for count in (1, 2, 3, 17):
        threads.parallel_runtime().threads.value = count
        assert (exe(a, b) == a @ b).all()
    print(threads.parallel_runtime().name)
    child = os.fork()
    if child == 0:
        os._exit(0 if (exe(a, b) == a @ b).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    """
    )
    assert "libgomp" in found


@needs_libgomp
def test_no_openmp_on_request():
    found = _python(
        LOADED
        + PRELUDE
        + """
    print(threads.parallel_runtime().name)
    """,
        TG_OPENMP="0",
    )
    assert found == "threads\n"


@pytest.mark.parity
def test_beside_pytorch():
    pytest.importorskip("torch")
    _python(
        PRELUDE
        + """
    import torch
    x = torch.from_numpy(a)
    for _ in range(20):
        y = (x @ torch.from_numpy(b)).numpy()
        assert (exe(a, b) == y).all()
    """
    )


def test_the_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_NUM_THREADS", "3")
    assert thread_count() == 3
    for text in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("TG_NUM_THREADS", text)
        with pytest.raises(ValueError, match="TG_NUM_THREADS is"):
            thread_count()
    monkeypatch.delenv("TG_NUM_THREADS")
    alone = thread_count()
    assert alone >= 1
    monkeypatch.setenv("MPI_LOCALNRANKS", "100")
    assert thread_count() in (1, alone)  # All, if the system has given this process its own cores.


def test_one_thread_compiles_without_a_thread_axis(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_NUM_THREADS", "1")
    executable = compile_module(load_module(GEMM))
    (kernel,) = executable.kernels
    assert not any("thread" in opt for opt in kernel.opts)
    a, b = _inputs()
    np.testing.assert_array_equal(executable(a, b), a @ b)


def test_a_trace_is_of_one_thread():
    """Assignments of other threads meanwhile are no part of the function."""
    import tgdialect as tg

    begun, changed = Event(), Event()
    counter, x = tg.Tensor([1.0]), tg.Tensor([2.0])

    def traced(x: tg.Tensor) -> tg.Tensor:
        begun.set()
        assert changed.wait(30)
        return x + 1

    def change() -> None:
        assert begun.wait(30)
        counter.assign(counter + 1).realize()
        changed.set()

    other = Thread(target=change)
    other.start()
    function = tg.function(traced)
    assert function(x).item() == 3
    other.join()
    assert counter.item() == 2
    counter.assign(tg.Tensor([5.0])).realize()
    assert function(x).item() == 3
    assert counter.item() == 5
