"""Loops in programs: `scan` and `while_loop`, whose steps are one set of kernels however many there
are, and `cond`. Names and arguments are those of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.structure import Structures
from tgdialect.frontend.graph import Node, Shape, argument_errors, made, size_node
from tgdialect.frontend.locations import Origin
from tgdialect.frontend.random import seed_once
from tgdialect.frontend.realization import body_of, realize
from tgdialect.frontend.symbolic import Dim, SymInt, atoms_of, least
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.tracing import Slot, filled, is_tracing, mapped, parameter, tracing
from tgdialect.ops import tg
from tgdialect.ops.numbering import op_key
from tgdialect.ops.properties import result_type, show_device
from tgdialect.runtime.devices.device import DEVICES

S = TypeVar("S")

_known: dict[Hashable, tuple[tg.ScanOp, Sequence[tg.GetTupleOp]]] = {}
"""The SCANs that were made last, by their structure: equal graphs are compiled once."""
_MAX_SCANS = 1024
"""The SCANs that are remembered; then all are forgotten. Larger: more memory, which their graphs
take; smaller: programs with more loops compile them again. An order of magnitude."""
_MOST_STEPS = (1 << 31) - 1
"""The steps of a `while_loop` without a limit. They are counted by an i32: more, and states would
be read where they were not written."""


@dataclass
class _Leaves:
    """The tensors of a nested value, and the value with slots for them."""

    tensors: list[Tensor] = field(default_factory=list[Tensor])
    structure: Any = None

    @classmethod
    def of(cls, value: Any, what: str, *, numbers: bool = False) -> _Leaves:
        """Numbers, also NumPy's, become tensors if they may be there. Raises TypeError for other
        leaves, and ValueError for tensors that are split among devices."""
        found = cls()

        def slot(leaf: Any) -> Any:
            if leaf is None:
                return None
            if numbers and isinstance(leaf, bool | int | float | SymInt | np.generic):
                leaf = Tensor(leaf)
            if not isinstance(leaf, Tensor):
                raise TypeError(f"{what} is made of tensors, not {type(leaf).__name__}")
            if leaf.node.axis is not None:
                raise ValueError(f"{what} is split among devices: a loop takes it whole")
            found.tensors.append(leaf)
            return Slot(len(found.tensors) - 1)

        found.structure = mapped(value, slot)
        return found

    def filled(self, tensors: Sequence[Tensor]) -> Any:
        """The value with other tensors."""
        return filled(self.structure, tensors, {})


def scan(
    f: Callable[[S, Any], tuple[S, Any]],
    init: S,
    xs: Any = None,
    length: Dim | None = None,
    reverse: bool = False,
) -> tuple[S, Any]:
    """Go through a sequence with a state: `state, y = f(state, x)` for each element x.

    The steps are one loop around the kernels of a step, so that compiling takes as long for 1,000
    steps as for 10. Gradients go through it, by a loop in the other order that computes each step
    again. The number of steps may be symbolic, and so may other sizes: one program is compiled for
    all of them. Tensors that `f` captures are constants; one that it assigns to is part of the
    state.

    Args:
        f: a step, from the state and an element to the next state and an output. It is traced once,
            so it cannot read elements of tensors.
        init: the first state: tensors and numbers, also in tuples, lists and dicts. A step returns
            one of the same structure, shapes and dtypes.
        xs: the sequence: tensors whose first axis has the steps, nested as well; None if a step
            takes none.
        length: the number of steps, which may be 0; by default the length of the sequence.
        reverse: go from the last element to the first.

    Returns:
        The last state, and the outputs of all steps stacked along a new first axis, each at the
        position of its element.

    Raises:
        TypeError: a state, an element or an output is no tensor, or a step returns no pair.
        ValueError: lengths differ, or a step returns a state of another structure, shape or dtype.
    """
    sequence = _Leaves.of(xs, "a sequence")
    steps = _steps(sequence.tensors, length)

    def step(state: Any, x: Any) -> tuple[Any, Any]:
        return _pair(f(state, x), "a scan")

    return _loop(step, init, sequence, steps, reverse=reverse)


def while_loop(
    cond_fun: Callable[[S], Any],
    body_fun: Callable[[S], Any],
    init_val: S,
    max_steps: Dim | Tensor | None = None,
    *,
    has_outputs: bool = False,
) -> Any:
    """`state = body_fun(state)` while `cond_fun(state)`, at most `max_steps` times.

    The condition is computed where the program runs, and nothing is computed after it is false.
    Gradients go through all `max_steps` steps, of which those that were not taken change nothing.

    Args:
        cond_fun: from a state to a bool of no axes, as a tensor.
        body_fun: from a state to the next, of the same structure, shapes and dtypes; with
            `has_outputs` to a pair of it and an output.
        init_val: the first state: tensors and numbers, also in tuples, lists and dicts.
        max_steps: the greatest number of steps: a number, a symbolic size, or an integer tensor of
            no axes. None is as many as it takes, at most 2^31 - 1.
        has_outputs: whether the outputs of the steps are a result. `max_steps` is a number or a
            size then: memory for so many outputs is needed.

    Returns:
        The state for which the condition is false, or that after `max_steps` steps. With
        `has_outputs` it is followed by the outputs, stacked along a new first axis of `max_steps`
        cells of which those of steps that were not taken are 0, and by the number of steps that
        were taken, an i64.

    Raises:
        TypeError: a state or the condition is no tensor, or `max_steps` is no integer.
        ValueError: a step returns a state of another structure, shape or dtype, or outputs are
            wanted without a number of steps.
        RuntimeError: a gradient is asked for without a number of steps.
    """
    limit = max_steps if isinstance(max_steps, Tensor) else None
    if limit is not None and (limit.shape != () or not limit.dtype.is_integer):
        raise TypeError(f"max_steps is an integer of no axes, not {limit.dtype.name} {limit.shape}")
    if has_outputs and (limit is not None or max_steps is None):
        raise ValueError("the outputs of a while_loop need a max_steps that is a number or a size")
    steps = _MOST_STEPS if max_steps is None or isinstance(max_steps, Tensor) else max_steps

    def holds(state: Any, count: Any) -> Tensor:
        flag: Any = cond_fun(state)
        if not isinstance(flag, Tensor) or flag.shape != ():
            raise TypeError("the condition of a while_loop is a tensor of no axes")
        return flag.bool() if limit is None else flag.bool() & (count < limit)

    def step(state: Any, _: None) -> tuple[Any, Any]:
        _, count, value = state
        new, output = body_fun(value), None
        if has_outputs:
            new, output = _pair(new, "a while_loop with outputs")
        count = None if count is None else count + 1
        return (holds(new, count), count, new), output

    state = _Leaves.of(init_val, "a state", numbers=True)
    init = state.filled(state.tensors)
    count = Tensor(0, dtype="int64") if has_outputs or limit is not None else None
    first = holds(init, count), count, init
    (_, count, last), outputs = _loop(step, first, _Leaves(), steps, is_while=True)
    return (last, outputs, count) if has_outputs else last


def cond(pred: Any, then_fn: Callable[..., S], else_fn: Callable[..., S], *operands: Any) -> S:
    """`then_fn(*operands)` if `pred` is true, else `else_fn(*operands)`: only one of them is
    computed where the program runs. Gradients go through the one that was.

    Args:
        pred: a bool of no axes. A number of Python or NumPy decides at once.
        then_fn, else_fn: the branches. Both return tensors and numbers, also in tuples, lists and
            dicts, of one structure, with the same shapes and dtypes. They may capture tensors.
        operands: the arguments of the branches.

    Raises:
        TypeError: `pred` is no scalar, or a result no tensor.
        ValueError: the results differ in structure, shape or dtype.
    """
    if isinstance(pred, bool | int | float | np.generic):
        return (then_fn if pred else else_fn)(*operands)
    if not isinstance(pred, Tensor) or pred.shape != ():
        raise TypeError("the predicate of a cond is a tensor of no axes")
    flag = pred.bool()

    def results(of: Callable[..., S], is_taken: Tensor) -> _Leaves:
        """The results of a branch, with an axis of its one step, or zeros."""

        def step(state: Tensor, _: None) -> tuple[Tensor, S]:
            return state & False, of(*operands)

        stacked: Any = _loop(step, is_taken, _Leaves(), 1, is_while=True)[1]
        return _Leaves.of(stacked, "a result of a cond")

    then, otherwise = results(then_fn, flag), results(else_fn, flag.logical_not())
    if (a := _shown(then, 1)) != (b := _shown(otherwise, 1)):
        raise ValueError(f"the branches of a cond return {a} and {b}")
    chosen = [flag.where(a[0], b[0]) for a, b in zip(then.tensors, otherwise.tensors, strict=True)]
    return then.filled(chosen)


def _pair(result: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
        raise TypeError(f"a step of {what} returns a pair: the next state, and an output or None")
    return cast("tuple[Any, Any]", result)


def _steps(sequence: Sequence[Tensor], length: Dim | None) -> Dim:
    if any(not tensor.ndim for tensor in sequence):
        raise ValueError("a sequence has an axis of steps")
    lengths: set[Dim] = {tensor.shape[0] for tensor in sequence}
    if length is not None:
        lengths.add(length)
    if len(lengths) != 1:
        found = " and ".join(map(str, sorted(lengths, key=str))) or "none is given"
        raise ValueError(f"a scan has one number of steps: {found}")
    return lengths.pop()


def _loop(
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    sequence: _Leaves,
    steps: Dim,
    *,
    reverse: bool = False,
    is_while: bool = False,
) -> tuple[Any, Any]:
    """The state after some steps, and the stacked outputs."""
    if least(steps) < 0:
        raise ValueError(f"a loop has no negative number of steps: {steps}")
    state = _Leaves.of(init, "a state", numbers=True)
    elements = [_element(tensor.node) for tensor in sequence.tensors]
    params = [parameter(node, {}) for node in (*(t.node for t in state.tensors), *elements)]
    count = len(state.tensors)
    seed_once(Tensor)
    with tracing() as capture:
        stand_ins = [Tensor.of_node(param) for param in params]
        given = state.filled(stand_ins[:count])
        element = sequence.filled(stand_ins[count:])
        new, output = step(given, element)
        following = _Leaves.of(new, "a state", numbers=True)
        _check_state(state, following)
        outputs = _Leaves.of(output, "an output", numbers=True)
        if steps == 0:
            ys = [t.expand(1, *t.shape)[:0].zeros_like() for t in outputs.tensors]
            return state.filled(state.tensors), outputs.filled(ys)
        # Tensors from before that it assigns to are states, too.
        assigned = cast("list[tuple[Tensor, Node]]", capture.assigned())
        changed = [(t, n) for t, n in assigned if n.serial < capture.start and n not in params]
        results = [tensor.node for tensor in (*following.tensors, *(t for t, _ in changed))]
        stacked = [tensor.node for tensor in outputs.tensors]
    # Everything else that was there before is a constant: sizes, too.
    states = [*params[:count], *(node for _, node in changed)]
    kept = [*states, *params[count:], *stacked]
    shapes = [e for node in kept for e in node.shape]
    sizes = [size_node(SymInt.of(atom)) for atom in atoms_of([steps, *shapes])]
    roots = [*results, *stacked, *sizes]
    graph = capture.graph(list(dict.fromkeys([*states, *params[count:]])), roots)
    given = *state.tensors, *(tensor for tensor, _ in changed), *sequence.tensors
    inputs = [*(tensor.node for tensor in given), *graph.captured]
    # The states of all steps are what gradients begin with.
    is_tracked = not is_while and any(node.is_tracked for node in inputs)
    returned = [*results, *stacked, *(states if is_tracked else ())]
    _check_devices(inputs, graph.order)
    # Sizes are constants, too: each extent of a parameter is one.
    extents = [steps, *(e for node in (*graph.leaves, *returned) for e in node.shape)]
    compound = dict.fromkeys(e for e in extents if isinstance(e, SymInt) and e.atom is None)
    more = [node for e in compound if (node := size_node(e)) not in graph.leaves]
    body = body_of(graph.order, [*graph.leaves, *more], returned)
    _drop_devices(body)
    inputs += more
    slots = {node.size: slot for slot, node in enumerate(inputs)}
    with argument_errors("a loop of this step: "):
        op = tg.ScanOp(
            _stand_ins(inputs),
            body,
            states=len(states),
            sequences=len(sequence.tensors),
            steps=None if isinstance(steps, SymInt) else steps,
            steps_at=slots[steps] if isinstance(steps, SymInt) else None,
            reverse=reverse,
            is_while=is_while,
        )
        op.verify(verify_nested_ops=False)
    known, elements_of = _interned(op)
    call = made(known, tuple(inputs))
    if known is not op and any(node.origin is not None for node in graph.order):
        # The steps of an equal loop have other locations.
        call.origin = replace(call.origin or Origin(), body=op)
    found: list[Node] = []
    for position, (element, root) in enumerate(zip(elements_of, returned, strict=True)):
        is_state = position < len(states)
        shape = inputs[position].shape if is_state else (steps, *root.shape)
        found.append(made(element, (call,), _symbolic(shape)))
    if changed and not is_tracing():
        # Tensors that are assigned to are read apart from the results: compute the steps once.
        realize(found)
    for (assigned, _), node in zip(changed, found[count:], strict=False):
        assigned.adopt(node)
    last = [Tensor.of_node(node) for node in found[:count]]
    ys = [Tensor.of_node(node) for node in found[len(states) : len(states) + len(stacked)]]
    return state.filled(last), outputs.filled(ys)


def _element(sequence: Node) -> Node:
    """A node of the type of an element, without a value."""
    type, extents = sequence.tensor_type, sequence.shape[1:]
    place = tg.PlaceAttr.of(sequence.device)
    row = tg.tensor_type(type.element_type, type.get_shape()[1:], place)
    return Node(None, (), row, None, sequence.is_tracked, _symbolic(extents))


def _symbolic(shape: Shape) -> Shape | None:
    """A shape as nodes have it: None if it is static."""
    return shape if any(isinstance(extent, SymInt) for extent in shape) else None


def _stand_ins(inputs: Sequence[Node]) -> list[SSAValue]:
    """Values of the types of some nodes, whose symbolic extents are those values that stand for
    sizes."""
    block = Block()
    builder = tg.OpBuilder.at_end(block)

    def argument(type: Attribute) -> SSAValue:
        return block.insert_arg(type, len(block.args))

    sizes = {node.size: argument(node.type) for node in inputs if node.size is not None}
    values: list[SSAValue] = []
    for node in inputs:
        if node.size is not None:
            values.append(sizes[node.size])
        elif node.extents is None:
            values.append(argument(node.type))
        else:
            dims = [sizes[e] for e in node.extents if isinstance(e, SymInt)]
            values.append(builder.put(tg.ParamOp(0, node.tensor_type, dims)))
    return values


def _drop_devices(body: Region) -> None:
    """Let the values of a body be wherever its arguments are, except in memory of its own."""
    for op in list(body.ops):
        for region in op.regions:
            _drop_devices(region)
        if isinstance(op, tg.CopyOp):
            op.result.replace_all_uses_with(op.source)
            Rewriter.erase_op(op)
        elif isinstance(op, tg.ParamOp):
            old = tg.tensor(op.result)
            where = tg.PlaceAttr.of(None, tg.place_of(old).addrspace)
            type = tg.tensor_type(old.element_type, old.get_shape(), where)
            Rewriter.replace_value_with_new_type(op.result, type)
        elif not tg.is_type_written(op):
            Rewriter.replace_value_with_new_type(op.results[0], result_type(op))


def _check_state(state: _Leaves, new: _Leaves) -> None:
    """Raise ValueError unless a new state is like the one before."""
    if state.structure != new.structure:
        raise ValueError(f"a step returns the state {_shown(new)} for {_shown(state)}")
    for position, (a, b) in enumerate(zip(state.tensors, new.tensors, strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise ValueError(
                f"part {position} of the state is {a.dtype.name} {a.shape}, and a step returns "
                f"{b.dtype.name} {b.shape}"
            )


def _check_devices(inputs: Sequence[Node], order: Sequence[Node]) -> None:
    """Raise ValueError unless a step computes on one device, or on several the same, and some input
    of the loop is there."""
    places = dict.fromkeys(tg.place_of(n.type) for n in (*inputs, *order) if tg.is_tensor(n.type))
    if any(place.axis is not None for place in places):
        raise ValueError("a step splits a tensor among devices: a loop takes it whole")
    devices = dict.fromkeys(p.device for p in places if p.device is not None)
    if len(devices) > 1:
        names = " and ".join(show_device(device) for device in devices)
        raise ValueError(f"a loop is on one device, not on {names}")
    for device in devices.keys() - {DEVICES.DEFAULT}:
        if all(node.device is None for node in inputs):
            raise ValueError(f"a step computes on {show_device(device)}: move the state there")


def _shown(state: _Leaves, first: int = 0) -> str:
    """The structure of a value, with dtypes and shapes from an axis on."""
    shown = [f"{t.dtype.name} {t.shape[first:]}" for t in state.tensors]
    return str(filled(state.structure, shown, {}))


def _interned(op: tg.ScanOp) -> tuple[tg.ScanOp, Sequence[tg.GetTupleOp]]:
    """The SCAN that was made before and is equal, or this one, and the GETTUPLEs of it."""
    key = op_key(op, [operand.type for operand in op.operands]), Structures().of(op.body.block)
    if key not in _known:
        if len(_known) >= _MAX_SCANS:
            _known.clear()
        _known[key] = op, [tg.GetTupleOp(op, i) for i in range(len(op.results_of_body))]
    return _known[key]
