"""Imports the graph of a model: the values of its results on the values of its inputs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    TensorProto,
    TypeProto,
    defs,
    helper,
)

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend.symbolic import SymInt
from tgdialect.interop.onnx import folding
from tgdialect.interop.onnx.dtypes import element_type
from tgdialect.interop.onnx.extents import check_extents
from tgdialect.interop.onnx.model import Model
from tgdialect.interop.onnx.rules import Call, Rule
from tgdialect.interop.onnx.table import rule_of
from tgdialect.interop.onnx.values import (
    Answers,
    Elements,
    Refused,
    Undecided,
    Value,
    as_tensor,
    plain,
)
from tgdialect.ops.numpy_dtypes import Array

DOMAINS = {"ai.onnx": ""}
"""The other names of domains."""

_MISSING: Any = object()
"""The value of a result of a node that was refused: those that need it are not imported."""

Scope = MutableMapping[str, Value]


class Importer:
    """Imports the graphs of one model. Nodes that are refused are collected in `refusals`."""

    def __init__(self, model: Model, answers: Answers | None = None) -> None:
        self.model = model
        self.answers = answers or {}
        self.refusals: list[Diagnostic] = []

    def results(self, inputs: Mapping[str, Value], name: str | None = None) -> list[Value]:
        """The results of the model's graph, or the value of this name in it. Raises CompilationError
        with all refusals, and Undecided."""
        graph = self.model.graph
        scope: Scope = ChainMap(dict(inputs))
        frame = _Frame(self, self.model.opsets, {}, {})
        if name is None:
            found = frame.graph(graph, scope)
        else:
            frame.nodes(_needed(graph, name), frame.constants(graph, scope))
            found = [scope[name]]
        if self.refusals:
            raise CompilationError(self.refusals)
        return found

    def refuse(self, node: NodeProto, opset: int, reason: str) -> None:
        """Note that a node is refused."""
        domain = f"{node.domain}." if node.domain else ""
        name = node.name or next((o for o in node.output if o), "")
        message = f"{domain}{node.op_type} (opset {opset}), node {name!r}: {reason}"
        self.refusals.append(Diagnostic(message, file=self.model.file))

    def elements(self, value: Value, name: str) -> Array:
        """The elements of a value. Raises Undecided if they depend on the arguments of a call."""
        if isinstance(value, np.ndarray):
            return plain(value)
        question = Elements(name)
        if question in self.answers:
            return self.answers[question]
        raise Undecided(question)


class _Frame:
    """The graph of a model, or the body of a function."""

    def __init__(
        self,
        importer: Importer,
        opsets: Mapping[str, int],
        attributes: Mapping[str, AttributeProto],
        outer: Mapping[str, Value],
    ) -> None:
        self.importer = importer
        self.opsets = opsets
        self.attributes = attributes
        """Those of the call of a function, to which attributes of its nodes refer."""

    def graph(self, graph: GraphProto, scope: Scope) -> list[Value]:
        """The results of a graph; `scope` has its inputs."""
        self.nodes(graph.node, self.constants(graph, scope))
        return [self._value(scope, output.name) for output in graph.output]

    def constants(self, graph: GraphProto, scope: Scope) -> Scope:
        """Add the constants of a graph to a scope."""
        model = self.importer.model
        for initializer in graph.initializer:
            scope.setdefault(initializer.name, model.constant(initializer))
        for initializer in graph.sparse_initializer:
            scope.setdefault(initializer.values.name, model.sparse_constant(initializer))
        return scope

    def nodes(self, nodes: Iterable[NodeProto], scope: Scope) -> None:
        """Add the results of nodes to a scope."""
        for node in nodes:
            self._import(node, scope)

    def _value(self, scope: Scope, name: str) -> Value:
        return scope[name] if name else None

    def _import(self, node: NodeProto, scope: Scope) -> None:
        operands = [self._value(scope, name) for name in node.input]
        results: list[Value] = [_MISSING] * len(node.output)
        domain = DOMAINS.get(node.domain, node.domain)
        opset = self.opsets.get(domain, 0)
        if not any(operand is _MISSING for operand in operands):
            try:
                results = self._results(node, domain, opset, operands, scope)
            except (Refused, ValueError, TypeError, IndexError, RuntimeError) as error:
                check_extents(operands, self.importer.answers)
                self.importer.refuse(node, opset, str(error))
        for name, result in zip(node.output, results, strict=False):
            if name:
                scope[name] = result

    def _results(
        self, node: NodeProto, domain: str, opset: int, operands: list[Value], scope: Scope
    ) -> list[Value]:
        key = domain, node.op_type, node.overload
        if (function := self.importer.model.functions.get(key)) is not None:
            return self._called(function, node, operands)
        if (found := rule_of(domain, node.op_type, opset)) is None:
            return self._called(self._body(node, domain, opset, operands), node, operands)
        attributes = self._attributes(node, domain, opset)
        if domain == "" and (
            (known := folding.folded(node, operands, attributes, self.importer.answers)) is not None
        ):
            return known
        rule = found if isinstance(found, Rule) else Rule(found)
        given: list[Any] = []
        if rule.raw:
            given = [_NodeCall(self, node, opset, scope), *operands]
        else:
            for i, (operand, name) in enumerate(zip(operands, node.input, strict=True)):
                if operand is None or isinstance(operand, list):
                    given.append(operand)
                elif i in rule.known:
                    given.append(self.importer.elements(operand, name))
                else:
                    given.append(as_tensor(operand))
        result = rule.function(*given, **attributes)
        return list(result) if isinstance(result, tuple) else [result]

    # -- functions

    def _body(
        self, node: NodeProto, domain: str, opset: int, operands: Sequence[Value]
    ) -> FunctionProto:
        """The function that the specification of an operator gives for it. Raises Refused."""
        with suppress(defs.SchemaError):
            schema = defs.get_schema(node.op_type, opset, domain)
            if schema.has_function:
                return schema.function_body
            if schema.has_context_dependent_function:
                types = [_type_of(operand).SerializeToString() for operand in operands]
                text = schema.get_context_dependent_function(node.SerializeToString(), types)
                return FunctionProto.FromString(text)
            raise Refused("this operator is not supported")
        raise Refused("there is no such operator")

    def _called(
        self, function: FunctionProto, node: NodeProto, operands: Sequence[Value]
    ) -> list[Value]:
        attributes = {a.name: a for a in function.attribute_proto}
        attributes |= {a.name: self._resolved(a) for a in node.attribute}
        opsets = {DOMAINS.get(o.domain, o.domain): o.version for o in function.opset_import}
        inner: Scope = ChainMap(dict.fromkeys(function.input))
        inner.update(zip(function.input, operands, strict=False))
        frame = _Frame(self.importer, {**self.opsets, **opsets}, attributes, {})
        before = len(self.importer.refusals)
        frame.nodes(function.node, inner)
        if len(self.importer.refusals) > before:
            return [_MISSING] * len(node.output)
        return [inner[name] for name in function.output][: len(node.output)]

    # -- attributes

    def _resolved(self, attribute: AttributeProto) -> AttributeProto:
        if not attribute.ref_attr_name:
            return attribute
        found = AttributeProto()
        if (source := self.attributes.get(attribute.ref_attr_name)) is not None:
            found.CopyFrom(source)
            found.name = attribute.name
        return found

    def _attributes(self, node: NodeProto, domain: str, opset: int) -> dict[str, Any]:
        """The attributes of a node by name, with the defaults of its operator."""
        found: dict[str, AttributeProto] = {}
        with suppress(defs.SchemaError):
            for name, given in defs.get_schema(node.op_type, opset, domain).attributes.items():
                if given.default_value.name:
                    found[name] = given.default_value
        for attribute in node.attribute:
            resolved = self._resolved(attribute)
            if resolved.name:
                found[attribute.name] = resolved
        return {name: self._attribute(attribute) for name, attribute in found.items()}

    def _attribute(self, attribute: AttributeProto) -> Any:
        match attribute.type:
            case AttributeProto.TENSOR:
                return self.importer.model.constant(attribute.t)
            case AttributeProto.SPARSE_TENSOR:
                return self.importer.model.sparse_constant(attribute.sparse_tensor)
            case AttributeProto.STRING:
                return attribute.s.decode(errors="replace")
            case AttributeProto.STRINGS:
                return tuple(s.decode(errors="replace") for s in attribute.strings)
            case _:
                value: Any = helper.get_attribute_value(attribute)
                return tuple(value) if isinstance(value, Sequence) else value


class _NodeCall(Call):
    def __init__(self, frame: _Frame, node: NodeProto, opset: int, scope: Scope) -> None:
        self.node, self.opset = node, opset
        self._frame, self._scope = frame, scope

    def known(self, value: Value, name: str) -> Array:
        return self._frame.importer.elements(value, name)

    def graph(self, graph: GraphProto, operands: Sequence[Value]) -> list[Value]:
        scope = ChainMap[str, Value]({}, *getattr(self._scope, "maps", [self._scope]))
        scope.update(zip((i.name for i in graph.input), operands, strict=False))
        return self._frame.graph(graph, scope)


def _type_of(value: Value) -> TypeProto:
    """The type of a value, for the functions that depend on it."""
    if value is None:
        return TypeProto()
    if isinstance(value, list):
        return helper.make_sequence_type_proto(
            _type_of(value[0]) if value else helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        )
    shape = [str(d) if isinstance(d, SymInt) else int(d) for d in value.shape]
    return helper.make_tensor_type_proto(element_type(value), shape)


def _needed(graph: GraphProto, name: str) -> list[NodeProto]:
    """The nodes of a graph, up to the one that makes a value."""
    found: list[NodeProto] = []
    for node in graph.node:
        found.append(node)
        if name in node.output:
            break
    return found
