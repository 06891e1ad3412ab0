"""The oracle of `tg-upgrade-legacy`: executes the ops of a listing one after the other.

A value is an array of three axes: two of UNROLL, numbers 0 and 1, and the lanes of a vector. An
axis that a value lacks has one element, so that NumPy broadcasts. Integers of 32 bits wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from tgdialect.legacy.attributes import axes_of
from tgdialect.legacy.ops import compute, control, framework, indexing, memory, vectors
from tgdialect.ops import codegen, elementwise, ordering, source
from tgdialect.ops.properties import integers, number, tensor

Array = npt.NDArray[Any]


class Pointer(NamedTuple):
    """What INDEX gives: positions in a memory, and where they are valid."""

    memory: SSAValue
    position: Array
    valid: Array


def _quotient(x: Array, y: Array) -> Array:
    """Integer division toward zero; x / 0 is 0."""
    x, y = np.broadcast_arrays(x.astype(np.int64), y.astype(np.int64))
    size = np.abs(x) // np.where(y == 0, 1, np.abs(y))
    return np.where(y == 0, 0, np.where((x < 0) == (y < 0), size, -size))


def _remainder(x: Array, y: Array) -> Array:
    return np.where(y == 0, 0, x.astype(np.int64) - _quotient(x, y) * y)


def _floor_remainder(x: Array, y: Array) -> Array:
    x, y = x.astype(np.int64), y.astype(np.int64)
    return np.where(y == 0, 0, x % np.where(y == 0, 1, y))


NAMED: Mapping[str, Callable[..., Array]] = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "NEG": lambda x: -x,
    "MAX": np.maximum,
    "IDIV": _quotient,
    "MOD": _remainder,
    "AND": lambda x, y: x & y,
    "OR": lambda x, y: x | y,
    "XOR": lambda x, y: x ^ y,
    "SHL": lambda x, y: x << y,
    "SHR": lambda x, y: x >> y,
    "CMPLT": lambda x, y: x < y,
    "CMPNE": lambda x, y: x != y,
    "WHERE": np.where,
    "MULACC": lambda x, y, z: x * y + z,
}
"""Arithmetic, by the names of ALU."""

TYPED: Mapping[type[Operation], Callable[..., Array]] = {
    **{
        getattr(elementwise, name): NAMED[name.removesuffix("Op").upper()]
        for name in (
            *("AddOp", "SubOp", "MulOp", "NegOp", "MaxOp", "AndOp", "OrOp", "XorOp", "ShlOp"),
            *("ShrOp", "CmpLtOp", "CmpNeOp", "WhereOp", "MulAccOp"),
        )
    },
    elementwise.ModOp: _floor_remainder,
    elementwise.CastOp: lambda x: x,
    compute.IDivOp: _quotient,
    compute.ModOp: _remainder,
    framework.NoopOp: lambda x: x,
    vectors.VectorizeOp: lambda *xs: np.concatenate(np.broadcast_arrays(*xs), 2),
}
"""Arithmetic, by the class of its op."""


def _dtype(value: SSAValue) -> str:
    return {"i1": "bool", "i32": "int32", "f32": "float32", "index": "int64"}[
        str(tensor(value).element_type)
    ]


def _ends(ops: Sequence[Operation]) -> dict[int, int]:
    """The position of the end of each block, by that of its beginning."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for place, op in enumerate(ops):
        if isinstance(op, control.LoopBegin | control.IfOp | ordering.RangeOp):
            opened.append(place)
        elif isinstance(op, control.BlockEnd | ordering.EndOp):
            ends[opened.pop()] = place
    return ends


