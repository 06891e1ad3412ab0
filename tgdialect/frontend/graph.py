"""The lazy graph of tensor programs: values that are not computed yet, before IR is made of them.

A node is an op of the dialect on other nodes. Making one takes microseconds: the op itself, with
its properties and the result type that its rule infers, is made once and shared by all equal nodes.
It is called their *prototype*. `realization.py` turns a graph into a module.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.diagnostics import bounded_name, lasting_hint
from tgdialect.frontend.dtypes import attribute_of, of_attribute
from tgdialect.frontend.locations import Origin, located, name_of_value, present
from tgdialect.frontend.symbolic import (
    Atom,
    Derived,
    Dim,
    Factor,
    SymInt,
    Variable,
    factors_of,
    substituted,
)
from tgdialect.ops import tg
from tgdialect.ops.affine import renamed
from tgdialect.ops.multi import placing
from tgdialect.ops.numbering import op_key
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.distributed.array import ShardedArray
from tgdialect.runtime.program import HOST

Data = Array | DeviceArray | ShardedArray
Shape = tuple[Dim, ...]


class ArgumentError(ValueError, RuntimeError):
    """A value that PyTorch and tinygrad refuse by a RuntimeError."""


@contextmanager
def argument_errors(context: str = "") -> Generator[None]:
    """Raise ArgumentError for what breaks a rule of the dialect, or is refused by a pass. The
    message begins with `context`."""
    try:
        yield
    except (VerifyException, PassFailedException) as error:
        raise ArgumentError(f"{context}{error}") from None


serials = count()
"""Numbers the nodes as they are made."""


class _WeaklyReferable:
    """A base instead of `weakref_slot`, whose descriptor is of another class in CPython 3.11.2."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True, eq=False, repr=False)
