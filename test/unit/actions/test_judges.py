"""The judges of modules."""

import time

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions import judges


def test_the_interpreter_has_a_time_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(judges, "evaluate", lambda *_: time.sleep(60))
    with pytest.raises(InterpretationError, match=r"more than 0\.1 seconds"):
        judges.Execution(0.1)(ModuleOp([]), "main", ())
