"""The rules that several ops of the older vocabularies have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

OpT = TypeVar("OpT", bound=Operation)


def require(holds: bool, message: str) -> None:
    """Raise VerifyException with the message unless a rule holds."""
    if not holds:
        raise VerifyException(message)


def producer(value: SSAValue) -> str:
    """The op that a value is the result of, for error messages."""
    return value.owner.name if isinstance(value.owner, Operation) else "a block argument"


def made_by(value: SSAValue, kind: type[OpT] | tuple[type[OpT], ...], rule: str) -> OpT:
    """The op of a kind that a value is the result of. Raises VerifyException, which gives the rule
    and the op that is there instead."""
    if not isinstance(value.owner, kind):
        raise VerifyException(f"{rule}{producer(value)}")
    return value.owner


def require_distinct(values: Sequence[SSAValue], what: str, kind: str) -> None:
    """Raise VerifyException unless each of some values is listed once."""
    found = len(set(values))
    require(
        found == len(values), f"{what} is listed twice: {len(values)} sources are {found} {kind}"
    )


def require_identifier(name: StringAttr) -> None:
    """Raise VerifyException unless a name is an identifier."""
    require(name.data.isidentifier(), f"{name} is not an identifier")


def require_natural(number: int, what: str) -> None:
    """Raise VerifyException for a number below 0."""
    require(number >= 0, f"{what} {number} is negative")
