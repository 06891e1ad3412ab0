"""A model of ONNX, read and checked."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from io import BytesIO
from mmap import ACCESS_READ, mmap
from stat import S_ISREG
from typing import IO, Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import (
    IR_VERSION,
    FunctionProto,
    GraphProto,
    ModelProto,
    OperatorSetIdProto,
    SparseTensorProto,
    TensorProto,
    defs,
    numpy_helper,
)
from onnx import __version__ as onnx_version

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.interop.onnx.values import Refused, Value
from tgdialect.interop.onnx.weights import check_dims, external_array, without_weights
from tgdialect.ops.data_files import FileData
from tgdialect.ops.numpy_dtypes import Array

DOMAINS = {"ai.onnx": ""}
"""The other names of domains."""


def opsets_of(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """The version of each domain."""
    return {DOMAINS.get(o.domain, o.domain): o.version for o in imports}


class Model:
    """A model, and the file that it is from."""

    def __init__(
        self, proto: ModelProto, file: str | None = None, own: FileData | None = None
    ) -> None:
        """Raises CompilationError for a model without a graph, or of unknown versions."""
        self.proto = proto
        self.file = file
        self._own = own
        """The bytes of the file as they were read, if elements of tensors are still in them."""
        self._files: dict[str, FileData] = {}
        """A part of each file of external data that has been read, by its location."""
        self._folder = os.path.dirname(os.path.abspath(file)) if file else os.getcwd()
        """The folder of the model, in which its external data are."""
        if (reason := _reason_against(proto)) is not None:
            raise CompilationError(Diagnostic(reason, file=file))

    @staticmethod
    def read(source: str | os.PathLike[str] | IO[bytes], file: str | None = None) -> Model:
        """The model of a file. Raises CompilationError for one that is malformed."""
        name = file or (os.fspath(source) if isinstance(source, str | os.PathLike) else None)
        try:
            if isinstance(source, str | os.PathLike):
                with open(source, "rb") as opened:
                    return Model(*_message(opened, name))
            return Model(*_message(source, name))
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
        _check_type(tensor)
        check_dims(tensor.dims)
        if tensor.HasField("segment"):
            raise Refused("a tensor in segments is not supported: store it as a whole")
        if tensor.data_location == TensorProto.EXTERNAL:
            return external_array(tensor, self._folder, self._own, self._files)
        try:
            return numpy_helper.to_array(tensor)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            shape = tuple(tensor.dims)
            raise Refused(f"its elements do not fit the shape {shape}: {error}") from None

    def sparse_constant(self, tensor: SparseTensorProto) -> Array:
        """The array of a sparse tensor, dense. Raises Refused."""
        values, indices = self.constant(tensor.values), self.constant(tensor.indices)
        assert isinstance(values, np.ndarray)
        assert isinstance(indices, np.ndarray)
        check_dims(tensor.dims)
        shape = tuple(tensor.dims)
        if math.prod(shape) > MOST_DENSE:
            raise Refused(f"a sparse tensor of shape {shape} has more than {MOST_DENSE} elements")
        if values.ndim != 1 or indices.dtype != np.int64 or indices.ndim not in (1, 2):
            raise Refused("a sparse tensor has a vector of values, and indices of INT64")
        found = np.zeros(shape, values.dtype)
        if indices.shape not in ((len(values),), (len(values), len(shape))):
            wanted = f"{len(values)} values of shape {shape}"
            raise Refused(f"indices of shape {indices.shape} do not fit {wanted}")
        bounds = found.size if indices.ndim == 1 else np.array(shape)
        if ((indices < 0) | (indices >= bounds)).any():
            raise Refused(f"an index of a sparse tensor is outside of its shape {shape}")
        where = np.unravel_index(indices, shape) if indices.ndim == 1 else tuple(indices.T)
        found[where] = values
        return found


MOST_DENSE = 1 << 24
"""The most elements of a sparse tensor, which becomes a dense one. Larger: small files that take
much memory; smaller: models that are refused."""

_MOST_VERSION = 2**31 - 1
"""The greatest version of an opset that the package onnx takes."""


def _check_type(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.STRING:
        raise Refused("strings are not supported")
    if tensor.data_type not in TensorProto.DataType.values() or not tensor.data_type:
        raise Refused(f"there is no element type {tensor.data_type}")


def _reason_against(proto: ModelProto) -> str | None:
    """The first fact against the model as a whole, if there is one."""
    if not proto.HasField("graph"):
        return "no model of ONNX: it has no graph"
    if not proto.graph.output:
        return "the graph has no outputs"
    graph = proto.graph
    texts: list[Any] = [v.name for v in (*graph.input, *graph.output, *graph.initializer)]
    if any(isinstance(name, bytes) for name in texts):
        return "a name of the graph is not in UTF-8"
    if not 1 <= proto.ir_version <= IR_VERSION:
        return (
            f"the version {proto.ir_version} of the format is not known: the package onnx "
            f"{onnx_version} reads versions 1 to {IR_VERSION}"
        )
    newest = defs.onnx_opset_version()
    for opset in proto.opset_import:
        is_default = opset.domain in ("", "ai.onnx")
        if not 1 <= opset.version <= (newest if is_default else _MOST_VERSION):
            known = f": the package onnx {onnx_version} has opsets 1 to {newest}"
            if opset.version > newest:
                known += "; install a newer package onnx, or export the model with an older opset"
            shown = opset.domain[:100] or "ai.onnx"
            return f"opset {opset.version} of {shown} is not known{known if is_default else ''}"
    for kind, names in (
        ("inputs", [i.name for i in proto.graph.input]),
        ("functions", [(f.domain, f.name, f.overload) for f in proto.functions]),
    ):
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            return f"two {kind} have the name {str(twice)[:400]!r}"
    return None


def _message(source: IO[bytes], name: str | None) -> tuple[ModelProto, str | None, FileData | None]:
    """The message of a file, the file's name, and its bytes if the elements of large tensors are in
    them and not in the message. Raises DecodeError, ValueError and OSError."""
    proto = ModelProto()
    try:
        status = os.fstat(source.fileno())
        is_named = S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(name or ""))
    except (OSError, ValueError, AttributeError):
        is_named, status = False, None
    if not is_named or not (status and status.st_size):  # Parts of it cannot be named, or mapped.
        contents = BytesIO()
        while part := source.read(1 << 20):
            contents.write(part)
            if contents.tell() > _MOST_READ:
                raise ValueError(f"it has more than {_MOST_READ} bytes: name the file")
        proto.ParseFromString(contents.getvalue())
        return proto, name, None
    folder, last = os.path.split(os.path.realpath(name or ""))  # `name` may be a link.
    own = FileData.of(folder, last, 0, status.st_size)
    data = mmap(source.fileno(), 0, access=ACCESS_READ)
    with data, memoryview(data) as view:
        proto.ParseFromString(without_weights(view))
    return proto, name, own


_MOST_READ = 2**31 - 1
"""The most bytes of a message that is read from a stream: Protocol Buffers have no longer ones."""
