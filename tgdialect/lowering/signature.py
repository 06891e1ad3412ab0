"""The signature of a rendered function: the tensors that its pointers and integers were.

In the `llvm` dialect an argument is a pointer or an integer. `tg-render` keeps shapes, dtypes and
argument attributes in `tg.signature`, so that a module at that level can still be called with
arrays.
"""

from __future__ import annotations

from collections.abc import Set

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.symbols import SIGNATURE, is_own_tensor
from tgdialect.diagnostics import lasting_hint, locate
from tgdialect.lowering.verify import argument_attributes_are_typed
from tgdialect.ops import tg

_NAME, _TYPE, _WRITTEN = "tg.hint", "tg.type", "tg.written"
_HOST = tg.PlaceAttr.of("CPU", tg.AddrSpace.GLOBAL)


def written_arguments(function: FuncOp) -> Set[int]:
    """The positions of the arguments that a function on memory writes."""
    ops: list[Operation] = []
    for op in function.body.block.ops:
        ops += op.body.block.ops if isinstance(op, tg.LinearOp) else (op,)
    written = {access.memory for access in accesses(ops) if access.writes}
    return {argument.index for argument in function.args if argument in written}


def signature_attribute(function: FuncOp) -> ArrayAttr[DictionaryAttr]:
    """The arguments of a function at level `planned`, each as a dictionary of builtin attributes:

    `{tg.type = tensor<4xf32>, tg.hint = "x", tg.written}`, and the attributes of the argument.
    """
    written = written_arguments(function)
    described: list[DictionaryAttr] = []
    for argument in function.args:
        type = tg.tensor(argument)
        entries: dict[str, Attribute] = {
            **tg.argument_attributes(argument),
            _TYPE: tg.tensor_type(type.element_type, type.get_shape()),
        }
        if argument.name_hint is not None:
            entries[_NAME] = StringAttr(argument.name_hint)
        if argument.index in written:
            entries[_WRITTEN] = UnitAttr()
        described.append(DictionaryAttr(entries))
    return ArrayAttr(described)


def described_function(function: llvm.FuncOp) -> FuncOp:
    """An empty function with the arguments that the `tg.signature` of an `llvm.func` describes.

    Raises VerifyException, at the function, where the signature does not fit it.
    """
    described, inputs = function.attributes.get(SIGNATURE), function.function_type.inputs.data
    entries = described.data if isa(described, ArrayAttr[DictionaryAttr]) else ()
    if len(entries) != len(inputs):
        raise _misfit(function, f"it describes {len(entries)} arguments of {len(inputs)}")
    block, attributes = Block(), list[DictionaryAttr]()
    for position, (entry, passed) in enumerate(zip(entries, inputs, strict=True)):
        given = dict(entry.data)
        type, hint = given.pop(_TYPE, None), given.pop(_NAME, None)
        is_pointer = isinstance(passed, llvm.LLVMPointerType)
        if not is_own_tensor(type) or not (is_pointer or type == tg.tensor_type(tg.INDEX)):
            raise _misfit(function, f"argument {position} is {passed}, described as {type}")
        place = _HOST if is_pointer else None
        argument = block.insert_arg(
            tg.tensor_type(type.element_type, type.get_shape(), place), position
        )
        argument.name_hint = lasting_hint(hint.data) if isinstance(hint, StringAttr) else None
        attributes.append(DictionaryAttr(given))
    block.add_op(ReturnOp())
    signature = FunctionType.from_lists(block.arg_types, ())
    result = FuncOp(function.sym_name.data, signature, Region(block))
    result.arg_attrs = ArrayAttr(attributes)
    result.location = function.location
    try:
        argument_attributes_are_typed(result)
    except VerifyException as error:
        raise locate(error, function) from None
    return result


def arguments_said_to_be_written(function: FuncOp) -> Set[int]:
    """The positions of the arguments that a signature marks as written."""
    return {a.index for a in function.args if _WRITTEN in tg.argument_attributes(a)}


def _misfit(function: llvm.FuncOp, reason: str) -> VerifyException:
    name = function.sym_name.data
    return locate(VerifyException(f"the {SIGNATURE} of @{name} does not fit: {reason}"), function)
