"""The base class of every family of `Tensor`'s methods: a value, its shape, and ops on it. What
methods take for tensors and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import index
from typing import Any, Self, TypeGuard, TypeVar, cast
from weakref import WeakValueDictionary, ref

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.graph import (
    ArgumentError,
    Data,
    Node,
    Shape,
    apply,
    constant,
    leaf,
    named_node,
    placed,
    same,
)
from tgdialect.frontend.keywords import accept_synonyms
from tgdialect.frontend.symbolic import SymInt, Variable, greatest, to_dim
from tgdialect.frontend.views import NO_VIEW, HasViews, register_view
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import DEVICES, KINDS, on_a_device
from tgdialect.runtime.program import HOST
from tgdialect.targets import TARGETS, target_named

Number = bool | int | float
"""A Python number, or a `SymInt`, which type checkers see as an int."""
Operand = Number | Array
"""An operand that is no tensor: a number, or an array of NumPy or of another library."""
Devices = str | list[str] | tuple[str, ...]
"""The name of a device, or those of several that get a copy each."""


T = TypeVar("T", bound="TensorBase")


class DTypeError(TypeError, RuntimeError):
    """A dtype that PyTorch and tinygrad refuse by a RuntimeError."""


class RangeError(ValueError, OverflowError):
    """A number that a dtype does not have, which Python and NumPy refuse by an OverflowError."""


class UnknownModeError(ArgumentError, NotImplementedError):
    """The name of a mode that there is not."""


PARAMETERS: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The tensors that require a gradient, by id. Not in a set, which would compare them with `==`."""


