"""Loops in programs: `scan` and `while_loop`, whose steps are one set of kernels however many there
are. Names and arguments are those of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter

from tgdialect.analysis.structure import Structures
from tgdialect.frontend.graph import Node, argument_errors, made
from tgdialect.frontend.locations import Origin
from tgdialect.frontend.random import seed_once
from tgdialect.frontend.realization import body_of, realize
from tgdialect.frontend.symbolic import SymInt
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


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, bool | int | float)


@dataclass
class _Leaves:
    """The tensors of a nested value, and the value with slots for them."""

    tensors: list[Tensor] = field(default_factory=list[Tensor])
    structure: Any = None

    @classmethod
    def of(cls, value: Any, what: str, *, numbers: bool = False, symbolic: bool = False) -> _Leaves:
        """Numbers become tensors if they may be there. Raises TypeError for other leaves, and
        ValueError for symbolic sizes unless these may be there."""
        found = cls()

        def slot(leaf: Any) -> Any:
            if leaf is None:
                return None
            if numbers and _is_number(leaf):
                leaf = Tensor(leaf)
            if not isinstance(leaf, Tensor):
                raise TypeError(f"{what} is made of tensors, not {type(leaf).__name__}")
            if leaf.node.extents is not None and not symbolic:
                raise ValueError(
                    f"{what} has a symbolic size: {leaf.shape}; sizes in this loop are static: pad "
                    "it to its greatest size"
                )
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
    length: int | None = None,
    reverse: bool = False,
) -> tuple[S, Any]:
    """Go through a sequence with a state: `state, y = f(state, x)` for each element x.

    The steps are one loop around the kernels of a step, so that compiling takes as long for 1,000
    steps as for 10. Gradients go through it, by a loop in the other order that computes each step
    again. Where a state or an element has a symbolic size, the steps are unrolled instead: each
    is traced and compiled. Tensors that `f` captures are constants; one that it assigns to is part
    of the state.

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
    sequence = _Leaves.of(xs, "a sequence", symbolic=True)
    steps = _steps(sequence.tensors, length)

    def step(state: Any, x: Any) -> tuple[Any, Any]:
        result: Any = f(state, x)
        if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
            raise TypeError(
                "a step of a scan returns a pair: the next state, and an output or None"
            )
        return cast("tuple[Any, Any]", result)

    state = _Leaves.of(init, "a state", numbers=True, symbolic=True)
    if steps and any(t.node.extents is not None for t in (*state.tensors, *sequence.tensors)):
        return _unrolled(step, state, sequence, range(steps)[:: -1 if reverse else 1])
    return _loop(step, init, sequence, steps, reverse=reverse)


def while_loop(
    cond_fun: Callable[[S], Any], body_fun: Callable[[S], S], init_val: S, max_steps: int
) -> S:
    """`state = body_fun(state)` while `cond_fun(state)`, at most `max_steps` times.

    The condition is computed where the program runs, and nothing is computed after it is false.
    Gradients go through all `max_steps` steps, of which those that were not taken change nothing.

    Args:
        cond_fun: from a state to a bool of no axes, as a tensor.
        body_fun: from a state to the next, of the same structure, shapes and dtypes.
        init_val: the first state: tensors and numbers, also in tuples, lists and dicts.
        max_steps: the greatest number of steps.

    Returns:
        The state for which the condition is false, or that after `max_steps` steps.

    Raises:
        TypeError: a state or the condition is no tensor.
        ValueError: a step returns a state of another structure, shape or dtype.
    """

    def holds(state: Any) -> Tensor:
        flag: Any = cond_fun(state)
        if not isinstance(flag, Tensor) or flag.shape != ():
            raise TypeError("the condition of a while_loop is a tensor of no axes")
        return flag.bool()

    def step(state: Any, _: None) -> tuple[Any, None]:
        new = body_fun(state[1])
        return (holds(new), new), None

    init: Any = mapped(init_val, lambda leaf: Tensor(leaf) if _is_number(leaf) else leaf)
    (_, last), _ = _loop(step, (holds(init), init), _Leaves(), max_steps, is_while=True)
    return last


