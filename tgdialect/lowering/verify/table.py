"""The table of levels: containers, the ops in their bodies, and the rules that these obey; and the
pass that applies it, `tg-verify`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.symbols import SIGNATURE, is_foreign
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.verify.rules import (
    Rule,
    arenas_are_last,
    argument_attributes_are_typed,
    arguments_are_memory,
    arguments_are_tensors,
    ends_in_sink,
    has_one,
    index_is_complete,
    index_is_flat,
    is_one_block,
    marks_no_argument,
    nothing_is_invalid,
    ranges_are_loops,
    reduces_over_axes,
    reduces_over_ranges,
    results_are_tensors,
    returns_nothing,
    sink_needs_all,
    stacks_are_moved,
    stores_are_not_gated,
    values_are_scalars,
    values_are_vectors,
)
from tgdialect.ops import tg
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES


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


# -- families of ops ------------------------------------------------------------------------------


def _names(*ops: type[Operation]) -> frozenset[str]:
    return frozenset(op.name for op in ops)


_SOURCE = _names(tg.ParamOp, tg.BufferOp, tg.ConstOp, tg.BinaryDataOp)
_MOVEMENT = _names(
    *(tg.PermuteOp, tg.FlipOp, tg.ReshapeOp, tg.ExpandOp, tg.ShrinkOp),
    *(tg.BitcastOp, tg.PadOp, tg.IndexOp, tg.StackOp),
)
_ELEMENTWISE = _names(*PRIMITIVES, *DECOMPOSED)
_FUNCTION = _names(tg.FunctionOp, tg.TupleOp, tg.GetTupleOp, tg.ScanOp)
_LOAD_STORE = _names(tg.LoadOp, tg.StoreOp)
_MARKER = _names(tg.ContiguousOp, tg.ContiguousBackwardOp, tg.DetachOp)
_MULTI = _names(tg.CopyOp, tg.ReplicatedOp)
_EFFECTS = _names(tg.AfterOp, tg.GroupOp, tg.SinkOp)
_LOOPS = _names(tg.RangeOp, tg.EndOp)
_CONDITIONS = _names(tg.IfOp, tg.EndIfOp)
_MACHINE = _names(
    *(tg.BarrierOp, tg.InsOp, tg.SpecialOp, tg.WmmaOp, tg.ShuffleOp, tg.CustomOp), tg.AtomicAddOp
)
_CALL, _RETURN, _REDUCE, _LINEAR = map(_names, (tg.CallOp, ReturnOp, tg.ReduceOp, tg.LinearOp))

# -- the table -----------------------------------------------------------------------------------

_HOST_VIEWS = _names(tg.ReshapeOp, tg.ShrinkOp, tg.BitcastOp)
"""Views that can be arguments of CALLs: a program gets a pointer, so they have to be contiguous."""
_HOST_SCALARS = _names(tg.ConstOp) | _ELEMENTWISE
"""Arithmetic on dynamic dimensions."""
_SCALAR_CODE = frozenset[str]().union(
    _names(tg.ParamOp, tg.BufferOp, tg.ConstOp, tg.IndexOp, tg.BitcastOp, tg.ShrinkOp),
    *(_ELEMENTWISE, _CALL, _LOAD_STORE, _LOOPS, _EFFECTS, _MACHINE),
)
_VECTOR_CODE = _SCALAR_CODE.union(
    _names(tg.VConstOp, tg.StackOp, tg.ReshapeOp, tg.ExpandOp, tg.PermuteOp), _REDUCE
)
_ON_REGISTERS = (
    values_are_vectors,
    stacks_are_moved,
    index_is_flat,
    reduces_over_axes,
    nothing_is_invalid,
)
_LINEAR_CODE = Body(
    (_VECTOR_CODE - _names(tg.AfterOp, tg.GroupOp)) | _CONDITIONS,
    (*_ON_REGISTERS, stores_are_not_gated),
)
_PROGRAM = Container(
    Body(
        _LINEAR | _names(tg.SourceOp, tg.BinaryDataOp),
        (ends_in_sink,),
        {tg.LinearOp.name: _LINEAR_CODE},
    )
)
_SCALAR_KERNEL = Container(
    Body(
        _SCALAR_CODE | _REDUCE | _names(tg.ReshapeOp),
        (values_are_scalars, index_is_complete, reduces_over_ranges, nothing_is_invalid),
    )
)
_ENTRY = (is_one_block, arguments_are_tensors, argument_attributes_are_typed)
_HOST = (*_ENTRY, arguments_are_memory, returns_nothing)
_OPAQUE = {tg.CustomFunctionOp.name: Container(Body(frozenset()))}


def _kernels(kernel: Container) -> Level:
    """A level at which functions call kernels."""
    host = Body(
        _HOST_SCALARS | _HOST_VIEWS | _names(tg.BufferOp) | _CALL | _EFFECTS | _RETURN,
        (values_are_scalars,),
    )
    return _OPAQUE | {
        FuncOp.name: Container(host, (*_HOST, has_one("tg.sink"), sink_needs_all)),
        tg.KernelOp.name: kernel,
    }


def _programs(storage: frozenset[str], *rules: Rule) -> Level:
    """A level at which functions are command buffers that call programs."""
    commands = {tg.LinearOp.name: Body(_CALL)}
    host = Body(
        _HOST_SCALARS | _HOST_VIEWS | storage | _LINEAR | _RETURN, (values_are_scalars,), commands
    )
    return _OPAQUE | {
        FuncOp.name: Container(host, (*_HOST, has_one("tg.linear"), *rules)),
        tg.ProgramOp.name: _PROGRAM,
    }


LEVELS: Mapping[str, Level] = {
    "tensor": _OPAQUE
    | {
        FuncOp.name: Container(
            Body(
                _SOURCE.union(
                    *(_MOVEMENT, _REDUCE, _FUNCTION, _CALL, _LOAD_STORE, _EFFECTS, _ELEMENTWISE),
                    *(_MARKER, _MULTI, _RETURN, _names(FuncCallOp)),
                )
            ),
            (*_ENTRY, results_are_tensors, marks_no_argument),
        ),
        tg.KernelOp.name: _SCALAR_KERNEL,
    },
    "function": _OPAQUE
    | {
        FuncOp.name: Container(
            Body(
                _names(tg.BufferOp, tg.ConstOp).union(
                    *(_MOVEMENT, _REDUCE, _CALL, _LOAD_STORE, _EFFECTS, _ELEMENTWISE, _RETURN)
                )
            ),
            (*_HOST, has_one("tg.sink")),
        ),
        tg.KernelOp.name: _SCALAR_KERNEL,
    },
    "kernels": _kernels(_SCALAR_KERNEL),
    "tiles": _kernels(
        Container(Body(_VECTOR_CODE, (ranges_are_loops, reduces_over_axes, nothing_is_invalid)))
    ),
    "target": _kernels(Container(Body(_VECTOR_CODE, _ON_REGISTERS))),
    "linear": _programs(_names(tg.BufferOp)),
    "planned": _programs(frozenset(), arenas_are_last),
    "llvm": {},
}
"""The levels in the order of the stages. At the last one nothing is left of the dialect."""


# -- reading the table ---------------------------------------------------------------------------


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
            raise locate(VerifyException(message + _where(op.name)), op)
        for rule in body.rules:
            _apply(rule, op)
        if op.regions:
            inner = body.nested.get(op.name, body)
            stack += ((each, inner) for region in op.regions for each in _ops(region.blocks))


def _where(op_name: str) -> str:
    """The container of an op at the first level that has it, for an error."""
    for containers in LEVELS.values():
        for name, container in containers.items():
            if op_name in container.body.ops:
                return f"; it belongs in a {name}"
    return ""


def _ops(blocks: Iterable[Block]) -> list[Operation]:
    """Reversed, for a stack."""
    return [op for block in blocks for op in ops_of(block)][::-1]


def _apply(rule: Rule, op: Operation) -> None:
    try:
        rule(op)
    except VerifyException as error:
        if "location" in vars(error):
            raise
        raise locate(error, op) from None
