"""Arguments and return values of traced functions, which may be nested lists, tuples and dicts:
their tensors are replaced by slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np

from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.graph import Node, Shape
from tgdialect.frontend.symbolic import Atom, SymInt, atoms_of, substituted
from tgdialect.ops.numpy_dtypes import Array

T = TypeVar("T", bound=TensorBase)


@dataclass(frozen=True)
class Slot:
    """The place of a tensor in an argument or return value."""

    index: int


@dataclass(frozen=True, eq=False)
class Same:
    """The place of a returned tensor that existed before the call; an argument is its number."""

    tensor: TensorBase | int


class Inputs(Generic[T]):
    """The tensors of a class in the arguments of a call, once each, and the numbered variables of
    sizes."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self.tensors: list[T] = []
        self.atoms: dict[Atom, Atom] = {}
        self._slots: dict[int, Slot] = {}

    def signature(self, value: Any) -> Any:
        """A value as a hashable key, with slots for its tensors."""
        if isinstance(value, self._kind):
            if id(value) not in self._slots:
                self._slots[id(value)] = Slot(len(self.tensors))
                self.tensors.append(value)
                self._note(value.node.extents or ())
            return self._slots[id(value)]
        if isinstance(value, SymInt):
            self._note((value,))
            return value.substituted(self.atoms)
        if isinstance(value, list | tuple):
            items = cast("Sequence[Any]", value)
            return type(items), *[self.signature(item) for item in items]
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value)
            return dict, *[(k, self.signature(v)) for k, v in entries.items()]
        if isinstance(value, np.ndarray):
            array = cast(Array, value)
            return np.ndarray, array.shape, array.dtype, array.tobytes()
        if isinstance(value, float):
            # As keys, 0.0 equals -0.0, and NaN differs from itself.
            return type(value), value.hex()
        try:
            hash(value)
        except TypeError:
            return _Identity(value)
        return type(value), value

    def kind_of(self, tensor: TensorBase) -> tuple[Any, ...]:
        """The part of a key that a tensor of the signature decides beside its place."""
        node = tensor.node
        return node.type, node.is_tracked, substituted(node.extents, self.atoms)

    def _note(self, extents: Shape) -> None:
        for atom in atoms_of(extents):
            if atom not in self.atoms:
                self.atoms[atom] = Atom(atom.variable, None, len(self.atoms))


class _Identity:
    """A key for an unhashable object, which is compared by identity."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A nested value with a function applied to all its leaves."""
    if isinstance(value, list | tuple):
        items = [mapped(item, function) for item in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else _tuple_like(value, items)
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        return {k: mapped(v, function) for k, v in entries.items()}
    return function(value)


def structure_of(
    value: Any, outputs: list[Node], same: Callable[[TensorBase], TensorBase | int | None]
) -> Any:
    """A return value with a `Same` for each tensor that `same` finds to have existed before, and a
    `Slot` for each new tensor, whose node is added to `outputs`."""

    def slot(inner: Any) -> Any:
        if not isinstance(inner, TensorBase):
            return inner
        if (known := same(inner)) is not None:
            return Same(known)
        outputs.append(inner.node)
        return Slot(len(outputs) - 1)

    return mapped(value, slot)


def filled(
    structure: Any,
    results: Sequence[Any],
    sizes: Mapping[Atom, Atom],
    inputs: Sequence[TensorBase] = (),
) -> Any:
    """A return value with tensors for its slots, and sizes in other variables."""

    def fill(value: Any) -> Any:
        match value:
            case SymInt():
                return value.substituted(sizes)
            case Slot():
                return results[value.index]
            case Same():
                return inputs[value.tensor] if isinstance(value.tensor, int) else value.tensor
            case _:
                return value

    return mapped(structure, fill)


def _tuple_like(old: Any, items: Sequence[Any]) -> Any:
    """A tuple, or a named tuple of the same kind."""
    return type(old)(*items) if hasattr(old, "_fields") else tuple(items)
