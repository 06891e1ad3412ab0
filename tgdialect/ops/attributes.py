"""Attributes and types of the `tg` dialect."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, TypeGuard, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, StringAttr, TensorType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tgdialect.fast_xdsl import unchecked
from tgdialect.ops.data_files import Contents, FileData, array_of

if TYPE_CHECKING:
    from tgdialect.ops.numpy_dtypes import Array

Device = str | tuple[str, ...] | None
"""No device, one device, or the devices over which a value is sharded or replicated."""


PROCESS = "MPI:"
"""How the name of a device begins that is a process of MPI; its rank follows."""


def is_process(device: str) -> bool:
    """Whether a device is a process of MPI, by its name."""
    return device.startswith(PROCESS) and device[len(PROCESS) :].isdecimal()


def is_tensor(type: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Whether a type is a builtin ranked tensor."""
    # `isinstance` with an abstract class, which attributes have, is a call of Python code.
    return type.__class__ is TensorType


def _checked(
    attribute: type[ParametrizedAttribute],
    parameters: Sequence[Attribute],
    parser: AttrParser,
    position: int,
) -> Sequence[Attribute]:
    """Parsed parameters. Raises a parse error at `position` if they break the attribute's rules."""
    try:
        attribute.new(parameters)
    except VerifyException as e:
        parser.raise_error(str(e), at_position=position, end_position=parser.pos)
    return parameters


class AddrSpace(StrEnum):
    """The kind of memory of a buffer."""

    GLOBAL = "global"
    LOCAL = "local"
    REG = "reg"


