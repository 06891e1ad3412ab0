"""`Tensor`: a lazy tensor with tinygrad's methods, which is compiled to IR of the dialect."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, SupportsIndex, cast

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.diagnostics import SHAPES, kept_facts
from tgdialect.frontend import dtypes
from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.base import (
    PARAMETERS,
    ArgumentError,
    Devices,
    DTypeError,
    Number,
    TensorBase,
    check_tensors,
    extents_of,
)
from tgdialect.frontend.convolutions import Convolutions
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.graph import (
    Node,
    Shape,
    apply,
    argument_errors,
    extents_of_value,
    made,
    prototype_of,
    size_node,
    sorted_nodes,
)
from tgdialect.frontend.in_place import InPlace
from tgdialect.frontend.linear_algebra import Decompositions
from tgdialect.frontend.locations import origin_of
from tgdialect.frontend.neural import Attention, Neural
from tgdialect.frontend.realization import (
    as_array,
    computed,
    insert_nodes,
    insert_parameters,
    loss_of,
    realize,
)
from tgdialect.frontend.resizing import Resizing
from tgdialect.frontend.sorting import Statistics
from tgdialect.frontend.spectral import Spectral
from tgdialect.frontend.symbolic import Factor, SymInt, Variable, value_of
from tgdialect.frontend.tracing import is_tracing, note_gradient
from tgdialect.ops import tg, walk
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.dlpack import host_capsule
from tgdialect.transforms.builder import Builder
from tgdialect.transforms.gradient import gradients
from tgdialect.transforms.reroll import reroll_block

_REPR_LIMIT = 1000
"""`repr` abbreviates tensors of more elements."""


class Casts(TensorBase):
    """Conversions, by the names that dtypes have in C. The class has no other methods, since inside
    of it these names hide Python's types."""

    __slots__ = ()

    def bool(self) -> Self:
        """Convert to bool: whether it is not 0."""
        return self.cast(dtypes.bool_)

    def short(self) -> Self:
        """Convert to i16."""
        return self.cast(dtypes.int16)

    def int(self) -> Self:
        """Convert to i32."""
        return self.cast(dtypes.int32)

    def long(self) -> Self:
        """Convert to i64."""
        return self.cast(dtypes.int64)

    def half(self) -> Self:
        """Convert to f16."""
        return self.cast(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert to bf16."""
        return self.cast(dtypes.bfloat16)

    def float(self) -> Self:
        """Convert to f32."""
        return self.cast(dtypes.float32)

    def double(self) -> Self:
        """Convert to f64."""
        return self.cast(dtypes.float64)


class Tensor(
    Casts, Convolutions, Statistics, Decompositions, Resizing, Spectral, Attention, InPlace
):
    """A tensor that is computed when its elements are needed.

    Args:
        data: a number, a symbolic size, nested lists of numbers, a NumPy array, or anything with
            DLPack; None is no elements. A contiguous array is not copied: changing it changes the
            tensor.
        dtype: by default that of the data: a Python float is f32, an int i32. Other data is
            converted as by `cast`.
        requires_grad: whether `backward` gives this tensor a `grad`.
        device: where it is copied, as "CL:0", or a sequence of devices that get a copy each. By
            default an array on a device stays there, and anything else goes to the default device
            (docs/devices.md).
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        dtype: DTypeLike = None,
        requires_grad: bool = False,
        device: Devices | None = None,
    ) -> None:
        wanted = None if dtype is None else dtypes.to_dtype(dtype)
        self.grad = self.views = None
        self._requires_grad = False
        if isinstance(device, list | tuple):
            found = Tensor(data, dtype).to(device)
        elif isinstance(data, Tensor):
            found = data if device is None else data.to(device)
        elif isinstance(data, int | float | SymInt | Variable) and not isinstance(data, np.generic):
            if wanted is not None and isinstance(data, int | float):
                data = array_of(data, wanted).item()
            found = self._number(cast(Number, data), wanted, device)
        else:
            found = self.of_values(() if data is None else data, wanted, device)
        found = found if wanted is None else found.cast(wanted)
        if found is not data:
            found.node.owner = None  # This tensor takes the place of that one.
        self._take(found.node)
        if requires_grad:
            self.requires_grad_()

    @classmethod
    def from_blob(
        cls, ptr: int, shape: Any, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """The elements at an address of the host, in C order, by default floats.

        They are not copied, unless to another device: the memory has to be valid as long as the
        tensor is used. Raises ValueError for the address 0.
        """
        wanted = dtypes.to_dtype(dtype, dtypes.default_float)
        extents = extents_of((shape,))
        if not ptr:
            raise ValueError("a tensor of the memory at address 0")
        memory = (ctypes.c_uint8 * (math.prod(extents) * wanted.itemsize)).from_address(ptr)
        array = np.frombuffer(memoryview(memory), dtypes.numpy_of(wanted)).reshape(extents)
        return cls._of_array(array, device)

    @classmethod
    def from_file(
        cls,
        file: str | os.PathLike[str],
        shape: Any,
        dtype: DTypeLike = None,
        *,
        offset: int = 0,
        folder: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The elements that are in a file from byte `offset` on, in C order, the lowest byte first,
        by default floats. A bool is a byte, which is not 0.

        They stay in the file, which is mapped into memory, and which programs name: neither their
        text nor the object cache has a copy. The file must not change as long as the tensor, or a
        program with it, is used. `file` is its path; with a `folder` it is relative to that, and
        may not leave it: a path that an untrusted file names.

        Raises ValueError for such a path that is absolute or has `.` or `..`, and for a shape that
        is symbolic; OSError for a file without these bytes.
        """
        wanted = dtypes.to_dtype(dtype, dtypes.default_float)
        extents = extents_of((shape,))
        if not all(isinstance(extent, int) for extent in extents):
            raise ValueError(f"a tensor of a file has a static shape, not {extents}")
        name = os.fspath(file)
        if folder is None:  # The caller's own path may be a link to anywhere.
            folder, name = os.path.split(os.path.realpath(name))
        length = math.prod(extents) * wanted.itemsize
        data = tg.DataAttr.in_file(folder, name, offset, length)
        _ = data.array  # Raises.
        content = cls.of_node(apply(tg.BinaryDataOp, data))
        flat = content != 0 if wanted.is_bool else content.bitcast(wanted)
        return flat.reshape(extents)

    # -- numbers -----------------------------------------------------------------------------------

    def realize(self, *lst: Tensor) -> Self:
        """Compute this tensor and others in one program. While a function is traced, nothing is
        computed: they become part of its program."""
        check_tensors(*lst)
        if is_tracing():
            return self
        realize([self.node, *(t.node for t in lst)])
        return self

    def numpy(self) -> Array:
        """The elements as a NumPy array: a copy if they are on another device than the host."""
        return as_array(self.node)

    def data(self) -> memoryview:
        """The elements as a memoryview."""
        return self.numpy().data

    def tolist(self) -> Any:
        """The elements as nested lists; a number if there are no axes."""
        return self.numpy().tolist()

    def item(self) -> Number:
        """The only element, as a number."""
        if self.numel() != 1:
            raise ValueError(f"item() needs a tensor of one element, got shape {self.shape}")
        return cast(Number, self.numpy().item())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype, copy=copy)

    def __dlpack__(self, **kwargs: Any) -> Any:
        data = computed(self.node)
        is_array = isinstance(data, np.ndarray)
        return host_capsule(data, **kwargs) if is_array else data.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = computed(self.node).__dlpack_device__()
        return int(kind), number

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """For `pickle` and `copy`: the elements, which are computed, with shape, dtype, device,
        `requires_grad` and `grad`; without history, and not as a view of another tensor."""
        node = self.node
        place = node.device, node.axis
        arguments = as_array(node), node.extents, place, self.requires_grad, self.grad
        return type(self)._restored, arguments, getattr(self, "__dict__", None) or None

    @classmethod
    def _restored(
        cls,
        array: Array,
        extents: Shape | None,
        place: tuple[tg.Device, int | None],
        requires_grad: bool,
        grad: Tensor | None,
    ) -> Self:
        """A tensor from what `__reduce_ex__` gives."""
        new = cls._of_data(DEVICES[DEVICES.DEFAULT].array(array), extents=extents)._at(*place)
        # A tensor of its own: `copy.copy` gives that of the other tensor.
        new.grad = None if grad is None else cls(grad)
        return new.requires_grad_(requires_grad)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return value_of(self.shape[0])

    def __iter__(self) -> Iterator[Self]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise TypeError(
                f"a tensor of shape {self.shape} is neither true nor false: .any() or .all() is"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError(f"a position is an integer, not {self.dtype.name}")
        return int(self.item())

    def __format__(self, format_spec: str) -> str:
        """One element in the format of numbers; without a format, `repr`."""
        return format(self.item() if format_spec else repr(self), format_spec)

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __repr__(self) -> str:
        shape = "x".join(str(d) for d in (*self.shape, self.dtype.name))
        if (reason := loss_of(self.node)) is not None:
            return f"<Tensor {shape}: {reason}>"
        if self.node.data is None:
            return f"<Tensor {shape}, not computed yet>"
        text = np.array2string(
            self.numpy(), separator=", ", threshold=_REPR_LIMIT, prefix="Tensor("
        )
        return f"Tensor({text}, {self.dtype.name})"

    def _repr_html_(self) -> str:
        """For Jupyter: shape and dtype, and the elements of a small matrix as a table."""
        shape = " x ".join(str(d) for d in self.shape) or "scalar"
        head = f"<b>Tensor</b> {shape} {self.dtype.name}"
        if (reason := loss_of(self.node)) is not None:
            return f"{head}: {reason}"
        if self.node.data is None:
            return head + ", not computed yet"
        if self.ndim > 2 or self.numel() > _REPR_LIMIT:
            return f"{head}<pre>{np.array2string(self.numpy(), threshold=100)}</pre>"
        rows = np.atleast_2d(self.numpy())
        cells = "".join(
            "<tr>" + "".join(f"<td>{value:.6g}</td>" for value in row) + "</tr>" for row in rows
        )
        return f"{head}<table>{cells}</table>"

    @staticmethod
    @contextmanager
    def train(mode: bool = True) -> Generator[None]:
        """A context in which dropout drops and batch norm uses the batch."""
        before = Neural.training
        Neural.training = mode
        try:
            yield
        finally:
            Neural.training = before

    # -- gradients ---------------------------------------------------------------------------------

    def gradient(self, *targets: Tensor, gradient: Tensor | None = None) -> list[Tensor]:
        """The gradients of this tensor with respect to others.

        Args:
            targets: the tensors of floats to differentiate with respect to.
            gradient: the gradient of a scalar with respect to this tensor; by default 1, if this
                tensor is a scalar itself. One element stands for all.

        The gradient with respect to a tensor that it does not depend on is zeros, as in JAX.
        Raises RuntimeError if one of them was assigned to after it was used, or is not of floats.
        """
        check_tensors(*targets)
        for target in targets:
            if not target.dtype.is_float:
                raise DTypeError(f"the gradient by a float, not by {target.dtype.name}")
        found = self._gradients(gradient, targets)
        order = set(sorted_nodes([self.node], through_data=True))
        owned = {id(node.owner()) for node in order if node.owner is not None}
        for target in targets:
            if target.node not in order and id(target) in owned:
                raise RuntimeError(f"{target!r} was assigned to after it was used")
        return found

    def backward(self, gradient: Tensor | None = None) -> Self:
        """Add the gradients of this tensor to the `grad` of all tensors that require one."""
        order = set(sorted_nodes([self.node], through_data=True))
        targets = [t for t in PARAMETERS.values() if t.node in order]
        for target, found in zip(targets, self._gradients(gradient, targets), strict=True):
            accumulate(target, found)
        return self

    def _gradients(self, gradient: Tensor | None, targets: Sequence[Tensor]) -> list[Tensor]:
        if gradient is None and self.shape:
            raise ArgumentError(
                f"without `gradient`, only a scalar has gradients; got shape {self.shape}"
            )
        if not self.dtype.is_float:
            raise DTypeError(f"the gradient of a float, not of {self.dtype.name}")
        seed = self._constant(1.0) if gradient is None else gradient
        check_tensors(seed)
        if seed.numel() == 1:
            seed = seed.reshape(())._broadcast_to(self.shape)
        if seed.shape != self.shape:
            raise ValueError(f"a gradient of shape {seed.shape} for {self.shape}")
        nodes = gradient_nodes(self.node, seed.node, [target.node for target in targets])
        return [
            target.zeros_like() if node is None else Tensor.of_node(node).shard_like(target)
            for target, node in zip(targets, nodes, strict=True)
        ]


SymInt.as_tensor = Tensor


def accumulate(target: Tensor, gradient: Tensor) -> None:
    """Add to the `grad` of a tensor, which stays the same tensor unless a function is traced."""
    total = gradient if target.grad is None else target.grad + gradient
    if target.grad is None or is_tracing():
        note_gradient(target)
        target.grad = total
    else:
        target.grad.replace(total)


_STEPS = 64
"""The fewest nodes of a graph that may have steps which are alike. Larger: gradients of short loops
have an op for each step; smaller: more time for the gradients of small graphs. As many as 8 small
steps have."""


def _is_pure(node: Node) -> bool:
    """Whether a node is computed by an op on values of known extents."""
    is_left = node.data is None and node.extents is None
    kinds = tg.ConstOp, tg.ElementwiseOp, tg.MovementOp, tg.ReduceOp
    return is_left and isinstance(node.prototype, kinds)


@kept_facts(SHAPES)
def gradient_nodes(root: Node, seed: Node, targets: Sequence[Node]) -> list[Node | None]:
    """The gradients of a value with respect to others; None for one that it does not depend on.

    Args:
        root: the value.
        seed: the gradient of a scalar with respect to it, of its shape.
        targets: the values to differentiate with respect to.

    Raises ArgumentError for an op that has no gradient.
    """
    # Find the nodes between the targets and the root.
    order = sorted_nodes([root], through_data=True)
    varying = set(targets)
    made_of_targets: set[Node] = set()
    for node in order:
        if any(operand in varying for operand in node.operands):
            varying.add(node)
            made_of_targets.add(node)
    if root not in varying:
        return [None] * len(targets)
    # Nodes that do not depend on the targets become arguments of the block, except for sizes, and
    # in a graph that may have steps which are alike.
    has_steps = len(order) >= _STEPS and made_of_targets.isdisjoint(targets)
    inside = {n for n in order if n in made_of_targets or (has_steps and _is_pure(n))}
    needed = tg.Walk([root])
    for node in needed:
        needed.add(node.operands if node in inside else ())
    inside &= needed.seen.keys()
    outside = dict.fromkeys(
        o for node in order if node in inside for o in node.operands if o not in inside
    )
    sizes = [node for node in outside if node.size is not None]
    given = [t for t in dict.fromkeys(targets) if t not in made_of_targets]
    sources = dict.fromkeys([*given, *(n for n in outside if n.size is None), seed])
    sizes += [size_node(e) for n in sources for e in n.extents or () if isinstance(e, SymInt)]
    size_order = sorted_nodes(sizes)
    leaves = [node for node in size_order if node.size is not None and node.size.atom is not None]
    builder = Builder(Block())
    values = insert_parameters(builder, [*leaves, *sources])
    insert_nodes(builder, size_order, values)
    factors = {v: n.size.factor for n, v in values.items() if n.size is not None and n.size.factor}
    seed_value = values[seed]
    insert_nodes(builder, [node for node in order if node in inside], values)
    nodes = {value: node for node, value in values.items()}
    wrt = [values[node] for node in targets]
    result = values[root]
    if has_steps:
        # The gradient of a loop is a loop, too.
        kept = builder.insert(tg.TupleOp([result]))
        reroll_block(builder.block)
        result = kept.values[0]
        Rewriter.erase_op(kept)
    with argument_errors():
        found = gradients(builder, {result: seed_value}, wrt)
    return [None if value is None else _node_of(value, nodes, factors) for value in found]


def _node_of(
    value: SSAValue, nodes: dict[SSAValue, Node], factors: Mapping[SSAValue, Factor]
) -> Node:
    """The node of a value. Makes nodes of the ops that it depends on."""

    def node(value: SSAValue) -> Node:
        op = value.owner
        assert isinstance(op, Operation)
        operands = tuple(nodes[o] for o in op.operands)
        new = made(prototype_of(op), operands, extents_of_value(value, factors))
        new.origin = origin_of(op)
        return new

    return walk.computed(value, nodes, walk.operands_of, node)