@dataclass
class Machine:
    """A listing that is executed: once for each work item, in order."""

    ops: Sequence[Operation]
    globals: Mapping[str, Array]
    """The memory of each DEFINE_GLOBAL by its name, which is changed."""
    variables: Mapping[str, int]
    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    memory: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, Array])
    users: dict[SSAValue, tuple[Array, Array]] = field(default_factory=dict[SSAValue, Any])
    """The work items that access, and that write, each cell: a bit for each."""
    largest: float = 0
    """The magnitude of the largest float."""

    def run(self) -> None:
        self.ends = _ends(self.ops)
        specials = [op for op in self.ops if isinstance(op, codegen.SpecialOp)]
        bounds = [int(number(op.bound.owner.properties["value"])) for op in specials]  # type: ignore
        for self.item, item in enumerate(product(*map(range, bounds))):
            self.values = {op.result: self.scalar(n) for op, n in zip(specials, item, strict=True)}
            with np.errstate(all="ignore"):
                self.execute(0, len(self.ops))
        for users, writers in self.users.values():
            is_alone = users & (users - 1) == 0
            assert np.all((writers == 0) | is_alone), "a race of work items"

    def scalar(self, value: float, dtype: str = "int64") -> Array:
        return np.full((1, 1, 1), value, dtype)

    def execute(self, place: int, last: int) -> None:
        """The ops from one to before another."""
        while place < last:
            op = self.ops[place]
            if (end := self.ends.get(place)) is None:
                self.step(op)
            else:
                for iterator in self.iterations(op):
                    if iterator is not None:
                        self.values[op.results[0]] = iterator
                    self.execute(place + 1, end)
                place = end
            place += 1

    def iterations(self, op: Operation) -> Sequence[Array | None]:
        """The iterator in each iteration of a loop; an IF is one of at most one iteration."""
        if isinstance(op, control.IfOp):
            return [None] * int(self.get(op.condition).item())
        bounds = [int(self.get(operand).item()) for operand in op.operands]
        return [self.scalar(n, _dtype(op.results[0])) for n in range(*bounds)]

    def get(self, value: SSAValue) -> Array:
        """The present value: an accumulator's changes."""
        while isinstance(value.owner, framework.AssignOp | control.PhiOp):
            value = value.owner.target
        return self.values[value]

    def set(self, target: SSAValue, value: Array) -> None:
        while isinstance(target.owner, framework.AssignOp | control.PhiOp):
            target = target.owner.target
        value = np.asarray(value).astype(_dtype(target))
        if value.dtype == np.float32:
            self.largest = max(self.largest, float(np.max(np.abs(value))))
        self.values[target] = value

    def step(self, op: Operation) -> None:
        match op:
            case memory.DefineGlobalOp():
                assert op.symbol is not None
                self.memory[op.result] = self.globals[op.symbol.data]
            case memory.DefineLocalOp() | source.BufferOp():
                size = tensor(op.result).get_shape()
                self.memory[op.result] = np.zeros(size, _dtype(op.result))
            case framework.DefineVarOp():
                self.set(op.result, self.scalar(self.variables[op.symbol.data]))
            case source.ConstOp():
                self.set(op.result, self.scalar(float(number(op.value)), "float64"))
            case vectors.VConstOp():
                lanes = [float(number(value)) for value in op.values]
                self.set(op.result, np.array(lanes).reshape(1, 1, -1))
            case memory.DefineAccOp():
                self.values[op.result] = self.get(op.initial)
            case framework.AssignOp() | control.PhiOp():
                self.set(op.target, self.get(op.value))
            case indexing.IndexOp():
                valid = self.scalar(1, "bool") if op.valid is None else self.get(op.valid)
                self.values[op.result] = Pointer(op.buffer, self.get(op.position), valid)
            case memory.CastOp():
                pointer: Any = self.get(op.element)
                lanes = np.arange(*tensor(op.result).get_shape())
                self.values[op.result] = pointer._replace(position=pointer.position + lanes)
            case memory.LoadOp():
                cells, position, gate = self.access(op, op.result)
                alt = 0 if op.alt is None else self.get(op.alt)
                self.set(op.result, np.where(gate, cells[np.where(gate, position, 0)], alt))
            case memory.StoreOp():
                cells, position, gate = self.access(op, op.value)
                value = self.get(op.value)
                position, gate, value = np.broadcast_arrays(position, gate, value)
                cells[position[gate]] = value[gate]
            case indexing.GepOp():
                self.set(op.result, self.get(op.vector)[..., list(integers(op, "lanes"))])
            case vectors.CatOp():
                self.set(op.result, np.concatenate([self.get(v) for v in op.vectors], 2))
            case vectors.UnrollOp():
                # Its axes are of ascending numbers.
                sizes = dict(axes_of(op.axes))
                shape = (sizes.get(0, 1), sizes.get(1, 1), 1)
                self.set(op.result, self.get(op.vector).reshape(shape))
            case vectors.ContractOp():
                own, sizes = self.get(op.scalar), dict(axes_of(op.axes))
                shape = [sizes.get(n, own.shape[n]) for n in (0, 1)]
                spread = np.broadcast_to(own, (*shape, 1))
                kept = [1 if n in sizes else own.shape[n] for n in (0, 1)]
                self.set(op.result, spread.reshape(*kept, -1))
            case codegen.BarrierOp() | codegen.SpecialOp():
                pass
            case _:
                rule = TYPED.get(type(op))
                if isinstance(op, compute.AluOp):
                    rule = NAMED[op.operation.data.split(".")[1]]
                assert rule is not None, op
                self.set(op.results[0], rule(*map(self.get, op.operands)))

    def access(
        self, op: memory.LoadOp | memory.StoreOp, value: SSAValue
    ) -> tuple[Array, Array, Array]:
        """The memory, the positions and the gate of an access."""
        if op.at is None:
            pointer: Any = self.get(op.buffer)
        else:
            lanes = tensor(value).get_shape()
            is_vector = bool(lanes) and not tensor(op.at).get_shape()
            position = self.get(op.at) + np.arange(*(lanes if is_vector else (1,)))
            pointer = Pointer(op.buffer, position, self.scalar(1, "bool"))
        gate = pointer.valid if op.gate is None else pointer.valid & self.get(op.gate)
        position, gate = np.broadcast_arrays(pointer.position, gate)
        cells = self.memory[pointer.memory]
        used = position[gate]
        assert used.size == 0 or (used.min() >= 0 and used.max() < cells.size), op
        if isinstance(pointer.memory.owner, memory.DefineGlobalOp):
            nobody = np.zeros(cells.size, int), np.zeros(cells.size, int)
            users, writers = self.users.setdefault(pointer.memory, nobody)
            users[used] |= 1 << self.item
            if isinstance(op, memory.StoreOp):
                writers[used] |= 1 << self.item
        return cells, position, gate
