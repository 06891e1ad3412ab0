"""`.pt2` files of `torch.export` as an input format."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from tgdialect.diagnostics import CompilationError, Diagnostic


@dataclass(frozen=True)
class Pt2Frontend(Frontend):
    """Reads programs that `torch.export.save` has written."""

    name = "pt2"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Raises CompilationError with all that is refused in a program."""
        if find_spec("torch") is None:
            message = "programs of torch.export need PyTorch: pip install 'tgdialect[torch]'"
            raise CompilationError(Diagnostic(message, file=input_name))
        from tgdialect.interop.torch.export import module_of

        return module_of(input, input_name)