class TensorBase:
    """A lazy value, which is computed when its elements are read."""

    __slots__ = ("__weakref__", "_requires_grad", "grad", "node", "views")

    node: Node
    _requires_grad: bool
    grad: Self | None
    views: list[ref[HasViews]] | None
    """The tensors that were made as views of this one."""

    def __init_subclass__(cls) -> None:
        accept_synonyms(cls)

    @classmethod
    def of_node(cls, node: Node) -> Self:
        """A tensor with a node's value: with the node itself unless another tensor owns it."""
        new = cls.__new__(cls)
        if node.owner is not None:
            node = _unowned(node)
        node.owner = ref(new)
        new.node = node
        new._requires_grad = False
        new.grad = new.views = None
        register_view(new, node)
        return new

    @classmethod
    def _of_array(cls, array: Array, device: str | None = None) -> Self:
        """A tensor of an array, which is copied if it is not in C order, or to the device, by
        default the default one, if that is not the host. The type names `device`."""
        data = np.require(array, requirements=("C", "A")).reshape(array.shape)
        where = DEVICES[DEVICES.DEFAULT if device is None else device]
        return cls._of_data(where.array(data), device)

    @classmethod
    def _of_data(cls, data: Data, device: str | None = None, extents: Shape | None = None) -> Self:
        """A tensor of an array in C order, where it is. The type names `device`, if given. The
        shape is `extents` if that depends on variables."""
        dtype = dtypes.to_dtype(data.dtype)
        found = cls.of_node(leaf(data, dtype, is_named=device is not None, extents=extents))
        return found if device is None else found.to(device)

    @classmethod
    def of_values(cls, data: Any, dtype: tg.DType | None = None, device: str | None = None) -> Self:
        """A tensor of an array of any library, of a buffer, or of numbers in lists. An array on a
        device stays there, unless another one is named."""
        if (on_device := on_a_device(data)) is not None:
            where = DEVICES[on_device.device if device is None else device]
            return cls._of_data(where.array(on_device), device)
        return cls._of_array(array_of(data, dtype), device)

    def _take(self, node: Node) -> None:
        """Take a node's value, as `of_node`."""
        self.node = node if node.owner is None else _unowned(node)
        self.node.owner = ref(self)

    def _apart_from(self, source: TensorBase) -> Self:
        """This value as a tensor that is no view of `source`.

        For methods that compute a new value in general, but return `source`, or a view of it, in
        special cases: a later write to `source` must not show in their result.
        """
        if self is source:
            return self.of_node(self.node)
        self.node.view = NO_VIEW
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes. An extent that depends on variables is a `SymInt`, which has the
        arithmetic of an int."""
        return self.node.shape

    @property
    def dtype(self) -> tg.DType:
        """The dtype of the elements."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def device(self) -> str | tuple[str, ...]:
        """The name of the device that it is on, or will be computed on, as "CL:0"; a tuple of
        names for several devices."""
        data = self.node.data
        if (named := self.node.device) is not None or data is None:
            return named or DEVICES.DEFAULT
        return data.device if isinstance(data, DeviceArray) else HOST

    def to(self, device: Devices | None) -> Self:
        """This value on a device, as "CL:0"; None is the default device. A sequence of devices gets
        a copy on each. Raises DeviceError for a device that does not exist."""
        if isinstance(device, list | tuple):
            return self._on_devices(tuple(device), None)
        name = DEVICES[DEVICES.DEFAULT if device is None else device].name
        if name == self.device:
            return self
        return self._apply(tg.CopyOp, self.node, name)

    @property
    def requires_grad(self) -> bool:
        """Whether `backward` gives this tensor a `grad`."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, requires_grad: bool) -> None:
        self.requires_grad_(requires_grad)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether `backward` gives this tensor a `grad`."""
        if requires_grad and not self.dtype.is_float:
            raise RuntimeError(f"only floats have gradients, not {self.dtype.name}")
        if requires_grad == self.requires_grad:
            return self
        self._requires_grad = requires_grad
        is_computed = any(operand.is_tracked for operand in self.node.operands)
        self._take(self.node.copy(is_tracked=requires_grad or is_computed))
        if requires_grad:
            PARAMETERS[id(self)] = self
        else:
            PARAMETERS.pop(id(self), None)
        return self

    def _on_devices(self, devices: tuple[str, ...], axis: int | None) -> Self:
        """This value split along an axis among devices, or on each of them."""
        return self.of_node(placed(self.node, DEVICES.names(devices), axis))

    def _at(self, device: tg.Device, axis: int | None) -> Self:
        """This value where a type names a device, or several; None is anywhere."""
        if isinstance(device, tuple):
            return self._on_devices(device, axis)
        return self if device is None else self.to(device)

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def max_shape(self) -> tuple[int, ...]:
        """The upper bounds of the extents."""
        return tuple(greatest(d) for d in self.shape)

    def max_numel(self) -> int:
        """The upper bound of the number of elements."""
        return math.prod(self.max_shape)

    def _apply(self, op: Callable[..., tg.TgOp], *arguments: Any) -> Self:
        """An op of the dialect on nodes. Raises ArgumentError if its rule is broken."""
        return self.of_node(apply(op, *arguments))

    def _constant(self, value: Number, dtype: tg.DType | None = None) -> Self:
        """A scalar, by default of this tensor's dtype."""
        dtype = self.dtype if dtype is None else dtype
        return self.of_node(constant(number_in(dtype, value), dtype))

    def cast(self, dtype: DTypeLike) -> Self:
        """Convert to a dtype: floats to integers truncate and saturate, integers wrap."""
        target = dtypes.to_dtype(dtype)
        if target == self.dtype:
            return self
        return self._apply(tg.CastOp, self.node, dtypes.attribute_of(target))

    def _axis(self, axis: int) -> int:
        """An axis counted from the front. Raises IndexError if it does not exist, TypeError if it
        is not an integer."""
        if not hasattr(axis, "__index__"):
            raise TypeError(f"an axis is an integer, not {type(axis).__name__}")
        rank = max(self.ndim, 1)
        if not -rank <= axis < rank:
            raise IndexError(f"axis {axis} of a tensor with {self.ndim} axes")
        return index(axis) % rank

    def _existing_axis(self, axis: int) -> int:
        """`_axis`, but raises IndexError for axes 0 and -1 of a 0-d tensor, too."""
        if not self.ndim:
            raise IndexError(f"axis {axis} of a tensor with 0 axes")
        return self._axis(axis)

    def _axes(self, axis: int | Sequence[int] | None) -> tuple[int, ...]:
        """Axes counted from the front, each once; None is all of them."""
        if axis is None:
            return tuple(range(self.ndim))
        axes = tuple(axis) if isinstance(axis, list | tuple | range) else (cast(int, axis),)
        found = tuple(self._axis(a) for a in axes)
        if len(set(found)) < len(found):
            raise ArgumentError(f"an axis occurs twice in {axes}")
        return tuple(a for a in found if a < self.ndim)


