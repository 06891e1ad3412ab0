"""Modules from text, for tests that need no locations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import Dialect
from xdsl.parser import Parser

from tgdialect.dialect import TG
from tgdialect.llvm_dialect import LLVM_WITH_GAPS

LLVM_OPS = Path(__file__).parents[1] / "filecheck/backends/llvm_ir/ops.mlir"


def tg_context(dialects: Sequence[Dialect] = (Builtin, Func, TG)) -> Context:
    context = Context()
    for dialect in dialects:
        context.load_dialect(dialect)
    return context


def parse_module(text: str) -> ModuleOp:
    """A verified module of the dialect."""
    module = Parser(tg_context(), text).parse_module()
    module.verify()
    return module


def parse_llvm(text: str) -> ModuleOp:
    """A verified module of the `llvm` dialect."""
    context = tg_context((Builtin, LLVM_WITH_GAPS, test.Test))
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def ops_of_llvm_19() -> str:
    """The file without the flags that upstream's dialect got after LLVM 19."""
    return re.sub(r" (exact|disjoint|nneg)\b|(?<=trunc %a) overflow<nsw>", "", LLVM_OPS.read_text())
