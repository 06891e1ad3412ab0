"""Differences of long texts, and remarks in YAML."""

from __future__ import annotations

import json

import pytest

from tgdialect.diagnostics import Remark, RemarkKind
from tgdialect.tools import ir_dumps
from tgdialect.tools.ir_dumps import difference


def patched(old: list[str], diff: str) -> list[str]:
    """A text with a unified diff applied to it."""
    new, at = [], 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            new += old[at:begin]
            at = begin
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            new += [old[at]] * (line[0] == " ")
            at += 1
    return new + old[at:]


@pytest.mark.parametrize("most", [0, 100])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("abcdefgh", "abcXYfgh"),
        ("abc", "abcd"),
        ("abcd", "abc"),
        ("abc", ""),
        ("", "abc"),
        ("aaaa", "aaa"),
        ("abab", "ababab"),
        ("abc", "xyz"),
    ],
)
def test_a_difference_is_what_changes(
    old: str, new: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of texts that are compared line by line, and of those that are too long for that."""
    monkeypatch.setattr(ir_dumps, "MOST_LINES", most)
    diff = difference({"f": "\n".join(old)}, {"f": "\n".join(new)}, "pass", colored=False)
    assert diff.startswith("--- f, before pass\n+++ f, after pass\n@@ ")
    assert patched([*old], diff) == [*new]


def test_parts_are_matched_by_name() -> None:
    before, after = {"a": "1", "b": "2", "c": "3"}, {"c": "3", "b": "4", "d": "5"}
    diff = difference(before, after, "pass", colored=False)
    assert [line for line in diff.splitlines() if line[:3] == "---"] == [
        f"--- {name}, before pass" for name in "abd"
    ]
    assert difference(before, before, "pass", colored=True) == ""


def test_yaml() -> None:
    """A text is one scalar, whatever it has in it."""
    hostile = "it's: \x00\n--- !Passed\n\u2028\"}"
    arguments = {"Bytes": 7, "Cycles": 1234567.0, "Text": hostile}
    remark = Remark(RemarkKind.PASSED, "A", hostile, "tg-a", "it's # é", arguments)
    quoted = json.dumps(hostile)
    assert remark.yaml("a 'b'.mlir", None, 3).splitlines() == [
        "--- !Passed",
        "Pass:            'tg-a'",
        "Name:            'A'",
        "DebugLoc:        { File: 'a ''b''.mlir', Line: 0, Column: 3 }",
        "Function:        'it''s # é'",
        "Args:",
        f"  - Remark:          {quoted}",
        "  - Bytes:           '7'",
        "  - Cycles:          '1.235e+06'",
        f"  - Text:            {quoted}",
        "...",
    ]
