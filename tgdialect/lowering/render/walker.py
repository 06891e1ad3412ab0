"""The walk over a LINEAR: each op in order, to any output language.

This file says what each op does; an `Output` says how it is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Any, Generic

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.lanes import only_locates
from tgdialect.analysis.constants import constants
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import register_loops
from tgdialect.analysis.symbols import symbols_around
from tgdialect.custom import REGISTERED, signature_of_call, signature_of_custom
from tgdialect.diagnostics import locate, noted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.lacking import forms_of
from tgdialect.lowering.render.calls import Requirement, check_call
from tgdialect.lowering.render.dynamic_local import local_alignment
from tgdialect.lowering.render.matrix_factors import Stay, is_factor, overwritten, stays
from tgdialect.lowering.render.memory import MemoryViews
from tgdialect.lowering.render.output import Output, PointerView, V, refusal
from tgdialect.ops import tg
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import show_dim
from tgdialect.targets import Target
from tgdialect.targets.local_factors import CORE_BYTES
from tgdialect.targets.matrix import MatrixInstruction, instruction_of
from tgdialect.work_items.async_copies import AsyncCopies, async_copies

_ELEMENTWISE = frozenset({*PRIMITIVES, *DECOMPOSED, tg.BitcastOp})


Alignments = dict[tuple[str, int], int]
"""The alignment of memory that is an argument of a program, by the program's name and slot."""


