"""The tables of `docs/onnx.md`: which operators of ONNX are imported, from which opset on, and how.

    python tools/make_docs.py     # writes them, with the other pages
    python test/interop/onnx_suite.py --outcomes test/interop/onnx_outcomes.json
                                  # counts the cases of onnx.backend.test that pass

Operators and their versions are those of the package onnx; rules, functions and reasons those of
`tgdialect.interop.onnx`. Of `com.microsoft`, which onnx does not know, all rules are listed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from onnx import defs

from tgdialect.interop.onnx.refusals import OPERATORS, operator_name, reason_without_rule
from tgdialect.interop.onnx.table import TABLE, rule_of

ROOT = Path(__file__).parents[1]
INTEROP = ROOT / "test" / "interop"
OUTCOMES = INTEROP / "onnx_outcomes.json"

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
"""The domains of the package onnx."""

Row = Sequence[str]


def outcomes() -> Mapping[str, Sequence[int]]:
    """For each operator the cases that pass, and all of them."""
    return json.loads(OUTCOMES.read_text(encoding="utf-8"))


def rows(domain: str) -> Iterator[Row]:
    """A row for each operator of a domain."""
    versions: dict[str, list[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == domain:
            versions.setdefault(schema.name, []).append(schema.since_version)
    found = outcomes()
    for op_type, since in sorted(versions.items()):
        since.sort()
        name = operator_name(domain, op_type)
        passed, cases = found.get(name, (0, 0))
        yield (
            op_type,
            ", ".join(map(str, since)),
            *_how(domain, op_type, since),
            f"{passed} of {cases}" if cases else "none",
        )


def _how(domain: str, op_type: str, since: Sequence[int]) -> tuple[str, str]:
    """The opsets in which an operator is imported, and how: in the newest one."""
    last = since[-1]
    newest: Any = defs.get_schema(op_type, last, domain)
    first = next((n for n in range(since[0], last + 1) if _is_imported(domain, op_type, n)), None)
    if newest.deprecated and first is not None:
        before = max(n for n in range(first, last) if _is_imported(domain, op_type, n))
        return f"{first} to {before}", "a rule"
    if first is None:
        own = op_type in OPERATORS.get(domain, {})
        reason = f": {reason_without_rule(domain, op_type, last)}" if own else ""
        return "none", f"refused{reason}"
    how = "a rule" if rule_of(domain, op_type, last) is not None else "its function"
    return f"from {first}", how


def _is_imported(domain: str, op_type: str, opset: int) -> bool:
    try:
        schema: Any = defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return False
    if schema.deprecated:
        return False
    if rule_of(domain, op_type, opset) is not None:
        return True
    return reason_without_rule(domain, op_type, opset) is None


def page(text: str) -> str:
    """The page with the tables, and the figures in its text, of now."""
    bodies = {domain: [*rows(domain)] for domain in DOMAINS}
    for domain, body in bodies.items():
        heading = domain or "ai.onnx"
        lines = "".join(f"| {' | '.join(row)} |\n" for row in body)
        head = rf"(\n### `{heading}`\n(?:.*\n)*?\| operator .*\n\| --- .*\n)"
        text = _replaced(head, lines, text)
    microsoft = ", ".join(f"`{op_type}`" for op_type in sorted(TABLE["com.microsoft"]))
    text = _after("<!-- com.microsoft -->", f"{microsoft}.", text)
    text = _replaced(r"(\n\| cases \| reason \|\n\| --- .*\n)", "".join(_cases()), text)
    default = bodies[""]
    refused = sum(row[3].startswith("refused") for row in default)
    by_function = sum(row[3] == "its function" for row in default)
    passed, cases = map(sum, zip(*outcomes().values(), strict=True))
    summary = (
        f"Of {len(default)} operators of the default domain {len(default) - refused} are imported, "
        f"{by_function} of them by the functions of their specification, and {refused} are "
        f"refused. Of {cases:,} cases of single nodes of `onnx.backend.test` {passed:,} pass."
    )
    return _after("<!-- summary -->", summary, text)


def _cases() -> Iterator[str]:
    sys.path.insert(0, str(INTEROP))
    try:
        from onnx_refused import REFUSED
    finally:
        sys.path.remove(str(INTEROP))
    for pattern, reason in REFUSED.items():
        yield f"| `{pattern.replace('|', chr(92) + '|')}` | {reason} |\n"


def _replaced(head: str, lines: str, text: str) -> str:
    """The text with other lines in the table below a head."""
    found, count = re.subn(rf"{head}(?:\|.*\n)*", lambda old: old[1] + lines, text)
    if count != 1:
        raise SystemExit(f"docs/onnx.md has {count} times the table {head}")
    return found


def _after(mark: str, line: str, text: str) -> str:
    """The text with another line below a mark."""
    found, count = re.subn(rf"({re.escape(mark)}\n).*\n", lambda old: f"{old[1]}{line}\n", text)
    if count != 1:
        raise SystemExit(f"docs/onnx.md has {count} times the mark {mark}")
    return found
