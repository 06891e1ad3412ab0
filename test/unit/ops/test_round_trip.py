"""What a builder makes is what its text parses to, custom or generic: every op, at random."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    Builtin,
    FloatAttr,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tgdialect.dialect import TG
from tgdialect.ops import call, codegen, elementwise, marker, memory, movement, ordering
from tgdialect.ops.attributes import (
    AddrSpace,
    AxisType,
    DataAttr,
    OptAttr,
    PlaceAttr,
    ReduceKind,
    WmmaAttr,
)
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import BOOL, DTYPES, F32, I32, INDEX, UI64, number_attribute, round_to
from tgdialect.ops.multi import ReplicatedOp
from tgdialect.ops.printing import printed
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.scan import ScanOp
from tgdialect.ops.source import BinaryDataOp, BufferOp, ConstOp, ParamOp, VConstOp

DTYPE_LIST = list(DTYPES)
FLOATS = [d for d in DTYPE_LIST if DTYPES[d].is_float]
NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8)
"""ASCII: xDSL prints other characters as bytes, and parses these as another kind of literal."""

SIZES = st.integers(0, 2**61)
FILES = st.builds(
    lambda names, offset, length: DataAttr.in_file(".", "/".join(names), offset, length),
    st.lists(NAMES.filter(lambda name: re.fullmatch(r"(?!\.{0,2}$)[^/\\]+", name)), min_size=1),
    SIZES,
    SIZES,
)
"""Parts of files that are not there, in the folder of a text without a file."""


@dataclass
class Maker:
    """Makes operands, which go before the op in a block."""

    draw: st.DrawFn
    ops: list[Operation] = field(default_factory=list)

    def add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        sizes = st.sampled_from([1, 2, 3, 4, 8])
        ranks = (0, 3) if rank is None else (rank, rank)
        return tuple(self.draw(st.lists(sizes, min_size=ranks[0], max_size=ranks[1])))

    def dtype(self, allowed: list[Attribute] = DTYPE_LIST) -> Attribute:
        return self.draw(st.sampled_from(allowed))

    def value(
        self, dtype: Attribute | None = None, shape: tuple[int, ...] | None = None
    ) -> SSAValue:
        """A PARAM, on a device or not."""
        place = self.draw(st.sampled_from([None, PlaceAttr.of("CPU")]))
        chosen = self.shape() if shape is None else shape
        dtype = self.dtype() if dtype is None else dtype
        return self.add(ParamOp(len(self.ops), tensor_type(dtype, chosen, place)))

    def memory(self, dtype: Attribute = F32, shape: tuple[int, ...] = (4,)) -> SSAValue:
        type = tensor_type(dtype, shape, PlaceAttr.of("CPU", AddrSpace.GLOBAL))
        return self.add(BufferOp(len(self.ops), type))

    def index(self) -> SSAValue:
        return self.add(ConstOp(self.draw(st.integers(0, 9)), INDEX))

    def store(self) -> SSAValue:
        return self.add(memory.StoreOp(self.memory(), self.value(F32, (4,))))

    def loop(self) -> SSAValue:
        return self.add(ordering.RangeOp(len(self.ops), AxisType.LOOP, self.index()))

    def number(self, dtype: Attribute) -> float:
        row = DTYPES[dtype]
        if not row.is_float:
            return self.draw(st.integers(int(row.low), int(row.high)))
        number = self.draw(st.floats() | st.floats(-100, 100))
        rounded = round_to(row, number)
        fits = number != number or abs(rounded) != float("inf") or number == rounded
        return number if fits and (rounded == rounded or number != number) else 0.1

    def dims(self, shape: tuple[int, ...]) -> list[int | SSAValue]:
        """Extents, one of them perhaps an index value."""
        unknown = tensor_type(INDEX)
        return [
            self.add(ParamOp(len(self.ops), unknown)) if self.draw(st.booleans()) else extent
            for extent in shape
        ]


def elementwise_op(op_type: type[Operation]) -> Callable[[Maker], Operation]:
    """An op of as many operands as its class has, of one shape."""

    def make(m: Maker) -> Operation:
        allowed = [d for d in DTYPE_LIST if DTYPES[d] in op_type.DOMAIN]
        dtype, shape = m.dtype(allowed), m.shape()
        operands = len(op_type.get_irdl_definition().operands)
        if op_type is elementwise.ThreefryOp:
            dtype = UI64
        if op_type is elementwise.CastOp:
            return op_type(m.value(dtype, shape), m.dtype())
        if op_type is elementwise.WhereOp:
            dtype = m.dtype()
            return op_type(m.value(BOOL, shape), m.value(dtype, shape), m.value(dtype, ()))
        return op_type(*(m.value(dtype, shape) for _ in range(operands)))

    return make


MARKERS = (marker.ContiguousOp, marker.ContiguousBackwardOp, marker.DetachOp)


def marker_op(op_type: type[marker.MarkerOp]) -> Callable[[Maker], Operation]:
    return lambda m: op_type(m.value())


def param(m: Maker) -> Operation:
    low, high = sorted(m.draw(st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 2)))
    if m.draw(st.booleans()):
        return ParamOp(len(m.ops), tensor_type(INDEX), name=m.draw(NAMES), min=low, max=high)
    return ParamOp(1, tensor_type(m.dtype(), (DYNAMIC_INDEX, 4)), [m.index()])


def const(m: Maker) -> Operation:
    dtype = m.dtype()
    return ConstOp(m.number(dtype), dtype)


def pad(m: Maker) -> Operation:
    dtype = m.dtype()
    fill = number_attribute(m.number(dtype), dtype) if m.draw(st.booleans()) else None
    return movement.PadOp(m.value(dtype, (2, 3)), m.dims((1, 0)), m.dims((4, 5)), fill)


def index(m: Maker) -> Operation:
    indices = [m.value(INDEX, m.draw(st.sampled_from([(), (3,)]))) for _ in range(2)]
    return movement.IndexOp(m.value(None, (4, 5, 2)), indices[: m.draw(st.integers(0, 2))])


def reduce(m: Maker) -> Operation:
    kind, ordered = m.draw(st.sampled_from(list(ReduceKind))), m.draw(st.booleans())
    if m.draw(st.booleans()):
        return ReduceOp(kind, m.value(F32, ()), [], [m.loop(), m.loop()], ordered=ordered)
    return ReduceOp(kind, m.value(None, (2, 3)), m.draw(st.sampled_from([[], [1], [1, 0]])))


def load(m: Maker) -> Operation:
    where = {"device": m.draw(st.sampled_from([None, "B", ("A", "B")]))}
    where["addrspace"] = m.draw(st.sampled_from([None, AddrSpace.REG]))
    if m.draw(st.booleans()):
        return memory.LoadOp(m.memory(), **where)
    return memory.LoadOp(m.memory(), m.value(F32, (4,)), m.value(BOOL, ()), **where)


def store(m: Maker) -> Operation:
    gate = [m.value(BOOL, (4,))] if m.draw(st.booleans()) else []
    return memory.StoreOp(m.memory(), m.value(F32, (4,)), *gate)


def copy(m: Maker) -> Operation:
    device = m.draw(st.sampled_from(["B", ("A", "B")]))
    return memory.CopyOp(m.value(None, (4, 2)), device, clone=m.draw(st.booleans()))


def function(m: Maker) -> Operation:
    x = m.value(F32, (4,))
    body = Block([p := ParamOp(0, tensor_type(F32, (4,))), call.TupleOp([p])])
    return call.FunctionOp([x], Region(body))


def scanned(m: Maker) -> Operation:
    state, sequence = m.value(F32, (4,)), m.value(F32, (3, 4))
    params = [ParamOp(slot, tensor_type(F32, (4,))) for slot in range(2)]
    body = Block([*params, call.TupleOp(params)])
    reverse = m.draw(st.booleans())
    region = Region(body)
    return ScanOp([state, sequence], region, states=1, sequences=1, steps=3, reverse=reverse)


def gettuple(m: Maker) -> Operation:
    return call.GetTupleOp(m.add(call.TupleOp([m.value(), m.value()])), m.draw(st.integers(0, 1)))


def sink(m: Maker) -> Operation:
    opts = ArrayAttr(
        [OptAttr(StringAttr("split"), ArrayAttr([IntAttr(0), IntAttr(4), StringAttr("upcast")]))]
    )
    return ordering.SinkOp([m.store()], opts if m.draw(st.booleans()) else None)


def replicated(m: Maker) -> Operation:
    return ReplicatedOp(m.add(memory.CopyOp(m.value(None, (2, 4)), ("A", "B"))), 0)


def wmma(m: Maker) -> Operation:
    config = Parser(context(), "#tg.wmma<16x8x16>").parse_attribute()
    assert isinstance(config, WmmaAttr)
    half = DTYPE_LIST[[DTYPES[d].name for d in DTYPE_LIST].index("f16")]
    a, b = m.value(half, (16, 16)), m.value(half, (16, 8))
    return codegen.WmmaOp(a, b, m.value(F32, (16, 8)), config)


def linear() -> codegen.LinearOp:
    return ordering.LinearOp(Region(Block([ConstOp(0.1, F32)])))


def kernel(m: Maker) -> Operation:
    inner = Maker(m.draw)
    inner.add(ordering.SinkOp([inner.store()]))
    return call.KernelOp("k", Region(Block(inner.ops)))


def program(m: Maker) -> Operation:
    rest = [codegen.SourceOp(m.draw(NAMES)), BinaryDataOp(m.draw(st.binary(max_size=5)))]
    return codegen.ProgramOp("p", Region(Block([linear(), *rest])))


def condition(m: Maker) -> SSAValue:
    return m.add(codegen.IfOp(m.value(BOOL, ())))


OPS: dict[type[Operation], Callable[[Maker], Operation]] = {
    **{op: elementwise_op(op) for op in (*elementwise.PRIMITIVES, *elementwise.DECOMPOSED)},
    **{op: marker_op(op) for op in MARKERS},
    ParamOp: param,
    BufferOp: lambda m: m.memory(m.dtype(), m.shape()).owner,
    ConstOp: const,
    VConstOp: lambda m: VConstOp(m.draw(st.lists(st.integers(-(2**63), 2**63 - 1)))),
    BinaryDataOp: lambda m: BinaryDataOp(m.draw(st.binary(max_size=9) | FILES)),
    movement.PermuteOp: lambda m: movement.PermuteOp(m.value(None, (2, 3)), [1, 0]),
    movement.FlipOp: lambda m: movement.FlipOp(
        m.value(None, (2, 3)), [m.draw(st.booleans()), True]
    ),
    movement.ReshapeOp: lambda m: movement.ReshapeOp(m.value(None, (2, 3)), [3, 2]),
    movement.ExpandOp: lambda m: movement.ExpandOp(m.value(None, (1, 1)), m.dims((3, 4))),
    movement.PadOp: pad,
    movement.ShrinkOp: lambda m: movement.ShrinkOp(m.value(None, (4, 5)), [1, 0], m.dims((2, 2))),
    movement.IndexOp: index,
    movement.StackOp: lambda m: movement.StackOp([m.value(F32, (2,)), m.value(F32, (2,))]),
    movement.BitcastOp: lambda m: movement.BitcastOp(m.value(F32, (4,)), I32),
    ReduceOp: reduce,
    call.FunctionOp: function,
    ScanOp: scanned,
    call.KernelOp: kernel,
    call.CallOp: lambda m: call.CallOp("k", [m.memory() for _ in range(m.draw(st.integers(0, 2)))]),
    call.TupleOp: lambda m: call.TupleOp([m.value() for _ in range(m.draw(st.integers(0, 3)))]),
    call.GetTupleOp: gettuple,
    memory.LoadOp: load,
    memory.StoreOp: store,
    memory.CopyOp: copy,
    ordering.RangeOp: lambda m: ordering.RangeOp(
        m.draw(st.integers(0, 99)), m.draw(st.sampled_from(list(AxisType))), m.index()
    ),
    ordering.EndOp: lambda m: ordering.EndOp(m.store(), [m.loop(), m.loop()]),
    ordering.AfterOp: lambda m: ordering.AfterOp(m.memory(), [m.store(), m.value()]),
    ordering.GroupOp: lambda m: ordering.GroupOp([m.store() for _ in range(2)]),
    ordering.SinkOp: sink,
    ordering.LinearOp: lambda m: linear(),
    codegen.BarrierOp: lambda m: codegen.BarrierOp([m.store()] if m.draw(st.booleans()) else []),
    codegen.InsOp: lambda m: codegen.InsOp(f"cpu.{m.draw(NAMES)}", [m.value()], tensor_type(F32)),
    codegen.SpecialOp: lambda m: codegen.SpecialOp("lidx1", m.index()),
    codegen.IfOp: lambda m: condition(m).owner,
    codegen.EndIfOp: lambda m: codegen.EndIfOp(condition(m)),
    codegen.WmmaOp: wmma,
    codegen.ShuffleOp: lambda m: codegen.ShuffleOp(m.value(), m.draw(st.integers(1, 31)), 32),
    codegen.CustomOp: lambda m: codegen.CustomOp(m.draw(NAMES), [m.value(), m.value()]),
    codegen.AtomicAddOp: lambda m: codegen.AtomicAddOp(m.memory(), m.value(F32, (4,))),
    codegen.CustomFunctionOp: lambda m: codegen.CustomFunctionOp("f", [m.value()]),
    codegen.SourceOp: lambda m: codegen.SourceOp(m.draw(NAMES)),
    codegen.ProgramOp: program,
    ReplicatedOp: replicated,
}


def context() -> Context:
    result = Context()
    for dialect in (Builtin, Func, TG):
        result.load_dialect(dialect)
    return result


def test_every_op_is_here():
    assert set(OPS) == set(TG.operations)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op_type", OPS, ids=lambda op: op.name)
@settings(max_examples=5)
@given(st.data())
def test_text_is_the_op(op_type: type[Operation], data: st.DataObject):
    maker = Maker(data.draw)
    op = OPS[op_type](maker)
    module = ModuleOp([*maker.ops, op] if op not in maker.ops else maker.ops)
    for generic in (False, True):
        text = io.StringIO()
        Printer(text, print_generic_format=generic).print_op(module)
        parsed = Parser(context(), text.getvalue()).parse_module()
        assert parsed.is_structurally_equivalent(module), text.getvalue()
    assert printed(module).text == str(module)
    if not op.regions:  # xDSL's builders get each new op, whichever way it is made.
        with ImplicitBuilder(Block()):
            made = [op.clone(), *([op.rebuild(op.operands)] if isinstance(op, TgOp) else [])]
            assert all(each.parent is not None for each in made)
    # The same ops again, on other values, are printed by what is kept of the first.
    copies: dict[SSAValue, SSAValue] = {}
    for each in list(module.ops):
        module.body.block.add_op(each.clone(copies))
    assert printed(module).text == str(module)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_text_keeps_the_sign_and_the_payload_of_nan(dtype: AnyFloat):
    """As far as Python's numbers do: signalling NaNs are quiet, those of f16 have no payload."""
    size = dtype.compile_time_size
    canonical = int.from_bytes(dtype.pack([math.nan]), "little")
    for bits in (canonical, canonical + 1, canonical | 1 << (8 * size - 1)):
        (kept,) = dtype.unpack((bits % 256**size).to_bytes(size, "little"), 1)
        op = ConstOp(FloatAttr(kept, dtype))
        (parsed,) = Parser(context(), printed(ModuleOp([op])).text).parse_module().ops
        assert isinstance(parsed, ConstOp)
        assert dtype.pack([parsed.value.value.data]) == dtype.pack([kept])
        is_plain = not math.isnan(kept) or dtype.pack([kept]) == dtype.pack([math.nan])
        assert ("0x" not in str(op)) == is_plain


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_builders_round_as_text_does(dtype: Attribute):
    for number in (0.1, -1 / 3, 1e-4, 3):
        (op,) = Parser(context(), f"%0 = tg.const {number!r} : tensor<{dtype}>").parse_module().ops
        assert isinstance(op, ConstOp)
        assert ConstOp(number, dtype).value == op.value
        assert ConstOp(number, dtype).value == number_attribute(number, dtype)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConstOp(1e39, F32),
        lambda: ConstOp(449 * 2, DTYPE_LIST[-6]),
        lambda: ConstOp(2**31, I32),
        lambda: ConstOp(0.5, I32),
        lambda: VConstOp([0, 2**63]),
    ],
)
def test_builders_refuse_what_text_refuses(make):
    with pytest.raises(VerifyException, match="not representable"):
        make()
