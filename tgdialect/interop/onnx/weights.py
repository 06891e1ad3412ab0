"""Weights of a model stay in its files, which are mapped into memory.

A file of ONNX is one message of Protocol Buffers, with the elements of weights in it.
`without_weights` reads the message around them: each large tensor becomes one with external data,
which lies at an offset of the same file. So a model of gigabytes takes no memory when it is read,
and its own external data are no other case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto, helper

from tgdialect.interop.onnx.values import Refused
from tgdialect.ops import tg
from tgdialect.ops.data_files import FileData
from tgdialect.ops.numpy_dtypes import Array

LEAST_BYTES = 1 << 10
"""The least bytes of elements that stay in a file. Larger: longer texts of programs; smaller: more
parts of files. An order of magnitude."""

_MOST_NESTING = 64
"""The most messages within one another that are looked through. Deeper ones stay as they are."""


class FileArray(np.ndarray[Any, np.dtype[Any]]):
    """An array of the elements of a file, read only. `contents` is where they are; an array
    that is made of it has none."""

    contents: tg.DataAttr | None = None


def file_array(contents: tg.DataAttr, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The elements that are in a file. Raises OSError for a file that has not got them."""
    array = contents.array.view(dtype).reshape(shape).view(FileArray)
    array.contents = contents
    return array


def check_dims(dims: Sequence[int]) -> None:
    """Raise Refused for a shape that no array has."""
    if len(dims) > _MOST_AXES:
        raise Refused(f"no tensor has {len(dims)} axes")
    # NumPy multiplies the extents that are not 0, also of arrays without elements.
    if min(dims, default=0) < 0 or math.prod(filter(None, dims)) >= 1 << 60:
        raise Refused(f"no tensor has the shape {tuple(dims)}")


_MOST_AXES = 64
"""The most axes of an array of NumPy."""


def external_array(
    tensor: TensorProto, folder: str, own: FileData | None, known: dict[str, FileData]
) -> Array:
    """The elements of a tensor with external data, in a file of the model's folder, or in the
    model's own file, whose bytes `own` are. `known` has a part of each file that has been read so
    far, to which this one is added.

    Raises Refused for what is no part of such a file, or of another version of it than was read.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
        elements = math.prod(tensor.dims)
        offset, length = (int(entries.get(key) or 0) for key in ("offset", "length"))
        wanted = _nbytes(tensor.data_type, elements, dtype)
        if min(offset, length) < 0 or (length and length != wanted):
            message = f"{length} bytes from {offset} on" if offset < 0 else f"{length} bytes"
            raise Refused(f"the elements of {_shown(tensor)} are {message}, not {wanted}")
        location = entries.get("location", "")
        if len(location) > _LONGEST_NAME:
            raise Refused(f"the external data of {_shown(tensor)} are in a file with a long name")
        if _OWN in entries and own is not None:
            contents = tg.DataAttr(replace(own, offset=offset, length=wanted))
        else:
            part = FileData.of(folder, location, offset, wanted)
            # A model is imported again for other calls, of which all have the same weights.
            version = known.setdefault(location, part).version
            contents = tg.DataAttr(replace(part, version=version))
        if dtype.itemsize * elements != wanted:  # Several elements are in a byte.
            found = TensorProto(data_type=tensor.data_type, dims=tensor.dims)
            found.raw_data = contents.array.tobytes()
            return _unpacked(found)
        return file_array(contents, dtype, tuple(tensor.dims))
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise Refused(f"the external data of {_shown(tensor)}: {error}") from None


_LONGEST_NAME = 4096
"""The longest path of a file."""


def _shown(tensor: TensorProto) -> str:
    return repr(tensor.name[:400])


def _unpacked(tensor: TensorProto) -> Array:
    from onnx import numpy_helper

    return numpy_helper.to_array(tensor)


_BITS: Mapping[int, int] = {
    **dict.fromkeys((TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1), 4),
    **dict.fromkeys((TensorProto.INT2, TensorProto.UINT2), 2),
}
"""The bits of element types of which several are in a byte."""


def _nbytes(element_type: int, elements: int, dtype: np.dtype[Any]) -> int:
    bits = _BITS.get(element_type)
    return elements * dtype.itemsize if bits is None else -(-elements * bits // 8)


# -- the message without the elements --------------------------------------------------------------


class _Field(NamedTuple):
    """A field of a message: its number and wire type, and where it begins, and its contents do and
    end."""

    number: int
    kind: int
    start: int
    first: int
    end: int


_TENSOR = "tensor"
_PATHS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: _TENSOR},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: _TENSOR, 6: "graph", 10: _TENSOR, 11: "graph"},
}
"""The fields of messages in which there are tensors, by number, and what they are."""
_ELEMENTS = {4: "float_data", 9: "raw_data", 10: "double_data"}
"""The fields of a tensor with its elements one after the other, in as many bytes as in memory."""
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
"""The fields of a tensor that name other bytes."""
_DELIMITED = 2
"""The wire type of a field whose length is given: a message, a text, bytes."""


_OWN = "in the file of the model"
"""The key of an entry of external data for those that are in the model's own file."""

