"""Dumps of the IR around passes: to stderr, to a tree of files, and as differences."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from hashlib import sha256
from itertools import takewhile

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.colors import RESET, Colors

from tgdialect.tools.console import tool_errors

_LONGEST_NAME = 100
"""The most characters of a name in the tree: file systems have 255 bytes."""
_NO_SYMBOL = "no-symbol-name"


# -- a tree of files -------------------------------------------------------------------------------


@dataclass(frozen=True)
class DumpTree:
    """A folder with a folder for each operation that passes run on, and a file for each dump."""

    folder: str
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    """The dumps of the operation of each folder, so far."""

    def write(self, pass_name: str, op: Operation, text: str) -> None:
        """Write the text of an operation, as mlir-opt names files: after `1_0_cse` comes `1_1_dce`
        for an operation in one of which two dumps, 0 and 1, were written. Raises ToolError."""
        path = tuple(map(_folder_name, _around(op)))
        numbers = [max(self._counts[path[:i]] - 1, 0) for i in range(1, len(path))]
        numbers.append(self._counts[path])
        self._counts[path] += 1
        folder = os.path.join(self.folder, *path)
        name = "_".join((*map(str, numbers), _file_name(pass_name)))
        with tool_errors(OSError, context=f"cannot write {self.folder}: "):
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"{name}.mlir"), "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))


def _around(op: Operation) -> Sequence[Operation]:
    """The operations around one, and itself, outermost first."""
    found = [op]
    while (parent := found[-1].parent_op()) is not None:
        found.append(parent)
    return found[::-1]


def _folder_name(op: Operation) -> str:
    return _file_name(f"{op.name.replace('.', '_')}_{_symbol(op) or _NO_SYMBOL}")


def _file_name(text: str) -> str:
    """A text as the name of a file or folder, which is neither a path nor hidden."""
    name = re.sub(r"[^\w.-]|\A\.", "_", text, flags=re.ASCII)
    if len(name) > _LONGEST_NAME:
        digest = sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        return f"{name[:_LONGEST_NAME]}-{digest[:8]}"
    return name


def _symbol(op: Operation) -> str | None:
    found = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return found.data if isinstance(found, StringAttr) else None


# -- differences -----------------------------------------------------------------------------------

MOST_LINES = 4000
"""The most lines of an operation that are compared line by line, on each side; of longer ones, what
is between the first and the last line that differ is shown as removed and as added. Larger: more
time, which is quadratic where lines repeat; smaller: less is told apart."""

Texts = Mapping[str, str]
"""The texts of the parts of a module, by their names."""


def parts(op: Operation, print_op: Callable[[Operation], str]) -> Texts:
    """The texts of the operations in a module, and of its attributes, by what they are called; that
    of another operation as a whole."""
    if not isinstance(op, ModuleOp):
        return {_called(op): print_op(op)}
    found = {"attributes of the module": str(DictionaryAttr(op.attributes)) * bool(op.attributes)}
    unnamed = Counter[str]()
    for each in op.body.block.ops:
        name = _called(each)
        if _symbol(each) is None:
            unnamed[name] += 1
            name = f"{name} {unnamed[name]}"
        found[name] = print_op(each)
    return found


def _called(op: Operation) -> str:
    symbol = _symbol(op)
    return op.name if symbol is None else f"{op.name} @{symbol}"


def difference(before: Texts, after: Texts, pass_name: str, *, colored: bool) -> str:
    """The parts that a pass has changed, as a unified diff; empty if there are none."""
    lines: list[str] = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            titles = f"{name}, before {pass_name}", f"{name}, after {pass_name}"
            lines += _unified(old.splitlines(), new.splitlines(), *titles)
    shown = map(_colored, lines) if colored else lines
    return "".join(f"{line}\n" for line in shown)


def _unified(old: Sequence[str], new: Sequence[str], before: str, after: str) -> Iterator[str]:
    if max(len(old), len(new)) <= MOST_LINES:
        yield from unified_diff(old, new, before, after, lineterm="")
        return
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    old, new = old[same:], new[same:]
    ends = zip(reversed(old), reversed(new), strict=False)
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    yield from (f"--- {before}", f"+++ {after}")
    yield f"@@ -{same + bool(old)},{len(old)} +{same + bool(new)},{len(new)} @@"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)


_COLORS = {"+": Colors.GREEN, "-": Colors.RED, "@": Colors.CYAN}


def _colored(line: str) -> str:
    color = _COLORS.get(line[:1])
    return line if color is None else f"{color}{line}{RESET}"
