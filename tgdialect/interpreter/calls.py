"""The symbols that can be called: functions, kernels and programs; and `run`, which calls one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
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
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.custom import CustomCode, CustomFunction
from tgdialect.diagnostics import errors_at
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.interpreter.block_analysis import is_parallel
from tgdialect.interpreter.host import HOST, Frame, check_parameter, run_block
from tgdialect.interpreter.instructions import allow
from tgdialect.interpreter.kernel import Given, LiveValue
from tgdialect.interpreter.memory import LiveMemory, LiveView
from tgdialect.interpreter.run_context import (
    Callee,
    Contents,
    Outcome,
    RunContext,
    symbol_of,
    write_back,
)
from tgdialect.interpreter.signature import bind, body_of, signature
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
from tgdialect.ops.call import parameters
from tgdialect.ops.families import OPERATIONS
from tgdialect.ops.numpy_dtypes import Array


def _function(
    context: RunContext,
    callee: func.FuncOp,
    arguments: Sequence[Array],
    extra: Sequence[Array],
    shared: Mapping[int, LiveView],
) -> Outcome:
    block = body_of(callee)
    values = [
        _argument(argument, data, f"argument {argument.index}")
        for argument, data in zip(block.args, arguments, strict=True)
    ]
    slots = parameters(block)[: len(extra)]
    params = [
        _argument(param.result, data, f"parameter {param.slot.data}")
        for param, data in zip(slots, extra, strict=True)
    ]
    frame = Frame(context, params)
    with context.nested(f"the call of @{callee.sym_name.data}"):
        returned = frame.run(block, values)
    end = block.last_op
    assert end is not None
    # Copies, because what they may share storage with is written next.
    with errors_at(end):
        results = [np.array(frame.read(end, value).materialised()) for value in returned]
    frame.journal.check_races()
    write_back(
        (memory.name, context.buffers[slot], memory.contents(memory.stores, frame.journal))
        for (_, slot), memory in frame.buffers.items()
        if slot in context.buffers and memory.stores
    )
    return Outcome(results, [_contents(frame, value) for value in (*values, *params)])


def _kernel(
    context: RunContext,
    callee: tg.KernelOp | tg.ProgramOp,
    arguments: Sequence[Array],
    extra: Sequence[Array],
    shared: Mapping[int, LiveView],
) -> Outcome:
    is_graph = isinstance(callee, tg.KernelOp)
    if not is_graph and callee.binary is not None:
        allow(context.custom, f"{callee.binary.name} of @{callee.sym_name.data}")
    block = body_of(callee)
    params = parameters(block)
    _, written = context.effects(callee)

    def bind(snapshots: bool) -> Given:
        values: list[LiveValue] = []
        copies: dict[LiveMemory, LiveMemory] = {}
        for param, data in zip(params, arguments, strict=True):
            slot = param.slot.data
            if (view := shared.get(slot)) is not None:
                if view.memory not in copies:
                    copies[view.memory] = _copy(view.memory)
                values.append(LiveView(copies[view.memory], view.cell_map))
                continue
            if not tg.is_memory(param.result):
                with errors_at(param):
                    check_parameter(param, data)
                values.append(MaskedArray(data))
                continue
            memory = LiveMemory(
                data.copy() if slot in written else data,
                tg.dtype_of(param.result),
                name=f"parameter {slot}",
                keep_snapshot=slot in written and snapshots,
            )
            if slot in written:
                memory.written = np.zeros(memory.size, np.bool_)
            values.append(memory.view())
        return Given(values)

    if shared and _stores_in_order(block):
        context = replace(context, scalar=True)
    values = run_block(block, context, graph=is_graph, bind=bind)
    return Outcome([], [_live_contents(value) for value in values])


def _argument(value: SSAValue, data: Array, name: str) -> HostValue:
    """An argument as a function's body sees it."""
    if tg.is_memory(value):
        return whole(VersionedMemory(data, tg.dtype_of(value), name))
    return TensorValue(MaskedArray(data))


def _contents(frame: Frame, value: HostValue) -> Contents | None:
    if not isinstance(value, VersionedView) or not value.memory.stores:
        return None
    memory = value.memory
    return Contents(
        memory.contents(memory.stores, frame.journal),
        lambda: frame.journal.written(memory.stores, memory),
    )


