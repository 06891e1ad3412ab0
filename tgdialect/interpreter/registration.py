"""The same semantics under xDSL's own interpreter, so that tg ops mix with other dialects' ops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImplResult,
    PythonValues,
    ReturnedValues,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.custom import CustomCode
from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.calls import CALLEES
from tgdialect.interpreter.host import HOST, Frame
from tgdialect.interpreter.run_context import RunContext, write_back
from tgdialect.interpreter.values import MaskedArray
from tgdialect.interpreter.versions import (
    HostValue,
    TensorValue,
    Tuple,
    VersionedMemory,
    VersionedView,
    Void,
    whole,
)
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.families import OPERATIONS
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import dtype_of, is_memory, tensor


@register_impls
class TgFunctions(InterpreterFunctions):
    """Implementations of the tg ops of a host program, and of `func`, which knows about memory.

    Functions take and return NumPy arrays, and change those that are memory in place. Between ops a
    value is an array too, unless it has invalid cells, waits for a store, or is memory, void or a
    tuple: then it is of `versions.py`. Arrays from other dialects' ops are accepted.
    """

    def __init__(self, custom: CustomCode | None = None):
        self._context = RunContext(CALLEES, custom or CustomCode())
        self._frames = [Frame(self._context)]

    @classmethod
    def _impls(cls) -> Iterable[Any]:
        yield from super()._impls()
        for op in OPERATIONS:
            if op.name in HOST or op is tg.LinearOp:
                yield op, cls.run_op

    def run_op(self, interpreter: Interpreter, op: Operation, values: PythonValues) -> OpImplResult:
        """One tg op in the function that is running."""
        operands = [_value(v, value) for v, value in zip(op.operands, values, strict=True)]
        known: dict[SSAValue, HostValue] = {}
        if isinstance(op, tg.LinearOp):
            inside = {result for inner in op.body.walk() for result in inner.results}
            outer = {o for inner in op.body.walk() for o in inner.operands if o not in inside}
            known = {o: _value(o, interpreter.get_values((o,))[0]) for o in outer}
        with np.errstate(all="ignore"):
            results = self._frames[-1].evaluate(op, operands, known)
        return OpImplResult(tuple(map(_plain, results)), None)

    @impl_callable(func.FuncOp)
    def call(
        self, interpreter: Interpreter, op: func.FuncOp, arguments: PythonValues
    ) -> PythonValues:
        """A function on arrays: its results, as arrays; memory arguments are changed in place."""
        block = op.body.blocks.first
        if block is None or not block.ops:
            return interpreter.call_external(op.sym_name.data, op, arguments)
        values = [_argument(v, value) for v, value in zip(block.args, arguments, strict=True)]
        frame = Frame(self._context)
        self._frames.append(frame)
        try:
            results = interpreter.run_ssacfg_region(op.body, tuple(values), op.sym_name.data)
        finally:
            self._frames.pop()
        returned = tuple(_array(frame, op, value) for value in results)
        frame.journal.check_races()
        with errors_at(op):
            write_back(
                (memory.name, argument, memory.contents(memory.stores, frame.journal))
                for value, argument in zip(values, arguments, strict=True)
                if isinstance(value, VersionedView) and (memory := value.memory).stores
            )
        return returned

    @impl(func.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: func.CallOp, values: PythonValues
    ) -> PythonValues:
        """`func.call`: by value through xDSL, which has no way to pass memory by reference."""
        if any(is_memory(o) for o in op.operands):
            operands = [_value(v, value) for v, value in zip(op.operands, values, strict=True)]
            with np.errstate(all="ignore"):
                return tuple(self._frames[-1].call(op, op.callee.string_value(), operands))
        frame = self._frames[-1]
        return interpreter.call_op(op.callee, tuple(_array(frame, op, v) for v in values))

    @impl_terminator(func.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: func.ReturnOp, values: PythonValues
    ) -> tuple[ReturnedValues, PythonValues]:
        """`func.return`."""
        return ReturnedValues(values), ()


def _data(value: SSAValue, given: Any) -> Array:
    """The value that another dialect's op or the caller gave for a tensor, as a checked array."""
    dtype = numpy_dtype_of(value)
    array = np.asarray(given, dtype) if isinstance(given, bool | int | float) else np.asarray(given)
    if array.dtype != dtype or array.ndim != len(tensor(value).get_shape()):
        raise InterpretationError(f"{array.dtype} of shape {array.shape} is not a {value.type}")
    return array


def _value(value: SSAValue, given: Any) -> HostValue:
    """An operand, whether a tg op made it or not."""
    if isinstance(given, TensorValue | VersionedView | Void | Tuple):
        return given
    return TensorValue(MaskedArray(_data(value, given)))


def _plain(value: HostValue) -> Any:
    """A value as a plain array, if it has no invalid cells and waits for no store."""
    if isinstance(value, TensorValue) and value.array.valid is None and not value.after:
        return value.array.data
    return value


def _argument(value: SSAValue, given: Any) -> Any:
    """An argument of a function. Memory becomes versioned memory; other values are kept."""
    if is_memory(value):
        return whole(
            VersionedMemory(_data(value, given), dtype_of(value), f"argument {value.name_hint}")
        )
    return given


def _array(frame: Frame, op: Operation, value: Any) -> Any:
    """A tg value as the array it stands for."""
    if isinstance(value, TensorValue | VersionedView):
        value = frame.read(op, value).materialised()
    # A copy, because it may share the storage of an argument that is written next.
    return cast(Any, value).copy() if isinstance(value, np.ndarray) else value


def register_tg_implementations(
    interpreter: Interpreter, custom: CustomCode | None = None
) -> TgFunctions:
    """Give xDSL's interpreter the tg ops of host programs, and `func` with tg memory.

    It takes the place of xDSL's `FuncFunctions`: do not register both.
    """
    functions = TgFunctions(custom)
    interpreter.register_implementations(functions, override=True)
    return functions
