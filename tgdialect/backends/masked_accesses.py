"""Workarounds for masked accesses that LLVM 22 gets wrong. They are applied directly before code is
generated, since a mask may become constant in LLVM's passes, for instance in a loop of one
iteration, and the loop vectorizer makes masked accesses, too. The rewrites are correct everywhere.

Some instruction sets have one instruction for a truncation and the masked store after it, and LLVM
combines the two. If the mask is constant with a single lane, it then emits a scalar store, but with
the width and the offset of the lane before the truncation, which overwrites the bytes after it.
This concerns i8 and i16, and i32 truncated from i64. Other masks are stored correctly, and so are
masks of other instruction sets.

On NVPTX it ends the process for some masked loads with a constant mask. It takes a vector apart
that no instruction loads, as <8 x i32>, and asserts that the mask of each part has both values
(`convertMLOADToLoadWithUsedBytesMask`). Loads with other masks have become loads of elements by
then. Those with a constant mask are made that here.

For other architectures it takes loads apart that are wider than a register. If the mask is
`and(splat(c), constant)` and the constant is false in a whole part, instruction selection finds out
that this part is off only after it has legalized the load, and loads it without a mask, or asserts.
Here such a load becomes loads of those registers that may be on.
"""

import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count

import llvmlite.binding as llvm

from tgdialect.targets.architectures import MASKED_REGISTERS

_STORE, _LOAD = "llvm.masked.store.", "llvm.masked.load."

_NO_LANE = "(?:false|poison|undef)"
_ONE_LANE = re.compile(
    r"^.*call void @llvm\.masked\.store\.v\d+(?P<type>i(?P<bits>8|16|32))\.p0\("
    r"(?P<vector><\d+ x i\d+> %[^ ,]+), ptr (?:align (?P<align>\d+) )?(?P<pointer>.+), "
    rf"<\d+ x i1> <(?P<before>(?:i1 {_NO_LANE}, )*)i1 true(?:, i1 {_NO_LANE})*>\).*$",
    re.MULTILINE,
)