def _stores_in_order(block: Block) -> bool:
    """Whether a loop whose iterations have an order stores: what a later one reads of shared cells
    depends on it, so that iterations cannot run at once."""
    around = tg.nesting(ops_of(block))
    loops = [axis for op, axes in around.items() if isinstance(op, tg.StoreOp) for axis in axes]
    return any(isinstance(each, tg.RangeOp) and not is_parallel(each) for each in loops)


def _copy(memory: LiveMemory) -> LiveMemory:
    """A copy of memory that several parameters are views of."""
    copy = LiveMemory(memory.contents.copy(), memory.dtype, name=memory.name, is_shared=True)
    copy.written = np.zeros(copy.size, np.bool_)
    return copy


def _live_contents(value: LiveValue) -> Contents | None:
    if not isinstance(value, LiveView) or value.memory.written is None:
        return None
    return Contents(value.contents(), value.written)


CALLEES: Mapping[str, Callee] = {
    func.FuncOp.name: _function,
    tg.KernelOp.name: _kernel,
    tg.ProgramOp.name: _kernel,
}
"""How each op that can be called is run, by name."""


def run(
    module: ModuleOp,
    entry: str = "main",
    inputs: Sequence[Any] = (),
    *,
    allow_custom: bool = False,
    custom: Mapping[str, CustomFunction] | None = None,
    buffers: dict[int, Array] | None = None,
    scalar: bool = False,
    callees: Mapping[str, Callee] = {},
) -> list[Array]:
    """Execute a function, kernel or program of `module`.

    `inputs` are NumPy arrays (or Python numbers, for scalars) for the arguments that are not
    `{tg.output}`, `{tg.workspace}` or `{tg.buffer}`, then for the PARAMs of a `func.func` by slot.
    An array that is memory and that the program stores to is changed in place. `buffers` holds the
    contents of global BUFFERs by slot, changed in place too; the others begin as zeros.
    `scalar` runs kernels one iteration at a time (`scalar.py`), which defines what the faster lanes
    compute. `callees` run ops of their names in place of those of `CALLEES`, when they are called.

    Returns the function's results, then its outputs (those in inputs, too), in the dtypes of
    `ops/arrays.py`. Raises InterpretationError, with one line that says what is wrong and located
    at the op, for inputs that do not fit, a race or a cycle between stores and reads, and custom
    code that has no implementation in `custom` (`tgdialect.custom`; by the name or format of a
    CUSTOM, a mnemonic, or a symbol) or is not allowed. Raises ValueError for functions in `custom`
    without `allow_custom`.
    """
    callee = symbol_of(module, entry)
    buffers = {} if buffers is None else buffers
    with errors_at(callee):
        params = signature(callee)
        arrays = bind(params, inputs, buffers)
    context = RunContext(
        {**CALLEES, **callees}, CustomCode(allow_custom, custom or {}), buffers, scalar
    )
    arguments = len(callee.body.block.args) if isinstance(callee, func.FuncOp) else len(arrays)
    # Overflow, division by zero and NaN have their meaning in the dialect; none is an error.
    with np.errstate(all="ignore"):
        outcome = context.call(callee, arrays[:arguments], arrays[arguments:])
    with errors_at(callee):
        write_back(
            (param.label, array, content.data)
            for param, array, content in zip(params, arrays, outcome.contents, strict=True)
            if content is not None
        )
    outputs = [a for p, a in zip(params, arrays, strict=True) if p.is_output]
    overwritten = {p.result: a for p, a in zip(params, arrays, strict=True) if p.result is not None}
    for number in sorted(overwritten):
        outputs.insert(number, overwritten[number])
    return [*outcome.results, *outputs]


# -- the same semantics under xDSL's own interpreter, so that tg ops mix with other dialects' ops --


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
        values = [
            # Memory becomes versioned memory; other values are kept.
            _argument(v, _data(v, value), f"argument {v.name_hint}") if tg.is_memory(v) else value
            for v, value in zip(block.args, arguments, strict=True)
        ]
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
        if any(tg.is_memory(o) for o in op.operands):
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
    if array.dtype != dtype or array.ndim != len(tg.tensor(value).get_shape()):
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
