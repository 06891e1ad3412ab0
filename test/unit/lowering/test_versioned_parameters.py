"""Kernels that read and write parameters in several loops: memory is versioned, compiled too."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from random_seeds import batches

from tgdialect.diagnostics import CompilationError
from tgdialect.runtime.compiler import compile

SIZES = (2, 3, 4, 8, 33)
VARIABLE = "TG_RANDOM_VERSIONS"


class _Kernel:
    """A random kernel on parameters of one shape. Of two STOREs to one parameter, the later one is
    AFTER the earlier one; LOADs are AFTER any of them, or none."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.size = rng, rng.choice(SIZES)
        self.params = [f"%p{slot}" for slot in range(rng.randint(1, 3))]
        self.memory, self.cell = f"tensor<{self.size}xi32, #g>", "tensor<i32, #g>"
        self.lines = [f"%p{slot} = tg.param {slot} : {self.memory}" for slot in range(3)]
        self.lines += [
            f"%c{value} = tg.const {value} : tensor<index>"
            for value in dict.fromkeys((0, 1, self.size - 1, self.size))
        ]
        self.names = 0
        self.written: dict[str, list[str]] = {param: [] for param in self.params}
        self.done: list[str] = []
        self.ranges = 0
        for _ in range(rng.randint(1, 3)):
            self.loop()
        # Memory that is only read may be that of another parameter.
        self.passed = [
            rng.choice(range(3))
            if not self.written.get(f"%p{slot}") and rng.random() < 0.3
            else slot
            for slot in range(3)
        ]
        effects = ", ".join(self.done)
        self.lines.append(f"tg.sink {effects} : {', '.join(['!tg.void'] * len(self.done))}")

    def put(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def range(self, kind: str) -> str:
        self.ranges += 1
        return self.put(f"tg.range {self.ranges - 1} {kind} to %c{self.size} : tensor<index>")

    def position(self, loop: str) -> str:
        """Another cell in each iteration."""
        match self.rng.randrange(4):
            case 0:
                return self.put(f"tg.sub %c{self.size - 1}, {loop} : tensor<index>")
            case 1:
                moved = self.put(f"tg.add {loop}, %c1 : tensor<index>")
                return self.put(f"tg.mod {moved}, %c{self.size} : tensor<index>")
            case _:
                return loop

    def location(self, param: str, at: str, after: Sequence[str]) -> str:
        if after:
            types = ", ".join([self.memory, *["!tg.void"] * len(after)])
            listed = ", ".join(after)
            param = self.put(f"tg.after {param}, {listed} : ({types}) -> {self.memory}")
        return self.put(f"tg.index {param}[{at}] : ({self.memory}, tensor<index>) -> {self.cell}")

    def load(self, at: str) -> str:
        param = self.rng.choice(self.params)
        after = list[str]()
        if self.rng.random() < 0.3 and (ends := self.written[param]):
            # Of one of several STOREs, or of all.
            after = ends[: self.rng.randint(1, len(ends))]
        location = self.location(param, at, after)
        return self.put(f"tg.load {location} : {self.cell} -> tensor<i32>")

    def loop(self) -> None:
        """A STORE in a loop, or outside of all, of a sum of what is loaded."""
        rng = self.rng
        is_looped = rng.random() < 0.85
        loop = self.range("loop") if is_looped else rng.choice(["%c0", f"%c{self.size - 1}"])
        value = self.load(self.position(loop) if is_looped else loop)
        for _ in range(rng.randrange(3)):
            at = self.position(loop) if is_looped and rng.random() < 0.8 else "%c0"
            value = self.put(f"tg.add {value}, {self.load(at)} : tensor<i32>")
        if rng.random() < 0.2:
            inner = self.range("reduce")
            element = self.load(self.position(inner))
            total = self.put(
                f"tg.reduce add {element} [] over {inner} : tensor<i32> -> tensor<i32>"
            )
            value = self.put(f"tg.add {value}, {total} : tensor<i32>")
        param = rng.choice(self.params)
        at = self.position(loop) if is_looped else loop
        location = self.location(param, at, self.written[param])
        done = self.put(f"tg.store {location}, {value} : {self.cell}, tensor<i32>")
        if is_looped:
            done = self.put(f"tg.end {done} over {loop} : !tg.void")
        self.written[param].append(done)
        self.done.append(done)

    def module(self) -> str:
        body = "\n  ".join(self.lines)
        memory = f'tensor<{self.size}xi32, #tg.place<"CPU", global>>'
        types, passed = ", ".join([memory] * 3), ", ".join("%" + "abc"[n] for n in self.passed)
        return f"""#g = #tg.place<global>
tg.kernel @k {{
  {body}
}}
func.func @main(%a: {memory}, %b: {memory}, %c: {memory}) {{
  %0 = tg.call @k({passed}) : ({types}) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}}
"""


def outcome(text: str, size: int, target: str, **options: str) -> list[list[int]] | str:
    """The contents of the memory afterwards, or the error."""
    memory = [np.arange(size, dtype="i4") * 7**slot + slot for slot in range(3)]
    try:
        compile(text, target=target, **options)(*memory)
    except CompilationError as error:
        return str(error)
    return [array.tolist() for array in memory]


@pytest.mark.parametrize("seeds", batches(VARIABLE, 400))
def test_compiled_kernels_see_the_versions_that_the_interpreter_sees(seeds: Sequence[int]):
    for seed in seeds:
        kernel = _Kernel(random.Random(seed))
        text = kernel.module()
        expected = outcome(text, kernel.size, "interpreter")
        found = {
            how: outcome(text, kernel.size, how[0], opt=how[1])
            for how in [
                ("cpu", "none"),
                ("cpu", "heuristic"),
                *[("c", "heuristic")] * (not seed % 5),
            ]
        }
        for how, result in found.items():
            if isinstance(expected, str) and isinstance(result, str):
                continue
            assert result == expected, (seed, how, text)