MOST_FIELDS = 1 << 20
"""The most fields of messages that are looked through. Larger: files of many small fields take
minutes; smaller: models of many nodes are refused."""

MOST_KEPT = 1 << 28
"""The most bytes of a model without the elements of large tensors. Larger: a file that is large
without weights may take all memory; smaller: models with large elements of other forms, as
`int64_data`, are refused."""


def without_weights(data: memoryview) -> bytes:
    """A message of a model without the elements of large tensors, which are then external data of
    its own file. Raises ValueError for bytes that are no message."""
    return b"".join(_Rewriting(data).parts(0, len(data), "model", 0))


class _Rewriting:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._fields_left = MOST_FIELDS
        self._bytes_left = MOST_KEPT

    def _fields(self, start: int, end: int) -> Iterator[_Field]:
        """The fields of a message with bytes."""
        for field in _fields(self._data, start, end):
            self._fields_left -= 1
            if self._fields_left < 0:
                raise ValueError(f"it has more than {MOST_FIELDS} fields")
            if field.kind == _DELIMITED:
                yield field

    def _kept(self, start: int, end: int) -> bytes:
        self._bytes_left -= end - start
        if self._bytes_left < 0:
            raise ValueError(
                f"it has more than {MOST_KEPT} bytes beside raw_data, float_data and double_data"
            )
        return bytes(self._data[start:end])

    def parts(self, start: int, end: int, kind: str, depth: int) -> Iterator[bytes]:
        """The parts of a message of a kind."""
        kept, fields = start, list(self._fields(start, end))
        if kind == _TENSOR:
            # Elements may also be in several parts.
            fields = [field for field in fields if field.number in _ELEMENTS]
            fields = fields if len(fields) == 1 else []
        for field in fields:
            if kind == _TENSOR:
                if field.end - field.first < LEAST_BYTES:
                    continue
                yield self._kept(kept, field.start)
                yield from _external(field)
            else:
                inner = _PATHS[kind].get(field.number)
                if inner is None or field.end - field.first < LEAST_BYTES or depth == _MOST_NESTING:
                    continue
                message = b"".join(self.parts(field.first, field.end, inner, depth + 1))
                yield self._kept(kept, field.start)
                yield _delimited(field.number, message)
            kept = field.end
        yield self._kept(kept, end)


def _external(field: _Field) -> Iterator[bytes]:
    """The fields for external data in place of elements."""
    length = field.end - field.first
    for key, value in ((_OWN, ""), ("offset", field.first), ("length", length)):
        entry = _delimited(1, key.encode()) + _delimited(2, str(value).encode())
        yield _delimited(_EXTERNAL_DATA, entry)
    yield _varint(_DATA_LOCATION << 3) + _varint(TensorProto.EXTERNAL)


def _delimited(number: int, contents: bytes) -> bytes:
    return _varint(number << 3 | _DELIMITED) + _varint(len(contents)) + contents


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _fields(data: memoryview, start: int, end: int) -> Iterator[_Field]:
    """The fields of a message. Raises ValueError if it is none."""
    at = start
    while at < end:
        first = at
        tag, at = _number(data, at, end)
        kind = tag & 7
        contents = at
        match kind:
            case 0:
                _, at = _number(data, at, end)
            case 1:
                at += 8
            case 2:
                length, contents = _number(data, at, end)
                at = contents + length
            case 5:
                at += 4
            case _:
                raise ValueError(f"no message: a field of wire type {kind}")
        if tag < 8:
            raise ValueError("no message: a field without a number")
        if at > end:
            raise ValueError("the message ends too soon")
        yield _Field(tag >> 3, kind, first, contents, at)


def _number(data: memoryview, at: int, end: int) -> tuple[int, int]:
    """A variable-length number, and where it ends."""
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise ValueError("the message ends too soon")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
