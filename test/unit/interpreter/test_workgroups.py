"""Kernels whose threads work together: barriers, atomics, matrices."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_text import P, S, index, mem
from xdsl.utils.exceptions import InterpretationError


@pytest.fixture(params=[False, True], ids=["lanes", "scalar"])
def scalar(request):
    """Every test of this file is one of both ways to run a kernel."""
    return request.param


def workgroup_sum(barrier=True, groups=3, threads=4):
    """Each group sums its threads' elements through LOCAL memory, by halving."""
    local = mem(f"{threads}x", space="local")
    LS = "tensor<f32, #tg.place<local>>"
    step = f"""
      %half{{h}} = tg.const {{h}} : tensor<index>
      %o{{h}} = tg.add %t, %half{{h}} : tensor<index>
      {index("%q{h}", "%l", local, "%o{h}")}
      %g{{h}} = tg.cmplt %t, %half{{h}} : (tensor<index>, tensor<index>) -> tensor<i1>
      %b{{h}} = tg.if %g{{h}} : tensor<i1>
      %x{{h}} = tg.load %p : {LS} -> tensor<f32>
      %y{{h}} = tg.load %q{{h}} : {LS} -> tensor<f32>
      %z{{h}} = tg.add %x{{h}}, %y{{h}} : tensor<f32>
      %s{{h}} = tg.store %p, %z{{h}} : {LS}, tensor<f32>
      {{inner}}
      %e{{h}} = tg.endif %b{{h}}
      {{outer}}"""
    steps, h = [], threads // 2
    while h:
        wait = f"%w{h} = tg.barrier : !tg.void" if h else ""
        wait = f"%w{h} = tg.barrier %s{h} : !tg.void"
        steps.append(step.format(h=h, inner="" if barrier else wait, outer=wait if barrier else ""))
        h //= 2
    n = groups * threads
    return f"""tg.program @k {{ %lin = tg.linear {{
      %out = tg.param 0 : {mem(f"{groups}x")}
      %in = tg.param 1 : {mem(f"{n}x")}
      %l = tg.buffer 0 : {local}
      %ng = tg.const {groups} : tensor<index>
      %nt = tg.const {threads} : tensor<index>
      %g = tg.special "gidx0" to %ng : tensor<index>
      %t = tg.special "lidx0" to %nt : tensor<index>
      %base = tg.mul %g, %nt : tensor<index>
      %at = tg.add %base, %t : tensor<index>
      {index("%src", "%in", mem(f"{n}x"), "%at")}
      %v = tg.load %src : {S} -> tensor<f32>
      {index("%p", "%l", local, "%t")}
      %s = tg.store %p, %v : {LS}, tensor<f32>
      %w = tg.barrier %s : !tg.void
      {"".join(steps)}
      %zero = tg.const 0 : tensor<index>
      %first = tg.cmpeq %t, %zero : (tensor<index>, tensor<index>) -> tensor<i1>
      {index("%lp", "%l", local, "%zero")}
      %total = tg.load %lp : {LS} -> tensor<f32>
      {index("%dst", "%out", mem(f"{groups}x"), "%g")}
      %st = tg.store %dst, %total gate %first : {S}, tensor<f32>, tensor<i1>
    }} }}"""


RACE = r"race: work item \(.*\) (reads|writes) cell {} of buffer 0, which work item .* has "
"""Which of the two is later depends on the order in which work items take turns."""


def test_workgroup_reduction_with_barriers(execute):
    x = np.arange(12, dtype="f4")
    out = np.zeros(3, "f4")
    execute(workgroup_sum(), out, x, entry="k")
    assert out.tolist() == x.reshape(3, 4).sum(1).tolist()


def test_a_barrier_that_not_all_threads_reach(execute):
    # The oracle may first find the race of those that have gone on.
    message = "barrier is not reached by all work items|race: .* reads cell 0 of buffer 0"
    with pytest.raises(InterpretationError, match=message):
        execute(workgroup_sum(barrier=False), np.zeros(3, "f4"), np.zeros(12, "f4"), entry="k")


