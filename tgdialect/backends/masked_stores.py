"""A workaround: LLVM 22 miscompiles masked stores of one lane of a truncated vector.

Some instruction sets have one instruction for a truncation and the masked store after it, and LLVM
combines the two. If the mask is constant with a single lane, it then emits a scalar store, but with
the width and the offset of the lane before the truncation, which overwrites the bytes after it.
This concerns i8 and i16, and i32 truncated from i64. Other masks are stored correctly, and so are
masks of other instruction sets; the rewrite is correct everywhere.

A mask may become constant in LLVM's passes, for instance in a loop of one iteration, and the loop
vectorizer makes masked stores, too. So the rewrite is applied after the passes, directly before
code generation.
"""

import re
from collections.abc import Callable
from itertools import count

import llvmlite.binding as llvm

_NAME = "llvm.masked.store."

_NO_LANE = "(?:false|poison|undef)"
_ONE_LANE = re.compile(
    r"^.*call void @llvm\.masked\.store\.v\d+(?P<type>i(?P<bits>8|16|32))\.p0\("
    r"(?P<vector><\d+ x i\d+> %[^ ,]+), ptr (?:align (?P<align>\d+) )?(?P<pointer>.+), "
    rf"<\d+ x i1> <(?P<before>(?:i1 {_NO_LANE}, )*)i1 true(?:, i1 {_NO_LANE})*>\).*$",
    re.MULTILINE,
)


def without_stores_of_one_lane(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """The module with scalar stores for masked stores with a constant mask of one lane."""
    if not any(function.name.startswith(_NAME) for function in module.functions):
        return module
    text, found = _ONE_LANE.subn(numbered(_scalar_store), str(module))
    return llvm.parse_assembly(text) if found else module


def numbered(replace: Callable[["re.Match[str]", int], str]) -> Callable[["re.Match[str]"], str]:
    """The replacement of a match, for `re.sub`, which is given the number of each match, for the
    names of new values."""
    numbers = count()
    return lambda match: replace(match, next(numbers))


def _scalar_store(match: "re.Match[str]", number: int) -> str:
    type, lane = match["type"], match["before"].count("i1")
    align = min(int(match["align"] or 1), int(match["bits"]) // 8)
    element, address = f"%tg.lane.{number}", f"%tg.address.{number}"
    return (
        f"  {element} = extractelement {match['vector']}, i64 {lane}\n"
        f"  {address} = getelementptr {type}, ptr {match['pointer']}, i64 {lane}\n"
        f"  store {type} {element}, ptr {address}, align {align}"
    )
