"""Kernels as graphs and as LINEARs: loops, accumulators, gates, versions of memory."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_text import P, S, index, mem
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.block_analysis import BlockAnalysis
from tgdialect.interpreter.nesting import LoopBody, lane_schedule
from tgdialect.ops.call import KernelOp


@pytest.fixture(params=[False, True], ids=["lanes", "scalar"])
def scalar(request):
    """Every test of this file is one of both ways to run a kernel."""
    return request.param


A, B, C = mem("4x6x"), mem("6x5x"), mem("4x5x")
ACC = mem("1x", space="reg")
RS = "tensor<f32, #tg.place<reg>>"
LOADS = f"""
      {index("%pa", "%a", A, "%i", "%k")}
      {index("%pb", "%b", B, "%k", "%j")}
      %va = tg.load %pa : {S} -> tensor<f32>
      %vb = tg.load %pb : {S} -> tensor<f32>
      %m = tg.mul %va, %vb : tensor<f32>"""
PARAMS = f"""
      %c = tg.param 0 : {C}
      %a = tg.param 1 : {A}
      %b = tg.param 2 : {B}
      %n4 = tg.const 4 : tensor<index>
      %n5 = tg.const 5 : tensor<index>
      %n6 = tg.const 6 : tensor<index>
      %z = tg.const 0 : tensor<index>
      %f0 = tg.const 0.0 : tensor<f32>"""
RANGES = """
      %i = tg.range 0 loop to %n4 : tensor<index>
      %j = tg.range 1 loop to %n5 : tensor<index>
      %k = tg.range 2 reduce to %n6 : tensor<index>"""

GEMM = f"""tg.kernel @k {{ {PARAMS} {RANGES} {LOADS}
      %r = tg.reduce add %m [] over %k : tensor<f32> -> tensor<f32>
      {index("%pc", "%c", C, "%i", "%j")}
      %s = tg.store %pc, %r : {S}, tensor<f32>
      %e = tg.end %s over %j, %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""

ACCUMULATOR = f"""tg.kernel @k {{ {PARAMS} {RANGES}
      %acc = tg.buffer 0 : {ACC}
      %acc0 = tg.after %acc, %i, %j : ({ACC}, tensor<index>, tensor<index>) -> {ACC}
      {index("%p0", "%acc0", ACC, "%z")}
      %init = tg.store %p0, %f0 : {RS}, tensor<f32>
      %acc1 = tg.after %acc, %init, %k : ({ACC}, !tg.void, tensor<index>) -> {ACC}
      {index("%p1", "%acc1", ACC, "%z")}
      %old = tg.load %p1 : {RS} -> tensor<f32> {LOADS}
      %new = tg.add %old, %m : tensor<f32>
      %up = tg.store %p1, %new : {RS}, tensor<f32>
      %done = tg.end %up over %k : !tg.void
      %acc2 = tg.after %acc, %done : ({ACC}, !tg.void) -> {ACC}
      {index("%p2", "%acc2", ACC, "%z")}
      %r = tg.load %p2 : {RS} -> tensor<f32>
      {index("%pc", "%c", C, "%i", "%j")}
      %s = tg.store %pc, %r : {S}, tensor<f32>
      %e = tg.end %s over %j, %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""

LINEAR = f"""tg.program @k {{
    %l = tg.linear {{ {PARAMS}
      %acc = tg.buffer 0 : {ACC}
      {index("%p", "%acc", ACC, "%z")}
      %i = tg.range 0 loop to %n4 : tensor<index>
      %j = tg.range 1 loop to %n5 : tensor<index>
      %init = tg.store %p, %f0 : {RS}, tensor<f32>
      %k = tg.range 2 reduce to %n6 : tensor<index>
      %old = tg.load %p : {RS} -> tensor<f32> {LOADS}
      %new = tg.add %old, %m : tensor<f32>
      %up = tg.store %p, %new : {RS}, tensor<f32>
      %e0 = tg.end %up over %k : !tg.void
      %r = tg.load %p : {RS} -> tensor<f32>
      {index("%pc", "%c", C, "%i", "%j")}
      %s = tg.store %pc, %r : {S}, tensor<f32>
      %e = tg.end %s over %j, %i : !tg.void
    }}
  }}"""


@pytest.fixture
def operands():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (4, 6)), rng.integers(-9, 9, (6, 5))
    return a.astype("f4"), b.astype("f4")


@pytest.mark.parametrize("text", [GEMM, ACCUMULATOR, LINEAR], ids=["reduce", "reg", "linear"])
def test_gemm(execute, operands, text):
    a, b = operands
    c = np.full((4, 5), -1, "f4")
    assert execute(text, c, a, b, entry="k") == []
    assert c.tolist() == (a @ b).tolist()


def stepped(parse, text):
    """The axis ids of the ranges that are not run all at once."""
    (kernel,) = (op for op in parse(text).body.ops if isinstance(op, KernelOp))
    block = kernel.body.block
    found, items = [], lane_schedule(BlockAnalysis(block, graph=True)).items
    while items:
        loops = [item for item in items if isinstance(item, LoopBody)]
        found += [loop.axis.axis.data for loop in loops]
        items = [item for loop in loops for item in loop.body]
    return found


def test_only_loops_that_carry_memory_are_stepped(parse):
    assert stepped(parse, GEMM) == []
    assert stepped(parse, ACCUMULATOR) == [2]
    (kernel,) = parse(ACCUMULATOR).body.ops
    analysis = BlockAnalysis(kernel.body.block, graph=True)
    connected = analysis.connected(analysis.private)
    assert sorted(r.axis.data for r in connected) == [0, 1, 2]


@pytest.mark.parametrize("text", [ACCUMULATOR, LINEAR], ids=["reg", "linear"])
def test_a_register_that_is_never_reset_carries_on(execute, operands, text):
    """Without the store of 0 each (i, j) goes on from the last: the copies assumed are wrong."""
    a, b = operands
    once = text.replace("%init = tg.store %p0, %f0", "%init = tg.store %p0, %seven")
    once = once.replace(
        f"tg.after %acc, %i, %j : ({ACC}, tensor<index>, tensor<index>)",
        f"tg.after %acc, %z : ({ACC}, tensor<index>)",
    )
    once = once.replace(f"%init = tg.store %p, %f0 : {RS}, tensor<f32>", "")
    once = once.replace("%n4 = ", "%seven = tg.const 0.0 : tensor<f32>\n%n4 = ")
    c = np.zeros((4, 5), "f4")
    execute(once, c, a, b, entry="k")
    assert c.reshape(-1).tolist() == np.cumsum((a @ b).reshape(-1)).tolist()


SOFTMAX = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("3x5x")}
      %x = tg.param 1 : {mem("3x5x")}
      %n3 = tg.const 3 : tensor<index>
      %n5 = tg.const 5 : tensor<index>
      %i = tg.range 0 global to %n3 : tensor<index>
      %k = tg.range 1 reduce to %n5 : tensor<index>
      {index("%pk", "%x", mem("3x5x"), "%i", "%k")}
      %v = tg.load %pk : {S} -> tensor<f32>
      %top = tg.reduce max %v [] over %k : tensor<f32> -> tensor<f32>
      %d = tg.sub %v, %top : tensor<f32>
      %e = tg.exp2 %d : tensor<f32>
      %sum = tg.reduce add %e [] over %k : tensor<f32> -> tensor<f32>
      %j = tg.range 2 loop to %n5 : tensor<index>
      {index("%pj", "%x", mem("3x5x"), "%i", "%j")}
      %w = tg.load %pj : {S} -> tensor<f32>
      %d2 = tg.sub %w, %top : tensor<f32>
      %e2 = tg.exp2 %d2 : tensor<f32>
      %q = tg.div %e2, %sum : tensor<f32>
      {index("%po", "%o", mem("3x5x"), "%i", "%j")}
      %s = tg.store %po, %q : {S}, tensor<f32>
      %end = tg.end %s over %j, %i : !tg.void
      %sink = tg.sink %end : !tg.void
    }}"""


def test_softmax_reduces_twice_over_one_range(execute):
    x = np.random.default_rng(1).normal(size=(3, 5)).astype("f4")
    o = np.zeros_like(x)
    execute(SOFTMAX, o, x, entry="k")
    e = np.exp2(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(o, e / e.sum(1, keepdims=True), rtol=1e-6)


TRIANGLE = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("5x")}
      %x = tg.param 1 : {mem("5x")}
      %n = tg.param 2 "n" min 0 max 5 : tensor<index>
      %one = tg.const 1 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %m = tg.add %i, %one : tensor<index>
      %k = tg.range 1 reduce to %m : tensor<index>
      {index("%p", "%x", mem("5x"), "%k")}
      %v = tg.load %p : {S} -> tensor<f32>
      %r = tg.reduce REDUCTION %v [] over %k : tensor<f32> -> tensor<f32>
      {index("%q", "%o", mem("5x"), "%i")}
      %s = tg.store %q, %r : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_inner_bound_depends_on_outer_range(execute, n):
    """A prefix sum and maximum; the bound of the outer range is a parameter."""
    x = np.array([3, -1, 4, -1, 5], "f4")
    for kind, expected in (("add", np.cumsum(x)), ("max", np.maximum.accumulate(x))):
        o = np.full(5, 99, "f4")
        execute(TRIANGLE.replace("REDUCTION", kind), o, x, n, entry="k")
        assert o.tolist() == [*expected[:n], *[99] * (5 - n)]
    with pytest.raises(InterpretationError, match="parameter n is 6, greater than 5"):
        execute(TRIANGLE.replace("REDUCTION", "add"), o, x, 6, entry="k")


def test_triangle_with_an_accumulator(execute):
    """A stepped loop whose number of iterations differs between the lanes of the outer one."""
    text = f"""tg.program @k {{ %l = tg.linear {{
      %o = tg.param 0 : {mem("5x")}
      %x = tg.param 1 : {mem("5x")}
      %z = tg.const 0 : tensor<index>
      %n = tg.const 5 : tensor<index>
      %f0 = tg.const 0.0 : tensor<f32>
      %acc = tg.buffer 0 : {ACC}
      {index("%pa", "%acc", ACC, "%z")}
      %i = tg.range 0 loop to %n : tensor<index>
      %init = tg.store %pa, %f0 : {RS}, tensor<f32>
      %k = tg.range 1 reduce to %i : tensor<index>
      {index("%p", "%x", mem("5x"), "%k")}
      %v = tg.load %p : {S} -> tensor<f32>
      %old = tg.load %pa : {RS} -> tensor<f32>
      %new = tg.add %old, %v : tensor<f32>
      %up = tg.store %pa, %new : {RS}, tensor<f32>
      %e0 = tg.end %up over %k : !tg.void
      %r = tg.load %pa : {RS} -> tensor<f32>
      {index("%q", "%o", mem("5x"), "%i")}
      %s = tg.store %q, %r : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
    }} }}"""
    o, x = np.zeros(5, "f4"), np.array([3, -1, 4, -1, 5], "f4")
    execute(text, o, x, entry="k")
    assert o.tolist() == [0, 3, 2, 6, 5]


def test_gated_loads_and_stores(execute):
    """out[i] = x[i - 1] inside, 7 outside; cells above 3 are not written."""
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("6x")}
      %x = tg.param 1 : {mem("4x")}
      %n = tg.const 6 : tensor<index>
      %one = tg.const 1 : tensor<index>
      %four = tg.const 4 : tensor<index>
      %zero = tg.const 0 : tensor<index>
      %seven = tg.const 7.0 : tensor<f32>
      %i = tg.range 0 loop to %n : tensor<index>
      %at = tg.sub %i, %one : tensor<index>
      %neg = tg.cmplt %at, %zero : (tensor<index>, tensor<index>) -> tensor<i1>
      %in = tg.not %neg : tensor<i1>
      {index("%p", "%x", mem("4x"), "%at")}
      %v = tg.load %p alt %seven gate %in : {S}, tensor<f32>, tensor<i1> -> tensor<f32>
      %g = tg.cmplt %i, %four : (tensor<index>, tensor<index>) -> tensor<i1>
      {index("%q", "%o", mem("6x"), "%i")}
      %s = tg.store %q, %v gate %g : {S}, tensor<f32>, tensor<i1>
      %e = tg.end %s over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    o = np.full(6, -1, "f4")
    execute(text, o, np.arange(1, 5, dtype="f4"), entry="k")
    assert o.tolist() == [7, 1, 2, 3, -1, -1]


def test_out_of_bounds_reads_zero_and_writes_nothing(execute):
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("3x")}
      %x = tg.param 1 : {mem("2x")}
      %n = tg.const 5 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      {index("%p", "%x", mem("2x"), "%i")}
      %v = tg.load %p : {S} -> tensor<f32>
      {index("%q", "%o", mem("3x"), "%i")}
      %s = tg.store %q, %v : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    o = np.full(3, -1, "f4")
    execute(text, o, np.array([5, 6], "f4"), entry="k")
    assert o.tolist() == [5, 6, 0]


