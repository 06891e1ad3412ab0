"""The base class of ops that are made, read and hashed without xDSL's general way."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from tgdialect.fast_xdsl.accessors import operands, quicker
from tgdialect.fast_xdsl.creation import initialize


class _OpClass(ABCMeta):
    """Skips ABCMeta's look-up of virtual subclasses; op classes have none. Replaces the accessors
    that xDSL gives an op."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __setattr__(cls, name: str, value: object) -> None:
        super().__setattr__(name, quicker(value))


class FastOp(IRDLOperation, metaclass=_OpClass):
    """An op whose operands are a tuple, and which is made by `initialize` where that suffices.

    `isinstance` with this class takes half of the time that it takes with xDSL's `Operation`, an
    abstract class.
    """

    # Ops are equal to themselves only: Python's own hash takes a third of the time of xDSL's.
    __hash__ = object.__hash__
    if not TYPE_CHECKING:  # For which it is xDSL's.
        operands = operands

    @classmethod
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = {},
        attributes: Mapping[str, Attribute] = {},
        location: LocationAttr | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
    ) -> Self:
        """The constructor of copies. xDSL's method takes twice as long: it makes those ops
        that `initialize` does not."""
        if successors:
            return super().create(
                operands=operands,
                result_types=result_types,
                properties=properties,
                attributes=attributes,
                location=location,
                successors=successors,
                regions=regions,
            )
        op = cls.__new__(cls)
        initialize(op, operands, properties, result_types, regions)
        op.attributes.update(attributes)
        if location is not None:
            op.location = location
        Operation.__post_init__(op)
        return op