class LinearWalker(Generic[V]):
    """Appends the ops of one function to an output, in order."""

    def __init__(
        self,
        output: Output[V],
        target: Target,
        programs: Mapping[str, Sequence[Requirement]] = MappingProxyType({}),
        alignments: Alignments | None = None,
    ) -> None:
        """`programs` are those that may be called; `alignments` gets those of the arguments of the
        CALLs."""
        self._output = output
        self._target = target
        self._programs = programs
        self._handlers = _HANDLERS
        self._values: dict[SSAValue, V] = {}
        self._intervals = MinMax()
        self._memory = MemoryViews(output, self._intervals, self._values, target)
        self._rows: dict[SSAValue, Sequence[V]] = {}
        """The vectors of values that have two axes."""
        self._copies = AsyncCopies()
        self._readers = 0
        """The most threads of a WMMA that reads LOCAL memory; 0 if none does."""
        self._matrices: set[SSAValue] = set()
        """The factors in memory that nothing can have overwritten since their LOADs."""
        self._overwritten: Set[Operation] = frozenset()
        """LOADs of memory that a later op writes, if one thread reads factors from memory."""
        self._in_place: Mapping[Operation, Stay] = {}
        """WMMAs that add to a REG buffer, the LOADs and STOREs of it, and the loops in which the
        sums stay in registers."""
        self._unrolled: Set[tg.RangeOp] = frozenset()
        self._local_alignment = target.alignment
        self._buffer_bytes = 0
        self._alignments: Alignments = {} if alignments is None else alignments

    def bind(
        self,
        values: Sequence[SSAValue],
        arguments: Sequence[V],
        alignments: Iterable[int | None] = repeat(None),
    ) -> None:
        """Bind parameters to arguments of the function. Memory is aligned to so many bytes, by
        default to those of an element."""
        for value, argument, alignment in zip(values, arguments, alignments, strict=False):
            if tg.is_memory(value):
                self._memory.add(value, argument, alignment)
            else:
                self._values[value] = argument

    def scalars(self, ops: Sequence[Operation], values: Iterable[SSAValue]) -> Sequence[V]:
        """Indices of a program, which some of its ops compute from its bound parameters."""
        self._append(ops)
        return [self._values[value] for value in values]

    def program(self, block: Block, params: Sequence[SSAValue]) -> None:
        """Render the ops of a program. `params` has the bound parameter of each slot."""
        ops = ops_of(block)
        if self._target.copies_asynchronously:
            self._copies = async_copies(ops)
        configs = (op.config for op in ops if isinstance(op, tg.WmmaOp))
        self._readers = max((c.threads for c in configs if c.shared_shapes), default=0)
        self._local_alignment = local_alignment(ops, self._target)
        if self._readers == 1:
            self._overwritten = frozenset(overwritten(ops))
        if self._readers:
            self._in_place = self._find_in_place(ops)
        if self._target.is_grid:
            self._unrolled = register_loops(ops)
        for op in ops:
            if isinstance(op, tg.ParamOp) and op.result is not (param := params[op.slot.data]):
                if tg.is_memory(param):
                    pointer, known = self._memory.pointer(param), self._memory[param].alignment
                    self._memory.add(op.result, pointer, known)
                else:
                    self._values[op.result] = self._values[param]
        self._append(ops)

    def function(self, function: FuncOp) -> None:
        """Render a host function. Values derived from constant arguments are computed once, guarded
        by a flag at the start of the persistent memory."""
        self._handlers = _HOST_HANDLERS
        ops = list(_in_order(function.body.block))
        kept = [a for a in function.args if "tg.persistent" in tg.argument_attributes(a)]
        if not kept:
            self._append(ops)
            return
        once = dict.fromkeys(constants(function, ops).calls)
        self._append([op for op in ops if not isinstance(op, tg.CallOp)])
        flag = self._memory.pointer(kept[0])
        self._output.begin_once(flag)
        self._append([*once])
        self._output.end_once(flag)
        self._append([op for op in ops if isinstance(op, tg.CallOp) and op not in once])

    def _append(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            if isinstance(op, tg.ParamOp):
                continue
            self._output.location = op.location
            try:
                self._render(op)
            except PassFailedException as error:
                raise locate(error, op) from error

    def _render(self, op: Operation) -> None:
        noted("render", op)
        if (handler := self._handlers.get(type(op))) is not None:
            handler(self, op)
        elif isinstance(op, tg.MovementOp) and op.operands[0] in self._memory:
            self._memory.view(op)
        elif (movement := _MOVEMENTS.get(type(op))) is not None:
            movement(self, op)
        elif type(op) in _ELEMENTWISE:
            if only_locates(op):
                return
            out = self._output
            operands = [self._values[operand] for operand in op.operands]
            lanes = max(map(out.lanes, operands))
            operands = [out.splat(value, lanes) for value in operands]
            self._define(op, out.compute(op, operands, self._intervals))
        else:
            raise refusal(op)

    def _define(self, op: Operation, value: V) -> None:
        result = op.results[0]
        self._values[result] = self._output.define(result, value)

    # -- leaves

    def const(self, op: tg.ConstOp) -> None:
        self._values[op.result] = self._output.constant_of(op.value, tg.dtype_of(op.result))

    def vconst(self, op: tg.VConstOp) -> None:
        if not only_locates(op):
            lanes = [self._output.number(value) for value in tg.integers(op, "values")]
            self._define(op, self._output.stack(lanes))

    def special(self, op: tg.SpecialOp) -> None:
        self._define(op, self._output.special(op, self._values[op.bound]))

    def buffer(self, op: tg.BufferOp) -> None:
        """A REG or LOCAL buffer."""
        type, space = tg.tensor(op.result), tg.place(op.result).addrspace
        if space is tg.AddrSpace.GLOBAL:
            raise PassFailedException("a global buffer has no memory yet: run tg-plan first")
        if not type.has_static_shape():
            raise PassFailedException(f"a buffer in a program has a static shape, not {type}")
        bytes = max(math.prod(type.get_shape()) * tg.dtype_of(op.result).itemsize, 1)
        # A CPU has both kinds on the stack; on a grid REG is in registers.
        if space is tg.AddrSpace.LOCAL or self._target.execution == "loops":
            self._buffer_bytes += bytes
        if self._buffer_bytes > self._target.local:
            raise PassFailedException(
                f"the buffers of this program take {self._buffer_bytes} bytes or more; "
                f"the target {self._target.name} has {self._target.local} for them"
            )
        alignment = self._target.alignment if space is tg.AddrSpace.REG else self._local_alignment
        pointer = self._output.allocate_buffer(op, bytes, alignment)
        self._memory.add(op.result, pointer, alignment)

    # -- memory

    def load(self, op: tg.LoadOp) -> None:
        if self._readers and is_factor(op):
            self._matrix(op)
        elif op not in self._in_place and op not in self._copies.loads.values():
            self._load(op)

    def _matrix(self, op: tg.LoadOp) -> None:
        """A factor that WMMAs read from LOCAL memory: its address stands for it."""
        view = self._memory[op.buffer]
        is_aligned = self._readers == 1 or not view.alignment % CORE_BYTES
        if op.gate is not None or view.elements or not is_aligned:
            raise PassFailedException("a factor of a WMMA is no aligned block of memory")
        if op in self._overwritten:
            raise PassFailedException("a factor of a WMMA is overwritten after its LOAD")
        self._values[op.result] = self._output.address(view)
        self._matrices.add(op.result)

    def _forget_matrices(self) -> None:
        """Other threads may write LOCAL memory from here on."""
        if self._readers > 1:
            self._matrices.clear()

    def _load(self, op: tg.LoadOp) -> None:
        gate, alt = (None if v is None else self._values[v] for v in (op.gate, op.alt))
        self._define(op, self._output.load_view(self._view(op.buffer, op.result), gate, alt))

    def _view(self, buffer: SSAValue, value: SSAValue) -> PointerView[V]:
        """The memory that a value is loaded from, or stored to: of a whole PARAM, all of it."""
        view = self._memory[buffer]
        if not isinstance(buffer.owner, tg.ParamOp):
            return view
        return replace(view, lanes=math.prod(tg.static_shape(tg.tensor(value))))

    def store(self, op: tg.StoreOp) -> None:
        if op in self._in_place:
            return
        if (load := self._copies.loads.get(op)) is not None:
            views = self._memory[op.buffer], self._memory[load.buffer]
            gate = None if load.gate is None else self._values[load.gate]
            if self._output.copy_asynchronously(*views, gate):
                return
            self._load(load)
        out, value, view = self._output, self._values[op.value], self._view(op.buffer, op.value)
        if tg.place(op.buffer).addrspace is not tg.AddrSpace.REG:
            self._forget_matrices()
        if op.gate is None:
            out.store_view(value, view, None)
        elif (lanes := out.lanes(value)) > 1:
            out.store_view(value, view, out.splat(self._values[op.gate], lanes))
        else:
            out.begin_if(self._values[op.gate])
            out.store_view(value, view, None)
            out.end_if()

    def atomic_add(self, op: tg.AtomicAddOp) -> None:
        self._output.add_atomically(self._memory[op.buffer], self._values[op.value])

    # -- vectors

    def stack(self, op: tg.StackOp) -> None:
        sources = [self._values[source] for source in op.sources]
        if tg.static_shape(tg.tensor(op.sources[0])):
            self._rows[op.result] = sources
        else:
            self._define(op, self._output.stack(sources))

    def permute(self, op: tg.PermuteOp) -> None:
        """PERMUTE of a STACK of vectors: a transpose, unless every axis stays where it is. Where
        all columns become one vector, the rows are interleaved."""
        is_identity = list(tg.integers(op, "order")) == sorted(tg.integers(op, "order"))
        if (rows := self._rows.get(op.source)) is not None:
            if not is_identity:
                is_joined = all(isinstance(use.operation, tg.ReshapeOp) for use in op.result.uses)
                out = self._output
                rows = out.interleaved(rows) if is_joined else out.transposed(rows)
            self._rows[op.result] = rows
        else:
            # A vector or scalar has one order of its axes.
            self._values[op.result] = self._values[op.source]

    def lane(self, op: tg.IndexOp) -> None:
        """INDEX by a constant: a lane of a vector, or a vector of a STACK; 0 out of bounds."""
        attribute = constant_attribute(op.indices[0])
        if attribute is None or len(op.indices) > 1:
            raise PassFailedException("a vector is indexed by one constant")
        out, position = self._output, int(tg.number(attribute))
        rows = self._rows.get(op.source)
        if not 0 <= position < tg.static_shape(tg.tensor(op.source))[0]:
            lanes = math.prod(tg.static_shape(tg.tensor(op.result)))
            self._values[op.result] = out.splat(out.zero(tg.dtype_of(op.result)), lanes)
        elif rows is not None:
            self._define(op, rows[position])
        else:
            self._define(op, out.lane(self._values[op.source], position))

    def reshape(self, op: tg.ReshapeOp) -> None:
        """RESHAPE of a scalar to one lane, which is that scalar; of a STACK of vectors to one
        vector."""
        if (parts := self._rows.get(op.source)) is not None:
            self._define(op, self._output.joined(parts))
        else:
            self._values[op.result] = self._values[op.source]

    def expand(self, op: tg.ExpandOp) -> None:
        """A scalar in every lane."""
        lanes = tg.static_shape(tg.tensor(op.result))[0]
        self._define(op, self._output.splat(self._values[op.source], lanes))

    def reduce(self, op: tg.ReduceOp) -> None:
        self._define(op, self._output.across(op, self._values[op.source]))

    def wmma(self, op: tg.WmmaOp) -> None:
        instruction = self._instruction_of(op)
        for name, operand in (("a", op.a), ("b", op.b)):
            if op.config.is_shared(name) and operand not in self._matrices:
                message = f"{name.upper()} may have been overwritten in memory since its LOAD"
                raise PassFailedException(message)
        if (stay := self._in_place.get(op)) is not None:
            if op is stay.chain.products[-1]:
                self._multiply_in_place(op, instruction, stay)
            return
        fragments = [self._values[operand] for operand in op.operands]
        self._define(op, self._output.multiply_matrices(op, instruction, fragments))

    def _instruction_of(self, op: tg.WmmaOp) -> MatrixInstruction:
        factor, accumulator = tg.dtype_of(op.a).name, tg.dtype_of(op.accumulator).name
        instruction = instruction_of(self._target, op.config, factor, accumulator)
        if instruction is None:
            raise refusal(op, self._target)
        return instruction

    def _find_in_place(self, ops: Sequence[Operation]) -> Mapping[Operation, Stay]:
        found: dict[Operation, Stay] = {}
        for stay in stays(ops):
            own = stay if self._output.keeps_sums else Stay(stay.chain)
            outer = [op for op in (own.zeros, own.loop) if op is not None]
            found.update(dict.fromkeys([*own.chain.ops, *outer], own))
        return found

    def _multiply_in_place(self, op: tg.WmmaOp, instruction: MatrixInstruction, stay: Stay) -> None:
        """The WMMAs of a chain, of which this is the last."""
        factors = [(self._values[o.a], self._values[o.b]) for o in stay.chain.products]
        if stay.loop is None:
            self._begin_sums(stay)
        self._output.multiply_add(op, instruction, factors)
        if stay.loop is None:
            self._end_sums(stay)

    def _begin_sums(self, stay: Stay) -> None:
        sums = None if stay.zeros is not None else self._sums(stay)
        first = stay.chain.products[0]
        self._output.begin_sums(first, self._instruction_of(first), sums)

    def _end_sums(self, stay: Stay) -> None:
        self._output.end_sums(stay.chain.products[0], self._sums(stay))

    def _sums(self, stay: Stay) -> PointerView[V]:
        """Where the sums of a chain are. Those that stay in a loop are a whole buffer."""
        where = stay.chain.load.buffer
        return self._memory[where if stay.loop is None else tg.memory_of(where)]

    def shuffle(self, op: tg.ShuffleOp) -> None:
        """SHUFFLE, lane by lane: each moves a register."""
        if op.threads.data > self._target.warp:
            raise PassFailedException(
                f"a shuffle among {op.threads.data} work items, and a warp of the target "
                f"{self._target.name} has {self._target.warp}"
            )
        out, value = self._output, self._values[op.value]
        lanes = [out.lane(value, i) for i in range(out.lanes(value))]
        self._define(op, out.stack([out.shuffle_items(op, lane) for lane in lanes]))

    def custom(self, op: tg.CustomOp) -> None:
        """CUSTOM, lane by lane."""
        out, is_void = self._output, isinstance(op.result.type, tg.VoidType)
        if any(value not in self._values for value in op.arguments):
            raise PassFailedException("the operands of CUSTOM are values: LOAD them from memory")
        values = [self._values[value] for value in op.arguments]
        lanes = 1 if is_void else math.prod(tg.static_shape(tg.tensor(op.result)))
        lanes = max(lanes, *map(out.lanes, values), 1)
        values = [out.splat(value, lanes) for value in values]
        made: list[V] = []
        for lane in range(lanes):
            result = self._custom(op, [out.lane(value, lane) for value in values])
            made += () if result is None else (result,)
        if not is_void:
            self._define(op, out.stack(made))

    def _custom(self, op: tg.CustomOp, values: Sequence[V]) -> V | None:
        if op.function is None:
            return self._output.custom(op, values)
        if (call := op.call_of((op.function.data,))) is None:
            raise PassFailedException(f"the code calls no {op.function.data}")
        signature = signature_of_custom(op, call)
        for argument, operand in zip(signature.arguments, call.order, strict=True):
            if argument.dtype != (dtype := tg.dtype_of(op.arguments[operand])).name:
                raise PassFailedException(f"a function is passed no {dtype.name}: CAST it to f32")
        arguments = [values[operand] for operand in call.order]
        return self._output.call_host(signature, arguments, is_registered=True)

    def instruction(self, op: tg.InsOp) -> None:
        """INS, in the form for the lanes of its result."""
        out, operands = self._output, [self._values[operand] for operand in op.arguments]
        lanes = 1 if op.result.type == tg.VOID else math.prod(tg.static_shape(tg.tensor(op.result)))
        form = next((form for form in forms_of(op, self._target) if form.lanes == lanes), None)
        if form is None:
            message = f"{op.mnemonic} computes no {lanes} cells: tg-select cuts them into registers"
            raise PassFailedException(message)
        value = out.instruction(op, form, operands)
        if value is not None:
            self._define(op, value)

    # -- control flow

    def range(self, op: tg.RangeOp) -> None:
        self._forget_matrices()
        self._wait(op)
        runs = self._intervals[op.bound].lo >= 1
        bound, unrolls = self._values[op.bound], op in self._unrolled
        if (stay := self._in_place.get(op)) is not None:
            self._begin_sums(stay)
        self._define(op, self._output.begin_loop(op, bound, runs=runs, unrolls=unrolls))

    def end(self, op: tg.EndOp) -> None:
        self._forget_matrices()
        for range in op.ranges:
            self._output.end_loop()
            stay = self._in_place.get(range.owner) if isinstance(range.owner, tg.RangeOp) else None
            if stay is not None:
                self._end_sums(stay)

    def if_(self, op: tg.IfOp) -> None:
        self._output.begin_if(self._values[op.gate])

    def end_if(self, op: tg.EndIfOp) -> None:
        self._output.end_if()

    def barrier(self, op: tg.BarrierOp) -> None:
        self._forget_matrices()
        self._wait(op)
        if self._readers > self._target.warp:
            # Several warps read it by another path than they write it.
            self._output.show_to_matrix_instructions()
        self._output.barrier(op)

    def _wait(self, op: Operation) -> None:
        if (pending := self._copies.waits.get(op)) is not None:
            self._output.wait_for_copies(pending)

    def call(self, op: tg.CallOp) -> None:
        name = op.callee.string_value()
        wanted = self._programs.get(name)
        if wanted is None:
            self._call_function(op, symbols_around(op).get(name))
            return
        check_call(op, wanted, self._intervals)
        for slot, argument in enumerate(op.arguments):
            if tg.is_memory(argument):
                known = self._alignments.get((name, slot), 0)
                self._alignments[name, slot] = math.gcd(known, self._memory[argument].alignment)
        self._output.call(name, self._passed(op))

    def _passed(self, op: tg.CallOp) -> list[V]:
        return [
            self._memory.pointer(a) if a in self._memory else self._values[a] for a in op.arguments
        ]

    def _call_function(self, op: tg.CallOp, callee: Operation | None) -> None:
        """CALL of a CUSTOMFUNCTION. Dynamic extents follow the arguments."""
        if not isinstance(callee, tg.CustomFunctionOp):
            name = op.callee.string_value()
            raise PassFailedException(f"@{name} is neither a program nor a tg.customfunction")
        extents: list[V] = []
        for argument in filter(tg.is_memory, op.arguments):
            for extent in tg.shape_of(argument):
                if isinstance(extent, SSAValue) and extent in self._values:
                    extents.append(self._values[extent])
                elif not isinstance(extent, int):
                    raise PassFailedException(
                        f"an extent of an argument of @{callee.sym_name.data} is no number that "
                        f"can be passed: it is {show_dim(extent)}"
                    )
        signature = signature_of_call(op, callee)
        is_registered = REGISTERED in callee.attributes
        arguments = [*self._passed(op), *extents]
        self._output.call_host(signature, arguments, is_registered=is_registered)

    def no_access(self, op: Operation) -> None:
        raise PassFailedException(f"{op.name} in a function: only programs access memory")

    def nothing(self, op: Operation) -> None:
        """An ordering edge: the order is that of the ops."""


def _in_order(block: Block) -> Iterator[Operation]:
    """The ops of a function, with those of its LINEAR in its place."""
    for op in block.ops:
        if isinstance(op, tg.LinearOp):
            yield from op.body.block.ops
        elif not isinstance(op, ReturnOp):
            yield op


_Walker = LinearWalker[Any]
Handler = Callable[[_Walker, Any], None]

_MOVEMENTS: dict[type[Operation], Handler] = {
    tg.StackOp: _Walker.stack,
    tg.PermuteOp: _Walker.permute,
    tg.IndexOp: _Walker.lane,
    tg.ReshapeOp: _Walker.reshape,
    tg.ExpandOp: _Walker.expand,
}
"""How movement ops of scalars and vectors are rendered."""

_HANDLERS: dict[type[Operation], Handler] = {
    tg.ConstOp: _Walker.const,
    tg.VConstOp: _Walker.vconst,
    tg.SpecialOp: _Walker.special,
    tg.BufferOp: _Walker.buffer,
    tg.LoadOp: _Walker.load,
    tg.StoreOp: _Walker.store,
    tg.AtomicAddOp: _Walker.atomic_add,
    tg.RangeOp: _Walker.range,
    tg.EndOp: _Walker.end,
    tg.ReduceOp: _Walker.reduce,
    tg.WmmaOp: _Walker.wmma,
    tg.ShuffleOp: _Walker.shuffle,
    tg.CustomOp: _Walker.custom,
    tg.InsOp: _Walker.instruction,
    tg.IfOp: _Walker.if_,
    tg.EndIfOp: _Walker.end_if,
    tg.BarrierOp: _Walker.barrier,
    tg.CallOp: _Walker.call,
    tg.SinkOp: _Walker.nothing,
}
"""In a program."""

_HOST_HANDLERS: dict[type[Operation], Handler] = {
    **{kind: _HANDLERS[kind] for kind in (tg.ConstOp, tg.BufferOp, tg.CallOp)},
    tg.IndexOp: _Walker.no_access,
}
"""In the function that calls programs."""
