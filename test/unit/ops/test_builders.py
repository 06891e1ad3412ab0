"""Builders derive what the verifier checks, and refuse what it refuses."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Block, Region
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr, TupleType
from tgdialect.ops.call import FunctionOp, KernelOp, TupleOp
from tgdialect.ops.dtypes import F32, I32, INDEX
from tgdialect.ops.elementwise import AddOp, CastOp, Exp2Op
from tgdialect.ops.memory import CopyOp, LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp, PermuteOp, ReshapeOp
from tgdialect.ops.ordering import EndOp, RangeOp, SinkOp
from tgdialect.ops.properties import result_type
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp

CPU = PlaceAttr.of("CPU", AddrSpace.GLOBAL)


def test_results_are_inferred():
    x = ParamOp(0, TensorType(F32, (4, 1)))
    y = BufferOp(0, TensorType(F32, (3,), CPU))
    total = AddOp(x, y)
    assert total.result.type == TensorType(F32, (4, 3), PlaceAttr.of("CPU"))
    assert CastOp(total, I32).result.type == TensorType(I32, (4, 3), PlaceAttr.of("CPU"))
    assert LoadOp(y).result.type == TensorType(F32, (3,), PlaceAttr.of("CPU"))
    assert CopyOp(y, ("A", "B", "C")).result.type == TensorType(
        F32, (3,), PlaceAttr.of(("A", "B", "C"), axis=0)
    )
    for op in (total, LoadOp(y), CopyOp(y, "GPU")):
        op.verify()


def test_types_are_shared():
    """Building many ops does not build their types again."""
    x = ParamOp(0, TensorType(F32, (4,), CPU))
    assert Exp2Op(x).result.type is Exp2Op(x).result.type


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: AddOp(x, ParamOp(0, TensorType(F32, (5,)))), "axis 0: 4 and 5 do not broadcast"),
        (lambda x: PermuteOp(x, [1]), r"order \[1\] is not a permutation of 1 axes"),
        (lambda x: ReshapeOp(x, [3]), "reshape from 4 to 3 changes the number of elements"),
        (lambda x: IndexOp(x, [x, x]), "2 indices into a tensor of 1 axes"),
        (lambda x: CastOp(x, StringAttr("f32")), '"f32" is not a dtype'),
        (lambda x: ConstOp(300, TensorType(F32, ())), "is not a dtype"),
        (lambda x: ConstOp(2.5, I32), "2.5 is not representable in i32"),
        (lambda x: ConstOp(2**63, INDEX), "is not representable in index"),
        (lambda x: CopyOp(x, ("A", "B", "C")), "does not split into 3 equal shards"),
        (lambda x: PlaceAttr.of("A", axis=0), "a sharding axis needs a tuple of devices"),
        (lambda x: PlaceAttr(StringAttr("A"), StringAttr("l2"), CPU.axis_attr), "'l2' is not one"),
    ],
)
def test_builders_refuse(build, message: str):
    with pytest.raises(VerifyException, match=message):
        build(ParamOp(0, TensorType(F32, (4,))))


def test_rebuild_keeps_arguments_and_location():
    x = ParamOp(0, TensorType(F32, (4, 8)))
    old = PermuteOp(x, [1, 0])
    old.location = FileLineColLoc.new((StringAttr("f.mlir"), IntAttr(3), IntAttr(7)))
    old.result.name_hint = "t"
    new = old.rebuild([ParamOp(0, TensorType(I32, (2, 3), CPU))])
    assert new.result.type == TensorType(I32, (3, 2), CPU)
    assert (new.location, new.result.name_hint) == (old.location, "t")
    leaf = x.rebuild([])
    assert leaf.result.type == x.result.type


def function(extent: int) -> tuple[FunctionOp, Block]:
    n = ParamOp(0, TensorType(INDEX, ()))
    x = ParamOp(1, TensorType(F32, (-(2**63),)), [n])
    body = Block([n, x, e := Exp2Op(x), TupleOp([e])])
    arguments = [ConstOp(extent, INDEX), ParamOp(0, TensorType(F32, (extent,), CPU))]
    return FunctionOp(arguments, Region(body)), body


def test_deriving_a_functions_type_leaves_its_body_alone():
    op, body = function(8)
    before = str(body)
    element = TensorType(F32, (8,), PlaceAttr.of("CPU"))
    assert op.result.type == TupleType(ArrayAttr([element]))
    assert result_type(op) == op.result.type
    op.verify()
    assert str(body) == before


def test_dead_code_elimination_keeps_parameters():
    """Slots are dense and callers pass arguments, so an unused parameter stays."""
    place = PlaceAttr.of(addrspace=AddrSpace.GLOBAL)
    kernel = KernelOp(
        "k",
        Region(
            Block(
                [
                    ParamOp(0, TensorType(F32, (), place)),
                    out := ParamOp(1, TensorType(F32, (), place)),
                    one := ConstOp(1.0, F32),
                    ConstOp(2.0, F32),
                    store := StoreOp(out, one),
                    SinkOp([store]),
                ]
            )
        ),
    )
    module = ModuleOp([kernel])
    DeadCodeElimination().apply(Context(), module)
    module.verify()
    assert [p.slot.data for p in kernel.params] == [0, 1]
    assert sum(isinstance(op, ConstOp) for op in kernel.body.block.ops) == 1


def test_loops():
    out = ParamOp(0, TensorType(F32, (4,), PlaceAttr.of(addrspace=AddrSpace.GLOBAL)))
    i = RangeOp(0, AxisType.LOOP, ConstOp(4, INDEX))
    store = StoreOp(IndexOp(out, [i]), ConstOp(0.0, F32))
    end = EndOp(store, [i])
    end.verify()
    with pytest.raises(VerifyException, match="range 0 is closed more than once"):
        EndOp(store, [i]).verify()
