"""`TgOp.build`, by which assembly formats make ops, against xDSL's method."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.irdl import IRDLOperation

from tgdialect.diagnostics import SourceFile
from tgdialect.diagnostics.parser import parse_module
from tgdialect.ops.base import TgOp
from tgdialect.registry import make_context

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))


def parsed(path: Path) -> ModuleOp:
    return parse_module(make_context(), SourceFile(path.name, path.read_text()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_ops_are_those_of_xdsl(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = parsed(path)
    monkeypatch.delattr(TgOp, "build")
    assert TgOp.build.__func__ is IRDLOperation.build.__func__  # pyright: ignore
    slow = parsed(path)
    assert str(quick) == str(slow)
    for one, other in zip(quick.walk(), slow.walk(), strict=True):
        assert type(one) is type(other)
        assert one.properties == other.properties
        assert one.attributes == other.attributes
        assert one.location == other.location
        assert [r.type for r in one.results] == [r.type for r in other.results]
        assert len(one.operands) == len(other.operands)
        assert list(one.successors) == list(other.successors)
