"""Processes whose threads, forks, signals, memory or end come at a bad time.

Each script runs in processes of its own, with an OpenMP library and without. A sample of them runs
each time; `TG_RANDOM_STRESS=50` runs 50 processes of first calls, and 300 forks under load.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable

import numpy as np
import pytest

ROUNDS = int(os.environ.get("TG_RANDOM_STRESS", "0"))
PATIENCE = 600 + 10 * ROUNDS
"""After how many seconds a process counts as hanging, also on a busy machine."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, limits and signals")

PRELUDE = """
import atexit, os, random, resource, signal, sys, threading, time
import numpy as np
import tgdialect as tg

GEMM = '''
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = tg.reshape %a [256, 256, 1] : tensor<256x256xf32> -> tensor<256x256x1xf32>
  %1 = tg.mul %0, %b : (tensor<256x256x1xf32>, tensor<256x256xf32>) -> tensor<256x256x256xf32>
  %2 = tg.reduce add %1 [1] : tensor<256x256x256xf32> -> tensor<256x1x256xf32>
  %3 = tg.reshape %2 [256, 256] : tensor<256x1x256xf32> -> tensor<256x256xf32>
  func.return %3 : tensor<256x256xf32>
}
'''

def negated(extent):
    return tg.compile(f'''
        func.func @main(%x: tensor<{extent}xf32>) -> tensor<{extent}xf32> {{
          %e = tg.neg %x : tensor<{extent}xf32>
          func.return %e : tensor<{extent}xf32>
        }}
    ''')

a, b = np.random.default_rng(0).integers(-4, 5, (2, 256, 256)).astype(np.float32)
product = a @ b
numbers = np.arange(1 << 16, dtype=np.float32)  # So large that results come from the pool.

def check_product(gemm):
    assert (gemm(a, b) == product).all(), "a wrong product"

def check_negated(exe):
    assert (exe(numbers) == -numbers).all(), "a wrong negation"
"""