@irdl_attr_definition
class NumberAttr(Data[int]):
    """A number of an op, as a slot or an axis: `#tg.number<3>`, which MLIR reads where it does not
    know the dialect. Of xDSL's attribute for plain numbers, `#builtin.int<3>`, it reads nothing."""

    name = "tg.number"

    @classmethod
    def of(cls, value: int) -> NumberAttr:
        """The attribute, without xDSL's checks."""
        return unchecked.made(cls, data=value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        with parser.in_angle_brackets():
            return parser.parse_integer(allow_boolean=False)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_attr_definition
class DataAttr(Data[Contents]):
    """Bytes, written in hexadecimal: `#tg.data<"7f454c46">`; or those of a file, which stay there:
    `#tg.data<file "weights/a.bin", offset = 64, length = 4096>`.

    A string of hexadecimal digits would take twice the memory, and xDSL prints strings character by
    character: 16 MiB would take 15 seconds.

    The name of a file is relative to the folder of the text's own file, unless the reader names
    another folder. Nothing outside of the folder is opened. The file need not be there before the
    bytes are needed: they are mapped into memory then, and neither copied nor hashed.
    """

    name = "tg.data"

    @classmethod
    def in_file(
        cls, folder: str | os.PathLike[str], name: str, offset: int, length: int
    ) -> DataAttr:
        """`length` bytes of the file `name` in a folder, from byte `offset` on.

        The name is relative to the folder, with `/` between folders. Equal attributes name the same
        bytes of the same version of a file: one that has changed since is refused.

        Raises ValueError for a name that is absolute, or that has `.` or `..`. Whether the file has
        these bytes is asked when they are needed (`array`).
        """
        return cls(FileData.of(folder, name, offset, length))

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return len(self.data)

    @property
    def array(self) -> Array:
        """The bytes as a vector of ui8, read only. Raises DataFileError, an OSError, for a file
        that has not got them."""
        return array_of(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Contents:
        with parser.in_angle_brackets():
            return cls.parse_contents(parser)

    @staticmethod
    def parse_contents(parser: AttrParser) -> Contents:
        """Bytes as digits, or the file that has them, without the angle brackets."""
        start = parser.pos
        if parser.parse_optional_keyword("file") is None:
            return DataAttr.parse_bytes(parser)
        name = parser.parse_str_literal(" of the name of a file")
        numbers: list[int] = []
        for keyword in ("offset", "length"):
            parser.parse_punctuation(",")
            parser.parse_keyword(keyword)
            parser.parse_punctuation("=")
            numbers.append(parser.parse_integer(allow_boolean=False, allow_negative=False))
        try:
            return FileData.of(_data_folder(parser), name, *numbers)
        except ValueError as error:
            parser.raise_error(str(error), start, parser.pos)

    @staticmethod
    def parse_bytes(parser: AttrParser) -> bytes:
        """Bytes as a string literal of lower-case hexadecimal digits, two for each."""
        start = parser.pos
        text = parser.parse_str_literal(" of hexadecimal bytes")
        try:
            return digits_as_bytes(text)
        except VerifyException as error:
            parser.raise_error(str(error), start, parser.pos)

    @staticmethod
    def of_digits(text: str) -> DataAttr:
        """The attribute for lower-case hexadecimal digits. Raises VerifyException for others."""
        return DataAttr(digits_as_bytes(text))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_contents(printer)

    def print_contents(self, printer: Printer) -> None:
        """The inverse of `parse_contents`."""
        data = self.data
        if isinstance(data, bytes):
            printer.print_string(f'"{data.hex()}"')
            return
        printer.print_string("file ")
        printer.print_string_literal(data.name)
        printer.print_string(f", offset = {data.offset}, length = {data.length}")


def digits_as_bytes(text: str) -> bytes:
    """The bytes that lower-case hexadecimal digits say. Raises VerifyException for others."""
    with suppress(ValueError):
        # `fromhex` also takes upper case and spaces.
        if (data := bytes.fromhex(text)).hex() == text:
            return data
    wrong = re.search("[^0-9a-f]", text)
    reason = f"{wrong[0]!r} is none" if wrong else f"there are {len(text)} digits"
    raise VerifyException(f"expected lower-case hexadecimal bytes: {reason}")


def _data_folder(parser: AttrParser) -> str:
    """The folder of the files that a text names: that which the reader has been told, or that of
    the text's file, or the working directory for a text that has none."""
    told: str | None = getattr(parser, "data_folder", None)
    return os.path.dirname(parser.lexer.input.name) if told is None else told


_NULL = unchecked.made(NoneAttr)


@irdl_attr_definition
class PlaceAttr(ParametrizedAttribute):
    """Where a tensor lives: device, address space and sharding axis, each of which may be null.

    It is the encoding of a tensor type: `tensor<4xf32, #tg.place<"CPU", global>>`. A value that
    has an address space is memory: it can be indexed, loaded and stored. With a tuple of devices
    `axis` names the dimension that is split among them, in equal parts:
    `#tg.place<["CPU:0", "CPU:1"], global, axis = 0>`.
    """

    name = "tg.place"

    device_attr: StringAttr | ArrayAttr[StringAttr] | NoneAttr
    addrspace_attr: StringAttr | NoneAttr
    axis_attr: IntAttr | NoneAttr

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(device: Device = None, addrspace: AddrSpace | None = None, axis: int | None = None):
        """The (cached) attribute for Python values."""
        if device is None or isinstance(device, str):
            devices = _NULL if device is None else unchecked.text(device)
        else:
            devices = unchecked.array([unchecked.text(each) for each in device])
        place = unchecked.made(
            PlaceAttr,
            device_attr=devices,
            addrspace_attr=_NULL if addrspace is None else unchecked.text(addrspace.value),
            axis_attr=_NULL if axis is None else unchecked.number(axis),
        )
        place.verify()
        return place

    @property
    def device(self) -> Device:
        # `isinstance` with an attribute's class, an abstract one, takes ten times as long.
        attribute = self.device_attr
        if attribute.__class__ is NoneAttr:
            return None
        if attribute.__class__ is StringAttr:
            return cast("StringAttr", attribute).data
        return tuple(name.data for name in cast("ArrayAttr[StringAttr]", attribute))

    @property
    def addrspace(self) -> AddrSpace | None:
        a = self.addrspace_attr
        return AddrSpace(cast("StringAttr", a).data) if a.__class__ is StringAttr else None

    @property
    def has_addrspace(self) -> bool:
        return self.addrspace_attr.__class__ is StringAttr

    @property
    def axis(self) -> int | None:
        axis = self.axis_attr
        return cast("IntAttr", axis).data if axis.__class__ is IntAttr else None

    def verify(self) -> None:
        device, axis, space = self.device, self.axis, self.addrspace_attr
        if isinstance(space, StringAttr) and space.data not in set(AddrSpace):
            raise VerifyException(f"{space.data!r} is not one of {', '.join(AddrSpace)}")
        if axis is not None and not isinstance(device, tuple):
            raise VerifyException(f"a sharding axis needs a tuple of devices, got {device!r}")
        if isinstance(device, tuple) and (not device or len(set(device)) != len(device)):
            raise VerifyException(f"a device tuple holds one or more distinct devices: {device}")
        if axis is not None and axis < 0:
            raise VerifyException(f"the sharding axis is negative: {axis}")

    def print_parameters(self, printer: Printer) -> None:
        separator = ""
        with printer.in_angle_brackets():
            if not isinstance(self.device_attr, NoneAttr):
                printer.print_attribute(self.device_attr)
                separator = ", "
            if self.addrspace is not None:
                printer.print_string(f"{separator}{self.addrspace}")
                separator = ", "
            if self.axis is not None:
                printer.print_string(f"{separator}axis = {self.axis}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        device: Attribute = NoneAttr()
        addrspace: Attribute = NoneAttr()
        axis: Attribute = NoneAttr()
        position = parser.pos
        with parser.in_angle_brackets():
            more = True
            if (name := parser.parse_optional_str_literal()) is not None:
                device = StringAttr(name)
                more = parser.parse_optional_punctuation(",") is not None
            elif (
                names := parser.parse_optional_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_str_literal
                )
            ) is not None:
                device = ArrayAttr(StringAttr(n) for n in names)
                more = parser.parse_optional_punctuation(",") is not None
            if more and (space := parser.parse_optional_keyword_in(list(AddrSpace))) is not None:
                addrspace = StringAttr(space)
                more = parser.parse_optional_punctuation(",") is not None
            if more:
                parser.parse_keyword("axis", " (a device, global, local, reg or axis = N)")
                parser.parse_punctuation("=")
                axis = IntAttr(parser.parse_integer(allow_boolean=False))
        return _checked(cls, (device, addrspace, axis), parser, position)


@irdl_attr_definition
class VoidType(ParametrizedAttribute, TypeAttribute):
    """`!tg.void`: an ordering edge; the type of STORE, END, GROUP, SINK, BARRIER, ..."""

    name = "tg.void"


VOID = VoidType()


@irdl_attr_definition
class TupleType(ParametrizedAttribute, TypeAttribute):
    """`!tg.tuple<A, B>`: the type of TUPLE, FUNCTION and CALL results."""

    name = "tg.tuple"

    types: ArrayAttr[Attribute]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.types, printer.print_attribute)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_type)
        return _checked(cls, (ArrayAttr(types),), parser, position)

    def verify(self) -> None:
        for type in self.types:
            if not is_tensor(type):
                raise VerifyException(f"a tuple holds tensors, got {type}")


