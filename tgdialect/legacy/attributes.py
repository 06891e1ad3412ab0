"""Attributes of `tg_legacy`: the views of a ShapeTracker, and the older configuration of WMMA."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tgdialect.legacy.rules import require
from tgdialect.ops import tg

Span = tuple[int, int]
"""The valid positions of an axis: from the first to before the second."""

UnrolledAxes = tuple[tuple[int, int], ...]
"""Axes that a value has beside its type: the identifier and the size of each."""


def integers_attribute(value: Any) -> Any:
    """An integer, or lists of integers of any depth, as an attribute."""
    if isinstance(value, int):
        return tg.NumberAttr(value)
    return ArrayAttr(map(integers_attribute, value))


def integers_of(attribute: Any) -> Any:
    """The integer of an attribute, or its lists of integers."""
    if isinstance(attribute, tg.NumberAttr):
        return attribute.data
    return [integers_of(each) for each in attribute]


def parse_integers(parser: AttrParser, depth: int) -> Any:
    """Parse an integer, or lists of integers of a depth, as an attribute: `[[0, 4], [1, 2]]`."""
    if not depth:
        return tg.NumberAttr(parser.parse_integer(allow_boolean=False))
    items = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_integers(parser, depth - 1)
    )
    return ArrayAttr(items)


def axes_of(attribute: ArrayAttr[ArrayAttr[tg.NumberAttr]]) -> UnrolledAxes:
    """The axes of an attribute. Raises VerifyException unless each is an identifier and a size."""
    axes = integers_of(attribute)
    for axis in axes:
        is_axis = len(axis) == 2 and axis[0] >= 0 and axis[1] >= 1
        require(is_axis, f"an axis is its number and its size, got {axis}")
    are_distinct = len({number for number, _ in axes}) == len(axes)
    require(are_distinct, f"an axis is listed twice in {axes}")
    return tuple((number, size) for number, size in axes)


_DEPTHS = {"strides": 1, "offset": 0, "mask": 2}
"""The parameters of a view that may be left out, and the depth of their lists."""


@irdl_attr_definition
class ViewAttr(ParametrizedAttribute):
    """One view of a ShapeTracker: how the elements of a shape lie in the memory below it.

    `#tg_legacy.view<[4, 6], strides = [1, 4], offset = 2, mask = [[0, 4], [1, 5]]>`

    The element at index i is at position offset + sum(i * strides). A stride of 0 repeats elements
    and a negative one goes backward. Elements outside of the mask, which lists the first index and
    the one after the last of each axis, are 0. Strides left out are row-major; the offset left out
    is 0; without a mask all elements are valid.
    """

    name = "tg_legacy.view"

    shape_attr: ArrayAttr[tg.NumberAttr]
    strides_attr: ArrayAttr[tg.NumberAttr]
    offset_attr: tg.NumberAttr
    mask_attr: ArrayAttr[ArrayAttr[tg.NumberAttr]] | NoneAttr

    @staticmethod
    def of(
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        offset: int = 0,
        mask: Sequence[Span] | None = None,
    ) -> ViewAttr:
        """The attribute for Python values."""
        return ViewAttr(
            integers_attribute(shape),
            integers_attribute(row_major(shape) if strides is None else strides),
            tg.NumberAttr(offset),
            NoneAttr() if mask is None else integers_attribute(mask),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(integers_of(self.shape_attr))

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(integers_of(self.strides_attr))

    @property
    def offset(self) -> int:
        return self.offset_attr.data

    @property
    def mask(self) -> tuple[Span, ...] | None:
        """The valid indices of each axis; None if all are."""
        if isinstance(self.mask_attr, NoneAttr):
            return None
        return tuple(map(tuple, integers_of(self.mask_attr)))

    @property
    def spans(self) -> tuple[Span, ...]:
        """The valid indices of each axis."""
        return tuple((0, extent) for extent in self.shape) if self.mask is None else self.mask

    @property
    def is_repeated(self) -> bool:
        """Whether an axis repeats one position."""
        spans = zip(self.spans, self.strides, strict=True)
        return any(stride == 0 and end - first > 1 for (first, end), stride in spans)

    @property
    def positions(self) -> Span | None:
        """The least position that a valid element has, and the one after the greatest; None if no
        element is valid."""
        if any(first >= end for first, end in self.spans):
            return None
        low = high = self.offset
        for (first, end), stride in zip(self.spans, self.strides, strict=True):
            low += min(first * stride, (end - 1) * stride)
            high += max(first * stride, (end - 1) * stride)
        return low, high + 1

    def verify(self) -> None:
        shape, strides = self.shape, self.strides
        axes = len(shape)
        has_extents = all(extent >= 0 for extent in shape)
        require(has_extents, f"a view has extents of 0 or more, got {list(shape)}")
        require(len(strides) == axes, f"{len(strides)} strides for {axes} axes")
        if isinstance(self.mask_attr, NoneAttr):
            return
        spans = integers_of(self.mask_attr)
        require(
            len(spans) == axes and all(len(span) == 2 for span in spans),
            f"a mask has a first index and an end for each of the {axes} axes, got {spans}",
        )
        for axis, ((first, end), extent) in enumerate(zip(spans, shape, strict=True)):
            is_span = 0 <= first <= end <= extent
            require(is_span, f"the mask of axis {axis} is [{first}, {end}], of {extent} elements")

    def print_parameters(self, printer: Printer) -> None:
        text = str(list(self.shape))
        if self.strides != row_major(self.shape):
            text += f", strides = {list(self.strides)}"
        if self.offset:
            text += f", offset = {self.offset}"
        if self.mask is not None:
            text += f", mask = {integers_of(self.mask_attr)}"
        printer.print_string(f"<{text}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        given: dict[str, Any] = {}
        with parser.in_angle_brackets():
            position = parser.pos
            shape = parse_integers(parser, 1)
            while parser.parse_optional_punctuation(","):
                key = parser.parse_identifier(context_msg=": strides, offset or mask")
                if key in given:
                    parser.raise_error(f"{key} is given twice")
                parser.parse_punctuation("=")
                if key not in _DEPTHS:
                    parser.raise_error(f"{key} is not one of strides, offset and mask")
                given[key] = parse_integers(parser, _DEPTHS[key])
            strides = given.get("strides", integers_attribute(row_major(integers_of(shape))))
            offset, mask = given.get("offset", tg.NumberAttr(0)), given.get("mask", NoneAttr())
            return _verified(cls, (shape, strides, offset, mask), parser, position)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous array; 0 for an axis of one element, as a ShapeTracker has it."""
    return tuple(0 if n == 1 else prod(shape[axis + 1 :]) for axis, n in enumerate(shape))


