"""Imports the graph of a model: the values of its results on the values of its inputs."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
    defs,
    helper,
)
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend import dtypes
from tgdialect.frontend.base import named
from tgdialect.frontend.graph import Node, serials
from tgdialect.frontend.locations import located
from tgdialect.frontend.symbolic import Dim, SymInt, greatest
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx import folding
from tgdialect.interop.onnx.dtypes import (
    DTYPES,
    MOVES,
    carried,
    element_type,
    narrowed,
    widened,
)
from tgdialect.interop.onnx.extents import check_extents
from tgdialect.interop.onnx.model import DOMAINS, Model, opsets_of
from tgdialect.interop.onnx.refusals import (
    LONGEST,
    MOST_REFUSALS,
    called_by,
    check_model,
    error_of,
    reason_without_rule,
    refusal,
    shortened,
)
from tgdialect.interop.onnx.rules import NodeCall, OperatorRule
from tgdialect.interop.onnx.schemas import schema_of
from tgdialect.interop.onnx.table import rule_of
from tgdialect.interop.onnx.values import (
    Answers,
    Asked,
    DependsOnStep,
    Question,
    Refused,
    Undecided,
    Value,
    as_tensor,
    plain,
)
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.progress import progress

_MISSING: Any = object()
"""The value of a result of a node that was refused: those that need it are not imported."""

_ERRORS = (
    *(Refused, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError),
    VerifyException,
)
"""The errors of rules and of methods of `Tensor`, about operands and attributes."""

MOST_DEPTH = 32
"""The most calls of functions and graphs of nodes within one another. Larger: Python's stack may
end before; smaller: models that are refused. Messages within one another are limited as well, to
about as many graphs."""

MOST_ADDED = 1 << 13
"""The most nodes that are imported beyond those of the file: those of functions and of steps of
loops, as often as they are called. Larger: a small file may take minutes; smaller: models that are
refused."""

Scope = ChainMap[str, Value]
"""The values of a graph, and then those of the graphs around it."""


class Importer:
    """Imports the graphs of one model. Nodes that are refused are collected in `refusals`."""

    def __init__(
        self, model: Model, answers: Answers | None = None, *, is_for_all: bool = False
    ) -> None:
        self.model = model
        self.is_for_all = is_for_all
        """Whether the program is for all calls: then an If that they decide is a conditional."""
        self.answers = answers or {}
        self.refusals: list[Diagnostic] = []
        self.depth = 0
        """The number of functions and graphs of nodes that are being imported."""
        self.left = MOST_ADDED + _count(model.graph)
        """How many more nodes may be imported."""
        self.step: int | None = None
        """The serial of the first node of the step of a loop that is traced, if one is."""
        self._inputs: dict[Node, str] = {}
        self._asked: dict[Node, Question] = {}

    def results(self, inputs: Mapping[str, Value]) -> list[Value]:
        """The results of the model's graph. Raises CompilationError with all refusals, and
        Undecided."""
        self._inputs = {v.node: name for name, v in inputs.items() if isinstance(v, Tensor)}
        scope: Scope = ChainMap(dict(inputs))
        frame = _Frame(self, self.model.opsets, {})
        graph, name = self.model.graph, os.path.basename(self.model.file or "a model")
        with progress(f"importing {name}", len(graph.node), "nodes") as work:
            found = frame.graph(graph, scope, work.step)
        if self.refusals:
            check_model(self.model, self.refusals)
        return found

    def refuse(self, node: NodeProto, opset: int, reason: str) -> None:
        """Note that a node is refused."""
        self._add(refusal(node, opset, reason, self.model.file))

    def add_refusal(self, message: str) -> None:
        """Note a reason against the model. Raises CompilationError if there are too many."""
        self._add(Diagnostic(message, file=self.model.file))

    def _add(self, refusal: Diagnostic) -> None:
        self.refusals.append(replace(refusal, message=shortened(refusal.message)))
        if len(self.refusals) >= MOST_REFUSALS:
            raise error_of(self.refusals, self.model)

    def count_node(self, node: NodeProto, opset: int) -> None:
        """Count a node that is imported. Raises CompilationError if there are too many."""
        self.left -= 1
        if self.left < 0:
            raise self._too_much(
                node, opset, f"functions and loops expand to more than {MOST_ADDED} nodes"
            )

    @contextmanager
    def nested(self, node: NodeProto, opset: int) -> Generator[None]:
        """A context for a function or graph of a node. Raises CompilationError for too many within
        one another."""
        if self.depth >= MOST_DEPTH:
            raise self._too_much(
                node,
                opset,
                f"functions and graphs are nested more than {MOST_DEPTH} deep, or a function "
                "calls itself: inline them before the export",
            )
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def _too_much(self, node: NodeProto, opset: int, reason: str) -> CompilationError:
        return error_of([refusal(node, opset, reason, self.model.file)], self.model)

    def elements(self, value: Value, name: str) -> Array:
        """The elements of a value. Raises Undecided if they depend on the arguments of a call, and
        DependsOnStep if they do on the step of a loop."""
        if isinstance(value, np.ndarray):
            return plain(value)
        if not isinstance(value, Tensor):
            raise Refused(f"{name} is no tensor")
        if (given := self._inputs.get(value.node)) is not None:
            return self._answer(Question(Asked.INPUT, given))
        return self._answer(self._question(Asked.ELEMENTS, value, name))

    def count(self, value: Tensor, most: Dim, name: str) -> Any:
        """A number that the program computes, a tensor of no axes, as a size: 0, or a symbolic
        one."""
        return self._answer(self._question(Asked.COUNT, value, name, greatest(most)))

    def _question(self, kind: Asked, value: Tensor, name: str, most: int = 0) -> Question:
        if self.step is not None and value.node.serial >= self.step:
            raise DependsOnStep(f"{name} decides a shape, and differs between the steps of a loop")
        if (found := self._asked.get(value.node)) is None:
            found = Question(kind, name, len(self._asked), most=most, value=value)
            self._asked[value.node] = found
        return found

    def _answer(self, question: Question) -> Any:
        if question not in self.answers:
            raise Undecided(question)
        return self.answers[question]


class _Frame:
    """The graph of a model, or the body of a function."""

    def __init__(
        self,
        importer: Importer,
        opsets: Mapping[str, int],
        attributes: Mapping[str, AttributeProto],
    ) -> None:
        self.importer = importer
        self.opsets = opsets
        self.attributes = attributes
        """Those of the call of a function, to which attributes of its nodes refer."""

    def graph(
        self, graph: GraphProto, scope: Scope, each: Callable[[], None] | None = None
    ) -> list[Value]:
        """The results of a graph; `scope` has its inputs. `each` is called after each node."""
        self.nodes(graph.node, self.constants(graph, scope), each)
        found: list[Value] = []
        for output in graph.output:
            value: Value = _MISSING
            try:
                value = self._value(scope, output.name)
            except Refused as error:
                self.importer.add_refusal(f"output {output.name!r} of the graph: {error}")
            found.append(value if value is _MISSING else _of_type(value, output))
        return found

    def constants(self, graph: GraphProto, scope: Scope) -> Scope:
        """Add the constants of a graph to a scope."""
        model = self.importer.model
        given = set(own := scope.maps[0])
        seen: set[str] = set()
        constants: list[tuple[str, Callable[[], Value]]] = [
            *((i.name, partial(model.constant, i)) for i in graph.initializer),
            *((i.values.name, partial(model.sparse_constant, i)) for i in graph.sparse_initializer),
        ]
        for name, constant in constants:
            if name in given and name not in seen:
                seen.add(name)
                continue  # A graph of a node gets a value in place of this default.
            own[name] = _MISSING
            try:
                if name in seen or not name:
                    raise Refused("another initializer has this name" if name else "it has no name")
                own[name] = constant()
            except Refused as error:
                self.importer.add_refusal(f"initializer {name!r}: {error}")
            seen.add(name)
        return scope

    def nodes(
        self, nodes: Iterable[NodeProto], scope: Scope, each: Callable[[], None] | None = None
    ) -> None:
        """Add the results of nodes to a scope."""
        for node in nodes:
            self._import(node, scope)
            if each is not None:
                each()

    def _value(self, scope: Scope, name: str) -> Value:
        if name and name not in scope:
            raise Refused(
                f"nothing before it makes the value {name!r}: nodes are in the order of their "
                "values, without cycles"
            )
        return scope[name] if name else None

    def _import(self, node: NodeProto, scope: Scope) -> None:
        results: list[Value] = [_MISSING] * len(node.output)
        domain = DOMAINS.get(node.domain, node.domain)
        opset = self.opsets.get(domain, 0)
        self.importer.count_node(node, opset)
        own = scope.maps[0]
        operands: list[Value] = []
        try:
            names: Any = node.name, node.op_type, node.domain, *node.input, *node.output
            if any(isinstance(name, bytes) for name in names):
                node = NodeProto(op_type="node")
                raise Refused("a name is not in UTF-8")
            operands = [self._value(scope, name) for name in node.input]
            made = [name for name in node.output if name]
            if again := [name for name in made if name in own or made.count(name) > 1]:
                raise Refused(f"the value {again[0]!r} is made twice")
        except Refused as error:
            self.importer.refuse(node, opset, str(error))
            operands = [_MISSING]
        if not any(operand is _MISSING for operand in operands):
            name = node.name or next((o for o in node.output if o), node.op_type)
            with located(name[:LONGEST]):
                try:
                    results = self._results(node, domain, opset, operands, scope)
                    if len(node.output) > len(results):
                        results = [_MISSING] * len(node.output)
                        raise Refused(f"{len(node.output)} results, of which it has fewer")
                except _Skipped:
                    pass
                except _ERRORS as error:
                    if isinstance(error, DependsOnStep) and self.importer.step is not None:
                        raise
                    with suppress(*_UNCLEAR):
                        check_extents(node.op_type, operands, self.importer.answers)
                    self.importer.refuse(node, opset, _reason(error))
        for name, result in zip(node.output, results, strict=False):
            if name:
                short = name[:LONGEST]
                own[name] = named(result, short) if isinstance(result, Tensor) else result

    def _results(
        self, node: NodeProto, domain: str, opset: int, operands: list[Value], scope: Scope
    ) -> list[Value]:
        key = domain, node.op_type, node.overload
        if (function := self.importer.model.functions.get(key)) is not None:
            return self._called(function, node, operands)
        if (found := rule_of(domain, node.op_type, opset)) is None:
            body = self._body(node, domain, opset, operands)
            schema = schema_of(domain, node.op_type, opset)
            return self._called(body, node, operands, schema.defaults if schema else {})
        attributes = self._attributes(node, domain, opset)
        if domain == "" and (
            (known := folding.folded(node, opset, operands, attributes, self.importer.answers))
            is not None
        ):
            return known
        rule = found if isinstance(found, OperatorRule) else OperatorRule(found)
        given: list[Any] = []
        narrow: int | None = None
        if node.op_type in MOVES and domain == "":
            operands, narrow = widened(operands)
        if rule.raw:
            given = [_ImportedNode(self, node, opset, scope), *operands]
        else:
            for i, (operand, name) in enumerate(zip(operands, node.input, strict=True)):
                if operand is None or isinstance(operand, list):
                    given.append(operand)
                elif i in rule.known:
                    given.append(self.importer.elements(operand, name))
                else:
                    given.append(as_tensor(carried(operand)))
            self._align(node, domain, opset, operands, given)
        result: Any = rule.function(*given, **attributes)
        results: list[Any] = list(result) if isinstance(result, tuple) else [result]  # type: ignore[arg-type]
        return results if narrow is None else [narrowed(r, narrow) for r in results]

    def _align(
        self,
        node: NodeProto,
        domain: str,
        opset: int,
        operands: Sequence[Value],
        given: list[Any],
    ) -> None:
        """Give known sizes, which are i64 whatever they were cast to, the dtype of operands of the
        same type."""
        known = [i for i, o in enumerate(operands) if isinstance(o, np.ndarray)]
        if not known or len(known) == len(operands):
            return
        if (schema := schema_of(domain, node.op_type, opset)) is None:
            return
        types = [schema.types[min(i, len(schema.types) - 1)] for i in range(len(given))]
        for i in known:
            for other, operand in enumerate(operands):
                pair = (operand, given[i], given[other])
                if types[other] == types[i] and all(isinstance(v, Tensor) for v in pair):
                    given[i] = given[i].cast(given[other].dtype)

    # -- functions

    def _body(
        self, node: NodeProto, domain: str, opset: int, operands: Sequence[Value]
    ) -> FunctionProto:
        """The function that the specification of an operator gives for it. Raises Refused."""
        with suppress(defs.SchemaError):
            schema: Any = defs.get_schema(node.op_type, opset, domain)
            if schema.has_function:
                return schema.function_body
            if schema.has_context_dependent_function:
                types = [_type_of(operand).SerializeToString() for operand in operands]
                given = NodeProto()
                given.CopyFrom(node)
                del given.attribute[:]
                given.attribute.extend(r for a in node.attribute if (r := self._resolved(a)).name)
                text = schema.get_context_dependent_function(given.SerializeToString(), types)
                return FunctionProto.FromString(text)
        raise Refused(reason_without_rule(domain, node.op_type, opset))

    def _called(
        self,
        function: FunctionProto,
        node: NodeProto,
        operands: Sequence[Value],
        defaults: Mapping[str, AttributeProto] | None = None,
    ) -> list[Value]:
        attributes = {**(defaults or {}), **{a.name: a for a in function.attribute_proto}}
        attributes |= {a.name: self._resolved(a) for a in node.attribute}
        opsets = opsets_of(function.opset_import)
        if len(operands) > len(function.input):
            raise Refused(f"{len(operands)} operands of a function of {len(function.input)}")
        inner: Scope = ChainMap(dict.fromkeys(function.input))
        inner.update(zip(function.input, operands, strict=False))
        frame = _Frame(self.importer, {**self.opsets, **opsets}, attributes)
        refusals = self.importer.refusals
        before = len(refusals)
        with self.importer.nested(node, self.opsets.get(DOMAINS.get(node.domain, node.domain), 0)):
            frame.nodes(function.node, inner)
        if len(refusals) > before:
            refusals[before:] = [called_by(node, each) for each in refusals[before:]]
            return [_MISSING] * len(node.output)
        return [frame._value(inner, n) for n, _ in zip(function.output, node.output, strict=False)]

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
        """The attributes of a node by name, with the defaults of its operator. Raises Refused for a
        node that is not as its schema has it."""
        schema = schema_of(domain, node.op_type, opset)
        given = [r for a in node.attribute if (r := self._resolved(a)).name]
        if schema is not None:
            schema.check(len(node.input), given)
        found = {**(schema.defaults if schema else {}), **{a.name: a for a in given}}
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
                return tuple(cast(Sequence[Any], value)) if isinstance(value, Sequence) else value


class _ImportedNode(NodeCall):
    def __init__(self, frame: _Frame, node: NodeProto, opset: int, scope: Scope) -> None:
        self.node, self.opset = node, opset
        self._frame, self._scope = frame, scope

    def known(self, value: Value, name: str) -> Array:
        return self._frame.importer.elements(value, name)

    def count(self, value: Tensor, most: Dim, name: str) -> Any:
        return self._frame.importer.count(value, most, name)

    def sign(self, a: Dim, b: Dim) -> int:
        return folding.sign_of(a, b, self._frame.importer.answers)

    def graph(self, graph: GraphProto, operands: Sequence[Value]) -> list[Value]:
        scope = self._scope.new_child()
        scope.update(zip((i.name for i in graph.input), operands, strict=False))
        refusals = self._frame.importer.refusals
        before = len(refusals)
        with self._frame.importer.nested(self.node, self.opset):
            found = self._frame.graph(graph, scope)
        if len(refusals) > before:
            raise _Skipped
        return found

    @property
    def is_for_all(self) -> bool:
        return self._frame.importer.is_for_all

    @contextmanager
    def step(self) -> Generator[None]:
        importer, before = self._frame.importer, self._frame.importer.step
        if before is None:
            importer.step = next(serials)
        try:
            yield
        finally:
            importer.step = before

    def attempt(self, function: Callable[[], Any]) -> Any:
        if self.is_in_step:
            return function()
        refusals = self._frame.importer.refusals
        before = len(refusals)
        try:
            return function()
        except (_Skipped, Refused, ValueError, TypeError):
            del refusals[before:]
            return None

    @property
    def is_in_step(self) -> bool:
        return self._frame.importer.step is not None


class _Skipped(Exception):
    """A graph of a node has nodes that are refused."""


_UNCLEAR = IndexError, AttributeError, AssertionError, TypeError
"""Errors of looking for extents that agree, in operands that are none that the operator takes."""


def _count(graph: GraphProto) -> int:
    """The nodes of a graph and of the graphs of its nodes."""
    found, graphs = 0, [graph]
    while graphs:
        nodes = graphs.pop().node
        found += len(nodes)
        for attribute in (a for node in nodes for a in node.attribute):
            graphs += [attribute.g] if attribute.HasField("g") else []
            graphs += attribute.graphs
    return found


def _reason(error: Exception) -> str:
    """The text of an error; of one without words, the error as well."""
    if isinstance(error, MemoryError):
        return f"the memory does not suffice: {error}"
    is_bare = isinstance(error, KeyError | AssertionError) or not str(error)
    return f"{type(error).__name__} {error}" if is_bare else str(error)


def _of_type(value: Value, declared: ValueInfoProto) -> Value:
    """A result; known sizes in the integer dtype that is declared for it."""
    dtype = DTYPES.get(declared.type.tensor_type.elem_type)
    if not isinstance(value, np.ndarray) or dtype is None or not dtype.is_integer:
        return value
    if value.dtype == object:
        return as_tensor(value).cast(dtype)
    return value.astype(dtypes.numpy_of(dtype)) if value.dtype == np.int64 else value


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
