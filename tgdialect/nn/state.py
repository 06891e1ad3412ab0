"""The tensors of an object by name, and safetensors files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np

from tgdialect.frontend.function import Function
from tgdialect.frontend.tensor import Tensor

StateDict = dict[str, Tensor]


def get_state_dict(obj: Any, prefix: str = "") -> StateDict:
    """The tensors in an object's attributes, lists, tuples and dicts, by their paths, as
    `layers.0.weight`. A tensor that occurs twice has both names. Traced functions have none."""
    found: StateDict = {}
    _collect(obj, prefix.strip("."), found, set())
    return found


def _collect(obj: Any, path: str, found: StateDict, inside: set[int]) -> None:
    if isinstance(obj, Tensor):
        found[path] = obj
        return
    if isinstance(obj, Function):
        return
    if id(obj) in inside:
        raise RecursionError(f"{path} holds itself")
    entries: Mapping[Any, Any]
    if isinstance(obj, Mapping):
        entries = cast("Mapping[Any, Any]", obj)
    elif isinstance(obj, list | tuple):
        entries = dict(enumerate(cast("Sequence[Any]", obj)))
    else:
        entries = cast("Mapping[Any, Any]", getattr(obj, "__dict__", {}))
    for name, value in entries.items():
        place = f"{path}.{name}" if path else str(name)
        _collect(value, place, found, {*inside, id(cast(object, obj))})


def get_parameters(obj: Any) -> list[Tensor]:
    """The tensors of an object."""
    return list(get_state_dict(obj).values())


def load_state_dict(
    model: Any, state_dict: Mapping[str, Tensor], strict: bool = True, verbose: bool = True
) -> None:
    """Assign tensors to those of a model by name.

    A scalar may be stored with one axis. Raises KeyError if `strict` and a name is missing in
    either, ValueError for different shapes.
    """
    own = get_state_dict(model)
    if strict and (missing := own.keys() - state_dict.keys()):
        raise KeyError(f"the state has no {', '.join(sorted(missing))}")
    if strict and (unknown := state_dict.keys() - own.keys()):
        raise KeyError(f"the model has no {', '.join(sorted(unknown))}")
    shared = [name for name in own if name in state_dict]
    for name in shared:
        shapes = {own[name].shape, state_dict[name].shape}
        if len(shapes) > 1 and not shapes <= {(), (1,)}:
            raise ValueError(f"{name} is {own[name].shape}, in the state {state_dict[name].shape}")
    for name in shared:
        own[name].assign(state_dict[name].cast(own[name].dtype).reshape(own[name].shape))
    if verbose and len(shared) < len(own):
        print(f"{len(own) - len(shared)} of {len(own)} tensors are not in the state")


def safe_save(
    tensors: Mapping[str, Tensor],
    fn: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write tensors to a safetensors file."""
    from safetensors.numpy import save_file

    if tensors:
        first, *others = tensors.values()
        first.realize(*others)
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    save_file(arrays, os.fspath(fn), None if metadata is None else dict(metadata))


_OF_SAFETENSORS = {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}
"""The dtypes that the library writes and cannot read as arrays of NumPy, by its names."""


def safe_load(fn: str | os.PathLike[str]) -> StateDict:
    """Read a safetensors file, of any dtype that `safe_save` writes. Raises OSError, and ValueError
    for a malformed file or another dtype."""
    from safetensors import SafetensorError

    library: Any = import_module("safetensors")  # Its types are not known.
    path = os.fspath(fn)
    arrays: dict[str, Any] = {}
    try:
        with library.safe_open(path, "np") as file:
            names: list[str] = file.keys()
            kinds = {name: file.get_slice(name).get_dtype() for name in names}
            for name, kind in kinds.items():
                if kind not in _OF_SAFETENSORS:
                    arrays[name] = file.get_tensor(name)
        if len(arrays) < len(kinds):
            for name, entry in library.deserialize(Path(path).read_bytes()):
                if name not in arrays:
                    dtype = getattr(ml_dtypes, _OF_SAFETENSORS[entry["dtype"]])
                    arrays[name] = np.frombuffer(entry["data"], dtype).reshape(entry["shape"])
        return {name: Tensor(arrays[name]) for name in kinds}
    except (SafetensorError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None