def without_stores_of_one_lane(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """The module with scalar stores for masked stores with a constant mask of one lane."""
    if not _declares(module, _STORE):
        return module
    text, found = _ONE_LANE.subn(_numbered(_scalar_store), str(module))
    return llvm.parse_assembly(text) if found else module


def _declares(module: llvm.ModuleRef, intrinsic: str) -> bool:
    return any(function.name.startswith(intrinsic) for function in module.functions)


def _numbered(replace: Callable[["re.Match[str]", int], str]) -> Callable[["re.Match[str]"], str]:
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


_LANE = re.compile(r"i1 (\w+)")


def _load(mask: str) -> "re.Pattern[str]":
    """A masked load whose mask is of some form."""
    return re.compile(
        r"^ *(?P<result>%\S+) = .*call (?P<vector><(?P<lanes>\d+) x (?P<type>\w+)>) "
        r"@(?P<callee>llvm\.masked\.load\.\S+?)\((?P<space>ptr(?: addrspace\(\d+\))?) "
        r"(?:align (?P<align>\d+) )?(?P<pointer>.+?), "
        rf"<\d+ x i1> (?P<mask>{mask}), "
        r"<\d+ x \w+> (?P<other>.+?)\)(?: #\d+)?(?:, !.*)?$",
        re.MULTILINE,
    )


_CONSTANT = _load(r"<[^>]*>|zeroinitializer|splat \(i1 \w+\)")
_COMPUTED = _load(r"%[^ ,]+")
_PARTLY_CONSTANT = re.compile(
    r"^ *(?P<result>%\S+) = (?:and <\d+ x i1> %[^ ,]+, (?P<and><[^>]*>)"
    r"|select i1 %[^ ,]+, <\d+ x i1> (?P<select><[^>]*>), <\d+ x i1> zeroinitializer)$",
    re.MULTILINE,
)
_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
"""The bytes of types that no number names."""


def without_constant_loads(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """The module, if it is for NVPTX, with loads of elements for masked loads with a constant
    mask."""
    is_for_gpu = module.triple.startswith("nvptx")
    if not is_for_gpu or not _declares(module, _LOAD):
        return module
    text, found = _CONSTANT.subn(_numbered(_element_loads), str(module))
    return llvm.parse_assembly(text) if found else module


def without_idle_registers(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """The module, for an architecture of `MASKED_REGISTERS`, with loads of registers for masked
    loads of which a register is off."""
    register = MASKED_REGISTERS.get(module.triple.partition("-")[0])
    if register is None or not _declares(module, _LOAD):
        return module
    text = str(module)
    # The names of masks are unique in a function only.
    functions = re.split(r"(?m)^(?=define )", text)
    divided = [
        _COMPUTED.sub(_numbered(partial(_part_loads, _partly_constant(f), register)), f)
        for f in functions
    ]
    return llvm.parse_assembly("".join(divided)) if divided != functions else module


def _partly_constant(function: str) -> dict[str, list[bool]]:
    """The masks of a function that a constant turns off in some lanes: where they may be on."""
    return {
        match["result"]: [flag == "true" for flag in _LANE.findall(match["and"] or match["select"])]
        for match in _PARTLY_CONSTANT.finditer(function)
    }


def _part_loads(
    masks: dict[str, list[bool]], register: int, match: "re.Match[str]", number: int
) -> str:
    """Loads of so many bytes in place of a match."""
    type, lanes, other = match["type"], int(match["lanes"]), match["other"]
    width = max(register // _bytes(type), 1)
    flags = masks.get(match["mask"], [])
    parts = [range(i, min(i + width, lanes)) for i in range(0, lanes, width)]
    live = [part for part in parts if any(flags[part.start : part.stop])]
    if not flags or len(live) == len(parts):
        return match[0]
    value, lines = other, list[str]()
    for part in live:
        name, n = f"%tg.part.{number}.{part.start}", len(part)
        inside = _lanes(part)
        vector, align = f"<{n} x {type}>", int(match["align"] or 1)
        callee = f"{_LOAD}v{n}{match['callee'].removeprefix(_LOAD).lstrip('v0123456789')}"
        at = part.start * _bytes(type)
        joined = [lane - part.start + lanes if lane in part else lane for lane in range(lanes)]
        spread = [min(lane, n - 1) for lane in range(lanes)]
        lines += [
            f"  {name}.at = getelementptr {type}, ptr {match['pointer']}, i64 {part.start}",
            f"  {name}.on = shufflevector <{lanes} x i1> {match['mask']}, "
            f"<{lanes} x i1> poison, {inside}",
            f"  {name}.other = shufflevector {match['vector']} {other}, "
            f"{match['vector']} poison, {inside}",
            f"  {name} = call {vector} @{callee}(ptr align {math.gcd(align, at)} {name}.at, "
            f"<{n} x i1> {name}.on, {vector} {name}.other)",
            f"  {name}.wide = shufflevector {vector} {name}, {vector} poison, {_lanes(spread)}",
            f"  {name}.in = shufflevector {match['vector']} {value}, "
            f"{match['vector']} {name}.wide, {_lanes(joined)}",
        ]
        value = f"{name}.in"
    lines.append(f"  {match['result']} = freeze {match['vector']} {value}")
    return "\n".join(lines)


def _lanes(numbers: Iterable[int]) -> str:
    """The mask of a shuffle."""
    lanes = [f"i32 {number}" for number in numbers]
    return f"<{len(lanes)} x i32> <{', '.join(lanes)}>"


def _bytes(type: str) -> int:
    """The size of an element in memory."""
    return _SIZES[type] if type in _SIZES else max(int(type[1:]) // 8, 1)


def _element_loads(match: "re.Match[str]", number: int) -> str:
    """Loads of elements in place of a match."""
    vector, type, lanes, mask = match["vector"], match["type"], int(match["lanes"]), match["mask"]
    flags = _LANE.findall(mask) * (lanes if mask.startswith("splat") else 1)
    bytes = min(int(match["align"] or 1), _bytes(type))
    space, pointer = match["space"], match["pointer"]
    value, lines = match["other"], list[str]()
    for lane, flag in enumerate(flags):  # None of `zeroinitializer`.
        if flag == "true":
            name = f"%tg.load.{number}.{lane}"
            lines += [
                f"  {name}.at = getelementptr {type}, {space} {pointer}, i64 {lane}",
                f"  {name} = load {type}, {space} {name}.at, align {bytes}",
                f"  {name}.in = insertelement {vector} {value}, {type} {name}, i64 {lane}",
            ]
            value = f"{name}.in"
    lines.append(f"  {match['result']} = freeze {vector} {value}")
    return "\n".join(lines)
