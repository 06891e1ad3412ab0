"""The base class of all ops: it infers result types, and its verifier recomputes them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import BaseAttr, EqAttrConstraint, result_def, traits_def
from xdsl.irdl.constraints import VerificationContext
from xdsl.traits import EffectInstance, MemoryEffectKind, NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.accessors import FastResult, Values
from tgdialect.fast_xdsl.creation import initialize
from tgdialect.fast_xdsl.operations import FastOp
from tgdialect.ops.attributes import VOID, TupleType, is_tensor
from tgdialect.ops.dtypes import INDEX, dtype_row
from tgdialect.ops.properties import is_type_written, place_of, result_type, static_shape
from tgdialect.ops.syntax import (
    Constant,
    DataContents,
    Edges,
    Int,
    IntegerRuns,
    Integers,
    Name,
    Signature,
)

AttributeCovT = TypeVar("AttributeCovT", bound=Attribute, covariant=True)


@dataclass(frozen=True)
class OfType(BaseAttr[AttributeCovT]):
    """Constraint: an attribute of a class, with a name for error messages."""

    description: str

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, self.attr):
            raise VerifyException(f"expected {self.description}, got {attr}")


TENSOR = OfType[TensorType[Attribute]](TensorType, "a tensor")
"""Constraint: a builtin tensor."""
TUPLE = OfType(TupleType, "a !tg.tuple")
"""Constraint: a `!tg.tuple`."""
INDEX_SCALAR = EqAttrConstraint(TensorType(INDEX, ()))
"""Constraint: `tensor<index>`."""
VOID_EDGE = EqAttrConstraint(VOID)
"""Constraint: `!tg.void`."""

SIGNATURE = "attr-dict `:` custom<Signature>(functional-type(operands, results))"
"""The end of an assembly format: attributes, and the types of operands and results."""

Value = SSAValue | Operation
"""An operand as builders accept it: a value, or an op with one result."""


class NothingInGraph(NoMemoryEffect):
    """No effect in a graph, a write in an op of `KEPT_IN`: a LINEAR.

    The effect keeps passes of other dialects from moving or erasing ops of a LINEAR: an END has no
    uses but closes a loop, and a value exists only until the enclosing RANGE or IF is closed.
    """

    KEPT_IN: ClassVar[Sequence[str]] = ("tg.linear",)

    @classmethod
    def get_effects(cls, op: Operation) -> Set[EffectInstance]:
        around = op.parent_op()
        return _WRITE if around is not None and around.name in cls.KEPT_IN else _NOTHING


class PureInGraph(NothingInGraph, Pure):
    """An op that may be merged with an equal one, or erased if unused, except in a LINEAR."""


_NOTHING: Set[EffectInstance] = frozenset()
_WRITE = frozenset({EffectInstance(MemoryEffectKind.WRITE)})


class TgOp(FastOp):
    """An op of the dialect. It has one result, whose type the table in `properties` derives.

    Builders take operands and arguments, never a result type. The verifier checks the op's own
    rule, then recomputes the result type and compares it with the one that is written down. Any op
    may carry a `tag` attribute for temporary marks; no pass may depend on one after it ends.
    """

    OPENS_BLOCK: ClassVar[bool] = False
    """Whether a loop or a conditional block begins at this op of a LINEAR."""
    CLOSES: ClassVar[slice | None] = None
    """Which operands are the beginnings of the blocks of a LINEAR that end at this op."""
    ESCAPES_BLOCK: ClassVar[bool] = False
    """Whether the result may be used after the block of a LINEAR that the op stands in."""
    HOLDS_KERNEL: ClassVar[bool] = False
    """Whether the op's body is that of a kernel."""

    custom_directives = (Signature, Integers, Int, IntegerRuns, Name, Constant, Edges, DataContents)

    @property
    def is_valid_by_types(self) -> bool:
        """Whether attributes and types, if these are static, decide whether the op is valid: no
        other op does. So equal ops of a module are verified once."""
        return False

    @property
    def closed_blocks(self) -> Sequence[SSAValue]:
        """The beginnings of the blocks of a LINEAR that end at this op, the innermost first."""
        return () if self.CLOSES is None else self.operands[self.CLOSES]

    def infer(
        self,
        operands: Sequence[Value],
        properties: Mapping[str, Attribute | None] = {},
        *,
        regions: Sequence[Region] = (),
        type: Attribute | None = None,
    ) -> None:
        """Initialise the op, inferring its result type (leaf ops pass theirs as `type`).

        `IRDLOperation.__init__` is not called, since it takes twice the time. Operands are compared
        with the most common class first: `isinstance` with SSAValue, an abstract class, takes ten
        times as long.
        """
        initialize(
            self,
            [o if isinstance(o, FastResult) else SSAValue.get(o) for o in operands],
            {k: v for k, v in properties.items() if v is not None},
            regions=regions,
        )
        self.results = Values((FastResult(type or _inferred(self), self, 0),))
        Operation.__post_init__(self)  # xDSL's `ImplicitBuilder` replaces it.

    def rebuild(self, operands: Sequence[Value], type: Attribute | None = None) -> Self:
        """The same op on other operands, with copies of its regions. Leaf ops keep their type
        unless given another."""
        new = self.__class__.__new__(self.__class__)
        if type is None and is_type_written(self):
            type = self.results[0].type
        regions = [region.clone() for region in self.regions]
        new.infer(operands, self.properties, regions=regions, type=type)
        new.location = self.location
        # Their setter checks the name, which this op has already.
        new.results[0]._name = self.results[0]._name  # pyright: ignore[reportPrivateUsage]
        return new

    def verify_(self) -> None:
        self.verify_rule()
        written = self.results[0].type
        derived = result_type(self)
        if written != derived:
            raise VerifyException(
                f"the result type is written as {written}, but the op gives {derived}"
            )
        for value in (*self.operands, self.results[0]):
            if is_tensor(value.type):
                verify_tensor(value.type)

    def verify_rule(self) -> None:
        """Check the op's rule beyond its result type; raises VerifyException."""


