"""`.pt2` files: archives with a program in JSON and the memory of its tensors.

`torch.export.load` executes what a file says: it unpickles, and evaluates the texts of sizes. This
reads the program and the memory alone, and executes nothing.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyTorch's types are partial.

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from io import SEEK_END, BytesIO
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
import torch
from torch._export.serde import schema

from tgdialect.ops.numpy_dtypes import Array, dtype_named

MAJOR = schema.SCHEMA_VERSION[0]
"""The version of programs that this PyTorch writes; others have other entries."""

DTYPES: Mapping[int, torch.dtype] = {
    schema.ScalarType.BOOL: torch.bool,
    schema.ScalarType.BYTE: torch.uint8,
    schema.ScalarType.CHAR: torch.int8,
    schema.ScalarType.SHORT: torch.int16,
    schema.ScalarType.INT: torch.int32,
    schema.ScalarType.LONG: torch.int64,
    schema.ScalarType.UINT16: torch.uint16,
    schema.ScalarType.UINT32: torch.uint32,
    schema.ScalarType.UINT64: torch.uint64,
    schema.ScalarType.HALF: torch.float16,
    schema.ScalarType.BFLOAT16: torch.bfloat16,
    schema.ScalarType.FLOAT: torch.float32,
    schema.ScalarType.DOUBLE: torch.float64,
    schema.ScalarType.COMPLEXFLOAT: torch.complex64,
    schema.ScalarType.COMPLEXDOUBLE: torch.complex128,
}
"""PyTorch's dtypes by their numbers in files."""


MOST_USES = 16
"""The most times that the memory of weights is in tensors, since each of these is a copy. Larger: a
small file may take all memory; smaller: models with many overlapping views of a weight are refused.
An order of magnitude: exported models have one tensor for each weight, or a few views."""


class MalformedArchive(Exception):
    """A file that is no program of `torch.export`, or one that is not read: why, in words."""


