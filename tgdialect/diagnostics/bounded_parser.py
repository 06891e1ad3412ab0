"""xDSL's parser, in which attributes whose text is short do not take long or much memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    TypeAttribute,
)
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr, AffineMap, AffineSet
from xdsl.parser import AttrParser

from tgdialect.fast_xdsl.parser import FastParser

MOST_REPEATED = 1024
"""The elements up to which a dense attribute of one value has each of them, as xDSL's has: then it
equals one that xDSL makes. Each element takes 50 bytes while it is parsed."""
_MOST_WIDTH = (1 << 24) - 1
"""The widest integer type, as in MLIR."""
_MOST_EXTENT = (1 << 63) - 1
"""The greatest i64, and so the greatest extent of a tensor."""
_MOST_DEPTH = 64
"""The greatest depth of aliases within an alias. Larger: Python's recursion limit is met, as
printing takes up to ten calls for each level; smaller: programs are refused."""
_MOST_NODES = 1 << 17
"""The most attributes that the aliases of a text may stand for in all. Larger: a short text takes
long to print (a million attributes take ten seconds); smaller: programs are refused."""
_NODES_PER_CHARACTER = 16
"""The attributes that a long text may have for each character. Smaller: programs with long
locations are refused; larger: long texts may take longer. A location in a deep stack of calls has
some hundred attributes, and the text about it as many characters."""
_PIECE = 16
"""The characters or bytes of a text that take about as long to print as an attribute."""
_MOST_AFFINE_DEPTH = 200
"""The greatest depth of an affine expression, 2 for `d0 + d1 + d2`. Larger: Python's recursion
limit is met."""


class _Element(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of a dense literal. MLIR prints a float without a short decimal form as its bits,
    in hexadecimal; xDSL's parser reads them as an integer, and converts that."""

    def to_type(
        self,
        parser: AttrParser,
        type: builtin.AnyFloat | builtin.IntegerType | builtin.IndexType | builtin.ComplexType,
    ) -> Any:
        if not isinstance(type, builtin.AnyFloat) or self.span.text[:2] not in ("0x", "0X"):
            return super().to_type(parser, type)
        size = type.compile_time_size
        bits = self.to_int(parser)
        if bits >= 1 << 8 * size:
            parser.raise_error(f"{self.span.text} has more than {8 * size} bits", self.span)
        return next(type.iter_unpack(bits.to_bytes(size, "little")))


_Sizes = dict[int, tuple[Attribute, int, int]]
"""Of attributes that were measured, by `id`: the attribute, which is kept, so that no other one
gets its `id`; how many attributes it is made of, as a tree; and how deep they are nested."""


def _size(attribute: Attribute, known: _Sizes) -> tuple[int, int]:
    """The number and the depth. An attribute that occurs again is looked at once."""
    pending = [attribute]
    while pending:
        each = pending[-1]
        parts = [*_parts(each)] if id(each) not in known else []
        if missing := [part for part in parts if id(part) not in known]:
            pending += missing
            continue
        pending.pop()
        if id(each) not in known:
            found = [known[id(part)] for part in parts]
            count = _own_count(each) + sum(count for _, count, _ in found)
            known[id(each)] = each, count, 1 + max((d for _, _, d in found), default=0)
    return known[id(attribute)][1:]


def _parts(attribute: Attribute) -> Iterable[Attribute]:
    match attribute:
        case ParametrizedAttribute():
            return attribute.parameters
        case builtin.ArrayAttr():
            return attribute.data
        case builtin.DictionaryAttr():
            return attribute.data.values()
        case _:
            return ()


def _own_count(attribute: Attribute) -> int:
    """How many attributes one counts as without its parts: a text or data as one of each piece, so
    that an alias of a long one cannot be used often."""
    data = cast(Data[object], attribute).data if isinstance(attribute, Data) else None
    return 1 + len(data) // _PIECE if isinstance(data, str | bytes) else 1