def test_threads_that_do_not_wait_race(execute):
    """Without the first barrier thread 0 reads what thread 2 has just written."""
    text = workgroup_sum().replace("%w = tg.barrier %s : !tg.void", "")
    with pytest.raises(InterpretationError, match=RACE.format(2)):
        execute(text, np.zeros(3, "f4"), np.zeros(12, "f4"), entry="k")
    # And without the one between the steps, thread 0 reads cell 1 which thread 1 has updated.
    text = workgroup_sum().replace("%w2 = tg.barrier %s2 : !tg.void", "")
    with pytest.raises(InterpretationError, match=RACE.format(1)):
        execute(text, np.zeros(3, "f4"), np.zeros(12, "f4"), entry="k")


def test_overwriting_what_another_thread_still_reads_is_a_race(execute):
    local, LS = mem("2x", space="local"), "tensor<f32, #tg.place<local>>"
    text = f"""tg.program @k {{ %lin = tg.linear {{
      %out = tg.param 0 : {mem("2x")}
      %l = tg.buffer 0 : {local}
      %n = tg.const 2 : tensor<index>
      %one = tg.const 1 : tensor<index>
      %m = tg.const 3 : tensor<index>
      %t = tg.special "lidx0" to %n : tensor<index>
      %o = tg.sub %one, %t : tensor<index>
      {index("%p", "%l", local, "%t")}
      {index("%q", "%l", local, "%o")}
      {index("%r", "%out", mem("2x"), "%t")}
      %k = tg.range 0 loop to %m : tensor<index>
      %x = tg.add %k, %t : tensor<index>
      %v = tg.cast %x to f32 : tensor<index> -> tensor<f32>
      %s = tg.store %p, %v : {LS}, tensor<f32>
      %b = tg.barrier %s : !tg.void
      %w = tg.load %q : {LS} -> tensor<f32>
      %s2 = tg.store %r, %w : {S}, tensor<f32>
      %b2 = tg.barrier %s2 : !tg.void
      %e = tg.end %b2 over %k : !tg.void
    }} }}"""
    out = np.zeros(2, "f4")
    execute(text, out, entry="k")
    assert out.tolist() == [3, 2]
    with pytest.raises(InterpretationError, match=RACE.format(0)):
        execute(
            text.replace("%b2 = tg.barrier %s2 : !tg.void", "").replace("tg.end %b2", "tg.end %s2"),
            out, entry="k",
        )  # fmt: skip


def test_a_store_of_an_equal_value_hides_no_race_of_threads(execute):
    """Thread 1 stores 7 where both have stored 5: thread 0 may do so before or after it."""
    local, LS = mem("1x", space="local"), "tensor<f32, #tg.place<local>>"

    def program(barrier=""):
        return f"""tg.program @k {{ %lin = tg.linear {{
      %out = tg.param 0 : {mem("2x")}
      %l = tg.buffer 0 : {local}
      %n = tg.const 2 : tensor<index>
      %zero = tg.const 0 : tensor<index>
      %one = tg.const 1 : tensor<index>
      %five = tg.const 5.0 : tensor<f32>
      %seven = tg.const 7.0 : tensor<f32>
      %t = tg.special "lidx0" to %n : tensor<index>
      {index("%p", "%l", local, "%zero")}
      {index("%q", "%out", mem("2x"), "%t")}
      %s = tg.store %p, %five : {LS}, tensor<f32>
      {barrier}
      %is = tg.cmpeq %t, %one : (tensor<index>, tensor<index>) -> tensor<i1>
      %x = tg.where %is, %seven, %five : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %s2 = tg.store %p, %x gate %is : {LS}, tensor<f32>, tensor<i1>
      %b2 = tg.barrier %s2 : !tg.void
      %v = tg.load %p : {LS} -> tensor<f32>
      %s3 = tg.store %q, %v : {S}, tensor<f32>
    }} }}"""

    out = np.zeros(2, "f4")
    execute(program("%b = tg.barrier %s : !tg.void"), out, entry="k")
    assert out.tolist() == [7, 7]
    ungated = program().replace(" gate %is", "").replace(", tensor<i1>\n      %b2", "\n      %b2")
    for text in (program(), ungated):
        with pytest.raises(InterpretationError, match=r"race: .* cell 0 of buffer 0"):
            execute(text, out, entry="k")


