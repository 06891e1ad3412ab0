"""A listing in which anything is changed gives a module, or one error at a place in the file."""

from __future__ import annotations

import re
from random import Random

from hypothesis import strategies as st
from listings import FILES
from random_seeds import searched

from tgdialect.diagnostics import CompilationError, SourceFile, verify_module
from tgdialect.legacy.listing.reader import parse_listings
from tgdialect.registry import make_context

TEXTS = [file.read_text(encoding="utf-8") for file in FILES]
PIECES = (
    *"0123456789[](){}<>,.:=-'\"%@#? \t\n\\x\u0663\x1b",
    "Ops.",
    "UOps.",
    "dtypes.",
    "'1'",
    "inf",
)
"""What is inserted."""


def renumbered(text: str) -> str:
    """The text with lines in order, for errors that come after those of their numbers."""
    count = -1

    def number(found: re.Match[str]) -> str:
        nonlocal count
        count = 0 if found[1] == "0" else count + 1
        return f"{count} {found[2]}"

    return re.sub(r"^ *(\d+) +(U?Ops\.)", number, text, flags=re.MULTILINE | re.ASCII)


def changed(text: str, random: Random) -> str:
    """The text after one change of characters, or of lines."""
    at = random.randrange(len(text))
    lines = text.splitlines(keepends=True)
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            return text[:at] + text[at + random.randint(1, 8) :]
        case 1:
            return text[:at] + random.choice(PIECES) + text[at:]
        case 2:
            return text[:at] + random.choice(PIECES) + text[at + 1 :]
        case 3:
            return "".join(lines[:first] + lines[first + 1 :]) or "0"
        case 4:
            lines.insert(first, lines[second])
        case _:
            lines[first], lines[second] = lines[second], lines[first]
    return "".join(lines)


@searched(1500, st.integers(0, 2**32 - 1))
def test_changed_listings(seed: int):
    random = Random(seed)
    text = random.choice(TEXTS)
    for _ in range(random.randint(1, 4)):
        text = changed(text, random)
    if random.randrange(3):
        text = renumbered(text)
    source = SourceFile("listings.uops", text)
    try:
        verify_module(parse_listings(make_context(), source))
    except CompilationError as error:
        (diagnostic,) = error.diagnostics
        assert diagnostic.line is not None
        assert diagnostic.column is not None
        shown = source.line(diagnostic.line)
        assert shown is not None
        assert diagnostic.column <= len(shown) + 1