def named(tensor: T, name: str) -> T:
    """A tensor of the same value that has this name in the program: the same tensor, unless its
    value has another name.

    Arguments and results of a compiled function have such names where it is called, and in errors;
    names may be any text. In the program's text each value has its name as an identifier. The
    arguments of a function are named while it is traced: `named(x, "pixel_values")` in its body.
    """
    node = named_node(tensor.node, name)
    return tensor if node is tensor.node else tensor.of_node(node)


_runs_on_grid: ContextVar[bool | None] = ContextVar("runs_on_grid", default=None)


@contextmanager
def traced_for(place: str | None) -> Generator[None]:
    """Have methods that choose kernels by the device choose those for a device or a target, where
    tensors stand for arguments; None for the devices of tensors."""
    kind = None if place is None else place.partition(":")[0]
    is_grid = kind is not None and (
        kind.upper() in KINDS or (kind != HOST and place in TARGETS and target_named(place).is_grid)
    )
    token = _runs_on_grid.set(None if place is None else is_grid)
    try:
        yield
    finally:
        _runs_on_grid.reset(token)


def is_elsewhere(device: str | tuple[str, ...]) -> TypeGuard[str]:
    """Whether a device is one other than the CPU: it runs a grid of work items."""
    return isinstance(device, str) and device.partition(":")[0] != HOST


def is_cpu(device: str | tuple[str, ...]) -> bool:
    """Whether kernels for values on a device are for one CPU: the device is, or what the program is
    traced for (`traced_for`)."""
    if not isinstance(device, str):
        return False
    runs_on_grid = _runs_on_grid.get()
    return not (is_elsewhere(device) if runs_on_grid is None else runs_on_grid)


def number_of(value: object) -> Number:
    """A number of Python or NumPy as one of Python. Raises TypeError for other values."""
    if isinstance(value, Variable):
        index(value)  # Raises.
    number = cast(object, value.item()) if isinstance(value, np.generic) else value
    if not isinstance(number, bool | int | float | SymInt):
        raise TypeError(f"a number is needed, not {type(number).__name__}")
    return cast(Number, number)


def number_in(dtype: tg.DType, value: object) -> Number:
    """A number converted to a dtype. Raises RangeError for an integer that is out of its range."""
    number = number_of(value)
    if dtype.is_float:
        return float(number)
    if not dtype.is_integer:
        return bool(number)
    if not math.isfinite(number) or not dtype.low <= int(number) <= dtype.high:
        raise RangeError(f"{value} is not representable in {dtype.name}")
    return int(number)


def is_operand(value: object) -> bool:
    """Whether an operator takes a value beside a tensor: a number, a size, or an array."""
    return isinstance(value, int | float | np.generic | SymInt) or hasattr(value, "__dlpack__")


def operand_of(x: T, value: T | Operand) -> T | Number:
    """A value as an operand beside a tensor: an array of any library is a tensor, too."""
    if isinstance(value, TensorBase | int | float) or not hasattr(value, "__dlpack__"):
        return cast("T | Number", value)
    return x.of_values(value)


def check_tensors(*values: object) -> None:
    """Raise TypeError unless all values are tensors."""
    for value in values:
        if not isinstance(value, TensorBase):
            raise TypeError(f"a tensor is needed, not {type(value).__name__}")


def check_integers(name: str, value: TensorBase) -> None:
    """Raise DTypeError unless a tensor has an integer dtype. `name` says what it is, as
    "classes"."""
    check_tensors(value)
    if not value.dtype.is_integer:
        raise DTypeError(f"{name} of dtype {value.dtype.name}: integers are needed")


def _unowned(node: Node) -> Node:
    """A node of the same value without another owner: a traced function that reads a node has to
    know which tensor it reads. Nodes of sizes are returned as they are, since sizes never
    change."""
    is_owned = node.owner is not None and node.owner() is not None
    return same(node) if is_owned and node.size is None else node


def flattened(first: Any, rest: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments given as one sequence or one by one: `f((2, 3))` is `f(2, 3)`."""
    if isinstance(first, list | tuple):
        if rest:
            raise ValueError(f"either one sequence or its members, got {first!r} and {rest!r}")
        return tuple(first)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return (first, *rest)


def extents_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """A shape given as one sequence or as numbers; `f()` is `f(())`."""
    return tuple(to_dim(d) for d in flattened(arguments[0], arguments[1:])) if arguments else ()