def test_work_items_do_not_wait_for_each_other_at_an_end(execute):
    """Two of them store to each cell, in different iterations of %k."""
    text = f"""tg.kernel @k {{
      %out = tg.param 0 : {mem("4x")}
      %two = tg.const 2 : tensor<index>
      %n = tg.const 4 : tensor<index>
      %k = tg.range 0 loop to %two : tensor<index>
      %t = tg.range 1 local to %n : tensor<index>
      %o = tg.add %t, %k : tensor<index>
      %m = tg.mod %o, %n : tensor<index>
      %v = tg.cast %t to f32 : tensor<index> -> tensor<f32>
      {index("%p", "%out", mem("4x"), "%m")}
      %s = tg.store %p, %v : {S}, tensor<f32>
      %e = tg.end %s over %t, %k : !tg.void
      %sink = tg.sink %e : !tg.void
    }}"""
    with pytest.raises(InterpretationError, match=r"race: work item .* writes cell . of"):
        execute(text, np.zeros(4, "f4"), entry="k")


def test_histogram_by_atomic_add(execute):
    text = f"""tg.program @k {{ %l = tg.linear {{
      %h = tg.param 0 : {mem("4x", "i32")}
      %x = tg.param 1 : {mem("1000x", "i32")}
      %n = tg.const 250 : tensor<index>
      %four = tg.const 4 : tensor<index>
      %one = tg.const 1 : tensor<i32>
      %i = tg.special "idx0" to %n : tensor<index>
      %k = tg.range 0 loop to %four : tensor<index>
      %b = tg.mul %i, %four : tensor<index>
      %at = tg.add %b, %k : tensor<index>
      {index("%p", "%x", mem("1000x", "i32"), "%at")}
      %v = tg.load %p : tensor<i32, {P}> -> tensor<i32>
      %bin = tg.cast %v to index : tensor<i32> -> tensor<index>
      {index("%q", "%h", mem("4x", "i32"), "%bin")}
      %g = tg.cmplt %bin, %four : (tensor<index>, tensor<index>) -> tensor<i1>
      %if = tg.if %g : tensor<i1>
      %s = tg.atomicadd %q, %one : tensor<i32, {P}>, tensor<i32>
      %fi = tg.endif %if
      %e = tg.end %fi over %k : !tg.void
    }} }}"""
    x = np.random.default_rng(0).integers(0, 5, 1000).astype("i4")
    h = np.zeros(4, "i4")
    execute(text, h, x, entry="k")
    assert h.tolist() == np.bincount(x, minlength=5)[:4].tolist()


def test_atomic_add_by_every_thread_to_one_cell(execute):
    """The location does not vary with the thread, yet each thread adds."""
    text = f"""tg.program @k {{ %l = tg.linear {{
      %h = tg.param 0 : {mem("1x", "i32")}
      %n = tg.const 7 : tensor<index>
      %m = tg.const 5 : tensor<index>
      %z = tg.const 0 : tensor<index>
      %one = tg.const 1 : tensor<i32>
      %i = tg.special "gidx0" to %n : tensor<index>
      %t = tg.special "lidx0" to %m : tensor<index>
      %k = tg.range 0 loop to %i : tensor<index>
      {index("%q", "%h", mem("1x", "i32"), "%z")}
      %s = tg.atomicadd %q, %one : tensor<i32, {P}>, tensor<i32>
      %e = tg.end %s over %k : !tg.void
    }} }}"""
    h = np.zeros(1, "i4")
    execute(text, h, entry="k")
    assert h.tolist() == [5 * (0 + 1 + 2 + 3 + 4 + 5 + 6)]


# -- WMMA ----------------------------------------------------------------------------------------


def test_wmma_of_one_thread(execute):
    text = """
    func.func @main(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>)
        -> tensor<16x8xf32> {
      %r = tg.wmma %a, %b, %c config <16x8x16>
          : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
      return %r : tensor<16x8xf32>
    }"""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(16, 16)).astype("f2"), rng.normal(size=(16, 8)).astype("f2")
    c = rng.normal(size=(16, 8)).astype("f4")
    (r,) = execute(text, a, b, c)
    np.testing.assert_allclose(r, a.astype("f4") @ b.astype("f4") + c, rtol=1e-5, atol=1e-5)


