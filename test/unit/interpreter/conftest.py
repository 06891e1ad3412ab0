"""What the tests of the interpreter share: parse a program, verify it, run it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from tgdialect.dialect import TG
from tgdialect.interpreter import run


def parse_program(text: str) -> ModuleOp:
    """A verified module."""
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    return parse_program


@pytest.fixture
def scalar() -> bool:
    """Whether kernels are run one iteration at a time; files on kernels have both."""
    return False


@pytest.fixture
def execute(scalar: bool) -> Callable[..., list[Any]]:
    """`execute(text, *inputs, entry="main", **options)`: the results of a program."""

    def execute_text(text: str, *inputs: Any, entry: str = "main", **options: Any) -> list[Any]:
        return run(parse_program(text), entry, inputs, scalar=scalar, **options)

    return execute_text