def _steps(sequence: Sequence[Tensor], length: int | None) -> int:
    if any(not tensor.ndim for tensor in sequence):
        raise ValueError("a sequence has an axis of steps")
    lengths = {tensor.shape[0] for tensor in sequence}
    if length is not None:
        lengths.add(length)
    if len(lengths) != 1:
        found = " and ".join(map(str, sorted(lengths, key=str))) or "none is given"
        raise ValueError(f"a scan has one number of steps: {found}")
    steps = lengths.pop()
    if isinstance(steps, SymInt):
        raise ValueError(f"a scan has a symbolic number of steps: {steps}")
    return steps


def _loop(
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    sequence: _Leaves,
    steps: int,
    *,
    reverse: bool = False,
    is_while: bool = False,
) -> tuple[Any, Any]:
    """The state after some steps, and the stacked outputs."""
    if steps < 0:
        raise ValueError(f"a loop has no negative number of steps: {steps}")
    state = _Leaves.of(init, "a state", numbers=True)
    elements = [_element(tensor) for tensor in sequence.tensors]
    params = [parameter(t.node, {}) for t in (*state.tensors, *elements)]
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
    # Everything else that was there before is a constant.
    states = [*params[:count], *(node for _, node in changed)]
    graph = capture.graph(list(dict.fromkeys([*states, *params[count:]])), [*results, *stacked])
    given = *state.tensors, *(tensor for tensor, _ in changed), *sequence.tensors
    inputs = [*(tensor.node for tensor in given), *graph.captured]
    # The states of all steps are what gradients begin with.
    is_tracked = not is_while and any(node.is_tracked for node in inputs)
    kept = states if is_tracked else []
    _check_devices(inputs, graph.order)
    body = body_of(graph.order, graph.leaves, [*graph.roots, *kept])
    _drop_devices(body)
    with argument_errors("a loop of this step: "):
        op = tg.ScanOp(
            Block(arg_types=[node.type for node in inputs]).args,
            body,
            states=len(states),
            sequences=len(sequence.tensors),
            steps=steps,
            reverse=reverse,
            is_while=is_while,
        )
        op.verify(verify_nested_ops=False)
    known, elements_of = _interned(op)
    call = made(known, tuple(inputs))
    if known is not op and any(node.origin is not None for node in graph.order):
        # The steps of an equal loop have other locations.
        call.origin = replace(call.origin or Origin(), body=op)
    found = [made(element, (call,)) for element in elements_of]
    if changed and not is_tracing():
        # Tensors that are assigned to are read apart from the results: compute the steps once.
        realize(found)
    for (assigned, _), node in zip(changed, found[count:], strict=False):
        assigned.adopt(node)
    last = [Tensor.of_node(node) for node in found[:count]]
    ys = [Tensor.of_node(node) for node in found[len(states) : len(states) + len(stacked)]]
    return state.filled(last), outputs.filled(ys)


def _unrolled(
    step: Callable[[Any, Any], tuple[Any, Any]], state: _Leaves, sequence: _Leaves, order: range
) -> tuple[Any, Any]:
    """The state after the steps of an order, and the stacked outputs, without a SCAN: its sizes are
    static."""
    found: dict[int, _Leaves] = {}
    for i in order:
        element = sequence.filled([tensor[i] for tensor in sequence.tensors])
        new, output = step(state.filled(state.tensors), element)
        following = _Leaves.of(new, "a state", numbers=True, symbolic=True)
        _check_state(state, following)
        state = following
        found[i] = _Leaves.of(output, "an output", numbers=True, symbolic=True)
    outputs = [found[i] for i in sorted(found)]
    stacked = [
        Tensor.stack(*of_steps) for of_steps in zip(*(o.tensors for o in outputs), strict=True)
    ]
    return state.filled(state.tensors), outputs[0].filled(stacked)


def _element(sequence: Tensor) -> Tensor:
    """A tensor of the type of an element, also if there is none."""
    return (sequence if sequence.shape[0] else sequence.pad_to(1, *sequence.shape[1:]))[0]


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


def _shown(state: _Leaves) -> str:
    return str(filled(state.structure, [f"{t.dtype.name} {t.shape}" for t in state.tensors], {}))


def _interned(op: tg.ScanOp) -> tuple[tg.ScanOp, Sequence[tg.GetTupleOp]]:
    """The SCAN that was made before and is equal, or this one, and the GETTUPLEs of it."""
    key = op_key(op, [operand.type for operand in op.operands]), Structures().of(op.body.block)
    if key not in _known:
        if len(_known) >= _MAX_SCANS:
            _known.clear()
        _known[key] = op, [tg.GetTupleOp(op, i) for i in range(len(op.results_of_body))]
    return _known[key]