def mma_fragments():
    """Where thread t's element e is, from the PTX manual's pages on mma.m16n8k16 for .f16."""
    group, thread = np.arange(32)[:, None] // 4, np.arange(32)[:, None] % 4
    e = np.arange(8)[None]
    a = (group + 8 * ((e % 4) >= 2), thread * 2 + (e & 1) + 8 * (e >= 4))
    e = np.arange(4)[None]
    b = (thread * 2 + (e & 1) + 8 * (e >= 2), group + 0 * e)
    c = (group + 8 * (e >= 2), thread * 2 + (e & 1))
    return a, b, c


CONFIG = """<16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"],
      b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"],
      c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]>"""


def vector(name, count):
    return f"%{name} = tg.vconst {list(range(count))} : tensor<{count}xindex>"


WMMA = f"tg.wmma %a, %b, %c config {CONFIG}"
INS = 'tg.ins "nvidia.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a, %b, %c)'


def wmma_program(axis, op=WMMA):
    """Two warps, each with its own matrices; `axis` makes %t, the number of a thread."""
    A8, B4, C4 = mem("64x8x", "f16"), mem("64x4x", "f16"), mem("64x4x")
    return f"""
      %out = tg.param 0 : {C4}
      %pa = tg.param 1 : {A8}
      %pb = tg.param 2 : {B4}
      %pc = tg.param 3 : {C4}
      %nw = tg.const 2 : tensor<index>
      %nl = tg.const 32 : tensor<index>
      %n64 = tg.const 64 : tensor<index>
      {axis}
      {vector("ea", 8)}
      {vector("ec", 4)}
      %la = tg.index %pa[%t, %ea] : ({A8}, tensor<index>, tensor<8xindex>) -> {mem("8x", "f16")}
      %lb = tg.index %pb[%t, %ec] : ({B4}, tensor<index>, tensor<4xindex>) -> {mem("4x", "f16")}
      %lc = tg.index %pc[%t, %ec] : ({C4}, tensor<index>, tensor<4xindex>) -> {mem("4x")}
      %lo = tg.index %out[%t, %ec] : ({C4}, tensor<index>, tensor<4xindex>) -> {mem("4x")}
      %a = tg.load %la : {mem("8x", "f16")} -> tensor<8xf16>
      %b = tg.load %lb : {mem("4x", "f16")} -> tensor<4xf16>
      %c = tg.load %lc : {mem("4x")} -> tensor<4xf32>
      %r = {op} : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
      %s = tg.store %lo, %r : {mem("4x")}, tensor<4xf32>"""


WARP_RANGES = """
      %w = tg.range 0 global to %nw : tensor<index>
      %l = tg.range 1 warp to %nl : tensor<index>
      %wb = tg.mul %w, %nl : tensor<index>
      %t = tg.add %wb, %l : tensor<index>"""


@pytest.mark.parametrize(
    "text",
    [
        text
        for op in (WMMA, INS)
        for text in (
            f"tg.kernel @k {{ {wmma_program(WARP_RANGES, op)}\n%e = tg.end %s over %l, %w"
            f" : !tg.void\n%k = tg.sink %e : !tg.void }}",
            'tg.program @k { %lin = tg.linear { '
            + wmma_program('%t = tg.special "lidx0" to %n64 : tensor<index>', op)
            + " } }",
        )
    ],
    ids=["warp range", "lidx", "warp range, INS", "lidx, INS"],
)  # fmt: skip
def test_wmma_of_a_warp_with_the_published_fragment_layout(execute, text):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 16, 16)).astype("f2"), rng.normal(size=(2, 16, 8)).astype("f2")
    c = rng.normal(size=(2, 16, 8)).astype("f4")
    fa, fb, fc = mma_fragments()
    out = np.zeros((64, 4), "f4")
    parts = [x[(slice(None), *f)].reshape(64, -1) for x, f in ((a, fa), (b, fb), (c, fc))]
    execute(text, out, *parts, entry="k")
    expected = a.astype("f4") @ b.astype("f4") + c
    np.testing.assert_allclose(
        out, expected[(slice(None), *fc)].reshape(64, 4), rtol=1e-5, atol=1e-5
    )


