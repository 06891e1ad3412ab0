"""The checker of grids: each error names both accesses, the cell and the work items."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_text import S, index, mem
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import SourceFile, diagnose, parse_module
from tgdialect.dialect import TG
from tgdialect.interpreter import run

L = mem("4x", space="local")
LS = "tensor<f32, #tg.place<local>>"


@pytest.fixture(params=[False, True], ids=["lanes", "scalar"])
def scalar(request):
    """Every test of this file is one of both ways to run a kernel."""
    return request.param


def program(body, axes="special"):
    """Two workgroups of four work items: %g and %t. `axes` are SPECIALs, or RANGEs."""
    begin = """
      %g = tg.special "gidx0" to %two : tensor<index>
      %t = tg.special "lidx0" to %four : tensor<index>"""
    end = ""
    if axes == "range":
        begin = """
      %g = tg.range 0 global to %two : tensor<index>
      %t = tg.range 1 local to %four : tensor<index>"""
        end = "%end = tg.end %last over %t, %g : !tg.void"
    return f"""tg.program @k {{ %lin = tg.linear {{
      %out = tg.param 0 : {mem("8x")}
      %x = tg.param 1 : {mem("8x")}
      %l = tg.buffer 0 : {L}
      %two = tg.const 2 : tensor<index>
      %four = tg.const 4 : tensor<index>
      %zero = tg.const 0 : tensor<index>
      %one = tg.const 1 : tensor<index>
      %three = tg.const 3 : tensor<index>
      %yes = tg.const true : tensor<i1>
      %f = tg.const 5.0 : tensor<f32>
      {begin}
      %g4 = tg.mul %g, %four : tensor<index>
      %i = tg.add %g4, %t : tensor<index>
      %o = tg.sub %three, %t : tensor<index>
      %v = tg.cast %i to f32 : tensor<index> -> tensor<f32>
      {index("%lt", "%l", L, "%t")}
      {index("%lo", "%l", L, "%o")}
      {index("%p", "%out", mem("8x"), "%i")}
      {index("%q", "%x", mem("8x"), "%i")}
      {index("%x0", "%x", mem("8x"), "%zero")}
      {body}
      {end}
    }} }}"""


def _context():
    context = Context()
    for dialect in (Builtin, TG):
        context.load_dialect(dialect)
    return context


def fails(text, scalar):
    """The message of the error, and the notes; the ops at each are those with a comment."""
    module = parse_module(_context(), SourceFile("race.mlir", text))
    with pytest.raises(InterpretationError) as caught:
        run(module, "k", [np.zeros(8, "f4"), np.zeros(8, "f4")], scalar=scalar)
    (found,) = diagnose(caught.value)
    lines = text.split("\n")
    places = [lines[each.line - 1].split("//")[-1].strip() for each in (found, *found.notes)]
    return found.message, places, [note.message for note in found.notes]


@pytest.mark.parametrize("axes", ["special", "range"])
@pytest.mark.parametrize(
    ("body", "did"),
    [
        (
            f"""
      %s = tg.store %lt, %v : {LS}, tensor<f32> // WRITE
      %r = tg.load %lo : {LS} -> tensor<f32> // READ
      %last = tg.store %p, %r : {S}, tensor<f32>""",
            {"reads", "writes"},
        ),
        (
            f"""
      %s = tg.store %lt, %v : {LS}, tensor<f32>
      %b = tg.barrier
      %r = tg.load %lo : {LS} -> tensor<f32> // READ
      %last = tg.store %lt, %r : {LS}, tensor<f32> // WRITE""",
            {"reads", "writes"},
        ),
        (
            f"""
      %s = tg.store %lt, %v : {LS}, tensor<f32> // WRITE
      %last = tg.store %lo, %v : {LS}, tensor<f32> // WRITE""",
            {"writes"},
        ),
        (
            f"""
      %r = tg.load %x0 : {S} -> tensor<f32> // READ
      %last = tg.store %q, %f : {S}, tensor<f32> // WRITE""",
            {"reads", "writes"},
        ),
        (
            f"""
      %s = tg.store %q, %f : {S}, tensor<f32> // WRITE
      %b = tg.barrier
      %last = tg.atomicadd %x0, %f : {S}, tensor<f32> // ADD""",
            {"writes", "adds to"},
        ),
    ],
    ids=["read after write", "write after read", "two writes", "other workgroup", "atomic add"],
)
def test_a_race_names_both_accesses(scalar, axes, body, did):
    text = program(body, axes)
    message, places, notes = fails(text, scalar)
    named = "gidx0 = " if axes == "special" else "range 0 = "
    assert message.startswith(f"race: work item ({named}"), message
    assert any(f") {each} cell " in message for each in did)
    marked = [line.split("// ")[-1].strip() for line in text.split("\n") if "//" in line]
    assert sorted(places) == sorted(marked)
    (note,) = notes
    assert note.startswith(f"work item ({named}")
    assert note.endswith("it here")