# -- versions of memory in a kernel --------------------------------------------------------------


def reverse(read):
    """x[i] = x[3 - i] through a read that `read` makes."""
    return f"""tg.kernel @k {{
      %x = tg.param 0 : {mem("4x")}
      %n = tg.const 4 : tensor<index>
      %three = tg.const 3 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %j = tg.sub %three, %i : tensor<index>
      {read}
      %v = tg.load %p : {S} -> tensor<f32>
      {index("%q", "%x", mem("4x"), "%i")}
      %s = tg.store %q, %v : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""


def test_unversioned_reads_of_a_kernel_see_no_store(execute):
    x = np.arange(4, dtype="f4")
    execute(reverse(index("%p", "%x", mem("4x"), "%j")), x, entry="k")
    assert x.tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("kind", ["loop", "global"])
@pytest.mark.parametrize("space", ["reg", "local"])
def test_unversioned_reads_of_a_buffer_see_zeros(execute, space, kind):
    """The first contents of a BUFFER, also of a copy that an iteration has to itself."""
    B, BS = mem("2x", space=space), f"tensor<f32, #tg.place<{space}>>"
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("2x")}
      %b = tg.buffer 0 : {B}
      %n = tg.const 2 : tensor<index>
      %f = tg.const 1.0 : tensor<f32>
      %i = tg.range 0 {kind} to %n : tensor<index>
      {index("%p", "%b", B, "%i")}
      {index("%q", "%o", mem("2x"), "%i")}
      %s = tg.store %p, %f : {BS}, tensor<f32>
      %v = tg.load %p : {BS} -> tensor<f32>
      %t = tg.store %q, %v : {S}, tensor<f32>
      %g = tg.group %s, %t
      %e = tg.end %g over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    o = np.full(2, 9, "f4")
    execute(text, o, entry="k")
    assert o.tolist() == [0, 0]


def test_unversioned_reads_of_memory_that_a_load_makes_see_what_it_loaded(execute):
    M = mem("2x", space="reg")
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("2x")}
      %x = tg.param 1 : {mem("2x")}
      %n = tg.const 2 : tensor<index>
      %f = tg.const 1.0 : tensor<f32>
      %i = tg.range 0 global to %n : tensor<index>
      %b = tg.load %x addrspace "reg" : {mem("2x")} -> {M}
      {index("%p", "%b", M, "%i")}
      {index("%q", "%o", mem("2x"), "%i")}
      %s = tg.store %p, %f : {RS}, tensor<f32>
      %v = tg.load %p : {RS} -> tensor<f32>
      %t = tg.store %q, %v : {S}, tensor<f32>
      %g = tg.group %s, %t
      %e = tg.end %g over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    o = np.full(2, 9, "f4")
    execute(text, o, np.array([3, 4], "f4"), entry="k")
    assert o.tolist() == [3, 4]


def test_after_a_range_reads_what_earlier_iterations_stored(execute):
    x = np.arange(4, dtype="f4")
    after = f"%y = tg.after %x, %i : ({mem('4x')}, tensor<index>) -> {mem('4x')}\n"
    execute(reverse(after + index("%p", "%y", mem("4x"), "%j")), x, entry="k")
    assert x.tolist() == [3, 2, 2, 3]


def test_in_place_second_pass(execute):
    """Store in one loop, END, read AFTER it in another loop of the same outer iteration."""
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("2x3x")}
      %x = tg.param 1 : {mem("2x3x")}
      %n2 = tg.const 2 : tensor<index>
      %n3 = tg.const 3 : tensor<index>
      %i = tg.range 0 loop to %n2 : tensor<index>
      %j = tg.range 1 loop to %n3 : tensor<index>
      {index("%p", "%x", mem("2x3x"), "%i", "%j")}
      %v = tg.load %p : {S} -> tensor<f32>
      {index("%q", "%o", mem("2x3x"), "%i", "%j")}
      %s = tg.store %q, %v : {S}, tensor<f32>
      %e = tg.end %s over %j : !tg.void
      %sum = tg.reduce add %v [] over %j : tensor<f32> -> tensor<f32>
      %k = tg.range 2 loop to %n3 : tensor<index>
      %o2 = tg.after %o, %e : ({mem("2x3x")}, !tg.void) -> {mem("2x3x")}
      {index("%p2", "%o2", mem("2x3x"), "%i", "%k")}
      %v2 = tg.load %p2 : {S} -> tensor<f32>
      %d = tg.div %v2, %sum : tensor<f32>
      %s2 = tg.store %p2, %d : {S}, tensor<f32>
      %e2 = tg.end %s2 over %k, %i : !tg.void
      %sink = tg.sink %e2 : !tg.void
    }}"""
    x = np.array([[1, 2, 5], [2, 2, 4]], "f4")
    o = np.zeros_like(x)
    execute(text, o, x, entry="k")
    assert o.tolist() == (x / 8).tolist()


