"""Masked stores of one lane, which LLVM 22 miscompiles where the vector is truncated.

Where the instruction set has one instruction for a truncation and the masked store after it, LLVM
makes that of the two. Where the mask
is a constant with one lane, it then makes that a store of a scalar, with the width and at the
offset that the lane had before the truncation: bytes behind it are overwritten. It happens to i8
and i16, and to i32 truncated from i64. Other masks are stored right, and other instruction sets do
not show it; the cure is right everywhere.

A mask may be a constant only after LLVM's passes, for instance in a loop of one iteration, and the
loop vectorizer makes masked stores too: so the IR that code is generated from is what is mended.
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
    """A module whose masked stores of one lane that is known are stores of a scalar."""
    if not any(function.name.startswith(_NAME) for function in module.functions):
        return module
    text, found = _ONE_LANE.subn(_scalar_store(), str(module))
    return llvm.parse_assembly(text) if found else module


def _scalar_store() -> Callable[["re.Match[str]"], str]:
    """What replaces each masked store; its names are numbered."""
    numbers = count()

    def store(match: "re.Match[str]") -> str:
        type, number = match["type"], next(numbers)
        lane = match["before"].count("i1")
        align = min(int(match["align"] or 1), int(match["bits"]) // 8)
        element, address = f"%tg.lane.{number}", f"%tg.address.{number}"
        return (
            f"  {element} = extractelement {match['vector']}, i64 {lane}\n"
            f"  {address} = getelementptr {type}, ptr {match['pointer']}, i64 {lane}\n"
            f"  store {type} {element}, ptr {address}, align {align}"
        )

    return store
