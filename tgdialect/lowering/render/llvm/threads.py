"""Programs with a THREAD axis: a body that every thread runs, and a driver that starts the threads.

Threads take iterations from a shared counter: dynamic scheduling. A thread that is slowed down
takes fewer; without other threads, one takes all. `tgdialect/runtime/threads.py` defines the
external variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.llvm_dialect import AtomicRMWOp
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import POINTER

PARALLEL = "tg_parallel"
"""A pointer to a function with the interface of GOMP_parallel: body, context, threads, flags."""
THREADS = "tg_threads"
"""An i32, the number of threads."""


def body_name(program: str) -> str:
    """The name of the body of a program."""
    return f"{program}.threads"


_SLOT = 8
"""The size and alignment of an argument in a context, in bytes."""


class SharedFrame:
    """The memory that the threads of a program share: the counter, then the arguments.

    The counter has a cache line of its own, because all threads write to it.
    """

    def __init__(self, emitter: LLVMEmitter, types: Sequence[Attribute], cache_line: int) -> None:
        """`emitter` is that of the function that every thread runs."""
        self._cache_line = cache_line
        self._emitter = emitter
        self._types = types
        (self._pointer,) = emitter.arguments

    def arguments(self) -> Iterator[SSAValue]:
        e = self._emitter
        for i, type in enumerate(self._types):
            yield e.load(
                e.offset(self._pointer, e.number(_offset(i, self._cache_line)), i8), type, _SLOT
            )

    def take(self) -> SSAValue:
        """The number of the next iteration, an i64."""
        op = AtomicRMWOp("add", self._pointer, self._emitter.number(1))
        self._emitter.insert(op)
        return op.res


def _offset(argument: int, cache_line: int) -> int:
    return max(cache_line, _SLOT) + _SLOT * argument


def driver(name: str, body: str, types: Sequence[Attribute], cache_line: int) -> llvm.FuncOp:
    """The driver: packs its arguments into a context, and runs the body on all threads."""
    e = LLVMEmitter(name, types, "no_inline")
    context = e.allocate(_offset(len(types), cache_line), max(cache_line, _SLOT))
    for i, argument in enumerate(e.arguments):
        e.store(argument, e.offset(context, e.number(_offset(i, cache_line)), i8), _SLOT)
    threads = e.load(e.address_of(THREADS), i32, 4)
    alone, together, done = e.new_block(), e.new_block(), e.new_block()
    e.branch_if(e.compare("eq", threads, e.number(1, i32)), alone, (), together)
    e.enter(alone)
    e.insert(llvm.CallOp(body, context))
    e.branch(done)
    e.enter(together)
    parallel = e.load(e.address_of(PARALLEL), POINTER, 8)
    e.call_pointer(parallel, (e.address_of(body), context, threads, e.number(0, i32)))
    e.branch(done)
    e.enter(done)
    return e.finish()


def declarations() -> Sequence[Operation]:
    """The variables of the parallel runtime."""
    return [
        llvm.GlobalOp(POINTER, PARALLEL, "external"),
        llvm.GlobalOp(i32, THREADS, "external"),
    ]
