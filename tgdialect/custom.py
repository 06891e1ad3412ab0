"""Functions that a caller registers for CUSTOM and CUSTOMFUNCTION, by their names.

A function is a Python callable on NumPy arrays, a compiled program (`Executable`), or a host
function as a function pointer of ctypes. The interpreter calls it on arrays. Compiled code calls it
by an external symbol, which says all that the loader has to know about the call (`CallSignature`).

A kernel, which all targets compile, takes the place of its CUSTOMFUNCTION before all stages
(`transforms/link_kernels.py`).
"""

from __future__ import annotations

import ctypes
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from tgdialect.ops.numpy_dtypes import NUMPY_NAMES, Array, dtype_named

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tgdialect.ops import tg
    from tgdialect.ops.call import KernelOp
    from tgdialect.ops.codegen import CustomCall, CustomFunctionOp, CustomOp

CustomFunction = Callable[..., Any]
"""A function of a CUSTOM or INS takes an array for each operand, which broadcast, and returns the
array of the result, or None for `!tg.void`. A function of a CUSTOMFUNCTION takes an array for each
argument, and changes those of memory in place. If it returns arrays, they are stored in the
arguments that it writes and does not read; an `Executable` of fewer inputs is passed what it reads.

A function pointer takes numbers by value, and memory by its address; then the dynamic extents of
memory as i64, in order.
"""

Registered = Mapping[str, "CustomFunction | KernelOp"]
"""The functions and kernels of a caller."""

REGISTERED = "tg.registered"
"""The attribute of a CUSTOMFUNCTION whose function is registered: code calls it by its `symbol`,
and otherwise by its name."""

_PREFIX = "tg_call_"
_SYMBOL = re.compile(rb"tg_call_(?:[0-9a-f]{2})+")


class CallArgument(NamedTuple):
    """An argument of a call, of a dtype of the dialect. `shape` is None for a number, and has None
    for dynamic extents."""

    dtype: str
    shape: Sequence[int | None] | None = None
    reads: bool = True
    writes: bool = False

    @property
    def c_type(self) -> Any:
        """How it is passed."""
        return ctypes.c_void_p if self.shape is not None else _c_type(self.dtype)

    def array(self, value: Any, extents: Sequence[int]) -> Array:
        """The array that a Python function is passed: on the memory at an address, or of a number.
        `extents` are the dynamic ones."""
        dtype = _dtype(self.dtype)
        if self.shape is None:
            return np.asarray(value, dtype)
        sizes = iter(extents)
        shape = [next(sizes) if extent is None else extent for extent in self.shape]
        count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory: Any = (ctypes.c_char * count).from_address(value) if count else bytearray()
        array: Array = np.frombuffer(memory, dtype).reshape(shape)
        array.flags.writeable = self.writes
        return array


class CallSignature(NamedTuple):
    """A call of a registered function. `result` is None for one that gives nothing."""

    name: str
    result: str | None
    arguments: Sequence[CallArgument]

    @property
    def symbol(self) -> str:
        """The external symbol that stands for the function in object code: an identifier."""
        return _PREFIX + json.dumps(self, separators=(",", ":")).encode().hex()

    @classmethod
    def of(cls, symbol: str) -> CallSignature:
        """The inverse of `symbol`."""
        name, result, arguments = json.loads(bytes.fromhex(symbol.removeprefix(_PREFIX)))
        return cls(name, result, [CallArgument(*each) for each in arguments])

    @property
    def extents(self) -> int:
        """The number of dynamic extents, which are passed after the arguments."""
        return sum(extent is None for a in self.arguments for extent in a.shape or ())

    @property
    def prototype(self) -> Any:
        """The type of a function pointer of ctypes."""
        result = None if self.result is None else _c_type(self.result)
        extents = [ctypes.c_int64] * self.extents
        return ctypes.CFUNCTYPE(result, *[a.c_type for a in self.arguments], *extents)

    def called_with(self, values: Sequence[Any]) -> list[Array]:
        """The arrays of a call by compiled code."""
        sizes = list(values[len(self.arguments) :])
        arrays: list[Array] = []
        for argument, value in zip(self.arguments, values, strict=False):
            dynamic = sum(extent is None for extent in argument.shape or ())
            arrays.append(argument.array(value, sizes[:dynamic]))
            del sizes[:dynamic]
        return arrays