Process = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(params=["openmp", "no openmp"])
def start(request: pytest.FixtureRequest) -> Process:
    """Starts a script after `PRELUDE`."""
    openmp = {"TG_OPENMP": "0"} if request.param == "no openmp" else {}
    settings = {"TG_CACHE_DIR": "", "TG_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **settings, **openmp}

    def start(script: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                sys.executable,
                "-X",
                "faulthandler",
                "-c",
                PRELUDE + textwrap.dedent(script),
                *map(str, arguments),
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,  # pyright: ignore
        )

    return start


def finish(process: subprocess.Popen[str], *, is_quiet: bool = True) -> str:
    """What a process says, which must end well and on its own, and without a warning."""
    try:
        said, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # `faulthandler` says where the threads are.
        pytest.fail(f"hangs: {process.communicate()[1]}")
    assert process.returncode == 0, errors
    assert not (errors and is_quiet), errors
    return said


@pytest.mark.sampled(2)
def test_first_calls_of_several_threads(start: Process):
    """The caches of the runtime are empty when all threads look into them."""
    script = """
        exe, gemm = negated(numbers.size), tg.compile(GEMM)
        start = threading.Barrier(8)
        def run(i):
            start.wait()
            for _ in range(200):
                check_negated(exe)
            check_product(gemm)
            check_product(tg.compile(GEMM) if i % 4 == 0 else gemm)
            done.append(i)
        done = []
        sys.setswitchinterval(1e-6)
        threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(done))
    """
    for _ in range(ROUNDS or 1):
        assert finish(start(script)) == "8\n"


@pytest.mark.sampled(2)
def test_forks_under_load(start: Process):
    """Other threads call, allocate, compile and import; children compile and call."""
    script = """
        gemm, exe = tg.compile(GEMM), negated(numbers.size)
        check_product(gemm), check_negated(exe), check_negated(exe)
        stop = False
        def call():
            while not stop: check_negated(exe)
        def multiply():
            while not stop: check_product(gemm)
        def compile():
            for extent in range(1, 1 << 16):
                if stop: return
                negated(extent)
        def convert():
            import tgdialect.frontend.tensor, tgdialect.interpreter
        tasks = call, call, multiply, compile, convert
        threads = [threading.Thread(target=task, daemon=True) for task in tasks]
        for thread in threads: thread.start()
        for i in range(int(sys.argv[1])):
            time.sleep(random.uniform(0, 0.01))
            if (child := os.fork()) == 0:
                signal.alarm(300)
                check_negated(exe)
                check_product(gemm)
                if i % 4 == 0:
                    import gc
                    assert gc.isenabled() and sys.getswitchinterval() > 1e-3
                    check_negated(negated(numbers.size))
                    assert (-tg.Tensor([i])).item() == -i
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0, f"child {i}"
        stop = True
        for thread in threads: thread.join()
    """
    finish(start(script, 6 * ROUNDS or 20))


def test_a_fork_while_another_thread_looks_for_a_module(start: Process):
    """The lock of a module that `sys.modules` does not have yet is held."""
    script = """
        begun = threading.Event()
        class Slow:
            @staticmethod
            def find_spec(name, path, target=None):
                if name == "tgdialect.interpreter" and threading.current_thread() is thread:
                    begun.set()
                    time.sleep(0.3)
        def find():
            import tgdialect.interpreter
        sys.meta_path.insert(0, Slow)
        thread = threading.Thread(target=find)
        thread.start()
        begun.wait()
        if (child := os.fork()) == 0:
            signal.alarm(300)
            import tgdialect.interpreter
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
    """
    finish(start(script))


@pytest.mark.sampled(2)
def test_no_import_begins_while_a_fork_looks_for_them(start: Process):
    """The other thread may run at any time after the look, as it would with a busy machine."""
    script = """
        from tgdialect import forking
        look, wait = forking._begun_imports, threading.Event()
        def looked():
            yield from look()
            wait.set()
            time.sleep(0.2)  # Lets the other thread begin, if it can.
        forking._begun_imports = looked
        def convert():
            wait.wait()
            import tgdialect.frontend.tensor
        thread = threading.Thread(target=convert)
        thread.start()
        if (child := os.fork()) == 0:
            signal.alarm(300)
            assert (-tg.Tensor([3])).item() == -3
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
    """
    finish(start(script))


@pytest.mark.sampled(2)
def test_the_end_of_the_interpreter(start: Process):
    """Daemon threads are in compiled code; handlers of the exit compile and call."""
    script = """
        gemm, exe = tg.compile(GEMM), negated(numbers.size)
        def call():
            while True:
                check_product(gemm)
                check_negated(exe)
        @atexit.register
        def last():
            check_product(gemm)
            check_product(tg.compile(GEMM))
            check_negated(negated(numbers.size))
            print("done")
        for _ in range(3): threading.Thread(target=call, daemon=True).start()
        time.sleep(random.uniform(0, 0.1))
    """
    for _ in range(ROUNDS or 1):
        assert finish(start(script)) == "done\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("work", ["call", "compile"])
def test_interrupts(start: Process, work: str):
    """A result that is returned is right, and what comes after an interrupt works."""
    script = """
        gemm, exe = tg.compile(GEMM), negated(numbers.size)
        check_product(gemm)
        interrupts, armed = 0, False
        def interrupt(*_):
            global interrupts, armed
            if armed:  # Not where the script itself would not be prepared.
                interrupts, armed = interrupts + 1, False
                raise KeyboardInterrupt
        signal.signal(signal.SIGINT, interrupt)
        print("ready", flush=True)
        while interrupts < int(sys.argv[2]):
            try:
                armed = True
                check_product(tg.compile(GEMM) if sys.argv[1] == "compile" else gemm)
                check_negated(exe)
                armed = False
            except KeyboardInterrupt:
                pass
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        check_product(tg.compile(GEMM))
        print("done")
    """
    process = start(script, work, ROUNDS or 5)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    random = np.random.default_rng(0)
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        time.sleep(random.uniform(0.001, 0.3))
        process.send_signal(signal.SIGINT)
        if work == "call":
            time.sleep(0.01)
    # Python itself ignores, and reports, an interrupt in a `__del__`.
    assert finish(process, is_quiet=False) == "done\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("work", ["call", "compile"])
def test_little_memory(start: Process, work: str):
    """A program is compiled and gives its result, or there is a MemoryError."""
    script = """
        gemm, exe = tg.compile(GEMM), negated(numbers.size)
        if sys.argv[1] == "call":
            check_product(gemm), check_negated(exe), check_negated(exe)
        def work():
            if sys.argv[1] == "compile":
                check_product(tg.compile(GEMM))
                check_negated(negated(numbers.size))
                return
            check_product(gemm)
            kept = [exe(numbers) for _ in range(800)]
            check_product(gemm)
        found = set()
        for mib in map(int, sys.argv[2:]):
            pages = int(open("/proc/self/statm").read().split()[0])
            limit = pages * resource.getpagesize() + (mib << 20)
            resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            try:
                work()
                found.add("right")
            except MemoryError:
                found.add("MemoryError")
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        work()
        print(*sorted(found))
    """
    limits = range(1, 400, 6) if ROUNDS else (1, 12, 40, 300)
    assert finish(start(script, work, *limits)) == "MemoryError right\n"


@pytest.mark.sampled(2)
def test_no_thread_can_start(start: Process):
    """Neither LLVM nor a loop has one, as each would have a stack larger than the limit."""
    _, stack = resource.getrlimit(resource.RLIMIT_STACK)
    _, memory = resource.getrlimit(resource.RLIMIT_AS)
    if (stack, memory) != (resource.RLIM_INFINITY,) * 2:
        pytest.skip("this process may not set its limits")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 40, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))

    script = """
        try:
            threading.Thread(target=print).start()
        except RuntimeError:
            gemm, exe = tg.compile(GEMM), negated(numbers.size)
            for _ in range(3):
                check_product(gemm), check_negated(exe)
            print("done")
    """
    assert finish(start(script, preexec_fn=limit)) == "done\n"
