"""The names of symbols and values in the languages that programs are rendered to.

A symbol of MLIR is any text; a language takes identifiers, of which some mean something already.
`Naming` says for a group of languages what a symbol is called there. Whatever defines one and
whatever calls it ask here, so that they agree.

An identifier that is free stays as it is. Any other name becomes one that ends in an underscore,
which no free one does: `main` is `main_` in C. A character that is none of an identifier is written
as its number, `a b` as `a_x20_b_`, and of a name that is too long some characters and a hash are
left. So different symbols have different names. Names of our own (helper functions, the variables
of the parallel runtime) begin with `tg_` or have a dot, which those of symbols never do.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from tgdialect.lowering.render import reserved

LONGEST = 128
"""The most characters of a name. OpenCL devices name files by kernels, which have 255 at most."""
_KEPT = 64
"""The characters of a longer name that are kept, before its hash."""
_DIGITS = 40
"""Hexadecimal digits of the hash of a longer name."""
_LONGEST_HINT = 48
"""The most characters of a value's name."""

_FREE = re.compile(r"[A-Za-z](?:[A-Za-z0-9_]*[A-Za-z0-9])?")
_ESCAPED = re.compile(r"[^A-Za-z0-9_]|^[0-9_]|(?:^x|_(?=x))(?=[0-9a-fhx])")
"""Characters that are written as their numbers; among these what would read like such a number, or
like a hash."""


@dataclass(frozen=True)
class Naming:
    """The names of some languages."""

    words: Set[str]
    """Names that are taken."""
    family: re.Pattern[str]
    """Matches the beginning of further ones."""

    def is_taken(self, name: str) -> bool:
        """Whether an identifier means something already. None that ends in an underscore does."""
        if name[-1:] == "_":
            return False
        return name in self.words or self.family.match(name) is not None

    @cache
    def symbol(self, symbol: str) -> str:
        """The name of a symbol. Different symbols have different names."""
        is_short = len(symbol) <= LONGEST
        if is_short and _FREE.fullmatch(symbol) and not self.is_taken(symbol):
            return symbol
        text = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):x}_", symbol).removeprefix("_") or "x"
        if len(text) < LONGEST:
            return f"{text}_"
        digest = sha256(symbol.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
        return f"{text[:_KEPT]}_xh{digest}_"

    def value(self, hint: str) -> str:
        """A name like that of a value, which others may have as well; empty if nothing of it can be
        one."""
        text = re.sub(r"\W", "_", hint, flags=re.ASCII)[:_LONGEST_HINT].strip("_")
        return "" if text[:1].isdigit() else text

    def free(self, name: str) -> str:
        """An identifier as it is, or with an underscore if it is taken."""
        return f"{name}_" if self.is_taken(name) else name

    def __hash__(self) -> int:
        return id(self)


OBJECT = Naming(reserved.LIBRARY, re.compile(reserved.OBJECT_PATTERN, re.VERBOSE))
"""The names in object code and LLVM IR, and of the `llvm` and `gpu` dialects."""

SOURCE = Naming(reserved.SOURCE, re.compile(reserved.SOURCE_PATTERN, re.VERBOSE))
"""The names in C, OpenCL C, CUDA C++ and Metal, and of kernels that drivers of devices load."""
