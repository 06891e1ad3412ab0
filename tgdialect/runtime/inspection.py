"""The kernels of a compiled program: their OptOps, LLVM IR, assembly, amount of work and time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from tgdialect.analysis.estimates import estimate
from tgdialect.diagnostics import called_at, fused, names_text
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.lowering.render.llvm.threads import body_name
from tgdialect.lowering.render.names import OBJECT
from tgdialect.ops import tg


@dataclass(frozen=True)
class Kernel:
    """One kernel of a compiled program.

    `opts` are the OptOps that were applied to it, `source` its LLVM IR or, on a device, its source
    text, `asm` its assembly. `flops`
    and `bytes` are the work of one call (`analysis/estimates.py`). `nodes` names the nodes that it
    computes of an imported program, that of its result first, as errors do.
    """

    name: str
    opts: tuple[str, ...]
    flops: int
    bytes: int
    source: str = field(repr=False)
    asm: str = field(repr=False)
    nodes: str = ""


def _calls(op: Operation) -> Sequence[tg.CallOp]:
    """The CALLs in the regions of an op, the last first."""
    return [each for each in reversed(nested_ops(op)) if isinstance(each, tg.CallOp)]


CodeOf = Callable[[str], tuple[str, str]]
"""From the name of a kernel to its source and its assembly."""


def kernels_of(function: FuncOp, code_of: CodeOf) -> Sequence[Kernel]:
    """The kernels that a function at level `linear` calls, each once, in order. In place of a
    kernel that calls others, those are listed."""
    kernels: dict[str, Kernel] = {}
    locations: dict[str, list[LocationAttr]] = {}
    calls = [(op, op.location) for op in _calls(function)]
    while calls:
        call, location = calls.pop()
        program = SymbolTable.lookup_symbol(call, call.callee)
        if not isinstance(program, tg.ProgramOp):
            continue
        name = program.sym_name.data
        locations.setdefault(name, [program.location]).append(location)
        if name in kernels:
            continue
        if program.calls:
            calls += [(op, called_at(op.location, location)) for op in _calls(program.linear)]
            continue
        work = estimate(program.linear)
        kernels[name] = Kernel(name, _opts(program.linear), *work, *code_of(name))
    nodes = {name: names_text(fused(found)) or "" for name, found in locations.items()}
    return [replace(kernel, nodes=nodes[name]) for name, kernel in kernels.items()]


def host_code(ir: str, asm: str) -> CodeOf:
    """The code of kernels that are functions of LLVM IR and its assembly."""

    def code_of(name: str) -> tuple[str, str]:
        symbol = OBJECT.symbol(name)
        functions = (body_name(symbol), symbol)  # The first one exists if it has threads.
        source = "\n\n".join(filter(None, (_definition(ir, f) for f in functions)))
        return source, "\n".join(filter(None, (code_in(asm, f) for f in functions)))

    return code_of


def _opts(linear: tg.LinearOp) -> tuple[str, ...]:
    sink = linear.body.block.last_op
    opts = sink.opts if isinstance(sink, tg.SinkOp) else None
    return tuple(str(opt) for opt in opts or ())


def _definition(ir: str, name: str) -> str:
    """A function of LLVM IR: from `define` to the brace that ends it."""
    found = re.search(rf"^define [^\n]*@{re.escape(name)}\(.*?^}}", ir, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def code_in(asm: str, name: str) -> str:
    """A function of assembly: from its label to where its size is given, or the next function."""
    pattern = rf"^_?{re.escape(name)}:.*?(?=^\s*\.size|^\s*\.globl|\Z)"
    found = re.search(pattern, asm, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


@dataclass(frozen=True)
class KernelTime:
    """The time that a kernel takes in one run of its program.

    `calls` is the number of calls in a run and `seconds` their total time, as the median over the
    runs. A kernel that packs constant arguments is called in the first run only (`is_once`); it has
    the time of that run, and no share. `share` is the fraction of the time in kernels. `flops` and
    `bytes` are those of all calls. `nodes` is that of the `Kernel`.
    """

    name: str
    calls: int
    seconds: float
    share: float
    is_once: bool
    flops: int
    bytes: int
    opts: tuple[str, ...]
    nodes: str = ""

    @property
    def gflops(self) -> float:
        """Billions of floating-point operations per second."""
        return self.flops / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gbytes(self) -> float:
        """Billions of bytes per second to and from memory."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0
