"""What makes ops of assembly formats, against xDSL's methods."""

import random
from pathlib import Path

import pytest
from example_files import EXAMPLES
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import SourceFile
from tgdialect.diagnostics.parser import LocatedParser, parse_module
from tgdialect.fast_xdsl import definitions
from tgdialect.ops.syntax import parse_optional_index_array
from tgdialect.registry import make_context


def parsed(path: Path) -> ModuleOp:
    return parse_module(make_context(), SourceFile(path.name, path.read_text()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_ops_are_those_of_xdsl(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = parsed(path)
    monkeypatch.setattr(definitions, "counts", lambda kind: None)  # pyright: ignore
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


@pytest.mark.parametrize("seed", range(20))
def test_lists_of_indices_are_those_of_xdsl(seed: int) -> None:
    rng = random.Random(seed)

    def space() -> str:
        return rng.choice(("", " ", "\n\t", "  "))

    for _ in range(50):
        values = [
            rng.choice((0, 7, 10**17, 10**18, 2**63 - 1, -3)) for _ in range(rng.randint(0, 40))
        ]
        if rng.random() < 0.7:
            values = [abs(value) % 10**18 for value in values[:32]]
        text = f"[{','.join(f'{space()}{value}{space()}' for value in values)}] : x"
        source = SourceFile("text", text)
        parser = LocatedParser(make_context(), source)
        found = parse_optional_index_array(parser)
        is_short = len(values) <= 32 and all(0 <= value < 10**18 for value in values)
        assert (found is not None) == is_short, text
        if found is not None:
            assert list(found.get_values()) == values
            slow = LocatedParser(make_context(), source)
            square = slow.Delimiter.SQUARE
            assert slow.parse_comma_separated_list(square, slow.parse_integer) == values
            assert slow.pos == parser.pos
