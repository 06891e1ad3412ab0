"""`spec`: the shape and dtype of an argument, for compiling before there is an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import is_array
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.graph import Node, static_extents
from tgdialect.frontend.symbolic import Atom, Dim, SymInt, Variable
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.tracing import mapped, size_parameter
from tgdialect.ops.dtypes import DType
from tgdialect.ops.properties import tensor_type

DEFAULT_BOUNDS = 1, 2**31 - 1
"""The default bounds of a named extent."""

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Spec:
    """The shape and dtype of an argument, and explicit bounds of its named extents.

    `tgdialect.spec` makes one.
    """

    shape: tuple[Dim | str, ...]
    dtype: DType
    bounds: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds])

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.dtype.name])


def spec(shape: Sequence[Any], dtype: DTypeLike = "f32", **bounds: Bounds) -> Spec:
    """The shape and dtype of an argument of `tgdialect.compile` or of `Function.lower`.

    Args:
        shape: the extents. An extent is an integer, a name, a `Variable`, or arithmetic on sizes as
            in the shape of a tensor. Equal names, also in other specs, are one size; a program is
            compiled once for all of its values.
        dtype: as `Tensor` takes it.
        bounds: the least and the greatest value of an extent by its name, both included, as
            `n=(1, 1024)`. By default, an extent is between 1 and 2**31 - 1.

    Raises TypeError and ValueError for other values.
    """
    if isinstance(shape, str) or not isinstance(cast(object, shape), Sequence):
        raise TypeError(f"the shape of a spec is a sequence of extents, got {shape!r}")
    found: dict[str, Bounds] = {}
    extents = tuple(_extent(extent, found) for extent in shape)
    for name, given in bounds.items():
        if name not in extents:
            raise TypeError(f"{name} has bounds, but is no extent of the shape {tuple(shape)}")
        found[name] = _checked(name, given)
    return Spec(extents, dtypes.to_dtype(dtype), found)


def _extent(extent: Any, bounds: dict[str, Bounds]) -> Dim | str:
    """An extent as a number, a name, or arithmetic on sizes. Adds a Variable's bounds to
    `bounds`."""
    if isinstance(extent, Variable):
        bounds[extent.name] = extent.min, extent.max
        return extent.name
    if isinstance(extent, str):
        if not extent.isidentifier():
            raise ValueError(f"{extent!r} is not a name for an extent")
        return extent
    if isinstance(extent, SymInt):
        bounds |= {a.variable.name: (a.variable.min, a.variable.max) for a in extent.atoms}
        return extent if extent.atom is None else extent.atom.variable.name
    if isinstance(extent, bool) or not hasattr(extent, "__index__"):
        raise TypeError(f"an extent is an integer, a name or a Variable, got {extent!r}")
    if index(extent) < 0:
        raise ValueError(f"an extent is {extent}")
    return index(extent)


def _checked(name: str, bounds: object) -> Bounds:
    """Bounds of an extent. Raises TypeError unless they are a pair of integers, ValueError unless
    0 <= least <= greatest."""
    match bounds:
        case (int() as least, int() as greatest):
            variable = Variable(name, least, greatest)
            return variable.min, variable.max
        case _:
            raise TypeError(
                f"the bounds of {name} are its least and greatest value, got {bounds!r}"
            )


def spec_of(value: object) -> Spec | None:
    """The spec of a tensor, an array or a spec; None for other values."""
    if isinstance(value, Spec):
        return value
    if isinstance(value, Tensor):
        return spec(value.shape, value.dtype)
    return spec_of(Tensor(value)) if is_array(value) else None


class Sizes:
    """The named sizes of several specs: equal names are one variable."""

    def __init__(self, specs: Sequence[Spec]) -> None:
        """Raises ValueError where two specs disagree on the bounds of a name."""
        self._bounds: dict[str, Bounds] = {}
        for each in specs:
            for name, bounds in each.bounds.items():
                if (known := self._bounds.setdefault(name, bounds)) != bounds:
                    raise ValueError(f"{name} has the bounds {known} and {bounds}")
        self._atoms: dict[str, Atom] = {}

    def atom(self, name: str) -> Atom:
        """The variable of a name, without a value."""
        if name not in self._atoms:
            variable = Variable(name, *self._bounds.get(name, DEFAULT_BOUNDS))
            self._atoms[name], _ = size_parameter(variable)
        return self._atoms[name]

    def size(self, extent: Dim | str) -> Dim:
        """An extent of a spec as a size."""
        if isinstance(extent, str):
            return SymInt.of(self.atom(extent))
        if isinstance(extent, SymInt):
            return extent.substituted({a: self.atom(a.variable.name) for a in extent.atoms})
        return extent

    def tensor(self, like: Spec) -> Tensor:
        """A tensor of a spec, without a value."""
        extents = tuple(self.size(extent) for extent in like.shape)
        static = static_extents(extents)
        type = tensor_type(dtypes.attribute_of(like.dtype), static)
        is_symbolic = static != extents
        return Tensor.of_node(Node(None, (), type, extents=extents if is_symbolic else None))


def check_specs(values: Sequence[Any]) -> None:
    """Raise TypeError unless each value is a spec, an array, a tensor, or a list, tuple or dict of
    them."""

    def check(value: Any) -> None:
        if spec_of(value) is None:
            raise TypeError(f"expected a spec, an array or a tensor, got {value!r}")

    mapped(values, check)
