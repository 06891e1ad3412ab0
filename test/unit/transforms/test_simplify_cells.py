"""Simplification under a condition with axes keeps every cell: the condition says of a cell what
holds in that cell alone, and ops that move or join cells read others."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from random_seeds import batches
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from tgdialect.dialect import TG
from tgdialect.interpreter import run
from tgdialect.transforms.simplify import SimplifyPass

LANES = 6
SHAPES = {"": "", "1": "1x", "6": f"{LANES}x"}


class Generator:
    """The text of a function on indices and bools with no axis, one cell or six."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.numbers: dict[str, list[str]] = {shape: [] for shape in SHAPES}
        self.bools: dict[str, list[str]] = {shape: [] for shape in SHAPES}

    def emit(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def type(self, shape: str, element: str = "index") -> str:
        return f"tensor<{SHAPES[shape]}{element}>"

    def constant(self, low: int, high: int) -> str:
        return self.emit(f"tg.const {self.random.randint(low, high)} : {self.type('')}")

    def any(self, values: dict[str, list[str]]) -> tuple[str, str]:
        """The shape and the name of a value."""
        shape = self.random.choice([shape for shape in SHAPES if values[shape]])
        return shape, self.random.choice(values[shape][-4:])

    def binary(self, name: str, a: tuple[str, str], b: tuple[str, str], element: str) -> str:
        shape = max(a[0], b[0])
        result = "i1" if name.startswith("cmp") else element
        types = f"({self.type(a[0], element)}, {self.type(b[0], element)})"
        return self.emit(f"tg.{name} {a[1]}, {b[1]} : {types} -> {self.type(shape, result)}")

    def step(self) -> None:
        random = self.random
        kind = random.choice(("sum", "quotient", "compare", "compare", "both", "where", "cross"))
        shape, value = self.any(self.numbers)
        match kind:
            case "sum":
                other = self.any(self.numbers)
                found = self.binary(random.choice(("add", "max")), (shape, value), other, "index")
                self.numbers[max(shape, other[0])].append(found)
            case "quotient":
                divisor = ("", self.constant(2, 4))
                name = random.choice(("idiv", "mod"))
                self.numbers[shape].append(self.binary(name, (shape, value), divisor, "index"))
            case "compare":
                limit = ("", self.constant(1, 6))
                self.bools[shape].append(self.binary("cmplt", (shape, value), limit, "index"))
            case "both" | "where" if any(self.bools.values()):
                one, two = self.any(self.bools), self.any(self.bools)
                if kind == "both":
                    found = self.binary(random.choice(("and", "or")), one, two, "i1")
                    self.bools[max(one[0], two[0])].append(found)
                    return
                other = self.any(self.numbers)
                wide = max(one[0], shape, other[0])
                types = f"({self.type(one[0], 'i1')}, {self.type(shape)}, {self.type(other[0])})"
                text = f"tg.where {one[1]}, {value}, {other[1]} : {types} -> {self.type(wide)}"
                self.numbers[wide].append(self.emit(text))
            case "cross" if self.numbers["6"]:
                value = random.choice(self.numbers["6"][-4:])
                wide = self.type("6")
                at = random.randrange(LANES)
                shape, text = random.choice((
                    ("1", f"tg.reduce max {value} [0] : {wide} -> {self.type('1')}"),
                    ("1", f"tg.shrink {value} at [{at}] to [1] : {wide} -> {self.type('1')}"),
                    ("6", f"tg.flip {value} [0] : {wide}"),
                    ("", f"tg.index {value}[{self.constant(at, at)}] : ({wide}, {self.type('')}) "
                         f"-> {self.type('')}"),
                ))  # fmt: skip
                self.numbers[shape].append(self.emit(text))
            case _:
                pass

    def program(self) -> str:
        lanes = self.random.sample(range(8), LANES)
        self.numbers["6"] = [self.emit(f"tg.vconst {lanes} : {self.type('6')}")]
        self.numbers[""] = ["%n"]
        for _ in range(self.random.randint(6, 24)):
            self.step()
        results = [self.any(self.numbers) for _ in range(3)]
        if any(self.bools.values()):
            results += [self.any(self.bools) for _ in range(3)]
        cast: list[str] = []
        types: list[str] = []
        for shape, value in results:
            element = "i1" if value in self.bools[shape] else "index"
            source, result = self.type(shape, element), self.type(shape, "i64")
            cast.append(self.emit(f"tg.cast {value} to i64 : {source} -> {result}"))
            types.append(result)
        body = "\n".join(self.lines)
        return (
            "func.func @main(%n: tensor<index> {tg.min = 0 : index, tg.max = 2 : index}) -> "
            f"({', '.join(types)}) {{\n{body}\nfunc.return {', '.join(cast)} : "
            f"{', '.join(types)}\n}}"
        )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_CELLS", 300), ids=str)
def test_cells_stay(seeds: range):
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    for seed in seeds:
        text = Generator(seed).program()
        module = Parser(context, text).parse_module()
        module.verify()
        before = [run(module, "main", [np.int64(n)]) for n in range(3)]
        SimplifyPass().apply(context, module)
        module.verify()
        after = [run(module, "main", [np.int64(n)]) for n in range(3)]
        for old, new in zip(before, after, strict=True):
            for a, b in zip(old, new, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}\n{text}\n{module}")
