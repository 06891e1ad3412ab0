"""What the tests of the interpreter share: parse a program, verify it, run it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from parsing import parse_module
from xdsl.dialects.builtin import ModuleOp

from tgdialect.interpreter import run


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    return parse_module


@pytest.fixture
def scalar() -> bool:
    """Whether kernels are run one iteration at a time; files on kernels have both."""
    return False


@pytest.fixture
def execute(scalar: bool) -> Callable[..., list[Any]]:
    """`execute(text, *inputs, entry="main", **options)`: the results of a program."""

    def execute_text(text: str, *inputs: Any, entry: str = "main", **options: Any) -> list[Any]:
        return run(parse_module(text), entry, inputs, scalar=scalar, **options)

    return execute_text
