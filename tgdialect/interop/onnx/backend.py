"""Models that run: `prepare` and `run_model`, the interface of `onnx.backend.base`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend import dtypes
from tgdialect.frontend.lowered import Lowered, Spec, spec
from tgdialect.frontend.symbolic import Atom, value_of
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import identifiers, lowered
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.importer import Importer
from tgdialect.interop.onnx.model import Model
from tgdialect.interop.onnx.values import (
    Answers,
    Asked,
    Question,
    Refused,
    Undecided,
    Value,
    as_tensor,
)
from tgdialect.ops.numpy_dtypes import Array


@dataclass
class _Program:
    """A compiled program, and which of its results it computes; the others are known."""

    call: Any
    results: Sequence[Any]

    def run(self, arrays: Mapping[str, Array]) -> tuple[Any, ...]:
        values = self.call(*arrays.values()) if self.call else ()
        computed = iter(values if isinstance(values, tuple | list) else (values,))
        return tuple(next(computed) if r is None else r for r in self.results)


@dataclass
class _State:
    """The answers of one call so far."""

    inputs: dict[str, Spec]
    """Those of the program: those of the model, and one for each COUNT, which is its extent."""
    arrays: dict[str, Array]
    is_fixed: bool = False
    """Whether a program is for the sizes of one call, COUNTs as well."""
    answers: dict[Question, Any] = field(default_factory=dict[Question, Any])
    key: tuple[Any, ...] = ()
    """Programs of equal keys are the same: the sizes if they are fixed, and the answers."""

    def add(self, question: Question, answer: Any) -> None:
        """Add an answer."""
        if question.kind is Asked.INPUT:
            # An input that is known leaves less to ask.
            for q in [q for q in self.answers if q.kind is not Asked.INPUT]:
                del self.answers[q]
            self.key = tuple(part for part in self.key if part[0] in (None, Asked.INPUT))
        elif question.kind is Asked.COUNT:
            answer = number = int(answer)
            if number and not self.is_fixed:
                # Programs are for all numbers.
                name = question.count_name
                bounds = {name: (1, max(question.most, number))}
                self.inputs[name] = answer = spec([name], dtypes.uint8, **bounds)
                self.arrays[name] = np.zeros(number, np.uint8)
        self.answers[question] = answer
        self.key = (*self.key, (question.kind, question.name, _key(answer)))


class Prepared(BackendRep):
    """A model that is compiled when it is first run: once for all sizes that its inputs leave open,
    and again only if a decision in it depends on a size or on elements. If that is refused, or
    sizes are beyond the bounds of the program, it is compiled for the sizes of the call."""

    def __init__(self, model: Model, target: str | None = None, opt: str = "heuristic") -> None:
        self.model = model
        self.inputs = _inputs(model)
        self._target, self._opt = target, opt
        self._asked: dict[tuple[Any, ...], Question | _Program | CompilationError] = {}

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The results for inputs: a sequence of arrays, in the order of the model's inputs, or a
        mapping by name. Raises CompilationError, ValueError, TypeError."""
        names = list(self.inputs)
        if isinstance(inputs, Mapping):
            given = {name: np.asarray(inputs[name]) for name in names if name in inputs}
        else:
            given = dict(zip(names, map(np.asarray, inputs), strict=False))
        if missing := [name for name in names if name not in given]:
            raise ValueError(f"no array is given for the inputs {', '.join(missing)}")
        fixed = {
            name: Spec(given[name].shape, each.dtype)
            for name, each in self.inputs.items()
            if given[name].ndim == len(each.shape)
        }
        state = _State(dict(self.inputs), dict(given))
        try:
            return self._run(state)
        except (CompilationError, ValueError) as error:
            if not _agree(self.inputs, fixed) or (fixed == self.inputs == state.inputs):
                raise
            try:
                key = (None, str({name: each.shape for name, each in fixed.items()}))
                return self._run(_State(fixed, given, True, key=(key,)))
            except CompilationError:
                raise error from None

    def _run(self, state: _State) -> tuple[Any, ...]:
        while True:
            found = self._imported(state)
            if isinstance(found, _Program):
                return found.run(state.arrays)
            state.add(found, self._answer(found, state))

    def _answer(self, question: Question, state: _State) -> Any:
        if question.kind is Asked.INPUT:
            return state.arrays[question.name]
        if question.size is not None:
            sizes = {
                extent: array.shape[axis]
                for name, array in state.arrays.items()
                for axis, extent in enumerate(state.inputs[name].shape)
                if isinstance(extent, str)
            }
            size = question.size
            atoms = {a: Atom(a.variable, sizes[a.variable.name]) for a in size.atoms}
            value = value_of(size.substituted(atoms))
            return (value > 0) - (value < 0)
        found = self._imported(state, question)
        assert isinstance(found, _Program)
        (answer,) = found.run(state.arrays)
        return answer

    def _imported(self, state: _State, wanted: Question | None = None) -> Question | _Program:
        """The program for the answers so far, or the next question; the program that answers a
        wanted question. Raises CompilationError."""
        key = state.key, wanted
        if (found := self._asked.get(key)) is None:
            try:
                found = _compiled(
                    self.model, state.inputs, state.answers, wanted, self._target, self._opt
                )
            except Undecided as undecided:
                found = replace(undecided.question, value=None)
            except CompilationError as error:
                found = error
            self._asked[key] = found
        if isinstance(found, CompilationError):
            raise found
        return found


def _agree(wanted: Mapping[str, Spec], given: Mapping[str, Spec]) -> bool:
    """Whether sizes fit the inputs of a model."""
    sizes: dict[str, Any] = {}
    return given.keys() == wanted.keys() and all(
        sizes.setdefault(w, g) == g if isinstance(w, str) else w == g
        for name, spec in wanted.items()
        for w, g in zip(spec.shape, given[name].shape, strict=True)
    )


def _key(answer: Any) -> Any:
    """A key of an answer: COUNTs are equal, but for 0."""
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.shape, answer.tobytes()
    return None if isinstance(answer, Spec) else answer


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
    wanted: Question | None = None,
    target: str | None = None,
) -> tuple[Lowered | None, list[Any]]:
    """The program of a model, and its results that are known without it: None for the others. Its
    result is the answer to a wanted question, if there is one."""
    known: list[Any] = []

    def function(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        counts = dict(zip(inputs, tensors, strict=True))
        given: dict[str, Value] = dict(counts)
        decided: dict[Question, Any] = {}
        for question, answer in answers.items():
            if question.kind is Asked.INPUT:
                given[question.name] = answer
            elif isinstance(answer, Spec):
                del given[question.count_name]
                (answer,) = counts[question.count_name].shape
            decided[question] = answer
        importer = Importer(model, decided)
        try:
            found = importer.results(given)
        except Undecided as undecided:
            if wanted is None or undecided.question != wanted:
                raise
            found = [undecided.question.value]
        known.clear()
        known.extend(v if not _is_computed(v) else None for v in found)
        computed = [as_tensor(v) for v in found if _is_computed(v)]
        if not computed:
            raise _Known
        return computed

    try:
        return lowered(function, inputs, target=target), known
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
    wanted: Question | None,
    target: str | None,
    opt: str,
) -> _Program:
    found, results = _traced(model, inputs, answers, wanted, target)
    call = None if found is None else found.compile(target=target, opt=opt)
    return _Program(call, results)


def module_of(model: Model) -> ModuleOp:
    """The program of a model. Raises CompilationError with all that is refused."""
    try:
        found, _ = _traced(model, _inputs(model), {})
    except Undecided as undecided:
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