class AxisType(StrEnum):
    """How a range is executed (specification, "Kernel Optimizations")."""

    GLOBAL = "global"
    LOCAL = "local"
    WARP = "warp"
    THREAD = "thread"
    LOOP = "loop"
    REDUCE = "reduce"
    GROUP_REDUCE = "group_reduce"
    UPCAST = "upcast"
    UNROLL = "unroll"


@irdl_attr_definition
class AxisTypeAttr(EnumAttribute[AxisType], SpacedOpaqueSyntaxAttribute):
    """`#tg<axis_type loop>`."""

    name = "tg.axis_type"


class ReduceKind(StrEnum):
    """The associative operation of a REDUCE."""

    ADD = "add"
    MUL = "mul"
    MAX = "max"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """`#tg<reduce_kind add>`."""

    name = "tg.reduce_kind"


@irdl_attr_definition
class InvalidAttr(ParametrizedAttribute):
    """`#tg.invalid<f32>`: the value of an invalid cell, such as those that PAD adds."""

    name = "tg.invalid"

    dtype: Attribute


class OptOp(StrEnum):
    """The schedule transforms: the specification's, then STAGE, PIPELINE, ORDER and MERGE, which
    are ours."""

    TC = "tc"
    SPLIT = "split"
    PADTO = "padto"
    SWAP = "swap"
    NOLOCALS = "nolocals"
    STAGE = "stage"
    PIPELINE = "pipeline"
    ORDER = "order"
    MERGE = "merge"


