"""ONNX: models as programs of `tg`, from opset 7 on, and the operators of `com.microsoft` that
exporters write.

* `plugin.py`: the plug-in; `frontend.py`: `.onnx` files as an input format;
* `backend.py`: `prepare` and `run`, the interface of `onnx.backend.base`;
* `arguments.py`: the arrays of a program that arguments of a model are;
* `dtypes.py`: element types, and casts; `folding.py`: arithmetic on known values;
* `model.py`: reads and checks a model; `importer.py`: its graph on tensors, node by node;
* `extents.py`: what sizes have in common; `weights.py`: elements that stay in files;
* `values.py`: values of a graph that are known while it is imported, and questions about others;
* `schemas.py`: operands and attributes of operators, which nodes have to have;
* `rules.py`: how an operator is written down; `table.py`: all of them; `ops/`: them, by families.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tgdialect.interop.onnx.backend import Backend, Prepared, prepare, run_model

__all__ = ["Backend", "Prepared", "prepare", "run_model"]


def __getattr__(name: str) -> Any:
    # The plug-in is loaded by every tool, and the package onnx by those that read a model.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("tgdialect.interop.onnx.backend"), name)
