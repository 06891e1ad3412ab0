"""A workaround: LLVM 22 ends the process for some masked loads with a constant mask on NVPTX.

It takes a vector apart that no instruction loads, as <8 x i32>, and asserts that the mask of each
part has both values (`convertMLOADToLoadWithUsedBytesMask`). Loads with other masks have become
loads of elements by then. Those with a constant mask are made that here, directly before code is
generated, since a mask may become constant in LLVM's passes.
"""

import re
from collections.abc import Callable
from itertools import count

import llvmlite.binding as llvm

_NAME = "llvm.masked.load."
_LANE = re.compile(r"i1 (\w+)")
_CONSTANT = re.compile(
    r"^ *(?P<result>%\S+) = .*call (?P<vector><(?P<lanes>\d+) x (?P<type>\w+)>) "
    r"@llvm\.masked\.load\.\S+?\((?P<space>ptr(?: addrspace\(\d+\))?) "
    r"(?:align (?P<align>\d+) )?(?P<pointer>.+?), "
    r"<\d+ x i1> (?P<mask><[^>]*>|zeroinitializer|splat \(i1 \w+\)), "
    r"<\d+ x \w+> (?P<other>.+?)\)(?: #\d+)?(?:, !.*)?$",
    re.MULTILINE,
)
_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
"""The bytes of types that no number names."""


def without_constant_loads(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """The module, if it is for NVPTX, with loads of elements for masked loads with a constant
    mask."""
    is_for_gpu = module.triple.startswith("nvptx")
    if not is_for_gpu or not any(f.name.startswith(_NAME) for f in module.functions):
        return module
    text, found = _CONSTANT.subn(_element_loads(), str(module))
    return llvm.parse_assembly(text) if found else module


def _element_loads() -> Callable[["re.Match[str]"], str]:
    """The replacement of a match, for `re.sub`. It numbers the names of new values."""
    numbers = count()

    def load(match: "re.Match[str]") -> str:
        vector, type, lanes = match["vector"], match["type"], int(match["lanes"])
        mask = match["mask"]
        if mask == "zeroinitializer":
            flags = ["false"] * lanes
        else:
            flags = _LANE.findall(mask)
            flags *= lanes if mask.startswith("splat") else 1
        size = _SIZES[type] if type in _SIZES else max(int(type[1:]) // 8, 1)
        bytes = min(int(match["align"] or 1), size)
        number, value, lines = next(numbers), match["other"], list[str]()
        for lane, flag in enumerate(flags):
            if flag != "true":
                continue
            name = f"%tg.load.{number}.{lane}"
            space, pointer = match["space"], match["pointer"]
            lines += [
                f"  {name}.at = getelementptr {type}, {space} {pointer}, i64 {lane}",
                f"  {name} = load {type}, {space} {name}.at, align {bytes}",
                f"  {name}.in = insertelement {vector} {value}, {type} {name}, i64 {lane}",
            ]
            value = f"{name}.in"
        lines.append(f"  {match['result']} = freeze {vector} {value}")
        return "\n".join(lines)

    return load
