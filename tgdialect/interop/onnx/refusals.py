"""Operators that are not imported, and advice: found in all of a model before it is imported."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onnx import AttributeProto, GraphProto, NodeProto, defs

from tgdialect.diagnostics import CompilationError, Diagnostic, Severity
from tgdialect.interop.onnx.model import DOMAINS, Model, opsets_of
from tgdialect.interop.onnx.table import rule_of, versions_of

LONGEST = 400
"""The most characters of a refusal from its beginning, and of a name: both are the file's."""

MOST_REFUSALS = 100
"""The most refusals that are listed. The import ends with the last one. Larger: lists that nobody
reads, and long imports of files that are wrong everywhere; smaller: users who correct a model mend
it more often."""

_STRINGS = "a program has no strings: compute on them before, and remove {op} from the graph"
_CLASSICAL = (
    "classical models are not supported: run {op} by the library that it is from, and export the "
    "rest as a model of its own"
)

OPERATORS: Mapping[str, Mapping[str, str]] = {
    "": {
        "ImageDecoder": "a program does not decode files of images: decode before, and make its "
        "result an input of the model",
        "RegexFullMatch": _STRINGS,
        "StringConcat": _STRINGS,
        "StringNormalizer": _STRINGS,
        "StringSplit": _STRINGS,
    },
    "ai.onnx.preview.training": {
        "Gradient": "the gradient of a part of the graph is not supported: export the model "
        "without it, and train it by torch.compile(model, backend='tgdialect')",
    },
}
"""Why operators of ONNX are not imported, and what to do, by domain and name."""

REASONS: Mapping[str, str] = {
    "ai.onnx.ml": _CLASSICAL,
    "com.microsoft": "this operator of ONNX Runtime is not supported: export the model without its "
    "fusions (optimization level ORT_DISABLE_ALL)",
    "com.microsoft.nchwc": "ONNX Runtime's optimizer has made this operator for one processor: use "
    "the model from before, or save it at ORT_ENABLE_EXTENDED at most",
}
"""Why the operators of a domain are not imported that have no reason of their own."""

_UNKNOWN = (
    "there is no such operator: export the model without it, or with its function (the model's "
    "`functions`)"
)


def operator_name(domain: str, op_type: str) -> str:
    """The name of an operator in messages and tables: that of the default domain has no prefix."""
    return f"{domain}.{op_type}" if domain else op_type


def refusal(node: NodeProto, opset: int, reason: str, file: str | None) -> Diagnostic:
    """The error for a node."""
    operator = operator_name(node.domain, node.op_type)
    return Diagnostic(f"{operator} (opset {opset}), node {_name(node)!r}: {reason}", file=file)


def called_by(node: NodeProto, inner: Diagnostic) -> Diagnostic:
    """The error for a node in the function that a node calls, or that stands for its operator."""
    operator = operator_name(node.domain, node.op_type)
    note = Diagnostic(f"in {operator}, node {_name(node)!r}", Severity.NOTE, inner.file)
    return replace(inner, notes=(*inner.notes, note))


def _name(node: NodeProto) -> str:
    return node.name or next((o for o in node.output if o), "")


def reason_without_rule(domain: str, op_type: str, opset: int) -> str | None:
    """Why an operator without a rule is not imported, and what to do; None for one that has a
    function as its specification."""
    try:
        schema: Any = defs.get_schema(op_type, opset, domain)
        if schema.has_function or schema.has_context_dependent_function:
            return None
    except defs.SchemaError:
        schema = None
    if later := [since for since in versions_of(domain, op_type) if since > opset]:
        if opset == 0:
            return f"the model has no opset of the domain {domain or 'ai.onnx'!r}: export it again"
        advice = "convert the model with onnx.version_converter"
        return f"this operator is supported from opset {min(later)} on: {advice}"
    reason = OPERATORS.get(domain, {}).get(op_type)
    if reason is None and (schema is not None or domain not in ("", "ai.onnx.ml")):
        reason = REASONS.get(domain)
    return (reason or _UNKNOWN).format(op=operator_name(domain, op_type))


def check_model(model: Model, others: Sequence[Diagnostic] = ()) -> None:
    """Raise CompilationError with the nodes whose operators have no rule, wherever they are, and
    with other refusals. A branch may not be taken: without other refusals those in branches are
    none."""
    found = list(others)
    certain = len(found)
    for node, opset, reason, is_in_branch in _without_rule(model):
        found.append(refusal(node, opset, reason, model.file))
        certain += not is_in_branch
    if certain:
        by_message: dict[str, Diagnostic] = {}
        for each in found:
            by_message.setdefault(each.message, each)
        raise error_of([*by_message.values()], model)


def error_of(refusals: Sequence[Diagnostic], model: Model) -> CompilationError:
    """The error that lists refusals, or the first ones."""
    listed = [replace(r, message=shortened(r.message)) for r in refusals[:MOST_REFUSALS]]
    if len(listed) == MOST_REFUSALS:
        listed.append(Diagnostic("further nodes are not looked at", file=model.file))
    return CompilationError(listed)


def shortened(message: str) -> str:
    """A message without the middle of a long one, which is a text of the file."""
    if len(message) <= 4 * LONGEST:
        return message
    return f"{message[: 2 * LONGEST]} … {message[-LONGEST:]}"


def _without_rule(model: Model) -> Iterator[tuple[NodeProto, int, str, bool]]:
    """The nodes without a rule, with their opsets, reasons, and whether they are in a branch: in
    graphs of attributes and in functions that are called as well, each once."""
    pending = deque[tuple[Sequence[NodeProto], Mapping[str, int], bool]]()
    pending.append((model.graph.node, model.opsets, False))
    seen: set[tuple[tuple[str, str, str], bool]] = set()
    while pending:
        nodes, opsets, is_in_branch = pending.popleft()
        for node in nodes:
            domain = DOMAINS.get(node.domain, node.domain)
            opset = opsets.get(domain, 0)
            key = domain, node.op_type, node.overload
            if (function := model.functions.get(key)) is not None:
                if (key, is_in_branch) not in seen:
                    seen.add((key, is_in_branch))
                    own = opsets_of(function.opset_import)
                    pending.append((function.node, {**opsets, **own}, is_in_branch))
                continue
            if rule_of(domain, node.op_type, opset) is None:
                reason = reason_without_rule(domain, node.op_type, opset)
                if reason is not None:
                    yield node, opset, reason, is_in_branch
            inner = is_in_branch or node.op_type == "If"
            pending += ((g.node, opsets, inner) for a in node.attribute for g in _graphs(a))


def _graphs(attribute: AttributeProto) -> Sequence[GraphProto]:
    match attribute.type:
        case AttributeProto.GRAPH:
            return [attribute.g]
        case AttributeProto.GRAPHS:
            return attribute.graphs
        case _:
            return ()
