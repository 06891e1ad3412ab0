"""Executables: a compiled program in this process, to be called with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy import ndarray

from tgdialect.runtime.loader import load
from tgdialect.runtime.memory import POOL, address
from tgdialect.runtime.program import Array, Parameter, Program

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tgdialect.runtime.build import Build
    from tgdialect.runtime.inspection import Kernel


class _Slot(NamedTuple):
    """A parameter and where it is in the call; shape and dtype once more, for quick checks.

    No array has the shape of a scalar, which is passed by value.
    """

    position: int
    parameter: Parameter
    shape: tuple[int | None, ...] | None
    dtype: np.dtype[Any]


class Executable:
    """A compiled function: call it with NumPy arrays, get NumPy arrays.

    Inputs are in the order of the function's arguments. An argument that was memory in the program
    is passed by reference, so that the program's STOREs show in the caller's array; every other
    array is converted to the right layout if need be, and left alone. BUFFERs of the program are
    zero at first and live as long as the executable, in `buffers`.
    """

    def __init__(self, program: Program, build: Callable[[], Build]) -> None:
        """`build` prepares compiling once more, for those who ask how it was compiled."""
        self._build = cache(build)
        self._code = load(program.object_code)
        self.parameters = program.parameters
        slots = [
            _Slot(i, p, None if p.role == "scalar" else p.shape, p.dtype)
            for i, p in enumerate(self.parameters)
        ]
        self._arguments = [s for s in slots if s.parameter.role in ("input", "scalar")]
        self._results = [s for s in slots if s.parameter.role == "output"]
        self._workspaces = [s for s in slots if s.parameter.role == "workspace"]
        self._is_dynamic = any(p.is_dynamic for p in self.parameters)
        self.is_direct = not self._is_dynamic and all(
            s.parameter.role == "input" and not s.parameter.by_reference for s in self._arguments
        )
        """Whether `run` may be called."""
        self.inputs = [s.parameter for s in self._arguments]
        self.outputs = [s.parameter for s in self._results]
        self.buffers: dict[str, Array] = {}
        self._frame: list[Any] = [0] * len(slots)
        self._buffer_spans: list[tuple[int, int]] = []
        for position, parameter, _, dtype in slots:
            if parameter.role == "buffer":
                buffer = np.zeros(parameter.shape_for(()), dtype)
                self.buffers[parameter.name] = buffer
                self._frame[position] = start = address(buffer)
                self._buffer_spans.append((start, start + buffer.nbytes))
        # Not from `buffers`, which the caller may change: compiled code has the addresses.
        self._memory = tuple(self.buffers.values())
        scalar, pointer = ctypes.c_int64, ctypes.c_void_p
        types = [scalar if p.role == "scalar" else pointer for p in self.parameters]
        prototype = ctypes.CFUNCTYPE(None, *types)
        self._function: Callable[..., None] = prototype(self._code.address(program.symbol))

    @property
    def workspace_bytes(self) -> int:
        """The bytes of intermediate results that a call needs besides its arrays."""
        return sum(s.parameter.nbytes for s in self._workspaces)

    @property
    def peak_bytes(self) -> int | None:
        """The bytes of all memory of a call: inputs, results, buffers and intermediate results.

        None where they depend on dynamic sizes.
        """
        if self._is_dynamic:
            return None
        return sum(p.nbytes for p in self.parameters if p.role != "scalar")

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Name, OptOps, work, source and assembly of each kernel, in the order of the calls."""
        return self._build().kernels

    def module(self, stage: str) -> ModuleOp:
        """The program after a stage, as "rangeify": after the last one of that name.

        Raises ValueError if there is no such stage.
        """
        return self._build().module(stage)

    def __call__(
        self, *arrays: Any, out: Array | Sequence[Array] | None = None
    ) -> Array | tuple[Array, ...]:
        """Run the program; `out` gives the memory for its results, one array or one for each.

        Raises ValueError and TypeError for arguments that do not fit the signature.
        """
        if len(arrays) != len(self._arguments):
            names = ", ".join(p.name for p in self.inputs)
            raise ValueError(f"expected {len(self.inputs)} inputs ({names}), got {len(arrays)}")
        frame = self._frame.copy()
        spans = self._buffer_spans.copy()
        values: list[Array] = []
        # Nearly every call passes arrays that need nothing done to them: this loop is for those.
        for value, (position, parameter, shape, dtype) in zip(arrays, self._arguments):  # noqa: B905
            if (
                type(value) is not ndarray
                or value.shape != shape
                or value.dtype != dtype
                or not value.flags.carray
            ):
                if parameter.role == "scalar":
                    frame[position] = parameter.number(value)
                    continue
                value = parameter.array(value)
            frame[position] = start = address(value)
            spans.append((start, start + value.nbytes))
            values.append(value)
        if self._is_dynamic:
            self._check_shapes(frame, values)
        if out is None:
            results = self._new_results(frame)
            copies = ()
        else:
            results = [out] if isinstance(out, ndarray) else list(out)
            copies = self._place_results(frame, spans, results)
        self._run(frame)
        for array, result in copies:
            array[...] = result
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, addresses: Sequence[int]) -> Sequence[Array]:
        """The results for inputs at these addresses: of arrays that fit the signature, which is
        not checked, and that live until this returns."""
        frame = self._frame.copy()
        for slot, start in zip(self._arguments, addresses):  # noqa: B905
            frame[slot[0]] = start
        results = self._new_results(frame)
        self._run(frame)
        return results

    def _run(self, frame: list[Any]) -> None:
        if self._workspaces:
            self._run_with_workspaces(frame)
        else:
            self._function(*frame)

    def _run_with_workspaces(self, frame: list[Any]) -> None:
        """Calls on several threads each have scratch memory of their own."""
        blocks = [POOL.take(slot.parameter.nbytes) for slot in self._workspaces]
        for slot, block in zip(self._workspaces, blocks, strict=True):
            frame[slot.position] = block.address
        self._function(*frame)
        for block in blocks:
            POOL.give(block)

    def _new_results(self, frame: list[Any]) -> list[Array]:
        results: list[Array] = []
        for position, parameter, shape, dtype in self._results:
            extents = parameter.shape_for(frame) if self._is_dynamic else shape
            result = POOL.empty(cast("tuple[int, ...]", extents), dtype)
            frame[position] = address(result)
            results.append(result)
        return results

    def _place_results(
        self, frame: list[Any], spans: list[tuple[int, int]], given: list[Array]
    ) -> Sequence[tuple[Array, Array]]:
        """Let results be computed in the caller's memory where nothing else of the call is in it;
        the others come with where they have to be copied to."""
        if len(given) != len(self._results):
            raise ValueError(f"out has {len(given)} arrays for {len(self._results)} results")
        copies: list[tuple[Array, Array]] = []
        for array, (position, parameter, shape, dtype) in zip(given, self._results):  # noqa: B905
            is_free = True
            if (
                type(array) is not ndarray
                or array.shape != shape
                or array.dtype != dtype
                or not array.flags.carray
            ):
                parameter.check_out(array, frame)
                is_free = array.flags.carray
            start = address(array)
            stop = start + array.nbytes
            for low, high in spans:
                if start < high and low < stop:
                    is_free = False
            spans.append((start, stop))
            if not is_free:
                copies.append((array, temporary := POOL.empty(array.shape, dtype)))
                start = address(temporary)
            frame[position] = start
        return copies

    def _check_shapes(self, frame: Sequence[Any], values: Sequence[Array]) -> None:
        """Dynamic extents are those that the scalars say."""
        arrays = iter(values)
        for parameter in self.inputs:
            if parameter.role == "scalar":
                continue
            array = next(arrays)
            if array.shape != (wanted := parameter.shape_for(frame)):
                raise parameter.wrong_shape(array, wanted)
