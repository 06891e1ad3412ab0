"""The kernels of a compiled program: their OptOps, LLVM IR, assembly and amount of work."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from tgdialect.analysis.estimates import estimate
from tgdialect.lowering.render.threads import body_name
from tgdialect.ops.call import CallOp
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.ordering import LinearOp, SinkOp
from tgdialect.runtime.program import Program


@dataclass(frozen=True)
class Kernel:
    """One kernel of a compiled program.

    `opts` are the OptOps that were applied to it, `source` its LLVM IR, `asm` its assembly. `flops`
    and `bytes` are the work of one call (`analysis/estimates.py`).
    """

    name: str
    opts: tuple[str, ...]
    flops: int
    bytes: int
    source: str = field(repr=False)
    asm: str = field(repr=False)


class Compilation(Protocol):
    """The compilation of a program, for inspection. `build.Build` implements it."""

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Each kernel, in the order of the calls."""
        ...

    @property
    def programs(self) -> Mapping[str, ProgramOp]:
        """The linear programs of the kernels, in order, by their names."""
        ...

    def module(self, stage: str) -> ModuleOp:
        """The module after the last stage of that name. Raises ValueError if there is none."""
        ...

    def profiled(self) -> Program:
        """The program, compiled to record the time of each kernel (`profile.py`)."""
        ...


def kernels_of(function: FuncOp, ir: str, asm: str) -> Sequence[Kernel]:
    """The kernels that a function at level `linear` calls, each once, in order.

    `ir` and `asm` are those of the whole program.
    """
    kernels: dict[str, Kernel] = {}
    for call in function.walk():
        if not isinstance(call, CallOp):
            continue
        program = SymbolTable.lookup_symbol(call, call.callee)
        if isinstance(program, ProgramOp) and (name := program.sym_name.data) not in kernels:
            work = estimate(program.linear)
            functions = (body_name(name), name)  # The first one exists if it has threads.
            source = "\n\n".join(filter(None, (_definition(ir, f) for f in functions)))
            code = "\n".join(filter(None, (_code(asm, f) for f in functions)))
            kernels[name] = Kernel(name, _opts(program.linear), *work, source, code)
    return list(kernels.values())


def _opts(linear: LinearOp) -> tuple[str, ...]:
    sink = linear.body.block.last_op
    opts = sink.opts if isinstance(sink, SinkOp) else None
    return tuple(str(opt) for opt in opts or ())


def _definition(ir: str, name: str) -> str:
    """A function of LLVM IR: from `define` to the brace that ends it."""
    found = re.search(
        rf'^define [^\n]*@"?{re.escape(name)}"?\(.*?^}}', ir, re.DOTALL | re.MULTILINE
    )
    return found[0] if found else ""


def _code(asm: str, name: str) -> str:
    """A function of assembly: from its label to where its size is given, or the next function."""
    pattern = rf'^_?"?{re.escape(name)}"?:.*?(?=^\s*\.size|^\s*\.globl|\Z)'
    found = re.search(pattern, asm, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""
