"""Where builders put ops, and which locations and numbers they give them."""

from __future__ import annotations

import sys

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from tgdialect.ops.attributes import AxisType
from tgdialect.ops.builder import UNKNOWN, OpBuilder, UniquingBuilder
from tgdialect.ops.dtypes import F32, INDEX, number_attribute
from tgdialect.ops.elementwise import AddOp, MulOp, NegOp
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp

HERE, THERE = (FileLineColLoc(StringAttr("f"), IntAttr(line), IntAttr(1)) for line in (1, 2))


def constants(block: Block) -> list[int]:
    return [op.value.value.data for op in block.ops if isinstance(op, ConstOp)]


def test_ops_follow_each_other_at_the_insertion_point():
    block = Block()
    OpBuilder.at_end(block).index_constant(0)
    anchor = OpBuilder.at_end(block).insert(ConstOp(5, INDEX))
    before, after, end = OpBuilder.before(anchor), OpBuilder.after(anchor), OpBuilder.at_end(block)
    for first, builder in ((1, before), (6, after), (8, end)):
        builder.index_constant(first)
        builder.index_constant(first + 1)
    assert constants(block) == [0, 1, 2, 5, 6, 7, 8, 9]
    end.move_before(anchor)
    end.index_constant(3)
    assert constants(block) == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_ops_without_a_location_get_the_builders():
    block = Block()
    anchor = OpBuilder.at_end(block, HERE).insert(ConstOp(0, INDEX))
    assert anchor.location is HERE
    for builder in (OpBuilder.before(anchor), OpBuilder.after(anchor)):
        assert builder.index_constant(1).owner.location is HERE
    elsewhere = OpBuilder.at_end(block, THERE)
    assert elsewhere.insert(anchor.rebuild(())).location is HERE
    assert OpBuilder.at_end(block).insert(ConstOp(0, INDEX)).location is UNKNOWN
    elsewhere.move_before(anchor)
    assert elsewhere.index_constant(2).owner.location is HERE


def test_equal_ops_are_made_once():
    builder = UniquingBuilder.at_end(Block())
    zero, minus_zero = (number_attribute(value, F32) for value in (0.0, -0.0))
    x = builder.emit(ConstOp, zero)
    assert builder.emit(ConstOp, zero) is x
    assert builder.emit(ConstOp, minus_zero) is not x
    assert builder.emit(ConstOp, number_attribute(0, INDEX)) is not x
    product = builder.emit(MulOp, x, x)
    assert builder.emit(MulOp, x, x) is product is not builder.emit(AddOp, x, x)
    assert builder.put(MulOp(x, x)) is not product
    assert builder.index_constant(7) is not builder.index_constant(7)


def test_numbers_are_free():
    """Numbers have gaps: a count of the ops there are would give one that is taken."""
    block = Block()
    builder = OpBuilder.at_end(block)
    size = builder.index_constant(4)
    for number in (5, 2):
        builder.insert(RangeOp(number, AxisType.LOOP, size))
        builder.insert(BufferOp(number + 4, tensor_type(F32)))
    later = OpBuilder.at_end(block)
    assert [next(later.free_axes), next(later.free_axes)] == [6, 7]
    assert [next(later.free_slots), next(later.free_slots)] == [10, 11]
    empty = OpBuilder.at_end(Block())
    assert (next(empty.free_axes), next(empty.free_slots)) == (0, 0)


def test_symbols_are_free():
    module = ModuleOp([FuncOp(name, ((), ())) for name in ("k", "k_1", "k_2")])
    assert symbols(module) == {"k", "k_1", "k_2"}
    assert next_symbol("k", 1, symbols(module)) == "k_3"


def test_clones_share_what_does_not_change():
    block = Block()
    builder = OpBuilder.at_end(block, HERE)
    x, y = (builder.put(ParamOp(slot, tensor_type(F32))) for slot in (0, 1))
    kept = builder.put(NegOp(y))
    changed = builder.put(NegOp(x))
    root = builder.put(AddOp(builder.put(MulOp(changed, changed)), kept))
    other = OpBuilder.at_end(block, THERE)
    z = other.put(ParamOp(2, tensor_type(F32)))
    count = len(block.ops)
    mapping: dict[SSAValue, SSAValue] = {x: z}
    new = other.clone(root, mapping)
    assert len(block.ops) == count + 3  # NEG, which both operands of MUL are, MUL and ADD.
    assert new.owner.operands[1] is kept
    assert mapping[changed].owner.operands[0] is z
    assert new.owner.location is HERE
    assert other.clone(root, mapping) is new
    assert other.clone(root, {x: z}, shared=(NegOp,)) is root
    copy = OpBuilder.at_end(Block())
    copy.clone(root, {}, everything=True)
    assert len(copy.block.ops) == 6


def test_graphs_of_any_depth_are_cloned():
    builder = OpBuilder.at_end(Block())
    x = value = builder.put(ParamOp(0, tensor_type(F32)))
    for _ in range(10_000):
        value = builder.put(NegOp(value))
    y = builder.put(ParamOp(1, tensor_type(F32)))
    frames, limit = 0, sys.getrecursionlimit()
    frame = sys._getframe()
    while frame is not None:
        frames, frame = frames + 1, frame.f_back
    sys.setrecursionlimit(frames + 50)
    try:
        new = builder.clone(value, {x: y})
    finally:
        sys.setrecursionlimit(limit)
    assert len(builder.block.ops) == 20_002
    assert new is not value
