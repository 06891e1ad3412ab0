"""The level verifier: what a program may hold after each stage (docs/ir.md, "Levels").

`LEVELS` says for each level which containers a module holds, and for each container which ops are
in its body and which rules they obey. The ops' own verifiers say the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.ranges import is_expanded
from tgdialect.analysis.symbols import SIGNATURE, is_foreign
from tgdialect.diagnostics import locate
from tgdialect.ops import call, codegen, elementwise, marker, memory, movement, multi, ordering
from tgdialect.ops.arguments import (
    ALLOCATED,
    ARENAS,
    ARGUMENT_ATTRIBUTES,
    argument_attributes,
    dims_attribute,
    integer_attribute,
)
from tgdialect.ops.attributes import AddrSpace, InvalidAttr
from tgdialect.ops.base import verify_tensor
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.properties import is_memory, place, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BinaryDataOp, BufferOp, ConstOp, ParamOp, VConstOp

Rule = Callable[[Operation], None]
"""Raises VerifyException where an op breaks it."""


@dataclass(frozen=True)
class Body:
    """The ops in a body, the rules that each obeys, and the bodies of those with regions."""

    ops: frozenset[str]
    rules: tuple[Rule, ...] = ()
    nested: Mapping[str, Body] = field(default_factory=dict["str", "Body"])


@dataclass(frozen=True)
class Container:
    """An op at the top of a module: its body, and the rules for the op itself."""

    body: Body
    rules: tuple[Rule, ...] = ()


Level = Mapping[str, Container]
"""The containers of a level by the name of the op."""


@dataclass(frozen=True)
class VerifyLevelPass(ModulePass):
    """Check that the module is at a level: tensor, function, kernels, tiles, target, linear, ..."""

    name = "tg-verify"

    level: str
    """tensor, function, kernels, tiles, target, linear, planned or llvm."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_level(op, self.level)


def verify_level(module: ModuleOp, level: str) -> None:
    """Raise VerifyException, located at the op, for the first that does not belong in the level.

    The level is one of `LEVELS`, else PassFailedException is raised.
    """
    if (containers := LEVELS.get(level)) is None:
        raise PassFailedException(f"level {level!r} is not one of {', '.join(LEVELS)}")
    for op in module.ops:
        if is_foreign(op) or (level == "llvm" and SIGNATURE in op.attributes):
            continue
        if (container := containers.get(op.name)) is None:
            raise locate(VerifyException(f"{op.name} is not part of level {level}"), op)
        for rule in container.rules:
            _apply(rule, op)
        _verify_body(op, container.body, level)


def _verify_body(container: Operation, body: Body, level: str) -> None:
    stack = [(op, body) for region in container.regions for op in _ops(region.blocks)]
    while stack:
        op, body = stack.pop()
        if op.name not in body.ops:
            inside = container.name
            message = f"{op.name} is not part of {inside} at level {level}"
            raise locate(VerifyException(message), op)
        for rule in body.rules:
            _apply(rule, op)
        if op.regions:
            inner = body.nested.get(op.name, body)
            stack += ((each, inner) for region in op.regions for each in _ops(region.blocks))


def _ops(blocks: Iterable[Block]) -> list[Operation]:
    """Reversed, for a stack."""
    return [op for block in blocks for op in block.ops][::-1]


def _apply(rule: Rule, op: Operation) -> None:
    try:
        rule(op)
    except VerifyException as error:
        if "location" in vars(error):
            raise
        raise locate(error, op) from None


# -- rules ---------------------------------------------------------------------------------------


def _values(op: Operation) -> list[SSAValue]:
    """The results that are neither memory nor void."""
    return [r for r in op.results if isinstance(r.type, TensorType) and not is_memory(r)]


def values_are_scalars(op: Operation) -> None:
    for value in _values(op):
        if tensor(value).get_shape():
            raise VerifyException(f"a value has shape () at this level, not {value.type}")


def values_are_vectors(op: Operation) -> None:
    for value in _values(op):
        shape = tensor(value).get_shape()
        if isinstance(op, movement.StackOp | movement.PermuteOp) and len(shape) == 2:
            continue  # Vectors that are transposed, or joined.
        if len(shape) > 1 and not isinstance(op, codegen.WmmaOp):
            raise VerifyException(f"a value is a scalar or a vector at this level: {value.type}")


