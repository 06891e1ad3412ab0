"""`.onnx` files as an input format."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from tgdialect.diagnostics import CompilationError, Diagnostic


@dataclass(frozen=True)
class OnnxFrontend(Frontend):
    """Reads models of ONNX."""

    name = "onnx"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Raises CompilationError with all that is refused in a model."""
        try:
            import_module("onnx")
        except ImportError:
            message = "models of ONNX need the package onnx: pip install 'tgdialect[onnx]'"
            raise CompilationError(Diagnostic(message)) from None
        from tgdialect.interop.onnx.backend import module_of
        from tgdialect.interop.onnx.model import Model

        return module_of(Model.read(input, input_name))
