"""A plugin of pytest that runs tinygrad's tests on the shim, and records each outcome as a line of
JSON in the file named by `TG_OUTCOMES`."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Generator, Sequence
from typing import Any

import pytest
import tinygrad_shim
from tinygrad_shim.helpers import MISSING
from tinygrad_shim.internals import PUBLIC, Internal

from tgdialect import Tensor

SECONDS = 300
"""The time that a test may take."""

tinygrad_shim.install()


CHECKS = ("assert_jit_cache_len", "assert_kernel_count")
"""The functions of `test.helpers` that check numbers of kernels, which are tinygrad's."""


def _skip_check(*_: Any, **__: Any) -> None:
    """In place of such a check. The rest of the test counts."""


def _compute(tensors: Any, _: int, first: Sequence[Tensor] = (), **__: Any) -> tuple[Any, Any]:
    """In place of `check_schedule`, which makes a schedule and counts its kernels: compute."""
    given = tensors if isinstance(tensors, list) else [tensors]
    if not all(isinstance(tensor, Tensor) for tensor in given):
        raise tinygrad_shim.UsesInternals("Tensor.linear_with_vars")
    if first:
        Tensor.realize(*first)
    Tensor.realize(*given)
    return Internal("schedule"), Internal("variables of a schedule")


def _compute_one(_: int, tensor: Tensor) -> None:
    """In place of `_check_ast_count`, which no longer compares its count."""
    tensor.realize()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """End a test that takes too long."""

    def expired(*_: object) -> None:
        raise TimeoutError(f"longer than {SECONDS} seconds")

    signal.signal(signal.SIGALRM, expired)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None]:
    """Keep what ended a `setUpClass`, as pytest does for an `Exception`: it ends every test of the
    class, not the first alone."""
    result: Any = yield
    if result.excinfo is not None and isinstance(result.excinfo[1], tinygrad_shim.UsesInternals):
        error = result.excinfo[1]
        fixturedef.cached_result = (
            None,
            fixturedef.cache_key(request),
            (error, error.__traceback__),
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the checks of numbers of kernels."""
    modules = [item.module for item in items if isinstance(item, pytest.Function)]
    for module in [*modules, *map(sys.modules.get, ("test.helpers", "test.unit.test_jit"))]:
        for name in CHECKS:
            if hasattr(module, name):
                setattr(module, name, _skip_check)
        if hasattr(module, "check_schedule"):
            module.check_schedule = _compute
        if hasattr(module, "_check_ast_count"):
            module._check_ast_count = _compute_one


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None]:
    """Record the outcome of a test."""
    result: Any = yield
    report: pytest.TestReport = result.get_result()
    if report.when != "call" and report.passed:
        return
    _record(item.nodeid, report, call.excinfo)


def pytest_exception_interact(node: Any, call: Any, report: Any) -> None:
    """Record a file that cannot be imported."""
    if isinstance(report, pytest.CollectReport):
        _record(node.nodeid, report, call.excinfo)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record a file that fetches another one when it is imported."""
    if report.skipped and MISSING in str(report.longrepr):
        _record(report.nodeid, report, None)


def _use_of_internals(error: BaseException | None) -> tinygrad_shim.UsesInternals | None:
    """The use that ended a test, which code that cleans up may have followed by an error."""
    while error is not None and not isinstance(error, tinygrad_shim.UsesInternals):
        error = error.__context__
    return error


def _of_name(name: str) -> tuple[str, str]:
    """The outcome of a test that uses a name of tinygrad's, and the reason."""
    public = PUBLIC.get(name)
    return ("internals", name) if public is None else ("by design", public)


def _record(name: str, report: Any, excinfo: Any) -> None:
    outcome, reason = report.outcome, ""
    if excinfo is not None:
        reason = f"{excinfo.type.__name__}: {excinfo.value}"
        if (used := _use_of_internals(excinfo.value)) is not None:
            outcome, reason = _of_name(str(used))
        elif passed := re.search("<tinygrad's (.*?)>", reason):  # It was given to something else.
            outcome, reason = _of_name(passed[1])
        elif reason == "Failed: Unexpected success":
            outcome = "passed"
    if hasattr(report, "wasxfail"):
        outcome = "skipped"
    with open(os.environ["TG_OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(json.dumps({"test": name, "outcome": outcome, "reason": reason}) + "\n")
