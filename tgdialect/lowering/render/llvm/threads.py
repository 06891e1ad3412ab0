"""Programs with a THREAD axis: a body that every thread runs, and a driver that starts the threads.

Threads take iterations from shared counters: dynamic scheduling. A thread that is slowed down takes
fewer; without other threads, one takes all. The calling thread takes the first half, the others
the second one. So one kernel after the other has the same half in the L2 of the same core. Both go
up, because what an iteration prefetches (`streams.py`) is for the next one. A thread that has
finished its half takes iterations of the other half, the last ones first.
`tgdialect/runtime/threads.py` defines the external variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.llvm_dialect.atomics import AtomicRMWOp
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

_HALF = 32
"""The bits of a counter. A loop has fewer iterations: chunks of work, some for each thread."""


class SharedFrame:
    """The memory that the threads of a program share: the counters, the thread that calls, then the
    arguments.

    The counters are the halves of one word, so that both are read and one is added to at once: how
    many iterations the calling thread has taken, and how many the others have. They have a cache
    line of their own, because all threads write to it; each thread reads the other word of the line
    once.
    """

    def __init__(self, emitter: LLVMEmitter, types: Sequence[Attribute], cache_line: int) -> None:
        """`emitter` is that of the function that every thread runs."""
        self._cache_line = cache_line
        self._emitter = emitter
        self._types = types
        (self._pointer,) = emitter.arguments
        caller = emitter.load(_caller(emitter, self._pointer), i64, _SLOT)
        self._is_caller = emitter.compare("eq", caller, _this_thread(emitter))

    def arguments(self) -> Iterator[SSAValue]:
        e = self._emitter
        for i, type in enumerate(self._types):
            yield e.load(
                e.offset(self._pointer, e.number(_offset(i, self._cache_line)), i8), type, _SLOT
            )

    def take(self, bound: SSAValue) -> SSAValue:
        """The number of the next iteration of a loop, an i64; the bound if there is none left."""
        e = self._emitter
        one = e.select(self._is_caller, e.number(1), e.number(1 << _HALF))
        self._emitter.insert(op := AtomicRMWOp("add", self._pointer, one))
        first = e.binary(llvm.AndOp, op.res, e.number((1 << _HALF) - 1))
        last = e.binary(llvm.LShrOp, op.res, e.number(_HALF))
        own, zero = e.select(self._is_caller, first, last), e.number(0)
        half = e.binary(llvm.LShrOp, bound, e.number(1))
        rest = e.binary(llvm.SubOp, bound, half)
        # Up through the own half, then from the last one down through what is left of the other.
        up = e.binary(llvm.AddOp, own, e.select(self._is_caller, zero, half))
        end = e.binary(llvm.AddOp, bound, e.number(-1))
        end = e.binary(llvm.AddOp, end, e.select(self._is_caller, half, zero))
        is_own = e.compare("slt", own, e.select(self._is_caller, half, rest))
        number = e.select(is_own, up, e.binary(llvm.SubOp, end, own))
        taken = e.binary(llvm.AddOp, first, last)
        return e.select(e.compare("slt", taken, bound), number, bound)


def _caller(emitter: LLVMEmitter, frame: SSAValue) -> SSAValue:
    """Where a frame says which thread calls."""
    return emitter.offset(frame, emitter.number(_SLOT), i8)


def _this_thread(emitter: LLVMEmitter) -> SSAValue:
    """A number that no other thread of the process has: the address of its own variables."""
    own = emitter.intrinsic("llvm.thread.pointer", (), POINTER)
    return emitter.emit(llvm.PtrToIntOp, (own,), i64)


def _offset(argument: int, cache_line: int) -> int:
    return max(cache_line, 2 * _SLOT) + _SLOT * argument


def driver(name: str, body: str, types: Sequence[Attribute], cache_line: int) -> llvm.FuncOp:
    """The driver: packs its arguments into a context, and runs the body on all threads."""
    e = LLVMEmitter(name, types, "no_inline")
    context = e.allocate(_offset(len(types), cache_line), max(cache_line, _SLOT))
    for i, argument in enumerate(e.arguments):
        e.store(argument, e.offset(context, e.number(_offset(i, cache_line)), i8), _SLOT)
    e.store(_this_thread(e), _caller(e, context), _SLOT)
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
    return [llvm.GlobalOp(POINTER, PARALLEL, "external"), llvm.GlobalOp(i32, THREADS, "external")]
