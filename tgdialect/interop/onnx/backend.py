"""Models that run: `prepare` and `run_model`, the interface of `onnx.backend.base`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend.lowered import Lowered, Spec, spec
from tgdialect.frontend.symbolic import Atom
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx import extents
from tgdialect.interop.importing import identifiers, lowered
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.importer import Importer
from tgdialect.interop.onnx.model import Model
from tgdialect.interop.onnx.values import Answers, Elements, IsMultiple, Question, Refused, Undecided, Value, as_tensor
from tgdialect.ops.numpy_dtypes import Array


@dataclass
class _Program:
    """A compiled program, and which of a model's results it computes; the others are known."""

    call: Any
    inputs: Sequence[str]
    results: Sequence[Any]


class Prepared(BackendRep):
    """A model that is compiled when it is first run: once for all sizes that its inputs leave open,
    and again only if a decision in it depends on a size or on elements."""

    def __init__(self, model: Model, target: str | None = None, opt: str = "heuristic") -> None:
        self.model = model
        self.inputs = _inputs(model)
        self._target, self._opt = target, opt
        self._asked: dict[tuple[Any, ...], Question | _Program] = {}

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The results for inputs: a sequence of arrays, in the order of the model's inputs, or a
        mapping by name. Raises CompilationError, ValueError, TypeError."""
        names = list(self.inputs)
        if isinstance(inputs, Mapping):
            given = {name: np.asarray(array) for name, array in inputs.items()}
        else:
            given = dict(zip(names, map(np.asarray, inputs), strict=False))
        return self._run(given, None)

    def _run(self, given: Mapping[str, Array], result: str | None) -> tuple[Any, ...]:
        answers: dict[Question, Any] = {}
        key: tuple[Any, ...] = (result,)
        while True:
            if (found := self._asked.get(key)) is None:
                found = self._asked[key] = self._imported(answers, result)
            if isinstance(found, _Program):
                break
            answer = answers[found] = self._answer(found, given)
            key = (*key, _key(answer))
        values = found.call(*(given[name] for name in found.inputs)) if found.call else ()
        arrays = iter(values if isinstance(values, tuple | list) else (values,))
        return tuple(next(arrays) if r is None else r for r in found.results)

    def _answer(self, question: Question, given: Mapping[str, Array]) -> Any:
        if not isinstance(question, Elements):
            return extents.answer(question, self.inputs, {n: a.shape for n, a in given.items()})
        if question.name in given:
            return given[question.name]
        (found,) = self._run(given, question.name)
        return found

    def _imported(self, answers: Answers, result: str | None) -> Question | _Program:
        """The program for some answers, or the next question."""
        try:
            return _compiled(self.model, self.inputs, answers, result, self._target, self._opt)
        except Undecided as undecided:
            return undecided.question


def _key(answer: Any) -> Any:
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.shape, answer.tobytes()
    return answer


def _inputs(model: Model) -> dict[str, Spec]:
    """The inputs of a model by name. Extents of one name are one size."""
    constants = {i.name for i in model.graph.initializer}
    found: dict[str, Spec] = {}
    reasons: list[Diagnostic] = []
    names: dict[str, str] = {}

    def extent(of: ValueInfoProto, axis: int) -> int | str:
        dim = of.type.tensor_type.shape.dim[axis]
        if dim.HasField("dim_value") and dim.dim_value > 0:
            return dim.dim_value
        key = dim.dim_param
        if not key or key == "?":
            key = f"{of.name}_dim_{axis}"
        if key not in names:
            (*_, names[key]) = identifiers([*names.values(), key])
        return names[key]

    for each in model.graph.input:
        if each.name in constants:
            continue
        kind = each.type.WhichOneof("value")
        try:
            if kind != "tensor_type":
                raise Refused(f"an input that is a {kind} is not supported")
            dtype = dtype_of(each.type.tensor_type.elem_type)
            axes = range(len(each.type.tensor_type.shape.dim))
            found[each.name] = spec([extent(each, axis) for axis in axes], dtype)
        except (Refused, ValueError, TypeError) as error:
            reasons.append(Diagnostic(f"input {each.name!r}: {error}", file=model.file))
    if reasons:
        raise CompilationError(reasons)
    return found


def _traced(
    model: Model,
    inputs: Mapping[str, Spec],
    answers: Answers,
    result: str | None = None,
    target: str | None = None,
) -> tuple[Lowered | None, list[Any]]:
    """The program of a model, and its results that are known without it: None for the others."""
    known: list[Any] = []
    fixed = {
        q.name: a for q, a in answers.items() if isinstance(q, Elements) and q.name in inputs
    }

    def function(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        importer = Importer(model, answers)
        values: dict[str, Value] = dict(zip(inputs, tensors, strict=True))
        found = importer.results({**values, **fixed}, result)
        known.clear()
        known.extend(v if not _is_computed(v) else None for v in found)
        computed = [as_tensor(v) for v in found if _is_computed(v)]
        if not computed:
            raise _Known
        return computed

    try:
        return lowered(function, extents.sized(inputs, answers), target=target), known
    except _Known:
        return None, known


class _Known(Exception):
    """All results of a model are known while it is imported."""


def _is_computed(value: Value) -> bool:
    """Whether a program has to compute a result: not a constant."""
    if isinstance(value, np.ndarray):
        return value.dtype == object
    return isinstance(value, Tensor)


def _compiled(
    model: Model,
    inputs: Mapping[str, Spec],
    answers: Answers,
    result: str | None,
    target: str | None,
    opt: str,
) -> _Program:
    found, results = _traced(model, inputs, answers, result, target)
    call = None if found is None else found.compile(target=target, opt=opt)
    return _Program(call, list(inputs), results)


def module_of(model: Model) -> ModuleOp:
    """The program of a model. Raises CompilationError with all that is refused."""
    answers: dict[Question, Any] = {}
    while True:
        try:
            found, _ = _traced(model, _inputs(model), answers)
            break
        except Undecided as undecided:
            if isinstance(undecided.question, IsMultiple):  # A call checks it.
                answers[undecided.question] = True
                continue
            message = f"the program {undecided}: run it by tgdialect.interop.onnx.prepare"
            raise CompilationError(Diagnostic(message, file=model.file)) from None
    if found is None:
        raise CompilationError(Diagnostic("all results are constants", file=model.file))
    return found.source


class Backend(OnnxBackend):
    """The interface that `onnx.backend.test` drives."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **_: Any) -> bool:
        """Whether the model has no operator that is refused without its arguments."""
        return True

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **options: Any) -> Prepared:
        return prepare(model, device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Only the CPU."""
        return device == "CPU"


def prepare(
    model: str | os.PathLike[str] | ModelProto,
    device: str = "CPU",
    *,
    target: str | None = None,
    opt: str = "heuristic",
) -> Prepared:
    """A model that runs: `prepare("model.onnx").run([x])` is a tuple of arrays.

    Args:
        model: a path, or a model of the package onnx.
        device: the interface's name of the device; `target` is ours, as `tgdialect.compile` takes it.
        opt: as `tgdialect.compile` takes it.

    Raises CompilationError for a model that is malformed or has operators that are refused.
    """
    read = Model(model) if isinstance(model, ModelProto) else Model.read(model)
    return Prepared(read, target, opt)


def run_model(model: Any, inputs: Sequence[Any], device: str = "CPU", **options: Any) -> Any:
    """The results of a model for inputs."""
    return prepare(model, device, **options).run(inputs)