class Node(_WeaklyReferable):
    """A value of a tensor program: an op on other nodes, or data.

    Attributes:
        prototype: the op; None for a node that was data from the beginning.
        operands: the nodes that it is applied to.
        data: the array, of the host, of a device or of several, once it is computed. Prototype and
            operands are dropped then, unless the node is tracked.
        is_tracked: whether a gradient may be asked for that goes through this node.
        extents: the shape, if some extents depend on variables.
        size: for an index scalar, the size that it stands for in shapes.
        owner: a weak reference to the one tensor that has this node.
        serial: the number of nodes that were made before.
        view: the view that this node is, if `prototype` does not say it (`views.py`).
        origin: where it comes from in the program that is imported (`locations.py`).
    """

    prototype: tg.TgOp | None
    operands: tuple[Node, ...]
    type: Attribute
    data: Data | None = None
    is_tracked: bool = False
    extents: Shape | None = None
    size: SymInt | None = field(default=None, init=False)
    owner: Callable[[], object] | None = field(default=None, init=False)
    view: tuple[Any, ...] | None = field(default=None, init=False)
    serial: int = field(default_factory=serials.__next__, init=False)
    origin: Origin | None = field(default_factory=present, init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes. An extent that depends on variables is a `SymInt`, which has the
        arithmetic of an int."""
        if self.extents is not None:
            return cast("tuple[int, ...]", self.extents)
        return tg.static_shape(self.tensor_type)

    @property
    def dtype(self) -> tg.DType:
        """The dtype of the elements."""
        return of_attribute(self.tensor_type.element_type)

    @property
    def tensor_type(self) -> TensorType[Attribute]:
        """The type, which must be a tensor type: not that of a FUNCTION's tuple."""
        return cast("TensorType[Attribute]", self.type)

    @property
    def device(self) -> tg.Device:
        """The device that the type names, or devices: None for a value that may be anywhere, and
        for a tuple."""
        return tg.place_of(self.type).device if tg.is_tensor(self.type) else None

    @property
    def axis(self) -> int | None:
        """The axis that is split among the devices; None if there is none."""
        return tg.place_of(self.tensor_type).axis

    @property
    def owner_node(self) -> object:
        """The present node of the tensor that owns this node; None if there is no such tensor. It
        is another node if the tensor was assigned to since."""
        return None if self.owner is None else getattr(self.owner(), "node", None)

    def copy(self, is_tracked: bool) -> Node:
        """A new node of the same value."""
        if isinstance(self.prototype, tg.ParamOp):
            # The node itself says which parameter it is.
            new = same(self) if is_tracked else apply(tg.DetachOp, self)
            new.is_tracked = is_tracked
            return new
        new = Node(self.prototype, self.operands, self.type, self.data, is_tracked, self.extents)
        new.origin = self.origin
        return new

    def settle(self, data: Data) -> None:
        """Set the computed value. Keep how it was made only for gradients, which DETACH stops."""
        self.data = data
        if not self.is_tracked or isinstance(self.prototype, tg.DetachOp):
            self.prototype, self.operands = None, ()
            if (origin := self.origin) is not None and origin.body is not None:
                self.origin = replace(origin, body=None)


def leaf(
    data: Data, dtype: tg.DType, *, is_named: bool = False, extents: Shape | None = None
) -> Node:
    """A node of an array in C order. Its type names the device if `is_named`, or if that is neither
    the host nor the default device. The shape is `extents` if that depends on variables."""
    if isinstance(data, ShardedArray):
        place = tg.PlaceAttr.of(data.device, None, data.axis)
        return Node(None, (), tg.tensor_type(attribute_of(dtype), data.shape, place), data)
    device = HOST if isinstance(data, np.ndarray) else data.device
    if not is_named and (device == HOST or device == DEVICES.DEFAULT):
        device = None
    shape = data.shape if extents is None else static_extents(extents)
    type = tg.tensor_type(attribute_of(dtype), shape, tg.PlaceAttr.of(device))
    return Node(None, (), type, data, extents=extents)


def static_extents(extents: Shape) -> tuple[int, ...]:
    """A shape as types have it, in which an extent that depends on variables is dynamic."""
    return tuple(e if isinstance(e, int) else DYNAMIC_INDEX for e in extents)


# -- making nodes --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Known:
    """The result of `apply` for one key, from which equal calls make their node.

    `order` has, for each operand, the position of its node in the call. `extents` is the shape of
    the result, if it depends on variables, in terms of the numbered sizes of the call.
    """

    prototype: tg.TgOp
    order: tuple[int, ...] = ()
    extents: Shape | None = None


_by_call: dict[tuple[Any, ...], _Known] = {}
"""The cache of `apply`."""
_by_content: dict[tuple[Any, ...], tg.TgOp] = {}
_MAX_PROTOTYPES = 1 << 16
"""The calls that `apply` remembers; then all are forgotten, and graphs are compiled again. Larger:
more memory; smaller: programs with many different ops are compiled again. An order of magnitude."""


@dataclass(slots=True)
class _Call:
    """The nodes in the arguments of a call, and the variables in their shapes, in order of
    occurrence. `sizes` maps the position of a node that stands for a size to that size."""

    nodes: list[Node] = field(default_factory=list[Node])
    sizes: dict[int, SymInt] = field(default_factory=dict[int, SymInt])
    atoms: dict[Atom, Atom] = field(default_factory=dict[Atom, Atom])

    def key(self, argument: Any) -> Any:
        """An argument as part of a key: nodes are collected, and replaced by their types."""
        if isinstance(argument, Node):
            self.nodes.append(argument)
            if argument.extents is None:
                return argument.type
            return argument.type, *[self.numbered(e) for e in argument.extents]
        if isinstance(argument, list | tuple):
            return tuple([self.key(item) for item in argument])  # pyright: ignore[reportUnknownVariableType]
        if isinstance(argument, SymInt):
            self.sizes[len(self.nodes)] = argument
            self.nodes.append(size_node(argument))
            return self.numbered(argument)
        return argument

    def numbered(self, dim: Dim) -> Dim:
        """A size with its variables numbered in the order in which they occur."""
        if isinstance(dim, int):
            return dim
        for atom in dim.atoms:
            if atom not in self.atoms:
                self.atoms[atom] = Atom(_UNBOUND, None, len(self.atoms))
        return dim.substituted(self.atoms)


_UNBOUND = Variable("n", 0, 2**62)


def apply(op: Callable[..., tg.TgOp], *arguments: Any) -> Node:
    """The op of a class on arguments as its builder takes them, with nodes for values and
    `SymInt`s for sizes.

    Raises ArgumentError if the op's rule is broken.
    """
    call = _Call()
    key = (op, *(call.key(argument) for argument in arguments))
    known = _by_call.get(key)
    if known is None:
        if len(_by_call) >= _MAX_PROTOTYPES:
            # Prototypes are compared by identity, so all graphs will be compiled again.
            _by_call.clear()
            _by_content.clear()
        with argument_errors():
            known = _by_call[key] = _prototype(op, arguments, call)
    nodes = call.nodes
    extents = known.extents
    if extents is not None:
        extents = substituted(extents, {number: atom for atom, number in call.atoms.items()})
    return made(known.prototype, tuple([nodes[i] for i in known.order]), extents)


def constant(value: float, dtype: tg.DType) -> Node:
    """A constant scalar, rounded to a float dtype."""
    key = tg.ConstOp, repr(value), dtype
    known = _by_call.get(key)
    if known is None:
        rounded = tg.round_to(dtype, value) if dtype.is_float else value
        known = _by_call[key] = _Known(interned(tg.ConstOp(rounded, attribute_of(dtype))))
    return made(known.prototype, ())


def same(node: Node) -> Node:
    """A copy of a node: the same value, no view of it. Gradients go through it."""
    if node.data is not None and not node.is_tracked:
        _drop_dead_sources(node)
    new = apply(tg.ReshapeOp, node, node.shape)
    new.data = node.data
    new.view = ()
    return new


def named_node(node: Node, name: str) -> Node:
    """A node of the same value that has a name: this one, unless it has another name already."""
    known = name_of_value(node.origin)
    if known == (name := bounded_name(name)):
        return node
    if known is not None:
        node = same(node)
    node.origin = replace(node.origin or Origin(), name=name)
    return node


def _drop_dead_sources(node: Node) -> None:
    """Shorten a chain of copies: remove the nodes that are not any tensor's present node.

    A node that has data and operands but is not tracked is a copy made by `same`, linked to its
    source for gradients with respect to the source's tensor. If the source has no such tensor, the
    copy takes over the source's own link. Repeated assignment so leaves no chain behind.
    """
    while node.operands:
        source = node.operands[0]
        if source.owner_node is source:
            node = source
        else:
            node.prototype, node.operands = source.prototype, source.operands


def placed(node: Node, devices: tuple[str, ...], axis: int | None) -> Node:
    """A node split along an axis among devices, or a copy on each of them. Raises ArgumentError if
    it does not split."""
    if (node.device, node.axis) == (devices, axis):
        return node
    with argument_errors():
        moves = placing(node.shape, tg.place_of(node.tensor_type), devices, axis)
    for op, argument in moves:
        node = apply(op, node, argument)
    return node


def made(prototype: tg.TgOp, operands: tuple[Node, ...], extents: Shape | None = None) -> Node:
    """A node of a prototype on operands, whose types are those of the prototype's operands."""
    type = prototype.results[0].type
    is_tracked = any(o.is_tracked for o in operands) and _has_gradient(prototype, type)
    return Node(prototype, operands, type, None, is_tracked, extents)


def _has_gradient(prototype: tg.TgOp, type: Attribute) -> bool:
    """Whether gradients go through an op with a result of some type: not through DETACH, nor
    integers. A tuple may have floats."""
    if isinstance(prototype, tg.DetachOp):
        return False
    return not tg.is_tensor(type) or of_attribute(type.element_type).is_float


def interned(op: tg.TgOp) -> tg.TgOp:
    """The prototype that is equal to an op, possibly the op itself. Its operands have to be block
    arguments or PARAMs of its own."""
    if op.regions:
        return op
    return _by_content.setdefault(op_key(op, [o.type for o in op.operands]), op)


def prototype_of(op: Operation) -> tg.TgOp:
    """The prototype of an op of the IR."""
    assert isinstance(op, tg.TgOp)
    key = op_key(op, [o.type for o in op.operands])
    known = None if op.regions else _by_content.get(key)
    if known is not None:
        return known
    arguments = Block(arg_types=[o.type for o in op.operands]).args
    copy = op.clone(dict(zip(op.operands, arguments, strict=True)))
    # `clone` maps an operand that occurs twice to one argument.
    for index, argument in enumerate(arguments):
        copy.operands[index] = argument
    return interned(copy)


def _prototype(op: Callable[..., tg.TgOp], arguments: Sequence[Any], call: _Call) -> _Known:
    """Build an op on block arguments of the types of a call's nodes, and verify it."""
    # A block argument for each variable.
    block = Block()
    builder = tg.OpBuilder.at_end(block)
    atoms: dict[Factor, SSAValue] = {
        number: block.insert_arg(INDEX_TYPE, 0) for number in call.atoms.values()
    }
    for atom, number in call.atoms.items():
        atoms[number].name_hint = lasting_hint(atom.variable.name)
    sizes: dict[SymInt, SSAValue] = {}

    def size(dim: Dim) -> SSAValue:
        numbered = call.numbered(dim)
        assert isinstance(numbered, SymInt)
        if numbered not in sizes:
            sizes[numbered] = emit_size(builder, numbered, atoms)
        return sizes[numbered]

    def stand_in(position: int, node: Node) -> SSAValue:
        if position in call.sizes:
            return size(call.sizes[position])
        if node.extents is None:
            return block.insert_arg(node.type, len(block.args))
        dims = [size(d) for d in node.extents if isinstance(d, SymInt)]
        return builder.put(tg.ParamOp(0, node.tensor_type, dims))

    # A value for each node, then the op.
    values = [stand_in(i, node) for i, node in enumerate(call.nodes)]
    rest = iter(values)
    made = op(*[_filled(argument, rest) for argument in arguments])
    made.verify(verify_nested_ops=False)
    # Relate operands to nodes, and the result's shape to variables.
    positions = {value: i for i, value in enumerate(values)}
    order = tuple(positions[operand] for operand in made.operands)
    if not call.atoms:
        return _Known(interned(made), order)
    extents = extents_of_value(made.results[0], {value: atom for atom, value in atoms.items()})
    return _Known(interned(made), order, extents)


def _filled(argument: Any, values: Iterator[SSAValue]) -> Any:
    """An argument whose nodes and sizes are replaced by the next values."""
    if isinstance(argument, Node | SymInt):
        return next(values)
    if isinstance(argument, list | tuple):
        return [_filled(item, values) for item in argument]  # pyright: ignore[reportUnknownVariableType]
    return argument


# -- sizes ---------------------------------------------------------------------------------------

INDEX_TYPE = TensorType(tg.INDEX, ())
"""The type of sizes."""

_UNKNOWN = tg.ParamOp(0, INDEX_TYPE)
"""The prototype of sizes without a value."""
_size_nodes: WeakValueDictionary[SymInt, Node] = WeakValueDictionary()


def size_node(size: SymInt) -> Node:
    """The index scalar of a size: data for a variable, arithmetic on such data for a polynomial."""
    node = _size_nodes.get(size)
    if node is None:
        with located(None):  # Later programs may have the same size.
            node = _new_size_node(size)
    return node


def _new_size_node(size: SymInt) -> Node:
    """The node of a size that has none."""
    if isinstance(derived := size.factor, Derived):
        node = apply(_DERIVED[derived.rule], *map(_operand, (derived.a, derived.b)))
    elif (atom := size.atom) is not None:
        assert atom.parameter is None, "parameters have nodes as long as they can be used"
        if atom.value is None:
            node = Node(_UNKNOWN, (), INDEX_TYPE)
        else:
            node = Node(None, (), INDEX_TYPE, np.array(atom.value, np.int64))
    else:
        times, plus = partial(apply, tg.MulOp), partial(apply, tg.AddOp)
        node = size.evaluated(lambda f: size_node(SymInt.of(f)), _index, times, plus)
    register_size(size, node)
    return node


_DERIVED: Mapping[str, Callable[..., tg.TgOp]] = {"//": tg.IDivOp, "max": tg.MaxOp}
"""The ops of quotients and maxima."""


def _index(number: int) -> Node:
    return apply(tg.ConstOp, number, tg.INDEX)


def _operand(dim: Dim) -> Node:
    return _index(dim) if isinstance(dim, int) else size_node(dim)


def register_size(size: SymInt, node: Node) -> None:
    """Record which size an index scalar stands for."""
    node.size = size
    _size_nodes[size] = node


def emit_size(builder: tg.OpBuilder, size: SymInt, values: dict[Factor, SSAValue]) -> SSAValue:
    """Insert the arithmetic that computes a size. `values` are those of variables; those of
    quotients and maxima are added."""

    def put(op: Callable[..., tg.TgOp], a: SSAValue, b: SSAValue) -> SSAValue:
        return builder.put(op(a, b))

    def operand(dim: Dim) -> SSAValue:
        if isinstance(dim, int):
            return builder.index_constant(dim)
        return emit_size(builder, dim, values)

    def value_of(factor: Factor) -> SSAValue:
        if factor not in values:
            assert isinstance(factor, Derived), "variables have values"
            values[factor] = put(_DERIVED[factor.rule], operand(factor.a), operand(factor.b))
        return values[factor]

    times, plus = partial(put, tg.MulOp), partial(put, tg.AddOp)
    return size.evaluated(value_of, builder.index_constant, times, plus)


def extents_of_value(value: SSAValue, factors: Mapping[SSAValue, Factor]) -> Shape | None:
    """The shape of a value of the IR, if it depends on variables; `factors` maps index values to
    those, and to quotients and maxima."""
    if not tg.is_tensor(value.type) or value.type.has_static_shape():
        return None

    def named(atom: SSAValue | tg.UnknownDim) -> Factor:
        assert isinstance(atom, SSAValue), "an extent is no size"
        return factors[atom]

    return tuple(
        dim if isinstance(dim, int) else SymInt(renamed(tg.polynomial(dim), named))
        for dim in tg.shape_of(value)
    )


# -- walks ---------------------------------------------------------------------------------------


def sorted_nodes(
    roots: Iterable[Node], *, through_data: bool = False, since: int = 0
) -> list[Node]:
    """The nodes that the roots depend on, in topological order: operands first.

    Leaves are nodes with data, unless `through_data`, and nodes with serials before `since`.
    """

    def inputs(node: Node) -> Sequence[Node]:
        is_leaf = node.serial < since or (node.data is not None and not through_data)
        if is_leaf or not node.operands:
            return [size_node(SymInt.of(f)) for f in factors_of(node.extents or ())]
        return node.operands

    return list(tg.postorder(roots, inputs))