def test_workgroups_race_whatever_barriers_there_are(scalar):
    body = f"""
      %s = tg.store %q, %v : {S}, tensor<f32> // WRITE
      %b = tg.barrier
      %r = tg.load %x0 : {S} -> tensor<f32> // READ
      %last = tg.store %p, %r : {S}, tensor<f32>"""
    message, places, _ = fails(program(body), scalar)
    assert "gidx0 = 1" in message
    assert "gidx0 = 0" in message
    assert sorted(places) == ["READ", "WRITE"]


@pytest.mark.parametrize("store", [True, False])
def test_an_access_out_of_bounds(scalar, store):
    access = (
        f"tg.store %far, %v : {S}, tensor<f32>" if store else f"tg.load %far : {S} -> tensor<f32>"
    )
    body = f"""
      %at = tg.add %i, %one : tensor<index>
      {index("%far", "%x", mem("8x"), "%at")}
      %last = {access} // HERE"""
    message, places, _ = fails(program(body), scalar)
    expected = (
        "an access by work item (gidx0 = 1, lidx0 = 3) to element 8 of parameter 1, which has 8"
    )
    assert message == f"out of bounds: {expected}"
    assert places == ["HERE"]


def test_a_gate_or_an_if_leaves_out_what_is_out_of_bounds(execute):
    body = f"""
      %at = tg.add %i, %one : tensor<index>
      %eight = tg.const 8 : tensor<index>
      %in = tg.cmplt %at, %eight : (tensor<index>, tensor<index>) -> tensor<i1>
      {index("%far", "%x", mem("8x"), "%at")}
      {index("%to", "%out", mem("8x"), "%at")}
      %r = tg.load %far alt %f gate %in : {S}, tensor<f32>, tensor<i1> -> tensor<f32>
      %if = tg.if %in : tensor<i1>
      %s = tg.store %to, %r : {S}, tensor<f32>
      %fi = tg.endif %if"""
    out = np.zeros(8, "f4")
    execute(program(body), out, np.arange(8, dtype="f4"), entry="k")
    assert out.tolist() == [0, *range(1, 8)]


def test_local_memory_of_a_grid_has_no_contents_at_first(scalar):
    body = f"""
      %r = tg.load %lo : {LS} -> tensor<f32> // HERE
      %last = tg.store %p, %r : {S}, tensor<f32>"""
    message, places, _ = fails(program(body), scalar)
    assert "(gidx0 = 0, lidx0 = 0) reads cell 3 of buffer 0, which no work item has" in message
    assert places == ["HERE"]


@pytest.mark.parametrize("axes", ["special", "range"])
def test_a_barrier_that_some_work_items_do_not_reach(scalar, axes):
    body = f"""
      %in = tg.cmplt %t, %three : (tensor<index>, tensor<index>) -> tensor<i1>
      %if = tg.if %in : tensor<i1> // IF
      %b = tg.barrier // BARRIER
      %fi = tg.endif %if
      %last = tg.store %p, %v : {S}, tensor<f32>"""
    message, places, _ = fails(program(body, axes), scalar)
    name = "lidx0" if axes == "special" else "range 1"
    assert f"{name} = 0) reaches it, work item" in message
    assert f"{name} = 3) does not" in message
    assert places[:2] == ["BARRIER", "IF"]
