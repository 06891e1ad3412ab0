"""What every op of the dialect shares: inferred results, and a verifier that recomputes them."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.irdl import BaseAttr, EqAttrConstraint, IRDLOperation
from xdsl.irdl.constraints import VerificationContext
from xdsl.traits import EffectInstance, MemoryEffectKind, NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import VOID, TupleType, is_tensor
from tgdialect.ops.creation import initialize
from tgdialect.ops.dtypes import DTYPES, INDEX, dtype_names
from tgdialect.ops.properties import is_type_written, place_of, result_type
from tgdialect.ops.syntax import Constant, Edges, Int, Integers, Name, Signature

AttributeCovT = TypeVar("AttributeCovT", bound=Attribute, covariant=True)


@dataclass(frozen=True)
class OfType(BaseAttr[AttributeCovT]):
    """A type of a class, named as users know it."""

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

Value = SSAValue | Operation
"""What builders take for an operand: a value, or an op with one result."""


class NothingInGraph(NoMemoryEffect):
    """No effect in a graph. In a LINEAR a write: the op has its place in the order, as a loop's END
    has without being used, and a value is gone where the block is closed that it is made in. Passes
    of other dialects, which know of no such blocks, leave it there.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> Set[EffectInstance]:
        around = op.parent_op()
        return _WRITE if around is not None and around.name == "tg.linear" else _NOTHING


class PureInGraph(NothingInGraph, Pure):
    """An op that may be merged with one like it, or dropped, but not in a LINEAR."""


_NOTHING: Set[EffectInstance] = frozenset()
_WRITE = frozenset({EffectInstance(MemoryEffectKind.WRITE)})


class _OpClass(ABCMeta):
    """The classes of ops: no others are registered as theirs, which an abstract class has to look
    up each time that it is asked."""

    __instancecheck__ = type.__instancecheck__


class TgOp(IRDLOperation, metaclass=_OpClass):
    """An op of the dialect. It has one result, whose type the table in `properties` derives.

    Builders take operands and arguments, never a result type. The verifier checks the op's own
    rule, then recomputes the result type and compares it with the one that is written down. Any op
    may carry a `tag` attribute for temporary marks; no pass may depend on one after it ends.
    """

    custom_directives = (Signature, Integers, Int, Name, Constant, Edges)

    def infer(
        self,
        operands: Sequence[Value],
        properties: Mapping[str, Attribute | None] = {},
        *,
        regions: Sequence[Region] = (),
        type: Attribute | None = None,
    ) -> None:
        """Build the op in place, deriving its result type (leaf ops pass theirs as `type`).

        This goes around `IRDLOperation.__init__`, which takes twice the time to do the same, and
        asks for the class that nearly all operands have: `isinstance` of an abstract class, as
        SSAValue is, takes ten times as long.
        """
        initialize(
            self,
            [o if isinstance(o, OpResult) else SSAValue.get(o) for o in operands],
            {k: v for k, v in properties.items() if v is not None},
            regions=regions,
        )
        self.results = SSAValues((OpResult(type or result_type(self), self, 0),))

    def rebuild(self, operands: Sequence[Value], type: Attribute | None = None) -> Self:
        """The same op on other operands; leaf ops keep their type unless given another."""
        new = self.__class__.__new__(self.__class__)
        if type is None and is_type_written(self):
            type = self.results[0].type
        new.infer(operands, self.properties, type=type)
        new.location = self.location
        new.results[0].name_hint = self.results[0].name_hint
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
        """What the op asks beyond its result type; raises VerifyException."""


def verify_tensor(type: TensorType[Any]) -> None:
    """Refuse what is no tensor of the dialect: its dtype, its encoding, a size past 2^63 bytes."""
    if (dtype := DTYPES.get(type.element_type)) is None:
        raise VerifyException(f"{type.element_type} is not a dtype: {dtype_names()}")
    place_of(type)
    size = dtype.itemsize
    for extent in type.get_shape():
        size *= 1 if extent == DYNAMIC_INDEX else extent
    if size >= 2**63:
        raise VerifyException(f"{type} has {size} bytes, more than can be addressed")
