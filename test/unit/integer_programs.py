"""Random integer programs, and their evaluation with the scalar semantics of `ops/folding.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tgdialect.ops.dtypes import DTYPES, I32, INDEX, UI8
from tgdialect.ops.elementwise import CastOp
from tgdialect.ops.folding import constant_attribute, evaluate
from tgdialect.ops.properties import number, tensor, tensor_type
from tgdialect.ops.source import ConstOp, ParamOp
from tgdialect.transforms.simplify.matching import OPS

DTYPE_CHOICES: tuple[Attribute, ...] = (INDEX, IntegerType(8), UI8, I32)
ARITHMETIC = ("add", "sub", "mul", "idiv", "mod", "max", "neg", "and", "or", "xor", "shl", "shr")
COMPARISON = ("cmplt", "cmpne", "cmpgt", "cmpge", "cmple", "cmpeq")
LOGIC = ("and", "or", "xor", "not")
ARITY = {"neg": 1, "not": 1}
KINDS = ["quotient", "comparison", "cast", "logic", "where"]


@dataclass(frozen=True)
class Program:
    """A module with one function of PARAMs, and values for them."""

    module: ModuleOp
    arguments: Sequence[dict[int, int]]

    @property
    def block(self) -> Block:
        function = self.module.body.block.first_op
        assert isinstance(function, FuncOp)
        return function.body.block


@st.composite
def programs(draw: st.DrawFn, dtypes: Sequence[Attribute] = DTYPE_CHOICES) -> Program:
    """Straight-line programs on a few bounded parameters of one dtype."""
    element = draw(st.sampled_from(dtypes))
    dtype = DTYPES[element]
    bounds: list[tuple[int, int]] = []
    block = Block()
    numbers: list[SSAValue] = []
    bools: list[SSAValue] = []
    small = st.integers(max(-12, int(dtype.low)), 12)
    wide = st.integers(int(dtype.low), int(dtype.high))

    def append(op: Operation, pool: list[SSAValue]) -> None:
        block.add_op(op)
        pool.append(op.results[0])

    for slot in range(draw(st.integers(1, 3))):
        low, high = sorted(draw(st.tuples(small, small | wide)))
        bounds.append((low, high))
        append(ParamOp(slot, tensor_type(element), min=low, max=high), numbers)
    for value in draw(st.lists(small | wide, min_size=1, max_size=4)):
        append(ConstOp(value, element), numbers)

    def pick(pool: list[SSAValue]) -> SSAValue:
        """Often one of the last: what is made of what was just made is what rules are about."""
        first = max(0, len(pool) - 4) if draw(st.booleans()) else 0
        return pool[draw(st.integers(first, len(pool) - 1))]

    def append_quotient() -> None:
        """A sum with a product in it, divided by a factor of that."""
        factor, other = pick(numbers), pick(numbers)
        append(OPS["tg.mul"](other, factor), numbers)
        if draw(st.booleans()):
            append(OPS["tg.add"](numbers[-1], pick(numbers)), numbers)
        dividend = numbers[-1]
        if draw(st.booleans()):
            append(OPS["tg.mul"](factor, pick(numbers)), numbers)
            factor = numbers[-1]
        append(OPS[draw(st.sampled_from(["tg.idiv", "tg.mod"]))](dividend, factor), numbers)

    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(["arithmetic"] * 4 + KINDS))
        if kind == "quotient":
            append_quotient()
            continue
        if kind == "cast" and bools:
            append(CastOp(pick(bools), element), numbers)
            continue
        if kind == "comparison" or not bools:
            op = draw(st.sampled_from(COMPARISON if kind != "arithmetic" else ARITHMETIC))
        elif kind == "arithmetic":
            op = draw(st.sampled_from(ARITHMETIC))
        elif kind == "where":
            pool = numbers if draw(st.booleans()) else bools
            operands = (pick(bools), pick(pool), pick(pool))
            append(OPS["tg.where"](*operands), pool)
            continue
        else:
            op = draw(st.sampled_from(LOGIC))
            arity = ARITY.get(op, 2)
            append(OPS[f"tg.{op}"](*(pick(bools) for _ in range(arity))), bools)
            continue
        arity = ARITY.get(op, 2)
        pool = bools if op in COMPARISON else numbers
        append(OPS[f"tg.{op}"](*(pick(numbers) for _ in range(arity))), pool)
    results = [*numbers[-3:], *bools[-2:]]
    block.add_op(ReturnOp(*results))
    function = FuncOp("f", ((), [r.type for r in results]), Region(block))
    arguments = [
        {slot: draw(st.integers(low, high)) for slot, (low, high) in enumerate(bounds)}
        for _ in range(4)
    ]
    return Program(ModuleOp([function]), arguments)


def run(block: Block, arguments: dict[int, int]) -> dict[SSAValue, float]:
    """The value of everything in a block."""
    values: dict[SSAValue, float] = {}
    for op in block.ops:
        if isinstance(op, ParamOp):
            values[op.result] = arguments[op.slot.data]
        elif isinstance(op, ConstOp):
            attribute = constant_attribute(op.result)
            assert attribute is not None
            values[op.result] = number(attribute)
        elif not isinstance(op, ReturnOp):
            source, result = (
                DTYPES[tensor(v).element_type] for v in (op.operands[0], op.results[0])
            )
            folded = evaluate(op.name, source, result, [values[o] for o in op.operands])
            assert folded is not None
            values[op.results[0]] = folded
    return values


def outputs(block: Block, arguments: dict[int, int]) -> list[float]:
    """What the function returns."""
    values = run(block, arguments)
    assert block.last_op is not None
    return [values[o] for o in block.last_op.operands]
