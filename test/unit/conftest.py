"""Pytest puts the folder of a conftest on the path: all unit tests can import from here."""

import gc
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

import pytest
from failing_programs import FAILURES, explained
from hypothesis import settings

# Hypothesis's own profile for CI, everywhere: the same examples each time, and no deadlines.
settings.load_profile("ci")

os.environ["TG_CACHE_DIR"] = ""  # Tests compile what they say; those of the cache have one.
os.environ["POCL_KERNEL_CACHE"] = "0"  # Also where a test imports pyopencl first; see opencl.py.

# Where Python writes no bytecode, each of the many processes that tests start takes two seconds to
# compile this package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-work", action="store_true", help="write work_table.md anew")
    parser.addoption(
        "--update-pages", action="store_true", help="write what commands print on pages anew"
    )


@pytest.hookimpl(tryfirst=True)  # Before `-m` selects.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test that is marked `sampled(n)`, one in n runs; the others are slow.

    A hash chooses them: each n-th would leave out values of a parameter if n divides their number.
    """
    tests = defaultdict[tuple[object, str], list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("sampled") is not None:
            tests[item.path, item.name.partition("[")[0]].append(item)
    for cases in tests.values():
        mark = cases[0].get_closest_marker("sampled")
        assert mark is not None
        cases.sort(key=lambda c: (c.get_closest_marker("slow") is not None, crc32(c.name.encode())))
        for item in cases[-(-len(cases) // mark.args[0]) :]:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip what needs a C compiler where there is none. A random test that fails is run again, and
    says the reproducer of the program that is wrong."""
    try:
        yield
        return
    except FAILURES as error:
        if shutil.which("cc") is None and "needs a C compiler" in str(error):
            pytest.skip("there is no C compiler")
        is_random = any(isinstance(value, range) for value in _parameters(item))
        if not is_random or str(error).startswith("// tgdialect reproducer"):
            raise
        failure = error
    if (said := explained(item.runtest, item.nodeid, failure)) is None:
        raise failure
    pytest.fail(said, pytrace=False)


def _parameters(item: pytest.Item) -> Iterable[object]:
    """The parameters of a test: those of `random_seeds.py` are ranges."""
    return item.callspec.params.values() if hasattr(item, "callspec") else ()


@pytest.fixture(autouse=True, scope="module")
def _no_old_objects() -> None:
    """Have `gc.collect`, which many tests call, skip what earlier files of tests have left in
    caches: that is gigabytes in the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _verified_traces() -> Iterator[None]:
    """Verify the modules of traces, which `compile` takes for valid: no test may make one that is
    not."""
    from tgdialect.diagnostics import verify_module
    from tgdialect.frontend import realization
    from tgdialect.runtime.compiler import compile

    def verified(module: Any, **options: Any) -> Any:
        assert options["is_verified"]
        verify_module(module)
        return compile(module, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(realization, "compile", verified)
        yield


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that a test compiles: of traced functions, and of other tensors."""
    from tgdialect.frontend import realization

    modules: list[Any] = []
    original = realization.compile

    def compile(program: Any, **how: Any) -> Any:
        modules.append(program)
        return original(program, **how)

    monkeypatch.setattr(realization, "compile", compile)
    return modules
