"""Inputs and outputs of tg-run: arrays as MLIR literals and as NumPy's files.

Mistakes in an input raise `CompilationError` with one line that names the input.
"""

import json
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from tgdialect.diagnostics import CompilationError
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import to_nearest
from tgdialect.ops.expressions import SizeSource
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.tools.console import ToolError, write_files

_RAW_DTYPES = frozenset({"bf16", "f8E4M3FN", "f8E5M2"})
"""Dtypes that NumPy itself lacks: its files have their bits."""
_BY_NAME = {row.name: dtype for dtype, row in tg.DTYPES.items()}

_TYPE = re.compile(r"(?:tensor<)?((?:\d+x)*)([A-Za-z]\w*)>?")
_TYPED = re.compile(r"(?P<type>[\w<>]+)=(?P<values>.*)", re.DOTALL)
_DENSE = re.compile(r"dense<(?P<values>.*)>\s*:\s*(?P<type>tensor<[^<>]*>)", re.DOTALL)
_RANDOM = re.compile(r"random(?:\((\d+)\))?")
_FILE = re.compile(r"(?P<path>.*\.np[yz])(?::(?P<member>[^/\\]*))?", re.DOTALL)
_FILE_NAME = re.compile(r".*[^\d\W]\w*\.[^\d\W]\w*|.*[/\\].*")
"""A name with an extension, or in a folder: what is no number."""
_WORD = re.compile(r"[^\s\[\],]+")

