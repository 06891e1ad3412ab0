"""Memory for what a program derives from constants, as packed weights, which another thread uses
for the first time while the program is compiled.

Its size is known when the program is compiled. But a program that has been edited usually packs as
much as before, so the object cache has the size for the last program with constants of the same
types. A wrong size costs some work of that thread, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tgdialect.runtime.cache import ObjectCache, cache_key
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.memory import PIECE, Ahead, Block
from tgdialect.runtime.program import Program
from tgdialect.targets import Target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

P = TypeVar("P", bound=Program | DeviceProgram)

PREFIX = "memory-"
"""The prefix of these entries' names."""

_CONSTANT = "tg.constant"


def with_constant_memory(
    cache: ObjectCache | None, module: ModuleOp, target: Target, compiled: Callable[[], P]
) -> tuple[P, Block | None]:
    """The program that `compiled` makes of a module, and memory for the values that are derived
    from its constants, if it was known how much that would be."""
    if cache is None or not (constants := _types_of_constants(module)):
        return compiled(), None
    key = PREFIX + cache_key(str(target), *constants)
    known = int(cache.get(key) or 0)
    with Ahead(known) as ahead:
        program = compiled()
    nbytes = max((p.nbytes for p in program.parameters if p.role == "persistent"), default=0)
    if nbytes >= PIECE and nbytes != known:
        cache.put(key, str(nbytes).encode())
    return program, ahead.block


def _types_of_constants(module: ModuleOp) -> Sequence[str]:
    """The types of the arguments and PARAMs that are constants."""
    from tgdialect.analysis.symbols import own_functions  # Late: they import the compiler.
    from tgdialect.ops import tg
    from tgdialect.ops.arguments import argument_attributes

    constants: list[SSAValue] = []
    for function in own_functions(module):
        constants += [a for a in function.args if _CONSTANT in argument_attributes(a)]
        params = [op for op in function.body.block.ops if isinstance(op, tg.ParamOp)]
        constants += [op.result for op in params if _CONSTANT in op.attributes]
    return [str(value.type) for value in constants]