class BoundedParser(FastParser):
    """
    xDSL's parser, in which short texts do not take long or much memory. It

    * keeps one element of a dense attribute of many equal ones, which xDSL prints as it was;
    * refuses aliases that stand for too many attributes in all, or for too deep ones, types that
      are wider or longer than MLIR's, and affine expressions that are too deep to be printed;
    * reads a hexadecimal element of a dense literal of floats as the bits of a float, as MLIR does.
    """

    _nodes = 0
    """How many attributes the aliases stand for that were used."""

    def __init__(self, ctx: Context, input: str, name: str) -> None:
        self._sizes: _Sizes = {}
        super().__init__(ctx, input, name)

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        return _Element(element.is_negative, element.value, element.span)

    def parse_dense_int_or_fp_elements_attr(
        self, type: Any
    ) -> builtin.DenseIntOrFPElementsAttr[Any]:
        start = self.pos
        self.parse_punctuation("<", " in dense attribute")
        hexadecimal = self.parse_optional_str_literal()
        if hexadecimal is None and self._current_token.text in ("[", ">"):
            self._resume_from(start)
            return super().parse_dense_int_or_fp_elements_attr(type)
        if hexadecimal is None:
            self._parse_tensor_literal_element()
        self.parse_punctuation(">", " in dense attribute")
        shaped = type
        if shaped is None:
            self.parse_punctuation(":", " in dense attribute")
            shaped = self._parse_dense_literal_type()
        end, element, count = self.pos, shaped.element_type, math.prod(shaped.get_shape())
        if count > _MOST_EXTENT:
            self.raise_error(f"{count} elements, more than 2^63 - 1", start, end)
        size = 2 * element.compile_time_size
        if hexadecimal is not None and (hexadecimal[:2] != "0x" or (len(hexadecimal) - 2) % size):
            self.raise_error(f"a text is 0x and {size} digits for each element", start, end)
        is_one = hexadecimal is None or len(hexadecimal) == 2 + size
        self._resume_from(start)
        if count <= MOST_REPEATED or not is_one:
            return super().parse_dense_int_or_fp_elements_attr(type)
        one = super().parse_dense_int_or_fp_elements_attr(builtin.TensorType(element, [1]))
        self._resume_from(end)
        return builtin.DenseIntOrFPElementsAttr(shaped, one.data)

    def _checked_extents(self, extents: list[int]) -> list[int]:
        """Extents of a shape. Raises ParseError for one that is too long."""
        if max(extents, default=0) > _MOST_EXTENT:
            self.raise_error(f"an extent of {max(extents)}, more than 2^63 - 1")
        return extents

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        return self._checked_extents([super().parse_shape_dimension(allow_dynamic)])[0]

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        found = self._builtin_integer_type_regex.match(self._current_token.text)
        if found is not None and int(found[1]) > _MOST_WIDTH:
            self.raise_error(f"an integer of {found[1]} bits, more than {_MOST_WIDTH}")
        return super()._parse_optional_integer_or_float_type()

    def _parse_alias_def(self) -> None:
        start = self.pos
        super()._parse_alias_def()
        name, value = next(reversed(self.attribute_aliases.items()))
        if (
            not isinstance(value, builtin.LocationAttr)
            and _size(value, self._sizes)[1] > _MOST_DEPTH
        ):
            message = f"{name} stands for attributes that are nested more than {_MOST_DEPTH} deep"
            self.raise_error(message, start)

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: Any) -> Any:
        found = super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)
        alias = ("!" if is_type else "#") + attr_or_dialect_name
        if self.attribute_aliases.get(alias) is found:
            most = max(_MOST_NODES, _NODES_PER_CHARACTER * len(self.lexer.input.content))
            self._nodes += _size(found, self._sizes)[0]
            if self._nodes > most:
                self.raise_error(f"{alias}: the aliases stand for more than {most} attributes")
        return found

    def parse_affine_map(self) -> AffineMap:
        found = super().parse_affine_map()
        self._check_depth(found.results)
        return found

    def parse_affine_set(self) -> AffineSet:
        found = super().parse_affine_set()
        self._check_depth([side for each in found.constraints for side in (each.lhs, each.rhs)])
        return found

    def _check_depth(self, level: Sequence[AffineExpr]) -> None:
        """Raise ParseError for expressions that are too deep to be printed."""
        for _ in range(_MOST_AFFINE_DEPTH):
            level = [
                side
                for each in level
                if isinstance(each, AffineBinaryOpExpr)
                for side in (each.lhs, each.rhs)
            ]
        if level:
            self.raise_error(f"an affine expression more than {_MOST_AFFINE_DEPTH} deep")
