"""The programs of assembly formats against those of xDSL, which checks that formats are complete
and not ambiguous."""

import subprocess
import sys

import pytest
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.utils.exceptions import ParseError

from tgdialect.dialect import TG
from tgdialect.fast_xdsl import formats
from tgdialect.fast_xdsl.formats import compiled_format
from tgdialect.gpu_dialect import GPU_WITH_GAPS, NVVM, ROCDL
from tgdialect.legacy.dialect import TG_LEGACY
from tgdialect.llvm_dialect import LLVM_WITH_GAPS
from tgdialect.ops.elementwise import AddOp
from tgdialect.shard_dialect import SHARD_WITH_GAPS

OTHERS = (LLVM_WITH_GAPS, GPU_WITH_GAPS, NVVM, ROCDL, SHARD_WITH_GAPS)
OPS = [op for dialect in (TG, TG_LEGACY, *OTHERS) for op in dialect.operations]
WITH_FORMAT = [op for op in OPS if issubclass(op, IRDLOperation) and op.assembly_format is not None]


@pytest.mark.parametrize("op", WITH_FORMAT, ids=lambda op: op.name)
def test_program_is_that_of_xdsl(op: type[IRDLOperation], monkeypatch: pytest.MonkeyPatch) -> None:
    text, definition = op.assembly_format, op.get_irdl_definition()
    assert text is not None
    wanted = FormatProgram.from_str(text, definition)
    if op in TG.operations:
        # Compiled here, and not left to xDSL.
        monkeypatch.setattr(formats.FormatProgram, "from_str", None)
    assert compiled_format(text, definition) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "$lhs `,` $rhs attr-dict `:` type($lhs",
        "$lhs `,` $other attr-dict",
        "$lhs `,` custom<Nothing>($rhs) attr-dict",
        "($lhs `,`)? $rhs attr-dict",
        "$lhs `a b` $rhs attr-dict",
        "%",
    ],
)
def test_malformed_format(text: str) -> None:
    with pytest.raises(ParseError):
        compiled_format(text, AddOp.get_irdl_definition())


def test_there_are_formats() -> None:
    assert len(WITH_FORMAT) > 100
    assert all(issubclass(op, Operation) for op in WITH_FORMAT)


SCRIPT = """
import sys
from importlib import import_module
if sys.argv[1:]:
    import_module(sys.argv[1])
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.llvm import LLVM
from xdsl.parser import Parser
print("xdsl.irdl.declarative_assembly_format_parser" in sys.modules)
context = Context()
for dialect in (Builtin, LLVM):
    context.load_dialect(dialect)
text = '''
%a = llvm.mlir.constant(1 : i64) : i64
%e = llvm.mlir.constant(1.0 : f32) : f32
%b = llvm.add %a, %a {overflowFlags = #llvm.overflow<nsw>} : i64
%c = llvm.xor %a, %b : i64
%d = llvm.fadd %e, %e {fastmathFlags = #llvm.fastmath<fast>} : f32
'''
print(Parser(context, text).parse_module())
"""


def test_formats_of_llvm_are_compiled_when_they_are_used() -> None:
    def printed(*arguments: str) -> list[str]:
        command = [sys.executable, "-c", SCRIPT, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    at_once, later = printed(), printed("tgdialect.fast_xdsl.llvm_formats")
    assert (at_once[0], later[0]) == ("True", "False")
    assert at_once[1:] == later[1:]
