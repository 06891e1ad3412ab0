"""The names of the values of one function, and the texts of constants."""

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.llvm_ir.constants import CONSTANTS
from tgdialect.backends.llvm_ir.types import overload_suffix, type_text


class Names:
    """Numbers the values of one function, in the order in which they are defined.

    Types are cached by identity: hashing one costs more than spelling it. The operations that
    are written keep them alive.
    """

    name: dict[SSAValue, str]
    """The text of an operand, as `%3` or `1.0`."""
    typed: dict[SSAValue, str]
    """The same after its type, as `float %3`."""

    def __init__(self) -> None:
        self.name = {}
        self.typed = {}
        self._count = 0
        self._types: dict[int, str] = {}
        self._suffixes: dict[int, str] = {}

    def type(self, type: Attribute) -> str:
        text = self._types.get(id(type))
        if text is None:
            text = self._types[id(type)] = type_text(type)
        return text

    def suffix(self, type: Attribute) -> str:
        """The type as it appears in the name of an overloaded intrinsic."""
        text = self._suffixes.get(id(type))
        if text is None:
            text = self._suffixes[id(type)] = overload_suffix(type)
        return text

    def define(self, value: SSAValue) -> None:
        name = f"%{self._count}"
        self._count += 1
        self.name[value] = name
        self.typed[value] = f"{self.type(value.type)} {name}"

    def define_results(self, op: Operation) -> None:
        """Numbers the result; a constant's name is its text."""
        constant = CONSTANTS.get(op.name)
        if constant is not None:
            result = op.results[0]
            text = constant(op)
            self.name[result] = text
            self.typed[result] = f"{self.type(result.type)} {text}"
        elif len(op.results) == 1:
            self.define(op.results[0])
        elif op.results:
            raise LLVMTranslationException(f"'{op.name}' has {len(op.results)} results")