class VoidOp(TgOp, ABC):
    """An op whose result is an edge of the order of execution."""

    result = result_def(VOID_EDGE)


class ValueOp(TgOp, ABC):
    """An op without effects whose result is a tensor."""

    result = result_def(TENSOR)

    traits = traits_def(PureInGraph())


MANY_TYPES = 4096
"""The result types that are remembered; then all are forgotten. Larger: a process that compiles
many programs keeps more attributes; smaller: types of a program with many different ops are
inferred again."""

_types: dict[tuple[object, ...], tuple[Attribute, Sequence[Attribute]]] = {}
"""The result types of ops that static types and attributes decide about, by the identity of these,
which are kept so that no later one gets it."""


def _inferred(op: TgOp) -> Attribute:
    """The type of an op's result. Most ops of a program are like an earlier one, and to infer a
    type takes ten times as long as to look it up."""
    if not op.is_valid_by_types:
        return result_type(op)
    types = [operand.type for operand in op.operands]
    given = (*op.properties.values(), *types)
    key = (op.__class__, *op.properties, *map(id, given))
    if (known := _types.get(key)) is not None:
        return known[0]
    type = result_type(op)
    if all(map(_is_static, types)):
        if len(_types) >= MANY_TYPES:
            _types.clear()
        _types[key] = type, given
    return type


def _is_static(type: Attribute) -> bool:
    """Whether a type is of tensors without dynamic extents."""
    return is_tensor(type) and DYNAMIC_INDEX not in static_shape(type)


def verify_tensor(type: TensorType[Any]) -> None:
    """Raise for a tensor type that the dialect does not have: by its dtype, its encoding, or a size
    of 2^63 bytes or more."""
    size = dtype_row(type.element_type).itemsize
    place_of(type)
    for extent in static_shape(type):
        size *= 1 if extent == DYNAMIC_INDEX else extent
    if size >= 2**63:
        raise VerifyException(f"{type} has {size} bytes, more than can be addressed")
