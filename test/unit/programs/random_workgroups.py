"""Random programs for a grid: work items that exchange values through LOCAL memory.

Each phase stores or loads a LOCAL buffer; loops and IFs that are the same for all work items have
phases inside, and IFs that are not have one. There are no BARRIERs: `insert_barriers` finds them.
"""

from __future__ import annotations

import random
from itertools import count

I32, INDEX = "tensor<i32>", "tensor<index>"


def memory(cells: int, space: str) -> str:
    return f"tensor<{cells}xi32, #tg.place<{space}>>"


class RandomWorkgroup:
    """The text of a program `@k` of an output and an input of `size` i32 elements each."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.numbers = count()
        self.items = self.rng.choice([2, 4, 6, 8])
        self.conditions = 0
        self.groups = 4
        self.size = self.groups * self.items
        self.buffers = self.rng.randint(1, 2)
        self.text = self._program()

    # -- pieces

    def emit(self, text: str) -> str:
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {text}")
        return name

    def const(self, value: int, dtype: str = "index") -> str:
        return self.emit(f"tg.const {value} : tensor<{dtype}>")

    def index(self, op: str, a: str, b: str | int) -> str:
        b = self.const(b) if isinstance(b, int) else b
        return self.emit(f"tg.{op} {a}, {b} : {INDEX}")

    def ints(self, op: str, a: str, b: str | int) -> str:
        b = self.const(b, "i32") if isinstance(b, int) else b
        return self.emit(f"tg.{op} {a}, {b} : {I32}")

    def less(self, a: str, b: int) -> str:
        return self.emit(f"tg.cmplt {a}, {self.const(b)} : ({INDEX}, {INDEX}) -> tensor<i1>")

    def cell(self, buffer: str, cells: int, space: str, at: str) -> str:
        types = f"({memory(cells, space)}, {INDEX}) -> tensor<i32, #tg.place<{space}>>"
        return self.emit(f"tg.index {buffer}[{at}] : {types}")

    def load(self, buffer: str, cells: int, space: str, at: str) -> str:
        cell = self.cell(buffer, cells, space, at)
        return self.emit(f"tg.load {cell} : tensor<i32, #tg.place<{space}>> -> {I32}")

    def store(self, buffer: str, cells: int, space: str, at: str, value: str) -> str:
        cell = self.cell(buffer, cells, space, at)
        return self.emit(f"tg.store {cell}, {value} : tensor<i32, #tg.place<{space}>>, {I32}")

    # -- phases

    def place(self) -> str:
        """A cell for each work item, no two alike."""
        t, n = self.item, self.items
        match self.rng.randrange(4):
            case 0:
                return t
            case 1:
                return self.index("sub", self.const(n - 1), t)
            case 2:
                return self.index("xor", t, 1)
            case _:
                return self.index("mod", self.index("add", t, self.rng.randrange(1, n)), n)

    def access(self) -> None:
        """One access to LOCAL memory: a store of what the register holds, or a load into it."""
        b = self.rng.randrange(self.buffers)
        register, cell = ("%reg", 2, "reg"), self.const(self.rng.randrange(2))
        old = self.load(*register, cell)
        if self.rng.random() < 0.5:
            new = self.ints("add", self.ints("mul", old, 3), self.number)
            self.store(f"%l{b}", self.items, "local", self.place(), new)
        else:
            uniform = self.rng.random() < 0.2
            at = self.const(self.rng.randrange(self.items)) if uniform else self.place()
            new = self.load(f"%l{b}", self.items, "local", at)
            new = self.ints("add", self.ints("mul", old, 5), new)
            self.store(*register, cell, new)

    def phases(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if kind < 0.2 and depth < 2:
                self.loop(depth)
            elif kind < 0.35:
                # Only some work items: one access.
                self.under(self.less(self.item, self.rng.randrange(1, self.items)), self.access)
            elif kind < 0.45 and depth == 0 and self.conditions < 2:
                bit = self.index("mod", self.index("idiv", self.group, 1 + self.conditions), 2)
                self.conditions += 1
                self.under(self.less(bit, 1), lambda: self.phases(1))
            else:
                self.access()

    def loop(self, depth: int) -> None:
        axis, bound = next(self.numbers), self.const(self.rng.randint(2, 3))
        k = self.emit(f"tg.range {axis} loop to {bound} : {INDEX}")
        self.phases(depth + 1)
        last = self.store("%reg", 2, "reg", self.const(0), self.ints("add", self.number, 1))
        self.emit(f"tg.end {last} over {k} : !tg.void")

    def under(self, gate: str, body) -> None:
        begin = self.emit(f"tg.if {gate} : tensor<i1>")
        body()
        self.emit(f"tg.endif {begin}")

    def _program(self) -> str:
        n = self.items
        self.lines += [
            f"%out = tg.param 0 : {memory(self.size, 'global')}",
            f"%in = tg.param 1 : {memory(self.size, 'global')}",
            f"%reg = tg.buffer 9 : {memory(2, 'reg')}",
        ]
        self.lines += [f"%l{b} = tg.buffer {b} : {memory(n, 'local')}" for b in range(self.buffers)]
        self.group = self.emit(f'tg.special "gidx0" to {self.const(self.groups)} : {INDEX}')
        # One or two axes of work items.
        x = self.emit(f'tg.special "lidx0" to {self.const(n // 2 if n > 2 else n)} : {INDEX}')
        self.item = x
        if n > 2:
            y = self.emit(f'tg.special "lidx1" to {self.const(2)} : {INDEX}')
            self.item = self.index("add", self.index("mul", y, n // 2), x)
        at = self.index("add", self.index("mul", self.group, n), self.item)
        value = self.load("%in", self.size, "global", at)
        self.number = self.ints("add", value, self.emit(f"tg.cast {at} to i32 : {INDEX} -> {I32}"))
        self.store("%reg", 2, "reg", self.const(0), value)
        for b in range(self.buffers):
            self.store(f"%l{b}", n, "local", self.item, self.ints("add", value, b))
        self.phases(0)
        self.phases(0)
        parts = [self.load("%reg", 2, "reg", self.const(i)) for i in range(2)]
        last = self.store("%out", self.size, "global", at, self.ints("add", *parts))
        self.lines.append(f"%sink = tg.sink {last} : !tg.void")
        body = "\n".join(self.lines)
        return f"tg.program @k {{ %lin = tg.linear {{\n{body}\n}} }}"
