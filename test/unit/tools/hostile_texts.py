"""Texts that want something other than to be compiled: names that are code in some output language,
texts that grow when they are expanded, deep nests, attributes of wrong kinds and sizes, and valid
programs with bytes and lines changed. `hostile_text(seed)` makes one, of at most 20 kB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from hostile_bombs import LIMIT, called_twice, doubled, great_shapes, literals, nests, wide_kernel
from hostile_names import any_name, kernel_names, quoted, tensor_names

_FILECHECK = Path(__file__).parents[2] / "filecheck"


@dataclass(frozen=True)
class Hostile:
    """A text, what kind of attack it is, and the format that it is in: `mlir` or `uops`."""

    kind: str
    text: str
    format: str = "mlir"


def hostile_text(seed: int) -> Hostile:
    """The hostile text of a seed."""
    random = Random(seed)
    kind, make, _ = random.choices(_WEIGHTED, [weight for *_, weight in _WEIGHTED])[0]
    made = make(random)
    text, form = made if isinstance(made, tuple) else (made, "mlir")
    return Hostile(kind, text[:LIMIT], form)


@cache
def _corpus() -> Sequence[tuple[str, str]]:
    """The pieces of the FileCheck tests without their comments, each with its format."""
    pieces: list[tuple[str, str]] = []
    for file in sorted(_FILECHECK.rglob("*")):
        if file.suffix not in (".mlir", ".uops"):
            continue
        text = file.read_text(encoding="utf-8")
        for piece in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
            plain = re.sub(r"^\s*(//|#).*\n", "", piece, flags=re.MULTILINE).strip()
            if 0 < len(plain) <= 6000:
                pieces.append((plain + "\n", file.suffix[1:]))
    return pieces


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[%@#!^]?[\w.$]+|->|[^\s\w]')
_NUMBERS = (
    "0", "-1", "1", "255", "4294967296", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551616", "1" + "0" * 40, "0x7FC00000", "1.0e308",
    "1.0e-320", "nan", "inf", "?", "true", "1.5",
)  # fmt: skip


def _changed(random: Random) -> tuple[str, str]:
    """A valid text in which some tokens are exchanged, doubled, removed or replaced."""
    text, form = random.choice(_corpus())
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        tokens = [*_TOKENS.finditer(text)]
        if not tokens:
            break
        token, other = random.choice(tokens), random.choice(tokens)
        before, after = text[: token.start()], text[token.end() :]
        match random.randrange(8):
            case 0:
                text = before + after
            case 1:
                text = before + other[0] + after
            case 2:
                text = before + token[0] + " " + token[0] + after
            case 3 | 4:
                digits = [t for t in tokens if t[0].isdecimal()]
                if digits:
                    chosen = random.choice(digits)
                    number = random.choice(_NUMBERS)
                    text = text[: chosen.start()] + number + text[chosen.end() :]
            case 5:
                names = [t for t in tokens if t[0][0] in "@"]
                if names:
                    old = random.choice(names)[0]
                    text = text.replace(old, "@" + quoted(any_name(random)))
            case 6:
                strings = [t for t in tokens if t[0][0] == '"']
                if strings:
                    old = random.choice(strings)
                    text = text[: old.start()] + quoted(any_name(random)) + text[old.end() :]
            case _:
                at = random.randrange(len(text))
                text = (
                    text[:at]
                    + random.choice(("\0", "\x1b", "é", "}", "{", '"', "/*", "//", "<", "\ud7ff"))
                    + text[at:]
                )
    return text, form


def _lines(random: Random) -> tuple[str, str]:
    """A valid text in which lines are exchanged, doubled, repeated many times or removed."""
    text, form = random.choice(_corpus())
    lines = text.splitlines(keepends=True)
    for _ in range(random.choice((1, 1, 2, 3))):
        first, second = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(5):
            case 0:
                lines[first], lines[second] = lines[second], lines[first]
            case 1:
                lines.insert(first, lines[second])
            case 2:
                del lines[first]
                lines = lines or ["\n"]
            case 3:
                lines[first] = lines[first] * random.choice((2, 50))
            case _:
                lines[first:second] = []
                lines = lines or ["\n"]
    return "".join(lines), form


_WEIGHTED: tuple[tuple[str, Callable[[Random], str | tuple[str, str]], int], ...] = (
    ("names", kernel_names, 20),
    ("names of tensors", tensor_names, 8),
    ("doubled", doubled, 6),
    ("called twice", called_twice, 1),
    ("wide kernels", wide_kernel, 10),
    ("great shapes", great_shapes, 6),
    ("literals", literals, 12),
    ("nests", nests, 7),
    ("tokens", _changed, 22),
    ("lines", _lines, 8),
)
