"""A graph of ATen ops as calls of `Tensor`'s methods."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnnecessaryIsInstance=false
# PyTorch's types are partial.

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, reduce
from typing import Any, cast

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from tgdialect.frontend import dtypes
from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.graph import Node as LazyNode
from tgdialect.frontend.graph import static_extents
from tgdialect.frontend.locations import located
from tgdialect.frontend.lowered import DEFAULT_BOUNDS
from tgdialect.frontend.symbolic import SymInt, larger, smaller
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.complex_values import Complex, as_real, part_dtype
from tgdialect.interop.torch.dtypes import ours
from tgdialect.interop.torch.reporting import source_of
from tgdialect.interop.torch.rules import IGNORED, OpLine, Refusal
from tgdialect.interop.torch.sizes import Symbols, is_data_dependent
from tgdialect.interop.torch.table import COMPLEX, TABLE
from tgdialect.ops import tg
from tgdialect.ops.dtypes import round_to

aten = torch.ops.aten


def _in_floats(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator on sizes with a float as result: f64, as a float of Python."""

    def compute(a: Any, b: Any) -> Any:
        if isinstance(a, SymInt | Tensor) or isinstance(b, SymInt | Tensor):
            return function(_float(a), _float(b))
        return function(a, b)

    return compute


def _float(value: Any) -> Any:
    return Tensor(value).cast("float64") if isinstance(value, SymInt | Tensor) else value


OF_SIZES: Mapping[Any, Callable[..., Any]] = {
    operator.getitem: operator.getitem,
    operator.add: operator.add,
    operator.sub: operator.sub,
    operator.mul: operator.mul,
    operator.floordiv: operator.floordiv,
    operator.mod: operator.mod,
    operator.neg: operator.neg,
    operator.truediv: _in_floats(operator.truediv),
    operator.pow: operator.pow,
    torch.sym_max: larger,
    torch.sym_min: smaller,
    torch.sym_sum: lambda sizes: reduce(operator.add, sizes),
    torch.sym_float: _float,
    aten.sym_size.int: lambda x, dim: x.shape[dim],
    aten.sym_numel.default: lambda x: x.numel(),
}
"""Functions of graphs that compute sizes, and take one result of several."""


def has_no_result(node: Node) -> bool:
    """Whether a node stands for sizes only: its value is a number."""
    return isinstance(node.meta.get("val"), int | float | torch.SymInt | torch.SymFloat)


