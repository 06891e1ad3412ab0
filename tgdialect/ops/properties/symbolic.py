"""Symbolic extents of axes: integers, or index values for dynamic extents.

Two dynamic extents are known to be equal if they are the same polynomial. An index value computed
by ADD, SUB, MUL, NEG and CONST is a polynomial in the results of other ops. Index arithmetic wraps,
but polynomial identities also hold modulo 2^64.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import SSAValue

from tgdialect.ops import affine
from tgdialect.ops.affine import Affine, is_small, monomial, times
from tgdialect.ops.attributes import NumberAttr
from tgdialect.ops.walk import computed, operands_of


@dataclass(frozen=True, slots=True)
class UnknownDim:
    """A dynamic extent without a known index value, such as that of a function's result."""

    value: SSAValue
    axis: int


NAME_THE_EXTENT = (
    "name the extent by an index argument, as in "
    "`%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}`"
)
"""The hint of errors about an extent that is unknown; docs/ir.md has the rule."""

Dim = int | SSAValue | UnknownDim
"""A static extent, the `tensor<index>` value of a dynamic one, or an unknown extent."""
Shape = tuple[Dim, ...]

Atom = SSAValue | UnknownDim
Polynomial = affine.Polynomial[Atom]


def show_dim(dim: object) -> str:
    """An extent as error messages print it: `4`, `%n` or `?`. Other objects, such as the front
    end's sizes, print themselves."""
    if isinstance(dim, int):
        return "?" if dim == DYNAMIC_INDEX else str(dim)
    if isinstance(dim, SSAValue) and dim.name_hint:
        return f"%{dim.name_hint}"
    return "?" if isinstance(dim, SSAValue | UnknownDim) else str(dim)


def show_shape(shape: Sequence[object]) -> str:
    """A shape as error messages print it: `4x%nx8`, and `()` for a scalar."""
    return "x".join(show_dim(d) for d in shape) or "()"


def same_dim(a: Dim, b: Dim) -> bool:
    """Whether two extents are known to be equal."""
    if a is b or (isinstance(a, int) and isinstance(b, int)):
        return a == b
    return polynomial(a) == polynomial(b)


def same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are known to be equal."""
    return len(a) == len(b) and all(same_dim(x, y) for x, y in zip(a, b, strict=True))


def excess(total: Sequence[Dim], bound: Dim) -> int | None:
    """The sum of `total` minus `bound`; None if the difference is not a known constant."""
    if isinstance(bound, int) and (known := static_dims(total)) is not None:
        return sum(known) - bound
    difference = sum(map(polynomial, total), -polynomial(bound))
    return None if difference.terms else difference.constant


def known_dim(dim: Dim) -> int | None:
    """The value of an extent or offset; None where it depends on the arguments of a call."""
    if isinstance(dim, int):
        return dim
    value = polynomial(dim)
    return None if value.terms else value.constant


def static_dims(shape: Sequence[Dim]) -> Sequence[int] | None:
    """The extents if all are integers, as they mostly are: polynomials take longer."""
    for dim in shape:
        if not isinstance(dim, int):
            return None
    return cast("Sequence[int]", shape)


def product(shape: Shape) -> tuple[int, tuple[Atom, ...]]:
    """The number of elements of a shape: its static factor, and its dynamic factors, sorted."""
    static = math.prod(d for d in shape if isinstance(d, int))
    dynamic = monomial(d for d in shape if not isinstance(d, int))
    return (0, ()) if static == 0 else (static, dynamic)


def same_size(a: Shape, b: Shape) -> bool:
    """Whether two shapes are known to have equally many elements."""
    old, new = static_dims(a), static_dims(b)
    if old is not None and new is not None:
        return math.prod(old) == math.prod(new)
    one, other = product(a), product(b)
    return one == other or ((size := _size(*one)) is not None and size == _size(*other))


def _size(static: int, dynamic: Sequence[Atom]) -> Polynomial | None:
    size: Polynomial | None = Affine(constant=static)
    for dim in dynamic:
        size = None if size is None else times(size, polynomial(dim))
    return size


def polynomial(
    dim: Dim, atoms: Collection[SSAValue] = (), known: dict[SSAValue, Polynomial] | None = None
) -> Polynomial:
    """An extent as a polynomial. The values in `atoms` are not expanded.

    `known` keeps the polynomials of values from one call to the next; these need equal `atoms`, and
    the ops that they have seen must not change.
    """
    if isinstance(dim, int):  # Hot: `isinstance` with SSAValue, an abstract class, is slow.
        return Affine(constant=dim)
    if isinstance(dim, UnknownDim):
        return Affine({(dim,): 1})
    if _name(dim) not in _ARITHMETIC:  # Most extents are PARAMs.
        return _leaf(dim)
    found: dict[SSAValue, Polynomial] = {} if known is None else known

    def sources(value: SSAValue) -> Sequence[SSAValue]:
        is_atom = value in atoms or _name(value) not in _ARITHMETIC
        return () if is_atom else operands_of(value)

    def compute(value: SSAValue) -> Polynomial:
        if not (operands := sources(value)):
            return _leaf(value)
        result = _ARITHMETIC[_name(value)](*(found[operand] for operand in operands))
        return Affine({(value,): 1}) if result is None or not is_small(result) else result

    return computed(dim, found, sources, compute)


def _name(value: SSAValue) -> str:
    """The name of the op that defines a value; empty for a block argument."""
    return getattr(value.owner, "name", "")


def _leaf(value: SSAValue) -> Polynomial:
    known = known_index(value)
    return Affine({(value,): 1}) if known is None else Affine(constant=known)


def known_index(value: SSAValue) -> int | None:
    """The value of an integer CONST, or of a PARAM whose bounds are equal."""
    owner: Any = value.owner  # Hot: `isinstance` with an abstract class is slow.
    name = _name(value)
    if name == "tg.const" and isinstance(constant := owner.properties["value"], IntegerAttr):
        return cast("IntegerAttr", constant).value.data
    if name == "tg.param" and isinstance(low := owner.properties.get("min"), NumberAttr):
        return low.data if low == owner.properties.get("max") else None
    return None


def substituted(polynomial_: Polynomial, values: Mapping[Atom, Dim]) -> Polynomial | None:
    """A polynomial with `values` substituted for its atoms; None if an atom has no value or the
    result is too large."""
    return affine.composed(
        polynomial_, lambda atom: polynomial(values[atom]) if atom in values else None
    )


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "tg.add": operator.add,
    "tg.sub": operator.sub,
    "tg.mul": times,
    "tg.neg": operator.neg,
}