class Archive:
    """A `.pt2` file."""

    def __init__(self, input: IO[bytes]) -> None:
        """Raises MalformedArchive for a file that is no archive with one program."""
        file = input if input.seekable() else BytesIO(input.read())
        self._unread = file.seek(0, SEEK_END)
        """The bytes of the file that no entry has had: those of entries do not overlap."""
        try:
            self._zip = ZipFile(file)
        except (BadZipFile, NotImplementedError) as error:
            raise MalformedArchive(f"no archive of torch.export: {error}") from None
        self._names = {name.partition("/")[2]: name for name in self._zip.namelist()}
        models = [n for n in self._names if n.startswith("models/") and n.endswith(".json")]
        if len(models) != 1:
            raise MalformedArchive(f"an archive of torch.export has one program, not {len(models)}")
        self._model = models[0].removeprefix("models/").removesuffix(".json")
        self._memory: dict[str, bytes] = {}
        """The files of weights that have been read: several tensors may share one."""
        self._arrays: dict[tuple[Any, ...], Array] = {}
        """Tensors by their places in memory, so that equal ones are one array."""
        self._cells_left = 0
        """The bytes that tensors may still have: `MOST_USES` of each byte that is read."""

    def _bytes(self, name: str) -> bytes:
        if (full := self._names.get(name)) is None:
            raise MalformedArchive(f"the archive has no {name}")
        entry = self._zip.getinfo(full)
        if entry.compress_type != ZIP_STORED:
            raise MalformedArchive(f"{name} is compressed: torch.export does not do that")
        self._unread -= entry.compress_size
        if self._unread < 0:
            raise MalformedArchive(f"the entries of the archive overlap: {name}")
        try:
            return self._zip.read(full)
        except (BadZipFile, OSError, EOFError, RuntimeError) as error:  # One that is encrypted.
            raise MalformedArchive(f"{name} cannot be read: {error}") from None

    def _json(self, name: str) -> Any:
        try:
            return json.loads(self._bytes(name))
        except (ValueError, RecursionError) as error:
            raise MalformedArchive(f"{name} is not JSON: {error}") from None

    @cached_property
    def program(self) -> Mapping[str, Any]:
        """The program. Raises MalformedArchive for one of another version."""
        found = self._json(f"models/{self._model}.json")
        version = found["schema_version"]["major"]
        if version != MAJOR:
            raise MalformedArchive(
                f"the program has version {version}, and PyTorch {torch.__version__} reads version "
                f"{MAJOR}: export it with this PyTorch"
            )
        return found

    @cached_property
    def _tensors(self) -> Mapping[tuple[str, str], tuple[str, Mapping[str, Any]]]:
        """The file and the description of each tensor, by its kind and name."""
        found: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
        for kind in ("weights", "constants"):
            name = f"data/{kind}/{self._model}_{kind}_config.json"
            entries = self._json(name)["config"] if name in self._names else {}
            for tensor, entry in entries.items():
                found[kind, tensor] = f"data/{kind}/{entry['path_name']}", entry
        return found

    def tensor(self, name: str) -> Array:
        """The elements of a parameter, buffer or constant. Raises MalformedArchive."""
        for kind in ("weights", "constants"):
            if (found := self._tensors.get((kind, name))) is not None:
                return self._array(name, *found)
        raise MalformedArchive(f"the archive has no tensor {name}")

    def _array(self, name: str, file: str, entry: Mapping[str, Any]) -> Array:
        if entry["use_pickle"]:
            raise MalformedArchive(f"{name} is pickled, and unpickling executes what a file says")
        meta = entry["tensor_meta"]
        dtype = numpy_dtype_of(meta["dtype"])
        shape, strides = (_integers(meta[key]) for key in ("sizes", "strides"))
        (offset,) = _integers([meta["storage_offset"]])
        key = file, dtype, shape, strides, offset
        if (known := self._arrays.get(key)) is not None:
            return known
        if file not in self._memory:
            self._memory[file] = self._bytes(file)
            self._cells_left += MOST_USES * len(self._memory[file])
        data = self._memory[file]
        memory = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
        if min((*shape, *strides, offset), default=0) < 0 or len(shape) != len(strides):
            raise MalformedArchive(f"{name} has the shape {shape} and the strides {strides}")
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        if 0 in shape:
            return np.empty(shape, dtype)
        if last >= len(memory):
            raise MalformedArchive(f"{name} of shape {shape} is larger than its memory")
        if math.prod(shape) > len(memory):
            raise MalformedArchive(f"{name} of shape {shape} repeats its cells")
        self._cells_left -= math.prod(shape) * dtype.itemsize
        if self._cells_left < 0:
            raise MalformedArchive(
                f"the tensors up to {name} have more than {MOST_USES} times the elements of their "
                "memory: export the model with one tensor for each of its weights"
            )
        in_bytes = [stride * dtype.itemsize for stride in strides]
        view = np.lib.stride_tricks.as_strided(memory[offset:], shape, in_bytes, writeable=False)
        array = self._arrays[key] = np.ascontiguousarray(view).reshape(shape)
        return array


def dtype_of(number: int) -> torch.dtype:
    """The dtype of a number. Raises MalformedArchive for one that no program has."""
    if (found := DTYPES.get(number)) is None:
        names = {each.value: each.name for each in schema.ScalarType}
        raise MalformedArchive(f"no program has the dtype {names.get(number, number)}")
    return found


def numpy_dtype_of(number: int) -> np.dtype[Any]:
    """`dtype_of`, as NumPy's."""
    return dtype_named(str(dtype_of(number)).removeprefix("torch."))


def _integers(entries: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    found = tuple(entry["as_int"] for entry in entries)
    if not all(isinstance(number, int) and abs(number) < 2**63 for number in found):
        raise MalformedArchive(f"no sizes or strides are {found}")
    return found
