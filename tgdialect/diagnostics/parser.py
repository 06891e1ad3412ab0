"""xDSL's parser, which also records the position of each operation and locates every failure."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.ir import (
    Attribute,
    AttributeInvT,
    Data,
    Operation,
    ParametrizedAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr, AffineMap, AffineSet
from xdsl.parser import AttrParser, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

from tgdialect.diagnostics.diagnostic import (
    CompilationError,
    Diagnostic,
    SourceFile,
    exception_text,
    parse_error_diagnostic,
)
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.func_ops import QUICKER
from tgdialect.fast_xdsl.parser import FastLexer, FastParser

# -- attributes whose text is short, and whose meaning would be long ------------------------------

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


# -- names that last: xDSL takes `_1` off a name each time that it is copied -----------------------

_NAME = re.compile(r"[A-Za-z_$.-][\w$.-]*", re.ASCII)
_SUFFIXES = re.compile(r"(?:_[0-9]+)+\Z")


def lasting_hint(name: str | None) -> str | None:
    """A name as it is after any number of copies: `sum_1_2` is `sum`. None for one of which nothing
    is left, as `_1`, which xDSL could not copy, and for what is no name in a text, as `é`."""
    if name is None or _NAME.fullmatch(name) is None:
        return None
    return _SUFFIXES.sub("", name) or None


# -- located errors --------------------------------------------------------------------------------

_NO_OPERATION = "Could not parse entire input!"
_NO_BLOCK = " in block definition"
_UNDEFINED_VALUES = "values used but not defined"
_UNDEFINED_BLOCKS = "dangling block references:"
"""Beginnings of xDSL's errors that are improved below."""
_MANY_DIGITS = "Exceeds the limit"
"""The beginning of Python's error."""
_MOST_DIGITS = sys.get_int_max_str_digits()
"""The most decimal digits of an integer that Python converts to a string, or 0 for no limit."""

_REPHRASED = {
    _NO_OPERATION: "expected an operation",
    _NO_BLOCK: "expected an operation, a block label or '}'",
    "End of file reached before closing string literal.": (
        "string literal is not closed, or has an invalid escape"
    ),
    "Expected ':'function type signature expected": "expected ':' and the type of the operation",
    "Expected suffix identifier after {first_char}": "expected a name or number after this",
}
"""Replacements for unclear messages of xDSL."""

_BYTECODE_MAGIC = b"ML\xefR"