# Imported late: a program from the object cache starts without xDSL.


def signature_of_custom(op: CustomOp, call: CustomCall) -> CallSignature:
    """The call that stands for a CUSTOM, for one element of each operand. Narrow floats are passed
    as f32."""
    from tgdialect.ops import tg
    from tgdialect.ops.attributes import VoidType

    def passed(value: SSAValue) -> str:
        dtype = tg.dtype_of(value)
        return "f32" if dtype.is_float and dtype.bits < 32 else dtype.name

    is_void = isinstance(op.result.type, VoidType)
    arguments = [CallArgument(passed(op.arguments[number])) for number in call.order]
    return CallSignature(call.name, None if is_void else passed(op.result), arguments)


def signature_of_call(op: tg.CallOp, callee: CustomFunctionOp) -> CallSignature:
    """A CALL of a CUSTOMFUNCTION."""
    from xdsl.dialects.builtin import DYNAMIC_INDEX

    from tgdialect.ops import tg

    reads, writes = callee.effects(len(op.arguments))
    arguments: list[CallArgument] = []
    for slot, value in enumerate(op.arguments):
        dtype, shape = tg.dtype_of(value).name, None
        if tg.is_memory(value):
            shape = [None if d == DYNAMIC_INDEX else d for d in tg.tensor(value).get_shape()]
        arguments.append(CallArgument(dtype, shape, slot in reads, slot in writes))
    return CallSignature(callee.sym_name.data, None, arguments)


def _dtype(name: str) -> np.dtype[Any]:
    return dtype_named(NUMPY_NAMES[name])


def _c_type(name: str) -> Any:
    return np.ctypeslib.as_ctypes_type(_dtype(name))


@dataclass(frozen=True, eq=False)
class CustomCode:
    """Whether code of a program's own is executed, and the functions that stand for some of it."""

    allowed: bool = False
    functions: Mapping[str, CustomFunction] = field(default_factory=dict[str, CustomFunction])

    def __post_init__(self) -> None:
        if self.functions and not self.allowed:
            raise ValueError("functions are registered, and allow_custom is not set")
        for name, function in self.functions.items():
            if not callable(function):
                raise TypeError(f"{name!r} is registered as {function!r}, which is no function")

    def __repr__(self) -> str:
        """For cache keys: code depends on the names, not on the functions."""
        return f"CustomCode({self.allowed}, {sorted(self.functions)})"

    def on_arrays(self, signature: CallSignature) -> CustomFunction:
        """The registered function of a signature as one on arrays."""
        function = self.functions[signature.name]
        if _is_pointer(function):
            function = _on_arrays(function, signature)
        if signature.result is not None:
            return lambda *arrays: _result(function, signature, arrays)
        return lambda *arrays: _store(function, signature, arrays)


NO_CUSTOM = CustomCode()


def kernels_in(registered: Registered) -> Mapping[str, KernelOp]:
    """The kernels among what is registered. Does not import the dialect."""
    kernels = {n: f for n, f in registered.items() if getattr(f, "name", None) == "tg.kernel"}
    return cast("Mapping[str, KernelOp]", kernels)


def _is_pointer(function: object) -> bool:
    return hasattr(function, "argtypes") and hasattr(function, "restype")


def _on_arrays(function: Any, signature: CallSignature) -> CustomFunction:
    """A function pointer as a function on arrays."""
    pointer = signature.prototype(ctypes.cast(function, ctypes.c_void_p).value)
    if signature.result is not None:
        dtype = _dtype(signature.result)
        types = [_dtype(argument.dtype) for argument in signature.arguments]

        def elementwise(*arrays: Array) -> Array:
            given = np.broadcast_arrays(*map(np.asarray, arrays, types))
            shape = given[0].shape if given else ()
            rows = zip(*(a.ravel().tolist() for a in given), strict=True) if given else [()]
            return np.array([pointer(*row) for row in rows], dtype).reshape(shape)

        return elementwise

    def on_memory(*arrays: Array) -> None:
        values = [
            array.item() if argument.shape is None else array.ctypes.data
            for array, argument in zip(arrays, signature.arguments, strict=True)
        ]
        sizes = [
            extent
            for array, argument in zip(arrays, signature.arguments, strict=True)
            for extent, known in zip(array.shape, argument.shape or (), strict=False)
            if known is None
        ]
        pointer(*values, *sizes)

    return on_memory


