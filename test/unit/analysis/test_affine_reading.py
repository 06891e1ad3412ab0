"""What is read of index arithmetic as a sum has its values, modulo 2^width or exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from integer_programs import Program, programs, run
from random_seeds import searched
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, greatest, interval, is_less
from tgdialect.analysis.affine.positions import (
    LoopVariable,
    Position,
    PositionAtom,
    Positions,
    interval_of,
)
from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops.affine import Affine, monomials
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.dtypes import F32, INDEX
from tgdialect.ops.elementwise import AddOp, MulOp, SubOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import RangeOp, dependent_ranges
from tgdialect.ops.properties import dtype_of, polynomial, tensor_type
from tgdialect.ops.source import ConstOp, ParamOp


def value(of, values: Mapping[SSAValue, float]) -> int:
    return sum(c * math.prod(int(values[atom]) for atom in atoms) for atoms, c in monomials(of))


@searched(300, programs())
def test_polynomials_of_integer_programs(program: Program):
    """Any op may be in between: it is an atom, and so is what might wrap."""
    min_max = MinMax()
    for arguments in program.arguments:
        values = run(program.block, arguments)
        for result, expected in values.items():
            dtype = dtype_of(result)
            if not dtype.is_integer:
                continue
            read = polynomial(result)
            assert (value(read, values) - int(expected)) % (1 << dtype.bits) == 0
            exact = exact_polynomial(result, min_max)
            assert value(exact, values) == expected
            assert expected in interval(exact, min_max)
            assert expected <= greatest(exact, min_max)
            assert value(polynomial(result, (result,)), values) == expected


# -- loops whose bounds are not constant ---------------------------------------------------------

INDICES = st.recursive(
    st.integers(-4, 9) | st.sampled_from("nmijk"),
    lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner),
    max_leaves=6,
)
OPS = {"+": (AddOp, int.__add__), "-": (SubOp, int.__sub__), "*": (MulOp, int.__mul__)}


class Loops:
    """i below n, j below n + m, k below 3, and all values that they have for n, m in [1, 3]."""

    def __init__(self) -> None:
        n, m = (ParamOp(s, tensor_type(INDEX), min=1, max=3).result for s in (0, 1))
        bounds = n, AddOp(n, m).result, ConstOp(3, INDEX).result
        ranges = [RangeOp(a, AxisType.LOOP, bound).result for a, bound in enumerate(bounds)]
        self.values: dict[str, SSAValue] = dict(zip("nmijk", (n, m, *ranges), strict=True))

    def build(self, expression) -> SSAValue:
        match expression:
            case int():
                return ConstOp(expression, INDEX).result
            case str():
                return self.values[expression]
            case (op, a, b):
                return OPS[op][0](self.build(a), self.build(b)).result

    @staticmethod
    def iterations() -> Iterator[dict[str, int]]:
        for n, m in product(range(1, 4), repeat=2):
            for i, j, k in product(range(n), range(n + m), range(3)):
                yield {"n": n, "m": m, "i": i, "j": j, "k": k}


def evaluate(expression, values: Mapping[str, int]) -> int:
    match expression:
        case int():
            return expression
        case str():
            return values[expression]
        case (op, a, b):
            return OPS[op][1](evaluate(a, values), evaluate(b, values))


@given(INDICES, INDICES)
def test_bounds_of_loop_variables(a, b):
    """RANGEs are less than their bounds, whatever these are."""
    loops, min_max = Loops(), MinMax()
    x, y = (exact_polynomial(loops.build(e), min_max) for e in (a, b))
    pairs = [(evaluate(a, v), evaluate(b, v)) for v in loops.iterations()]
    assert max(p for p, _ in pairs) <= greatest(x, min_max)
    if is_less(x, y, min_max):
        assert all(p < q for p, q in pairs)


def test_the_last_iteration_is_below_the_bound():
    loops, min_max = Loops(), MinMax()
    i, j, n, m = (Affine({(loops.values[name],): 1}) for name in "ijnm")
    assert is_less(i, n, min_max)
    assert is_less(i + j, n * 2 + m - 1, min_max)
    assert not is_less(i + j, n * 2 + m - 2, min_max)


@given(INDICES, INDICES, st.integers(1, 9))
def test_strides_are_differences_of_row_major_positions(a, b, width):
    loops = Loops()
    n = loops.values["n"]
    place = PlaceAttr.of(addrspace=AddrSpace.GLOBAL)
    memory = ParamOp(2, TensorType(F32, [-1, width], place), [n]).result
    location = IndexOp(memory, [loops.build(a), loops.build(b)]).result
    found = strides(location, dependent_ranges)
    for values in loops.iterations():
        here = evaluate(a, values) * width + evaluate(b, values)
        for name in "ijk":
            owner = loops.values[name].owner
            assert isinstance(owner, RangeOp)
            beyond = values | {name: values[name] + 1}
            there = evaluate(a, beyond) * width + evaluate(b, beyond)
            assert found.get(owner, 0) in (None, there - here)


# -- positions -----------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "sub", "mul", "idiv", "mod"]),
        st.integers(0, 30) | st.sampled_from(["same", "other"]),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=7,
)


def atom_value(atom: PositionAtom, values: Mapping[LoopVariable, int]) -> int:
    if atom.kind == "digit":
        loop, divisor, extent = atom.digit
        return values[loop] // divisor % (extent or 2**62)
    if atom.kind == "product":
        return math.prod(atom_value(factor, values) for factor in atom.parts)
    a, b = (position_value(part, values) for part in atom.parts)
    if b == 0:
        return 0
    return a // b if atom.kind == "idiv" else a % b


def position_value(of: Position, values: Mapping[LoopVariable, int]) -> int:
    return of.constant + sum(c * atom_value(atom, values) for atom, c in of.terms.items())


@searched(
    300, st.lists(st.sampled_from([2, 3, 4, 6, 8, 12]), min_size=2, max_size=3), STEPS, st.data()
)
def test_positions(extents, steps, data):
    """Digits are cut and put together again, and divisions are: what is left has the same value."""
    positions = Positions()
    loops = [LoopVariable(extent, extent) for extent in extents]
    points = [
        dict(zip(loops, point, strict=True))
        for point in data.draw(
            st.lists(st.tuples(*(st.integers(0, e - 1) for e in extents)), min_size=1, max_size=8)
        )
    ]
    known = [(positions.digit(loop), [point[loop] for point in points]) for loop in loops]
    for op, operand, which in steps:
        a, of_a = known[which % len(known)]
        if isinstance(operand, int):
            b, of_b = Affine(constant=operand), [operand] * len(points)
        else:
            b, of_b = known[which % 2 if operand == "other" else -1]
        result = getattr(positions, op)(a, b)
        pairs = zip(of_a, of_b, strict=True)
        match op:
            case "add":
                expected = [p + q for p, q in pairs]
            case "sub":
                expected = [p - q for p, q in pairs]
            case "mul":
                expected = [p * q for p, q in pairs]
            case "idiv":
                expected = [p // q if q else 0 for p, q in pairs]
            case _:
                expected = [p % q if q else 0 for p, q in pairs]
        assert [position_value(result, point) for point in points] == expected
        bounds = interval_of(result)
        assert all(bounds.lo <= e <= bounds.hi for e in expected)
        if positions.is_below(result, b):
            assert all(0 <= p < q for p, q in zip(expected, of_b, strict=True))
        if max(map(abs, expected)) < 2**40:
            known.append((result, expected))


def test_splitting_and_merging_cancels():
    positions = Positions()
    i = positions.digit(LoopVariable(24, 24))
    high, low = positions.divided(i, Affine(constant=6))
    assert interval_of(low).hi == 5
    assert positions.add(high * 6, low) == i
    quotient, remainder = positions.divided(positions.add(i * 5, i), Affine(constant=7))
    assert quotient.atom is not None
    assert quotient.atom.kind == "idiv"
    assert positions.add(quotient * 7, remainder) == i * 6