def test_unordered_stores_of_a_kernel_race(execute):
    """Of different values: parts of one STORE that overlap say the same."""

    def two_stores(offset, second=2.0):
        return f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("8x")}
      %n = tg.const 4 : tensor<index>
      %f = tg.const 1.0 : tensor<f32>
      %h = tg.const {second} : tensor<f32>
      %off = tg.const {offset} : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %j = tg.add %i, %off : tensor<index>
      {index("%p", "%o", mem("8x"), "%i")}
      {index("%q", "%o", mem("8x"), "%j")}
      %s = tg.store %p, %f : {S}, tensor<f32>
      %t = tg.store %q, %h : {S}, tensor<f32>
      %g = tg.group %s, %t
      %e = tg.end %g over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""

    o = np.zeros(8, "f4")
    execute(two_stores(4), o, entry="k")
    assert o.tolist() == [1] * 4 + [2] * 4
    o = np.zeros(8, "f4")
    execute(two_stores(3, 1.0), o, entry="k")
    assert o.tolist() == [1] * 7 + [0]
    with pytest.raises(InterpretationError, match=r"race: .* of parameter 0"):
        execute(two_stores(3), o, entry="k")


@pytest.mark.parametrize(
    "ops",
    [("store", "atomicadd"), ("atomicadd", "store"), ("atomicadd", "atomicadd")],
    ids="-".join,
)
def test_an_unordered_atomic_add_races_with_a_store_only(execute, ops):
    one, other = ops
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("1x")}
      %z = tg.const 0 : tensor<index>
      %f = tg.const 1.0 : tensor<f32>
      {index("%p", "%o", mem("1x"), "%z")}
      %s = tg.{one} %p, %f : {S}, tensor<f32>
      %t = tg.{other} %p, %f : {S}, tensor<f32>
      %sink = tg.sink %s, %t : !tg.void, !tg.void
    }}"""
    o = np.zeros(1, "f4")
    if one == other:
        execute(text, o, entry="k")
        assert o.tolist() == [2]
        return
    with pytest.raises(InterpretationError, match=r"race: two stores .* write cell 0 of parameter"):
        execute(text, o, entry="k")


def test_a_store_of_an_equal_value_hides_no_race(execute):
    """s and t write 5; u, which waits for t and not for s, writes another value."""

    def stores(last):
        return f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("1x")}
      %z = tg.const 0 : tensor<index>
      %five = tg.const 5.0 : tensor<f32>
      %last = tg.const {last} : tensor<f32>
      {index("%p", "%o", mem("1x"), "%z")}
      %s = tg.store %p, %five : {S}, tensor<f32>
      %t = tg.store %p, %five : {S}, tensor<f32>
      %o2 = tg.after %o, %t : ({mem("1x")}, !tg.void) -> {mem("1x")}
      {index("%q", "%o2", mem("1x"), "%z")}
      %u = tg.store %q, %last : {S}, tensor<f32>
      %sink = tg.sink %s, %u : !tg.void, !tg.void
    }}"""

    o = np.zeros(1, "f4")
    execute(stores(5.0), o, entry="k")
    assert o.tolist() == [5]
    with pytest.raises(InterpretationError, match=r"race: two stores .* write cell 0 of parameter"):
        execute(stores(7.0), o, entry="k")