def nothing_is_invalid(op: Operation) -> None:
    if isinstance(op, ConstOp) and isinstance(op.value, InvalidAttr):
        raise VerifyException("nothing is invalid at this level")


def index_is_complete(op: Operation) -> None:
    if isinstance(op, movement.IndexOp) and tensor(op.result).get_shape():
        rank = len(tensor(op.source).get_shape())
        raise VerifyException(f"{len(op.indices)} indices into a buffer of {rank} axes")


def index_is_flat(op: Operation) -> None:
    if isinstance(op, movement.IndexOp) and is_memory(op.source):
        rank = len(tensor(op.source).get_shape())
        if rank != 1 or len(op.indices) != 1:
            raise VerifyException(f"memory is indexed by one flat index, not {rank} axes of it")


def reduces_over_ranges(op: Operation) -> None:
    if isinstance(op, ReduceOp) and op.axes.get_values():
        raise VerifyException("a REDUCE goes over ranges at this level, not over axes")


def reduces_over_axes(op: Operation) -> None:
    if isinstance(op, ReduceOp) and op.ranges:
        raise VerifyException("a REDUCE goes over axes at this level, not over ranges")


def ranges_are_loops(op: Operation) -> None:
    if isinstance(op, ordering.RangeOp) and is_expanded(op):
        kind, number = op.axis_type.data, op.axis.data
        raise VerifyException(f"{kind} range {number} is shape at this level")


def stores_are_not_gated(op: Operation) -> None:
    gate = op.gate if isinstance(op, memory.StoreOp) else None
    if gate is not None and not tensor(gate).get_shape():
        raise VerifyException("a gated STORE is inside an IF at this level")


def is_one_block_on_tensors(op: Operation) -> None:
    """A function's body is one block, and its arguments are tensors of the dialect."""
    assert isinstance(op, FuncOp)
    if len(op.body.blocks) != 1:
        raise VerifyException(f"@{op.sym_name.data} has {len(op.body.blocks)} blocks, not one")
    for number, type in enumerate(op.function_type.inputs):
        if not isinstance(type, TensorType):
            raise VerifyException(f"argument {number} is {type}, not a ranked tensor")
        try:
            verify_tensor(cast(TensorType[Attribute], type))
        except VerifyException as error:
            raise VerifyException(f"argument {number}: {error}") from None


def argument_attributes_are_typed(op: Operation) -> None:
    """The attributes of `ops/arguments.py` are what they are documented to be."""
    assert isinstance(op, FuncOp)
    for number, argument in enumerate(op.args):
        attributes = argument_attributes(argument)
        for name, kind in ARGUMENT_ATTRIBUTES.items():
            value = attributes.get(name)
            if value is not None and not isinstance(value, kind):
                raise VerifyException(f"argument {number}: {name} is {value}, of another kind")
        if "tg.constant" in attributes and argument.type == tensor_type(INDEX):
            raise VerifyException(f"argument {number}: an index scalar is not {{tg.constant}}")
        low, high = (integer_attribute(attributes, name) for name in ("tg.min", "tg.max"))
        if low is not None and high is not None and low > high:
            raise VerifyException(f"argument {number}: tg.min {low} is greater than tg.max {high}")
        dims = dims_attribute(attributes)
        if dims is None:
            continue
        dynamic = tensor(argument).get_shape().count(DYNAMIC_INDEX)
        if len(dims) != dynamic:
            raise VerifyException(
                f"argument {number}: tg.dims has {len(dims)} entries for {dynamic} dynamic axes"
            )
        for position in dims:
            if not 0 <= position < len(op.args) or op.args[position].type != tensor_type(INDEX):
                raise VerifyException(
                    f"argument {number}: tg.dims says {position}, which is no index argument"
                )


def marks_no_argument(op: Operation) -> None:
    """Results, buffers and workspaces become arguments later."""
    assert isinstance(op, FuncOp)
    for number, argument in enumerate(op.args):
        if marks := ALLOCATED.intersection(argument_attributes(argument)):
            raise VerifyException(f"argument {number} is marked {min(marks)}, which callify adds")


