"""Names that are taken in the languages that programs are rendered to.

`names.py` renames a symbol or a value that has one of them. The lists of `reserved.txt` hold more
than one compiler knows: a name is rendered alike for all of them, and one that is renamed without
need stays readable. `test/unit/lowering/test_names_of_languages.py` holds them against the headers
and compilers that are installed.
"""

from __future__ import annotations

import re
from pathlib import Path

_TEXT = Path(__file__).with_name("reserved.txt").read_text("utf-8")
_LISTS = {
    title: words.split()
    for title, words in re.findall(r"^\[(.+)\]\n(?:#.*\n)*([^[]*)", _TEXT, re.M)
}
"""The words below each title of the file, without the comments that follow the title."""

_TYPES = ("", "f", "l", "f16", "f32", "f32x", "f64", "f64x", "f128")

LIBRARY = frozenset(_LISTS["functions"]) - {"main"} | {
    f"{name}{suffix}" for name in _LISTS["math"] for suffix in _TYPES
}
"""Functions of libraries that compilers know by their names, or call by themselves."""

LIBRARY_PATTERN = "tg_|pthread_|WARP_SZ$"
"""A regular expression: what begins like a name of our own, or of the thread library; and the one
word that PTX has."""

OBJECT_PATTERN = rf"""{LIBRARY_PATTERN}
    |([bdhpqsvwxz][0-9]{{1,2}}|[wx]zr|w?sp|lr|fp|lsl|lsr|asr|ror|msl|[su]xt[bhwx])$"""
"""The same, and registers and shifts that an assembler for ARM takes for no labels."""

SOURCE = frozenset((*LIBRARY, *_LISTS["keywords"], *_LISTS["device functions"], "main"))
"""Names that a source in a C-like language may not define."""

SOURCE_PATTERN = rf"""{LIBRARY_PATTERN}
    |({"|".join(_LISTS["before underscore"])})_
    |[A-Z][A-Z0-9_]*[A-Z_][A-Z0-9_]*$
    |[A-Za-z0-9_]*_t$
    |CLK_|cu[A-Z]|cuda[A-Z]|atomic[A-Z]
    |(vload|vstore)[0-9]*$|(image|tex|surf)[123]|(tex|surf)Cube
    |(double|float|int|uint|ll|ull)2[a-z]+$
    |u?(bool|char|short|int|long|longlong|float|double|half|bfloat)[0-9]+(x[0-9]+|_[0-9]+a)?$
    """
"""A regular expression: what begins or ends like one of a family of names of these languages, as
conversions, vector types, atomic functions; and macros, which have no lower-case letters."""
