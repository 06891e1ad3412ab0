"""Python's operators as elementwise ops, for languages that are written in Python: rewrite rules,
recipes of numerical functions, the gradients of ops, and hand-written kernels."""

from __future__ import annotations

from typing import Generic, TypeVar

OperandT = TypeVar("OperandT", contravariant=True)
ResultT = TypeVar("ResultT", covariant=True)


class Operators(Generic[OperandT, ResultT]):
    """An expression. `//` and `%` are IDIV and MOD, `~` is NOT of a bool.

    It is no abstract class: rules are matched by `isinstance`, which takes ten times as long then.
    """

    __slots__ = ()

    def applied(self, op: str, *others: OperandT) -> ResultT:
        """The op of a name, as "add", on this operand and others."""
        raise NotImplementedError

    def __add__(self, other: OperandT) -> ResultT:
        return self.applied("add", other)

    def __sub__(self, other: OperandT) -> ResultT:
        return self.applied("sub", other)

    def __mul__(self, other: OperandT) -> ResultT:
        return self.applied("mul", other)

    def __truediv__(self, other: OperandT) -> ResultT:
        return self.applied("div", other)

    def __floordiv__(self, other: OperandT) -> ResultT:
        return self.applied("idiv", other)

    def __mod__(self, other: OperandT) -> ResultT:
        return self.applied("mod", other)

    def __and__(self, other: OperandT) -> ResultT:
        return self.applied("and", other)

    def __or__(self, other: OperandT) -> ResultT:
        return self.applied("or", other)

    def __xor__(self, other: OperandT) -> ResultT:
        return self.applied("xor", other)

    def __lshift__(self, count: OperandT) -> ResultT:
        return self.applied("shl", count)

    def __rshift__(self, count: OperandT) -> ResultT:
        """Arithmetic on signed dtypes, logical on unsigned ones."""
        return self.applied("shr", count)

    def __lt__(self, other: OperandT) -> ResultT:
        return self.applied("cmplt", other)

    def __gt__(self, other: OperandT) -> ResultT:
        return self.applied("cmpgt", other)

    def __le__(self, other: OperandT) -> ResultT:
        return self.applied("cmple", other)

    def __ge__(self, other: OperandT) -> ResultT:
        return self.applied("cmpge", other)

    def __neg__(self) -> ResultT:
        return self.applied("neg")

    def __invert__(self) -> ResultT:
        return self.applied("not")

    def eq(self, other: OperandT) -> ResultT:
        """CMPEQ; `==` keeps its Python meaning."""
        return self.applied("cmpeq", other)

    def ne(self, other: OperandT) -> ResultT:
        """CMPNE."""
        return self.applied("cmpne", other)
