"""`.onnx` files as an input format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.input_formats import ComparedFrontend, Peer


def _number(text: str) -> float:
    """The number of a text: an integer of any size, or a finite float. Raises ValueError."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number


@dataclass(frozen=True)
class OnnxFrontend(ComparedFrontend):
    """Reads models of ONNX, which ONNX Runtime executes as well.

    `fix` has the numbers of inputs and of sizes by their names, as in
    `onnx{fix="sr=16000","batch=1"}`. An input that is fixed is no parameter of the program.
    """

    name = "onnx"

    fix: tuple[str, ...] = ()

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Raises CompilationError with all that is refused in a model."""
        try:
            import_module("onnx")
        except ImportError:
            message = "models of ONNX need the package onnx: pip install 'tgdialect[onnx]'"
            raise CompilationError(Diagnostic(message)) from None
        from tgdialect.interop.onnx.backend import module_of
        from tgdialect.interop.onnx.model import Model

        fixed: dict[str, float] = {}
        for each in self.fix:
            name, _, number = each.rpartition("=")
            try:
                fixed[name] = _number(number)
            except ValueError as error:
                message = f"onnx{{fix={each!r}}}: this is not name=number: {error}"
                raise CompilationError(Diagnostic(message, file=input_name)) from None
        return module_of(Model.read(input, input_name), fixed)

    def peer(self, file: str, inputs: Mapping[str, Any], threads: int) -> Peer | None:
        """ONNX Runtime, for a model and arrays by name, on so many threads of the CPU."""
        try:
            runtime: Any = import_module("onnxruntime")
        except ImportError:
            return None
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        name, given = f"ONNX Runtime {runtime.__version__}", dict(inputs)
        try:
            session = runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
            session.run(None, given)
        except Exception as error:  # Its errors have no class of their own.
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise ValueError(f"{name} does not run it: {reason}") from error
        return Peer(name, lambda: session.run(None, given))