class Translator:
    """Translates the nodes of one graph. Its symbolic sizes are variables."""

    def __init__(self, most: int = DEFAULT_BOUNDS[1]) -> None:
        """`most` is the greatest value of sizes whose bounds PyTorch does not know."""
        self._sizes = Symbols(most=most)

    # -- inputs ------------------------------------------------------------------------------------

    def stand_in(self, value: Any) -> Any:
        """A tensor or a size without a value, for what PyTorch knows about one, or for lists of
        them. Raises Refusal for what programs do not have."""
        if isinstance(value, torch.Tensor):
            check_tensor(value)
            part = self.tensor(value.shape, ours(part_dtype(value.dtype)))
            if not value.is_complex():
                return part
            return Complex(part, self.tensor(value.shape, part.dtype))
        if isinstance(value, list | tuple):
            return type(value)(self.stand_in(each) for each in cast("Sequence[Any]", value))
        if isinstance(value, torch.SymInt):
            if is_data_dependent(value):
                raise Refusal(f"the size {value} depends on the elements of a tensor")
            return self._sizes.of(value)
        if isinstance(value, torch.SymFloat | torch.SymBool):
            raise Refusal(f"no program takes the {type(value).__name__} {value}")
        return value

    def tensor(self, shape: Sequence[Any], dtype: Any) -> Tensor:
        """A tensor of PyTorch's sizes without a value."""
        extents = tuple(self._sizes.of(extent) for extent in shape)
        static = static_extents(extents)
        type = tg.tensor_type(dtypes.attribute_of(dtype), static)
        return Tensor.of_node(
            LazyNode(None, (), type, extents=extents if static != extents else None)
        )

    # -- nodes -------------------------------------------------------------------------------------

    def values(self, graph: Graph, inputs: Sequence[Any], wanted: Collection[Node]) -> list[Any]:
        """The values of some nodes of a graph, for its inputs: tensors and sizes."""
        needed = {*wanted}
        for node in reversed(graph.nodes):
            if node in needed:
                needed.update(node.all_input_nodes)
        values: dict[Node, Any] = {}
        given = iter(inputs)
        for node in graph.nodes:
            if node.op == "placeholder":
                values[node] = next(given)
            elif node in needed:
                with located(node.name, *source_of(node)):
                    values[node] = self.value(node, values.__getitem__)
        return [values[node] for node in wanted]

    def value(self, node: Node, value_of: Callable[[Node], Any]) -> Any:
        """The value of a node, for those of its arguments.

        Raises Refusal, with the reason, for a node that is not translated.
        """
        if node.op == "get_attr":
            found = attribute(node)
            return self.function(found) if isinstance(found, GraphModule) else constant(found)
        args, kwargs = (map_arg(each, value_of) for each in (node.args, node.kwargs))
        if (function := OF_SIZES.get(node.target)) is not None:
            return function(*cast("Sequence[Any]", args))
        is_complex = has_complex((args, kwargs, node.meta.get("val")))
        rule = (COMPLEX if is_complex else TABLE).get(node.target)
        if rule is None:
            kind = " of complex numbers" if is_complex else ""
            raise Refusal(f"{name_of(node)} has no translation{kind}")
        return self._applied(node, rule, cast("tuple[Any, ...]", args), cast("Any", kwargs))

    def function(self, module: GraphModule) -> Callable[..., list[Any]]:
        """A graph as a function of tensors and sizes to the list of its results."""
        (output,) = module.graph.find_nodes(op="output")
        returned = output.args[0]
        results = list(returned) if isinstance(returned, list | tuple) else [returned]

        def call(*operands: Any) -> list[Any]:
            wanted = [each for each in results if isinstance(each, Node)]
            values = iter(self.values(module.graph, operands, wanted))
            return [next(values) if isinstance(each, Node) else each for each in results]

        return call

    def _applied(
        self, node: Node, rule: OpLine, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        expected = node.meta["val"]
        first = expected[0] if isinstance(expected, list | tuple) else expected
        if rule.in_rows and not _is_in_rows(cast(Node, node.args[0])):
            raise Refusal("the tensor is a view of memory, or its cells are in another order")
        if rule.operands in ("result", "wide"):
            dtype = ours(part_dtype(first.dtype))
            if dtype.is_float and not _are_exact(node, dtype, is_wide=rule.operands == "wide"):
                dtype = dtypes.float32
            args, kwargs = _cast((args, kwargs), dtype, is_complex=first.is_complex())
        elif rule.operands == "common":
            common = _common_dtype(node)
            dtype = ours(part_dtype(common))
            args, kwargs = _cast((args, kwargs), dtype, is_complex=common.is_complex)
        args, kwargs = _with_numbers_that_fit(node.target, rule, args, kwargs, first)
        named = {name: value for name, value in kwargs.items() if name not in IGNORED}
        if rule.takes_dtype:
            named["dtype"] = ours(part_dtype(first.dtype))
        found = rule.translate(*args, **named)
        return self._as_expected(found, expected)

    def _as_expected(self, found: Any, expected: Any) -> Any:
        """Results in the dtypes that PyTorch has for them. Raises Refusal for other shapes."""
        if isinstance(expected, list | tuple):
            both = zip(found, cast("Sequence[Any]", expected), strict=True)
            return [self._as_expected(each, like) for each, like in both]
        if not isinstance(expected, torch.Tensor) or found is None:
            return None
        if isinstance(found, Complex) and not expected.is_complex():
            raise Refusal("complex numbers as real ones: take .real")
        result = Complex.of(found) if expected.is_complex() else found
        result = result.cast(ours(part_dtype(expected.dtype)))
        if len(result.shape) != expected.ndim or any(
            a != b
            for a, b in zip(result.shape, expected.shape, strict=True)
            if isinstance(a, int) and isinstance(b, int)
        ):
            shape = tuple(expected.shape)
            raise Refusal(f"the translation has the shape {result.shape}, and not {shape}")
        return result


def _is_in_rows(node: Node) -> bool:
    """Whether a tensor has memory of its own, in row-major order."""
    value: torch.Tensor = node.meta["val"]
    size = value.numel() * value.element_size()
    return value.is_contiguous() and value.untyped_storage().nbytes() == size


def attribute(node: Node) -> Any:
    """The attribute of a graph that a node stands for: a tensor, or the graph of a branch."""
    found: Any = node.graph.owning_module
    for name in str(node.target).split("."):
        found = getattr(found, name)
    return found


def constant(found: Any) -> Tensor | Complex:
    """A tensor that a graph has as an attribute. Raises Refusal for other attributes."""
    if not isinstance(found, torch.Tensor):
        raise Refusal(f"{type(found).__name__} is no tensor")
    check_tensor(found)
    # AOTAutograd calls the backend with fake tensors on, which refuse real ones.
    with unset_fake_temporarily():
        value = Tensor(array_of(as_real(found.detach()).contiguous()))
    return bound(value, found)


def bound(value: Tensor, like: torch.Tensor) -> Tensor | Complex:
    """The value that a tensor of PyTorch's has, from the real one that `as_real` makes of it."""
    return Complex.of_pairs(value) if like.is_complex() else value


def unbound(value: Tensor | Complex) -> Tensor:
    """The inverse of `bound`."""
    return value.pairs() if isinstance(value, Complex) else value


def has_complex(value: Any) -> bool:
    """Whether nested values have a complex one, of ours or of PyTorch's."""
    if isinstance(value, Complex):
        return True
    if isinstance(value, torch.Tensor):
        return value.is_complex()
    if isinstance(value, dict):
        return any(map(has_complex, cast("dict[str, Any]", value).values()))
    return isinstance(value, list | tuple) and any(map(has_complex, cast("list[Any]", value)))


def check_tensor(value: torch.Tensor) -> None:
    """Raise Refusal for a tensor that programs do not take."""
    if value.layout is not torch.strided:
        raise Refusal(f"tensors are dense, not {str(value.layout).removeprefix('torch.')}")
    if value.device.type not in ("cpu", "meta"):
        raise Refusal(f"programs run on the CPU, and the tensor is on {value.device}")
    if value.is_quantized:
        raise Refusal("tensors of the old quantised dtypes stay with PyTorch")
    if any(is_data_dependent(extent) for extent in value.shape):
        raise Refusal("the size depends on the elements of a tensor")
    ours(part_dtype(value.dtype))


def name_of(node: Node) -> str:
    """The name of a node's op, as `aten.add.Tensor`."""
    target = node.target
    return (
        str(target) if isinstance(target, OpOverload) else str(getattr(target, "__name__", target))
    )


def _cast(value: Any, dtype: Any, *, is_complex: bool) -> Any:
    """Nested arguments with tensors of a dtype, or complex ones with parts of it."""
    if isinstance(value, Tensor | Complex):
        return Complex.of(value).cast(dtype) if is_complex else value.cast(dtype)
    cast_one = partial(_cast, dtype=dtype, is_complex=is_complex)
    if isinstance(value, list | tuple):
        return type(value)(map(cast_one, cast("Sequence[Any]", value)))
    if isinstance(value, dict):
        return {k: cast_one(each) for k, each in cast("dict[str, Any]", value).items()}
    return value


def _with_numbers_that_fit(
    op: Any, rule: OpLine, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments of an op with integers as PyTorch converts them to the dtype of the tensors.

    An integer that is outside of an integer dtype wraps around where an op takes a tensor, and in
    comparisons: `uint8 > -1` is `uint8 > 255`. Other ops raise an error for some of them, and do
    not say for which. Raises Refusal for those, so that PyTorch decides.
    """
    if (schema := getattr(op, "_schema", None)) is None:
        return args, kwargs  # Of a higher-order op, whose graphs have the numbers.
    given = [*args, *kwargs.values()]
    types = [value.dtype for value in given if isinstance(value, Tensor)]
    if rule.operands == "own" and isinstance(result, torch.Tensor):
        # The only tensor among the arguments may be a mask, or there may be none.
        types.append(ours(part_dtype(result.dtype)))
    integers = [dtype for dtype in types if dtype.is_integer]
    is_of_bools = rule.operands in ("result", "wide") and any(dtype.is_bool for dtype in types)

    def fitting(kind: str, value: Any) -> Any:
        if is_of_bools and kind == "number" and isinstance(value, int | float):
            return bool(value)  # The factor `alpha` of a sum.
        if isinstance(value, bool) or not isinstance(value, int | SymInt):
            return value
        wraps = kind == "Tensor" or (kind == "number" and rule.operands == "common")
        for dtype in integers if wraps or kind == "number" else ():
            if is_integer_within(value, dtype):
                continue
            if not wraps:
                raise Refusal(f"the number {value} is not within {dtype.name}")
            value = wrapped(value, dtype)
        return value

    kinds = {each.name: _kind(each.type) for each in schema.arguments}
    return (
        tuple(fitting(kind, value) for kind, value in zip(kinds.values(), args, strict=False)),
        {name: fitting(kinds[name], value) for name, value in kwargs.items()},
    )


def _are_exact(node: Node, dtype: tg.DType, *, is_wide: bool) -> bool:
    """Whether an op need not be computed in f32 for the sake of the numbers among its arguments.

    Raises Refusal for an op that is not computed so, and a number beyond the dtype.
    """
    schema = cast(Any, node.target)._schema.arguments
    given = {**dict(zip((a.name for a in schema), node.args, strict=False)), **node.kwargs}
    exact = True
    for argument in schema:
        number = given.get(argument.name)
        is_element = _kind(argument.type) in ("Tensor", "number")
        if not (is_element and isinstance(number, int | float) and math.isfinite(number)):
            continue
        near = abs(number) <= dtype.max_finite and round_to(dtype, number)
        if is_wide and dtype.bits < 32:
            exact = exact and near is not False and near == number and node.target not in _STEPS
        elif near is False or (number and not near):
            raise Refusal(f"the number {number} is beyond {dtype.name}")
    return exact


_STEPS = (aten.div.Tensor_mode, aten.div.Scalar_mode)
"""Quotients that are rounded to integers, and not to a float of 16 bits before that."""


def _kind(type: Any) -> str:
    """The type of an argument in PyTorch's schema, without "Optional"."""
    return str(type).removeprefix("Optional[").removesuffix("]")


def is_integer_within(value: Any, dtype: tg.DType) -> bool:
    """Whether an integer, or each value of a size, is in the range of an integer dtype."""
    low, high = (value.min, value.max) if isinstance(value, SymInt) else (value, value)
    return dtype.low <= low and high <= dtype.high


def wrapped(value: Any, dtype: tg.DType) -> Any:
    """An integer or a size in an integer dtype, modulo 2 to the power of its bits."""
    if isinstance(value, SymInt):
        return Tensor(value).cast(dtype)
    return (value - dtype.low) % 2**dtype.bits + dtype.low


def _common_dtype(node: Node) -> torch.dtype:
    """The dtype that PyTorch compares the first two arguments of a node in."""
    given = cast("Sequence[Any]", node.args[:2])
    a, b = (each.meta["val"] if isinstance(each, Node) else each for each in given)
    return torch.result_type(a, b)
