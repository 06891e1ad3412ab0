"""Result types that are remembered, and copies that are made without xDSL's constructor."""

import random
from io import StringIO

from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.dialects.utils import dynamic_index_list
from xdsl.ir import Block, Operation
from xdsl.printer import Printer

from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import TYPES
from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.movement import PadOp, PermuteOp, ReshapeOp, ShrinkOp
from tgdialect.ops.properties import result_type, tensor_type


def _random_op(rng: random.Random) -> TgOp:
    shape = tuple(rng.choice((1, 2, 3)) for _ in range(rng.randint(1, 3)))
    type = tensor_type(TYPES[rng.choice(("f32", "i32"))], shape)
    a, b = Block(arg_types=[type, type]).args
    ones = [1] * len(shape)
    order = rng.sample(range(len(shape)), len(shape))
    return rng.choice(
        [
            lambda: AddOp(a, b),
            lambda: ReshapeOp(a, [shape[axis] for axis in order]),
            lambda: PermuteOp(a, order),
            lambda: PadOp(a, ones, [extent + rng.randint(1, 2) for extent in shape]),
            lambda: ShrinkOp(a, [extent - 1 for extent in shape], ones),
        ]
    )()


def test_remembered_types_are_those_of_the_rules():
    rng = random.Random(0)
    for _ in range(400):
        op = _random_op(rng)
        assert op.results[0].type == result_type(op)


def test_copies_are_those_of_xdsl():
    rng = random.Random(1)
    for _ in range(50):
        op = _random_op(rng)
        op.attributes["note"] = StringAttr("kept")
        ours = op.clone()
        theirs = Operation.create.__func__(  # pyright: ignore[reportFunctionMemberAccess]
            op.__class__,
            operands=op.operands,
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        for name in ("operands", "result_types", "properties", "attributes", "location"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert list(ours.successors) == list(theirs.successors) == []


def test_lists_are_printed_as_by_xdsl():
    rng = random.Random(2)
    source = Block(arg_types=[tensor_type(TYPES["f32"], (1, 1))]).args[0]
    for _ in range(50):
        offsets = [rng.randint(0, 99) for _ in range(2)]
        shape = [offset + rng.randint(1, 99) for offset in offsets]
        stream = StringIO()
        for word, values in (("at ", offsets), (" to ", shape)):
            stream.write(word)
            printer = Printer(stream)
            dynamic_index_list.print_dynamic_index_list(printer, DYNAMIC_INDEX, [], values)
        assert stream.getvalue() in str(PadOp(source, offsets, shape))