@irdl_attr_definition
class OptAttr(ParametrizedAttribute):
    """One optimisation: the specification's triple (op, axis, arg).

    `#tg.opt<split 0, 4, upcast>`, `#tg.opt<split 1, 8, unroll, top>`, `#tg.opt<padto 0, 32>`,
    `#tg.opt<swap 0, 1>`, `#tg.opt<nolocals>`: the axis first where the op has one, then its
    arguments, integers and keywords.
    """

    name = "tg.opt"

    op: StringAttr
    arguments: ArrayAttr[IntAttr | StringAttr]

    def verify(self) -> None:
        if self.op.data not in set(OptOp):
            raise VerifyException(f"{self.op.data!r} is not one of {', '.join(OptOp)}")
        wanted, pattern = _OPT_ARGUMENTS[OptOp(self.op.data)]
        if not re.fullmatch(pattern, self._argument_text):
            raise VerifyException(f"{self.op.data} takes {wanted}, got ({self._argument_text})")

    @property
    def _argument_text(self) -> str:
        return ", ".join(str(a.data) for a in self.arguments)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.op.data} {self._argument_text}".rstrip())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def argument() -> IntAttr | StringAttr | None:
            if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
                return IntAttr(number)
            keyword = parser.parse_optional_identifier()
            return None if keyword is None else StringAttr(keyword)

        position = parser.pos
        with parser.in_angle_brackets():
            op = parser.parse_str_enum(OptOp)
            arguments = parser.parse_optional_undelimited_comma_separated_list(
                argument, lambda: parser.expect(argument, "integer or keyword expected")
            )
        parameters = StringAttr(op.value), ArrayAttr(arguments or ())
        return _checked(cls, parameters, parser, position)


_FACTOR = r"[1-9]\d*"
_OPT_ARGUMENTS = {
    OptOp.TC: (
        "an axis, the index of an instruction or -1, a level 0, 1 or 2, and a mode 1 or 2",
        r"\d+, (-1|\d+), [012], [12]",
    ),
    OptOp.SPLIT: (
        f"an axis, a factor, an axis type ({', '.join(AxisType)}) and perhaps top or overlap",
        rf"\d+, {_FACTOR}, ({'|'.join(AxisType)})(, top|, overlap)?",
    ),
    OptOp.PADTO: ("an axis, a multiple and perhaps clamp", rf"\d+, {_FACTOR}(, clamp)?"),
    OptOp.SWAP: ("two axes", r"\d+, \d+"),
    OptOp.NOLOCALS: ("no arguments", ""),
    OptOp.STAGE: (
        "a parameter, the axis of the loop to copy in, an address space and perhaps pad, cores or "
        "swizzle",
        rf"\d+, \d+, ({'|'.join(AddrSpace)})(, pad|, cores|, swizzle)?",
    ),
    OptOp.PIPELINE: ("an axis and a number of buffers", r"\d+, \d+"),
    OptOp.ORDER: ("axes", r"\d+(, \d+)*"),
    OptOp.MERGE: ("two axes", r"\d+, \d+"),
}
"""The arguments of each OptOp, in words and as a pattern of their text."""


def own_bit(bit: str, layout: Sequence[str]) -> str:
    """The bit of a coordinate that a bit of a layout stands for, which may be the exclusive or of
    it and of others of the layout."""
    if "^" not in bit:
        return bit
    own = [each for each in bit.split("^") if each not in layout]
    return own[0] if len(own) == 1 else bit


