"""Makes a program smaller while it still fails, to see why it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from random_mixtures import Mixture
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.interpreter import run
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.call import FunctionOp, TupleOp
from tgdialect.ops.dtypes import DTYPES, INDEX, number_attribute
from tgdialect.ops.movement import ExpandOp, ReshapeOp
from tgdialect.ops.properties import is_memory, shape_of, tensor
from tgdialect.ops.source import ConstOp, ParamOp

Fails = Callable[[Mixture], bool]


def smaller(program: Mixture, fails: Fails) -> Mixture:
    """A program that fails, and none of whose simple changes does."""
    progress = True
    while progress:
        progress = False
        number = 0
        while (changed := _changed(program, number)) is not None:
            number += 1
            if changed is _NO_CHANGE:
                continue
            try:
                changed.module.verify()
                if _weight(changed) < _weight(program) and fails(changed):
                    program, progress = changed, True
                    number = max(number - 1, 0)
            except Exception:
                continue
    return program


def _weight(program: Mixture) -> tuple[int, int]:
    ops = list(program.module.walk())
    operands = sum(len(op.operands) for op in ops)
    return len(ops) + len(program.runs), operands


_NO_CHANGE = Mixture(None, (), None)  # type: ignore[arg-type]


def _changed(program: Mixture, number: int) -> Mixture | None:
    """The program after a simple change; None if there are no more of that number."""
    if number < len(program.runs) and len(program.runs) > 1:
        return replace(program, runs=(program.runs[number],))
    number -= len(program.runs)
    copy = replace(program, module=program.module.clone())
    change = next((c for i, c in enumerate(_changes(copy)) if i == number), None)
    if change is None:
        return None if number >= 0 else _NO_CHANGE
    try:
        changed = change()
    except (VerifyException, ValueError, AssertionError):
        return _NO_CHANGE
    return _cleaned(changed or copy)


def _function(program: Mixture) -> FuncOp:
    return next(op for op in program.module.ops if isinstance(op, FuncOp))


Change = Callable[[], Mixture | None]


def _changes(program: Mixture) -> Iterator[Change]:
    function = _function(program)
    block = function.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    for position in range(len(end.operands)):
        if len(end.operands) > 1:
            yield lambda position=position: _without_result(function, position)
    for op in reversed([*block.walk()]):
        if op.parent is None or isinstance(op, ReturnOp | TupleOp | FuncOp):
            continue
        if isinstance(op, FunctionOp) and op.parent is block:
            yield lambda op=op: _inlined(op)
        for result in op.results:
            if not is_tensor(result.type) or not result.uses:
                continue
            for operand in op.operands:
                if operand.type == result.type:
                    yield lambda r=result, o=operand: r.replace_all_uses_with(o)
            if op.parent is block and not is_memory(result):
                yield lambda r=result: _as_argument(program, r)
            if not isinstance(op, ConstOp | ParamOp) and not is_memory(result):
                yield lambda r=result: _as_constant(r)


def _without_result(function: FuncOp, position: int) -> None:
    end = function.body.block.last_op
    assert end is not None
    kept = [v for i, v in enumerate(end.operands) if i != position]
    end.operands = kept
    types = function.function_type
    function.function_type = types.from_lists(types.inputs.data, [v.type for v in kept])


def _inlined(op: FunctionOp) -> None:
    """Put the body of a FUNCTION in its place."""
    block = op.body.block
    end = block.last_op
    assert isinstance(end, TupleOp)
    assert op.parent is not None
    for inner in list(block.ops):
        if isinstance(inner, ParamOp):
            inner.result.replace_all_uses_with(op.arguments[inner.slot.data])
            continue
        if inner is end:
            continue
        inner.detach()
        op.parent.insert_op_before(inner, op)
    for use in list(op.result.uses):
        taken = use.operation
        taken.results[0].replace_all_uses_with(end.values[taken.properties["index"].data])  # type: ignore[attr-defined]


def _as_argument(program: Mixture, value: SSAValue) -> Mixture:
    """Make a value a further argument."""
    probe = replace(program, module=program.module.clone())
    function, other = _function(program), _function(probe)
    ops, others = [*function.body.block.ops], [*other.body.block.ops]
    owner = value.owner
    assert isinstance(owner, Operation)
    twin = others[ops.index(owner)].results[value.index]  # type: ignore[attr-defined]
    end = other.body.block.last_op
    assert end is not None
    end.operands = [twin]
    inputs = [a.type for a in other.body.block.args]
    other.function_type = other.function_type.from_lists(inputs, [twin.type])
    arrays = [
        run(probe.module, program.entry, [a.copy() for a in given])[0] for given in program.runs
    ]
    block = function.body.block
    dims = [e for e in shape_of(value) if not isinstance(e, int)]
    assert all(isinstance(e, BlockArgument) for e in dims)
    type = tensor(value)
    argument = block.insert_arg(type, len(block.args))
    known = DenseArrayBase.from_list(i64, [e.index for e in dims])  # type: ignore[union-attr]
    old = [*function.arg_attrs] if function.arg_attrs else []
    old += [DictionaryAttr({})] * (len(block.args) - 1 - len(old))
    function.arg_attrs = ArrayAttr([*old, DictionaryAttr({"tg.dims": known} if dims else {})])
    outputs = function.function_type.outputs.data
    function.function_type = function.function_type.from_lists(
        [a.type for a in block.args], outputs
    )
    value.replace_all_uses_with(argument)
    runs = tuple((*given, a) for given, a in zip(program.runs, arrays, strict=True))
    return replace(program, runs=runs)


def _as_constant(value: SSAValue) -> None:
    """A constant in place of a value."""
    owner = value.owner
    assert isinstance(owner, Operation)
    assert owner.parent is not None
    dtype = tensor(value).element_type
    if dtype == INDEX and not tensor(value).get_shape():
        raise ValueError
    constant = ConstOp(number_attribute(1 if not DTYPES[dtype].is_float else 1.0, dtype))
    new: list[Operation] = [constant]
    if shape := shape_of(value):
        new.append(ReshapeOp(new[-1].results[0], [1] * len(shape)))
        new.append(ExpandOp(new[-1].results[0], shape))
    owner.parent.insert_ops_after(new, owner)
    value.replace_all_uses_with(new[-1].results[0])


def _cleaned(program: Mixture) -> Mixture:
    """Without ops and arguments that nothing needs."""
    function = _function(program)
    blocks: list[Block] = [function.body.block]
    blocks += [op.body.block for op in function.walk() if isinstance(op, FunctionOp)]
    again = True
    while again:
        again = False
        for op in reversed(list(function.walk())):
            if isinstance(op, ReturnOp | TupleOp | FuncOp | ParamOp) or op.parent is None:
                continue
            if all(not r.uses for r in op.results):
                op.detach()
                op.erase()
                again = True
    block = function.body.block
    attributes = [*function.arg_attrs] if function.arg_attrs else []
    used = {
        i
        for a in attributes
        for i in (a.data["tg.dims"].get_values() if "tg.dims" in a.data else ())
    }
    if not used:  # Otherwise positions would have to change.
        keep = [bool(a.uses) for a in block.args]
        for argument in [a for a, k in zip(block.args, keep, strict=True) if not k]:
            block.erase_arg(argument)
        if attributes:
            function.arg_attrs = ArrayAttr([a for a, k in zip(attributes, keep, strict=True) if k])
        runs = tuple(
            tuple(np.array(x) for x, k in zip(given, keep, strict=True) if k)
            for given in program.runs
        )
        program = replace(program, runs=runs)
    types = function.function_type
    function.function_type = types.from_lists([a.type for a in block.args], types.outputs.data)
    return program
