"""A compiled program as data: its parameters and object code, and its encoding as bytes.

Nothing here imports the compiler, so that a program from the cache starts without it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np

from tgdialect.ops.data_files import Contents, DataReader, FileData
from tgdialect.ops.expressions import Expression
from tgdialect.ops.numpy_dtypes import Array, dtype_named
from tgdialect.runtime.dlpack import host_array, is_on_host
from tgdialect.runtime.windows import Window

HOST = "CPU"
"""The name of the CPU that Python runs on, as a device."""

DEFAULT_OPT = "heuristic"
"""The default mode of `tg-optimize`."""

_INT64 = np.iinfo(np.int64)
_LENGTH_BYTES = 8
"""The bytes of the header's length, at the start of a file."""
_SIZES, _PIECE = "sizes", "piece"
"""The keys of the sizes of all pieces, and of the number of one."""


class HasShape(Protocol):
    """An array of the host or of a device."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a compiled function.

    `shape` has None for each dynamic extent, and `dims` has, in order, the positions of the scalar
    parameters with their values. `role` is input, scalar, buffer, data, output, workspace or
    persistent; one of role data has the bytes `data`, which the program only reads: they may be in
    a file. `low` and `high` bound a scalar; one that is `computed` is the value of an expression in
    scalars before it, and no caller passes it. `by_reference` means that the program writes the
    caller's array, and `result` is the number of the program's result that is there then, if one
    is. `is_constant` means that an array that is passed again has the same contents, `is_read_once`
    that it is not read any more then, and `is_cleared` that a result is 0 before the program runs,
    because it may leave cells as they are.
    """

    name: str
    role: str
    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    dims: tuple[int, ...] = ()
    low: int = _INT64.min
    high: int = _INT64.max
    computed: Expression | None = None
    by_reference: bool = False
    is_constant: bool = False
    is_read_once: bool = False
    is_cleared: bool = False
    result: int | None = None
    data: Contents | None = field(default=None, repr=False)

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Parameter:
        """A parameter of a packed program. Raises ValueError, LookupError or TypeError for what
        cannot be one."""
        given: dict[str, Any] = {**entry, "dtype": dtype_named(entry["dtype"])}
        if isinstance(data := given["data"], dict):
            # Of any version: the code of a program depends on no contents.
            place: dict[str, Any] = {**cast("dict[str, Any]", data), "version": None}
            given["data"] = FileData(**place)
        found = cls(**given)
        if found.role == "data" and len(found.data or b"") != found.nbytes:
            raise ValueError(f"{found} has other contents")
        return found

    def __str__(self) -> str:
        extents = "x".join("?" if d is None else str(d) for d in self.shape)
        return f"{self.name}: {extents + ' ' if extents else ''}{self.dtype}"

    @property
    def is_dynamic(self) -> bool:
        """Whether the shape is known only when the program is called."""
        return bool(self.dims)

    @property
    def axes(self) -> tuple[int | None, ...]:
        """For each axis, the position of the scalar that is its extent; None for a static one."""
        sizes = iter(self.dims)
        return tuple(next(sizes) if d is None else None for d in self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of an array of static shape."""
        return self.nbytes_for(())

    def nbytes_for(self, arguments: Mapping[int, int] | Sequence[Any]) -> int:
        """The bytes of the array of a call, given its arguments in the order of the parameters."""
        return self.dtype.itemsize * math.prod(self.shape_for(arguments))

    def shape_for(self, arguments: Mapping[int, int] | Sequence[Any]) -> tuple[int, ...]:
        """The shape in a call, given its arguments in the order of the parameters."""
        sizes = iter(self.dims)
        return tuple(int(arguments[next(sizes)]) if d is None else d for d in self.shape)

    def number(self, value: Any) -> int:
        """A scalar argument as an int. Raises TypeError if it is none, ValueError out of bounds."""
        if isinstance(value, np.ndarray) and cast(Array, value).shape == ():
            value = cast(Array, value).item()
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{self.name} is an integer, got {value!r}")
        result = int(cast(int, value))
        if not self.low <= result <= self.high:
            raise self.out_of_bounds(result)
        return result

    def out_of_bounds(self, value: int) -> ValueError:
        """The error for a scalar that is out of bounds."""
        return ValueError(f"{self.name} is {value}, outside [{self.low}, {self.high}]")

    def array(self, value: Any) -> Array:
        """An input as an array that compiled code can read, and write if it is by reference.

        It is copied only if it is not contiguous and aligned. Raises TypeError for another dtype,
        ValueError for another shape, or if the program would write to a copy.
        """
        array = host_array(value)
        self.check(array)
        if not self.by_reference:
            return np.require(array, requirements=("C", "A"))
        if not (isinstance(value, np.ndarray) or is_on_host(value)):
            raise ValueError(
                f"{self.name} is written by the program: it must be an array where the program "
                f"runs, and not {type(value).__name__}"
            )
        if not array.flags.carray:
            raise ValueError(
                f"{self.name} is written by the program: it must be contiguous and writable"
            )
        return array

    def check(self, array: HasShape) -> None:
        """Raise TypeError for an array of another dtype, ValueError for one of another shape; those
        of dynamic shape are checked when the scalars are known."""
        if array.dtype != self.dtype:
            raise TypeError(f"{self.name} is {self.dtype}, got {array.dtype}")
        if not self.is_dynamic and array.shape != self.shape:
            raise self.wrong_shape(array.shape, self.shape)

    def check_out(self, array: Any, arguments: Sequence[Any]) -> None:
        """Raise TypeError or ValueError for an `out` argument that cannot hold this result."""
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out for {self}: got {type(array).__name__}")
        array = cast(Array, array)
        self.check_result(array, arguments)
        if not array.flags.writeable:
            raise ValueError(f"out for {self} is read-only")

    def check_result(self, array: HasShape, arguments: Sequence[Any]) -> None:
        """Raise TypeError or ValueError for memory of another shape or dtype than this result's."""
        if array.shape != (wanted := self.shape_for(arguments)):
            raise self.wrong_shape(array.shape, wanted)
        if array.dtype != self.dtype:
            raise TypeError(f"out for {self}: got {array.dtype}")

    def wrong_shape(self, given: tuple[int, ...], wanted: Sequence[object]) -> ValueError:
        """The error for an array of another shape."""
        return ValueError(f"{self.name} has shape {given}, expected {shown_shape(wanted)}")


def shown_shape(extents: Sequence[object]) -> str:
    """A shape as Python shows it, whose extents may be names: `(n, 4)`."""
    return f"({', '.join(map(str, extents))}{',' * (len(extents) == 1)})"


Entries = Mapping[str, Callable[[Any], Any]]


class Object(NamedTuple):
    """Position-independent object code of a function."""

    name: str
    """The symbol by which others call it."""
    code: bytes
    symbol: str
    """Its symbol in the code."""


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """A program for the host or for a device, as data."""

    parameters: tuple[Parameter, ...]
    entries: ClassVar[Entries] = {}
    """The types of the entries of fields that are sequences, besides parameters and windows."""

    def to_bytes(self) -> bytes:
        """The program as bytes."""
        return packed(fields_of(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The inverse of `to_bytes`. Raises as `unpacked` and `Parameter.of` for other bytes."""
        made = {"parameters": Parameter.of, "windows": Window._make, **cls.entries}
        given = unpacked(data).items()
        return cls(**{name: tuple(map(made[name], v)) if name in made else v for name, v in given})


P = TypeVar("P", bound=CompiledProgram)


def with_contents(program: P) -> P:
    """The program with the bytes of files that it names, each part once: it needs no files then.

    Raises DataFileError if a file has not got them.
    """
    read: dict[FileData, bytes] = {}
    reader = DataReader()

    def in_memory(data: Contents | None) -> bytes | None:
        if not isinstance(data, FileData):
            return data
        if data not in read:
            read[data] = reader.array(data).tobytes()
        return read[data]

    parameters = (replace(p, data=in_memory(p.data)) for p in program.parameters)
    return replace(program, parameters=tuple(parameters))


@dataclass(frozen=True, slots=True)
class Program(CompiledProgram):
    """Objects, each of which may call those before it. The last one has the entry, which takes a
    frame: 8 bytes for each parameter, the address of an array or the value of a scalar.
    """

    objects: tuple[Object, ...]
    windows: tuple[Window, ...] = ()
    """Bounds that the scalars of a call have to satisfy."""

    entries: ClassVar[Entries] = {"objects": Object._make}


# -- encoding --------------------------------------------------------------------------------------


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a dataclass."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def packed(entries: Mapping[str, Any]) -> bytes:
    """Entries as bytes: the length of a JSON header, the header, then the pieces, which are all
    bytes among the entries, each once. These have values that JSON knows, dtypes and dataclasses
    besides, and no mappings whose keys a program names: one might be that of a piece."""
    pieces: dict[bytes, int] = {}

    def other(value: Any) -> Any:
        if isinstance(value, bytes):
            return {_PIECE: pieces.setdefault(value, len(pieces))}
        return value.name if isinstance(value, np.dtype) else fields_of(value)

    text = json.dumps(entries, default=other)
    header = f'{text[:-1]}, "{_SIZES}": {[*map(len, pieces)]}}}'.encode()
    return b"".join([len(header).to_bytes(_LENGTH_BYTES, "little"), header, *pieces])


def unpacked(data: bytes) -> Mapping[str, Any]:
    """The inverse of `packed`, with tuples for lists, names for dtypes and mappings for
    dataclasses. Raises ValueError, LookupError or TypeError for other bytes."""
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    entries: dict[str, Any] = json.loads(data[_LENGTH_BYTES:start])
    pieces: list[bytes] = []
    for size in entries.pop(_SIZES):
        if size < 0:
            raise ValueError(f"a piece of code has {size} bytes")
        pieces.append(data[start : start + size])
        start += size
    if start != len(data):
        raise ValueError(f"the pieces of code end at byte {start} of {len(data)}")

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(found, cast("list[Any]", value)))
        if not isinstance(value, dict):
            return value
        named = cast("dict[str, Any]", value)
        if named.keys() == {_PIECE}:
            number: int = named[_PIECE]
            return pieces[number]
        return {name: found(each) for name, each in named.items()}

    return found(entries)
