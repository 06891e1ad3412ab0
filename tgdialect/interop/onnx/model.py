"""A model of ONNX, read and checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from mmap import ACCESS_READ, mmap
from typing import IO

import numpy as np
from google.protobuf.message import DecodeError
from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    OperatorSetIdProto,
    SparseTensorProto,
    TensorProto,
    numpy_helper,
)

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.interop.onnx.values import Refused, Value
from tgdialect.interop.onnx.weights import external_array, folder_of, without_weights
from tgdialect.ops.numpy_dtypes import Array

DOMAINS = {"ai.onnx": ""}
"""The other names of domains."""


def opsets_of(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """The version of each domain."""
    return {DOMAINS.get(o.domain, o.domain): o.version for o in imports}


class Model:
    """A model, and the file that it is from."""

    def __init__(self, proto: ModelProto, file: str | None = None) -> None:
        self.proto = proto
        self.file = file

    @staticmethod
    def read(source: str | os.PathLike[str] | IO[bytes], file: str | None = None) -> Model:
        """The model of a file. Raises CompilationError for one that is malformed."""
        name = file or (os.fspath(source) if isinstance(source, str | os.PathLike) else None)
        try:
            if isinstance(source, str | os.PathLike):
                with open(source, "rb") as opened:
                    return Model(_message(opened, name), name)
            return Model(_message(source, name), name)
        except (DecodeError, ValueError) as error:
            raise CompilationError(Diagnostic(f"no model of ONNX: {error}", file=name)) from error
        except OSError as error:
            reason = error.strerror or error
            raise CompilationError(Diagnostic(f"cannot open: {reason}", file=name)) from error

    @property
    def graph(self) -> GraphProto:
        return self.proto.graph

    @cached_property
    def opsets(self) -> Mapping[str, int]:
        """The version of each domain."""
        return opsets_of(self.proto.opset_import)

    @cached_property
    def functions(self) -> Mapping[tuple[str, str, str], FunctionProto]:
        """The model's own functions by domain, name and overload."""
        return {(f.domain, f.name, f.overload): f for f in self.proto.functions}

    def constant(self, tensor: TensorProto) -> Value:
        """The array of a tensor. Raises Refused."""
        if tensor.data_type == TensorProto.STRING:
            raise Refused("strings are not supported")
        if tensor.data_location == TensorProto.EXTERNAL:
            return external_array(tensor, folder_of(self.file))
        return numpy_helper.to_array(tensor)

    def sparse_constant(self, tensor: SparseTensorProto) -> Array:
        """The array of a sparse tensor, dense."""
        values = numpy_helper.to_array(tensor.values)
        indices = numpy_helper.to_array(tensor.indices)
        found = np.zeros(tuple(tensor.dims), values.dtype)
        where = np.unravel_index(indices, found.shape) if indices.ndim == 1 else tuple(indices.T)
        found[where] = values
        return found


def _message(source: IO[bytes], name: str | None) -> ModelProto:
    """The message of a file, without the elements of large tensors. Raises DecodeError, ValueError
    and OSError."""
    proto = ModelProto()
    try:
        data = mmap(source.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError, AttributeError):  # It is no regular file, or empty.
        proto.ParseFromString(source.read())
        return proto
    with data, memoryview(data) as view:
        proto.ParseFromString(without_weights(view, os.path.basename(name or "")))
    return proto