_NONFINITE = {"nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
"""The words of floats that are no numbers, in an input."""
_BOOLEANS = {"true": 1, "false": 0, "1": 1, "0": 0}
"""The words of bools in an input."""
_SUMMARY_THRESHOLD = 1000
"""The elements from which on an array is printed abbreviated, as by NumPy."""
_SUMMARY_EDGE = 3
"""The elements at each end of an axis of an abbreviated array, as by NumPy."""


@dataclass(frozen=True)
class ProgramInput:
    """An input of the program: its name and type.

    `dims` has, for each dynamic extent, the position of the index input with its value, and None
    for other extents. `source` is the axis of an array that an index input is read off. `interval`
    bounds the values. It `is_written` if it is memory that the program stores to.
    """

    position: int
    name: str | None
    type: TensorType[Attribute]
    dims: tuple[int | None, ...]
    interval: tg.Interval
    is_written: bool
    source: SizeSource | None = None

    @property
    def dtype(self) -> tg.DType:
        return tg.DTYPES[self.type.element_type]

    @property
    def symbol(self) -> str:
        """The name in results."""
        return f"%arg{self.position}" if self.name is None else f"%{self.name}"

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"input {self.position}" + ("" if self.name is None else f" (%{self.name})")

    def error(self, message: str) -> CompilationError:
        return ToolError(f"{self.label}: {message}")


def show_type(type: TensorType[Any]) -> str:
    """A tensor type as `--input` takes it: `2x3xf32`."""
    dims = ("?" if d == DYNAMIC_INDEX else str(d) for d in type.get_shape())
    return "x".join((*dims, tg.DTYPES[type.element_type].name))


def is_file_name(text: str) -> bool:
    """Whether an input is the name of a file."""
    return _FILE.fullmatch(text) is not None


# -- reading -------------------------------------------------------------------------------------


def read_input(text: str, parameter: ProgramInput) -> Array:
    """The array of an argument of `--input` or `--arg`, of the parameter's dtype and shape.

    Raises `CompilationError` if the text or the file is malformed or does not fit the type.
    """
    if (file := _FILE.fullmatch(text)) is not None:
        array = _as_dtype(_load(file["path"], file["member"], parameter), text, parameter)
        _check_shape(array.shape, f"{text} has shape {array.shape}", parameter)
        return array
    if (typed := _DENSE.fullmatch(text.strip()) or _TYPED.fullmatch(text)) is not None:
        type, values = _parse_type(typed["type"], parameter), typed["values"]
        if type.element_type != parameter.type.element_type:
            raise parameter.error(f"got {show_type(type)}, expected {show_type(parameter.type)}")
        _check_shape(type.get_shape(), f"got {show_type(type)}", parameter)
        return _parse_values(values, type.get_shape(), parameter)
    shape = parameter.type.get_shape()
    if os.path.isfile(text) or _FILE_NAME.fullmatch(text):
        raise parameter.error(
            f"{_shorten(text)} is neither a value nor a file that is read: write one by numpy.save "
            "(.npy) or numpy.savez (.npz)"
        )
    if DYNAMIC_INDEX in shape:
        raise parameter.error(
            f"{text!r} has no shape: write TYPE=VALUES, as in "
            f"{show_type(parameter.type).replace('?', '4')}={text}"
        )
    return _parse_values(text, shape, parameter)


def _check_shape(shape: Sequence[int], got: str, parameter: ProgramInput) -> None:
    expected = parameter.type.get_shape()
    if len(shape) != len(expected) or any(
        e not in (s, DYNAMIC_INDEX) for s, e in zip(shape, expected, strict=True)
    ):
        raise parameter.error(f"{got}, expected {show_type(parameter.type)}")


def typed_input(text: str, position: int) -> Array:
    """The array of an argument of `--input` for a program that states no types: the text or the
    file has one. Raises `CompilationError`."""
    unknown = tg.tensor_type(tg.TYPES["f32"])
    parameter = ProgramInput(position, None, unknown, (), tg.Interval(0, 0), is_written=False)
    if (file := _FILE.fullmatch(text)) is not None:
        return _load(file["path"], file["member"], parameter)
    typed = _DENSE.fullmatch(text.strip()) or _TYPED.fullmatch(text)
    if typed is None:
        raise parameter.error(f"{_shorten(text)} has no type: write 2x3xf32=VALUES, or a .npy file")
    return read_input(text, replace(parameter, type=_parse_type(typed["type"], parameter)))


def _parse_type(text: str, parameter: ProgramInput) -> TensorType[Attribute]:
    match = _TYPE.fullmatch(text)
    if match is None or match[2] not in _BY_NAME:
        raise parameter.error(f"{text!r} is not a type such as 2x3xf32")
    shape = tuple(int(extent) for extent in match[1].split("x")[:-1])
    return tg.tensor_type(_BY_NAME[match[2]], shape)


def _parse_values(text: str, shape: tuple[int, ...], parameter: ProgramInput) -> Array:
    """Values in row-major order, with or without brackets; a single value is used everywhere."""
    dtype = numpy_dtype(parameter.dtype)
    if (random := _RANDOM.fullmatch(text.strip())) is not None:
        return _random(int(random[1] or 0), shape, parameter).astype(dtype)
    try:
        nested = _WORD.sub(lambda word: json.dumps(word[0]), text)
        words = np.array(json.loads(nested if nested.lstrip().startswith("[") else f"[{nested}]"))
    except (ValueError, RecursionError):
        raise parameter.error(
            f"{_shorten(text)} is neither a .npy or .npz file, nor a list of values"
        ) from None
    values = [_number(word, parameter) for word in words.ravel().tolist()]
    size = math.prod(shape)
    if len(values) not in (1, size):
        shown = show_type(tg.tensor_type(parameter.type.element_type, shape))
        raise parameter.error(f"{len(values)} values for {shown}, which has {size} elements")
    elif "[" in text and words.ndim > 1 and words.shape != shape:
        raise parameter.error(
            f"values nested as {words.shape}, expected {show_type(parameter.type)}"
        )
    array = np.array(values, np.float64 if parameter.dtype.is_float else dtype).astype(dtype)
    return np.full(shape, array[0], dtype) if len(values) == 1 else array.reshape(shape)


def _random(seed: int, shape: tuple[int, ...], parameter: ProgramInput) -> Array:
    """Random values that depend on the seed and the position among the inputs only."""
    rng = np.random.default_rng([seed, parameter.position])
    if parameter.dtype.is_float:
        return rng.standard_normal(shape)
    return rng.integers(0, 2 if parameter.dtype.is_bool else 10, shape)


def _number(word: str, parameter: ProgramInput) -> int | float:
    """A word as a value of the parameter's dtype: floats round, integers must fit."""
    dtype = parameter.dtype
    try:
        if dtype.is_bool:
            return _BOOLEANS[word]
        if not dtype.is_float:
            integer = int(word, 0)
            if not dtype.low <= integer <= dtype.high:
                raise parameter.error(f"{word} is outside the range of {dtype.name}")
            return integer
        value = _NONFINITE[word] if word in _NONFINITE else float(word)
    except (KeyError, ValueError):
        kind = "bool (true or false)" if dtype.is_bool else dtype.kind.value
        raise parameter.error(f"{_shorten(word)} is not a {kind}") from None
    rounded = to_nearest(dtype, value)
    if math.isinf(rounded) and not (rounded == value and math.isinf(dtype.high)):
        raise parameter.error(f"{word} is not representable in {dtype.name}")
    return rounded


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _load(path: str, member: str | None, parameter: ProgramInput) -> Array:
    """An array from a .npy file, or from a .npz file by its name. Pickles are refused."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            if member is not None:
                raise parameter.error(f"{path} holds one array, there is no {member!r} in it")
            return cast(Array, loaded)
        with loaded:
            names = loaded.files
            if member is None and len(names) == 1:
                member = names[0]
            if member not in names:
                raise parameter.error(
                    f"{path} holds {', '.join(names) or 'nothing'}: name one as {path}:NAME"
                )
            return cast(Array, loaded[member])
    except CompilationError:
        raise
    except OSError as error:
        reason = error.strerror or "not a NumPy file"
        raise parameter.error(f"cannot read {path}: {reason}") from error
    except Exception as error:
        # For a malformed file NumPy and zipfile may raise any exception.
        reason = (str(error) or type(error).__name__).splitlines()[0]
        reason = "pickled objects are not read" if "allow_pickle" in reason else reason
        raise parameter.error(f"cannot read {path}: {reason}") from error


def _as_dtype(array: Array, path: str, parameter: ProgramInput) -> Array:
    """The array in native byte order; bf16 and fp8 also from raw bits, as NumPy stores them."""
    expected = numpy_dtype(parameter.dtype)
    raw = parameter.dtype.name in _RAW_DTYPES and array.dtype.itemsize == expected.itemsize
    if raw and array.dtype.kind in "Vu":
        array = np.array(array, order="C").view(expected)
    if array.dtype.newbyteorder("=") != expected:
        raise parameter.error(
            f"{path} holds {array.dtype.name}, expected {show_type(parameter.type)}"
        )
    if parameter.dtype.is_bool:
        # A file of bools may have any bytes, but compiled code expects 0 and 1.
        return np.array(array, order="C").view(np.uint8) != 0
    return np.array(array, expected, order="C")


# -- writing -------------------------------------------------------------------------------------


def literal(array: Array, dtype: tg.DType, *, digits: int | None, full: bool) -> str:
    """An array as MLIR writes it: `dense<[[1.0, 2.0]]> : tensor<1x2xf32>`.

    Floats have the fewest digits that identify them, or `digits` significant ones, or are `nan`,
    `inf` and `-inf`, as in `tg.const`. More than a thousand elements are abbreviated unless `full`.
    """
    shape = "".join(f"{extent}x" for extent in array.shape)
    if array.size == 0:
        return f"dense<> : tensor<{shape}{dtype.name}>"

    def show(value: Any) -> str:
        if dtype.is_bool:
            return "true" if value else "false"
        return _show_float(value, digits) if dtype.is_float else str(int(value))

    text = np.array2string(
        array,
        max_line_width=sys.maxsize,
        separator=", ",
        formatter={"all": show},
        threshold=sys.maxsize if full else _SUMMARY_THRESHOLD,
        edgeitems=_SUMMARY_EDGE,
    )
    return f"dense<{' '.join(text.split())}> : tensor<{shape}{dtype.name}>"


def _show_float(value: Any, digits: int | None) -> str:
    """The shortest decimal form of a NumPy scalar, with the point that MLIR requires."""
    if not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if digits is not None:
        text = f"{float(value):.{digits}g}"
    elif value.dtype.name in ("float16", "float32", "float64"):
        text = str(value)
    else:
        text = f"{float(value):.4g}"
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + e + exponent


def _storable(array: Array) -> Array:
    """The array, or its bits if NumPy's files lack the dtype."""
    raw = array.dtype in [numpy_dtype(tg.DTYPES[_BY_NAME[name]]) for name in _RAW_DTYPES]
    return np.asarray(array, order="C").view(f"u{array.dtype.itemsize}") if raw else array


@dataclass(frozen=True)
class _Writer:
    """All of a file that NumPy needs."""

    file: BinaryIO

    def write(self, data: bytes, /) -> int:
        return self.file.write(data)


def write_outputs(paths: Sequence[str], arrays: Sequence[Array]) -> None:
    """Write .npy files, all or none.

    bf16 and fp8 are written as their raw bits, which NumPy can read back without `ml_dtypes`.
    Raises `CompilationError` if a file cannot be written.
    """

    write_files(paths, [npy_writer(array) for array in arrays])


def npy_writer(array: Array) -> Callable[[BinaryIO], object]:
    """A writer of the .npy file of an array, for `write_files`."""
    # NumPy's `tofile`, which it calls for a file, can neither write to a pipe nor say why it has
    # failed.
    return lambda file: np.save(_Writer(file), _storable(array), allow_pickle=False)