class _Lexer(FastLexer):
    """A lexer of hostile texts.

    String literals have possessive quantifiers: xDSL's own regular expression takes exponential
    time on an unclosed one. One whose escapes are UTF-8, as every printer writes what is no ASCII,
    is a text and no sequence of bytes.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is not MLIRTokenKind.BYTES_LIT:
            return token
        try:
            MLIRTokenKind.STRING_LIT.get_string_literal_value(token.span)
        except UnicodeDecodeError:
            return token
        return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)

    def _lex_number(self, start_pos: int) -> MLIRToken:
        token = super()._lex_number(start_pos)
        if token.kind is MLIRTokenKind.INTEGER_LIT and token.text[:2] in ("0x", "0X"):
            # Python reads hexadecimal integers of any length, but does not print them.
            digits = (len(token.text) - 2) * math.log10(16)
            if 0 < _MOST_DIGITS < digits:
                raise ParseError(token.span, f"an integer of more than {_MOST_DIGITS} digits")
        return token


class LocatedParser(BoundedParser):
    """
    Parses `source` like xDSL's parser, within the bounds of `BoundedParser`, and further

    * gives each operation without a `loc(...)` the position of its name as location;
    * accepts a file without operations as an empty module, as MLIR does;
    * turns every exception that a malformed text causes into a `ParseError` with a position.
    """

    LEXER = _Lexer
    source: SourceFile
    _op_name_offsets: list[int]
    """The offsets of the names of the operations that are being parsed, innermost last."""
    _first_uses: dict[str, Span]
    """The first use of each value that was used before its definition."""

    def __init__(self, ctx: Context, source: SourceFile) -> None:
        self.source = source
        self._filename = builtin.StringAttr(source.name)
        self._op_name_offsets = []
        self._first_uses = {}
        super().__init__(ctx, source.text, source.name)

    def parse_module(self, allow_implicit_module: bool = True) -> builtin.ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
            if isinstance(module.location, builtin.UnknownLoc):
                module.location = self._location(0)
            return module
        except ParseError as error:
            if error.msg == _NO_OPERATION and allow_implicit_module and self._at_end():
                return builtin.ModuleOp([])
            raise self._improved(error) from error
        except RecursionError:
            self.raise_error("nested too deeply to be parsed")
        except VerifyException as error:
            self._raise_malformed(error, str(error))
        except (NotImplementedError, ValueError) as error:
            message = str(error) or "not supported by the parser"
            if message.startswith(_MANY_DIGITS):
                message = f"an integer of more than {_MOST_DIGITS} digits"
            self._raise_malformed(error, message)
        except AssertionError as error:
            raise ParseError(self._current_token.span, "unexpected token") from error
        except Exception as error:
            # xDSL's parser does not check everything: a malformed text may also cause a KeyError.
            self._raise_malformed(error, f"malformed text ({exception_text(error)})")

    def _raise_malformed(self, cause: Exception, message: str) -> NoReturn:
        """Raise at the operation that is being parsed, or at the next token outside of
        operations."""
        start = self._op_name_offsets[-1] if self._op_name_offsets else self.pos
        raise ParseError(Span(start, start, self.lexer.input), message) from cause

    def _improved(self, error: ParseError) -> ParseError:
        """The error at its cause: undefined names at their first use, and something missing at the
        end of a line there, not at the beginning of the next one."""
        if error.msg.startswith(_UNDEFINED_VALUES):
            name = next(iter(self.forward_ssa_references))
            return ParseError(self._first_uses[name], f"use of undeclared SSA value %{name}")
        if isinstance(error, MultipleSpansParseError):
            if error.ref_text == _UNDEFINED_BLOCKS:
                span = error.refs[0][0]
                return ParseError(span, f"reference to undefined block {span.text}")
            return error
        start = error.span.start
        wrong_token = error.msg in (_NO_OPERATION, _NO_BLOCK) and not self._at_end()
        if start == self.pos and not wrong_token:
            start = self._end_of_code_before(start)
        message = _REPHRASED.get(error.msg, error.msg)
        return ParseError(Span(start, start, self.lexer.input), message)

    def _at_end(self) -> bool:
        return self.pos >= len(self.source.text)

    def _end_of_code_before(self, start: int) -> int:
        """The end of the last line of code before `start`, if `start` is the first in its line."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        if text[line_start:start].strip():
            return start
        end = line_start - 1
        while end > 0:
            line_start = text.rfind("\n", 0, end) + 1
            if code := text[line_start:end].split("//")[0].rstrip():
                return line_start + len(code)
            end = line_start - 1
        return start

    def _location(self, offset: int) -> builtin.FileLineColLoc:
        line, column = map(unchecked.number, self.source.position(offset))
        return unchecked.made(
            builtin.FileLineColLoc, filename=self._filename, line=line, column=column
        )

    def parse_operation(self) -> Operation:
        depth = len(self._op_name_offsets)
        op = super().parse_operation()
        if isinstance(op.location, builtin.UnknownLoc):
            op.location = self._location(self._op_name_offsets[depth])
        del self._op_name_offsets[depth:]
        return op

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._op_name_offsets.append(self.pos)
        return results

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        if name[-1].isdecimal() and "_" in name:
            for value in values:
                value.name_hint = lasting_hint(name)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        name = operand.operand_name
        if name not in self.ssa_values and name not in self.forward_ssa_references:
            self._first_uses[name] = operand.span
        return super().resolve_operand(operand, type)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        if (op_type := self.ctx.get_optional_op(name, dialect_stack=stack)) is not None:
            is_generic = self.source.text.startswith('"', self._op_name_offsets[-1])
            return op_type if is_generic else QUICKER.get(op_type, op_type)
        dialect = name.split(".", maxsplit=1)[0]
        message = f"operation '{name}' is not registered"
        if "." in name and dialect not in self.ctx.registered_dialect_names:
            message = f"dialect '{dialect}' of operation '{name}' is not registered"
            known = list(self.ctx.registered_dialect_names)
            nearest = difflib.get_close_matches(dialect, known)
        else:
            known = [op.name for op in self.ctx.loaded_ops]
            nearest = difflib.get_close_matches(name, known, cutoff=0.8)
        if nearest:
            message += f"; did you mean {' or '.join(nearest)}?"
        self.raise_error(message, self._op_name_offsets[-1])


def decode_source(name: str, content: bytes) -> SourceFile:
    """The text of a file. Raises `CompilationError` if it is not UTF-8."""
    try:
        return SourceFile(name, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        message = f"not UTF-8 text: byte 0x{content[error.start]:02x}"
        if content.startswith(_BYTECODE_MAGIC):
            message = "MLIR bytecode; convert it to text with mlir-opt"
        raise CompilationError(Diagnostic(message, file=name, line=line, column=column)) from None


def read_source(path: str) -> SourceFile:
    """The text of a file, or of stdin for `-`. Raises `CompilationError` if it cannot be read."""
    try:
        if path != "-":
            return decode_source(path, Path(path).read_bytes())
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise CompilationError(Diagnostic("cannot read stdin, which is closed: name a file"))
        return decode_source("<stdin>", sys.stdin.buffer.read())
    except OSError as error:
        what = "read stdin" if path == "-" else f"open input file '{path}'"
        message = f"cannot {what}: {error.strerror or error}"
        raise CompilationError(Diagnostic(message)) from error


def parse_module(
    ctx: Context, source: SourceFile, implicit_module: bool = True
) -> builtin.ModuleOp:
    """
    Parse a module, without verifying it. Raises `CompilationError` with one diagnostic if the text
    is malformed. Without `implicit_module` the text must be one `builtin.module`, and is not
    wrapped into one.
    """
    try:
        return LocatedParser(ctx, source).parse_module(implicit_module)
    except ParseError as error:
        raise CompilationError(parse_error_diagnostic(error, source)) from error
