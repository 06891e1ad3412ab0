"""The meaning of a module, on the interpreters: ours for `tg`, xDSL's for other dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.plugin import named
from tgdialect.universe import INTERPRETER

Evaluate = Callable[[ModuleOp, str, Sequence[Any]], list[Any]]
"""Runs the entry of a module on inputs: the results, then the inputs as they are afterwards."""

_OWN = ("tg.", "func.", "builtin.")
"""The dialects that our interpreter runs alone."""


_NOT_KNOWN = "Could not find interpretation function"
"""The words of xDSL's interpreter for an op that it does not know."""


class NoInterpretation(InterpretationError):
    """A module has ops that no interpreter knows: nothing is known of its meaning."""


def has_tg(module: Operation) -> bool:
    """Whether a module has ops of `tg`."""
    return any(op.name.startswith("tg.") for op in module.walk())


def evaluate(module: ModuleOp, entry: str, inputs: Sequence[Any]) -> list[Any]:
    """The results of an entry, then the inputs as they are afterwards. `inputs` are not changed.

    A module of `tg` runs on our interpreter, one of other dialects on xDSL's, where ops of `tg` may
    be among them. Raises InterpretationError where the program has no meaning, and NoInterpretation
    where it is not known.
    """
    arrays: list[Any] = [deepcopy(value) for value in inputs]
    is_own = all(op.name.startswith(_OWN) for op in module.walk())
    if has_tg(module) and is_own:
        return [*named(INTERPRETER)(module, entry, arrays), *arrays]
    return [*_evaluate_foreign(module, entry, arrays), *arrays]


def _evaluate_foreign(module: ModuleOp, entry: str, inputs: Iterable[Any]) -> Sequence[Any]:
    # Late: it imports all dialects of xDSL, which takes a second.
    from xdsl.interpreters import register_implementations

    interpreter = Interpreter(module)
    register_implementations(interpreter, Context())
    named("tgdialect.interpreter:register_tg_implementations")(interpreter)
    function = SymbolTable.lookup_symbol(module, entry)
    if not isinstance(function, FuncOp):
        raise InterpretationError(f"there is no function @{entry}")
    types = function.function_type.inputs.data
    values = tuple(_scalar(*pair) for pair in zip(inputs, types, strict=True))
    try:
        results = interpreter.call_op(function, values)
    except InterpretationError as error:
        if _NOT_KNOWN in str(error):
            raise NoInterpretation(str(error)) from error
        raise
    except (ArithmeticError, NotImplementedError, AssertionError) as error:
        raise InterpretationError(f"xDSL's interpreter: {error or type(error).__name__}") from error
    return [v.value.data if isinstance(v, IntegerAttr | FloatAttr) else v for v in results]


def _scalar(value: Any, type: Attribute) -> Any:
    """A number for an argument that is one: xDSL's interpreter computes on attributes."""
    if isinstance(type, IndexType | IntegerType):
        return IntegerAttr[Any](int(value), cast(IndexType, type))
    return FloatAttr(float(value), type) if isinstance(type, AnyFloat) else value
