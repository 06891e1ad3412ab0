"""Whether every public method of Tensor is called by the tests that compare its numbers."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import method_examples
import numpy as np
import parity_table
import pytest

import tgdialect as tg

INTERNAL = {"adopt", "expire", "node", "of_node", "of_values", "training", "views"}
DRAWS = {"threefry": "test_tensor_random.py compares its bits with the generator's"}
"""Methods whose numbers are compared without a call of the method, and where."""
TABLES = {method_examples.__file__, parity_table.__file__}
PUBLIC = sorted(name for name in dir(tg.Tensor) if name[0] != "_" and name not in INTERNAL)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", method_examples.EXAMPLES)
def test_example(name: str):
    example, wanted = method_examples.EXAMPLES[name]
    found = example()
    found = found.numpy() if isinstance(found, tg.Tensor) else found
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-6)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the methods and properties that are used in the tables themselves."""
    names: set[str] = set()

    def recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_code.co_filename in TABLES:
                names.add(name)
            return function(*args, **kwargs)

        return call

    for name in PUBLIC:
        match inspect.getattr_static(tg.Tensor, name):
            case property() as found:
                assert found.fget is not None
                recorder: Any = property(recording(name, found.fget))
            case classmethod() | staticmethod() as found:
                recorder = type(found)(recording(name, found.__func__))
            case found if callable(found):
                recorder = recording(name, found)
            case _:  # A slot: an attribute that the examples read.
                names.add(name)
                continue
        monkeypatch.setattr(tg.Tensor, name, recorder, raising=False)
    return names


def test_every_method_is_called(called: set[str]):
    x, y = (np.linspace(1, 2, 24, dtype=np.float32).reshape(2, 3, 4) for _ in range(2))
    for ours, _ in parity_table.METHODS.values():
        for a, b in ((x, y), (x[0], y[0]), (x.astype(np.int32), y.astype(np.int32))):
            try:
                ours(tg.Tensor(a), tg.Tensor(b))
            except (TypeError, ValueError, RuntimeError, IndexError):
                continue  # The method is for inputs of another rank or dtype.
            break
    for example, _ in method_examples.EXAMPLES.values():
        example()
    assert sorted(set(PUBLIC) - called - DRAWS.keys()) == []