def arguments_are_memory(op: Operation) -> None:
    """Global memory on a device, or index scalars."""
    assert isinstance(op, FuncOp)
    for number, argument in enumerate(op.args):
        if argument.type == tensor_type(INDEX):
            continue
        where = place(argument)
        if where.addrspace is not AddrSpace.GLOBAL or where.device is None:
            raise VerifyException(
                f"argument {number} is {argument.type}, neither an index scalar nor global memory "
                "on a device"
            )


def returns_nothing(op: Operation) -> None:
    assert isinstance(op, FuncOp)
    if op.function_type.outputs:
        raise VerifyException("a function returns nothing at this level: results are arguments")


def has_one(name: str) -> Rule:
    """The body of a function holds exactly one op of a name."""

    def rule(op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if (count := sum(each.name == name for each in op.body.block.ops)) != 1:
            raise VerifyException(f"the body of a function has one {name}, not {count}")

    return rule


def sink_needs_all(op: Operation) -> None:
    """The SINK of a function needs all CALLs: the others would not be executed."""
    assert isinstance(op, FuncOp)
    if not op.is_declaration and (lost := call.lost_effect(op.body.block)) is not None:
        raise locate(VerifyException(f"the SINK does not need this {lost.name}"), lost)


def ends_in_sink(op: Operation) -> None:
    last = op.body.block.last_op if isinstance(op, ordering.LinearOp) else None
    if last is not None and not isinstance(last, ordering.SinkOp):
        raise VerifyException("the tg.linear of a program ends in its tg.sink")


def arenas_are_last(op: Operation) -> None:
    """Only arenas come after the first `{tg.workspace}` or `{tg.persistent}`."""
    assert isinstance(op, FuncOp)
    attributes = op.arg_attrs or ArrayAttr[DictionaryAttr]([])
    marks = [ARENAS.intersection(each.data) for each in attributes]
    if (arenas := list(map(bool, marks))) != sorted(arenas):
        mark = min(next(filter(None, marks)))
        raise VerifyException(f"a {{{mark}}} argument comes after all others")


# -- families of ops -----------------------------------------------------------------------------


def _names(*ops: type[Operation]) -> frozenset[str]:
    return frozenset(op.name for op in ops)


_SOURCE = _names(ParamOp, BufferOp, ConstOp, BinaryDataOp)
_VIEW = _names(
    movement.PermuteOp,
    movement.FlipOp,
    movement.ReshapeOp,
    movement.ExpandOp,
    movement.ShrinkOp,
    movement.BitcastOp,
)
_MOVEMENT = _VIEW | _names(movement.PadOp, movement.IndexOp, movement.StackOp)
_ELEMENTWISE = _names(*elementwise.PRIMITIVES, *elementwise.DECOMPOSED)
_FUNCTION = _names(call.FunctionOp, call.TupleOp, call.GetTupleOp)
_LOAD_STORE = _names(memory.LoadOp, memory.StoreOp)
_MARKER = _names(marker.ContiguousOp, marker.ContiguousBackwardOp, marker.DetachOp)
_MULTI = _names(memory.CopyOp, multi.ReplicatedOp)
_EFFECTS = _names(ordering.AfterOp, ordering.GroupOp, ordering.SinkOp)
_LOOPS = _names(ordering.RangeOp, ordering.EndOp)
_CONDITIONS = _names(codegen.IfOp, codegen.EndIfOp)
_MACHINE = _names(
    codegen.BarrierOp,
    codegen.InsOp,
    codegen.SpecialOp,
    codegen.WmmaOp,
    codegen.CustomOp,
    codegen.AtomicAddOp,
)
_CALL, _RETURN, _REDUCE, _LINEAR = (
    _names(op) for op in (call.CallOp, ReturnOp, ReduceOp, ordering.LinearOp)
)

# -- the table -----------------------------------------------------------------------------------

_HOST_SCALARS = _names(ConstOp) | _VIEW | _ELEMENTWISE
"""Views of buffers as arguments of CALLs, and arithmetic on dynamic dimensions."""
_SCALAR_CODE = (
    _names(ParamOp, BufferOp, ConstOp, movement.IndexOp, movement.BitcastOp)
    | _ELEMENTWISE
    | _LOAD_STORE
    | _LOOPS
    | _EFFECTS
    | _MACHINE
)
_VECTOR_CODE = (
    _SCALAR_CODE
    | _REDUCE
    | _names(VConstOp, movement.StackOp)
    | _names(movement.ReshapeOp, movement.ExpandOp, movement.PermuteOp)
)

_ON_REGISTERS = (values_are_vectors, index_is_flat, reduces_over_axes, nothing_is_invalid)
_LINEAR_CODE = Body(
    (_VECTOR_CODE - _names(ordering.AfterOp, ordering.GroupOp)) | _CONDITIONS,
    (*_ON_REGISTERS, stores_are_not_gated),
)
_PROGRAM = Container(
    Body(
        _LINEAR | _names(codegen.SourceOp, BinaryDataOp),
        (ends_in_sink,),
        {ordering.LinearOp.name: _LINEAR_CODE},
    )
)
_SCALAR_KERNEL = Container(
    Body(
        _SCALAR_CODE | _REDUCE | _names(movement.ReshapeOp),
        (values_are_scalars, index_is_complete, reduces_over_ranges, nothing_is_invalid),
    )
)
_ENTRY = (is_one_block_on_tensors, argument_attributes_are_typed)
_HOST = (*_ENTRY, arguments_are_memory, returns_nothing)
_OPAQUE = {codegen.CustomFunctionOp.name: Container(Body(frozenset()))}


def _kernels(kernel: Container) -> Level:
    """A level at which functions call kernels."""
    host = Body(
        _HOST_SCALARS | _names(BufferOp) | _CALL | _EFFECTS | _RETURN, (values_are_scalars,)
    )
    return _OPAQUE | {
        FuncOp.name: Container(host, (*_HOST, has_one("tg.sink"), sink_needs_all)),
        call.KernelOp.name: kernel,
    }


def _programs(storage: frozenset[str], *rules: Rule) -> Level:
    """A level at which functions are command buffers that call programs."""
    commands = {ordering.LinearOp.name: Body(_CALL)}
    host = Body(_HOST_SCALARS | storage | _LINEAR | _RETURN, (values_are_scalars,), commands)
    return _OPAQUE | {
        FuncOp.name: Container(host, (*_HOST, has_one("tg.linear"), *rules)),
        codegen.ProgramOp.name: _PROGRAM,
    }


LEVELS: Mapping[str, Level] = {
    "tensor": _OPAQUE
    | {
        FuncOp.name: Container(
            Body(
                _SOURCE
                | _MOVEMENT
                | _REDUCE
                | _FUNCTION
                | _CALL
                | _LOAD_STORE
                | _EFFECTS
                | _ELEMENTWISE
                | _MARKER
                | _MULTI
                | _RETURN
                | _names(FuncCallOp)
            ),
            (*_ENTRY, marks_no_argument),
        ),
        call.KernelOp.name: _SCALAR_KERNEL,
    },
    "function": _OPAQUE
    | {
        FuncOp.name: Container(
            Body(
                _names(BufferOp, ConstOp, BinaryDataOp)
                | _MOVEMENT
                | _REDUCE
                | _CALL
                | _LOAD_STORE
                | _EFFECTS
                | _ELEMENTWISE
                | _RETURN
            ),
            (*_HOST, has_one("tg.sink")),
        ),
        call.KernelOp.name: _SCALAR_KERNEL,
    },
    "kernels": _kernels(_SCALAR_KERNEL),
    "tiles": _kernels(
        Container(Body(_VECTOR_CODE, (ranges_are_loops, reduces_over_axes, nothing_is_invalid)))
    ),
    "target": _kernels(Container(Body(_VECTOR_CODE, _ON_REGISTERS))),
    "linear": _programs(_names(BufferOp)),
    "planned": _programs(frozenset(), arenas_are_last),
    "llvm": {},
}
"""The levels in the order of the stages. At the last one nothing is left of the dialect."""
