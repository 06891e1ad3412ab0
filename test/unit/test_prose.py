"""Docstrings of the package name a subject, and constants say what they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tgdialect"
FILES = {str(p.relative_to(PACKAGE)): p.read_text("utf-8") for p in PACKAGE.rglob("*.py")}

NO_NOUN = re.compile(r"\s*(What|(Whether|None if|Where) what|How many times as|Who|That)\b")
"""The beginnings of sentences whose subject is a clause or a pronoun: name the noun."""

CONSTANT = re.compile("_?[A-Z][A-Z0-9_]*")


def docstring(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Expr(ast.Constant(str(text))):
            return text
    return None


def bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, field, None), list):
                yield body


def headless(text: str) -> list[str]:
    """The docstrings of a file, those of attributes included, that begin without a noun."""
    found = (docstring(s) for body in bodies(ast.parse(text)) for s in body)
    return [text for text in found if text is not None and NO_NOUN.match(text)]


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, or a table of numbers, made of literals."""
    match node:
        case ast.Constant(bool()):
            return False
        case ast.Constant(int() | float()):
            return True
        case ast.Attribute(ast.Name("math")):
            return True
        case ast.UnaryOp(operand=operand) | ast.Starred(operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(items) | ast.List(items) | ast.Set(items) | ast.Dict(_, items):
            return bool(items) and all(map(is_number, items))
        case ast.Call(ast.Attribute(ast.Name("np" | "math")), [_, *_] as items, []):
            return all(map(is_number, items))
        case ast.Call(ast.Name("float" | "frozenset"), [item], []):
            return is_number(item)
    return False


def names(statement: ast.stmt) -> list[str]:
    """The names that a statement assigns a number to, or a table of numbers."""
    match statement:
        case ast.Assign([target], value=value) | ast.AnnAssign(target, value=ast.expr() as value):
            if not is_number(value):
                return []
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            return [each.id for each in targets if isinstance(each, ast.Name)]
    return []


def unsaid(text: str) -> list[str]:
    """The constants of a file that have no docstring."""
    body = ast.parse(text).body
    undescribed = (
        a for a, b in zip(body, [*body[1:], ast.Pass()], strict=True) if docstring(b) is None
    )
    return [name for each in undescribed for name in names(each) if CONSTANT.fullmatch(name)]


def test_docstrings_begin_with_a_noun():
    assert not {file: found for file, text in FILES.items() if (found := headless(text))}


def test_comments_begin_with_a_noun():
    comment = re.compile(r"^ *# What\b", re.MULTILINE)
    assert not [file for file, text in FILES.items() if comment.search(text)]


def test_constants_have_docstrings():
    """They say what the constant trades off, its unit, and how it was found."""
    assert not {file: found for file, text in FILES.items() if (found := unsaid(text))}


def test_what_is_refused():
    text = '"""What it is."""\nclass A:\n    x = 1\n    """Whether what is."""\n'
    assert headless(text) == ["What it is.", "Whether what is."]
    text = "A, _B = 1, -2\nC: int = 1 << 3\nD = {'x': (1, 2)}\nE = 'x'\nF = True\nf = 1\n"
    assert unsaid(text + 'G = 1\n"""The one."""\n') == ["A", "_B", "C", "D"]