def _result(function: Any, signature: CallSignature, arrays: Sequence[Array]) -> Any:
    """Call a function that gives a value. Raises TypeError for None, as without a `return`."""
    if (result := function(*arrays)) is None:
        raise TypeError(f"the function {signature.name!r} returns None, and not {signature.result}")
    return result


def _store(function: Any, signature: CallSignature, arrays: Sequence[Array]) -> None:
    """Call a function that changes memory, and store the arrays that it returns."""
    pairs = list(zip(arrays, signature.arguments, strict=True))
    inputs = getattr(function, "inputs", None)
    if inputs is not None and len(inputs) != len(arrays):
        given = [array for array, argument in pairs if argument.reads]
    else:
        given = arrays
    results = function(*given)
    if results is None or (isinstance(results, tuple) and not results):
        return
    made = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
    targets = [array for array, a in pairs if a.writes and not a.reads]
    if len(made) != len(targets):
        raise ValueError(
            f"the function {signature.name!r} returns {len(made)} arrays, and @{signature.name} "
            f"has {len(targets)} arguments that it writes and does not read"
        )
    for target, array in zip(targets, made, strict=True):
        target[...] = np.asarray(array)


def is_in_process(name: str) -> bool:
    """Whether the process has a function or variable of this name, as of the C library."""
    return hasattr(ctypes.CDLL(None), name)


@dataclass(eq=False)
class _Call:
    """A call of a program, and the first error of a function in it."""

    error: BaseException | None = None


class _Calls(threading.local):
    """The calls of this thread, each inside a function of the one before."""

    def __init__(self) -> None:
        self.nested: list[_Call] = []


class Callbacks:
    """The registered functions as compiled code calls them. Their addresses are valid as long as
    this object lives."""

    def __init__(self, custom: CustomCode) -> None:
        self._custom = custom
        self._kept: dict[str, Any] = {}
        self._running: set[_Call] = set()
        self._of_thread = _Calls()

    def symbols(self, object_code: bytes) -> Mapping[str, int]:
        """The address of each registered function that object code calls."""
        for found in _SYMBOL.findall(object_code):
            if (symbol := found.decode()) not in self._kept:
                signature = CallSignature.of(symbol)
                if signature.name in self._custom.functions:
                    self._kept[symbol] = self._pointer(signature)
        kept = self._kept.items()
        return {symbol: ctypes.cast(f, ctypes.c_void_p).value or 0 for symbol, f in kept}

    def call(self, code: Callable[..., None], *arguments: Any) -> None:
        """Call compiled code, and raise the first error of a function that it has called."""
        call, nested = _Call(), self._of_thread.nested
        nested.append(call)
        self._running.add(call)
        try:
            code(*arguments)
        finally:
            self._running.remove(call)
            nested.pop()
        if call.error is not None:
            raise call.error

    def _calls(self) -> Sequence[_Call]:
        """The calls that this thread may be at work for: those of its own or, for a thread of the
        pool, which does not know its caller, all."""
        return self._of_thread.nested[-1:] or list(self._running)

    def _pointer(self, signature: CallSignature) -> Any:
        if _is_pointer(function := self._custom.functions[signature.name]):
            return function
        function = self._custom.on_arrays(signature)

        def called(*values: Any) -> Any:
            # After an error the program runs to its end, without calls: nobody can unwind it.
            calls = self._calls()
            if any(call.error is None for call in calls):
                try:
                    result = function(*signature.called_with(values))
                    if signature.result is not None:
                        return np.asarray(result, _dtype(signature.result)).item()
                except BaseException as error:
                    for call in calls:
                        call.error = call.error or error
            return None if signature.result is None else 0

        return signature.prototype(called)