@pytest.mark.parametrize("kind", ["loop", "global", "thread", "local"])
def test_the_last_iteration_wins_unless_they_are_parallel(execute, kind):
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("3x")}
      %n = tg.const 4 : tensor<index>
      %three = tg.const 3 : tensor<index>
      %i = tg.range 0 {kind} to %n : tensor<index>
      %m = tg.mod %i, %three : tensor<index>
      %v = tg.cast VALUE to f32 : tensor<index> -> tensor<f32>
      {index("%p", "%o", mem("3x"), "%m")}
      %s = tg.store %p, %v : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    o = np.zeros(3, "f4")
    # Equal values: it does not matter who is last.
    execute(text.replace("VALUE", "%m"), o, entry="k")
    assert o.tolist() == [0, 1, 2]
    if kind == "loop":
        execute(text.replace("VALUE", "%i"), o, entry="k")
        assert o.tolist() == [3, 1, 2]
    else:
        with pytest.raises(
            InterpretationError, match=r"writes cell 0 of parameter 0, .* with another value"
        ):
            execute(text.replace("VALUE", "%i"), o, entry="k")


def test_a_cycle_of_versions_in_a_kernel(execute):
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("2x")}
      %z = tg.const 0 : tensor<index>
      %f = tg.const 1.0 : tensor<f32>
      {index("%p", "%o", mem("2x"), "%z")}
      %s = tg.store %p, %f : {S}, tensor<f32>
      %o2 = tg.after %o, %s : ({mem("2x")}, !tg.void) -> {mem("2x")}
      {index("%p2", "%o2", mem("2x"), "%z")}
      %v = tg.load %p2 : {S} -> tensor<f32>
      %i = tg.cast %v to index : tensor<f32> -> tensor<index>
      {index("%p3", "%o", mem("2x"), "%i")}
      %w = tg.load %p3 : {S} -> tensor<f32>
      %s2 = tg.store %p2, %w : {S}, tensor<f32>
      %sink = tg.sink %s2 : !tg.void
    }}"""
    with pytest.raises(InterpretationError, match=r"cycle: tg\.load reads"):
        execute(text, np.zeros(2, "f4"), entry="k")


# -- shapes inside kernels -----------------------------------------------------------------------


def test_upcast_and_unrolled_axes_are_shape(execute):
    """A tile: UPCAST of 4 is an axis of the value, UNROLL of 2 an axis that REDUCE collapses."""
    text = f"""tg.kernel @k {{
      %o = tg.param 0 : {mem("8x")}
      %x = tg.param 1 : {mem("8x2x")}
      %n = tg.const 2 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %c0 = tg.const 0 : tensor<index>
      %c1 = tg.const 1 : tensor<index>
      %c2 = tg.const 2 : tensor<index>
      %c3 = tg.const 3 : tensor<index>
      %c4 = tg.const 4 : tensor<index>
      %u = tg.stack %c0, %c1, %c2, %c3
          : (tensor<index>, tensor<index>, tensor<index>, tensor<index>) -> tensor<4xindex>
      %w = tg.vconst [0, 1] : tensor<2xindex>
      %b = tg.mul %i, %c4 : tensor<index>
      %at = tg.add %b, %u : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
      %p = tg.index %x[%at, %w] : ({mem("8x2x")}, tensor<4xindex>, tensor<2xindex>) -> {mem("4x2x")}
      %v = tg.load %p : {mem("4x2x")} -> tensor<4x2xf32>
      %r = tg.reduce add %v [1] : tensor<4x2xf32> -> tensor<4x1xf32>
      %f = tg.reshape %r [4] : tensor<4x1xf32> -> tensor<4xf32>
      %m = tg.reduce max %f [0] : tensor<4xf32> -> tensor<1xf32>
      %d = tg.sub %f, %m : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
      %q = tg.index %o[%at] : ({mem("8x")}, tensor<4xindex>) -> {mem("4x")}
      %s = tg.store %q, %d : {mem("4x")}, tensor<4xf32>
      %e = tg.end %s over %i : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    x = np.random.default_rng(3).integers(-9, 9, (8, 2)).astype("f4")
    o = np.zeros(8, "f4")
    execute(text, o, x, entry="k")
    rows = x.sum(1).reshape(2, 4)
    assert o.tolist() == (rows - rows.max(1, keepdims=True)).reshape(-1).tolist()


def test_flat_views_of_parameters(execute):
    """As after tg-select: one flat index into a one-dimensional view."""
    text = f"""tg.program @k {{ %l = tg.linear {{
      %o = tg.param 0 : {mem("2x3x")}
      %of = tg.reshape %o [6] : {mem("2x3x")} -> {mem("6x")}
      %n = tg.const 6 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      {index("%p", "%of", mem("6x"), "%i")}
      %v = tg.cast %i to f32 : tensor<index> -> tensor<f32>
      %s = tg.store %p, %v : {S}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
    }} }}"""
    o = np.zeros((2, 3), "f4")
    execute(text, o, entry="k")
    assert o.tolist() == [[0, 1, 2], [3, 4, 5]]


# -- programs ------------------------------------------------------------------------------------


def test_linear_reads_what_it_has_just_written(execute):
    """No AFTER: a Fibonacci sequence in memory, each step reading the last two."""
    text = f"""tg.program @k {{ %l = tg.linear {{
      %x = tg.param 0 : {mem("10x", "i32")}
      %n = tg.const 8 : tensor<index>
      %one = tg.const 1 : tensor<index>
      %two = tg.const 2 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %i1 = tg.add %i, %one : tensor<index>
      %i2 = tg.add %i, %two : tensor<index>
      {index("%p0", "%x", mem("10x", "i32"), "%i")}
      {index("%p1", "%x", mem("10x", "i32"), "%i1")}
      {index("%p2", "%x", mem("10x", "i32"), "%i2")}
      %a = tg.load %p0 : tensor<i32, {P}> -> tensor<i32>
      %b = tg.load %p1 : tensor<i32, {P}> -> tensor<i32>
      %c = tg.add %a, %b : tensor<i32>
      %s = tg.store %p2, %c : tensor<i32, {P}>, tensor<i32>
      %e = tg.end %s over %i : !tg.void
    }} }}"""
    x = np.array([1, 1] + [0] * 8, "i4")
    execute(text, x, entry="k")
    assert x.tolist() == [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]


def test_if_guards_stores_in_loops(execute):
    text = f"""tg.program @k {{ %l = tg.linear {{
      %x = tg.param 0 : {mem("6x", "i32")}
      %n = tg.const 6 : tensor<index>
      %two = tg.const 2 : tensor<index>
      %zero = tg.const 0 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %m = tg.mod %i, %two : tensor<index>
      %g = tg.cmpne %m, %zero : (tensor<index>, tensor<index>) -> tensor<i1>
      %b = tg.if %g : tensor<i1>
      {index("%p", "%x", mem("6x", "i32"), "%i")}
      %v = tg.cast %i to i32 : tensor<index> -> tensor<i32>
      %s = tg.store %p, %v : tensor<i32, {P}>, tensor<i32>
      %b2 = tg.endif %b
      %e = tg.end %b2 over %i : !tg.void
    }} }}"""
    x = np.full(6, -1, "i4")
    execute(text, x, entry="k")
    assert x.tolist() == [-1, 1, -1, 3, -1, 5]


# -- functions that call kernels -----------------------------------------------------------------


def test_function_calls_kernels_in_the_order_that_after_says(execute):
    M = 'tensor<4x5xf32, #tg.place<"CPU", global>>'
    MA, MB = M.replace("4x5", "4x6"), M.replace("4x5", "6x5")
    text = (
        GEMM
        + f"""
    tg.kernel @neg {{
      %o = tg.param 0 : {C}
      %x = tg.param 1 : {C}
      %n4 = tg.const 4 : tensor<index>
      %n5 = tg.const 5 : tensor<index>
      %i = tg.range 0 loop to %n4 : tensor<index>
      %j = tg.range 1 loop to %n5 : tensor<index>
      {index("%p", "%x", C, "%i", "%j")}
      %v = tg.load %p : {S} -> tensor<f32>
      %w = tg.neg %v : tensor<f32>
      {index("%q", "%o", C, "%i", "%j")}
      %s = tg.store %q, %w : {S}, tensor<f32>
      %e = tg.end %s over %j, %i : !tg.void
      %k = tg.sink %e : !tg.void
    }}
    func.func @main(%a: {MA}, %b: {MB}, %r: {M} {{tg.output}}) {{
      %t = tg.buffer 0 : {M}
      %c1 = tg.call @k(%t, %a, %b) : ({M}, {MA}, {MB}) -> !tg.void
      %t1 = tg.after %t, %c1 : ({M}, !tg.void) -> {M}
      %c2 = tg.call @neg(%r, %t1) : ({M}, {M}) -> !tg.void
      %k = tg.sink %c2 : !tg.void
      return
    }}
    func.func @planned(%a: {MA}, %b: {MB}, %r: {M} {{tg.output}},
                       %w: tensor<80xui8, #tg.place<"CPU", global>> {{tg.workspace}}) {{
      %f = tg.bitcast %w to f32 : tensor<80xui8, #tg.place<"CPU", global>>
          -> tensor<20xf32, #tg.place<"CPU", global>>
      %t = tg.reshape %f [4, 5] : tensor<20xf32, #tg.place<"CPU", global>> -> {M}
      %l = tg.linear {{
        %c1 = tg.call @k(%t, %a, %b) : ({M}, {MA}, {MB}) -> !tg.void
        %c2 = tg.call @neg(%r, %t) : ({M}, {M}) -> !tg.void
      }}
      return
    }}"""
    )
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (4, 6)).astype("f4"), rng.integers(-9, 9, (6, 5)).astype("f4")
    for entry in ("main", "planned"):
        (r,) = execute(text, a, b, entry=entry)
        assert r.tolist() == (-(a @ b)).tolist()


def test_many_iterations_stepped(execute, operands):
    """A deep nest of stepped loops does not recurse."""
    depth = 300
    ranges = "\n".join(f"%r{i} = tg.range {i} loop to %one : tensor<index>" for i in range(depth))
    closed = ", ".join(f"%r{i}" for i in reversed(range(depth)))
    text = f"""tg.program @k {{ %l = tg.linear {{
      %x = tg.param 0 : {mem("1x", "i32")}
      %one = tg.const 1 : tensor<index>
      %z = tg.const 0 : tensor<index>
      %i1 = tg.const 1 : tensor<i32>
      {index("%p", "%x", mem("1x", "i32"), "%z")}
      {ranges}
      %v = tg.load %p : tensor<i32, {P}> -> tensor<i32>
      %w = tg.add %v, %i1 : tensor<i32>
      %s = tg.store %p, %w : tensor<i32, {P}>, tensor<i32>
      %e = tg.end %s over {closed} : !tg.void
    }} }}"""
    x = np.zeros(1, "i4")
    execute(text, x, entry="k")
    assert x.tolist() == [1]


@pytest.mark.parametrize("lanes", [1, 8, 100])
def test_lanes_run_in_parts_give_the_same(execute, operands, monkeypatch, lanes):
    """A range of which not all fit at once is run in parts."""
    monkeypatch.setattr("tgdialect.interpreter.lane_run._MAX_LANES_AT_ONCE", lanes)
    a, b = operands
    for text in (GEMM, ACCUMULATOR, LINEAR):
        c = np.full((4, 5), -1, "f4")
        execute(text, c, a, b, entry="k")
        assert c.tolist() == (a @ b).tolist()


@pytest.mark.parametrize("kind", ["loop", "global", "local"])
def test_a_loop_of_no_iterations_does_nothing(execute, kind):
    """Even where what it stores does not depend on the iteration."""
    text = f"""tg.program @k {{ %l = tg.linear {{
      %h = tg.param 0 : {mem("1x", "i32")}
      %n = tg.param 1 "n" min 0 max 9 : tensor<index>
      %z = tg.const 0 : tensor<index>
      %one = tg.const 1 : tensor<i32>
      %k = tg.range 0 {kind} to %n : tensor<index>
      {index("%q", "%h", mem("1x", "i32"), "%z")}
      %s = tg.store %q, %one : tensor<i32, {P}>, tensor<i32>
      %e = tg.end %s over %k : !tg.void
    }} }}"""
    h = np.full(1, 7, "i4")
    execute(text, h, 0, entry="k")
    assert h.tolist() == [7]
    execute(text, h, 2, entry="k")
    assert h.tolist() == [1]
    execute(text.replace("tg.store", "tg.atomicadd"), h, 0, entry="k")
    assert h.tolist() == [1]


def test_more_ranges_than_an_array_has_axes(execute):
    """Ranges beyond the axes of a NumPy array are stepped."""
    depth = 70
    ranges = "\n".join(
        f"%r{i} = tg.range {i} loop to {'%two' if i > depth - 5 else '%one'} : tensor<index>"
        for i in range(depth)
    )
    sums = "\n".join(f"%t{i + 1} = tg.add %t{i}, %r{i} : tensor<index>" for i in range(depth))
    closed = ", ".join(f"%r{i}" for i in reversed(range(depth)))
    text = f"""tg.kernel @k {{
      %x = tg.param 0 : {mem("8x", "i32")}
      %one = tg.const 1 : tensor<index>
      %two = tg.const 2 : tensor<index>
      %t0 = tg.const 0 : tensor<index>
      {ranges}
      {sums}
      {index("%p", "%x", mem("8x", "i32"), f"%t{depth}")}
      %c = tg.const 1 : tensor<i32>
      %s = tg.atomicadd %p, %c : tensor<i32, {P}>, tensor<i32>
      %e = tg.end %s over {closed} : !tg.void
      %k = tg.sink %e : !tg.void
    }}"""
    x = np.zeros(8, "i4")
    execute(text, x, entry="k")
    assert x.tolist() == [1, 4, 6, 4, 1, 0, 0, 0]
