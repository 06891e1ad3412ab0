"""From a lazy graph to arrays: one module computes all requested nodes, and is compiled once. Which
values a call may overwrite: those that nobody but one tensor can see.

A value is seen by other tensors that share its memory, by values that are computed from it later,
by arrays of `numpy()`, by libraries that took it by DLPack, and by calls on other threads. Each of
them holds a reference to the value's node or to its array, so references are counted at the call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.frontend.graph import (
    INDEX_TYPE,
    Data,
    Node,
    emit_size,
    size_node,
    sorted_nodes,
)
from tgdialect.frontend.locations import identifier, name_of_value
from tgdialect.frontend.symbolic import Atom, Derived, Factor, SymInt, check_bound
from tgdialect.frontend.tracing import is_parameter
from tgdialect.frontend.views import shared_cells, view_of
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.source import parameters
from tgdialect.runtime.compiler import compile
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.memory import ReleasedArray, has_one_holder, owns_memory

Key = tuple[Any, ...]

_executables: dict[Key, Executable] = {}
"""The executables of the graphs that were compiled last, by their structure."""
_MAX_EXECUTABLES = 1024
"""The executables that are kept. Larger: more memory, for code and packed constants; smaller:
programs with more graphs compile them again. An order of magnitude."""


def realize(roots: Collection[Node]) -> None:
    """Compute nodes, all in one program. Nodes that have data already are skipped, and views of
    contiguous cells of an array of the host share its memory: no program depends on their size or
    place."""
    for node in roots:
        if node.data is None and (array := shared_cells(node)) is not None:
            _settle(node, array)
    _realize(roots)


def _realize(roots: Iterable[Node]) -> None:
    """Compute nodes that have no data, into memory of their own."""
    missing = [node for node in roots if node.data is None]
    if not missing:
        return
    wanted = list(dict.fromkeys(missing))
    order = sorted_nodes(wanted)
    if is_sharded(order):
        _compute(order, wanted, None)
        return
    # A program runs on one device: compute what is copied from one to another, and copy it.
    if copies := _copies(order):
        for node in copies:
            source = computed(next(iter(node.operands)))
            node.settle(DEVICES[cast(str, node.device) or DEVICES.DEFAULT].copied(source))
        _realize(wanted)
        return
    # The results of each device have a program, after those that may be anywhere.
    places = {node: cast(str, node.device or "") for node in wanted}
    devices = sorted(set(places.values()))
    if len(devices) > (2 if devices[0] == "" else 1):
        for device in devices:
            _realize([node for node in wanted if places[node] == device])
        return
    _compute(order, wanted, device_of(order) or DEVICES.DEFAULT)


def _compute(order: Sequence[Node], wanted: Sequence[Node], device: str | None) -> None:
    """Compute nodes by a program on a device, or on those that the types name."""
    for node in filter(is_parameter, order):
        if (reason := loss_of(node)) is not None:
            raise RuntimeError(reason)
        if node.size is not None and node.size.atom is not None:
            check_bound(node.size.atom)
        raise RuntimeError("a value is not known while its function is traced")
    leaves, key = _key(order, wanted)
    key = (device, *key)
    executable = _executables.get(key)
    if executable is None:
        module = module_of(function_of("main", order, leaves, wanted))
        executable = _executables[key] = compiled(module, device)
        for oldest in list(_executables)[:-_MAX_EXECUTABLES]:
            _executables.pop(oldest, None)
    results = executable.resident(*(leaf.data for leaf in leaves))
    if len(wanted) == 1:
        results = (results,)
    for node, data in zip(wanted, results, strict=True):
        _settle(node, data)


def _settle(node: Node, data: Data) -> None:
    """Set the computed value of a node, which stays a view."""
    if node.view is None:
        node.view = view_of(node) or None
    node.settle(data)


def compiled(module: ModuleOp, device: str | None, *, check: bool = False) -> Executable:
    """Compile a module of nodes: each op has been verified as the prototype of its node."""
    return cast(Executable, compile(module, target=device, is_verified=True, check=check))


def is_sharded(nodes: Iterable[Node]) -> bool:
    """Whether a graph has a value on several devices, or on a process of MPI."""
    named = (device for node in nodes if (device := node.device) is not None)
    return any(isinstance(device, tuple) or tg.is_process(device) for device in named)


def _copies(order: Iterable[Node]) -> list[Node]:
    """The COPYs among the nodes of a graph that move data. The others copy what is computed from
    constants alone: their program computes that on the device where it is needed."""
    placed: set[Node] = set()
    copies: list[Node] = []
    for node in order:
        is_given = node.data is not None and node.size is None
        is_moved = is_given or any(operand in placed for operand in node.operands)
        if is_moved or node.device is not None:
            placed.add(node)
        if is_moved and node.data is None and isinstance(node.prototype, tg.CopyOp):
            copies.append(node)
    return copies


def _key(order: Sequence[Node], wanted: Sequence[Node]) -> tuple[list[Node], Key]:
    """The leaves of a graph, and a key for its structure, which does not depend on their data."""
    numbers: dict[Node, int] = {}
    leaves: list[Node] = []
    key: list[Any] = []
    atoms: dict[Atom, Atom] = {}
    for node in order:
        numbers[node] = len(numbers)
        if node.data is not None:
            leaves.append(node)
            key.append(node.type)
            if (size := node.size) is not None and size.atom is not None:
                atoms[size.atom] = Atom(size.atom.variable, None, numbers[node])
                key.append(size.atom.variable)
            if node.extents is not None:
                key += [e if isinstance(e, int) else e.substituted(atoms) for e in node.extents]
        else:
            key.append(node.prototype)
            key.append(tuple([numbers[operand] for operand in node.operands]))
    key.append(tuple([numbers[node] for node in wanted]))
    return leaves, tuple(key)


def module_of(function: FuncOp) -> ModuleOp:
    """A module of a function, with the built-in CUSTOMFUNCTIONs that it calls."""
    calls = (op for op in nested_ops(function) if isinstance(op, tg.CallOp))
    names = dict.fromkeys(call.callee.string_value() for call in calls)
    return ModuleOp([function, *(tg.CustomFunctionOp(name, (), [0], [1]) for name in names)])


def function_of(
    name: str,
    order: Sequence[Node],
    leaves: Sequence[Node],
    results: Sequence[Node],
    constants: Collection[Node] = (),
    donated: Mapping[Node, int] = {},
) -> FuncOp:
    """A function from the leaves of a graph to some of its nodes.

    `constants` are leaves whose values are the same in every call, `donated` those that are not
    needed after a call, and the number of the result that is to take the memory of each.
    """
    block = Block()
    builder = tg.OpBuilder.at_end(block)
    values = insert_parameters(builder, leaves)
    for op in parameters(block):
        if (named := name_of_value(leaves[op.slot.data].origin)) is not None:
            op.symbol = StringAttr(named)
            op.result.name_hint = identifier(named)
        if (leaf := leaves[op.slot.data]) in constants:
            op.attributes["tg.constant"] = UnitAttr()
        elif leaf in donated:
            op.attributes["tg.donated"] = IntegerAttr(donated[leaf], 64)
    insert_nodes(builder, order, values)
    builder.insert(ReturnOp(*(values[node] for node in results)))
    function = FuncOp(name, ([], [n.type for n in results]), Region(block))
    names = [name_of_value(node.origin) for node in results]
    if any(names):
        function.res_attrs = ArrayAttr(
            DictionaryAttr({} if each is None else {tg.NAME: StringAttr(each)}) for each in names
        )
    return function


def body_of(order: Sequence[Node], leaves: Sequence[Node], roots: Sequence[Node]) -> Region:
    """The body of a FUNCTION from the leaves of a graph to some nodes. An extent of a result that
    is the size of a leaf is its PARAM."""
    body = Block()
    builder = tg.OpBuilder.at_end(body)
    values = insert_parameters(builder, leaves)
    insert_nodes(builder, order, values)
    params = parameters(body)
    sizes: dict[SymInt, SSAValue] = {
        leaf.size: param.result
        for leaf, param in zip(leaves, params, strict=True)
        if leaf.size is not None
    }
    builder.insert(tg.TupleOp([_resized(builder, values[root], root, sizes) for root in roots]))
    return Region(body)


def _resized(
    builder: tg.OpBuilder, value: SSAValue, node: Node, sizes: Mapping[SymInt, SSAValue]
) -> SSAValue:
    """The value of a node, whose compound extents are the given index values."""
    if all(isinstance(e, int) or e.atom is not None or e not in sizes for e in node.extents or ()):
        return value
    known = [
        sizes.get(e, d) if isinstance(e, SymInt) else e
        for e, d in zip(node.extents or (), tg.shape_of(value), strict=True)
    ]
    return builder.put(tg.ShrinkOp(value, [0] * len(known), known))


def insert_parameters(builder: tg.OpBuilder, leaves: Sequence[Node]) -> dict[Node, SSAValue]:
    """Insert a PARAM for each leaf.

    A compound extent is a leaf, or computed from the variables that it depends on. What a FUNCTION
    is passed has such an extent by another op, so that a SHRINK gives it this one.
    """
    values: dict[Node, SSAValue] = {}
    sizes: dict[SymInt, SSAValue] = {}
    factors: dict[Factor, SSAValue] = {}
    # Sizes first, since the PARAMs of tensors use them.
    for slot, leaf in enumerate(leaves):
        if (size := leaf.size) is not None:
            name = size.atom.variable.name if size.atom else None
            low, high = max(size.min, 0), size.max
            param = tg.ParamOp(slot, leaf.tensor_type, name=name, min=low, max=high)
            values[leaf] = sizes[size] = builder.put(param)
            if size.atom is not None:
                factors[size.atom] = values[leaf]
    # Inside, a compound size is computed from the variables that it depends on.
    for leaf in leaves:
        size = leaf.size
        if size is not None and size.atom is None and factors.keys() >= {*size.atoms}:
            values[leaf] = emit_size(builder, size, factors)
    for slot, leaf in enumerate(leaves):
        if leaf in values:
            continue
        symbolic = [e for e in leaf.extents or () if isinstance(e, SymInt)]
        computed = {e: emit_size(builder, e, factors) for e in symbolic}
        dims = [sizes.get(e, computed[e]) for e in symbolic]
        values[leaf] = builder.put(tg.ParamOp(slot, leaf.tensor_type, dims))
        if any(e.atom is None for e in symbolic):
            shape = [computed[e] if isinstance(e, SymInt) else e for e in leaf.extents or ()]
            values[leaf] = builder.put(tg.ShrinkOp(values[leaf], [0] * len(shape), shape))
    # Equal quotients and maxima are one value, also those of nodes.
    for factor, value in factors.items():
        if isinstance(factor, Derived):
            values[size_node(SymInt.of(factor))] = value
    return values


def insert_nodes(
    builder: tg.OpBuilder, order: Iterable[Node], values: dict[Node, SSAValue]
) -> dict[Node, SSAValue]:
    """Insert the ops of nodes, operands first, except of nodes that have a value already."""
    for node in order:
        if node in values:
            continue
        assert node.prototype is not None
        prototype, origin = node.prototype, node.origin
        written = prototype if origin is None else origin.body or prototype
        op = prototype.__class__.create(
            operands=[values[operand] for operand in node.operands],
            result_types=[node.type],
            properties=prototype.properties,
            attributes=prototype.attributes,
            regions=[region.clone() for region in written.regions],
        )
        if origin is not None:
            origin.place(op)
        values[node] = builder.put(op)
    return values


def device_of(nodes: Iterable[Node]) -> str | None:
    """The device that a program of these nodes runs on; None for the default device, and for
    values on several devices.

    Raises RuntimeError if they name several, one each.
    """
    named = named_devices(nodes)
    if len(named) > 1:
        names = " and ".join(sorted(named))
        raise RuntimeError(f"a program runs on one device, and this one names {names}")
    return next(iter(named), None)


def named_devices(nodes: Iterable[Node]) -> set[str]:
    """The devices that the types of nodes name, one each; none if a value is on several."""
    nodes = list(nodes)
    if is_sharded(nodes):
        return set()
    return {str(name) for node in nodes if (name := node.device) is not None}


def computed(node: Node) -> Data:
    """The data of a node, where it is; computed if necessary."""
    if node.data is None:
        _realize([node])
    assert node.data is not None
    return node.data


def as_array(node: Node) -> Array:
    """The data of a node as an array of the host, computed if necessary."""
    data = computed(node)
    return data if isinstance(data, np.ndarray) else data.numpy()


# -- values that are gone ------------------------------------------------------------------------

_LOST = "lost"
"""The attribute of the prototype of a value that is gone: what those who ask for it are told."""


def overwritten(
    executable: Executable, nodes: Sequence[Node], data: list[Any], first: int = 0
) -> list[Node]:
    """The nodes whose memory a call overwrites. `data` are the arguments of the call, with the
    arrays of the nodes from the `first` on; those that somebody else sees are replaced by copies.

    Of the callers none may refer to a node but by `nodes`, or to an array but by `data`.
    """
    found: list[Node] = []
    written = [i - first for _, i in executable.overwritten if first <= i < first + len(nodes)]
    # A gradient that needs the nodes may be asked for by a tensor that the call does not assign to,
    # or by one that a node was computed from.
    is_needed = any(n.is_tracked and (i not in written or n.operands) for i, n in enumerate(nodes))
    for i in written:
        if not is_needed and has_one_holder(nodes, i) and _is_free(data, first + i):
            found.append(nodes[i])
        else:
            data[first + i] = executable.copied(data[first + i])
    return found


def _is_free(data: Sequence[Any], i: int) -> bool:
    """Whether only its node, beside `data`, refers to the memory of an array."""
    if not has_one_holder(data, i):
        return False
    if isinstance(data[i], np.ndarray):
        return owns_memory(data[i])
    return isinstance(data[i], DeviceArray) and data[i].owns_memory


def lose(node: Node, reason: str) -> None:
    """Take the value of a node away. `reason` is the error for those who ask for it."""
    node.data, node.operands = None, ()
    node.prototype = _lost(reason)


@lru_cache
def _lost(reason: str) -> tg.ParamOp:
    """The prototype of values that are gone for a reason."""
    prototype = tg.ParamOp(0, INDEX_TYPE)
    prototype.attributes[_LOST] = StringAttr(reason)
    return prototype


def loss_of(node: Node) -> str | None:
    """Why a node has no value any more; None if that is not so."""
    data: object = node.data
    if isinstance(data, ReleasedArray):
        return data.reason
    lost = None if node.prototype is None else node.prototype.attributes.get(_LOST)
    return lost.data if isinstance(lost, StringAttr) else None