def _verified(
    kind: type[ParametrizedAttribute],
    parameters: Sequence[Attribute],
    parser: AttrParser,
    position: int,
) -> Sequence[Attribute]:
    """The parameters of an attribute that begins at a position, if they are valid."""
    try:
        kind(*parameters)
    except VerifyException as e:
        parser.raise_error(str(e), at_position=position, end_position=parser.pos)
    return parameters


MATRICES = "A", "B", "the accumulator"
"""The sources of a WMMA."""


@irdl_attr_definition
class LegacyWmmaAttr(ParametrizedAttribute):
    """The older configuration of WMMA, in its order: name, dims (N, M, K), the dtype of A and B,
    that of the accumulator, device, threads, the axes along which a thread holds A, B and the
    accumulator, each with its size, and the axes that are reduced. Several threads may hold the
    same element.

    `#tg_legacy.wmma<"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32,
      [[[0, 8]], [[0, 4]], [[0, 4]]], [3]>`
    """

    name = "tg_legacy.wmma"

    label: StringAttr
    dims: ArrayAttr[tg.NumberAttr]
    dtype_in: Attribute
    dtype_out: Attribute
    device: StringAttr
    threads_attr: tg.NumberAttr
    upcast_axes: ArrayAttr[ArrayAttr[ArrayAttr[tg.NumberAttr]]]
    reduce_axes: ArrayAttr[tg.NumberAttr]

    @property
    def m_n_k(self) -> tuple[int, int, int]:
        n, m, k = integers_of(self.dims)
        return m, n, k

    @property
    def threads(self) -> int:
        return self.threads_attr.data

    @property
    def lanes(self) -> tuple[int, ...]:
        """The elements of A, of B and of the accumulator that a thread holds."""
        return tuple(prod(size for _, size in axes_of(axes)) for axes in self.upcast_axes)

    def verify(self) -> None:
        dims, threads = integers_of(self.dims), self.threads
        rule = "the dims of a wmma are three positive integers, [N, M, K]"
        require(len(dims) == 3 and min(dims) >= 1, f"{rule}, got {dims}")
        require(threads >= 1, f"a wmma has at least one thread, got {threads}")
        source, accumulator = tg.dtype_row(self.dtype_in), tg.dtype_row(self.dtype_out)
        is_alike = source.is_float == accumulator.is_float and not source.is_bool
        is_alike &= accumulator.bits >= source.bits
        require(is_alike, f"{source.name} does not accumulate in {accumulator.name}")
        lists = len(self.upcast_axes)
        rule = "a wmma has upcast axes for A, for B and for the accumulator"
        require(lists == 3, f"{rule}, got {lists} lists")
        reduced = integers_of(self.reduce_axes)
        are_axes = len(set(reduced)) == len(reduced) and min(reduced, default=0) >= 0
        require(are_axes, f"the reduce axes {reduced} are not unique and 0 or more")
        m, n, k = self.m_n_k
        for matrix, size, lanes in zip(MATRICES, (m * k, k * n, m * n), self.lanes, strict=True):
            rule = f"{matrix} has {size} elements, but {threads} threads hold {lanes} each"
            require(lanes * threads >= size, rule)

    def print_parameters(self, printer: Printer) -> None:
        dims, upcast, reduced = map(integers_of, (self.dims, self.upcast_axes, self.reduce_axes))
        dtypes = f"{self.dtype_in}, {self.dtype_out}, {self.device}"
        text = f"{self.label}, {dims}, {dtypes}, {self.threads}, {upcast}, {reduced}"
        printer.print_string(f"<{text}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def text() -> Attribute:
            return StringAttr(parser.parse_str_literal())

        parameters: list[Attribute] = []
        dtype = parser.parse_type
        with parser.in_angle_brackets():
            position = parser.pos
            for parse in (text, 1, dtype, dtype, text, 0, 3, 1):
                if parameters:
                    parser.parse_punctuation(",")
                is_depth = isinstance(parse, int)
                parameters.append(parse_integers(parser, parse) if is_depth else parse())
            return _verified(cls, parameters, parser, position)
