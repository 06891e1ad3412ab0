"""Models that run: `prepare` and `run_model`, the interface of `onnx.backend.base`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from onnx import ModelProto
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend import dtypes
from tgdialect.frontend.lowered import Lowered, Spec, spec
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import lowered, standalone
from tgdialect.interop.onnx import extents
from tgdialect.interop.onnx.arguments import BOUNDS, ModelArguments, Structure, refused_inputs
from tgdialect.interop.onnx.dtypes import carried, element_type, numpy_of
from tgdialect.interop.onnx.importer import Importer
from tgdialect.interop.onnx.model import Model
from tgdialect.interop.onnx.refusals import check_model
from tgdialect.interop.onnx.values import (
    Asked,
    Narrow,
    Question,
    Refused,
    Undecided,
    Value,
)
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.speed import at_full_speed

MOST_COUNT = 1 << 24
"""The greatest number of results for which a program is compiled once for all numbers. Larger:
types that have it several times as extent cannot be addressed; smaller: more numbers have programs
of their own."""


MOST_COMPARED = 1024
"""The most bytes of the inputs that decide which program a call takes, for calls to be found by
them. Larger: calls that cost as much as a decision; smaller: calls that decide again each time."""

MOST_CALLS = 64
"""The most calls, by their sizes and deciding inputs, whose programs are found at once. Larger:
more memory, some 500 bytes each; smaller: calls of many sizes go through their questions again,
in some 80 µs on the processor of docs/notes/onnx-values.md. An order of magnitude."""


@dataclass(frozen=True)
class _Computed:
    """A result that a program computes: the number of its array, and its element type."""

    number: int
    element_type: int


@dataclass
class _Program:
    """A compiled program, and its results: each is known, or computed."""

    call: Any
    results: Sequence[Any]
    reads: Sequence[str] = ()
    """The inputs whose elements it reads."""

    def run(self, arrays: Iterable[Array]) -> tuple[Any, ...]:
        values: Any = self.call(*arrays) if self.call else ()
        computed = cast(Sequence[Any], values if isinstance(values, tuple | list) else (values,))
        return tuple(_filled(r, computed) for r in self.results)


def _filled(result: Any, computed: Sequence[Array]) -> Any:
    """A result, with the arrays of a program in the places of computed ones."""
    if isinstance(result, _Computed):
        array = computed[result.number]
        return array.astype(numpy_of(result.element_type), copy=False)
    if isinstance(result, list):
        return [_filled(each, computed) for each in cast(list[Any], result)]
    return None if result is None else np.array(result)


@dataclass
class _State:
    """The answers of one call so far."""

    given: Mapping[str, Any]
    """The arguments of the call."""
    structures: tuple[Structure, ...]
    specs: Mapping[str, Spec]
    """The inputs of the model."""
    arrays: dict[str, Array]
    is_fixed: bool = False
    """Whether a program is for the sizes of one call, COUNTs as well."""
    answers: dict[Question, Any] = field(default_factory=dict[Question, Any])
    deciding: dict[str, None] = field(default_factory=dict[str, None])
    """The inputs whose elements decided answers, also those that are not needed any more."""
    counts: dict[str, Spec] = field(default_factory=dict[str, Spec])
    """An input for each COUNT, which is its extent."""
    is_for_all: bool = False
    """Whether the program is for all calls, so that no question has an answer."""
    key: tuple[Any, ...] = ()
    """Programs of equal keys are the same: the sizes if they are fixed, and the answers."""

    @property
    def inputs(self) -> dict[str, Spec]:
        """The inputs of the program."""
        return {**extents.sized(self.specs, self.answers), **self.counts}

    def add(self, question: Question, answer: Any) -> None:
        """Add an answer."""
        if question.kind is Asked.INPUT:
            # An input that is known leaves less to ask.
            for q in [q for q in self.answers if q.kind is not Asked.INPUT]:
                del self.answers[q]
            self.key = tuple(part for part in self.key if part[0] in (None, Asked.INPUT))
        elif question.kind is Asked.COUNT:
            answer = number = int(answer)
            if 0 < number <= MOST_COUNT and not self.is_fixed:
                # Programs are for all numbers.
                name = question.count_name
                bounds = {name: (1, max(min(question.most, MOST_COUNT), number))}
                self.counts[name] = answer = spec([name], dtypes.uint8, **bounds)
                self.arrays[name] = np.zeros(number, np.uint8)
        self.answers[question] = answer
        self.key = (*self.key, (question.kind, question.name, _key(answer)))


class Prepared(BackendRep):
    """A model that is compiled when it is first run: once for all sizes that its inputs leave open,
    and again only if a decision in it depends on a size or on elements. If that is refused, or
    sizes are beyond the bounds of the program, it is compiled for the sizes of the call."""

    def __init__(self, model: Model, target: str | None = None, opt: str = "heuristic") -> None:
        self.model = model
        check_model(model, refused_inputs(model))
        self.arguments = ModelArguments(model)
        self._target, self._opt = target, opt
        self._bound = BOUNDS[0]
        """The bound of all sizes, which grows with them."""
        self._asked: dict[tuple[Any, ...], list[Question] | _Program | CompilationError] = {}
        self._deciding: tuple[str, ...] = ()
        """The inputs whose elements decide which program a call takes."""
        self._found: dict[tuple[Any, ...], _Program] = {}
        """The programs of the last calls, by `_call_key`."""

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The results for inputs: a sequence of arrays, in the order of the model's inputs, or a
        mapping by name. A sequence is a list, an optional that is empty is None. Raises
        CompilationError, ValueError for inputs that the model has not got, and for those that are
        missing, and TypeError."""
        names = self.arguments.names
        given = self.arguments.by_name(inputs)
        call_key = self._call_key(given)
        if call_key is not None and (program := self._found.get(call_key)) is not None:
            return program.run([given[name] for name in names])
        structures = self.arguments.structure(given)
        arrays = self.arguments.arrays(structures, given)
        greatest = max((extent for array in arrays.values() for extent in array.shape), default=0)
        if greatest > self._bound:
            self._bound = next((bound for bound in BOUNDS if bound >= greatest), BOUNDS[-1])
        specs = self.arguments.specs(structures, self._bound)
        key = ((None, structures), (None, self._bound))
        state = _State(given, structures, specs, dict(arrays), key=key)
        try:
            return self._run(state)
        except (CompilationError, MemoryError, ValueError) as error:
            fixed = {
                name: Spec(arrays[name].shape, each.dtype)
                for name, each in specs.items()
                if arrays[name].ndim == len(each.shape)
            }
            if not _agree(specs, fixed) or (fixed == specs == state.inputs):
                raise
            try:
                shapes = str({name: each.shape for name, each in fixed.items()})
                key = ((None, structures), (None, shapes))
                return self._run(_State(given, structures, fixed, arrays, True, key=key))
            except CompilationError:
                raise error from None

    def _run(self, state: _State) -> tuple[Any, ...]:
        while True:
            found = self._imported(state)
            if isinstance(found, _Program):
                results = found.run(state.arrays.values())
                self._remember(state, found)
                return results
            for question in found:
                state.add(question, self._answer(question, state))

    def _call_key(self, given: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """All that decides which program a call takes: the shapes of its arguments, and the
        elements of those in `_deciding`. None if an argument is no array as programs take it."""
        if not self.arguments.are_arrays:
            return None
        try:
            arrays = [given[name] for name in self.arguments.names]
            deciding = [given[name] for name in self._deciding]
        except KeyError:
            return None
        for array in arrays:
            if type(array) is not np.ndarray:
                return None
        if deciding and sum(array.nbytes for array in deciding) > MOST_COMPARED:
            return None
        return (
            *[array.shape for array in arrays],
            *[(array.dtype, array.tobytes()) for array in deciding],
        )

    def _remember(self, state: _State, program: _Program) -> None:
        """Let calls like this one find its program at once."""
        if not self.arguments.are_arrays or state.counts:
            return
        deciding = dict.fromkeys(self._deciding) | state.deciding
        if sum(state.arrays[name].nbytes for name in deciding) > MOST_COMPARED:
            return
        if len(deciding) > len(self._deciding):
            self._deciding, self._found = tuple(deciding), {}
        if len(self._found) >= MOST_CALLS:
            self._found = {}  # Other threads may read the old one.
        if (key := self._call_key(state.given)) is not None:
            self._found[key] = program

    def _answer(self, question: Question, state: _State) -> Any:
        if question.kind is Asked.INPUT:
            state.deciding[question.name] = None
            return np.asarray(state.given[question.name])
        if question.kind in (Asked.SIGN, Asked.SIZE, Asked.MULTIPLE):
            shapes = {name: array.shape for name, array in state.arrays.items()}
            return extents.answer(question, {**state.specs, **state.counts}, shapes)
        found = self._imported(state, question)
        assert isinstance(found, _Program)
        state.deciding |= dict.fromkeys(found.reads)
        (answer,) = found.run(state.arrays.values())
        return answer

    @at_full_speed()
    def _imported(self, state: _State, wanted: Question | None = None) -> list[Question] | _Program:
        """The program for the answers so far, or the next questions; the program that answers a
        wanted question. Raises CompilationError."""
        key = state.key, wanted
        if (found := self._asked.get(key)) is None:
            try:
                program, results = _traced(self.model, self.arguments, state, wanted, self._target)
                call = program and program.compile(target=self._target, opt=self._opt)
                found = _Program(call, results, _read(program, state.inputs))
            except Undecided as undecided:
                found = [replace(each, value=None) for each in undecided.questions]
            except CompilationError as error:
                found = error
            self._asked[key] = found
        if isinstance(found, CompilationError):
            raise found
        return found


def _read(program: Lowered | None, inputs: Iterable[str]) -> Sequence[str]:
    """The inputs whose elements a program reads. Its first PARAMs are the inputs."""
    if program is None:
        return ()
    entry = SymbolTable.lookup_symbol(program.source, program.entry)
    assert isinstance(entry, FuncOp)
    params = [op for op in entry.body.block.ops if isinstance(op, tg.ParamOp)]
    read = {op.slot.data for op in params if op.result.uses}
    return [name for slot, name in enumerate(inputs) if slot in read]


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
        array = cast(Array, answer)
        return array.dtype.str, array.shape, array.tobytes()
    return None if isinstance(answer, Spec) else answer


def _traced(
    model: Model,
    arguments: ModelArguments,
    state: _State,
    wanted: Question | None = None,
    target: str | None = None,
) -> tuple[Lowered | None, list[Any]]:
    """The program of a model, None if it computes nothing, and the model's results. Its result is
    the answer to a wanted question, if there is one."""
    results: list[Any] = []

    def function(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        by_name = dict(zip(state.inputs, tensors, strict=True))
        given = arguments.values(state.structures, by_name)
        decided: dict[Question, Any] = {}
        for question, answer in state.answers.items():
            if question.kind is Asked.INPUT:
                given[question.name] = answer
            elif isinstance(answer, Spec):
                (answer,) = by_name[question.count_name].shape
            decided[question] = answer
        try:
            found = Importer(model, decided, is_for_all=state.is_for_all).results(given)
        except Undecided as undecided:
            if wanted is None or undecided.question != wanted:
                raise
            found = [undecided.question.value]
        computed: list[Tensor] = []
        results[:] = [_placed(value, computed) for value in found]
        if not computed:
            raise _Known
        return computed

    try:
        return lowered(function, state.inputs, target=target), results
    except _Known:
        return None, results


def _placed(value: Value, computed: list[Tensor]) -> Any:
    """A result, with the places of tensors in `computed`, to which they are added."""
    if isinstance(value, list):
        return [_placed(each, computed) for each in value]
    if value is None or (isinstance(value, np.ndarray) and value.dtype != object):
        return value
    found = carried(value)
    computed.append(found.tensor if isinstance(found, Narrow) else found)
    return _Computed(len(computed) - 1, element_type(found))


class _Known(Exception):
    """All results of a model are known while it is imported."""


def _assumed(
    model: Model, arguments: ModelArguments, state: _State
) -> tuple[Lowered | None, list[Any]]:
    """The program of a model whose sizes are multiples where they have to be: a call checks it."""
    while True:
        try:
            return _traced(model, arguments, state)
        except Undecided as undecided:
            if undecided.question.kind is not Asked.MULTIPLE:
                raise
            state.add(undecided.question, True)


def _deciding(
    model: Model, arguments: ModelArguments, state: _State, question: Question
) -> Sequence[str]:
    """The names of the inputs or sizes on which a question depends."""
    if question.size is not None:
        return sorted(atom.variable.name for atom in question.size.atoms)
    if question.value is None:
        return [question.name]
    program, _ = _traced(model, arguments, state, question)
    return _read(program, state.inputs)


def _unsuited(model: Model, reason: Refused) -> CompilationError:
    """The error of a model that is no single program."""
    message = f"{reason}: run the model by tgdialect.interop.onnx.prepare"
    return CompilationError(Diagnostic(message, file=model.file))


def module_of(model: Model, fixed: Mapping[str, float] = {}) -> ModuleOp:
    """The program of a model, with numbers of inputs and sizes by their names. Raises
    CompilationError with all that is refused."""
    check_model(model, refused_inputs(model))
    arguments = ModelArguments(model, fixed)
    try:
        structures = arguments.structure(None)
        specs = arguments.specs(structures, BOUNDS[-1])
    except Refused as reason:
        raise _unsuited(model, reason) from None
    state = _State({}, structures, specs, {}, is_for_all=True)
    state.answers |= {Question(Asked.INPUT, n): array for n, array in arguments.known.items()}
    try:
        found, _ = _assumed(model, arguments, state)
    except Undecided as reason:
        names = _deciding(model, arguments, state, reason.question)
        fix = ",".join(f'"{name}=NUMBER"' for name in names)
        message = (
            f"{reason}: run the model by tgdialect.interop.onnx.prepare, or fix what decides it, "
            f"as -f 'onnx{{fix={fix}}}' of tg-opt and tg-run does"
        )
        raise CompilationError(Diagnostic(message, file=model.file)) from None
    except Refused as reason:
        raise _unsuited(model, reason) from None
    if found is None:
        raise CompilationError(Diagnostic("all results are constants", file=model.file))
    return standalone(found)


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
        device: the interface's name of the device.
        target: as `tgdialect.compile` takes it, which is our name of a device.
        opt: as `tgdialect.compile` takes it.

    Raises CompilationError for a model that is malformed or has operators that are refused.
    """
    read = Model(model) if isinstance(model, ModelProto) else Model.read(model)
    return Prepared(read, target, opt)


def run_model(model: Any, inputs: Sequence[Any], device: str = "CPU", **options: Any) -> Any:
    """The results of a model for inputs."""
    return prepare(model, device, **options).run(inputs)
