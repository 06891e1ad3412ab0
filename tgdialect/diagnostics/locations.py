"""Source locations: how they are combined, within bounds, and how errors show them.

A program that was imported names the nodes of its source: `loc("/encoder/Conv_3")`. An op of a
function that such a node calls has a call site, callee first: `loc(callsite("Erf" at "Gelu_1"))`,
and a kernel that computes several nodes their fusion: `loc(fused["conv1", "relu1"])`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from tgdialect.fast_xdsl import unchecked

UNKNOWN = UnknownLoc()
"""The location of ops that come from no source text."""

_MOST_CHARACTERS = 512
"""The most characters of a name in a location that we make. Each op of the node has it in its text:
larger: a file with long names makes long texts; smaller: two names may look the same. Names that
exporters write have up to 200."""
_MOST_CALLS = 16
"""The greatest depth of call sites that we make. Larger: printing, which recurses, takes longer for
each op; smaller: a node in so many nested bodies has the location of a body around it."""
_MOST_FUSED = 16
"""The most locations in one fused location. Larger: long texts, as each op of a kernel has them;
smaller: kernels that compute more nodes name fewer of them."""
_SHOWN_CHARACTERS = 160
"""The most characters of a name in an error. Larger: a line does not fit into a terminal; smaller:
long names are cut. An order of magnitude."""
_SHOWN_NAMES = 4
"""The most locations of a fused one that an error names; the others are counted."""
_SHOWN_CALLS = 6
"""The call sites that an error names, from the innermost one on."""
_MOST_STEPS = 256
"""The most locations that are looked at to show one. A text may nest locations in any way, and use
an alias again and again."""

_NO_CHILD = NoneAttr()
_NO_METADATA = NoneAttr()


def is_known(location: LocationAttr) -> bool:
    """Whether a location is none of an op without any."""
    return location.__class__ is not UnknownLoc


def bounded_name(name: str) -> str:
    """A name as locations have it: a long one without its middle, and without what is no text."""
    if len(name) > _MOST_CHARACTERS:
        name = _without_middle(name, _MOST_CHARACTERS)
    return name.encode("utf-8", "replace").decode()


def _without_middle(name: str, length: int) -> str:
    """The two ends of a long text. The last characters of names tell most."""
    before = length // 4
    return f"{name[:before]}...{name[len(name) - (length - before - 3) :]}"


def name_location(name: str, file: str | None = None, line: int = 0, column: int = 0) -> NameLoc:
    """The location of a node, by its name, and of the text that it stands for, if that has a
    position. Lines and columns count from 1, and are 0 if they are unknown."""
    child: Attribute = _NO_CHILD
    if file is not None:
        child = unchecked.made(
            FileLineColLoc,
            filename=unchecked.text(bounded_name(file)),
            line=unchecked.number(max(line, 0)),
            column=unchecked.number(max(column, 0)),
        )
    return unchecked.made(NameLoc, desc=unchecked.text(bounded_name(name)), location=child)


_sites: dict[tuple[int, int], tuple[LocationAttr, LocationAttr, LocationAttr]] = {}
"""Call sites that were made, by the identities of callee and caller, which are kept: to compare
locations takes longer, and recurses."""
_MOST_SITES = 4096
"""The call sites that are kept; then all are forgotten. Larger: more memory; smaller: bodies that
are inserted again have new locations, which are printed again. An order of magnitude."""


def called_at(callee: LocationAttr, caller: LocationAttr) -> LocationAttr:
    """The location of an op at `callee` in a body that an op at `caller` calls. In bodies that are
    nested too deeply it is that of the body."""
    if not is_known(callee):
        return caller
    if not is_known(caller):
        return callee
    known = _sites.get((id(callee), id(caller)))
    if known is None:
        found = caller
        if _key(callee) != _key(caller) and _calls(callee) + _calls(caller) < _MOST_CALLS:
            found = unchecked.made(CallSiteLoc, callee=callee, caller=caller)
        if len(_sites) >= _MOST_SITES:
            _sites.clear()
        known = _sites[id(callee), id(caller)] = callee, caller, found
    return known[2]


def _key(location: LocationAttr) -> tuple[object, ...]:
    """A key that is the same for equal locations, found without recursion."""
    key: list[object] = []
    for each in _walk(location):
        key.append(each.__class__)
        if isinstance(each, NameLoc):
            key.append(each.desc.data)
        elif isinstance(each, FileLineColLoc):
            key += (each.filename.data, each.line.data, each.column.data)
    return tuple(key)


def _calls(location: Attribute) -> int:
    """The depth of call sites, up to the greatest that matters."""
    depth, level = 0, [location]
    while depth < _MOST_CALLS:
        sites = [each for each in level if isinstance(each, CallSiteLoc)]
        if not sites:
            break
        level = [part for site in sites for part in (site.callee, site.caller)][:_MOST_STEPS]
        depth += 1
    return depth


def fused(locations: Iterable[LocationAttr]) -> LocationAttr:
    """The location of an op that computes what ops at some locations did: each of them once, in
    their order, and of a fused one its parts; the first ones if there are too many."""
    found: dict[tuple[object, ...], LocationAttr] = {}
    for location in {id(each): each for each in locations}.values():
        for part in _parts(location):
            if is_known(part):
                found.setdefault(_key(part), part)
        if len(found) >= _MOST_FUSED:
            break
    parts = list(found.values())[:_MOST_FUSED]
    if len(parts) < 2:
        return parts[0] if parts else UNKNOWN
    return unchecked.made(FusedLoc, locations=unchecked.array(parts), metadata=_NO_METADATA)


def kernel_location(root: LocationAttr, ops: Iterable[Operation]) -> LocationAttr:
    """The location of a kernel: that of the op whose value it stores, and the nodes of its ops. It
    is the former alone where the others have positions in a text, and no names."""
    named = [op.location for op in ops if may_have_names(op.location)]
    return fused((root, *named)) if named else root


def may_have_names(location: LocationAttr) -> bool:
    """Whether a location is neither unknown nor a position in a text."""
    return location.__class__ not in _WITHOUT_NAMES


_WITHOUT_NAMES = (UnknownLoc, FileLineColLoc)


def _parts(location: LocationAttr) -> Sequence[LocationAttr]:
    """The parts of a fused location, one of another kind itself."""
    if not isinstance(location, FusedLoc):
        return (location,)
    return cast("Sequence[LocationAttr]", tuple(cast("Iterable[Attribute]", location.locations)))


# -- reading ---------------------------------------------------------------------------------------


def file_location(location: Attribute) -> FileLineColLoc | None:
    """The first position in a location: of a call site its callee, of a fused location its
    first."""
    for each in _walk(location):
        if isinstance(each, FileLineColLoc):
            return each
    return None


def source_names(location: Attribute) -> Sequence[str]:
    """The names in a location, each once: of a call site those of its callee first."""
    names = (each.desc.data for each in _walk(location) if isinstance(each, NameLoc))
    return list(dict.fromkeys(names))


def _walk(location: Attribute) -> Iterator[Attribute]:
    """A location and its parts, in the order of the text."""
    pending = [location]
    for _ in range(_MOST_STEPS * _MOST_FUSED):
        if not pending:
            break
        yield (each := pending.pop())
        match each:
            case NameLoc(location=child):
                pending.append(child)
            case CallSiteLoc(callee=callee, caller=caller):
                pending += (caller, callee)
            case FusedLoc():
                pending += reversed(_parts(each))
            case _:
                pass


def names_text(location: Attribute) -> str | None:
    """The names in a location as errors show them: `"Erf" at "Gelu_1"`, or `"conv1", "relu1"`. None
    if it has none."""
    return _Shown().text(location, _SHOWN_CALLS)


class _Shown:
    """The texts of the parts of one location, up to a number of steps."""

    def __init__(self) -> None:
        self._steps = 0

    def text(self, location: Attribute, depth: int) -> str | None:
        """The text of a part; None for one without names, and for those that are too many."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return None
        if depth == 0 and isinstance(location, CallSiteLoc | FusedLoc):
            return "..."
        match location:
            case NameLoc(desc=name):
                return quoted(name.data)
            case CallSiteLoc(callee=callee, caller=caller):
                both = (self.text(part, depth - 1) for part in (callee, caller))
                return " at ".join(part for part in both if part is not None) or None
            case FusedLoc():
                found = (self.text(part, depth - 1) for part in _parts(location))
                texts = list(dict.fromkeys(part for part in found if part is not None))
                if len(texts) > _SHOWN_NAMES + 1:
                    more = len(texts) - _SHOWN_NAMES
                    return f"{', '.join(texts[:_SHOWN_NAMES])} and {more} more"
                return ", ".join(texts) or None
            case _:
                return None


def quoted(name: str) -> str:
    """A name in quotes, with the middle of a long one left out. Line breaks and other control
    characters are shown as MLIR's text has them: `\\0A`."""
    if len(name) > _SHOWN_CHARACTERS:
        name = _without_middle(name, _SHOWN_CHARACTERS)
    return f'"{_ESCAPED.sub(_escape, name)}"'


_ESCAPED = re.compile(r'[\x00-\x1f\x7f"\\]')


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}" if found[0] in ('"', "\\") else f"\\{ord(found[0]):02X}"


def operation_location(op: Operation) -> LocationAttr | None:
    """The location of an operation, or of the innermost enclosing one that has a position or a
    name."""
    enclosing: Operation | None = op
    while enclosing is not None:
        location = enclosing.location
        if is_known(location) and any(
            isinstance(each, FileLineColLoc | NameLoc) for each in _walk(location)
        ):
            return location
        enclosing = enclosing.parent_op()
    return None
