"""Names of values that last: xDSL takes `_1` off a name each time that it is copied."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_$.-][\w$.-]*", re.ASCII)
_SUFFIXES = re.compile(r"(?:_[0-9]+)+\Z")


def lasting_hint(name: str | None) -> str | None:
    """A name as it is after any number of copies: `sum_1_2` is `sum`. None for one of which nothing
    is left, as `_1`, which xDSL could not copy, and for what is no name in a text, as `é`."""
    if name is None or _NAME.fullmatch(name) is None:
        return None
    return _SUFFIXES.sub("", name) or None
