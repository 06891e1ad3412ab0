"""Count the code of the package: lines and tokens without docstrings, comments and blank lines.

    python tools/count_code.py                 # each folder of tgdialect/, and the sum
    python tools/count_code.py --against TREE  # and how many lines more than another clone

A string that is a statement of its own is a docstring, also behind an assignment.
"""

from __future__ import annotations

import argparse
import ast
import tokenize
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


class Size(NamedTuple):
    """The size of some code."""

    lines: int = 0
    tokens: int = 0


def size_of(path: Path) -> Size:
    """The size of a file."""
    with tokenize.open(path) as file:
        text = file.read()
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(iter(text.splitlines(keepends=True)).__next__):
        if token.type in _LAYOUT or token.start[0] in docstrings:
            continue
        tokens += 1
        lines.update(range(token.start[0], token.end[0] + 1))
    return Size(len(lines), tokens)


def sizes(package: Path) -> Counter[str]:
    """Lines by folder of a package; tokens have the folder's name with a star."""
    found: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        folder = path.relative_to(package).parts[0] if path.parent != package else "."
        size = size_of(path)
        found[folder] += size.lines
        found[f"{folder}*"] += size.tokens
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="tools/count_code.py",
        description="Count lines and tokens of the package without docstrings and comments.",
    )
    parser.add_argument("--against", type=Path, metavar="TREE", help="another clone")
    options = parser.parse_args()
    now = sizes(Path(__file__).parents[1] / "tgdialect")
    before = sizes(options.against / "tgdialect") if options.against else now
    folders = sorted({name.rstrip("*") for name in now | before})
    print(f"{'folder':20}{'lines':>8}{'tokens':>10}" + (f"{'more':>8}" if options.against else ""))
    for folder in folders:
        more = f"{now[folder] - before[folder]:>+8}" if options.against else ""
        print(f"{folder:20}{now[folder]:>8}{now[f'{folder}*']:>10}{more}")
    lines, tokens = (
        sum(c for name, c in now.items() if name.endswith("*") == is_tokens)
        for is_tokens in (False, True)
    )
    lines_before = sum(c for name, c in before.items() if not name.endswith("*"))
    more = f"{lines - lines_before:>+8}" if options.against else ""
    print(f"{'in all':20}{lines:>8}{tokens:>10}{more}")


if __name__ == "__main__":
    main()