@irdl_attr_definition
class WmmaAttr(ParametrizedAttribute):
    """The shape of a WMMA: `#tg.wmma<16x8x16, threads = 32, a = [...], b = [...], c = [...]>`.

    It computes C[M, N] += A[M, K] @ B[K, N] for the dims MxNxK. Without layouts there is one
    thread, and the operands are whole row-major matrices. With layouts each thread holds a
    fragment, a flat vector of size M*K/threads and so on; a layout lists, from the least
    significant bit up, which bit of the matrix coordinate each bit of the thread index and then of
    the element index is: `a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"]`. A bit `-` of A or
    B is none: threads that differ in it alone hold the same elements. Where no bit of the thread
    index is one of A or B, each thread holds the whole of it: it is in memory, in the order of its
    elements; in LOCAL memory, if there are several threads. There a bit `k3^m0` is the exclusive or
    of two, of which one is a bit of its own as well.
    """

    name = "tg.wmma"

    dims: ArrayAttr[IntAttr]
    threads_attr: IntAttr
    a: ArrayAttr[StringAttr]
    b: ArrayAttr[StringAttr]
    c: ArrayAttr[StringAttr]

    @property
    def m_n_k(self) -> tuple[int, int, int]:
        m, n, k = (d.data for d in self.dims)
        return m, n, k

    @property
    def threads(self) -> int:
        return self.threads_attr.data

    def layout(self, operand: str) -> list[str]:
        """The bits of the layout of `a`, `b` or `c`, from the least significant one up."""
        layouts = {"a": self.a, "b": self.b, "c": self.c}
        return [bit.data for bit in layouts[operand]]

    @property
    def is_whole(self) -> bool:
        """Whether the operands are whole row-major matrices."""
        return not len(self.a)

    def is_shared(self, operand: str) -> bool:
        """Whether each thread holds the whole of `a` or `b`, in the order of a layout."""
        lanes = self.threads.bit_length() - 1
        return not self.is_whole and set(self.layout(operand)[:lanes]) <= {"-"}

    @property
    def shared_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the operands of which each thread holds the whole."""
        a, b, _ = self.operand_shapes
        return [shape for name, shape in (("a", a), ("b", b)) if self.is_shared(name)]

    @property
    def operand_shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of A, B and C that one thread holds."""
        m, n, k = self.m_n_k
        if self.is_whole:
            return ((m, k), (k, n), (m, n))
        return tuple(((1 << len(bits)) // self.threads,) for bits in (self.a, self.b, self.c))

    def verify(self) -> None:
        if len(self.dims) != 3 or any(d.data < 1 for d in self.dims):
            raise VerifyException("the dims of a wmma are three positive integers, MxNxK")
        if self.threads < 1:
            raise VerifyException(f"a wmma has at least one thread, got {self.threads}")
        if self.threads == 1 and not (len(self.a) or len(self.b) or len(self.c)):
            return
        m, n, k = self.m_n_k
        for label, layout, (rows, row), (columns, column) in (
            ("a", self.a, (m, "m"), (k, "k")),
            ("b", self.b, (k, "k"), (n, "n")),
            ("c", self.c, (m, "m"), (n, "n")),
        ):
            expected = {f"{row}{i}" for i in range(rows.bit_length() - 1)}
            expected |= {f"{column}{i}" for i in range(columns.bit_length() - 1)}
            bits = [bit.data for bit in layout if label == "c" or bit.data != "-"]
            if label != "c":
                bits = [own_bit(bit, bits) for bit in bits]
            if 2 ** len(expected) != rows * columns or sorted(bits) != sorted(expected):
                raise VerifyException(
                    f"layout {label} of a {m}x{n}x{k} wmma orders {sorted(expected)}, got {bits}"
                )

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("x".join(str(d.data) for d in self.dims))
            if self.is_whole:
                return
            printer.print_string(f", threads = {self.threads}")
            for label, layout in (("a", self.a), ("b", self.b), ("c", self.c)):
                printer.print_string(f", {label} = ")
                printer.print_attribute(layout)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        threads = 1
        layouts: list[list[str]] = [[], [], []]
        position = parser.pos
        with parser.in_angle_brackets():
            dims = [parser.parse_shape_dimension(allow_dynamic=False)]
            for _ in range(2):
                parser.parse_shape_delimiter()
                dims.append(parser.parse_shape_dimension(allow_dynamic=False))
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("threads")
                parser.parse_punctuation("=")
                threads = parser.parse_integer(allow_boolean=False)
                for i, label in enumerate("abc"):
                    parser.parse_punctuation(",")
                    parser.parse_keyword(label)
                    parser.parse_punctuation("=")
                    layouts[i] = parser.parse_comma_separated_list(
                        parser.Delimiter.SQUARE, parser.parse_str_literal
                    )
        parameters = (
            ArrayAttr(IntAttr(d) for d in dims),
            IntAttr(threads),
            *(ArrayAttr(StringAttr(bit) for bit in layout) for layout in layouts),
        )
        return _checked(cls, parameters, parser, position)
