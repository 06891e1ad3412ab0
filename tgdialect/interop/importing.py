"""Shared by importers: names, symbolic sizes, constants, and a program as a module.

An importer calls methods of `Tensor` on stand-ins for the inputs. The trace of that is a
`func.func` on tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from math import isfinite
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import named
from tgdialect.frontend.function import traceable
from tgdialect.frontend.graph import apply, sorted_nodes
from tgdialect.frontend.lowered import Lowered, Spec
from tgdialect.frontend.realization import as_array, insert_nodes
from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.source import parameters


def identifiers(names: Sequence[str]) -> list[str]:
    """Identifiers for names, one each: other characters become `_`, and equal ones get a number."""
    found: dict[str, None] = {}
    for name in names:
        base = re.sub(r"\W", "_", name, flags=re.ASCII)
        base = candidate = base if base[:1].isalpha() or base[:1] == "_" else f"_{base}"
        number = 0
        while candidate in found:
            number += 1
            candidate = f"{base}_{number}"
        found[candidate] = None
    return list(found)


def constant(array: Array) -> Tensor:
    """A tensor of the elements of an array, which the program carries as a BINARY; a CONST if all
    elements are equal. Shape and dtype are the array's.

    A vector of one float other than a multiple of 1/64 is taken for a weight and stays a BINARY:
    layers that differ in weights alone share a kernel. Formulas have scalars and short fractions.
    """
    if array.size == 0:
        return Tensor.zeros(*array.shape, dtype=array.dtype)
    data = np.ascontiguousarray(array)
    bytes_ = data.tobytes()
    is_weight = array.size == 1 <= array.ndim and array.dtype.kind == "f" and not _is_short(array)
    if bytes_ == bytes_[: array.itemsize] * array.size and not is_weight:
        return Tensor.full(array.shape, array.flat[0].item(), dtype=array.dtype)
    dtype = dtypes.to_dtype(array.dtype)
    if dtype == dtypes.bool_:
        return constant(data.view(np.uint8)).cast(dtype).reshape(array.shape)
    binary = Tensor.of_node(apply(tg.BinaryDataOp, bytes_))
    return binary.bitcast(dtype).reshape(array.shape)


def _is_short(array: Array) -> bool:
    """Whether a float is a multiple of 1/64, an infinity or NaN."""
    scaled = float(array.item()) * 64
    return not isfinite(scaled) or scaled.is_integer()


def constant_in_file(array: Array, contents: tg.DataAttr) -> Tensor:
    """A tensor of the elements of an array that are bytes of a file: the program names them."""
    dtype = dtypes.to_dtype(array.dtype)
    binary = Tensor.of_node(apply(tg.BinaryDataOp, contents))
    flat = binary != 0 if dtype.is_bool else binary.bitcast(dtype)
    return flat.reshape(array.shape)


def sizes_tensor(sizes: Sequence[Any], dtype: Any = np.int64) -> Tensor:
    """A vector of sizes, symbolic ones as well."""
    parts = [
        SymInt.as_tensor(size).cast(dtypes.to_dtype(dtype))
        if isinstance(size, SymInt)
        else Tensor.full((), int(size), dtype=dtype)
        for size in sizes
    ]
    return Tensor.stack(*parts) if parts else Tensor.zeros(0, dtype=dtype)


def lowered(
    function: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    inputs: Mapping[str, Spec],
    entry: str = "main",
    target: str | None = None,
) -> Lowered:
    """A function from tensors to tensors, traced for inputs of these names, shapes and dtypes."""
    names = identifiers(list(inputs))

    def call(*args: Tensor, **by_name: Tensor) -> Any:
        given = [*args, *by_name.values()]
        return tuple(function([named(t, name) for t, name in zip(given, inputs, strict=True)]))

    call.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return traceable(call).lowered(list(inputs.values()), {}, entry, target)


def standalone(program: Lowered) -> ModuleOp:
    """The program of a file: tensors that its function has captured, which are tables of methods,
    are no arguments of it but constants."""
    module = program.source
    if not (captured := program.captured):
        return module
    entry = SymbolTable.lookup_symbol(module, program.entry)
    assert isinstance(entry, FuncOp)
    arguments = parameters(entry.body.block)
    for op, tensor in zip(arguments[-len(captured) :], captured, strict=True):
        node = constant(as_array(tensor.node)).node
        values = insert_nodes(tg.OpBuilder.before(op), sorted_nodes([node]), {})
        op.result.replace_all_uses_with(values[node])
        op.detach()
        op.erase()
    return module
