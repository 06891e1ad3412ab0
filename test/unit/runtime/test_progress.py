"""The line on a terminal that says how far a compilation is."""

from __future__ import annotations

import io
import logging
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.optimize.stage import Schedule
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.runtime import progress as module
from tgdialect.runtime.progress import progress


class Terminal(io.StringIO):
    """A terminal, and a way to wait for what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def isatty(self) -> bool:
        return super().isatty() or True  # The call raises ValueError if it is closed.

    def write(self, text: str) -> int:
        with self._changed:
            self._changed.notify_all()
            return super().write(text)

    def wait_for(self, *texts: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: all(t in self.shown for t in texts), 30)

    @property
    def shown(self) -> str:
        """The line as it is."""
        return self.getvalue().rpartition(module._CLEAR)[2]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=terminal))  # pytest has sys.stderr.
    monkeypatch.setattr(module, "_DELAY", 0.0)
    monkeypatch.setattr(module, "_PERIOD", 0.001)
    monkeypatch.delenv("TG_PROGRESS", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


def test_the_line_is_rewritten_and_cleared(terminal: Terminal):
    with progress("compiling main") as work:
        terminal.wait_for("compiling main: 0.")
        work.total = 3
        terminal.wait_for("compiling main: 0 of 3 kernels, 0.")
        work.step()
        work.note = "a note"
        terminal.wait_for("compiling main: 1 of 3 kernels, a note, ")
    assert terminal.shown == ""
    assert "\n" not in terminal.getvalue()
    assert not any(thread.name == "tg-line" for thread in threading.enumerate())


def test_nested_and_concurrent_work_have_parts(terminal: Terminal):
    ended = threading.Event()

    def other() -> None:
        with progress("compiling f"):
            ended.wait(30)

    thread = threading.Thread(target=other)
    with progress("compiling main"), progress("searching", 2):
        thread.start()
        terminal.wait_for("compiling main: ", " | searching: 0 of 2 kernels, ", " | compiling f: ")
    terminal.wait_for("compiling f: ")
    ended.set()
    thread.join()
    assert terminal.shown == ""


def test_the_line_fits_the_terminal(terminal: Terminal):
    with progress("x" * 1000):
        terminal.wait_for("x")
        assert len(terminal.shown) < 80


@pytest.mark.parametrize("target", ["cpu", "c"])
def test_a_compilation(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, target: str):
    """The line names the stages of the whole program, and of each of its two kernels."""

    def look(stage: type[object], method: str, *texts: str) -> None:
        lower = getattr(stage, method)

        def looking(*args: object) -> object:
            terminal.wait_for("compiling main: ", *texts)
            return lower(*args)

        monkeypatch.setattr(stage, method, looking)

    look(RangeifyPass, "lower", "tg-rangeify, 0.")
    look(Schedule, "finish", " of 2 kernels, tg-optimize of @main_")
    look(ExpandPass, "lower_kernel", " of 2 kernels, tg-expand of @main_")
    look(LinearizePass, "lower_kernel", " of 2 kernels, tg-linearize of @main_")
    monkeypatch.setenv("TG_CACHE_DIR", "")
    x = np.ones((4, 4), np.float32)
    tg.compile(lambda x: ((x @ x).sum(1), x.sum(0)), x, target=target)
    assert terminal.shown == ""


@pytest.mark.parametrize("reason", ["variable", "no terminal", "no stderr", "closed", "dumb"])
def test_no_line(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, reason: str):
    match reason:
        case "variable":
            monkeypatch.setenv("TG_PROGRESS", "0")
        case "no terminal":
            monkeypatch.setattr(terminal, "isatty", lambda: False)
        case "no stderr":
            monkeypatch.setattr(module.sys, "stderr", None)
        case "closed":
            terminal.close()
        case _:
            monkeypatch.setenv("TERM", "dumb")
    with progress("compiling main"):
        assert not any(thread.name == "tg-line" for thread in threading.enumerate())
    assert reason == "closed" or terminal.getvalue() == ""


def test_nothing_for_short_work(terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_DELAY", 1000)
    with progress("compiling main"):
        pass
    assert terminal.getvalue() == ""


def test_a_terminal_that_goes_away(terminal: Terminal):
    with progress("compiling main"):
        terminal.wait_for("compiling main")
        terminal.close()


def test_a_thread_that_cannot_start(terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with progress("compiling main"), progress("searching schedules"):
        pass


@pytest.mark.parametrize(("delay", "logged"), [(0.0, True), (1000.0, False)])
def test_one_message_is_logged_about_long_work(
    delay: float,
    logged: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setattr(module, "_DELAY", delay)
    with caplog.at_level(logging.INFO, "tgdialect"), progress("compiling main", 2) as work:
        work.step()
    texts = [record.getMessage() for record in caplog.records]
    assert [t.rpartition(",")[0] for t in texts] == ["compiling main: 1 of 2 kernels"] * logged


def test_an_error_ends_the_work(terminal: Terminal):
    def look() -> None:
        terminal.wait_for("compiling main")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), progress("compiling main"):
        look()
    assert terminal.shown == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_of_fork_has_no_work_of_its_parent(terminal: Terminal):
    with progress("compiling main"):
        if (child := os.fork()) == 0:
            with progress("compiling f"):
                os._exit(0 if [str(w)[:11] for w in module._LINE._works] == ["compiling f"] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
