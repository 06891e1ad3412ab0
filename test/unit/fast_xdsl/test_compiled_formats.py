"""The programs of assembly formats against those of xDSL, which checks that formats are complete
and not ambiguous."""

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