def test_a_wmma_orders_no_accesses_to_memory(execute):
    """The threads of a warp meet at a WMMA, but only a BARRIER makes them see LOCAL memory."""
    local, LS = mem("64x", space="local"), "tensor<f32, #tg.place<local>>"

    def program(barrier):
        before, wmma, after = wmma_program(
            '%t = tg.special "lidx0" to %n64 : tensor<index>'
        ).partition("%r = tg.wmma")
        return f"""tg.program @k {{ %lin = tg.linear {{
          %l = tg.buffer 0 : {local}
          %x = tg.const 1.0 : tensor<f32>
          %last = tg.const 63 : tensor<index>
          {before}
          %o = tg.sub %last, %t : tensor<index>
          {index("%p", "%l", local, "%t")}
          {index("%q", "%l", local, "%o")}
          %put = tg.store %p, %x : {LS}, tensor<f32>
          {barrier}
          {wmma}{after}
          %got = tg.load %q : {LS} -> tensor<f32>
          {index("%first", "%pc", mem("64x4x"), "%t", "%nw")}
          %s2 = tg.store %first, %got : {S}, tensor<f32>
        }} }}"""

    arrays = [np.zeros((64, n), f"f{size}") for n, size in ((4, 4), (8, 2), (4, 2), (4, 4))]
    execute(program("%bar = tg.barrier %put : !tg.void"), *arrays, entry="k")
    assert arrays[3][:, 2].tolist() == [1] * 64
    with pytest.raises(InterpretationError, match=RACE.format(".*")):
        execute(program(""), *arrays, entry="k")


@pytest.mark.parametrize("lanes", [1, 8, 100])
def test_workgroups_run_in_parts_give_the_same(execute, monkeypatch, lanes):
    """Workgroups of which not all fit at once are run in parts."""
    monkeypatch.setattr("tgdialect.interpreter.lane_run._MAX_LANES_AT_ONCE", lanes)
    x, out = np.arange(12, dtype="f4"), np.zeros(3, "f4")
    execute(workgroup_sum(), out, x, entry="k")
    assert out.tolist() == x.reshape(3, 4).sum(1).tolist()
    test_atomic_add_by_every_thread_to_one_cell(execute)


@pytest.mark.parametrize("op", [WMMA, INS], ids=["wmma", "ins"])
def test_a_product_that_not_all_threads_reach(execute, op):
    """As a BARRIER, it is reached by all work items or by none; and a workgroup has whole warps."""
    axis = '%t = tg.special "lidx0" to %n64 : tensor<index>'
    before, product, after = wmma_program(axis, op).partition("%r = ")
    text = f"""tg.program @k {{ %lin = tg.linear {{ {before}
      %g = tg.cmplt %t, %nl : (tensor<index>, tensor<index>) -> tensor<i1>
      %if = tg.if %g : tensor<i1>
      {product}{after}
      %end = tg.endif %if
    }} }}"""
    arrays = [np.zeros((64, n), f"f{size}") for n, size in ((4, 4), (8, 2), (4, 2), (4, 4))]
    with pytest.raises(InterpretationError, match="is not reached by all work items"):
        execute(text, *arrays, entry="k")
    text = wmma_program('%t = tg.special "lidx0" to %nw : tensor<index>', op)
    with pytest.raises(InterpretationError, match="of 32 threads in a workgroup of 2 threads"):
        execute(f"tg.program @k {{ %lin = tg.linear {{ {text} }} }}", *arrays, entry="k")


def test_a_product_of_a_warp_without_work_items(execute):
    text = wmma_program("%t = tg.const 0 : tensor<index>", INS)
    arrays = [np.zeros((64, n), f"f{size}") for n, size in ((4, 4), (8, 2), (4, 2), (4, 4))]
    with pytest.raises(InterpretationError, match="of 32 threads in a workgroup of 1 threads"):
        execute(f"tg.program @k {{ %lin = tg.linear {{ {text} }} }}", *arrays, entry="k")
