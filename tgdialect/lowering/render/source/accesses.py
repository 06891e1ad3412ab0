"""Memory of C-like languages: declarations, elements, vectors, loads and stores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import cast

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.render.dynamic_local import DynamicLocal
from tgdialect.lowering.render.output import PointerView
from tgdialect.lowering.render.source.builder import (
    ANY_INDEX,
    INT,
    LONG,
    Pointer,
    Precedence,
    Scalar,
    SourceBuilder,
    SourceValue,
    Vector,
    index_type,
    lanes_of,
    pointer_of,
    scalar_of,
)
from tgdialect.lowering.render.source.language import Language
from tgdialect.lowering.render.source.placement import Placement
from tgdialect.ops import intervals as interval_arithmetic
from tgdialect.ops import tg
from tgdialect.targets.matrix import REPEAT

View = PointerView[SourceValue]


class SourceAccesses(SourceBuilder):
    """A function whose memory is accessed through views."""

    _dynamic: DynamicLocal | None
    """Where the LOCAL buffers are that the launch allocates."""
    _placement: Placement

    def __init__(self, language: Language, called: Iterable[str]) -> None:
        """`called` are the names of functions that it may call."""
        super().__init__(language, called)
        self._local_memory = ""
        """The name of the array of the buffers that the launch allocates."""
        self._undeclared: dict[SSAValue, Pointer] = {}
        """Buffers that are declared where they are stored first."""

    # -- indices

    def add(self, a: SourceValue, b: SourceValue) -> SourceValue:
        return self._index("+", Precedence.SUM, scalar_of(a), scalar_of(b), interval_arithmetic.add)

    def multiply(self, a: SourceValue, b: SourceValue) -> SourceValue:
        return self._index(
            "*", Precedence.PRODUCT, scalar_of(a), scalar_of(b), interval_arithmetic.mul
        )

    def _index(
        self,
        symbol: str,
        level: Precedence,
        a: Scalar,
        b: Scalar,
        bounds: Callable[[tg.DType, tg.Interval, tg.Interval], tg.Interval],
    ) -> Scalar:
        """A sum or product of indices, of 64 bits where 32 may be too few."""
        interval = bounds(tg.DTYPES[tg.INDEX], *(each.interval or ANY_INDEX for each in (a, b)))
        if interval.is_constant:
            return self.number(int(interval.lo))
        if index_type(interval) is LONG and b.dtype is INT:
            a = self.cast(a, LONG)
        return replace(self.binary(symbol, level, a, b), interval=interval)

    def variable(self, value: Scalar, hint: str | None, prefix: str) -> Scalar:
        """A new variable, of a name of its own even if the value is that of another variable."""
        loose = replace(value, precedence=min(value.precedence, Precedence.POSTFIX))
        return self.named(loose, hint, prefix)

    # -- memory

    def allocate_buffer(self, op: tg.BufferOp, bytes: int, alignment: int) -> SourceValue:
        space = tg.place(op.result).addrspace or tg.AddrSpace.REG
        cells, dtype = math.prod(tg.tensor(op.result).get_shape()), tg.dtype_of(op.result)
        is_shared = space is tg.AddrSpace.LOCAL and bool(self.language.shared)
        is_variable = not is_shared and cells == 1
        default = "shared" if is_shared else "acc" if is_variable else "buf"
        name = self.fresh(op.result.name_hint, self.numbered(default))
        pointer = Pointer(name, self.stored(dtype), space, is_variable=is_variable)
        if is_shared and self._dynamic is not None:
            type = self.pointer_type(pointer, dtype)
            start = f"{self._dynamic_block(alignment)} + {self._dynamic.offsets[op.result]}"
            self.line(f"{type}{name} = ({type.rstrip()})({start});")
        elif is_shared:
            # That of the widest access, unless matrix instructions need more.
            alignment = alignment if alignment >= REPEAT else min(alignment, 16)
            aligned = self.language.aligned.format(bytes=alignment)
            qualifiers = f"{aligned}{self.language.shared}{self.memory_type(dtype)}"
            self.line(f"{qualifiers} {name}[{max(cells, 1)}];")
        elif op.result in self._placement.initial_stores:
            self._undeclared[op.result] = pointer
        elif is_variable:
            of = dtype if dtype.is_bool else self.stored(dtype)
            self.line(f"{self.type_name(of)} {name} = {self.literal(0, of).text};")
        else:
            self.line(f"{self.memory_type(dtype)} {name}[{max(cells, 1)}] = {{0}};")
        return pointer

    def _dynamic_block(self, alignment: int) -> str:
        """The array whose size the launch says, which is declared when it is first asked for."""
        if not self._local_memory:
            self._local_memory = self.fresh("local_memory", iter(()))
            declared = self.language.dynamic_shared.format(bytes=alignment, name=self._local_memory)
            self.line(declared)
        return self._local_memory

    def address(self, view: View) -> SourceValue:
        pointer = pointer_of(view.pointer)
        if view.index is None and pointer.dtype == self.stored(view.dtype):
            return pointer
        base, index = self._located(view)
        index = None if index is None else self.named(index, prefix="at")
        return replace(pointer, base=base, dtype=self.stored(view.dtype), index=index)

    def _located(self, view: View) -> tuple[str, Scalar | None]:
        """The array of a view and the position in it, None for a variable."""
        pointer, index = pointer_of(view.pointer), cast("Scalar | None", view.index)
        if pointer.dtype == self.stored(view.dtype):
            if pointer.is_variable:
                return pointer.base, None
            if pointer.index is not None and index is not None:
                index = scalar_of(self.add(pointer.index, index))
            return pointer.base, index or pointer.index or self.number(0)
        start = f"&{pointer.base}" if pointer.is_variable else self.pointer_text(pointer)
        type = self.pointer_type(pointer, view.dtype)
        return f"(({type.rstrip()}){start})", index or self.number(0)

    def pointer_type(self, pointer: Pointer, dtype: tg.DType) -> str:
        space = self.language.spaces.get(pointer.space, "")
        return f"{'const ' * pointer.is_const}{space}{self.memory_type(dtype)} *"

    def pointer_text(self, pointer: Pointer) -> str:
        if pointer.index is None or pointer.index.text == "0":
            return pointer.base
        return f"({pointer.base} + {pointer.index.text})"

    def start(self, view: View) -> str:
        """The address of the first element of a view, as an operand of a sum or a call."""
        base, index = self._located(view)
        if index is None:
            return f"&{base}"
        if index.text == "0":
            return base
        loose = index.precedence < Precedence.SUM
        return f"{base} + ({index.text})" if loose else f"{base} + {index.text}"

    def _cell(self, view: View, lane: int = 0) -> str:
        """An element of a view."""
        base, index = self._located(view)
        if index is None:
            return base
        if lane:
            index = scalar_of(self.add(index, self.number(lane)))
        if pointer_of(view.pointer).space is not tg.AddrSpace.GLOBAL:
            return f"{base}[{index.text}]"
        return self.language.style.global_cell.format(base=base, index=self.statement(index))

    def load_view(
        self, view: View, gate: SourceValue | None, alt: SourceValue | None
    ) -> SourceValue:
        if view.lanes == 1:
            return self._gated(self._loaded(view), gate, alt, 0)
        if view.elements:
            each = map(self._loaded, view.elements)
        elif gate is None and self._is_vector_access(view):
            return Vector((), self._vector_access(self.language.vector_load, view))
        else:
            each = map(self._loaded, repeat(self._with_named_index(view)), range(view.lanes))
        return Vector(tuple(self._gated(v, gate, alt, lane) for lane, v in enumerate(each)))

    def _loaded(self, view: View, lane: int = 0) -> Scalar:
        text, dtype = self._cell(view, lane), view.dtype
        level = Precedence.UNARY if text[0] == "*" else Precedence.POSTFIX
        if pointer_of(view.pointer).is_variable:
            return Scalar(text, LONG if dtype is tg.DTYPES[tg.INDEX] else dtype, reads=True)
        if dtype.is_bool:
            return Scalar(f"{text} != 0", dtype, Precedence.EQUALITY, reads=True)
        return Scalar(text, LONG if dtype is tg.DTYPES[tg.INDEX] else dtype, level, reads=True)

    def _gated(
        self, value: Scalar, gate: SourceValue | None, alt: SourceValue | None, lane: int
    ) -> Scalar:
        if gate is None or alt is None:
            return value
        condition, otherwise = (
            lanes_of(each)[lane if isinstance(each, Vector) else 0] for each in (gate, alt)
        )
        return self.choice(condition, value, otherwise)

    def _with_named_index(self, view: View) -> View:
        index = cast("Scalar | None", view.index)
        return view if index is None else replace(view, index=self.named(index, prefix="at"))

    def _is_vector_access(self, view: View) -> bool:
        """Whether one access moves all lanes. Registers are variables of their own."""
        bytes = view.lanes * view.dtype.itemsize
        is_private = view.dtype.is_bool or pointer_of(view.pointer).space is tg.AddrSpace.REG
        stored = self.stored(view.dtype).name
        if is_private or view.lanes not in self.language.vectors:
            return False
        if view.lanes > self.language.widest_vectors.get(stored, view.lanes):
            return False
        return not self.language.loads_need_alignment or (
            bytes <= 16 and view.alignment % bytes == 0
        )

    def vector_type(self, dtype: tg.DType, lanes: int) -> str:
        element = self.type_name(dtype)
        short = element.replace("unsigned ", "u").replace("signed ", "").replace(" ", "")
        return self.language.vectors[lanes].format(element=element, short=short)

    def _vector_access(self, template: str, view: View, value: str = "") -> str:
        space = self.language.spaces.get(pointer_of(view.pointer).space, "")
        type = self.vector_type(view.dtype, view.lanes)
        return template.format(
            pointer=self.start(view), lanes=view.lanes, type=type, space=space, value=value
        )

    def store_view(self, value: SourceValue, view: View, gate: SourceValue | None) -> None:
        if isinstance(value, Vector) and view.lanes == 1:
            self._fill(view, value.elements)
            return
        if view.lanes == 1:
            self._assign(view, scalar_of(value))
            return
        lanes = lanes_of(value)
        if view.elements:
            if gate is not None:
                raise PassFailedException("a gated vector is stored to neighbouring elements")
            for element, lane in zip(view.elements, lanes, strict=True):
                self._assign(element, lane)
            return
        if gate is None and self._is_vector_access(view):
            whole = value.whole if isinstance(value, Vector) else ""
            if not whole:
                type, own = self.vector_type(view.dtype, view.lanes), self.language.functions
                made = own.get(f"vector {view.dtype.name}", self.language.vector_value)
                elements = ", ".join(lane.text for lane in lanes)
                whole = made.format(type=type, elements=elements)
            self.line(f"{self._vector_access(self.language.vector_store, view, whole)};")
            return
        # All values are read before the first one is written.
        lanes = [self.variable(lane, None, "t") if lane.reads else lane for lane in lanes]
        view = self._with_named_index(view)
        for lane, each in enumerate(lanes):
            open = None if gate is None else lanes_of(gate)[lane].text
            condition = f"if ({open}) " if open else ""
            self.line(f"{condition}{self._cell(view, lane)} = {self.statement(each)};")

    def _assign(self, view: View, value: Scalar) -> None:
        cell, text = self._cell(view), self.statement(value)
        if self._undeclared.pop(view.memory, None) is not None:
            self.line(f"{self.type_name(view.dtype)} {cell} = {text};")
        elif (
            value.operator in ("+", "*")
            and cell in (value.left, value.right)
            and self.language.style.has_compound_assignments
        ):
            other = value.right if value.left == cell else value.left
            self.line(f"{cell} {value.operator}= {other};")
        else:
            self.line(f"{cell} = {text};")

    def _fill(self, view: View, lanes: Sequence[Scalar]) -> None:
        """Store to all cells of a buffer."""
        base, cells = pointer_of(view.pointer).base, len(lanes)
        texts = {lane.text for lane in lanes}
        is_cleared = texts == {self.literal(0, view.dtype).text}
        if self._undeclared.pop(view.memory, None) is not None:
            self.line(f"{self.memory_type(view.dtype)} {base}[{cells}] = {{0}};")
            if is_cleared:
                return
        if len(texts) == 1:
            self.begin_scope()
            index = self.fresh(None, self.language.style.loop_names())
            self._scopes.pop()
            head = f"for (int {index} = 0; {index} < {cells}; {index}++)"
            self.line(f"{head} {base}[{index}] = {self.statement(lanes[0])};")
            return
        for cell, lane in enumerate(lanes):
            self.line(f"{base}[{cell}] = {self.statement(lane)};")

    def add_atomically(self, view: View, value: SourceValue) -> None:
        dtype, text = view.dtype, scalar_of(value).text
        start = self.start(view)
        pointer = start if start.startswith("&") or " " not in start else f"({start})"
        space = self.language.spaces.get(pointer_of(view.pointer).space, "")
        if (template := self.language.atomics.get(dtype.name)) is None:
            there_are = ", ".join(self.language.atomics)
            raise PassFailedException(
                f"{self.language.name} has no atomic add of {dtype.name}, only of {there_are}"
            )
        if template.startswith("helper "):
            _, kind = template.split()
            name = "_".join(("tg", kind, dtype.name, *space.strip("_ ").split()))
            self.add_helper(kind, name, dtype, space=space)
            self.line(f"{name}({pointer}, {text});")
            return
        self.line(
            f"{template.format(pointer=pointer, cell=self._cell(view), value=text, space=space)};"
        )
