"""Models that run: `prepare` and `run_model`, the interface of `onnx.backend.base`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend.lowered import Lowered
from tgdialect.frontend.symbolic import Atom
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import lowered
from tgdialect.interop.onnx.arguments import Arguments, Structure
from tgdialect.interop.onnx.dtypes import carried, element_type, numpy_of
from tgdialect.interop.onnx.importer import Importer
from tgdialect.interop.onnx.model import Model
from tgdialect.interop.onnx.values import (
    Answers,
    Narrow,
    Question,
    Refused,
    Undecided,
    Value,
)
from tgdialect.ops.numpy_dtypes import Array


@dataclass(frozen=True)
class _Computed:
    """A result that a program computes: the number of its array, and its element type."""

    number: int
    element_type: int


@dataclass
class _Program:
    """A compiled program, and a model's results: each is known, or computed by the program."""

    call: Any
    results: Sequence[Any]


class Prepared(BackendRep):
    """A model that is compiled when it is first run: once for all sizes that its inputs leave open,
    and again only if a decision in it depends on a size or on elements."""

    def __init__(self, model: Model, target: str | None = None, opt: str = "heuristic") -> None:
        self.model = model
        self.arguments = Arguments(model)
        self._target, self._opt = target, opt
        self._asked: dict[tuple[Any, ...], Question | _Program] = {}

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The results for inputs: a sequence of arrays, in the order of the model's inputs, or a
        mapping by name. A sequence is a list, an optional that is empty is None. Raises
        CompilationError, ValueError, TypeError."""
        if not isinstance(inputs, Mapping):
            inputs = dict(zip(self.arguments.names, inputs, strict=False))
        return self._run(inputs, self.arguments.structure(inputs), None)

    def _run(
        self, given: Mapping[str, Any], structures: Sequence[Structure], result: str | None
    ) -> tuple[Any, ...]:
        answers: dict[Question, Any] = {}
        arrays = self.arguments.arrays(structures, given)
        key: tuple[Any, ...] = (result, structures)
        while True:
            if (found := self._asked.get(key)) is None:
                found = self._asked[key] = self._imported(structures, answers, result)
            if isinstance(found, _Program):
                break
            answer = answers[found] = self._answer(found, given, structures, arrays)
            key = (*key, _key(answer))
        values = found.call(*arrays.values()) if found.call else ()
        computed = values if isinstance(values, tuple | list) else (values,)
        return tuple(_filled(r, computed) for r in found.results)

    def _answer(
        self,
        question: Question,
        given: Mapping[str, Any],
        structures: Sequence[Structure],
        arrays: Mapping[str, Array],
    ) -> Any:
        if question.size is not None:
            sizes = {
                extent: arrays[name].shape[axis]
                for name, each in self.arguments.specs(structures).items()
                for axis, extent in enumerate(each.shape)
                if isinstance(extent, str)
            }
            size = question.size
            atoms = {a: Atom(a.variable, sizes[a.variable.name]) for a in size.atoms}
            return size.substituted(atoms).value
        if question.name in given:
            return np.asarray(given[question.name])
        (found,) = self._run(given, structures, question.name)
        return found

    def _imported(
        self, structures: Sequence[Structure], answers: Answers, result: str | None
    ) -> Question | _Program:
        """The program for some answers, or the next question."""
        try:
            found, results = _traced(
                self.model, self.arguments, structures, answers, result, self._target
            )
        except Undecided as undecided:
            return undecided.question
        call = None if found is None else found.compile(target=self._target, opt=self._opt)
        return _Program(call, results)


def _key(answer: Any) -> Any:
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.shape, answer.tobytes()
    return answer


def _filled(result: Any, computed: Sequence[Array]) -> Any:
    """A result, with the arrays of a program in the places of computed ones."""
    match result:
        case _Computed():
            array = computed[result.number]
            return array.astype(numpy_of(result.element_type), copy=False)
        case np.ndarray():
            return result.copy()
        case list():
            return [_filled(each, computed) for each in result]
        case _:
            return result


def _traced(
    model: Model,
    arguments: Arguments,
    structures: Sequence[Structure],
    answers: Answers,
    result: str | None = None,
    target: str | None = None,
) -> tuple[Lowered | None, list[Any]]:
    """The program of a model, None if it computes nothing, and the model's results."""
    results: list[Any] = []
    specs = arguments.specs(structures)
    fixed = {q.name: a for q, a in answers.items() if q.size is None and q.name in arguments.names}

    def function(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        computed: list[Tensor] = []

        def placed(value: Value) -> Any:
            if isinstance(value, list):
                return [placed(each) for each in value]
            if value is None or (isinstance(value, np.ndarray) and value.dtype != object):
                return value
            found = carried(value)
            computed.append(found.tensor if isinstance(found, Narrow) else found)
            return _Computed(len(computed) - 1, element_type(found))

        values = {**arguments.values(structures, tensors), **fixed}
        found = [placed(value) for value in Importer(model, answers).results(values, result)]
        results[:] = found
        if not computed:
            raise _Known
        return computed

    try:
        return lowered(function, specs, target=target), results
    except _Known:
        return None, results


class _Known(Exception):
    """All results of a model are known while it is imported."""


def module_of(model: Model) -> ModuleOp:
    """The program of a model. Raises CompilationError with all that is refused."""
    try:
        arguments = Arguments(model)
        found, _ = _traced(model, arguments, arguments.structure(None), {})
    except (Undecided, Refused) as reason:
        message = f"{reason}: run the model by tgdialect.interop.onnx.prepare"
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
